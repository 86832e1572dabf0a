/* SPDX-License-Identifier: MIT */
/* Recording: calls that had a stop, and those that had none. */
#include "replay/buffer/buffer.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/* A place is led elsewhere when the calls that were seen there have this weight together. Calls that arrange memory weigh less,
 * because loaders make some before anything else is called often. */
enum { WEIGHT_LED = 24, WEIGHT = 8, WEIGHT_MEMORY = 1 };

enum { PLAIN_MOST = 64, DISPATCHED = 2 };
/* If a room has at least this much in it when it has no space for the next entry, the program goes on in the other room. */
enum { MUCH = SBUF_RING / 4 };

/* ---- the calls that were seen ---- */

/* Notes what a call with a stop means for calls without one. */
static void
note_call(struct recorder *r, struct buffer *b)
{
	static const uint8_t none[SBUF_FILES / 8];
	const struct made_call *m = r->made;

	if (b->base && moves_files(m->number)) {
		tracee_write(r->t, data_at(b, offsetof(struct syscallbuf_data, regular)), none, sizeof none);
		forget_streams(b, r->t);
	}
	if (m->number == SYS_setrlimit || m->number == SYS_prlimit64)
		buffer_forget_outputs(r);
	/* SIGSYS is ignored now: stopping a call by it would have the kernel reset it to the default. */
	if (m->number == SYS_rt_sigaction && m->arg[0] == SIGSYS && m->arg[1] && tracee_signal_is(r->t, SIGNALS_IGNORED, SIGSYS))
		b->shut = true;
	if (r->task->free && (m->number == SYS_rt_sigprocmask || m->number == SYS_rt_sigreturn))
		buffer_masks(r);
}

void
buffer_masks(struct recorder *r)
{
	uint64_t mask;

	if (r->task->free)
		r->task->masked = ptrace(PTRACE_GETSIGMASK, r->t->pid, sizeof mask, &mask) || mask >> (SIGSYS - 1) & 1;
}

void
buffer_learn(struct recorder *r, int64_t result)
{
	struct buffer *b;
	struct site *s;
	uint64_t at = tracee_word(r->t, r->t->machine->pc) - r->t->machine->call_size;
	unsigned before;

	if (!r->buffers || !r->t->machine->syscallbuf)
		return;
	b = buffer_of(r->task);
	note_call(r, b);
	if (b->shut || r->task->group->space->users > 1 || r->task->interrupted || r->refused || is_interrupted(result) ||
	    r->made->call.class == CALL_RETURN || !may_be_free(r->made->number))
		return;
	if (is_output(r->made->number) && !learn_output(r, b, result))
		return;
	if (r->made->number == SYS_read && result >= 0)
		learn_input(r, b);
	if (b->base && at - stub_at(b, 0) < SBUF_CODE - SBUF_INNER) {
		if (!r->task->free)
			lead_calls(r, b);
		return;
	}
	s = buffer_site(b, at);
	before = s->weight;
	s->weight += arranges_memory(r->made->number) ? WEIGHT_MEMORY : WEIGHT;
	if (before < WEIGHT_LED && s->weight >= WEIGHT_LED && !s->stub)
		lead_hot(r, b, s);
}

void
buffer_born(struct recorder *r, uint64_t flags)
{
	const struct buffer *b = buffer_of(r->task);

	if (flags & CLONE_VM && b->base)
		forget_streams(b, r->t);
	if (flags & CLONE_VM)
		tracee_stop_at_end(r->t, false);
	if ((flags & CLONE_FILES && !(flags & CLONE_VM)) || (flags & CLONE_THREAD && !(flags & CLONE_FILES)))
		buffer_of(r->task)->shut = true;
}

/* ---- on the way ---- */

