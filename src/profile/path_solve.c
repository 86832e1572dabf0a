/* SPDX-License-Identifier: MIT */
/* From paths to counts of edges. Each path that ran adds to the counts of its edges. The part of a path that an abandoned
 * activation ran is added. If a forked child continued a path in the middle, the part that the parent ran is subtracted. */
#include "measure/measure.h"
#include "profile/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char SOLVE_PATHS_ONLY[] = "only some of its paths are counted";

struct paths_state {
	struct pool *pool;       /* of the counts */
	struct system *s;
	const struct profile *p;
	struct counts *c;
	struct path_graph *pg;
	struct path path;
	uint64_t *begin;         /* by vertex: paths that began there */
	bool open;               /* activations may have been under way at the end */
};

/* ---- paths that ran ---- */

void
paths_begin(struct pool *pool, struct counts *c)
{
	c->paths = pool_alloc(pool, sizeof *c->paths);
}

static int
by_sum(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool
is_of_interest(const struct proc_paths *pp, uint64_t sum)
{
	return pp->kind != CHORD_PATH_SELECTED ||
	       (pp->ninterest && bsearch(&sum, pp->interest, pp->ninterest, sizeof sum, by_sum));
}

/* How often the path with this number ran: *n; 0 if it is not of interest. False: that does not fit 64 bits. */
static bool
path_count(const struct proc *p, const struct module *m, uint64_t sum, uint64_t *n)
{
	bool ok = proc_counter(m, p, (uint32_t)(p->paths->table + sum + 1), n);

	if (*n && !is_of_interest(p->paths, sum))
		*n = 0;
	return ok;
}

static const char *
ran_dense(struct pool *pool, const struct proc *p, const struct module *m, struct path_counts *pc)
{
	const struct proc_paths *pp = p->paths;
	uint64_t at = (p->counters - m->base) / 8 + pp->table, ran;
	bool fit = true;
	size_t n = 0;

	if (pp->size && (!p->counters || p->counters < m->base || at > m->ncount || pp->size > m->ncount - at))
		return "the profile does not hold its counters";
	for (uint64_t i = 0; m->count && i < pp->size; i++) {
		fit &= path_count(p, m, i, &ran);
		n += ran != 0;
	}
	if (!fit)
		return "its counts do not fit 64 bits";
	pc->ran = pool_array(pool, n, sizeof *pc->ran);
	for (uint64_t i = 0; n && i < pp->size; i++) {
		path_count(p, m, i, &ran);
		if (ran)
			pc->ran[pc->nran++] = (struct ran){i, ran};
	}
	return NULL;
}

static bool
is_listed(const struct module *m, uint64_t table, uint64_t bits)
{
	for (uint32_t i = 0; i < m->ntable; i++)
		if (m->table[i].addr == table)
			return m->table[i].bits == bits;
	return false;
}

static const char *
ran_hashed(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, struct path_counts *pc)
{
	uint64_t table = p->counters + 8 * p->paths->table;
	uint32_t module = (uint32_t)(m - f->module.at);
	const struct hashed *h, *lost;
	size_t n;

	if (!is_listed(m, table, p->paths->size))
		return "the profile does not say where its paths are";
	h = paths_of_table(f, module, table, &n);
	pc->ran = pool_array(pool, n, sizeof *pc->ran);
	for (size_t i = 0; i < n && h[i].sum != UINT64_MAX; i++)
		pc->ran[pc->nran++] = (struct ran){h[i].sum, h[i].count};
	lost = n && h[n - 1].sum == UINT64_MAX ? &h[n - 1] : paths_of_table(f, module, 0, &n);
	if (lost && lost->count == PATHS_UNKNOWN)
		return "its table was full in places, and what had no room there is not at hand";
	return lost ? pool_printf(pool, "%" PRIu64 " of its paths could not be kept: there was no room", lost->count) : NULL;
}

static const char *
find_ran(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, struct counts *c)
{
	if (!m)
		return NULL;
	if (p->paths->kind == CHORD_PATH_HASHED)
		return ran_hashed(pool, p, f, m, c->paths);
	if (proc_any_lacks(m, p, c))
		return "a register counts one of its paths, in a loop that had not ended (-fchord-loops=registers)";
	return ran_dense(pool, p, m, c->paths);
}

static uint64_t
count_cuts(const struct counts *c)
{
	uint64_t n = 0;

	for (const struct cut *k = c->cut; k; k = k->next)
		n += k->left + k->back;
	return n;
}

void
solve_ran(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, struct counts *c)
{
	uint64_t n = count_cuts(c);
	const char *why;

	c->skewed = solve_skewed(f);
	why = find_ran(pool, p, f, m, c);

	if (why)
		c->why = why;
	else if (c->lost && n)
		c->why = pool_printf(pool, "%s; %" PRIu64 " more ended between calls", c->why, n);
}

/* ---- the edges of paths ---- */

static bool
take_path(struct paths_state *t, uint64_t n)
{
	bool ok = t->path.begin == PROC_ENTRY(t->s->proc) || checked_add(&t->begin[t->path.begin], n);

	for (uint32_t i = 0; i < t->path.n; i++)
		ok &= checked_add(&t->s->count[t->path.edge[i]], n);
	return ok;
}

static const char *
take_ran(struct paths_state *t)
{
	const struct path_counts *pc = t->c->paths;

	for (size_t i = 0; i < pc->nran; i++) {
		if (!path_find(t->pg, pc->ran[i].sum, &t->path))
			return pool_printf(t->s->pool, "path %" PRIu64 " was counted, and there is no such path", pc->ran[i].sum);
		if (!take_path(t, pc->ran[i].count))
			return "its counts do not fit 64 bits";
	}
	return NULL;
}

static uint32_t
stopped_at(const struct proc *p, const struct stopped *s)
{
	return s->cut ? s->cut->block : p->call[s->call].block;
}

int64_t
path_stopped_sum(const struct path_graph *pg, const struct stopped *s)
{
	const struct proc *p = pg->proc;
	const struct proc_paths *pp = p->paths;
	uint32_t v = stopped_at(p, s);
	uint64_t at = s->path;

	if (s->cut || !pp->held[v])
		return pp->query[v];
	if (pp->kind == CHORD_PATH_HASHED)
		at += s->bias;
	else
		at = (uint64_t)((int64_t)(at - (p->counters + 8 * pp->table)) / 8);
	return (int64_t)(at + (uint64_t)pp->query[v]);
}

bool
path_stopped(const struct path_graph *pg, const struct stopped *s, struct path *path)
{
	return path_prefix(pg, stopped_at(pg->proc, s), path_stopped_sum(pg, s), path);
}

static const char *
take_stopped(struct paths_state *t, const struct stopped *s)
{
	if (!path_stopped(t->pg, s, &t->path))
		return "how far activations had come in their paths makes no sense";
	return take_path(t, s->count) ? NULL : "its counts do not fit 64 bits";
}

static bool
divert(struct system *s, uint32_t from, uint32_t to, uint64_t n)
{
	return n <= INT64_MAX && !__builtin_sub_overflow(s->source[from], (int64_t)n, &s->source[from]) &&
	       !__builtin_add_overflow(s->source[to], (int64_t)n, &s->source[to]);
}

/* It is not known where n activations at v went: they are treated as if they had ended there. */
static bool
stay(struct paths_state *t, uint32_t v, uint64_t n)
{
	return checked_add(&t->c->paths->under_way, n) && divert(t->s, v, PROC_EXIT(t->s->proc), n);
}

/* The part of a path that the parent ran is in no count of the child, unless the child did not finish the path. */
static const char *
subtract_path(struct paths_state *t, uint64_t count)
{
	const struct path *path = &t->path;
	uint64_t n = count;

	if (path->begin != PROC_ENTRY(t->s->proc) && t->begin[path->begin] < n)
		n = t->begin[path->begin];
	for (uint32_t i = 0; i < path->n; i++)
		n = t->s->count[path->edge[i]] < n ? t->s->count[path->edge[i]] : n;
	if (n < count && (!t->open || !stay(t, path->end, count - n)))
		return "fewer paths came to an end than were taken up";
	if (path->begin != PROC_ENTRY(t->s->proc))
		t->begin[path->begin] -= n;
	for (uint32_t i = 0; i < path->n; i++)
		t->s->count[path->edge[i]] -= n;
	return NULL;
}

static void
add_stopped(struct pool *pool, struct path_counts *pc, uint32_t call, bool reentry, uint64_t count)
{
	struct stopped *s = pool_alloc(pool, sizeof *s);

	if (!count)
		return;
	*s = (struct stopped){pc->stopped, call, reentry, 0, 0, count, NULL};
	pc->stopped = s;
}

/* Where the path register has no meaning, the place of a call determines the path, whatever was recorded. */
static void
settle_stopped(struct pool *pool, const struct proc *p, struct counts *c)
{
	struct stopped **at = &c->paths->stopped;

	while (*at)
		if (p->paths->held[p->call[(*at)->call].block])
			at = &(*at)->next;
		else
			*at = (*at)->next;
	for (uint32_t i = 0; c->left && i < p->ncall; i++)
		if (!p->paths->held[p->call[i].block] && path_goes_on(p, i)) {
			add_stopped(pool, c->paths, i, false, c->left[i]);
			add_stopped(pool, c->paths, i, true, c->back[i]);
		}
}

static const char *
take_back(struct paths_state *t, const struct stopped *s)
{
	if (!path_stopped(t->pg, s, &t->path))
		return "how far activations had come in their paths makes no sense";
	return subtract_path(t, s->count);
}

/* As many activations must have left a record of their path as left one of their exit. */
static bool
all_known(const struct paths_state *t)
{
	const struct proc *p = t->s->proc;
	const struct path_counts *pc = t->c->paths;

	for (uint32_t i = 0; t->c->left && i < p->ncall; i++) {
		uint64_t left = 0, back = 0;

		for (const struct stopped *s = pc->stopped; s; s = s->next)
			if (s->call == i)
				*(s->reentry ? &back : &left) += s->count;
		if (path_goes_on(p, i) && (left != t->c->left[i] || back != t->c->back[i]))
			return false;
	}
	return true;
}

static const char *
take_all_stopped(struct paths_state *t)
{
	const struct path_counts *pc = t->c->paths;
	const char *why = NULL;

	if (!all_known(t))
		return "how far activations had come in their paths when they ended is not known";
	for (int reentry = 0; reentry < 2; reentry++)
		for (const struct stopped *s = pc->stopped; s && !why; s = s->next)
			if (s->reentry == reentry && path_goes_on(t->s->proc, s->call))
				why = reentry ? take_back(t, s) : take_stopped(t, s);
	return why;
}

/* ---- what follows ---- */

/* A path is recorded before its call, which may not return, or may return several times. The edge after the call has as many as
 * returned. */
static bool
pass_early(struct paths_state *t)
{
	const struct proc *p = t->s->proc;
	bool ok = true;

	for (uint32_t i = 0; t->c->left && i < p->ncall; i++)
		for (uint32_t e = 0; e < p->narc && !path_goes_on(p, i); e++)
			if (p->arc[e].from == p->call[i].block) {
				ok &= checked_add(&t->s->count[e], t->c->back[i]) && t->s->count[e] >= t->c->left[i];
				t->s->count[e] -= t->c->left[i];
				break;
			}
	return ok;
}

/* The edge to v from a call that ends a path and its block; GRAPH_NONE: there is none. There is at most one. */
static uint32_t
edge_from_call(const struct proc *p, uint32_t v)
{
	for (uint32_t e = 0; e < p->narc; e++) {
		uint32_t from = p->arc[e].from;

		if (p->arc[e].to == v && from < p->nblock && p->block[from].ncall &&
		    !path_goes_on(p, p->block[from].call + p->block[from].ncall - 1))
			return e;
	}
	return GRAPH_NONE;
}

/* It is not known where n activations went whose next path begins at v. In a trace they stand at the call before v, which ends a
 * path, as far as so many have come to that call. */
static bool
wait_at(struct paths_state *t, uint32_t v, uint64_t n)
{
	const struct proc *p = t->s->proc;
	uint32_t e = n && measures_with(p->measures, CHORD_IN_ORDER) ? edge_from_call(p, v) : GRAPH_NONE;
	uint64_t at_call = e == GRAPH_NONE ? 0 : n < t->s->count[e] ? n : t->s->count[e];

	if (at_call)
		t->s->count[e] -= at_call;
	return (!at_call || stay(t, p->arc[e].from, at_call)) && stay(t, v, n - at_call);
}

/* n more paths ended at v than began there. They may be under way. Otherwise they left by the edge on which nothing is recorded. */
static const char *
settle_begins(struct paths_state *t, uint32_t v, uint64_t n)
{
	const struct proc *p = t->s->proc;
	uint32_t e = 0;

	if (t->open || !n)
		return wait_at(t, v, n) ? NULL : "its counts do not fit 64 bits";
	while (e < p->narc && !(proc_leaves_unseen(p, e) && p->arc[e].from == v))
		e++;
	if (e == p->narc)
		return "its paths do not begin where others end";
	return checked_add(&t->s->count[e], n) ? NULL : "its counts do not fit 64 bits";
}

/* After cut edges as many paths begin as end there, except for paths under way, and for tail calls from the hub. */
static const char *
compare_begins(struct paths_state *t)
{
	const struct proc *p = t->s->proc;
	uint64_t *ends = pool_array(t->s->pool, p->nvert, sizeof *ends);
	const char *why;

	for (uint32_t e = 0; e < p->narc; e++)
		if (p->paths->cut[e] && !checked_add(&ends[p->arc[e].to], t->s->count[e]))
			return "its counts do not fit 64 bits";
	for (uint32_t v = 0; v < p->nvert; v++) {
		if (ends[v] < t->begin[v])
			return "its paths do not begin where others end";
		why = settle_begins(t, v, ends[v] - t->begin[v]);
		if (why)
			return why;
	}
	return NULL;
}

/* There are as many activations as reached EXIT or ended elsewhere. */
static const char *
close_graph(struct paths_state *t)
{
	struct system *s = t->s;
	const struct proc *p = s->proc;
	int64_t source = s->source[PROC_EXIT(p)];
	uint64_t n = 0;
	bool ok = true;

	for (uint32_t e = 0; e < p->narc; e++)
		if (p->arc[e].to == PROC_EXIT(p))
			ok &= checked_add(&n, s->count[e]);
	ok &= source < 0 ? !__builtin_sub_overflow(n, -(uint64_t)source, &n) : checked_add(&n, (uint64_t)source);
	s->count[p->close] = n;
	memset(s->known, true, s->graph->nedge * sizeof *s->known);
	return ok ? NULL : "its counts do not fit 64 bits";
}

/* ---- between calls ---- */

/* The only edge out of a vertex, or into it; GRAPH_NONE: there are several, or none. */
static uint32_t
only_edge(const struct proc *p, uint32_t v, bool out)
{
	uint32_t found = GRAPH_NONE, n = 0;

	for (uint32_t e = 0; e < p->narc; e++)
		if ((out ? p->arc[e].from : p->arc[e].to) == v) {
			found = e;
			n++;
		}
	return n == 1 ? found : GRAPH_NONE;
}

static bool
ends_path(const struct proc *p, uint32_t e)
{
	return p->paths->cut[e] || p->arc[e].to == PROC_EXIT(p);
}

/* The sum of the path that ends along edge e, where it is known beforehand. */
static uint64_t
sum_along(const struct paths_state *t, uint32_t e)
{
	const struct proc *p = t->s->proc;

	return (uint64_t)(p->paths->query[p->arc[e].from] + t->pg->val[e]);
}

/* Finds out on which side of the interruption the block records the path along edge e. False: that is not known. Paths that end
 * before calls are not counted in the block, but written down. */
static bool
record_side(const struct paths_state *t, const struct cut *k, uint32_t e, const struct woven_code *woven, enum cut_side *side)
{
	const struct proc *p = t->s->proc;
	const struct proc_paths *pp = p->paths;
	uint32_t u = p->arc[e].from;

	if (pp->kind != CHORD_PATH_DENSE || measures_with(p->measures, CHORD_IN_ORDER) || (u < p->nblock && pp->held[u]))
		return false;
	*side = cut_side(p, k, (uint32_t)(pp->table + sum_along(t, e)) + 1, woven);
	return true;
}

/* Corrects how often a path ran. False: the count would be negative. */
static bool
correct_ran(struct paths_state *t, uint64_t sum, uint64_t more, uint64_t less)
{
	struct path_counts *pc = t->c->paths;
	struct ran *ran = pool_array(t->pool, pc->nran + 1, sizeof *ran);
	size_t n = 0, i = 0;
	uint64_t count = 0;

	while (i < pc->nran && pc->ran[i].sum < sum)
		ran[n++] = pc->ran[i++];
	if (i < pc->nran && pc->ran[i].sum == sum)
		count = pc->ran[i++].count;
	if (!checked_add(&count, more) || (count < less && !t->open))
		return false;
	if (count > less)
		ran[n++] = (struct ran){sum, count - less};
	while (i < pc->nran)
		ran[n++] = pc->ran[i++];
	pc->ran = ran;
	pc->nran = n;
	return true;
}

/* The block records the path that led into it, but had not done so yet. */
static bool
take_late(struct paths_state *t, const struct cut *k, uint32_t in)
{
	const struct proc *p = t->s->proc;

	if (!path_prefix(t->pg, p->arc[in].from, p->paths->query[p->arc[in].from], &t->path))
		return false;
	t->path.edge[t->path.n++] = in;
	return take_path(t, k->left) && !subtract_path(t, k->back) && correct_ran(t, sum_along(t, in), k->left, k->back);
}

/* The path that leads on had already been recorded. */
static bool
take_early(struct paths_state *t, const struct cut *k, uint32_t out)
{
	bool ok = checked_add(&t->s->count[out], k->back) && t->s->count[out] >= k->left;

	t->s->count[out] -= k->left;
	return ok && correct_ran(t, sum_along(t, out), k->back, k->left);
}

/* Adds how far the activations had come on their path. */
static void
add_cut(struct paths_state *t, const struct cut *k)
{
	struct path_counts *pc = t->c->paths;

	for (int reentry = 0; reentry < 2; reentry++) {
		add_stopped(t->pool, pc, GRAPH_NONE, reentry, reentry ? k->back : k->left);
		if (reentry ? k->back : k->left)
			pc->stopped->cut = k;
	}
}

/* If the path register and the places of records are known, the path is known up to the interruption. */
static bool
take_cut(struct paths_state *t, const struct cut *k, const struct woven_code *woven)
{
	const struct proc *p = t->s->proc;
	uint32_t in = only_edge(p, k->block, false), out = only_edge(p, k->block, true);
	enum cut_side side;

	if (p->paths->held[k->block] || !woven)
		return false;
	if (out != GRAPH_NONE && ends_path(p, out)) {
		if (!record_side(t, k, out, woven, &side))
			return false;
		if (side == CUT_BEFORE)
			return take_early(t, k, out);
	}
	if (in != GRAPH_NONE && p->paths->cut[in] &&
	    (!record_side(t, k, in, woven, &side) || (side == CUT_BEHIND && !take_late(t, k, in))))
		return false;
	return path_prefix(t->pg, k->block, p->paths->query[k->block], &t->path) && take_path(t, k->left) &&
	    !subtract_path(t, k->back);
}

static const char *
take_cuts(struct paths_state *t, const struct woven_code *woven)
{
	uint64_t n = 0;

	for (const struct cut *k = t->c->cut; k; k = k->next)
		if (take_cut(t, k, woven))
			add_cut(t, k);
		else
			n += k->left + k->back;
	return n ? pool_printf(t->s->pool, "%" PRIu64 " of its activations ended between calls: on which paths is not known", n)
	         : NULL;
}

/* Paths of interest may be recorded before their last edges, or right after them. Where a signal ended an activation, its last path
 * may have been counted though it was not finished, or not counted though it was. */
static const char *
early_or_none(struct pool *pool, const struct counts *c)
{
	const char *what = "of its activations ended between calls: whether their last paths are counted is not known";
	uint64_t n = count_cuts(c);

	return n ? pool_printf(pool, "%" PRIu64 " %s", n, what) : SOLVE_PATHS_ONLY;
}

const char *
solve_paths(struct pool *pool, struct system *s, const struct profile *f, const struct module *m, const struct woven_code *woven,
            struct counts *c)
{
	struct paths_state t = {.pool = pool, .s = s, .p = f, .c = c};
	const char *why = find_ran(pool, s->proc, f, m, c);

	if (why)
		return why;
	settle_stopped(pool, s->proc, c);
	if (s->proc->paths->kind == CHORD_PATH_SELECTED)
		return early_or_none(pool, c);
	t.open = f && (f->nrunning || f->nthreads || f->in_flight || f->lost);
	t.pg = path_graph_new(s->pool, s->proc, &why);
	if (!t.pg)
		return why;
	t.path = path_new(s->pool, t.pg);
	t.begin = pool_array(s->pool, s->proc->nvert, sizeof *t.begin);
	why = take_ran(&t);
	if (!why)
		why = take_all_stopped(&t);
	if (!why)
		why = take_cuts(&t, woven);
	if (!why && !pass_early(&t))
		why = "more activations ended at a call than came there";
	if (!why)
		why = compare_begins(&t);
	return why ? why : close_graph(&t);
}

/* ---- lengths of paths ---- */

uint64_t
path_insns(const struct proc *p, const struct path *path, const struct stopped *s)
{
	uint32_t v = path->begin;
	uint64_t n = 0;

	for (uint32_t i = 0; i < path->n; i++) {
		v = p->arc[path->edge[i]].from;
		n += v < p->nblock ? p->block[v].ninsn : 0;
	}
	return s ? n + stopped_insns(p, s) : n;
}
