/* SPDX-License-Identifier: MIT */
/* truth PROGRAM ARGUMENT...: steps through a program that sets timers, none of which is due. For each timer it prints where the
 * program stands after as many of its own instructions as the lower half of n says. As in stops.c, the map says which
 * instructions are the program's own. */
int stops_main(int argc, char **argv);
#define main stops_main
#include "tests/events/stops.c"
#undef main

static uint64_t
address_of(const char *name)
{
	const struct image_symbol *s;
	size_t n = image_symbols(binary.image, &s);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].name, name))
			return s[i].addr;
	die(name, "no such symbol");
}

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct tracee *t = &tracee[0];
	struct user_regs_struct r;
	uint64_t set;
	int64_t want = -1;

	if (argc < 2)
		die("truth", "PROGRAM [ARGUMENT...]");
	read_map(pool, argv[1]);
	set = address_of("__chord_timer");
	*t = (struct tracee){.tid = start(argv + 1)};
	run_to(t->tid, set + bias);
	t->pc = pc_of(t->tid);
	for (ntracee = 1; !t->gone; step(t)) {
		if (want >= 0 && t->count[0] >= want && (original_at(t->pc) || !is_measured(t->pc))) {
			ptrace(PTRACE_GETREGS, t->tid, 0L, &r);
			printf("%" PRIx64 " %" PRIx64 "\n", (uint64_t)r.rip, (uint64_t)r.rsp);
			want = -1;
		}
		if (t->pc != set + bias)
			continue;
		ptrace(PTRACE_GETREGS, t->tid, 0L, &r);
		if (r.rcx == 1)
			want = t->count[0] + (int64_t)(r.rdi & 0xffffffff);
		/* The runtime adds no events. A trap flag that pushf saw while it was stepped over has come back by popf. */
		ptrace(PTRACE_POKEUSER, t->tid, offsetof(struct user_regs_struct, eflags), r.eflags & ~0x100ull);
		run_to(t->tid, (uint64_t)ptrace(PTRACE_PEEKDATA, t->tid, r.rsp, 0L));
		t->pc = pc_of(t->tid);
	}
	return 0;
}
