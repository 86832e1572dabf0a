/* SPDX-License-Identifier: MIT */
/* chord paths select: writes files of paths of interest, for -fchord-paths=FILE. */
#include "interest/interest.h"
#include "tool/paths_choice.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_RULE = 512, OPT_MOST, OPT_FILE };

/* ---- the options ---- */

static const struct argp_option options[] = {
	{"rule", OPT_RULE, "RULE", 0, "Choose paths, also more than once: hot:P% (the fewest that execute P % of the "
	 "instructions of all paths), top:N or top:P% (the N, or P % of those that ran, which execute the most), uncovered (all "
	 "that did not run), function:GLOB (all), number:FUNCTION:N,N..., lines:FILE:A-B-C (all that execute these lines in this "
	 "order)", 0},
	{"most", OPT_MOST, "N", 0, "At most N paths of one procedure by one rule (default: 65536)", 0},
	{"file", OPT_FILE, "FILE", 0, "Those that this file has, instead of a rule or beside it", 0},
	{"output", 'o', "FILE", 0, "Write to FILE, not to standard output", 0},
	{0},
};

static uint64_t
parse_most(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !n)
		argp_error(state, "--most=%s: not a number of paths from 1 on", text);
	return n;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct choice_args *a = state->input;

	switch (key) {
	case OPT_RULE:
		VEC_PUSH(a->rule, arg);
		break;
	case OPT_MOST:
		a->most = parse_most(arg, state);
		break;
	case OPT_FILE:
		a->file = arg;
		break;
	case 'o':
		a->out = arg;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_END:
		if (!a->rule.n && !a->file)
			argp_error(state, "which paths? Give --rule");
		if (!a->n)
			argp_error(state, "of which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp choice_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

/* ---- choosing ---- */

static bool
load(struct choices *c, const struct choice_args *a)
{
	bool profile = a->n > 1;

	for (size_t i = 0; i < a->rule.n; i++)
		profile |= choices_rule_profile(a->rule.at[i]);
	if (profile)
		return run_load(&c->run, a->name[0], a->name + 1, a->n - 1);
	c->run = (struct run){.pool = pool_new(), .path = a->name[0], .root = "", .sum = profile_new()};
	return run_open(&c->run, a->name[0]) && run_solve(&c->run);
}

/* Of one procedure. */
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

/* What a file cannot tell from an earlier procedure, because their names, sources and graphs are alike, has the other's paths:
 * they are of interest in both. False: that cannot be. */
static bool
give_away(struct choices *c, size_t from, size_t to)
{
	const struct paths_proc *p = &c->report.proc.at[from], *q = &c->report.proc.at[to];
	struct choice *of = &c->of[from];

	if (of->path.n + c->of[to].path.n && !same_cuts(p->proc, q->proc)) {
		say_error(p->proc->name, "there are two of this name in %s, with one graph, whose paths are cut differently",
		          p->proc->file);
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
		const struct paths_proc *p = &c->report.proc.at[i];
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

/* Leaves each path once. */
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
choices_make(struct choices *c, const struct choice_args *a)
{
	bool ok;

	*c = (struct choices){.most = a->most};
	if (!load(c, a) || !path_report_find(&c->report, &c->run, &c->opt))
		return false;
	c->pool = c->run.pool;
	c->of = pool_array(c->pool, c->report.proc.n, sizeof *c->of);
	ok = !a->file || choices_file(c, a->file);
	for (size_t i = 0; i < a->rule.n && ok; i++)
		ok = choices_rule(c, a->rule.at[i]);
	if (!ok || !join_twins(c))
		return false;
	join(c);
	if (!c->n)
		say_error(a->name[0], "no path is chosen");
	return c->n;
}

void
choices_close(struct choices *c)
{
	for (size_t i = 0; c->of && i < c->report.proc.n; i++)
		free(c->of[i].path.at);
	path_report_free(&c->report);
	if (c->run.pool)
		run_close(&c->run);
}

/* ---- writing ---- */

/* How often edges ran, if that is known, in all procedures that the file does not tell apart. */
static void
find_ran(const struct choices *c, size_t first, struct interest_proc *ip)
{
	uint32_t n = c->report.proc.at[first].proc->narc;
	bool any = false, known = true;

	ip->ran = pool_array(c->pool, n, sizeof *ip->ran);
	for (size_t i = first; i < c->report.proc.n && known; i++) {
		const struct paths_proc *p = &c->report.proc.at[i];

		if (c->first[i] != first)
			continue;
		known = weights_known(p->proc, p->counts);
		if (known)
			weights_add(p->proc, p->counts, ip->ran);
		any |= p->counts->calls;
	}
	ip->nran = known && any ? n : 0;
}

static struct interest_proc
proc_of(const struct choices *c, size_t i)
{
	const struct paths_proc *p = &c->report.proc.at[i];
	struct interest_proc ip = {.name = p->proc->name, .file = p->proc->file, .hash = p->hash};

	ip.cut = pool_array(c->pool, p->proc->narc, sizeof *ip.cut);
	for (uint32_t e = 0; e < p->proc->narc; e++)
		if (p->proc->paths->cut[e])
			ip.cut[ip.ncut++] = e;
	find_ran(c, i, &ip);
	ip.path = pool_array(c->pool, c->of[i].path.n, sizeof *ip.path);
	return ip;
}

/* Is there one of its name and source that has paths? Then it is listed, too. */
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

	interest_write_head(out, INTEREST_PATHS);
	for (size_t i = 0; i < c->report.proc.n; i++) {
		const struct proc *p = c->report.proc.at[i].proc;

		if (c->of[i].path.n)
			strmap_put(&named, str_of(pool_printf(c->pool, "%s\n%s", p->name, p->file)), 1);
	}
	for (size_t i = 0; i < c->report.proc.n; i++) {
		struct interest_proc ip = proc_of(c, i);

		for (size_t k = 0; k < c->of[i].path.n; k++)
			if (!part || part[i][k] == number)
				ip.path[ip.npath++] = (struct interest_path){.n = c->of[i].path.at[k].n,
				                                             .edge = c->of[i].path.at[k].edge};
		if (c->first[i] == i && (ip.npath || has_namesake(c, &named, i)))
			interest_write(out, INTEREST_PATHS, &ip);
	}
	strmap_free(&named);
}

static void
warn_of_unfit(const struct choices *c)
{
	for (size_t i = 0; i < c->report.proc.n; i++) {
		struct pool *pool = pool_new();
		size_t n;

		if (!choice_code(pool, c, i, NULL, 0, NULL, &n) && n)
			say_warning(c->report.proc.at[i].proc->name,
			            "its paths lead along the edges of too many others: a build with all of them will refuse it "
			            "(chord paths split deals them over several)");
		pool_free(pool);
	}
}

static const char doc[] =
	"Choose paths of interest, and write them to a file for -fchord-paths=FILE.\v"
	"PROGRAM was built with -fchord=paths. Only the paths chosen are counted in a program that is built from the same "
	"source, by the same compiler with the same options and -fchord-paths=FILE.\n\n"
	"Exit status: 0 done, 1 no such paths, or the program or a profile cannot be used, 2 wrong usage.";

static error_t
parse_select(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = state->input;
	return ARGP_ERR_UNKNOWN;
}

int
cmd_paths_select(int argc, char **argv)
{
	static const struct argp_child child[] = {{&choice_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {NULL, parse_select, "PROGRAM [PROFILE...]", doc, child, NULL, NULL};
	struct choice_args a = {.most = CHOICE_MOST};
	struct choices c = {0};
	struct buf out = {0};
	bool ok;

	argv[0] = (char *)(uintptr_t)"chord paths select";
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		die("memory", "out of memory");
	ok = choices_make(&c, &a);
	if (ok)
		choices_write(&c, NULL, 0, &out);
	ok = ok && save_output(a.out, &out);
	if (ok)
		warn_of_unfit(&c);
	if (ok)
		fprintf(stderr, "%zu %s chosen\n", c.n, c.n == 1 ? "path" : "paths");
	buf_free(&out);
	choices_close(&c);
	free(a.rule.at);
	return ok ? 0 : EXIT_NO;
}
