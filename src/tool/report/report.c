/* SPDX-License-Identifier: MIT */
/* chord report: its options, and which tables they ask for. */
#include "process/process.h"
#include "tool/options.h"
#include "tool/report/report.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_JSON = 256, OPT_LINES, OPT_FILES, OPT_SORT, OPT_TOP, OPT_INSNS, OPT_BLOCKS, OPT_EDGES, OPT_UNMEASURED, OPT_PID,
	OPT_CALLS, OPT_TREE, OPT_CORE, OPT_FUNCTION, OPT_FILE, OPT_SOURCE, OPT_INLINED, OPT_HOTTEST,
	OPT_INCLUSIVE,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to show:", 1},
	{"lines", OPT_LINES, NULL, 0, "Source lines instead of functions (needs -g): instructions executed for the line, and "
	 "the count of its instruction that ran most often", 1},
	{"files", OPT_FILES, NULL, 0, "Source files instead of functions", 1},
	{"calls", OPT_CALLS, NULL, 0, "Each call that was made; with -fchord=calls what happened between it and its "
	 "return, and who was called through pointers", 1},
	{"tree", OPT_TREE, NULL, 0, "The same as a tree, each procedure's calls below it", 1},
	{"inlined", OPT_INLINED, NULL, 0, "Functions as they are written (needs -g): what was executed for each, in its own code "
	 "and where it was inlined, with the lines of the calls", 1},
	{"inclusive", OPT_INCLUSIVE, NULL, 0, "Functions with all that they called, where counts tell that exactly", 1},
	{"hottest", OPT_HOTTEST, NULL, 0, "The instructions that ran most often, with address, text, function and line", 1},
	{"unmeasured", OPT_UNMEASURED, NULL, 0, "Name everything that was not measured", 1},
	{"function", OPT_FUNCTION, "GLOB", 0, "Only functions whose name matches the pattern, and their lines, files and calls", 1},
	{"file", OPT_FILE, "GLOB", 0, "Only what is of source files that match the pattern, by all of their path or its end", 1},
	{"source", OPT_SOURCE, NULL, 0, "With --lines, the text of each", 1},
	{"sort", OPT_SORT, "KEY", 0, "Sort by instructions (default), calls, name, file or address", 1},
	{"top", OPT_TOP, "N", 0, "Show N rows; 0: all (default: 20)", 1},
	{"pid", OPT_PID, "PID", 0, "Of a process that runs, as of now, in place of PROGRAM and PROFILE", 1},
	{"core", OPT_CORE, "CORE", 0, "Of the process that died and left this core file; PROFILE is its own, looked for if it is "
	 "not given", 1},
	{NULL, 0, NULL, 0, "For programs to read:", 2},
	{"json", OPT_JSON, NULL, 0, "Everything as JSON; --lines, --files, --calls, --inlined, --inclusive and "
	 "--hottest add to it", 2},
	{"insns", OPT_INSNS, NULL, 0, "Each instruction: NAME PART OFFSET COUNT CLASS, where OFFSET is in the code "
	 "before it was woven", 2},
	{"blocks", OPT_BLOCKS, NULL, 0, "Each block: NAME BLOCK PART OFFSET INSTRUCTIONS COUNT", 2},
	{"edges", OPT_EDGES, NULL, 0, "Each edge: NAME FROM TO KIND COUNT", 2},
	{NULL, 0, NULL, 0, "Help:", -1},
	{0},
};

static const char doc[] =
	"Report what a program measured with Chord executed.\v"
	"Without PROFILE, the profiles of this build of the program are summed that are in the folder of CHORD_DIR, in the current "
	"folder or beside the program (PROGRAM.*.chord), or there under any other name: those of the first place that has "
	"any. A folder stands for all in it, a profile that a run's first process left for those of its other "
	"processes, too. Shared objects that were measured too are "
	"reported with it.\n\n"
	"Every count is exact. What was not measured, and what cannot be known, is said at the end and is in no sum. "
	"A string instruction with a rep prefix counts once each time it is executed.\n\n"
	"Exit status: 0 done, 1 the program or a profile cannot be used (the others are reported), 2 wrong usage.";

