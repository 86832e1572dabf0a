/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. "NULL, or why not" means: a text (static or in the pool) that says what is wrong, or NULL if
 * nothing is. "Needs exits" means: after exits_place(). */
#ifndef CHORD_PROFILE_INTERNAL_H
#define CHORD_PROFILE_INTERNAL_H

#include "graph/graph.h"
#include "profile/profile.h"

/* path_file.c: paths in a profile. Read one extent, from its head h; NULL, or why not. */
const char *paths_read_tables(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at);
const char *paths_read_hashed(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at);
/* For struct chord_unfinished: the register minus the path. */
uint64_t paths_bias(uint64_t path, uint64_t raw);
const char *paths_read_unfinished(struct profile *p, struct module *m, const struct chord_extent_head *h,
                                  const unsigned char *at);
/* As profile_take_map() and profile_doubt(). */
void paths_take_tables(struct profile *p, struct module *m, const struct map *map);
void paths_doubt_tables(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at);
/* Checks the lists, once modules have the numbers that they have in p. NULL, or why not. */
const char *paths_check(const struct profile *p);
/* Sorts the lists and joins equal elements. False: a sum does not fit in 64 bits. */
bool paths_join(struct profile *p);
bool paths_same_tables(const struct module *a, const struct module *b); /* the same hash tables */
/* The paths of a hash table, by sum, *n of them; NULL: none. */
const struct hashed *paths_of_table(const struct profile *p, uint32_t module, uint64_t table, size_t *n);
void paths_write_tables(const struct module *m, uint32_t i, struct buf *out); /* i: the module's number */
/* Appends the extents of paths. of: number of the region plus 1, or 0: of none. */
void paths_write(const struct profile *p, uint64_t of, struct buf *out);

/* unknown.c: adds the unknown extents of a profile to the sum, by their rules. to: by module of p, its number in the sum. first:
 * the sum is empty so far. False: a sum does not fit in 64 bits. */
bool unknown_join(struct profile *sum, const struct profile *p, const uint32_t *to, bool first);
void unknown_write(const struct profile *p, struct buf *out); /* appends them */

/* merge.c: begins an extent that has n bytes after its head (`page`: after its first page); fills up its last page. */
void profile_extent(struct buf *out, struct chord_extent_head h, size_t n, bool page);
void profile_fill_page(struct buf *out);

struct record;

/* For measures of paths. path_map.c: reads their section of a map, after the procedure's graph. path_solve.c: makes room for the
 * results. */
void paths_map(struct in *in, struct proc *p, const struct record *r);
void paths_begin(struct pool *pool, struct counts *c);

/* path_graph.c: NULL if each sum belongs to one path and has a place in the table, else why not. */
const char *path_graph_check(struct pool *pool, const struct path_graph *pg);
/* True if control can go along that edge of the DAG. */
bool path_real(const struct path_graph *pg, uint32_t e);
/* The largest sum of cost[block] over the blocks of a path; of all blocks if what is written is no path. COUNT_NO_BOUND: a word of
 * outcomes may go round a loop before it is written. */
uint64_t paths_longest(const struct proc *p, const uint64_t *cost);

/* The equations of one procedure. The graph's edges are the arcs of the map, with the same numbers, then one for each block that is
 * split (those with counters), from the block's vertex to behind[]. */
struct system {
	struct pool *pool;
	const struct proc *proc;
	struct graph *graph;
	uint32_t *behind;        /* by vertex of the map: the vertex where its out-edges leave */
	bool *known;
	uint64_t *count;
	int64_t *source;
	uint32_t *inside;        /* by block that is split: its edge */
};

/* deduce.c: finds all counts that follow from the known edges if these do not determine all, and sets `known` for them. NULL, or
 * why there is a contradiction. */
const char *solve_deduce(struct system *s);
/* Sums the in-edges of a vertex. False: one is not known, or the sum does not fit. */
bool solve_vertex(const struct system *s, uint32_t v, uint64_t *count);

