/* SPDX-License-Identifier: MIT */
/* chord paths --source: the text of the lines that a path executes. */
#include "tool/paths.h"
#include "tool/source.h"

#include <string.h>

void
path_source_print(const struct path_lines *lines, int indent)
{
	for (size_t i = 0; i < lines->n; i++) {
		struct str s = STR("(not to be read)");

		source_line(lines->at[i].file, lines->at[i].line, &s);
		if (!i || strcmp(lines->at[i].file, lines->at[i - 1].file))
			printf("%*s%s\n", indent, "", shown_path(lines->at[i].file));
		printf("%*s%6u  ", indent, "", lines->at[i].line);
		source_put(s);
		putchar('\n');
	}
}
