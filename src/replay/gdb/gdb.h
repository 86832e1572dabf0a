/* SPDX-License-Identifier: MIT */
/* Shared by the files that let gdb look at a replay. docs/replay.md says how going back works. */
#ifndef CHORD_REPLAY_GDB_H
#define CHORD_REPLAY_GDB_H

#include "replay/internal.h"

/* ---- packet.c: gdb's remote serial protocol ---- */

struct connection {
	int in, out;
	bool ack;                /* each packet is confirmed */
	bool interrupted;        /* gdb has asked to stop */
	struct buf got;          /* bytes that wait */
	size_t at;
};

/* Waits for a packet: its bytes in *to. False: gdb is no more there. */
bool packet_get(struct connection *c, struct buf *to);
void packet_put(struct connection *c, const void *at, size_t n);
void packet_text(struct connection *c, const char *text);
/* Has gdb asked to stop since it was asked last? Does not wait. */
bool packet_interrupt(struct connection *c);
void put_hex(struct buf *b, const void *at, size_t n);
/* Reads a number in hexadecimal digits, and goes behind it. */
uint64_t get_hex(const char **at);
/* Connects: "-" standard input and output; a path with a slash: a socket there; a port of this machine; NULL: a free one,
 * which is said. False: reported. */
bool connection_open(struct connection *c, const char *where);
void connection_close(struct connection *c);

/* ---- agent.c: conditions of breakpoints ---- */

/* Code of gdb's agent; one of them has to hold. */
struct expression {
	const uint8_t *code;
	size_t n;
	const struct expression *next;
};

/* `XLENGTH,CODE` as often as there are some, in the pool. NULL: none, or it is damaged. */
const struct expression *expression_read(struct pool *pool, const char *p);
/* At the state at which the thread stands. What cannot be found out holds, as does NULL. */
bool expression_holds(const struct expression *expression, const struct tracee *t);

/* ---- compare.c ---- */

/* Memory and a number. */
struct comparison {
	uint64_t at, n;
	unsigned operator;
	bool sign;               /* both have one */
	uint64_t value;
};

/* `OPERATOR VALUE`, in the pool; n: 1, 2, 4 or 8. NULL: it is none. */
const struct comparison *comparison_read(struct pool *pool, uint64_t at, uint64_t n, const char *p);
/* False, too, if there is no such memory. */
bool comparison_holds(const struct comparison *c, const struct tracee *t);

/* ---- go.c: the program goes on, and stops where somebody wants it to ---- */

/* What stops the program. */
struct condition {
	bool watch;              /* memory is written (or read); else the PC is there */
	bool reads;
	bool only_reads;         /* not where the memory changes: the processor does not tell reads from writes */
	uint64_t at, n;
	unsigned slots;          /* of the processor, as bits; none: it is looked at with each step */
	bool accessed;           /* it is read, too: the instruction that is stepped reads or writes it */
	uint64_t old;            /* check sum of what the memory has; or whether `becomes` holds */
	bool fired;              /* at this state */
	uint64_t hits;           /* since the last event */
	int kind;                /* gdb's number */
	const struct expression *expression; /* the PC is there, and this holds */
	const struct comparison *becomes; /* the memory is written, and this holds as it has not before */
};

enum moved {
	MOVED_ON,                /* an event of the log has come about */
	MOVED_STEP,              /* one instruction or event */
	MOVED_HIT,               /* a condition has fired */
	MOVED_SLICE,             /* the time is over */
	MOVED_END,               /* the last event has come about */
	MOVED_LOST,              /* the replay has failed; reported. Or a search has been interrupted */
	MOVED_ASKED,             /* something has come from gdb; go_move() never says so */
};

/* ---- path.c: how to get from one state to a later one ---- */

enum hop_kind {
	HOP_STEP,                /* `count` instructions */
	HOP_BREAK,               /* until the PC is at `at`, `count` times */
	HOP_WATCH,               /* until the memory there is written (or read), `count` times */
	HOP_EVENT,               /* until so many events of the log have come about */
	HOP_CLOCK,               /* until the clock is at `count`; in no path */
};

struct hop {
	enum hop_kind kind;
	bool reads, only_reads;
	uint64_t at, n, count;
	const struct expression *expression; /* of a breakpoint: only where it holds */
	const struct comparison *becomes; /* of what is watched: only where that begins to hold */
};
typedef VEC(struct hop) path;

void path_add(path *p, struct hop h);
/* a, then b. */
void path_join(path *a, const path *b);
void path_copy(path *to, const path *from);
void path_free(path *p);

/* ---- nodes.c: where the replay can go back to ---- */

