/* SPDX-License-Identifier: MIT */
/* data/coverage.js: what ran at all, by file. */
#include "html/html.h"
#include "view/coverage.h"

#include <inttypes.h>

/* [FILE, lines, branches, functions, blocks], each [never ran, not known, ran]. */
static void
put_file(struct pages *p, struct buf *out, const struct coverage_file *f)
{
	script_next(out);
	buf_printf(out, "[%u", pages_file(p, f->name));
	for (unsigned k = 0; k < COVERAGE_KINDS; k++)
		buf_printf(out, ",[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", f->share[k].n[VIEW_NEVER], f->share[k].n[VIEW_MAYBE],
		           f->share[k].n[VIEW_RAN]);
	buf_char(out, ']');
}

bool
pages_coverage(struct pages *p)
{
	const struct coverage_choice all = {0};
	struct coverage c;
	struct buf out = {0};
	bool fits;

	view_coverage(&c, p->run, &all);
	script_begin(&out, "coverage");
	buf_char(&out, '[');
	for (size_t i = 0; i < c.file.n; i++)
		put_file(p, &out, &c.file.at[i]);
	buf_char(&out, ']');
	script_end(&out);
	folder_write(p->to, "data/coverage.js", &out);
	buf_free(&out);
	fits = c.fits;
	view_coverage_free(&c);
	return fits;
}
