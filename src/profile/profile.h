/* SPDX-License-Identifier: MIT */
/* profile: maps and profiles read, checked, summed and solved. It is given
 * bytes and knows neither ELF nor a machine.
 *
 * Everything that comes from outside is checked field by field. Whatever is
 * wrong is reported as a text; nothing is guessed. */
#ifndef CHORD_PROFILE_H
#define CHORD_PROFILE_H

#include "base/base.h"
#include "cfg/cfg.h"
#include "format/format.h"

/* ---- map.c: what the weaver said about the procedures of a module ---- */

/* An event that is counted in the module: one counter for all procedures, a sum of numbers that each stand for so many
 * events. Other events may count in the same numbers. */
struct event_counter {
	const char *name;
	uint64_t addr;           /* link-time address of the first one */
	uint32_t numbers;
	uint32_t stride, span;   /* 1 or more; stride * span divides numbers */
	int32_t low;
};

/* How many events number i stands for. */
static inline int64_t
event_of_number(const struct event_counter *c, uint64_t i)
{
	return c->low + (int64_t)(i / c->stride % c->span);
}
/* The counter, from its numbers; as far as there are so many. */
uint64_t event_count(const struct event_counter *c, const uint64_t *number, uint64_t n);
/* Of procedures of one module. */
bool event_counter_same(const struct event_counter *a, const struct event_counter *b);

/* What one event has to do with one block (Ball 1994). */
struct event_block {
	int64_t query;           /* QueryInc before its first instruction */
	uint64_t enter;          /* added by entering it */
	const unsigned char *runs; /* what its instructions add, see event_added() */
	uint32_t nrun;
};

/* The counters of all events are changed before that instruction. */
struct event_site {
	uint32_t block, insn;
	int64_t *add;            /* by event */
};

/* How paths are counted (measure CHORD_PATHS); graph.h says what they are. */
struct proc_paths {
	uint32_t kind;           /* enum chord_path_kind */
	uint64_t table;          /* the number of the procedure's counter with which its table begins */
	uint64_t size;           /* counters in it; HASHED: log2 of entries */
	bool *cut;               /* by arc */
	bool *soft;              /* BITS, by arc: a word of outcomes goes on there (graph.h) */
	uint32_t nval;
	int64_t *val;            /* by arc, then by vertex behind a cut arc, in ascending order */
	/* By vertex. held: at calls there the path register + query is the sum of the path so far; else query is. */
	bool *held;
	int64_t *query, *start;
	uint32_t ninterest;
	uint64_t *interest;      /* SELECTED: sums of the paths of interest, ascending */
};

/* Does a trace have to be followed to tell which paths it is of? */
static inline bool
paths_are_followed(const struct proc_paths *p)
{
	return p->kind == CHORD_PATH_WITNESS || p->kind == CHORD_PATH_BITS;
}

struct map {
	struct proc *proc;       /* by address of their first part */
	uint32_t nproc, nrefused;
	uint64_t sum[CHORD_SUMS]; /* link-time addresses of the counters whose values exit records have, in their order */
	uint32_t nsum;
};

/* Reads all records of a section; the bytes are not copied and have to stay. Procedures that the linker
 * dropped are left out, those it kept once for several records are listed once. False: *why. */
bool map_parse(struct pool *pool, struct str bytes, struct map *map, const char **why);

/* events.c: finds sum[] as the runtime does, from the bytes of CHORD_SECTION_SUM and its link-time address. */
void map_sums(struct map *map, struct str bytes, uint64_t addr);

/* What the first i instructions of a block add to event e, as they were assembled. */
int64_t event_added(const struct proc *p, uint32_t block, uint32_t i, uint32_t e);
/* events.c: QueryInc of instruction i of a block, not yet executed: what to add to the counter of event e
 * to have all events up to there. Counters are changed before the instruction that is named as their place. */
int64_t event_query(const struct proc *p, uint32_t block, uint32_t i, uint32_t e);

