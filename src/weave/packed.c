/* SPDX-License-Identifier: MIT */
/* The numbers that the counters of events are made of. A counter is changed all the time but seldom read, so it is spread over an
 * array of numbers. Up to three events share an array, and a place counts for all three by one addition to one number. Number i
 * stands for a vector, so many of each event. The counter of event e is the sum of all numbers, each times component e of its
 * vector (event_of_number() in profile.h).
 *
 * The array is a box: each event has its components from a lowest one on, and there is a number for each combination of them.
 * Small boxes have several numbers for each combination, because additions that follow one another should not go to the same
 * memory. A place whose vector is in the box adds 1, the shortest addition. If the opposite vector is in the box, it adds -1. If
 * its vector is a multiple of one in the box, it adds that multiple. Otherwise it adds twice, about half of the vector each time,
 * or once for each event.
 *
 * Counters that are summed for calls or compared with timers are read or compared often. Each has an array of its own, of few
 * numbers that count 1 event. The clock, to which 1 is added everywhere, has many. So has the box of one event. These two have a
 * number for each step of a base register (base.c). Numbers that are summed for calls are a longer step apart. */
#include "weave/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* How many components an event has in a box with two others: MANY, SOME or FEW, as a place often has many, some or few such events.
 * LEAST: numbers in a box, so that neighbours can have different ones. */
enum { MANY = 32, SOME = 16, FEW = 8, LEAST = 256 };

static uint32_t
usual_span(const struct event *e)
{
	switch (e->kind) {
	case EVENT_INSTRUCTIONS: case EVENT_BYTES_LOADED: case EVENT_BYTES_STORED: case EVENT_COST:
		return MANY;
	case EVENT_LOADS: case EVENT_STORES: case EVENT_FP: case EVENT_VECTOR: case EVENT_INSN:
		return SOME;
	default:
		return FEW;
	}
}

static void
set_strides(struct number_box *box)
{
	uint32_t n = box->ways * box->step;

	for (uint32_t k = box->n; k-- > 0; n *= box->axis[k].span)
		box->axis[k].stride = n;
	box->size = n;
}

/* The box of an event that is counted alone: its only vector is 1. */
static void
set_single(struct number_box *box, uint32_t ways, uint32_t step)
{
	box->ways = ways;
	box->step = step;
	box->axis[0].span = 1;
	box->axis[0].low = 1;
	set_strides(box);
}

static bool
is_single(const struct number_box *box)
{
	return box->n == 1 && box->axis[0].span == 1;
}

/* A vector below 0 in all components is the opposite of another one, so most of the box is above 0. */
static void
set_box(struct number_box *box, const struct event_list *list)
{
	uint32_t n = 1;

	for (uint32_t k = 0; k < box->n; k++) {
		struct number_axis *a = &box->axis[k];

		a->span = usual_span(&list->at[a->event]);
		a->low = a->span == MANY ? 0 : -(int32_t)a->span / 8;
		a->span = box->n == 1 ? FEW : a->span;
		a->span *= a->span == MANY && box->n == 2 ? 2 : 1;
		n *= a->span;
	}
	for (box->ways = 1; box->ways * n < LEAST; box->ways *= 2)
		;
	if (box->n == 1)
		box->ways = CHORD_CELLS;
	box->step = 1;
	set_strides(box);
}

static bool
has_room(const struct number_box *box, const struct event_list *list, const struct event *e)
{
	uint32_t n = usual_span(e);

	for (uint32_t k = 0; k < box->n; k++)
		n *= usual_span(&list->at[box->axis[k].event]);
	return box->n < NUMBER_AXES && n <= CHORD_NUMBERS_MOST;
}

bool
number_box_has_cells(const struct number_box *box)
{
	return box->n == 1 && box->ways && !(box->ways * box->step % CHORD_CELLS);
}

struct number_boxes
number_boxes(struct pool *pool, const struct event_list *list, bool calls)
{
	struct number_boxes x = {.at = pool_array(pool, list->n, sizeof *x.at)};
	uint32_t open = UINT32_MAX;

	for (uint32_t e = 0; e < list->n; e++) {
		bool alone = calls || list->at[e].timed || list->at[e].kind == EVENT_CLOCK;
		uint32_t i = !alone && open < x.n && has_room(&x.at[open], list, &list->at[e]) ? open : x.n++;

		x.at[i].axis[x.at[i].n++].event = e;
		if (!alone)
			open = i;
	}
	for (uint32_t i = 0; i < x.n; i++) {
		if (calls)
			set_single(&x.at[i], CHORD_WAYS_SUMMED, CHORD_SUMMED_STEP);
		else if (list->at[x.at[i].axis[0].event].timed)
			set_single(&x.at[i], CHORD_WAYS_TIMED, 1);
		else if (list->at[x.at[i].axis[0].event].kind == EVENT_CLOCK)
			set_single(&x.at[i], CHORD_WAYS_CLOCK, 1);
		else
			set_box(&x.at[i], list);
	}
	return x;
}

