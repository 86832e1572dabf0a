/* SPDX-License-Identifier: MIT */
/* Shared by the passes of the weaver. */
#ifndef CHORD_WEAVE_INTERNAL_H
#define CHORD_WEAVE_INTERNAL_H

#include "asm/asm.h"
#include "weave/weave.h"

/* Where a site is. */
enum site_where {
	SITE_NONE,     /* nowhere: the edge cannot have code */
	SITE_BLOCK,    /* in a block, before instruction `insn` */
	SITE_AFTER,    /* after the last instruction of a block, where it falls through */
	SITE_STUB,     /* in a stub to which the block's jump is redirected */
	SITE_SPLIT,    /* at the start of a block that only some ways of entering it pass */
};

/* What a base register holds: the address of the procedure's own counters, or of the numbers that the first events share. With
 * BASE_CELLS it is the address of the counters, and the lowest byte says which cell is next. */
enum base_of { BASE_COUNTERS, BASE_NUMBERS, BASE_CELLS, BASES_OF };

/* A counter of a loop for which a register counts (promote.c). Either the register counts up, or a register of the program moves by
 * a stride for each count, and only where it began is kept. */
struct promotion {
	const bool *in;         /* by vertex: so it is there (the unit's pool) */
	struct site *site;      /* that of the counter, */
	uint32_t probes;        /* whose probes were these */
	uint32_t counter;       /* as in struct site */
	uint32_t open;          /* the same, of the number of executions of the loop that are under way. Promotions in the same
	                         * blocks share it. Before number_promotions(): 0, or the first such promotion, plus 1 */
	uint8_t reg;            /* the register that counts or keeps where `var` began, plus 1; 0: that is kept */
	uint8_t below;          /* this many bytes below the stack pointer */
	uint8_t var;            /* the program's register, plus 1; 0: `reg` counts up */
	int64_t stride;         /* of `var`: a power of two, perhaps negative */
};

/* What is done for a promotion on an edge into its blocks, or out of them. */
struct count_code {
	uint32_t promotion;     /* its number, plus 1 */
	uint8_t temp;           /* at the end, if nothing but the stack keeps where it began: a register to compute in, plus 1 */
	uint8_t scratch;        /* so many bytes below the stack pointer that register's value waits meanwhile; 0: it is dead */
	int32_t more;           /* `var` began at its value here plus this; it ends at its value here less this */
	struct count_code *next;
};

/* A place for woven code, and what the code does. */
struct site {
	uint8_t where;          /* enum site_where */
	bool inline_stub;       /* the stub has to stand where the jump is */
	uint32_t block;
	uint32_t insn;
	struct liveness live;
	double price;
	uint32_t counter;       /* 0: none, else number of the counter + 1 */
	struct path_code *path; /* what it does to the path register; NULL: nothing */
	const struct data_record *data; /* the values that it writes to the trace; NULL: none */
	int64_t *add;           /* by event: what it adds to the event's counter; NULL: nothing */
	int32_t *lag;           /* by event with timers: what the counter lacks right after that */
	uint8_t way;            /* which of the equal numbers it adds to */
	uint32_t probes;        /* set of the measures that have code here */
	uint8_t base[BASES_OF]; /* the register that holds that address here, plus 1; 0: none */
	uint8_t load;           /* bits: registers that are loaded with it here, before everything else */
	bool of_cells;          /* its counter consists of cells, and is found by base[BASE_CELLS] */
	bool turns;             /* base[BASE_NUMBERS] goes to the next cell before the addition */
	uint32_t promoted;      /* the promotion in whose register it counts, plus 1; 0: it adds to the counter */
	struct count_code *begins; /* promotions that begin here, after everything else */
	struct count_code *ends; /* promotions that end here, before everything else */
	uint8_t lends;          /* bits: registers of which the program's value is put away before that load */
	uint8_t gets_back;      /* after everything else this register gets the program's value again, plus 1; 0: none */
	uint8_t borrows;        /* it adds through this register, whose value waits on the stack meanwhile, plus 1; 0: none */
};

/* Code that loads a base register and counts nothing. */
struct base_load {
	struct site site;
	uint32_t edge;
	bool last;              /* it comes after everything else at its place; otherwise before */
};

