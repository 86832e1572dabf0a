/* SPDX-License-Identifier: MIT */
/* Recording system calls without a stop. Where the program has made some that wait for nothing, it is led to code that makes them
 * and writes down what they gave (machine_door); the recorder takes that at the next event. All other calls are stopped by SIGSYS
 * (system call user dispatch, prctl(2)) as long as the task runs free, and are seen as ever then. In a replay other code gives
 * what was written down; if somebody looks on, the program's code stays as it is, and each of these calls is an event. */
#include "replay/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A place is led elsewhere when the calls that were seen there weigh so much. Those that arrange memory weigh less: loaders make
 * some before anything else is called often. */
enum { WEIGHT_LED = 24, WEIGHT = 8, WEIGHT_MEMORY = 1 };
enum { PLAIN_MOST = 64, SIZE = DOOR_CODE + DOOR_DATA + 2 * DOOR_RING, DISPATCHED = 2 };
/* With so much written down it goes on in the other room where it finds no more in this one. */
enum { MUCH = DOOR_RING / 4 };

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x100
#endif

struct site {
	uint64_t at, stub;       /* stub: 0: it is as ever */
	unsigned weight;         /* of calls that were seen */
};

struct buffer {
	uint64_t base;           /* 0: there is none yet */
	VEC(struct site) site;
	size_t stubs;
	uint8_t control[2];      /* as the memory has it: blocks, closed */
	uint8_t room;            /* recording: 0 or 1: which is filled */
	bool taken;              /* nothing has been written down since it was last looked at */
	bool shut;               /* it cannot be */
	bool hidden;             /* replay: the program's code is as ever */
	uint8_t stream[DOOR_FILES]; /* of the descriptors to which it may write: which standard stream that is */
};

/* ---- which calls ---- */

enum { STAT = 144, STATX = 256, TIME = 16, TERMIOS = 36, ACTION = 32 };

#define MAY(name, ...) {SYS_##name, DOOR_CALL(__VA_ARGS__)}
#define MAY_NOT_WRITE(name) MAY(name, 0, 0, 0, 0)

/* None waits, ends anything that does, or is of consequence for what the recorder knows. */
static const struct { uint16_t number; uint64_t how; } may[] = {
	MAY(read, DOOR_FILE | DOOR_RESULT, 1, 2, 0), MAY(pread64, DOOR_FILE | DOOR_RESULT, 1, 2, 0),
	MAY(close, DOOR_CLOSES, 0, 0, 0),
	MAY(write, DOOR_OUTPUT | DOOR_RESULT, 1, 2, 0), MAY(pwrite64, DOOR_OUTPUT | DOOR_RESULT, 1, 2, 0),
	MAY(openat, DOOR_OPENS, 0, 0, 0), MAY(fcntl, DOOR_ASKS, 0, 0, 0), MAY_NOT_WRITE(lseek),
	MAY(stat, 0, 1, 0, STAT), MAY(lstat, 0, 1, 0, STAT), MAY(fstat, 0, 1, 0, STAT), MAY(newfstatat, 0, 2, 0, STAT),
	MAY(statx, 0, 4, 0, STATX), MAY_NOT_WRITE(access), MAY_NOT_WRITE(faccessat), MAY_NOT_WRITE(faccessat2),
	MAY(readlink, DOOR_RESULT, 1, 2, 0), MAY(readlinkat, DOOR_RESULT, 2, 3, 0), MAY(getcwd, DOOR_RESULT, 0, 1, 0),
	MAY(getdents64, DOOR_RESULT, 1, 2, 0), MAY(getdents, DOOR_RESULT, 1, 2, 0), MAY_NOT_WRITE(chdir), MAY_NOT_WRITE(fchdir),
	MAY_NOT_WRITE(unlink), MAY_NOT_WRITE(unlinkat), MAY_NOT_WRITE(mkdir), MAY_NOT_WRITE(mkdirat), MAY_NOT_WRITE(rmdir),
	MAY_NOT_WRITE(rename), MAY_NOT_WRITE(renameat), MAY_NOT_WRITE(renameat2), MAY_NOT_WRITE(link), MAY_NOT_WRITE(linkat),
	MAY_NOT_WRITE(symlink), MAY_NOT_WRITE(symlinkat), MAY_NOT_WRITE(chmod), MAY_NOT_WRITE(fchmod), MAY_NOT_WRITE(fchmodat),
	MAY_NOT_WRITE(umask), MAY_NOT_WRITE(fadvise64), MAY(ioctl, DOOR_TERMINAL, 2, 0, TERMIOS),
	MAY(rt_sigaction, DOOR_HANDLES, 2, 0, ACTION),
	MAY(mmap, DOOR_ANONYMOUS, 0, 0, 0), MAY_NOT_WRITE(munmap), MAY_NOT_WRITE(mprotect), MAY_NOT_WRITE(brk),
	MAY(clock_gettime, 0, 1, 0, TIME), MAY(clock_getres, 0, 1, 0, TIME), MAY(gettimeofday, DOOR_ALONE, 0, 0, TIME),
	MAY(time, 0, 0, 0, 8), MAY(getrusage, 0, 1, 0, STAT), MAY(times, 0, 0, 0, 32),
	MAY_NOT_WRITE(getpid), MAY_NOT_WRITE(getppid), MAY_NOT_WRITE(gettid), MAY_NOT_WRITE(getuid), MAY_NOT_WRITE(geteuid),
	MAY_NOT_WRITE(getgid), MAY_NOT_WRITE(getegid), MAY_NOT_WRITE(getpgrp), MAY_NOT_WRITE(getpgid), MAY_NOT_WRITE(getsid),
};

