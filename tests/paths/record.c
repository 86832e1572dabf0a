/* SPDX-License-Identifier: MIT */
/* record PROFILE PROGRAM [ARGUMENT...]: runs a program built with -fchord=paths, measured code one instruction at a time, and
 * records which way each activation goes. It uses addresses, calls and returns, and none of the code that counts. The profile has
 * to say the same: each path, how often it ran, and how far unfinished paths came.
 *
 * The program must not be a PIE, and has one thread. Prints how many paths and activations were compared. Gives up, with status
 * 77, after RECORD_STEPS instructions (environment). STRIKE=SEED[:SWEEPS]: signals are sent (tests/strikes.h). */
#include "graph/graph.h"
#include "run/run.h"
#include "tests/stepping.h"
#include "tests/strikes.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* An original instruction in the woven program. */
struct place {
	uint64_t addr;
	uint32_t proc, block, insn;
	enum chord_insn kind;
	uint8_t len;
	bool first;              /* in its block, padding apart */
};

/* How an activation comes to its next block. */
enum way { BY_ENTRY, BY_EDGE, BEHIND_CUT, BY_LANDING };

struct activation {
	uint64_t entry;          /* where its return address is */
	uint32_t proc, block;
	enum way way;
	bool in_call, done;
	uint32_t call;           /* in the map; UINT32_MAX: not listed */
	uint64_t back;           /* where that returns to */
	enum chord_insn last;
	uint32_t begin, n, cap, *edge;
};

/* A path that ended, or was left at a call. */
struct seen {
	uint32_t proc, call;     /* UINT32_MAX: it ended */
	int64_t sum;
	uint64_t count;
};

struct recorder {
	struct pool *pool;
	struct binary binary;
	struct path_graph **graph;
	VEC(struct place) place; /* by address */
	VEC(struct activation) stack;
	VEC(struct seen) seen;
	struct strmap number;    /* in seen */
	pid_t pid;
	struct steps code;
	uint64_t steps, ended, pc;
};

static _Noreturn void
fail(const struct recorder *r, const char *proc, const char *why)
{
	printf("at 0x%lx after %lu instructions: %s: %s\n", r->pc, r->steps, proc, why);
	kill(r->pid, SIGKILL);
	exit(1);
}

/* ---- the program's code ---- */

