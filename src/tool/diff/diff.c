/* SPDX-License-Identifier: MIT */
/* chord diff: which functions and lines gained or lost instructions, and whether that is too much. */
#include "tool/diff/diff.h"
#include "tool/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_FUNCTIONS = 256, OPT_LINES, OPT_TOP, OPT_FORMAT, OPT_JSON, OPT_ABOVE, OPT_FUNCTION_ABOVE, OPT_PROGRAM_ABOVE };

static const struct argp_option options[] = {
	{"functions", OPT_FUNCTIONS, NULL, 0, "What changed by function (the default)", 1},
	{"lines", OPT_LINES, NULL, 0, "What changed by source line (needs -g)", 1},
	{"top", OPT_TOP, "N", 0, "Show N rows; 0: all (default: 20)", 1},
	{"format", OPT_FORMAT, "FORMAT", 0, "text (default), json, markdown (for a merge request), github (annotations of "
	 "lines), or gitlab (a code quality report)", 1},
	{"json", OPT_JSON, NULL, 0, "The same as --format=json: all rows", 1},
	{NULL, 0, NULL, 0, "Exit status 1 if:", 2},
	{"fail-above", OPT_ABOVE, "[EVENT:]PCT", 0, "An event, or without one all instructions together, grew by more than PCT "
	 "percent; may be repeated", 2},
	{"fail-function-above", OPT_FUNCTION_ABOVE, "PCT", 0, "The instructions of one function grew by more than PCT percent of "
	 "all that were executed before", 2},
	{"fail-program-above", OPT_PROGRAM_ABOVE, "PCT", 0, "The instructions of one program or library grew by more than PCT "
	 "percent of its own", 2},
	{NULL, 0, NULL, 0, "Help:", -1},
	{0},
};

static const char doc[] =
	"Compare two profiles: which functions and lines gained or lost instructions.\v"
	"A and B are profiles of one build of PROGRAM, or of two builds, each after the program it belongs to; without a program "
	"they are of the programs that they name themselves. Either may be a folder of profiles, of several programs too, or what "
	"`chord stat --json` printed, which has totals of events only. Functions are the same if name and source file are, lines "
	"if file and number are. What is not known of one of the two is in no sum.\n\n"
	"Exit status: 0 done, 1 a limit is exceeded or it cannot be said whether it is, or profiles are damaged or cannot be "
	"compared, 2 wrong usage.";

struct args {
	struct diff *d;
	struct diff_options opt;
	bool functions;
	char **name;
	int n;
};

/* Reads EVENT:PCT or PCT. Events may have colons in their names. */
static void
parse_limit(struct args *a, enum diff_limited of, const char *option, const char *text, struct argp_state *state)
{
	const char *colon = of == LIMIT_EVENT ? strrchr(text, ':') : NULL;
	struct diff_limit l = {.of = of, .event = "instructions", .text = colon ? colon + 1 : text};

	if (colon)
		l.event = pool_strndup(a->d->found.pool, text, (size_t)(colon - text));
	if (!*l.event || !options_percent(l.text, &l.millionths))
		argp_error(state, "--%s=%s: not a percentage", option, text);
	VEC_PUSH(a->d->limit, l);
}

static void
parse_format(struct args *a, const char *name, struct argp_state *state)
{
	static const char *const names[] = {
		[DIFF_TEXT] = "text", [DIFF_JSON] = "json", [DIFF_MARKDOWN] = "markdown", [DIFF_GITHUB] = "github",
		[DIFF_GITLAB] = "gitlab",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i])) {
			a->opt.format = (enum diff_format)i;
			return;
		}
	argp_error(state, "--format=%s: text, json, markdown, github or gitlab", name);
}

/* False: the option is not a limit. */
static bool
parse_limits(struct args *a, int key, const char *arg, struct argp_state *state)
{
	switch (key) {
	case OPT_ABOVE:
		parse_limit(a, LIMIT_EVENT, "fail-above", arg, state);
		return true;
	case OPT_FUNCTION_ABOVE:
		parse_limit(a, LIMIT_FUNCTION, "fail-function-above", arg, state);
		return true;
	case OPT_PROGRAM_ABOVE:
		parse_limit(a, LIMIT_PROGRAM, "fail-program-above", arg, state);
		return true;
	default:
		return false;
	}
}

