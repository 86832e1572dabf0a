/* SPDX-License-Identifier: MIT */
/* Calls through pointers, with the functions that they called. */
#include "view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct binary *
binary_of(const struct run *r, uint32_t module)
{
	for (size_t i = 0; i < r->binary.n && module != UINT32_MAX; i++) {
		const struct module *m = profile_module(r->sum, image_build_id(r->binary.at[i].image));

		if (m == &r->sum->module.at[module])
			return &r->binary.at[i];
	}
	return NULL;
}

static struct view_callee
row_of(const struct run *r, const struct callees *c)
{
	struct binary *bin = binary_of(r, c->to_module);
	struct view_callee row = {"(not measured)", NULL, c->count};
	const struct part_at *part;
	struct callee names;
	const char *path;

	if (c->to_module == UINT32_MAX)
		return row;
	if (!bin) {
		path = r->sum->module.at[c->to_module].path;
		row.name = pool_printf(r->pool, "0x%" PRIx64 " [%s]", c->to, base_name(path));
		return row;
	}
	part = parts_find(&bin->parts, c->to);
	if (part && part->proc->part[0].addr == c->to) {
		row.proc = part->proc;
		row.name = part->proc->name;
		return row;
	}
	names = callee_at(bin, c->to);
	row.name = names.n ? callee_name(r->pool, &names, 0) : pool_printf(r->pool, "0x%" PRIx64, c->to);
	return row;
}

static int
by_calls(const void *a, const void *b)
{
	const struct view_callee *x = a, *y = b;

	return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : strcmp(x->name, y->name);
}

/* Also adds rows for calls that the profile does not explain, and for calls that were counted but not made, because a signal
 * handler ended the activation in between. */
void
view_callees(const struct run *run, const struct module *m, const struct proc *p, uint32_t call, struct view_call *row)
{
	size_t n;
	const struct callees *c = call_callees(run->sum, m, p, call, &n);
	uint64_t sum = 0;

	row->has_to = true;
	row->to = pool_array(run->pool, n + 1, sizeof *row->to);
	for (size_t i = 0; i < n; i++) {
		row->to[row->nto++] = row_of(run, &c[i]);
		sum += c[i].count;
	}
	if (n)
		qsort(row->to, n, sizeof *row->to, by_calls);
	if (sum < row->calls.least)
		row->to[row->nto++] = (struct view_callee){"(not recorded)", NULL, row->calls.least - sum};
	else if (sum > row->calls.most)
		row->to[row->nto++] = (struct view_callee){"(not made)", NULL, sum - row->calls.most};
}
