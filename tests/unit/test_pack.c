/* SPDX-License-Identifier: MIT */
/* format/pack.h: what is packed is unpacked, in no more room than is said, and damage is noticed or harmless. */
#include "tests/unit/trace_bytes.h"

enum { N = 5000 };

static uint32_t slot[N], back[N];
static uint8_t bytes[N * CHORD_PACK_WORST + 8];

static uint32_t
next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

/* In pieces, one packer for all, as segments are. */
static size_t
round_trip(size_t n, size_t piece)
{
	struct chord_pack *pack = xcalloc(1, sizeof *pack), *unpack = xcalloc(1, sizeof *unpack);
	size_t total = 0;

	for (size_t at = 0; at < n; at += piece) {
		size_t k = n - at < piece ? n - at : piece, size = (size_t)(chord_pack(pack, slot + at, k, bytes) - bytes);

		assert_true(size <= k * CHORD_PACK_WORST + 8);
		assert_true(chord_unpack(unpack, bytes, size, back + at, k));
		assert_memory_equal(pack, unpack, sizeof *pack);
		total += size;
	}
	assert_memory_equal(slot, back, n * sizeof *slot);
	free(pack);
	free(unpack);
	return total;
}

static void
one_slot_again_and_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++)
		slot[i] = 8;
	assert_true(round_trip(N, N) < 32);
	assert_true(round_trip(N, 100) <= 32 + 3 * N / 100);
}

static void
turns(void **state)
{
	(void)state;
	for (unsigned ways = 2; ways < 8; ways++) {
		uint32_t seed = 7;

		for (size_t i = 0; i < N; i++)
			slot[i] = 8 * (next(&seed) % ways + 1);
		/* A byte for each but the first times. */
		assert_true(ways > CHORD_PACK_WAYS || round_trip(N, N) < N + 1000);
		round_trip(N, 333);
	}
}

static void
worst(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < N; i++)
		slot[i] = next(&seed);
	assert_true(round_trip(N, N) <= N * CHORD_PACK_WORST);
	round_trip(N, 1);
	round_trip(1, 1);
}

/* All lengths of runs at the end and in the middle. */
static void
runs(void **state)
{
	(void)state;
	for (size_t n = 1; n < 400; n++) {
		for (size_t i = 0; i < 2 * n + 2; i++)
			slot[i] = i == n ? 16 : 8;
		round_trip(n, n);
		round_trip(2 * n + 2, 2 * n + 2);
	}
}

static void
damage(void **state)
{
	struct chord_pack *p = xcalloc(1, sizeof *p);
	uint32_t seed = 3;
	size_t n = 600, size, refused = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		slot[i] = 8 * (next(&seed) % 5 + 1);
	size = (size_t)(chord_pack(p, slot, n, bytes) - bytes);
	for (size_t i = 0; i < size; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			memset(p, 0, sizeof *p);
			bytes[i] ^= (uint8_t)(1u << bit);
			refused += !chord_unpack(p, bytes, size, back, n) || memcmp(slot, back, n * sizeof *slot);
			bytes[i] ^= (uint8_t)(1u << bit);
		}
	assert_int_equal(refused, 8 * size);
	for (size_t i = 0; i < size; i++) {
		memset(p, 0, sizeof *p);
		assert_false(chord_unpack(p, bytes, i, back, n));
	}
	memset(p, 0, sizeof *p);
	assert_false(chord_unpack(p, bytes, size + 1, back, n));
	free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_slot_again_and_again), cmocka_unit_test(turns), cmocka_unit_test(worst),
		cmocka_unit_test(runs), cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