static error_t
parse_diff(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (parse_limits(a, key, arg, state))
		return 0;
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
	case OPT_FORMAT:
		parse_format(a, arg, state);
		break;
	case OPT_JSON:
		a->opt.format = DIFF_JSON;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_END:
		if (a->functions && a->opt.lines && a->opt.format != DIFF_JSON)
			argp_error(state, "either --functions or --lines (--json --lines has both)");
		if (a->opt.lines && a->opt.format != DIFF_TEXT && a->opt.format != DIFF_JSON)
			argp_error(state, "--lines is for text and JSON: the other formats show functions");
		if (a->n < 2 || a->n > 4)
			argp_error(state, "which profiles? A B, PROGRAM A B, or PROGRAM A PROGRAM B");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- the sides ---- */

void
diff_open(struct diff *d, char **name, int n)
{
	/* A side that is what chord stat stored has no program before it. */
	bool stored = n == 3 && d->opt->stored && stored_is(name[0]);

	if (!d->found.pool)
		d->found.pool = pool_new();
	d->side[0].profile = name[n > 2 && !stored];
	d->side[1].profile = name[n - 1];
	if (n > 2 && !stored)
		d->side[0].program = name[0];
	if (n > 2)
		d->side[1].program = name[n == 4 ? 2 : stored];
	for (int i = 0; i < 2; i++)
		d->side[i].stored = d->opt->stored && stored_is(d->side[i].profile);
}

void
diff_close(struct diff *d)
{
	compare_builds_free(&d->found);
	for (int i = 0; i < 2; i++) {
		if (d->side[i].run.pool)
			run_close(&d->side[i].run);
		free(d->side[i].event.at);
		free(d->side[i].note.at);
	}
	free(d->limit.at);
	pool_free(d->found.pool);
}

const char *
diff_program(const struct side *s)
{
	return s->program ? s->program : s->run.binary.at[0].path;
}

static bool
load_side(struct diff *d, int number)
{
	struct side *s = &d->side[number];
	char *profile = (char *)(uintptr_t)s->profile;
	bool ok;

	if (s->stored)
		return stored_read(d, s);
	ok = s->program ? run_load(&s->run, s->program, &profile, 1) : run_load_all(&s->run, s->profile, &profile, 1);

	if (!ok)
		return false;
	if (!s->run.binary.n) {
		/* The object that the profile names has changed. */
		for (size_t i = 0; i < s->run.unknown.n; i++)
			say_error(s->profile, "%s: %s; name the program: chord diff PROGRAM A PROGRAM B", s->run.unknown.at[i].name,
			          s->run.unknown.at[i].reason);
		for (size_t i = 0; i < s->run.left_out.n; i++)
			say_error(s->profile, "%s: chord diff PROGRAM A B", s->run.left_out.at[i].reason);
		return false;
	}
	s->processes = s->run.sum->nsummed;
	s->nmissing = s->run.missing.n;
	if (view_tables(&d->found.side[number], &s->run, d->opt->lines ? VIEW_LINES : 0, VIEW_BY_INSNS, &(struct view_choice){0}))
		return true;
	say_error(s->profile, "the sum of its counts does not fit 64 bits");
	return false;
}

bool
diff_find(struct diff *d)
{
	const char *why;
	bool ok;

	if (!load_side(d, 0) || !load_side(d, 1))
		return false;
	ok = d->side[0].stored || d->side[1].stored ? stored_compare(d, &why) : compare_builds(&d->found, d->opt->lines, &why);
	if (!ok)
		say_error(d->side[1].profile, "it cannot be compared with %s: %s", d->side[0].profile, why);
	return ok;
}

static bool
print(const struct diff *d, bool failed)
{
	switch (d->opt->format) {
	case DIFF_JSON:
		return diff_json(d, failed);
	case DIFF_MARKDOWN:
		return diff_markdown(d);
	case DIFF_GITHUB:
		return diff_github(d);
	case DIFF_GITLAB:
		return diff_gitlab(d);
	default:
		return diff_text(d);
	}
}

/* Are the rows there that are asked for? False: reported. */
static bool
has_rows(const struct args *a)
{
	const struct diff *d = a->d;

	if (d->found.by_function || (!a->functions && !a->opt.lines))
		return true;
	say_error(d->side[!d->side[0].stored].profile, "--%s: only totals of events are known of it",
	          a->opt.lines ? "lines" : "functions");
	return false;
}

static int
diff(const struct args *a)
{
	struct diff *d = a->d;
	bool failed, written;

	if (!diff_find(d) || !has_rows(a))
		return EXIT_NO;
	failed = gate_check(d);
	written = print(d, failed);
	return failed || !written || d->side[0].nmissing || d->side[1].nmissing ? EXIT_NO : 0;
}

int
cmd_diff(int argc, char **argv)
{
	static const struct argp argp = {options, parse_diff, "[PROGRAM] A [PROGRAM] B", doc, print_names_in_rows, NULL, NULL};
	struct diff d = {.found.pool = pool_new()};
	struct args a = {.d = &d, .opt = {.top = 20, .stored = true}};
	int status;

	d.opt = &a.opt;
	options_read(&argp, argc, argv, 0, &a);
	diff_open(&d, a.name, a.n);
	status = diff(&a);
	diff_close(&d);
	return status;
}
