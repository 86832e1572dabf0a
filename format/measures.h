/* SPDX-License-Identifier: MIT */
/* Measures: the one list of what Chord can measure. All other lists (names, options, help, which measures go together, what the
 * tests run) are made from it. docs/measures.md says how to add a line. As format.h, this header includes no other header of
 * Chord. */
#ifndef CHORD_MEASURES_H
#define CHORD_MEASURES_H

/* Traits of a measure. */
enum {
	CHORD_FLOW = 1,       /* tells how often each block ran; an object has at most one such measure */
	CHORD_FLOW_EDGES = 2, /* tells how often each edge ran, too */
	CHORD_OF_EVENTS = 4,  /* counts the events of -fchord-events= */
	CHORD_STACK = 8,      /* keeps something by the stack: procedures whose stack pointer may point to data are refused */
	CHORD_AT_CALLS = 16,  /* counters of events have to be right at every call */
	CHORD_ALONE = 32,     /* goes with no other measure, except one that needs it */
	CHORD_IN_ORDER = 64,  /* writes a trace: each call ends its block, and what is pending is written before the call */
	CHORD_OWN_EVENT = 128, /* counts an event that has the measure's name */
};

/* X(IDENTIFIER, identifier, name, needs, traits, meaning). The position in the list is the measure's number in maps: new lines go
 * to the end. Each layer names its part of a measure by `identifier`. `needs` is a set of measures that are added to this one; of
 * those, one with CHORD_FLOW is added only if no such measure was chosen. */
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

/* Options of measures, -fchord-NAME=VALUE. X(IDENTIFIER, name, implied measures, measures it does not go with, kind of value).
 * src/driver/measure.c has a function read_KIND for each kind. */
#define CHORD_OPTION_LIST(X) \
	X(EVENTS, "events", CHORD_SET(EVENTS), 0, events) \
	X(TIMERS, "timers", CHORD_SET(EVENTS), CHORD_SET(CALLS), timers) \
	X(PATHS, "paths", CHORD_SET(PATHS), 0, file) \
	X(TRACE, "trace", CHORD_SET(TRACE), CHORD_SET(DATA), encoding) \
	X(TRACE_STAMP, "trace-stamp", CHORD_SET(TRACE), 0, globs) \
	X(WEIGHTS, "weights", 0, 0, file) \
	X(LOOPS, "loops", 0, CHORD_SET(TRACE) | CHORD_SET(DATA), home)

#define CHORD_MEASURE_ID(id, ...) CHORD_##id,
enum chord_measure { CHORD_MEASURE_LIST(CHORD_MEASURE_ID) CHORD_MEASURES };

/* The one event that no instruction, block or edge adds to. */
#define CHORD_EVENT_CLOCK "clock"

/* A set of measures: bit m stands for measure m. */
#define CHORD_SET(id) (1u << CHORD_##id)

#endif
