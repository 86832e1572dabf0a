/* SPDX-License-Identifier: MIT */
/* graph: the algorithms of the papers, pure. No machine, no text, no I/O.
 *
 * A control-flow graph has a root and an exit vertex and, once closed, the edge
 * EXIT -> root (Ball & Larus 1994, section 2), so that flow is conserved at
 * every vertex. All vertices lie on a path from root to exit once
 * graph_complete() has run. All algorithms are iterative: graphs have up to
 * millions of vertices. Memory comes from the pool given. */
#ifndef CHORD_GRAPH_H
#define CHORD_GRAPH_H

#include "base/base.h"

enum { GRAPH_NONE = UINT32_MAX };

struct edge {
	uint32_t from, to;
	bool fixed;      /* no counter can be put on it: has to be in the spanning tree */
	bool phantom;    /* added by graph_complete(): never runs */
	double share;    /* how likely it is beside the other edges of its source, 1 is usual; > 0 */
	double cost;     /* price of one execution of its counter, 1 is usual; > 0 */
};

struct graph {
	struct pool *pool;
	uint32_t nvert, nedge, cap;
	uint32_t root, exit;
	uint32_t close;          /* the edge EXIT -> root, or GRAPH_NONE */
	struct edge *edge;
	/* Filled by graph_index(); stale after graph_edge(). Edge e leaves vertex v
	 * iff e is in out[out_at[v] .. out_at[v+1]), in ascending order; likewise in. */
	uint32_t *out_at, *out, *in_at, *in;
	const char *const *name; /* by vertex, for messages; NULL: its number is its name */
};

/* graph.c */
struct graph *graph_new(struct pool *pool, uint32_t nvert, uint32_t root, uint32_t exit);
uint32_t graph_vertex(struct graph *g);                       /* adds one, returns its number */
uint32_t graph_edge(struct graph *g, uint32_t from, uint32_t to); /* cost 1, not fixed; returns its number */
uint32_t graph_close(struct graph *g);                        /* adds EXIT -> root, fixed; once */
void graph_index(struct graph *g);
/* Makes every vertex reachable from root, and exit reachable from every vertex,
 * by phantom edges that never run (root -> v, v -> exit; fixed is set): for code that is not
 * reached by any edge known, and loops that never end. Indexes. Returns how many it added. */
uint32_t graph_complete(struct graph *g);
/* NULL if sound, else what is wrong (in the graph's pool). */
const char *graph_check(const struct graph *g);
const char *graph_name(const struct graph *g, uint32_t v);    /* for messages */

/* order.c: depth-first search from root */
struct order {
	uint32_t *pre, *post;    /* numbers by vertex, from 0; GRAPH_NONE if not reached */
	uint32_t *by_post;       /* vertices in postorder; nreached of them */
	uint32_t nreached;
	uint32_t *parent;        /* by vertex: the tree edge that leads to it; GRAPH_NONE at root */
	bool *back;              /* by edge: leads to a vertex still on the stack. The closing edge is not one. */
};
struct order *order_dfs(const struct graph *g);               /* wants an index */

/* loops.c: natural loops, joined by entry (section 5); loops.c says what stands for
 * them where the graph is irreducible. They always nest. */
struct loops {
	uint32_t nloop;
	uint32_t *head;          /* by loop: entry vertex; an outer loop comes before its inner ones */
	uint32_t *parent;        /* by loop: enclosing loop or GRAPH_NONE */
	uint32_t *depth;         /* by vertex: number of loops around it */
	uint32_t *inner;         /* by vertex: innermost loop or GRAPH_NONE */
	bool *irreducible;       /* by loop: also entered elsewhere than at its head */
	uint32_t *end;           /* by loop: l contains loop k iff l <= k < end[l] */
};
struct loops *loops_find(const struct graph *g, const struct order *o);
/* Does loop l contain vertex v? */
bool loops_contain(const struct loops *l, uint32_t loop, uint32_t v);

