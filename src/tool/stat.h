/* SPDX-License-Identifier: MIT */
/* What the files of `chord stat` share. */
#ifndef CHORD_STAT_H
#define CHORD_STAT_H

#include "tool/report.h"

#include <sys/types.h>

/* ---- stat.c runs, stat_input.c gives each run the same input, stat_print.c prints ---- */

struct stat_options {
	struct pool *pool;
	uint32_t runs;
	const char *events;      /* the list as given; NULL: all that are known */
	const char *output;      /* NULL: standard error */
	bool json, per_thread, aslr;
	char **argv;             /* of the program, ends with NULL */
};

struct stat_thread {
	uint64_t pid;
	uint32_t number;         /* in its process, in the order in which they were made, from 0 */
	struct tally_event *at;  /* by event */
};

/* All runs together. */
struct stat_result {
	struct pool *pool;
	const struct stat_options *opt;
	struct event_list events; /* chosen after the first run if none are asked for */
	struct tally_event *at;  /* event e in run i: at[e * opt->runs + i] */
	uint32_t nrun;           /* that were made */
	int status;              /* of the program: the first that is not 0; 128 + a signal's number */
	int first_status;
	uint32_t other_status;   /* runs that did not end with it */
	uint64_t fewest, most;   /* processes of a run */
	/* Of all runs, each once: */
	VEC(struct named) unknown; /* procedures and objects */
	VEC(const char *) note;
	/* Of the last run: */
	uint64_t processes, refused, unmeasured;
	bool stripped;
	VEC(const char *) library; /* that was not measured */
	VEC(struct stat_thread) thread; /* if asked for: that executed anything */
};

/* Do the runs differ in it? */
bool stat_differs(const struct stat_result *s, uint32_t event);
/* False: it could not be written. */
bool stat_print(const struct stat_result *s, FILE *to);
bool stat_json(const struct stat_result *s, FILE *to);

/* Standard input for more than one run. A file is read from where it stood; what comes through a pipe is kept in
 * a file without a name while a process hands it on, no more than the program reads; all else is left alone. */
struct stat_input {
	bool rewinds, relays;
	int64_t start;           /* where the file stood */
	int source, spool;       /* the pipe; what has been read of it */
	int control;             /* closed: the relay ends */
	pid_t relay;
	const char *left;        /* why not all runs have the same, or NULL */
};
/* False: reported. */
bool input_open(struct stat_input *in, bool several);
/* Around each run. False: reported. */
bool input_begin(struct stat_input *in);
bool input_end(struct stat_input *in);
void input_close(struct stat_input *in);

#endif
