/* SPDX-License-Identifier: MIT */
/* Countdowns: each addition to a clock is replaced by a jump to code that counts down before it adds, and stops the program when
 * the countdown is over. That code is in memory that the process has only meanwhile. So a state in a tight loop is reached at the
 * speed of the loop, to within one round. */
#include "clock/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096, FIRST = 64, ONE = 128 /* bytes for each addition's code */ };

struct countdown {
	additions add;
	uint64_t lo, hi;         /* the code with the additions */
	uint8_t *was, *with;     /* its bytes: as they are; with jumps */
	uint64_t room, size;     /* memory of the process, or where that was last; 0: none yet */
	uint8_t *code;           /* bytes for that memory */
	uint8_t *stop;           /* by addition: where its code stops, after the instruction that stops */
	uint8_t *before;         /* by addition: how many bytes before it the jump stands */
	uint8_t *next, *next_was; /* by addition: as in its detour */
	uint8_t *took;           /* by addition: bytes from the jump on that are executed only in its code */
};

struct countdown *
countdown_new(additions *at)
{
	struct countdown *d = xcalloc(1, sizeof *d);

	d->add.at = at->at;
	d->add.n = at->n;
	*at = (additions){0};
	d->lo = d->add.at[0].at - d->add.at[0].before;
	d->hi = d->add.at[d->add.n - 1].at + 2 * TRACED_WORDS;
	d->size = (FIRST + d->add.n * ONE + PAGE - 1) / PAGE * PAGE;
	d->was = xmalloc(d->hi - d->lo);
	d->with = xmalloc(d->hi - d->lo);
	d->code = xcalloc(1, d->size);
	d->stop = xcalloc(d->add.n, 1);
	d->before = xcalloc(d->add.n, 1);
	d->next = xcalloc(d->add.n, 1);
	d->next_was = xcalloc(d->add.n, 1);
	d->took = xcalloc(d->add.n, 1);
	return d;
}

void
countdown_free(struct countdown *d)
{
	if (!d)
		return;
	free(d->add.at);
	free(d->was);
	free(d->with);
	free(d->code);
	free(d->stop);
	free(d->before);
	free(d->next);
	free(d->next_was);
	free(d->took);
	free(d);
}

/* ---- room ---- */

/* Free addresses in the gap from..to, within reach of jumps to the code and back. 0: there are none. */
static uint64_t
room_in(const struct countdown *d, const struct tracee *t, uint64_t from, uint64_t to)
{
	enum { APART = 1 << 20 };       /* distance from what is there, which may grow */
	uint64_t reach = t->machine->reach, at, low;

	from = from < PAGE * 16 ? PAGE * 16 : from;
	if (from + APART > to || to - from < d->size + 2 * APART)
		return 0;
	at = (to - APART - d->size) / PAGE * PAGE;
	if (at > d->lo && at + d->size - d->lo > reach)
		at = (d->lo + reach - d->size) / PAGE * PAGE;
	/* The kernel places new mappings just below what is there, so in a gap below the code the room is far down. What the code
	 * refers to has to be within reach, too. */
	if (at < d->lo && at > (low = d->hi > reach / 2 ? d->hi - reach / 2 : 0))
		at = ((low > from + APART ? low : from + APART) + PAGE - 1) / PAGE * PAGE;
	if (at < from + APART || (at > d->lo ? at + d->size - d->lo : d->hi - at) > reach)
		return 0;
	return at;
}

/* Finds room in the nearest gap below the code, or else in one above it. */
static uint64_t
find_room(const struct countdown *d, const struct tracee *t)
{
	struct pool *pool = pool_new();
	const char *maps = tracee_proc(t, pool, "maps");
	uint64_t last = 0, found = 0;
	struct maps_line m;

	while (maps_next(&maps, &m)) {
		uint64_t room = room_in(d, t, last, m.start);

		if (room && (m.start <= d->lo || !found))
			found = room;
		last = m.end;
	}
	pool_free(pool);
	return found;
}

static bool
map_room(struct countdown *d, struct tracee *t)
{
	uint64_t at = find_room(d, t);
	int64_t got;

	if (!at)
		return false;
	got = tracee_call_here(t, SYS_mmap, (uint64_t [6]){at, d->size, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1, 0});
	if ((uint64_t)got != at)
		return false;
	if (at != d->room)
		memset(d->stop, 0, d->add.n);
	d->room = at;
	return true;
}

static void
unmap_room(struct countdown *d, struct tracee *t)
{
	tracee_call_here(t, SYS_munmap, (uint64_t [6]){d->room, d->size});
}

/* ---- code ---- */

