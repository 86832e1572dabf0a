/* SPDX-License-Identifier: MIT */
/* driver: the stand-in for the assembler, and the compiler driver that makes the compiler call it. */
#ifndef CHORD_DRIVER_H
#define CHORD_DRIVER_H

#include "asm/event.h"
#include "base/base.h"
#include "format/format.h"
#include "machine/text.h"
#include "measure/measure.h"

#include <pthread.h>
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
	uint32_t measures;      /* after request_complete(): also those that they and the options need */
	const char *option[REQUEST_OPTIONS]; /* values of options: lists as given, absolute names of files; NULL: not given */
	struct event_list events;
};

struct as_args { /* freed by as_args_free() */
	struct pool *pool;
	char **all;             /* all arguments except Chord's own options, @files expanded */
	size_t nall;
	VEC_ARGS inputs;        /* none, or "-": standard input */
	VEC_ARGS options;       /* for every run of the assembler */
	VEC_ARGS original_only; /* listings and dependencies: only for the original text */
	VEC_ARGS unwoven;       /* options that texts without counters get, and others do not */
	const char *output;
	struct request request;
	bool as_called;         /* a probe (--version and the like) or wrong arguments: the real assembler has to answer */
	bool other_mode;        /* code that is not 64-bit */
	bool debug;             /* the assembler makes line numbers */
};

/* Reads the arguments after argv[0]. False: reported. Call as_args_free() in either case. */
bool as_args_read(struct as_args *a, int argc, char **argv);
void as_args_free(struct as_args *a);

/* ---- as_lines.c, as_says.c: lines of a text, and what the assembler says of them ---- */

/* The assembler's name for what it reads from its standard input. */
#define STDIN_NAME "{standard input}"

/* Adds a text as it is, with lines that name its file, for which the assembler makes line numbers. */
void as_add_named(struct buf *to, const struct buf *in, const char *name);

/* A message is `NAME:LINE: TEXT`. Line 0: it is about no line in particular. */
struct as_message {
	bool is_one, is_stdin;
	uint32_t line;
};
/* Calls f, if it is not NULL, for each message. Returns the number of messages. */
size_t as_each_message(const struct buf *says, void (*f)(void *ctx, struct as_message m), void *ctx);
/* Has messages about a text that was piped to the assembler name the file that it is from. */
void as_name_file(struct buf *says, const char *name);

/* ---- measure.c ---- */

/* Reads a list of measures with commas between them, which replaces those chosen before. False: reported, with the option
 * `what`. */
bool request_measures(const char *what, const char *list, struct request *r);
/* Reads any option that begins with -fchord. False: reported. */
bool request_option(const char *text, struct request *r, struct pool *pool);
/* Do registers count in loops? */
bool request_in_registers(const struct request *r);
/* Adds what follows from the chosen measures, and checks that they go together. False: reported. */
bool request_complete(struct request *r, struct pool *pool);
/* The assembler's option --chord=... with the same meaning (pool), without commas and blanks; NULL: none is needed. */
const char *request_text(const struct request *r, struct pool *pool);
/* Reads the value of that option into *r, whose old contents are freed. False: reported. */
bool request_take(const char *text, struct request *r, struct pool *pool);
void request_free(struct request *r);

/* ---- as_args.c ---- */

/* Appends the words of a text to *out (pool). It is split at blanks, except in quotes and after backslashes. */
void args_split(struct pool *pool, struct str s, VEC_ARGS *out);
/* Appends the arguments to *out, with each @file replaced by its contents (pool). A file that cannot be read stays as it is
 * written. True: a file was a pipe or the like, which nobody can read again. */
bool args_expand(struct pool *pool, char *const *args, size_t n, VEC_ARGS *out);

/* ---- as_run.c: the real assembler ---- */

/* Its path, in the pool or the environment: $CHORD_AS, else that which gcc would run, else the first `as` in COMPILER_PATH and PATH
 * that is not Chord. NULL: there is none. Ends the process with a message if CHORD_AS names Chord. */
const char *as_find(struct pool *pool);
/* The one that the gcc that started this process would run without Chord (pool), if that is not one in PATH, else NULL. Takes
 * Chord's folders out of COMPILER_PATH. */
const char *as_of_compiler(struct pool *pool);
/* The set of registers that the user told that gcc to use for nothing, or to keep across calls. */
uint16_t as_reserved(struct pool *pool, const struct machine_text *text);
/* True if the file is Chord: this one, a link to it, a copy, or another version. */
bool is_chord(const char *path);
/* True if another stand-in started this process as the assembler. */
bool as_within(void);