struct node {
	struct checkpoint *c;
	path link;               /* from the node before it: to here; or, if it is inside, to a state behind it */
	bool inside;             /* its own state has no name: it lies on the way to the end of a hop */
	path before;             /* inside: the first part of link, up to the hop that it is inside of */
	path rest;               /* inside: from here to the same end */
	uint64_t way;            /* those inside of the same hop have the same number */
	uint64_t when;           /* how much was run before it, as time */
};

enum { STOPS = 16 };

/* What a slot of the processor watches. */
struct watched {
	uint64_t at, n;
	bool reads;
};

/* A page that cannot be written, or read, while the program runs (guard.c). */
struct guarded {
	uint64_t page, size;
	int prot;                /* what it is otherwise */
};

/* What steps have told about the pages that would be guarded. */
struct guard_sample {
	uint64_t steps, accesses;
	uint64_t wanted;         /* steps before it is decided */
	uint64_t trust;          /* how often they may still be guarded before that is decided anew */
};

/* Where somebody wants to be. */
enum seek { SOUGHT_NOT, SOUGHT_BEGIN, SOUGHT_END, SOUGHT_EVENT, SOUGHT_CLOCK, SOUGHT_CHANGE, SOUGHT_TRUE };

struct debugger {
	struct replayer r;
	struct connection c;
	bool console;            /* the program's output goes to gdb */
	VEC(struct condition) user; /* what gdb has set */
	VEC(struct condition) condition; /* what stops the program now: the user's first, if at all; a hop's */
	size_t users;            /* so many of them are the user's */
	bool stepping;
	enum moved why;          /* it has halted */
	struct breakpoint *put;
	size_t nput;
	unsigned slots, stops;   /* of the processor: those that watch memory, and, behind them, those that are breakpoints */
	uint64_t stop[STOPS];    /* where */
	struct watched watched[STOPS]; /* by each thread that goes on, */
	uint64_t armed;          /* the number of the last change of that */
	VEC(struct guarded) guard; /* guard.c's: what could be guarded at that event; so many of these are guarded */
	uint64_t guard_event;
	bool guards_found;
	size_t nguarded;
	struct guard_sample sample;
	uint64_t loader, loaded; /* where that begins; for the program of that number */
	VEC(struct node) node;   /* the first is the beginning; in the order of time */
	path path;               /* from the last of them to where the program stands */
	size_t pending;          /* so many of the last are inside of a hop that has not ended yet */
	bool held;               /* the user has stopped the program there: only an event ends that hop */
	uint64_t way, spent;     /* numbers of ways; time run so far */
	uint64_t arrived;        /* the way at whose end it stands; 0: it does not */
	uint64_t price;          /* time that the last node took */
	struct condition fired;  /* what has stopped it on its way back */
	uint64_t before;         /* the event at which it stood before the one that has come about last */
	uint64_t alone;          /* it has that one go on, and no other: only of that one gdb can be told */
	uint64_t general, control; /* the threads of which gdb wants to see something, and that it has go on; 0: any */
	uint64_t program;        /* the number of the program that gdb knows */
	struct pool *pool;       /* for as long as gdb looks */
	enum seek seek;          /* when it moves next; */
	uint64_t sought;         /* the number; of a change the address, */
	uint64_t bytes, was;     /* and of how much memory, and a check sum of what it had */
	const struct comparison *becomes; /* or: this begins to hold, */
	bool backwards;          /* as it did last */
	struct buf unsaid;       /* what the program has written while gdb did not wait for it to stop */
	bool moving;             /* it does */
	bool ended;              /* gdb has been told of the end */
	bool gone;               /* gdb has left */
	bool refused;            /* it has been told that nothing can be changed */
	struct undo *undo;       /* it searches: go_move() ends it (MOVED_LOST) if it is interrupted; NULL: it does not */
	bool interrupted;        /* since it moves */
};

/* ---- view.c: the process that gdb sees ---- */

/* Is it the turn of one of its threads? */
bool view_now(const struct debugger *d);
/* That one, or else another of them; NULL: there is none. */
struct task *view_any(const struct debugger *d);
/* The thread of that number; 0: any. NULL: there is none. */
struct task *view_thread(const struct debugger *d, uint64_t number);
uint64_t view_pc(const struct debugger *d);
/* The sum of its counters. */
uint64_t view_clock(const struct debugger *d);
/* How many programs it has run in the place of the first. */
uint64_t view_programs(const struct debugger *d);
/* To where the process of that number begins. False: reported. */
bool view_begin(struct debugger *d, uint64_t number);
/* The threads, as XML. */
void view_list(const struct debugger *d, struct buf *to);

/* ---- guard.c: memory that the processor's registers do not watch ---- */

/* The program has other conditions. */
void guard_reset(struct debugger *d);
/* The program goes on after an event or a halt. */
void guard_begin(struct debugger *d);
/* Looks at the next instruction, which is about to be stepped. */
void guard_step(struct debugger *d);
/* Guards the memory of all conditions that no register of the processor watches, so that the program need not be stepped. False:
 * that is not worth while, or not possible. */
