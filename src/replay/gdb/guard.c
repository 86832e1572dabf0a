/* SPDX-License-Identifier: MIT */
/* Memory that somebody watches and the processor's registers do not: while the program runs, its pages are read-only (if reads are
 * watched, not accessible), so that an access faults, and that instruction is stepped. A fault takes as long as some steps. So now
 * and then a row of steps tells how often the pages are accessed, and if that is too often, all instructions are stepped. */
#include "replay/gdb/gdb.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAGES = 16,              /* so many can be guarded at a time */
	SAMPLE = 64,             /* steps that tell how often pages are accessed */
	STEPS = 6,               /* an access to a guarded page takes as long as so many steps */
	TRUST = 256,             /* after guarding so often one looks again */
	FAILED = 1 << 16,        /* steps after which it is tried again, if pages could not be guarded */
};

static bool
is_unwatched(const struct condition *c)
{
	return c->watch && !c->slots;
}

static bool
is_guarded(const struct debugger *d, uint64_t page)
{
	for (size_t i = 0; i < d->guard.n; i++)
		if (d->guard.at[i].page == page)
			return true;
	return false;
}

/* What the program may do with guarded pages. */
static int
allowed(const struct debugger *d)
{
	for (size_t i = 0; i < d->condition.n; i++)
		if (is_unwatched(&d->condition.at[i]) && d->condition.at[i].reads)
			return PROT_NONE;
	return PROT_READ | PROT_EXEC;
}

/* Finds the mapping that has the page, or else the next one behind it. */
static bool
find_mapping(const char **maps, uint64_t page, struct maps_line *m)
{
	while (maps_next(maps, m))
		if (page < m->end)
			return true;
	return false;
}

/* A page that no mapping has gets one between two events only if the mapping behind it grows down to it, as a stack does. */
static bool
may_grow(const struct debugger *d, uint64_t page)
{
	struct pool *pool = pool_new();
	const char *maps = tracee_proc(d->r.t, pool, "smaps"), *flags;
	struct maps_line m;
	bool grows = !maps;

	if (find_mapping(&maps, page, &m)) {
		flags = strstr(maps, "\nVmFlags:");
		grows = !flags || memmem(flags + 1, strcspn(flags + 1, "\n"), " gd", 3);
	}
	pool_free(pool);
	return grows;
}

/* A stack that the thread is on is accessed all the time, and the first thread's grows. Code has to stay where it can run. */
static bool
can_guard(const struct debugger *d, const struct maps_line *m, int *prot)
{
	uint64_t sp = tracee_word(d->r.t, d->r.t->machine->sp);

	if (m->mode[1] != 'w')
		return false;
	*prot = (m->mode[0] == 'r' ? PROT_READ : 0) | PROT_WRITE | (m->mode[2] == 'x' ? PROT_EXEC : 0);
	return !(m->start <= sp && sp < m->end) && !str_is(m->name, "[stack]") &&
	       (!(*prot & PROT_EXEC) || allowed(d) & PROT_EXEC);
}

/* Does each access fault anyhow? Breakpoints are in code whatever the program may do with it. */
static bool
guards_itself(const struct debugger *d, const struct maps_line *m)
{
	return m->mode[2] != 'x' && m->mode[1] != 'w' && (m->mode[0] != 'r' || allowed(d) & PROT_READ);
}

static bool
guard_page(struct debugger *d, const struct maps_line *m, uint64_t page, uint64_t size)
{
	int prot = 0;

	if (is_guarded(d, page) || guards_itself(d, m))
		return true;
	if (!can_guard(d, m, &prot) || d->guard.n == PAGES)
		return false;
	VEC_PUSH(d->guard, (struct guarded){page, size, prot});
	return true;
}

/* A page that the program cannot access, or that is not there, needs no guard. Shared memory may be at several addresses of the
 * process, and then each needs one. */
static bool
find_page(struct debugger *d, const char *maps, uint64_t page, uint64_t size)
{
	const char *rest = maps;
	struct maps_line m, other;
	uint64_t at;
	bool ok = true;

	if (!find_mapping(&rest, page, &m) || page < m.start)
		return !may_grow(d, page);
	if (m.mode[3] == 'p')
		return guard_page(d, &m, page, size);
	at = m.offset + (page - m.start);
	while (ok && maps_next(&maps, &other))
		if (other.inode == m.inode && other.offset <= at && at < other.offset + (other.end - other.start))
			ok = guard_page(d, &other, other.start + (at - other.offset), size);
	return ok;
}

