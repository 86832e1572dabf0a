/* SPDX-License-Identifier: MIT */
/* chord stat: runs a measured program and prints exact totals of events. */
#include "launch/launch.h"
#include "tool/options.h"
#include "tool/print.h"
#include "tool/stat/stat.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_JSON = 'j', OPT_PER_THREAD = 256, OPT_ASLR, RUNS_MAX = 1000000 };

static const struct argp_option options[] = {
	{"event", 'e', "LIST", 0, "The events, with commas between them; also more than once (default: all)", 0},
	{"repeat", 'r', "N", 0, "Run it N times with the same input: the median, and the least and the greatest count", 0},
	{"per-thread", OPT_PER_THREAD, NULL, 0, "Each thread by itself, too", 0},
	{"aslr", OPT_ASLR, NULL, 0, "Let the kernel choose addresses at random, as it does otherwise", 0},
	{"json", OPT_JSON, NULL, 0, "Print JSON", 0},
	{"field-separator", 'x', "SEP", 0, "Print a line for each event, with SEP between its fields: the count (the median of "
	 "several), an empty field, the event, the least and the greatest count", 0},
	{"output", 'o', "FILE", 0, "Print to FILE in place of standard error", 0},
	/* Options of perf stat: for these an error says where Chord has the same. */
	{"interval-print", 'I', "MS", OPTION_HIDDEN, NULL, 0},
	{"pid", 'p', "PID", OPTION_HIDDEN, NULL, 0},
	{"all-cpus", 'a', NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char doc[] =
	"Run a measured program and print exact totals of what it executed.\v"
	"Events: instructions, blocks, branches (conditional), taken, calls, indirect-calls, returns, loads, stores, bytes-loaded, "
	"bytes-stored, atomics, fp, vector, divides, backward-branches; call:PATTERN and insn:PATTERN, where PATTERN is globs with "
	"| between them or /a regular expression/; cost:FILE. chord-stat(1) says what each counts.\n\n"
	"The program has its standard input and output; what it leaves in processes that it starts is counted with it, if "
	"they were measured too. What is not in the counts is said below them.\n\n"
	"Exit status: the program's (128 + N if signal N ended it); 1 if it cannot be run or was not measured, 2 wrong usage.";

static uint32_t
parse_runs(const char *text, struct argp_state *state)
{
	uint64_t n;

	if (!number_read(text, 1, RUNS_MAX, &n))
		argp_error(state, "-r %s: a number of runs is from 1 to %d", text, RUNS_MAX);
	return (uint32_t)n;
}

static error_t
parse_stat(int key, char *arg, struct argp_state *state)
{
	struct stat_options *o = state->input;

	switch (key) {
	case 'e':
		/* Several lists add up, as in perf stat. */
		o->events = o->events ? pool_printf(o->pool, "%s,%s", o->events, arg) : arg;
		break;
	case 'r':
		o->runs = parse_runs(arg, state);
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case 'x':
		if (!*arg)
			argp_error(state, "-x: which separator?");
		o->separator = arg;
		break;
	case 'I':
		argp_error(state, "-I: totals are printed when the program has ended; `chord query --watch=SECONDS PID` has "
		           "those of one that runs");
		break;
	case 'p':
		argp_error(state, "-p: `chord query %s` has the events of a process that runs", arg);
		break;
	case 'a':
		argp_error(state, "-a: only programs that were built with Chord can be measured, and what they start");
		break;
	case 'o':
		o->output = arg;
		break;
	case OPT_ASLR:
		o->aslr = true;
		break;
	case OPT_PER_THREAD:
		o->per_thread = true;
		break;
	case ARGP_KEY_ARG:
		/* This is the program: all words after it are its own. */
		o->argv = state->argv + state->next - 1;
		state->next = state->argc;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	case ARGP_KEY_END:
		if (o->separator && (o->json || o->per_thread))
			argp_error(state, o->json ? "-x cannot be combined with --json" :
			                            "-x cannot be combined with --per-thread: --json has the threads");
		if (o->per_thread && o->runs > 1)
			argp_error(state, "--per-thread cannot be combined with --repeat: the threads of several runs differ");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- running ---- */

/* Says why no process left a profile. */
static void
say_unmeasured(struct pool *pool, const char *program)
{
	const char *why = NULL;
	struct binary bin;

	if (strchr(program, '/') && !binary_open(pool, program, &bin, &why))
		say_error(program, "%s", why);
	else
		say_error(program, "it left no profile: neither it nor what it started was built with `chord cc`");
}

/* Reads what the processes of a run left. */
static bool
read_run(struct stat_result *s, const struct launched *l)
{
	struct pool *pool = pool_new();
	bool ok = false;
	struct run r;

	if (!l->profile.n) {
		say_unmeasured(pool, s->opt->argv[0]);
	} else {
		ok = run_load_all(&r, s->opt->argv[0], l->profile.at, (int)l->profile.n);
		if (ok)
			view_runs_add(&s->runs, &r);
		for (size_t i = 0; i < l->profile.n && s->opt->per_thread && ok; i++)
			ok = view_runs_add_threads(&s->runs, &r, l->profile.at[i]);
		run_close(&r);
	}
	pool_free(pool);
	return ok;
}

static void
take_status(struct stat_result *s, int status)
{
	if (!s->runs.nrun)
		s->first_status = status;
	s->other_status += status != s->first_status;
	if (!s->status)
		s->status = status;
}

static bool
run_once(struct stat_result *s, struct launch_input *in)
{
	const struct launch_options o = {.argv = s->opt->argv, .aslr = s->opt->aslr, .per_thread = s->opt->per_thread};
	struct launched l;
	bool ok = launch(&l, s->runs.pool, &o, in);

	if (l.ended)
		take_status(s, l.status);
	ok = ok && read_run(s, &l);
	launch_forget(&l);
	return ok;
}

/* Notes what differs between runs, if the program does not always do the same. */
static void
note_differences(struct stat_result *s)
{
	view_runs_compare(&s->runs);
	if (s->other_status)
		view_runs_note(&s->runs, pool_printf(s->runs.pool, "%u of %u runs ended with another status than the first, "
		                                     "which ended with %d", s->other_status, s->runs.nrun, s->first_status));
}

/* The output is opened before the program runs, so that no run is in vain. It is emptied only when there is something to print. */
struct output {
	const char *name;
	FILE *to;
};

/* A file that this run has made, until all is in it; NULL: none. It does not stay behind, however Chord ends. */
static const char *half_made;

static void
remove_half_made(void)
{
	if (half_made)
		unlink(half_made);
}

static bool
output_open(struct output *out, const char *name)
{
	int fd;

	*out = (struct output){.name = name ? name : "standard error", .to = stderr};
	if (!name)
		return true;
	if (!may_replace(name)) {
		out->to = NULL;
		return false;
	}
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0 && !atexit(remove_half_made))
		half_made = name;
	if (fd < 0 && errno == EEXIST)
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	out->to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out->to)
		say_error(name, "%s", strerror(errno));
	return out->to;
}

static bool
output_print(const struct output *out, const struct stat_result *s)
{
	bool ok;

	/* A device or a pipe cannot be emptied. */
	if (out->to != stderr && ftruncate(fileno(out->to), 0) && errno != EINVAL) {
		say_error(out->name, "%s", strerror(errno));
		return false;
	}
	ok = s->opt->json ? stat_json(s, out->to) : s->opt->separator ? stat_fields(s, out->to) : stat_print(s, out->to);
	return print_whole(out->name, out->to) && ok;
}

static bool
output_close(struct output *out, bool printed)
{
	if (out->to == stderr)
		return true;
	if (fclose(out->to)) {
		say_error(out->name, "%s", strerror(errno));
		return false;
	}
	if (printed)
		half_made = NULL;
	return true;
}

static int
stat_all(struct stat_result *s)
{
	struct launch_input in;
	struct output out;
	const char *why;
	bool ok;

	if (s->opt->events && !event_list_read(s->runs.pool, s->opt->events, &s->runs.events, &why)) {
		say_error("-e", "%s", why);
		return EXIT_USAGE;
	}
	if (!output_open(&out, s->opt->output))
		return EXIT_NO;
	ok = input_open(&in, s->opt->runs > 1);
	for (uint32_t i = 0; i < s->opt->runs && ok; i++)
		ok = run_once(s, &in);
	if (in.left)
		view_runs_note(&s->runs, in.left);
	input_close(&in);
	if (ok)
		note_differences(s);
	ok = ok && output_print(&out, s);
	ok &= output_close(&out, ok);
	return ok && !s->runs.missing.n ? s->status : EXIT_NO;
}

int
cmd_stat(int argc, char **argv)
{
	static const struct argp argp = {options, parse_stat, "PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
	struct pool *pool = pool_new();
	struct stat_options o = {.runs = 1, .pool = pool};
	struct stat_result s = {.opt = &o, .runs.pool = pool};
	int status;

	options_read(&argp, argc, argv, ARGP_IN_ORDER, &o);
	s.runs.all_known = !o.events;
	s.runs.room = o.runs;
	status = stat_all(&s);
	view_runs_free(&s.runs);
	pool_free(pool);
	return status;
}
