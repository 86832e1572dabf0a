/* SPDX-License-Identifier: MIT */
/* Shared by the files that record and replay. */
#ifndef CHORD_REPLAY_INTERNAL_H
#define CHORD_REPLAY_INTERNAL_H

#include "clock/clock.h"
#include "log/log.h"
#include "replay/replay.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

/* ---- signals: recording only signals ---- */

/* Records from the program's first instruction to its end. False: it could not be recorded, and ran on; reported. */
bool signals_record(struct log *log, struct tracee *t, const char *file);
/* False: reported. */
bool signals_replay(const char *log, int *status);

/* ---- task.c: the threads and processes of a run ---- */

/* An instruction that has been made to trap, with its first bytes. */
struct replaced {
	uint64_t at;
	uint8_t was[2];
};

/* An address space, which tasks may share. Only one of them runs at a time. */
struct space {
	unsigned users;          /* number of processes */
	bool counts, timed;      /* recording: code in it has been seen to count, and to ask for timers */
	struct clock *clock;
	struct buffer *buffer;   /* NULL: none yet */
	VEC(struct replaced) replaced;
	struct breakpoint back;  /* recording: a breakpoint at the return address in code that counts, while something waits for
	                          * that */
	uint64_t seen;           /* replaying: its clock when it was last read for the threads' own clocks */
	struct task *midway;     /* recording: a task that has stopped where the log cannot name the state: none of the others may
	                          * run */
};

/* What the program has the kernel do with a signal, as in the kernel's struct sigaction. */
struct kept_action {
	uint64_t handler, flags, restorer, mask;
};
enum { FORCED = 2 };         /* for SIGSEGV, and for SIGTRAP: see forced.c */

/* A process. */
struct group {
	uint64_t number;         /* from 1, in the order of their beginning */
	pid_t pid;               /* of its first thread */
	unsigned living;         /* number of threads */
	struct space *space;
	bool first;              /* it is the program itself, the first of all */
	struct kept_action action[FORCED]; /* recording */
	/* Replaying: */
	uint64_t programs;       /* number of programs that it has run in place of the previous one */
	uint64_t program_at;     /* the event at which the last of these began */
};

/* What a call is about to begin. */
struct birth {
	uint64_t flags, stack, tls; /* stack: 0: that of the parent */
	uint64_t parent_tid, child_tid, pidfd; /* addresses to which these are written, by the flags */
	bool forgets;            /* the new process has no handlers for signals */
};

enum task_state {
	TASK_READY,              /* it has stopped, and may go on */
	TASK_STOPPED,            /* it stands at a stop that has not been looked at */
	TASK_WAITS,              /* it is in the kernel, in a call that has not returned */
	TASK_ENDED,
};

/* A signal that waits. sent: it has been sent again since. */
struct held {
	siginfo_t info;
	bool sent;
};

/* The kernel's results of an interrupted call, before the call is made again or the program sees another result. */
enum { INTERRUPTED_FIRST = -512, INTERRUPTED_LAST = -516 };
static inline bool
is_interrupted(int64_t result)
{
	return result <= INTERRUPTED_FIRST && result >= INTERRUPTED_LAST;
}

/* A system call, as it was made. */
struct made_call {
	uint64_t number, arg[6];
	uint64_t entry;          /* check sum of the registers at its beginning */
	uint64_t clock;          /* the clock at its beginning */
	uint64_t detached;       /* recording: how many bytes shmdt() is about to take out of memory */
	uint64_t began;          /* recording: when it began, in ms, if it may be made again; see record_wait.c */
	int64_t result;          /* replaying */
	struct system_call call;
};

