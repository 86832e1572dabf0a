/* SPDX-License-Identifier: MIT */
/* profile: maps and profiles: read, checked, summed and solved. It gets bytes, and knows neither ELF nor a machine.
 *
 * Everything that comes from outside is checked field by field. Errors are reported as texts; nothing is guessed. */
#ifndef CHORD_PROFILE_H
#define CHORD_PROFILE_H

#include "base/base.h"
#include "cfg/cfg.h"
#include "format/format.h"

/* ---- map.c: what the weaver says about the procedures of a module ---- */

/* An event that is counted in the module. All procedures share its counter, a weighted sum of numbers (format.h); events may share
 * numbers. */
struct event_counter {
	const char *name;
	uint64_t addr;           /* link-time address of the first number */
	uint32_t numbers;
	uint32_t stride, span;   /* at least 1; stride * span divides numbers */
	int32_t low;
};

/* The weight of number i: how many events it stands for. */
static inline int64_t
event_of_number(const struct event_counter *c, uint64_t i)
{
	return c->low + (int64_t)(i / c->stride % c->span);
}
/* The counter: the weighted sum of its numbers, the first n of them. Modulo 2^64. */
uint64_t event_count(const struct event_counter *c, const uint64_t *number, uint64_t n);
/* True if two counters, of procedures of one module, are the same. */
bool event_counter_same(const struct event_counter *a, const struct event_counter *b);

/* One event in one block (Ball 1994). */
struct event_block {
	int64_t query;           /* query increment before the block's first instruction */
	uint64_t enter;          /* events of entering the block */
	const unsigned char *runs; /* events of its instructions, see event_added() */
	uint32_t nrun;
};

/* Before this instruction the counters of all events are changed. */
struct event_site {
	uint32_t block, insn;
	int64_t *add;            /* by event */
};

/* How a measure of paths counts them; graph.h says what they are. */
struct proc_paths {
	uint32_t kind;           /* enum chord_path_kind */
	uint64_t table;          /* number of the procedure's counter with which the table begins */
	uint64_t size;           /* counters in the table; HASHED: log2 of entries */
	bool *cut;               /* by arc */
	bool *soft;              /* BITS, by arc: a word of outcomes continues there (graph.h) */
	uint32_t nval;
	int64_t *val;            /* by arc, then by vertex to which a cut arc leads, ascending */
	/* By vertex. held: at calls there the sum of the path so far is the path register + query; otherwise it is query. */
	bool *held;
	int64_t *query, *start;
	uint32_t ninterest;
	uint64_t *interest;      /* SELECTED: sums of the paths of interest, ascending */
};

/* True if a trace has to be followed to tell which paths its slots are of. */
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

/* Reads all records of a section. The bytes are not copied and have to stay. Procedures that the linker dropped are left out; a
 * procedure that it kept once for several records is listed once. False: *why (pool). */
bool map_parse(struct pool *pool, struct str bytes, struct map *map, const char **why);

/* events.c: fills sum[] as the runtime does, from the bytes of CHORD_SECTION_SUM and its link-time address. */
void map_sums(struct map *map, struct str bytes, uint64_t addr);

/* What the first i instructions of a block add to event e, as they were assembled. */
int64_t event_added(const struct proc *p, uint32_t block, uint32_t i, uint32_t e);
/* events.c: the query increment at instruction i of a block, before it is executed: what to add to the counter of event e to get
 * all events up to there. Counters are changed before the instruction that a site names. */
int64_t event_query(const struct proc *p, uint32_t block, uint32_t i, uint32_t e);

