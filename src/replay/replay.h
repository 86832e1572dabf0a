/* SPDX-License-Identifier: MIT */
/* replay: records a run of a program in a log, and has it run again so that it does the same. What the program itself does
 * not determine is in the log: what system calls gave, signals, the time. docs/replay.md says what is done to what. */
#ifndef CHORD_REPLAY_H
#define CHORD_REPLAY_H

#include "base/base.h"

struct record_how {
	bool signals;            /* nothing but those is recorded */
	const uint64_t *chaos;   /* not NULL: a seed, by which threads and processes take turns at random */
	bool stops;              /* the program stops at each system call */
	bool stats;              /* says how many it has made */
};

/* Runs a program and writes what happens into the log. *ended: it has run, and *status is as waitpid()
 * has it. False: the log is not there; reported. */
bool replay_record(char **argv, const char *log, const struct record_how *how, bool *ended, int *status);

/* Has the run of a log happen again. tally: how far each thread came is then said on standard error. False: reported. */
bool replay_run(const char *log, bool tally, int *status);

/* Prints what the log says of its run's beginning, without running anything. False: reported. */
bool replay_info(const char *log);

/* The same, its process of that number (1: the first) looked at by gdb, which is at `where`: "-" standard input and output, a port
 * of this machine, a socket's path; NULL: a free port, which is said. False: reported. */
bool replay_debug(const char *log, const char *where, uint64_t process);

/* The log, if no other is named. */
#define REPLAY_LOG "chord.log"

#endif
