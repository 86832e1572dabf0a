/* SPDX-License-Identifier: MIT */
/* asm: GNU assembler text: its statements, procedures and control-flow graphs.
 *
 * The text is never printed again: statements are slices of it. What an instruction does is read from the bytes that the real
 * assembler makes of it (struct object), never from its text. Register sets are bits, by the machine's numbers. */
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
	STMT_CODE,      /* everything else: an instruction, or the use of a macro that another file defines */
	STMT_OPAQUE,    /* .rept to .endr, .include, the use of a macro: may hold any number of instructions */
};

enum stmt_flag {
	STMT_FOREIGN = 1, /* not in the syntax of the machine's assembler text */
	STMT_INLINE = 2,  /* inside #APP ... #NO_APP */
	STMT_ALIEN = 4,   /* code of another word size */
	STMT_BYTES = 8,   /* a directive that makes bytes: data, or with STMT_PAD padding */
	STMT_PAD = 16,
	STMT_OTHER = 32,  /* in a section that cannot hold instructions */
	STMT_META = 64,   /* in a section that describes code, and neither runs nor points at it (debug, unwind tables) */
	STMT_MIXED = 128, /* STMT_OPAQUE that may hold data, or distances given as numbers */
	STMT_NUMBERS = 256, /* STMT_OPAQUE that may hold operands that are numbers of bytes from the PC */
	STMT_SECTIONS = 512, /* STMT_OPAQUE that may change the section */
	STMT_DEFINES = 1024, /* STMT_OPAQUE that may define macros */
	STMT_COUNTS = 4096, /* STMT_OPAQUE that may decide by a number of bytes what it makes */
	STMT_SYNTAX = 8192, /* STMT_OPAQUE that may change the syntax, or the word size of code */
	STMT_DIFFERS = 2048, /* STMT_OPAQUE that may hold data with differences of places */
	STMT_LENGTHS = 16384, /* STMT_OPAQUE that may subtract places that its operands name */
	STMT_ALIGNS = 32768, /* STMT_OPAQUE that may have padding in it */
};

struct stmt {
	uint32_t at, len;   /* slice of the text, without separators and trailing comments */
	uint32_t line;      /* physical line, from 1 */
	uint8_t kind;
	uint8_t syntax;     /* with STMT_FOREIGN: which one of the machine's foreign */
	uint16_t flags;
};

struct text {
	const struct machine_text *machine;
	const char *at;     /* not zero terminated */
	uint32_t n;         /* bytes that the assembler reads: not those behind an .end */
	const char *file;   /* name for messages */
	VEC(struct stmt) stmts;
	bool compiler;      /* made by a compiler that says so (.ident): flags are never live across calls */
	bool code;          /* has a statement that may be an instruction */
	struct strmap macros; /* that it defines: names in lower case, to the flags of their uses */
	bool unseen;        /* some macros may be defined where that is not seen: their uses look like instructions */
	const char *source; /* the name in the first .file, in the pool; or "" */
};

/* Reads the statements of a text; `at` and `file` have to live as long as t. False with a message in *why (pool) if the text cannot
 * be divided into statements (an unterminated macro) or has more than 4 GiB. Works with any bytes. */
bool text_read(struct text *t, struct pool *pool, const struct machine_text *machine, const char *at, size_t n, const char *file,
               const char **why);
void text_free(struct text *t);
/* Does a statement begin with the name of one of the text's macros? at: statements without comments, as woven code is. */
bool text_defines(const struct text *t, const char *at, size_t n, struct str *name);
/* The statement's text: a slice. */
struct str stmt_str(const struct text *t, const struct stmt *s);
/* The first word of a statement: mnemonic, directive with its dot, or label without its colon. */
struct str stmt_word(const struct text *t, const struct stmt *s);
/* The line that changes back to the statement's syntax from the machine's own; NULL: it is in that. */
const char *stmt_syntax(const struct text *t, const struct stmt *s);
/* Is a directive or mnemonic this one, which is given in lower case? The assembler takes either case. */
bool word_is(struct str word, const char *name);
/* Does the assembler decide by that directive's first operand, a number, what it makes? The word is in lower case. */
bool word_decides(struct str word);
/* What follows the first word, without blanks around it. */
struct str stmt_rest(const struct text *t, const struct stmt *s);
/* Length of the number, decimal or 0x..., at the beginning of a text; 0: there is none (a name may consist of hex digits). */
size_t text_number(struct str s);
/* For an instruction that loads an address given as a number of bytes after itself: the length of that number in the text, which
 * may be 0. -1: another instruction. */
