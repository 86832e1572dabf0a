/* SPDX-License-Identifier: MIT */
/* chord paths --source: the text of the lines that a path executes. */
#include "tool/paths/paths.h"

#include <string.h>

void
paths_print_source(const struct view_places *lines, int indent)
{
	for (size_t i = 0; i < lines->n; i++) {
		struct str s = STR("(not to be read)");

		view_source_line(lines->at[i].file, lines->at[i].line, &s);
		if (!i || strcmp(lines->at[i].file, lines->at[i - 1].file))
			printf("%*s%s\n", indent, "", shown_path(lines->at[i].file));
		printf("%*s%6u  ", indent, "", lines->at[i].line);
		print_source(s);
		putchar('\n');
	}
}
