/* SPDX-License-Identifier: MIT */
/* driver: the stand-in for the assembler, and the compiler driver that makes the compiler call it. */
#ifndef CHORD_DRIVER_H
#define CHORD_DRIVER_H

#include "asm/event.h"
#include "base/base.h"
#include "format/format.h"
#include "measure/measure.h"

#include <sys/types.h>

typedef VEC(char *) VEC_ARGS;

/* Commands, as in tool.h. */
int cmd_cc(int argc, char **argv);
int cmd_cxx(int argc, char **argv);
int cmd_hook(int argc, char **argv);
int cmd_as(int argc, char **argv);

/* ---- as_args.c: command lines ---- */

/* Options -fchord-NAME= */
#define REQUEST_ID(id, ...) REQUEST_##id,
enum { CHORD_OPTION_LIST(REQUEST_ID) REQUEST_OPTIONS };

/* What is to be measured. */
struct request {
	uint32_t chosen;        /* set of the measures named */
	uint32_t measures;      /* with those that they and the options need; once it is complete */
	const char *option[REQUEST_OPTIONS]; /* their values: lists as given, absolute names of files; NULL: not given */
	struct event_list events;
};

struct as_args {
	struct pool *pool;
	char **all;             /* everything but Chord's own options, @files expanded */
	size_t nall;
	VEC_ARGS inputs;        /* none, or "-": standard input */
	VEC_ARGS options;       /* for every run of the assembler */
	VEC_ARGS original_only; /* listings and dependencies: they are of the original text */
	const char *output;
	struct request request;
	bool as_called;         /* a probe (--version and the like) or wrong arguments: the assembler answers by itself */
	bool other_mode;        /* not 64-bit code */
	bool debug;             /* the assembler makes line numbers */
};

/* argv[0] is skipped. False: reported. */
bool as_args_read(struct as_args *a, int argc, char **argv);
void as_args_free(struct as_args *a);

/* ---- measure.c ---- */

/* Reads measures with commas between them, in place of those chosen before. False: reported, `what` being the option. */
bool request_measures(const char *what, const char *list, struct request *r);
/* Any option that begins with -fchord. False: reported. */
bool request_option(const char *text, struct request *r, struct pool *pool);
/* Adds what follows from the chosen measures, and checks that they go together. False: reported. */
bool request_complete(struct request *r, struct pool *pool);
/* The assembler's option that says the same (pool), without commas or blanks; NULL: none is needed. */
const char *request_text(const struct request *r, struct pool *pool);
/* Reads the value of --chord= in such an option. False: reported. */
bool request_take(const char *text, struct request *r, struct pool *pool);
void request_free(struct request *r);

/* ---- as_args.c ---- */

/* Appends the arguments, with each @file replaced by its contents; one that cannot be read stays. */
void args_expand(struct pool *pool, char *const *args, size_t n, VEC_ARGS *out);

/* ---- as_run.c: the real assembler ---- */

/* Its path (pool), or NULL if there is none: $CHORD_AS, else the first `as` in COMPILER_PATH and PATH that is not Chord. */
const char *as_find(struct pool *pool);
/* Is the file Chord: this one, a link to it, a copy or another version? */
bool is_chord(const char *path);
/* Did another stand-in start this process as the assembler? */
bool as_within(void);

struct as_io {
	const struct buf *input; /* its standard input; NULL: what this process has */
	struct buf *says;        /* gets its standard error; NULL: it goes where this process's goes */
	struct buf *object;      /* gets the object; NULL: -o is among the arguments */
};

/* Runs it. Returns its exit status, 128 + the signal that ended it, or -1 if it could not be started (errno). */
int as_run_io(const char *as, char *const *args, size_t nargs, const struct as_io *io);
/* Folder of Chord's own files (libexec), found beside the running program; NULL if it is not there. */
const char *libexec_dir(struct pool *pool);

/* ---- as_child.c: processes ---- */

/* Files that a child gets in place of this process's; -1: the same. */
struct child_fds {
	int in, err, keep;
};

/* Starts a program (searched in PATH if it has no slash). False: errno. */
bool child_start(pid_t *pid, char *const *argv, const struct child_fds *fds);
/* Its wait status, -1: errno. */
int child_wait(pid_t pid);
/* Runs a program to its end and passes on signals that ask this process to end. Its wait status, -1: errno. */
int child_run(char *const *argv);
/* Ends this process by the signal that ended the child, or returns the child's exit status. */
int child_status(int wait_status);

/* ---- as_weights.c ---- */

/* How often edges ran: from a file of weights or paths of interest, or from a profile of programs that are still where they ran.
 * The pool keeps it. False: reported. In any case selection_free(). */
struct selection;
bool weights_read(struct pool *pool, const char *file, struct selection *in);

/* ---- cc_within.c: a compiler that leads back to Chord ---- */

/* Ends the process if it was started, even through scripts and caches, by the compiler that `chord cc` runs; marks it for the
 * processes that it starts. The variable names the compiler. */
void cc_within(struct pool *pool, const char *variable);

/* cc_probe.c: is an input or output of the compiler's one of a test program by which configure, CMake or Meson learn about it? */
bool cc_is_probe(const char *file);

/* ---- cc_link.c: after a link ---- */

/* Warns if nothing in the output is measured. */
void link_check(struct pool *pool, const char *output);

#endif
