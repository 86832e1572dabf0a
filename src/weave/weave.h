/* SPDX-License-Identifier: MIT */
/* weave: from a compiler's text to measured text. weave.c is the pipeline. */
#ifndef CHORD_WEAVE_H
#define CHORD_WEAVE_H

#include "asm/event.h"
#include "base/base.h"
#include "format/format.h"
#include "selection/selection.h"
#include "measure/measure.h"

/* Assembles a text with the real assembler; *object gets the object, which the weaver frees. False: it was rejected, or the
 * assembler could not be run; its messages are dropped. */
typedef bool weave_assemble(void *ctx, const struct buf *text, struct buf *object);

/* What a trace contains: a number for each acyclic path; a witness for each of the edges that suffice to tell the path; words of
 * the outcomes of branches; a number for each outcome of each branch. */
enum weave_encoding { WEAVE_PATHS, WEAVE_WITNESSES, WEAVE_BITS, WEAVE_BRANCHES, WEAVE_ENCODINGS };
extern const char *const weave_encoding_name[];
/* WEAVE_ENCODINGS: there is none with that name. */
enum weave_encoding weave_encoding_named(const char *name);

struct weave_options {
	const struct machine *machine; /* of the text */
	uint16_t reserved;           /* registers that the compiler was told to leave alone */
	uint32_t measures;           /* complete set (measures_complete()) */
	struct event_list events;    /* events to count; n is 0: none */
	const char *runtime;         /* text of the runtime, put after woven text; NULL: none */
	size_t runtime_size;
	const char *timers;          /* additional text for events with timers */
	size_t timers_size;
	bool promote;                /* registers count in loops, and are added to counters behind them */
	enum weave_encoding encoding; /* of traces */
	const char *stamps;          /* globs with commas between them: functions around whose calls traces get stamps; NULL:
	                              * none */
	const char *trace;           /* additional text for traces */
	size_t trace_size;
	const struct selection *interest; /* the paths to count, if paths are measured; NULL: all */
	const struct selection *weights;  /* how often edges ran before; NULL, or where it has nothing: weights are guessed */
	weave_assemble *assemble;
	weave_assemble *assemble_woven; /* the same for woven text: its instructions are looked at, whether numbers have changed in
	                              * them; NULL: they are not */
	void *ctx;
	FILE *dump;                  /* for chord show: the output; NULL: none */
	const char *dump_pass;       /* the pass to show; NULL: all */
	/* Lines of woven text that the assembler rejected, as often as it did: procedures that have one are refused, unless it was
	 * rejected once, for a jump that has only a short form. */
	const uint32_t *bad_line;
	size_t nbad_line;
	struct buf *warnings;        /* gets a line for each chord_events() that stays 0, with its place, and one if procedures
	                              * differ from those of the weights; NULL: not wanted */
};

enum weave_result {
	WEAVE_DONE,        /* *out has the woven text */
	WEAVE_NOTHING,     /* no code: use the text as it is */
	WEAVE_REJECTED,    /* the real assembler rejects the text itself: let it report */
	WEAVE_WRONG,       /* what was asked for does not fit this text: reported */
	WEAVE_FAILED,      /* Chord cannot weave this text: *why */
};

struct weave_stats {
	uint32_t procs, refused, counters;
};

/* Weaves a text of n bytes. file: its name, for messages. *why: allocated, the caller frees it. */
enum weave_result weave(const char *at, size_t n, const char *file, const struct weave_options *o,
                        struct buf *out, struct weave_stats *stats, char **why);

#endif
