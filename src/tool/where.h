/* SPDX-License-Identifier: MIT */
#ifndef CHORD_WHERE_H
#define CHORD_WHERE_H

#include "tool/report.h"

/* Positions in the procedures of a unit; what it keeps is in the pool. */
struct where_index {
	struct pool *pool;
	struct unit *unit;
	struct places **places;  /* by procedure, made when first asked for */
};
void where_open(struct where_index *x, struct pool *pool, struct unit *u);

/* Where control is. */
struct where {
	const struct proc *proc;
	const char *why;         /* not NULL: that is not known, for this reason */
	uint64_t addr;           /* of the original's next instruction */
	bool left;               /* that is outside of the procedure; else: */
	uint32_t block, insn;
	int64_t *pending;        /* by event of the procedure: what woven-in code before it has still to add */
	int64_t sp;              /* and what that adds to the stack pointer */
};
/* Is that link-time address in measured code? Elsewhere the counters are right, if control came there by a call.
 * What is in *w is in the pool. */
bool where_find(struct where_index *x, struct pool *pool, uint64_t addr, struct where *w);
/* What to add to the counter of the procedure's event e to have all that have happened. */
int64_t where_behind(const struct where *w, uint32_t e);

#endif
