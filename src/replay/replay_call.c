/* SPDX-License-Identifier: MIT */
/* Replaying one system call. It is not made, unless it arranges memory; it gets the result that was recorded, and the memory that
 * it wrote. This file also runs the program to the next stop, where it has to be as it was. */
#include "replay/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

/* ---- the replay is not what was recorded ---- */

const char *
call_text(struct pool *pool, uint64_t number, const uint64_t arg[6])
{
	struct system_call c = call_of(pool, number, arg);

	return pool_printf(pool, "system call %s (0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ")", c.name, arg[0],
	                   arg[1], arg[2], arg[3]);
}

void
replayer_diverged(struct replayer *r, const char *was, const char *is)
{
	if (!r->failed && !log_failed(r->log))
		say_error(log_name(r->log), "the replay goes another way at event %" PRIu64 ": recorded was %s; now it is %s",
		          r->event, was, is);
	r->failed = true;
}

/* Does somebody want the program to stand still before the event is there? Then the event is begun again later. */
bool
replayer_halts(struct replayer *r, enum stop stop)
{
	r->halted |= stop == STOP_HALT;
	return stop == STOP_HALT;
}

/* Makes a call again that was interrupted: by its own number, or as restart_syscall(). */
void
replayer_make_again(struct replayer *r)
{
	struct tracee *t = r->t;
	uint64_t arg[6];

	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(t, i);
	t->machine->make(&t->regs, tracee_word(t, t->machine->number), arg);
	tracee_set(t, &t->regs);
}

/* Before the program goes on: the kernel makes an interrupted call again if no handler has begun after it. */
void
replayer_go_back(struct replayer *r)
{
	bool again = r->task->again;

	r->task->again = false;
	if (!again)
		return;
	replayer_make_again(r);
	if (r->task->made.result == INTERRUPTED_LAST)
		r->t->regs.word[r->t->machine->result] = SYS_restart_syscall;
	tracee_set(r->t, &r->t->regs);
}

enum stop
replayer_go_on(struct replayer *r)
{
	replayer_go_back(r);
	return tracee_go_own(r->t, PTRACE_SYSEMU);
}

/* The stop in words: what happens, and the state. */
const char *
stop_text(struct replayer *r, enum stop stop)
{
	struct tracee *t = r->t;
	const char *what;
	uint64_t arg[6];

	if (stop == STOP_ENDED)
		return pool_printf(r->pool, WIFSIGNALED(t->status) ? "its end by signal %d" : "its end with status %d",
		                   WIFSIGNALED(t->status) ? WTERMSIG(t->status) : WEXITSTATUS(t->status));
	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(t, i);
	what = stop == STOP_CALL ? call_text(r->pool, tracee_word(t, t->machine->number), arg) :
		pool_printf(r->pool, "signal %d (%s)", tracee_signal(t), strsignal(tracee_signal(t)));
	return pool_printf(r->pool, "%s at pc 0x%" PRIx64 ", sp 0x%" PRIx64 ", clock %" PRIu64, what,
	                   tracee_word(t, t->machine->pc), tracee_word(t, t->machine->sp), clock_sum(r->clock));
}

/* ---- system calls ---- */

void
get_made(struct replayer *r, struct made_call *m)
{
	m->number = log_get(r->log);
	for (int i = 0; i < 6; i++)
		m->arg[i] = log_get(r->log);
	m->entry = log_get(r->log);
	m->clock = log_get(r->log);
	m->call = call_of(r->pool, m->number, m->arg);
}

bool
same_call(struct replayer *r, const struct made_call *c, enum stop stop)
{
	uint64_t clock = clock_sum(r->clock);

	if (clock_fails(r->clock)) {
		r->failed = true;
		return false;
	}
	if (stop == STOP_CALL)
		tally_call(r->tally, r->task, clock);
	if (stop == STOP_CALL && tracee_own_call(r->t) && c->number == tracee_word(r->t, r->t->machine->number) &&
	    c->entry == buffer_sum(r->task) && c->clock == clock && buffer_is_given(r->task))
		return true;
	replayer_diverged(r, pool_printf(r->pool, "%s at clock %" PRIu64, call_text(r->pool, c->number, c->arg), c->clock),
	         stop_text(r, stop));
	return false;
}

void
replayer_put_memory(struct replayer *r)
{
	uint64_t n = log_get(r->log);

	for (uint64_t i = 0; i < n && !log_failed(r->log) && !r->failed; i++) {
		uint64_t addr = log_get(r->log);
		struct str bytes = log_get_bytes(r->log, r->pool);

		if (bytes.n && !tracee_write(r->t, addr, bytes.at, bytes.n))
			replayer_diverged(r, pool_printf(r->pool, "memory at 0x%" PRIx64 " that was written", addr),
			                  "that it cannot be");
	}
}

