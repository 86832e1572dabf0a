/* SPDX-License-Identifier: MIT */
/* Numbers that events share: whatever vector a place adds, the events get it, read back as a map says. */
#include "weave/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint32_t
rnd(uint32_t n)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % n);
}

/* How many events number i stands for, as docs/format.md says. */
static int64_t
component(const struct number_axis *a, uint32_t i)
{
	return a->low + (int64_t)(i / a->stride % a->span);
}

static void
check_boxes(const struct number_boxes *boxes, const struct event_list *list)
{
	const struct number_axis *a;

	for (uint32_t e = 0; e < list->n; e++) {
		const struct number_box *box = number_box_of(boxes, e, &a);

		assert_int_equal(a->event, e);
		assert_true(box->size && box->size <= CHORD_NUMBERS_MOST);
		assert_int_equal(box->size % (a->stride * a->span), 0);
		assert_true(a->low > -128 && a->low + (int32_t)a->span <= 127);
		assert_true(a->low <= 1 && a->low + (int32_t)a->span > 1);
	}
}

/* The sum over all additions, each number times what it stands for, is the vector; for every event of the box. */
static uint32_t
check_vector(const struct number_box *box, const int64_t *add, uint32_t way)
{
	struct number_add out[NUMBER_AXES];
	uint32_t n = numbers_add(box, add, way, out);

	assert_true(n <= NUMBER_AXES);
	for (uint32_t k = 0; k < box->n; k++) {
		int64_t sum = 0;

		for (uint32_t i = 0; i < n; i++) {
			assert_true(out[i].number < box->size && out[i].n);
			sum += component(&box->axis[k], out[i].number) * out[i].n;
		}
		assert_int_equal(sum, add[box->axis[k].event]);
	}
	return n;
}

static int64_t
random_amount(void)
{
	static const int64_t most[] = {3, 40, 200, 1000000, INT32_MAX};
	int64_t limit = most[rnd(5)];

	return (int64_t)rnd((uint32_t)limit) * (rnd(4) ? 1 : -1);
}

static void
check_list(const char *text, bool calls, bool timed)
{
	struct pool *pool = pool_new();
	struct event_list list;
	struct number_boxes boxes;
	const char *why;

	if (!event_list_read(pool, text, &list, &why))
		fail_msg("%s", why);
	list.at[0].timed = timed;
	boxes = number_boxes(pool, &list, calls);
	check_boxes(&boxes, &list);
	for (int i = 0; i < 20000; i++) {
		int64_t add[16];

		for (uint32_t e = 0; e < list.n; e++)
			add[e] = random_amount();
		for (uint32_t b = 0; b < boxes.n; b++)
			check_vector(&boxes.at[b], add, (uint32_t)i);
	}
	event_list_free(&list);
	pool_free(pool);
}

static void
any_vector(void **state)
{
	(void)state;
	check_list("instructions", false, false);
	check_list("branches", false, false);
	check_list("instructions", true, false);
	check_list("instructions,loads,branches,taken", true, false);
	check_list("instructions,loads,branches", false, true);
	check_list("instructions,bytes-loaded,bytes-stored,loads,stores", false, false);
	check_list("loads,stores,instructions", false, false);
	check_list("blocks,taken,returns,divides,calls,instructions,loads", false, false);
}

/* What is usual takes one addition, and a box holds three events. */
static void
usual_vectors(void **state)
{
	struct pool *pool = pool_new();
	struct event_list list;
	struct number_boxes boxes;
	const char *why;

	(void)state;
	assert_true(event_list_read(pool, "instructions,branches,loads", &list, &why));
	boxes = number_boxes(pool, &list, false);
	assert_int_equal(boxes.n, 1);
	for (int64_t i = 0; i < 32; i++)
		for (int64_t b = -1; b < 7; b++)
			for (int64_t l = -2; l < 14; l++) {
				int64_t add[] = {i, b, l}, less[] = {-i, -b, -l};

				assert_int_equal(check_vector(&boxes.at[0], add, 1), i || b || l);
				assert_int_equal(check_vector(&boxes.at[0], less, 1), i || b || l);
			}
	assert_int_equal(check_vector(&boxes.at[0], (int64_t[]){60, 2, 4}, 1), 1);
	assert_int_equal(check_vector(&boxes.at[0], (int64_t[]){53, 2, 7}, 1), 2);
	event_list_free(&list);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_vector),
		cmocka_unit_test(usual_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
