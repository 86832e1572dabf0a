/* SPDX-License-Identifier: MIT */
/* Timers (include/chord.h). The counter of an event is the sum of several numbers, its ways. The events left until a limit are
 * divided among the ways: each way is set below 0 by its share, and its partner above 0 by as much. Woven code calls the runtime
 * when a way reaches 0. Then the rest is divided again, in proportion to what each way used of its last share. So a timer costs a
 * few such calls, and a jump that is not taken wherever the counter changes.
 *
 * A number and its partner change in one instruction (cmpxchg16b), so that signal handlers and outside readers see a correct sum at
 * any moment. */

enum { CHORD_RT_CANCEL, CHORD_RT_SLACK, CHORD_RT_EXACT, CHORD_RT_LATE };
enum { CHORD_RT_NOT_COUNTED = -1, CHORD_RT_INVALID = -2, CHORD_RT_NOT_HERE = -3, CHORD_RT_NOT_EXACT = -4 };

/* Far from 0: a way gets there only after hours, and is then set back. */
#define CHORD_RT_FAR (1ll << 44)

/* What chord_rt_timer_due() asks timers.s to do. */
enum { CHORD_RT_DUE_STEP = -1, CHORD_RT_DUE_NONE, CHORD_RT_DUE_RUN };
struct chord_rt_call { uint64_t handler, arg, room; };

#include "timed.h"

/* Sets a way to a value. The sum of its pair does not change. */
static void
chord_rt_put_way(struct chord_rt_pair *p, int64_t to)
{
	volatile struct chord_rt_pair *now = p;

	while (!chord_rt_swap_pair(p, now->way, now->rest, to))
		;
}

static void
chord_rt_put_all(struct chord_rt_timer *t, int64_t to)
{
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++)
		chord_rt_put_way(&t->pair[i], to);
}

static uint64_t
chord_rt_timer_count(const struct chord_rt_timer *t)
{
	const volatile struct chord_rt_pair *p = t->pair;
	uint64_t sum = 0;

	for (int i = 0; i < CHORD_PAIRS_TIMED; i++)
		sum += (uint64_t)p[i].way + (uint64_t)p[i].rest;
	return sum;
}

static uint64_t
chord_rt_whole(const uint64_t half[2])
{
	return half[0] | half[1] << 32;
}

static void
chord_rt_halve(uint64_t half[2], uint64_t v)
{
	half[0] = (uint32_t)v;
	half[1] = v >> 32;
}

/* ---- shares ---- */

/* How much of its last share each way used, on a scale on which all together are 255. */
static void
chord_rt_usage(const struct chord_rt_timer *t, uint32_t part[CHORD_PAIRS_TIMED])
{
	uint64_t took[CHORD_PAIRS_TIMED], sum = 0;

	for (int i = 0; i < CHORD_PAIRS_TIMED; i++) {
		took[i] = t->share[i] + (uint64_t)t->pair[i].way;
		took[i] = t->share[i] && took[i] < CHORD_RT_FAR ? took[i] : 0;
		sum += took[i];
	}
	for (; sum > UINT32_MAX; sum >>= 1)
		for (int i = 0; i < CHORD_PAIRS_TIMED; i++)
			took[i] >>= 1;
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++)
		part[i] = sum ? (uint32_t)(took[i] * 224 / (sum + 1)) + 7 : 63;
}

/* Divides the events that are left: as long as no way has used up its share, the limit is not reached. */
static void
chord_rt_divide(struct chord_rt_timer *t, uint64_t left)
{
	uint32_t part[CHORD_PAIRS_TIMED];
	uint64_t unit;

	left = left < CHORD_RT_FAR ? left : CHORD_RT_FAR;
	chord_rt_usage(t, part);
	unit = left / 256;
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++) {
		uint64_t share = unit ? unit * part[i] : (left + 3) / 4;

		t->share[i] = share;
		chord_rt_put_way(&t->pair[i], -(int64_t)share);
	}
}

/* The events that the ways can take before one of them reaches 0. */
static uint64_t
chord_rt_divided(const struct chord_rt_timer *t)
{
	uint64_t sum = 0;

	for (int i = 0; i < CHORD_PAIRS_TIMED; i++)
		sum += (uint64_t)-((const volatile struct chord_rt_pair *)t->pair)[i].way - 1;
	return sum;
}

/* Events until woven code has to ask, in the worst case: the counter may lack `most` where the program is, and be `most` ahead
 * here. 0 or less: woven code has to ask everywhere. */
static int64_t
chord_rt_timer_left(const struct chord_rt_timer *t)
{
	return (int64_t)(chord_rt_whole(t->limit) - chord_rt_timer_count(t) - 2 * t->most);
}

/* Sets the ways for the events that are left. Meanwhile signal handlers may set timers, end them and count. */
static void
chord_rt_settle(struct chord_rt_timer *t)
{
	volatile uint64_t *seq = &t->seq;
	uint64_t now;
	int64_t left;

	do {
		now = *seq;
		left = now & 1 ? chord_rt_timer_left(t) : 1;
		if (!(now & 1))
			chord_rt_put_all(t, -CHORD_RT_FAR);
		else if (left <= 0)
			chord_rt_put_all(t, CHORD_RT_FAR);
		else
			chord_rt_divide(t, (uint64_t)left);
	} while (*seq != now || (now & 1 && left > 0 && (int64_t)chord_rt_divided(t) > chord_rt_timer_left(t)));
}

