/* SPDX-License-Identifier: MIT */
/* What gdb asks for: registers, memory, breakpoints, going on and back. Nothing of the program can be changed, because that would
 * be another run. */
#include "replay/gdb/gdb.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- stops ---- */

static const char *
reason(struct pool *pool, const struct condition *c)
{
	static const char *const of[] = {"swbreak:", "hwbreak:", "watch:", "rwatch:", "awatch:"};

	return c->watch ? pool_printf(pool, "%s%" PRIx64, of[c->kind], c->at) : of[c->kind];
}

/* gdb has numbers of its own for signals. Of those that differ from Linux, only these few are common. */
static int
signal_of_gdb(int sig)
{
	switch (sig) {
	case SIGBUS: return 10;
	case SIGUSR1: return 30;
	case SIGUSR2: return 31;
	case SIGCHLD: return 20;
	case SIGCONT: return 19;
	case SIGSTOP: return 17;
	case SIGTSTP: return 18;
	case SIGURG: return 16;
	case SIGIO: return 23;
	case SIGSYS: return 12;
	case SIGSTKFLT: case SIGPWR: return 143;
	default: return sig;
	}
}

static void
tell_stop(struct debugger *d, int sig, const char *why)
{
	struct buf b = {0};

	const struct task *alone = d->alone ? view_thread(d, d->alone) : NULL, *t = alone ? alone : view_any(d);
	char name[64], link[4096];
	ssize_t n = 0;

	d->alone = 0;
	if (t && t->group->programs != d->program) {
		d->program = t->group->programs;
		snprintf(name, sizeof name, "/proc/%d/exe", t->t.pid);
		n = readlink(name, link, sizeof link);
	}
	buf_printf(&b, "T%02x", n > 0 ? SIGTRAP : sig);
	if (n > 0) {
		buf_str(&b, "exec:");
		put_hex(&b, link, (size_t)n);
		buf_char(&b, ';');
	} else {
		buf_printf(&b, "%s%s", why, *why ? ";" : "");
	}
	buf_printf(&b, "thread:%" PRIx64 ";", t ? t->number : 1);
	packet_put(&d->c, b.at, b.n);
	buf_free(&b);
	d->general = d->control = 0;
}

/* Signals that gdb passes on silently unless the user says otherwise (`handle`). */
static bool
is_passed_on(int sig)
{
	return sig == SIGALRM || sig == SIGVTALRM || sig == SIGPROF || sig == SIGIO || sig >= 32;
}

/* When the end is told first, the program still stands, so that the user can go back. That is always so if the end is not the
 * program's own. */
static void
tell_end(struct debugger *d)
{
	int status = d->r.status;
	char text[32];

	if (!d->ended) {
		d->ended = true;
		if (WIFSIGNALED(status) && !is_passed_on(WTERMSIG(status)))
			tell_stop(d, signal_of_gdb(WTERMSIG(status)), "");
		else
			tell_stop(d, SIGTRAP, "replaylog:end:");
		return;
	}
	if (WIFSIGNALED(status))
		snprintf(text, sizeof text, "X%02x", signal_of_gdb(WTERMSIG(status)));
	else
		snprintf(text, sizeof text, "W%02x", WEXITSTATUS(status));
	packet_text(&d->c, text);
}

static bool
is_lost(const struct debugger *d)
{
	return d->r.failed || log_failed(d->r.log);
}

/* gdb takes the program for killed then: nothing of it is left, and after an error gdb would go on asking. */
static void
tell_lost(struct debugger *d)
{
	if (!is_lost(d))
		say_error("replay", "it did not come to the place that gdb asked for, so it ends here: start it anew");
	d->r.failed = true;
	packet_text(&d->c, "X09");
}

void
tell(struct debugger *d, enum came came)
{
	struct pool *pool = pool_new();

	switch (came) {
	case CAME_STEP: tell_stop(d, SIGTRAP, ""); break;
	case CAME_HIT: tell_stop(d, SIGTRAP, reason(pool, &d->fired)); break;
	case CAME_BEGIN: tell_stop(d, SIGTRAP, "replaylog:begin:"); break;
	case CAME_INTERRUPTED: tell_stop(d, SIGINT, ""); break;
	case CAME_SOUGHT: tell_stop(d, 0, ""); break;
	case CAME_END: tell_end(d); break;
	case CAME_LOST: tell_lost(d); break;
	}
	pool_free(pool);
}

