/* SPDX-License-Identifier: MIT */
/* stops CHORD STOPS GAP SEED PROGRAM [ARGUMENT...]: runs a measured program one instruction at a time, stops it at random
 * moments, and asks `chord query` what the program has counted. The right answer comes from the instructions that were stepped
 * over: the map says which of them are the program's own, and what each of them adds. If the program handles SIGURG, it gets
 * that signal at random, in the middle of its code.
 *
 * Prints what was found at how many stops, and a line with FAIL for each stop with a wrong answer. */
#include "machine/machine.h"
#include "profile/profile.h"
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS_MAX 24
#define THREADS_MAX 64

/* An instruction of the original, in the woven program. */
struct original {
	uint64_t addr;
	const struct proc *proc;
	bool first;              /* of its block */
	unsigned kind;
	uint64_t add[EVENTS_MAX];
	uint64_t pads[EVENTS_MAX]; /* what the padding behind it adds when control falls through that */
	uint32_t past;           /* offset behind that */
	uint32_t length;
	bool padded;
};

struct tracee {
	pid_t tid;
	uint64_t pc;
	int signal;              /* to be delivered with the next step */
	bool entered;            /* it was: the next step leads to the handler */
	bool deaf;               /* in a stop in which ptrace takes no signal */
	int64_t count[EVENTS_MAX];
	bool on_its_way;         /* it has been told to step, and waits for something first */
	bool gone;
};

static const char *chord;
static struct binary binary;
static struct original *original;
static size_t noriginal;
/* Calls with padding behind them, with their return addresses: it is executed when they return. */
static struct original *padded_call;
static size_t npadded_call;
static uint64_t bias;
static const char *event[EVENTS_MAX];
static uint32_t nevent, blocks = UINT32_MAX, taken = UINT32_MAX;
static struct tracee tracee[THREADS_MAX];
static int ntracee;
static int64_t ended[EVENTS_MAX];
static unsigned at_original, at_woven, outside, unready, noted, failed;

/* ---- the map ---- */

