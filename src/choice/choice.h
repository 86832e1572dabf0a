/* SPDX-License-Identifier: MIT */
/* choice: paths of interest, how they are chosen and dealt over several builds. */
#ifndef CHORD_CHOICE_H
#define CHORD_CHOICE_H

#include "graph/graph.h"
#include "selection/selection.h"
#include "view/paths.h"
#include "view/view.h"

struct chosen {
	uint64_t sum;
	uint32_t n, *edge;
};

/* Those of one procedure, by sum and edges, no two alike. */
struct choice {
	VEC(struct chosen) path;
};

struct choices {
	struct pool *pool;
	struct run run;
	struct view_paths report;
	struct choice *of;       /* by procedure of the report */
	size_t *first;           /* likewise: the first one that a file cannot tell from it, which has the paths of all these */
	uint64_t most;           /* of one procedure */
	size_t n;                /* paths in all */
};

/* What chooses them. */
struct choice_rules {
	VEC(const char *) rule;
	const char *file;        /* that has them already; NULL: there is none */
	uint64_t most;           /* of one procedure by one rule */
};
#define CHOICE_MOST 65536

/* choose.c: opens a program with its profiles (name[0], then n - 1) and chooses. False: reported. In any case choices_close(). */
bool choices_make(struct choices *c, const struct choice_rules *rules, char **name, int n);
void choices_close(struct choices *c);
/* The file of those paths of which part[procedure][path] is `number`; part NULL: all. */
void choices_write(const struct choices *c, uint32_t **part, uint32_t number, struct buf *out);

/* price.c: what tells a procedure's paths apart that are in part `number`, as above (pool); w: prices of the edges of
 * its DAG, or NULL. NULL: none is there (*n is 0), or they cannot be in one build. What the weaver cannot put code on is not
 * known here: it may refuse others. */
struct spp_code *choice_code(struct pool *pool, const struct choices *c, size_t proc, const uint32_t *part, uint32_t number,
                             double *w, size_t *n);

/* rules.c: adds what a rule chooses. False: reported. */
bool choices_rule(struct choices *c, const char *rule);
/* Does the rule ask for what ran? */
bool choices_rule_profile(const char *rule);
/* Adds the paths of a file. False: reported. */
bool choices_file(struct choices *c, const char *file);
void choice_add(struct choices *c, size_t proc, uint64_t sum, const uint32_t *edge, uint32_t n);

/* walk.c: all ways through a procedure that some state machine likes. Steps: the state behind vertex v, when it was
 * k before; states are 0 .. nstate-1, the first at the beginning and the last at the end. Returns their number
 * (UINT64_MAX: at least); calls `each`, if there are at most `most`. */
typedef uint32_t path_step_fn(void *ctx, uint32_t v, uint32_t k);
typedef void path_each_fn(void *ctx, uint64_t sum, const uint32_t *edge, uint32_t n);
uint64_t paths_walk(const struct path_graph *pg, uint32_t nstate, path_step_fn *step, path_each_fn *each, void *ctx,
                    uint64_t most);

/* ---- deal.c: deals them over several builds, each of which counts its part only ---- */

enum deal_way { DEAL_ROUND_ROBIN, DEAL_PREFIX, DEAL_GREEDY, DEAL_PROCEDURE, DEAL_WAYS };
extern const char *const deal_way_name[DEAL_WAYS];

/* What a part has. */
struct part {
	size_t procs, paths;
	uint64_t probes;         /* beside those where paths end */
	double cost;             /* how often these are executed */
	double load;             /* the same of those dealt so far */
	const struct proc *unfit; /* whose paths cannot be in one build; NULL: there is none */
};

struct deal {
	struct choices *c;
	uint32_t nparts;
	uint32_t **part;         /* by procedure and path */
	struct part *of;
	double **w;              /* by procedure: prices of the edges of its DAG */
};

/* Makes room for so many parts; what it keeps is in the choices' pool. */
void deal_open(struct deal *d, struct choices *c, uint32_t nparts);
/* Deals all paths anew, and says what the parts would cost. */
void deal(struct deal *d, enum deal_way way);

#endif
