/* SPDX-License-Identifier: MIT */
/* Recording system calls: what each of them got and did. These include calls that begin threads, processes and programs, and calls
 * that end them. */
#include "replay/internal.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* Why the call cannot be recorded, because of what it is to begin. NULL: it can. */
static const char *
cannot_begin(struct recorder *r)
{
	struct task *task = r->task;

	if (r->made->call.class == CALL_BIRTH)
		return birth_read(r->t, r->made->number, r->made->arg, &task->birth);
	if (r->made->call.class != CALL_EXEC)
		return NULL;
	if (task->group->living > 1 && task->group->space->users > 1)
		return "another program in the place of one with several threads and another process's memory cannot be recorded";
	exec_read(task->pool, r->t, r->made->arg, &task->exec);
	/* By this name the folder can be looked into even where those above it cannot. */
	return task->exec.file && !has_its_rights(task->exec.file, pool_printf(task->pool, "/proc/%d/cwd", r->t->pid)) ?
		"the program has a user's, a group's or other rights by its file, which it would lack while it is recorded" : NULL;
}

/* Looks once whether the code has timers, as soon as it counts. */
static void
note_clock(struct recorder *r)
{
	struct space *s = r->task->group->space;

	if (r->made->clock && !s->counts)
		s->timed = clock_has_timers(r->clock);
	s->counts |= r->made->clock != 0;
}

/* ---- processors ---- */

void
record_unbind(struct recorder *r)
{
	for (size_t i = 0; i < r->all.at.n; i++)
		bind_release(&r->all.at.at[i]->t);
	bind_end();
}

/* Does the call set where the task may run, or something that depends on that? */
static bool
sets_processors(uint64_t number)
{
	return number == SYS_sched_setaffinity || number == SYS_sched_setattr || number == SYS_sched_setscheduler ||
	       number == SYS_sched_setparam;
}

/* Has the call opened /proc/PID/status, which tells where the task may run? */
static bool
opens_status(struct recorder *r, int64_t result)
{
	uint64_t number = r->made->number;
	struct statfs system;
	const char *name;
	struct stat st;
	char link[64];
	ssize_t n;

	if (result < 0 || (number != SYS_open && number != SYS_openat && number != SYS_openat2 && number != SYS_creat) ||
	    !descriptor_stat(r->t, (uint64_t)result, &st) || !S_ISREG(st.st_mode) || st.st_size)
		return false;
	name = pool_printf(r->task->pool, "/proc/%d/fd/%d", r->t->pid, (int)result);
	if (statfs(name, &system) || system.f_type != PROC_SUPER_MAGIC || (n = readlink(name, link, sizeof link)) < 0)
		return false;
	return n == sizeof link || (n >= 7 && !memcmp(link + n - 7, "/status", 7));
}

/* The kernel has told where a task may run. Hides that Chord has bound it to one processor. */
static void
hide_bound(struct recorder *r, int64_t result)
{
	struct task *of = r->made->arg[0] ? tasks_of(&r->all, (pid_t)r->made->arg[0]) : r->task;
	unsigned long mask[128 / sizeof(unsigned long)];

	if (of && result > 0 && (size_t)result <= sizeof mask && tracee_read(r->t, r->made->arg[2], mask, (size_t)result) &&
	    bind_shows(&of->t, mask, (size_t)result))
		tracee_write(r->t, r->made->arg[2], bind_mask(), (size_t)result);
}

/* A process may name itself where it sets its limits. The replay does not know that number, and the call means the same by 0. */
static void
name_itself(struct recorder *r)
{
	struct made_call *m = r->made;
	const struct task *of = m->number == SYS_prlimit64 ? tasks_of(&r->all, (pid_t)m->arg[0]) : NULL;

	if (of && of->group == r->task->group)
		m->arg[0] = 0;
}

/* Does the call begin to let the kernel read and write at its own time? What programs do then fails without this call. */
static bool
begins_aio(uint64_t number)
{
	return number == SYS_io_setup || number == SYS_io_uring_setup;
}

