/* SPDX-License-Identifier: MIT */
/* Where the code of a module adds to its clock: all its measured code is decoded once. */
#include "replay/internal.h"
#include "run/run.h"

#include <stdlib.h>

struct finder {
	struct binary *binary;
	uint64_t bias;
	const struct event_counter *const *counter;
	size_t n;
	additions *out;
	VEC(uint64_t) target;    /* of jumps */
	VEC(uint64_t) known;     /* where instructions of the original are */
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

/* By how much the number at an address advances the clock. It cannot go back: what takes from it counts as if it added. */
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

/* The instruction at an address; its length, 0: there is none. */
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
		VEC_PUSH(*f->out, (struct addition){.at = at, .amount = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n});
	return in.len;
}

/* Where what cannot be decoded lies between instructions that are known, those are what counts. */
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
			if (w.addr - part->addr < part->size)
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

/* Addresses in the process; and which of the additions are followed by what nothing jumps to. */
static void
finish(struct finder *f)
{
	if (f->target.n)
		qsort(f->target.at, f->target.n, sizeof *f->target.at, by_number);
	if (f->out->n)
		qsort(f->out->at, f->out->n, sizeof *f->out->at, by_place);
	for (size_t i = 0; i < f->out->n; i++) {
		struct addition *a = &f->out->at[i];
		struct insn in;
		uint64_t behind;

		a->next = false;
		if (image_insn(f->binary->image, a->at, &in)) {
			behind = a->at + in.len;
			a->next = !f->target.n || !bsearch(&behind, f->target.at, f->target.n, sizeof behind, by_number);
		}
		a->at += f->bias;
	}
}

bool
additions_find(struct binary *b, uint64_t bias, const struct event_counter *const *counter, size_t n, additions *out)
{
	struct finder f = {.binary = b, .bias = bias, .counter = counter, .n = n, .out = out};

	for (size_t i = 0; i < b->parts.n; i++)
		if (!b->parts.at[i].proc->refused)
			take_part(&f, &b->parts.at[i]);
	finish(&f);
	free(f.target.at);
	free(f.known.at);
	return out->n;
}
