/* SPDX-License-Identifier: MIT */
/* Recording: patches places that make many calls, so that they lead to code that makes these calls without a stop. */
#include "replay/buffer/buffer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

enum { SIZE = SBUF_CODE + SBUF_DATA + 2 * SBUF_RING };

/* A place where the kernel puts nothing by itself, and to which neither the stack nor the heap grows: above the highest mapping
 * below the stack, or below the lowest mapping. 0: none is close enough. */
static uint64_t
find_room(const struct tracee *t, uint64_t site)
{
	enum { APART = 1 << 16, STACK_APART = 1 << 26 };
	struct pool *pool = pool_new();
	const char *maps = tracee_proc(t, pool, "maps");
	struct maps_line m;
	uint64_t last = 0, lowest = UINT64_MAX, reach = t->machine->syscallbuf->reach, above = 0, below;
	struct rlimit stack = {0};

	prlimit(t->pid, RLIMIT_STACK, NULL, &stack);
	while (maps_next(&maps, &m)) {
		if (m.start < lowest)
			lowest = m.start;
		if (str_is(m.name, "[stack]") && stack.rlim_cur < m.end - last &&
		    m.end - last - stack.rlim_cur > STACK_APART + SIZE)
			above = last + APART;
		last = m.end;
	}
	pool_free(pool);
	below = lowest != UINT64_MAX && lowest > SIZE + 3 * APART ? (lowest - SIZE - APART) & ~(uint64_t)(APART - 1) : 0;
	if (above && above + SIZE - site < reach)
		return above;
	return below && site - below < reach ? below : 0;
}

static bool
set_up(struct recorder *r, struct buffer *b, uint64_t site)
{
	const struct machine_syscallbuf *syscallbuf = r->t->machine->syscallbuf;
	uint64_t base = find_room(r->t, site);
	struct syscallbuf_data data = {.closed = true, .ring = base + SBUF_CODE + SBUF_DATA};

	calls_put(&data);
	if (!base || tracee_signal_is(r->t, SIGNALS_IGNORED, SIGSYS) ||
	    !buffer_map(b, r->t, base, syscallbuf->record, syscallbuf->record_end, &data)) {
		b->base = 0;
		return false;
	}
	b->control[1] = true;
	record_event(r, LOG_SYSCALLBUF);
	log_put(r->log, base);
	return true;
}

void
lead_hot(struct recorder *r, struct buffer *b, struct site *s)
{
	struct site_way way;
	uint64_t count;
	bool found = !clock_at(r->clock, s->at, &count) && site_find(r->t, s->at, &way);

	if (found && !b->base)
		b->shut = !set_up(r, b, s->at);
	if (!found || b->shut || b->stubs == SBUF_STUBS || !buffer_is_near(b, r->t, s->at))
		return;
	record_event(r, LOG_SITE);
	log_put(r->log, s->at);
	log_put(r->log, way.n);
	for (size_t i = 0; i < way.n; i++) {
		log_put(r->log, way.pad[i].addr);
		log_put(r->log, way.pad[i].n);
	}
	s->stub = stub_at(b, b->stubs);
	r->places++;
	if (!buffer_put_stub(b, r->t, s->at, &way))
		record_refuse(r, r->file, "its code cannot be written");
}

void
lead_calls(struct recorder *r, struct buffer *b)
{
	const uint64_t arg[6] = {PR_SET_SYSCALL_USER_DISPATCH, 1, b->base, SBUF_INNER, data_at(b, 0)};

	r->task->masked = tracee_signal_is(r->t, SIGNALS_BLOCKED, SIGSYS);
	r->task->free = !buffer_call(r->t, SYS_prctl, arg);
	b->shut |= !r->task->free;
}