/* weight.c: the heuristic weighting of section 5, mended: every weight is positive and
 * finite, flow is conserved up to rounding at every vertex, of irreducible graphs too.
 * By edge; the closing edge weighs 1. Wants a graph that was completed. */
double *weight_heuristic(const struct graph *g, const struct order *o, const struct loops *l);

/* span.c: maximum spanning tree. Weight of an edge is w[e] * edge.cost. Closing edge and
 * fixed edges come first. By edge: in the tree? NULL if the fixed edges contain a cycle
 * (then *bad, if given, is an edge that closes one). */
bool *span_max(const struct graph *g, const double *w, uint32_t *bad);
/* The lightest tree with these first: its chords are the dearest (section 6, "Min"). */
bool *span_min(const struct graph *g, const double *w, uint32_t *bad);
/* Chords: edges not in the tree; never fixed, with one exception: a phantom that would close
 * a cycle of fixed edges (a vertex that needs one to be reached and one to reach exit) is a
 * chord. It never runs: its count is known to be 0, and it needs no counter. */

/* The heaviest edges that close no cycle, whatever their direction, of those that are not left out (by edge). NULL: as
 * span_max(). */
bool *span_forest(const struct graph *g, const double *w, const bool *left_out, uint32_t *bad);

/* cut.c: the cheapest cut between two nodes of a network (Dinic 1970). */
struct cut_arc {
	uint32_t from, to;
	double price;            /* of cutting it, 0 or more; GRAPH_NEVER: it cannot be cut */
};
#define GRAPH_NEVER 1e30
/* By node: is it on the source's side? As few are as can be. *price: of the arcs cut; GRAPH_NEVER or more: there is no cut. */
bool *graph_cut(struct pool *pool, uint32_t nnode, const struct cut_arc *arc, uint32_t narc, uint32_t source, uint32_t sink,
                double *price);

/* feedback.c: the cheapest edges that break all directed cycles, the closing edge's among them. price[e]: of choosing it, 0 or
 * more; GRAPH_NEVER: it cannot be chosen; below 0: it is not there at all, like phantoms. Not always the cheapest possible;
 * feedback.c says when. Wants an index. By edge: is it chosen? NULL: a cycle through vertex *bad has no edge that can be
 * chosen. */
bool *feedback_place(const struct graph *g, const double *price, uint32_t *bad);
/* Is there no cycle without an edge chosen? */
bool feedback_check(const struct graph *g, const double *price, const bool *chosen);

/* flow.c: propagation (Fig. 6), without recursion */
/* count[e] is known where known[e]; the edges not known have to form a forest.
 * source[v] (may be NULL) is flow that enters at v from outside the graph minus flow that
 * leaves there (early exits, re-entries): out(v) = in(v) + source[v].
 * On return all counts are filled. False if some count would be negative, does not fit
 * 64 bits, or flow cannot be conserved: *why says where (in the graph's pool); count is then not to be used. */
bool flow_propagate(const struct graph *g, const bool *known, uint64_t *count,
                    const int64_t *source, const char **why);
/* Conservation at every vertex and no phantom that ran: NULL if so, else what is wrong. */
const char *flow_check(const struct graph *g, const uint64_t *count, const int64_t *source);
/* Count of a vertex: sum of in-edges (the same as out-edges without source). UINT64_MAX if
 * it does not fit. */
uint64_t flow_vertex(const struct graph *g, const uint64_t *count, uint32_t v);

/* events.c: one counter for the events of a procedure, exact at any moment (Ball 1994).
 * By edge: what it adds, 0 on the tree; the chords with an increment other than 0 are those to
 * instrument. By vertex: QueryInc, what to add to the counter at v, with all edges on the
 * way there counted (section 3.3): also to a walk that ends at v for good (footnote 2). */
