/* SPDX-License-Identifier: MIT */
/* asm: GNU assembler text: its statements, procedures and control-flow graphs.
 *
 * The text is never printed again: statements are slices of it. What an instruction does is read from the bytes that the real
 * assembler makes of it (struct object), never from its text. */
#ifndef CHORD_ASM_H
#define CHORD_ASM_H

#include "machine/machine.h"
#include "base/base.h"
#include "cfg/cfg.h"
#include "graph/graph.h"
#include "image/object.h"

/* ---- text.c: statements ---- */

enum stmt_kind {
	STMT_LABEL,     /* name: */
	STMT_ASSIGN,    /* name = expression */
	STMT_DIRECTIVE, /* .name operands */
	STMT_CODE,      /* anything else: an instruction, or the use of a macro that another file defines */
	STMT_OPAQUE,    /* .rept to .endr, .include, a macro's use: may hold any number of instructions */
};

enum stmt_flag {
	STMT_FOREIGN = 1, /* not in the syntax of the machine's own text */
	STMT_INLINE = 2,  /* inside #APP ... #NO_APP */
	STMT_ALIEN = 4,   /* code of another width */
	STMT_BYTES = 8,   /* a directive that makes bytes: data, or padding with STMT_PAD */
	STMT_PAD = 16,
	STMT_OTHER = 32,  /* in a section that surely holds no instructions */
	STMT_META = 64,   /* in one that describes code without running or pointing at it (debug, unwind tables) */
	STMT_MIXED = 128, /* STMT_OPAQUE that may hold data, or distances as numbers */
};

struct stmt {
	uint32_t at, len;   /* slice of the text, without separators and comments behind it */
	uint32_t line;      /* physical line, from 1 */
	uint8_t kind, flags;
};

struct text {
	const struct machine_text *machine;
	const char *at;     /* not zero terminated */
	uint32_t n;
	const char *file;   /* name for messages */
	VEC(struct stmt) stmts;
	bool compiler;      /* made by a compiler that says so (.ident): flags are never live across calls */
	bool code;          /* has a statement that may be an instruction */
	const char *source; /* operand of the first .file, in the pool; or "" */
};

/* Reads statements. False with a message in *why (pool) if the text cannot be divided into statements: unterminated macro, more
 * than 4 GiB. Never crashes, whatever the bytes are. */
bool text_read(struct text *t, struct pool *pool, const struct machine_text *machine, const char *at, size_t n, const char *file,
               const char **why);
void text_free(struct text *t);
struct str stmt_str(const struct text *t, const struct stmt *s);
/* First word of a statement: mnemonic, directive with its dot, label without its colon. */
struct str stmt_word(const struct text *t, const struct stmt *s);
/* What follows the first word, blanks trimmed. */
struct str stmt_rest(const struct text *t, const struct stmt *s);
/* Length of the number, decimal or 0x..., with which a text begins; 0 if it begins with none (a name may be all hex digits). */
size_t text_number(struct str s);
/* For an instruction that loads the address so many bytes after itself: the length of that number, which may be 0. -1: it is
 * another instruction. */
int stmt_pc_number(const struct text *t, const struct stmt *s);

/* ---- label.c: the text with a label before every statement that makes bytes ---- */

/* The prefix of all labels that Chord makes. */
#define LABEL_PREFIX ".Lchord"
/* Writes the labelled text; lines stay where they are. False: the text uses such labels itself. */
bool label_text(const struct text *t, struct buf *out);
/* Sections (0: none) and offsets of statements, from the object that the labelled text made. */
struct place {
	uint32_t section, off;
};
struct place *label_places(const struct text *t, const struct object *o, struct pool *pool);

/* ---- cfi.c: call frame state by statement ---- */

struct cfi;
/* Follows the .cfi directives. Never fails: states that it cannot follow are marked. */
struct cfi *cfi_read(const struct text *t, const struct machine_unwind *machine, struct pool *pool);
/* Can code that stands before statement `to` be given the call frame state that holds before `from`? If so, writes the directives
 * that change to that state, and those that change back. */
bool cfi_move(const struct cfi *c, uint32_t to, uint32_t from, struct buf *there, struct buf *back);

/* The canonical frame address (the stack pointer before the call) before a statement: register + off, or what memory has there. */
struct cfi_frame {
	uint8_t reg;        /* the machine's number */
	bool loaded;
	int64_t off;
};
/* False: it is not known. */
bool cfi_frame_at(const struct cfi *c, uint32_t stmt, struct cfi_frame *out);

/* Registers (bits, the machine's numbers) that are saved in the frame anywhere between two statements. False: there is no call
 * frame state. */
bool cfi_kept(const struct cfi *c, uint32_t first, uint32_t last, uint32_t *regs);

/* The statement, or the last of the call frame directives behind it, which belong to it. */
uint32_t stmt_behind(const struct text *t, uint32_t stmt);
/* Has the procedure set up a frame before the statement, so that a jump there cannot be a tail call? */
bool cfi_frame_open(const struct cfi *c, uint32_t stmt);
/* Is the frame found by the frame pointer there, or in a way that is not understood? */
bool cfi_by_frame_pointer(const struct cfi *c, uint32_t stmt);
/* Is there a state that finds it by the stack pointer? */
bool cfi_by_stack_pointer(const struct cfi *c, uint32_t stmt);