int stmt_pc_number(const struct text *t, const struct stmt *s);

/* What a section's name tells: STMT_OTHER, STMT_META or neither. */
uint8_t section_flags(struct str name);

/* ---- label.c: the text with a label before every statement that makes bytes ---- */

/* The prefix of all labels that Chord makes. */
#define LABEL_PREFIX ".Lchord"
/* Appends the labelled text to out; line numbers stay the same. False: the text itself has such labels. */
bool label_text(const struct text *t, struct buf *out);
/* Appends that label for one statement. */
void label_statement(struct buf *out, size_t stmt);
/* The place of a statement in the object that was assembled from the labelled text. */
struct place {
	uint32_t section, off; /* section 0: the statement made no bytes there */
};
/* Places by statement (pool); in an object of woven text, too, if it has these labels. */
struct place *label_places(const struct text *t, const struct object *o, struct pool *pool);

/* label.c: if macros may be unseen, makes statements opaque that are perhaps uses of them. Those that remain STMT_CODE made one
 * instruction each, with operands or a mnemonic that show it. */
void text_doubt_uses(struct text *t, const struct machine *m, const struct object *o, const struct place *place);

/* ---- cfi.c: call frame state by statement ---- */

struct cfi;
/* Follows the .cfi directives (pool). Never fails: states that it cannot follow are marked as not known. */
struct cfi *cfi_read(const struct text *t, const struct machine_unwind *machine, struct pool *pool);
/* Can code before statement `to` be given the call frame state that holds before `from`? If so, appends the directives that change
 * to that state to `there`, and those that change back to `back`. */
bool cfi_move(const struct cfi *c, uint32_t to, uint32_t from, struct buf *there, struct buf *back);

/* The canonical frame address (the stack pointer before the call) before a statement: register + off, or the word in memory at that
 * address if `loaded`. */
struct cfi_frame {
	uint8_t reg;        /* the machine's number */
	bool loaded;
	int64_t off;
};
/* The canonical frame address by directives. False: not known, or it is found in some other way. */
bool cfi_frame_at(const struct cfi *c, uint32_t stmt, struct cfi_frame *out);
/* Registers by which unwinders find the frame, and what is saved in it, before a statement. False: not known. */
bool cfi_frame_regs(const struct cfi *c, uint32_t stmt, uint32_t *regs);
/* Adds to what is live what unwinders need before a statement. */
void cfi_need(const struct cfi *c, uint32_t stmt, struct liveness *live);

/* Registers that are saved in the frame at any statement from first to last. False: there is no call frame state. */
bool cfi_kept(const struct cfi *c, uint32_t first, uint32_t last, uint32_t *regs);

/* The last of the call frame directives that follow the statement and belong to it; the statement itself if there are none. */
uint32_t stmt_behind(const struct text *t, uint32_t stmt);
/* True if the procedure has set up a frame before the statement, so that a jump there cannot be a tail call. */
bool cfi_frame_open(const struct cfi *c, uint32_t stmt);
/* True if the frame is found by the frame pointer there, or in a way that is not understood. */
bool cfi_by_frame_pointer(const struct cfi *c, uint32_t stmt);

/* ---- code.c: instructions of a section ---- */

/* Code of a section from offset lo up to the next range belongs to that part of that procedure. */
struct range {
	uint32_t lo, proc, part;
};

