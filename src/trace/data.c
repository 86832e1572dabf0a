/* SPDX-License-Identifier: MIT */
/* Addresses of loads and stores. Code with the measure data writes registers to the trace where they do not follow from what was
 * written before (src/weave/data.c). Everything else is computed here, instruction by instruction (struct machine, compute).
 *
 * The records of an activation stand in the stream in the order in which it runs, so its next record is always the first one that
 * has not been used. Signal handlers write their records in between. The first record of an activation has its stack pointer and is
 * marked. Unused records before it, when the activation is entered, belong to the interrupted activation. */
#include "trace/internal.h"

#include "cfg/in.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t LOW = (1ull << REG_VALUE_BITS) - 1;

static struct data_frame *
top(struct data *d)
{
	return d->frame.n ? &d->frame.at[d->frame.n - 1] : NULL;
}

static void
cut(struct data *d, size_t from, size_t to)
{
	if (to > from) {
		memmove(d->slot.at + from, d->slot.at + to, (d->slot.n - to) * sizeof *d->slot.at);
		d->slot.n -= to - from;
	}
}

void
data_slot(struct data *d, uint32_t slot)
{
	VEC_PUSH(d->slot, slot);
}

/* Where the records of the activation begin: the last marked record that no other activation has used. */
static size_t
find_beginning(const struct data *d, size_t from)
{
	for (size_t i = d->slot.n; i > from; i--) {
		uint32_t slot = d->slot.at[i - 1];

		if (CHORD_IS_DATA(slot) && CHORD_DATA_CHECK(slot) == CHORD_DATA_BEGINS)
			return i - 1;
	}
	return SIZE_MAX;
}

/* Takes the next record. False: it is not there. */
static bool
next_record(struct data *d, uint32_t check, uint64_t *v)
{
	struct data_frame *f = top(d);
	const uint32_t *s;

	if (f->lost || f->at + 2 > d->slot.n)
		return false;
	s = d->slot.at + f->at;
	if (!CHORD_IS_DATA(s[0]) || CHORD_DATA_CHECK(s[0]) != check || CHORD_SLOT_KIND(s[1]) != CHORD_MARK_MORE) {
		f->lost = true;
		return false;
	}
	*v = CHORD_DATA_VALUE(s[0], s[1]);
	f->at += 2;
	d->records++;
	return true;
}

static void
set(struct data_frame *f, uint32_t reg, uint64_t v)
{
	f->regs.known |= 1u << reg;
	f->regs.v[reg] = v & LOW;
}

void
data_enters(struct data *d, const struct replay *r, enum replay_how how)
{
	const struct proc_data *p = r->stack.at[r->stack.n - 1].proc->data;
	struct data_frame f = {0}, *below = top(d);
	size_t from = below ? below->at : 0, at = p && p->begins && how != REPLAY_FOUND ? find_beginning(d, from) : SIZE_MAX;

	if (at == SIZE_MAX) {
		f.lost = !p || p->begins ? how != REPLAY_FOUND : how == REPLAY_FROM_NOWHERE;
		at = from;
	}
	if (below && below->at == at) {
		cut(d, below->start, at);
		below->at = at = below->start;
	}
	f.start = f.at = at;
	VEC_PUSH(d->frame, f);
}

void
data_leaves(struct data *d, enum replay_how how)
{
	struct data_frame f = *top(d), *below;

	d->frame.n--;
	below = top(d);
	cut(d, f.start, f.at);
	if (!below || how == REPLAY_AT_END)
		return;
	/* The interrupted activation does not continue there. */
	if (how == REPLAY_BY_JUMP || how == REPLAY_BY_EITHER) {
		cut(d, below->start, f.start);
		below->at = below->start;
		below->regs.known = 0;
	}
}

void
data_jumps(struct data *d)
{
	if (top(d))
		top(d)->regs.known = 0;
}

void
data_lands(struct data *d)
{
	top(d)->regs.known = 0;
}

void
data_free(struct data *d)
{
	free(d->slot.at);
	free(d->frame.at);
	free(d->decoded);
	*d = (struct data){.machine = d->machine};
}

/* ---- all of it, as bytes ---- */

static void
save_frame(const struct data_frame *f, struct buf *to)
{
	buf_uleb(to, f->start);
	buf_uleb(to, f->at);
	buf_uleb(to, f->lost);
	buf_uleb(to, f->regs.known);
	for (int i = 0; i < REG_VALUES; i++)
		if (f->regs.known >> i & 1)
			buf_uleb(to, f->regs.v[i]);
}

void
data_save(const struct data *d, struct buf *to)
{
	buf_uleb(to, d->known);
	buf_uleb(to, d->unknown);
	buf_uleb(to, d->records);
	buf_uleb(to, d->slot.n);
	for (size_t i = 0; i < d->slot.n; i++)
		buf_uleb(to, d->slot.at[i]);
	for (size_t i = 0; i < d->frame.n; i++)
		save_frame(&d->frame.at[i], to);
}

/* The slots of the frames stand in the order of the frames. */
static void
restore_frame(struct data *d, struct in *in)
{
	struct data_frame f = {.start = in_below(in, d->slot.n + 1, "a slot that is not there")};

	f.at = in_below(in, d->slot.n + 1, "a slot that is not there");
	f.lost = in_uleb(in);
	f.regs.known = in_below(in, 1ull << REG_VALUES, "a register that is not there");
	for (int i = 0; i < REG_VALUES; i++)
		if (f.regs.known >> i & 1)
			f.regs.v[i] = in_uleb(in) & LOW;
	if (f.at < f.start || (top(d) && f.start < top(d)->at))
		in_bad(in, "slots of several");
	if (!in->bad)
		VEC_PUSH(d->frame, f);
}