/* ---- code.c: instructions of a section ---- */

/* From lo on the code belongs to a part of a procedure. */
struct range {
	uint32_t lo, proc, part;
};

/* Why it is not known whether bytes are code. */
enum doubt_kind {
	DOUBT_CALL,  /* they stand behind a call or trap that is assumed not to return */
	DOUBT_DEAD,  /* only what nothing known leads to runs into them */
	DOUBT_MIXED, /* nothing known leads to them, but a macro or .rept made them */
	DOUBT_TAKEN, /* somebody has their address */
};

/* Bytes that are treated as data until doubts_settle() decides. */
struct doubt {
	uint32_t off;
	uint8_t kind;    /* enum doubt_kind */
};

enum bad_kind {
	BAD_BYTES,   /* control comes to what is no instruction */
	BAD_INSIDE,  /* something jumps into an instruction */
	BAD_UNCLEAR, /* it may be code or data */
};

/* A place that is not understood: its procedure is refused. */
struct bad {
	uint32_t off;
	uint8_t kind;    /* enum bad_kind */
};

/* Can control get there? */
enum reach {
	REACH_NONE,      /* nothing known leads there */
	REACH_PERHAPS,   /* only from instructions that nothing known leads to */
	REACH_SURE,
};

struct code {
	uint32_t section;        /* index in the object */
	uint32_t nbyte;
	uint32_t *at;            /* by byte offset: instruction that begins there, or UINT32_MAX */
	bool *labelled;          /* by byte offset: some label of the text stands there */
	bool *function;          /* by byte offset: a function symbol stands there */
	bool *root;              /* by byte offset: a jump or call goes there */
	VEC(uint32_t) fresh;     /* while it is read: roots found last */
	uint8_t falls;           /* while decoding: enum reach of what follows the last instruction */
	VEC(struct insn) insns;  /* ascending offsets */
	VEC(uint32_t) stmts;     /* statements that make bytes here, by offset */
	VEC(struct doubt) doubts;
	VEC(struct bad) bad;
	uint8_t *use;            /* doubt.c: by byte offset, how instructions use an address */
	VEC(struct range) ranges; /* procedures here, by offset */
};

/* ---- proc.c, cfg.c: procedures and their graphs ---- */

enum leader {
	LEADER_JUMP = 1,   /* target of a direct jump in its procedure */
	LEADER_ENTRY = 2,  /* reached from outside the procedure: another entry */
	LEADER_ADDRESS = 4,  /* its address is taken: indirect jumps may come here */
	LEADER_LAND = 8,   /* landing pad */
	LEADER_START = 16, /* begins a part */
	LEADER_AFTER = 32, /* follows a jump */
	LEADER_RECEIVE = 64, /* other activations jump back here */
	LEADER_BASE = 128, /* data tells other places by their distance from here */
	LEADER_LISTED = 256, /* data written by hand has its address */
	LEADER_FAULT = 512, /* fault.c: it may not be completed, and control may go on elsewhere in the procedure */
};

struct part {
	struct code *code;
	uint32_t lo, hi;             /* section offsets of its code, before weaving */
	uint32_t first, last;        /* instructions [first, last) */
	uint32_t first_stmt, last_stmt; /* statements that begin its first and last instruction */
	const char *name;            /* symbol, or a name made up */
};

/* The block with the same number, in the text. */
struct block_text {
	uint32_t part;
	uint32_t first, last;        /* instructions [first, last) of the part's code */
};

/* The edge with the same number, in the text. */
struct arc_text {
	bool jump;                   /* made by the jump at the end of its source */
	bool stuck;                  /* that jump cannot be given another operand */
	bool twice;                  /* leads behind a call that may return more than once, or is treated so (unit.calls_cut) */
};

/* A procedure of the text: its graph, which goes into the map, and where its parts are in the text. */
struct proc_text {
	const char *name;
	const char *reason;          /* why it is refused, or NULL */
	VEC(struct part) parts;
	VEC(struct block) blocks;    /* cfg.h; without counters until these have been placed */
	VEC(struct arc) arcs;
	VEC(struct block_text) block_text; /* by block */
	VEC(struct arc_text) arc_text; /* by arc; of phantoms, which come behind them in the graph, it has nothing */
	/* The graph's edges are the arcs, with the same numbers. Vertices: blocks, ENTRY, EXIT, then a hub if there is one, then
	 * gates. */
	struct graph *graph;
	uint32_t entry, exit, hub;   /* hub: GRAPH_NONE without indirect jumps and expected faults */
	VEC(uint32_t) gates;         /* by gate: the block that it leads to, of an instruction that may fault, or behind a trap */
	struct liveness *live;            /* live.c: per instruction of all parts, before it; see live_before() */
	uint32_t *live_base;          /* by part */
	uint16_t gone;               /* live.c: registers that mean nothing to whoever called it */
	bool strays;                 /* stack.c: its stack pointer may point to data somewhere */
	uint16_t behind;             /* live.c: registers that are live behind calls of it in this text, by name or pointer */
	bool called;                 /* live.c: by name, in this text */
	bool address_taken;          /* leader.c: it may be entered in other ways than by direct calls and jumps in this text */
};

