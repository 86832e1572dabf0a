/* SPDX-License-Identifier: MIT */
/* The events of one run or several runs of a command, as rows. */
#ifndef CHORD_VIEW_RUNS_H
#define CHORD_VIEW_RUNS_H

#include "run/run.h"

struct view_thread {
	uint64_t pid;
	uint32_t number;         /* in its process, in the order in which they were made, from 0 */
	struct tally_event *at;  /* by event */
};

/* All runs together. */
struct view_runs {
	struct pool *pool;
	bool all_known;          /* events: take all that are known, from the first run */
	struct event_list events;
	uint32_t room;           /* for so many runs */
	struct tally_event *at;  /* event e in run i: at[e * room + i] */
	uint32_t nrun;           /* that were made */
	uint64_t fewest, most;   /* processes of a run */
	/* Of all runs, each once: */
	VEC(struct named) unknown; /* procedures and objects */
	VEC(struct named) missing; /* profiles that the sums are short of */
	VEC(const char *) note;
	/* Of the last run: */
	uint64_t processes, refused, unmeasured;
	bool stripped;
	VEC(const char *) library; /* that was not measured */
	VEC(struct view_thread) thread; /* if asked for: that executed anything */
};
/* An event over all runs. */
struct view_spread {
	const char *why;         /* not NULL: not known in one of them */
	uint64_t min, median, max;
	uint64_t median_most, max_most; /* where counts are bounds: of the most that they can be */
};

void view_runs_note(struct view_runs *s, const char *text);
void view_runs_add(struct view_runs *s, struct run *r);
/* The threads of one process of a run, which is solved for each by itself. False: reported. */
bool view_runs_add_threads(struct view_runs *s, struct run *r, const char *profile);
struct view_spread view_runs_spread(const struct view_runs *s, uint32_t event);
/* Notes what runs of a program that does not always do the same differ in. */
void view_runs_compare(struct view_runs *s);
void view_runs_free(struct view_runs *s);

#endif