struct task {
	uint64_t number;         /* from 1, in the order of their beginning */
	pid_t tid;
	struct tracee t;
	struct group *group;
	enum task_state state;
	struct pool *pool;       /* of the event, or of the call */
	bool in_call;            /* between the two stops of a call */
	bool entered;            /* the log has the call's beginning */
	struct made_call made;   /* that call */
	/* Recording: */
	bool rests;              /* the log can name its state: others may run */
	unsigned loops;          /* that state is in a loop that changes nothing: steps of one round */
	int sig;                 /* to be delivered when it goes on; 0: none */
	bool interrupted;        /* it has been told to stop, and has not stopped yet */
	struct system_call interrupted_call; /* the call that restart_syscall() continues */
	struct birth birth;
	struct tracee_start exec; /* what a call is about to run */
	uint64_t clear, robust;  /* where the kernel writes when it ends: a word; a list of locks. 0: nowhere */
	uint64_t known;          /* check sum of the registers at the last state that the log names */
	bool handled;            /* there, a handler had begun or ended */
	bool late;               /* what the kernel kept back has been let come: it is not kept back again */
	bool waits;              /* signals wait in `held`, or in the kernel */
	unsigned held_at;        /* ticks at which the first of them came */
	uint64_t held_cpu;       /* tracee_cpu() then */
	bool blocks;             /* the kernel keeps signals back that the program has not blocked */
	uint64_t mask;           /* if so, what the program has blocked itself, by number - 1 */
	bool free;               /* it can run without a stop at each call */
	bool runs_free;          /* it does so since it went on last */
	bool seen;               /* its next call is to be seen, because it has been stopped at it */
	bool masked;             /* it blocks SIGSYS */
	uint64_t blocked;        /* all signals that it blocks, by number - 1 */
	struct kept_action action; /* that a call is about to set */
	unsigned plain;          /* the next `plain` calls have a stop */
	unsigned waste, fresh;   /* how many that were the last time; calls without a stop since the last one with a stop */
	VEC(struct held) held;   /* signals that wait for such a state */
	/* Replaying: */
	bool again;              /* the call was interrupted, and is made again */
	uint64_t left;           /* the event at which its last turn ended; 0: it has had none */
	char name[16];           /* the name that it has given itself */
};

struct tasks {
	VEC(struct task *) at;   /* tasks that have not ended, and first threads of processes that have not */
	uint64_t last, groups;   /* the last number given to a task, and to a process */
};

/* Adds the first task of all. */
struct task *tasks_begin(struct tasks *all, const struct tracee *t);
/* Adds the task that the parent's call has begun. */
struct task *tasks_born(struct tasks *all, struct task *parent, const struct birth *b, const struct tracee *t);
struct task *tasks_numbered(const struct tasks *all, uint64_t number); /* NULL: none */
struct task *tasks_of(const struct tasks *all, pid_t tid); /* NULL: none */
/* Notes that the task has ended by itself. */
void task_end(struct tasks *all, struct task *task);
/* Removes a process that has ended, with all its tasks. */
void group_end(struct tasks *all, struct group *g);
/* For a task that begins another program: removes the other threads of its process, which have ended; it takes the first one's
 * place. */
void group_leave_to(struct tasks *all, struct task *task);
/* Gives the task's process a new address space, for another program. */
void task_renew(struct task *task);
/* Kills the tracees of a process that live, and waits for their end. */
void group_kill(struct tasks *all, struct group *g);
void tasks_close(struct tasks *all); /* kills and removes all */
/* Copies every process as it stands, with its threads; they share what the originals share. False: not possible here. */
bool tasks_copy(const struct tasks *from, struct tasks *to);
/* Reads what a call is about to begin. NULL, or why that cannot be recorded. */
const char *birth_read(const struct tracee *t, uint64_t number, const uint64_t arg[6], struct birth *b);

/* ---- nondeterministic.c: instructions whose result the program does not determine ---- */

/* Makes the instruction at an address trap. False: it is no such instruction, or traps by itself, or it cannot be written. */
bool nondet_replace(struct task *task, uint64_t at);
/* Restores all of these instructions. */
void nondet_restore(struct task *task);
enum { NONDET_BYTES = 16 };
/* The bytes of the next instruction and of what follows, as the program has them. Returns their number; 0: it is no such
 * instruction. */
size_t nondet_here(struct task *task, uint8_t bytes[NONDET_BYTES]);
/* Changes n bytes that were read at an address to what the program has there. */
void nondet_show(const struct task *task, uint64_t at, char *bytes, size_t n);

struct recorder;
/* Recording: makes such instructions trap in a file that the task has mapped, by a call with these arguments; and in the memory of
 * a program that begins. */
void nondet_mapped(struct recorder *r, const uint64_t arg[6], uint64_t result);
void nondet_begun(struct recorder *r);