/* path_graph.c: the paths of a procedure. */
struct path_graph {
	struct pool *pool;
	const struct proc *proc;
	const struct dag *dag;   /* of graph.h, over the arcs; edges that follow them never run */
	int64_t *val;            /* by edge of the DAG */
	bool *any;               /* by vertex: is there a way on to EXIT? */
	int64_t *low, *high;     /* the least and the largest sum of such ways */
	uint64_t *num;           /* their number; UINT64_MAX: at least */
	uint64_t npath;          /* possible paths, likewise */
	uint32_t nbegin;         /* places where paths begin, ENTRY excepted */
};
/* From vertex `begin` along n arcs, the last one cut or into EXIT, or, unfinished, to the vertex `end`. */
struct path {
	uint32_t begin, end, n;
	uint32_t *edge;
	struct path_step *step;  /* room for finding it */
};
struct path_graph *path_graph_new(struct pool *pool, const struct proc *p, const char **why);
/* Of kind BITS: its words. NULL: they are longer than there is room for. */
const struct outcomes *path_outcomes(const struct path_graph *pg);
struct path path_new(struct pool *pool, const struct path_graph *pg);
/* The path with a sum. False: there is none. */
bool path_find(const struct path_graph *pg, uint64_t sum, struct path *path);
/* The path that has come to vertex v with a sum, without what would follow. False: there is none, or not one only. */
bool path_prefix(const struct path_graph *pg, uint32_t v, int64_t sum, struct path *path);

/* parts.c: the woven code of all procedures by address. */
struct part_at {
	uint64_t addr, size;
	struct proc *proc;
};
struct parts {
	struct part_at *at;
	size_t n;
};
struct parts map_parts(struct pool *pool, const struct map *map);
/* The part that contains the address, or NULL. */
const struct part_at *parts_find(const struct parts *parts, uint64_t addr);

/* ---- file.c: what a process left behind ---- */

/* A hash table of paths. */
struct path_table {
	uint64_t addr;           /* link-time address */
	uint32_t bits;           /* log2 of its entries */
};

struct module {
	unsigned char id[32];
	uint32_t nid;            /* bytes of build id; 0: it has none */
	const char *path;
	uint64_t base;           /* link-time address of the first counter */
	uint64_t ncount;
	uint64_t *count;         /* the sum of all regions; 0 in hash tables */
	struct path_table *table; /* by address */
	uint32_t ntable;
	bool filled;             /* count[] has what was written to traces in place of counters, of all processes in it */
	bool followed;           /* and witnesses have been followed: what they count are the ways between them */
};

struct exits {
	uint32_t module;
	bool reentry;
	bool handler;            /* no exit: a function that was set as a handler of a signal that instructions raise */
	uint64_t addr;           /* return address, or where a signal interrupted plus 1 */
	uint64_t count;
	uint64_t sum[CHORD_SUMS]; /* of events, as in struct chord_exit */
};

/* How often a call through a pointer called something. */
struct callees {
	uint32_t module;
	uint32_t to_module;      /* UINT32_MAX: in no measured module */
	uint64_t site;           /* link-time address of the number behind the call's sums */
	uint64_t to;             /* link-time address of what was called */
	uint64_t count;
};

/* A path of a hash table. */
struct hashed {
	uint32_t module;
	uint64_t table;          /* link-time address; 0: of any, and sum is UINT64_MAX */
	uint64_t sum;            /* UINT64_MAX: it is not known which paths these were */
	uint64_t count;          /* of these PATHS_UNKNOWN: nor how many */
};
#define PATHS_UNKNOWN UINT64_MAX

/* How far activations had come in their path at a call where they ended, or were taken up again. */
struct unfinished {
	uint32_t module;
	bool reentry;
	uint64_t addr;           /* return address */
	uint64_t path;           /* the path register; if it can be a counter's address, that at link time: */
	uint64_t bias;           /* so much less than the register */
	uint64_t count;
};

/* An extent of a type that this version does not know. */
struct unknown {
	uint32_t type;           /* tag and rule */
	uint32_t module;         /* UINT32_MAX: of none */
	uint64_t a, b, c;
	unsigned char *at;       /* what stands behind its head */
	size_t n;
};

