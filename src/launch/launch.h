/* SPDX-License-Identifier: MIT */
/* launch: runs a measured command, also several times, and has the profiles that its processes leave. */
#ifndef CHORD_LAUNCH_H
#define CHORD_LAUNCH_H

#include "base/base.h"

#include <sys/types.h>

/* ---- input.c ---- */

/* Standard input for more than one run. A file is read from where it stood; what comes through a pipe is kept in
 * a file without a name while a process hands it on, no more than the program reads; all else is left alone. */
struct launch_input {
	bool rewinds, relays;
	int64_t start;           /* where the file stood */
	int source, spool;       /* the pipe; what has been read of it */
	int control;             /* closed: the relay ends */
	pid_t relay;
	const char *left;        /* why not all runs have the same, or NULL */
};
/* False: reported. */
bool input_open(struct launch_input *in, bool several);
/* Around each run. False: reported. */
bool input_begin(struct launch_input *in);
bool input_end(struct launch_input *in);
void input_close(struct launch_input *in);

/* ---- launch.c ---- */

struct launch_options {
	char **argv;             /* ends with NULL */
	bool aslr;               /* the kernel chooses addresses at random, as it does otherwise */
	bool per_thread;         /* each thread leaves its own counts */
};

struct launched {
	struct pool *pool;
	const char *folder;
	int status;              /* of the program; 128 + the number of the signal that ended it */
	bool ended;              /* it could be run, and status is set */
	VEC(char *) profile;     /* that its processes left, by name */
};
/* Runs it once and waits for its end. False: reported. In any case launch_forget(). */
bool launch(struct launched *l, struct pool *pool, const struct launch_options *o, struct launch_input *in);
/* Removes the profiles, and traces beside them. */
void launch_forget(struct launched *l);

#endif