struct as_io {
	const struct buf *input; /* its standard input; NULL: that of this process */
	struct buf *says;        /* gets its standard error; NULL: it goes to that of this process */
	struct buf *object;      /* gets the object; NULL: -o is among the arguments */
	bool quiet;              /* what it writes to standard output is thrown away */
};

/* Runs the assembler. Returns its exit status, 128 + the signal that ended it, or -1 with errno set if it could not be started. */
int as_run_io(const char *as, char *const *args, size_t nargs, const struct as_io *io);
/* The folder of Chord's own files (libexec; pool), found beside the running program; NULL: not there. */
const char *libexec_dir(struct pool *pool);

/* ---- as_child.c: processes ---- */

/* Descriptors of a child. in, out, err: its standard input, output and error; keep: stays open in it. -1: as in this process. */
struct child_fds {
	int in, out, err, keep;
};
#define CHILD_FDS_NONE {-1, -1, -1, -1}

/* Starts a program, searched in PATH if its name has no slash. fds may be NULL. False with errno set. */
bool child_start(pid_t *pid, char *const *argv, const struct child_fds *fds);
/* Waits for a child. Returns its wait status, or -1 with errno set. */
int child_wait(pid_t pid);
/* A thread that writes a text to a pipe. */
struct feeder {
	pthread_t thread;
	const struct buf *text;
	int to;
};
/* Starts it. *end: where the text can be read. *f and *text stay as they are until child_fed(). False with errno set. */
bool child_feed(struct feeder *f, const struct buf *text, int *end);
/* Closes that end, and waits for the thread. */
void child_fed(struct feeder *f, int end);
/* Reads a pipe to its end. */
void child_drain(int fd, struct buf *b);
/* Starts a program and waits for its end. *says gets what it writes to *end, which is one of the descriptors. says NULL: that is as
 * in this process. Returns the wait status, or -1 with errno set. */
int child_hear(char *const *argv, struct child_fds *fds, int *end, struct buf *says);
/* Runs a program to its end, passing on signals that ask this process to end. Returns the wait status, or -1 with errno set. */
int child_run(char *const *argv);
/* Ends this process by the signal that ended the child, or returns the child's exit status (128 + the signal if this process
 * survives it). */
int child_status(int wait_status);

/* ---- as_weights.c ---- */

/* How often edges ran: from a file of weights or of paths of interest, or from a profile whose programs are still where they ran.
 * Memory is the pool's. False: reported. Call selection_free() in either case. */
struct selection;
bool weights_read(struct pool *pool, const char *file, struct selection *in);

/* ---- cc_within.c: a compiler that leads back to Chord ---- */

/* Ends the process with a message if the compiler that `chord cc` runs started it, also through scripts and caches. Otherwise marks
 * the environment for the processes that this one starts. variable: the name of the environment variable that names the
 * compiler. */
void cc_within(struct pool *pool, const char *variable);

/* ---- cc_named.c: compilers by their names ---- */

/* How many of the n arguments, from the first one on, are the command that compiles, as in `chord cc gcc -c f.c` or
 * `chord cc ccache clang -c f.c`; 0: all are the compiler's. */
size_t cc_named(struct pool *pool, char **argv, size_t n);
/* Is it a compiler that does not take gcc's options? */
bool cc_is_unlike_gcc(const char *command);

/* ---- cc_clang.c ---- */

/* Tells the stand-in by which words clang is run; n 0: the compiler is not clang. */
void cc_say_clang(struct pool *pool, char *const *words, size_t n);
/* Has clang's own assembler assemble a text, with those of the assembler's options that it knows, too (-I). *says gets its
 * messages. Returns the wait status; -1: it is not known how clang is run, or errno says why it could not be run. */
int cc_clang_assembles(struct pool *pool, const struct buf *text, const VEC_ARGS *options, const char *output, struct buf *says);
/* Puts what gas takes without a warning, and makes the same of, in place of what only clang's own assembler takes so: numbers of
 * types of sections, and bytes of prefixes. Leaves out which addresses matter to linkers (.addrsig). True: the text was changed. */
bool cc_text_for_gas(struct buf *text);
/* The same if clang is the compiler. */
bool cc_clang_for_gas(struct buf *text);
/* True if code for this target of clang's is none that Chord measures. */
bool cc_is_foreign(const char *target);
/* The option that undoes an option of clang's whose text only clang's own assembler reads; NULL: it is another option. */
const char *cc_counter_option(const char *option);

/* cc_probe.c: true if an input or output of the compiler belongs to a test program of configure, CMake or Meson. */
bool cc_is_probe(const char *file);

/* ---- cc_link.c: after a link ---- */

/* Warns if nothing in the linked file is measured, if the pattern of an event matches nothing, or if an event is summed for calls
 * in some of its objects only. */
void link_check(struct pool *pool, const char *output);

#endif
