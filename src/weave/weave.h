/* SPDX-License-Identifier: MIT */
/* weave: from compiler's text to measured text. weave.c is the pipeline. */
#ifndef CHORD_WEAVE_H
#define CHORD_WEAVE_H

#include "asm/event.h"
#include "base/base.h"
#include "format/format.h"
#include "selection/selection.h"
#include "measure/measure.h"

/* Assembles text with the real assembler into memory (pool). False with *why if it was rejected or could not be run; its messages
 * are dropped. */
typedef bool weave_assemble(void *ctx, const struct buf *text, struct buf *object);

/* What a trace has: a number for each acyclic path; for each of the edges that suffice to tell the way; words of the outcomes of
 * branches; a number for each way out of a branch. */
enum weave_encoding { WEAVE_PATHS, WEAVE_WITNESSES, WEAVE_BITS, WEAVE_BRANCHES, WEAVE_ENCODINGS };
extern const char *const weave_encoding_name[];
/* WEAVE_ENCODINGS: there is none of that name. */
enum weave_encoding weave_encoding_named(const char *name);

struct weave_options {
	const struct machine *machine; /* that the text is for */
	uint32_t measures;           /* set of them, complete */
	struct event_list events;    /* to be counted; none: n is 0 */
	const char *runtime;         /* text of the runtime, put behind woven text; NULL: none */
	size_t runtime_size;
	const char *timers;          /* what it has in addition for events with timers */
	size_t timers_size;
	enum weave_encoding encoding; /* of traces */
	const char *stamps;          /* functions around whose calls traces have stamps: globs, with commas; NULL: none */
	const char *trace;           /* and for traces */
	size_t trace_size;
	const struct selection *interest; /* the paths to count, if paths are measured; NULL: all */
	const struct selection *weights;  /* how often edges ran before; NULL, or where it says nothing: they are guessed */
	weave_assemble *assemble;
	void *ctx;
	FILE *dump;                  /* chord show: where to, or NULL */
	const char *dump_pass;       /* a pass's name, or NULL for all */
	/* Lines that the assembler rejected in woven text: procedures that have one are refused. */
	const uint32_t *bad_line;
	size_t nbad_line;
	struct buf *warnings;        /* gets a line for each chord_events() that stays 0, with its place, and one if procedures
	                              * are not those of the weights; NULL: not wanted */
};

enum weave_result {
	WEAVE_DONE,        /* out holds the woven text */
	WEAVE_NOTHING,     /* no code: use the text as it is */
	WEAVE_REJECTED,    /* the real assembler rejects the text itself: let it say why */
	WEAVE_WRONG,       /* what was asked for does not fit this text: it has been said why */
	WEAVE_FAILED,      /* Chord cannot weave this text; *why says why */
};

struct weave_stats {
	uint32_t procs, refused, counters;
};

enum weave_result weave(const char *at, size_t n, const char *file, const struct weave_options *o,
                        struct buf *out, struct weave_stats *stats, char **why);

#endif
