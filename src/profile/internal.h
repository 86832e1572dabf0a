/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_PROFILE_INTERNAL_H
#define CHORD_PROFILE_INTERNAL_H

#include "graph/graph.h"
#include "profile/profile.h"

/* path_file.c: paths in a profile. Texts say what is wrong with the file, NULL that nothing is. */
const char *paths_read_tables(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at);
const char *paths_read_hashed(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at);
/* Of struct chord_unfinished: how much less than the register the path is. */
uint64_t paths_bias(uint64_t path, uint64_t raw);
const char *paths_read_unfinished(struct profile *p, struct module *m, const struct chord_extent_head *h,
                                  const unsigned char *at);
/* As profile_take_map() and profile_doubt(). */
void paths_take_tables(struct profile *p, struct module *m, const struct map *map);
void paths_doubt_tables(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at);
/* Once modules have the numbers that they have in p. */
const char *paths_check(const struct profile *p);
/* Sorts and joins equal ones. False: a sum does not fit 64 bits. */
bool paths_join(struct profile *p);
bool paths_same_tables(const struct module *a, const struct module *b);
/* The paths of a table, by sum; NULL if there are none. */
const struct hashed *paths_of_table(const struct profile *p, uint32_t module, uint64_t table, size_t *n);
void paths_write_tables(const struct module *m, uint32_t i, struct buf *out);
/* of: the region that they are of, plus 1, or 0. */
void paths_write(const struct profile *p, uint64_t of, struct buf *out);

/* unknown.c: adds those of a profile as their rules have it; to: by module of p, its number in the sum. first: nothing else is
 * in the sum. False: a sum does not fit 64 bits. */
bool unknown_join(struct profile *sum, const struct profile *p, const uint32_t *to, bool first);
void unknown_write(const struct profile *p, struct buf *out);

/* merge.c: begins an extent that holds n bytes after its head, or after its first page; ends it. */
void profile_extent(struct buf *out, struct chord_extent_head h, size_t n, bool page);
void profile_fill_page(struct buf *out);

struct record;

/* For measures of paths. path_map.c: reads what a map says of them, behind all else that the procedure has. path_solve.c: makes
 * room for which ran. */
void paths_map(struct in *in, struct proc *p, const struct record *r);
void paths_begin(struct pool *pool, struct counts *c);

/* path_graph.c: NULL if each sum is one path's and has a place in the table, else what is wrong. */
const char *path_graph_check(struct pool *pool, const struct path_graph *pg);
/* Can control go along that edge of the DAG? */
bool path_real(const struct path_graph *pg, uint32_t e);

/* The equations of one procedure. Edges of the graph: first the arcs of the map with the same
 * numbers, then one for each block that is split, as those with counters are, from the block's vertex to behind[]. */
struct system {
	struct pool *pool;
	const struct proc *proc;
	struct graph *graph;
	uint32_t *behind;        /* by vertex of the map: where its out-edges leave */
	bool *known;
	uint64_t *count;
	int64_t *source;
	uint32_t *inside;        /* by block that is split: its edge */
};

/* deduce.c: finds all that follows from the known edges where they do not determine all others, and marks it
 * known. NULL, or why there is a contradiction. */
const char *solve_deduce(struct system *s);
/* Sum of the in-edges of a vertex; false if one is not known or the sum does not fit. */
bool solve_vertex(const struct system *s, uint32_t v, uint64_t *count);

/* solve.c: the counter of a procedure, number c >= 1; false if the profile does not have it. */
bool proc_counter(const struct module *m, const struct proc *p, uint32_t c, uint64_t *v);
bool insn_is_call(uint8_t insn);

/* What may be under way of a procedure. */
struct standing {
	uint64_t threads;        /* so many activations anywhere */
	uint64_t deep;           /* and at calls that may lead back so many; or COUNT_NO_BOUND */
};
struct standing standing_of(const struct profile *p);
/* flight.c: the counts of a procedure in a process of which that is all that is known: their bounds, into c and c->most. NULL,
 * or why there are none. Wants exits in place. */
const char *flight_solve(struct pool *pool, const struct proc *p, const struct module *m, const struct woven_code *woven,
                         struct standing s, struct counts *c);

/* Of one whose counts are known but for what was under way: takes bounds around them. */
void flight_around(struct pool *pool, const struct proc *p, struct standing s, struct counts *c);

/* solve.c: the counts of a procedure in one profile, exact or in bounds. Wants exits in place. */
void solve_one(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m,
               const struct woven_code *woven, struct counts *c);

/* path_solve.c: counts.why of a procedure of which only some paths are counted. */
extern const char SOLVE_PATHS_ONLY[];
/* Which paths ran, into c->paths (pool), and from them the counts of all edges. NULL, or why these are not
 * known. Wants exits and sources in place. */
const char *solve_paths(struct pool *pool, struct system *s, const struct profile *f, const struct module *m,
                        const struct woven_code *woven, struct counts *c);

/* Only which paths ran, of a procedure of which it is known already that more cannot be: c->why stays, or becomes another. */
void solve_ran(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, struct counts *c);

/* merge.c: profile_add() without regard to which are in flight. */
bool profile_join(struct profile *sum, const struct profile *p, struct pool *pool, const char **why);

/* interruption.c: finds the place of a woven address between calls. False: it is on the way between two blocks, or in none. */
bool cut_place(const struct proc *p, uint64_t addr, const struct woven_code *woven, struct cut *cut);
/* Where the cut's block changes a counter: before the place, or behind it. */
enum cut_side { CUT_NOT_THERE, CUT_BEFORE, CUT_BEHIND };
enum cut_side cut_side(const struct proc *p, const struct cut *cut, uint32_t counter, const struct woven_code *woven);
/* Corrects what the counters say for the activations that were cut. False: they contradict it. */
bool cut_settle(struct system *s, const struct cut *cut, const struct woven_code *woven);
/* Where in the woven code of a block a counter is; 0: not in it, or that is not known. */
uint64_t cut_counter(const struct proc *p, uint32_t block, uint32_t counter, const struct woven_code *woven);
/* Are the addresses of all its instructions known? */
bool cut_is_known(const struct proc *p, uint32_t block);
/* What to add to the counter of an event to have all events up to the cut. False: not known. */
bool cut_query(const struct proc *p, const struct cut *cut, uint32_t event, const struct woven_code *woven, int64_t *query);

/* exits.c: fills left[], back[], cut and the stopped paths of all procedures from the records of the module; where an exit
 * fits neither a call nor, with woven, another place, sets why. Exits in code without a map are passed over. */
void exits_place(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	const struct woven_code *woven, struct counts *counts);

#endif
