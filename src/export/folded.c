/* SPDX-License-Identifier: MIT */
/* Stacks on a line each, as flamegraph.pl and its kin take them. */
#include "export/export.h"
#include "view/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

/* A semicolon separates frames. */
static void
put_name(struct buf *out, const char *name)
{
	for (name = image_readable(name); *name; name++)
		buf_char(out, *name == ';' ? ':' : plain_char(*name));
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
			put_name(out, s.at[i].frame[k].name);
		}
		buf_printf(out, " %" PRIu64 "\n", s.at[i].insns);
	}
	free(s.at);
	return export_fits(x, fits);
}
