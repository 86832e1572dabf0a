/* SPDX-License-Identifier: MIT */
/* Replaying calls without a stop. */
#include "replay/buffer/buffer.h"

#include <string.h>

bool
buffer_make(struct task *task, uint64_t base, bool hidden)
{
	const struct machine_syscallbuf *syscallbuf = task->t.machine->syscallbuf;
	struct syscallbuf_data data = {0};
	struct buffer *b = buffer_of(task);

	if (!syscallbuf || b->base || base % 4096 || base > INT64_MAX || !base)
		return false;
	b->hidden = hidden;
	if (!buffer_map(b, &task->t, base, syscallbuf->replay, syscallbuf->replay_end, &data))
		return false;
	task->t.makes = base + (uint64_t)(syscallbuf->makes - syscallbuf->replay);
	return true;
}

bool
buffer_lead(struct task *task, uint64_t site, const struct site_way *way)
{
	struct buffer *b = buffer_of(task);
	const struct machine_traced *machine = task->t.machine;
	uint8_t code[16];
	struct site *s;

	if (!b->base || b->stubs == SBUF_STUBS || !way->n || !buffer_is_near(b, &task->t, site) ||
	    !tracee_read(&task->t, site, code, machine->call_size) || memcmp(code, machine->call, machine->call_size))
		return false;
	s = buffer_site(b, site);
	s->stub = stub_at(b, b->stubs);
	return buffer_put_stub(b, &task->t, site, way);
}

uint64_t
buffer_sum(const struct task *task)
{
	const struct buffer *b = task->group->space->buffer;
	const struct machine_traced *machine = task->t.machine;
	struct traced_regs regs = task->t.regs;
	uint64_t pc = regs.word[machine->pc];

	if (!b || !b->hidden)
		return tracee_sum(&task->t);
	for (size_t i = 0; i < b->site.n; i++)
		if (b->site.at[i].stub && b->site.at[i].at + machine->call_size == pc)
			machine->syscallbuf->as_call(&regs, pc, b->site.at[i].stub + machine->syscallbuf->traced +
			                             machine->call_size);
	regs = machine->bare(&regs);
	return bytes_sum(&regs, sizeof regs);
}

uint64_t
buffer_place(const struct task *task)
{
	const struct buffer *b = task->group->space->buffer;
	const struct machine_traced *machine = task->t.machine;
	uint64_t at = tracee_word(&task->t, machine->pc) - machine->call_size;

	for (size_t i = 0; b && b->hidden && i < b->site.n; i++)
		if (b->site.at[i].stub && b->site.at[i].at == at)
			return b->site.at[i].stub + machine->syscallbuf->traced;
	return at;
}

bool
buffer_is_given(const struct task *task)
{
	const struct buffer *b = task->group->space->buffer;
	uint64_t at[2];

	return !b || !b->base || b->hidden ||
	       (tracee_read(&task->t, data_at(b, offsetof(struct syscallbuf_data, fill)), at, sizeof at) && at[0] == at[1]);
}

bool
buffer_takes(const struct task *task)
{
	const struct buffer *b = task->group->space->buffer;

	return b && b->base && !b->hidden && buffer_is_given(task);
}

bool
buffer_give(struct task *task, const char *calls, size_t n)
{
	const struct buffer *b = task->group->space->buffer;
	uint64_t at[2] = {n, 0};

	return n <= SBUF_RING && tracee_write(&task->t, data_at(b, SBUF_DATA), calls, n) &&
	       tracee_write(&task->t, data_at(b, offsetof(struct syscallbuf_data, fill)), at, sizeof at);
}