/* path_graph.c: the paths of a procedure. */
struct path_graph {
	struct pool *pool;
	const struct proc *proc;
	const struct dag *dag;   /* of graph.h, over the arcs; later edges never run */
	int64_t *val;            /* by edge of the DAG */
	bool *any;               /* by vertex: EXIT can be reached from it */
	int64_t *low, *high;     /* by vertex: the least and the greatest sum on paths from it to EXIT */
	uint64_t *num;           /* by vertex: number of these paths; UINT64_MAX: that many or more */
	uint64_t npath;          /* number of paths in all; UINT64_MAX likewise */
	uint32_t nbegin;         /* places besides ENTRY where paths begin */
};
/* A path: from vertex `begin` along n arcs, the last one cut or into EXIT; or, unfinished, to the vertex `end`. */
struct path {
	uint32_t begin, end, n;
	uint32_t *edge;
	struct path_step *step;  /* for path_find() and path_prefix() */
};
/* The paths of a procedure that counts some (pool). NULL: *why. */
struct path_graph *path_graph_new(struct pool *pool, const struct proc *p, const char **why);
/* For kind BITS: the words of outcomes. NULL: they are longer than there is room for. */
const struct outcomes *path_outcomes(const struct path_graph *pg);
struct path path_new(struct pool *pool, const struct path_graph *pg); /* with room for any path (pool) */
/* Finds the path with a sum. False: there is none. */
bool path_find(const struct path_graph *pg, uint64_t sum, struct path *path);
/* Finds the path that has come to vertex v with a sum, and ends it there. False: there is none, or more than one. */
bool path_prefix(const struct path_graph *pg, uint32_t v, int64_t sum, struct path *path);

/* parts.c: the woven code of all procedures, by address. */
struct part_at {
	uint64_t addr, size;
	struct proc *proc;
};
struct parts {
	struct part_at *at;
	size_t n;
};
struct parts map_parts(struct pool *pool, const struct map *map);
/* The first part that begins behind the address, as an index; parts->n: none does. */
size_t parts_behind(const struct parts *parts, uint64_t addr);
/* The part that contains an address, or NULL. */
const struct part_at *parts_find(const struct parts *parts, uint64_t addr);

/* ---- file.c: what a process left behind ---- */

/* A hash table of paths. */
struct path_table {
	uint64_t addr;           /* link-time address of the first entry */
	uint32_t bits;           /* log2 of entries */
};

struct module {
	unsigned char id[32];
	uint32_t nid;            /* bytes of build id; 0: none */
	const char *path;
	uint64_t base;           /* link-time address of the first counter */
	uint64_t ncount;
	uint64_t *count;         /* the sum of all regions; 0 in hash tables */
	struct path_table *table; /* by address */
	uint32_t ntable;
	bool filled;             /* count[] is computed from traces, of all processes in the profile, in place of counters */
	bool followed;           /* the same, and witnesses have been followed: counts are of the paths between them */
};

struct exits {
	uint32_t module;
	bool reentry;
	bool handler;            /* no exit: a function that was set as handler of a signal that instructions raise */
	uint64_t addr;           /* return address; or the address where a signal interrupted, plus 1 */
	uint64_t count;
	uint64_t sum[CHORD_SUMS]; /* events, as in struct chord_exit */
};

/* How often a call through a pointer called one procedure. */
struct callees {
	uint32_t module;
	uint32_t to_module;      /* UINT32_MAX: in no measured module */
	uint64_t site;           /* link-time address of the word after the call's sums */
	uint64_t to;             /* link-time address of the procedure */
	uint64_t count;
};

/* A path of a hash table. */
struct hashed {
	uint32_t module;
	uint64_t table;          /* link-time address; 0: any table, and sum is UINT64_MAX */
	uint64_t sum;            /* UINT64_MAX: not known which paths */
	uint64_t count;          /* PATHS_UNKNOWN, with sum UINT64_MAX: not known how many */
};
#define PATHS_UNKNOWN UINT64_MAX

/* How far activations had come on their path at a call where they ended, or after which they were resumed. */
struct unfinished {
	uint32_t module;
	bool reentry;
	uint64_t addr;           /* return address */
	uint64_t path;           /* the path register; if it may be a counter's address, that at link time, */
	uint64_t bias;           /* which is this much less than the register */
	uint64_t count;
};

