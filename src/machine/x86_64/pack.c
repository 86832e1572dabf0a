/* SPDX-License-Identifier: MIT */
/* Packs slots of a trace by vector instructions, into the same bytes as chord_pack() (format/pack.h). It takes half of the time if
 * many slots are not the first candidate. It goes through each piece several times, so that no pass waits for what another one
 * finds. */
#include "machine/x86_64/x86_64.h"

#include "format/pack.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

enum { PIECE = 1024, LANES = 8, WORD = 64 };

struct piece {
	uint32_t behind[PIECE];      /* the number of each slot's set of candidates */
	uint32_t was[PIECE];         /* the first candidate */
	uint64_t missed[PIECE / WORD]; /* a bit for each slot: it is not the first candidate */
};

static AVX2 __m256i
load(const uint32_t *at)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

/* Finds the candidates of each slot. p->before and p->last are the two slots before the first. n: a multiple of LANES. */
static AVX2 void
find_candidates(const struct chord_pack *p, const uint32_t *slot, size_t n, struct piece *k)
{
	const __m256i one = _mm256_set1_epi32((int)CHORD_PACK_LAST), two = _mm256_set1_epi32((int)CHORD_PACK_BEFORE);
	uint32_t before = p->before, last = p->last;
	size_t i = 0;

	for (; i < LANES; before = last, last = slot[i++])
		k->behind[i] = chord_pack_behind(before, last);
	for (; i < n; i += LANES) {
		__m256i a = _mm256_mullo_epi32(load(slot + i - 1), one), b = _mm256_mullo_epi32(load(slot + i - 2), two);

		a = _mm256_srli_epi32(_mm256_add_epi32(a, b), 32 - CHORD_PACK_BITS);
		_mm256_storeu_si256((__m256i *)(void *)(k->behind + i), a);
	}
}

/* Makes each slot the first of its candidates. */
static void
exchange(struct chord_pack *p, const uint32_t *slot, size_t n, struct piece *k)
{
	for (size_t i = 0; i < n; i++) {
		k->was[i] = p->first[k->behind[i]];
		p->first[k->behind[i]] = slot[i];
	}
}

static AVX2 void
find_missed(const uint32_t *slot, size_t n, struct piece *k)
{
	memset(k->missed, 0, sizeof k->missed);
	for (size_t i = 0; i < n; i += LANES) {
		__m256i same = _mm256_cmpeq_epi32(load(slot + i), load(k->was + i));

		k->missed[i / WORD] |= (uint64_t)(uint8_t)~_mm256_movemask_ps(_mm256_castsi256_ps(same)) << i % WORD;
	}
}

/* Both tables have an entry for each set of the three lanes in which the slot is found. moved: the old first candidate, in lane 3,
 * comes to the front, and two of the others follow; the slot that was found is left out, or else the last candidate. ways: the
 * number that is written. */
#define LANE(n) 4 * (n), 4 * (n) + 1, 4 * (n) + 2, 4 * (n) + 3
#define NOTHING 0x80, 0x80, 0x80, 0x80
#define MOVED(a, b) {LANE(3), LANE(a), LANE(b), NOTHING}
static const uint8_t moved[8][16] = {
	MOVED(0, 1), MOVED(1, 2), MOVED(0, 2), MOVED(1, 2), MOVED(0, 1), MOVED(1, 2), MOVED(0, 2), MOVED(1, 2),
};
static const uint8_t ways[8] = {0, 1, 2, 1, 3, 1, 2, 1};

/* Looks for the slot among the other candidates, and puts the old first candidate among them. Returns the slot's number among all
 * candidates; 0: it is none. */
static inline AVX2 unsigned
find_other(uint32_t other[CHORD_PACK_LANES], uint32_t was, uint32_t slot)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)other);
	__m128i same = _mm_cmpeq_epi32(v, _mm_set1_epi32((int)slot));
	int which = _mm_movemask_ps(_mm_castsi128_ps(same)) & 7;
	__m128i to = _mm_loadu_si128((const __m128i *)(const void *)moved[which]);

	v = _mm_shuffle_epi8(_mm_insert_epi32(v, (int)was, 3), to);
	_mm_storeu_si128((__m128i *)(void *)other, v);
	return ways[which];
}

/* Writes the slots that are not the first candidate. `first` slots come before the piece. */
static AVX2 void
put_missed(struct chord_pack *p, struct chord_packing *out, const uint32_t *slot, size_t first, const struct piece *k)
{
	for (size_t w = 0; w < PIECE / WORD; w++)
		for (uint64_t m = k->missed[w]; m; m &= m - 1) {
			size_t i = w * WORD + (unsigned)__builtin_ctzll(m);
			unsigned way = find_other(p->other[k->behind[i]], k->was[i], slot[i]);

			chord_pack_put(out, first + i, slot[i], way);
		}
}

static AVX2 uint8_t *
pack(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to)
{
	struct chord_packing out = {to, 0};
	struct piece k;

	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < PIECE ? n - at : PIECE;
		find_candidates(p, slot + at, some, &k);
		exchange(p, slot + at, some, &k);
		find_missed(slot + at, some, &k);
		put_missed(p, &out, slot + at, at, &k);
		p->before = slot[at + some - 2];
		p->last = slot[at + some - 1];
	}
	return chord_pack_end(&out, n);
}

uint8_t *
x86_pack(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to)
{
	return n % LANES || !__builtin_cpu_supports("avx2") ? chord_pack(p, slot, n, to) : pack(p, slot, n, to);
}

#else

uint8_t *
x86_pack(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to)
{
	return chord_pack(p, slot, n, to);
}

#endif
