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

/* ---- signals: recording nothing but those ---- */

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
	unsigned loops;          /* that is in a loop which changes nothing: so many steps are once around */
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

/* ---- buffer: calls without a stop ---- */

/* Padding, to the first of which the site can hop, from each to the next, and in the last is room for a jump. */
enum { SITE_HOPS = 4, PADDING_MOST = 64 };
struct site_way {
	size_t n;
	struct piece pad[SITE_HOPS];
};

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
	unsigned look;           /* after so many ticks more that it kept others waiting it is looked whether it loops */
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
/* Can another one run? */
bool schedule_others(const struct schedule *s);
/* Is it time to look whether it is in a loop that changes nothing? By so many steps; 0: it is not. */
unsigned schedule_looks(struct schedule *s);
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

struct mapped_program { dev_t dev; ino_t ino; };

struct mapped {
	struct pool *pool;
	VEC(struct mapped_file) file; /* the number of a file is its place here */
	VEC(struct mapped_program) program; /* recording: those that have to be there again */
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
/* The same of a call with that result that may have cut off a file by opening it. */
void mapped_cut_off(struct mapped *m, struct log *l, int64_t result);
/* Has a call that returned this descriptor cut off a program that has to be there again? What is then said. */
bool mapped_program_cut_off(const struct mapped *m, const struct tracee *t, int64_t result);
extern const char mapped_program_changed[];
/* Is the file of that descriptor mapped, or was it? */
bool mapped_has(struct mapped *m, const struct tracee *t, uint64_t fd);
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
/* From here on all of them run where they might without Chord. */
void record_unbind(struct recorder *r);
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