int
buffer_request(struct task *task, bool seen)
{
	struct buffer *b = task->group->space->buffer;
	bool inside = is_inside(b, tracee_word(&task->t, task->t.machine->pc)), open;

	if (!b || !b->base || task->in_call)
		return PTRACE_SYSCALL;
	open = task->free && !b->shut && !task->masked && !task->seen && !task->plain && !seen && task->group->space->users == 1;
	buffer_control(b, &task->t, open || inside, !open);
	b->taken &= !open;
	task->runs_free = open || inside;
	return task->runs_free ? PTRACE_CONT : PTRACE_SYSCALL;
}

/* Calls that arrange memory come back at once, even if signals are pending. */
static bool
comes_back(const struct recorder *r)
{
	return !r->task->waits && !r->task->interrupted &&
	       arranges_memory(tracee_word(r->t, r->t->machine->result));
}

/* At a stop by SIGSYS: the call that was put off is made by a single step, and recorded as if it had a stop of its own. False:
 * something else has come first. */
static bool
step_over(struct recorder *r, const struct traced_regs *stopped)
{
	const struct machine_traced *machine = r->t->machine;
	struct traced_regs before = r->t->regs;
	uint64_t pc = stopped->word[machine->pc];
	enum stop stop;

	r->t->regs = *stopped;
	r->t->regs.word[machine->result] = (uint64_t)-ENOSYS;
	record_begin_call(r);
	r->t->regs = before;
	if (r->refused)
		return false;
	buffer_control(r->task->group->space->buffer, r->t, false, true);
	stop = tracee_go(r->t, PTRACE_SINGLESTEP, 0);
	if (stop != STOP_SIGNAL || tracee_signal(r->t) != SIGTRAP || tracee_word(r->t, machine->pc) != pc) {
		r->task->in_call = false;
		r->task->state = TASK_STOPPED;
		return false;
	}
	if (machine->stepped_call(&r->t->regs))
		tracee_set(r->t, &r->t->regs);
	forced_mend(r, SIGTRAP, false);
	record_end_call(r);
	return true;
}

/* If a room was full, the program makes the same call again with the other room, and the full one is taken over meanwhile. pc: of
 * the call in the stub. False: no room was full. */
static bool
change_rooms(struct recorder *r, uint64_t pc)
{
	struct buffer *b = r->task->group->space->buffer;
	uint64_t fill_at = data_at(b, offsetof(struct syscallbuf_data, fill)), none = 0, next;
	uint64_t stub = pc - r->t->machine->syscallbuf->traced;
	struct piece full = {.addr = room_at(b)};

	if (stub - stub_at(b, 0) >= SBUF_CODE - SBUF_INNER || (stub - stub_at(b, 0)) % SBUF_STUB || b->control[1] ||
	    !tracee_read(r->t, fill_at, &full.n, sizeof full.n) || full.n < MUCH || full.n > SBUF_RING)
		return false;
	b->room ^= 1;
	next = room_at(b);
	if (!tracee_write(r->t, fill_at, &none, sizeof none) ||
	    !tracee_write(r->t, data_at(b, offsetof(struct syscallbuf_data, ring)), &next, sizeof next)) {
		b->room ^= 1;
		return false;
	}
	r->full = full;
	r->task->waste = 0;
	r->t->regs.word[r->t->machine->pc] = stub;
	tracee_set(r->t, &r->t->regs);
	return true;
}

/* Does the program stand after a call instruction as if SIGSYS was to stop that call? Then the call has not been made. */
static bool
may_lack_call(const struct tracee *t)
{
	const struct machine_traced *machine = t->machine;
	uint8_t code[16];

	return tracee_word(t, machine->number) == tracee_word(t, machine->result) &&
	       tracee_read(t, tracee_word(t, machine->pc) - machine->call_size, code, machine->call_size) &&
	       !memcmp(code, machine->call, machine->call_size);
}