static bool
may_be_free(uint64_t number)
{
	for (size_t i = 0; i < sizeof may / sizeof *may; i++)
		if (may[i].number == number)
			return true;
	return false;
}

bool
arranges_memory(uint64_t number)
{
	return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect || number == SYS_brk;
}

bool
is_output(uint64_t number)
{
	return number == SYS_write || number == SYS_pwrite64;
}

/* Descriptors may be others behind it. */
static bool
moves_files(uint64_t number)
{
	return number == SYS_close || number == SYS_close_range || number == SYS_dup2 || number == SYS_dup3 ||
	       number == SYS_unshare;
}

/* ---- the memory ---- */

static uint64_t
data_at(const struct buffer *b, size_t offset)
{
	return b->base + DOOR_CODE + offset;
}

static uint64_t
room_at(const struct buffer *b)
{
	return data_at(b, DOOR_DATA + b->room * (size_t)DOOR_RING);
}

static uint64_t
stub_at(const struct buffer *b, uint64_t i)
{
	return b->base + DOOR_INNER + i * DOOR_STUB;
}

static bool
is_inside(const struct buffer *b, uint64_t pc)
{
	return b && b->base && pc - b->base < DOOR_INNER;
}

static struct buffer *
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

static void
control(struct buffer *b, struct tracee *t, bool blocks, bool closed)
{
	uint8_t now[2] = {blocks, closed};

	if (!memcmp(now, b->control, sizeof now) || !tracee_write(t, data_at(b, 0), now, sizeof now))
		return;
	memcpy(b->control, now, sizeof now);
}

/* Makes a call of its own in the program. */
static int64_t
call(struct tracee *t, uint64_t number, const uint64_t arg[6])
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

static bool
map_at(struct tracee *t, uint64_t at, uint64_t n, int prot)
{
	const uint64_t arg[6] = {at, n, (uint64_t)prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
	                         (uint64_t)-1, 0};

	return call(t, SYS_mmap, arg) == (int64_t)at;
}

/* Two mappings; data: with what stands in it at first. */
static bool
make(struct buffer *b, struct tracee *t, uint64_t base, const uint8_t *code, const uint8_t *end, const struct door_data *data)
{
	if (!map_at(t, base, DOOR_CODE, PROT_READ | PROT_EXEC) ||
	    !map_at(t, base + DOOR_CODE, DOOR_DATA + 2 * DOOR_RING, PROT_READ | PROT_WRITE))
		return false;
	b->base = base;
	b->stubs = 0;
	return tracee_write(t, base, code, (size_t)(end - code)) && tracee_write(t, data_at(b, 0), data, sizeof *data);
}