void
record_begin_call(struct recorder *r)
{
	const struct machine_traced *machine = r->t->machine;
	struct made_call *m = r->made;
	const char *why;

	buffer_flush(r);
	r->stopped++;
	r->task->plain -= r->task->plain > 0;
	m->number = tracee_word(r->t, machine->number);
	for (int i = 0; i < 6; i++)
		m->arg[i] = tracee_arg(r->t, i);
	m->entry = tracee_sum(r->t);
	name_itself(r);
	m->clock = clock_sum(r->clock);
	m->call = call_of(r->task->pool, m->number, m->arg);
	if (r->no_aio && begins_aio(m->number))
		m->call.class = CALL_ABSENT;
	r->task->in_call = true;
	r->task->entered = false;
	note_clock(r);
	forced_begin_call(r);
	record_note_wait(r);
	if (m->call.class == CALL_END)
		record_note_locks(r);
	if (m->call.class == CALL_DETACH)
		m->detached = segment_length(r->t, m->arg[0]);
	why = cannot_begin(r);
	if (sets_processors(m->number))
		record_unbind(r);
	if (clock_fails(r->clock))
		record_refuse(r, r->file, "it is not known how far it has come");
	else if (!tracee_own_call(r->t))
		record_refuse(r, "system call as of 32 bits", "it has other numbers");
	else if (m->call.class == CALL_REFUSED)
		record_refuse_here(r, m->call.name, m->call.why);
	else if (m->call.class == CALL_UNKNOWN && m->number != SYS_ioctl)
		record_refuse_here(r, pool_printf(r->task->pool, "system call %s", m->call.name), "what it does is not known");
	else if (why)
		record_refuse_here(r, pool_printf(r->task->pool, "system call %s", m->call.name), why);
	else if (m->call.class == CALL_ABSENT) {
		r->t->regs.word[machine->number] = (uint64_t)-1;
		tracee_set(r->t, &r->t->regs);
	} else if (m->call.class == CALL_ADVISE && m->arg[2] == MADV_FREE) {
		/* When the kernel takes such pages away is not known: it may as well do so at once. */
		r->t->regs.word[machine->arg[2]] = MADV_DONTNEED;
		tracee_set(r->t, &r->t->regs);
	}
}

/* ---- the end ---- */

void
record_piece(struct recorder *r, const struct piece *p)
{
	char *bytes = xmalloc(p->n);
	size_t n = tracee_read_some(r->t, p->addr, bytes, p->n);

	log_put(r->log, p->addr);
	log_put_bytes(r->log, bytes, n);
	free(bytes);
}

/* Logs a check sum of what an output call has read, and which standard stream got it. */
static void
put_output(struct recorder *r, int64_t result)
{
	pieces read = {0};
	struct buf b = {0};

	if (result > 0)
		pieces_read(r->t, r->made->number, r->made->arg, (uint64_t)result, &read);
	for (size_t i = 0; i < read.n; i++) {
		buf_reserve(&b, read.at[i].n);
		b.n += tracee_read_some(r->t, read.at[i].addr, b.at + b.n, read.at[i].n);
	}
	log_put(r->log, result > 0 ? (uint64_t)stream_of(r->t, (int)r->made->arg[0]) : 0);
	log_put(r->log, bytes_sum(b.at, b.n));
	buf_free(&b);
	free(read.at);
}

/* Logs bytes that reach a standard stream without having been in the program's memory. */
static void
put_passed(struct recorder *r, int64_t result)
{
	int stream = result > 0 ? stream_of(r->t, (int)passed_to(&r->made->call, r->made->arg)) : 0;

	log_put(r->log, (uint64_t)stream);
	if (!stream)
		log_put_bytes(r->log, "", 0);
	else if (!passed_bytes(r->log, r->t, &r->made->call, r->made->arg, (uint64_t)result))
		record_refuse(r, r->made->call.name, "what it writes to the standard output is in no memory and no file");
}

static void
put_pieces(struct recorder *r, const pieces *p)
{
	log_put(r->log, p->n);
	for (size_t i = 0; i < p->n; i++)
		record_piece(r, &p->at[i]);
}