/* Makes the detour of an addition. It takes the next instruction along if that is needed, or else the one before. */
static bool
detour_of(struct countdown *d, const struct tracee *t, size_t i, struct traced_detour *out)
{
	const struct addition *a = &d->add.at[i];
	uint64_t to = d->room + FIRST + i * ONE;

	for (d->before[i] = 0;; d->before[i] = a->before) {
		uint64_t at = a->at - d->before[i];

		if (t->machine->detour(d->was + (at - d->lo), d->hi - at, at, d->before[i], a->next, a->amount, to, d->room, out))
			return true;
		if (d->before[i] == a->before)
			return false;
	}
}

/* Makes all detours. False: one of them cannot be made. */
static bool
build(struct countdown *d, const struct tracee *t)
{
	uint64_t last = 0;

	memcpy(d->with, d->was, d->hi - d->lo);
	for (size_t i = 0; i < d->add.n; i++) {
		struct traced_detour detour;
		bool ok = detour_of(d, t, i, &detour);
		uint64_t at = d->add.at[i].at - d->before[i];

		if (!ok || at < last)
			return false;
		last = at + detour.took;
		memcpy(d->code + FIRST + i * ONE, detour.code, detour.size);
		memcpy(d->with + (at - d->lo), detour.jump, sizeof detour.jump);
		d->stop[i] = detour.size;
		d->next[i] = detour.next;
		d->next_was[i] = detour.next_was;
		d->took[i] = detour.took;
	}
	return true;
}

bool
countdown_put(struct countdown *d, struct tracee *t, uint64_t left)
{
	uint64_t number = left - 1, n = d->hi - d->lo;

	memset(d->was, 0, n);
	tracee_read_some(t, d->lo, d->was, n);
	if (!map_room(d, t))
		return false;
	if (build(d, t) && (!t->admits || t->admits(t, d))) {
		memcpy(d->code, &number, sizeof number);
		t->aside = d->room;
		t->aside_size = d->size;
		if (tracee_write(t, d->room, d->code, d->size) && tracee_write(t, d->lo, d->with, n))
			return true;
	}
	countdown_take(d, t);
	return false;
}

void
countdown_take(struct countdown *d, struct tracee *t)
{
	t->aside_size = 0;
	tracee_write(t, d->lo, d->was, d->hi - d->lo);
	unmap_room(d, t);
}

bool
countdown_hit(const struct countdown *d, struct tracee *t, enum stop stop)
{
	uint64_t at = tracee_word(t, t->machine->pc) - d->room - FIRST;

	if (stop != STOP_SIGNAL || tracee_signal(t) != SIGTRAP || at / ONE >= d->add.n || at % ONE != d->stop[at / ONE])
		return false;
	t->regs.word[t->machine->pc] = d->add.at[at / ONE].at;
	return tracee_set(t, &t->regs);
}

bool
countdown_home(const struct countdown *d, struct tracee *t)
{
	uint64_t at = tracee_word(t, t->machine->pc) - d->room - FIRST, i = at / ONE, from;

	if (i >= d->add.n)
		return false;
	from = d->add.at[i].at - d->before[i];
	/* In this code only instructions of the program can fail: the first one, and the last one before the jump. */
	t->regs.word[t->machine->pc] = d->next[i] && at % ONE >= d->next[i] ? from + d->next_was[i] : from;
	return tracee_set(t, &t->regs);
}

/* The first addition at the PC or after it; the number of additions if there is none. */
static size_t
addition_from(const struct countdown *d, uint64_t pc)
{
	size_t lo = 0, hi = d->add.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (d->add.at[mid].at < pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Is the PC inside, after the first byte, of what was replaced for an addition? took: of all of it, not only the jump. */
static bool
is_within(const struct countdown *d, uint64_t pc, bool took)
{
	enum { JUMP = sizeof ((struct traced_detour *)0)->jump };
	size_t behind = addition_from(d, pc);

	for (size_t i = behind ? behind - 1 : 0; i < d->add.n && i <= behind; i++) {
		uint64_t from = d->add.at[i].at - d->before[i];

		if (pc > from && pc - from < (took ? d->took[i] : JUMP))
			return true;
	}
	return false;
}

bool
countdown_amid(const struct countdown *d, uint64_t pc)
{
	return is_within(d, pc, false);
}

bool
countdown_hides(const struct countdown *d, uint64_t pc)
{
	return is_within(d, pc, true);
}

/* May the n bytes of code from an address on write to memory? */
static bool
writes(const struct countdown *d, const struct tracee *t, uint64_t at, size_t n)
{
	struct traced_writes to;

	return n && (!t->machine->writes(d->was + (at - d->lo), n, &t->regs, &to) || to.n);
}

bool
countdown_hides_writes(const struct countdown *d, const struct tracee *t)
{
	for (size_t i = 0; i < d->add.n; i++) {
		uint64_t from = d->add.at[i].at - d->before[i], next = from + d->next_was[i];

		if (writes(d, t, from, d->before[i]) || (d->next[i] && t->machine->repeats(d->was + (next - d->lo), d->hi - next)))
			return true;
	}
	return false;
}