/* ---- recording: the places ---- */

/* Where the kernel puts nothing by itself, and neither the stack nor the heap grow to: above the highest mapping below the stack,
 * or below the lowest. 0: none close enough. */
static uint64_t
find_room(const struct tracee *t, uint64_t site)
{
	enum { APART = 1 << 16, STACK_APART = 1 << 26 };
	struct pool *pool = pool_new();
	const char *line = tracee_proc(t, pool, "maps");
	uint64_t start, end, last = 0, lowest = UINT64_MAX, reach = t->machine->door->reach, above = 0, below;
	struct rlimit stack = {0};

	prlimit(t->pid, RLIMIT_STACK, NULL, &stack);
	for (; line && *line; line = strchr(line, '\n') + 1) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		if (start < lowest)
			lowest = start;
		if (!strncmp(line + strcspn(line, "[\n"), "[stack]", 7) && stack.rlim_cur < end - last &&
		    end - last - stack.rlim_cur > STACK_APART + SIZE)
			above = last + APART;
		last = end;
	}
	pool_free(pool);
	below = lowest != UINT64_MAX && lowest > SIZE + 3 * APART ? (lowest - SIZE - APART) & ~(uint64_t)(APART - 1) : 0;
	if (above && above + SIZE - site < reach)
		return above;
	return below && site - below < reach ? below : 0;
}

/* Has the program anything to do with SIGSYS itself? */
static bool
minds_signal(const struct tracee *t, struct pool *pool, const char *set)
{
	const char *text = tracee_proc(t, pool, "status"), *line = text ? strstr(text, set) : NULL;

	return !line || strtoull(line + strlen(set), NULL, 16) >> (SIGSYS - 1) & 1;
}

static bool
set_up(struct recorder *r, struct buffer *b, uint64_t site)
{
	const struct machine_door *door = r->t->machine->door;
	uint64_t base = find_room(r->t, site);
	struct door_data data = {.closed = true, .ring = base + DOOR_CODE + DOOR_DATA};

	for (size_t i = 0; i < sizeof may / sizeof *may; i++)
		if (may[i].number < DOOR_CALLS)
			data.call[may[i].number] = may[i].how;
	if (!base || minds_signal(r->t, r->task->pool, "SigIgn:") || minds_signal(r->t, r->task->pool, "SigCgt:") ||
	    !make(b, r->t, base, door->record, door->record_end, &data)) {
		b->base = 0;
		return false;
	}
	b->control[1] = true;
	record_event(r, LOG_DOOR);
	log_put(r->log, base);
	return true;
}

/* What is left of padding stays such. */
static bool
put_padded(struct tracee *t, const struct piece *pad, const uint8_t *code, size_t n)
{
	uint8_t all[PADDING_MOST];

	if (pad->n > sizeof all || pad->n < n)
		return false;
	memset(all, t->machine->door->nop, pad->n);
	memcpy(all, code, n);
	return tracee_write(t, pad->addr, all, pad->n);
}

/* The call at the site goes to a stub from here on. */
static bool
lead(struct buffer *b, struct tracee *t, uint64_t site, const struct site_way *way)
{
	const struct machine_door *door = t->machine->door;
	uint8_t stub[DOOR_STUB], code[16];
	uint64_t at = stub_at(b, b->stubs);
	const struct piece *last = &way->pad[way->n - 1];
	bool ok;

	door->stub(at, b->base, site, stub);
	if (!tracee_write(t, at, stub, sizeof stub))
		return false;
	b->stubs++;
	if (b->hidden)
		return true;
	door->jump(last->addr, at, code);
	ok = put_padded(t, last, code, door->jump_size);
	for (const struct piece *p = last; ok && p > way->pad; p--) {
		door->hop(p[-1].addr, p->addr, code);
		ok = put_padded(t, p - 1, code, door->hop_size);
	}
	door->hop(site, way->pad[0].addr, code);
	return ok && tracee_write(t, site, code, door->hop_size);
}