static int
by_addr(const void *a, const void *b)
{
	const struct original *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* What an instruction adds. */
static void
read_adds(const struct proc *p, uint32_t b, uint32_t k, uint64_t *to)
{
	for (uint32_t e = 0; e < nevent; e++) {
		int64_t add = event_query(p, b, k + 1, e) - event_query(p, b, k, e);

		for (uint32_t s = 0; s < p->nevent_site; s++)
			if (p->event_site[s].block == b && p->event_site[s].insn == k + 1)
				add += p->event_site[s].add[e];
		for (uint32_t c = 0; c < p->nevent_call; c++)
			if (p->event_call[c].block == b && p->event_call[c].insn == k)
				add += p->event_call[c].add[e];
		to[e] += (uint64_t)add;
	}
}

static void
read_proc(const struct proc *p)
{
	struct walk w;

	for (uint32_t b = 0; b < p->nblock; b++)
		for (walk_start(&w, p, NULL, b); walk_next(&w);) {
			struct original *o = &original[noriginal];

			if (w.kind == CHORD_INSN_PAD && noriginal && o[-1].past == w.offset) {
				read_adds(p, b, w.i, o[-1].pads);
				if (w.i == 0 && blocks != UINT32_MAX)
					o[-1].pads[blocks]++;
				o[-1].past = (uint32_t)w.next_offset;
				o[-1].padded = true;
			}
			if (!w.addr || w.kind == CHORD_INSN_PAD)
				continue;
			*o = (struct original){.addr = w.addr, .proc = p, .first = w.i == 0, .kind = w.kind,
				.past = (uint32_t)w.next_offset, .length = (uint32_t)(w.next_offset - w.offset)};
			read_adds(p, b, w.i, o->add);
			noriginal++;
		}
}

static bool
is_call(const struct original *o)
{
	return o->kind == CHORD_INSN_CALL || o->kind == CHORD_INSN_ICALL;
}

static void
find_padded_calls(struct pool *pool)
{
	padded_call = pool_array(pool, noriginal, sizeof *padded_call);
	for (size_t i = 0; i < noriginal; i++)
		if (is_call(&original[i]) && original[i].padded) {
			padded_call[npadded_call] = original[i];
			padded_call[npadded_call++].addr += original[i].length;
		}
	if (npadded_call)
		qsort(padded_call, npadded_call, sizeof *padded_call, by_addr);
}

static void
read_map(struct pool *pool, const char *program)
{
	const char *why;
	size_t n = 0;

	if (!binary_open(pool, program, &binary, &why))
		die(program, "%s", why);
	for (uint32_t i = 0; i < binary.map.nproc; i++)
		for (uint32_t b = 0; b < binary.map.proc[i].nblock; b++)
			n += binary.map.proc[i].block[b].ninsn;
	original = pool_array(pool, n + 1, sizeof *original);
	for (uint32_t i = 0; i < binary.map.nproc; i++) {
		const struct proc *p = &binary.map.proc[i];

		for (uint32_t e = 0; !nevent && e < p->nevent && e < EVENTS_MAX; e++)
			event[e] = p->event[e].name;
		if (!nevent)
			nevent = p->nevent < EVENTS_MAX ? p->nevent : EVENTS_MAX;
	}
	for (uint32_t e = 0; e < nevent; e++) {
		if (!strcmp(event[e], "blocks"))
			blocks = e;
		if (!strcmp(event[e], "taken"))
			taken = e;
	}
	for (uint32_t i = 0; i < binary.map.nproc; i++)
		read_proc(&binary.map.proc[i]);
	qsort(original, noriginal, sizeof *original, by_addr);
	find_padded_calls(pool);
}

static const struct original *
original_at(uint64_t pc)
{
	struct original key = {.addr = pc - bias};

	return bsearch(&key, original, noriginal, sizeof key, by_addr);
}

static const struct original *
padded_call_before(uint64_t pc)
{
	struct original key = {.addr = pc - bias};

	return npadded_call ? bsearch(&key, padded_call, npadded_call, sizeof key, by_addr) : NULL;
}

static bool
is_measured(uint64_t pc)
{
	return parts_find(&binary.parts, pc - bias);
}

/* ---- stepping ---- */

static uint64_t
random_below(uint64_t n)
{
	return ((uint64_t)random() << 31 | (uint64_t)random()) % n;
}

static uint64_t
pc_of(pid_t tid)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user_regs_struct, rip), 0L);
}

static uint32_t
length_at(uint64_t pc)
{
	struct insn in = {0};

	if (!image_insn(binary.image, pc - bias, &in))
		die("stops", "no instruction at %" PRIx64, pc - bias);
	return in.len;
}

static void
add(struct tracee *t, const uint64_t *n)
{
	for (uint32_t e = 0; e < nevent; e++)
		t->count[e] += (int64_t)n[e];
}

/* An instruction of the original was executed. Padding that control falls through is executed with it. */
static void
count(struct tracee *t, const struct original *o, uint64_t to)
{
	bool falls = to == t->pc + length_at(t->pc);

	add(t, o->add);
	if (falls && o->kind != CHORD_INSN_JUMP)
		add(t, o->pads);
	if (!falls && o->kind == CHORD_INSN_BRANCH && taken != UINT32_MAX)
		t->count[taken]++;
}

static void
went(struct tracee *t, uint64_t to)
{
	const struct original *from = original_at(t->pc), *o = original_at(to), *call = padded_call_before(to);
	uint16_t insn = is_measured(t->pc) ? 0 : (uint16_t)ptrace(PTRACE_PEEKTEXT, t->tid, t->pc, 0L);
	/* A handler returns to where it was called, which it had arrived at before. */
	bool returns = insn == 0x050f;

	if (t->entered) {
		t->entered = false;
	} else if (to != t->pc) {
		if (from)
			count(t, from, to);
		if (call && !returns)
			add(t, call->pads);
		if (o && o->first && !returns && blocks != UINT32_MAX)
			t->count[blocks]++;
	}
	t->pc = to;
}

static void
forget(struct tracee *t)
{
	for (uint32_t e = 0; e < nevent; e++)
		ended[e] += t->count[e];
	t->gone = true;
}

