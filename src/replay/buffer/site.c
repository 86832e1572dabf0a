/* SPDX-License-Identifier: MIT */
/* Places that make system calls. The instruction has two bytes. A short jump takes its place and leads to padding close by, from
 * where a long jump leads on. No other instruction changes, so code that stands after the call, or comes back there, finds what was
 * always there. */
#include "replay/buffer/buffer.h"

#include <stdlib.h>
#include <string.h>

/* AROUND bytes are decoded on each side of the site, from STARTS different beginnings, which have to agree. */
enum { AROUND = 512, STARTS = 4, INSN_MOST = 15, ALIGNED = 8, ENTRY = 16, PADDINGS = 64 };

struct around {
	uint64_t at;             /* of the first byte */
	uint8_t trap;            /* an instruction of one byte that stops the program */
	uint8_t code[2 * AROUND];
	struct insn insn[2 * AROUND]; /* at each byte where an instruction begins; len 0: none does */
};

/* Decodes from `start` on. Does an instruction begin at the site? */
static bool
sweep(struct around *a, size_t start, const struct machine *m)
{
	bool there = false;

	memset(a->insn, 0, sizeof a->insn);
	for (size_t i = start; i + INSN_MOST < sizeof a->code;) {
		if (!m->decode(a->code + i, INSN_MOST, (uint32_t)i, &a->insn[i])) {
			a->insn[i].len = 0;
			return false;
		}
		there |= i == AROUND;
		i += a->insn[i].len;
	}
	return there;
}

/* Where a run of traps ends that some compilers and linkers put between functions. */
static size_t
behind_traps(const struct around *a, size_t at)
{
	while (at < sizeof a->code && a->code[at] == a->trap && (a->at + at) % ENTRY)
		at++;
	return at;
}

/* The padding after instruction i: nothing but nops, or traps, after an instruction from which control does not go on, up to an
 * address where functions and loops may begin. A nop at such an address is no padding, because it may begin a function or loop.
 * Size 0: there is none. */
static struct piece
padding_at(const struct around *a, size_t i)
{
	size_t from = i + a->insn[i].len, to = from, begin = ALIGNED;

	/* The padding after a trap is a part of the padding that begins with the first trap. */
	if (!a->insn[i].len || a->insn[i].attr & INSN_FALLS || a->code[i] == a->trap || (a->at + from) % ENTRY == 0)
		return (struct piece){0};
	while (to < sizeof a->code && a->insn[to].len && a->insn[to].attr & INSN_NOP)
		to += a->insn[to].len;
	if (to == from) {
		to = behind_traps(a, from);
		begin = ENTRY;
	}
	return (struct piece){a->at + from, (a->at + to) % begin == 0 && to - from <= PADDING_MOST ? to - from : 0};
}

static bool
can_hop(const struct machine_syscallbuf *syscallbuf, uint64_t from, uint64_t to)
{
	int64_t hop = (int64_t)(to - (from + syscallbuf->hop_size));

	return hop <= syscallbuf->hop_most && hop >= -syscallbuf->hop_most;
}

/* Finds the shortest way by hops from the site to padding that has room for a long jump. */
static bool
find_way(const struct around *a, const struct machine_syscallbuf *syscallbuf, struct site_way *way)
{
	struct piece pad[PADDINGS];
	size_t n = 0, from[PADDINGS], depth[PADDINGS], queue[PADDINGS], tail = 0;

	for (size_t i = STARTS; i + INSN_MOST < sizeof a->code && n < PADDINGS; i++) {
		pad[n] = padding_at(a, i);
		depth[n] = SIZE_MAX;
		n += pad[n].n >= syscallbuf->hop_size;
	}
	for (size_t head = 0; head <= tail && head <= n; head++) {
		size_t here = head ? queue[head - 1] : n;
		size_t far = head ? depth[here] : 0;

		if (head && pad[here].n >= syscallbuf->jump_size) {
			way->n = far;
			for (size_t i = far; i-- > 0; here = from[here])
				way->pad[i] = pad[here];
			return true;
		}
		for (size_t i = 0; i < n && far < SITE_HOPS; i++)
			if (depth[i] == SIZE_MAX && can_hop(syscallbuf, head ? pad[here].addr : a->at + AROUND, pad[i].addr)) {
				depth[i] = far + 1;
				from[i] = here;
				queue[tail++] = i;
			}
	}
	return false;
}

/* Is it code of a file that is not writable, and do others not see it when it changes? */
static bool
is_private_code(const struct tracee *t, uint64_t from, uint64_t to)
{
	struct pool *pool = pool_new();
	const char *maps = tracee_proc(t, pool, "maps");
	struct maps_line m;
	bool is = false;

	while (!is && maps_next(&maps, &m))
		is = m.start <= from && to <= m.end && m.inode && !strcmp(m.mode, "r-xp");
	pool_free(pool);
	return is;
}

bool
site_find(const struct tracee *t, uint64_t site, struct site_way *way)
{
	const struct machine *m = machine_of_host();
	struct around *a = xcalloc(1, sizeof *a);
	struct site_way found = {0};
	bool same;

	*way = (struct site_way){0};
	a->at = site - AROUND;
	a->trap = t->machine->breakpoint[0];
	same = is_private_code(t, a->at, a->at + sizeof a->code) && tracee_read(t, a->at, a->code, sizeof a->code);
	for (size_t start = 0; same && start < STARTS; start++) {
		if (!sweep(a, start, m))
			continue;
		same = find_way(a, t->machine->syscallbuf, &found) && (!way->n || !memcmp(&found, way, sizeof found));
		*way = found;
	}
	free(a);
	return same && way->n;
}