/* Why it is uncertain whether bytes are code. */
enum doubt_kind {
	DOUBT_CALL,  /* they follow a call or trap that is assumed not to return */
	DOUBT_DEAD,  /* control falls into them only from code that nothing known leads to */
	DOUBT_MIXED, /* nothing known leads to them, but a macro or .rept made them */
	DOUBT_TAKEN, /* their address is taken */
};

/* Bytes that are treated as data until doubts_settle() decides. */
struct doubt {
	uint32_t off;
	uint8_t kind;    /* enum doubt_kind */
};

enum bad_kind {
	BAD_BYTES,   /* control comes to bytes that are no instruction */
	BAD_INSIDE,  /* a jump leads into an instruction */
	BAD_UNCLEAR, /* code or data */
};

/* A place that is not understood: its procedure is refused. */
struct bad {
	uint32_t off;
	uint8_t kind;    /* enum bad_kind */
};

/* Whether control can reach a place. */
enum reach {
	REACH_NONE,      /* nothing known leads there */
	REACH_PERHAPS,   /* only from instructions that nothing known leads to */
	REACH_SURE,
};

struct code {
	uint32_t section;        /* index in the object */
	uint32_t nbyte;
	uint32_t *at;            /* by byte offset: the number of the instruction that begins there, or UINT32_MAX */
	bool *labelled;          /* by byte offset: some label of the text stands there */
	bool *function;          /* by byte offset: a function symbol stands there */
	bool *root;              /* by byte offset: a jump or call leads there */
	VEC(uint32_t) fresh;     /* while reading: roots found last */
	uint8_t falls;           /* while decoding: enum reach of what follows the last instruction */
	VEC(struct insn) insns;  /* by offset, ascending */
	VEC(uint32_t) stmts;     /* statements that make bytes here, by offset */
	VEC(uint32_t) pads;      /* numbers of those in `stmts` that may be padding */
	VEC(struct doubt) doubts;
	VEC(struct bad) bad;
	uint8_t *use;            /* doubt.c: by byte offset, how instructions use the address */
	VEC(struct range) ranges; /* procedures here, by offset */
};

/* ---- proc.c, cfg.c: procedures and their graphs ---- */

enum leader {
	LEADER_JUMP = 1,   /* target of a direct jump in its procedure */
	LEADER_ENTRY = 2,  /* reached from outside the procedure: another entry */
	LEADER_ADDRESS = 4,  /* its address is taken: indirect jumps may lead here */
	LEADER_LAND = 8,   /* landing pad */
	LEADER_START = 16, /* begins a part */
	LEADER_AFTER = 32, /* follows a jump */
	LEADER_RECEIVE = 64, /* jumps from other activations lead back here */
	LEADER_BASE = 128, /* data gives other places by their distance from here */
	LEADER_LISTED = 256, /* data written by hand has its address */
	LEADER_FAULT = 512, /* fault.c: the instruction may fault, and control may continue elsewhere in the procedure */
};

struct part {
	struct code *code;
	uint32_t lo, hi;             /* section offsets of its code, before weaving */
	uint32_t first, last;        /* instructions [first, last) */
	uint32_t first_stmt, last_stmt; /* first statement of its first instruction, last statement of its last one */
	const char *name;            /* a symbol, or a name made up */
};

/* Where the block with the same number is in the text. */
struct block_text {
	uint32_t part;
	uint32_t first, last;        /* instructions [first, last) of the part's code */
};

/* What the text says of the edge with the same number. */
struct arc_text {
	bool jump;                   /* made by the jump at the end of its source block */
	bool stuck;                  /* the jump cannot be given another operand */
	bool twice;                  /* leads to the place after a call that may return twice, or is treated so (unit.calls_cut) */
};

