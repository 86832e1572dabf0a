/* SPDX-License-Identifier: MIT */
/* replay: records a run of a program in a log, and makes the program run again in the same way. The log has everything that the
 * program itself does not determine: results of system calls, signals, the time. docs/replay.md tells what is done to what. */
#ifndef CHORD_REPLAY_H
#define CHORD_REPLAY_H

#include "base/base.h"

struct record_how {
	bool signals;            /* only signals are recorded */
	const uint64_t *chaos;   /* not NULL: a seed, by which threads and processes take turns at random */
	bool stops;              /* the program stops at each system call */
	bool no_aio;             /* io_uring and aio fail as if the kernel had neither */
	bool stats;              /* prints how many system calls there were */
};

/* Runs a program and records it in a log. *ended: it has run, and *status is as from waitpid(). False: there is no log;
 * reported. */
bool replay_record(char **argv, const char *log, const struct record_how *how, bool *ended, int *status);

/* Replays a log. *status: as from waitpid(). tally: prints on standard error how far each thread came. False: reported. */
bool replay_run(const char *log, bool tally, int *status);

/* Prints what the log says of the run's beginning, without running anything. False: reported. */
bool replay_info(const char *log);

/* Replays a log for gdb, which looks at process number `process` (1: the first). where: how gdb is connected: "-" standard input
 * and output, a port of this machine, or the path of a socket; NULL: a free port, which is printed. False: reported. */
bool replay_debug(const char *log, const char *where, uint64_t process);

/* The log, if no other is named. */
#define REPLAY_LOG "chord.log"

#endif
