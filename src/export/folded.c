/* SPDX-License-Identifier: MIT */
/* One stack on each line, as flamegraph.pl and similar programs read them. */
#include "export/export.h"
#include "export/value.h"
#include "view/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

/* Semicolons separate frames, so those in names are replaced. */
static void
put_name(struct pool *pool, struct buf *out, const char *name)
{
	for (name = value_utf8(pool, image_readable(name)); *name; name++)
		buf_char(out, *name == ';' ? ':' : *name);
}

bool
export_folded(const struct export *x, struct buf *out)
{
	struct view_stacks s = {0};
	bool fits = view_stacks(&s, x->run->pool, x->run, x->function, x->list);

	for (size_t i = 0; i < s.n && fits; i++) {
		for (size_t k = 0; k < s.at[i].n; k++) {
			if (k)
				buf_char(out, ';');
			put_name(x->run->pool, out, s.at[i].frame[k].name);
		}
		buf_printf(out, " %" PRIu64 "\n", s.at[i].insns);
	}
	free(s.at);
	return export_fits(x, fits);
}
