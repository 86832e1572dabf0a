/* SPDX-License-Identifier: MIT */
/* chord paths merge: the paths that several builds of one source have counted, as if one had counted all. */
#include "tool/paths.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_TOP = 256, OPT_JSON, OPT_FUNCTION, OPT_COVERAGE };

static const struct argp_option options[] = {
	{"function", OPT_FUNCTION, "GLOB", 0, "Only of functions whose name matches the pattern", 0},
	{"top", OPT_TOP, "N", 0, "Show N paths; 0: all (default: 20; with --json all)", 0},
	{"coverage", OPT_COVERAGE, NULL, 0, "How many of its paths each function ran, instead of the paths", 0},
	{"json", OPT_JSON, NULL, 0, "The same as JSON", 0},
	{0},
};

static const char doc[] =
	"Put together what builds of one source counted that were each built with another part of its paths "
	"(`chord paths split`).\v"
	"Of each PROGRAM all profiles named PROGRAM.*.chord in the current folder are used. Procedures are the same if their "
	"names, source files and graphs are. Counts of a path add up, should more than one build have counted it.\n\n"
	"Exit status: 0 done, 1 a program or a profile cannot be used, 2 wrong usage.";

struct args {
	struct paths_options opt;
	bool has_top;
	char **name;
	int n;
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	char *end;

	switch (key) {
	case OPT_FUNCTION:
		a->opt.function = arg;
		break;
	case OPT_TOP:
		errno = 0;
		a->opt.top = strtoul(arg, &end, 10);
		a->has_top = true;
		if (*arg < '0' || *arg > '9' || *end || errno)
			argp_error(state, "--top=%s: not a number of paths", arg);
		break;
	case OPT_COVERAGE:
		a->opt.coverage = true;
		break;
	case OPT_JSON:
		a->opt.json = true;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which programs?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What is one procedure in all builds. */
static struct str
key(struct pool *pool, const struct paths_proc *p)
{
	return str_of(pool_printf(pool, "%s\n%s\n%016llx", p->proc->name, p->proc->file, (unsigned long long)p->hash));
}

struct merged {
	struct run *run;         /* by program */
	struct path_report *part;
	struct path_report all;
	struct strmap proc;      /* number in all.proc */
	struct strmap path;      /* number in all.row; by procedure and edges */
	struct strmap interest;  /* those that some build counts, likewise */
	int n;
};

static bool
add(uint64_t *sum, uint64_t v)
{
	if (!__builtin_add_overflow(*sum, v, sum))
		return true;
	*sum = UINT64_MAX;
	return false;
}

/* What is one path of a procedure in all builds: its edges (pool). */
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

/* A procedure's paths of interest in several builds are together what could be counted: each once. */
static uint64_t
new_possible(struct merged *m, const struct paths_proc *p, struct str proc)
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
add_proc(struct merged *m, const struct paths_proc *p)
{
	struct str k = key(m->all.pool, p);
	struct paths_proc *have;
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

static void
add_row(struct merged *m, const struct path_row *row)
{
	struct path path = path_row_edges(m->all.pool, row);
	struct str k = key(m->all.pool, row->of), one = path_key(m->all.pool, k, &path);
	uint64_t i;

	if (!strmap_get(&m->path, one, &i)) {
		strmap_put(&m->path, one, m->all.row.n);
		VEC_PUSH(m->all.row, *row);
		m->all.row.at[m->all.row.n - 1].many = m->n > 1;
		if (strmap_get(&m->proc, k, &i))
			m->all.proc.at[i].ran++;
		return;
	}
	add(&m->all.row.at[i].count, row->count);
	add(&m->all.row.at[i].insns, row->insns);
}

static int
by_cost(const void *a, const void *b)
{
	const struct path_row *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->of->proc->name, y->of->proc->name);
}

/* If one of the builds does not know a procedure exactly, its paths may have run there. */
static void
doubt(struct merged *m)
{
	uint64_t k;

	for (size_t i = 0; i < m->all.row.n; i++)
		if (strmap_get(&m->proc, key(m->all.pool, m->all.row.at[i].of), &k))
			m->all.row.at[i].exact = !m->all.proc.at[k].why;
}

static void
join(struct merged *m)
{
	for (int i = 0; i < m->n; i++) {
		const struct path_report *part = &m->part[i];

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
		add(&m->all.possible, m->all.proc.at[k].possible);
		m->all.ran += m->all.proc.at[k].ran;
	}
	if (m->all.row.n)
		qsort(m->all.row.at, m->all.row.n, sizeof *m->all.row.at, by_cost);
	if (m->all.stopped.n)
		qsort(m->all.stopped.at, m->all.stopped.n, sizeof *m->all.stopped.at, by_cost);
}

/* What is said of all builds is said once. */
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

/* What is said of the run as a whole is that of all. */
static void
join_runs(struct merged *m)
{
	struct run *r = m->all.run;

	for (int i = 1; i < m->n; i++) {
		VEC_JOIN(r->summed, m->run[i].summed);
		join_notes(r, &m->run[i]);
		VEC_JOIN(r->left_out, m->run[i].left_out);
	}
}

/* Its profiles would count twice. */
static bool
is_named_before(const struct args *a, int i)
{
	for (int k = 0; k < i; k++)
		if (!strcmp(a->name[k], a->name[i])) {
			say_error(a->name[i], "named twice");
			return true;
		}
	return false;
}

static bool
load(struct merged *m, struct args *a)
{
	struct paths_options opt = a->opt;

	for (int i = 0; i < a->n; i++) {
		if (is_named_before(a, i))
			return false;
		m->n = i + 1;
		if (!run_load(&m->run[i], a->name[i], NULL, 0) || !path_report_find(&m->part[i], &m->run[i], &opt))
			return false;
	}
	m->all = (struct path_report){.pool = m->run[0].pool, .run = &m->run[0], .opt = &a->opt};
	join(m);
	join_runs(m);
	return true;
}

static void
destroy(struct merged *m)
{
	path_report_free(&m->all);
	for (int i = 0; i < m->n; i++) {
		path_report_free(&m->part[i]);
		run_close(&m->run[i]);
	}
	strmap_free(&m->proc);
	strmap_free(&m->path);
	strmap_free(&m->interest);
	free(m->run);
	free(m->part);
}

int
cmd_paths_merge(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "PROGRAM...", doc, NULL, NULL, NULL};
	struct args a = {.opt.top = 20};
	struct merged m = {0};
	bool ok;

	argv[0] = (char *)(uintptr_t)"chord paths merge";
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		die("memory", "out of memory");
	if (a.opt.json && !a.has_top)
		a.opt.top = 0;
	m.run = xcalloc((size_t)a.n, sizeof *m.run);
	m.part = xcalloc((size_t)a.n, sizeof *m.part);
	ok = load(&m, &a);
	if (ok && a.opt.json)
		ok = path_report_json(&m.all);
	else if (ok)
		path_report_print(&m.all);
	if (fflush(stdout) || ferror(stdout)) {
		say_error("standard output", "%s", strerror(errno));
		ok = false;
	}
	destroy(&m);
	return ok ? 0 : EXIT_NO;
}
