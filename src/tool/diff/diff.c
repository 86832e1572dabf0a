/* SPDX-License-Identifier: MIT */
/* chord diff: which functions and lines gained or lost instructions, and whether that is too much. */
#include "tool/diff/diff.h"
#include "tool/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_FUNCTIONS = 256, OPT_LINES, OPT_TOP, OPT_JSON, OPT_ABOVE, OPT_FUNCTION_ABOVE };

static const struct argp_option options[] = {
	{"functions", OPT_FUNCTIONS, NULL, 0, "What changed by function (the default)", 1},
	{"lines", OPT_LINES, NULL, 0, "What changed by source line (needs -g)", 1},
	{"top", OPT_TOP, "N", 0, "Show N rows; 0: all (default: 20)", 1},
	{"json", OPT_JSON, NULL, 0, "Print JSON, with all rows", 1},
	{NULL, 0, NULL, 0, "Exit status 1 if:", 2},
	{"fail-above", OPT_ABOVE, "PCT", 0, "All instructions together grew by more than PCT percent", 2},
	{"fail-function-above", OPT_FUNCTION_ABOVE, "PCT", 0, "The instructions of one function grew by more than PCT percent of "
	 "all that were executed before", 2},
	{NULL, 0, NULL, 0, "Help:", -1},
	{0},
};

static const char doc[] =
	"Compare two profiles: which functions and lines gained or lost instructions.\v"
	"A and B are profiles of one build of PROGRAM, or each of its own build, behind its program; without a program they are of "
	"those that they name themselves. Functions are the same if name and source file are, lines if file and number "
	"are. What is not known of one of the two is in no sum.\n\n"
	"Exit status: 0 done, 1 a limit is exceeded, or the profiles cannot be compared, 2 wrong usage.";

struct args {
	struct diff_options opt;
	bool functions;
	char **name;
	int n;
};

static void
parse_limit(const char *option, const char *text, uint64_t *limit, const char **given, struct argp_state *state)
{
	if (!options_percent(text, limit))
		argp_error(state, "--%s=%s: not a percentage", option, text);
	*given = text;
}