/* Code for paths. */
struct path_code {
	struct path_op op;
	struct path_place place; /* without its labels */
	uint32_t number;         /* is in its labels */
	uint32_t one;            /* number of the only counter in which it can count; 0: it looks for that, or does not count */
	uint32_t cells;          /* number of the cells that it adds to in place of that counter; 0: none */
	bool overwrites;         /* it may call something, which uses all words below the stack pointer */
	uint32_t stmt;           /* the call frame state is that before this statement; UINT32_MAX: not known */
};

/* The paths of a procedure. */
struct woven_paths {
	struct paths *paths;
	struct path_act *act;    /* by edge: the code */
	uint64_t *interest;      /* sums of the paths of interest */
	uint32_t ninterest;
	bool selected;           /* only some paths are of interest */
	bool traced;             /* a path that ends is written to the trace, not counted */
	enum weave_encoding encoding; /* of the trace */
	const struct outcomes *outcomes; /* WEAVE_BITS: words of outcomes; NULL: paths or witnesses are written */
	bool strikes;            /* at its entry it tests whether it is called as a signal's handler */
	uint32_t measure;        /* the measure that needs them */
	struct frames *frames;   /* where the procedure's frame is */
	uint8_t kind;            /* enum chord_path_kind */
	uint32_t size;           /* of the table, as in the map */
	uint32_t ncode;          /* number of pieces of code, for labels */
	int8_t *assigned;            /* by vertex: the place of the path register, as in struct path_op; -1: in the shadow, or its
	                              * value is known */
	uint16_t *avail;         /* by vertex: registers that could hold it; the stack pointer's bit: the word below the stack
	                          * pointer could */
	uint8_t *mark;           /* by edge: the bit that its code looks for and sets in the register; 0: none */
	bool *marked;            /* by vertex: such a bit may be set */
	bool memory;             /* somewhere it is in the shadow */
	bool lazy;               /* the shadow is guarded where it is first used, not at the procedure's entry */
	bool below;              /* nothing is kept below the stack pointer */
	bool room;               /* nothing is kept in the word PATH_ROOM */
};

/* Code that writes a value to the trace (data.c). */
struct data_record {
	struct site site;
	uint32_t block, insn;    /* before that instruction of the block's part */
	uint8_t what;            /* as in the map */
	struct data_op op;
	struct path_place place; /* without its labels */
	uint32_t number;         /* is in its labels */
};

/* A call-free run: the instructions of a block after a call, up to and including the next call, or to the end of the block. */
struct call_free {
	uint32_t block, first, last; /* instructions [first, last) */
	struct site site;
};

/* A call of a procedure at whose entry the counter has more or fewer events than have happened. */
struct entered {
	uint32_t block, insn;
	const struct woven *callee;
};

/* A procedure, and what the passes have decided for it. */
struct woven {
	struct proc_text *proc;
	uint32_t number;        /* among the procedures of the text; is in its labels */
	uint32_t anchor;        /* number of the first procedure in its section, whose label is used by what is linked to the
	                         * section */
	bool grouped;           /* its counters are in a section group of their own */
	uint32_t bucket;        /* number in the name of its map section; at most CHORD_MAP_BUCKET sections share a name */
	struct site *edge;      /* by edge of the graph */
	struct site *block;     /* by block: in every-block, and where that is cheaper than on an edge */
	struct site *early;     /* by edge after a call that may return twice: what is done before the call; NULL: nothing */
	double *weight;
	const struct selection_proc *before; /* how often its edges ran before; NULL: not known */
	uint32_t ncounter;      /* 8-byte words, with those of cells */
	uint32_t cells, ncells; /* the first word of counters that consist of cells, and the number of these counters */
	VEC(uint32_t) cells_of; /* by such a counter: 0, or the number of the counter to which its count belongs */
	uint32_t spare;         /* words that are no counter of their own: all cells but the first, and what aligns them */
	uint32_t align;         /* of its counters, in bytes */
	bool turns;             /* so a site does, and that register may stand at any cell elsewhere, too */
	uint16_t held;          /* registers in which some measure keeps something somewhere */
	bool near;              /* nothing is kept below the stack pointer, where registers that are borrowed wait */
	uint8_t below;          /* below the stack pointer, from PATH_ROOM on, some measure uses so many words */
	bool *split;            /* by block: it is split, and jumps go to a label of its second part */
	struct woven_paths *paths; /* NULL: paths are not measured */
	VEC(struct promotion) promotions;
	VEC(struct base_load) loads;
	uint16_t bases[BASES_OF]; /* masks: registers that are a base somewhere */
	uint8_t lent[16];       /* by register: the word so many bytes below the stack pointer has the program's value where the
	                         * register is a base though the program needs it later; 0: it is never lent */
	VEC(struct call_free) call_free; /* of blocks with calls, if events are counted; in order */
	int64_t *query;         /* by block and event: the query increment before its first instruction; NULL: no events */
	bool local;             /* it is entered only by calls and tail calls of measured procedures of this text */
	int64_t *lag;           /* by event: the query increment at its entry; NULL until it is placed */
	bool sole;              /* for the clock: it is entered only by one direct call or jump of a measured procedure of this
	                         * text, and its frame is fixed */
	VEC(struct entered) entered; /* in order */
	uint64_t *events;       /* by instruction, in the order of blocks, and event: what it adds */
	VEC(struct seg) segments;
	VEC(struct call) call_sites;
	VEC(bool) labelled;     /* by call site: its return address has a label */
	VEC(struct data_record) data; /* in text order */
	bool begins;            /* the first value is the stack pointer where the procedure begins, */
	int64_t begins_at;      /* which is this many bytes above its value at the entry */
};