static const char usage[] = "PROGRAM [PROFILE...]\n--pid=PID\n--core=CORE PROGRAM [PROFILE]";

struct args {
	struct report_options opt;
	const char *pid, *core;
	bool has_top, has_sort;
	char **name;
	int n;
};

static void
parse_sort(struct args *a, const char *key, struct argp_state *state)
{
	static const char *const name[] = {
		[VIEW_BY_INSNS] = "instructions", [VIEW_BY_CALLS] = "calls", [VIEW_BY_NAME] = "name", [VIEW_BY_FILE] = "file",
		[VIEW_BY_ADDRESS] = "address",
	};

	for (size_t i = 0; i < sizeof name / sizeof *name; i++)
		if (!strcmp(key, name[i])) {
			a->opt.sort = (enum view_sort)i;
			return;
		}
	argp_error(state, "--sort=%s: the keys are instructions, calls, name, file and address", key);
}

/* Tables for programs have all rows, in the order of the map. */
static void
check_raw(const struct args *a, struct argp_state *state)
{
	static const char *const name[] = {[REPORT_INSNS] = "insns", [REPORT_BLOCKS] = "blocks", [REPORT_EDGES] = "edges"};
	const struct { bool given; const char *name; } no[] = {
		{a->opt.json, "json"}, {a->opt.lines, "lines"}, {a->opt.files, "files"}, {a->opt.tree, "tree"},
		{a->opt.calls, "calls"}, {a->opt.inlined, "inlined"}, {a->opt.hottest, "hottest"}, {a->opt.inclusive, "inclusive"},
		{a->opt.unmeasured, "unmeasured"}, {a->has_top, "top"}, {a->has_sort, "sort"},
	};

	for (size_t i = 0; i < sizeof no / sizeof *no && a->opt.what; i++)
		if (no[i].given)
			argp_error(state, "--%s cannot be combined with --%s", name[a->opt.what], no[i].name);
}

/* Some tables have only one order. */
static void
check_sort(const struct args *a, struct argp_state *state)
{
	const struct report_options *o = &a->opt;
	const char *table = o->inlined ? "--inlined" : o->hottest ? "--hottest" : o->tree ? "--tree" : o->calls ? "--calls" :
		o->inclusive ? "--inclusive" : NULL;

	if (!a->has_sort || o->json)
		return;
	if (table && !o->lines && !o->files)
		argp_error(state, "%s cannot be combined with --sort: the highest counts come first", table);
	if (o->sort == VIEW_BY_CALLS && (o->lines || o->files))
		argp_error(state, "--sort=calls sorts functions: %s have no calls", o->lines ? "lines" : "files");
}

/* False: the option is not a flag. */
static bool
set_flag(struct report_options *o, int key)
{
	switch (key) {
	case OPT_JSON:
		return o->json = true;
	case OPT_LINES:
		return o->lines = true;
	case OPT_FILES:
		return o->files = true;
	case OPT_CALLS:
		return o->calls = true;
	case OPT_TREE:
		return o->calls = o->tree = true;
	case OPT_INLINED:
		return o->inlined = true;
	case OPT_HOTTEST:
		return o->hottest = true;
	case OPT_INCLUSIVE:
		return o->inclusive = true;
	case OPT_UNMEASURED:
		return o->unmeasured = true;
	case OPT_SOURCE:
		return o->source = true;
	default:
		return false;
	}
}