/* An extent of a type that this version does not know. */
struct unknown {
	uint32_t type;           /* tag and rule */
	uint32_t module;         /* UINT32_MAX: none */
	uint64_t a, b, c;
	unsigned char *at;       /* the bytes after its head */
	size_t n;
};

/* The activations of threads that waited in the kernel when another thread ended the process (CHORD_EXTENT_WAITING), if the profile
 * shows that none of these threads has continued since. */
struct waits {
	bool any;
	bool traced;             /* the process traced: its trace has to have the same sum, too */
	uint64_t by, sum;        /* by: region of the thread that ended the process, plus 1; 0: it had none */
	VEC(struct chord_waiting) at;
};

/* What profile_overlap() returns. */
enum profile_overlap { PROFILE_PER_THREAD, PROFILE_INSIDE, PROFILE_OVERLAPS };

struct profile {
	struct pool *pool;
	uint64_t nsummed;        /* processes in it */
	uint64_t nrunning, nthreads; /* of these: in state RUNNING; in state THREADS */
	uint32_t flags;
	uint32_t nregion;        /* in the file; of a sum: the largest number */
	uint64_t pid, state, threads, lost, in_flight;
	uint64_t orphans, orphan_error; /* as in the head */
	VEC(struct chord_origin) origin; /* profiles in it; a profile without an identity gets one from its bytes */
	/* One process: this many threads may have been anywhere when it was written, with activations that are not among the
	 * exits. */
	uint64_t standing;
	uint64_t stack;          /* bytes that the stack of each may have; 0: not known */
	/* A sum: the profiles in it for which `standing` is not 0, each by itself; and the sum of the others (NULL if there are
	 * none of the former). */
	VEC(struct profile *) flight;
	struct profile *rest;
	VEC(struct module) module;
	VEC(uint32_t) number;    /* by number of a module in the file: its index in `module` */
	VEC(struct exits) exit;
	struct waits waits;
	VEC(struct callees) callee; /* by module, site, to_module, to; no two alike */
	VEC(struct hashed) hashed; /* by module, table, sum; no two alike */
	VEC(struct unfinished) unfinished;
	VEC(const char *) text;
	VEC(struct unknown) unknown;
	VEC(uint32_t) unsummed;  /* tags of such extents that could not be summed, and are left out */
};

/* path_file.c: adds the counters of a region, ncount numbers of 8 bytes, to those of module m, which has room for them; entries of
 * hash tables are added as paths, with the module's number. False: a sum does not fit in 64 bits. */
bool profile_add_counters(struct profile *p, struct module *m, uint32_t number, const unsigned char *at);

/* measure.c, for code that finds counters and stacks elsewhere than in files: takes from the map what the profile does not say of a
 * module's counters. */
void profile_take_map(struct profile *p, struct module *m, const struct map *map);
/* For counters that were added without the records beside them: notes which of those records may have been needed. */
void profile_doubt(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at);
/* Notes what the slot (format.h) held of an activation that ended at the call with return address addr. bias: the module's
 * addresses in memory minus those at link time. */
void profile_add_slot(struct profile *p, uint32_t module, uint64_t addr, uint64_t bias, uint64_t word);

/* Adds to a counter. False: it does not fit. The counter of an event may be slightly negative while its process runs, and the sum
 * of a call in progress as far as events were counted. */
static inline bool
count_add(uint64_t *sum, uint64_t v)
{
	const uint64_t below_zero = UINT64_MAX << 56;
	bool negative = *sum >= below_zero || v >= below_zero;

	return checked_add(sum, v) || negative;
}

/* How much of p is already in the sum: nothing (PROFILE_PER_THREAD), everything (PROFILE_INSIDE), or a part (PROFILE_OVERLAPS). */
enum profile_overlap profile_overlap(const struct profile *sum, const struct profile *p);
/* An origin in the sum that a profile in p is a snapshot of, or that is a snapshot of a profile in p; or NULL. */
const struct chord_origin *profile_snapshot_of(const struct profile *sum, const struct profile *p);

/* Call it if p->waits holds: turns these activations into exits. */
void profile_end_waiting(struct profile *p);

