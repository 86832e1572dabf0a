/* SPDX-License-Identifier: MIT */
/* event: what -fchord=events and `chord stat` count (Ball 1994, section 2: each block or edge
 * of a graph has events). An event is a sum of what instructions do (facts, from their bytes),
 * what blocks do (1 when entered) and what edges do (1 when taken). */
#ifndef CHORD_EVENT_H
#define CHORD_EVENT_H

#include "asm/machine.h"
#include "base/base.h"

enum event_kind {
	EVENT_INSTRUCTIONS, EVENT_BLOCKS, EVENT_BRANCHES, EVENT_TAKEN, EVENT_CALLS, EVENT_INDIRECT_CALLS,
	EVENT_RETURNS, EVENT_LOADS, EVENT_STORES, EVENT_BYTES_LOADED, EVENT_BYTES_STORED, EVENT_ATOMICS,
	EVENT_FP, EVENT_VECTOR, EVENT_DIVIDES, EVENT_BACKWARD_BRANCHES,
	EVENT_CALL_OF,  /* call:PATTERN, calls of and tail jumps to procedures whose names match */
	EVENT_INSN,     /* insn:PATTERN, instructions whose mnemonics match */
	EVENT_COST,     /* cost:FILE, a sum of costs by class of instruction */
	EVENT_KINDS,
};

struct event {
	uint8_t kind;           /* enum event_kind */
	const char *name;       /* as it is reported and stored; no path in it */
	const struct event_pattern *pattern; /* call: and insn: */
	const struct event_costs *costs;     /* cost: */
};

struct event_list {
	struct event *at;
	uint32_t n;             /* no two of one name */
};

/* Reads a list as of -fchord-events=: names with commas between them. Everything is in the pool.
 * False, with *why: an unknown name, a pattern that cannot be compiled, a cost file that cannot be
 * read or has an unknown class (FILE:LINE: ...), an empty list. */
bool event_list_read(struct pool *pool, const char *list, struct event_list *out, const char **why);
/* All the events that have plain names, in order: for --help and messages. */
const char *event_name(enum event_kind kind); /* NULL: a kind with a pattern or file */

/* What one execution of an instruction adds. `callee`: the symbol that a call or jump out of the procedure
 * leads to, or NULL. */
uint64_t event_of_insn(const struct event *e, const struct insn *in, const struct facts *f, const char *callee);
/* What entering a block adds, before its first instruction. */
uint64_t event_of_block(const struct event *e);
/* What taking an edge adds. kind: enum chord_edge; backward: by a jump to an address that is not greater
 * than the jump's own. */
uint64_t event_of_edge(const struct event *e, uint32_t kind, bool backward);

#endif