struct events {
	int64_t *increment, *query;
};
/* events[e] may be negative. `tree` spans the graph but for vertices without edges (their query
 * is 0). With the closing edge in it, as span_max() makes it, nothing is to be added at EXIT (if
 * that edge has no events). If it is a chord, its increment is what each execution has to add
 * once, at its begin or its end. Wants an index. NULL if the tree does not span or a sum does not
 * fit 64 bits: *why (may be NULL) says so.
 *
 * Vertex events (Fig. 2): split the vertex, or add them to all its in-edges (those of root to the
 * closing edge); query[v] is then what holds behind v.
 *
 * Calls are queries (section 4): the counter has to be right when control leaves for another
 * procedure. Let each call be a vertex between what runs before it and what runs after, use
 * events_join(), and both span_max() and this function on the result. The query increment of
 * calls is then 0, and the update before a call and the one after it have no place of their own:
 * they are part of the chords around (footnote 3), as cheap as the tree can choose them. Edges
 * keep their numbers, so weights stay right. */
struct events *events_place(const struct graph *g, const bool *tree, const int64_t *events, const char **why);
/* A copy in which every edge from or to a vertex marked leads from or to root instead; the
 * vertex itself is left without edges. EXIT, which is accurate anyhow, and root may be marked.
 * Same numbers of edges and vertices, indexed. Fixed edges between two calls close a cycle, and
 * span_max() says so. For span_max() and events_place() only. */
struct graph *events_join(const struct graph *g, const bool *accurate);
/* increment[e] = events[e] + phi[from] - phi[to] for any potential by vertex: what a walk
 * from u to v adds changes by phi[u] - phi[v]. False if one does not fit 64 bits. */
bool events_increments(const struct graph *g, const int64_t *events, const int64_t *phi, int64_t *increment);
/* Fig. 4 as printed, for comparison: wrong for self-loops not at root, which it visits from one
 * end only. NULL if a sum does not fit 64 bits. */
struct events *events_printed(const struct graph *g, const bool *tree, const int64_t *events);

/* paths.c: acyclic paths (Apiwattanapong & Harrold 2002, section 2, after Ball & Larus 1996).
 *
 * A path begins at root or behind a cut edge and ends at EXIT or with a cut edge. Cut are all
 * back edges, and others at will. In the DAG, edges have the numbers that they have in the graph
 * but a cut edge leads from its source to EXIT, so that a path tells which one it ended with;
 * for each of the vertices behind them there is one more edge, from root (none for root itself:
 * where a cut edge leads there, the path is one that begins at root). The closing edge is there,
 * but not marked as one. Phantoms are part of paths that never run. */
struct dag {
	const struct graph *g;
	struct graph *graph;     /* the DAG, indexed */
	uint32_t close;          /* its edge EXIT -> root, not to be walked */
	bool *cut;               /* by edge of g */
	uint32_t *begin;         /* by vertex: the edge from root for paths that begin here, or GRAPH_NONE */
	uint32_t *up;            /* all vertices, EXIT first, each after those it leads to; root last */
	double *w;               /* by edge of the DAG: price of code there. Where a path ends or begins: 0,
	                          * since there it is recorded, or the register set, in any case */
};
/* g closed, completed, indexed; w by edge: how often it runs, times cost is its price. `cold`
 * (may be NULL): edges to cut, beside back edges; those into EXIT and phantoms are not. If more
 * than `limit` paths were left, more edges are cut, the coldest or all into some vertices, as is
 * cheaper, and none in vain. limit 0: no limit. NULL if an edge to cut is fixed, or if no such
 * cuts are found, which takes a limit below some times the edges: *why. */
struct dag *dag_new(const struct graph *g, const struct order *o, const double *w, const bool *cold,
                    uint64_t limit, const char **why);
/* The same, where recording a path costs as much as so many additions. */
struct dag *dag_new_priced(const struct graph *g, const struct order *o, const double *w, const bool *cold,
                           uint64_t limit, double record, const char **why);
/* An order of what these cuts leave of g, for dag_new() with them: its back edges close the loops that are left, if any. Its arrays
 * by edge have more than those of g, which come first. */
struct order *dag_order(const struct graph *g, const bool *cut);