void
data_restore(struct data *d, struct str bytes, size_t nframe)
{
	struct in in = {.at = (const unsigned char *)bytes.at, .end = (const unsigned char *)bytes.at + bytes.n};

	d->slot.n = d->frame.n = 0;
	d->known = in_uleb(&in);
	d->unknown = in_uleb(&in);
	d->records = in_uleb(&in);
	for (uint32_t n = in_number(&in, 1); n && !in.bad; n--)
		VEC_PUSH(d->slot, in_below(&in, 1ull << 32, "a number that is too large"));
	while (d->frame.n < nframe && !in.bad)
		restore_frame(d, &in);
	if (!in.bad && !in_left(&in))
		return;
	d->slot.n = d->frame.n = 0;
	while (d->frame.n < nframe)
		VEC_PUSH(d->frame, (struct data_frame){.lost = true});
}

/* ---- instructions ---- */

struct sums {
	uint64_t v[DATA_ACCESSES];
	uint32_t known;
};

static void
take_site(struct data *d, const struct data_site *s, uint32_t number, const struct proc_data *p, struct sums *sums)
{
	bool begins = p->begins && !number;
	uint64_t v;

	if (!next_record(d, begins ? CHORD_DATA_BEGINS : number % CHORD_DATA_BEGINS, &v))
		return;
	if (s->what < CHORD_DATA_SUM) {
		set(top(d), s->what, v);
	} else {
		sums->v[s->what - CHORD_DATA_SUM] = v;
		sums->known |= 1u << (s->what - CHORD_DATA_SUM);
	}
}

/* The stack pointer is known from the procedure's first instruction on, although it is written a little later. */
static void
begin(struct data *d, const struct proc_data *p)
{
	const uint32_t *s = d->slot.at + top(d)->at;

	if (top(d)->lost || top(d)->at + 2 > d->slot.n || !CHORD_IS_DATA(s[0]) || CHORD_DATA_CHECK(s[0]) != CHORD_DATA_BEGINS)
		return;
	set(top(d), d->machine->sp, CHORD_DATA_VALUE(s[0], s[1]) - (uint64_t)p->begins_at);
}

static bool
is_known(const struct data_frame *f, int reg)
{
	return reg < 0 || f->regs.known >> reg & 1;
}

static struct data_access
place(const struct data_frame *f, const struct access *a, const uint64_t *sum, uint64_t behind)
{
	struct data_access x = {.bytes = a->bytes, .how = a->how, .repeated = a->count >= 0, .atomic = a->atomic};

	x.known = !a->unknown && (sum || (is_known(f, a->base) && is_known(f, a->index))) &&
	          (a->segment != ACCESS_FS || is_known(f, REG_THREAD));
	if (!x.known)
		return x;
	x.addr = (uint64_t)a->disp + (a->pc ? behind : 0);
	if (sum)
		x.addr += *sum;
	if (!sum && a->base >= 0)
		x.addr += f->regs.v[a->base];
	if (!sum && a->index >= 0)
		x.addr += f->regs.v[a->index] * a->scale;
	if (a->narrow)
		x.addr &= UINT32_MAX;
	if (a->segment == ACCESS_FS)
		x.addr += f->regs.v[REG_THREAD];
	x.addr &= LOW;
	return x;
}

static void
take_sites(struct data *d, const struct proc_data *p, uint32_t block, uint32_t insn, struct sums *sums)
{
	for (uint32_t i = p->first[block]; i < p->first[block + 1]; i++)
		if (p->site[i].insn == insn)
			take_site(d, &p->site[i], i, p, sums);
}

unsigned
data_insn(struct data *d, const struct proc *p, uint32_t block, uint32_t insn, struct str bytes, uint64_t addr,
          uint32_t len, struct data_access *out, uint64_t *times)
{
	struct access a[ACCESSES_MOST];
	struct data_frame *f = top(d);
	struct sums sums = {0};
	unsigned n;

	if (p->data && p->data->begins && !block && !insn)
		begin(d, p->data);
	if (p->data)
		take_sites(d, p->data, block, insn, &sums);
	if (!d->decoded)
		d->decoded = d->machine->insn_cache();
	n = bytes.n ? d->machine->accesses(d->decoded, (const uint8_t *)bytes.at, bytes.n, a) : 0;
	*times = 1;
	for (unsigned i = 0; i < n; i++) {
		out[i] = place(f, &a[i], sums.known >> i & 1 ? &sums.v[i] : NULL, addr + len);
		if (out[i].repeated) {
			out[i].known &= is_known(f, a[i].count);
			*times = out[i].known ? f->regs.v[a[i].count] : 1;
		}
		d->known += out[i].known;
		d->unknown += !out[i].known;
	}
	if (bytes.n)
		d->machine->compute(d->decoded, (const uint8_t *)bytes.at, bytes.n, addr, &f->regs);
	return n;
}

bool
data_bias(const struct trace_file *f, const struct profile *p, uint32_t module, size_t n, uint64_t *bias)
{
	for (size_t i = n < f->module.n ? n : f->module.n; i-- > 0;) {
		const struct chord_trace_module *m = &f->module.at[i];

		if (m->module < p->number.n && p->number.at[m->module] == module) {
			*bias = ((uint64_t)m->high << 32 | m->low) - m->first;
			return true;
		}
	}
	return false;
}