bool
buffer_stopped(struct recorder *r)
{
	const struct machine_traced *machine = r->t->machine;
	struct traced_regs stopped = r->t->regs;
	struct task *task = r->task;
	uint64_t arg[6];
	siginfo_t info;
	bool at_once = comes_back(r);

	if (!task->free || tracee_signal(r->t) != SIGSYS || ptrace(PTRACE_GETSIGINFO, r->t->pid, 0, &info))
		return false;
	if (info.si_code != DISPATCHED) {
		/* Somebody has sent SIGSYS. While that was pending, the one for a call was lost. */
		if (task->runs_free && may_lack_call(r->t))
			record_refuse(r, r->file, "SIGSYS was sent to it, perhaps as it made a system call");
		return false;
	}
	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(r->t, i);
	machine->make(&r->t->regs, tracee_word(r->t, machine->result), arg);
	tracee_set(r->t, &r->t->regs);
	if (change_rooms(r, tracee_word(r->t, machine->pc)))
		return true;
	buffer_flush(r);
	if (at_once) {
		task->seen = !step_over(r, &stopped);
		return true;
	}
	task->seen = true;
	/* A call that is stopped by SIGSYS costs one stop more. This is worth it if calls have been made without a stop since the
	 * last one. */
	task->waste = task->fresh ? 0 : task->waste ? task->waste * 2 : 1;
	if (task->waste > PLAIN_MOST)
		task->waste = PLAIN_MOST;
	task->plain = task->waste ? task->waste + 1 : 0;
	task->fresh = 0;
	return true;
}

/* ---- what was written down ---- */

static void
put_entry(struct recorder *r, const struct buffer *b, const struct syscallbuf_entry *e)
{
	bool output = is_output(e->number);

	if (e->number == SYS_mmap)
		clock_mapped(r->clock, (uint64_t)e->result, e->arg[1]);
	record_plain_event(r, LOG_FREE);
	log_put(r->log, e->number);
	log_put(r->log, e->at);
	for (int i = 0; i < 6; i++)
		log_put(r->log, e->arg[i]);
	log_put(r->log, (uint64_t)e->result);
	log_put(r->log, e->to);
	log_put_bytes(r->log, e + 1, output ? 0 : e->n);
	if (output) {
		log_put(r->log, e->result > 0 ? b->stream[e->arg[0] % SBUF_FILES] : 0);
		log_put(r->log, bytes_sum(e + 1, e->n));
	}
	r->task->fresh++;
	r->made_free++;
}

/* Logs the entries in n bytes of a room. */
static void
put_entries(struct recorder *r, const struct buffer *b, uint64_t at, uint64_t n)
{
	const char *ring;

	if (!r->written)
		r->written = xmalloc(SBUF_RING);
	ring = r->written;
	if (!tracee_read(r->t, at, r->written, n)) {
		/* If the process has ended, its memory may be gone. */
		if (tracee_doing(r->t) && !strchr("ZX", tracee_doing(r->t)))
			record_refuse(r, r->file, "it has unmapped where its system calls are written down");
		return;
	}
	for (uint64_t i = 0; i + sizeof(struct syscallbuf_entry) <= n;) {
		struct syscallbuf_entry e;

		memcpy(&e, ring + i, sizeof e);
		if (e.size < sizeof e || e.size > n - i || e.n > e.size - sizeof e) {
			record_refuse(r, r->file, "it has written where its system calls are written down");
			break;
		}
		put_entry(r, b, (const struct syscallbuf_entry *)(const void *)(ring + i));
		i += e.size;
	}
}

void
buffer_flush(struct recorder *r)
{
	struct buffer *b = r->task->group->space->buffer;
	uint64_t fill = 0, none = 0, fill_at;

	if (!b || !b->base || b->taken)
		return;
	/* If the program is outside of the code, it writes nothing more down before it goes on. */
	b->taken = b->control[1] || !is_inside(b, tracee_word(r->t, r->t->machine->pc));
	fill_at = data_at(b, offsetof(struct syscallbuf_data, fill));
	if (!tracee_read(r->t, fill_at, &fill, sizeof fill) || !fill || fill > SBUF_RING)
		return;
	put_entries(r, b, room_at(b), fill);
	tracee_write(r->t, fill_at, &none, sizeof none);
}

