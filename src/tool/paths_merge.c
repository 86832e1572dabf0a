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

/* A procedure's paths of interest in several builds are together what could be counted, but for those in two of them. */
static void
add_proc(struct merged *m, const struct paths_proc *p)
{
	struct str k = key(m->all.pool, p);
	uint64_t i;

	if (strmap_get(&m->proc, k, &i)) {
		struct paths_proc *have = &m->all.proc.at[i];

		if (have->possible < have->graph->npath)
			add(&have->possible, p->possible);
		if (have->possible > have->graph->npath)
			have->possible = have->graph->npath;
		if (!have->why)
			have->why = p->why;
		return;
	}
	strmap_put(&m->proc, k, m->all.proc.n);
	VEC_PUSH(m->all.proc, *p);
	m->all.proc.at[m->all.proc.n - 1].ran = 0;
}

static void
add_row(struct merged *m, const struct path_row *row)
{
	struct path path = path_row_edges(m->all.pool, row);
	struct buf b = {0};
	struct str k = key(m->all.pool, row->of);
	struct path_row *have;
	uint64_t i;

	buf_add(&b, k.at, k.n);
	buf_add(&b, path.edge, path.n * sizeof *path.edge);
	if (!strmap_get(&m->path, (struct str){b.at, b.n}, &i)) {
		strmap_put(&m->path, (struct str){pool_strndup(m->all.pool, b.at, b.n), b.n}, m->all.row.n);
		VEC_PUSH(m->all.row, *row);
		if (strmap_get(&m->proc, k, &i))
			m->all.proc.at[i].ran++;
	} else {
		have = &m->all.row.at[i];
		add(&have->count, row->count);
		add(&have->insns, row->insns);
	}
	buf_free(&b);
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

/* What is said of the run as a whole is that of all. */
static void
join_runs(struct merged *m)
{
	struct run *r = m->all.run;

	for (int i = 1; i < m->n; i++) {
		VEC_JOIN(r->summed, m->run[i].summed);
		VEC_JOIN(r->note, m->run[i].note);
		VEC_JOIN(r->left_out, m->run[i].left_out);
	}
}

static bool
load(struct merged *m, struct args *a)
{
	struct paths_options opt = a->opt;

	for (int i = 0; i < a->n; i++) {
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
