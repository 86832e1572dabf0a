/* SPDX-License-Identifier: MIT */
/* tracee: a process that is traced by ptrace(2), and the system calls that it can make. */
#ifndef CHORD_TRACEE_H
#define CHORD_TRACEE_H

#include "machine/machine.h"

#include <signal.h>
#include <sys/stat.h>

/* ---- tracee.c: the traced process ---- */

struct countdown;
struct tracee {
	pid_t pid;
	const struct machine_traced *machine;
	int mem;                 /* descriptor of /proc/PID/mem */
	int status;              /* of the last stop */
	bool steps;              /* it was let go for one instruction */
	struct traced_regs regs; /* at the last stop */
	enum stop (*own)(struct tracee *t, int request); /* not NULL: what tracee_go_own() does instead */
	void *of;                /* for `own` */
	void (*heard)(void *whom, pid_t pid, int status); /* not NULL: gets what waitpid() says of others meanwhile */
	void *whom;              /* for `heard` */
	bool leads;              /* replay: its process has other threads, whose end comes first */
	unsigned where;          /* bind.c's */
	uint64_t makes;          /* replay: address of a system call instruction with a breakpoint after it; 0: none */
	uint64_t armed;          /* a debugger's: what the processor watches in it */
	bool alone;              /* the debugger looks at no code: code may be changed for a while; */
	bool (*admits)(struct tracee *t, const struct countdown *d); /* otherwise, if not NULL: may this countdown change it? */
	/* Replay, descriptors of its process plus 1 (0: not open): of the store for mapped files; of a program's file. */
	unsigned store, program;
	dev_t program_dev;
	ino_t program_ino;
	uint64_t aside, aside_size; /* a countdown's code is at this address. While it is there, own() delivers no signal that the
	                             * program has caused, and stops at STOP_RETURN; size 0: none */
};

enum stop {
	STOP_CALL,               /* at the beginning or end of a system call */
	STOP_SIGNAL,             /* a signal is about to be delivered */
	STOP_EVENT,              /* an event of ptrace: tracee_event() */
	STOP_GROUP,              /* a signal has stopped the process */
	STOP_ENDED,              /* it has ended */
	STOP_HALT,               /* replay: the debugger wants it to stand still here */
	STOP_RETURN,             /* a signal's handler has returned to the code that it had interrupted */
	STOP_NONE,               /* it has not stopped: it waits in the kernel */
};

struct tracee_start {
	char **argv, **env;
	const char *file, *cwd;  /* cwd: where it begins; NULL: here */
	const char *real;        /* not NULL: the program is started so that others see another file as its own (/proc/self/exe),
	                          * and this is the name that they see; "": none */
	uint64_t stack_limit;    /* 0: unchanged */
};

/* Has a signal run a handler in this process, with flags as for sigaction(2), even if whoever began this process had blocked the
 * signal. Programs that are started before this still have it blocked. */
void tracer_catch(int sig, void (*handler)(int), int flags);

/* Starts a program and stops it at its first instruction. False: reported. */
bool tracee_start(struct tracee *t, const struct tracee_start *s);
/* Opens its memory anew, after it has begun to run another program. False: reported. */
bool tracee_open_memory(struct tracee *t);
void tracee_kill(struct tracee *t); /* ends it and waits for its end */
/* True if enough descriptors are left above that one for everything that is opened from time to time. -1 gives true. */
bool tracee_has_room(int descriptor);
/* Sets whether it stops once more when it ends (PTRACE_EVENT_EXIT), whatever ends it; its memory is then still there. */
void tracee_stop_at_end(struct tracee *t, bool wanted);
void tracee_close(struct tracee *t); /* ends it, if it lives, and closes its memory */
/* Lets it go on by a request of ptrace, and waits for the next stop; t->regs are then its registers. sig: delivered to it; 0:
 * none. */
enum stop tracee_go(struct tracee *t, int request, int sig);
/* The same in two parts; only the second one waits. */
void tracee_resume(struct tracee *t, int request, int sig);
enum stop tracee_await(struct tracee *t);
/* Takes over what waitpid() has said of it. Returns the stop. */
enum stop tracee_stopped(struct tracee *t, int status);
/* The stop at which it stands. */
enum stop tracee_stop(const struct tracee *t);
/* Begins with a task that the kernel has begun to trace by itself. Waits for its first stop, unless *status is what waitpid() has
 * said of it. False: it has ended. */
