/* SPDX-License-Identifier: MIT */
/* Shared by the files that record and replay. */
#ifndef CHORD_REPLAY_INTERNAL_H
#define CHORD_REPLAY_INTERNAL_H

#include "machine/machine.h"
#include "replay/replay.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

/* ---- chunks.c: the file of a log ---- */

enum { CHUNK = 1 << 20 };    /* bytes of one, before compression, at most */

struct chunks_out;
/* Begins the file with n bytes of head. */
struct chunks_out *chunks_create(int fd, const void *head, size_t n);
/* CHUNK bytes of memory for the next one. */
char *chunks_block(struct chunks_out *o);
/* That one has n bytes: waits until there is memory for another. 0, or errno of what could not be written. */
int chunks_put(struct chunks_out *o, size_t n);
/* The last one has n bytes, or there is none (0). All is written then, but for an error, as above. */
int chunks_finish(struct chunks_out *o, size_t n);
void chunks_abandon(struct chunks_out *o);

struct chunks_in;
/* Behind `head` bytes. NULL: it is not whole, and *why says it. */
struct chunks_in *chunks_open(int fd, size_t head, const char **why);
void chunks_close(struct chunks_in *f);
/* How many there are, at least one, and of how many bytes. */
size_t chunks_number(const struct chunks_in *f);
uint64_t chunks_size(const struct chunks_in *f);
/* The one in which that byte is, or, behind all, the last one. *begin: its first byte. */
size_t chunks_find(const struct chunks_in *f, uint64_t at, uint64_t *begin);
/* What is in chunk i, n bytes, until the next call. NULL: it is damaged. */
const char *chunks_get(struct chunks_in *f, size_t i, size_t *n);

/* ---- log.c: what was recorded, a stream of numbers and bytes ---- */

enum { LOG_VERSION = 8 };

/* What happened, in this order. docs/replay.md lists what stands in each. */
enum log_event {
	LOG_START = 1, LOG_CALL, LOG_NONDET, LOG_SIGNAL, LOG_EXIT, LOG_STRUCK, LOG_TASK, LOG_ENTER, LOG_LEAVE, LOG_BIRTH, LOG_END,
	LOG_SWITCH, LOG_EXEC, LOG_DOOR, LOG_SITE, LOG_FREE, LOG_REPLACED, LOG_MOST
};

/* What is recorded of a run. */
enum log_scope { LOG_ALL, LOG_SIGNALS_ONLY };

struct log;

/* It has its name when it is whole. NULL: reported. */
struct log *log_create(const char *path, enum log_scope scope);
void log_put(struct log *l, uint64_t v);
void log_put_bytes(struct log *l, const void *at, size_t n);
void log_put_text(struct log *l, const char *s);
/* False: it could not be written; reported, and what there is of it is removed. */
bool log_finish(struct log *l);
/* Removes what there is of it; a log that had the name before stays. */
void log_abandon(struct log *l);

struct log *log_open(const char *path);
/* Of a file that may be no log: that is said when it is opened. */
enum log_scope log_scope(const char *path);
const char *log_name(const struct log *l);
/* What was read; when the log is damaged or ends too early that is said once, and all that follows is 0 and empty. */
uint64_t log_get(struct log *l);
/* Bytes in the pool; behind what the buffer has, and how many. */
struct str log_get_bytes(struct log *l, struct pool *pool);
size_t log_get_into(struct log *l, struct buf *b);
const char *log_get_text(struct log *l, struct pool *pool);
/* The kind of the next event, which log_get() has yet to read. */
enum log_event log_peek(struct log *l);
/* How many bytes have been read, and reading on from there. False: reported. */
uint64_t log_tell(const struct log *l);
bool log_seek(struct log *l, uint64_t at);
/* Is there nothing behind what has been read? */
bool log_at_end(struct log *l);
bool log_failed(const struct log *l);
void log_close(struct log *l);

/* ---- tracee.c: the process that is traced ---- */

