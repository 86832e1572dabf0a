/* SPDX-License-Identifier: MIT */
/* choice: chooses paths of interest, and distributes them over several builds. */
#ifndef CHORD_CHOICE_H
#define CHORD_CHOICE_H

#include "graph/graph.h"
#include "selection/selection.h"
#include "view/paths.h"
#include "view/view.h"

struct chosen {
	uint64_t sum; /* name of the path among those of the procedure */
	uint32_t n, *edge; /* edges of the graph, n of them */
};

/* The chosen paths of one procedure, by sum and edges; no two are alike. */
struct choice {
	VEC(struct chosen) path;
};

struct choices {
	struct pool *pool;
	struct run run;
	struct view_paths report;
	struct choice *of;       /* by procedure of the report */
	size_t *first;           /* by procedure: the first procedure that a file cannot tell from it, which has the paths of all of
	                          * these */
	uint64_t most;           /* paths of one procedure */
	size_t n;                /* paths in all */
};

/* How paths are chosen. */
struct choice_rules {
	VEC(const char *) rule;
	const char *file;        /* a file that lists paths; NULL: none */
	uint64_t most;           /* paths of one procedure by one rule, at most */
};
#define CHOICE_MOST 65536

/* choose.c: opens a program with its profiles (name[0], then n - 1 names) and chooses. False: reported. Call choices_close() in
 * either case. */
bool choices_make(struct choices *c, const struct choice_rules *rules, char **name, int n);
void choices_close(struct choices *c);
/* Appends the file with the paths for which part[procedure][path] is `number`; part NULL: all paths. */
void choices_write(const struct choices *c, uint32_t **part, uint32_t number, struct buf *out);

/* price.c: the code that tells apart a procedure's paths in part `number`, as above (pool). w: prices of the edges of its DAG, or
 * NULL. *n: how many paths. NULL: there are none (*n is 0), or they cannot be in one build. The weaver may still refuse code on
 * edges where it cannot put any, which is not known here. */
struct spp_code *choice_code(struct pool *pool, const struct choices *c, size_t proc, const uint32_t *part, uint32_t number,
                             double *w, size_t *n);

/* rules.c: why a text is no rule (static); NULL: it is one. */
const char *choices_rule_wrong(const char *rule);
/* Adds the paths that a rule chooses. False: reported. */
bool choices_rule(struct choices *c, const char *rule);
/* True if the rule needs a profile. */
bool choices_rule_profile(const char *rule);
/* Adds the paths that a file lists. False: reported. */
bool choices_file(struct choices *c, const char *file);
/* Adds one path; its edges are copied. */
void choice_add(struct choices *c, size_t proc, uint64_t sum, const uint32_t *edge, uint32_t n);

/* walk.c: all paths through a procedure that a state machine accepts. `step` gives the state after vertex v if it was k before;
 * states are 0 .. nstate-1, the first one at the beginning, the last one at the end. Returns the number of these paths (UINT64_MAX:
 * that many or more), and calls `each` for every one if there are at most `most`. */
typedef uint32_t path_step_fn(void *ctx, uint32_t v, uint32_t k);
typedef void path_each_fn(void *ctx, uint64_t sum, const uint32_t *edge, uint32_t n);
uint64_t paths_walk(const struct path_graph *pg, uint32_t nstate, path_step_fn *step, path_each_fn *each, void *ctx,
                    uint64_t most);

/* ---- deal.c: distributes the paths over several builds, each of which counts only its part ---- */

enum deal_way { DEAL_ROUND_ROBIN, DEAL_PREFIX, DEAL_GREEDY, DEAL_PROCEDURE, DEAL_WAYS };
extern const char *const deal_way_name[DEAL_WAYS];

/* What one part contains. */
struct part {
	size_t procs, paths;
	uint64_t probes;         /* additions and settings of the register, besides those where paths end */
	double cost;             /* how often these are executed */
	double load;             /* the same for the paths dealt so far */
	const struct proc *unfit; /* a procedure whose paths cannot be in one build; NULL: none */
};

struct deal {
	struct choices *c;
	uint32_t nparts;
	uint32_t **part;         /* by procedure and path: number of the part */
	struct part *of;
	double **w;              /* by procedure: prices of the edges of its DAG */
};

/* Prepares for that many parts; memory is that of the choices' pool. */
void deal_open(struct deal *d, struct choices *c, uint32_t nparts);
/* Deals all paths anew, and computes what the parts would cost. */
void deal(struct deal *d, enum deal_way way);

#endif