/* The instruction of a block with a number in the part's code. */
static inline const struct insn *
woven_insn(const struct woven *w, uint32_t block, uint32_t i)
{
	const struct block_text *b = &w->proc->block_text.at[block];

	return &w->proc->parts.at[b->part].code->insns.at[i];
}

/* The instruction of a block with a number in the block. */
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

/* True if the block ends in a call that continues in the procedure itself, as in a retpoline. */
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

/* place.c: finds a site for every edge and block, prices the sites, and fixes edges that have none. */
void place_sites(const struct unit *u, struct woven *w);
/* Number of the first nop at the end of a block that aligns what follows; or of the block's end. */
uint32_t padding_at_end(const struct woven *w, uint32_t block);
/* The way out of a block that is nothing but an instruction that has to stay first (a landing pad's endbr64), and so has no place
 * of its own: code there runs as often as the block does. GRAPH_NONE: the block is another one, or there is no place either. */
uint32_t place_behind_landing(const struct woven *w, uint32_t block);

/* What a file says of the procedure; *other as for selection_find(). */
const struct selection_proc *place_find(const struct unit *u, const struct woven *w, const struct selection *in,
                                       const struct selection_proc **other);
/* The weights of its edges, made by the first call: how often they ran before, or a guess. */
const double *place_weights(const struct unit *u, struct woven *w);
/* The cheapest site before one of the instructions [lo, hi] of a block; SITE_NONE: there is none. A price of PLACE_FAR or more is
 * to be avoided. */
enum { PLACE_FAR = 1000 };
struct site place_between(const struct unit *u, const struct woven *w, uint32_t block, uint32_t lo, uint32_t hi);

/* Sites for code that runs once whenever the procedure begins; at the end of a block; and there, but before instruction `insn`.
 * SITE_NONE: there is none. */
struct site place_entry(const struct unit *u, const struct woven *w);
struct site place_end(const struct unit *u, const struct woven *w, uint32_t block);
struct site place_end_before(const struct unit *u, const struct woven *w, uint32_t block, uint32_t insn);

/* The site nearest to an edge: after all of its source's block, or before all of its target's. */
struct site place_at_edge(const struct unit *u, const struct woven *w, uint32_t edge);

/* below.c: does the procedure keep nothing of its own in the word PATH_ROOM below the stack pointer, wherever that points?
 * *nothing: it keeps nothing at all below the stack pointer. */
bool below_room(const struct unit *u, const struct woven *w, bool *nothing);

/* assign.c: chooses the place of the path register. Returns the price of all code for paths except guards, in instructions. */
double assign_registers(const struct unit *u, struct woven *w);
/* The site of an edge for code that has the path register in `from` before it and in `to` after it (-1: in the shadow, or
 * nowhere). */