struct tracee {
	pid_t pid;
	const struct machine_traced *machine;
	int mem;                 /* /proc/PID/mem */
	int status;              /* of the last stop */
	struct traced_regs regs; /* at the last stop */
	enum stop (*own)(struct tracee *t, int request); /* not NULL: what tracee_go_own() does instead */
	void *of;                /* for that */
	void (*heard)(void *whom, pid_t pid, int status); /* not NULL: is told what waitpid() says of others meanwhile */
	void *whom;              /* for that */
	bool leads;              /* replaying: its process has other threads, whose end comes first */
	unsigned where;          /* bind.c has it */
	uint64_t makes;          /* in a replay: where a system call's instruction has a breakpoint behind it; 0: nowhere */
	uint64_t armed;          /* for who looks on: what the processor watches in it */
	bool alone;              /* that looks at no code: it may be another one for a while */
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
/* A copy of it that stands where it stands. False: none. */
bool tracee_fork(struct tracee *t, struct tracee *child);
/* A copy of the thread `of`, in `by`'s process or, by the flags of clone(2), in one that shares its memory. False: none. */
bool tracee_clone(struct tracee *by, const struct tracee *of, uint64_t flags, struct tracee *to);
/* Is it where that can be done? */
bool tracee_can_fork(const struct tracee *t);
/* The text of /proc/PID/NAME, in the pool; NULL: it cannot be read. */
const char *tracee_proc(const struct tracee *t, struct pool *pool, const char *name);
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

/* ---- clock.c: how far the measured code has come ---- */

struct clock;
struct clock *clock_open(struct tracee *t);
/* By which of the tasks that share the memory it is read. */
void clock_follow(struct clock *c, struct tracee *t);
/* Of a process that the parent begins with the same memory; of one that is made to stand where another one does. */
void clock_begin_as(struct clock *c, struct clock *parent);
void clock_copy(struct clock *c, const struct clock *of);
void clock_close(struct clock *c);
/* n bytes have been mapped there, which may be what counts. */
void clock_mapped(struct clock *c, uint64_t at, uint64_t n);
/* The sum of its counters: equal at equal states. 0 before it counts, or if it does not. */
uint64_t clock_sum(struct clock *c);
/* Could a counter not be read, though the process is there? That has been said; what the clock says is not known since then. */
bool clock_fails(const struct clock *c);
/* Is the PC in code that counts? Then the counter of its module; with the PC it names a state of the thread, for that
 * never has the same value twice at one instruction. */
bool clock_at(struct clock *c, uint64_t pc, uint64_t *count);
/* From here on no system call is made, or one may be again: what is mapped and counts stays the same meanwhile. */
bool clock_still(struct clock *c, bool still);
/* Where a call of code that counts comes back that is active on the stack; the innermost as far as that can be told, 0: none. */
uint64_t clock_return(struct clock *c, uint64_t sp);
/* Has the code that counts ask for a timer (-fchord-timers=) before the counter of the PC's module has `left` more, as near to it
 * as can be. The address where it asks; 0: it cannot. */
uint64_t clock_arm(struct clock *c, uint64_t pc, uint64_t left);
/* Has it just made the addition behind which it will ask? */
bool clock_asks(struct clock *c);
/* Does some code ask for timers? */
bool clock_has_timers(struct clock *c);
/* All is as if that had never been. */
void clock_disarm(struct clock *c);

struct countdown;
/* What counts down where the module of the PC adds to its clock; NULL: nothing can. */
struct countdown *clock_countdown(struct clock *c, uint64_t pc);

/* ---- countdown.c: having code that counts stop shortly before its clock has come somewhere ---- */

/* An addition to a clock, and its place. */
struct addition {
	uint64_t at;
	uint32_t amount;
	bool next;               /* control comes to the instruction behind it from there only */
	uint8_t before;          /* or to it from the instruction before it only, which has so many bytes; 0: not so */
	bool falls;              /* there is one before it that goes on to it */
};
typedef VEC(struct addition) additions;

/* Takes what it is given. */
struct countdown *countdown_new(additions *at);
void countdown_free(struct countdown *d);
/* From here on the program stops at the first addition with which its clock would have advanced by `left` or more, before that.
 * Until countdown_take() its code is another one: no system call may be made. False: that cannot be; all is as before. */
bool countdown_put(struct countdown *d, struct tracee *t, uint64_t left);
void countdown_take(struct countdown *d, struct tracee *t);
/* Has it stopped the program? The PC is then at the addition. */
bool countdown_hit(const struct countdown *d, struct tracee *t, enum stop stop);
/* Does it stand in the countdown's code otherwise? The PC is then at the instruction of its own that would be executed. */
bool countdown_home(const struct countdown *d, struct tracee *t);
/* May the program not go on from here while it counts down? One step further on it may. */
bool countdown_amid(const struct countdown *d, uint64_t pc);

/* ---- additions.c: where code adds to a clock ---- */

struct binary;
struct event_counter;
/* All of a module, by address. False: code is not understood. */
bool additions_find(struct binary *b, uint64_t bias, const struct event_counter *const *counter, size_t n, additions *out);

/* ---- state.c: running to a state ---- */

struct state {
	uint64_t pc, count, sum;
	bool bare;               /* the sum is state_name(), and not that of all registers */
};

enum reach {
	REACH_THERE,
	REACH_OTHER,             /* something else stopped the program on the way */
	REACH_PAST,              /* it has gone too far: begin again with more care */
};
/* CARE_MOST takes the longest, and never goes too far; CARE_STEADY does not touch the program's memory, either. */
enum { CARE_MOST = 3, CARE_STEADY };

enum reach state_reach(struct tracee *t, struct clock *c, const struct state *s, unsigned care, enum stop *stop);
/* Runs to not far before it, as fast as the program is. Not STOP_SIGNAL: something else stopped the program on the way. */
enum stop state_near(struct tracee *t, struct clock *c, const struct state *s);
struct breakpoint {
	uint64_t at;             /* 0: there is none */
	uint8_t was[16];
};
/* Puts a breakpoint, or takes it out again. */
bool breakpoint_put(struct tracee *t, struct breakpoint *b, uint64_t at);
void breakpoint_take(struct tracee *t, struct breakpoint *b);
/* What names a state beside the clock, and nothing else: PC, stack pointer, and the round of an instruction that repeats itself.
 * There may be a breakpoint. */
uint64_t state_name(const struct tracee *t, const struct breakpoint *b);
/* Has it stopped the program? The PC is then there. */
bool breakpoint_hit(struct tracee *t, const struct breakpoint *b, enum stop stop);

/* ---- signals.c: recording nothing but signals ---- */

/* From the program's first instruction to its end. False: it could not be recorded, and has run on; reported. */
bool signals_record(struct log *log, struct tracee *t, const char *file);
/* False: reported. */
bool signals_replay(const char *log, int *status);

/* ---- task.c: the threads and processes of a run ---- */

/* An instruction that has been made to trap, and its first bytes. */
struct replaced {
	uint64_t at;
	uint8_t was[2];
};

/* Memory, which tasks may share. Only one of them runs at a time. */
struct space {
	unsigned users;          /* processes */
	bool counts, timed;      /* recording: its code has been seen to count, and to ask for timers */
	struct clock *clock;
	struct buffer *buffer;   /* NULL: none yet */
	VEC(struct replaced) replaced;
	struct breakpoint back;  /* recording: where control comes back to code that counts, while something waits for that */
	uint64_t seen;           /* replaying: its clock when it was last looked at, for the threads' own */
	struct task *midway;     /* recording: it has stopped where the log cannot say so: none of the others may run */
};

/* A process. */
struct group {
	uint64_t number;         /* from 1, in the order in which they began */
	pid_t pid;               /* of its first thread */
	unsigned living;         /* threads */
	struct space *space;
	bool first;              /* of all: the program itself */
	/* replaying */
	uint64_t programs;       /* that it has run in the place of the one before */
	uint64_t program_at;     /* the event at which the last of them began */
};

/* What a call is to begin. */
struct birth {
	uint64_t flags, stack, tls; /* stack: 0: that of the parent */
	uint64_t parent_tid, child_tid, pidfd; /* where that is written, by the flags */
};

enum task_state {
	TASK_READY,              /* it stands, and may go on */
	TASK_STOPPED,            /* it stands at a stop that has not been looked at */
	TASK_WAITS,              /* it is in the kernel, in a call that has not come back */
	TASK_ENDED,
};

/* A signal that waits, and whether it has been sent again since. */
struct held {
	siginfo_t info;
	bool sent;
};

/* A call that was interrupted has one of these results, before the program sees another one or it is made again. */
enum { INTERRUPTED_FIRST = -512, INTERRUPTED_LAST = -516 };
static inline bool
is_interrupted(int64_t result)
{
	return result <= INTERRUPTED_FIRST && result >= INTERRUPTED_LAST;
}

/* A system call, as it was made. */
struct made_call {
	uint64_t number, arg[6];
	uint64_t entry;          /* the registers' check sum at its beginning */
	uint64_t clock;          /* then */
	int64_t result;          /* replaying */
	struct system_call call;
};

struct task {
	uint64_t number;         /* from 1, in the order in which they began */
	pid_t tid;
	struct tracee t;
	struct group *group;
	enum task_state state;
	struct pool *pool;       /* of the event, or of the call */
	bool in_call;            /* between the two stops of one */
	bool entered;            /* the log has its beginning */
	struct made_call made;   /* that one */
	/* recording */
	bool rests;              /* the log can say where it stands: others may run */
	int sig;                 /* to be delivered when it goes on */
	bool interrupted;        /* it has been told to stop, and has not yet */
	struct system_call interrupted_call; /* what restart_syscall() goes on with */
	struct birth birth;
	struct tracee_start exec; /* what a call is to run */
	uint64_t clear, robust;  /* where the kernel writes when it ends: a word, a list of locks; 0: nowhere */
	uint64_t known;          /* the registers' check sum at the last state that the log names */
	bool waits;              /* some of these wait: */
	unsigned held_at;        /* ticks at which the first of them came */
	bool free;               /* it can run without a stop at each call; */
	bool runs_free;          /* it does, since it went on last */
	bool seen;               /* its next call is to be seen, for it has been stopped at that */
	bool masked;             /* it blocks SIGSYS */
	unsigned plain;          /* so many calls more have a stop */
	unsigned waste, fresh;   /* how long that was last; calls without a stop since the last one with it */
	VEC(struct held) held;   /* signals that wait for such a state */
	/* replaying */
	bool again;              /* the call was interrupted, and is made again */
	uint64_t left;           /* the event at which its last turn ended; 0: it has had none */
	char name[16];           /* that it has given itself */
};

struct tasks {
	VEC(struct task *) at;   /* those that have not ended, and first threads of processes that have not */
	uint64_t last, groups;   /* the last number, and that of a process */
};

/* The first of all. */
struct task *tasks_begin(struct tasks *all, const struct tracee *t);
/* What the parent's call has begun. */
struct task *tasks_born(struct tasks *all, struct task *parent, const struct birth *b, const struct tracee *t);
struct task *tasks_numbered(const struct tasks *all, uint64_t number);
struct task *tasks_of(const struct tasks *all, pid_t tid);
/* It has ended, by itself. */
void task_end(struct tasks *all, struct task *task);
/* All of its process has ended. */
void group_end(struct tasks *all, struct group *g);
/* The other threads of its process have ended, for it begins another program; it takes the first one's place. */
void group_leave_to(struct tasks *all, struct task *task);
/* It runs another program, in memory of its own. */
void task_renew(struct task *task);
/* Ends the tracees of a process that live, and waits for them. */
void group_kill(struct tasks *all, struct group *g);
void tasks_close(struct tasks *all);
/* A copy of each process as it stands, with its threads, which share what they shared. False: it cannot be made here. */
bool tasks_copy(const struct tasks *from, struct tasks *to);
/* Reads what a call is to begin. Not NULL: why that cannot be recorded. */
const char *birth_read(const struct tracee *t, uint64_t number, const uint64_t arg[6], struct birth *b);

/* ---- nondeterministic.c: instructions whose result the program does not determine ---- */

/* Makes the one there trap. False: there is none that would not by itself, or it cannot be written. */
bool nondet_replace(struct task *task, uint64_t at);
/* All of them are as they were. */
void nondet_restore(struct task *task);
enum { NONDET_BYTES = 16 };
/* The bytes of the instruction that comes next and of what follows, as the program has them; how many, 0: it is none of these. */
size_t nondet_here(struct task *task, uint8_t bytes[NONDET_BYTES]);
/* n bytes have been read there: they are made what the program has. */
void nondet_show(const struct task *task, uint64_t at, char *bytes, size_t n);

struct recorder;
/* Recording: the task has mapped a file, by a call with these arguments; it begins a program: they trap from here on. */
void nondet_mapped(struct recorder *r, const uint64_t arg[6], uint64_t result);
void nondet_begun(struct recorder *r);

/* ---- site.c: places that make system calls ---- */

/* Padding, to the first of which the site can hop, from each to the next, and in the last is room for a jump. */
enum { SITE_HOPS = 4, PADDING_MOST = 64 };
struct site_way {
	size_t n;
	struct piece pad[SITE_HOPS];
};

/* False: there is none, or what is around the site is not understood. */
bool site_find(const struct tracee *t, uint64_t site, struct site_way *way);

/* ---- buffer.c: calls without a stop ---- */

struct buffer;
struct buffer *buffer_copy(const struct buffer *b);
void buffer_free(struct buffer *b);

/* Such calls are made in a replay, too. */
bool arranges_memory(uint64_t number);
/* Has it written to a file? */
bool is_output(uint64_t number);

struct recorder;
/* At the end of a call that was seen: its place may be led elsewhere from now on. */
void buffer_learn(struct recorder *r, int64_t result);
/* The signals that the task blocks may be others now. */
void buffer_masks(struct recorder *r);
/* It begins another one that shares files or memory with it. */
void buffer_born(struct recorder *r, uint64_t flags);
/* Writing to files may be of more consequence now. */
void buffer_forget_outputs(struct recorder *r);
/* A signal that nobody handles may end it: what it has done is in what has been written down. */
void buffer_complete(struct recorder *r);
/* The same at its end, whatever the cause. */
void buffer_end(struct recorder *r);
/* By which request of ptrace the task goes on. seen: it is to stop at its next call. */
int buffer_request(struct task *task, bool seen);
/* At a signal: has it been about to make a call? It then stands before that, and makes it when it goes on. */
bool buffer_stopped(struct recorder *r);
/* Does that come next? */
bool buffer_awaits_stop(struct recorder *r);
/* Puts the calls that have been written down into the log. */
void buffer_flush(struct recorder *r);
/* The same of a room that is full, while the task may go on already: before anything else is put there. */
void buffer_drain(struct recorder *r);
/* Has none been made since that? */
bool buffer_is_empty(const struct recorder *r);
/* It runs on alone: each call is the kernel's. */
void buffer_release(struct recorder *r);

/* Replay. False: that cannot be. hidden: the program's code stays as it is. */
bool buffer_make(struct task *task, uint64_t base, bool hidden);
bool buffer_lead(struct task *task, uint64_t site, const struct site_way *way);
/* The registers' check sum, as the recording has it. */
uint64_t buffer_sum(const struct task *task);
/* At a call: where it is, as the recording has it. */
uint64_t buffer_place(const struct task *task);
/* Have all calls that it was given been made? */
bool buffer_is_given(const struct task *task);
/* Can it be given some? */
bool buffer_takes(const struct task *task);
bool buffer_give(struct task *task, const char *calls, size_t n);

/* ---- schedule.c: which task runs ---- */

/* What the kernel has said of a task whose parent has yet to say that it has begun it. */
struct early {
	pid_t tid;
	int status;
};

struct schedule {
	struct tasks *all;
	struct task *now;        /* the one that runs, or did last; NULL: it has ended */
	uint64_t last;           /* its number */
	unsigned began;          /* ticks at which its turn did */
	bool ticking;
	bool due;                /* others have waited for longer than the turn: */
	unsigned due_at, same;   /* ticks since when; how often it has since stood just as at first, */
	uint64_t seen;           /* with these registers (check sum) */
	uint64_t looked;         /* those of the one that runs when its turn was over first, and it was told to stop */
	bool chaos;              /* turns are of any length, and it is by chance who is next: by the seed */
	uint64_t seed, picks;
	bool told;               /* that all wait for each other */
	unsigned turn;           /* then: ticks, */
	unsigned stops, most;    /* or stops of the program: how many there were, and may be; 0: as many as there are */
	VEC(struct early) early; /* of tasks that are not known yet */
};

/* From here on this process begins no others. */
void schedule_begin(void);
/* What waitpid() has said of a task while another one was waited for. */
void schedule_heard(void *schedule, pid_t tid, int status);
/* A task that has just been begun: waits for its first stop. False: it has ended already. */
bool schedule_join(struct schedule *s, struct tracee *t, pid_t tid, const struct machine_traced *machine);
/* Lets others run, if they can and it is their turn. NULL: none is left. */
struct task *schedule_next(struct schedule *s);
/* Lets the task that has its turn go on, unless it has been heard of already; */
void schedule_resume(struct schedule *s);
/* to its next stop. STOP_NONE: it waits in the kernel, and others can run. */
enum stop schedule_await(struct schedule *s);
/* Is its turn over, and another one can run? */
bool schedule_over(struct schedule *s);
/* The same where it makes no call, and has been told to stop. */
bool schedule_spent(struct schedule *s);
enum stuck {
	STUCK_NOT,
	STUCK_IN_LOOP,           /* it comes back to the same state: it waits for another one */
	STUCK_FOR_LONG,
};

/* It was told to stop. Does its turn not end because it is in code where the log cannot name a state? */
enum stuck schedule_stuck(struct schedule *s);
/* Its turn is over. */
void schedule_yield(struct schedule *s);
/* Takes over the next stop of one that waits in the kernel. False: none does. */
bool schedule_hear(struct schedule *s);
/* A signal that the task holds can wait for so long only: then it is told to stop. */
void schedule_hurry(struct schedule *s);
bool schedule_impatient(const struct schedule *s);

/* ---- mapped.c: files that the program maps ---- */

/* Where what is in a mapping comes from. */
enum map_kind {
	MAP_KIND_NONE,           /* no file */
	MAP_KIND_PROGRAM,        /* a program or library, which has to be there again */
	MAP_KIND_BYTES,          /* the log has it */
};

struct mapped_file {
	uint64_t dev, ino;
	int fd;                  /* recording: the file itself; -1: it is mapped no more, and has another number the next time;
	                          * replay: what takes its place; -1: a part of the store does */
	uint64_t size;           /* as the log has it */
	uint64_t end;            /* replay, in the store: so far it has been mapped */
	bool shows;              /* recording: where it is mapped /proc/PID/maps says so */
	/* Replay: mapped so that the program may write to it and others see that, by the process of this number (0: by none); and
	 * where its beginning is mapped so, or 0. */
	uint64_t sharer, head;
	int watch;               /* recording: of mapped.changes; -1: none */
};

/* What a call does to a mapped file. */
enum map_change { CHANGE_NONE, CHANGE_BYTES, CHANGE_SIZE };

typedef VEC(size_t) numbers_of_files;

struct mapped {
	struct pool *pool;
	VEC(struct mapped_file) file; /* the number of a file is its place here */
	struct timespec start;   /* recording: its beginning, as files have it */
	unsigned looks;          /* recording: so often their sizes have been asked for */
	int changes;             /* recording: a descriptor by which the kernel says that one has changed, and 1 more */
	bool unwatched, anew;    /* it would not say so of one of them; of one it may have changed before that was asked for */
	size_t open, bound;      /* recording: so many of them have descriptors; it looks again for those that need none when
	                          * there are more than that */
	/* Replay: shared mappings are made private ones, so that copies of the program do not share them. What would show that is
	 * refused. */
	bool apart, shares;      /* shares: there has been one of no file that the program may write */
	uint64_t process;        /* replay: the number of the one that maps something */
	int store;               /* replay: the descriptor of what files lie in, and 1 more; 0: there is none yet */
	bool alone;              /* each has one of its own */
	numbers_of_files lonely; /* so have these; */
	bool again;              /* the last of them has not, and would have needed it: the replay has to begin again */
};

/* Puts what a new mapping shows into the log. Not NULL: why that cannot be. */
const char *mapped_record(struct mapped *m, struct log *l, const struct tracee *t, const uint64_t arg[6]);
/* May what is written to it be seen in a mapping? */
bool mapped_shows(struct mapped *m, const struct stat *st);
/* Forgets files that no task maps any more, if there are many. */
void mapped_forget(struct mapped *m, const struct tasks *all);
/* Puts what a call has changed in files that are mapped into the log. Not NULL: why that is not known. */
const char *mapped_changed(struct mapped *m, struct log *l, const struct tracee *t, const struct system_call *c,
                           const uint64_t arg[6], int64_t result);
/* Puts what mremap() shows of a file that was not seen before into the log. Not NULL: why that is not known. */
const char *mapped_grown(struct mapped *m, struct log *l, const struct tracee *t, const uint64_t arg[6], uint64_t result);
/* Where a descriptor's next byte is. */
uint64_t position_of(struct pool *pool, const struct tracee *t, uint64_t fd);
/* The descriptor into which a call that passes bytes on does so. */
uint64_t passed_to(const struct system_call *c, const uint64_t arg[6]);
/* Puts the n bytes that it has passed on into the log. False: they are not there to be read. */
bool passed_bytes(struct log *l, const struct tracee *t, const struct system_call *c, const uint64_t arg[6], uint64_t n);
/* Makes the mapping as it was recorded. False: reported, or m->again. */
bool mapped_replay(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result);
/* grown: by mremap(), which has been done. False: reported, or m->again, as for mapped_replay(). */
bool mapped_change(struct mapped *m, struct log *l, struct tracee *t, bool grown);
/* In a replay: would a process that this one begins share mappings with it that they may write? Each measured process makes a
 * profile of its own before it counts: that of its parent is none of them. */
bool mapped_shares(const struct mapped *m, const struct task *task);
/* Size and check sum of a file. False: it is none, or cannot be read. */
bool mapped_sum(int fd, uint64_t *size, uint64_t *sum);
/* Opens it if it is the same file still. -1: reported. */
int mapped_open_same(const char *name, uint64_t size, uint64_t sum);
void mapped_close(struct mapped *m);
/* The same file, with the same time of its last change? */
bool stat_same(const struct stat *a, const struct stat *b);
/* Was that so long ago that another change now would give another time? */
bool stat_is_settled(const struct stat *st);

/* ---- store.c: what a replay maps in the place of files ---- */

/* All of them map what the call with these arguments has mapped, at `result`. False: reported. */
bool map_nothing(struct tracee *t, const uint64_t arg[6], uint64_t result);
bool map_file(struct tracee *t, const uint64_t arg[6], uint64_t result, int fd, int how);
bool map_program(struct tracee *t, const uint64_t arg[6], uint64_t result, int fd);
/* The file has to be by itself. */
void store_lose(struct mapped *m, const struct mapped_file *f);
/* Can file number i, of that size, lie in the store if this is mapped of it? */
bool store_takes(struct mapped *m, size_t i, uint64_t size, const uint64_t arg[6]);
/* Of a file in the store or by itself. False: reported, or m->again. */
bool store_resize(struct mapped *m, struct mapped_file *f, uint64_t size);
bool store_fill(struct mapped *m, struct mapped_file *f, struct str bytes, uint64_t at);
bool store_map(struct mapped *m, struct mapped_file *f, struct tracee *t, const uint64_t arg[6], uint64_t result);

/* ---- record.c: a recording ---- */

struct recorder {
	struct log *log;
	struct tasks all;
	struct schedule turns;
	struct task *task;       /* that has its turn */
	struct tracee *t;        /* its own, and */
	struct clock *clock;     /* its memory's */
	struct made_call *made;  /* its call */
	uint64_t logged;         /* number of the task to which what is in the log last belongs */
	struct mapped mapped;
	int status;              /* with which the program itself has ended */
	bool refused;            /* it cannot be recorded: reported */
	bool buffers;            /* calls are made without a stop where that can be */
	char *written;           /* memory for what those have written down; NULL: there is none yet */
	struct piece full;       /* a room of its task that is to be taken over while it goes on; n: 0: none */
	uint64_t stopped, made_free, places; /* calls with a stop, without one; places that make those */
	char *file;              /* the program, for messages */
};

/* Begins an event of the task that has its turn. */
void record_event(struct recorder *r, enum log_event kind);
/* The same; calls that have been written down are not looked for. */
void record_plain_event(struct recorder *r, enum log_event kind);
void record_piece(struct recorder *r, const struct piece *p);
/* It cannot be recorded: said once, and all of it is let go then. */
void record_refuse(struct recorder *r, const char *what, const char *why);

/* ---- record_call.c: recording system calls ---- */

/* At the beginning and at the end of one. */
void record_begin_call(struct recorder *r);
void record_end_call(struct recorder *r);
/* It has not come back, and others are to run. */
void record_enter(struct recorder *r);
/* It has begun another task, or another program. */
void record_birth(struct recorder *r);
void record_exec(struct recorder *r);
/* The task has ended, and its process, if no other is left in it. */
void record_end(struct recorder *r);

/* ---- start.c: the program's beginning ---- */

/* Puts it into the log, behind the kind of its event. Not NULL: why that cannot be. */
const char *start_record(struct log *l, struct pool *pool, struct tracee *t, const struct tracee_start *s);
bool start_replay(struct log *l, struct pool *pool, struct tracee *t);
/* What is in the log behind the processor, up to the files. */
void start_read(struct log *l, struct pool *pool, struct tracee_start *s);
/* What execve() is to run. s->file: NULL: it cannot be read, and the call will fail. */
void exec_read(struct pool *pool, const struct tracee *t, const uint64_t arg[6], struct tracee_start *s);
/* The kernel gives a traced program none of the rights that its file has: it would be another run. cwd: NULL: this one. */
bool has_its_rights(const char *file, const char *cwd);

/* ---- tally.c: what a log says of its run ---- */

/* By which seed the turns were drawn, if they were. */
void log_put_seed(struct log *l, const uint64_t *seed);
bool log_get_seed(struct log *l, uint64_t *seed);

/* How far each thread has come in a replay. In all of these NULL: nobody asks. */
struct tally;
struct tally *tally_new(void);
void tally_free(struct tally *t);
void tally_clear(struct tally *t);
/* The task has run, and its memory's clock is there; NULL: it has ended. */
void tally_count(struct tally *t, const struct task *task, uint64_t sum);
/* It makes a call. */
void tally_call(struct tally *t, const struct task *task, uint64_t sum);
void tally_signal(struct tally *t, const struct task *task);
void tally_print(const struct tally *t, const char *log);

/* ---- run.c: a replay, event by event ---- */

/* An event that takes so much care. */
struct careful {
	uint64_t event;
	unsigned care;
};

struct replayer {
	struct log *log;
	struct tasks all;
	struct task *task;       /* to which the event belongs; NULL: it has ended */
	struct tracee *t;        /* its own, and */
	struct clock *clock;     /* its memory's */
	struct pool *whole, *pool; /* of the replay; of the event */
	struct mapped mapped;
	uint64_t event;          /* its number, from 0 */
	bool failed;             /* reported */
	bool halted;             /* the program stands still before the event is there */
	bool resumed;            /* it has done so on its way to the event */
	bool ended;
	int status;              /* then; as waitpid() has it */
	VEC(struct careful) careful; /* states to which it has gone too far */
	numbers_of_files lonely; /* mapped files that have to be by themselves */
	bool again;              /* one of those has just been found to be such: it begins again */
	bool apart;              /* copies of the program are to be made */
	struct buf given;        /* calls without a stop, on their way to the program */
	bool steady;             /* who looks on may halt it anywhere */
	bool severed;            /* copies can be made no further: it has ended before what cannot be copied; reported */
	uint64_t view;           /* the process that somebody looks at, with whose end the replay is over; 0: none */
	void (*output)(void *of, int stream, const char *at, size_t n); /* not NULL: gets what the program writes */
	void *of;                /* for that */
	struct tally *tally;     /* not NULL: how far each thread has come */
	size_t written[3], passed[3]; /* by stream: bytes in all, and those that it had before this attempt got there */
};

enum replay_way {
	REPLAY_WENT,             /* an event has come about */
	REPLAY_HALTED,           /* tracee_go_own() has halted before the next event; calling again goes on from there */
	REPLAY_OVER,             /* it has ended, failed, or has to begin again */
};

/* To the program's first instruction. False: reported. Whatever it is, replayer_end() has to be called. */
bool replayer_begin(struct replayer *r, const char *log);
enum replay_way replayer_next(struct replayer *r);
void replayer_end(struct replayer *r);
/* What is kept from one attempt to the next. */
void replayer_forget(struct replayer *r);
/* What follows in the log belongs to that task; NULL: to none. */
void replayer_become(struct replayer *r, struct task *task);

/* ---- replay_call.c: to the next stop, and one system call ---- */

/* Has the replay fail, and says how: what was recorded, what is. */
void replayer_diverged(struct replayer *r, const char *was, const char *is);
/* Does somebody want the program to stand still before the event is there? Then it is begun again later. */
bool replayer_halts(struct replayer *r, enum stop stop);
/* A call that was interrupted is made again: by its own number, or as restart_syscall(). */
void replayer_make_again(struct replayer *r);
/* Before it goes on: the kernel makes a call again that was interrupted, and after which no handler has begun. */
void replayer_go_back(struct replayer *r);
/* To the next stop. */
enum stop replayer_go_on(struct replayer *r);
/* Writes what stands in the log next to the program's memory. */
void replayer_put_memory(struct replayer *r);
/* Texts of the event: a call; what a stop is, and the state. */
const char *call_text(struct pool *pool, uint64_t number, const uint64_t arg[6]);
const char *stop_text(struct replayer *r, enum stop stop);
/* A call as the log has it, without its result. */
void get_made(struct replayer *r, struct made_call *m);
/* Is the stop at that call, in that state? False: reported. */
bool same_call(struct replayer *r, const struct made_call *c, enum stop stop);
bool succeeded(int64_t result);
/* What an output call writes has to be what it wrote. */
void replay_output(struct replayer *r, const struct made_call *c);
/* Makes a call that arranges memory. */
void make_call(struct replayer *r, const struct made_call *c, const uint64_t arg[6]);
/* To the call of the next event. False: it is another one, or has not come yet. */
bool run_to_call(struct replayer *r);
/* Events: a call; one before whose result others go on; that result. */
void replay_call(struct replayer *r);
void replay_enter(struct replayer *r);
void replay_leave(struct replayer *r);

/* ---- checkpoint.c: going back ---- */

/* A copy of the program as it stands, and where in the log that is. */
struct checkpoint;
/* NULL: it cannot be copied here: at its end, for one. */
struct checkpoint *checkpoint_take(struct replayer *r);
/* Has the replay go on from there. False: that cannot be done. */
bool checkpoint_back(struct replayer *r, const struct checkpoint *c);
uint64_t checkpoint_event(const struct checkpoint *c);
/* Each who has it frees it. */
struct checkpoint *checkpoint_share(struct checkpoint *c);
void checkpoint_free(struct checkpoint *c);

#endif