void
buffer_drain(struct recorder *r)
{
	const struct buffer *b = r->full.n ? r->task->group->space->buffer : NULL;

	if (b && b->base)
		put_entries(r, b, r->full.addr, r->full.n);
	r->full.n = 0;
}

/* At its end the program may have made an output call that it has not written down yet: that is done here. */
void
buffer_end(struct recorder *r)
{
	const struct buffer *b = r->task->group->space->buffer;
	struct syscallbuf_entry *e;
	uint64_t at;
	int64_t result;

	buffer_flush(r);
	if (!b || !b->base || !r->t->machine->syscallbuf->unfinished(&r->t->regs, b->base, &at, &result))
		return;
	e = xmalloc(sizeof *e + SBUF_RING);
	result = 0;
	if (tracee_read(r->t, at, e, sizeof *e) && is_output(e->number)) {
		result = e->result;
		r->t->machine->syscallbuf->unfinished(&r->t->regs, b->base, &at, &result);
		e->to = e->arg[1];
		e->n = result > 0 && result <= SBUF_RING ? (uint64_t)result : 0;
		e->result = result;
		if (e->n && tracee_read(r->t, e->to, e + 1, e->n))
			put_entry(r, b, e);
	}
	free(e);
}

bool
buffer_is_empty(const struct recorder *r)
{
	const struct buffer *b = r->task->group->space->buffer;
	uint64_t fill;

	return !b || !b->base || b->taken ||
	       (tracee_read(r->t, data_at(b, offsetof(struct syscallbuf_data, fill)), &fill, sizeof fill) && !fill &&
	        !is_inside(b, tracee_word(r->t, r->t->machine->pc)));
}

/* Steps out of the code. Signals that come meanwhile stay pending. */
static void
leave_inside(struct recorder *r, const struct buffer *b)
{
	struct tracee *t = r->t;
	uint64_t all = UINT64_MAX, mask;

	if (!is_inside(b, tracee_word(t, t->machine->pc)) || ptrace(PTRACE_GETSIGMASK, t->pid, sizeof mask, &mask) ||
	    ptrace(PTRACE_SETSIGMASK, t->pid, sizeof all, &all))
		return;
	while (is_inside(b, tracee_word(t, t->machine->pc)) && tracee_go(t, PTRACE_SINGLESTEP, 0) != STOP_ENDED)
		;
	if (t->pid)
		forced_mend(r, SIGTRAP, true);
	if (t->pid)
		ptrace(PTRACE_SETSIGMASK, t->pid, sizeof mask, &mask);
}

void
buffer_complete(struct recorder *r)
{
	const struct buffer *b = r->task->group->space->buffer;
	int sig = tracee_signal(r->t);
	siginfo_t info;

	/* The signal is delivered when the program goes on. */
	if (is_inside(b, tracee_word(r->t, r->t->machine->pc)) && !ptrace(PTRACE_GETSIGINFO, r->t->pid, 0, &info) &&
	    !tracee_caused(sig, &info))
		leave_inside(r, b);
	if (!r->t->pid)
		r->task->state = TASK_STOPPED;
	else
		buffer_flush(r);
}

void
buffer_release(struct recorder *r)
{
	struct buffer *b = r->task->group->space->buffer;
	const uint64_t off[6] = {PR_SET_SYSCALL_USER_DISPATCH};

	if (!b || !b->base || !r->t->pid)
		return;
	leave_inside(r, b);
	buffer_control(b, r->t, false, true);
	if (r->task->free && r->t->pid)
		buffer_call(r->t, SYS_prctl, off);
	r->task->free = r->task->runs_free = false;
}