bool tracee_join(struct tracee *t, pid_t pid, const struct machine_traced *machine, const int *status);
/* The letter of its state in /proc; 0: it is gone. */
char tracee_doing(const struct tracee *t);
/* Replay: lets it go on to the next stop that the program itself has caused, and ignores what comes from outside. */
enum stop tracee_go_own(struct tracee *t, int request);
/* Lets it go on by a request of ptrace, and interrupts it after about that time: STOP_GROUP. Returns any stop that comes before. */
enum stop tracee_go_for(struct tracee *t, int request, uint64_t ns);
int tracee_signal(const struct tracee *t); /* at STOP_SIGNAL: its number */
int tracee_event(const struct tracee *t); /* at STOP_EVENT: PTRACE_EVENT_... */
/* True if the instruction has caused the signal at which the process stands. */
bool tracee_caused(int sig, const siginfo_t *info);
/* At STOP_GROUP: true if its last instruction has caused a signal that is still pending. An interruption comes first, and the PC
 * may then be after a breakpoint. */
bool tracee_signal_pends(const struct tracee *t);
/* The processors' time that a process has taken so far, in ns; 0: not known. */
uint64_t tracee_cpu(pid_t process);
/* A traced_read_fn for a struct tracee. False: not all of the memory is there. */
bool tracee_read(const void *t, uint64_t addr, void *to, size_t n);
/* Reads as far as there is memory. Returns the number of bytes. */
size_t tracee_read_some(const struct tracee *t, uint64_t addr, void *to, size_t n);
bool tracee_write(struct tracee *t, uint64_t addr, const void *from, size_t n); /* false: not everything was written */
bool tracee_set(struct tracee *t, const struct traced_regs *r); /* also sets t->regs; false: not possible */
static inline uint64_t
tracee_word(const struct tracee *t, uint8_t word)
{
	return t->regs.word[word];
}
static inline uint64_t
tracee_arg(const struct tracee *t, int i)
{
	return t->regs.word[t->machine->arg[i]];
}
/* At a system call: true if it is of the machine's own kind. Calls by int 0x80 and of 32-bit programs have other numbers. */
bool tracee_own_call(const struct tracee *t);
/* Makes it execute a system call with the instruction before its PC; it then stands after that. False: it has ended; or it was
 * about to make another call, and was killed. */
