/* SPDX-License-Identifier: MIT */
/* data/difference.js: the differences between two runs. */
#include "html/html.h"

static void
put_bounds(struct buf *out, const struct difference *d)
{
	buf_char(out, ',');
	script_bounds(out, &d->before, d->was);
	buf_char(out, ',');
	script_bounds(out, &d->after, d->is);
	buf_char(out, ']');
}

/* [NAME or null, FILE or null, line, before, after]; before or after is null if the row did not exist there. */
static void
put_rows(struct buf *out, const char *key, const struct difference *at, size_t n)
{
	script_key(out, key);
	buf_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		script_next(out);
		buf_char(out, '[');
		if (at[i].name)
			script_symbol(out, at[i].name);
		else
			buf_str(out, "null");
		buf_char(out, ',');
		if (at[i].file)
			script_name(out, at[i].file);
		else
			buf_str(out, "null");
		buf_printf(out, ",%u", at[i].line);
		put_bounds(out, &at[i]);
	}
	buf_char(out, ']');
}

void
pages_difference(struct folder *to, const struct comparison *c, const char *before, const char *after)
{
	struct buf out = {0};

	script_begin(&out, "difference");
	buf_char(&out, '{');
	script_key(&out, "before");
	script_name(&out, before);
	script_key(&out, "after");
	script_name(&out, after);
	script_key(&out, "byFunction");
	buf_str(&out, c->by_function ? "true" : "false");
	put_rows(&out, "totals", c->total.at, c->total.n);
	put_rows(&out, "functions", c->function.at, c->function.n);
	put_rows(&out, "lines", c->line.at, c->line.n);
	script_key(&out, "leftOut");
	buf_char(&out, '[');
	for (size_t i = 0; i < c->left_out.n; i++) {
		script_next(&out);
		buf_char(&out, '[');
		script_symbol(&out, c->left_out.at[i].name);
		buf_char(&out, ',');
		script_name(&out, image_readable_text(c->left_out.at[i].reason));
		buf_char(&out, ']');
	}
	buf_str(&out, "]}");
	script_end(&out);
	folder_write(to, "data/difference.js", &out);
	buf_free(&out);
}
