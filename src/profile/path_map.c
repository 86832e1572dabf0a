/* SPDX-License-Identifier: MIT */
/* The section of a map about the paths of a procedure. */
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BITS = 28 };

static void
get_table(struct in *in, const struct proc *p, struct proc_paths *pp)
{
	uint64_t room = p->ncounter, table = in_uleb(in);

	pp->table = table / 8;
	pp->size = in_uleb(in);
	if (in->bad)
		return;
	if (table % 8 || pp->table > room)
		in_bad(in, "a table of paths that is not among its counters");
	else if (pp->kind == CHORD_PATH_HASHED ? pp->size > MOST_BITS || (uint64_t)2 << pp->size > room - pp->table
	                                       : pp->size > room - pp->table)
		in_bad(in, "a table of paths that is larger than its counters");
}

static void
get_cuts(struct in *in, const struct proc *p, struct proc_paths *pp)
{
	uint32_t ways = pp->kind == CHORD_PATH_BITS ? CHORD_CUT_SOFTLY + 1 : CHORD_CUT_SOFTLY;

	pp->cut = pool_array(in->pool, p->narc, sizeof *pp->cut);
	pp->soft = pool_array(in->pool, p->narc, sizeof *pp->soft);
	for (uint32_t i = 0; i < p->narc; i++) {
		uint32_t how = in_below(in, ways, "an edge that is neither cut nor not");

		pp->cut[i] = how != CHORD_NOT_CUT;
		pp->soft[i] = how == CHORD_CUT_SOFTLY;
		if (pp->cut[i] && (p->arc[i].to == PROC_EXIT(p) || i == p->close))
			in_bad(in, "an edge that is cut though paths end there");
	}
}

/* Each value takes a byte at least. */
static void
get_values(struct in *in, struct proc_paths *pp)
{
	pp->nval = in_number(in, 1);
	pp->val = pool_array(in->pool, pp->nval, sizeof *pp->val);
	for (uint32_t i = 0; i < pp->nval; i++)
		pp->val[i] = in_signed(in);
}

static void
get_vertices(struct in *in, const struct proc *p, struct proc_paths *pp)
{
	if (in_left(in) / 3 < p->nvert)
		in_bad(in, "it announces more than it holds");
	if (in->bad)
		return;
	pp->held = pool_array(in->pool, p->nvert, sizeof *pp->held);
	pp->query = pool_array(in->pool, p->nvert, sizeof *pp->query);
	pp->start = pool_array(in->pool, p->nvert, sizeof *pp->start);
	for (uint32_t v = 0; v < p->nvert; v++) {
		pp->held[v] = in_below(in, 2, "a path register that is neither held nor not");
		pp->query[v] = in_signed(in);
		pp->start[v] = in_signed(in);
	}
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
get_interest(struct in *in, struct proc_paths *pp)
{
	pp->ninterest = in_number(in, 1);
	pp->interest = pool_array(in->pool, pp->ninterest, sizeof *pp->interest);
	for (uint32_t i = 0; i < pp->ninterest; i++) {
		pp->interest[i] = in_uleb(in);
		if (pp->interest[i] >= pp->size)
			in_bad(in, "a path of interest behind its table");
	}
	if (pp->ninterest)
		qsort(pp->interest, pp->ninterest, sizeof *pp->interest, by_number);
	if (pp->ninterest && pp->kind != CHORD_PATH_SELECTED)
		in_bad(in, "paths of interest where all are counted");
}

/* By vertex: how many arcs leave it, and how many of these are cut. */
struct leaving { uint32_t arcs, cut; };

/* A call that may return twice has to end its block, and paths have to end there. */
static void
check_twice(struct in *in, const struct proc *p, const struct leaving *leaving, const struct call *c)
{
	if (leaving[c->block].arcs != 1 || leaving[c->block].cut != 1 || c->insn != p->block[c->block].ninsn - 1 ||
	    c->flags & CHORD_CALL_NORETURN)
		in_bad(in, "a call that may return twice in the middle of a path");
}

static void
check_calls(struct in *in, const struct proc *p)
{
	struct leaving *leaving = xcalloc(p->nvert, sizeof *leaving);

	for (uint32_t i = 0; i < p->narc; i++) {
		leaving[p->arc[i].from].arcs++;
		leaving[p->arc[i].from].cut += p->paths->cut[i];
	}
	for (uint32_t i = 0; i < p->ncall && !in->bad; i++)
		if (p->call[i].flags & CHORD_CALL_TWICE)
			check_twice(in, p, leaving, &p->call[i]);
	free(leaving);
}

static void
check_paths(struct in *in, const struct proc *p)
{
	struct pool *pool = pool_new();
	const char *why;
	struct path_graph *pg = path_graph_new(pool, p, &why);
	struct path path;

	if (pg)
		why = path_graph_check(pool, pg);
	if (!why && p->paths->kind == CHORD_PATH_BITS && !path_outcomes(pg))
		why = "words of outcomes that are longer than there is room for";
	if (!why && p->paths->ninterest)
		path = path_new(pool, pg);
	for (uint32_t i = 0; i < p->paths->ninterest && !why; i++)
		if (!path_find(pg, p->paths->interest[i], &path))
			why = "a path of interest that is none, or has another's sum";
	if (why)
		in_bad(in, pool_strdup(in->pool, why));
	pool_free(pool);
}

void
paths_map(struct in *in, struct proc *p, const struct record *r)
{
	struct proc_paths *pp = pool_alloc(in->pool, sizeof *pp);

	(void)r;
	pp->kind = in_below(in, CHORD_PATH_KINDS, "paths of no known kind");
	get_table(in, p, pp);
	get_cuts(in, p, pp);
	get_values(in, pp);
	get_vertices(in, p, pp);
	get_interest(in, pp);
	p->paths = pp;
	if (!in->bad)
		check_calls(in, p);
	if (!in->bad)
		check_paths(in, p);
}