static void
take_in(pid_t tid)
{
	int status;

	waitpid(tid, &status, __WALL);
	if (ntracee == THREADS_MAX)
		die("stops", "too many threads");
	tracee[ntracee++] = (struct tracee){.tid = tid, .pc = pc_of(tid), .deaf = true};
}

/* A thread has stopped. */
static void
settle(struct tracee *t, int status)
{
	unsigned long fresh;

	t->on_its_way = false;
	if (!WIFSTOPPED(status)) {
		forget(t);
		return;
	}
	t->deaf = status >> 16 != 0;
	if (status >> 16 == PTRACE_EVENT_CLONE && !ptrace(PTRACE_GETEVENTMSG, t->tid, 0L, &fresh))
		take_in((pid_t)fresh);
	if (!t->deaf && WSTOPSIG(status) != SIGTRAP)
		t->signal = WSTOPSIG(status);
	went(t, pc_of(t->tid));
}

/* Waits for it, but not long: others may have to go on first. */
static void
wait_for(struct tracee *t, int times)
{
	int status;

	for (int i = 0; i < times; i++) {
		pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);

		if (got == t->tid)
			settle(t, status);
		else if (got < 0)
			forget(t);
		if (got)
			return;
		if (i > 100)
			usleep(10);
	}
}

/* Would a handler run now? */
static bool
can_strike(pid_t tid)
{
	char path[64], line[256];
	unsigned long blocked = 0, caught = 0, bit = 1ul << (SIGURG - 1);
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "SigBlk: %lx", &blocked) != 1)
			sscanf(line, "SigCgt: %lx", &caught);
	if (f)
		fclose(f);
	return caught & ~blocked & bit;
}

static void
step(struct tracee *t)
{
	int signal = t->signal;
	bool waits = t->on_its_way;

	if (!waits) {
		if (!signal && !t->deaf && !random_below(300) && is_measured(t->pc) && can_strike(t->tid))
			signal = SIGURG;
		t->signal = 0;
		t->deaf = false;
		t->entered = signal != 0;
		if (ptrace(PTRACE_SINGLESTEP, t->tid, 0L, (long)signal)) {
			forget(t);
			return;
		}
		t->on_its_way = true;
	}
	wait_for(t, waits ? 1 : 1000);
}

static bool
any_left(void)
{
	for (int i = 0; i < ntracee; i++)
		if (!tracee[i].gone)
			return true;
	return false;
}

static char
state_of(pid_t tid)
{
	char path[64], line[512], *end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", tid);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof line, f))
		*line = 0;
	if (f)
		fclose(f);
	end = strrchr(line, ')');
	return end ? end[2] : 0;
}

/* No thread runs on: the first is stopped by a signal, which stops them all before they are let go. */
static void
let_go(void)
{
	bool first = true;

	for (int i = 0; i < ntracee; i++) {
		struct tracee *t = &tracee[i];

		if (t->gone)
			continue;
		if (t->on_its_way) {
			ptrace(PTRACE_INTERRUPT, t->tid, 0L, 0L);
			while (t->on_its_way && !t->gone)
				wait_for(t, 1000);
		}
		ptrace(PTRACE_DETACH, t->tid, 0L, first ? (long)SIGSTOP : 0L);
		while (first && state_of(t->tid) != 'T')
			usleep(100);
		first = false;
	}
}

static void
take_back(void)
{
	for (int i = 0; i < ntracee; i++) {
		struct tracee *t = &tracee[i];
		int status;

		if (t->gone)
			continue;
		if (ptrace(PTRACE_SEIZE, t->tid, 0L, (long)PTRACE_O_TRACECLONE))
			die("seize", "%s", strerror(errno));
		ptrace(PTRACE_INTERRUPT, t->tid, 0L, 0L);
		waitpid(t->tid, &status, __WALL);
		t->deaf = true;
		if (pc_of(t->tid) != t->pc) {
			printf("FAIL: thread %d ran from %" PRIx64 " to %" PRIx64 "\n", t->tid, t->pc, pc_of(t->tid));
			failed++;
			t->pc = pc_of(t->tid);
		}
	}
}

