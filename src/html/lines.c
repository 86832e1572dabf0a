/* SPDX-License-Identifier: MIT */
/* data/lines.js: all lines that have code, for the table of lines. */
#include "html/html.h"

#include <inttypes.h>

/* Line 0 stands for code whose line is not known. */
static void
put_line(struct pages *p, struct buf *out, const struct view_line *l)
{
	script_next(out);
	buf_printf(out, "[%u,%u,", pages_file(p, l->file), l->line);
	script_bounds(out, &l->insns, true);
	buf_char(out, ',');
	script_bounds(out, &l->most, true);
	buf_printf(out, ",%u,%u]", l->code, l->never);
}

void
pages_lines(struct pages *p)
{
	struct buf out = {0};

	script_begin(&out, "lines");
	buf_char(&out, '[');
	for (size_t i = 0; i < p->table.line.n; i++)
		put_line(p, &out, &p->table.line.at[i]);
	buf_char(&out, ']');
	script_end(&out);
	folder_write(p->to, "data/lines.js", &out);
	buf_free(&out);
}