/* What was active in threads that waited in the kernel as another one ended the process (CHORD_EXTENT_WAITING), if the profile
 * says that none has gone on since. */
struct waits {
	bool any;
	bool traced;             /* it also takes a trace that says so: whose sum is that */
	uint64_t by, sum;        /* by: region of the thread that ended the process, plus 1; 0: it had none */
	VEC(struct chord_waiting) at;
};

/* What the relation of two sums is. */
enum profile_overlap { PROFILE_PER_THREAD, PROFILE_INSIDE, PROFILE_OVERLAPS };

struct profile {
	struct pool *pool;
	uint64_t nsummed;        /* processes in it */
	uint64_t nrunning, nthreads; /* of these: in state RUNNING, THREADS */
	uint32_t flags;
	uint32_t nregion;        /* in the file, or in the largest of those in the sum */
	uint64_t pid, state, threads, lost, in_flight;
	uint64_t orphans, orphan_error; /* as in the head */
	VEC(struct chord_origin) origin; /* profiles in it; one without an identity has one from its bytes */
	/* Of one process: so many threads may have been anywhere when it was written, with activations that are not among the
	 * exits. */
	uint64_t standing;
	uint64_t stack;          /* bytes that the stack of each may have; 0: not known */
	/* Of a sum: the profiles in it of which that is so, each apart, and the sum of the others (NULL if there are none of the
	 * former). */
	VEC(struct profile *) flight;
	struct profile *rest;
	VEC(struct module) module;
	VEC(uint32_t) number;    /* by number of a module in the file: its place in module */
	VEC(struct exits) exit;
	struct waits waits;
	VEC(struct callees) callee; /* sorted by module, site, to_module, to; no two alike */
	VEC(struct hashed) hashed; /* sorted by module, table, sum; no two alike */
	VEC(struct unfinished) unfinished;
	VEC(const char *) text;
	VEC(struct unknown) unknown;
	VEC(uint32_t) unsummed;  /* tags of such extents that could not be summed, and are not in it */
};

/* path_file.c: adds counters of a region, ncount numbers of 8 bytes, to the module's, which has room for them; those in hash
 * tables are paths, which name the module by its number. False: a sum does not fit 64 bits. */
bool profile_add_counters(struct profile *p, struct module *m, uint32_t number, const unsigned char *at);

/* measure.c, for what finds counters and stacks elsewhere than in files: what the map says of a module's counters, where the
 * profile does not. */
void profile_take_map(struct profile *p, struct module *m, const struct map *map);
/* Of counters that were added, where what is recorded beside them is not at hand: notes of which that may have been needed. */
void profile_doubt(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at);
/* What the slot (format.h) of an activation held that ended at a call, which comes back to addr. bias: the module's addresses in
 * memory less those at link time. */
void profile_add_slot(struct profile *p, uint32_t module, uint64_t addr, uint64_t bias, uint64_t word);

/* Adds to a counter; false if that does not fit. The counter of an event may be a little below 0 while its
 * process is on its way, the sum of a call that is under way as much as there were events. */
static inline bool
count_add(uint64_t *sum, uint64_t v)
{
	const uint64_t below_zero = UINT64_MAX << 56;
	bool negative = *sum >= below_zero || v >= below_zero;

	return checked_add(sum, v) || negative;
}

/* Is nothing, all or a part of p in the sum already? */
enum profile_overlap profile_overlap(const struct profile *sum, const struct profile *p);
/* The origin in the sum that is the whole of what p is a snapshot of, or a snapshot of what p is the whole of; or NULL. */
const struct chord_origin *profile_snapshot_of(const struct profile *sum, const struct profile *p);

/* p->waits holds: all that has ended with the process. */
void profile_end_waiting(struct profile *p);

/* unknown.c: names what this version of Chord does not know in a profile (pool). NULL: it knows all. */
const char *profile_unknown(struct pool *pool, const struct profile *p);

