/* SPDX-License-Identifier: MIT */
/* The memory: two mappings, of code and of data, and the places of the program that are led to that code. */
#include "replay/buffer/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <errno.h>

struct buffer *
buffer_of(struct task *task)
{
	struct space *s = task->group->space;

	if (!s->buffer)
		s->buffer = xcalloc(1, sizeof *s->buffer);
	return s->buffer;
}

struct buffer *
buffer_copy(const struct buffer *b)
{
	struct buffer *copy;

	if (!b)
		return NULL;
	copy = xcalloc(1, sizeof *copy);
	*copy = *b;
	copy->site.at = NULL;
	copy->site.n = copy->site.cap = 0;
	for (size_t i = 0; i < b->site.n; i++)
		VEC_PUSH(copy->site, b->site.at[i]);
	return copy;
}

void
buffer_free(struct buffer *b)
{
	if (b)
		free(b->site.at);
	free(b);
}

void
buffer_control(struct buffer *b, struct tracee *t, bool blocks, bool closed)
{
	uint8_t now[2] = {blocks, closed};

	if (!memcmp(now, b->control, sizeof now) || !tracee_write(t, data_at(b, 0), now, sizeof now))
		return;
	memcpy(b->control, now, sizeof now);
}

int64_t
buffer_call(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	uint64_t all = UINT64_MAX, mask;
	int64_t result;

	if (ptrace(PTRACE_GETSIGMASK, t->pid, sizeof mask, &mask) || ptrace(PTRACE_SETSIGMASK, t->pid, sizeof all, &all))
		return -ESRCH;
	result = tracee_call_here(t, number, arg);
	if (t->pid)
		ptrace(PTRACE_SETSIGMASK, t->pid, sizeof mask, &mask);
	return result;
}

int64_t
buffer_call_by(struct task *task, uint64_t number, const uint64_t arg[6])
{
	struct buffer *b = task->group->space->buffer;

	if (b && b->base)
		buffer_control(b, &task->t, false, true);
	return buffer_call(&task->t, number, arg);
}

static bool
map_at(struct tracee *t, uint64_t at, uint64_t n, int prot)
{
	const uint64_t arg[6] = {at, n, (uint64_t)prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
	                         (uint64_t)-1, 0};

	return buffer_call(t, SYS_mmap, arg) == (int64_t)at;
}

bool
buffer_map(struct buffer *b, struct tracee *t, uint64_t base, const uint8_t *code, const uint8_t *end,
           const struct syscallbuf_data *data)
{
	if (!map_at(t, base, SBUF_CODE, PROT_READ | PROT_EXEC) ||
	    !map_at(t, base + SBUF_CODE, SBUF_DATA + 2 * SBUF_RING, PROT_READ | PROT_WRITE))
		return false;
	b->base = base;
	b->stubs = 0;
	return tracee_write(t, base, code, (size_t)(end - code)) && tracee_write(t, data_at(b, 0), data, sizeof *data);
}

bool
buffer_is_near(const struct buffer *b, const struct tracee *t, uint64_t site)
{
	uint64_t reach = t->machine->syscallbuf->reach;

	return site - b->base + reach < 2 * reach;
}

struct site *
buffer_site(struct buffer *b, uint64_t at)
{
	for (size_t i = 0; i < b->site.n; i++)
		if (b->site.at[i].at == at)
			return &b->site.at[i];
	VEC_PUSH(b->site, (struct site){.at = at});
	return &b->site.at[b->site.n - 1];
}

/* What is left of the padding is filled with nops. */
static bool
put_padded(struct tracee *t, const struct piece *pad, const uint8_t *code, size_t n)
{
	uint8_t all[PADDING_MOST];

	if (pad->n > sizeof all || pad->n < n)
		return false;
	memset(all, t->machine->syscallbuf->nop, pad->n);
	memcpy(all, code, n);
	return tracee_write(t, pad->addr, all, pad->n);
}

bool
buffer_put_stub(struct buffer *b, struct tracee *t, uint64_t site, const struct site_way *way)
{
	const struct machine_syscallbuf *syscallbuf = t->machine->syscallbuf;
	uint8_t stub[SBUF_STUB], code[16];
	uint64_t at = stub_at(b, b->stubs);
	const struct piece *last = &way->pad[way->n - 1];
	bool ok;

	syscallbuf->stub(at, b->base, site, stub);
	if (!tracee_write(t, at, stub, sizeof stub))
		return false;
	b->stubs++;
	if (b->hidden)
		return true;
	syscallbuf->jump(last->addr, at, code);
	ok = put_padded(t, last, code, syscallbuf->jump_size);
	for (const struct piece *p = last; ok && p > way->pad; p--) {
		syscallbuf->hop(p[-1].addr, p->addr, code);
		ok = put_padded(t, p - 1, code, syscallbuf->hop_size);
	}
	syscallbuf->hop(site, way->pad[0].addr, code);
	return ok && tracee_write(t, site, code, syscallbuf->hop_size);
}