/* ---- asking ---- */

/* Numbers of a row with commas in them; a question mark is -1. */
static const char *
read_row(const char *at, int64_t *to)
{
	for (uint32_t e = 0; e < nevent; e++) {
		at += strspn(at, " ");
		to[e] = *at == '?' ? -1 : 0;
		for (; *at && *at != ' ' && *at != '\n'; at++)
			if (*at >= '0' && *at <= '9')
				to[e] = to[e] * 10 + *at - '0';
	}
	return at;
}

static const char *
place(uint64_t pc)
{
	static char text[200];
	const struct part_at *part = parts_find(&binary.parts, pc - bias);

	if (part)
		snprintf(text, sizeof text, "%s+0x%" PRIx64 "%s", part->proc->name, pc - bias - part->addr,
		         original_at(pc) ? "" : " (woven in)");
	else
		snprintf(text, sizeof text, "%" PRIx64 " outside", pc);
	return text;
}

static void
compare(const char *who, const int64_t *said, const int64_t *truth, bool woven, uint64_t pc)
{
	for (uint32_t e = 0; e < nevent; e++)
		/* Blocks are entered somewhere in woven-in code. */
		if ((!woven || e != blocks) && said[e] != truth[e]) {
			printf("FAIL: %s at %s: %" PRId64 " %s said, %" PRId64 " true\n", who, place(pc), said[e], event[e],
			       truth[e]);
			failed++;
			return;
		}
}

static struct tracee *
by_tid(pid_t tid)
{
	for (int i = 0; i < ntracee; i++)
		if (tracee[i].tid == tid && !tracee[i].gone)
			return &tracee[i];
	return NULL;
}

/* False: it has notes, or there is none. */
static bool
read_answer(FILE *f, char *answer, size_t size)
{
	const char *note;
	size_t n = fread(answer, 1, size - 1, f);

	answer[n] = 0;
	note = strstr(answer, "\nNote:\n");
	if (note) {
		noted++;
		printf("note: %s:%.200s", place(tracee[0].pc), note + 7);
	} else if (!strstr(answer, "\n         all ")) {
		unready++;
		if (!strstr(answer, "has no profile") && !strstr(answer, "only just begun")) {
			printf("FAIL: at %s: %s", place(tracee[0].pc), answer);
			failed++;
		}
		return false;
	}
	return !note;
}

/* Does a thread's row count for others, too: for threads that ended before, or for one that it shares counters with? */
static bool
has_others(const char *what)
{
	return strstr(what, ", includes ") || strstr(what, ", counts with ");
}