/* Ends a setting, if it is still that one. */
static bool
chord_rt_end_timer(struct chord_rt_timer *t, uint64_t seq)
{
	return seq & 1 && __atomic_compare_exchange_n(&t->seq, &seq, seq + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* ---- the thread that has a timer ---- */

/* The region of the calling thread. A word in the region remembers which it is. */
static struct chord_rt_region *
chord_rt_region_here(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r;
	uint64_t mine = chord_rt_home_mine();

	if (mine)
		return chord_rt_region(ctl, mine - 1);
	r = chord_rt_region_mine(ctl);
	if (r)
		chord_rt_home_set_mine((uint64_t)r->index + 1);
	return r;
}

/* NULL: the thread has no counters of its own. */
static struct chord_rt_region *
chord_rt_timer_region(struct chord_rt_ctl *ctl)
{
	return ctl && ctl->magic && !ctl->nogs ? chord_rt_region_here(ctl) : NULL;
}

/* The most that a counter lacks in any procedure of the module, for any event. */
static uint64_t
chord_rt_most(struct chord_rt_timed *timed)
{
	const unsigned char *p = (const unsigned char *)CHORD_RT_NEAR(timed->start);
	const unsigned char *end = (const unsigned char *)CHORD_RT_NEAR(timed->stop);
	uint64_t most = 0;

	for (const uint32_t *head; p + 16 <= end && !timed->most; p += head[2]) {
		head = (const uint32_t *)(const void *)p;
		if (!head[2])
			break;
		for (uint32_t e = 0; e < head[3]; e++)
			most = head[5 + 2 * e] > most ? head[5 + 2 * e] : most;
	}
	if (!timed->most)
		timed->most = most + 1;
	return timed->most - 1;
}

/* ---- due ---- */

/* The handler is to run, and the counter is exact here. False: a signal handler has just ended the setting. */
static bool
chord_rt_take_due(struct chord_rt_ctl *ctl, struct chord_rt_timer *t, uint64_t late, uint64_t seq, struct chord_rt_call *call)
{
	call->handler = t->handler;
	call->arg = chord_rt_whole(t->arg);
	call->room = chord_rt_state_size(ctl);
	if (!chord_rt_end_timer(t, seq))
		return false;
	t->late = late > t->late ? late : t->late;
	chord_rt_settle(t);
	return true;
}

#include "trap.c"

/* Called by woven code, through timers.s, when a way of the counter has reached 0, and again after a handler. The counter is
 * exact. */
static __attribute__((used)) int
chord_rt_timer_due(uint64_t at, struct chord_rt_call *call)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_region *r = chord_rt_timer_region(ctl);
	struct chord_rt_timer *t = (struct chord_rt_timer *)(at + (r ? r->base : 0));

	for (;;) {
		uint64_t seq = *(volatile uint64_t *)&t->seq;
		int64_t left;

		/* A thread that has ended set the timer, and this thread has its region. */
		if (seq & 1 && (!r || t->users != r->users))
			chord_rt_end_timer(t, seq);
		seq = *(volatile uint64_t *)&t->seq;
		left = (int64_t)(chord_rt_whole(t->limit) - chord_rt_timer_count(t));
		if (seq & 1 && left <= 0) {
			if (chord_rt_take_due(ctl, t, (uint64_t)-left, seq, call))
				return CHORD_RT_DUE_RUN;
			continue;
		}
		chord_rt_settle(t);
		return chord_rt_steps(ctl, r, t) ? CHORD_RT_DUE_STEP : CHORD_RT_DUE_NONE;
	}
}

/* ---- set ---- */

static void
chord_rt_arm(struct chord_rt_timer *t, const struct chord_rt_region *r, uint64_t n, uint64_t handler, uint64_t arg, uint64_t how,
             uint64_t due)
{
	struct chord_rt_timed *timed = (struct chord_rt_timed *)(due - 4 + (uint64_t)(int64_t)*(const int32_t *)(due - 4));
	uint64_t all = ~0ull, old = 0;

	chord_rt_call(SYS_rt_sigprocmask, 0, &all, &old, 8);
	t->most = chord_rt_most(timed);
	t->users = r->users;
	t->due = due;
	t->handler = handler;
	t->how = how;
	chord_rt_halve(t->arg, arg);
	chord_rt_halve(t->limit, chord_rt_timer_count(t) + n);
	t->seq = (t->seq + 1) | 1;
	chord_rt_settle(t);
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
}

struct chord_rt_result { int64_t value, steps; };

/* chord_timer() and the like, through timers.s. CHORD_RT_LATE: the query how late handlers have been so far. */
static __attribute__((used)) struct chord_rt_result
chord_rt_timer_set(uint64_t n, uint64_t handler, uint64_t arg, uint32_t how, uint64_t at, uint64_t due)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_region *r = chord_rt_timer_region(ctl);
	struct chord_rt_timer *t = (struct chord_rt_timer *)(at + (r ? r->base : 0));

	if (how != CHORD_RT_CANCEL && how != CHORD_RT_LATE && (!n || n >> 63 || !handler))
		return (struct chord_rt_result){CHORD_RT_INVALID, 0};
	if (!r || !chord_rt_state_size(ctl))
		return (struct chord_rt_result){CHORD_RT_NOT_HERE, 0};
	if (how == CHORD_RT_LATE)
		return (struct chord_rt_result){(int64_t)(t->late & INT64_MAX), 0};
	if (how == CHORD_RT_EXACT && ctl->traced)
		return (struct chord_rt_result){CHORD_RT_NOT_EXACT, 0};
	if (how == CHORD_RT_CANCEL) {
		chord_rt_end_timer(t, t->seq);
		chord_rt_settle(t);
		return (struct chord_rt_result){0, 0};
	}
	chord_rt_arm(t, r, n, handler, arg, how, due);
	return (struct chord_rt_result){0, chord_rt_steps(ctl, r, t)};
}
