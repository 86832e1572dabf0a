/* SPDX-License-Identifier: MIT */
/* tracee: a process that is traced by ptrace(2), and the system calls that it can make. */
#ifndef CHORD_TRACEE_H
#define CHORD_TRACEE_H

#include "machine/machine.h"

#include <signal.h>
#include <sys/stat.h>

/* ---- tracee.c: the process that is traced ---- */

struct countdown;
struct tracee {
	pid_t pid;
	const struct machine_traced *machine;
	int mem;                 /* /proc/PID/mem */
	int status;              /* of the last stop */
	bool steps;              /* it was let go for one instruction */
	struct traced_regs regs; /* at the last stop */
	enum stop (*own)(struct tracee *t, int request); /* not NULL: what tracee_go_own() does instead */
	void *of;                /* for that */
	void (*heard)(void *whom, pid_t pid, int status); /* not NULL: is told what waitpid() says of others meanwhile */
	void *whom;              /* for that */
	bool leads;              /* replaying: its process has other threads, whose end comes first */
	unsigned where;          /* bind.c has it */
	uint64_t makes;          /* in a replay: where a system call's instruction has a breakpoint behind it; 0: nowhere */
	uint64_t armed;          /* for who looks on: what the processor watches in it */
	bool alone;              /* that looks at no code: it may be another one for a while; */
	bool (*admits)(struct tracee *t, const struct countdown *d); /* else, if not NULL: may it, by that countdown? */
	/* In a replay, descriptors of its process, and 1 more (0: not open): of what mapped files lie in, of a program's file. */
	unsigned store, program;
	dev_t program_dev;
	ino_t program_ino;
	uint64_t aside, aside_size; /* code of a countdown: there, and until it is gone, own() delivers no signal that the
	                          * program has caused, and stops at STOP_RETURN; size 0: none */
};

enum stop {
	STOP_CALL,               /* at the beginning or end of a system call */
	STOP_SIGNAL,             /* a signal is about to be delivered */
	STOP_EVENT,              /* of ptrace: tracee_event() */
	STOP_GROUP,              /* a signal has stopped the process */
	STOP_ENDED,              /* it is no more */
	STOP_HALT,               /* in a replay: who looks on wants it to stand still here */
	STOP_RETURN,             /* a signal's handler has returned to the code that it had interrupted */
	STOP_NONE,               /* it has not stopped: it waits in the kernel */
};

struct tracee_start {
	char **argv, **env;
	const char *file, *cwd;  /* cwd: where it begins, NULL: here */
	const char *real;        /* not NULL: it calls the file so that others find another one there (/proc/self/exe): this is
	                          * where they find it; "": nowhere */
	uint64_t stack_limit;    /* 0: as it is */
};

/* Starts a program and stops it at its first instruction. False: reported. */
bool tracee_start(struct tracee *t, const struct tracee_start *s);
/* Its memory is another one since it runs a program in its place. False: reported. */
bool tracee_open_memory(struct tracee *t);
void tracee_kill(struct tracee *t);
/* Lets this process have as many descriptors as it may ask for, because each traced task takes one. Programs that were started
 * before have their own limit. */
void tracee_raise_limit(void);
/* Are there enough left behind that one for all that has to be opened now and then? -1: there are. */
bool tracee_has_room(int descriptor);
/* Does it stop once more when it ends (PTRACE_EVENT_EXIT), whatever ends it? Its memory is still there then. */
void tracee_stop_at_end(struct tracee *t, bool wanted);
void tracee_close(struct tracee *t);
/* Lets it go on by a request of ptrace, and waits for the next stop, whose registers are then in t->regs. */
enum stop tracee_go(struct tracee *t, int request, int sig);
/* The same in two parts; the first of them does not wait. */
void tracee_resume(struct tracee *t, int request, int sig);
enum stop tracee_await(struct tracee *t);
/* Takes over what waitpid() has said of it. */
enum stop tracee_stopped(struct tracee *t, int status);
/* The stop at which it stands. */
enum stop tracee_stop(const struct tracee *t);
/* A task that the kernel has begun to trace by itself: waits for its first stop, unless that has been told. False: it has ended. */
bool tracee_join(struct tracee *t, pid_t pid, const struct machine_traced *machine, const int *status);
/* What the kernel says of the task: the letter of its state in /proc, 0 if it is no more. */
char tracee_doing(const struct tracee *t);
/* In a replay: to the next stop that the program itself has caused. What comes from outside is none of the replay's. */
enum stop tracee_go_own(struct tracee *t, int request);
/* The same for about so long only; STOP_GROUP when that is over. */
enum stop tracee_go_for(struct tracee *t, int request, uint64_t ns);
int tracee_signal(const struct tracee *t);
int tracee_event(const struct tracee *t);
/* Has the instruction caused the signal at which the process stands? */
bool tracee_caused(int sig, const siginfo_t *info);
/* At STOP_GROUP: has its last instruction caused a signal of which the kernel has not told yet? An interruption goes first, and
 * the PC may be behind a breakpoint then. */
bool tracee_signal_pends(const struct tracee *t);
bool tracee_read(const void *t, uint64_t addr, void *to, size_t n);
/* Reads as far as there is memory: how many bytes. */
size_t tracee_read_some(const struct tracee *t, uint64_t addr, void *to, size_t n);
bool tracee_write(struct tracee *t, uint64_t addr, const void *from, size_t n);
bool tracee_set(struct tracee *t, const struct traced_regs *r);
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
/* At a system call: is it one of the machine's own kind? Those of int 0x80 and of programs of 32 bits have other numbers. */
bool tracee_own_call(const struct tracee *t);
/* Has it make a system call with the instruction before its PC, and stops it behind that. False: it has ended, or was about to make
 * another one, and was killed. */