/* ---- forced.c: signals that stop the program for Chord, which the program does not see ---- */

/* A program has begun; a call begins, and ends; a handler of a signal has begun. */
void forced_begun(struct recorder *r);
void forced_begin_call(struct recorder *r);
void forced_end_call(struct recorder *r, int64_t result);
void forced_delivered(struct recorder *r, int sig);
/* The signals that the task blocks may have changed. */
void forced_note_mask(struct recorder *r);
/* SIGSEGV or SIGTRAP has stopped the task for Chord: sets again what the kernel has reset. all_blocked: the recorder blocked all
 * signals meanwhile. */
void forced_mend(struct recorder *r, int sig, bool all_blocked);

/* ---- held.c: signals that wait until the log can name the state, or until the program has got on ---- */

/* Was this signal, which has come now, sent to deliver one that had been held? Then it is delivered as the held one. */
bool held_comes(struct recorder *r, int sig);
/* Holds a signal until held_send(). Of those that are pending once at most the kernel keeps further ones back until then. */
void held_add(struct recorder *r, const siginfo_t *info);
bool held_some(const struct recorder *r);
/* Sends the held signals once more: the log can name the state. */
void held_send(struct recorder *r);
/* The task stands at a signal, which the kernel keeps back until held_unblock(). */
void held_block(struct recorder *r, int sig);
/* The task blocks what the program has blocked. */
void held_unblock(struct recorder *r);
void held_born(const struct recorder *r, const struct tracee *child); /* the same for what the task has begun */
bool held_pends(const struct recorder *r, int sig); /* is such a signal pending, too? */

/* ---- buffer: system calls without a stop ---- */

/* A way from a site to a long jump: padding to which the site can hop, from each piece to the next; the last one has room for the
 * jump. */
enum { SITE_HOPS = 4, PADDING_MOST = 64 };
struct site_way {
	size_t n;
	struct piece pad[SITE_HOPS];
};

struct buffer;
struct buffer *buffer_copy(const struct buffer *b); /* for a copy of the task */
void buffer_free(struct buffer *b);

/* Recording: has the task make a call of Chord's own, wherever it stands. Signals wait meanwhile. */
int64_t buffer_call_by(struct task *task, uint64_t number, const uint64_t arg[6]);
/* True for calls that a replay makes, too. */
bool arranges_memory(uint64_t number);
/* True for calls that write to a file. */
bool is_output(uint64_t number);

struct recorder;
/* At the end of a call that was seen: redirects its site to the buffer from now on, if that is possible. */
void buffer_learn(struct recorder *r, int64_t result);
/* The signals that the task blocks may have changed. */
void buffer_masks(struct recorder *r);
/* The task begins another one that shares files or memory with it. */
void buffer_born(struct recorder *r, uint64_t flags);
/* Writes to files may have more effects from now on. */
void buffer_forget_outputs(struct recorder *r);
/* A signal without a handler may end the task: makes sure that what it has done is written down. */
void buffer_complete(struct recorder *r);
/* The same at its end, whatever the cause. */
void buffer_end(struct recorder *r);
/* The request of ptrace by which the task goes on. seen: it has to stop at its next call. */
int buffer_request(struct task *task, bool seen);
/* At a signal: true if the task was about to make a call. It then stands before that, and makes it when it goes on. */
bool buffer_stopped(struct recorder *r);
/* Puts the calls that have been written down into the log. */
void buffer_flush(struct recorder *r);
/* The same for a full room, while the task may be running again. Call it before anything else is put into the log. */
void buffer_drain(struct recorder *r);
/* True if no call has been written down since. */
bool buffer_is_empty(const struct recorder *r);
/* From now on the task makes its calls by the kernel: it runs on unrecorded. */
void buffer_release(struct recorder *r);

/* Replay: makes the buffer at its recorded address; redirects a site. False: not possible. hidden: the program's code stays
 * unchanged. */