/* unknown.c: a list of what this version of Chord does not know in a profile (pool). NULL: it knows everything. */
const char *profile_unknown(struct pool *pool, const struct profile *p);

struct profile *profile_new(void); /* empty; freed by profile_free() */
void profile_free(struct profile *p); /* NULL is allowed */
/* Reads a profile, perhaps of a live process; a module that was loaded twice becomes one. The caller frees it. NULL: *why
 * (pool). */
struct profile *profile_parse(struct pool *pool, struct str bytes, const char **why);
/* The same for one region only, which is one thread if the profile has CHORD_PROFILE_PER_THREAD. */
struct profile *profile_parse_region(struct pool *pool, struct str bytes, uint32_t region, const char **why);
/* The module with that build id, or NULL. */
struct module *profile_module(const struct profile *p, struct str id);

/* merge.c: adds a profile to a sum; modules are the same if their build ids are. False: *why (pool), and the sum must not be
 * used. */
bool profile_add(struct profile *sum, const struct profile *p, struct pool *pool, const char **why);
/* Appends a profile as a file, with one region for each module. */
void profile_write(const struct profile *p, struct buf *out);

/* ---- solve.c: how often everything ran ---- */

/* Activations that a signal interrupted before an instruction, and that ended there (left) or were resumed there (back). */
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

/* Activations that ended at a call, or were resumed after it, and how far they had come on their path. */
struct stopped {
	struct stopped *next;
	uint32_t call;
	bool reentry;
	uint64_t path, bias;     /* the path register, as in struct unfinished */
	uint64_t count;
	const struct cut *cut;   /* not NULL: it was there, not at a call; then the path up to the block is everything that ran */
};

struct path_counts {
	struct ran *ran;         /* by sum; SELECTED tables: paths of interest */
	size_t nran;
	struct stopped *stopped;
	uint64_t under_way;      /* activations whose last path is not known */
};

struct counts {
	const char *why;         /* why its counts are not known; NULL: they are */
	uint64_t *block;         /* by block: times entered */
	uint64_t *arc;           /* by arc, if arc_known */
	bool *arc_known;
	uint64_t *left, *back;   /* by call: activations that ended there; that were resumed after it. NULL: none */
	struct cut *cut;
	uint64_t lost;           /* activations that ended or were resumed at an unknown place */
	uint64_t *passed;        /* by call and event (CHORD_SUMS): events counted when activations ended there, less those when
	                          * they were resumed */
	bool activations_known;
	uint64_t activations;
	uint64_t insns;          /* instructions executed */
	uint64_t blocks;         /* blocks entered */
	uint64_t call_insns;     /* call instructions executed */
	bool jumps_known;
	uint64_t jumps;          /* edges taken from one block to another */
	struct path_counts *paths; /* NULL: not counted */
	/* NULL: counts are exact. Otherwise these counts are lower bounds and those upper bounds, because it is not known where
	 * activations were that neither returned nor are among the exits. COUNT_NO_BOUND: no upper bound. */
	struct counts *most;
	uint64_t active;         /* a lower bound for the number of these activations */
	bool unplaced;           /* there are bounds because of such activations, */
	bool lacks;              /* or because registers had counted when a loop was left by no edge, or was under way */
	bool skewed;             /* the process ran while the profile was read, or other threads did when what it counts began: no
	                          * number of executions under way need fit its counter */
	uint64_t **insn;         /* by block and instruction: executions; NULL: they follow from the block's */
};
#define COUNT_NO_BOUND UINT64_MAX

/* counts.why of a procedure of which only events are counted, by design. */
extern const char SOLVE_EVENTS_ONLY[];
/* measure.c: counts.why of procedures of which a measure counts only a part. */
struct counts_partly {
	const char *why;         /* counts.why */
	const char *one, *more;  /* what a reader is told, after the number of such procedures: if it is 1, if it is more */
};
/* NULL: the measure counts everything. */
const struct counts_partly *measure_partly(uint32_t m);
/* True if the counts are not known by design; otherwise a reader has to be told why they are not. */
bool counts_by_design(const struct counts *c);