bool tracee_make(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The same, and restores its registers. Returns the call's result; -ESRCH: it has ended. */
int64_t tracee_call(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The same with fewer stops, for calls that begin nothing and wait for nothing. */
int64_t tracee_call_at_once(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The same at any PC, with an instruction that is put there meanwhile. */
int64_t tracee_call_here(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The same with fewer stops, if it has a place for that (t->makes) which the call leaves alone. */
int64_t tracee_call_here_at_once(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* After a step over the instruction that begins with these bytes: removes the traces of the step from memory. */
void tracee_hide_step(struct tracee *t, const uint8_t bytes[2]);
/* Makes a copy of the process, which stands where it stands. False: not possible. */
bool tracee_fork(struct tracee *t, struct tracee *child);
/* Makes a copy of the thread `of`, in the process of `by` or, by the flags of clone(2), in a process that shares its memory. False:
 * not possible. */
bool tracee_clone(struct tracee *by, const struct tracee *of, uint64_t flags, struct tracee *to);
/* True if it stands where that can be done. */
bool tracee_can_fork(const struct tracee *t);
/* The text of /proc/PID/NAME (pool); NULL: it cannot be read. */
const char *tracee_proc(const struct tracee *t, struct pool *pool, const char *name);
/* True if the signal is in that set of /proc/PID/status. */
#define SIGNALS_IGNORED "SigIgn:"
#define SIGNALS_CAUGHT "SigCgt:"
#define SIGNALS_BLOCKED "SigBlk:"
bool tracee_signal_is(const struct tracee *t, const char *set, int sig);
/* A check sum of the registers; of n bytes. */
uint64_t tracee_sum(const struct tracee *t);
uint64_t bytes_sum(const void *at, size_t n);

/* ---- maps.c: what is mapped where ---- */

struct maps_line {
	uint64_t start, end, offset, inode;
	char mode[5];            /* "rwxp"; with - for what it has not, and s for p if it is shared */
	struct str name;         /* a path, or [stack] and the like; empty: it has none */
};
/* Reads the next mapping in the text of /proc/PID/maps or smaps, which tracee_proc() gives, and goes to the line behind it. False:
 * there is no more. *text may be NULL. */
bool maps_next(const char **text, struct maps_line *m);

/* ---- bind.c: on one processor ---- */

/* Binds the tracer, and everything that it begins, to one processor while there are many stops. */
void bind_begin(void);
/* Call it before a task goes on: binds the task if its tracer is bound, and releases it if not. */
void bind_follow(struct tracee *t);
/* Lets the task run where it might run without Chord. */
void bind_release(struct tracee *t);
/* Releases all. */
void bind_end(void);
/* Releases the calling thread, which traces nothing. */
void bind_leave(void);
/* True if these n bytes are the mask of the processor to which the task is bound (sched_getaffinity(2)). bind_mask() then has the
 * mask without Chord. */
bool bind_shows(const struct tracee *t, const unsigned long *mask, size_t n);
const void *bind_mask(void);

/* ---- table.c: the system calls that can be recorded ---- */

/* What is done for a call. */
enum call_class {
	CALL_UNKNOWN,            /* not in the table */
	CALL_GIVEN,              /* the replay returns what was recorded, and makes no call */
	CALL_DONE,               /* the replay makes the call, too */
	CALL_MAP,                /* mmap */
	CALL_REMAP,              /* mremap */
	CALL_ADVISE,             /* madvise */
	CALL_ATTACH,             /* shmat */
	CALL_DETACH,             /* shmdt */
	CALL_OUTPUT,             /* writes: what goes to standard output or error also goes to the replay's */
	CALL_RESIZE,             /* changes the size of a file that may be mapped */
	CALL_PASS,               /* copies between files, without the process's memory */
	CALL_RETURN,             /* returns from a signal's handler */
	CALL_RESUME,             /* continues an interrupted call */
	CALL_END,                /* ends the thread or the process */
	CALL_BIRTH,              /* begins a thread or a process */
	CALL_EXEC,               /* runs another program in place of this one */
	CALL_ABSENT,             /* fails as if the kernel did not have it */
	CALL_COMMAND,            /* an argument says what it does: see the table of commands */
	CALL_REFUSED,            /* cannot be recorded */
};

/* How many bytes a call writes to the memory to which an argument points. */
enum out_size {
	OUT_NOTHING,
	OUT_FIXED,               /* n */
	OUT_RESULT,              /* its result times n */
	OUT_TYPED,               /* its result, after a number of 8 bytes */
	OUT_ARG,                 /* argument `by` times n */
	OUT_LENGTH,              /* as the 32-bit number says to which argument `by` points */
	OUT_COUNTED,             /* struct ifconf: a 32-bit number of bytes, and the pointer to them */
	OUT_BITS,                /* words for as many bits as argument `by` says */
	OUT_PAGES,               /* one for each page in as many bytes as argument `by` says */
	OUT_VECTOR,              /* struct iovec, argument `by` of them: as many bytes as its result */
	OUT_MESSAGE,             /* struct msghdr: everything in it */
	OUT_MESSAGES,            /* struct mmsghdr, argument `by` of them */
};
enum { OUTS = 4 };

struct call_out {
	uint8_t size, arg, by;
	uint16_t n;
};

struct system_call {
	int number;
	const char *name;
	enum call_class class;
	struct call_out out[OUTS];
	const char *why;         /* why it is refused */
	uint8_t arg;             /* of the command */
	uint32_t command;
};

/* The entry of a call. A call that is not in the table has class CALL_UNKNOWN, and its number as name (pool). */
struct system_call call_of(struct pool *pool, uint64_t number, const uint64_t arg[6]);
/* True if the call opens a file and may truncate it. */
bool call_cuts_off(uint64_t number, const uint64_t arg[6]);
/* True if the call writes at its descriptor's position, which it advances. */
bool call_moves_on(uint64_t number, const uint64_t arg[6]);

/* ---- output.c: memory that a call has written, or reads ---- */

struct piece {
	uint64_t addr, n;
};
typedef VEC(struct piece) pieces;

/* Appends what the call that has just returned may have written. result: the call's own. False: it may have written more than is
 * kept. */
bool pieces_written(const struct tracee *t, const struct system_call *c, const uint64_t arg[6], int64_t result, pieces *to);
/* Appends what an output call with this result has read. */
void pieces_read(const struct tracee *t, uint64_t number, const uint64_t arg[6], uint64_t result, pieces *to);

/* stat() of the file to which a descriptor of the tracee leads. False: none. */
bool descriptor_stat(const struct tracee *t, uint64_t fd, struct stat *st);
/* Which of the recorder's own streams a descriptor of the tracee is: 1 standard output, 2 standard error, 0 neither. */
int stream_of(const struct tracee *t, int fd);

#endif
