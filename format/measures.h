/* SPDX-License-Identifier: MIT */
/* The registry of measures: the one list of what Chord can measure. Every other list (names, options, help, what goes with
 * what, what the tests run) comes from it; docs/measures.md says how to add a line. Like format.h it needs no other header. */
#ifndef CHORD_MEASURES_H
#define CHORD_MEASURES_H

/* What is true of a measure. */
enum {
	CHORD_FLOW = 1,       /* says how often each block ran; an object has one such measure at most */
	CHORD_FLOW_EDGES = 2, /* says that of each edge, too */
	CHORD_OF_EVENTS = 4,  /* counts what -fchord-events= lists */
	CHORD_STACK = 8,      /* keeps something by the stack: procedures whose stack pointer may point to data are refused */
	CHORD_AT_CALLS = 16,  /* counters of events have to be right at every call */
	CHORD_ALONE = 32,     /* goes with no other measure, but with one that needs it */
	CHORD_IN_ORDER = 64,  /* writes down what ran: each call ends its block, and what is pending is written before it */
	CHORD_OWN_EVENT = 128, /* counts an event that has its name */
};

/* X(IDENTIFIER, identifier, name, what it needs, traits, what it counts). The place in the list is the measure's number, which
 * stands in maps: new lines go to the end. With `identifier` end the names of what a layer knows of it. What it needs is a set
 * of measures that are added to it; one with CHORD_FLOW is so only if none has been chosen. */
#define CHORD_MEASURE_LIST(X) \
	X(EDGES, edges, "edges", 0, CHORD_FLOW | CHORD_FLOW_EDGES, \
	  "counters on as few and as cold edges as suffice (the default)") \
	X(EVERY_BLOCK, every_block, "every-block", 0, CHORD_FLOW, "a counter in every block") \
	X(EVERY_EDGE, every_edge, "every-edge", 0, CHORD_FLOW | CHORD_FLOW_EDGES, "a counter on every edge") \
	X(EVENTS, events, "events", 0, CHORD_OF_EVENTS, "one exact counter for each event, which can be read at any moment") \
	X(PATHS, paths, "paths", 0, CHORD_FLOW | CHORD_FLOW_EDGES | CHORD_STACK | CHORD_ALONE, \
	  "how often each acyclic path through a procedure ran") \
	X(CALLS, calls, "calls", CHORD_SET(EVENTS) | CHORD_SET(EDGES), CHORD_OF_EVENTS | CHORD_STACK | CHORD_AT_CALLS, \
	  "what happens between each call and its return, in events") \
	X(BLOCKS, blocks, "blocks", 0, CHORD_FLOW, "counters of edges without those that only edges need") \
	X(BLOCKS_VCNT, blocks_vcnt, "blocks-vcnt", 0, CHORD_FLOW, "counters in as few and as cold blocks as suffice") \
	X(TRACE, trace, "trace", 0, CHORD_FLOW | CHORD_FLOW_EDGES | CHORD_STACK | CHORD_ALONE | CHORD_IN_ORDER, \
	  "which paths ran in which order: all that each thread executed") \
	X(CLOCK, clock, "clock", CHORD_SET(EVENTS), CHORD_OWN_EVENT, \
	  "a count that names each state of a thread, with the program counter and the stack pointer") \
	X(DATA, data, "data", CHORD_SET(TRACE), CHORD_ALONE, \
	  "in a trace, which addresses each load and store accessed")

/* The options that measures have, -fchord-NAME=VALUE. X(IDENTIFIER, name, measures that it implies, measures that it does not go
 * with, what its value is). How such a value is read is known in src/driver/measure.c, as read_ and the last word. */
#define CHORD_OPTION_LIST(X) \
	X(EVENTS, "events", CHORD_SET(EVENTS), 0, events) \
	X(TIMERS, "timers", CHORD_SET(EVENTS), CHORD_SET(CALLS), timers) \
	X(PATHS, "paths", CHORD_SET(PATHS), 0, file) \
	X(TRACE, "trace", CHORD_SET(TRACE), CHORD_SET(DATA), encoding) \
	X(TRACE_STAMP, "trace-stamp", CHORD_SET(TRACE), 0, globs) \
	X(WEIGHTS, "weights", 0, 0, file)

#define CHORD_MEASURE_ID(id, ...) CHORD_##id,
enum chord_measure { CHORD_MEASURE_LIST(CHORD_MEASURE_ID) CHORD_MEASURES };

/* The one event that no instruction, block or edge adds anything to. */
#define CHORD_EVENT_CLOCK "clock"

/* A set of measures: bit m is that of measure m. */
#define CHORD_SET(id) (1u << CHORD_##id)

#endif
