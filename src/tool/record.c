/* SPDX-License-Identifier: MIT */
/* chord record: runs a program and writes a log that `chord replay` can run it from again. */
#include "driver/driver.h"
#include "replay/replay.h"
#include "tool/options.h"
#include "tool/print.h"
#include "tool/tool.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const struct argp_option options[] = {
	{"output", 'o', "LOG", 0, "Write LOG (default: " REPLAY_LOG ")", 0},
	{"signals", 's', NULL, 0, "Record only signals; the replay makes the system calls anew", 0},
	{"no-buffer", 'n', NULL, 0, "Stop the program at each system call, even where that is not needed", 0},
	{"no-aio", 'a', NULL, 0, "Tell the program that the system has neither io_uring nor aio, which cannot be recorded", 0},
	{"stats", 't', NULL, 0, "Print at the end how many system calls the program made, and how many of them without a stop", 0},
	{"chaos", 'c', "SEED", OPTION_ARG_OPTIONAL, "Threads and processes take turns at random", 0},
	{0},
};

static const char doc[] =
	"Run a program and record the run, for `chord replay` to repeat it exactly.\v"
	"The program may be any; it need not have been built with Chord. Its threads and the processes that it starts are "
	"recorded, too, and run one at a time. "
	"What cannot be recorded is named at the moment it happens: the program then runs on, and no log is left. If a process "
	"that the program has started cannot be recorded any further, only that may be missing.\n\n"
	"Environment: CHORD_RECORD=signals is --signals.\n\n"
	"Exit status: the program's; 1 if it cannot be run or recorded, 2 wrong usage.";

struct args {
	const char *log;
	bool signals, chaos, stops, stats, no_aio;
	uint64_t seed;
	char **argv;
};

static bool
parse_seed(const char *text, uint64_t *seed)
{
	char *end;

	errno = 0;
	*seed = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static error_t
parse_record(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'o':
		a->log = arg;
		break;
	case 's':
		a->signals = true;
		break;
	case 'n':
		a->stops = true;
		break;
	case 'a':
		a->no_aio = true;
		break;
	case 't':
		a->stats = true;
		break;
	case 'c':
		a->chaos = true;
		a->seed = (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
		if (arg && !parse_seed(arg, &a->seed))
			argp_error(state, "--chaos: %s: not a number", arg);
		break;
	case ARGP_KEY_ARG:
		/* This is the program: all words after it are its own. */
		a->argv = state->argv + state->next - 1;
		state->next = state->argc;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int
cmd_record(int argc, char **argv)
{
	static const struct argp argp = {options, parse_record, "PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
	struct args a = {.log = REPLAY_LOG};
	const char *what = getenv("CHORD_RECORD");
	struct record_how how;
	bool ended;
	int status;

	options_read(&argp, argc, argv, ARGP_IN_ORDER, &a);
	if (what && *what && strcmp(what, "signals")) {
		say_error("CHORD_RECORD", "%s: there is only \"signals\"", what);
		return EXIT_USAGE;
	}
	a.signals |= what && *what;
	if (a.signals && (a.chaos || a.stops || a.stats || a.no_aio)) {
		say_error("--signals", "nothing else is recorded then: it does not go with --chaos, --no-aio, --no-buffer or "
		                       "--stats");
		return EXIT_USAGE;
	}
	if (!may_replace(a.log))
		return EXIT_NO;
	if (a.chaos)
		fprintf(stderr, "chord: chaos: seed %" PRIu64 "\n", a.seed);
	how = (struct record_how){
		.signals = a.signals, .chaos = a.chaos ? &a.seed : NULL, .stops = a.stops, .stats = a.stats, .no_aio = a.no_aio,
	};
	if (!replay_record(a.argv, a.log, &how, &ended, &status))
		return EXIT_NO;
	/* If the program was to leave a core file, it has done so itself. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	return child_status(status);
}