static bool
is_near(const struct buffer *b, const struct tracee *t, uint64_t site)
{
	uint64_t reach = t->machine->door->reach;

	return site - b->base + reach < 2 * reach;
}

static void
lead_hot(struct recorder *r, struct buffer *b, struct site *s)
{
	struct site_way way;
	uint64_t count;
	bool found = !clock_at(r->clock, s->at, &count) && site_find(r->t, s->at, &way);

	if (found && !b->base)
		b->shut = !set_up(r, b, s->at);
	if (!found || b->shut || b->stubs == DOOR_STUBS || !is_near(b, r->t, s->at))
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
	if (!lead(b, r->t, s->at, &way))
		record_refuse(r, r->file, "its code cannot be written");
}

/* The task's calls are stopped elsewhere from here on. */
static void
dispatch(struct recorder *r, struct buffer *b)
{
	const uint64_t arg[6] = {PR_SET_SYSCALL_USER_DISPATCH, 1, b->base, DOOR_INNER, data_at(b, 0)};

	r->task->masked = minds_signal(r->t, r->task->pool, "SigBlk:");
	r->task->free = !call(r->t, SYS_prctl, arg);
	b->shut |= !r->task->free;
}

static struct site *
site_of(struct buffer *b, uint64_t at)
{
	for (size_t i = 0; i < b->site.n; i++)
		if (b->site.at[i].at == at)
			return &b->site.at[i];
	VEC_PUSH(b->site, (struct site){.at = at});
	return &b->site.at[b->site.n - 1];
}

/* ---- recording: output ---- */

static void
forget_outputs(const struct buffer *b, struct tracee *t)
{
	static const uint8_t none[DOOR_FILES / 8];

	tracee_write(t, data_at(b, offsetof(struct door_data, output)), none, sizeof none);
}

/* The same of pipes. */
static void
forget_streams(const struct buffer *b, struct tracee *t)
{
	static const uint8_t none[2 * (DOOR_FILES / 8)];

	forget_outputs(b, t);
	tracee_write(t, data_at(b, offsetof(struct door_data, pipe_from)), none, sizeof none);
}

void
buffer_forget_outputs(struct recorder *r)
{
	for (size_t i = 0; i < r->all.at.n; i++) {
		struct task *task = r->all.at.at[i];
		const struct buffer *b = task->group->space->buffer;

		if (b && b->base && task->t.pid > 0)
			forget_outputs(b, &task->t);
	}
}

