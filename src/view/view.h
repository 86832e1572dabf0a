/* SPDX-License-Identifier: MIT */
/* view: what a run has to show, as rows that any printer or exporter can use. Computed once, printed elsewhere. */
#ifndef CHORD_VIEW_H
#define CHORD_VIEW_H

#include "run/run.h"

/* One instruction of a measured procedure, as it stands in the woven program. */
struct view_insn {
	const struct unit *unit;
	const struct proc *proc;
	uint32_t proc_number;    /* of the unit's map */
	uint32_t block;
	uint32_t part;
	uint64_t offset;         /* in its part, before weaving */
	uint64_t addr;           /* link-time address in the woven program; 0: not known */
	uint64_t count;          /* times executed, if known */
	enum chord_insn kind;
	bool known;
	uint32_t file;           /* number among view_listing.file; VIEW_NO_FILE: none is known */
	unsigned line;           /* 0: not known */
};
enum { VIEW_NO_FILE = UINT32_MAX };

/* A conditional jump. */
struct view_branch {
	uint32_t insn;           /* its number in view_listing.insn */
	uint32_t file;
	unsigned line;
	bool known;
	uint64_t taken, fell;
};

/* A source line that has code. */
struct view_line {
	unsigned line;
	uint32_t code;           /* instructions made from it */
	uint32_t never;          /* of these, how many never ran */
	uint64_t most;           /* executions of its instruction that ran most often */
	uint64_t insns;          /* instructions executed for it */
	bool unknown;            /* some of its code is not measured, or its counts are not known */
};

struct view_file {
	const char *name;
	VEC(struct view_line) line; /* ascending */
	uint32_t code, never;    /* sums over the lines */
	uint64_t insns;
};

/* Everything of a run. */
struct view_listing {
	struct run *run;
	VEC(struct view_insn) insn;     /* by unit, procedure and block, in the order of the code */
	VEC(struct view_branch) branch; /* by file and line */
	VEC(struct view_file) file;     /* by name */
	bool fits;                      /* no sum is larger than 64 bits */
};
/* wants: of which procedures; NULL: all, and lines of code that is not measured are known to have some. */
void view_listing(struct view_listing *l, struct run *run, bool (*wants)(const void *ctx, const struct proc *p), const void *ctx);
void view_listing_free(struct view_listing *l);
/* The branches of a line: the first, and how many. */
const struct view_branch *view_branches(const struct view_listing *l, uint32_t file, unsigned line, size_t *n);

/* The static and the dynamic size of a procedure (Weinberger 1984, lprint's columns). */
struct view_size {
	uint64_t code, never;    /* instructions, and those of them that never ran */
	uint64_t blocks, unentered;
	uint64_t insns, entered; /* instructions executed, blocks entered */
};
/* Of one whose counts are known. */
struct view_size view_size_of(const struct proc *p, const struct counts *c);

#endif
