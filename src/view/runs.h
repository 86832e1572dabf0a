/* SPDX-License-Identifier: MIT */
/* The events of one or several runs of a command, as rows. */
#ifndef CHORD_VIEW_RUNS_H
#define CHORD_VIEW_RUNS_H

#include "run/run.h"

struct view_thread {
	uint64_t pid;
	uint32_t number;         /* in its process, in the order of creation, from 0 */
	struct tally_event *at;  /* by event */
};

/* All runs together. */
struct view_runs {
	struct pool *pool;
	bool all_known;          /* the list of events is taken from the first run: all that are known */
	struct event_list events;
	uint32_t room;           /* for how many runs */
	struct tally_event *at;  /* event e in run i: at[e * room + i] */
	uint32_t nrun;           /* number of runs so far */
	uint64_t fewest, most;   /* processes of a run */
	/* Of all runs, each once: */
	VEC(struct named) unknown; /* procedures and objects */
	VEC(struct named) missing; /* profiles that the sums lack */
	VEC(const char *) note;
	/* Of the last run: */
	uint64_t processes, refused, unmeasured;
	bool stripped;
	VEC(const char *) library; /* that was not measured */
	VEC(struct view_thread) thread; /* if asked for: threads that executed anything */
};
/* An event over all runs. */
struct view_spread {
	const char *why;         /* why it is not known in some run; NULL: it is */
	uint64_t min, median, max;
	uint64_t median_most, max_most; /* if counts are bounds: of the upper bounds */
};

/* Adds a note, unless it is there. */
void view_runs_note(struct view_runs *s, const char *text);
/* Adds a run that was loaded. */
void view_runs_add(struct view_runs *s, struct run *r);
/* Adds the threads of one process of a run, which is solved for each thread by itself. False: reported. */
bool view_runs_add_threads(struct view_runs *s, struct run *r, const char *profile);
/* The least, median and greatest number of an event over all runs. */
struct view_spread view_runs_spread(const struct view_runs *s, uint32_t event);
/* Adds notes on what differs between runs, for programs that do not always do the same. */
void view_runs_compare(struct view_runs *s);
void view_runs_free(struct view_runs *s);

#endif