/* A procedure of the text: its graph, which goes into the map, and the places of its parts in the text. */
struct proc_text {
	const char *name;
	const char *reason;          /* why it is refused, or NULL */
	VEC(struct part) parts;
	VEC(struct block) blocks;    /* cfg.h; without counters until they are placed */
	VEC(struct arc) arcs;
	VEC(struct block_text) block_text; /* by block */
	VEC(struct arc_text) arc_text; /* by arc; has no elements for phantoms, which follow the arcs in the graph */
	/* The graph's edges have the numbers of the arcs. Vertices: blocks, ENTRY, EXIT, a hub if there is one, gates. */
	struct graph *graph;
	uint32_t entry, exit, hub;   /* hub: GRAPH_NONE if there are no indirect jumps and no expected faults */
	VEC(uint32_t) gates;         /* by gate: the block that it leads to, which has an instruction that may fault or follows a
	                              * trap */
	struct liveness *live;            /* live.c: liveness before each instruction of all parts; read it by live_before() */
	uint32_t *live_base;          /* by part: index in live */
	uint16_t gone;               /* live.c: registers whose values callers do not use after a call of it */
	bool strays;                 /* stack.c: its stack pointer may point to data somewhere */
	uint16_t behind;             /* live.c: registers live after calls of it in this text, by name or pointer */
	bool called;                 /* live.c: called by name in this text */
	bool address_taken;          /* leader.c: may be entered otherwise than by direct calls and jumps of this text */
};

/* A direct jump or call from one procedure into the middle of another. */
struct way {
	uint32_t section, off;       /* the target */
	uint32_t from, insn;         /* section and number of the instruction */
};

struct frames;
struct names;

struct unit {
	struct pool *pool;
	const struct machine *machine;
	const struct text *text;
	const struct object *object;
	struct place *place;         /* by statement */
	struct cfi *cfi;
	uint16_t reserved;           /* registers that the compiler was told to leave alone: other texts may keep values in them */
	uint16_t behind_pointers;    /* live.c: registers that are live after some call through a pointer */
	bool stack_private;          /* leader.c: by hand, and nothing sets the stack pointer from elsewhere or gives it away */
	bool restartable;            /* the kernel may make control leave some of the code at any instruction (rseq) */
	bool frames_as_data;         /* landing.c: .eh_frame is written as data: directives do not tell where frames are */
	bool calls_cut;              /* each call ends its block, as a call that may return twice does */
	struct code **code;          /* by section index; NULL: no instructions */
	uint32_t ncode;
	VEC(struct proc_text) procs;      /* in the order of their first statement */
	VEC(struct way) ways;        /* by target */
	struct names *names;         /* mention.h: of places in code; from leader_find() on */
	struct frames **frames;      /* frame.c: by procedure, made when first needed */
	struct holding *holdings;    /* nonlocal.c: by register; for leader_find() */
};

/* Frees what is not in the pool. text, object and pool are not the unit's. */
void unit_free(struct unit *u);

/* Decodes the instructions of every section of the object. */
void code_read(struct unit *u);
/* How many of c->stmts begin at an offset up to this one. The last of them makes the byte there. */
size_t code_stmts_to(const struct unit *u, const struct code *c, uint32_t off);
/* The last statement of an instruction, or UINT32_MAX: a prefix may be a statement of its own. */
uint32_t code_end_stmt(const struct unit *u, const struct code *c, const struct insn *in);
/* doubt.c: notes that the address of a place is used; it matters if its bytes are treated as data. */
void doubt_address_taken(struct unit *u, uint32_t section, uint32_t off);
/* Refuses bytes in doubt that may be code. Call it once, when all used addresses are known. */
void doubts_settle(struct unit *u);
/* Splits the code into procedures. */
void proc_find(struct unit *u);
/* Marks leaders: jump targets, entries, mentions, landing pads. Call it before cfg_build(). */
void leader_find(struct unit *u);
/* hidden.c: lets nothing be woven in before statements that hide a label at their beginning. Call it after leader_find(). */
void hidden_find(struct unit *u);
/* prologue.c: lets nothing be woven into prologues by which debuggers find where arguments are in the frame. Call it after
 * leader_find(). */
