/* SPDX-License-Identifier: MIT */
/* view: the results of a run, as rows that any printer or exporter can use. They are computed once and printed elsewhere. */
#ifndef CHORD_VIEW_H
#define CHORD_VIEW_H

#include "run/run.h"

/* ---- bounds.c ---- */

/* A number between least and most; known if these are equal. most is COUNT_NO_BOUND if there is no upper bound. */
struct bounds {
	uint64_t least, most;
};
/* Adds both; `most` saturates. False: `least` does not fit in 64 bits. */
bool bounds_add(struct bounds *sum, const struct bounds *b);
/* Raises both to those of `other`, if these are larger. */
void bounds_raise(struct bounds *b, const struct bounds *other);
static inline bool
bounds_exact(const struct bounds *b)
{
	return b->least == b->most;
}
/* True if the counts are exact; otherwise a row without bounds cannot show them. */
bool view_is_exact(const struct counts *c);

/* ---- functions.c ---- */

/* What measured code executed in a function and in everything that it called. */
struct view_inclusive {
	bool known;
	uint64_t insns;
	const char *why;         /* why it is not known */
};

struct view_function {
	struct binary *binary;
	const struct proc *proc;
	uint32_t number;         /* in the binary's map */
	const struct counts *counts;
	const char *why;         /* why it was not measured, or its counts are not known; NULL: they are known */
	const char *file;        /* of its declaration; "": not known */
	unsigned line;           /* 0: not known */
	struct bounds insns, blocks, edges, call_insns, calls; /* if the counts are known */
	struct view_inclusive inclusive; /* filled by view_inclusive() */
};
struct view_functions { struct view_function *at; size_t n, cap; };
enum view_sort { VIEW_BY_INSNS, VIEW_BY_CALLS, VIEW_BY_NAME, VIEW_BY_FILE, VIEW_BY_ADDRESS, VIEW_BY_INCLUSIVE };

/* Adds all procedures of the run, by binary and address. The caller frees list->at. */
void view_functions(struct view_functions *list, struct run *run);
/* Removes the functions whose counts are not known. */
void view_functions_known(struct view_functions *list);
/* inclusive.c: fills that field. `all` is from view_functions(). */
void view_inclusive(struct run *run, struct view_functions *all);
void view_functions_sort(struct view_functions *list, enum view_sort sort);
/* Sums over the functions whose counts are known. */
struct view_totals {
	struct bounds insns, blocks, edges, call_insns;
	uint64_t procedures, refused;
	uint64_t events_only;    /* procedures whose blocks are not counted: in none of the bounds */
	bool edges_known;
	bool known;              /* the blocks of some procedure are counted, not only events */
};
/* False: a sum does not fit in 64 bits. */
bool view_totals(struct view_totals *t, const struct view_functions *all, const struct event_totals *events);
/* The number of instructions that are known to have been executed. False: it does not fit in 64 bits. */
bool view_insns(const struct run *run, uint64_t *n);

/* The static and dynamic size of a procedure (Weinberger 1984, the columns of lprint). */
struct view_size {
	uint64_t code, never;    /* instructions, and those that never ran */
	uint64_t blocks, unentered;
	uint64_t insns, entered; /* instructions executed, blocks entered */
};
/* Needs known counts. */
struct view_size view_size_of(const struct proc *p, const struct counts *c);
/* False: a sum does not fit in 64 bits; the fields before it have been added. */
bool view_size_add(struct view_size *sum, const struct view_size *s);

/* choice.c: which part of a run is shown. Patterns may have * and ?; NULL: all. */
struct view_choice {
	const char *function;    /* one of its names, as symbol or in the source */
	const char *file;        /* its path, or the end of the path after a slash */
};
/* True if the pattern matches a name of the procedure. */
bool view_is_named(const struct proc *p, const char *pattern);
/* Does the pattern match a procedure? Does it match a function as written, of which there is code, if only where it was inlined? */
bool view_is_procedure(const struct run *run, const char *pattern);
bool view_is_written(const struct run *run, const char *pattern);
/* For a word that is no name: the procedure that may have been meant, as a pattern; or NULL. */
const char *view_meant(const struct run *run, const char *word);
/* Why there is no procedure of this name, as the end of a message (pool); "" if that is not known. how: what is said of functions
 * that were inlined. */
const char *view_unnamed(const struct run *run, const char *word, const char *how);
bool view_is_file(const char *path, const char *pattern);
bool view_is_chosen(const struct view_choice *c, const struct view_function *f);

/* ---- lines.c ---- */