bool buffer_make(struct task *task, uint64_t base, bool hidden);
bool buffer_lead(struct task *task, uint64_t site, const struct site_way *way);
/* The check sum of the registers, as in the recording. */
uint64_t buffer_sum(const struct task *task);
/* At a call: its address, as in the recording. */
uint64_t buffer_place(const struct task *task);
/* True if all calls that the task was given have been made. */
bool buffer_is_given(const struct task *task);
/* True if it can be given some. */
bool buffer_takes(const struct task *task);
bool buffer_give(struct task *task, const char *calls, size_t n); /* n bytes of calls; false: not possible */

/* ---- schedule.c: which task runs ---- */

/* News of a task whose parent has not yet reported its beginning. */
struct early {
	pid_t tid;
	int status;
};

struct schedule {
	struct tasks *all;
	struct task *now;        /* the task that runs, or did last; NULL: it has ended */
	uint64_t last;           /* its number */
	unsigned began;          /* ticks at which its turn began */
	bool ticking;
	bool due;                /* others have waited for longer than a turn: */
	unsigned due_at, same;   /* ticks since when; how often the task has since stood as at first, */
	uint64_t seen;           /* with this check sum of its registers */
	uint64_t looked;         /* check sum of the running task's registers when its turn first was over, and it was told to
	                          * stop */
	unsigned look;           /* after this many more ticks in which it kept others waiting it is tested for a loop */
	bool chaos;              /* turns have any length, and chance decides who is next, by the seed */
	uint64_t seed, picks;
	bool told;               /* it was reported that all wait for each other */
	unsigned turn;           /* then a turn has this many ticks, */
	unsigned stops, most;    /* or this many stops of the program: how many so far, and at most; 0: any number */
	VEC(struct early) early; /* news of tasks that are not known yet */
};

/* Call it once: from here on this process begins no other processes. */
void schedule_begin(void);
/* Takes what waitpid() has said of a task while another one was waited for. */
void schedule_heard(void *schedule, pid_t tid, int status);
/* Waits for the first stop of a task that has just been begun. False: it has ended already. */
bool schedule_join(struct schedule *s, struct tracee *t, pid_t tid, const struct machine_traced *machine);
/* Lets other tasks run, if they can and it is their turn. NULL: no task is left. */
struct task *schedule_next(struct schedule *s);
/* Lets the task that has its turn go on, unless there is news of it already. */
void schedule_resume(struct schedule *s);
/* Waits for its next stop. STOP_NONE: it waits in the kernel, and others can run. */
enum stop schedule_await(struct schedule *s);
/* True if another task can run. */
bool schedule_others(const struct schedule *s);
/* The number of steps by which it is now to be tested whether the task is in a loop that changes nothing; 0: not now. */
unsigned schedule_looks(struct schedule *s);
/* True if its turn is over and another task can run. */
bool schedule_over(struct schedule *s);
/* The same for a task that makes no call and has been told to stop. */
bool schedule_spent(struct schedule *s);
enum stuck {
	STUCK_NOT,
	STUCK_IN_LOOP,           /* it comes back to the same state: it waits for another task */
	STUCK_FOR_LONG,
};

/* For a task that was told to stop: whether its turn does not end because it is in code where the log can name no state. */
enum stuck schedule_stuck(struct schedule *s);
/* Ends its turn. */
void schedule_yield(struct schedule *s);
/* Takes over the next stop of a task that waits in the kernel. False: none does. */
bool schedule_hear(struct schedule *s);
/* Starts the time that a signal held for the task can wait; schedule_impatient(): that time is over, and the task is told to
 * stop. */
void schedule_hurry(struct schedule *s);
bool schedule_impatient(const struct schedule *s);

/* ---- mapped.c: files that the program maps ---- */

/* Where the contents of a mapping come from. */
enum map_kind {
	MAP_KIND_NONE,           /* no file */
	MAP_KIND_PROGRAM,        /* a program or library, which has to exist at the replay */
	MAP_KIND_BYTES,          /* the log */
};

struct mapped_file {
	uint64_t dev, ino;       /* recording: of the file. Replay: ino is that of what takes its place */
	int fd;                  /* recording: the file itself; -1: it is no longer mapped, and gets another number the next time.
	                          * Replay: what takes its place; -1: a part of the store does */
	uint64_t size;           /* as in the log */
	uint64_t end;            /* replay, in the store: how far it has been mapped */
	bool shows;              /* recording: /proc/PID/maps shows where it is mapped */
	int watch;               /* recording: its watch of mapped.changes; -1: none */
	uint64_t segment;        /* recording: the number of the segment of System V that it stands for, plus 1; 0: it is a file */
};

