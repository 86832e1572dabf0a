/* SPDX-License-Identifier: MIT */
/* chord annotate: options, what they select, and the printers. */
#ifndef CHORD_ANNOTATE_H
#define CHORD_ANNOTATE_H

#include "tool/json.h"
#include "tool/print.h"
#include "tool/table.h"
#include "view/view.h"

enum annotate_what { ANNOTATE_SOURCE, ANNOTATE_ASM, ANNOTATE_BOTH, ANNOTATE_SUMMARY, ANNOTATE_MNEMONICS };
enum annotate_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct annotate {
	enum annotate_what what;
	enum annotate_color color;
	bool branches;           /* below each line, its conditional jumps */
	bool pager;
	bool json;
	bool colored;            /* as it turned out */
	VEC(const char *) wanted; /* files and functions; none: all that ran */
	bool inlined;            /* functions are wanted as they are written: wherever they were inlined, too */
	bool functions;          /* functions are wanted: only their code is in the listing */
	struct run *run;
	struct view_listing list;
	uint64_t insns;          /* executed in all, or at least */
	bool exact;              /* it is known exactly */
};

/* Whether a file or a function was asked for. */
bool annotate_wants_file(const struct annotate *a, const char *file);
bool annotate_wants_proc(const void *a, const struct proc *p);
/* Is a file of the listing shown? Is the procedure whose instructions are [first, last)? */
bool annotate_shows_file(const struct annotate *a, const struct view_file *f);
bool annotate_shows_insns(const struct annotate *a, size_t first, size_t last);
/* Is a file that ran left out because it cannot be read? */
bool annotate_lacks_file(const struct annotate *a, const struct view_file *f);

/* Colours, if there are any: by how much of all instructions something ran. */
void annotate_hot(const struct annotate *a, uint64_t insns);
void annotate_dim(const struct annotate *a);
void annotate_plain(const struct annotate *a);

/* source.c: files with counts beside their lines. False: nothing was printed. */
bool annotate_source(struct annotate *a);
/* asm.c: procedures with counts beside their instructions, and with ANNOTATE_BOTH the lines they come from. */
bool annotate_asm(struct annotate *a);
/* summary.c: sizes by procedure and file; executions by mnemonic. */
bool annotate_summary(struct annotate *a);
bool annotate_mnemonics(struct annotate *a);
/* Adds what annotate_summary() prints. False: there is nothing. */
bool annotate_summary_json(const struct annotate *a, json_t *o);

/* json.c: whatever is asked for, as JSON. False: nothing was printed. */
bool annotate_json(struct annotate *a);

#endif
