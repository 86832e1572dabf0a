/* SPDX-License-Identifier: MIT */
/* cfg: the control-flow graph of a procedure, as the weaver makes it and readers use it. The map that travels in the program is
 * its serialised form: proc_write() and proc_read() are each other's inverse. What the weaver knows of the text beside it is
 * in asm/asm.h. */
#ifndef CHORD_CFG_H
#define CHORD_CFG_H

#include "base/base.h"
#include "cfg/in.h"
#include "format/format.h"

/* Calls and segments of a block are found by proc_index(). */
struct block {
	uint32_t part;
	uint32_t offset;         /* in the part, before weaving */
	uint32_t counter;        /* 0: none; c: counter c-1 */
	uint32_t ninsn;
	const uint8_t *insn;     /* length in bits 0-3 (0: the linker has removed it), enum chord_insn in bits 4-7 */
	const uint8_t *assembled; /* as the map has them, where the linker has changed them; NULL: they are */
	uint32_t call, ncall;    /* its calls: proc.call[call .. call+ncall) */
	uint32_t seg, nseg;      /* its segments, likewise */
};

struct arc {
	uint32_t from, to;
	uint8_t kind;            /* enum chord_edge */
	uint32_t counter;
};

/* Instructions are counted from 0 in their block. Addresses in the woven program are the linker's: the weaver has 0 there, and so
 * has a reader where the weaver could not name the place. */
struct call {
	uint32_t block, insn;
	uint32_t flags;          /* CHORD_CALL_... */
	uint32_t sum;            /* 0: none; c: counters from c-1 on, one for each event */
	const char *callee;      /* symbol; "": not known; NULL without a sum */
	bool recursive;          /* the procedure may be entered again before it returns, by calls that name it (run/recursion.c) */
	uint64_t back;           /* return address in the woven program */
};

/* From that instruction on, up to the next segment or the end of the block, woven code runs parallel to the original. */
struct seg {
	uint32_t block, insn;
	uint64_t addr;           /* in the woven program */
};

/* Registers that are written to the trace before an instruction (measure data). */
struct data_site {
	uint32_t block, insn;
	uint32_t what;           /* CHORD_DATA_SUM, format/trace.h */
};
struct proc_data {
	bool begins;             /* the first one is the stack pointer where the procedure begins, */
	int64_t begins_at;       /* by so much above what it was when the procedure was entered */
	uint32_t n;
	struct data_site *site;  /* by block and instruction */
	uint32_t *first;         /* by block, and behind the last: its first site */
};

struct event_counter;
struct event_block;
struct event_site;
struct proc_paths;

/* Vertices: the blocks, ENTRY, EXIT, then hubs and gates. */
struct proc {
	const char *name, *file;
	const char *refused;     /* why it was not measured; NULL: it was */
	const char **also;       /* names of identical procedures that were folded into this one */
	uint32_t nalso;
	uint32_t measures;       /* set of them */
	const char **unknown;    /* sections of its record that this version does not know: it is measured otherwise, too */
	uint32_t nunknown;
	bool summed;             /* calls have counters of their own: events are summed for them */
	uint64_t counters;       /* link-time address */
	uint32_t ncounter;
	uint32_t npart, nblock, nvert, narc, ncall, nseg;
	struct chord_part *part;
	struct block *block;
	struct arc *arc;
	struct call *call;       /* sorted by block and instruction, as segments are, once indexed */
	struct seg *seg;
	uint32_t close;          /* the arc EXIT -> ENTRY */
	/* What measures add (profile.h). */
	uint32_t nevent;
	struct event_counter *event;
	struct event_block *event_block; /* by block and event */
	struct event_site *event_site;   /* by block and instruction */
	uint32_t nevent_site;
	struct event_site *event_call;   /* add: how much more has been added behind that call than has happened in it */
	uint32_t nevent_call;
	struct proc_paths *paths; /* NULL: not counted */
	struct proc_data *data;  /* NULL: no addresses are traced */
	uint64_t *base;          /* by register (BASES): the link-time address that it has where woven-in code adds to counters by
	                          * it, or 0; NULL: none has */
};
enum { BASES = 16 };
#define PROC_ENTRY(p) ((p)->nblock)
#define PROC_EXIT(p) ((p)->nblock + 1)

/* write.c: appends names and, unless it is refused, the graph. Parts, counters' addresses and all other addresses are not
 * in it: they are the linker's. */
void proc_write(struct buf *blob, const struct proc *p);
/* read.c: reads that. Needs npart, part and ncounter; for a refused procedure the rest is skipped. */
void proc_read(struct in *in, struct proc *p, bool refused);
/* Sorts calls and segments by place and lets each block find its own. */
void proc_index(struct in *in, struct proc *p);
/* Does the edge lead to EXIT from a vertex without code (the hub)? No path is recorded on it: those that come there end before. */
bool proc_leaves_unseen(const struct proc *p, uint32_t arc);
/* hash.c: a hash of the graph before weaving, which recognises a procedure of one build in another: the same whatever is
 * measured. */
uint64_t proc_hash(const struct proc *p);

#endif
