/* SPDX-License-Identifier: MIT */
/* What the files of `chord diff` share: diff.c has the options, stored.c the sides that are no profiles, gate.c the limits; print.c
 * and markup.c print. */
#ifndef CHORD_DIFF_H
#define CHORD_DIFF_H

#include "compare/compare.h"
#include "tool/print.h"

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_MARKDOWN, DIFF_GITHUB, DIFF_GITLAB };

enum diff_limited { LIMIT_EVENT, LIMIT_FUNCTION, LIMIT_PROGRAM };

/* A limit, and what was reached. */
struct diff_limit {
	enum diff_limited of;
	const char *event;       /* of LIMIT_EVENT; "instructions" of the others */
	const char *text;        /* the percentage, as it was given */
	uint64_t millionths;     /* of a percent of what was before: of a function of all that was executed */
	const char *unknown;     /* not NULL: it cannot be said, for this reason */
	const struct difference *most; /* of what it limits what grew most; NULL: nothing did */
	struct bounds before;    /* a hundred percent */
	bool exceeded;           /* or not known */
};

struct diff_options {
	bool lines;
	bool stored;             /* sides may be what chord stat printed */
	enum diff_format format;
	size_t top;              /* 0: all */
};

/* An event of a side. */
struct side_event {
	const char *name;
	struct bounds n;
	const char *why;         /* not NULL: it is not known, for this reason */
};

/* A profile, or several summed, and what it is of; or what `chord stat --json` printed. */
struct side {
	const char *program;     /* NULL: found through the profile */
	const char *profile;
	bool stored;             /* printed by chord stat: it has events only */
	uint64_t processes;
	struct run run;          /* of a profile */
	VEC(struct side_event) event; /* of one that is stored */
	VEC(const char *) note;  /* likewise */
	size_t nmissing;         /* profiles that its counts are short of */
};

struct diff {
	const struct diff_options *opt;
	struct side side[2];     /* before, after */
	struct comparison found;
	VEC(struct diff_limit) limit;
};

/* The sides that operands name, two to four: [PROGRAM] A [PROGRAM] B. In any case diff_close(). */
void diff_open(struct diff *d, char **name, int n);
/* Loads and compares them. False: reported. */
bool diff_find(struct diff *d);
void diff_close(struct diff *d);
/* What the side is of. */
const char *diff_program(const struct side *s);

/* stored.c: does a file begin as JSON does? */
bool stored_is(const char *name);
/* Reads a side that chord stat printed. False: reported. */
bool stored_read(struct diff *d, struct side *s);
/* An event of a side, by its name as for chord stat -e (pool). */
struct side_event diff_event(struct diff *d, int side, const char *name);
/* Compares all events of two sides one of which is stored. False, *why: there is nothing to compare. */
bool stored_compare(struct diff *d, const char **why);

/* gate.c: fills what the limits reached and says which are exceeded, or may be. True: some are. */
bool gate_check(struct diff *d);
/* What was reached, in percent: "+3.12 %", "at least +3.12 %"; and how a limit of that kind is called. */
enum { GATE_REACHED = 64 };
const char *gate_reached(char out[GATE_REACHED], const struct diff_limit *l);
const char *gate_name(struct pool *pool, const struct diff_limit *l);
/* Is what was reached known, not only within bounds? */
bool gate_is_exact(const struct diff_limit *l);
/* Is a function among those that exceed it for certain? */
bool gate_is_exceeded_by(const struct diff_limit *l, const struct difference *function);

/* False: it could not be written. */
bool diff_text(const struct diff *d);
bool diff_json(const struct diff *d, bool failed);
bool diff_markdown(const struct diff *d);
bool diff_github(const struct diff *d);
bool diff_gitlab(const struct diff *d);
/* "+1,234", "-1,234", "0" or, if it is not exact, its bounds; "+3.10%", "new", "gone" or "". */
const char *change_text(char out[RANGE], const struct difference *r);
const char *percent_text(char out[32], const struct difference *r);

#endif
