/* SPDX-License-Identifier: MIT */
/* Finds where the code of a module adds to its clock. All measured code of the module is decoded once. */
#include "clock/clock.h"
#include "run/run.h"

#include <stdlib.h>

typedef VEC(uint64_t) numbers;

struct finder {
	struct binary *binary;
	uint64_t bias;
	const struct event_counter *const *counter;
	size_t n;
	additions *out;
	numbers target;          /* targets of jumps */
	numbers entry;           /* first instructions of blocks that control enters by other edges than falls and direct jumps */
	VEC(uint64_t) known;     /* addresses of instructions of the original */
	uint64_t behind;         /* end of the last instruction if it goes on to the next one, else 0 */
	uint8_t last;            /* the length of the last instruction; 0: a call */
};

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int
by_place(const void *a, const void *b)
{
	const struct addition *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* By how much an instruction advances the clock. The clock cannot go back: a subtraction counts as an addition. */
static uint64_t
advance(const struct finder *f, const struct woven_insn *in)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct event_counter *c = f->counter[i];
		uint64_t k = (in->counter - c->addr) / 8;

		if (in->counter - c->addr < 8 * (uint64_t)c->numbers) {
			int64_t n = in->add * event_of_number(c, k);

			return (uint64_t)(n < 0 ? -n : n);
		}
	}
	return 0;
}

/* Takes the instruction at an address. Returns its length; 0: there is none. */
static uint32_t
take_insn(struct finder *f, const struct proc *p, uint64_t at)
{
	const struct machine *machine = image_machine(f->binary->image);
	struct str code = image_bytes(f->binary->image, at);
	struct woven_insn woven;
	struct insn in;
	uint64_t n;

	if (!image_insn(f->binary->image, at, &in))
		return 0;
	if (in.attr & INSN_REL)
		VEC_PUSH(f->target, at + (uint64_t)(int64_t)(int32_t)(in.target - (uint32_t)at));
	if (machine->woven((const uint8_t *)code.at, code.n, at, p->base, &woven) && woven.counter &&
	    (n = advance(f, &woven)))
		VEC_PUSH(*f->out, (struct addition){.at = at, .amount = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n,
		                                    .falls = f->behind == at, .before = f->behind == at ? f->last : 0});
	f->behind = in.attr & INSN_FALLS ? at + in.len : 0;
	f->last = in.cls != CHORD_INSN_CALL && in.cls != CHORD_INSN_ICALL ? in.len : 0;
	return in.len;
}

static void
take_entries(struct finder *f, const struct proc *p)
{
	for (uint32_t i = 0; i < p->narc; i++) {
		const struct arc *arc = &p->arc[i];
		struct walk w;

		if (arc->to >= p->nblock || arc->kind == CHORD_EDGE_FALL || arc->kind == CHORD_EDGE_TAKEN ||
		    arc->kind == CHORD_EDGE_JUMP)
			continue;
		walk_start(&w, p, NULL, arc->to);
		if (walk_next(&w) && w.addr)
			VEC_PUSH(f->entry, w.addr);
	}
}

/* If bytes between known instructions cannot be decoded, decoding goes on at the next known instruction. Padding is not among
 * them: it has other lengths in woven code. */
static void
take_part(struct finder *f, const struct part_at *part)
{
	const struct proc *p = part->proc;
	size_t k = 0;
	uint32_t len;

	f->known.n = 0;
	for (uint32_t b = 0; b < p->nblock; b++) {
		struct walk w;

		for (walk_start(&w, p, NULL, b); walk_next(&w);)
			if (w.kind != CHORD_INSN_PAD && w.addr - part->addr < part->size)
				VEC_PUSH(f->known, w.addr);
	}
	if (f->known.n)
		qsort(f->known.at, f->known.n, sizeof *f->known.at, by_number);
	for (uint64_t at = part->addr; at < part->addr + part->size; at += len ? len : 1) {
		while (k < f->known.n && f->known.at[k] < at)
			k++;
		len = take_insn(f, p, at);
		if (k < f->known.n && at + len > f->known.at[k] && at < f->known.at[k])
			len = (uint32_t)(f->known.at[k] - at);
	}
}

static void
sort(numbers *n)
{
	if (n->n)
		qsort(n->at, n->n, sizeof *n->at, by_number);
}

static bool
is_in(const numbers *n, uint64_t at)
{
	return n->n && bsearch(&at, n->at, n->n, sizeof at, by_number);
}

/* Finds out whether control can come to the addition, or to what follows it, in other ways than from the instruction before. A
 * block's label stands after woven code if the instruction before that code goes on to it, and before the code otherwise. So if
 * there is such an instruction, and a jump table may lead to the block, control may come to what follows the addition. */
static void
finish_one(const struct finder *f, struct addition *a)
{
	struct insn in;
	bool any = image_insn(f->binary->image, a->at, &in), entry = any && is_in(&f->entry, a->at + in.len);

	a->next = any && !is_in(&f->target, a->at + in.len) && !(entry && a->falls);
	if (a->next || entry || is_in(&f->target, a->at))
		a->before = 0;
	a->at += f->bias;
}

static void
finish(struct finder *f)
{
	sort(&f->target);
	sort(&f->entry);
	if (f->out->n)
		qsort(f->out->at, f->out->n, sizeof *f->out->at, by_place);
	for (size_t i = 0; i < f->out->n; i++)
		finish_one(f, &f->out->at[i]);
}

bool
additions_find(struct binary *b, uint64_t bias, const struct event_counter *const *counter, size_t n, additions *out)
{
	struct finder f = {.binary = b, .bias = bias, .counter = counter, .n = n, .out = out};

	for (size_t i = 0; i < b->parts.n; i++)
		if (!b->parts.at[i].proc->refused)
			take_part(&f, &b->parts.at[i]);
	for (uint32_t i = 0; i < b->map.nproc; i++)
		take_entries(&f, &b->map.proc[i]);
	finish(&f);
	free(f.target.at);
	free(f.entry.at);
	free(f.known.at);
	return out->n;
}
