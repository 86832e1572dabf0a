/* SPDX-License-Identifier: MIT */
/* chord paths select: writes files of paths of interest, for -fchord-paths=FILE. */
#include "tool/options.h"
#include "tool/paths/choice_args.h"
#include "tool/paths/paths.h"

#include <argp.h>
#include <stdlib.h>

enum { OPT_RULE = 512, OPT_MOST, OPT_FILE };

/* ---- the options ---- */

static const struct argp_option options[] = {
	{"rule", OPT_RULE, "RULE", 0, "Choose paths, also more than once: hot:P% (the fewest that execute P % of the "
	 "instructions of all paths), top:N or top:P% (the N, or P % of those that ran, which execute the most), uncovered (all "
	 "that did not run), function:GLOB (all), number:FUNCTION:N,N..., lines:FILE:A-B-C (all that execute these lines in this "
	 "order)", 0},
	{"most", OPT_MOST, "N", 0, "At most N paths of one procedure by one rule (default: 65536)", 0},
	{"file", OPT_FILE, "FILE", 0, "Those that this file has, instead of a rule or beside it", 0},
	{"output", 'o', "FILE", 0, "Write to FILE (split: FILE.1, FILE.2 ...) and not to standard output", 0},
	{0},
};

static uint64_t
parse_most(const char *text, struct argp_state *state)
{
	uint64_t n;

	if (!number_read(text, 1, UINT64_MAX, &n))
		argp_error(state, "--most=%s: not a number of paths from 1 on", text);
	return n;
}

static error_t
parse_choice(int key, char *arg, struct argp_state *state)
{
	struct choice_args *a = state->input;

	switch (key) {
	case OPT_RULE:
		if (choices_rule_wrong(arg))
			argp_error(state, "--rule=%s: %s", arg, choices_rule_wrong(arg));
		VEC_PUSH(a->rules.rule, arg);
		break;
	case OPT_MOST:
		a->rules.most = parse_most(arg, state);
		break;
	case OPT_FILE:
		a->rules.file = arg;
		break;
	case 'o':
		a->out = arg;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_END:
		if (!a->rules.rule.n && !a->rules.file)
			argp_error(state, "which paths? Give --rule");
		if (!a->n)
			argp_error(state, "of which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp choice_argp = {options, parse_choice, NULL, NULL, NULL, NULL, NULL};

static void
warn_of_unfit(const struct choices *c)
{
	for (size_t i = 0; i < c->report.proc.n; i++) {
		struct pool *pool = pool_new();
		size_t n;

		if (!choice_code(pool, c, i, NULL, 0, NULL, &n) && n)
			say_warning(image_readable(c->report.proc.at[i].proc->name),
			            "its paths share edges with too many other paths: a build with all of them will refuse it "
			            "(chord paths split distributes them over several)");
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
	struct choice_args a = {.rules.most = CHOICE_MOST};
	struct choices c = {0};
	struct buf out = {0};
	bool ok;

	argv[0] = (char *)(uintptr_t)"chord paths select";
	options_read(&argp, argc, argv, 0, &a);
	ok = choices_make(&c, &a.rules, a.name, a.n);
	if (ok)
		choices_write(&c, NULL, 0, &out);
	ok = ok && save_output(a.out, &out);
	if (ok)
		warn_of_unfit(&c);
	if (ok)
		fprintf(stderr, "%zu %s chosen\n", c.n, c.n == 1 ? "path" : "paths");
	buf_free(&out);
	choices_close(&c);
	free(a.rules.rule.at);
	return ok ? 0 : EXIT_NO;
}
