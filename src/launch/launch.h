/* SPDX-License-Identifier: MIT */
/* launch: runs a measured command, once or several times, and collects the profiles that its processes leave. */
#ifndef CHORD_LAUNCH_H
#define CHORD_LAUNCH_H

#include "base/base.h"

#include <sys/types.h>

/* ---- input.c ---- */

/* Standard input for several runs. A file is read from the same place in each run. Input from a pipe is kept in a nameless file,
 * while a process passes it on; no more is read from the pipe than the program reads. Everything else is left alone. */
struct launch_input {
	bool rewinds, relays;
	int64_t start;           /* offset of the file at the beginning */
	int source, spool;       /* the pipe; the file with what has been read of it */
	int control;             /* closing it ends the relay */
	pid_t relay;
	const char *left;        /* why not all runs have the same input, or NULL */
};
/* Prepares standard input; `several`: for more than one run. False: reported. */
bool input_open(struct launch_input *in, bool several);
/* Before and after each run. False: reported. */
bool input_begin(struct launch_input *in);
bool input_end(struct launch_input *in);
void input_close(struct launch_input *in);

/* ---- launch.c ---- */

struct launch_options {
	char **argv;             /* ends with NULL */
	bool aslr;               /* the kernel chooses addresses at random, as it does otherwise */
	bool per_thread;         /* each thread leaves counts of its own */
};

struct launched {
	struct pool *pool;
	const char *folder;
	int status;              /* exit status of the program, or 128 + the signal that ended it */
	bool ended;              /* the program could be run, and status is set */
	VEC(char *) profile;     /* profiles that its processes left, by name */
};
/* Runs the command once and waits for its end; sets CHORD_FILE, and perhaps CHORD_THREADS, in this process's environment. False:
 * reported. Call launch_forget() in either case. */
bool launch(struct launched *l, struct pool *pool, const struct launch_options *o, struct launch_input *in);
/* Removes the folder, with the profiles and the traces in it. The folder is also removed when Chord exits. */
void launch_forget(struct launched *l);

#endif