/* solve.c: reads counter c of a procedure, c >= 1. False: the profile does not have it. */
bool proc_counter(const struct module *m, const struct proc *p, uint32_t c, uint64_t *v);
/* interruption.c: what is known of a counter c for which a register counts in a loop; NULL: none does. */
const struct promoted *proc_promoted(const struct proc *p, uint32_t c);
/* solve.c: may executions of the loop that never came to its end have counted what counter c lacks? *least: it counts at least so
 * much. */
bool proc_lacks(const struct module *m, const struct proc *p, const struct counts *counts, uint32_t c, uint64_t *least);
/* The same for any of the procedure's counters. */
bool proc_any_lacks(const struct module *m, const struct proc *p, const struct counts *counts);
/* May what registers have counted and the numbers of executions under way be of different moments? They are if the process ran
 * while its file was read; and a snapshot that has only what came since another one may have the end of one execution and the
 * beginning of the next. f: NULL: there is no profile. */
bool solve_skewed(const struct profile *f);
/* True if nothing was counted in any of its counters. False also if the profile does not have them. */
bool proc_is_zero(const struct module *m, const struct proc *p);
bool insn_is_call(uint8_t insn); /* CALL or ICALL */

/* How many activations of a procedure may be in flight. */
struct standing {
	uint64_t threads;        /* anywhere */
	uint64_t stack;          /* in addition at calls that may lead back to the procedure: so many bytes of frames, in all
	                          * threads; or COUNT_NO_BOUND */
};
struct standing standing_of(const struct profile *p);
/* flight.c: bounds for the counts of a procedure in a process of which only its counters and `s` are known, into c and c->most.
 * NULL, or why there are none. Needs exits. */
const char *flight_solve(struct pool *pool, const struct proc *p, const struct module *m, const struct woven_code *woven,
                         struct standing s, struct counts *c);

/* The same for a procedure whose counts are known except for activations in flight: puts bounds around them. */
void flight_around(struct pool *pool, const struct proc *p, struct standing s, struct counts *c);

/* solve.c: the counts of a procedure in one profile, exact or as bounds. Needs exits. */
void solve_one(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m,
               const struct woven_code *woven, struct counts *c);

/* path_solve.c: counts.why of a procedure of which only some paths are counted. */
extern const char SOLVE_PATHS_ONLY[];
/* Computes which paths ran, into c->paths (pool), and the counts of all edges from them. NULL, or why these are not known. Needs
 * exits and sources. */
const char *solve_paths(struct pool *pool, struct system *s, const struct profile *f, const struct module *m,
                        const struct woven_code *woven, struct counts *c);

/* Computes only which paths ran, for a procedure of which no more can be known: c->why stays, or is replaced. */
void solve_ran(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, struct counts *c);

/* merge.c: profile_add() without regard to activations in flight. */
bool profile_join(struct profile *sum, const struct profile *p, struct pool *pool, const char **why);

/* interruption.c: finds the place between calls of an address in woven code. False: it is between two blocks, or in no block. */
bool cut_place(const struct proc *p, uint64_t addr, const struct woven_code *woven, struct cut *cut);
/* Where the cut's block changes a counter: before the cut, or after it. */
enum cut_side { CUT_NOT_THERE, CUT_BEFORE, CUT_BEHIND };
enum cut_side cut_side(const struct proc *p, const struct cut *cut, uint32_t counter, const struct woven_code *woven);
/* Corrects the counts for the activations that were cut. False: the counters contradict that. */
bool cut_settle(struct system *s, const struct cut *cut, const struct woven_code *woven);
/* The address in a block's woven code where a counter is changed; 0: not in this block, or not known. */
uint64_t cut_counter(const struct proc *p, uint32_t block, uint32_t counter, const struct woven_code *woven);
/* True if the addresses of all instructions of the block are known. */
bool cut_is_known(const struct proc *p, uint32_t block);
/* What to add to the counter of an event to get all events up to the cut. False: not known. */
bool cut_query(const struct proc *p, const struct cut *cut, uint32_t event, const struct woven_code *woven, int64_t *query);

/* exits.c: fills left[], back[], cut and the stopped paths of all procedures from the records of the module. Sets counts.why if an
 * exit fits no call and, with woven, no other place either. Exits in code without a map are ignored. */
void exits_place(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	const struct woven_code *woven, struct counts *counts);

#endif
