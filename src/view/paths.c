/* SPDX-License-Identifier: MIT */
/* The paths of a run. */
#include "view/paths.h"
#include "view/view.h"

#include <stdlib.h>

static uint64_t
times(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static void
add_ran(struct view_paths *r, const struct view_paths_proc *of, struct path *path)
{
	const struct path_counts *pc = of->counts->paths;

	for (size_t i = 0; i < pc->nran; i++) {
		struct view_path row = {.of = of, .sum = pc->ran[i].sum, .count = pc->ran[i].count, .exact = !of->why};

		if (!path_find(of->graph, row.sum, path)) {
			VEC_PUSH(r->damaged, (struct named){of->proc->name, "a path was counted that it does not have"});
			return;
		}
		row.length = path_insns(of->proc, path, NULL);
		row.insns = times(row.length, row.count);
		VEC_PUSH(r->row, row);
	}
}

static void
add_stopped(struct view_paths *r, const struct view_paths_proc *of, struct path *path)
{
	for (const struct stopped *s = of->counts->paths->stopped; s; s = s->next) {
		struct view_path row = {.of = of, .stopped = s, .sum = (uint64_t)path_stopped_sum(of->graph, s),
		                       .count = s->count, .exact = !of->why};

		if ((!s->cut && !path_goes_on(of->proc, s->call)) || of->proc->paths->kind == CHORD_PATH_SELECTED)
			continue;
		if (!path_stopped(of->graph, s, path)) {
			VEC_PUSH(r->damaged, (struct named){of->proc->name, "how far activations had come makes no sense"});
			return;
		}
		row.length = path_insns(of->proc, path, s);
		row.insns = times(row.length, row.count);
		VEC_PUSH(r->stopped, row);
	}
}

static void
add_proc(struct view_paths *r, struct binary *bin, uint32_t i, const char *function)
{
	const struct proc *p = &bin->map.proc[i];
	struct view_paths_proc of = {.binary = bin, .proc = p, .counts = &bin->counts[i]};
	const char *why;

	r->insns_known &= !of.counts->most;
	if (!of.counts->why)
		r->insns = saturating_add(r->insns, of.counts->insns);
	else if (!p->refused)
		r->insns_known = false;
	if (p->refused && view_is_named(p, function))
		VEC_PUSH(r->refused, (struct named){p->name, p->refused});
	if (p->refused || !p->paths || !view_is_named(p, function))
		return;
	of.graph = path_graph_new(r->pool, p, &why);
	if (!of.graph)
		bug("%s", why);
	of.hash = proc_hash(p);
	of.possible = p->paths->kind == CHORD_PATH_SELECTED ? p->paths->ninterest : of.graph->npath;
	of.ran = of.counts->paths->nran;
	of.why = of.counts->why && !counts_by_design(of.counts) ? of.counts->why : NULL;
	if (of.why)
		VEC_PUSH(r->inexact, (struct named){p->name, of.why});
	of.others = of.why || of.counts->paths->under_way || p->paths->kind == CHORD_PATH_SELECTED;
	r->ran += of.ran;
	r->possible = saturating_add(r->possible, of.possible);
	r->under_way += of.counts->paths->under_way;
	VEC_PUSH(r->proc, of);
}

/* Finds procedures of which nothing is shown. */
static void
find_unknown(struct view_paths *r)
{
	for (size_t i = 0; i < r->run->unknown.n; i++) {
		const struct named *u = &r->run->unknown.at[i];
		bool shown = false;

		for (size_t k = 0; k < r->inexact.n; k++)
			shown |= r->inexact.at[k].name == u->name && r->inexact.at[k].reason == u->reason;
		if (!shown)
			VEC_PUSH(r->unknown, *u);
	}
}

static int
by_cost(const void *a, const void *b)
{
	const struct view_path *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->sum > y->sum) - (x->sum < y->sum);
}

static bool
counts_paths(const struct run *run)
{
	for (size_t k = 0; k < run->binary.n; k++)
		for (uint32_t i = 0; i < run->binary.at[k].map.nproc; i++)
			if (run->binary.at[k].map.proc[i].paths)
				return true;
	return false;
}

bool
view_paths(struct view_paths *r, struct run *run, const char *function)
{
	*r = (struct view_paths){.pool = run->pool, .run = run, .insns_known = true};
	if (!counts_paths(run)) {
		say_error(run->path, "its paths were not counted: build it with -fchord=paths");
		return false;
	}
	for (size_t k = 0; k < run->binary.n; k++)
		for (uint32_t i = 0; i < run->binary.at[k].map.nproc; i++)
			add_proc(r, &run->binary.at[k], i, function);
	find_unknown(r);
	if (function && !r->proc.n) {
		const char *meant = view_meant(run, function);

		say_error(run->path, "--function=%s: no procedure whose paths are counted has such a name%s%s%s", function,
		          meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
		return false;
	}
	for (size_t i = 0; i < r->proc.n; i++) {
		struct path path = path_new(r->pool, r->proc.at[i].graph);

		add_ran(r, &r->proc.at[i], &path);
		add_stopped(r, &r->proc.at[i], &path);
	}
	if (r->row.n)
		qsort(r->row.at, r->row.n, sizeof *r->row.at, by_cost);
	if (r->stopped.n)
		qsort(r->stopped.at, r->stopped.n, sizeof *r->stopped.at, by_cost);
	return true;
}

void
view_paths_free(struct view_paths *r)
{
	free(r->proc.at);
	free(r->row.at);
	free(r->stopped.at);
	free(r->damaged.at);
	free(r->refused.at);
	free(r->inexact.at);
	free(r->unknown.at);
}

struct path
view_path_edges(struct pool *pool, const struct view_path *row)
{
	struct path path = path_new(pool, row->of->graph);
	bool found = row->stopped ? path_stopped(row->of->graph, row->stopped, &path)
	                          : path_find(row->of->graph, row->sum, &path);

	if (!found)
		bug("a path that was found is lost");
	return path;
}

bool
view_path_is_cut(const struct view_path *row, const struct path *path)
{
	return !row->stopped && path->n && row->of->proc->paths->cut[path->edge[path->n - 1]];
}