/* What a call changes in a mapped file. */
enum map_change { CHANGE_NONE, CHANGE_BYTES, CHANGE_SIZE };

typedef VEC(size_t) numbers_of_files;

struct mapped_program { dev_t dev; ino_t ino; };

struct mapped {
	struct pool *pool;
	VEC(struct mapped_file) file; /* a file's number is its index here */
	VEC(struct mapped_program) program; /* recording: programs that have to exist at the replay */
	struct timespec start;   /* recording: its beginning, by the clock of files */
	unsigned looks;          /* recording: how often the sizes of files have been read */
	int changes;             /* recording: inotify descriptor for changes of files, plus 1 */
	bool unwatched, anew;    /* changes of one of them are not reported; one may have changed before it was watched */
	size_t open, bound;      /* recording: number of files with descriptors; more than `bound` make it look for files that need
	                          * none */
	bool apart;              /* replay: copies of the program will be made, each with files of its own */
	VEC(struct mapped_file) nameless; /* replay, if apart: what takes the place of shared memory without a file; fd -1: none */
	int store;               /* replay: descriptor of the store, in which files lie, plus 1; 0: none yet */
	bool alone;              /* every file has a descriptor of its own */
	numbers_of_files lonely; /* numbers of files that have one of their own */
	bool again;              /* the last of these had none, and would have needed it: the replay has to begin again */
};

/* Puts the contents of a new mapping into the log. NULL, or why that is not possible. */
const char *mapped_record(struct mapped *m, struct log *l, const struct tracee *t, const uint64_t arg[6]);
/* True if writes to the file may be seen in a mapping. */
bool mapped_shows(struct mapped *m, const struct stat *st);
/* If there are many files, forgets those that no task maps any more. */
void mapped_forget(struct mapped *m, const struct tasks *all);
/* Puts what a call has changed in mapped files into the log. NULL, or why that is not known. */
const char *mapped_changed(struct mapped *m, struct log *l, const struct tracee *t, const struct system_call *c,
                           const uint64_t arg[6], int64_t result);
/* The same for a call with that result that may have truncated a file by opening it. */
void mapped_cut_off(struct mapped *m, struct log *l, int64_t result);
/* True if a call that returned this descriptor has truncated a program that has to exist at the replay. mapped_program_changed: the
 * message. */
bool mapped_program_cut_off(const struct mapped *m, const struct tracee *t, int64_t result);
extern const char mapped_program_changed[];
/* True if the file of that descriptor is or was mapped. */
bool mapped_has(struct mapped *m, const struct tracee *t, uint64_t fd);
/* Puts into the log what mremap() shows of a file beyond what was seen before. NULL, or why that is not known. */
const char *mapped_grown(struct mapped *m, struct log *l, const struct tracee *t, const uint64_t arg[6], uint64_t result);
/* The position of a descriptor, in bytes; 0 if it is not known. */
uint64_t position_of(struct pool *pool, const struct tracee *t, uint64_t fd);
/* The descriptor to which a call of class CALL_PASS writes. */
uint64_t passed_to(const struct system_call *c, const uint64_t arg[6]);
/* Puts the n bytes that the call has passed on into the log. False: they cannot be read. */
bool passed_bytes(struct log *l, const struct tracee *t, const struct system_call *c, const uint64_t arg[6], uint64_t n);
/* Makes a mapping as it was recorded. False: reported, or m->again. */
bool mapped_replay(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result);
/* Makes the changes of mapped files that the log has. grown: by mremap(), which has been made. False as for mapped_replay(). */
bool mapped_change(struct mapped *m, struct log *l, struct tracee *t, bool grown);
/* Size and check sum of a file. False: it is no regular file, or cannot be read. */
bool mapped_sum(int fd, uint64_t *size, uint64_t *sum);
/* Opens a file if it still has this size and sum. Returns its descriptor; -1: reported. */
int mapped_open_same(const char *name, uint64_t size, uint64_t sum);
void mapped_close(struct mapped *m);
/* True if both are of the same file, unchanged by the time of its last change. */
bool stat_same(const struct stat *a, const struct stat *b);
/* True if the last change is so long ago that a further change would get another time. */
bool stat_is_settled(const struct stat *st);