void
record_made(struct recorder *r)
{
	log_put(r->log, r->made->number);
	for (int i = 0; i < 6; i++)
		log_put(r->log, r->made->arg[i]);
	log_put(r->log, r->made->entry);
	log_put(r->log, r->made->clock);
}

static void
add_number(pieces *to, bool is, uint64_t addr)
{
	if (is && addr)
		VEC_PUSH(*to, (struct piece){addr, sizeof(uint32_t)});
}

/* Is the descriptor the memory of a task (/proc/PID/mem)? The task is in *whose; NULL: it is not recorded. False: another file. */
static bool
is_memory(struct recorder *r, uint64_t fd, struct task **whose)
{
	char link[64];
	struct stat st;
	const char *rest;
	char *end;
	ssize_t n;

	if (!descriptor_stat(r->t, fd, &st) || !S_ISREG(st.st_mode))
		return false;
	n = readlink(pool_printf(r->task->pool, "/proc/%d/fd/%d", r->t->pid, (int)fd), link, sizeof link - 1);
	if (n <= 0)
		return false;
	link[n] = 0;
	if (strncmp(link, "/proc/", 6) || !(rest = strstr(link, "/mem")) || rest[4])
		return false;
	*whose = tasks_of(&r->all, (pid_t)strtol(link + 6, &end, 10));
	return *end == '/';
}

/* Adds what the call has written into memory through such a descriptor. */
static void
add_memory(struct recorder *r, int64_t result, pieces *to)
{
	const struct made_call *m = r->made;
	struct task *whose;
	uint64_t at = m->arg[3];

	if (m->number == SYS_sendto || result <= 0 || !is_memory(r, m->arg[0], &whose))
		return;
	if (!whose || whose->group->space != r->task->group->space)
		record_refuse(r, m->call.name, "it writes another process's memory");
	if (call_moves_on(m->number, m->arg))
		at = position_of(r->task->pool, r->t, m->arg[0]) - (uint64_t)result;
	VEC_PUSH(*to, (struct piece){at, (uint64_t)result});
}

/* Logs the call. Registers and memory are already as the program will see them. */
static void
put_call(struct recorder *r, int64_t result)
{
	const struct system_call *c = r->made->call.class == CALL_RESUME ? &r->task->interrupted_call : &r->made->call;
	pieces written = {0};

	record_event(r, r->task->entered ? LOG_LEAVE : LOG_CALL);
	if (!r->task->entered)
		record_made(r);
	log_put(r->log, (uint64_t)result);
	if (!pieces_written(r->t, c, r->made->arg, result, &written))
		record_refuse(r, c->name, "it writes more than can be recorded");
	if (r->made->call.class == CALL_OUTPUT)
		add_memory(r, result, &written);
	put_pieces(r, &written);
	free(written.at);
	if (r->made->call.class == CALL_OUTPUT)
		put_output(r, result);
	if (r->made->call.class == CALL_PASS)
		put_passed(r, result);
}

/* Does the call give a file the content of another one? */
static bool
clones(const struct made_call *m)
{
	return m->number == SYS_ioctl && (m->call.command == FICLONE || m->call.command == FICLONERANGE);
}

/* Has the call written to a standard stream, though it is not one of the output calls? */
static bool
slips_out(const struct recorder *r, int64_t result)
{
	const struct made_call *m = r->made;

	if (result < 0 || (m->number != SYS_sendmsg && m->number != SYS_sendmmsg && m->number != SYS_ioctl))
		return false;
	return (m->number != SYS_ioctl || clones(m)) && stream_of(r->t, (int)m->arg[0]);
}

