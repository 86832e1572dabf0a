/* SPDX-License-Identifier: MIT */
/* format/pack.h: packed slots are unpacked again and take no more room than is said; damage is noticed or harmless. */
#include "tests/unit/trace_bytes.h"

#include "machine/machine.h"

enum { N = 5000 };

static uint32_t slot[N], back[N];
static uint8_t bytes[N * CHORD_PACK_WORST + 8], other[N * CHORD_PACK_WORST + 8];

static uint32_t
next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

/* ---- the format, as format/pack.h says it, in the plainest way ---- */

static struct { uint32_t before, last, run, way[1 << CHORD_PACK_BITS][CHORD_PACK_WAYS]; } plain;

static uint8_t *
plain_run(uint8_t *to, unsigned low)
{
	uint32_t more = plain.run - 63;

	*to++ = (uint8_t)((plain.run < 63 ? plain.run : 63) * 4 + low);
	if (plain.run >= 63) {
		for (; more > 127; more /= 128)
			*to++ = (uint8_t)(more % 128 + 128);
		*to++ = (uint8_t)more;
	}
	plain.run = 0;
	return to;
}

static uint8_t *
plain_slot(uint8_t *to, uint32_t v)
{
	uint32_t *way = plain.way[(plain.last * 0x9e3779b1u + plain.before * 0x85ebca6bu) >> 20];
	unsigned at = 0;

	while (at < 4 && way[at] != v)
		at++;
	if (!at) {
		plain.run++;
	} else {
		to = plain_run(to, at % 4);
		for (unsigned i = 0; at == 4 && i < 4; i++)
			*to++ = (uint8_t)(v >> 8 * i);
		memmove(way + 1, way, (at < 4 ? at : 3) * sizeof *way);
		way[0] = v;
	}
	plain.before = plain.last;
	plain.last = v;
	return to;
}

static size_t
plain_pack(const uint32_t *v, size_t n, uint8_t *to)
{
	uint8_t *const begin = to;

	for (size_t i = 0; i < n; i++)
		to = plain_slot(to, v[i]);
	return (size_t)((plain.run ? plain_run(to, 0) : to) - begin);
}

/* One way for all pieces. */
static size_t
pack_by(bool often, struct chord_pack *p, const uint32_t *v, size_t n, uint8_t *to)
{
	struct chord_packing out = {to, 0};

	for (size_t at = 0, end; at < n; at = end) {
		end = n - at < CHORD_PACK_PIECE ? n : at + CHORD_PACK_PIECE;
		if (often)
			chord_pack_often(p, &out, v, at, end);
		else
			chord_pack_seldom(p, &out, v, at, end);
	}
	return (size_t)(chord_pack_end(&out, n) - to);
}

/* Both ways, the one that takes turns, and the machine's write what the format says. */
static void
all_ways(size_t n, size_t piece)
{
	struct chord_pack *pack = xcalloc(4, sizeof *pack);

	memset(&plain, 0, sizeof plain);
	for (size_t at = 0; at < n; at += piece) {
		size_t k = n - at < piece ? n - at : piece, size = plain_pack(slot + at, k, other);

		assert_int_equal(chord_pack(&pack[0], slot + at, k, bytes) - bytes, size);
		assert_memory_equal(bytes, other, size);
		assert_int_equal(pack_by(false, &pack[1], slot + at, k, bytes), size);
		assert_memory_equal(bytes, other, size);
		assert_int_equal(pack_by(true, &pack[2], slot + at, k, bytes), size);
		assert_memory_equal(bytes, other, size);
		assert_int_equal(machine_of_host()->pack(&pack[3], slot + at, k, bytes) - bytes, size);
		assert_memory_equal(bytes, other, size);
	}
	assert_memory_equal(&pack[0], &pack[1], sizeof *pack);
	assert_memory_equal(&pack[0], &pack[2], sizeof *pack);
	assert_memory_equal(&pack[0], &pack[3], sizeof *pack);
	free(pack);
}

/* ---- round trips ---- */

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
	all_ways(n, piece);
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

/* Stretches that repeat, others that are any, and others that are nearly the same again, so that both ways take turns. */
static void
mixed(void **state)
{
	uint32_t seed = 11, kind = 0, left = 0;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		if (!left--) {
			kind = next(&seed) % 4;
			left = next(&seed) % 500;
		}
		slot[i] = kind == 0 ? 8 : kind == 1 ? next(&seed) : 8 * (1 + (uint32_t)i % 7);
		if (kind == 3 && next(&seed) % 5 == 0)
			slot[i] = 8 * (next(&seed) % 9 + 1);
	}
	round_trip(N, N);
	round_trip(N, 700);
	round_trip(N, 2056);
	round_trip(N, 63);
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
		cmocka_unit_test(runs), cmocka_unit_test(mixed), cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