/* ---- store.c: what a replay maps in place of files ---- */

/* These make the mapping of the recorded call with these arguments, at address `result`. False: reported. */
bool map_nothing(struct tracee *t, const uint64_t arg[6], uint64_t result);
bool map_file(struct tracee *t, const uint64_t arg[6], uint64_t result, int fd, int how);
bool map_program(struct tracee *t, const uint64_t arg[6], uint64_t result, int fd);
/* Notes that the file needs a descriptor of its own. */
void store_lose(struct mapped *m, const struct mapped_file *f);
/* True if file number i, of that size, can lie in the store when this part of it is mapped. */
bool store_takes(struct mapped *m, size_t i, uint64_t size, const uint64_t arg[6]);
/* For a file in the store or with its own descriptor. False: reported, or m->again. */
bool store_resize(struct mapped *m, struct mapped_file *f, uint64_t size);
bool store_fill(struct mapped *m, struct mapped_file *f, struct str bytes, uint64_t at);
/* Makes n bytes zero. */
bool store_clear(const struct mapped *m, const struct mapped_file *f, uint64_t at, uint64_t n);
bool store_map(struct mapped *m, struct mapped_file *f, struct tracee *t, const uint64_t arg[6], uint64_t result);

/* Opens a file of this process in the tracee, by a call that `make` makes there. The descriptor; negative: -errno. */
int64_t map_open(struct tracee *t, int fd, int how, int64_t (*make)(struct tracee *t, uint64_t number, const uint64_t arg[6]));

/* ---- shared.c: what copies of processes share ---- */

/* Makes a file without a name. False: errno says why. */
bool shared_make(struct mapped_file *f);
/* Gives copies of all tasks files of their own, in `to`, for all that they map shared; `from` has the files of the tasks that were
 * copied, and `to` descriptors of the same. False: some of it cannot be copied, or is no file of the replay. */
bool shared_part(struct tasks *copies, const struct mapped *from, struct mapped *to);

/* ---- segment.c: shared memory of System V ---- */

/* Puts what a segment has into the log, after shmat() with these arguments and that result. NULL, or why that is not possible. */
const char *segment_attached(struct mapped *m, struct log *l, const struct tasks *all, const struct tracee *t,
                             const uint64_t arg[6], uint64_t at);
/* The number of bytes from an address that shmdt() would take out of memory; 0: no segment begins there. */
uint64_t segment_length(const struct tracee *t, uint64_t at);
/* Replay what these put into the log: segment_attached(), and (shmdt) that length. False: reported, or m->again. */
bool segment_attach(struct mapped *m, struct log *l, struct tracee *t, uint64_t at);
bool segment_detach(struct log *l, struct tracee *t, uint64_t at);

/* ---- record.c: a recording ---- */

/* A lock as the kernel will leave it. */
struct marked_lock {
	uint64_t addr;
	uint32_t is;
};

struct recorder {
	struct log *log;
	struct tasks all;
	struct schedule turns;
	struct task *task;       /* the task that has its turn, */
	struct tracee *t;        /* its tracee, */
	struct clock *clock;     /* its address space's clock, */
	struct made_call *made;  /* and its call */
	uint64_t logged;         /* number of the task to which the last part of the log belongs */
	struct mapped mapped;
	int status;              /* with which the program itself has ended */
	bool refused;            /* it cannot be recorded: reported */
	bool buffers;            /* calls are made without a stop where possible */
	bool no_aio;             /* io_uring and aio fail as if the kernel had neither */
	char *written;           /* memory for written-down calls; NULL: none yet */
	VEC(struct marked_lock) locks; /* of a process that is about to end */
	struct piece full;       /* a full room of its task, to be read while it goes on; n: 0: none */
	uint64_t stopped, made_free, places; /* calls with a stop; calls without; sites that make the latter */
	char *file;              /* name of the program, for messages */
};