static int
by_addr(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void
find_places(struct recorder *r, uint32_t proc)
{
	const struct proc *p = &r->binary.map.proc[proc];
	struct walk w;

	for (uint32_t b = 0; !p->refused && b < p->nblock; b++) {
		bool first = true;

		for (walk_start(&w, p, NULL, b); walk_next(&w);) {
			if (w.kind == CHORD_INSN_PAD)
				continue;
			VEC_PUSH(r->place, (struct place){w.addr, proc, b, w.i, w.kind, p->block[b].insn[w.i] & 15, first});
			first = false;
		}
	}
}

/* The code with paths is stepped through. It is entered at instructions, where calls return to, and at beginnings. */
static void
find_code(struct recorder *r)
{
	const struct parts *parts = &r->binary.parts;

	steps_begin(&r->code, parts->at[0].addr, parts->at[parts->n - 1].addr + parts->at[parts->n - 1].size);
	for (size_t i = 0; i < r->place.n; i++) {
		steps_mark(&r->code, r->place.at[i].addr, ENTERED);
		if (r->place.at[i].kind == CHORD_INSN_CALL || r->place.at[i].kind == CHORD_INSN_ICALL)
			steps_mark(&r->code, r->place.at[i].addr + r->place.at[i].len, ENTERED);
	}
	for (size_t i = 0; i < parts->n; i++) {
		const struct part_at *part = &parts->at[i];

		if (part->proc->refused || !part->proc->paths)
			continue;
		steps_mark(&r->code, part->proc->part[0].addr, ENTERED);
		for (uint64_t at = part->addr; at < part->addr + part->size; at++)
			steps_mark(&r->code, at, STEPPED);
	}
}

static const struct place *
place_at(const struct recorder *r, uint64_t addr)
{
	struct place key = {.addr = addr};

	return bsearch(&key, r->place.at, r->place.n, sizeof key, by_addr);
}

static const struct proc *
proc_of(const struct recorder *r, const struct activation *a)
{
	return &r->binary.map.proc[a->proc];
}

/* ---- paths ---- */

static void
note(struct recorder *r, const struct activation *a, uint32_t call)
{
	const struct path_graph *pg = r->graph[a->proc];
	struct seen s = {a->proc, call, dag_sum(pg->dag, pg->val, a->begin, a->edge, a->n), 0};
	const char *key = pool_printf(r->pool, "%u %u %ld", s.proc, s.call, s.sum);
	uint64_t i;

	if (call == UINT32_MAX && !dag_has(pg->dag, a->begin, a->edge, a->n))
		fail(r, proc_of(r, a)->name, "it goes along no path");
	if (!strmap_get(&r->number, str_of(key), &i)) {
		i = r->seen.n;
		strmap_put(&r->number, str_of(key), i);
		VEC_PUSH(r->seen, s);
	}
	r->seen.at[i].count++;
}

static void
push_edge(struct activation *a, uint32_t e)
{
	if (a->n == a->cap) {
		a->cap = a->cap ? 2 * a->cap : 16;
		a->edge = xreallocarray(a->edge, a->cap, sizeof *a->edge);
	}
	a->edge[a->n++] = e;
}

/* The only edge between two vertices; of ways out of ENTRY, of those for activations that begin, or that go on. */
static uint32_t
edge_between(const struct recorder *r, const struct activation *a, uint32_t from, uint32_t to)
{
	const struct proc *p = proc_of(r, a);
	uint32_t found = GRAPH_NONE;

	for (uint32_t e = 0; e < p->narc; e++) {
		if (p->arc[e].from != from || p->arc[e].to != to)
			continue;
		if (from == PROC_ENTRY(p) && (p->arc[e].kind == CHORD_EDGE_ENTRY) != (a->way == BY_ENTRY))
			continue;
		if (found != GRAPH_NONE)
			fail(r, p->name, "two edges between the same blocks: their paths cannot be told apart");
		found = e;
	}
	return found;
}

/* Are there no instructions that could be seen, in a hub or a block of padding? */
static bool
is_silent(const struct proc *p, uint32_t v)
{
	if (v >= p->nblock)
		return v > PROC_EXIT(p);
	for (uint32_t i = 0; i < p->block[v].ninsn; i++)
		if (p->block[v].insn[i] >> 4 != CHORD_INSN_PAD)
			return false;
	return true;
}

enum { FAR = 6 };

/* The edges from one vertex to another, with nothing to be seen on the way. Returns their number, 0: there is no way. */
static uint32_t
route(const struct recorder *r, const struct activation *a, uint32_t from, uint32_t to, uint32_t *edge, uint32_t most)
{
	const struct proc *p = proc_of(r, a);
	uint32_t n;

	edge[0] = edge_between(r, a, from, to);
	if (edge[0] != GRAPH_NONE)
		return 1;
	for (uint32_t e = 0; e < p->narc && most > 1; e++) {
		if (p->arc[e].from != from || !is_silent(p, p->arc[e].to))
			continue;
		n = route(r, a, p->arc[e].to, to, edge + 1, most - 1);
		edge[0] = e;
		if (n)
			return n + 1;
	}
	return 0;
}

/* False: there is no such way. */
static bool
go(struct recorder *r, struct activation *a, uint32_t from, uint32_t to)
{
	const struct proc *p = proc_of(r, a);
	uint32_t edge[FAR], n = route(r, a, from, to, edge, FAR);

	for (uint32_t i = 0; i < n; i++) {
		push_edge(a, edge[i]);
		if (!p->paths->cut[edge[i]] && p->arc[edge[i]].to != PROC_EXIT(p))
			continue;
		note(r, a, UINT32_MAX);
		r->ended++;
		a->n = 0;
		a->begin = p->arc[edge[i]].to;
	}
	return n;
}

/* ---- activations ---- */

static void
enter(struct recorder *r, uint32_t proc, uint64_t sp)
{
	struct activation a = {.entry = sp, .proc = proc, .way = BY_ENTRY, .begin = r->binary.map.proc[proc].nblock};

	VEC_PUSH(r->stack, a);
}

/* It was left at a call, and with its path unfinished, if that goes on behind the call. */
static void
abandon(struct recorder *r, struct activation *a)
{
	if (!a->done && a->way == BY_EDGE && a->call != UINT32_MAX)
		note(r, a, a->call);
	a->n = 0;
}

static void
leave(struct recorder *r)
{
	struct activation *a = &r->stack.at[r->stack.n - 1];
	const struct proc *p = proc_of(r, a);

	if (a->in_call)
		abandon(r, a);
	else if (!a->done && !go(r, a, a->block, PROC_EXIT(p)))
		fail(r, p->name, "it ends where it has no end");
	free(a->edge);
	r->stack.n--;
}

static void
arrive(struct recorder *r, struct activation *a, const struct place *at)
{
	const struct proc *p = proc_of(r, a);

	switch (a->way) {
	case BY_ENTRY:
	case BY_LANDING:
		a->n = 0;
		a->begin = PROC_ENTRY(p);
		if (!go(r, a, PROC_ENTRY(p), at->block))
			fail(r, p->name, "it begins where it has no entry");
		break;
	case BEHIND_CUT:
		a->begin = at->block;
		a->n = 0;
		break;
	case BY_EDGE:
		if (!go(r, a, a->block, at->block))
			fail(r, p->name, pool_printf(r->pool, "no edge from %u to %u", a->block, at->block));
	}
	a->way = BY_EDGE;
	a->block = at->block;
}

static uint32_t
call_at(const struct proc *p, const struct place *at)
{
	for (uint32_t i = 0; i < p->ncall; i++)
		if (p->call[i].block == at->block && p->call[i].insn == at->insn)
			return i;
	return UINT32_MAX;
}

static void
begin_call(struct recorder *r, struct activation *a, const struct place *at)
{
	const struct proc *p = proc_of(r, a);
	uint32_t flags;

	a->in_call = true;
	a->back = at->addr + at->len;
	a->call = call_at(p, at);
	flags = a->call == UINT32_MAX ? 0 : p->call[a->call].flags;
	if (flags & CHORD_CALL_NORETURN) {
		a->done = go(r, a, at->block, PROC_EXIT(p));
	} else if (flags & CHORD_CALL_TWICE) {
		for (uint32_t e = 0; e < p->narc; e++)
			if (p->arc[e].from == at->block)
				go(r, a, at->block, p->arc[e].to);
		a->way = BEHIND_CUT;
	}
}

/* Control is in the code of an activation that made a call: it came back, or to where a call returns once more, or to
 * another place in it. */
static void
resume(struct recorder *r, struct activation *a)
{
	const struct proc *p = proc_of(r, a);

	a->in_call = false;
	if (r->pc == a->back && !a->done) /* else it is a landing pad that stands there */
		return;
	abandon(r, a);
	a->done = false;
	a->way = BY_LANDING;
	for (uint32_t i = 0; i < p->ncall; i++)
		if (p->call[i].flags & CHORD_CALL_TWICE && p->call[i].back == r->pc)
			a->way = BEHIND_CUT;
}

static void
look(struct recorder *r, uint64_t sp, bool again)
{
	const struct part_at *part = parts_find(&r->binary.parts, r->pc);
	const struct place *at = place_at(r, r->pc);
	struct activation *a;
	uint32_t proc;

	while (r->stack.n && sp > r->stack.at[r->stack.n - 1].entry)
		leave(r);
	if (!part || part->proc->refused || !part->proc->paths)
		return;
	proc = (uint32_t)(part->proc - r->binary.map.proc);
	a = r->stack.n ? &r->stack.at[r->stack.n - 1] : NULL;
	if (a && a->entry == sp && a->proc != proc) {
		leave(r);
		a = NULL;
	}
	if (!a || a->proc != proc || (r->pc == part->proc->part[0].addr && a->entry != sp)) {
		enter(r, proc, sp);
		a = &r->stack.at[r->stack.n - 1];
	} else if (a->in_call) {
		resume(r, a);
	}
	if (!at)
		return;
	if (at->first && !again)
		arrive(r, a, at);
	a->last = at->kind;
	if (at->kind == CHORD_INSN_CALL || at->kind == CHORD_INSN_ICALL)
		begin_call(r, a, at);
}

/* ---- running ---- */

static void
start(struct recorder *r, char **argv)
{
	r->pid = fork();
	if (r->pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		setenv("CHORD_FILE", argv[1], 1);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(r->pid, NULL, 0);
}

/* What is before main has nothing to be recorded, and takes longer than many a program. */
static void
go_to_main(struct recorder *r)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < r->binary.map.nproc; i++)
		if (!strcmp(r->binary.map.proc[i].name, "main"))
			at = r->binary.map.proc[i].part[0].addr;
	if (!at)
		fail(r, "main", "it is not measured");
	if (!run_up_to(r->pid, at))
		fail(r, "main", "it is not come to");
}

