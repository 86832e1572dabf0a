/* SPDX-License-Identifier: MIT */
/* Paths of interest, as `chord paths select` and `split` choose and deal them. */
#ifndef CHORD_PATHS_CHOICE_H
#define CHORD_PATHS_CHOICE_H

#include "graph/graph.h"
#include "tool/paths.h"

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
	struct path_report report;
	struct paths_options opt;
	struct choice *of;       /* by procedure of the report */
	size_t *first;           /* likewise: the first one that a file cannot tell from it, which has the paths of all these */
	uint64_t most;           /* of one procedure */
	size_t n;                /* paths in all */
};

/* What the commands have in common: options that choose paths. */
struct choice_args {
	VEC(const char *) rule;
	const char *file;        /* that has them already; NULL: there is none */
	const char *out;         /* NULL: standard output */
	uint64_t most;
	char **name;             /* program and profiles */
	int n;
};
#define CHOICE_MOST 65536
/* An argp child whose input is struct choice_args; rules and names are required. */
extern const struct argp choice_argp;

/* paths_select.c: opens the program and chooses. False: reported. In any case choices_close(). */
bool choices_make(struct choices *c, const struct choice_args *a);
void choices_close(struct choices *c);
/* The file of those paths of which part[procedure][path] is `number`; part NULL: all. */
void choices_write(const struct choices *c, uint32_t **part, uint32_t number, struct buf *out);

/* paths_price.c: what tells a procedure's paths apart that are in part `number`, as above (pool); w: prices of the edges of
 * its DAG, or NULL. NULL: none is there (*n is 0), or they cannot be in one build. What the weaver cannot put code on is not
 * known here: it may refuse others. */
struct spp_code *choice_code(struct pool *pool, const struct choices *c, size_t proc, const uint32_t *part, uint32_t number,
                             double *w, size_t *n);

/* paths_rules.c: adds what a rule chooses. False: reported. */
bool choices_rule(struct choices *c, const char *rule);
/* Does the rule ask for what ran? */
bool choices_rule_profile(const char *rule);
/* Adds the paths of a file. False: reported. */
bool choices_file(struct choices *c, const char *file);
void choice_add(struct choices *c, size_t proc, uint64_t sum, const uint32_t *edge, uint32_t n);

/* paths_walk.c: all ways through a procedure that some state machine likes. Steps: the state behind vertex v, when it was
 * k before; states are 0 .. nstate-1, the first at the beginning and the last at the end. Returns their number
 * (UINT64_MAX: at least); calls `each`, if there are at most `most`. */
typedef uint32_t path_step_fn(void *ctx, uint32_t v, uint32_t k);
typedef void path_each_fn(void *ctx, uint64_t sum, const uint32_t *edge, uint32_t n);
uint64_t paths_walk(const struct path_graph *pg, uint32_t nstate, path_step_fn *step, path_each_fn *each, void *ctx,
                    uint64_t most);

#endif
