/* SPDX-License-Identifier: MIT */
/* Paths of interest: chosen by rules, and written as files for -fchord-paths=FILE. */
#include "choice/choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- choosing ---- */

static bool
load_chosen(struct choices *c, const struct choice_rules *rules, char **name, int n)
{
	bool profile = n > 1;

	for (size_t i = 0; i < rules->rule.n; i++)
		profile |= choices_rule_profile(rules->rule.at[i]);
	if (profile)
		return run_load(&c->run, name[0], name + 1, n - 1);
	c->run = (struct run){.pool = pool_new(), .path = name[0], .root = "", .sum = profile_new()};
	return run_open(&c->run, name[0]) && run_solve(&c->run);
}

/* Compares paths of one procedure. */
static int
by_sum(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->n ? memcmp(x->edge, y->edge, x->n * sizeof *x->edge) : 0;
}

static bool
same_cuts(const struct proc *p, const struct proc *q)
{
	return p->narc == q->narc && !memcmp(p->paths->cut, q->paths->cut, p->narc * sizeof *p->paths->cut);
}

/* A file cannot tell procedures apart if their names, sources and graphs are the same. The paths of a later one are then also given
 * to the first one, and so are of interest in both. False: that is not possible. */
static bool
give_away(struct choices *c, size_t from, size_t to)
{
	const struct view_paths_proc *p = &c->report.proc.at[from], *q = &c->report.proc.at[to];
	struct choice *of = &c->of[from];

	if (of->path.n + c->of[to].path.n && !same_cuts(p->proc, q->proc)) {
		say_error(image_readable(p->proc->name), "there are two of this name in %s, with one graph, whose paths are cut "
		          "differently", p->proc->file);
		return false;
	}
	for (size_t k = 0; k < of->path.n; k++) {
		const struct chosen *path = &of->path.at[k];
		uint32_t begin = q->proc->arc[path->edge[0]].from;

		choice_add(c, to, (uint64_t)dag_sum(q->graph->dag, q->graph->val, begin, path->edge, path->n), path->edge, path->n);
	}
	of->path.n = 0;
	return true;
}

static bool
join_twins(struct choices *c)
{
	struct strmap first = {0};
	bool ok = true;

	c->first = pool_array(c->pool, c->report.proc.n, sizeof *c->first);
	for (size_t i = 0; i < c->report.proc.n && ok; i++) {
		const struct view_paths_proc *p = &c->report.proc.at[i];
		struct str key = str_of(pool_printf(c->pool, "%s\n%s\n%" PRIx64, p->proc->name, p->proc->file, p->hash));
		uint64_t at = i;

		if (strmap_get(&first, key, &at))
			ok = give_away(c, i, at);
		else
			strmap_put(&first, key, i);
		c->first[i] = at;
	}
	strmap_free(&first);
	return ok;
}

/* Keeps each path once. */
static void
join(struct choices *c)
{
	for (size_t i = 0; i < c->report.proc.n; i++) {
		struct choice *of = &c->of[i];
		size_t n = 0;

		if (of->path.n)
			qsort(of->path.at, of->path.n, sizeof *of->path.at, by_sum);
		for (size_t k = 0; k < of->path.n; k++)
			if (!n || by_sum(&of->path.at[n - 1], &of->path.at[k]))
				of->path.at[n++] = of->path.at[k];
		of->path.n = n;
		c->n += n;
	}
}

bool
choices_make(struct choices *c, const struct choice_rules *rules, char **name, int n)
{
	bool ok;

	*c = (struct choices){.most = rules->most};
	if (!load_chosen(c, rules, name, n) || !view_paths(&c->report, &c->run, NULL))
		return false;
	c->pool = c->run.pool;
	c->of = pool_array(c->pool, c->report.proc.n, sizeof *c->of);
	ok = !rules->file || choices_file(c, rules->file);
	for (size_t i = 0; i < rules->rule.n && ok; i++)
		ok = choices_rule(c, rules->rule.at[i]);
	if (!ok || !join_twins(c))
		return false;
	join(c);
	if (!c->n)
		say_error(name[0], "no path is chosen");
	return c->n;
}

void
choices_close(struct choices *c)
{
	for (size_t i = 0; c->of && i < c->report.proc.n; i++)
		free(c->of[i].path.at);
	view_paths_free(&c->report);
	if (c->run.pool)
		run_close(&c->run);
}

/* ---- writing ---- */

/* Finds how often edges ran, if that is known, in all procedures that the file does not tell apart. */
static void
find_ran(const struct choices *c, size_t first, struct selection_proc *ip)
{
	uint32_t n = c->report.proc.at[first].proc->narc;
	bool any = false, known = true;

	ip->ran = pool_array(c->pool, n, sizeof *ip->ran);
	for (size_t i = first; i < c->report.proc.n && known; i++) {
		const struct view_paths_proc *p = &c->report.proc.at[i];

		if (c->first[i] != first)
			continue;
		known = weights_known(p->proc, p->counts);
		if (known)
			weights_add(p->proc, p->counts, ip->ran);
		any |= p->counts->activations;
	}
	ip->nran = known && any ? n : 0;
}

static struct selection_proc
proc_of(const struct choices *c, size_t i)
{
	const struct view_paths_proc *p = &c->report.proc.at[i];
	struct selection_proc ip = {.name = p->proc->name, .file = p->proc->file, .hash = p->hash};

	ip.cut = pool_array(c->pool, p->proc->narc, sizeof *ip.cut);
	for (uint32_t e = 0; e < p->proc->narc; e++)
		if (p->proc->paths->cut[e])
			ip.cut[ip.ncut++] = e;
	find_ran(c, i, &ip);
	ip.path = pool_array(c->pool, c->of[i].path.n, sizeof *ip.path);
	return ip;
}

/* Does a procedure of this name and source have paths? Then this one is listed, too. */
static bool
has_namesake(const struct choices *c, const struct strmap *named, size_t i)
{
	const struct proc *p = c->report.proc.at[i].proc;
	uint64_t n;

	return strmap_get(named, str_of(pool_printf(c->pool, "%s\n%s", p->name, p->file)), &n);
}

void
choices_write(const struct choices *c, uint32_t **part, uint32_t number, struct buf *out)
{
	struct strmap named = {0};

	selection_write_head(out, SELECTION_PATHS);
	for (size_t i = 0; i < c->report.proc.n; i++) {
		const struct proc *p = c->report.proc.at[i].proc;

		if (c->of[i].path.n)
			strmap_put(&named, str_of(pool_printf(c->pool, "%s\n%s", p->name, p->file)), 1);
	}
	for (size_t i = 0; i < c->report.proc.n; i++) {
		struct selection_proc ip = proc_of(c, i);

		for (size_t k = 0; k < c->of[i].path.n; k++)
			if (!part || part[i][k] == number)
				ip.path[ip.npath++] = (struct selection_path){.n = c->of[i].path.at[k].n,
				                                             .edge = c->of[i].path.at[k].edge};
		if (c->first[i] == i && (ip.npath || has_namesake(c, &named, i)))
			selection_write(out, SELECTION_PATHS, &ip);
	}
	strmap_free(&named);
}
