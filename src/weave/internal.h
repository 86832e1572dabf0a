/* SPDX-License-Identifier: MIT */
/* Shared by the passes of the weaver. */
#ifndef CHORD_WEAVE_INTERNAL_H
#define CHORD_WEAVE_INTERNAL_H

#include "asm/asm.h"
#include "weave/weave.h"

/* Where a counter goes. */
enum site_where {
	SITE_NONE,     /* nowhere: the edge cannot have one */
	SITE_BLOCK,    /* in a block, before instruction `insn` */
	SITE_AFTER,    /* behind the last instruction of a block, where it falls through */
	SITE_STUB,     /* in a stub that the block's jump is turned to */
	SITE_SPLIT,    /* at the start of a block, where only some ways of entering it pass */
};

/* What counters can be found by: a register that has the address of the procedure's own, or of the numbers that the first
 * events share. */
enum base_of { BASE_COUNTERS, BASE_NUMBERS, BASES_OF };

struct site {
	uint8_t where;          /* enum site_where */
	bool inline_stub;       /* the stub has to stand where the jump is */
	uint32_t block;
	uint32_t insn;
	struct liveness live;
	double price;
	uint32_t counter;       /* 0: none, else its number + 1 */
	struct path_code *path; /* what it does to the path register; NULL: nothing */
	const struct data_record *data; /* the registers that it writes down; NULL: none */
	int64_t *add;           /* by event: what it adds to the event's counter; NULL: nothing */
	int32_t *lag;           /* by event, if it has timers: what the counter lacks right behind that */
	uint8_t way;            /* and to which of the numbers that are alike */
	uint32_t probes;        /* set of the measures that have code here */
	uint8_t base[BASES_OF]; /* the register that has that address here, plus 1; 0: none */
	uint8_t load;           /* bits: these registers get it here, before all else */
};

/* Code that makes a register a base and counts nothing. */
struct base_load {
	struct site site;
	uint32_t edge;
	bool last;              /* it comes behind all else that stands there; else before */
};

/* Code for paths. */
struct path_code {
	struct path_op op;
	struct path_place place; /* but for its labels */
	uint32_t number;         /* names them */
	uint32_t stmt;           /* the call frame state is that before this statement; UINT32_MAX: not known */
};

/* The paths of a procedure. */
struct woven_paths {
	struct paths *paths;
	struct path_act *act;    /* by edge: the code */
	uint64_t *interest;      /* sums of interest */
	uint32_t ninterest;
	bool selected;           /* some paths are of interest only */
	bool traced;             /* a path that ends is written down, not counted */
	enum weave_encoding encoding; /* of what is written */
	const struct outcomes *outcomes; /* of bits; NULL: paths are written, or witnesses */
	bool strikes;            /* where it begins it asks whether it is a signal's handler */
	uint32_t measure;        /* that wants them */
	struct frames *frames;   /* where its frame is */
	uint8_t kind;            /* enum chord_path_kind */
	uint32_t size;           /* of the table, as in the map */
	uint32_t ncode;
	int8_t *assigned;            /* by vertex: the path register's place, as struct path_op has it; -1: shadow, or known */
	uint16_t *avail;         /* by vertex: registers that could have it, the stack pointer for the word below it */
	uint8_t *mark;           /* by edge: the bit that its code leaves set in the register and looks for; 0: none */
	bool *marked;            /* by vertex: such a bit may be set */
	bool memory;             /* it is in memory somewhere */
	bool lazy;               /* memory is guarded where it is used first, not where the procedure begins */
	bool below;              /* nothing is kept below the stack pointer */
	bool room;               /* nothing is kept where PATH_ROOM is */
};

/* Code that writes down registers (data.c). */
struct data_record {
	struct site site;
	uint32_t block, insn;    /* before that instruction of the block's part */
	uint8_t what;            /* as in the map */
	struct data_op op;
	struct path_place place; /* but for its labels */
	uint32_t number;         /* names it */
};

/* A call-free run: the instructions of a block behind a call, up to the next call, which is in it, or to the end of the block. */
struct call_free {
	uint32_t block, first, last; /* instructions [first, last) */
	struct site site;
};