struct profile *profile_new(void);
void profile_free(struct profile *p); /* NULL is fine */
/* Reads a profile; modules loaded twice become one. The profile of a live process is fine. NULL: *why (in pool). */
struct profile *profile_parse(struct pool *pool, struct str bytes, const char **why);
/* The same of one region only: of one thread, if the profile has CHORD_PROFILE_PER_THREAD. */
struct profile *profile_parse_region(struct pool *pool, struct str bytes, uint32_t region, const char **why);
/* The module with that build id, or NULL. */
struct module *profile_module(const struct profile *p, struct str id);

/* merge.c: adds one profile to another; modules are the same where build ids are. False: *why (in pool); then
 * the sum is not to be used. */
bool profile_add(struct profile *sum, const struct profile *p, struct pool *pool, const char **why);
/* Writes a profile as one file: one region a module. */
void profile_write(const struct profile *p, struct buf *out);

/* ---- solve.c: how often everything ran ---- */

/* Activations that a signal interrupted and that ended there, or were taken up there again, before an instruction. */
struct cut {
	struct cut *next;
	uint32_t block, insn;
	uint64_t addr;           /* in the woven code */
	uint64_t left, back;
};

/* A path that ran. */
struct ran {
	uint64_t sum, count;
};

/* Activations that ended at a call, or were taken up again behind it, with so much of a path behind them. */
struct stopped {
	struct stopped *next;
	uint32_t call;
	bool reentry;
	uint64_t path, bias;     /* the path register, as in struct unfinished */
	uint64_t count;
	const struct cut *cut;   /* not NULL: it was there, and not at a call; the way to the block says all */
};

struct path_counts {
	struct ran *ran;         /* by sum; of SELECTED tables those of interest */
	size_t nran;
	struct stopped *stopped;
	uint64_t under_way;      /* activations of which it is not known where they went on their last path */
};

struct counts {
	const char *why;         /* not NULL: its counts are not known, for this reason */
	uint64_t *block;         /* by block: times entered */
	uint64_t *arc;           /* by arc, where arc_known */
	bool *arc_known;
	uint64_t *left, *back;   /* by call: activations that ended there, that were taken up behind it; NULL: none */
	struct cut *cut;
	uint64_t lost;           /* of how many the place is not known */
	uint64_t *passed;        /* by call and event (CHORD_SUMS): events counted when they did, less those when taken up */
	bool activations_known;
	uint64_t activations;
	uint64_t insns;          /* instructions executed */
	uint64_t blocks;         /* blocks entered */
	uint64_t call_insns;     /* call instructions executed */
	bool jumps_known;
	uint64_t jumps;          /* edges taken from one block to another */
	struct path_counts *paths; /* NULL: not counted */
	/* NULL: counts are exact. Else these are the least that they can be and those there the most, because it is not known where
	 * activations were that neither returned nor are among the exits. What has no bound is COUNT_NO_BOUND. */
	struct counts *most;
	uint64_t active;         /* of these at least so many there were */
	uint64_t **insn;         /* by block, by instruction: executions; NULL: they follow from the block's */
};
#define COUNT_NO_BOUND UINT64_MAX

/* counts.why of a procedure of which only events are counted, by design. */
extern const char SOLVE_EVENTS_ONLY[];
/* measure.c: likewise of procedures of which a measure counts only a part. */
struct counts_partly {
	const char *why;         /* counts.why */
	const char *one, *more;  /* what a reader is told, behind the number of such procedures */
};
/* NULL: it counts all. */
const struct counts_partly *measure_partly(uint32_t m);
/* Are the counts not known by design? Else a reader has to be told why they are not. */
bool counts_by_design(const struct counts *c);

struct woven_add {
	uint64_t end;            /* where the instruction ends */
	uint32_t number;         /* of the counter */
	int64_t n;               /* what is added to it */
};

