/* SPDX-License-Identifier: MIT */
/* graph: the algorithms of the papers. They know no machine and no text, and do no I/O.
 *
 * A control-flow graph has a root and an exit vertex (EXIT). Once closed it also has the edge EXIT -> root (Ball & Larus 1994,
 * section 2), so that flow is conserved at every vertex. After graph_complete() all vertices lie on a path from root to EXIT. All
 * algorithms are iterative, because graphs have up to millions of vertices. "Section" and "Fig." without a paper are those of Ball
 * & Larus 1994.
 *
 * Memory comes from the given pool, or from the pool of the given graph. Arrays "by edge" and "by vertex" have nedge and nvert
 * elements. */
#ifndef CHORD_GRAPH_H
#define CHORD_GRAPH_H

#include "base/base.h"

enum { GRAPH_NONE = UINT32_MAX };

struct edge {
	uint32_t from, to;
	bool fixed;      /* no counter can be put on it: it has to be in the spanning tree */
	bool phantom;    /* added by graph_complete(): never runs */
	double share;    /* how likely it is relative to the other edges of its source; > 0, usually 1 */
	double cost;     /* price of one execution of its counter; > 0, usually 1 */
};

struct graph {
	struct pool *pool;
	uint32_t nvert, nedge, cap;
	uint32_t root, exit;
	uint32_t close;          /* the edge EXIT -> root, or GRAPH_NONE */
	struct edge *edge;
	/* Made by graph_index(); out of date after graph_edge(). Edge e leaves vertex v iff e is in out[out_at[v] .. out_at[v+1]),
	 * in ascending order; likewise for in. */
	uint32_t *out_at, *out, *in_at, *in;
	const char *const *name; /* by vertex, for messages; NULL: names are numbers */
};

/* graph.c */
struct graph *graph_new(struct pool *pool, uint32_t nvert, uint32_t root, uint32_t exit); /* vertices 0 .. nvert-1, no edges */
uint32_t graph_vertex(struct graph *g);                       /* adds a vertex, returns its number */
uint32_t graph_edge(struct graph *g, uint32_t from, uint32_t to); /* adds an edge with cost 1, not fixed; returns its number */
uint32_t graph_close(struct graph *g);                        /* adds EXIT -> root, fixed; returns its number. At most once */
void graph_index(struct graph *g); /* fills out_at, out, in_at and in */
/* Makes every vertex reachable from root, and EXIT reachable from every vertex, by phantom edges (root -> v, v -> EXIT; fixed): for
 * code that no known edge reaches, and for loops that never end. Indexes the graph. Returns the number of phantoms added. */
uint32_t graph_complete(struct graph *g);
/* NULL if the graph is sound, else what is wrong (in the graph's pool). */
const char *graph_check(const struct graph *g);
const char *graph_name(const struct graph *g, uint32_t v);    /* the vertex's name for messages */

/* order.c: depth-first search from root. */
struct order {
	uint32_t *pre, *post;    /* by vertex: numbers from 0; GRAPH_NONE: not reached */
	uint32_t *by_post;       /* vertices in postorder, nreached of them */
	uint32_t nreached;
	uint32_t *parent;        /* by vertex: the tree edge that leads to it; GRAPH_NONE for root */
	bool *back;              /* by edge: it leads to a vertex that is still on the stack. The closing edge is not a back edge */
};
struct order *order_dfs(const struct graph *g);               /* needs an index */

/* loops.c: natural loops, those with the same entry joined (section 5). Loops always nest, in irreducible graphs too; loops.c says
 * what counts as a loop there. */
struct loops {
	uint32_t nloop;
	uint32_t *head;          /* by loop: entry vertex; outer loops come before their inner ones */
	uint32_t *parent;        /* by loop: the enclosing loop, or GRAPH_NONE */
	uint32_t *depth;         /* by vertex: number of loops that contain it */
	uint32_t *inner;         /* by vertex: the innermost loop, or GRAPH_NONE */
	bool *irreducible;       /* by loop: it can be entered elsewhere than at its head */
	uint32_t *end;           /* by loop: l contains loop k iff l <= k < end[l] */
};
struct loops *loops_find(const struct graph *g, const struct order *o);
/* Does loop l contain vertex v? */
bool loops_contain(const struct loops *l, uint32_t loop, uint32_t v);

