/* SPDX-License-Identifier: MIT */
/* Shared by the files that emit the edits of one procedure. */
#ifndef CHORD_EMIT_H
#define CHORD_EMIT_H

#include "weave/internal.h"

struct emitter {
	const struct unit *u;
	struct woven *w;
	struct edits *e;
	struct buf b; /* text that becomes the next edit */
	const struct weave_options *o;
	char counters[32];      /* symbol of the procedure's counters */
	struct number_boxes boxes;
	const char **numbers;   /* by box: its symbol */
	bool *target;           /* by block: it needs a J label */
	struct buf *stubs;      /* by part */
	struct buf *cold;       /* by part: stubs that are rarely executed */
	const char **due;       /* by event: the routine that knows its timers */
	uint32_t nask;
};

/* ---- emit_text.c ---- */

/* Appends the definition of a label of procedure number `proc`. */
void emit_label(struct buf *b, char kind, uint32_t proc, size_t number);
/* The name of a label of this procedure (pool). */
const char *emit_name(struct emitter *m, char kind, size_t number);
/* Makes m->b an edit at an offset of the text, in the syntax that holds at that statement, and empties it. */
void emit_text(struct emitter *m, uint32_t at, uint32_t rank, uint32_t stmt);
/* The last instruction of a block, and the code that contains the block. */
const struct insn *emit_last(const struct emitter *m, uint32_t block);
const struct code *emit_code(const struct emitter *m, uint32_t block);
/* Offsets in the text: after a statement, and before an instruction. */
uint32_t emit_behind(const struct emitter *m, uint32_t stmt);
uint32_t emit_before(const struct emitter *m, uint32_t block, uint32_t i);
/* The same before the directives that give the instruction's source line. */
uint32_t emit_before_line(const struct emitter *m, uint32_t block, uint32_t i);
/* The statement after which code can stand that runs when the call in statement `stmt` has returned. */
uint32_t emit_returned(const struct emitter *m, uint32_t block, uint32_t insn, uint32_t stmt);
/* Puts m->b after a block, and empties it. */
void emit_after(struct emitter *m, uint32_t block, uint32_t rank);
/* Appends text of the runtime or of a measure. A line @eh_frame@ in it becomes the directive for .eh_frame that the woven text
 * needs, whose object is o. text NULL: nothing. */
void emit_own(struct buf *b, const struct object *o, const char *text, size_t n);
/* Begins a segment: from here on woven code has the original's instructions one by one. */
void emit_segment(struct emitter *m, uint32_t block, uint32_t insn);

/* ---- emit_site.c ---- */

/* Puts rarely executed code at the end of the part, with the call frame state of the statement that jumps to it. False: that state
 * cannot be restated there. */
bool emit_far(struct emitter *m, uint32_t block, uint32_t stmt, const struct buf *stub);
/* How a register of the program counts for a promotion (.var != 0), apart from what differs from edge to edge. */
struct counted_steps emit_steps(const struct promotion *p);
/* The statement whose call frame state holds for a site's code. */
uint32_t emit_stmt_at(const struct emitter *m, const struct site *s);

/* Emits the code of all sites. */
void emit_sites(struct emitter *m);
/* Redirects jumps: those to a split block go after its counter, and those whose edge has a stub go to the stub. */
void emit_jumps(struct emitter *m);

/* ---- emit_call.c ---- */

/* Emits the code at all calls. */
void emit_calls(struct emitter *m);
/* True if nothing may stand before or after the call, because of linkers or of the code itself (`call 1f; 1: pop`). */
bool emit_is_glued(const struct emitter *m, uint32_t block, uint32_t i);

/* ---- stamp.c ---- */

/* Emits stamps before and after a call, if its function is one of those asked for. stmt: the last statement of the call. */
void emit_stamp(struct emitter *m, const struct call *c, uint32_t stmt);
/* Emits stamps before jumps to such functions that end the activation. What happens after it belongs to its caller. */
void emit_tail_stamps(struct emitter *m);
/* Emits calls of the runtime that record what jumps into other activations' frames abandon. */
void emit_aways(struct emitter *m);

/* ---- align.c ---- */

/* Aligns short loops, so that they take as few cache lines as possible. first: index of the procedure's first edit. */
void emit_aligned(struct emitter *m, size_t first);

/* ---- emit_trap.c ---- */

/* Emits the code around system calls. */
void emit_traps(struct emitter *m);

#endif