bool tracee_make(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The same; registers are then as they were. The result. */
int64_t tracee_call(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The same in fewer stops, for calls that begin nothing and wait for nothing. */
int64_t tracee_call_at_once(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The same anywhere, with an instruction that is put there meanwhile. */
int64_t tracee_call_here(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* Behind a step over the instruction that begins with these bytes: takes out of memory what only shows that it was stepped. */
void tracee_hide_step(struct tracee *t, const uint8_t bytes[2]);
/* A copy of it that stands where it stands. False: none. */
bool tracee_fork(struct tracee *t, struct tracee *child);
/* A copy of the thread `of`, in `by`'s process or, by the flags of clone(2), in one that shares its memory. False: none. */
bool tracee_clone(struct tracee *by, const struct tracee *of, uint64_t flags, struct tracee *to);
/* Is it where that can be done? */
bool tracee_can_fork(const struct tracee *t);
/* The text of /proc/PID/NAME, in the pool; NULL: it cannot be read. */
const char *tracee_proc(const struct tracee *t, struct pool *pool, const char *name);
/* Is the signal in that set of /proc/PID/status: SIGNALS_IGNORED, for one? */
#define SIGNALS_IGNORED "SigIgn:"
#define SIGNALS_CAUGHT "SigCgt:"
#define SIGNALS_BLOCKED "SigBlk:"
bool tracee_signal_is(const struct tracee *t, const char *set, int sig);
/* The registers' check sum. */
uint64_t tracee_sum(const struct tracee *t);
uint64_t bytes_sum(const void *at, size_t n);

/* ---- bind.c: on one processor ---- */

/* Who traces, and what that begins, is bound as long as there are many stops. */
void bind_begin(void);
/* Before a task goes on: it is bound or not as its tracer is. */
void bind_follow(struct tracee *t);
/* It may run where it might run without Chord; */
void bind_release(struct tracee *t);
/* nobody is bound any more. */
void bind_end(void);
/* A thread that traces nothing is not bound. */
void bind_leave(void);
/* Are the n bytes those of the processor to which the task is bound (sched_getaffinity(2))? Then bind_mask() has what would be
 * there. */
bool bind_shows(const struct tracee *t, const unsigned long *mask, size_t n);
const void *bind_mask(void);

/* ---- table.c: the system calls that can be recorded ---- */

/* What is done for a call. */
enum call_class {
	CALL_UNKNOWN,            /* not in the table */
	CALL_GIVEN,              /* the replay gives what was recorded, and does nothing */
	CALL_DONE,               /* the replay does it, too */
	CALL_MAP,                /* mmap */
	CALL_REMAP,              /* mremap */
	CALL_ADVISE,             /* madvise */
	CALL_OUTPUT,             /* writes: what the standard output or error gets, the replay's gets */
	CALL_RESIZE,             /* changes the size of a file that may be mapped */
	CALL_PASS,               /* between files, without the process's memory */
	CALL_RETURN,             /* from a signal's handler */
	CALL_RESUME,             /* of a call that was interrupted */
	CALL_END,                /* of the thread or the process */
	CALL_BIRTH,              /* begins a thread or a process */
	CALL_EXEC,               /* has another program in the place of this one */
	CALL_ABSENT,             /* fails as if the kernel had it not */
	CALL_COMMAND,            /* what it does stands in an argument: the table of commands knows */
	CALL_REFUSED,            /* cannot be recorded */
};

/* How much of the memory to which an argument points a call writes. */
enum out_size {
	OUT_NOTHING,
	OUT_FIXED,               /* n bytes */
	OUT_RESULT,              /* its result times n bytes */
	OUT_TYPED,               /* its result, behind a number of 8 bytes */
	OUT_ARG,                 /* argument `by` times n bytes */
	OUT_LENGTH,              /* as many as the number of 32 bits says to which argument `by` points */
	OUT_BITS,                /* so many bits as argument `by` says, in words */
	OUT_PAGES,               /* a byte for each page of as many bytes as argument `by` says */
	OUT_VECTOR,              /* struct iovec, argument `by` of them: up to its result */
	OUT_MESSAGE,             /* struct msghdr: all that it has */
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
	const char *why;         /* it is refused */
	uint8_t arg;             /* of the command */
	uint32_t command;
};

/* A call that is not in the table has class CALL_UNKNOWN, and its number as its name, which is in the pool. */
struct system_call call_of(struct pool *pool, uint64_t number, const uint64_t arg[6]);
/* Does it open a file, and may it cut off what that has? */
bool call_cuts_off(uint64_t number, const uint64_t arg[6]);
/* Does it write where its descriptor's next byte is, and not at a place of its own? */
bool call_moves_on(uint64_t number, const uint64_t arg[6]);

/* ---- output.c: memory that a call has written, or reads ---- */

struct piece {
	uint64_t addr, n;
};
typedef VEC(struct piece) pieces;

/* What the call that has just returned may have written. result: its own. */
void pieces_written(const struct tracee *t, const struct system_call *c, const uint64_t arg[6], int64_t result, pieces *to);
/* What an output call with this result has read. */
void pieces_read(const struct tracee *t, uint64_t number, const uint64_t arg[6], uint64_t result, pieces *to);

/* What stat() says of the file to which a descriptor of the tracee leads. False: to none. */
bool descriptor_stat(const struct tracee *t, uint64_t fd, struct stat *st);
/* Which of the recorder's own streams a descriptor of the tracee is: 1 standard output, 2 standard error, 0 neither. */
int stream_of(const struct tracee *t, int fd);

#endif