/* weight.c: the heuristic weighting of section 5, corrected: every weight is positive and finite, and flow is conserved up to
 * rounding at every vertex, in irreducible graphs too. Returns weights by edge; the closing edge has weight 1. Needs a completed
 * graph. */
double *weight_heuristic(const struct graph *g, const struct order *o, const struct loops *l);

/* span.c: a maximum spanning tree; the weight of an edge is w[e] * edge.cost. The closing edge and fixed edges are taken first.
 * Returns by edge whether it is in the tree; NULL if fixed edges contain a cycle: then *bad (bad may be NULL) is an edge that
 * closes one. */
bool *span_max(const struct graph *g, const double *w, uint32_t *bad);
/* The same with the least weight after these first edges: its chords are the most expensive (section 6, "Min"). */
bool *span_min(const struct graph *g, const double *w, uint32_t *bad);
/* Chords are the edges not in the tree. A chord is never fixed, with one exception: a phantom that would close a cycle of fixed
 * edges (at a vertex that needs one phantom to be reached and another one to reach EXIT). It never runs: its count is known to be
 * 0, and it needs no counter. */

/* A forest of greatest weight among the edges that are not left out (by edge); directions do not matter. NULL and *bad as for
 * span_max(). */
bool *span_forest(const struct graph *g, const double *w, const bool *left_out, uint32_t *bad);

/* cut.c: a cheapest cut between two nodes of a network (Dinic 1970). */
struct cut_arc {
	uint32_t from, to;
	double price;            /* price of cutting it, at least 0; GRAPH_NEVER: it cannot be cut */
};
#define GRAPH_NEVER 1e30
/* What a search may take. The number of its steps grows faster than the network. */
struct cut_limit {
	double price;            /* cheaper cuts only */
	uint64_t steps;          /* steps that are left */
};
/* Returns by node whether it is on the source's side, which is as small as possible. *price: the sum over the arcs cut; GRAPH_NEVER
 * or more: there is no cut. limit: NULL, or where the search ends: if *price is not below limit->price then, or no step is left,
 * what is returned and *price mean nothing else. */
bool *graph_cut(struct pool *pool, uint32_t nnode, const struct cut_arc *arc, uint32_t narc, uint32_t source, uint32_t sink,
                struct cut_limit *limit, double *price);

/* feedback.c: cheap edges that break all directed cycles, those through the closing edge too. price[e]: price of choosing e, at
 * least 0; GRAPH_NEVER: e cannot be chosen; below 0: e is treated as absent, as phantoms are. The choice is not always the cheapest
 * one; feedback.c says when it is. Needs an index. Returns by edge whether it is chosen; NULL: a cycle through vertex *bad has no
 * edge that can be chosen. */
bool *feedback_place(const struct graph *g, const double *price, uint32_t *bad);
/* True if every directed cycle has a chosen edge. */
bool feedback_check(const struct graph *g, const double *price, const bool *chosen);

/* flow.c: propagation (Fig. 6), without recursion. */
/* Fills all of count[], by edge. Needs count[e] where known[e]; the other edges have to form a forest. source[v] is the flow that
 * enters at v from outside of the graph (re-entries) minus the flow that leaves there (early exits): out(v) = in(v) + source[v].
 * source may be NULL. False if some count would be negative or does not fit in 64 bits, or if flow cannot be conserved: *why (in
 * the graph's pool) names the place, and count[] must not be used. */
bool flow_propagate(const struct graph *g, const bool *known, uint64_t *count,
                    const int64_t *source, const char **why);
/* NULL if flow is conserved at every vertex and no phantom ran, else what is wrong. */
const char *flow_check(const struct graph *g, const uint64_t *count, const int64_t *source);
/* Count of a vertex: the sum over its in-edges, which without source equals that over its out-edges. UINT64_MAX if it does not
 * fit. */
uint64_t flow_vertex(const struct graph *g, const uint64_t *count, uint32_t v);

/* events.c: one counter for the events of a procedure, exact at any moment (Ball 1994).
 *
 * increment, by edge: what the edge adds to the counter, 0 on the tree. Chords with an increment other than 0 are instrumented.
 * query, by vertex: the query increment (section 3.3), what to add to the counter when control is at v, where it includes the
 * events of all edges that led there. It holds also for a walk that ends at v for good (footnote 2). */