/* A source line that has code. */
struct view_line {
	const char *file;
	unsigned line;           /* 0: code of the file for which no line is known */
	uint32_t code;           /* number of its instructions */
	uint32_t never;          /* those of them that never ran */
	bool unknown;            /* some of its code is not measured, or its counts are not known */
	struct bounds insns;     /* instructions executed for it */
	struct bounds most;      /* executions of its instruction that ran most often */
};
struct view_lines { struct view_line *at; size_t n, cap; };

/* Adds the lines of everything that is known and chosen (lines NULL: none), and the sums over their files, as rows with line 0.
 * False: a sum does not fit in 64 bits. */
bool view_lines(struct view_lines *lines, struct view_lines *files, struct run *run, const struct view_choice *choice);
/* By instructions, most first; or by file and line. */
void view_lines_sort(struct view_lines *lines, enum view_sort sort);

/* ---- inlined.c: functions of the source, wherever their code is ---- */

/* Where the instructions of a function are: in its own code, or in place of a call. */
struct view_copy {
	const char *in;          /* the source function into which it was inlined; NULL: its own code */
	const char *file;        /* of the call; "": not known */
	unsigned line;           /* 0: not known */
	struct bounds insns;
};
struct view_source {
	const char *name;        /* its symbol, if the debug information has one, or its name */
	const char *file;        /* of its declaration; "": not known */
	unsigned line;           /* 0: not known */
	struct bounds insns;     /* executed for it, wherever its code is, without what was inlined into it */
	struct bounds inlined;   /* those of them in inlined copies */
	struct bounds whole;     /* with everything that was inlined into it */
	VEC(struct view_copy) copy; /* most first */
};
struct view_sources { struct view_source *at; size_t n, cap; };

/* Adds all functions that are chosen and have known code, most instructions first. Instructions for which no function is known
 * count for their procedure. False: a sum does not fit in 64 bits. */
bool view_sources(struct view_sources *list, struct run *run, const struct view_choice *choice);
void view_sources_free(struct view_sources *list);

/* ---- listing.c: instructions with their lines ---- */

/* One instruction of a measured procedure, as it is in the woven program. */
struct view_insn {
	const struct binary *binary;
	const struct proc *proc;
	uint32_t proc_number;    /* in the binary's map */
	uint32_t block;
	uint32_t number;         /* in the block */
	uint32_t part;
	uint64_t offset;         /* in its part, before weaving */
	uint64_t addr;           /* link-time address in the woven program; 0: not known */
	uint64_t count;          /* executions; if not known, a lower bound */
	enum chord_insn kind;
	bool known;
	uint32_t file;           /* index in view_listing.file; VIEW_NO_FILE: not known */
	unsigned line;           /* 0: not known */
};
enum { VIEW_NO_FILE = UINT32_MAX };

/* A conditional jump. */
struct view_branch {
	uint32_t insn;           /* index in view_listing.insn */
	uint32_t file;
	unsigned line;
	bool known;
	uint64_t taken, fell;
	uint32_t taken_to, fell_to; /* the block where control continues, if known; EXIT: outside of the procedure */
};

struct view_file {
	const char *name;
	VEC(struct view_line) line; /* ascending; their bounds are exact, or if `unknown` both are lower bounds */
	uint32_t code, never;    /* sums over the lines */
	uint64_t insns;
};

/* All instructions of a run. */
struct view_listing {
	struct run *run;
	VEC(struct view_insn) insn;     /* by binary, procedure and block, in the order of the code */
	VEC(struct view_branch) branch; /* by file and line */
	VEC(struct view_file) file;     /* by name */
	bool fits;                      /* all sums fit in 64 bits */
};
/* Makes a listing. wants: selects procedures; NULL: all, and lines of code that is not measured are then marked `unknown`. */
void view_listing(struct view_listing *l, struct run *run, bool (*wants)(const void *ctx, const struct proc *p), const void *ctx);
/* The same for the code of source functions that `wants` selects by name: their own code and inlined copies, with everything that
 * was inlined into them. */
void view_listing_source(struct view_listing *l, struct run *run, bool (*wants)(const void *ctx, const char *name),
                         const void *ctx);
/* The scope of an instruction (image.h); IMAGE_NO_SCOPE: not known. */
uint32_t view_insn_scope(const struct view_insn *in);
void view_listing_free(struct view_listing *l);
/* The branches of a line: the first one, and their number *n. */
const struct view_branch *view_branches(const struct view_listing *l, uint32_t file, unsigned line, size_t *n);

/* ---- insn.c: the text of an instruction ---- */

/* NULL: not known. For padding: "nop". */
const char *view_insn_mnemonic(const struct view_insn *in);
/* Appends the instruction as assemblers write it. False: its bytes are not available. */
bool view_insn_text(const struct view_insn *in, struct buf *out);
/* The target of a call, or of a jump out of the procedure; n is 0 if it is not known. */
struct callee view_insn_callee(const struct view_insn *in);