/* What to weave for values of edges whose sums name paths. One register, per activation:
 *
 *   at root               r = start[root]
 *   on an edge u -> v     r += add[e]
 *   on a cut edge u -> v  record r + add[e]; r = start[v]
 *   on an edge into EXIT  record r + add[e]
 *
 * Where known[v], r always has value[v] at v and need not be held: a weaver may leave out all
 * code on edges between such vertices, have r = value[u] + add[e] on an edge to one that is not
 * (never a fixed edge), record value[u] + add[e], and not set r at root or behind a cut edge if
 * it is known there. Where an activation is abandoned at v, r + query[v] is the sum of its path
 * so far. */
struct probes {
	int64_t *add;            /* by edge of g; 0 on fixed edges, and of no meaning on phantoms */
	int64_t *start, *query, *value; /* by vertex; start: root and where cut edges lead */
	bool *known;             /* by vertex */
	uint32_t n;              /* edges where a path does not end and that add something */
	double cost;             /* of those: sum of w */
};
/* phi: a potential by vertex; it moves values about and changes no sum (root and EXIT may differ:
 * start makes up for it). NULL if a number does not fit 64 bits. */
struct probes *dag_probes(const struct dag *d, const int64_t *val, const int64_t *phi);
/* One more of the values that reach v: sets known[v] and value[v] by all so far. *seen: there was one before. */
void probes_meet(struct probes *p, uint32_t v, bool known, int64_t value, bool *seen);
/* The potential of a spanning tree of greatest price, whose edges then add nothing.
 * NULL: *why, as span_max() and events_place(). */
int64_t *dag_potential(const struct dag *d, const int64_t *val, const char **why);

/* What code on an edge does to the register: in this order. */
enum path_record {
	PATH_NO_RECORD, PATH_RECORD_KNOWN, PATH_RECORD_HELD,
	PATH_RECORD_WORD,        /* traced words (outcomes.c): the word is written, and a sum; */
	PATH_RECORD_FULL,        /* the same behind `next`, if it has become full */
};
enum path_next { PATH_NOTHING, PATH_SET, PATH_ADD };
struct path_act {
	uint8_t record;          /* enum path_record: a path ends */
	uint8_t next;            /* enum path_next: then it becomes n, or has n added */
	int64_t sum;             /* KNOWN: the path's sum; HELD: what has to be added for it */
	int64_t n;               /* ADD of 0: it is only held on */
	uint8_t shift;           /* of words: ADD shifts it first; so does WORD, before `more` is added to what is written */
	int64_t more;            /* FULL: what it becomes when it has been written */
};
/* By edge of g: what these probes are, with no code where the register is known. */
struct path_act *dag_acts(const struct dag *d, const struct probes *p);

/* Every path has a number, 0 .. n-1, which is its sum. */
struct paths {
	const struct dag *dag;
	uint64_t n;
	uint64_t *num;           /* by vertex: NumPaths, paths from here to EXIT in the DAG */
	int64_t *val;            /* by edge of the DAG: Val */
	struct probes *probes;
};
/* NULL if there are more than 2^32 paths, or no spanning tree for them: *why. */
struct paths *paths_number(const struct dag *d, const char **why);
/* The edges of a path, in g, at most nvert of them, the last one into EXIT or cut; *n of them.
 * Returns the vertex where it begins. With the sum of an unfinished path, abandoned at v: a path
 * that is the same up to v. */
uint32_t paths_edges(const struct paths *p, uint64_t number, uint32_t *edge, uint32_t *n);
/* The number of a path, or UINT64_MAX if these edges are none. */
uint64_t paths_find(const struct paths *p, uint32_t begin, const uint32_t *edge, uint32_t n);
/* Are these the edges of a path, from where it begins to its end? */
bool dag_has(const struct dag *d, uint32_t begin, const uint32_t *edge, uint32_t n);
/* Sum of the values of a path. The edges are those of g. */
int64_t dag_sum(const struct dag *d, const int64_t *val, uint32_t begin, const uint32_t *edge, uint32_t n);

/* def_use.c: which definitions of one variable reach which of its uses: along some way through a graph, and along the paths that
 * ran. */