struct events {
	int64_t *increment, *query;
};
/* Places the counter. Needs an index. events[e] may be negative. `tree` has to span all vertices that have edges; the query of a
 * vertex without edges is 0. If the closing edge is in the tree, as span_max() makes it, and has no events, then nothing is added
 * at EXIT. If it is a chord, each execution has to add its increment once, at the beginning or end. NULL if the tree does not span
 * or a sum does not fit in 64 bits: *why (why may be NULL) tells.
 *
 * Vertex events (Fig. 2): split the vertex, or add them to all its in-edges (for root to the closing edge); query[v] then holds
 * after v.
 *
 * Calls are queries (section 4): the counter has to be right when control leaves for another procedure. Make each call a vertex
 * between what runs before it and what runs after it, call events_join(), and use span_max() and this function on the result. The
 * query increment of calls is then 0. The updates before and after a call have no place of their own: they are part of the chords
 * around it (footnote 3), as cheap as the tree can choose them. Edges keep their numbers, so weights by edge stay valid. */
struct events *events_place(const struct graph *g, const bool *tree, const int64_t *events, const char **why);
/* A copy of g in which every edge from or to a marked vertex leads from or to root instead; the vertex keeps no edges. root, and
 * EXIT, which is accurate anyway, may be marked. Vertices and edges keep their numbers; the copy is indexed. If fixed edges join
 * two calls they close a cycle, which span_max() reports. Only for span_max() and events_place(). */
struct graph *events_join(const struct graph *g, const bool *accurate);
/* increment[e] = events[e] + phi[from] - phi[to], for any potential phi by vertex. A walk from u to v then adds phi[u] - phi[v]
 * more than its events. False if an increment does not fit in 64 bits. */
bool events_increments(const struct graph *g, const int64_t *events, const int64_t *phi, int64_t *increment);
/* Fig. 4 as printed, for comparison: wrong for self-loops at other vertices than root, which it visits from one end only. NULL if a
 * sum does not fit in 64 bits. */
struct events *events_printed(const struct graph *g, const bool *tree, const int64_t *events);

/* paths.c: acyclic paths (Apiwattanapong & Harrold 2002, section 2, after Ball & Larus 1996).
 *
 * A path begins at root or after a cut edge, and ends at EXIT or with a cut edge. All back edges are cut; others may be. In the DAG
 * edges have the same numbers as in the graph, but a cut edge leads from its source to EXIT, so that a path tells with which cut
 * edge it ended. Each vertex to which a cut edge leads gets one more edge from root (except root itself: a path that begins there
 * after a cut edge is one that begins at root). The DAG has the closing edge, which is not marked as such. Paths with phantoms
 * never run. */
struct dag {
	const struct graph *g;
	struct graph *graph;     /* the DAG, indexed */
	uint32_t close;          /* its edge EXIT -> root; not part of paths */
	bool *cut;               /* by edge of g */
	uint32_t *begin;         /* by vertex: the edge from root for paths that begin here, or GRAPH_NONE */
	uint32_t *up;            /* all vertices in reverse topological order: EXIT first, root last */
	double *w;               /* by edge of the DAG: price of code there. 0 where a path ends or begins: code to record it or to
	                          * set the register is there anyway */
};
/* Makes the DAG. g is closed, completed and indexed. w, by edge: how often it runs; times cost it is the price of code there. cold
 * (may be NULL): edges to cut besides back edges; edges into EXIT and phantoms in it are not cut. limit: paths at most; 0: no
 * limit. If there were more, more edges are cut, the coldest ones or all into some vertices, whichever is cheaper, and none without
 * need. NULL if an edge to cut is fixed, or if no such cuts are found, which happens only if limit is below a small multiple of the
 * number of edges: *why. */
struct dag *dag_new(const struct graph *g, const struct order *o, const double *w, const bool *cold,
                    uint64_t limit, const char **why);
/* The same, if recording a path costs as much as `record` additions. */
struct dag *dag_new_priced(const struct graph *g, const struct order *o, const double *w, const bool *cold,
                           uint64_t limit, double record, const char **why);