/* Sets right what only the kernel was to see and the program is not. False: what the call has done is not known. */
static bool
set_right(struct recorder *r, int64_t *result)
{
	const struct machine_traced *machine = r->t->machine;
	const struct made_call *m = r->made;

	if (m->call.class == CALL_ABSENT) {
		*result = m->call.command ? -EINVAL : -ENOSYS;
		r->t->regs.word[machine->result] = (uint64_t)*result;
		tracee_set(r->t, &r->t->regs);
	} else if (m->call.class == CALL_ADVISE && m->arg[2] == MADV_FREE) {
		r->t->regs.word[machine->arg[2]] = m->arg[2];
		tracee_set(r->t, &r->t->regs);
	} else if (m->call.class == CALL_UNKNOWN && (m->number == SYS_ioctl ? *result != -ENOTTY : *result >= 0)) {
		record_refuse(r, pool_printf(r->task->pool, "system call %s", m->call.name), "what it does is not known");
		return false;
	}
	return true;
}

/* May the call have made the process one that only root, or who may trace everything, can look at? */
static bool
may_hide(const struct made_call *m)
{
	switch (m->number) {
	case SYS_setuid: case SYS_setgid: case SYS_setreuid: case SYS_setregid: case SYS_setresuid: case SYS_setresgid:
	case SYS_setfsuid: case SYS_setfsgid:
		return true;
	default:
		return m->number == SYS_prctl && m->arg[0] == PR_SET_DUMPABLE;
	}
}

/* Whoever may follow this link may also look at the task's descriptors and its memory. */
static bool
is_hidden(struct recorder *r)
{
	char link[1];

	return readlink(pool_printf(r->task->pool, "/proc/%d/cwd", r->t->pid), link, sizeof link) < 0;
}

/* Logs what the call has changed besides the memory that it wrote. Not NULL: why that is not known. */
static const char *
put_changes(struct recorder *r, int64_t result)
{
	const struct made_call *m = r->made;
	bool ok = (uint64_t)result < (uint64_t)-4095;

	if (m->number == SYS_set_tid_address)
		r->task->clear = m->arg[0];
	if (m->number == SYS_set_robust_list && ok)
		r->task->robust = m->arg[0];
	switch (m->call.class) {
	case CALL_MAP:
		clock_mapped(r->clock, (uint64_t)result, m->arg[1]);
		mapped_forget(&r->mapped, &r->all);
		buffer_forget_outputs(r);
		return ok ? mapped_record(&r->mapped, r->log, r->t, m->arg) : NULL;
	case CALL_REMAP:
		clock_mapped(r->clock, (uint64_t)result, m->arg[2]);
		return ok ? mapped_grown(&r->mapped, r->log, r->t, m->arg, (uint64_t)result) : NULL;
	case CALL_ATTACH:
		return ok ? segment_attached(&r->mapped, r->log, &r->all, r->t, m->arg, (uint64_t)result) : NULL;
	case CALL_DETACH:
		log_put(r->log, ok ? m->detached : 0);
		return NULL;
	case CALL_OUTPUT: case CALL_RESIZE: case CALL_PASS:
		return mapped_changed(&r->mapped, r->log, r->t, &r->made->call, m->arg, result);
	default:
		if (slips_out(r, result))
			return "what it writes to the standard output is not known";
		if (clones(m) && result >= 0 && mapped_has(&r->mapped, r->t, m->arg[0]))
			return "it changes a file that is mapped";
		if (may_hide(m) && is_hidden(r))
			return "it hides its files and its memory from the recorder";
		if (call_cuts_off(m->number, m->arg) && mapped_program_cut_off(&r->mapped, r->t, result))
			return mapped_program_changed;
		if (call_cuts_off(m->number, m->arg))
			mapped_cut_off(&r->mapped, r->log, result);
		return NULL;
	}
}

