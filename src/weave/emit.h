/* SPDX-License-Identifier: MIT */
/* Shared by the files that emit the edits of one procedure. */
#ifndef CHORD_EMIT_H
#define CHORD_EMIT_H

#include "weave/internal.h"

struct emitter {
	const struct unit *u;
	struct woven *w;
	struct edits *e;
	struct buf b;
	const struct weave_options *o;
	char counters[32];
	struct number_boxes boxes;
	const char **numbers;   /* by box: its symbol */
	bool *target;           /* by block: needs a J label */
	struct buf *stubs;      /* by part */
	struct buf *cold;       /* by part: stubs that are rarely run */
	const char **due;       /* by event: the routine that knows its timers */
	uint32_t nask;
};

/* ---- emit_text.c ---- */

/* Defines a label of the procedure's in b. */
void emit_label(struct buf *b, char kind, uint32_t proc, size_t number);
/* The name of one (pool). */
const char *emit_name(struct emitter *m, char kind, size_t number);
/* Makes what is in m->b an edit at an offset of the text, in the syntax that holds at that statement, and empties it. */
void emit_text(struct emitter *m, uint32_t at, uint32_t rank, uint32_t stmt);
/* The last instruction of a block, and the code that it is in. */
const struct insn *emit_last(const struct emitter *m, uint32_t block);
const struct code *emit_code(const struct emitter *m, uint32_t block);
/* Offsets in the text: behind a statement, before an instruction. */
uint32_t emit_behind(const struct emitter *m, uint32_t stmt);
uint32_t emit_before(const struct emitter *m, uint32_t block, uint32_t i);
/* Before the directives that say which line an instruction is of. */
uint32_t emit_before_line(const struct emitter *m, uint32_t block, uint32_t i);
/* The statement behind which code can stand that runs when the call in statement `stmt` has come back. */
uint32_t emit_returned(const struct emitter *m, uint32_t block, uint32_t insn, uint32_t stmt);
/* The last statement of an instruction: a prefix may be a statement of its own. */
uint32_t emit_end_stmt(const struct emitter *m, const struct code *c, const struct insn *in);
/* Puts what is in m->b behind a block. */
void emit_after(struct emitter *m, uint32_t block, uint32_t rank);
/* Text of the runtime's or of a measure's, with the directive for .eh_frame where it has @eh_frame@ alone in a line: that which the
 * woven text needs, whose object it is. text NULL: nothing. */
void emit_own(struct buf *b, const struct object *o, const char *text, size_t n);
/* Begins a segment: from there on woven code has the original's instructions one by one again. */
void emit_segment(struct emitter *m, uint32_t block, uint32_t insn);

/* ---- emit_site.c ---- */

/* Puts code that rarely runs at the end of the part, with the call frame state of a statement from which it is jumped to. False:
 * that state cannot be restated there. */
bool emit_far(struct emitter *m, uint32_t block, uint32_t stmt, const struct buf *stub);
/* The statement whose call frame state holds for a site's code. */
uint32_t emit_stmt_at(const struct emitter *m, const struct site *s);

void emit_sites(struct emitter *m);
/* Jumps to a block that is split go behind its counter, and to a stub where the edge has one. */
void emit_jumps(struct emitter *m);

/* ---- emit_call.c ---- */

void emit_calls(struct emitter *m);
/* Linkers, or the code itself (`call 1f; 1: pop`), want nothing before the call or behind it. */
bool emit_is_glued(const struct emitter *m, uint32_t block, uint32_t i);

/* ---- stamp.c ---- */

/* Before and behind a call, if the function is one of those that were asked for; stmt: the last statement that the call is written
 * in. */
void emit_stamp(struct emitter *m, const struct call *c, uint32_t stmt);
/* Before jumps to such a function that end the activation: what would be behind is its caller's. */
void emit_tail_stamps(struct emitter *m);
/* The runtime records what a jump into another activation's frame abandons. */
void emit_aways(struct emitter *m);

/* ---- align.c ---- */

/* Keeps short loops in as few lines of the cache as can be. The procedure's edits begin at `first`. */
void emit_aligned(struct emitter *m, size_t first);

/* ---- emit_trap.c ---- */

void emit_traps(struct emitter *m);

#endif