/* An order of the part of g that these cuts leave, for dag_new() with the same cuts: its back edges close the remaining loops. Its
 * arrays by edge are longer than nedge of g; the edges of g come first. */
struct order *dag_order(const struct graph *g, const bool *cut);

/* Code for values of edges whose sums name paths. Each activation has one register r, the path register:
 *
 *   at root               r = start[root]
 *   on an edge u -> v     r += add[e]
 *   on a cut edge u -> v  record r + add[e]; r = start[v]
 *   on an edge into EXIT  record r + add[e]
 *
 * If known[v], r always has value[v] at v and need not be held. A weaver may then leave out all code on edges between such
 * vertices; set r = value[u] + add[e] on an edge from a known u to a v that is not known (never a fixed edge); record value[u] +
 * add[e]; and not set r at root or after a cut edge if it is known there. If an activation is abandoned at v, the sum of its path
 * so far is r + query[v]. */
struct probes {
	int64_t *add;            /* by edge of g; 0 on fixed edges, meaningless on phantoms */
	int64_t *start, *query, *value; /* by vertex; start only at root and where cut edges lead */
	bool *known;             /* by vertex */
	uint32_t n;              /* number of edges that add something and do not end a path */
	double cost;             /* sum of w over these */
};
/* Probes for the values val, by edge of the DAG. phi: a potential by vertex; it moves values between edges and changes no sum (phi
 * of root and of EXIT may differ: start makes up for it). NULL if a number does not fit in 64 bits. */
struct probes *dag_probes(const struct dag *d, const int64_t *val, const int64_t *phi);
/* Notes another value that reaches v (`known`: it is `value`; else not known), and updates known[v] and value[v]. *seen: an earlier
 * call was for v; set by the call. */
void probes_meet(struct probes *p, uint32_t v, bool known, int64_t value, bool *seen);
/* The potential by which the edges of a maximum spanning tree (by price) add nothing. NULL: *why, as for span_max() and
 * events_place(). */
int64_t *dag_potential(const struct dag *d, const int64_t *val, const char **why);

/* What code on an edge does to the path register, in this order: record, then next. */
enum path_record {
	PATH_NO_RECORD, PATH_RECORD_KNOWN, PATH_RECORD_HELD,
	PATH_RECORD_WORD,        /* traced words (outcomes.c): writes the word, then a sum */
	PATH_RECORD_FULL,        /* the same, but after `next`, and only if the word has become full */
};
enum path_next { PATH_NOTHING, PATH_SET, PATH_ADD };
struct path_act {
	uint8_t record;          /* enum path_record: how the path that ends here is recorded */
	uint8_t next;            /* enum path_next: the register is set to n, or n is added */
	int64_t sum;             /* KNOWN: the path's sum; HELD: what to add to the register to get it */
	int64_t n;               /* with ADD, 0 means that the register is only kept */
	uint8_t shift;           /* words: ADD first shifts by this; WORD shifts by this, then adds `more`, for what it writes */
	int64_t more;            /* FULL: the register's value after the write */
};
/* By edge of g: the code for these probes; none where the register is known. */
struct path_act *dag_acts(const struct dag *d, const struct probes *p);

/* Numbers of paths: every path has a sum from 0 to n-1, which is its number. */
struct paths {
	const struct dag *dag;
	uint64_t n;
	uint64_t *num;           /* by vertex: NumPaths, the paths from here to EXIT in the DAG */
	int64_t *val;            /* by edge of the DAG: Val */
	struct probes *probes;
};
/* Numbers the paths. NULL if there are more than 2^32, or if no spanning tree exists for them: *why. */
struct paths *paths_number(const struct dag *d, const char **why);
/* The edges, in g, of the path with a number: writes at most nvert of them to edge[], *n of them; the last one leads into EXIT or
 * is cut. Returns the vertex where the path begins. For the sum of a path that was abandoned at v: some path that is the same up to
 * v. */
uint32_t paths_edges(const struct paths *p, uint64_t number, uint32_t *edge, uint32_t *n);
/* The number of a path, or UINT64_MAX if these edges are no path. */
uint64_t paths_find(const struct paths *p, uint32_t begin, const uint32_t *edge, uint32_t n);
/* True if these edges are a whole path that begins at `begin`. */
bool dag_has(const struct dag *d, uint32_t begin, const uint32_t *edge, uint32_t n);
/* Sum of a path's values (val by edge of the DAG); the path's edges are those of g. */
int64_t dag_sum(const struct dag *d, const int64_t *val, uint32_t begin, const uint32_t *edge, uint32_t n);