/* A call of a procedure at whose entry the counter has more or fewer events than there have been. */
struct entered {
	uint32_t block, insn;
	const struct woven *callee;
};

struct woven {
	struct proc_text *proc;
	uint32_t number;        /* among the procedures of the text: names its labels */
	uint32_t anchor;        /* number of the first procedure in its section: what is linked to the section names that */
	bool grouped;           /* its counters are in a group of their own */
	uint32_t bucket;        /* of sections of the map that have one name: CHORD_MAP_BUCKET at most */
	struct site *edge;      /* by edge of the graph */
	struct site *block;     /* by block: in every-block, and where that is cheaper than on an edge */
	struct site *early;     /* by edge behind a call that may return twice: what is done before the call; NULL: nothing is */
	double *weight;
	const struct selection_proc *before; /* says how often its edges ran before; NULL: not known */
	uint32_t ncounter;
	uint32_t align;         /* of its counters: bytes */
	uint16_t held;          /* registers in which measures keep something somewhere */
	bool *split;            /* by block: it is split, jumps go to a label of their own */
	struct woven_paths *paths; /* if they are measured; else NULL */
	VEC(struct base_load) loads;
	uint16_t bases[BASES_OF]; /* bits: registers that are a base somewhere */
	VEC(struct call_free) call_free; /* of blocks with calls, if events are counted; in order */
	int64_t *query;         /* by block and event: QueryInc before its first instruction; NULL: no events */
	bool local;             /* only calls and tail calls of measured procedures of this text enter it */
	int64_t *lag;           /* by event: QueryInc where it is entered; NULL until it is placed */
	bool sole;              /* if the clock is counted: one direct call or jump of a measured procedure of this text enters
				 * it, and nothing else, and its frame is fixed */
	VEC(struct entered) entered; /* in order */
	uint64_t *events;       /* by instruction, in the order of blocks, and event: what it adds */
	VEC(struct seg) segments;
	VEC(struct call) call_sites;
	VEC(bool) labelled;     /* by call site: its return address has a label */
	VEC(struct data_record) data; /* in text order */
	bool begins;            /* the first of these is the stack pointer where the procedure begins, */
	int64_t begins_at;      /* and this is what it has been changed by */
};

/* The instruction of a block, by its number in the part's code. */
static inline const struct insn *
woven_insn(const struct woven *w, uint32_t block, uint32_t i)
{
	const struct block_text *b = &w->proc->block_text.at[block];

	return &w->proc->parts.at[b->part].code->insns.at[i];
}

/* The same, by its number in the block. */
static inline const struct insn *
block_insn(const struct woven *w, uint32_t block, uint32_t i)
{
	return woven_insn(w, block, w->proc->block_text.at[block].first + i);
}

static inline bool
insn_is_call(const struct insn *in)
{
	return in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL;
}

/* Does the block end in a call that goes on in the procedure itself, as in a retpoline? */
static inline bool
calls_within(const struct woven *w, uint32_t block)
{
	const struct graph *g = w->proc->graph;
	const struct insn *in = woven_insn(w, block, w->proc->block_text.at[block].last - 1);

	for (uint32_t i = g->out_at[block]; insn_is_call(in) && i < g->out_at[block + 1]; i++)
		if (g->out[i] < w->proc->arcs.n && w->proc->arcs.at[g->out[i]].kind == CHORD_EDGE_JUMP)
			return true;
	return false;
}

/* place.c: finds a site for every edge and block, prices them, fixes edges that have none. */
void place_sites(const struct unit *u, struct woven *w);
/* The number of the first of the nops at the end of a block that align what follows, or of the block's end. */
uint32_t padding_at_end(const struct woven *w, uint32_t block);

/* What a file says of the procedure; *other as for selection_find(). */
const struct selection_proc *place_find(const struct unit *u, const struct woven *w, const struct selection *in,
                                       const struct selection_proc **other);
