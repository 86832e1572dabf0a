/* SPDX-License-Identifier: MIT */
/* The list of measures for which the runtime does something. Most measures need only regions of counters and exits, which exist in
 * any case.
 *
 * Each measure in the list has a file measure_NAME.c with the functions below; those that it does not need are empty. They are
 * found by name and called one after another: a struct of pointers would need relocations in each linked module, while empty
 * functions cost nothing. A new measure is a file, its line in all.c, and a name here. */
#define CHORD_RT_MEASURES(X, ...) \
	X(events, __VA_ARGS__) \
	X(calls, __VA_ARGS__) \
	X(paths, __VA_ARGS__) \
	X(trace, __VA_ARGS__)

#define CHORD_RT_NO_REGION (~0u)

/* All functions are called under the lock, except for leave. */
#define CHORD_RT_MEASURE(name, ...) \
	/* A module has been found: reads its descriptor. */ \
	static void chord_rt_##name##_found(struct chord_rt_mod *m, const struct chord_rt_desc *d); \
	/* The module is new: makes what is kept of it, and its extents in the profile. */ \
	static void chord_rt_##name##_new(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, struct chord_rt_desc *d); \
	static void chord_rt_##name##_extents(struct chord_rt_ctl *ctl, uint32_t module); \
	/* The module is about to be put into the control block. */ \
	static void chord_rt_##name##_module(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m); \
	/* The module is closed, or about to be. */ \
	static void chord_rt_##name##_closed(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m); \
	/* Its counters have been mapped in that region; CHORD_RT_NO_REGION: a thread that may be in its code will go on without. \
	 * The other: a new thread is about to get a region. */ \
	static void chord_rt_##name##_region(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, uint32_t region); \
	static void chord_rt_##name##_thread(struct chord_rt_ctl *ctl, const struct chord_rt_region *r); \
	/* A profile begins: reserves room that may not be available later. */ \
	static void chord_rt_##name##_begin(struct chord_rt_ctl *ctl); \
	/* A constructor has run, and hooks are about to be set. */ \
	static void chord_rt_##name##_constructed(struct chord_rt_ctl *ctl); \
	/* In a forked child: releases what belongs to the parent. number: of the region that is kept, plus 1; 0: none. */ \
	static void chord_rt_##name##_drop(struct chord_rt_ctl *ctl, uint32_t number); \
	/* In a forked child: clears the module's own section, which has the parent's data. */ \
	static void chord_rt_##name##_fork(const struct chord_rt_mod *m); \
	/* An activation is left at the PC of that counter of exits, or resumed there (cfa 0); delta -1: undoes that. */ \
	static void chord_rt_##name##_leave(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t delta, uint64_t cfa); \
	/* An activation, whose frame ends at cfa, is active in a thread that waits: sets *to to what an exit would record. \
	 * False: not known. */ \
	static bool chord_rt_##name##_waits(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, \
	    const struct chord_rt_region *r, uint64_t cfa, struct chord_waiting *to); \
	/* True if more is recorded of an exit than its count. */ \
	static bool chord_rt_##name##_leaves(const struct chord_rt_ctl *ctl); \
	/* True if it maps memory later, which the process may forbid itself to do. The other: the process is about to forbid \
	 * that, now or soon. */ \
	static bool chord_rt_##name##_maps(const struct chord_rt_ctl *ctl); \
	static void chord_rt_##name##_confined(struct chord_rt_ctl *ctl, bool now); \
	/* True if an activation that was interrupted between calls may stay uncounted at the end and in snapshots. */ \
	static bool chord_rt_##name##_amid(const struct chord_rt_ctl *ctl); \
	/* True if the process that follows may continue the profile. */ \
	static bool chord_rt_##name##_goes_on(const struct chord_rt_ctl *ctl);
CHORD_RT_MEASURES(CHORD_RT_MEASURE, )

#define CHORD_RT_NOTIFY_ONE(name, what, ...) chord_rt_##name##_##what(__VA_ARGS__);
#define CHORD_RT_NOTIFY(what, ...) do { CHORD_RT_MEASURES(CHORD_RT_NOTIFY_ONE, what, __VA_ARGS__) } while (0)

/* True if any of them, if all of them return true. */
#define CHORD_RT_OR_ONE(name, what, ...) chord_rt_##name##_##what(__VA_ARGS__) ||
#define CHORD_RT_AND_ONE(name, what, ...) chord_rt_##name##_##what(__VA_ARGS__) &&
#define CHORD_RT_ANY(what, ...) (CHORD_RT_MEASURES(CHORD_RT_OR_ONE, what, __VA_ARGS__) false)
#define CHORD_RT_ALL(what, ...) (CHORD_RT_MEASURES(CHORD_RT_AND_ONE, what, __VA_ARGS__) true)
