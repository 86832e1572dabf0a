/* SPDX-License-Identifier: MIT */
/* event: what -fchord=events and `chord stat` count (Ball 1994, section 2: each block or edge of a graph has events). An event is a
 * sum over instructions (facts, from their bytes), blocks (1 for each entry) and edges (1 each time they are taken).
 *
 *   instructions       executed; with a rep prefix one, however often it repeats
 *   blocks             entered
 *   branches           conditional jumps executed, taken or not (jrcxz, loop, xbegin too)
 *   taken              conditional jumps taken
 *   calls              call instructions; jumps to other procedures (tail calls) do not count
 *   indirect-calls     calls through a register or memory
 *   returns            ret instructions
 *   loads, stores      accesses to memory, and their bytes: struct facts
 *   bytes-loaded, bytes-stored
 *   atomics, fp, vector, divides    instructions of these kinds: struct facts
 *   backward-branches  jumps taken within a procedure, conditional, unconditional or indirect, whose target is not after
 *                      the jump. Places are those before weaving: by part, then by offset. All indirect jumps that
 *                      share a hub count as standing where the last of them stands. So every cycle
 *                      of a procedure has a backward branch
 *   clock              what a software instruction counter counts: rounds of loops and executions of procedures, so that the
 *                      count, the program counter and the stack pointer name each state of the thread (weave/clock.c). It
 *                      is no sum over instructions, blocks and edges, so only its counter has it
 *   call:PATTERN       calls of procedures whose names match, and jumps to them. The name is that of the symbol in the
 *                      call; calls through pointers do not count
 *   insn:PATTERN       instructions whose mnemonics match: Intel's, in lower case, without prefixes (jnz, not jne)
 *   cost:FILE          a sum of costs, see below
 *
 * A PATTERN is either one or more globs (fnmatch(3)) with | between them, one of which has to match the whole name, or a POSIX
 * extended regular expression between slashes, which may match any part of it: call:read|write*, insn:/^v(add|mul)/.
 *
 * A FILE of costs has lines `CLASS COST`; # begins a comment. An instruction costs what the first line that fits it says (0 without
 * such a line). The lines `load` and `store` add a cost for each access, and the line `taken` adds one for a conditional jump that
 * is taken. The other classes: insn:PATTERN, branch, jump (unconditional), call, indirect-call, return, syscall, atomic, divide,
 * fp, vector, rep, nop, and default, which fits every instruction. Tables that differ in a byte are different events. */
#ifndef CHORD_EVENT_H
#define CHORD_EVENT_H

#include "machine/machine.h"
#include "base/base.h"

enum event_kind {
	EVENT_INSTRUCTIONS, EVENT_BLOCKS, EVENT_BRANCHES, EVENT_TAKEN, EVENT_CALLS, EVENT_INDIRECT_CALLS,
	EVENT_RETURNS, EVENT_LOADS, EVENT_STORES, EVENT_BYTES_LOADED, EVENT_BYTES_STORED, EVENT_ATOMICS,
	EVENT_FP, EVENT_VECTOR, EVENT_DIVIDES, EVENT_BACKWARD_BRANCHES,
	EVENT_CALL_OF, EVENT_INSN, EVENT_COST, /* kinds with a pattern or a file */
	EVENT_CLOCK,
	EVENT_KINDS,
};

struct event {
	uint8_t kind;           /* enum event_kind */
	const char *name;       /* in reports and files. For a cost file: its name without folders, and 8 hex digits from its
	                         * content, cost:BASENAME#1a2b3c4d */
	const struct event_pattern *pattern; /* call: and insn: */
	const struct event_costs *costs;     /* cost: */
	bool timed;             /* its counter is compared with the limit of a timer; not set by event_list_read() */
};

struct event_list {
	struct event *at;
	uint32_t n;             /* no two have the same name */
};

/* Reads a list as in -fchord-events=: names with commas between them; commas inside the slashes of a regular expression do not
 * separate. False with *why (pool): an unknown name, a pattern that cannot be compiled, a cost file that cannot be read or has an
 * unknown class (FILE:LINE: ...), an empty list. */
bool event_list_read(struct pool *pool, const char *list, struct event_list *out, const char **why);
/* Length of the first item of such a list, in bytes. */
size_t event_list_item(const char *list);
/* Frees what is not in the pool. */
void event_list_free(struct event_list *list);
/* The plain name of a kind, for --help and messages. */
const char *event_name(enum event_kind kind); /* NULL: a kind with a pattern or file */

/* What one execution of an instruction adds. Only cls and attr of *in are used. callee: the symbol to which a call, or a jump out
 * of the procedure, leads; or NULL. */
uint64_t event_of_insn(const struct event *e, const struct insn *in, const struct facts *f, const char *callee);
/* What entering a block adds, before its first instruction. */
uint64_t event_of_block(const struct event *e);
/* What taking an edge adds. kind: enum chord_edge, but CHORD_EDGE_TAKEN also for a conditional jump that leads out of the
 * procedure. backward: it is taken by a jump to an address not greater than the jump's own. */
uint64_t event_of_edge(const struct event *e, uint32_t kind, bool backward);
/* What a taken conditional jump out of the procedure adds besides, for the symbol to which it leads. */
uint64_t event_of_jump_out(const struct event *e, const char *callee);

#endif