static void
check_answer(char *answer, bool woven)
{
	int64_t said[EVENTS_MAX], all[EVENTS_MAX];
	char *rest = NULL;

	for (uint32_t e = 0; e < nevent; e++) {
		all[e] = ended[e];
		for (int i = 0; i < ntracee; i++)
			all[e] += tracee[i].gone ? 0 : tracee[i].count[e];
	}
	for (char *line = strtok_r(answer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *name = line + strspn(line, " ");
		struct tracee *t = by_tid(atoi(name));
		const char *behind = read_row(name + strcspn(name, " "), said);

		if (t && !has_others(behind))
			compare("thread", said, t->count, woven, t->pc);
		if (!strncmp(name, "all ", 4))
			compare("all", said, all, woven, tracee[0].pc);
	}
}

static void
ask(void)
{
	static char answer[65536];
	char command[4096];
	bool woven = false;
	FILE *f;
	int i = 0;

	while (tracee[i].gone)
		i++;
	for (int k = 0; k < ntracee; k++)
		woven |= !tracee[k].gone && is_measured(tracee[k].pc) && !original_at(tracee[k].pc);
	if (!is_measured(tracee[i].pc))
		outside++;
	else if (original_at(tracee[i].pc))
		at_original++;
	else
		at_woven++;
	let_go();
	snprintf(command, sizeof command, "'%s' query --thread %d 2>&1", chord, tracee[0].tid);
	f = popen(command, "r");
	if (read_answer(f, answer, sizeof answer))
		check_answer(answer, woven);
	pclose(f);
	take_back();
}

/* ---- the run ---- */

/* Mostly where it is measured. */
static void
go_to_measured(struct tracee *t)
{
	if (random_below(4)) {
		for (int i = 0; i < 20000 && !t->gone && !is_measured(t->pc); i++)
			step(t);
		for (uint64_t i = random_below(40); i-- && !t->gone;)
			step(t);
	}
}

/* Few stops are worth making before the program itself has begun. */
static void
skip_start(struct tracee *t)
{
	while (!t->gone && !is_measured(t->pc) && random_below(1000000))
		step(t);
}

static void
run(unsigned stops, uint64_t gap)
{
	skip_start(&tracee[0]);
	for (unsigned n = 0; n < stops && any_left(); n++) {
		struct tracee *t = &tracee[0];

		for (uint64_t left = 1 + random_below(2 * gap); left-- && any_left();) {
			/* Now and then another thread goes on. */
			while (t->gone || t->on_its_way || !random_below(500)) {
				t = &tracee[random_below((uint64_t)ntracee)];
				if (!t->gone && t->on_its_way)
					step(t);
			}
			step(t);
		}
		if (any_left())
			go_to_measured(t);
		for (int i = 0; i < ntracee; i++)
			while (!tracee[i].gone && !tracee[i].on_its_way && tracee[i].signal)
				step(&tracee[i]);
		if (any_left())
			ask();
	}
}

static uint64_t
entry_in_memory(pid_t pid)
{
	char path[64];
	uint64_t aux[2] = {0};
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	while (f && fread(aux, sizeof aux, 1, f) == 1 && aux[0] != 9)
		;
	if (f)
		fclose(f);
	return aux[1];
}

static uint64_t
entry_in_file(const char *program)
{
	uint64_t entry = 0;
	FILE *f = fopen(program, "re");

	if (f && !fseek(f, 24, SEEK_SET) && fread(&entry, sizeof entry, 1, f) != 1)
		entry = 0;
	if (f)
		fclose(f);
	return entry;
}

/* Through the loader's work at full speed. */
static void
run_to(pid_t pid, uint64_t pc)
{
	struct user_regs_struct r;
	long word = ptrace(PTRACE_PEEKTEXT, pid, pc, 0L);
	int status;

	ptrace(PTRACE_POKETEXT, pid, pc, (word & ~0xffl) | 0xcc);
	ptrace(PTRACE_CONT, pid, 0L, 0L);
	waitpid(pid, &status, __WALL);
	ptrace(PTRACE_POKETEXT, pid, pc, word);
	ptrace(PTRACE_GETREGS, pid, 0L, &r);
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip), r.rip - 1);
}

/* Starts the program, which is then at its entry. */
static pid_t
start(char **argv)
{
	int go[2], status;
	pid_t pid;
	char c = 0;

	if (pipe(go) || (pid = fork()) < 0)
		die("stops", "%s", strerror(errno));
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execv(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, pid, 0L, (long)(PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)) || write(go[1], &c, 1) != 1)
		die("stops", "%s", strerror(errno));
	close(go[1]);
	waitpid(pid, &status, __WALL);
	bias = entry_in_memory(pid) - entry_in_file(argv[0]);
	run_to(pid, entry_in_memory(pid));
	return pid;
}

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	pid_t pid;

	if (argc < 6)
		die("stops", "CHORD STOPS GAP SEED PROGRAM [ARGUMENT...]");
	chord = argv[1];
	srandom((unsigned)atoi(argv[4]));
	read_map(pool, argv[5]);
	pid = start(argv + 5);
	tracee[ntracee++] = (struct tracee){.tid = pid, .pc = pc_of(pid)};
	run((unsigned)atoi(argv[2]), strtoull(argv[3], NULL, 10));
	kill(pid, SIGKILL);
	printf("%u stops at instructions, %u in woven-in code, %u outside; %u before there was a profile, %u with notes\n",
	       at_original, at_woven, outside, unready, noted);
	return failed != 0;
}