/* mnemonics.c: how often instructions with each mnemonic were executed. */
struct view_mnemonic {
	const char *name;
	uint64_t code, count;    /* instructions; executions */
};
struct view_mnemonics { struct view_mnemonic *at; size_t n, cap; };
/* Adds those of a listing, most executions first. The caller frees list->at. */
void view_mnemonics(struct view_mnemonics *list, const struct view_listing *l);

/* ---- hottest.c: the instructions that ran most often ---- */

struct view_hottest {
	struct view_listing list;
	VEC(uint32_t) order;     /* indices in list.insn of those that are known to have run, most executions first */
};
/* Of the chosen part of a run. */
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
	bool choice;             /* it leaves a conditional jump */
};
struct view_block view_block_of(const struct proc *p, const struct counts *c, uint32_t block);
struct view_edge view_edge_of(const struct proc *p, const struct counts *c, uint32_t edge);
/* Writes "ENTRY", "EXIT", "3" or "hub7" to out; returns out. */
const char *view_vertex_name(char out[32], const struct proc *p, uint32_t v);
/* Address of a block's code in the woven program; 0: not known. */
uint64_t view_block_addr(const struct proc *p, uint32_t block);

/* ---- calls.c: what happened between calls and their returns ---- */

/* A procedure that was called through a pointer at one place. */
struct view_callee {
	const char *name;
	const struct proc *proc; /* NULL: it is no measured procedure */
	uint64_t calls;
};

/* What happened between a call and its return, over all executions of the call. */
struct view_call {
	const struct binary *binary;
	const struct proc *proc; /* contains the call */
	const char *callee;      /* "(through a pointer)" or "(not known)" if there is no name */
	const char *file;
	unsigned line;           /* 0: not known */
	struct bounds calls;
	struct view_callee *to;  /* callees, if they were counted, most calls first */
	size_t nto;
	bool has_to;
	uint32_t nevent;
	bool known[CHORD_SUMS];
	uint64_t n[CHORD_SUMS];  /* by event of the procedure */
};
struct view_calls {
	struct view_call *at;
	size_t n, cap;
	struct bounds left;      /* calls that are in no row: others have sums, these have none */
};

/* Adds the calls that were made in the chosen part, most events first. In procedures whose calls have no counters: the call
 * instructions that ran, without events, and without names if they go through pointers. */
void view_calls(struct view_calls *list, struct run *run, const struct view_choice *choice);
/* The call that an instruction is, or NULL; and the number of events with that name between the call and its return. False: not
 * summed, or not known. */
const struct call *view_call_at(const struct view_insn *in);
bool view_call_sum(const struct run *run, const struct view_insn *in, const struct call *call, const char *event, uint64_t *n);
/* callees.c: fills row->to for a call with CHORD_CALL_POINTER that was made row->calls times. */
void view_callees(const struct run *run, const struct module *m, const struct proc *p, uint32_t call, struct view_call *row);

/* ---- tables.c: all of the above, as reports and comparisons need it ---- */

enum { VIEW_LINES = 1, VIEW_FILES = 2, VIEW_CALLS = 4, VIEW_SOURCES = 8, VIEW_HOTTEST = 16, VIEW_INCLUSIVE = 32 };

struct view_tables {
	struct run *run;
	struct view_totals totals;
	struct event_totals events;
	struct view_functions function; /* known ones, sorted */
	struct view_lines line, file; /* if asked for, as the next three */
	struct view_calls call;       /* if asked for */
	struct view_sources source;   /* if asked for */
	struct view_hottest hottest;  /* if asked for */
	VEC(struct named) refused;    /* procedures that were not measured */
	struct unmeasured unmeasured; /* of all modules */
	bool has_lines;               /* some object has line numbers */
};
/* Fills *t. what: VIEW_LINES and so on, for the chosen part; totals are those of the whole run. False: a sum does not fit in 64
 * bits. Call view_tables_free() in either case. */
bool view_tables(struct view_tables *t, struct run *run, unsigned what, enum view_sort sort, const struct view_choice *choice);
void view_tables_free(struct view_tables *t);

/* ---- source.c: source files as texts of lines ---- */

/* The text of a line of a file, without its newline; valid until view_source_free(). False: not available. The file is read
 * once. */
bool view_source_line(const char *file, unsigned line, struct str *text);
/* Number of lines in the file; 0: it cannot be read. */
size_t view_source_lines(const char *file);
/* How many files that were read are newer than the programs and libraries of the run, so that their lines may be others than those
 * that were compiled; *name: one of them. 0 if it cannot be told. */
size_t view_source_newer(const struct run *run, const char **name);
void view_source_free(void); /* forgets all files */

#endif