static void
write_stream(struct replayer *r, int fd, const char *at, size_t n)
{
	/* An earlier attempt has already written these bytes. */
	size_t old = r->written[fd] - r->passed[fd] < n ? r->written[fd] - r->passed[fd] : n;

	r->passed[fd] += n;
	r->written[fd] += n - old;
	at += old;
	n -= old;
	if (r->output) {
		if (n)
			r->output(r->of, fd, at, n);
		return;
	}
	while (n) {
		ssize_t did = write(fd, at, n);

		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0) {
			say_error(fd == 1 ? "standard output" : "standard error", "%s", strerror(errno));
			r->failed = true;
			return;
		}
		at += did;
		n -= (size_t)did;
	}
}

/* Reads as much as there is. It takes no more memory than that, whatever the log says. */
static void
read_part(const struct tracee *t, const struct piece *p, struct buf *to)
{
	enum { PART = 1 << 20 };
	size_t got = PART;

	for (uint64_t done = 0; done < p->n && got == PART; done += got) {
		uint64_t n = p->n - done < PART ? p->n - done : PART;

		buf_reserve(to, n);
		got = tracee_read_some(t, p->addr + done, to->at + to->n, n);
		to->n += got;
	}
}

void
replay_output(struct replayer *r, const struct made_call *c)
{
	uint64_t stream = log_get(r->log), sum = log_get(r->log);
	pieces read = {0};
	struct buf b = {0};

	if (c->result > 0)
		pieces_read(r->t, c->number, c->arg, (uint64_t)c->result, &read);
	for (size_t i = 0; i < read.n; i++)
		read_part(r->t, &read.at[i], &b);
	if (sum != bytes_sum(b.at, b.n))
		replayer_diverged(r, pool_printf(r->pool, "%s with other bytes", call_text(r->pool, c->number, c->arg)), "these");
	else if ((stream == 1 || stream == 2) && !log_failed(r->log))
		write_stream(r, (int)stream, b.at, b.n);
	buf_free(&b);
	free(read.at);
}

static void
replay_passed(struct replayer *r)
{
	uint64_t stream = log_get(r->log);
	struct str bytes = log_get_bytes(r->log, r->pool);

	if ((stream == 1 || stream == 2) && !log_failed(r->log))
		write_stream(r, (int)stream, bytes.at, bytes.n);
}

/* Makes a call that arranges memory, with these arguments. It has to have the same result. */
void
make_call(struct replayer *r, const struct made_call *c, const uint64_t arg[6])
{
	int64_t result = tracee_call_at_once(r->t, c->number, arg);

	if (result != c->result)
		replayer_diverged(r, pool_printf(r->pool, "%s with result 0x%" PRIx64, call_text(r->pool, c->number, c->arg),
		                        (uint64_t)c->result),
		         pool_printf(r->pool, "result 0x%" PRIx64, (uint64_t)result));
}

static void
replay_remap(struct replayer *r, const struct made_call *c)
{
	uint64_t to = (uint64_t)c->result, arg[6] = {c->arg[0], c->arg[1], c->arg[2], c->arg[3], to};

	if (to != c->arg[0])
		arg[3] |= MREMAP_MAYMOVE | MREMAP_FIXED;
	make_call(r, c, arg);
}

/* The kernel takes the registers from the handler's frame. */
static void
replay_return(struct replayer *r, const struct made_call *c)
{
	if (!tracee_make(r->t, c->number, c->arg))
		replayer_diverged(r, "the return from a handler", "the end of the program");
}

bool
succeeded(int64_t result)
{
	return (uint64_t)result < (uint64_t)-4095;
}

/* Notes the name that a thread gives itself, for a debugger. */
static void
note_name(struct replayer *r, const struct made_call *c)
{
	if (c->number != SYS_prctl || c->arg[0] != PR_SET_NAME || c->result)
		return;
	tracee_read_some(r->t, c->arg[1], r->task->name, sizeof r->task->name - 1);
}

/* How far the stack may grow shows in what the program does, so this limit is set. */
static void
limit_stack(struct replayer *r, const struct made_call *c)
{
	bool own = c->number == SYS_setrlimit || (c->number == SYS_prlimit64 && !c->arg[0]);
	int at = c->number == SYS_prlimit64;
	struct rlimit limit, now;

	if (!own || c->result || (int)c->arg[at] != RLIMIT_STACK || !c->arg[at + 1])
		return;
	if (!tracee_read(r->t, c->arg[at + 1], &limit, sizeof limit) || prlimit(r->t->pid, RLIMIT_STACK, NULL, &now)) {
		replayer_diverged(r, "a limit of the stack", "none");
		return;
	}
	now.rlim_cur = limit.rlim_cur;
	if (prlimit(r->t->pid, RLIMIT_STACK, &now, NULL)) {
		say_error("replay", "the size of the stack cannot be set as it was: %s", strerror(errno));
		r->failed = true;
	}
}