/* ---- going ---- */

static void
note_fired(struct debugger *d)
{
	const struct condition *c = go_fired(d, true);

	c = c ? c : go_fired(d, false);
	if (c)
		d->fired = *c;
}

/* Addresses from `from` up to, but not including, `to`. */
struct range {
	uint64_t from, to;
};

static bool
is_in(const struct task *t, const struct range *range)
{
	uint64_t pc = tracee_word(&t->t, t->t.machine->pc);

	return range && pc >= range->from && pc < range->to;
}

/* Steps one instruction of a thread, or until it leaves the range. Other threads have their turns as they had. thread 0: the one
 * that has its turn. d->alone: ends where the turn of another thread would begin. */
static enum came
step_thread(struct debugger *d, uint64_t thread, const struct range *range)
{
	const struct task *t = view_thread(d, thread);
	uint64_t programs = view_programs(d);

	thread = t ? t->number : 0;
	for (;;) {
		bool waits = t && t != d->r.task;
		enum came came;

		if (d->alone && waits)
			return CAME_STEP;
		came = t && !waits ? forward_step(d) : forward(d, thread);
		t = view_thread(d, thread);
		if (d->alone && came == CAME_HIT && t != d->r.task)
			came = CAME_STEP;
		if (came != CAME_STEP || d->r.ended || view_programs(d) != programs)
			return came;
		if (d->alone && (!t || t != d->r.task || t->in_call))
			return came;
		if (t && !waits && t == d->r.task && !t->in_call && !is_in(t, range))
			return came;
		if (go_interrupted(d))
			return CAME_INTERRUPTED;
	}
}

static void
resume(struct debugger *d, bool step)
{
	enum came came;

	if (d->r.ended) {
		tell(d, CAME_END);
		return;
	}
	d->alone = step ? d->control : 0;
	came = step ? step_thread(d, d->control, NULL) : forward(d, 0);
	note_fired(d);
	tell(d, came);
}

/* `;ACTION[:THREAD]` once or several times. The first action that steps decides, because the other threads go on as they did. */
static void
resume_by(struct debugger *d, const char *p)
{
	struct range range = {0};
	enum came came;
	bool step = false, others = strstr(p, ";c;") || strstr(p, ";C") || (strlen(p) >= 2 && !strcmp(p + strlen(p) - 2, ";c"));

	if (p[0] != ';') {
		packet_text(&d->c, "");
		return;
	}
	d->control = 0;
	for (; p && *p == ';' && !step; p = strchr(p + 1, ';')) {
		const char *thread = strchr(p, ':'), *next = strchr(p + 1, ';'), *at = p + 2;

		step = strchr("sSr", p[1]) && p[1];
		if (p[1] == 'r') {
			range.from = get_hex(&at);
			at += *at == ',';
			range.to = get_hex(&at);
		}
		if (step && thread && (!next || thread < next) && thread[1] != '-') {
			thread++;
			d->control = get_hex(&thread);
		}
	}
	if (!step || d->r.ended) {
		resume(d, false);
		return;
	}
	d->alone = others ? 0 : d->control;
	came = step_thread(d, d->control, &range);
	note_fired(d);
	tell(d, came);
}

/* ---- registers and memory ---- */

/* The thread whose state gdb wants to see; NULL: it does not exist any more. */
static const struct tracee *
general(const struct debugger *d)
{
	const struct task *t = view_thread(d, d->general);

	return t ? &t->t : NULL;
}

size_t
registers_of(const struct tracee *t, bool vectors, uint8_t to[DESCRIBED_MOST])
{
	const struct machine_traced *machine = t->machine;
	char state[TRACED_STATE_MOST];
	size_t n = 0;

	machine->describe(&t->regs, state, vectors ? machine->get_state(t->pid, state) : 0, to);
	for (size_t i = 0; i < machine->ndescribed; i++)
		for (size_t j = 0; j < machine->described[i].n; j++)
			n += machine->described[i].reg[j].size;
	return n;
}