/* def_use.c: which definitions of one variable reach which of its uses: along some path through the graph, and along the paths that
 * ran. */

/* What a place does with the variable: it uses it, then defines it, or leaves an unknown value in it. */
enum { SITE_USES = 1, SITE_DEFINES = 2, SITE_LOSES = 4 };
struct def_use_site {
	uint32_t vertex, number; /* ascending; number orders the places of a vertex */
	uint8_t what;
};
struct def_use_edge {
	uint32_t from, to;
	bool loses;              /* after this edge the variable's value is unknown */
};
/* Consecutive edges that ran `count` times. */
struct def_use_path {
	uint32_t begin, n, *edge;
	bool cut;                /* only the path ends with the last edge: the activation's next path begins after it */
	bool stopped;            /* the activation ended after the edges, in vertex `at`, before site number `upto` */
	bool resumed;            /* the activation began there: the part before that place is subtracted, because another activation
	                          * ran it */
	uint32_t at, upto;
	uint64_t count;
};
struct def_use_problem {
	uint32_t nvert, root;    /* at root the variable's value comes from no definition here */
	uint32_t nedge, nsite, npath;
	const struct def_use_edge *edge;
	const struct def_use_site *site;
	const struct def_use_path *path;
	bool some;               /* other paths may have run, too */
};
/* Some path leads from the definition to the use without another definition in between. The use got the definition's value at least
 * `least` and at most `most` times; UINT64_MAX: no bound. */
struct def_use_pair {
	uint32_t def, use;       /* numbers of sites */
	uint64_t least, most;
};
struct def_use {
	struct def_use_pair *pair; /* by use, then definition */
	size_t n;
	size_t unknown;          /* uses that may get an unknown value */
};
/* Solves the problem. The result and everything in it is in the pool. */
struct def_use *def_use_pairs(struct pool *pool, const struct def_use_problem *q);

/* spp.c: selective path profiling (Apiwattanapong & Harrold 2002, section 3), made sound: no path of interest shares its sum with
 * another path. spp.c has the proof. */
struct spp {
	int64_t *val;            /* by edge of the DAG; never negative */
	struct probes *probes;
	uint64_t dense;          /* not 0: paths made of edges of interest only have the sums 0 .. dense-1, all others have larger
	                          * sums. 0: sums of interest are anywhere from 0 to 2^63-1 */
};
/* Makes all edges of a path edges of interest: sets ei, by edge of the DAG. False: the edges are no path. */
bool spp_add(const struct dag *d, bool *ei, uint32_t begin, const uint32_t *edge, uint32_t n);
/* Places the probes. Needs at least one path of interest. All paths made of edges of interest only get sums of their own.
 * dense_only: only dense sums will do; otherwise those with the cheapest probes are taken. NULL: *why (sums that do not fit in 64
 * bits, a cycle of fixed edges). */
struct spp *spp_place(const struct dag *d, const bool *ei, bool dense_only, const char **why);
/* select.c: the same with less code: where other paths come back to edges of interest the register is set instead of added to.
 * select.c has the proof. A pure path is one made of edges of interest only. */
struct spp_code {
	int64_t *val;            /* by edge of the DAG; never negative. Pure paths have the sums 0 .. n-1, others larger ones */
	uint64_t n, size;        /* recorded values are less than size: those of pure paths are their sums, others are n or more */
	struct probes *probes;   /* add (on edges of interest), start, query, known and value hold for pure paths; for others see
	                          * act. n and cost are about edges that end no path and set the register or add to it */
	struct path_act *act;    /* by edge of g: the code. Where it does nothing to a register that is not known, other paths do
	                          * not need the register */
};
/* Places the code. sure (may be NULL), by vertex: control that comes there always goes on, if only one edge leads on; then a path
 * may be recorded before it ends. NULL: *why. */
struct spp_code *spp_weave(const struct dag *d, const bool *ei, const bool *sure, const char **why);
/* Fig. 4 of that paper as printed, for comparison: Val by edge of the DAG. Phase 1, and phases 2 and 3 if asked for. After all
 * three a path of interest may share its sum with another path. NULL if NumPaths does not fit in 64 bits. */