static bool
find_pages_of(struct debugger *d, const char *maps, const struct condition *c)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), last = (c->at + c->n - 1) & ~(size - 1);

	if (!c->n || c->at + c->n < c->at || last - (c->at & ~(size - 1)) >= PAGES * size)
		return false;
	for (uint64_t page = c->at & ~(size - 1);; page += size) {
		if (!is_guarded(d, page) && !find_page(d, maps, page, size))
			return false;
		if (page == last)
			return true;
	}
}

/* Finds the pages of all conditions. Only a system call changes what is mapped where. */
static bool
find_pages(struct debugger *d)
{
	struct pool *pool;
	const char *maps;
	bool ok;

	if (d->guards_found && d->guard_event == d->r.event)
		return true;
	d->guard.n = 0;
	d->guard_event = d->r.event;
	pool = pool_new();
	maps = tracee_proc(d->r.t, pool, "maps");
	ok = maps;
	for (size_t i = 0; i < d->condition.n && ok; i++)
		if (is_unwatched(&d->condition.at[i]))
			ok = find_pages_of(d, maps, &d->condition.at[i]);
	pool_free(pool);
	d->guards_found = ok;
	return ok;
}

/* What the program has stopped by is the same afterwards: others ask which signal it was. */
static bool
protect(struct debugger *d, const struct guarded *g, int prot)
{
	struct tracee *t = d->r.t;
	int status = t->status;
	siginfo_t info;
	bool told = !ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info);
	bool ok = !tracee_call_here_at_once(t, SYS_mprotect, (uint64_t [6]){g->page, g->size, (uint64_t)prot});

	if (t->pid) {
		t->status = status;
		if (told)
			ptrace(PTRACE_SETSIGINFO, t->pid, 0, &info);
	}
	return ok;
}

/* The end of a run counts as an access, too: pages have to be guarded anew. */
void
guard_begin(struct debugger *d)
{
	d->sample.accesses++;
}

void
guard_reset(struct debugger *d)
{
	d->sample = (struct guard_sample){.wanted = SAMPLE};
	d->guard.n = 0;
	d->guards_found = false;
}

static bool
accesses_page(const struct tracee *t, const struct condition *c)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), first = c->at & ~(size - 1);
	uint8_t bytes[16];
	size_t n = tracee_read_some(t, tracee_word(t, t->machine->pc), bytes, sizeof bytes);

	return t->machine->accesses(bytes, n, &t->regs, first, ((c->at + c->n - 1) & ~(size - 1)) + size - first);
}

void
guard_step(struct debugger *d)
{
	bool any = false;

	d->sample.steps++;
	for (size_t i = 0; i < d->condition.n && !any && !d->sample.trust; i++)
		any = is_unwatched(&d->condition.at[i]) && accesses_page(d->r.t, &d->condition.at[i]);
	d->sample.accesses += any;
}

/* Have some steps told that guarding is worth while? */
static bool
is_worth(struct debugger *d)
{
	struct guard_sample *l = &d->sample;

	if (l->trust)
		return true;
	if (l->steps < l->wanted)
		return false;
	if (l->accesses * STEPS <= l->steps)
		l->trust = TRUST;
	l->steps = l->accesses = 0;
	l->wanted = SAMPLE;
	return l->trust;
}

bool
guard_put(struct debugger *d)
{
	bool ok;

	if (!is_worth(d) || !tracee_can_fork(d->r.t))
		return false;
	d->sample.trust--;
	ok = find_pages(d);
	for (d->nguarded = 0; ok && d->nguarded < d->guard.n; d->nguarded += ok)
		ok = protect(d, &d->guard.at[d->nguarded], d->guard.at[d->nguarded].prot & allowed(d));
	if (!ok) {
		guard_take(d);
		guard_reset(d);
		d->sample.wanted = FAILED;
	}
	return ok;
}

void
guard_take(struct debugger *d)
{
	while (d->nguarded) {
		const struct guarded *g = &d->guard.at[--d->nguarded];

		if (d->r.t->pid && !protect(d, g, g->prot) && d->r.t->pid) {
			say_error("replay", "memory that was watched cannot be made accessible again");
			tracee_kill(d->r.t);
		}
	}
}

bool
guard_hit(struct debugger *d, enum stop stop)
{
	struct tracee *t = d->r.t;
	siginfo_t info;

	if (!d->nguarded || stop != STOP_SIGNAL || tracee_signal(t) != SIGSEGV ||
	    ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info) || info.si_code != SEGV_ACCERR)
		return false;
	return is_guarded(d, (uint64_t)(uintptr_t)info.si_addr & ~(d->guard.at[0].size - 1));
}
