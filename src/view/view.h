/* SPDX-License-Identifier: MIT */
/* view: what a run has to show, as rows that any printer or exporter can use. Computed once, printed elsewhere. */
#ifndef CHORD_VIEW_H
#define CHORD_VIEW_H

#include "run/run.h"

/* ---- bounds.c ---- */

/* A number that is known, or between these. Without a bound, most is COUNT_NO_BOUND. */
struct bounds {
	uint64_t least, most;
};
/* The most saturates. False: the least does not fit 64 bits. */
bool bounds_add(struct bounds *sum, const struct bounds *b);
/* To the larger of both. */
void bounds_raise(struct bounds *b, const struct bounds *other);
static inline bool
bounds_exact(const struct bounds *b)
{
	return b->least == b->most;
}
/* Are they exact? Else a row without bounds cannot show them. */
bool view_is_exact(const struct counts *c);

/* ---- functions.c ---- */

/* What measured code executed in a function and in all that it called. */
struct view_inclusive {
	bool known;
	uint64_t insns;
	const char *why;         /* it is not known */
};

struct view_function {
	struct binary *binary;
	const struct proc *proc;
	uint32_t number;         /* of the binary's map */
	const struct counts *counts;
	const char *why;         /* not NULL: it was not measured or its counts are not known, for this reason */
	const char *file;        /* where it is declared; "": not known */
	unsigned line;           /* 0: not known */
	struct bounds insns, blocks, edges, call_insns, calls; /* of a known one */
	struct view_inclusive inclusive; /* if it was asked for */
};
struct view_functions { struct view_function *at; size_t n, cap; };
enum view_sort { VIEW_BY_INSNS, VIEW_BY_CALLS, VIEW_BY_NAME, VIEW_BY_FILE, VIEW_BY_ADDRESS, VIEW_BY_INCLUSIVE };

/* Adds all procedures of the run, by binary and address. */
void view_functions(struct view_functions *list, struct run *run);
/* Leaves those whose counts are known. */
void view_functions_known(struct view_functions *list);
/* inclusive.c: fills their field; of all of a run, as view_functions() gives them. */
void view_inclusive(struct run *run, struct view_functions *all);
void view_functions_sort(struct view_functions *list, enum view_sort sort);
/* Sums over the known ones. False: one does not fit 64 bits. */
struct view_totals {
	struct bounds insns, blocks, edges, call_insns;
	uint64_t procedures, refused;
	bool edges_known;
	bool known;              /* some procedure's blocks are counted, not only events */
};
bool view_totals(struct view_totals *t, const struct view_functions *all, const struct event_totals *events);
/* All instructions that are known to have been executed. False: they do not fit 64 bits. */
bool view_insns(const struct run *run, uint64_t *n);

/* The static and the dynamic size of a procedure (Weinberger 1984, lprint's columns). */
struct view_size {
	uint64_t code, never;    /* instructions, and those of them that never ran */
	uint64_t blocks, unentered;
	uint64_t insns, entered; /* instructions executed, blocks entered */
};
/* Of one whose counts are known. */
struct view_size view_size_of(const struct proc *p, const struct counts *c);
/* False: a sum does not fit 64 bits; those before it in the struct are added. */
bool view_size_add(struct view_size *sum, const struct view_size *s);

/* choice.c: what of a run is to be shown. Patterns with * and ?; NULL: all. */
struct view_choice {
	const char *function;    /* one of its names, as a symbol or as its source has it */
	const char *file;        /* its path, or the end of that behind a slash */
};
bool view_is_named(const struct proc *p, const char *pattern);
/* Of a word that names none: the procedure that may have been meant, as a pattern has it; or NULL. */
const char *view_meant(const struct run *run, const char *word);
bool view_is_file(const char *path, const char *pattern);
bool view_is_chosen(const struct view_choice *c, const struct view_function *f);

/* ---- lines.c ---- */

/* A source line that has code. */
struct view_line {
	const char *file;
	unsigned line;           /* 0: the code of the file for which no line is known */
	uint32_t code;           /* instructions made from it */
	uint32_t never;          /* of these, how many never ran */
	bool unknown;            /* some of its code is not measured, or its counts are not known */
	struct bounds insns;     /* instructions executed for it */
	struct bounds most;      /* executions of its instruction that ran most often */
};
struct view_lines { struct view_line *at; size_t n, cap; };