enum { SPP_PHASE2 = 2, SPP_PHASE3 = 4 };
int64_t *spp_printed(const struct dag *d, const bool *ei, int phases);

/* bridge.c: what follows from known counts that do not determine all others: the counts of unknown edges that are on no cycle of
 * unknown edges. */

/* By vertex (in the graph's pool): the number of its class, 0 .. *n-1. Two vertices are in one class if they are on a common cycle
 * of unknown edges. The count of an unknown edge follows if its ends are in different classes. */
uint32_t *bridge_classes(const struct graph *g, const bool *known, uint32_t *n);
/* GRAPH_NONE if the known edges determine all others, or all wanted ones (by edge; NULL: all). Otherwise an edge whose count does
 * not follow. */
uint32_t bridge_check(const struct graph *g, const bool *known, const bool *wanted);
/* Finds all counts that follow, and sets known[] for them. Otherwise as flow_propagate(), but a failure changes nothing. */
bool bridge_propagate(const struct graph *g, bool *known, uint64_t *count, const int64_t *source, const char **why);

/* wanted.c: counters if only the counts of some edges are wanted (by edge). */

/* Takes away counters that no wanted edge needs. `counted` has to be counters on chords of `tree`. Returns how many were taken. If
 * the wanted edges stand for vertices this is Fig. 11 of 1994: the cycle of such a chord is pipeless. */
uint32_t wanted_thin(const struct graph *g, const bool *tree, const bool *wanted, bool *counted);
/* Chooses the cheapest wanted edges to count so that the counts of all wanted edges follow (Knuth & Stevenson 1973). Weights as for
 * span_max(). False: fixed edges among them cannot be told apart; *bad is one. */
bool wanted_place(const struct graph *g, const double *w, const bool *wanted, bool *counted, uint32_t *bad);

/* vertices.c: profiles of vertices only (section 3), with counters on vertices, on edges, or on both: counters on edges are given
 * by edge, those on vertices by vertex; the closing edge has none. All functions need an index. */

/* The graph whose edge v stands for vertex v of g; after these edges come, in their order, the edges of g that have counters or are
 * phantoms. vertices.c explains it. */
struct graph *vertices_join(const struct graph *g, const bool *counted);
/* Vprof(Vcnt): chooses the cheapest vertices to count (Knuth & Stevenson 1973). The weight of a vertex is the sum over its
 * in-edges. EXIT may be chosen, if no other vertex tells how often the procedure was left. */
void vertices_place(const struct graph *g, const double *w, bool *counted);
/* GRAPH_NONE if these counters determine the counts of all vertices, else a vertex whose count they do not determine.
 * vertex_counted may be NULL. */
uint32_t vertices_check(const struct graph *g, const bool *edge_counted, const bool *vertex_counted);
/* Vprof(Ecnt): takes away counters of edges, the most expensive first, while the rest still determines all vertices. Returns how
 * many. Quadratic time. */
uint32_t vertices_thin(const struct graph *g, const double *w, bool *counted);
/* The same by the heuristic of Fig. 11, for the chords of this tree. */
uint32_t vertices_thin_printed(const struct graph *g, const double *w, const bool *tree, bool *counted);
/* Computes the counts of all vertices from those of the counters (Fig. 8, but by one propagation in the joined graph instead of
 * setting edges to zero, which can make other counts negative). False: *why, as for flow_propagate(). */
bool vertices_propagate(const struct graph *g, const bool *edge_counted, const uint64_t *edge_count, const bool *vertex_counted,
                        uint64_t *vertex_count, const char **why);

/* witness.c: which edges write a witness when control passes, so that the sequence of witnesses determines the whole execution
 * (Ball & Larus 1994, section 4).
 *
 * Closing edge and phantoms do not belong to the graph here, because they never run; the other edges are real. A predicate is a
 * vertex with two or more real out-edges, parallel ones included. All functions need an index. */
bool witness_is_real(const struct graph *g, uint32_t e);
bool witness_is_predicate(const struct graph *g, uint32_t v);
/* By edge: does it block EXIT or a vertex v with call[v] (section 4.2)? Such an edge leaves a predicate, and v can be reached from
 * it without another predicate. */