/* The weights of its edges, made when they are first asked for: how often they ran before, or a guess. */
const double *place_weights(const struct unit *u, struct woven *w);
/* The cheapest place before one of the instructions [lo, hi] of a block; SITE_NONE if there is none. One at PLACE_FAR or more is
 * to be avoided. */
enum { PLACE_FAR = 1000 };
struct site place_between(const struct unit *u, const struct woven *w, uint32_t block, uint32_t lo, uint32_t hi);

/* The places for code that runs once whenever the procedure begins; at the end of a block; there, but before
 * instruction `insn`. SITE_NONE: there is none. */
struct site place_entry(const struct unit *u, const struct woven *w);
struct site place_end(const struct unit *u, const struct woven *w, uint32_t block);
struct site place_end_before(const struct unit *u, const struct woven *w, uint32_t block, uint32_t insn);

/* As near to the edge as can be: behind all of its source's block, or before all of its target's. */
struct site place_at_edge(const struct unit *u, const struct woven *w, uint32_t edge);

/* assign.c: chooses where the path register is. Returns the price of all code for paths but guards, in instructions. */
double assign_registers(const struct unit *u, struct woven *w);
/* The site of an edge, as it suits code that has the register in `from` before and in `to` behind it (-1: memory, or nowhere). */
struct site assign_site(const struct unit *u, const struct woven *w, uint32_t edge, int8_t from, int8_t to);

/* data.c: where registers are written down, so that the addresses of all accesses can be computed. Paths have been placed. */
void place_data(const struct unit *u, struct woven *w);

/* usual.c: finds w->paths->mark and marked. */
void mark_usual(const struct unit *u, struct woven *w);

/* paths.c: which edges have which code for a measure of paths; may refuse the procedure (proc->reason). False: the paths of
 * interest are not of it, as has been said. */
bool place_paths(const struct unit *u, struct woven *w, const struct selection *interest, uint32_t measure,
                 enum weave_encoding encoding);
/* Does the edge lead from a hub or gate out of the procedure? It cannot have code: what comes there has been written before. */
bool leaves_unseen(const struct proc_text *p, uint32_t e);
/* bits.c: words of outcomes for the paths of w->paths, of which those that end with the edges of `hard` (by edge) write. False:
 * there is an edge where something has to stand and cannot, or words get too long; nothing has changed. */
bool place_bits(const struct unit *u, struct woven *w, const bool *hard);
/* The least slot of a full word; 0: none ever is. */
uint32_t bits_full(const struct woven *w);
/* witness.c: the edges that write with another encoding than paths, beside those that have to (by edge, `cut`). w->paths gets these
 * pieces as its paths, and their code. False: refused, *why. */
bool place_witnesses(const struct unit *u, struct woven *w, const bool *cut, const char **why);
/* selection.c: numbers them so that each path of interest has a sum that no other path has. In w->paths. False as above. */
bool select_paths(const struct unit *u, struct woven *w, const struct selection *interest);
/* Says that paths of interest are not counted, if the procedure has any, because it is refused. */
void select_refused(const struct unit *u, const struct woven *w, const struct selection *interest);
/* Chooses table, registers and guards for w->paths->act. Returns the price of all that, in instructions that run. */
double plan_paths(const struct unit *u, struct woven *w);
/* The procedure as the map has it, with what has been found out of it so far; its arrays are w's. */
struct proc woven_proc(const struct unit *u, const struct woven *w);

/* local.c: marks those of all that only calls of measured procedures of the text enter (woven.local). */
void local_find(const struct unit *u, struct woven *all);
/* Marks those that are entered at one place (woven.sole). */
void local_find_sole(const struct unit *u, struct woven *all);
/* Does a direct call, or a jump in place of one, lead to the start of a procedure of the text, by no name that the linker may
 * replace? */
bool local_enters(const struct unit *u, const struct code *c, const struct insn *in, uint32_t *proc);
/* The local procedure that a call leads to, or NULL. */
struct woven *local_callee(const struct unit *u, struct woven *all, const struct code *c, const struct insn *in);
/* All procedures, what is called before what calls it, wherever calls form no cycle. In the unit's pool. */
uint32_t *local_order(const struct unit *u, struct woven *all);