static uint64_t
most_steps(void)
{
	const char *most = getenv("RECORD_STEPS");

	return most ? strtoull(most, NULL, 10) : UINT64_MAX;
}

/* With signals that are sent after so many steps, all code is stepped through. */
static bool
step(struct recorder *r, const struct strikes *strikes, int signal, int *status)
{
	if (!strikes->seed)
		return steps_go(&r->code, r->pid, r->pc, signal, status);
	return !ptrace(PTRACE_SINGLESTEP, r->pid, 0, signal) && waitpid(r->pid, status, 0) == r->pid;
}

static void
run(struct recorder *r)
{
	struct user_regs_struct regs;
	struct strikes strikes = {0};
	uint64_t before = 0, limit = most_steps();
	int status = 0, signal = 0;
	bool looks = true, sent = false;

	strikes_begin(&strikes);
	go_to_main(r);
	for (;;) {
		ptrace(PTRACE_GETREGS, r->pid, 0, &regs);
		r->pc = regs.rip;
		if (looks) {
			signal = strike_now(&strikes, r->pid, signal, regs.rsp, &sent);
			if (!signal && !sent) /* else it comes back here after the handler */
				look(r, regs.rsp, regs.rip == before);
		}
		before = regs.rip;
		if (!step(r, &strikes, signal, &status) || !WIFSTOPPED(status))
			break;
		looks = WSTOPSIG(status) == SIGTRAP;
		signal = looks ? signal : WSTOPSIG(status);
		if (++r->steps > limit) {
			kill(r->pid, SIGKILL);
			exit(77);
		}
	}
	strikes_say(&strikes);
	while (r->stack.n)
		leave(r);
}