/* Adds the lines of all that is known and chosen, or with NULL none, and the sums over their files, as rows of line 0. False: a sum
 * does not fit 64 bits. */
bool view_lines(struct view_lines *lines, struct view_lines *files, struct run *run, const struct view_choice *choice);
/* By instructions, the most first, or by file and line. */
void view_lines_sort(struct view_lines *lines, enum view_sort sort);

/* ---- inlined.c: functions as they are written, wherever their code is ---- */

/* Where instructions of one are: in its own code, or where a call of it was replaced by it. */
struct view_copy {
	const char *in;          /* the function that it was inlined into, as written; NULL: its own code */
	const char *file;        /* of the call; "": not known */
	unsigned line;           /* 0: not known */
	struct bounds insns;
};
struct view_source {
	const char *name;        /* its symbol, if the debug information has it, or its name */
	const char *file;        /* where it is declared; "": not known */
	unsigned line;           /* 0: not known */
	struct bounds insns;     /* executed for it, wherever its code is, without what was inlined into it */
	struct bounds inlined;   /* of these, in copies */
	struct bounds whole;     /* with all that was inlined into it */
	VEC(struct view_copy) copy; /* the most first */
};
struct view_sources { struct view_source *at; size_t n, cap; };

/* Adds all functions that have known code and are chosen, the most first. Instructions of which no function is said are the
 * procedure's. False: a sum does not fit 64 bits. */
bool view_sources(struct view_sources *list, struct run *run, const struct view_choice *choice);
void view_sources_free(struct view_sources *list);

/* ---- listing.c: instructions with their lines ---- */

/* One instruction of a measured procedure, as it stands in the woven program. */
struct view_insn {
	const struct binary *binary;
	const struct proc *proc;
	uint32_t proc_number;    /* of the binary's map */
	uint32_t block;
	uint32_t number;         /* in the block */
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
	uint32_t taken_to, fell_to; /* the block where it goes on, if known; the exit: outside of the procedure */
};

struct view_file {
	const char *name;
	VEC(struct view_line) line; /* ascending; their bounds are exact */
	uint32_t code, never;    /* sums over the lines */
	uint64_t insns;
};

/* Everything of a run. */
struct view_listing {
	struct run *run;
	VEC(struct view_insn) insn;     /* by binary, procedure and block, in the order of the code */
	VEC(struct view_branch) branch; /* by file and line */
	VEC(struct view_file) file;     /* by name */
	bool fits;                      /* no sum is larger than 64 bits */
};
/* wants: of which procedures; NULL: all, and lines of code that is not measured are known to have some. */
void view_listing(struct view_listing *l, struct run *run, bool (*wants)(const void *ctx, const struct proc *p), const void *ctx);
/* The same of the code of functions as they are written only: their own and where they were inlined, with whatever was inlined into
 * them; wants: of which, by their names. */
void view_listing_source(struct view_listing *l, struct run *run, bool (*wants)(const void *ctx, const char *name),
                         const void *ctx);
/* The scope of an instruction; IMAGE_NO_SCOPE: not known. */
uint32_t view_insn_scope(const struct view_insn *in);
void view_listing_free(struct view_listing *l);
/* The branches of a line: the first, and how many. */
const struct view_branch *view_branches(const struct view_listing *l, uint32_t file, unsigned line, size_t *n);

/* ---- insn.c: what an instruction says ---- */

/* NULL: not known. Of padding: "nop". */
const char *view_insn_mnemonic(const struct view_insn *in);
/* Appends it as assemblers write it. False: its bytes cannot be had. */
bool view_insn_text(const struct view_insn *in, struct buf *out);
/* What a call or a jump out of the procedure leads to; n is 0 if that is not known. */
struct callee view_insn_callee(const struct view_insn *in);

/* mnemonics.c: how often instructions of each name were executed. */
struct view_mnemonic {
	const char *name;
	uint64_t code, count;    /* instructions, executions */
};
struct view_mnemonics { struct view_mnemonic *at; size_t n, cap; };
/* Adds those of a listing, the most executed first. */
void view_mnemonics(struct view_mnemonics *list, const struct view_listing *l);

/* ---- hottest.c: the instructions that ran most often ---- */

