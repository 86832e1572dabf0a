/* SPDX-License-Identifier: MIT */
/* cfg: the control-flow graph of a procedure, as the weaver makes it and readers use it. The map in the program is its serialised
 * form: proc_write() and proc_read() are inverse to each other. What the weaver knows of the text besides is in asm/asm.h. */
#ifndef CHORD_CFG_H
#define CHORD_CFG_H

#include "base/base.h"
#include "cfg/in.h"
#include "format/format.h"

/* A basic block. proc_index() fills call, ncall, seg and nseg. */
struct block {
	uint32_t part;
	uint32_t offset;         /* in the part, before weaving, in bytes */
	uint32_t counter;        /* 0: none; c: counter c-1 */
	uint32_t ninsn;
	const uint8_t *insn;     /* one byte each: length in bits 0-3 (0: the linker has removed it), enum chord_insn in bits 4-7 */
	const uint8_t *assembled; /* the same bytes as in the map, if the linker has changed instructions; NULL: equal to insn */
	uint32_t call, ncall;    /* its calls: proc.call[call .. call+ncall) */
	uint32_t seg, nseg;      /* its segments, in the same way */
};

struct arc {
	uint32_t from, to;
	uint8_t kind;            /* enum chord_edge */
	uint32_t counter;        /* as in struct block */
};

/* A call; `insn` counts from 0 in the block. Addresses in the woven program come from the linker: they are 0 in the weaver, and in
 * a reader if the weaver could not name the place. */
struct call {
	uint32_t block, insn;
	uint32_t flags;          /* CHORD_CALL_... */
	uint32_t sum;            /* 0: none; c: counters from c-1 on, one for each event */
	const char *callee;      /* symbol; "": not known; NULL: no sum */
	bool recursive;          /* the procedure may be entered again before the call returns, by calls that name it
	                          * (run/recursion.c) */
	uint32_t frame;          /* if recursive: so many bytes of stack its activation takes at least; 0: not known */
	uint64_t back;           /* return address in the woven program */
};

/* From this instruction on, up to the next segment or the end of the block, woven code runs parallel to the original. */
struct seg {
	uint32_t block, insn;
	uint64_t addr;           /* in the woven program */
};

/* A counter that consists of cells. */
struct cells {
	uint32_t of;             /* 0, or the counter to which its count belongs */
	uint32_t at;             /* its number among the counters of cells */
};

/* A counter for which a register counts in a loop. */
struct promoted {
	uint32_t counter;        /* its number plus 1, as in struct block and struct arc */
	uint32_t open;           /* the same, of the word with the number of executions of the loop that are under way, whose counts
	                          * the counter lacks */
};

/* A value that is written to the trace before an instruction (measure data). */
struct data_site {
	uint32_t block, insn;
	uint32_t what;           /* a register, or from CHORD_DATA_SUM on an access (format/trace.h) */
};
struct proc_data {
	bool begins;             /* the first value is the stack pointer where the procedure begins, */
	int64_t begins_at;       /* which is this many bytes above its value at the entry */
	uint32_t n;
	struct data_site *site;  /* by block and instruction */
	uint32_t *first;         /* by block, and one more at the end: the block's first site */
};

struct event_counter;
struct event_block;
struct event_site;
struct proc_paths;

/* A procedure. Vertices: the blocks, ENTRY, EXIT, then hubs and gates. */
struct proc {
	const char *name, *file;
	const char *refused;     /* why it was not measured; NULL: it was */
	const char **also;       /* names of identical procedures that were folded into this one */
	uint32_t nalso;
	uint32_t measures;       /* a set, CHORD_SET() */
	const char **unknown;    /* sections of its record that this version does not know: it was measured in other ways, too */
	uint32_t nunknown;
	bool summed;             /* calls have counters of their own: events are summed for them */
	uint64_t counters;       /* link-time address of the first counter */
	uint32_t ncounter;
	uint32_t cells, ncells;  /* the first word of the counters that consist of cells, and the number of these counters */
	struct cells *cells_of;  /* each of these counters, sorted by the counter to which its count belongs */
	uint32_t npromoted;
	struct promoted *promoted; /* sorted by counter */
	uint32_t npart, nblock, nvert, narc, ncall, nseg;
	struct chord_part *part;
	struct block *block;
	struct arc *arc;
	struct call *call;       /* by block and instruction, as segments are, after proc_index() */
	struct seg *seg;
	uint32_t close;          /* the arc EXIT -> ENTRY */
	/* What measures add (profile.h). */
	uint32_t nevent;
	struct event_counter *event;
	struct event_block *event_block; /* by block and event */
	struct event_site *event_site;   /* by block and instruction */
	uint32_t nevent_site;
	struct event_site *event_call;   /* add: how much more is added after that call than happened in it */
	uint32_t nevent_call;
	struct proc_paths *paths; /* NULL: paths are not counted */
	struct proc_data *data;  /* NULL: no addresses are traced */
	uint64_t *base;          /* by register (BASES): the link-time address that the register holds where woven code uses it to
	                          * address counters, or 0. NULL: no register is used so */
};
enum { BASES = 16 };
#define PROC_ENTRY(p) ((p)->nblock)
#define PROC_EXIT(p) ((p)->nblock + 1)

/* write.c: appends the names and, unless the procedure is refused, the graph. Parts and all addresses are not in it: they come from
 * the linker. */
void proc_write(struct buf *blob, const struct proc *p);
/* read.c: reads that into *p, with memory of in->pool. Needs npart, part and ncounter; skips the rest of a refused procedure. Wrong
 * input: in_bad(). */
void proc_read(struct in *in, struct proc *p, bool refused);
/* Sorts calls and segments by place, and fills the blocks' fields for them. Wrong input: in_bad(). */
void proc_index(struct in *in, struct proc *p);
/* True if the edge leads to EXIT from a vertex without code (the hub). No path is recorded there: paths end before. */
bool proc_leaves_unseen(const struct proc *p, uint32_t arc);
/* hash.c: a hash of the graph before weaving, by which a procedure of one build is recognised in another. It does not depend on
 * what is measured. */
uint64_t proc_hash(const struct proc *p);

#endif