struct site assign_site(const struct unit *u, const struct woven *w, uint32_t edge, int8_t from, int8_t to);

/* data.c: chooses where values are written to the trace, so that the addresses of all accesses can be computed. Paths have to be
 * placed. */
void place_data(const struct unit *u, struct woven *w);

/* usual.c: fills w->paths->mark and marked. */
void mark_usual(const struct unit *u, struct woven *w);

/* paths.c: why the text can have no measure of paths; "": it can. */
const char *paths_shadow_taken(const struct object *o);
/* Chooses the code of each edge for a measure of paths. May refuse the procedure (proc->reason). False: the paths of
 * interest do not fit the procedure; reported. */
bool place_paths(const struct unit *u, struct woven *w, const struct selection *interest, uint32_t measure,
                 enum weave_encoding encoding);
/* True if the edge leads from a hub or gate out of the procedure. It cannot have code: paths that come there were written
 * before. */
bool leaves_unseen(const struct proc_text *p, uint32_t e);
/* bits.c: words of outcomes for the paths of w->paths. Paths that end with an edge in `hard` (by edge) are written there. False:
 * some edge has to have code and cannot, or words get too long; nothing has changed. */
bool place_bits(const struct unit *u, struct woven *w, const bool *hard);
/* The least slot of a full word; 0: words are never full. */
uint32_t bits_full(const struct woven *w);
/* witness.c: for encodings other than paths: finds the edges that write, besides those that have to (`cut`, by edge). w->paths gets
 * the pieces between them as its paths, and their code. False: refused, *why. */
bool place_witnesses(const struct unit *u, struct woven *w, const bool *cut, const char **why);
/* selection.c: numbers the paths of w->paths so that each path of interest has a sum of its own. False as for place_paths(). */
bool select_paths(const struct unit *u, struct woven *w, const struct selection *interest);
/* Reports that paths of interest are not counted because the procedure is refused, if it has any. */
void select_refused(const struct unit *u, const struct woven *w, const struct selection *interest);
/* Chooses table, registers and guards for w->paths->act. Returns their price, in executed instructions. */
double plan_paths(const struct unit *u, struct woven *w);
/* The procedure as the map has it, with what is known so far; its arrays are w's. */
struct proc woven_proc(const struct unit *u, const struct woven *w);

/* local.c: sets woven.local in all procedures. */
void local_find(const struct unit *u, struct woven *all);
/* Sets woven.sole in all procedures. */
void local_find_sole(const struct unit *u, struct woven *all);
/* True if the instruction is a direct call, or a jump in place of one, to the start of a procedure of the text (*proc), by a name
 * that the linker cannot replace. */
bool local_enters(const struct unit *u, const struct code *c, const struct insn *in, uint32_t *proc);
/* The local procedure to which a call leads, or NULL. */
struct woven *local_callee(const struct unit *u, struct woven *all, const struct code *c, const struct insn *in);
/* All procedures, callees before their callers wherever calls form no cycle (the unit's pool). */
uint32_t *local_order(const struct unit *u, struct woven *all);

/* clock.c: places the sites that add 1 to the clock, which is event e of n. May refuse the procedure (proc->reason), and then
 * returns false. */
bool place_clock(const struct unit *u, struct woven *w, struct woven *all, uint32_t e, uint32_t n);
/* Called before: finds procedures that need not count their executions (woven.sole). */
void clock_prepare(const struct unit *u, struct woven *all);
/* events.c: makes a site add to the counter of event e of n. False: no code is possible there. */
bool site_add(struct woven *w, struct site *s, uint32_t e, uint32_t n, int64_t add);

/* events.c: decides what each site adds to the counters of events, and to which of the equal numbers, from *way on, which is
 * advanced. A local procedure that is called and not placed yet is no longer local. False: refused, proc->reason is set. */
bool place_events(const struct unit *u, struct woven *w, struct woven *all, const struct event_list *list, uint32_t *way);
/* Undoes place_events(). */
void forget_events(struct woven *w);
/* Append __chord_WHAT_EVENT (not zero terminated), which is the same in every object; and its second half. */
void event_symbol_of(struct buf *b, const char *what, const struct event *e);
void event_name_of(struct buf *b, const struct event *e);
/* The symbol to which a call, or a jump out of the procedure `own`, leads; NULL: not known. */
const char *woven_callee(const struct unit *u, const struct code *c, const struct insn *in, const struct proc_text *own);

