/* SPDX-License-Identifier: MIT */
/* chord paths: which acyclic paths ran, and how often. */
#include "tool/options.h"
#include "tool/paths/paths.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_FUNCTION = 256, OPT_TOP, OPT_JSON, OPT_DIFF, OPT_COVERAGE, OPT_BRANCHES, OPT_DEF_USE, OPT_SOURCE };

static const struct argp_option options[] = {
	{"function", OPT_FUNCTION, "GLOB", 0, "Only of functions whose name matches the pattern", 0},
	{"top", OPT_TOP, "N", 0, "Show N paths, or pairs of each kind; 0: all (default: 20; with --json all)", 0},
	{"source", OPT_SOURCE, NULL, 0, "The text of the lines that a path executes, not only their numbers", 0},
	{"coverage", OPT_COVERAGE, NULL, 0, "How many of its paths each function ran, instead of the paths", 0},
	{"branches", OPT_BRANCHES, NULL, 0, "How often the paths went each way at conditional jumps, instead of the paths", 0},
	{"def-use", OPT_DEF_USE, NULL, 0, "Which instructions used what others had left in registers, and which did not, instead "
	 "of the paths", 0},
	{"diff", OPT_DIFF, NULL, 0, "Of two profiles of PROGRAM, A and B: the paths that only one of them took, then those whose "
	 "counts differ", 0},
	{"json", OPT_JSON, NULL, 0, "The same as JSON", 0},
	{0},
};

static const char doc[] =
	"Which paths through its procedures a program built with -fchord=paths took.\v"
	"A path begins where a procedure is entered or behind an edge that was cut, and ends where the procedure is left or "
	"with a cut edge. Cut are all edges that close a loop, and more in procedures with too many paths. An activation that "
	"ends at a call (longjmp, exceptions, exit) leaves its path unfinished: such paths are listed apart.\n\n"
	"Without PROFILE, all profiles named PROGRAM.*.chord in the current folder that belong to this build of the program "
	"are summed.\n\n"
	"`chord paths select`, `split` and `merge` deal with files of paths of interest, for -fchord-paths=FILE: see their "
	"--help.\n\n"
	"Exit status: 0 done, 1 the program or a profile cannot be used, 2 wrong usage.";

static const char usage[] = "PROGRAM [PROFILE...]\n--diff PROGRAM A B\nselect ...\nsplit ...\nmerge ...";

struct args {
	struct paths_options opt;
	bool diff, has_top;
	char **name;
	int n;
};

/* These show all there is, and no paths. */
static void
check_apart(const struct args *a, struct argp_state *state)
{
	const char *all = a->opt.coverage ? "--coverage" : a->opt.branches ? "--branches" : NULL;
	const char *other = all ? all : a->opt.def_use ? "--def-use" : NULL;

	if (other && a->opt.source)
		argp_error(state, "%s cannot be combined with --source", other);
	if (all && a->has_top && !a->opt.json)
		argp_error(state, "%s cannot be combined with --top", all);
	if (a->opt.source && a->opt.json)
		argp_error(state, "--source cannot be combined with --json, which has the numbers of the lines");
}

static error_t
parse_paths(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case OPT_FUNCTION:
		a->opt.function = arg;
		break;
	case OPT_TOP:
		a->opt.top = option_top(arg, "paths", state);
		a->has_top = true;
		break;
	case OPT_COVERAGE:
		a->opt.coverage = true;
		break;
	case OPT_BRANCHES:
		a->opt.branches = true;
		break;
	case OPT_DEF_USE:
		a->opt.def_use = true;
		break;
	case OPT_SOURCE:
		a->opt.source = true;
		break;
	case OPT_DIFF:
		a->diff = true;
		break;
	case OPT_JSON:
		a->opt.json = true;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_END:
		if (!a->n)
			argp_error(state, "which program?");
		if (a->diff && a->n != 3)
			argp_error(state, "--diff needs a program and two profiles: PROGRAM A B");
		if (a->diff + a->opt.coverage + a->opt.branches + a->opt.def_use > 1)
			argp_error(state, "only one of --diff, --coverage, --branches and --def-use can be given");
		check_apart(a, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int
report(const struct args *a)
{
	struct run run;
	struct view_paths r = {0};
	bool ok = run_load(&run, a->name[0], a->name + 1, a->n - 1) && view_paths(&r, &run, a->opt.function);

	if (ok && a->opt.json)
		ok = paths_json(&r, &a->opt);
	else if (ok)
		paths_print(&r, &a->opt);
	if (!print_whole(NULL, stdout) || run.missing.n)
		ok = false;
	view_paths_free(&r);
	warn_of_newer_sources(&run);
	view_source_free();
	run_close(&run);
	return ok ? 0 : EXIT_NO;
}

int
cmd_paths(int argc, char **argv)
{
	static const struct argp argp = {options, parse_paths, usage, doc, print_names_in_rows, NULL, NULL};
	struct args a = {.opt.top = 20};

	if (argc > 1 && !strcmp(argv[1], "select"))
		return cmd_paths_select(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "split"))
		return cmd_paths_split(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "merge"))
		return cmd_paths_merge(argc - 1, argv + 1);
	options_read(&argp, argc, argv, 0, &a);
	if (a.opt.json && !a.has_top)
		a.opt.top = 0;
	return a.diff ? paths_diff(&a.opt, a.name) : report(&a);
}