/* clock.c: the sites that add 1 to the clock, which is event e of n. May refuse the procedure (proc->reason). */
bool place_clock(const struct unit *u, struct woven *w, struct woven *all, uint32_t e, uint32_t n);
/* Before that: finds which procedures need not count their executions (woven.sole). */
void clock_prepare(const struct unit *u, struct woven *all);
/* events.c: has a site add to the counter of event e of n. False: there can be no code there. */
bool site_add(struct woven *w, struct site *s, uint32_t e, uint32_t n, int64_t add);

/* events.c: what each site has to add to the counters of events, and to which of their numbers: from *way on, which is
 * moved. A local procedure that is called and not placed yet is local no more. False: refused, with proc->reason set. */
bool place_events(const struct unit *u, struct woven *w, struct woven *all, const struct event_list *list, uint32_t *way);
/* As if it had not been called. */
void forget_events(struct woven *w);
/* __chord_WHAT_EVENT (no terminating zero): the same in every object; and the second half of it. */
void event_symbol_of(struct buf *b, const char *what, const struct event *e);
void event_name_of(struct buf *b, const struct event *e);
/* The symbol that a call, or a jump out of the procedure `own`, leads to; NULL: not known. */
const char *woven_callee(const struct unit *u, const struct code *c, const struct insn *in, const struct proc_text *own);

/* How much further a site takes the counter of an event than the event has come. The clock's additions are its events. */
static inline int64_t
site_ahead(const struct site *s, const struct event_list *list, uint32_t e)
{
	return s->add && list->at[e].kind != EVENT_CLOCK ? s->add[e] : 0;
}
/* The same of a site that stands in the block, at the instruction or before it; 0 of others. */
static inline int64_t
site_added(const struct site *s, uint32_t block, uint32_t insn, const struct event_list *list, uint32_t e)
{
	return s->where == SITE_BLOCK && s->block == block && s->insn <= insn ? site_ahead(s, list, e) : 0;
}

/* Does anything have to be done there? */
static inline bool
site_used(const struct site *s)
{
	return s->probes || s->load;
}

/* cycle.c: the shortest cycle through each vertex of a procedure. */
enum { CYCLE_LONG = 32 };
struct cycle {
	uint32_t insns;         /* CYCLE_LONG: so many or more, or there is none */
	uint32_t latency;       /* cycles from one round to the next, at least; 0 if it is that long */
};
struct cycles;
/* Wants the graph's index. All of it is the pool's. */
struct cycles *cycles_new(struct pool *pool, const struct unit *u, const struct woven *w);
struct cycle cycle_of(struct cycles *c, uint32_t v);

/* base.c: lets additions in loops find their counters by a register, where one is dead. It is live there from then on. */
void place_bases(const struct unit *u, struct woven *w, const struct weave_options *o);
/* base_check.c: is on every way through the procedure each site's base what it is taken for, and does no load change what the
 * program still reads? Wants liveness as it was before. */
bool bases_hold(const struct unit *u, const struct woven *w);

/* packed.c: an array of numbers that some events share. Component k of number i is low + i / stride % span of axis k;
 * `ways` that are alike stand together. */
enum { NUMBER_AXES = 3 };
struct number_axis {
	uint32_t event;         /* its number in the list */
	int32_t low;            /* above -128, and low + span at most 127 */
	uint32_t span, stride;
};
struct number_box {
	struct number_axis axis[NUMBER_AXES];
	uint32_t n, ways;
	uint32_t size;          /* numbers, CHORD_NUMBERS_MOST or less */
};
struct number_boxes {
	struct number_box *at;
	uint32_t n;
};
/* Which events of a list share numbers: the same in every object with that list. */
struct number_boxes number_boxes(struct pool *pool, const struct event_list *list, bool calls);
/* The box that an event is in, and its axis there. */
const struct number_box *number_box_of(const struct number_boxes *boxes, uint32_t event, const struct number_axis **axis);
/* The array's symbol (no terminating zero). */
void number_symbol(struct buf *b, const struct number_box *box, const struct event_list *list, bool calls);
/* Appends the arrays' own sections. */
void emit_numbers(struct buf *tail, const struct event_list *list, bool calls);
struct number_add {
	uint32_t number;
	int32_t n;              /* what is added to it */
};
/* How a site adds to the counters of a box what `add` has, by event of the list. Returns how many additions
 * these are, NUMBER_AXES or less. */