/* What is done with the variable at one place: it is used, then defined, or something is left in it that nobody knows. */
enum { SITE_USES = 1, SITE_DEFINES = 2, SITE_LOSES = 4 };
struct def_use_site {
	uint32_t vertex, number; /* ascending; number: orders the places of a vertex */
	uint8_t what;
};
struct def_use_edge {
	uint32_t from, to;
	bool loses;              /* behind it nobody knows what is in the variable */
};
/* Edges one after another, run `count` times. */
struct def_use_path {
	uint32_t begin, n, *edge;
	bool cut;                /* with the last edge only the path ends: another one of the activation begins behind it */
	bool stopped;            /* the activation ended behind the edges, in vertex `at`, before site number `upto`, */
	bool resumed;            /* or began there: what is before is taken off, since another one ran it */
	uint32_t at, upto;
	uint64_t count;
};
struct def_use_problem {
	uint32_t nvert, root;    /* at root the variable has what is no definition here */
	uint32_t nedge, nsite, npath;
	const struct def_use_edge *edge;
	const struct def_use_site *site;
	const struct def_use_path *path;
	bool some;               /* other paths may have run, too */
};
/* Some way leads from the definition to the use without another in between. The use got what the definition left at least and at
 * most so many times; UINT64_MAX: that has no bound. */
struct def_use_pair {
	uint32_t def, use;       /* sites */
	uint64_t least, most;
};
struct def_use {
	struct def_use_pair *pair; /* by use and definition */
	size_t n;
	size_t unknown;          /* uses that may get what nobody knows */
};
/* What is in the result is in the pool. */
struct def_use *def_use_pairs(struct pool *pool, const struct def_use_problem *q);

/* spp.c: selective path profiling (Apiwattanapong & Harrold 2002, section 3), made sound: a path
 * of interest shares its sum with no other path. spp.c has the proof. */
struct spp {
	int64_t *val;            /* by edge of the DAG; never negative */
	struct probes *probes;
	uint64_t dense;          /* if not 0: paths of edges of interest only have the sums 0 .. dense-1, all
	                          * others have larger ones. 0: sums of interest are anywhere from 0 to 2^63-1 */
};
/* Makes the edges of a path edges of interest (EI); ei by edge of the DAG. False: it is no path. */
bool spp_add(const struct dag *d, bool *ei, uint32_t begin, const uint32_t *edge, uint32_t n);
/* NULL: *why (sums that do not fit 64 bits, a cycle of fixed edges). Wants at least one path of
 * interest. All paths that have edges of interest only come to have sums of their own. dense_only:
 * none but dense sums will do; otherwise those with the cheapest probes. */
struct spp *spp_place(const struct dag *d, const bool *ei, bool dense_only, const char **why);
/* select.c: the same with less code: where others come back to edges of interest the register is set, not added to.
 * It has the proof. */
struct spp_code {
	int64_t *val;            /* by edge of the DAG; never negative. Pure paths have the sums 0 .. n-1, others larger ones */
	uint64_t n, size;        /* what is recorded is less than size: pure paths their sums, others n or more */
	struct probes *probes;   /* known, value, start, query, and add on edges of interest: of pure paths; of others see act.
	                          * n and cost: of edges where no path ends and the register is set or has something added */
	struct path_act *act;    /* by edge of g: the code. Where it does nothing to a register that is not known, others do
	                          * not need it */
};
/* sure, by vertex: what comes there goes on from there, if one edge only leads on; then paths may be recorded before they
 * come to their end. NULL: they are not. */
struct spp_code *spp_weave(const struct dag *d, const bool *ei, const bool *sure, const char **why);
/* Fig. 4 as printed, for comparison: Val by edge of the DAG. Phases: 1, and 2 and 3 if asked for.
 * After all three a path of interest may have the sum of another. NULL if NumPaths does not fit
 * 64 bits. */
enum { SPP_PHASE2 = 2, SPP_PHASE3 = 4 };
int64_t *spp_printed(const struct dag *d, const bool *ei, int phases);

