/* SPDX-License-Identifier: MIT */
/* chord paths merge: puts the paths that several builds of one source have counted together, as if one build had counted all. */
#include "compare/compare.h"
#include "tool/options.h"
#include "tool/paths/paths.h"

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
parse_paths_merge(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case OPT_FUNCTION:
		a->opt.function = arg;
		break;
	case OPT_TOP:
		a->opt.top = option_top(arg, "rows", state);
		a->has_top = true;
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

int
cmd_paths_merge(int argc, char **argv)
{
	static const struct argp argp = {options, parse_paths_merge, "PROGRAM...", doc, print_names_in_rows, NULL, NULL};
	struct args a = {.opt.top = 20};
	struct joined_paths joined;
	bool ok;

	argv[0] = (char *)(uintptr_t)"chord paths merge";
	options_read(&argp, argc, argv, 0, &a);
	if (a.opt.json && !a.has_top)
		a.opt.top = 0;
	ok = join_paths(&joined, a.name, a.n, a.opt.function);
	if (ok && a.opt.json)
		ok = paths_json(&joined.all, &a.opt);
	else if (ok)
		paths_print(&joined.all, &a.opt);
	if (!print_whole(NULL, stdout))
		ok = false;
	join_free(&joined);
	return ok ? 0 : EXIT_NO;
}