/* What can be asked of woven code, by link-time addresses; lo begins an instruction. */
struct woven_code {
	void *ctx;
	/* The first instruction in [lo, hi) that writes one of so many counters from an address on, and where it ends (may be
	 * NULL); 0: none does. */
	uint64_t (*counts)(void *ctx, uint64_t lo, uint64_t hi, uint64_t counter, uint32_t n, uint64_t *end);
	/* Likewise, of an addition. False: none is there. */
	bool (*adds)(void *ctx, uint64_t lo, uint64_t hi, uint64_t counter, uint32_t n, struct woven_add *add);
	/* The lowest address in [lo, hi] from which control runs straight to hi. */
	uint64_t (*straight)(void *ctx, uint64_t lo, uint64_t hi);
	/* If code at an address runs to where a stub leaves [lo, hi) for the runtime: where it goes on; else 0. */
	uint64_t (*goes_on)(void *ctx, uint64_t at, uint64_t lo, uint64_t hi);
	/* Does the call by which a stub asks whether a timer is due return there? */
	bool (*due)(void *ctx, uint64_t back);
};

/* One result for each procedure of the map. Of a sum those in flight are solved each by itself. module: its counters in p;
 * NULL: all counts are 0. Activations
 * that ended early in code without a map do not matter. woven: NULL if the code is not at hand; then procedures in
 * which activations ended between calls are not known. */
struct counts *profile_solve(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	const struct woven_code *woven);

/* events.c: the events of a module. */
struct event_total {
	const char *name;
	uint64_t n, most;        /* it is between these */
	uint64_t without;        /* run_events(): measured procedures that do not count it */
};
struct event_totals {
	struct event_total *at;  /* in the order of the map */
	uint32_t n;
	const char *why;         /* not NULL: they are not known, for this reason */
};
/* The total of a name, added if it is new: t->at has room. */
struct event_total *event_total_of(struct event_totals *t, const char *name);
/* counts: what profile_solve() gave. */
struct event_totals profile_events(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	const struct counts *counts, const struct woven_code *woven);

/* Events between a call and its return, over all that were made there: what all that runs meanwhile
 * adds, so activations of a recursion add for each that is active. False: they are not known. Needs calls whose
 * sum is not 0 and counts that are known. */
bool call_sum(const struct map *map, const struct proc *p, const struct counts *c, const struct module *m, uint32_t call,
              uint32_t event, uint64_t *n);

/* path_solve.c: how much of its path a stopped activation has run; false: that is not known. Needs a cut, or a call behind
 * which the path goes on: see path_goes_on(). */
bool path_stopped(const struct path_graph *pg, const struct stopped *s, struct path *path);
/* The sum of its path so far. */
int64_t path_stopped_sum(const struct path_graph *pg, const struct stopped *s);
/* Does a path that comes to the call go on behind it? Else it is over before the call. */
static inline bool
path_goes_on(const struct proc *p, uint32_t call)
{
	return !(p->call[call].flags & (CHORD_CALL_NORETURN | CHORD_CALL_TWICE));
}
/* How many instructions of the path's last block it has run. */
static inline uint32_t
stopped_insns(const struct proc *p, const struct stopped *s)
{
	return s->cut ? s->cut->insn : p->call[s->call].insn + 1;
}
/* Instructions that a path executes; of one that is unfinished up to where it stopped (NULL: it is complete). */
uint64_t path_insns(const struct proc *p, const struct path *path, const struct stopped *s);

/* The callees of a call that has CHORD_CALL_POINTER; NULL if there are none. */
const struct callees *call_callees(const struct profile *p, const struct module *m, const struct proc *proc, uint32_t call,
	size_t *n);

/* walk.c: the instructions of a block, in order:
 * for (walk_start(&w, proc, counts, b); walk_next(&w);) use w.insn, w.offset ... */
struct walk {
	const struct proc *proc;
	const struct counts *counts; /* NULL or not known: no counts */
	const struct block *block;
	uint32_t i;              /* number of the instruction */
	uint32_t call, seg;      /* cursors */
	uint64_t seg_delta;
	bool has_seg;
	uint64_t next_offset, next_count;
	/* of this instruction: */
	uint64_t offset;         /* in its part, before weaving */
	uint64_t addr;           /* in the woven program; 0: not known */
	uint64_t count;
	enum chord_insn kind;
};
void walk_start(struct walk *w, const struct proc *proc, const struct counts *counts, uint32_t block);
bool walk_next(struct walk *w);
const char *profile_insn_name(unsigned kind);
const char *profile_edge_name(unsigned kind);

#endif
