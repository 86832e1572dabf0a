/* SPDX-License-Identifier: MIT */
/* chord replay: runs a recorded program again from its log. */
#include "replay/replay.h"
#include "driver/driver.h"
#include "tool/options.h"
#include "tool/tool.h"

#include <argp.h>
#include <stdlib.h>
#include <sys/resource.h>

static const char doc[] =
	"Replay a recorded run: the same instructions, the same output, the same status.\v"
	"LOG is what `chord record` has written (default: " REPLAY_LOG "). Only the standard output and the standard error are "
	"written; files, sockets and other processes are not touched. The program and its libraries have to be those of the "
	"recording.\n\n"
	"Exit status: the program's; 1 if the log cannot be used or the replay goes another way, 2 wrong usage.";

struct replay_args {
	const char *log, *where;
	bool debug, info, tally;
	uint64_t process;
};

static const struct argp_option options[] = {
	{"gdb", 'g', "WHERE", OPTION_ARG_OPTIONAL, "wait for gdb, which looks at the run, forwards and backwards: on a port of "
	 "this machine (default: a free one), a socket's path, or - for standard input and output (in gdb: target remote | "
	 "chord replay --gdb=- LOG)", 0},
	{"process", 'p', "N", 0, "which process of the run gdb looks at: they are numbered from 1 as they began, and --tally "
	 "lists them (default: 1)", 0},
	{"info", 'i', NULL, 0, "print what the log says of the run's beginning, the seed of --chaos, too, and run nothing", 0},
	{"tally", 't', NULL, 0, "after the replay, print of each thread its process and program, its system calls, signals "
	 "and clock", 0},
	{0},
};

static error_t
parse_replay(int key, char *arg, struct argp_state *state)
{
	struct replay_args *a = state->input;
	char *end;

	if (key == 'g') {
		a->debug = true;
		a->where = arg;
		return 0;
	}
	if (key == 'p') {
		a->process = strtoull(arg, &end, 10);
		if (*end || !a->process || *arg < '0' || *arg > '9')
			argp_error(state, "--process: %s: not a number from 1 on", arg);
		return 0;
	}
	if (key == ARGP_KEY_END && a->process && !a->debug)
		argp_error(state, "--process is only for use with --gdb");
	a->info |= key == 'i';
	a->tally |= key == 't';
	if (key == 'i' || key == 't')
		return 0;
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (a->log)
		argp_error(state, "one log at a time");
	a->log = arg;
	return 0;
}

int
cmd_replay(int argc, char **argv)
{
	static const struct argp argp = {options, parse_replay, "[LOG]", doc, NULL, NULL, NULL};
	struct replay_args a = {0};
	const char *log;
	int status;

	options_read(&argp, argc, argv, 0, &a);
	log = a.log ? a.log : REPLAY_LOG;
	if (a.debug + a.info + a.tally > 1) {
		say_error("replay", "only one of --gdb, --info and --tally can be given");
		return EXIT_USAGE;
	}
	if (a.info)
		return replay_info(log) ? 0 : EXIT_NO;
	if (a.debug)
		return replay_debug(log, a.where, a.process ? a.process : 1) ? 0 : EXIT_NO;
	if (!replay_run(log, a.tally, &status))
		return EXIT_NO;
	/* This process ends in the same way as the program, but without a core file. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	return child_status(status);
}