bool *witness_blockers(const struct graph *g, const bool *call);
/* Fills written[], by edge: first the blockers (none if call is NULL, which is right for a single procedure), then the edges that
 * the forest of greatest weight leaves over. NULL, or why it cannot be done (in the graph's pool): an edge that has to write is
 * fixed. */
const char *witness_place(const struct graph *g, const double *w, const bool *call, bool *written);
/* Takes away witnesses, the most expensive first, while the rest still solves the tracing problem. Returns how many. Quadratic
 * time. */
uint32_t witness_thin(const struct graph *g, const double *w, const bool *call, bool *written);
/* NULL if these witnesses solve the tracing problem, else what prevents it (in the graph's pool): two different paths between the
 * same vertices on which nothing is written, a cycle without a witness, or, with call, a path without one from a predicate to a
 * call or EXIT. Quadratic time. */
const char *witness_check(const struct graph *g, const bool *written, const bool *call);

/* The values of witnesses in the trace. Two witnesses may have the same value, unless they follow different out-edges of one
 * predicate. */
struct witness_values {
	uint32_t n;              /* values used: 0 .. n-1 */
	uint32_t *value;         /* by edge; GRAPH_NONE: it writes nothing */
	uint32_t *way;           /* way[v * (n + 1) + value]: the out-edge of predicate v if the next witness has this value. Value
	                          * n stands for the end of the trace, which is only possible here if nothing blocks EXIT.
	                          * GRAPH_NONE: impossible */
};
/* Values for witnesses that solve the tracing problem. reuse: few values, found greedily: witnesses with most conflicts come first,
 * and each gets the least value that is free (the paper leaves this open, section 6.2). Otherwise each witness has its own. Needs
 * nvert * n * 4 bytes. */
struct witness_values *witness_values(const struct graph *g, const bool *written, bool reuse);

/* regenerate.c: an execution from its trace (Fig. 15), with a stack of procedures (section 4.2). */
struct trace_procedure {
	const struct graph *g;
	const struct witness_values *values;
	const uint32_t *callee;  /* by vertex: the procedure that it calls; GRAPH_NONE: none that writes */
};
/* Control flow that no graph shows and that is marked beside the witnesses: calls through pointers, callbacks, tail calls, jumps
 * out of activations. */
struct trace_mark {
	enum { TRACE_ENTERS, TRACE_IN_PLACE, TRACE_JUMPS } kind;
	uint32_t procedure;      /* ENTERS: called from the vertex; IN_PLACE: replaces the activation, which ends */
	uint32_t depth, vertex;  /* JUMPS: `depth` activations are left, and the innermost remaining one continues at `vertex` */
};
struct trace;
enum { TRACE_EOF = UINT32_MAX }; /* in place of a witness: the first procedure came to EXIT */
struct trace_source {
	/* Sets *value to the next witness, or TRACE_EOF. False: the trace is cut off here. */
	bool (*read)(void *ctx, uint32_t *value);
	void *ctx;
	/* Gives the next mark for the present place: the vertex on top of the stack, after t->used witnesses; `leaving`: on its
	 * edge to EXIT. False: there is none. It is called again after each mark. NULL: there are no marks. */
	bool (*marked)(void *ctx, const struct trace *t, bool leaving, struct trace_mark *m);
};
struct trace_frame {
	uint32_t procedure, vertex;
	bool called;             /* the callee of the vertex has returned */
	uint64_t number;         /* number of activations before it */
};
enum trace_event {
	TRACE_VERTEX,            /* control comes to a vertex, which is on top of the stack */
	TRACE_RETURN,            /* a procedure ended; its caller's vertex is on top of the stack */
	TRACE_END,               /* the first procedure came to EXIT */
	TRACE_CUT,               /* the trace is cut off before that; control came at least to the vertex on top */
	TRACE_DAMAGED,           /* the next witness is impossible here */
};
struct trace {
	const struct trace_procedure *procedure;
	struct trace_source source;
	VEC(struct trace_frame) stack;
	bool begun, ahead;       /* ahead: `witness` was read ahead */
	uint32_t witness;
	uint64_t used;           /* witnesses used up so far */
	uint64_t entered;        /* activations so far */
};
/* Begins with procedure number `first`. To be freed by trace_free(), which frees the stack only. */
void trace_begin(struct trace *t, const struct trace_procedure *procedure, uint32_t first, struct trace_source source);
/* The next event. After END, CUT or DAMAGED there is none. Memory use is that of the stack. */
enum trace_event trace_next(struct trace *t);
void trace_free(struct trace *t);