void
record_end_call(struct recorder *r)
{
	int64_t result = (int64_t)tracee_word(r->t, r->t->machine->result);
	const char *why;

	if (record_wait_again(r, result))
		return;
	r->task->in_call = false;
	if (!set_right(r, &result))
		return;
	if (is_interrupted(result) && r->made->call.class != CALL_RESUME)
		r->task->interrupted_call = r->made->call;
	if (r->made->call.class == CALL_RETURN)
		result = 0;
	if (r->made->number == SYS_sched_getaffinity)
		hide_bound(r, result);
	if (opens_status(r, result))
		record_unbind(r);
	put_call(r, result);
	why = put_changes(r, result);
	if (why)
		record_refuse(r, r->made->call.name, why);
	else if (r->made->call.class == CALL_MAP && succeeded(result))
		nondet_mapped(r, r->made->arg, (uint64_t)result);
	r->task->known = tracee_sum(r->t);
	r->task->handled = r->made->call.class == CALL_RETURN;
	r->task->rests = true;
	forced_end_call(r, result);
	if (r->made->number == SYS_sched_yield)
		schedule_yield(&r->turns);
	buffer_learn(r, result);
}

void
record_enter(struct recorder *r)
{
	if (!r->task->entered) {
		record_event(r, LOG_ENTER);
		record_made(r);
	}
	r->task->entered = r->task->rests = true;
}

/* ---- threads, processes, programs ---- */

/* Logs what the kernel has written before the new task runs: into the task's memory and into its parent's. */
static void
put_birth(struct recorder *r, const struct birth *b, struct task *child)
{
	pieces written = {0};

	add_number(&written, b->flags & CLONE_PARENT_SETTID, b->parent_tid);
	add_number(&written, b->flags & CLONE_PIDFD, b->pidfd);
	put_pieces(r, &written);
	written.n = 0;
	add_number(&written, b->flags & CLONE_CHILD_SETTID, b->child_tid);
	r->t = &child->t;
	put_pieces(r, &written);
	r->t = &r->task->t;
	free(written.at);
}

/* A call has begun another task, and is not over yet. */
void
record_birth(struct recorder *r)
{
	const struct birth *b = &r->task->birth;
	struct task *child;
	struct tracee t;
	unsigned long tid;

	/* The task has been killed meanwhile: that is reported next. */
	if (ptrace(PTRACE_GETEVENTMSG, r->t->pid, 0, &tid))
		return;
	record_enter(r);
	buffer_born(r, b->flags);
	if (!schedule_join(&r->turns, &t, (pid_t)tid, r->t->machine)) {
		record_refuse(r, r->file, "a process that it has begun was killed before it ran");
		if (tracee_stop(&t) != STOP_ENDED)
			ptrace(PTRACE_DETACH, t.pid, 0, 0);
		return;
	}
	held_born(r, &t);
	child = tasks_born(&r->all, r->task, b, &t);
	if (b->flags & CLONE_VM)
		tracee_stop_at_end(&child->t, false);
	child->known = tracee_sum(&t);
	record_event(r, LOG_BIRTH);
	log_put(r->log, b->flags & ~(uint64_t)CSIGNAL);
	log_put(r->log, b->stack);
	log_put(r->log, b->tls);
	log_put(r->log, child->known);
	put_birth(r, b, child);
	if (!tracee_has_room(t.mem))
		record_refuse(r, r->file, "there are too few descriptors for what it begins");
}

void
record_exec(struct recorder *r)
{
	struct task *task = r->task;
	const char *why;
	enum stop stop;

	group_leave_to(&r->all, task);
	task_renew(task);
	r->clock = task->group->space->clock;
	stop = tracee_open_memory(r->t) ? tracee_go(r->t, PTRACE_SYSCALL, 0) : STOP_ENDED;
	task->in_call = false;
	if (stop != STOP_CALL) {
		task->state = TASK_STOPPED;
		return;
	}
	if (!tracee_own_call(r->t)) {
		record_refuse(r, task->exec.file, "a program of 32 bits cannot be recorded");
		return;
	}
	why = start_cannot(r->t, task->pool, &task->exec);
	if (why) {
		record_refuse_here(r, task->exec.file, why);
		return;
	}
	record_event(r, LOG_EXEC);
	record_made(r);
	why = start_record(r->log, task->pool, r->t, &task->exec);
	if (why)
		record_refuse(r, task->exec.file, why);
	else
		nondet_begun(r);
	forced_begun(r);
	task->known = tracee_sum(r->t);
	task->handled = false;
	task->rests = true;
}

