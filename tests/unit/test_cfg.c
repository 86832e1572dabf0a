/* SPDX-License-Identifier: MIT */
/* Graphs of procedures as bytes, and back. */
#include "cfg/cfg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 6, ARCS = 12, INSNS = 5, COUNTERS = 9 };

static uint32_t
below(uint32_t n)
{
	return (uint32_t)random() % n;
}

static void
make_block(struct pool *pool, struct block *b, uint32_t offset)
{
	uint8_t *insn = pool_alloc(pool, INSNS);

	*b = (struct block){.part = 0, .offset = offset, .counter = below(COUNTERS + 1), .ninsn = 1 + below(INSNS), .insn = insn};
	for (uint32_t i = 0; i < b->ninsn; i++)
		insn[i] = (uint8_t)(1 + below(15)) | (uint8_t)(below(CHORD_INSN_PAD + 1) << 4);
}

/* Any that a map may have: blocks one behind another, and arcs between any vertices. */
static struct proc
make_proc(struct pool *pool, bool calls)
{
	struct proc p = {.name = "f", .file = "f.c", .npart = 1, .ncounter = COUNTERS, .summed = calls};
	uint32_t at = 0;

	p.nblock = 1 + below(BLOCKS);
	p.block = pool_array(pool, p.nblock, sizeof *p.block);
	p.call = pool_array(pool, (size_t)p.nblock * INSNS, sizeof *p.call);
	p.seg = pool_array(pool, (size_t)p.nblock * INSNS, sizeof *p.seg);
	for (uint32_t b = 0; b < p.nblock; b++) {
		make_block(pool, &p.block[b], at);
		for (uint32_t i = 0; i < p.block[b].ninsn; i++) {
			at += p.block[b].insn[i] & 15;
			if (below(3) == 0)
				p.call[p.ncall++] = (struct call){.block = b, .insn = i, .sum = calls ? below(3) : 0,
				                                  .callee = "g"};
			if (below(3) == 0)
				p.seg[p.nseg++] = (struct seg){.block = b, .insn = i};
		}
	}
	p.part = pool_alloc(pool, sizeof *p.part);
	p.part->orig_size = at;
	p.narc = 1 + below(ARCS);
	p.nvert = p.nblock + 2 + below(p.narc);
	p.arc = pool_array(pool, p.narc, sizeof *p.arc);
	for (uint32_t i = 0; i < p.narc; i++)
		p.arc[i] = (struct arc){below(p.nvert), below(p.nvert), (uint8_t)below(CHORD_EDGE_CLOSE), below(COUNTERS + 1)};
	p.close = below(p.narc);
	p.arc[p.close] = (struct arc){PROC_EXIT(&p), PROC_ENTRY(&p), CHORD_EDGE_CLOSE, 0};
	return p;
}

static void
same_blocks(const struct proc *p, const struct proc *q)
{
	assert_int_equal(p->nblock, q->nblock);
	for (uint32_t i = 0; i < p->nblock; i++) {
		const struct block *a = &p->block[i], *b = &q->block[i];

		assert_true(a->part == b->part && a->offset == b->offset && a->counter == b->counter && a->ninsn == b->ninsn);
		assert_memory_equal(a->insn, b->insn, a->ninsn);
	}
}

static void
same_proc(const struct proc *p, const struct proc *q)
{
	assert_string_equal(p->name, q->name);
	assert_string_equal(p->file, q->file);
	same_blocks(p, q);
	assert_true(p->nvert == q->nvert && p->narc == q->narc && p->close == q->close);
	for (uint32_t i = 0; i < p->narc; i++) {
		const struct arc *a = &p->arc[i], *b = &q->arc[i];

		assert_true(a->from == b->from && a->to == b->to && a->kind == b->kind && a->counter == b->counter);
	}
	assert_true(p->ncall == q->ncall && p->nseg == q->nseg);
	for (uint32_t i = 0; i < p->ncall; i++) {
		const struct call *a = &p->call[i], *b = &q->call[i];

		assert_true(a->block == b->block && a->insn == b->insn && a->flags == b->flags && a->sum == b->sum);
		if (a->sum)
			assert_string_equal(a->callee, b->callee);
	}
	for (uint32_t i = 0; i < p->nseg; i++)
		assert_true(p->seg[i].block == q->seg[i].block && p->seg[i].insn == q->seg[i].insn);
}

/* What the reader has to be told before. */
static struct proc
read_back(struct pool *pool, const struct buf *b, const struct proc *p, bool refused)
{
	struct proc q = {.npart = p->npart, .part = p->part, .ncounter = p->ncounter, .summed = p->summed};
	struct in in = {(const unsigned char *)b->at, (const unsigned char *)b->at + b->n, pool, NULL, NULL};

	proc_read(&in, &q, refused);
	assert_null(in.bad);
	assert_int_equal(in_left(&in), 0);
	return q;
}

static void
any_graph(void **state)
{
	(void)state;
	srandom(1);
	for (int round = 0; round < 2000; round++) {
		struct pool *pool = pool_new();
		struct proc p = make_proc(pool, round % 2), q;
		struct buf b = {0};

		proc_write(&b, &p);
		q = read_back(pool, &b, &p, false);
		same_proc(&p, &q);
		buf_free(&b);
		pool_free(pool);
	}
}

static void
refused_graph(void **state)
{
	struct pool *pool = pool_new();
	struct proc p = {.name = "f", .file = "f.c", .refused = "a reason"}, q;
	struct buf b = {0};

	(void)state;
	proc_write(&b, &p);
	q = read_back(pool, &b, &p, true);
	assert_string_equal(q.refused, "a reason");
	buf_free(&b);
	pool_free(pool);
}

/* The hash is of the code, not of what is measured in it; another edge or instruction makes another. */
static void
hash_of_code(void **state)
{
	struct pool *pool = pool_new();
	struct proc p = make_proc(pool, false);
	uint64_t hash = proc_hash(&p);

	(void)state;
	p.block[0].counter++;
	p.arc[0].counter++;
	p.measures = CHORD_SET(PATHS);
	p.ncall = p.nseg = 0;
	assert_true(proc_hash(&p) == hash);
	p.arc[p.close].kind--;
	assert_false(proc_hash(&p) == hash);
	p.arc[p.close].kind++;
	((uint8_t *)p.block[0].insn)[0] ^= 1;
	assert_false(proc_hash(&p) == hash);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_graph),
		cmocka_unit_test(refused_graph),
		cmocka_unit_test(hash_of_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
