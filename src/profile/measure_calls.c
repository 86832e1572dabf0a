/* SPDX-License-Identifier: MIT */
/* Measure calls: which counters have the sums of a call, and which procedures calls through pointers called. */
#include "profile/measure.h"

#include <stdlib.h>
#include <string.h>

/* The map has the counters in its list of calls. */
static void
map(struct in *in, struct proc *p, const struct record *r)
{
	for (uint32_t i = 0; i < p->ncall && !in->bad; i++) {
		bool pointer = p->call[i].flags & CHORD_CALL_POINTER;

		if (p->call[i].sum && (uint64_t)p->call[i].sum + r->nevent + pointer > (uint64_t)p->ncounter + 1)
			in_bad(in, "a counter that is not there");
	}
	if (!p->summed)
		in_bad(in, "sums of calls that have none");
}

/* ---- callees in a profile ---- */

static int
by_site(const void *a, const void *b)
{
	const struct callees *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->to_module != y->to_module)
		return x->to_module < y->to_module ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Sorts the callees and joins equal ones. Callees that were not called are dropped. False: a sum does not fit 64 bits. */
static bool
join_callees(struct profile *p)
{
	size_t n = 0;
	bool fits = true;

	if (p->callee.n)
		qsort(p->callee.at, p->callee.n, sizeof *p->callee.at, by_site);
	for (size_t i = 0; i < p->callee.n; i++) {
		if (n && !by_site(&p->callee.at[n - 1], &p->callee.at[i]))
			fits &= checked_add(&p->callee.at[n - 1].count, p->callee.at[i].count);
		else if (p->callee.at[i].count)
			p->callee.at[n++] = p->callee.at[i];
	}
	p->callee.n = n;
	return fits;
}

const struct callees *
call_callees(const struct profile *p, const struct module *m, const struct proc *proc, uint32_t call, size_t *n)
{
	uint64_t site = proc->counters + 8 * ((uint64_t)proc->call[call].sum - 1 + proc->nevent);
	uint32_t module = m ? (uint32_t)(m - p->module.at) : UINT32_MAX;
	size_t lo = 0, hi = p->callee.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct callees *c = &p->callee.at[mid];

		if (c->module < module || (c->module == module && c->site < site))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < p->callee.n; ++*n)
		if (p->callee.at[lo + *n].module != module || p->callee.at[lo + *n].site != site)
			break;
	return *n ? &p->callee.at[lo] : NULL;
}

static const char *
read_callees(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at)
{
	(void)m;
	if (h->a > (h->size - sizeof *h) / sizeof(struct chord_callee))
		return "damaged: fewer records of callees than announced";
	for (uint64_t i = 0; i < h->a; i++) {
		struct chord_callee c;
		uint32_t to;

		memcpy(&c, at + sizeof *h + i * sizeof c, sizeof c);
		to = c.callee ? CHORD_EXIT_MODULE(c.callee) : UINT32_MAX;
		if (c.site)
			VEC_PUSH(p->callee, (struct callees){CHORD_EXIT_MODULE(c.site), to, CHORD_EXIT_ADDR(c.site),
			                                     CHORD_EXIT_ADDR(c.callee), c.count});
	}
	return NULL;
}

/* The counters of call sites hold numbers of the runtime, which are no counts. They are cleared, so that sums of profiles stay
 * small. */
static const char *
settle(struct profile *p, const uint32_t *to, uint32_t n)
{
	for (size_t i = 0; i < p->callee.n; i++) {
		struct callees *c = &p->callee.at[i];
		struct module *m;

		if (c->module >= n || (c->to_module != UINT32_MAX && c->to_module >= n))
			return "damaged: a callee in a module that is not there";
		c->module = to[c->module];
		if (c->to_module != UINT32_MAX)
			c->to_module = to[c->to_module];
		m = &p->module.at[c->module];
		if (c->site % 8 || c->site < m->base || (c->site - m->base) / 8 >= m->ncount)
			return "damaged: a call with a place outside of its module's counters";
		if (m->count)
			m->count[(c->site - m->base) / 8] = 0;
	}
	return join_callees(p) ? NULL : "its counts do not fit 64 bits";
}

static bool
merge(struct profile *sum, const struct profile *p, const uint32_t *to)
{
	for (size_t i = 0; i < p->callee.n; i++) {
		struct callees c = p->callee.at[i];

		c.module = to[c.module];
		if (c.to_module != UINT32_MAX)
			c.to_module = to[c.to_module];
		VEC_PUSH(sum->callee, c);
	}
	return join_callees(sum);
}

static void
keep_below(struct profile *p, uint32_t n)
{
	KEEP_BELOW(p->callee, n);
	for (size_t i = 0; i < p->callee.n; i++)
		if (p->callee.at[i].to_module >= n)
			p->callee.at[i].to_module = UINT32_MAX;
}

static void
write(const struct profile *p, uint64_t of, struct buf *out)
{
	if (!p->callee.n)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_CALLEES, .a = p->callee.n, .b = of},
	       p->callee.n * sizeof(struct chord_callee), false);
	for (size_t i = 0; i < p->callee.n; i++) {
		const struct callees *c = &p->callee.at[i];
		struct chord_callee x = {.site = (uint64_t)(c->module + 1) << 48 | c->site, .count = c->count};

		if (c->to_module != UINT32_MAX)
			x.callee = (uint64_t)(c->to_module + 1) << 48 | c->to;
		buf_add(out, &x, sizeof x);
	}
	profile_fill_page(out);
}

static void
forget(struct profile *p)
{
	free(p->callee.at);
}

static const struct profile_extent extents[] = {{CHORD_EXTENT_CALLEES, false, read_callees}, {0}};
const struct profile_measure profile_measure_calls = {
	.map = map, .extents = extents, .settle = settle, .merge = merge, .keep_below = keep_below, .write = write,
	.forget = forget,
};