/* Begins an event of the task that has its turn; first flushes the calls that have been written down. */
void record_event(struct recorder *r, enum log_event kind);
/* The same without that. */
void record_plain_event(struct recorder *r, enum log_event kind);
void record_piece(struct recorder *r, const struct piece *p); /* address and bytes */
/* The program cannot be recorded: reports it once. Everything is then let go. */
void record_refuse(struct recorder *r, const char *what, const char *why);
/* The same at a call, or behind execve(), which is then the last that is recorded of its process: if others need not know what the
 * process does further, it alone is let go, and that is reported. */
void record_refuse_here(struct recorder *r, const char *what, const char *why);

/* ---- record_call.c: recording system calls ---- */

/* At the beginning of a call. */
void record_begin_call(struct recorder *r);
/* From here on all tasks run where they might without Chord. */
void record_unbind(struct recorder *r);
void record_end_call(struct recorder *r); /* at the end of a call */
/* Logs how the call was made. */
void record_made(struct recorder *r);
/* The call has not returned, and other tasks are about to run. */
void record_enter(struct recorder *r);
/* The process of the task that has its turn may be about to end: notes how the kernel will leave the locks that it holds. */
void record_note_locks(struct recorder *r);
/* record_wait.c: a call begins. It has ended with that result: true if it has been made again, and has not ended yet, or if the
 * task has ended. */
void record_note_wait(struct recorder *r);
bool record_wait_again(struct recorder *r, int64_t result);
/* The call has begun another task; another program. */
void record_birth(struct recorder *r);
void record_exec(struct recorder *r);
/* The task has ended, and its process too, if no other task is left in it. */
void record_end(struct recorder *r);

/* ---- start.c: the program's beginning ---- */

/* Why the program that has just begun cannot be recorded. NULL: start_record() may know more. */
const char *start_cannot(const struct tracee *t, struct pool *pool, const struct tracee_start *s);
/* Puts it into the log, after the kind of its event. NULL, or why that is not possible. */
const char *start_record(struct log *l, struct pool *pool, struct tracee *t, const struct tracee_start *s);
bool start_replay(struct log *l, struct pool *pool, struct tracee *t); /* from the log; false: reported */
/* Reads the part of the log after the processor, up to the files. */
void start_read(struct log *l, struct pool *pool, struct tracee_start *s);
/* What execve() is about to run. s->file NULL: it cannot be read, and the call will fail. */
void exec_read(struct pool *pool, const struct tracee *t, const uint64_t arg[6], struct tracee_start *s);
/* True if tracing takes no rights from the program. The kernel gives a traced program none of the rights of its file (set-user-id,
 * set-group-id, capabilities), which would make another run. cwd: the folder for a relative name; NULL: this process's. */
bool has_its_rights(const char *file, const char *cwd);

/* ---- tally.c: what a log says of its run ---- */

/* The seed of the turns, if they were drawn by one; or NULL. */
void log_put_seed(struct log *l, const uint64_t *seed);
bool log_get_seed(struct log *l, uint64_t *seed);

/* How far each thread has come in a replay. A tally may be NULL: then nothing is done. */
struct tally;
struct tally *tally_new(void);
void tally_free(struct tally *t);
void tally_clear(struct tally *t);
/* The task has run; NULL: it has ended. sum: the present value of its address space's clock. */
void tally_count(struct tally *t, const struct task *task, uint64_t sum);
/* It makes a call. */
void tally_call(struct tally *t, const struct task *task, uint64_t sum);
void tally_signal(struct tally *t, const struct task *task);
void tally_print(const struct tally *t, const char *log);

/* ---- run.c: a replay, event by event ---- */

/* An event that needs this much care. */
struct careful {
	uint64_t event;
	unsigned care;
};