/* bridge.c: what follows from known counts that do not determine all others: those of edges on no cycle of unknown ones. */

/* By vertex, in the pool of g: the number of its class. Two of one class are on cycles of unknown edges with one another; the count
 * of an unknown edge follows if its ends have different ones. *n classes. */
uint32_t *bridge_classes(const struct graph *g, const bool *known, uint32_t *n);
/* Do the known edges determine all others, or those that are wanted (by edge, NULL: all)? GRAPH_NONE if so, else one whose count
 * does not follow. */
uint32_t bridge_check(const struct graph *g, const bool *known, const bool *wanted);
/* Finds all counts that follow, and marks them known. As flow_propagate() otherwise; nothing is changed if it fails. */
bool bridge_propagate(const struct graph *g, bool *known, uint64_t *count, const int64_t *source, const char **why);

/* wanted.c: counters where the counts of some edges only are wanted, by edge. */

/* Of chords of a spanning tree that have counters: takes away those that no wanted edge needs. Returns how many. That is Fig. 11
 * of 1994, if what is wanted are vertices: the cycle of such a chord is pipeless. */
uint32_t wanted_thin(const struct graph *g, const bool *tree, const bool *wanted, bool *counted);
/* The cheapest of the wanted edges to count, so that all of them are known (Knuth & Stevenson 1973). Weight as for span_max().
 * False: some that are fixed cannot be told apart; *bad is one of them. */
bool wanted_place(const struct graph *g, const double *w, const bool *wanted, bool *counted, uint32_t *bad);

/* vertices.c: profiles of vertices only (section 3), with counters on vertices, on edges or on both. Counters on edges are given
 * by edge, those on vertices by vertex; the closing edge has none. All want an index. */

/* The graph whose edges are the vertices of g, edge v for vertex v, and behind them in their order the edges of g that have
 * counters or are phantoms. vertices.c says how. */
struct graph *vertices_join(const struct graph *g, const bool *counted);
/* Vprof(Vcnt): the cheapest vertices to count (Knuth & Stevenson 1973). The weight of a vertex is that of its edges in. EXIT may
 * be one of them: where no other vertex tells how often the procedure was left. */
void vertices_place(const struct graph *g, const double *w, bool *counted);
/* Do these counters determine the count of each vertex? vertex_counted may be NULL. GRAPH_NONE if so, else a vertex that is not
 * determined. */
uint32_t vertices_check(const struct graph *g, const bool *edge_counted, const bool *vertex_counted);
/* Vprof(Ecnt): takes away counters of edges, the dearest first, as long as those left determine all vertices. Returns how many.
 * Quadratic time. */
uint32_t vertices_thin(const struct graph *g, const double *w, bool *counted);
/* The same by the heuristic of Fig. 11, of the chords of this tree. */
uint32_t vertices_thin_printed(const struct graph *g, const double *w, const bool *tree, bool *counted);
/* From the counts of counters those of all vertices (Fig. 8; by one propagation in the joined graph in place of edges set to zero,
 * which can make other counts negative). False: *why, as flow_propagate(). */
bool vertices_propagate(const struct graph *g, const bool *edge_counted, const uint64_t *edge_count, const bool *vertex_counted,
                        uint64_t *vertex_count, const char **why);

/* witness.c: which edges write a witness when control passes, so that the witnesses in their order tell the whole way
 * (Ball & Larus 1994, section 4).
 *
 * The closing edge and phantoms are not part of the graph here: they never run. A predicate is a vertex with two or more of the
 * other edges out, parallel ones too. All want an index. */
bool witness_is_real(const struct graph *g, uint32_t e);
bool witness_is_predicate(const struct graph *g, uint32_t v);
/* By edge: does it block EXIT or a vertex v with call[v] (section 4.2)? These leave a predicate from which no other predicate comes
 * before v. */
bool *witness_blockers(const struct graph *g, const bool *call);
/* Fills written[], by edge. First the blockers, or none if `call` is NULL and there is one procedure only; then what the forest of
 * greatest weight leaves over. NULL, or why it cannot be done (in the graph's pool): an edge that has to write is fixed. */
