/* SPDX-License-Identifier: MIT */
/* The paths that several builds of one source counted, as if one build had counted all of them. */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Identifies a procedure in all builds. */
static struct str
key(struct pool *pool, const struct view_paths_proc *p)
{
	return str_of(pool_printf(pool, "%s\n%s\n%016llx", p->proc->name, p->proc->file, (unsigned long long)p->hash));
}

/* Identifies a path of a procedure in all builds: by its edges (pool). */
static struct str
path_key(struct pool *pool, struct str proc, const struct path *path)
{
	size_t n = path->n * sizeof *path->edge;
	char *at = pool_array(pool, proc.n + n, 1);

	memcpy(at, proc.at, proc.n);
	if (n)
		memcpy(at + proc.n, path->edge, n);
	return (struct str){at, proc.n + n};
}

/* The number of paths of interest that no earlier build had. Together the builds could count all of these. */
static uint64_t
new_possible(struct joined_paths *m, const struct view_paths_proc *p, struct str proc)
{
	const struct proc_paths *pp = p->proc->paths;
	struct path path = path_new(m->all.pool, p->graph);
	uint64_t n = 0, i;

	for (uint32_t k = 0; k < pp->ninterest; k++) {
		struct str one;

		if (!path_find(p->graph, pp->interest[k], &path))
			continue;
		one = path_key(m->all.pool, proc, &path);
		n += !strmap_get(&m->interest, one, &i);
		strmap_put(&m->interest, one, 1);
	}
	return n;
}

static void
add_proc(struct joined_paths *m, const struct view_paths_proc *p)
{
	struct str k = key(m->all.pool, p);
	struct view_paths_proc *have;
	uint64_t i;

	if (!strmap_get(&m->proc, k, &i)) {
		i = m->all.proc.n;
		strmap_put(&m->proc, k, i);
		VEC_PUSH(m->all.proc, *p);
		m->all.proc.at[i].ran = m->all.proc.at[i].possible = 0;
	}
	have = &m->all.proc.at[i];
	if (!have->why)
		have->why = p->why;
	if (p->proc->paths->kind != CHORD_PATH_SELECTED)
		have->possible = p->possible;
	else if (have->possible != have->graph->npath)
		have->possible += new_possible(m, p, k);
}

/* A path has room for all of the procedure's vertices, so only its key is kept. */
static struct str
row_key(struct joined_paths *m, struct str proc, const struct view_path *row)
{
	struct pool *tmp = pool_new();
	struct path path = view_path_edges(tmp, row);
	struct str one = path_key(m->all.pool, proc, &path);

	pool_free(tmp);
	return one;
}

static void
add_row(struct joined_paths *m, const struct view_path *row)
{
	struct str k = key(m->all.pool, row->of), one = row_key(m, k, row);
	uint64_t i;

	if (!strmap_get(&m->path, one, &i)) {
		strmap_put(&m->path, one, m->all.row.n);
		VEC_PUSH(m->all.row, *row);
		m->all.row.at[m->all.row.n - 1].many = m->n > 1;
		if (strmap_get(&m->proc, k, &i))
			m->all.proc.at[i].ran++;
		return;
	}
	m->all.row.at[i].count = saturating_add(m->all.row.at[i].count, row->count);
	m->all.row.at[i].insns = saturating_add(m->all.row.at[i].insns, row->insns);
}

static int
by_cost(const void *a, const void *b)
{
	const struct view_path *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->of->proc->name, y->of->proc->name);
}

/* If one build does not know a procedure exactly, paths of the procedure may have run in it. */
static void
doubt(struct joined_paths *m)
{
	uint64_t k;

	for (size_t i = 0; i < m->all.row.n; i++)
		if (strmap_get(&m->proc, key(m->all.pool, m->all.row.at[i].of), &k))
			m->all.row.at[i].exact = !m->all.proc.at[k].why;
}

static void
join(struct joined_paths *m)
{
	for (int i = 0; i < m->n; i++) {
		const struct view_paths *part = &m->part[i];

		for (size_t k = 0; k < part->proc.n; k++)
			add_proc(m, &part->proc.at[k]);
		for (size_t k = 0; k < part->row.n; k++)
			add_row(m, &part->row.at[k]);
		m->all.under_way += part->under_way;
		VEC_JOIN(m->all.stopped, part->stopped);
		VEC_JOIN(m->all.refused, part->refused);
		VEC_JOIN(m->all.damaged, part->damaged);
		VEC_JOIN(m->all.inexact, part->inexact);
		VEC_JOIN(m->all.unknown, part->unknown);
	}
	doubt(m);
	for (size_t k = 0; k < m->all.proc.n; k++) {
		m->all.possible = saturating_add(m->all.possible, m->all.proc.at[k].possible);
		m->all.ran += m->all.proc.at[k].ran;
	}
	if (m->all.row.n)
		qsort(m->all.row.at, m->all.row.n, sizeof *m->all.row.at, by_cost);
	if (m->all.stopped.n)
		qsort(m->all.stopped.at, m->all.stopped.n, sizeof *m->all.stopped.at, by_cost);
}

/* Adds notes once that all builds have. */
static void
join_notes(struct run *to, const struct run *from)
{
	for (size_t k = 0; k < from->note.n; k++) {
		bool said = false;

		for (size_t i = 0; i < to->note.n; i++)
			said |= !strcmp(to->note.at[i], from->note.at[k]);
		if (!said)
			VEC_PUSH(to->note, from->note.at[k]);
	}
}

/* Adds the other builds' profiles and notes to those of the first. */
static void
join_runs(struct joined_paths *m)
{
	struct run *r = m->all.run;

	for (int i = 1; i < m->n; i++) {
		VEC_JOIN(r->summed, m->run[i].summed);
		join_notes(r, &m->run[i]);
		VEC_JOIN(r->left_out, m->run[i].left_out);
	}
}

static bool
is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The profiles of a program named twice would count twice. */
static bool
is_named_before(const struct joined_paths *m, int i)
{
	for (int k = 0; k < i; k++)
		if (is_same_file(m->run[k].path, m->run[i].path)) {
			say_error(m->run[i].path, "the same program as %s: named twice", m->run[k].path);
			return true;
		}
	return false;
}

bool
join_paths(struct joined_paths *m, char **program, int n, const char *function)
{
	*m = (struct joined_paths){
		.run = xcalloc((size_t)n, sizeof *m->run), .part = xcalloc((size_t)n, sizeof *m->part),
	};
	for (int i = 0; i < n; i++) {
		m->n = i + 1;
		if (!run_load(&m->run[i], program[i], NULL, 0) || is_named_before(m, i) ||
		    !view_paths(&m->part[i], &m->run[i], function))
			return false;
	}
	m->all = (struct view_paths){.pool = m->run[0].pool, .run = &m->run[0]};
	join(m);
	join_runs(m);
	return true;
}

void
join_free(struct joined_paths *m)
{
	view_paths_free(&m->all);
	for (int i = 0; i < m->n; i++) {
		view_paths_free(&m->part[i]);
		run_close(&m->run[i]);
	}
	strmap_free(&m->proc);
	strmap_free(&m->path);
	strmap_free(&m->interest);
	free(m->run);
	free(m->part);
}