/* ---- what Chord says ---- */

static uint64_t
take(struct recorder *r, uint32_t proc, uint32_t call, int64_t sum)
{
	const char *key = pool_printf(r->pool, "%u %u %ld", proc, call, sum);
	uint64_t i, n;

	if (!strmap_get(&r->number, str_of(key), &i))
		return 0;
	n = r->seen.at[i].count;
	r->seen.at[i].count = 0;
	return n;
}

static void
compare(struct recorder *r, uint32_t proc, const struct counts *c)
{
	const struct proc *p = &r->binary.map.proc[proc];
	struct path path = path_new(r->pool, r->graph[proc]);

	for (size_t i = 0; i < c->paths->nran; i++) {
		const struct ran *ran = &c->paths->ran[i];
		uint64_t n = take(r, proc, UINT32_MAX, (int64_t)ran->sum);

		if (n != ran->count)
			fail(r, p->name, pool_printf(r->pool, "path %lu: %lu times, said %lu", ran->sum, n, ran->count));
	}
	for (const struct stopped *s = c->paths->stopped; s; s = s->next) {
		const struct path_graph *pg = r->graph[proc];
		uint64_t n;

		if (!path_goes_on(p, s->call))
			continue;
		if (!path_stopped(pg, s, &path))
			fail(r, p->name, "how far it came makes no sense");
		n = take(r, proc, s->call, dag_sum(pg->dag, pg->val, path.begin, path.edge, path.n));
		if (n != s->count)
			fail(r, p->name, pool_printf(r->pool, "left at call %u: %lu times, said %lu", s->call, n, s->count));
	}
}

int
main(int argc, char **argv)
{
	struct recorder r = {.pool = pool_new()};
	const struct module *m;
	struct profile *f;
	struct counts *c;
	const char *why;

	if (argc < 3 || !binary_open(r.pool, argv[2], &r.binary, &why))
		return 2;
	r.graph = pool_array(r.pool, r.binary.map.nproc, sizeof(struct path_graph *));
	for (uint32_t i = 0; i < r.binary.map.nproc; i++) {
		find_places(&r, i);
		if (r.binary.map.proc[i].paths)
			r.graph[i] = path_graph_new(r.pool, &r.binary.map.proc[i], &why);
	}
	qsort(r.place.at, r.place.n, sizeof *r.place.at, by_addr);
	find_code(&r);
	stay_here();
	start(&r, argv);
	run(&r);
	f = load_profile(r.pool, argv[1], &why);
	m = f ? profile_module(f, image_build_id(r.binary.image)) : NULL;
	if (!m)
		fail(&r, argv[1], "no profile");
	c = profile_solve(r.pool, &r.binary.map, f, m, &r.binary.woven);
	for (uint32_t i = 0; i < r.binary.map.nproc; i++) {
		if (c[i].why)
			fail(&r, r.binary.map.proc[i].name, c[i].why);
		compare(&r, i, &c[i]);
	}
	for (size_t i = 0; i < r.seen.n; i++)
		if (r.seen.at[i].count)
			fail(&r, r.binary.map.proc[r.seen.at[i].proc].name,
			     pool_printf(r.pool, "%s %ld ran %lu times, and is not in the profile",
			                 r.seen.at[i].call == UINT32_MAX ? "path" : "what came as far as", r.seen.at[i].sum,
			                 r.seen.at[i].count));
	printf("%zu paths, %lu times, in %lu steps\n", r.seen.n, r.ended, r.steps);
	return r.seen.n == 0;
}