size_t
register_at(const struct machine_traced *machine, uint64_t number, size_t *size)
{
	size_t at = 0;

	*size = 0;
	for (size_t i = 0; i < machine->ndescribed; i++)
		for (size_t j = 0; j < machine->described[i].n; j++, number--) {
			if (!number) {
				*size = machine->described[i].reg[j].size;
				return at;
			}
			at += machine->described[i].reg[j].size;
		}
	return 0;
}

static void
read_registers(struct debugger *d, const char *p)
{
	uint8_t all[DESCRIBED_MOST];
	const struct tracee *t = general(d);
	size_t n = t ? registers_of(t, true, all) : 0, at = 0;
	struct buf b = {0};

	if (*p++ == 'p' && t)
		at = register_at(t->machine, get_hex(&p), &n);
	put_hex(&b, all + at, n);
	if (n)
		packet_put(&d->c, b.at, b.n);
	else
		packet_text(&d->c, "E01");
	buf_free(&b);
}

static void
read_memory(struct debugger *d, const char *p)
{
	const struct task *task = view_thread(d, d->general);
	uint64_t addr = get_hex(&p), n;
	char bytes[1 << 14];
	struct buf b = {0};

	p += *p == ',';
	n = get_hex(&p);
	n = task ? tracee_read_some(&task->t, addr, bytes, n < sizeof bytes ? n : sizeof bytes) : 0;
	if (n)
		nondet_show(task, addr, bytes, n);
	put_hex(&b, bytes, n);
	if (n)
		packet_put(&d->c, b.at, b.n);
	else
		packet_text(&d->c, "E14");
	buf_free(&b);
}

/* ---- breakpoints ---- */

enum { WATCHED_MOST = 1 << 24 };

static void
set_condition(struct debugger *d, const char *p)
{
	bool add = *p++ == 'Z';
	struct condition c = {.kind = *p - '0'};

	if (c.kind < 0 || c.kind > 4 || p[1] != ',') {
		packet_text(&d->c, "");
		return;
	}
	p += 2;
	c.watch = c.kind >= 2;
	c.reads = c.kind >= 3;
	c.only_reads = c.kind == 3;
	c.at = get_hex(&p);
	p += *p == ',';
	c.n = get_hex(&p);
	c.n = c.watch ? c.n : 0;
	if (add && !c.watch && p[0] == ';')
		c.expression = expression_read(d->pool, p + 1);
	if (c.n > WATCHED_MOST || (c.watch && !c.n)) {
		packet_text(&d->c, "E01");
		return;
	}
	for (size_t i = d->user.n; i-- > 0;)
		if (d->user.at[i].kind == c.kind && d->user.at[i].at == c.at && d->user.at[i].n == c.n) {
			memmove(&d->user.at[i], &d->user.at[i + 1], (d->user.n - i - 1) * sizeof c);
			d->user.n--;
		}
	if (add)
		VEC_PUSH(d->user, c);
	packet_text(&d->c, "OK");
}

/* ---- all of them ---- */

/* What the program writes goes to gdb's console, because standard output is the connection. */
static void
to_console(void *of, int stream, const char *at, size_t n)
{
	struct debugger *d = of;
	struct buf b = {0};

	(void)stream;
	if (!d->moving) {
		buf_add(&d->unsaid, at, n);
		return;
	}
	buf_char(&b, 'O');
	put_hex(&b, at, n);
	packet_put(&d->c, b.at, b.n);
	buf_free(&b);
}

/* Is it one step of a thread? gdb makes one to leave a breakpoint, and expects a report of that thread. */
static bool
is_step(const char *p)
{
	return *p == 's' || *p == 'S' || !strncmp(p, "bs", 2) ||
	       (*p == 'v' && (strstr(p, ";s") || strstr(p, ";S") || strstr(p, ";r")));
}

/* Goes back, or seeks a state. If this is interrupted, the program is where it was before. */
static enum came
search(struct debugger *d, const char *p)
{
	enum came came;

	undo_begin(d);
	if (d->seek && (*p != 'b' || d->r.ended || !is_step(p)))
		came = seek(d);
	else
		came = p[1] == 's' ? back_step(d, d->alone = d->control) : back(d);
	if (d->interrupted && !is_lost(d))
		return undo_back(d) ? CAME_INTERRUPTED : CAME_LOST;
	undo_end(d);
	return came;
}