struct replayer {
	struct log *log;
	struct tasks all;
	struct task *task;       /* the task of the event; NULL: it has ended */
	struct tracee *t;        /* its tracee, */
	struct clock *clock;     /* and its address space's clock */
	struct pool *whole, *pool; /* of the whole replay; of the event */
	struct mapped mapped;
	uint64_t event;          /* number of the event, from 0 */
	bool failed;             /* reported */
	bool halted;             /* the program stands still before the event has come */
	bool resumed;            /* it has stood still on its way to the event */
	bool ended;
	int status;              /* if it has ended; as from waitpid() */
	VEC(struct careful) careful; /* states that it has passed before */
	numbers_of_files lonely; /* numbers of mapped files that need descriptors of their own */
	bool again;              /* such a file has just been found: the replay begins again */
	bool apart;              /* copies of the program will be made */
	struct buf given;        /* calls without a stop, on their way to the program */
	bool steady;             /* the debugger may halt it anywhere */
	VEC(uint64_t) gone;      /* numbers of processes that went on alone: reported */
	uint64_t view;           /* number of the process that the debugger looks at, whose end ends the replay; 0: none */
	void (*output)(void *of, int stream, const char *at, size_t n); /* not NULL: gets the program's output */
	void *of;                /* for `output` */
	struct tally *tally;     /* not NULL: how far each thread has come */
	size_t written[3], passed[3]; /* by stream: bytes that were output in all attempts; bytes that this attempt has come to */
};

enum replay_way {
	REPLAY_WENT,             /* the event has come */
	REPLAY_HALTED,           /* tracee_go_own() has halted before the next event; call it again to go on from there */
	REPLAY_OVER,             /* it has ended, failed, or has to begin again */
};

/* Goes to the program's first instruction. False: reported. Call replayer_end() in either case. */
bool replayer_begin(struct replayer *r, const char *log);
enum replay_way replayer_next(struct replayer *r); /* to the next event */
void replayer_end(struct replayer *r);
/* Frees what is kept from one attempt to the next. */
void replayer_forget(struct replayer *r);
/* The following part of the log belongs to that task; NULL: to none. */
void replayer_become(struct replayer *r, struct task *task);

/* ---- replay_call.c: to the next stop; one system call ---- */

/* Makes the replay fail, and reports what was recorded and what happened. */
void replayer_diverged(struct replayer *r, const char *was, const char *is);
/* True if the debugger wants the program to stand still before the event has come. The event is begun again later. */
bool replayer_halts(struct replayer *r, enum stop stop);
/* Makes an interrupted call again: by its own number, or as restart_syscall(). */
void replayer_make_again(struct replayer *r);
/* Before the task goes on: does that if the kernel would, which is so if no handler has begun since the interruption. */
void replayer_go_back(struct replayer *r);
/* Goes on to the next stop. */
enum stop replayer_go_on(struct replayer *r);
/* Writes the memory that comes next in the log to the program's memory. */
void replayer_put_memory(struct replayer *r);
/* Texts for messages (the event's pool): a call; a stop with the state. */
const char *call_text(struct pool *pool, uint64_t number, const uint64_t arg[6]);
const char *stop_text(struct replayer *r, enum stop stop);
/* Reads a call from the log, without its result. */
void get_made(struct replayer *r, struct made_call *m);
/* True if the stop is at that call and in that state. False: reported. */
bool same_call(struct replayer *r, const struct made_call *c, enum stop stop);
bool succeeded(int64_t result);
/* Checks that an output call writes what it wrote when it was recorded, and outputs that. */
void replay_output(struct replayer *r, const struct made_call *c);
/* Makes a call that arranges memory, and checks its result. */
void make_call(struct replayer *r, const struct made_call *c, const uint64_t arg[6]);
/* Runs to the call of the next event. False: another call comes, or it has not come yet. */
bool run_to_call(struct replayer *r);
/* Replay events: a call; a call before whose result other tasks go on; that result. */
void replay_call(struct replayer *r);
void replay_enter(struct replayer *r);
void replay_leave(struct replayer *r);

/* ---- checkpoint.c: going back ---- */

/* A copy of the program as it stands, and the place in the log. */
struct checkpoint;
/* Makes one. NULL: the program cannot be copied here, at its end for example. */
struct checkpoint *checkpoint_take(struct replayer *r);
/* Makes the replay continue from a checkpoint. False: not possible. */
bool checkpoint_back(struct replayer *r, const struct checkpoint *c);
uint64_t checkpoint_event(const struct checkpoint *c);
/* Adds an owner. Each owner has to call checkpoint_free(). */
struct checkpoint *checkpoint_share(struct checkpoint *c);
void checkpoint_free(struct checkpoint *c);

#endif