struct view_hottest {
	struct view_listing list;
	VEC(uint32_t) order;     /* numbers in it of those that are known to have run, the most executed first */
};
/* Of what is chosen. */
void view_hottest(struct view_hottest *h, struct run *run, const struct view_choice *choice);
void view_hottest_free(struct view_hottest *h);

/* ---- blocks.c: blocks and edges of a procedure ---- */

struct view_block {
	const struct block *block;
	uint32_t number;
	bool known;
	struct bounds count;     /* times entered */
	uint64_t last;           /* offset of its last instruction in the part, before weaving */
};
struct view_edge {
	const struct arc *arc;
	bool known;
	struct bounds count;
	bool choice;             /* leaves a conditional jump */
};
struct view_block view_block_of(const struct proc *p, const struct counts *c, uint32_t block);
struct view_edge view_edge_of(const struct proc *p, const struct counts *c, uint32_t edge);
/* "ENTRY", "EXIT", "3" or "hub7". */
const char *view_vertex_name(char out[32], const struct proc *p, uint32_t v);
/* Where a block's code begins in the woven program; 0: not known. */
uint64_t view_block_addr(const struct proc *p, uint32_t block);

/* ---- calls.c: what happened between calls and their returns ---- */

/* Who was called through a pointer at one place. */
struct view_callee {
	const char *name;
	const struct proc *proc; /* if it is a measured procedure */
	uint64_t calls;
};

/* What ran between a call and its return, over all calls made there. */
struct view_call {
	const struct binary *binary;
	const struct proc *proc; /* that has the call */
	const char *callee;      /* "(through a pointer)" and "(not known)" where there is no name */
	const char *file;
	unsigned line;           /* 0: not known */
	struct bounds calls;
	struct view_callee *to;  /* who was called, if that was counted; the most first */
	size_t nto;
	bool has_to;
	uint32_t nevent;
	bool known[CHORD_SUMS];
	uint64_t n[CHORD_SUMS];  /* by event of the procedure */
};
struct view_calls { struct view_call *at; size_t n, cap; };

/* Adds those that were made in what is chosen, what made most events first. Where no calls have counters of their own: the call
 * instructions that ran, without events, and without names where they go through a pointer. */
void view_calls(struct view_calls *list, struct run *run, const struct view_choice *choice);
/* Events of that name between a call and its return, if they are summed and known; the call that an instruction is, or NULL. */
const struct call *view_call_at(const struct view_insn *in);
bool view_call_sum(const struct run *run, const struct view_insn *in, const struct call *call, const char *event, uint64_t *n);
/* callees.c: who was called at a call that has CHORD_CALL_POINTER and was made row->calls times. */
void view_callees(const struct run *run, const struct module *m, const struct proc *p, uint32_t call, struct view_call *row);

/* ---- tables.c: the above at once, as reports and comparisons have them ---- */

enum { VIEW_LINES = 1, VIEW_FILES = 2, VIEW_CALLS = 4, VIEW_SOURCES = 8, VIEW_HOTTEST = 16, VIEW_INCLUSIVE = 32 };

struct view_tables {
	struct run *run;
	struct view_totals totals;
	struct event_totals events;
	struct view_functions function; /* known ones, sorted */
	struct view_lines line, file; /* if asked for */
	struct view_calls call;       /* likewise */
	struct view_sources source;   /* likewise */
	struct view_hottest hottest;  /* likewise */
	VEC(struct named) refused;    /* procedures that were not measured */
	struct unmeasured unmeasured; /* of all modules */
	bool has_lines;               /* some object has line numbers */
};
/* what: VIEW_LINES and so on, of what is chosen; totals are of the whole run. False: a sum does not fit 64 bits. */
bool view_tables(struct view_tables *t, struct run *run, unsigned what, enum view_sort sort, const struct view_choice *choice);
void view_tables_free(struct view_tables *t);

/* ---- source.c: source files as texts of lines ---- */

/* The text of line `line` of a file, without its newline. False: it cannot be had. The file is read once; view_source_free()
 * forgets all. */
bool view_source_line(const char *file, unsigned line, struct str *text);
/* Lines in the file; 0: it cannot be read. */
size_t view_source_lines(const char *file);
void view_source_free(void);

#endif
