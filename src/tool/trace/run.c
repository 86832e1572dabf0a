/* SPDX-License-Identifier: MIT */
/* chord trace --run: runs a traced program. Other processes pack what it traces. */
#include "tool/trace/trace.h"

#include "collect/collect.h"
#include "driver/driver.h"
#include "tool/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_RUN = 256 };

static const struct argp_option options[] = {
	{"run", OPT_RUN, NULL, 0, "Run PROGRAM; another process packs what it traces", 0},
	{"output", 'o', "PROFILE", 0, "Name of the profile, as CHORD_FILE; the trace is PROFILE.trace", 0},
	{0},
};

static const char doc[] =
	"Run a program that was built with -fchord=trace. What it and its children trace is packed by other processes: "
	"the program waits only if they do not keep pace. If they are killed, it packs its trace by itself.\v"
	"Exit status: the program's; 1 if it cannot be run, 2 wrong usage.";

struct args {
	char **argv;
};

static error_t
parse_run(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case OPT_RUN:
		break;
	case 'o':
		setenv("CHORD_FILE", arg, 1);
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
trace_run(int argc, char **argv)
{
	static const struct argp argp = {options, parse_run, "--run PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
	struct args a = {0};
	uint64_t traces;
	int status;

	options_read(&argp, argc, argv, ARGP_IN_ORDER, &a);
	if (getenv(CHORD_TRACE_VARIABLE) && *getenv(CHORD_TRACE_VARIABLE)) {
		say_error(CHORD_TRACE_VARIABLE, "it says itself how traces are kept, so --run has nothing to do: unset it");
		return EXIT_USAGE;
	}
	if (!collect_run(a.argv, &status, &traces))
		return EXIT_NO;
	if (!traces)
		say_warning(a.argv[0], "no process of it has left a trace to pack");
	return child_status(status);
}