/* Adds the locks that the thread holds: the kernel marks them when the thread ends (set_robust_list(2)). */
static void
add_locks(const struct task *task, pieces *to)
{
	enum { MOST = 2048 };
	struct { uint64_t next; int64_t offset; uint64_t pending; } head;
	uint64_t at;

	if (!task->robust || !tracee_read(&task->t, task->robust, &head, sizeof head))
		return;
	at = head.next & ~1ull;
	for (int i = 0; i < MOST && at != task->robust; i++) {
		add_number(to, true, at + (uint64_t)head.offset);
		if (!tracee_read(&task->t, at, &at, sizeof at))
			break;
		at &= ~1ull;
	}
	if (head.pending)
		add_number(to, true, (head.pending & ~1ull) + (uint64_t)head.offset);
}

/* Notes how the kernel will mark the locks that this thread holds, for the next owner (robust futexes). */
static void
note_locks_of(struct recorder *r, const struct task *task)
{
	pieces locks = {0};
	uint32_t was;

	add_locks(task, &locks);
	for (size_t i = 0; i < locks.n; i++)
		if (tracee_read(&task->t, locks.at[i].addr, &was, sizeof was) && (was & FUTEX_TID_MASK) == (uint32_t)task->tid)
			VEC_PUSH(r->locks, (struct marked_lock){locks.at[i].addr, (was & FUTEX_WAITERS) | FUTEX_OWNER_DIED});
	free(locks.at);
}

void
record_note_locks(struct recorder *r)
{
	const struct group *g = r->task->group;

	r->locks.n = 0;
	for (size_t i = 0; g->space->users == 1 && i < r->all.at.n; i++)
		if (r->all.at.at[i]->group == g && r->all.at.at[i]->t.pid > 0)
			note_locks_of(r, r->all.at.at[i]);
}

/* The memory of a process that has ended cannot be read any more. Others may share the part of it that has such locks. */
static void
put_locks(struct recorder *r)
{
	log_put(r->log, r->locks.n);
	for (size_t i = 0; i < r->locks.n; i++) {
		log_put(r->log, r->locks.at[i].addr);
		log_put_bytes(r->log, &r->locks.at[i].is, sizeof r->locks.at[i].is);
	}
	r->locks.n = 0;
}

/* Logs what the kernel has written when the task ended. seen: its memory is still there, and others use it. */
static void
put_last(struct recorder *r, bool seen)
{
	pieces written = {0};

	if (!seen) {
		put_locks(r);
		return;
	}
	add_number(&written, true, r->task->clear);
	add_locks(r->task, &written);
	put_pieces(r, &written);
	free(written.at);
	r->locks.n = 0;
}

/* All other threads of the process end, too. After that the kernel says how the first one ended. */
static int
await_end(struct recorder *r, const struct group *g)
{
	struct task *first = NULL;

	for (size_t i = 0; i < r->all.at.n; i++) {
		struct task *task = r->all.at.at[i];

		if (task->group == g && task->tid == g->pid)
			first = task;
		while (task->group == g && task->tid != g->pid && task->t.pid > 0)
			tracee_await(&task->t);
	}
	while (first->t.pid > 0)
		tracee_await(&first->t);
	return first->t.status;
}

void
record_end(struct recorder *r)
{
	struct group *g = r->task->group;
	bool call = r->task->in_call && r->made->call.class == CALL_END;
	int status;

	if (WIFEXITED(r->t->status) && call && r->made->number == SYS_exit && g->living > 1) {
		record_event(r, LOG_END);
		record_made(r);
		put_last(r, true);
		task_end(&r->all, r->task);
	} else {
		status = await_end(r, g);
		record_event(r, LOG_EXIT);
		log_put(r->log, (uint64_t)status);
		log_put(r->log, call && WIFEXITED(status));
		if (call && WIFEXITED(status))
			record_made(r);
		put_last(r, g->space->users > 1);
		if (g->first)
			r->status = status;
		group_end(&r->all, g);
	}
	r->task = r->turns.now = NULL;
}