/* Handles a packet that makes the program move. If the replay has failed, no program is left to move. */
static void
move(struct debugger *d, const char *p)
{
	struct buf unsaid = d->unsaid;

	d->unsaid = (struct buf){0};
	d->moving = true;
	if (unsaid.n)
		to_console(d, 1, unsaid.at, unsaid.n);
	buf_free(&unsaid);
	go_listen(d, true);
	if (is_lost(d))
		tell(d, CAME_LOST);
	else if (*p == 'b' || (d->seek && (d->r.ended || !is_step(p))))
		tell(d, search(d, p));
	else if (*p == 'v')
		resume_by(d, p + 5);
	else
		resume(d, *p == 's' || *p == 'S');
	go_listen(d, false);
	d->moving = false;
}

/* Hg or Hc: chooses the thread that later packets ask about, or move. */
static void
choose_thread(struct debugger *d, const char *p)
{
	const char *number = p + 1;
	uint64_t thread = *p && p[1] != '-' ? get_hex(&number) : 0;

	if (!view_thread(d, thread)) {
		packet_text(&d->c, "E01");
		return;
	}
	if (*p == 'g')
		d->general = thread;
	else if (*p == 'c')
		d->control = thread;
	packet_text(&d->c, "OK");
}

/* A change would make another run of it. gdb shows the answer's text for registers only, so the message is printed, once. */
static void
refuse_change(struct debugger *d)
{
	if (!d->refused)
		say_error(log_name(d->r.log),
		          "gdb cannot change registers or memory, nor call functions: that would be another run");
	d->refused = true;
	packet_text(&d->c, "E.that would be another run");
}

static void
serve(struct debugger *d, const char *p, size_t n)
{
	switch (*p) {
	case '?': tell_stop(d, SIGTRAP, ""); break;
	case 'g': case 'p': read_registers(d, p); break;
	case 'm': read_memory(d, p + 1); break;
	case 'G': case 'P': case 'M': case 'X': refuse_change(d); break;
	case 'z': case 'Z': set_condition(d, p); break;
	case 'c': case 'C': case 's': case 'S': case 'b': move(d, p); break;
	case 'v':
		if (!strcmp(p, "vCont?"))
			packet_text(&d->c, "vCont;c;C;s;S;r");
		else if (!strncmp(p, "vCont", 5))
			move(d, p);
		else if (!strncmp(p, "vKill", 5))
			d->gone = true, packet_text(&d->c, "OK");
		else
			packet_text(&d->c, "");
		break;
	case 'q': case 'Q': query(d, p, n); break;
	case 'H': choose_thread(d, p + 1); break;
	case 'T': p++; packet_text(&d->c, view_thread(d, get_hex(&p)) ? "OK" : "E01"); break;
	case 'D': d->gone = true; packet_text(&d->c, "OK"); break;
	case 'k': d->gone = true; break;
	default: packet_text(&d->c, "");
	}
}

static void
free_all(struct debugger *d)
{
	while (d->node.n)
		node_pop(d);
	replayer_end(&d->r);
	replayer_forget(&d->r);
	connection_close(&d->c);
	path_free(&d->path);
	free(d->node.at);
	free(d->user.at);
	free(d->condition.at);
	free(d->guard.at);
	buf_free(&d->unsaid);
	pool_free(d->pool);
}

bool
replay_debug(const char *log, const char *where, uint64_t process)
{
	struct debugger d = {.way = 1, .r.apart = true, .pool = pool_new()};
	struct buf packet = {0};
	bool ok = replayer_begin(&d.r, log);

	if (ok && where && !strcmp(where, "-")) {
		d.r.output = to_console;
		d.r.of = &d;
	}
	if (ok) {
		signal(SIGPIPE, SIG_IGN);
		go_hook(&d);
		ok = view_begin(&d, process);
		d.program = view_programs(&d);
		if (ok && !node_here(&d)) {
			ok = false;
			say_error(log, "the program cannot be copied, so that there is no going back");
		}
		ok = ok && connection_open(&d.c, where);
		go_keep_interrupts();
	}
	while (ok && !d.gone && packet_get(&d.c, &packet))
		serve(&d, packet.at, packet.n);
	ok = ok && !d.r.failed && !log_failed(d.r.log);
	buf_free(&packet);
	free_all(&d);
	return ok;
}