/* By how much a site advances the counter of an event beyond the event itself. The clock's additions are its events: 0. */
static inline int64_t
site_ahead(const struct site *s, const struct event_list *list, uint32_t e)
{
	return s->add && list->at[e].kind != EVENT_CLOCK ? s->add[e] : 0;
}
/* The same for a site in the block, at the instruction or before it; 0 for other sites. */
static inline int64_t
site_added(const struct site *s, uint32_t block, uint32_t insn, const struct event_list *list, uint32_t e)
{
	return s->where == SITE_BLOCK && s->block == block && s->insn <= insn ? site_ahead(s, list, e) : 0;
}

/* True if the site has code. */
static inline bool
site_used(const struct site *s)
{
	return s->probes || s->load || s->gets_back || s->begins || s->ends;
}

/* cycle.c: the shortest cycle through each vertex of a procedure. */
enum { CYCLE_LONG = 32 };
struct cycle {
	uint32_t insns;         /* instructions; CYCLE_LONG: that many or more, or no cycle */
	uint32_t latency;       /* lower bound of the cycles of a round; 0 if insns is CYCLE_LONG */
};
struct cycles;
/* Needs the graph's index. All memory is the pool's. */
struct cycles *cycles_new(struct pool *pool, const struct unit *u, const struct woven *w);
struct cycle cycle_of(struct cycles *c, uint32_t v);

/* base.c: lets additions in loops address their counters by a register, where one is dead; from there on it is live. */
void place_bases(const struct unit *u, struct woven *w, const struct weave_options *o);
/* base_check.c: true if on every path through the procedure each site's base holds the assumed address, no load changes a register
 * that the program still reads, and registers that count are added to their counters. Needs liveness as it was before
 * place_bases(). */
bool bases_hold(const struct unit *u, const struct woven *w);

/* packed.c: an array of numbers that some events share. On axis k number i has the weight low + i / stride % span. `ways` equal
 * numbers stand together, or `step` numbers apart, with unused ones in between. */
enum { NUMBER_AXES = 3 };
struct number_axis {
	uint32_t event;         /* index in the list */
	int32_t low;            /* above -128, and low + span is at most 127 */
	uint32_t span, stride;
};
struct number_box {
	struct number_axis axis[NUMBER_AXES];
	uint32_t n, ways, step;
	uint32_t size;          /* numbers, at most CHORD_NUMBERS_MOST */
};
struct number_boxes {
	struct number_box *at;
	uint32_t n;
};
/* Has it a number for each step of a base register? They are at a multiple of their size. */
bool number_box_has_cells(const struct number_box *box);
/* Decides which events of a list share numbers (pool): the same in every object with that list. */
struct number_boxes number_boxes(struct pool *pool, const struct event_list *list, bool calls);
/* The box of an event, and the event's axis there. */
const struct number_box *number_box_of(const struct number_boxes *boxes, uint32_t event, const struct number_axis **axis);
/* Appends the array's symbol, not zero terminated. */
void number_symbol(struct buf *b, const struct number_box *box, const struct event_list *list, bool calls);
/* Appends the sections of the arrays. */
void emit_numbers(struct buf *tail, const struct event_list *list, bool calls);
struct number_add {
	uint32_t number;
	int32_t n;              /* what is added to it */
};
/* The additions by which a site adds add[], by event of the list, to the counters of a box. Returns how many, at most
 * NUMBER_AXES. */
uint32_t numbers_add(const struct number_box *box, const int64_t *add, uint32_t way, struct number_add *out);

/* edit.c: changes of the text, applied in the order of their places. */
struct edit {
	uint32_t at, del;       /* offset; bytes that are deleted there */
	uint32_t rank, seq;     /* order at one place: by rank, then in the order of edit_add() */
	uint32_t text, len;     /* slice of edits.text */
};
struct edits {
	VEC(struct edit) list;
	struct buf text;
};
/* Ranks after a statement: return label, end of a call's sum, answer to a query, stub in line, counter, jump over a split, end of
 * the part, alignment of a loop. Ranks before a statement: alignment of a loop, label for jumps, counters, start of a call's sum,
 * start of a segment. */
