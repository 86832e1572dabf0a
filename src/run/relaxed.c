/* SPDX-License-Identifier: MIT */
/* The map has instructions as they were assembled. But a linker may replace the code that finds a thread-local variable by other
 * code of the same length: calls by moves, two instructions by one. A block is read again from the linked program if one of its
 * calls is not where the map has it. An instruction that is gone stays in its block with no bytes, because the map counts
 * instructions. */
#include "run/run.h"

#include <string.h>

enum { MOST = 8 }; /* most instructions of a replacement */

/* A block of a program. */
struct reading {
	const struct binary *bin;
	const struct block *block;
	uint64_t *addr;          /* by instruction, in the linked program; 0: not known */
};

static uint32_t
length_of(uint8_t insn)
{
	return insn & 15;
}

/* Is a call of the block another instruction now? Jumps may have another length than before, so they are not compared. */
static bool
lost_a_call(const struct binary *bin, const struct proc *p, uint32_t block)
{
	struct walk w;
	struct insn in;

	for (walk_start(&w, p, NULL, block); walk_next(&w);)
		if ((w.kind == CHORD_INSN_CALL || w.kind == CHORD_INSN_ICALL) && w.addr && image_insn(bin->image, w.addr, &in) &&
		    ((in.cls != CHORD_INSN_CALL && in.cls != CHORD_INSN_ICALL) || in.len != length_of(w.block->insn[w.i])))
			return true;
	return false;
}

/* Reads the linked instructions at instruction number `first`, and as many of the block's next ones as these overlap. Returns the
 * number of instructions of the block; 0: it cannot be determined. */
static uint32_t
read_group(const struct reading *r, uint32_t first, struct insn *found, uint32_t *n)
{
	uint64_t at = r->addr[first], end = at;
	uint32_t taken = 0;

	*n = 0;
	do {
		if (at >= end) {
			uint32_t i = first + taken;

			if (i >= r->block->ninsn || r->addr[i] != end)
				return 0;
			end += length_of(r->block->insn[i]);
			taken++;
			continue;
		}
		if (*n == MOST || !image_insn(r->bin->image, at, &found[*n]))
			return 0;
		at += found[(*n)++].len;
	} while (at != end);
	return taken;
}

/* False: there are more instructions than before. */
static bool
replace_group(uint8_t *insn, uint32_t taken, const struct insn *found, uint32_t n)
{
	if (n > taken)
		return false;
	memset(insn, CHORD_INSN_OTHER << 4, taken);
	for (uint32_t i = 0; i < n; i++)
		insn[i] = (uint8_t)(found[i].len | found[i].cls << 4);
	return true;
}

static bool
is_read(uint8_t kind)
{
	return kind != CHORD_INSN_PAD && kind != CHORD_INSN_BRANCH && kind != CHORD_INSN_JUMP && kind != CHORD_INSN_IJUMP;
}

/* False: some replacements could not be represented. */
static bool
read_block(struct reading *r, uint8_t *insn)
{
	struct insn found[MOST];
	uint32_t n, taken;
	bool all = true;

	for (uint32_t i = 0; i < r->block->ninsn; i += taken) {
		taken = 1;
		if (!r->addr[i] || !is_read(insn[i] >> 4))
			continue;
		taken = read_group(r, i, found, &n);
		if (!taken || !replace_group(insn + i, taken, found, n)) {
			all = false;
			taken = taken ? taken : 1;
		}
	}
	return all;
}

static void
take_over(struct pool *pool, struct binary *bin, struct proc *p, uint32_t block)
{
	struct block *b = &p->block[block];
	struct reading r = {bin, b, pool_array(pool, b->ninsn, sizeof *r.addr)};
	uint8_t *insn = pool_array(pool, b->ninsn, 1);
	struct walk w;

	for (walk_start(&w, p, NULL, block); walk_next(&w);)
		r.addr[w.i] = w.addr;
	memcpy(insn, b->insn, b->ninsn);
	bin->relaxed += !read_block(&r, insn);
	b->assembled = b->insn;
	b->insn = insn;
}

void
relaxed_read(struct pool *pool, struct binary *bin)
{
	for (uint32_t i = 0; i < bin->map.nproc; i++) {
		struct proc *p = &bin->map.proc[i];

		for (uint32_t b = 0; b < p->nblock && !p->refused; b++)
			if (p->block[b].ncall && lost_a_call(bin, p, b))
				take_over(pool, bin, p, b);
	}
}