const char *witness_place(const struct graph *g, const double *w, const bool *call, bool *written);
/* Takes away witnesses, the dearest first, as long as those left solve the tracing problem. Returns how many. Quadratic time. */
uint32_t witness_thin(const struct graph *g, const double *w, const bool *call, bool *written);
/* Do they solve the tracing problem? NULL if so, else what is in the way (in the graph's pool): a way from one vertex to another,
 * or back to it, on which nothing is written, beside another such; with `call`, a way from a predicate to a call or EXIT.
 * Quadratic time. */
const char *witness_check(const struct graph *g, const bool *written, const bool *call);

/* What a witness is in the trace: a number. Two may have the same one unless they are behind different ways out of one
 * predicate. */
struct witness_values {
	uint32_t n;              /* numbers used: 0 .. n-1 */
	uint32_t *value;         /* by edge; GRAPH_NONE: it writes nothing */
	uint32_t *way;           /* by vertex and value, [v * (n + 1) + value]: the edge out of predicate v that the next witness
	                          * tells; value n: the end of the trace, which only comes if nothing blocks EXIT; GRAPH_NONE:
	                          * it cannot come */
};
/* Of witnesses that solve the problem. reuse: with as few numbers as are found by giving each, those with the most conflicts
 * first, the least that is free (the paper leaves this open, section 6.2). Else each has its own. Needs nvert * n * 4 bytes. */
struct witness_values *witness_values(const struct graph *g, const bool *written, bool reuse);

/* regenerate.c: an execution from its trace (Fig. 15), with a stack of procedures (section 4.2). */
struct trace_procedure {
	const struct graph *g;
	const struct witness_values *values;
	const uint32_t *callee;  /* by vertex: the procedure that it calls; GRAPH_NONE: none that writes */
};
/* What no graph tells, and is marked beside the witnesses: calls through pointers, callbacks, tail calls, jumps out of
 * activations. */
struct trace_mark {
	enum { TRACE_ENTERS, TRACE_IN_PLACE, TRACE_JUMPS } kind;
	uint32_t procedure;      /* ENTERS: is called from the vertex; IN_PLACE: takes the place of the activation, which ends */
	uint32_t depth, vertex;  /* JUMPS: so many activations are left, and the innermost one goes on at that vertex */
};
struct trace;
enum { TRACE_EOF = UINT32_MAX }; /* in the place of a witness: the first procedure came to EXIT */
struct trace_source {
	/* The next witness, or TRACE_EOF. False: the trace ends here, without it. */
	bool (*read)(void *ctx, uint32_t *value);
	void *ctx;
	/* NULL: there are no marks. The mark for where control is: at the vertex on top of the stack, with t->used witnesses used
	 * up; `leaving`: on its edge to EXIT. False: there is none. It is asked again behind what was marked. */
	bool (*marked)(void *ctx, const struct trace *t, bool leaving, struct trace_mark *m);
};
struct trace_frame {
	uint32_t procedure, vertex;
	bool called;             /* what the vertex calls has returned */
	uint64_t number;         /* activations before it */
};
enum trace_event {
	TRACE_VERTEX,            /* control comes to a vertex: that on top of the stack */
	TRACE_RETURN,            /* a procedure ended; its caller's vertex is on top of the stack */
	TRACE_END,               /* the first procedure came to EXIT */
	TRACE_CUT,               /* the trace ends here, before that: control came to the vertex on top, at least */
	TRACE_DAMAGED,           /* this witness cannot come here */
};
struct trace {
	const struct trace_procedure *procedure;
	struct trace_source source;
	VEC(struct trace_frame) stack;
	bool begun, ahead;       /* is a witness read ahead? */
	uint32_t witness;
	uint64_t used;           /* witnesses that have been used up */
	uint64_t entered;        /* activations */
};
/* Begins with the procedure of a number. Free with trace_free(). */
void trace_begin(struct trace *t, const struct trace_procedure *procedure, uint32_t first, struct trace_source source);
/* The next event; after the last three there is none. Memory is that of the stack. */
enum trace_event trace_next(struct trace *t);
void trace_free(struct trace *t);