static error_t
parse_diff(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case OPT_FUNCTIONS:
		a->functions = true;
		break;
	case OPT_LINES:
		a->opt.lines = true;
		break;
	case OPT_TOP:
		a->opt.top = option_top(arg, "rows", state);
		break;
	case OPT_JSON:
		a->opt.json = true;
		break;
	case OPT_ABOVE:
		parse_limit("fail-above", arg, &a->opt.above, &a->opt.above_text, state);
		break;
	case OPT_FUNCTION_ABOVE:
		parse_limit("fail-function-above", arg, &a->opt.function_above, &a->opt.function_above_text, state);
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_END:
		if (a->functions && a->opt.lines && !a->opt.json)
			argp_error(state, "either --functions or --lines (--json --lines has both)");
		if (a->n < 2 || a->n > 4)
			argp_error(state, "which profiles? A B, PROGRAM A B, or PROGRAM A PROGRAM B");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- the verdict ---- */

/* Did it grow by more than that many millionths of a percent of `all`? */
static bool
grew(const struct difference *r, uint64_t all, uint64_t millionths)
{
	return r->after.least > r->before.most &&
	       (unsigned __int128)(r->after.least - r->before.most) * 100000000 > (unsigned __int128)millionths * all;
}

static const char *
bare(const char *text, char out[32])
{
	snprintf(out, 32, "%.*s", (int)strcspn(text, "%"), text);
	return out;
}

/* NULL: they were not counted. */
static const struct difference *
instructions(const struct diff *d)
{
	for (size_t i = 0; i < d->found.total.n; i++)
		if (!strcmp(d->found.total.at[i].name, "instructions"))
			return &d->found.total.at[i];
	return NULL;
}

static bool
total_grew(const struct diff *d)
{
	const struct difference *t = instructions(d);
	char limit[32], n[32];

	if (!grew(t, t->before.least, d->opt->above))
		return false;
	say_error(d->side[1].profile, "%s instructions more than before: above the limit of %s %%",
	          grouped(n, t->after.least - t->before.most), bare(d->opt->above_text, limit));
	return true;
}

static bool
functions_grew(const struct diff *d)
{
	bool any = false;
	char limit[32], n[32];

	for (size_t i = 0; i < d->found.function.n; i++) {
		const struct difference *f = &d->found.function.at[i];

		if (!grew(f, instructions(d)->before.least, d->opt->function_above))
			continue;
		say_error(d->side[1].profile, "%s: %s instructions more than before: above the limit of %s %%",
		          image_readable(f->name), grouped(n, f->after.least - f->before.most),
		          bare(d->opt->function_above_text, limit));
		any = true;
	}
	return any;
}

/* Nothing is said to be within its limits that is not known. */
static bool
is_above(const struct diff *d)
{
	bool above = false;

	if (!d->opt->above_text && !d->opt->function_above_text)
		return false;
	if (!instructions(d)) {
		say_error(d->side[1].profile, "it cannot be said whether a limit is exceeded: instructions were not counted");
		return true;
	}
	if (d->opt->function_above_text && !d->found.by_function) {
		say_error(d->side[1].profile, "it cannot be said whether a limit is exceeded: functions were not counted");
		return true;
	}
	if (d->found.left_out.n) {
		say_error(d->side[1].profile, "it cannot be said whether a limit is exceeded: %zu %s could not be compared",
		          d->found.left_out.n, d->found.left_out.n == 1 ? "function" : "functions");
		above = true;
	}
	above |= d->opt->above_text && total_grew(d);
	above |= d->opt->function_above_text && functions_grew(d);
	return above;
}

/* ---- the sides ---- */

void
diff_open(struct diff *d, char **name, int n)
{
	d->found.pool = pool_new();
	d->side[0].profile = name[n > 2];
	d->side[1].profile = name[n - 1];
	if (n > 2)
		d->side[0].program = name[0];
	if (n > 2)
		d->side[1].program = name[n == 4 ? 2 : 0];
}

void
diff_close(struct diff *d)
{
	compare_builds_free(&d->found);
	for (int i = 0; i < 2; i++)
		if (d->side[i].run.pool)
			run_close(&d->side[i].run);
	pool_free(d->found.pool);
}

static bool
load_side(struct diff *d, int number)
{
	struct side *s = &d->side[number];
	char *profile = (char *)(uintptr_t)s->profile;
	bool ok = s->program ? run_load(&s->run, s->program, &profile, 1) : run_load_all(&s->run, s->profile, &profile, 1);

	if (!ok)
		return false;
	if (!s->run.binary.n) {
		/* The object that it names is not what it was. */
		for (size_t i = 0; i < s->run.unknown.n; i++)
			say_error(s->profile, "%s: %s; name the program: chord diff PROGRAM A PROGRAM B", s->run.unknown.at[i].name,
			          s->run.unknown.at[i].reason);
		for (size_t i = 0; i < s->run.left_out.n; i++)
			say_error(s->profile, "%s: chord diff PROGRAM A B", s->run.left_out.at[i].reason);
		return false;
	}
	if (view_tables(&d->found.side[number], &s->run, d->opt->lines ? VIEW_LINES : 0, VIEW_BY_INSNS, &(struct view_choice){0}))
		return true;
	say_error(s->profile, "the sum of its counts does not fit 64 bits");
	return false;
}

bool
diff_find(struct diff *d)
{
	const char *why;

	if (!load_side(d, 0) || !load_side(d, 1))
		return false;
	if (compare_builds(&d->found, d->opt->lines, &why))
		return true;
	say_error(d->side[1].profile, "it cannot be compared with %s: %s", d->side[0].profile, why);
	return false;
}

static int
diff(struct diff *d)
{
	bool above, written;

	if (!diff_find(d))
		return EXIT_NO;
	above = is_above(d);
	written = d->opt->json ? diff_json(d, above) : diff_text(d);
	if (!written)
		say_error("standard output", "%s", strerror(errno));
	return above || !written ? EXIT_NO : 0;
}

int
cmd_diff(int argc, char **argv)
{
	static const struct argp argp = {options, parse_diff, "[PROGRAM] A [PROGRAM] B", doc, print_names, NULL, NULL};
	struct args a = {.opt.top = 20};
	struct diff d = {.opt = &a.opt};
	int status;

	options_read(&argp, argc, argv, 0, &a);
	diff_open(&d, a.name, a.n);
	status = diff(&d);
	diff_close(&d);
	return status;
}