/* Union-find: the representative of v's set; set[v] is v's parent, and a representative is its own. Shortens the path. */
static inline uint32_t
graph_root(uint32_t *set, uint32_t v)
{
	while (set[v] != v)
		v = set[v] = set[set[v]];
	return v;
}

/* outcomes.c: bit tracing. A word collects the outcomes of predicates; each takes as many bits as tell its out-edges apart. A word
 * begins as a 1 followed by the number of the place where its path begins. Each edge shifts the word by bits[e] and adds code[e].
 * The word is written where a path ends, except at soft cuts, which it passes until it is full. So a word describes what an
 * activation did between two writes. */
enum { OUTCOMES_ROOM = 27 }; /* bits of a word after its leading 1 */
struct outcomes {
	const struct dag *dag;
	const int64_t *val;      /* by edge of the DAG: its value; sums name paths */
	const bool *soft;        /* by edge of g: it is cut, and the word goes on */
	uint8_t *bits;           /* by edge of g, as code */
	uint32_t *code;
	uint32_t *way, *way_at;  /* out-edges of vertex v that are real, by code: way[way_at[v]] .. way[way_at[v + 1] - 1] */
	uint32_t *begin;         /* by vertex: the number of words' beginnings there; GRAPH_NONE: no word begins there. Words that
	                          * begin at root have the code of the first edge instead */
	uint32_t *begins_at;     /* by number, from that of root's last edge on: the vertex */
	uint32_t nbegin;
	uint8_t begin_bits;      /* bits of such a number */
	bool *known;             /* by vertex: only one path leads there from where words begin; */
	uint64_t *word;          /* its word, */
	int64_t *sum;            /* and the sum of the path so far. Not known: the sum of one of the paths there */
	uint32_t *most;          /* by vertex: the most bits since the last place where the word can have been written */
	uint32_t full;           /* a word with more bits than this after its leading 1 is written at a soft cut */
};
/* NULL: a word may get more bits than it has room for. Only the closing edge may lead to root. soft and val are not copied. */
struct outcomes *outcomes_new(const struct dag *d, const bool *soft, const int64_t *val);
/* Number of real out-edges of a vertex. */
uint32_t outcomes_ways(const struct graph *g, uint32_t v);
/* Cuts further edges so that at most `most` bits are collected between two cuts, as far as edges are not fixed. The edges in cut[]
 * have to break all cycles. */
void outcomes_cut(const struct graph *g, bool *cut, uint32_t most);
/* The word with which paths from v begin. */
uint64_t outcomes_begin(const struct outcomes *o, uint32_t v);
/* What code on an edge of g does: it writes, then changes the word or the register that holds it. */
enum outcomes_write {
	OUTCOMES_NO_WRITE,
	OUTCOMES_WRITE_PATH,     /* the path with this sum, without a word */
	OUTCOMES_WRITE_WORD,     /* the word, shifted by `bits` plus `code`, then `sum`: that of a path with the same end */
	OUTCOMES_WRITE_FULL,     /* the same after the change, if the word then has more than `full` bits; the word then becomes
	                          * `word` */
};
enum outcomes_next {
	OUTCOMES_NOTHING,
	OUTCOMES_SET,            /* to `word` */
	OUTCOMES_SHIFT,          /* shifts by `bits` and adds `code` */
};
struct outcomes_act {
	uint8_t write, next;
	uint8_t bits;
	uint32_t code;
	uint64_t word;
	int64_t sum;
};
/* The code on edge e. Meaningless if e is not real. */
struct outcomes_act outcomes_act(const struct outcomes *o, uint32_t e);
/* The sums of the paths that a word written at edge `end` describes; sets *to, whose array the caller frees. False: no such word
 * can be written there. */
struct outcomes_sums {
	uint64_t *at;
	size_t n, cap;
};
bool outcomes_read(const struct outcomes *o, uint32_t word, uint32_t end, struct outcomes_sums *to);

#endif