enum rank {
	RANK_RETURN, RANK_RETURNED, RANK_QUERY, RANK_INLINE, RANK_AFTER, RANK_OVER, RANK_END,
	RANK_ALIGNED, RANK_ALIGN, RANK_TARGET, RANK_BEFORE, RANK_CALL, RANK_SEGMENT, RANK_OPERAND
};
/* Adds an edit with the text in b, and empties b. Newlines become `;`, so that line numbers stay. */
void edit_add(struct edits *e, uint32_t at, uint32_t del, uint32_t rank, struct buf *b);
void edit_apply(struct edits *e, const struct text *t, struct buf *out);
void edit_free(struct edits *e);

/* ---- lengths.c: numbers in instructions that are lengths of code ---- */

/* What is refused for them, from one weaving of a text to the next. */
struct lengths {
	bool *proc;             /* by procedure; NULL before the first weaving */
	uint32_t round;
	bool again;             /* more is refused than in the last weaving */
};
/* May the text have such numbers? False for most texts that compilers make. */
bool lengths_stated(const struct unit *u);
/* Adds labels to the edits by which statements are found in the object that woven text makes. */
void lengths_label(const struct unit *u, struct edits *e);
/* Compares the text's instructions with those in the object of woven text with these labels. If some have other numbers, sets
 * l->again and what is to be refused then; l->proc has to have an element for each procedure. */
void lengths_find(struct lengths *l, const struct unit *u, const struct object *woven);

/* Appends the name of one of Chord's labels; emit.c lists the kinds. */
void label_add(struct buf *b, char kind, uint32_t proc, size_t number);
/* emit.c: the edits of one procedure. */
void emit_proc(const struct unit *u, struct woven *w, struct edits *e, const struct weave_options *o);
/* The edits of a refused procedure: only its map record. */
void emit_refused(const struct unit *u, struct woven *w, struct edits *e);

/* query.c: gives answers to the queries in the text. Call it before emit_proc(), which determines where woven code runs parallel to
 * the original. */
void emit_queries(const struct unit *u, struct woven *woven, const struct weave_options *o, struct edits *e);

/* Redirects direct calls of functions that would end or make activations unseen to the runtime's functions, for static programs,
 * which have no table through which it could watch them. What has to follow the text is appended to `tail`. */
void emit_watched(const struct text *t, bool traced, struct edits *e, struct buf *tail);

/* resolver.c: does the text have resolvers of ifuncs? */
bool has_resolvers(const struct unit *u);
/* Lets the runtime see the text's module before any of the text's ifunc resolvers runs. An ifunc that is a label itself
 * (hand-written) is left alone. */
void emit_resolvers(const struct unit *u, struct edits *e);

/* map.c: appends the map record of a procedure, counters included, as directives. */
void map_record(const struct unit *u, const struct woven *w, const struct weave_options *o, struct buf *out);
void map_text(struct buf *blob, const char *s);
/* Appends a section of the blob. */
void map_section(struct buf *blob, const char *tag, const struct buf *b);
/* Appends the bytes, after a 32-bit number with their size. */
void map_bytes(struct buf *out, const struct buf *blob);
/* Appends the distance of a segment's first instruction from the start of its part. Call it in order; *base is 0 for the first
 * one. */
void map_segment(struct buf *out, const struct woven *w, uint32_t segment, uint32_t *base);
void map_refused(const struct unit *u, const struct woven *w, struct buf *out);

/* timer.c: appends what the runtime has to know of the procedure for timers, as directives. */
void timer_record(const struct unit *u, const struct woven *w, const struct weave_options *o, struct buf *out);
/* Appends the symbols by which the program sets timers and woven code asks the runtime. */
void emit_timers(struct buf *tail, const struct weave_options *o);

/* show.c: a readable dump of one procedure. */
void show_unit(const struct unit *u, FILE *f);
void show_proc(const struct unit *u, const struct proc_text *p, FILE *f);
void show_woven(const struct unit *u, const struct woven *w, FILE *f);

/* True if counters of events have to be right at every call. */
static inline bool
at_calls(const struct weave_options *o)
{
	return measures_with(o->measures, CHORD_AT_CALLS);
}

#endif
