/* SPDX-License-Identifier: MIT */
/* chord coverage: what of the source ran at all. */
#include "tool/coverage/coverage.h"
#include "tool/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_INCLUDE = 256, OPT_EXCLUDE, OPT_NO_MARKERS, OPT_UNCOVERED, OPT_UNDER, OPT_UNDER_LINES, OPT_UNDER_BRANCHES,
	OPT_UNDER_FUNCTIONS, OPT_DIFF, OPT_INITIAL, OPT_FORMAT, OPT_JSON,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to show:", 1},
	{"include", OPT_INCLUDE, "GLOB", 0, "Only source files that match the pattern, by all of their path or its end; may be "
	 "repeated", 1},
	{"exclude", OPT_EXCLUDE, "GLOB", 0, "No source files that match; may be repeated", 1},
	{"no-markers", OPT_NO_MARKERS, NULL, 0, "Also lines that comments in the source exclude (LCOV_EXCL_LINE, "
	 "GCOVR_EXCL_START ...)", 1},
	{"uncovered", OPT_UNCOVERED, NULL, 0, "Name the lines that never ran", 1},
	{"diff", OPT_DIFF, "FILE", 0, "Which of the lines that a unified diff changes never ran; -: it is read from standard input",
	 1},
	{"initial", OPT_INITIAL, NULL, 0, "Programs without a profile count as not run", 1},
	{"format", OPT_FORMAT, "FORMAT", 0, "text (default), json or markdown", 1},
	{"json", OPT_JSON, NULL, 0, "The same as --format=json", 1},
	{NULL, 0, NULL, 0, "Exit status 1 if:", 2},
	{"fail-under", OPT_UNDER, "LIMITS", 0, "Less than a limit ran. LIMITS: percentages with commas between them, each with "
	 "its kind before it: lines:80,branches:70 (or functions, blocks, changed); one without a kind is of the lines, with "
	 "--diff of the changed ones", 2},
	{"fail-under-lines", OPT_UNDER_LINES, "PCT", OPTION_HIDDEN, NULL, 2},
	{"fail-under-branches", OPT_UNDER_BRANCHES, "PCT", OPTION_HIDDEN, NULL, 2},
	{"fail-under-functions", OPT_UNDER_FUNCTIONS, "PCT", OPTION_HIDDEN, NULL, 2},
	{NULL, 0, NULL, 0, "Help:", -1},
	{0},
};

static const char doc[] =
	"Which lines, branches, functions and blocks ran at all, by source file.\v"
	"A line ran if any instruction made from it did, in any of the programs and libraries and in any copy: templates, inlined "
	"code, a file that was compiled into two programs. A branch is one of the two ways of a conditional jump. What is not "
	"known (not measured, or where a process was killed) is counted neither as run nor as not run: shares are bounds then.\n\n"
	"Without PROFILE each program's are looked for as `chord report` does; else the PROFILEs (-: from standard input) are "
	"those of all programs. Without PROGRAM the programs and libraries are those that the PROFILEs name. "
	"Headers below /usr/include and /usr/lib, and Rust's library, are left out unless --include names files.\n\n"
	"Exit status: 0 done, 1 a limit is not reached, or a program or a profile cannot be used, 2 wrong usage.";

struct args {
	struct coverage_options opt;
	VEC(const char *) under; /* limits without a kind depend on other options */
	VEC(char *) program, profile;
};

static void
read_limit(struct args *a, const char *kind, const char *pct)
{
	char *text = xmalloc(strlen(kind) + strlen(pct) + 1);

	strcpy(stpcpy(text, kind), pct);
	VEC_PUSH(a->under, text);
}

static bool
parse_limit_option(struct args *a, int key, const char *arg)
{
	switch (key) {
	case OPT_UNDER:
		read_limit(a, "", arg);
		return true;
	case OPT_UNDER_LINES:
		read_limit(a, "lines:", arg);
		return true;
	case OPT_UNDER_BRANCHES:
		read_limit(a, "branches:", arg);
		return true;
	case OPT_UNDER_FUNCTIONS:
		read_limit(a, "functions:", arg);
		return true;
	default:
		return false;
	}
}

static void
parse_format(struct args *a, const char *name, struct argp_state *state)
{
	static const char *const names[] = {[COVERAGE_TEXT] = "text", [COVERAGE_JSON] = "json", [COVERAGE_MARKDOWN] = "markdown"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i])) {
			a->opt.format = (enum coverage_format)i;
			return;
		}
	argp_error(state, "--format=%s: text, json or markdown", name);
}

static void
finish_args(struct args *a, struct argp_state *state)
{
	if (!a->program.n && !a->profile.n)
		argp_error(state, "which program?");
	if (!a->program.n && a->opt.initial)
		argp_error(state, "--initial is about programs that are named");
	for (size_t i = 0; i < a->under.n; i++)
		if (!gate_read(&a->opt, a->under.at[i]))
			argp_error(state, "--fail-under=%s: expected PCT or KIND:PCT, with KIND lines, branches, functions, "
			                  "blocks or changed", a->under.at[i]);
	if (a->opt.limit[LIMIT_CHANGED].text && !a->opt.diff)
		argp_error(state, "--fail-under=changed: needs --diff");
	for (size_t i = 0; i < a->profile.n && a->opt.diff && !strcmp(a->opt.diff, "-"); i++)
		if (!strcmp(a->profile.at[i], "-"))
			argp_error(state, "the diff and a profile cannot both come from standard input");
}