/* The one that stands for the set that v is in: set[v] leads there, and set[v] = v is it. Makes the way shorter. */
static inline uint32_t
graph_root(uint32_t *set, uint32_t v)
{
	while (set[v] != v)
		v = set[v] = set[set[v]];
	return v;
}

/* outcomes.c: bit tracing. A word collects the outcomes of predicates, of each in so many bits as tell its ways apart. It begins
 * as a 1 and the number of the place where the way begins; each edge then shifts it by bits[e], and adds code[e]. It is written
 * where a path ends, but for soft cuts: these it passes until it is full. So a word is the way of an activation between two
 * writes. */
enum { OUTCOMES_ROOM = 27 }; /* bits of a word behind its 1 */
struct outcomes {
	const struct dag *dag;
	const int64_t *val;      /* by edge of the DAG: sums of paths */
	const bool *soft;        /* by edge of g: cut, and the word goes on */
	uint8_t *bits;           /* by edge of g */
	uint32_t *code;
	uint32_t *way, *way_at;  /* real edges out of vertex v, by their codes: way[way_at[v]] .. way[way_at[v + 1] - 1] */
	uint32_t *begin;         /* by vertex: the number of the ways that begin there; GRAPH_NONE: none do. Those of root have
	                          * the code of the edge they take */
	uint32_t *begins_at;     /* by number, from that of root's last edge on: the vertex */
	uint32_t nbegin;
	uint8_t begin_bits;      /* of such a number */
	bool *known;             /* by vertex: one way only leads there from where ways begin, */
	uint64_t *word;          /* and this is its word, */
	int64_t *sum;            /* and this the sum of its path so far; else that of one of the paths there */
	uint32_t *most;          /* by vertex: bits that may have come since the last place where the word can be written */
	uint32_t full;           /* a word with more bits than that behind its 1 is written at a soft cut */
};
/* NULL: a word may get more bits than it has room for. No edge leads to root but the closing one. What is soft and val have to
 * stay. */
struct outcomes *outcomes_new(const struct dag *d, const bool *soft, const int64_t *val);
/* Real edges out of a vertex. */
uint32_t outcomes_ways(const struct graph *g, uint32_t v);
/* Cuts edges, beside those that are cut and break all cycles, so that no more bits than that come between two cuts, as far as the
 * edges are not fixed. */
void outcomes_cut(const struct graph *g, bool *cut, uint32_t most);
/* The word with which ways begin there. */
uint64_t outcomes_begin(const struct outcomes *o, uint32_t v);
/* What code on an edge of g does: it writes, then changes the word, or what holds it. */
enum outcomes_write {
	OUTCOMES_NO_WRITE,
	OUTCOMES_WRITE_PATH,     /* the path with that sum, without a word */
	OUTCOMES_WRITE_WORD,     /* the word, shifted by `bits` and with `code` added, and then that sum, of a path with that end */
	OUTCOMES_WRITE_FULL,     /* the same behind the change, if that left more than `full` bits: then it becomes `word` */
};
enum outcomes_next {
	OUTCOMES_NOTHING,
	OUTCOMES_SET,            /* to `word` */
	OUTCOMES_SHIFT,          /* by `bits`, and `code` is added */
};
struct outcomes_act {
	uint8_t write, next;
	uint8_t bits;
	uint32_t code;
	uint64_t word;
	int64_t sum;
};
/* No real edge: of no meaning. */
struct outcomes_act outcomes_act(const struct outcomes *o, uint32_t e);
/* The sums of the paths that a word stands for, which was written at that edge (to->at is the caller's). False: it cannot have
 * been. */
struct outcomes_sums {
	uint64_t *at;
	size_t n, cap;
};
bool outcomes_read(const struct outcomes *o, uint32_t word, uint32_t end, struct outcomes_sums *to);

#endif
