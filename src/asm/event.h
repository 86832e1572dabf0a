/* SPDX-License-Identifier: MIT */
/* event: what -fchord=events and `chord stat` count (Ball 1994, section 2: each block or edge
 * of a graph has events). An event is a sum of what instructions do (facts, from their bytes),
 * what blocks do (1 when entered) and what edges do (1 when taken).
 *
 *   instructions       executed; with a rep prefix one, however often it repeats
 *   blocks             entered
 *   branches           conditional jumps executed, taken or not (jrcxz, loop, xbegin too)
 *   taken              conditional jumps taken
 *   calls              call instructions; jumps to other procedures (tail calls) are none
 *   indirect-calls     those through a register or memory
 *   returns            ret instructions
 *   loads, stores      accesses to memory, and their bytes: struct facts
 *   bytes-loaded, bytes-stored
 *   atomics, fp, vector, divides    instructions that are such: struct facts
 *   backward-branches  jumps taken inside a procedure, conditional, unconditional or indirect, to a place not behind
 *                      the jump. Places are those before weaving: by part, then by offset. An indirect jump
 *                      is taken to stand where the last of those stands that share its hub. So every cycle
 *                      of a procedure has one
 *   clock              what a software instruction counter counts: rounds of loops and executions of procedures, so that with
 *                      the program counter and the stack pointer the count names each state of a thread (weave/clock.c). It is
 *                      no sum of what instructions, blocks and edges do, so only its counter has it
 *   call:PATTERN       calls of procedures whose names match and jumps to them. The name is that of the symbol
 *                      which the call names; calls through pointers are not among them
 *   insn:PATTERN       instructions whose mnemonics match: Intel's, in lower case, without prefixes (jnz, not jne)
 *   cost:FILE          a sum of costs, see below
 *
 * A PATTERN is one or more globs (fnmatch(3)) with | between them, of which one has to match the whole name, or a
 * POSIX extended regular expression between slashes, which may match any part of it: call:read|write*, insn:/^v(add|mul)/.
 *
 * A FILE of costs has lines `CLASS COST`; # begins a comment. An instruction costs what the first line says that
 * fits it (0 if there is none), and in addition, for each access, what the lines `load` and `store` say; a
 * conditional jump that is taken costs what the line `taken` says in addition. The other classes: insn:PATTERN,
 * branch, jump (unconditional), call, indirect-call, return, syscall, atomic, divide, fp, vector, rep, nop, and default, which
 * fits every instruction. Tables that differ in a byte are different events. */
#ifndef CHORD_EVENT_H
#define CHORD_EVENT_H

#include "machine/machine.h"
#include "base/base.h"

enum event_kind {
	EVENT_INSTRUCTIONS, EVENT_BLOCKS, EVENT_BRANCHES, EVENT_TAKEN, EVENT_CALLS, EVENT_INDIRECT_CALLS,
	EVENT_RETURNS, EVENT_LOADS, EVENT_STORES, EVENT_BYTES_LOADED, EVENT_BYTES_STORED, EVENT_ATOMICS,
	EVENT_FP, EVENT_VECTOR, EVENT_DIVIDES, EVENT_BACKWARD_BRANCHES,
	EVENT_CALL_OF, EVENT_INSN, EVENT_COST, /* with a pattern or a file */
	EVENT_CLOCK,
	EVENT_KINDS,
};

struct event {
	uint8_t kind;           /* enum event_kind */
	const char *name;       /* its name in reports and files; for a cost file the name without folders, and 8 hex digits from
				 * its content: cost:BASENAME#1a2b3c4d */
	const struct event_pattern *pattern; /* call: and insn: */
	const struct event_costs *costs;     /* cost: */
	bool timed;             /* its counter is compared with the limit of a timer: not set here */
};

struct event_list {
	struct event *at;
	uint32_t n;             /* no two of one name */
};

/* Reads a list as of -fchord-events=: names with commas between them, where commas between the slashes of a regular expression do
 * not count. False, with *why: an unknown name, a pattern that cannot be compiled, a cost file that cannot be read or has an
 * unknown class (FILE:LINE: ...), an empty list. */
bool event_list_read(struct pool *pool, const char *list, struct event_list *out, const char **why);
/* Length of the first item of such a list. */
size_t event_list_item(const char *list);
/* Frees what is not in the pool. */
void event_list_free(struct event_list *list);
/* All the events that have plain names, in order: for --help and messages. */
const char *event_name(enum event_kind kind); /* NULL: a kind with a pattern or file */

/* What one execution of an instruction adds. Of *in only cls and attr are used. `callee`: the symbol that a call or jump out of
 * the procedure leads to, or NULL. */
uint64_t event_of_insn(const struct event *e, const struct insn *in, const struct facts *f, const char *callee);
/* What entering a block adds, before its first instruction. */
uint64_t event_of_block(const struct event *e);
/* What taking an edge adds. kind: enum chord_edge, but CHORD_EDGE_TAKEN too for a conditional jump that leads out of
 * the procedure; backward: by a jump to an address that is not greater than the jump's own. */
uint64_t event_of_edge(const struct event *e, uint32_t kind, bool backward);
/* What a taken conditional jump out of the procedure adds as well, for the symbol that it leads to. */
uint64_t event_of_jump_out(const struct event *e, const char *callee);

#endif