static error_t
parse_coverage(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (parse_limit_option(a, key, arg))
		return 0;
	switch (key) {
	case OPT_INCLUDE:
		VEC_PUSH(a->opt.choice.in, arg);
		break;
	case OPT_EXCLUDE:
		VEC_PUSH(a->opt.choice.out, arg);
		break;
	case OPT_NO_MARKERS:
		a->opt.choice.unmarked = true;
		break;
	case OPT_UNCOVERED:
		a->opt.uncovered = true;
		break;
	case OPT_DIFF:
		a->opt.diff = arg;
		break;
	case OPT_INITIAL:
		a->opt.initial = true;
		break;
	case OPT_FORMAT:
		parse_format(a, arg, state);
		break;
	case OPT_JSON:
		a->opt.format = COVERAGE_JSON;
		break;
	case ARGP_KEY_ARG:
		if (options_is_profile(arg))
			VEC_PUSH(a->profile, arg);
		else
			VEC_PUSH(a->program, arg);
		break;
	case ARGP_KEY_END:
		finish_args(a, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- */

static bool
read_change(struct coverage_tool *t)
{
	const char *name = strcmp(t->opt->diff, "-") ? t->opt->diff : "standard input", *why = NULL;
	struct buf *diff = pool_alloc(t->run->pool, sizeof *diff);
	bool ok;

	if (!file_read(t->opt->diff, diff)) {
		say_error(name, "%s", strerror(errno));
		return false;
	}
	ok = changed_read(&t->changed, t->run->pool, (struct str){diff->at, diff->n}, &why) &&
	     changed_find(&t->changed, &t->c, &why);
	if (!ok)
		say_error(name, "%s", why);
	buf_free(diff);
	return ok;
}

static uint64_t
refused(const struct run *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->binary.n; i++)
		n += r->binary.at[i].map.nrefused;
	return n;
}

/* Does anything depend on the text of sources? It does not if no line is excluded and none is shown. */
static bool
needs_sources(const struct coverage_tool *t)
{
	bool needs = t->opt->diff;

	for (size_t i = 0; i < t->c.file.n && !needs; i++)
		needs = t->c.file.at[i].excluded;
	return needs;
}

static int
coverage(struct coverage_tool *t)
{
	bool failed, written;

	view_coverage(&t->c, t->run, &t->opt->choice);
	t->refused = refused(t->run);
	if (!t->c.fits) {
		say_error(t->run->path, "the sum of its counts does not fit 64 bits");
		return EXIT_NO;
	}
	if (!t->c.file.n) {
		say_error(t->run->path, t->c.left_out.n ? "no source file of the programs is wanted" : "there is no code in it");
		return EXIT_NO;
	}
	if (t->opt->diff && !read_change(t))
		return EXIT_NO;
	failed = gate_fails(t);
	written = t->opt->format == COVERAGE_JSON ? coverage_json(t, failed) :
	          t->opt->format == COVERAGE_MARKDOWN ? coverage_markdown(t) : coverage_text(t);
	return failed || !written || t->run->missing.n ? EXIT_NO : 0;
}

/* Opens the programs and their profiles, or profiles alone and all that they name. False: reported. */
static bool
load(struct run *run, const struct args *a)
{
	if (a->program.n)
		return run_load_programs(run, a->program.at, (int)a->program.n, a->profile.at, (int)a->profile.n, a->opt.initial);
	if (!run_load_all(run, a->profile.at[0], a->profile.at, (int)a->profile.n))
		return false;
	if (run->binary.n)
		return true;
	for (size_t i = 0; i < run->nunread; i++)
		say_error(run->unknown.at[i].name, "%s", run->unknown.at[i].reason);
	if (!run->nunread)
		say_error(run->path, "its profiles name no program");
	return false;
}

/* Leaves out system headers, which users do not test, and Rust's library, whose files have these names in every program. */
static void
leave_out_system(struct coverage_options *o)
{
	static const char *const system[] = {"/usr/include/*", "/usr/lib/*", "/usr/local/include/*", "/rustc/*", "/rust/deps/*"};

	for (size_t i = 0; !o->choice.in.n && i < sizeof system / sizeof *system; i++)
		VEC_PUSH(o->choice.out, system[i]);
}

int
cmd_coverage(int argc, char **argv)
{
	static const struct argp argp = {options, parse_coverage, "PROGRAM... [PROFILE...]\nPROFILE...", doc, NULL, NULL, NULL};
	struct args a = {0};
	struct run run = {0};
	struct coverage_tool t = {.opt = &a.opt, .run = &run};
	int status = EXIT_NO;

	options_read(&argp, argc, argv, 0, &a);
	leave_out_system(&a.opt);
	if (load(&run, &a))
		status = coverage(&t);
	if (needs_sources(&t))
		warn_of_newer_sources(&run);
	changed_free(&t.changed);
	view_coverage_free(&t.c);
	view_source_free();
	run_close(&run);
	free(a.program.at);
	free(a.profile.at);
	free(a.under.at);
	free(a.opt.choice.in.at);
	free(a.opt.choice.out.at);
	return status;
}
