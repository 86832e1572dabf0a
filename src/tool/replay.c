/* SPDX-License-Identifier: MIT */
/* chord replay: has a recorded run happen again. */
#include "replay/replay.h"
#include "driver/driver.h"
#include "tool/options.h"
#include "tool/tool.h"

#include <argp.h>
#include <sys/resource.h>

static const char doc[] =
	"Have the run of a log happen again: the same instructions, the same output, the same status.\v"
	"LOG is what `chord record` has written (default: " REPLAY_LOG "). Only the standard output and the standard error are "
	"written; files, sockets and other processes are not touched. The program and its libraries have to be those of the "
	"recording.\n\n"
	"Exit status: the program's; 1 if the log cannot be used or the replay goes another way, 2 wrong usage.";

static error_t
parse_replay(int key, char *arg, struct argp_state *state)
{
	const char **log = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*log)
		argp_error(state, "one log at a time");
	*log = arg;
	return 0;
}

int
cmd_replay(int argc, char **argv)
{
	static const struct argp argp = {NULL, parse_replay, "[LOG]", doc, NULL, NULL, NULL};
	const char *log = NULL;
	int status;

	options_read(&argp, argc, argv, 0, &log);
	if (!replay_run(log ? log : REPLAY_LOG, &status))
		return EXIT_NO;
	/* This process ends in the program's place. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	return child_status(status);
}