static error_t
parse_report(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (set_flag(&a->opt, key))
		return 0;
	switch (key) {
	case OPT_SORT:
		parse_sort(a, arg, state);
		a->has_sort = true;
		break;
	case OPT_TOP:
		a->opt.top = option_top(arg, "rows", state);
		a->has_top = true;
		break;
	case OPT_FUNCTION:
		a->opt.choice.function = arg;
		break;
	case OPT_FILE:
		a->opt.choice.file = arg;
		break;
	case OPT_INSNS:
	case OPT_BLOCKS:
	case OPT_EDGES:
		if (a->opt.what)
			argp_error(state, "only one of --insns, --blocks and --edges can be printed");
		a->opt.what = key == OPT_INSNS ? REPORT_INSNS : key == OPT_BLOCKS ? REPORT_BLOCKS : REPORT_EDGES;
		break;
	case OPT_PID:
		if (!*arg || arg[strspn(arg, "0123456789")])
			argp_error(state, "--pid=%s: not the number of a process", arg);
		a->pid = arg;
		break;
	case OPT_CORE:
		a->core = arg;
		break;
	case ARGP_KEY_ARGS:
		if (a->pid)
			argp_error(state, "--pid takes the program and the profile from the process");
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		if (a->core && a->n > 2)
			argp_error(state, "--core takes one profile: that of the process");
		break;
	case ARGP_KEY_NO_ARGS:
		if (!a->pid)
			argp_error(state, "which program?");
		break;
	case ARGP_KEY_END:
		check_raw(a, state);
		check_sort(a, state);
		if (a->opt.source && (!a->opt.lines || a->opt.json))
			argp_error(state, "--source is only for use with --lines, as text");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* A pattern that matches nothing is a mistake. False: reported. */
static bool
is_there(const struct report *r)
{
	const struct view_choice *c = &r->opt.choice;
	struct view_functions all = {0};
	bool named = r->table.source.n, in_file = r->table.line.n || r->table.file.n || r->table.source.n;

	view_functions(&all, r->run);
	for (size_t i = 0; i < all.n; i++) {
		named |= view_is_named(all.at[i].proc, c->function);
		in_file |= view_is_file(all.at[i].file, c->file);
	}
	free(all.at);
	if (all.n && !named)
		say_error(r->run->path, "--function=%s: no procedure has such a name%s", c->function,
		          view_unnamed(r->run, c->function, " (--inlined)"));
	else if (all.n && !in_file)
		say_error(r->run->path, "--file=%s: no procedure%s is of such a file", c->file, r->opt.lines ? " and no line" : "");
	return !all.n || (named && in_file);
}

static int
print_report(struct report *r)
{
	unsigned what = (r->opt.lines ? VIEW_LINES : 0) | (r->opt.files ? VIEW_FILES : 0) | (r->opt.calls ? VIEW_CALLS : 0) |
	                (r->opt.inlined ? VIEW_SOURCES : 0) | (r->opt.hottest ? VIEW_HOTTEST : 0) |
	                (r->opt.inclusive ? VIEW_INCLUSIVE : 0);
	enum view_sort sort = r->opt.inclusive && !r->opt.json ? VIEW_BY_INCLUSIVE : r->opt.sort;
	int status = 0;

	if (!view_tables(&r->table, r->run, what, sort, &r->opt.choice)) {
		say_error(r->run->path, "the sum of its counts does not fit 64 bits");
		return EXIT_NO;
	}
	if (!is_there(r))
		return EXIT_NO;
	if (r->opt.what)
		report_raw(r);
	else if (r->opt.json)
		status = report_json(r);
	else
		report_text(r);
	if (!print_whole(NULL, stdout))
		status = EXIT_NO;
	return status;
}

static bool
load_run(struct run *r, const struct args *a)
{
	if (a->pid)
		return run_load_live(r, a->pid);
	if (a->core)
		return run_load_core(r, a->name[0], a->core, a->n > 1 ? a->name[1] : NULL);
	return run_load(r, a->name[0], a->name + 1, a->n - 1);
}

int
cmd_report(int argc, char **argv)
{
	static const struct argp argp = {options, parse_report, usage, doc, print_names_in_rows, NULL, NULL};
	struct args a = {.opt.top = 20};
	struct run run;
	struct report r = {.run = &run};
	int status = EXIT_NO;

	options_read(&argp, argc, argv, 0, &a);
	r.opt = a.opt;
	if (load_run(&run, &a))
		status = print_report(&r) || run.missing.n ? EXIT_NO : 0;
	view_tables_free(&r.table);
	warn_of_newer_sources(&run);
	view_source_free();
	run_close(&run);
	return status;
}