/* A mapped file could not be made as it was. Either the replay begins again, with that file by itself, or it fails. */
static void
lose_files(struct replayer *r)
{
	r->again = r->mapped.again;
	r->failed |= !r->again;
	r->lonely = r->mapped.lonely;
}

/* Advice that takes memory from the machine. */
static bool
damages_memory(uint64_t advice)
{
	return advice == MADV_HWPOISON || advice == MADV_SOFT_OFFLINE;
}

static void
do_call(struct replayer *r, const struct made_call *c)
{
	uint64_t arg[6];

	memcpy(arg, c->arg, sizeof arg);
	if (c->call.class == CALL_MAP || c->call.class == CALL_REMAP)
		clock_mapped(r->clock, (uint64_t)c->result, arg[c->call.class == CALL_MAP ? 1 : 2]);
	switch (c->call.class) {
	case CALL_DONE:
		if (succeeded(c->result))
			make_call(r, c, arg);
		break;
	case CALL_ADVISE:
		arg[2] = arg[2] == MADV_FREE ? MADV_DONTNEED : arg[2];
		if (succeeded(c->result) && !damages_memory(arg[2]))
			make_call(r, c, arg);
		break;
	case CALL_REMAP:
		if (succeeded(c->result)) {
			replay_remap(r, c);
			if (!r->failed && !mapped_change(&r->mapped, r->log, r->t, c->arg[2] > c->arg[1]))
				lose_files(r);
		}
		break;
	case CALL_MAP:
		if (succeeded(c->result) && !mapped_replay(&r->mapped, r->log, r->t, c->arg, (uint64_t)c->result))
			lose_files(r);
		break;
	case CALL_ATTACH:
		if (succeeded(c->result) && !segment_attach(&r->mapped, r->log, r->t, (uint64_t)c->result))
			lose_files(r);
		break;
	case CALL_DETACH:
		if (!segment_detach(r->log, r->t, c->arg[0]))
			r->failed = true;
		break;
	case CALL_OUTPUT: case CALL_PASS: case CALL_RESIZE:
		if (c->call.class == CALL_OUTPUT)
			replay_output(r, c);
		else if (c->call.class == CALL_PASS)
			replay_passed(r);
		if (!r->failed && !mapped_change(&r->mapped, r->log, r->t, false))
			lose_files(r);
		break;
	default:
		limit_stack(r, c);
		note_name(r, c);
		if (call_cuts_off(c->number, arg) && !mapped_change(&r->mapped, r->log, r->t, false))
			lose_files(r);
	}
}

/* Gives the call that the task has made its result. */
static void
finish_call(struct replayer *r)
{
	struct made_call *m = &r->task->made;
	struct traced_regs regs;

	m->result = (int64_t)log_get(r->log);
	m->call = call_of(r->pool, m->number, m->arg);
	replayer_put_memory(r);
	r->task->in_call = false;
	if (m->call.class == CALL_RETURN) {
		replay_return(r, m);
		return;
	}
	do_call(r, m);
	if (r->failed || r->again || log_failed(r->log))
		return;
	regs = r->t->regs;
	regs.word[r->t->machine->result] = (uint64_t)m->result;
	tracee_set(r->t, &regs);
	r->task->again = is_interrupted(m->result);
}

/* Runs to the call of the next event. False: the program makes another call, or has been halted before it. */
bool
run_to_call(struct replayer *r)
{
	enum stop stop = replayer_go_on(r);

	if (replayer_halts(r, stop))
		return false;
	log_get(r->log);
	get_made(r, &r->task->made);
	return !log_failed(r->log) && same_call(r, &r->task->made, stop);
}

void
replay_call(struct replayer *r)
{
	if (run_to_call(r))
		finish_call(r);
}

/* A lock that inherits priorities: the kernel marks it before the thread waits for it, so that its owner asks the kernel to pass it
 * on (FUTEX_LOCK_PI in futex(2)). */
static void
mark_wait(struct replayer *r, const struct made_call *m)
{
	int how = (int)m->arg[1] & FUTEX_CMD_MASK;
	uint32_t lock;

	if (m->number != SYS_futex || (how != FUTEX_LOCK_PI && how != FUTEX_LOCK_PI2) ||
	    !tracee_read(r->t, m->arg[0], &lock, sizeof lock) || !(lock & FUTEX_TID_MASK))
		return;
	lock |= FUTEX_WAITERS;
	tracee_write(r->t, m->arg[0], &lock, sizeof lock);
}

/* Others go on before the call comes back. */
void
replay_enter(struct replayer *r)
{
	r->task->in_call = run_to_call(r);
	if (r->task->in_call)
		mark_wait(r, &r->task->made);
}

void
replay_leave(struct replayer *r)
{
	log_get(r->log);
	finish_call(r);
}