struct woven_add {
	uint64_t end;            /* address after the instruction */
	uint32_t number;         /* number of the counter */
	int64_t n;               /* what it adds */
};

/* Questions about woven code. Addresses are those at link time; lo has to begin an instruction. */
struct woven_code {
	void *ctx;
	/* The first instruction in [lo, hi) that writes one of the n counters from address `counter` on. *end (may be NULL): the
	 * address after it. 0: there is none. */
	uint64_t (*counts)(void *ctx, uint64_t lo, uint64_t hi, uint64_t counter, uint32_t n, uint64_t *end);
	/* The same for an addition. False: there is none. */
	bool (*adds)(void *ctx, uint64_t lo, uint64_t hi, uint64_t counter, uint32_t n, struct woven_add *add);
	/* The lowest address in [lo, hi] from which control runs straight to hi. */
	uint64_t (*straight)(void *ctx, uint64_t lo, uint64_t hi);
	/* If the code at an address runs to where a stub leaves [lo, hi) for the runtime: the address where it goes on; else 0. */
	uint64_t (*goes_on)(void *ctx, uint64_t at, uint64_t lo, uint64_t hi);
	/* True if `back` is the return address of the call by which a stub asks whether a timer is due. */
	bool (*due)(void *ctx, uint64_t back);
};

/* The counts of each procedure of the map (pool). In a sum, profiles with activations in flight are solved one by one. module: its
 * counters in p; NULL: all counts are 0. Activations that ended early in code without a map do not matter. woven: NULL if the code
 * is not available; then procedures in which activations ended between calls are not known. */
struct counts *profile_solve(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	const struct woven_code *woven);

/* events.c: the events of a module. */
struct event_total {
	const char *name;
	uint64_t n, most;        /* the number is between these */
	uint64_t without;        /* run_events(): measured procedures that do not count it */
};
struct event_totals {
	struct event_total *at;  /* in the order of the map */
	uint32_t n;
	const char *why;         /* why they are not known; NULL: they are */
};
/* The total with that name. It is added if it is new: t->at has to have room. */
struct event_total *event_total_of(struct event_totals *t, const char *name);
/* counts: the result of profile_solve(). Memory is the pool's. */
struct event_totals profile_events(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	const struct counts *counts, const struct woven_code *woven);

/* Events between a call and its return, summed over all its executions. Everything that runs meanwhile is added, so in a recursion
 * events count once for each active activation. False: not known. Needs a call whose sum is not 0, and counts that are known. */
bool call_sum(const struct map *map, const struct proc *p, const struct counts *c, const struct module *m, uint32_t call,
              uint32_t event, uint64_t *n);

/* path_solve.c: the part of its path that a stopped activation has run. False: not known. Needs a cut, or a call after which the
 * path goes on: see path_goes_on(). */
bool path_stopped(const struct path_graph *pg, const struct stopped *s, struct path *path);
/* The sum of its path so far. */
int64_t path_stopped_sum(const struct path_graph *pg, const struct stopped *s);
/* True if a path that comes to the call goes on after it; otherwise it ends before the call. */
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
/* Instructions that a path executes; s: it is unfinished and stopped there (NULL: it is complete). */
uint64_t path_insns(const struct proc *p, const struct path *path, const struct stopped *s);

/* The callees of a call with CHORD_CALL_POINTER, *n of them; NULL: none. */
const struct callees *call_callees(const struct profile *p, const struct module *m, const struct proc *proc, uint32_t call,
	size_t *n);

/* walk.c: the instructions of a block, in order:
 * for (walk_start(&w, proc, counts, b); walk_next(&w);) use w.kind, w.offset ... */
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
bool walk_next(struct walk *w); /* false: the block has no more */
const char *profile_insn_name(unsigned kind); /* enum chord_insn */
const char *profile_edge_name(unsigned kind); /* enum chord_edge */

#endif
