/* SPDX-License-Identifier: MIT */
/* A trace as valgrind --tool=lackey --trace-mem=yes prints it, for simulators of caches: I with the address and length of each
 * instruction, then L, S and M for its loads, stores and changes. Addresses are those in memory. */
#include "tool/trace/trace.h"

#include "tool/print.h"

#include <inttypes.h>

void
lackey_enters(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	select_entered(o);
	data_enters(&o->data, r, how);
}

void
lackey_leaves(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	data_leaves(&o->data, how);
	select_left(o);
}

void
lackey_writes(struct replay *r, uint32_t slot)
{
	struct trace_out *o = r->ctx;

	data_slot(&o->data, slot);
}

void
lackey_jumps(struct replay *r)
{
	struct trace_out *o = r->ctx;

	data_jumps(&o->data);
}

static void
put_access(struct trace_out *o, const struct data_access *a, uint64_t more)
{
	static const char how[] = "?LSM";

	/* For Valgrind a locked instruction is a load and a comparison. */
	if (a->atomic && a->known)
		fprintf(o->to, " L %08" PRIx64 ",%" PRIu32 "\n", a->addr + more, a->bytes);
	if (a->known)
		fprintf(o->to, " %c %08" PRIx64 ",%" PRIu32 "\n", how[a->how], a->addr + more, a->bytes);
	else
		fprintf(o->to, " %c ?,%" PRIu32 "\n", how[a->how], a->bytes);
}

static void
put_fetch(struct trace_out *o, uint64_t addr, uint32_t n)
{
	fprintf(o->to, "I  %08" PRIx64 ",%" PRIu32 "\n", addr, n);
}

/* A repeated instruction is fetched once more at the end, where it finds that nothing is left to do. */
static void
put_insn(struct trace_out *o, uint64_t addr, uint32_t n, const struct data_access *a, unsigned naccess, uint64_t times)
{
	uint64_t thread = o->replay.thread ? o->replay.thread : o->number;

	if (!o->any)
		fprintf(o->to, "==%" PRIu64 "== %s, thread %" PRIu64 "\n", o->process->file->pid,
		        plain_text(o->process->name), thread);
	o->any = true;
	for (uint64_t i = 0; i < times; i++) {
		put_fetch(o, addr, n);
		for (unsigned k = 0; k < naccess; k++)
			put_access(o, &a[k], i * a[k].bytes);
	}
	if (naccess && a[0].repeated)
		put_fetch(o, addr, n);
}

static void
run_block(struct trace_out *o, const struct replay_path *p, uint32_t number, uint32_t lo, uint32_t hi, bool shown)
{
	const struct trace_block *b = trace_block(o, p->proc, p->module, number);
	struct binary *bin = traced_binary(o->process, p->module);
	struct data_access a[DATA_ACCESSES];
	uint64_t bias = 0, times;

	data_bias(o->process->file, o->process->profile, p->module, o->replay.listed, &bias);
	o->data.machine = image_machine(bin->image);
	for (uint32_t i = lo; i < hi && i < b->n; i++) {
		struct str bytes = b->insn[i].addr ? image_bytes(bin->image, b->insn[i].addr) : STR("");
		unsigned n;

		n = data_insn(&o->data, p->proc, number, i, bytes, b->insn[i].addr + bias, b->insn[i].len, a, &times);
		if (shown && bytes.n)
			put_insn(o, b->insn[i].addr + bias, b->insn[i].len, a, n, times);
	}
}

void
lackey_runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	struct trace_out *o = r->ctx;
	bool shown = select_path(o, replay_insns(p, from, to));

	if (!from.block && !from.insn && p->begin == REPLAY_LANDS)
		data_lands(&o->data);
	for (uint32_t i = from.block; i < p->n && (i < to.block || (i == to.block && to.insn)); i++) {
		uint32_t lo = i == from.block ? from.insn : 0;
		uint32_t hi = i == to.block ? to.insn : p->proc->block[p->block[i]].ninsn;

		run_block(o, p, p->block[i], lo, hi, shown);
	}
}

void
lackey_end(struct trace_out *o)
{
	if (o->any)
		fprintf(o->to, "==%" PRIu64 "== %" PRIu64 " accesses by %" PRIu64 " records\n", o->process->file->pid,
		        o->data.known + o->data.unknown, o->data.records);
	if (o->data.unknown)
		say_warning(o->process->name, "where %" PRIu64 " of %" PRIu64 " accesses of thread %" PRIu64 " were is not known",
		            o->data.unknown, o->data.unknown + o->data.known, o->number);
	data_free(&o->data);
}

/* Was any of the code built to trace addresses? */
bool
lackey_can(const struct trace_out *o)
{
	for (size_t i = 0; i < o->process->profile->module.n; i++) {
		const struct binary *b = o->process->binary[i];

		for (uint32_t k = 0; b && k < b->map.nproc; k++)
			if (b->map.proc[k].data)
				return true;
	}
	return false;
}