const struct number_box *
number_box_of(const struct number_boxes *boxes, uint32_t event, const struct number_axis **axis)
{
	for (uint32_t i = 0; i < boxes->n; i++)
		for (uint32_t k = 0; k < boxes->at[i].n; k++)
			if (boxes->at[i].axis[k].event == event) {
				*axis = &boxes->at[i].axis[k];
				return &boxes->at[i];
			}
	bug("event %u has no numbers", event);
}

/* ---- names ---- */

/* The name says what the numbers stand for: objects of a weaver that makes other boxes have other numbers. */
void
number_symbol(struct buf *b, const struct number_box *box, const struct event_list *list, bool calls)
{
	const struct event *first = &list->at[box->axis[0].event];

	event_symbol_of(b, calls ? "sum" : first->timed ? "timed" : "numbers", first);
	for (uint32_t k = 1; k < box->n; k++) {
		buf_char(b, '.');
		event_name_of(b, &list->at[box->axis[k].event]);
	}
	if (box->step > 1)
		buf_printf(b, ".%" PRIu32 "x%" PRIu32, box->ways, box->step);
	if (is_single(box))
		return;
	for (uint32_t k = 0; k < box->n; k++)
		buf_printf(b, ".%" PRId32 "_%" PRIu32, -box->axis[k].low, box->axis[k].span);
	buf_printf(b, ".%" PRIu32, box->ways);
}

void
emit_numbers(struct buf *tail, const struct event_list *list, bool calls)
{
	struct pool *tmp = pool_new();
	struct number_boxes boxes = number_boxes(tmp, list, calls);
	struct buf b = {0};

	for (uint32_t i = 0; i < boxes.n; i++) {
		bool timed = list->at[boxes.at[i].axis[0].event].timed;

		b.n = 0;
		number_symbol(&b, &boxes.at[i], list, calls);
		buf_char(&b, 0);
		buf_printf(tail, "\t.section %s,\"awG\",@nobits,%s,comdat\n\t.balign %d\n", CHORD_SECTION_CNT, b.at,
		           timed ? 64 : boxes.at[i].size % CHORD_CELLS ? 32 : CHORD_CELLS * 8);
		buf_printf(tail, "\t.globl\t%s\n\t.hidden\t%s\n%s:\t.zero\t%d\n", b.at, b.at, b.at,
		           timed ? CHORD_TIMER_SIZE : (int)boxes.at[i].size * 8);
		buf_printf(tail, "\t.section %s,\"aoG\",@progbits,%s,%s,comdat\n\t.balign 4\n", CHORD_SECTION_SUM, b.at, b.at);
		if (calls)
			buf_printf(tail, "\t.long\t%s-.\n", b.at);
		else
			buf_str(tail, "\t.long\t0\n");
	}
	buf_free(&b);
	pool_free(tmp);
}

/* ---- additions ---- */

/* Finds the number to which n can be added to count v. False: v / n is not in the box. */
static bool
find_number(const struct number_box *box, const int64_t *v, int64_t n, struct number_add *out)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < box->n; k++) {
		const struct number_axis *a = &box->axis[k];
		int64_t i = v[k] / n - a->low;

		if (i < 0 || i >= a->span)
			return false;
		at += (uint32_t)i * a->stride;
	}
	*out = (struct number_add){at, (int32_t)n};
	return true;
}

static int64_t
common_divisor(const int64_t *v, uint32_t n)
{
	int64_t g = 0;

	for (uint32_t k = 0; k < n; k++)
		for (int64_t a = llabs(v[k]), rest; a; a = rest) {
			rest = g % a;
			g = a;
		}
	return g;
}

static bool
add_once(const struct number_box *box, const int64_t *v, struct number_add *out)
{
	int64_t g = common_divisor(v, box->n);

	return find_number(box, v, 1, out) || find_number(box, v, -1, out) ||
	       find_number(box, v, g, out) || find_number(box, v, -g, out);
}

static bool
add_twice(const struct number_box *box, const int64_t *v, struct number_add *out)
{
	int64_t half[NUMBER_AXES], rest[NUMBER_AXES];

	for (uint32_t k = 0; k < box->n; k++) {
		half[k] = v[k] / 2;
		rest[k] = v[k] - half[k];
	}
	return common_divisor(half, box->n) && add_once(box, half, out) && add_once(box, rest, out + 1);
}

static uint32_t
add_each(const struct number_box *box, const int64_t *v, struct number_add *out)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < box->n; k++) {
		int64_t one[NUMBER_AXES] = {0};

		one[k] = v[k];
		if (v[k] && !add_once(box, one, &out[n++]))
			bug("a box of numbers without an axis");
	}
	return n;
}

uint32_t
numbers_add(const struct number_box *box, const int64_t *add, uint32_t way, struct number_add *out)
{
	int64_t v[NUMBER_AXES];
	uint32_t n = 0;

	for (uint32_t k = 0; k < box->n; k++)
		v[k] = add[box->axis[k].event];
	if (!common_divisor(v, box->n))
		return 0;
	if (add_once(box, v, out))
		n = 1;
	else
		n = add_twice(box, v, out) ? 2 : add_each(box, v, out);
	for (uint32_t i = 0; i < n; i++)
		out[i].number += way % box->ways * box->step;
	return n;
}
