/* SPDX-License-Identifier: MIT */
/* Decodes woven code for the reader of profiles. */
#include "machine/machine.h"
#include "run/run.h"

/* An instruction of woven code. */
struct decoded {
	uint32_t len;            /* 0: it is not a woven instruction */
	uint64_t counter;        /* the counter that it writes, or 0 */
	bool jumps;
};

struct woven_program {
	struct image *image;
	struct parts parts;
};

/* By register: the base that it holds in woven-in code at an address. */
static const uint64_t *
bases_at(const struct woven_program *program, uint64_t at)
{
	const struct part_at *part = parts_find(&program->parts, at);

	return part ? part->proc->base : NULL;
}

static struct decoded
decode(struct woven_program *program, uint64_t at)
{
	struct str code = image_bytes(program->image, at);
	struct decoded d;

	d.len = image_machine(program->image)->counts((const uint8_t *)code.at, code.n, at, bases_at(program, at), &d.counter,
	                                              &d.jumps);
	return d;
}

static uint64_t
writes_counter(void *program, uint64_t lo, uint64_t hi, uint64_t counter, uint32_t n, uint64_t *end)
{
	struct decoded d;

	for (uint64_t at = lo; at < hi; at += d.len) {
		d = decode(program, at);
		if (!d.len)
			return 0;
		if (d.counter - counter >= 8 * (uint64_t)n)
			continue;
		if (end)
			*end = at + d.len;
		return at;
	}
	return 0;
}

static bool
adds_to_counter(void *program, uint64_t lo, uint64_t hi, uint64_t counter, uint32_t n, struct woven_add *add)
{
	struct woven_insn in;
	uint64_t at = writes_counter(program, lo, hi, counter, n, &add->end);
	struct image *image = ((struct woven_program *)program)->image;
	struct str code = image_bytes(image, at);

	if (!at || !image_machine(image)->woven((const uint8_t *)code.at, code.n, at, bases_at(program, at), &in))
		return false;
	add->number = (uint32_t)((in.counter - counter) / 8);
	add->n = in.add;
	return true;
}

static bool
jump_at(struct woven_program *program, uint64_t at, struct insn *in)
{
	return image_insn(program->image, at, in) && in->attr & INSN_REL;
}

/* Is it code woven in before a system call? *on: where control continues after it. */
static bool
is_leader(struct woven_program *program, uint64_t at, uint64_t hi, uint64_t *on)
{
	struct str code = image_bytes(program->image, at);

	*on = image_machine(program->image)->around((const uint8_t *)code.at, code.n, at);
	return *on > at && *on <= hi;
}

/* The first conditional jump here is the block's own. Any other one is woven in and comes back. */
static uint64_t
runs_straight(void *program, uint64_t lo, uint64_t hi)
{
	uint64_t first = lo, on;
	struct decoded d;
	struct insn in;

	for (uint64_t at = lo; at < hi; at += d.len) {
		d = decode(program, at);
		if (!d.len)
			return hi;
		if (is_leader(program, at, hi, &on)) {
			d.len = (uint32_t)(on - at);
			continue;
		}
		if (d.jumps && (at == first || !jump_at(program, at, &in) || in.cls != CHORD_INSN_BRANCH))
			lo = at + d.len;
	}
	return lo;
}

static uint64_t
goes_on_at(void *program, uint64_t at, uint64_t lo, uint64_t hi)
{
	struct insn in = {0};
	struct decoded d;
	bool left = false;

	for (; at >= lo && at < hi; at += d.len) {
		uint64_t to;

		d = decode(program, at);
		if (!d.len || (left && !d.jumps))
			return 0;
		if (!d.jumps)
			continue;
		if (!jump_at(program, at, &in) || in.cls != CHORD_INSN_JUMP)
			return 0;
		to = at + (uint64_t)(int64_t)(int32_t)(in.target - (uint32_t)at);
		if (left || (to >= lo && to < hi))
			return left && to >= lo && to < hi ? to : 0;
		left = true;
	}
	return 0;
}

static bool
is_due_call(void *program, uint64_t back)
{
	struct image *image = ((struct woven_program *)program)->image;
	const struct machine *machine = image_machine(image);
	struct str code = image_bytes(image, back - machine->call_size);

	return machine->is_due((const uint8_t *)code.at, code.n);
}

struct woven_code
woven_code(struct pool *pool, struct image *image, struct parts parts)
{
	struct woven_program *program = pool_alloc(pool, sizeof *program);

	*program = (struct woven_program){image, parts};
	return (struct woven_code){program, writes_counter, adds_to_counter, runs_straight, goes_on_at, is_due_call};
}