bool guard_put(struct debugger *d);
/* Makes everything accessible again. Needs a stop; nothing is guarded afterwards. */
void guard_take(struct debugger *d);
/* True if the stop is an access to a guarded page. */
bool guard_hit(struct debugger *d, enum stop stop);

/* To the next event, or one step, of a thread that is seen. */
enum moved go_move(struct debugger *d, bool step);
/* What stops the program from now on: the user's conditions, if so, and that of a hop, if there is one. */
void go_conditions(struct debugger *d, bool user, const struct hop *h);
/* The same with another hop; hits are kept. */
void go_hop(struct debugger *d, const struct hop *h);
/* Stops (MOVED_SLICE) after so long; 0: never. */
void go_slice(uint64_t ns);
/* From now on, until false, it is looked now and then whether gdb, or SIGINT, interrupts. */
void go_listen(struct debugger *d, bool on);
/* SIGINT ends Chord no more. */
void go_keep_interrupts(void);
/* Has it been interrupted since? */
bool go_interrupted(struct debugger *d);
void go_hook(struct debugger *d);
/* A check sum of the n bytes of memory there; those that cannot be read count as 0. */
uint64_t go_memory(const struct debugger *d, uint64_t at, uint64_t n);
/* The condition that has fired, of the user's; NULL: none. */
struct condition *go_fired(struct debugger *d, bool watch);
struct hop hop_of(const struct condition *c, uint64_t count);

/* Makes the place where the program stands a node. False: it cannot be copied here. */
bool node_here(struct debugger *d);
/* One more instruction, event, or part of a hop; the end of a hop for the nodes inside of it. */
void node_hop(struct debugger *d, struct hop h);
/* The same inside of a hop. */
bool node_inside(struct debugger *d);
/* Without the last one. */
void node_pop(struct debugger *d);
void node_free(struct node *n);
/* The program is put where the last node is; then along the path. False: reported. */
bool node_last(struct debugger *d);
bool node_reach(struct debugger *d);

/* ---- back.c ---- */

/* How often the user's conditions fire on a way. */
struct scan {
	uint64_t total, stop_at; /* stop_at: stops at that one; 0: at none */
	struct condition *at;    /* what fired there; NULL: the PC was there at the beginning */
	bool stopped;
};

/* Goes along a path from here; s: counts, NULL does not. False: the replay is lost. */
bool follow(struct debugger *d, const path *p, struct scan *s);
/* How many steps from here, or from a place further on where the program is led, to the end of the hop, where the PC is `end`.
 * False: the replay is lost, or at its end. */
bool leap(struct debugger *d, const struct hop *h, uint64_t end, uint64_t *n);

/* How going on or back has ended. */
enum came {
	CAME_STEP, CAME_HIT, CAME_BEGIN, CAME_END, CAME_LOST, CAME_INTERRUPTED, CAME_SOUGHT,
};

/* One move, with what becomes of the path; a node now and then. */
enum moved forward_move(struct debugger *d, bool step);
void forward_node(struct debugger *d, bool inside);
/* If nodes lie inside of a hop whose end is not known, because the user has stopped the program: that is the next event then.
 * False: the replay is lost. */
bool settle(struct debugger *d);
/* One instruction, or event. */
enum came forward_step(struct debugger *d);
/* until: a thread, whose turn ends it (CAME_STEP); 0: none. So does another program. */
enum came forward(struct debugger *d, uint64_t until);
/* One instruction of a thread, whatever others do meanwhile; 0: of that which has its turn. */
enum came back_step(struct debugger *d, uint64_t thread);
enum came back(struct debugger *d);

/* ---- undo.c ---- */

/* A search begins. */
void undo_begin(struct debugger *d);
void undo_end(struct debugger *d);
/* Ends it, too: all is as it was when it began. False: the replay is lost. */
bool undo_back(struct debugger *d);

/* ---- seek.c ---- */

/* Goes where d->seek says. */
enum came seek(struct debugger *d);

/* ---- serve.c ---- */

/* Tells gdb how going on or back has ended. */
void tell(struct debugger *d, enum came came);

/* A thread's registers in gdb's order, those of vectors only if asked for; how many bytes. */
size_t registers_of(const struct tracee *t, bool vectors, uint8_t to[DESCRIBED_MOST]);
/* Where the bytes of one are in those of all; *size 0: there is none of that number. */
size_t register_at(const struct machine_traced *machine, uint64_t number, size_t *size);

/* ---- query.c ---- */

/* Where the program's loader begins; 0: it has none. */
uint64_t loader_of(const struct tracee *t);
void query(struct debugger *d, const char *packet, size_t n);

#endif