void prologues_keep(struct unit *u);
/* landing.c: marks landing pads (LEADER_LAND). Refuses procedures whose table of landing pads is not understood. */
void landing_find(struct unit *u);
/* fault.c: marks instructions that are expected to fault (LEADER_FAULT). False: there is no fixup where control could continue. */
bool fault_find(struct unit *u, struct proc_text *p);
/* Makes blocks and edges of one procedure; sets p->reason if it is not understood. */
void cfg_build(struct unit *u, struct proc_text *p);
/* distance.c: refuses procedures in which code lies between two places whose distance is given as a number of bytes. Call it after
 * cfg_build(). */
void distances_keep(struct unit *u);
/* computed.c: refuses the procedure, or others into which it may jump, if it jumps to an address that it computes. */
void computed_find(struct unit *u, struct proc_text *p);
/* Finds the registers that calls and jumps leave alone. Call it once, before live_find(). */
void live_prepare(struct unit *u);
/* Finds what is live before every instruction of all procedures that are understood. */
void live_find(struct unit *u);
/* stack.c: finds the instructions before which the stack pointer may point to data (live.no_stack), in all procedures, and the
 * returns and indirect jumps, written by hand, on a stack that is not the procedure's own (CHORD_EDGE_LOST): longjmp by hand, or a
 * switch to another stack. Call it after live_find(). */
void stack_find(struct unit *u);

/* ---- frame.c: where the frame is, by the effects of instructions ---- */

/* Analyses one procedure, which has to be understood. Needs the graphs of all understood procedures. */
struct frames *frames_find(const struct unit *u, const struct proc_text *p);
/* The canonical frame address before instruction i of a block: by directives, unless instructions contradict them. False: not
 * known. */
bool frame_before(const struct frames *f, uint32_t block, uint32_t i, struct cfi_frame *out);
/* True if at each instruction the stack pointer has a fixed distance from the frame. */
bool frames_fixed(const struct frames *f);
/* True if directives and instructions agree at every call. Otherwise unwinders do not find the caller. */
bool frames_as_stated(const struct frames *f);

/* ---- nonlocal.c: jumps into another activation's frame ---- */

struct nonlocal {
	uint32_t insn;               /* before this instruction the frame is complete */
	struct str sp;               /* there: an operand that holds the future stack pointer */
	struct str pc;               /* there: an operand with the address to jump to; empty: none is known */
	bool on_stack;               /* sp is addressed by the stack pointer */
};
/* True if the block ends in such a jump. */
bool nonlocal_jumps(const struct unit *u, const struct proc_text *p, uint32_t block);
/* Finds the place from which the runtime can be called about the jump. False: there is none. */
bool nonlocal_find(const struct unit *u, const struct proc_text *p, uint32_t block, struct nonlocal *a);

/* What is live on an edge from block `from` to vertex `to`. */
struct liveness live_on_edge(const struct unit *u, const struct proc_text *p, uint32_t from, uint32_t to);

/* The procedure and part at an offset of a section. False: none. */
bool unit_find(const struct unit *u, uint32_t section, uint32_t off, uint32_t *proc, uint32_t *part);
/* The first of a section's ranges that begins after an offset. */
size_t unit_range_after(const struct code *c, uint32_t off);

/* True if the instruction is of inline assembly. */
static inline bool
insn_is_inline(const struct unit *u, const struct insn *in)
{
	return in->stmt != UINT32_MAX && u->text->stmts.at[in->stmt].flags & STMT_INLINE;
}

/* The block that is entered at a vertex: for a gate the block that it leads to, otherwise the vertex itself. */
static inline uint32_t
proc_lands(const struct proc_text *p, uint32_t v)
{
	uint32_t first = p->exit + 1 + (p->hub != GRAPH_NONE);

	return v >= first && v < p->graph->nvert ? p->gates.at[v - first] : v;
}

/* What is live before instruction number `insn` of a part. */
static inline struct liveness
live_before(const struct proc_text *p, uint32_t part, uint32_t insn)
{
	return p->live[p->live_base[part] + insn - p->parts.at[part].first];
}

#endif