uint32_t numbers_add(const struct number_box *box, const int64_t *add, uint32_t way, struct number_add *out);

/* edit.c: changes to the text, applied in order of their place. */
struct edit {
	uint32_t at, del;       /* offset; bytes that vanish there */
	uint32_t rank, seq;     /* at one place: by rank, then in order of making */
	uint32_t text, len;     /* slice of edits.text */
};
struct edits {
	VEC(struct edit) list;
	struct buf text;
};
/* Behind a statement: return label, end of a call's sum, answer to a query, stub in line, counter, jump over a
 * split, end of the part, alignment of a loop. Before one: alignment of a loop, label for jumps, counters, start of
 * a call's sum, start of a segment. */
enum rank {
	RANK_RETURN, RANK_RETURNED, RANK_QUERY, RANK_INLINE, RANK_AFTER, RANK_OVER, RANK_END,
	RANK_ALIGNED, RANK_ALIGN, RANK_TARGET, RANK_BEFORE, RANK_CALL, RANK_SEGMENT, RANK_OPERAND
};
/* Takes the text in b (newlines become `;`, so that line numbers stay) and empties it. */
void edit_add(struct edits *e, uint32_t at, uint32_t del, uint32_t rank, struct buf *b);
void edit_apply(struct edits *e, const struct text *t, struct buf *out);
void edit_free(struct edits *e);

/* A label of Chord's own; emit.c says which kinds there are. */
void label_add(struct buf *b, char kind, uint32_t proc, size_t number);
/* emit.c: the edits of one procedure. */
void emit_proc(const struct unit *u, struct woven *w, struct edits *e, const struct weave_options *o);
/* One that is refused: its map record only. */
void emit_refused(const struct unit *u, struct woven *w, struct edits *e);

/* query.c: what asks for the number of events in the text gets it. Before emit_proc(), which says where woven code
 * runs parallel to the original. */
void emit_queries(const struct unit *u, struct woven *woven, const struct weave_options *o, struct edits *e);

/* Direct calls of functions that end or make activations unseen go to the runtime's: there is no table
 * of a static program through which it could watch them. What has to follow the text goes to tail. */
void emit_watched(const struct text *t, bool traced, struct edits *e, struct buf *tail);

/* map.c: the map record of a procedure as directives, counters included. */
void map_record(const struct unit *u, const struct woven *w, const struct weave_options *o, struct buf *out);
void map_text(struct buf *blob, const char *s);
/* A section of the blob. */
void map_section(struct buf *blob, const char *tag, const struct buf *b);
/* Bytes, behind a 32-bit number of them. */
void map_bytes(struct buf *out, const struct buf *blob);
/* The distance from the start of its part of a segment's first instruction, in order; *base is 0 for the first one. */
void map_segment(struct buf *out, const struct woven *w, uint32_t segment, uint32_t *base);
void map_refused(const struct unit *u, const struct woven *w, struct buf *out);

/* timer.c: what the runtime has to know of the procedure for timers, as directives. */
void timer_record(const struct unit *u, const struct woven *w, const struct weave_options *o, struct buf *out);
/* By what name the program sets timers, and woven code asks the runtime. */
void emit_timers(struct buf *tail, const struct weave_options *o);

/* show.c: a readable dump of one procedure. */
void show_unit(const struct unit *u, FILE *f);
void show_proc(const struct unit *u, const struct proc_text *p, FILE *f);
void show_woven(const struct unit *u, const struct woven *w, FILE *f);

/* Do counters of events have to be right at every call? */
static inline bool
at_calls(const struct weave_options *o)
{
	return measures_with(o->measures, CHORD_AT_CALLS);
}

#endif