/* Is it a file, and does writing to it wait for nothing, cause no signal, and change nothing that is mapped? */
static bool
is_plain_file(struct recorder *r, uint64_t fd)
{
	struct rlimit limit;
	struct statfs system;
	struct stat st;
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/fd/%d", r->t->pid, (int)fd);
	return descriptor_stat(r->t, fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && !mapped_shows(&r->mapped, &st) &&
	       !statfs(name, &system) && system.f_type != PROC_SUPER_MAGIC && system.f_type != SYSFS_MAGIC &&
	       !prlimit(r->t->pid, RLIMIT_FSIZE, NULL, &limit) && limit.rlim_cur == RLIM_INFINITY;
}

static bool
is_pipe(struct recorder *r, uint64_t fd)
{
	struct stat st;

	return descriptor_stat(r->t, fd, &st) && S_ISFIFO(st.st_mode);
}

/* Can the kernel write to a pipe without waiting, and without a signal if nobody reads it? */
static bool
writes_pipes(void)
{
	static int can = -1;
	struct iovec one = {"", 1};
	int end[2];

	if (can >= 0)
		return can;
	if (pipe2(end, O_CLOEXEC))
		return false;
	can = syscall(SYS_pwritev2, end[1], &one, 1ul, -1l, -1l, RWF_NOWAIT | RWF_NOSIGNAL) == 1;
	close(end[0]);
	close(end[1]);
	return can;
}

/* The descriptor's bit in one of those sets. */
static bool
set_bit(struct recorder *r, const struct buffer *b, size_t set, uint64_t fd)
{
	uint64_t at = data_at(b, set + fd / 8);
	uint8_t bits;

	if (!tracee_read(r->t, at, &bits, 1))
		return false;
	bits |= (uint8_t)(1 << fd % 8);
	return tracee_write(r->t, at, &bits, 1);
}

/* It has written to a descriptor, and had a stop. False: so will it the next time. What is written down of output must not be lost,
 * so it has to be seen when the program ends. */
static bool
learn_output(struct recorder *r, struct buffer *b, int64_t result)
{
	uint64_t fd = (uint32_t)r->made->arg[0];
	bool pipe;

	if (fd >= DOOR_FILES || result <= 0 || r->task->group->living > 1)
		return false;
	pipe = is_pipe(r, fd);
	if (pipe ? !writes_pipes() : !is_plain_file(r, fd))
		return false;
	if (!b->base)
		return true;
	b->stream[fd] = (uint8_t)stream_of(r->t, (int)fd);
	tracee_stop_at_end(r->t, true);
	return set_bit(r, b, pipe ? offsetof(struct door_data, pipe_to) : offsetof(struct door_data, output), fd);
}

/* It has read, with a stop. */
static void
learn_input(struct recorder *r, const struct buffer *b)
{
	uint64_t fd = (uint32_t)r->made->arg[0];

	if (b->base && fd < DOOR_FILES && r->task->group->living == 1 && is_pipe(r, fd))
		set_bit(r, b, offsetof(struct door_data, pipe_from), fd);
}

/* ---- recording: the calls that were seen ---- */

/* What it has done that concerns calls without a stop. */
static void
note_call(struct recorder *r, struct buffer *b)
{
	static const uint8_t none[DOOR_FILES / 8];
	const struct made_call *m = r->made;

	if (b->base && moves_files(m->number)) {
		tracee_write(r->t, data_at(b, offsetof(struct door_data, regular)), none, sizeof none);
		forget_streams(b, r->t);
	}
	if (m->number == SYS_setrlimit || m->number == SYS_prlimit64)
		buffer_forget_outputs(r);
	if (m->number == SYS_rt_sigaction && m->arg[0] == SIGSYS && m->arg[1])
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

	if (!r->buffers || !r->t->machine->door)
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
	if (b->base && at - stub_at(b, 0) < DOOR_CODE - DOOR_INNER) {
		if (!r->task->free)
			dispatch(r, b);
		return;
	}
	s = site_of(b, at);
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

/* ---- recording: on the way ---- */

int
buffer_request(struct task *task, bool seen)
{
	struct buffer *b = task->group->space->buffer;
	bool inside = is_inside(b, tracee_word(&task->t, task->t.machine->pc)), open;

	if (!b || !b->base || task->in_call)
		return PTRACE_SYSCALL;
	open = task->free && !b->shut && !task->masked && !task->seen && !task->plain && !seen && task->group->space->users == 1;
	control(b, &task->t, open || inside, !open);
	b->taken &= !open;
	task->runs_free = open || inside;
	return task->runs_free ? PTRACE_CONT : PTRACE_SYSCALL;
}

/* Calls that arrange memory come back at once, whatever signals there are. */
static bool
comes_back(const struct recorder *r)
{
	return !r->task->waits && !r->task->interrupted &&
	       arranges_memory(tracee_word(r->t, r->t->machine->result));
}

/* At a stop by SIGSYS, from which its call has been put off: it is made by one step, and seen as if it had been stopped at. False:
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
	control(r->task->group->space->buffer, r->t, false, true);
	stop = tracee_go(r->t, PTRACE_SINGLESTEP, 0);
	if (stop != STOP_SIGNAL || tracee_signal(r->t) != SIGTRAP || tracee_word(r->t, machine->pc) != pc) {
		r->task->in_call = false;
		r->task->state = TASK_STOPPED;
		return false;
	}
	machine->door->stepped(&r->t->regs);
	tracee_set(r->t, &r->t->regs);
	record_end_call(r);
	return true;
}

/* Has it found no room? Then it goes on in the other one, with the same call, and this one is taken over meanwhile. pc: of the
 * stub's own call. */
static bool
change_rooms(struct recorder *r, uint64_t pc)
{
	struct buffer *b = r->task->group->space->buffer;
	uint64_t stub = pc - r->t->machine->door->traced, fill_at = data_at(b, offsetof(struct door_data, fill)), none = 0, next;
	struct piece full = {.addr = room_at(b)};

	if (stub - stub_at(b, 0) >= DOOR_CODE - DOOR_INNER || (stub - stub_at(b, 0)) % DOOR_STUB || b->control[1] ||
	    !tracee_read(r->t, fill_at, &full.n, sizeof full.n) || full.n < MUCH || full.n > DOOR_RING)
		return false;
	b->room ^= 1;
	next = room_at(b);
	if (!tracee_write(r->t, fill_at, &none, sizeof none) ||
	    !tracee_write(r->t, data_at(b, offsetof(struct door_data, ring)), &next, sizeof next)) {
		b->room ^= 1;
		return false;
	}
	r->full = full;
	r->task->waste = 0;
	r->t->regs.word[r->t->machine->pc] = stub;
	tracee_set(r->t, &r->t->regs);
	return true;
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

	if (!task->free || tracee_signal(r->t) != SIGSYS || ptrace(PTRACE_GETSIGINFO, r->t->pid, 0, &info) ||
	    info.si_code != DISPATCHED)
		return false;
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
	/* A stop more than as ever is worth it if calls have been made without one. */
	task->waste = task->fresh ? 0 : task->waste ? task->waste * 2 : 1;
	if (task->waste > PLAIN_MOST)
		task->waste = PLAIN_MOST;
	task->plain = task->waste ? task->waste + 1 : 0;
	task->fresh = 0;
	return true;
}

bool
buffer_awaits_stop(struct recorder *r)
{
	return r->task->runs_free && minds_signal(r->t, r->task->pool, "SigPnd:");
}

static void
put_entry(struct recorder *r, const struct buffer *b, const struct door_entry *e)
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
		log_put(r->log, e->result > 0 ? b->stream[e->arg[0] % DOOR_FILES] : 0);
		log_put(r->log, bytes_sum(e + 1, e->n));
	}
	r->task->fresh++;
	r->made_free++;
}