/* A direct jump or call from one procedure into the middle of another. */
struct way {
	uint32_t section, off;       /* where it leads */
	uint32_t from, insn;         /* section and number of the instruction */
};

struct frames;

struct unit {
	struct pool *pool;
	const struct machine *machine;
	const struct text *text;
	const struct object *object;
	struct place *place;         /* by statement */
	struct cfi *cfi;
	uint16_t behind_pointers;    /* live.c: registers that are live behind any call through a pointer */
	bool calls_cut;              /* each call ends its block, as one that may return twice does */
	struct code **code;          /* by section index; NULL if it holds no instructions */
	uint32_t ncode;
	VEC(struct proc_text) procs;      /* in the order of their first statement */
	VEC(struct way) ways;        /* by where they lead */
	struct frames **frames;      /* frame.c: by procedure, as far as they have been needed */
};

/* Frees what is not in its pool; text, object and pool belong to others. */
void unit_free(struct unit *u);

/* Decodes the instructions of every section of the object. */
void code_read(struct unit *u);
/* doubt.c: the address of bytes that are treated as data is used somewhere. */
void doubt_address_taken(struct unit *u, uint32_t section, uint32_t off);
/* Refuses bytes in doubt that may be code. Once, when all addresses that are used anywhere are known. */
void doubts_settle(struct unit *u);
/* Splits the code into procedures. */
void proc_find(struct unit *u);
/* Marks leaders: jump targets, entries, mentions, landing pads. Before cfg_build. */
void leader_find(struct unit *u);
/* landing.c: marks landing pads (LEADER_LAND). Frames whose table is not understood are refused. */
void landing_find(struct unit *u);
/* fault.c: marks instructions that are expected to fault (LEADER_FAULT). False: there is no fixup to go to. */
bool fault_find(struct unit *u, struct proc_text *p);
/* Blocks and edges of one procedure; sets p->reason if it is not understood. */
void cfg_build(struct unit *u, struct proc_text *p);
/* distance.c: refuses what lies between a place and another that is given by a number of bytes. After cfg_build. */
void distances_keep(struct unit *u);
/* computed.c: refuses the procedure, or others that it may jump into, if it jumps to an address that it computes. */
void computed_find(struct unit *u, struct proc_text *p);
/* Finds the registers that calls and jumps leave alone. Once, before live_find(). */
void live_prepare(struct unit *u);
/* Finds what is live before every instruction of all procedures that are understood. */
void live_find(struct unit *u);
/* stack.c: before which instructions the stack pointer may point to data (live.no_stack), in all procedures. After live_find(). */
void stack_find(struct unit *u);

/* ---- frame.c: where the frame is, by what instructions do ---- */

/* Needs the graphs of all procedures that are understood; this is one of them. */
struct frames *frames_find(const struct unit *u, const struct proc_text *p);
/* The canonical frame address before instruction i of a block: from directives, unless the instructions say otherwise. False: it
 * is not known. */
bool frame_before(const struct frames *f, uint32_t block, uint32_t i, struct cfi_frame *out);
/* Is the stack pointer at a distance from the frame that is fixed for each instruction? */
bool frames_fixed(const struct frames *f);
/* Do directives agree with the instructions at every call? Otherwise unwinders do not find the caller. */
bool frames_as_stated(const struct frames *f);

/* ---- nonlocal.c: jumps into another activation's frame ---- */

struct nonlocal {
	uint32_t insn;               /* before it the frame is whole */
	struct str sp;               /* there: an operand that holds the stack pointer to be, */
	struct str pc;               /* and the address to be jumped to; empty: none is known */
	bool on_stack;               /* sp is addressed by the stack pointer */
};
/* Does the block end in such a jump? */
bool nonlocal_jumps(const struct unit *u, const struct proc_text *p, uint32_t block);
/* The place from which the runtime can be called about it. False: there is none. */
bool nonlocal_find(const struct unit *u, const struct proc_text *p, uint32_t block, struct nonlocal *a);

/* What is live on an edge from block `from` to vertex `to`. */
struct liveness live_on_edge(const struct unit *u, const struct proc_text *p, uint32_t from, uint32_t to);

/* The procedure and part at an offset of a section, or false. */
bool unit_find(const struct unit *u, uint32_t section, uint32_t off, uint32_t *proc, uint32_t *part);

/* The block that is entered at a vertex, or else the vertex. */
static inline uint32_t
proc_lands(const struct proc_text *p, uint32_t v)
{
	uint32_t first = p->exit + 1 + (p->hub != GRAPH_NONE);

	return v >= first && v < p->graph->nvert ? p->gates.at[v - first] : v;
}

static inline struct liveness
live_before(const struct proc_text *p, uint32_t part, uint32_t insn)
{
	return p->live[p->live_base[part] + insn - p->parts.at[part].first];
}

#endif
