/* SPDX-License-Identifier: MIT */
/* data/written.js: functions as they are in the source, with the places where they were inlined. */
#include "html/html.h"

/* [function into which it was inlined, or null for its own code; FILE, line, instructions] */
static void
put_copy(struct buf *out, const struct view_copy *c)
{
	script_next(out);
	buf_char(out, '[');
	if (c->in)
		script_symbol(out, c->in);
	else
		buf_str(out, "null");
	buf_char(out, ',');
	script_name(out, c->file);
	buf_printf(out, ",%u,", c->line);
	script_bounds(out, &c->insns, true);
	buf_char(out, ']');
}

/* [NAME, file, line, instructions, those of inlined copies, those including inlined functions, places] */
static void
put_source(struct pages *p, struct buf *out, const struct view_source *s)
{
	script_next(out);
	buf_char(out, '[');
	script_symbol(out, s->name);
	buf_printf(out, ",%u,%u,", pages_file(p, *s->file ? s->file : "?"), s->line);
	script_bounds(out, &s->insns, true);
	buf_char(out, ',');
	script_bounds(out, &s->inlined, true);
	buf_char(out, ',');
	script_bounds(out, &s->whole, true);
	buf_str(out, ",[");
	for (size_t i = 0; i < s->copy.n; i++)
		put_copy(out, &s->copy.at[i]);
	buf_str(out, "]]");
}

bool
pages_written(struct pages *p)
{
	struct view_sources list = {0};
	struct buf out = {0};
	bool fits = view_sources(&list, p->run, &(struct view_choice){0});

	script_begin(&out, "written");
	buf_char(&out, '[');
	for (size_t i = 0; i < list.n; i++)
		put_source(p, &out, &list.at[i]);
	buf_char(&out, ']');
	script_end(&out);
	folder_write(p->to, "data/written.js", &out);
	buf_free(&out);
	view_sources_free(&list);
	return fits;
}