/* Those that are in n bytes of a room. */
static void
put_entries(struct recorder *r, const struct buffer *b, uint64_t at, uint64_t n)
{
	const char *ring;

	if (!r->written)
		r->written = xmalloc(DOOR_RING);
	ring = r->written;
	if (!tracee_read(r->t, at, r->written, n)) {
		/* Its memory may be gone with it. */
		if (tracee_doing(r->t) && !strchr("ZX", tracee_doing(r->t)))
			record_refuse(r, r->file, "it has unmapped where its system calls are written down");
		return;
	}
	for (uint64_t i = 0; i + sizeof(struct door_entry) <= n;) {
		struct door_entry e;

		memcpy(&e, ring + i, sizeof e);
		if (e.size < sizeof e || e.size > n - i || e.n > e.size - sizeof e) {
			record_refuse(r, r->file, "it has written where its system calls are written down");
			break;
		}
		put_entry(r, b, (const struct door_entry *)(const void *)(ring + i));
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
	/* Outside of the code nothing more is written down before it goes on. */
	b->taken = b->control[1] || !is_inside(b, tracee_word(r->t, r->t->machine->pc));
	fill_at = data_at(b, offsetof(struct door_data, fill));
	if (!tracee_read(r->t, fill_at, &fill, sizeof fill) || !fill || fill > DOOR_RING)
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

/* What it writes has been written, and the next instruction is not executed. */
void
buffer_end(struct recorder *r)
{
	const struct buffer *b = r->task->group->space->buffer;
	struct door_entry *e;
	uint64_t at;
	int64_t result;

	buffer_flush(r);
	if (!b || !b->base || !r->t->machine->door->unfinished(&r->t->regs, b->base, &at, &result))
		return;
	e = xmalloc(sizeof *e + DOOR_RING);
	result = 0;
	if (tracee_read(r->t, at, e, sizeof *e) && is_output(e->number)) {
		result = e->result;
		r->t->machine->door->unfinished(&r->t->regs, b->base, &at, &result);
		e->to = e->arg[1];
		e->n = result > 0 && result <= DOOR_RING ? (uint64_t)result : 0;
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
	       (tracee_read(r->t, data_at(b, offsetof(struct door_data, fill)), &fill, sizeof fill) && !fill &&
	        !is_inside(b, tracee_word(r->t, r->t->machine->pc)));
}

/* Signals that come meanwhile stay pending. */
static void
leave_inside(const struct buffer *b, struct tracee *t)
{
	uint64_t all = UINT64_MAX, mask;

	if (!is_inside(b, tracee_word(t, t->machine->pc)) || ptrace(PTRACE_GETSIGMASK, t->pid, sizeof mask, &mask) ||
	    ptrace(PTRACE_SETSIGMASK, t->pid, sizeof all, &all))
		return;
	while (is_inside(b, tracee_word(t, t->machine->pc)) && tracee_go(t, PTRACE_SINGLESTEP, 0) != STOP_ENDED)
		;
	if (t->pid)
		ptrace(PTRACE_SETSIGMASK, t->pid, sizeof mask, &mask);
}

void
buffer_complete(struct recorder *r)
{
	const struct buffer *b = r->task->group->space->buffer;
	int sig = tracee_signal(r->t);
	siginfo_t info;

	/* The signal is delivered when it goes on. */
	if (is_inside(b, tracee_word(r->t, r->t->machine->pc)) && !ptrace(PTRACE_GETSIGINFO, r->t->pid, 0, &info) &&
	    !tracee_caused(sig, &info))
		leave_inside(b, r->t);
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
	leave_inside(b, r->t);
	control(b, r->t, false, true);
	if (r->task->free && r->t->pid)
		call(r->t, SYS_prctl, off);
	r->task->free = r->task->runs_free = false;
}

/* ---- replaying ---- */

bool
buffer_make(struct task *task, uint64_t base, bool hidden)
{
	const struct machine_door *door = task->t.machine->door;
	struct door_data data = {0};
	struct buffer *b = buffer_of(task);

	if (!door || b->base || base % 4096 || base > INT64_MAX || !base)
		return false;
	b->hidden = hidden;
	if (!make(b, &task->t, base, door->replay, door->replay_end, &data))
		return false;
	task->t.makes = base + (uint64_t)(door->makes - door->replay);
	return true;
}

bool
buffer_lead(struct task *task, uint64_t site, const struct site_way *way)
{
	struct buffer *b = buffer_of(task);
	const struct machine_traced *machine = task->t.machine;
	uint8_t code[16];
	struct site *s;

	if (!b->base || b->stubs == DOOR_STUBS || !way->n || !is_near(b, &task->t, site) ||
	    !tracee_read(&task->t, site, code, machine->call_size) || memcmp(code, machine->call, machine->call_size))
		return false;
	s = site_of(b, site);
	s->stub = stub_at(b, b->stubs);
	return lead(b, &task->t, site, way);
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
			machine->door->as_call(&regs, pc, b->site.at[i].stub + machine->door->traced + machine->call_size);
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
			return b->site.at[i].stub + machine->door->traced;
	return at;
}

bool
buffer_is_given(const struct task *task)
{
	const struct buffer *b = task->group->space->buffer;
	uint64_t at[2];

	return !b || !b->base || b->hidden ||
	       (tracee_read(&task->t, data_at(b, offsetof(struct door_data, fill)), at, sizeof at) && at[0] == at[1]);
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

	return n <= DOOR_RING && tracee_write(&task->t, data_at(b, DOOR_DATA), calls, n) &&
	       tracee_write(&task->t, data_at(b, offsetof(struct door_data, fill)), at, sizeof at);
}
