/* SPDX-License-Identifier: MIT */
/* A trace as lines of text: calls and returns, indented by their depth, and what ran in between. */
#include "tool/trace/trace.h"

#include "tool/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Lines are indented at most this far. */
enum { INDENT_MOST = 60 };

const char *
replay_how_name(enum replay_how how)
{
	static const char *const name[] = {
		[REPLAY_BY_CALL] = "call", [REPLAY_BY_TAIL_CALL] = "tail call", [REPLAY_FROM_OUTSIDE] = "outside",
		[REPLAY_FROM_NOWHERE] = "interrupts", [REPLAY_FOUND] = "found", [REPLAY_BY_RETURN] = "return",
		[REPLAY_BY_JUMP] = "jump", [REPLAY_BY_EITHER] = "return or jump", [REPLAY_AT_END] = "end",
		[REPLAY_UNSURE] = "unsure", [REPLAY_UNTRACED] = "untraced",
	};

	return name[how];
}

/* ---- lines ---- */

/* Keeps a line among the last n. */
static void
keep_line(struct trace_out *o, uint64_t n)
{
	char *line;

	buf_char(&o->text, 0);
	line = xstrdup(o->text.at);
	if (o->last.n < n) {
		VEC_PUSH(o->last, line);
	} else {
		free(o->last.at[o->nlast % n]);
		o->last.at[o->nlast % n] = line;
	}
	o->nlast++;
}

static void
put_line(struct trace_out *o)
{
	buf_char(&o->text, '\n');
	if (o->args->last)
		keep_line(o, o->args->last);
	else
		fwrite(o->text.at, 1, o->text.n, o->to);
	o->text.n = 0;
}

void
stream_forgets(struct trace_out *o)
{
	for (size_t i = 0; i < o->last.n; i++)
		free(o->last.at[i]);
	o->last.n = o->nlast = 0;
}

/* Prints the last lines of a thread, when it has ended. */
static void
put_last(struct trace_out *o)
{
	for (uint64_t i = o->nlast - o->last.n; i < o->nlast; i++)
		fputs(o->last.at[i % o->args->last], o->to);
	stream_forgets(o);
}

static void
put_head(struct trace_out *o)
{
	uint64_t thread = o->replay.thread ? o->replay.thread : o->number;

	if ((!o->any && !o->again) || o->args->spoke != o)
		fprintf(o->to, "%s process %" PRIu64 ", thread %" PRIu64 "\n", plain_text(o->process->name),
		        o->process->file->pid, thread);
	o->any = true;
	o->args->spoke = o;
}

/* Begins a line about an activation at that depth, which counts from 1. */
static void
begin_line(struct trace_out *o, uint64_t insns, size_t depth)
{
	char number[32];
	size_t indent = depth - 1 < INDENT_MOST ? depth - 1 : INDENT_MOST;

	put_head(o);
	buf_printf(&o->text, "%18s  %*s", grouped(number, insns), (int)(2 * indent), "");
	if (depth - 1 > INDENT_MOST)
		buf_printf(&o->text, "[%zu] ", depth);
}

/* ---- calls ---- */

/* Notes where a signal struck: the instruction that would have been next. */
static void
note_struck(struct trace_out *o)
{
	const struct replay_strike *s = &o->replay.struck;
	const struct trace_block *b;

	o->struck.n = 0;
	if (!s->proc)
		return;
	buf_printf(&o->struck, " %s", plain_name(s->proc->name));
	if (s->block == UINT32_MAX)
		return;
	b = trace_block(o, s->proc, s->module, s->block);
	buf_printf(&o->struck, " block %u", s->block);
	if (s->insn < b->n && b->insn[s->insn].at.file)
		buf_printf(&o->struck, ", %s:%u", shown_path(b->insn[s->insn].at.file), b->insn[s->insn].at.line);
}

static void
put_entry(struct trace_out *o, bool more)
{
	static const char *const note[] = {
		[REPLAY_BY_TAIL_CALL] = "tail call", [REPLAY_FROM_NOWHERE] = "interrupts", [REPLAY_FOUND] = "began before",
	};
	const struct replay_frame *f = &o->replay.stack.at[o->pending - 1];

	begin_line(o, f->since, o->pending);
	buf_plain(&o->text, image_readable(f->proc->name));
	if (!strchr(image_readable(f->proc->name), '('))
		buf_str(&o->text, "()");
	buf_str(&o->text, more ? " {" : ";");
	if (o->how < sizeof note / sizeof *note && note[o->how])
		buf_printf(&o->text, "  /* %s%.*s */", note[o->how], (int)o->struck.n, o->struck.at ? o->struck.at : "");
	put_line(o);
	o->pending = 0;
}

static void
flush_entry(struct trace_out *o)
{
	if (o->pending)
		put_entry(o, true);
}

static void
enters(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	flush_entry(o);
	select_entered(o);
	if (!select_shown(o))
		return;
	o->pending = r->stack.n;
	o->how = how;
	o->struck.n = 0;
	if (how == REPLAY_FROM_NOWHERE)
		note_struck(o);
	r->stack.at[r->stack.n - 1].note = o;
}

static void
put_leaving(struct trace_out *o, enum replay_how how)
{
	static const char *const note[] = {
		[REPLAY_BY_JUMP] = ": left by a jump", [REPLAY_BY_EITHER] = ": returned, or was left by a jump",
		[REPLAY_AT_END] = ": had not ended", [REPLAY_BY_TAIL_CALL] = ": goes on in",
		[REPLAY_UNSURE] = ": may not have ended", [REPLAY_UNTRACED] = ": went on in code that is not traced",
	};
	const struct replay_frame *f = &o->replay.stack.at[o->replay.stack.n - 1];

	if (o->pending && how == REPLAY_BY_RETURN) {
		put_entry(o, false);
		return;
	}
	flush_entry(o);
	begin_line(o, o->replay.insns, o->replay.stack.n);
	buf_printf(&o->text, "} /* %s%s */", plain_name(f->proc->name), note[how] ? note[how] : "");
	put_line(o);
}

static void
leaves(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	if (select_shown(o) && (r->stack.at[r->stack.n - 1].note || how < REPLAY_AT_END))
		put_leaving(o, how);
	o->pending = 0;
	select_left(o);
}

/* ---- what ran ---- */

static void
put_place(struct trace_out *o, const struct image_place *at)
{
	if (at->file)
		buf_printf(&o->text, "  %s:%u", shown_path(at->file), at->line);
}

static void
put_block(struct trace_out *o, const struct replay_path *p, uint32_t number, uint64_t insns, uint32_t lo, uint32_t hi)
{
	const struct trace_block *b = trace_block(o, p->proc, p->module, number);

	(void)hi;
	if (lo)
		return;
	begin_line(o, insns, o->replay.stack.n + 1);
	buf_printf(&o->text, "%s block %u", plain_name(p->proc->name), number);
	if (b->n)
		put_place(o, &b->insn[0].at);
	put_line(o);
}

static void
put_lines(struct trace_out *o, const struct replay_path *p, uint32_t number, uint64_t insns, uint32_t lo, uint32_t hi)
{
	const struct trace_block *b = trace_block(o, p->proc, p->module, number);

	for (uint32_t i = lo; i < hi && i < b->n; i++) {
		const struct image_place *at = &b->insn[i].at;

		if (!at->file || (at->file == o->line.file && at->line == o->line.line))
			continue;
		begin_line(o, insns + i - lo, o->replay.stack.n + 1);
		buf_printf(&o->text, "%s:%u", shown_path(at->file), at->line);
		put_line(o);
		o->line = *at;
	}
}

static void
put_insns(struct trace_out *o, const struct replay_path *p, uint32_t number, uint64_t insns, uint32_t lo, uint32_t hi)
{
	const struct trace_block *b = trace_block(o, p->proc, p->module, number);
	struct binary *bin = traced_binary(o->process, p->module);

	for (uint32_t i = lo; i < hi && i < b->n; i++) {
		struct str bytes = b->insn[i].addr ? image_bytes(bin->image, b->insn[i].addr) : STR("");

		begin_line(o, insns + i - lo, o->replay.stack.n + 1);
		if (b->insn[i].addr)
			buf_printf(&o->text, "%10" PRIx64 "  ", b->insn[i].addr);
		if (!bytes.n)
			buf_printf(&o->text, "%12snop", "");
		else
			image_machine(bin->image)->print(&o->text, (const uint8_t *)bytes.at, bytes.n, b->insn[i].addr);
		put_place(o, &b->insn[i].at);
		put_line(o);
	}
}

static void
runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	static void (*const put[])(struct trace_out *, const struct replay_path *, uint32_t, uint64_t, uint32_t, uint32_t) = {
		[TRACE_BLOCKS] = put_block, [TRACE_LINES] = put_lines, [TRACE_INSNS] = put_insns,
	};
	struct trace_out *o = r->ctx;
	uint64_t insns = r->insns;

	if (!select_path(o, replay_insns(p, from, to)) || !put[o->args->view]) {
		r->stop = o->over && o->args->thread == trace_thread(o);
		return;
	}
	flush_entry(o);
	for (uint32_t i = from.block; i < p->n && (i < to.block || (i == to.block && to.insn)); i++) {
		uint32_t lo = i == from.block ? from.insn : 0;
		uint32_t hi = i == to.block ? to.insn : p->proc->block[p->block[i]].ninsn;

		if (o->args->form != TRACE_JSON)
			put[o->args->view](o, p, p->block[i], insns, lo, hi);
		else if (!lo || o->args->view != TRACE_BLOCKS)
			json_block(o, p, p->block[i], insns, lo, hi);
		insns += hi - lo;
	}
}

/* The process was still running when this was read, or was killed. */
static void
unsure(struct replay *r)
{
	struct trace_out *o = r->ctx;

	if (o->args->view == TRACE_CALLS || !select_shown(o))
		return;
	if (o->args->form == TRACE_JSON) {
		json_note(o, "unsure");
		return;
	}
	flush_entry(o);
	begin_line(o, r->insns, r->stack.n + 1);
	buf_str(&o->text, "/* what follows may not have run */");
	put_line(o);
}

/* A signal struck, and where is not known. */
static void
breaks(struct replay *r)
{
	struct trace_out *o = r->ctx;

	if (o->args->view == TRACE_CALLS || !select_shown(o))
		return;
	if (o->args->form == TRACE_JSON) {
		json_note(o, "broken");
		return;
	}
	flush_entry(o);
	begin_line(o, r->insns, r->stack.n + 1);
	buf_str(&o->text, "/* a signal struck here or further on: what ran up to there is not known */");
	put_line(o);
}

/* ---- threads ---- */

const char *
trace_end_name(const struct trace_out *o)
{
	static const char *const name[] = {
		[CHORD_ENDS_EXIT] = "exit", [CHORD_ENDS_AT_ONCE] = "_exit", [CHORD_ENDS_SIGNAL] = "signal",
		[CHORD_ENDS_EXEC] = "exec", [CHORD_ENDS_DAEMON] = "daemon", [CHORD_ENDS_THREAD] = "thread",
		[CHORD_ENDS_CANCELLED] = "cancelled", [CHORD_ENDS_GONE] = "gone",
	};

	if (o->replay.ends && o->replay.ends < sizeof name / sizeof *name)
		return name[o->replay.ends];
	switch (o->process->profile->state) {
	case CHORD_STATE_RUNNING:
		return "unknown";
	case CHORD_STATE_THREADS:
		return "process";
	default:
		return NULL;
	}
}

/* Puts a line that says how the thread ended. */
static void
put_end(struct trace_out *o, const char *name)
{
	static const struct { const char *name, *text; } said[] = {
		{"exit", "the process ends: exit"}, {"_exit", "the process ends at once: _exit"},
		{"signal", "the process ends by signal"}, {"exec", "the process executes another program"},
		{"daemon", "the process ends in daemon()"}, {"thread", "the thread ends: pthread_exit"},
		{"cancelled", "the thread is cancelled"}, {"gone", "the thread has ended"},
		{"process", "the process ends while this thread is there"},
		{"unknown", "the process was killed, or is there still"},
	};

	flush_entry(o);
	begin_line(o, o->replay.insns, 1);
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		if (!strcmp(said[i].name, name))
			buf_printf(&o->text, "/* %s", said[i].text);
	if (o->replay.ends == CHORD_ENDS_SIGNAL)
		buf_printf(&o->text, " %u", o->replay.by);
	buf_str(&o->text, " */");
	put_line(o);
}

static void
thread_ends(struct replay *r)
{
	struct trace_out *o = r->ctx;
	const char *name = trace_end_name(o);

	if (!name || !select_shown(o))
		return;
	if (o->args->form == TRACE_JSON)
		json_end(o, name);
	else if (o->any || (!o->replay.insns && !o->args->grep && !o->args->from.set))
		put_end(o, name);
}

/* False: the stream has to wait. */
static bool
meets(struct trace_out *o, enum chord_event event)
{
	static const enum trace_meeting what[] = {
		[CHORD_EVENT_CREATES] = TRACE_CREATES, [CHORD_EVENT_FORKS] = TRACE_FORKS, [CHORD_EVENT_FORKED] = TRACE_FORKED,
		[CHORD_EVENT_ENDS] = TRACE_ENDS, [CHORD_EVENT_JOINS] = TRACE_JOINS,
		[CHORD_EVENT_STAMP] = TRACE_STAMP,
	};

	if (event == CHORD_EVENT_UNMADE)
		return true;
	o->met++;
	return !o->meets || o->meets(o, what[event]);
}

void
stream_meets(struct trace_out *o, enum chord_event event)
{
	meets(o, event);
}

static void
meet(struct replay *r, enum chord_event event)
{
	meets(r->ctx, event);
}

static void
put_order(struct trace_out *o, enum chord_event event)
{
	struct replay *r = &o->replay;

	if (event == CHORD_EVENT_FORKED || event == CHORD_EVENT_ENDS || !select_shown(o) ||
	    (event == CHORD_EVENT_UNMADE && r->made))
		return;
	if (o->args->form == TRACE_JSON) {
		json_order(o, event);
		return;
	}
	flush_entry(o);
	begin_line(o, r->insns, r->stack.n + 1);
	if (event == CHORD_EVENT_CREATES)
		buf_printf(&o->text, "/* thread %u begins */", r->made);
	else if (event == CHORD_EVENT_FORKS)
		buf_str(&o->text, "/* fork */");
	else if (event == CHORD_EVENT_JOINS)
		buf_printf(&o->text, "/* thread %u has been joined */", r->joined);
	else if (event == CHORD_EVENT_STAMP)
		buf_printf(&o->text, "/* stamp %" PRIu64 " */", r->stamp);
	else
		buf_str(&o->text, "/* the thread could not be created */");
	put_line(o);
}

/* Threads are created or joined, the process forks or ends, or there is a stamp. An event that has to come after another stream's
 * is put only when that one has been. */
static void
happens(struct replay *r, enum chord_event event)
{
	struct trace_out *o = r->ctx;

	if (event != CHORD_EVENT_JOINS && event != CHORD_EVENT_STAMP) {
		put_order(o, event);
		meet(r, event);
	} else if (meets(o, event)) {
		put_order(o, event);
	} else {
		o->held = event;
	}
}

void
stream_goes_on(struct trace_out *o)
{
	if (o->held)
		put_order(o, o->held);
	o->held = 0;
}

static void
thread_begins(struct replay *r, enum chord_mark kind)
{
	struct trace_out *o = r->ctx;

	put_last(o);
	o->any = false;
	o->offset = o->from = 0;
	o->pending = 0;
	o->line = (struct image_place){0};
	o->begun = true;
	o->passed = false;
	o->drawn = 0;
	select_thread(o);
	o->met += r->thread != 0;
	if (o->meets && kind == CHORD_MARK_THREAD && r->thread)
		o->meets(o, TRACE_BEGINS);
}

static void
json_enters(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	select_entered(o);
	if (select_shown(o))
		json_event(o, "enter", how);
}

static void
json_leaves(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	if (select_shown(o))
		json_event(o, "leave", how);
	select_left(o);
}

/* Draws the beginning or the end of an activation. */
static void
put_span(struct trace_out *o, bool begins)
{
	if (o->args->form == TRACE_PERFETTO)
		perfetto_event(o, begins);
	else
		chrome_event(o, begins ? 'B' : 'E');
}

static void
span_enters(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	(void)how;
	select_entered(o);
	if (select_shown(o)) {
		put_span(o, true);
		r->stack.at[r->stack.n - 1].note = o;
		o->drawn++;
	}
}

/* A slice that began has to end, even after the part that is shown. */
static void
span_leaves(struct replay *r, enum replay_how how)
{
	struct trace_out *o = r->ctx;

	(void)how;
	if (r->stack.at[r->stack.n - 1].note) {
		put_span(o, false);
		o->drawn--;
	}
	select_left(o);
}

static void
span_thread_ends(struct replay *r)
{
	struct trace_out *o = r->ctx;

	if (o->meets)
		o->meets(o, TRACE_THREAD_ENDS);
}

static void
only_select(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	select_path(r->ctx, replay_insns(p, from, to));
}

static struct replay
replay_for(struct trace_out *o)
{
	struct replay r = {.file = o->process->file, .code = o->process->code, .ctx = o, .thread_begins = thread_begins,
	                   .index = o->index && !o->index->read ? o->index : NULL,
	                   .locate = place_locate, .written = place_written, .names = place_names,
	                   .killed = o->process->profile->state != CHORD_STATE_ENDED};

	if (o->args->form == TRACE_LACKEY) {
		r.enters = lackey_enters;
		r.leaves_frame = lackey_leaves;
		r.runs = lackey_runs;
		r.writes = lackey_writes;
		r.jumps = lackey_jumps;
		return r;
	}
	if (o->args->form >= TRACE_CHROME) {
		r.enters = span_enters;
		r.leaves_frame = span_leaves;
		r.runs = only_select;
		r.happens = meet;
		r.thread_ends = span_thread_ends;
		return r;
	}
	r.thread_ends = thread_ends;
	r.happens = happens;
	r.enters = o->args->form == TRACE_JSON ? json_enters : enters;
	r.leaves_frame = o->args->form == TRACE_JSON ? json_leaves : leaves;
	r.runs = runs;
	r.unsure = unsure;
	r.breaks = breaks;
	return r;
}

void
stream_begins(struct trace_out *o, size_t stream)
{
	o->number = stream + 1;
	o->replay = replay_for(o);
	o->events = (struct trace_events){.stream = stream};
	o->met = o->told = 0;
	thread_begins(&o->replay, CHORD_MARK_THREAD);
}

bool
stream_ends(struct trace_out *o, size_t stream, const char *why)
{
	if (o->args->form == TRACE_LACKEY)
		lackey_end(o);
	put_last(o);
	free(o->last.at);
	o->last.at = NULL;
	o->last.cap = 0;
	if (o->replay.unknown)
		say_warning(o->process->name, "%" PRIu64 " paths of thread %" PRIu64 " are not known: their code is not at hand",
		            o->replay.unknown, o->number);
	if (o->replay.missed)
		say_warning(o->process->name, "what thread %" PRIu64 " did is not known in %" PRIu64 " places: %s", o->number,
		            o->replay.missed, "words of outcomes are not in the trace");
	if (why)
		say_error(o->process->trace, "thread %zu: %s: read up to this point", stream + 1, why);
	buf_free(&o->text);
	buf_free(&o->struck);
	return !why;
}

bool
trace_warn(struct trace_out *o)
{
	const char *name = o->process->trace, *why = trace_short(o->run->pool, o->process->file);
	const char *tail = trace_tail(o->run->pool, o->process->file);
	bool ok = !why || (tail && !strcmp(why, tail));

	o->args->kept_end |= tail != NULL;
	if (ok && tail)
		say_warning(name, "%s", tail);
	else if (why)
		say_error(name, "%s: the readable part follows", why);
	return ok;
}

bool
trace_print(struct trace_out *o)
{
	bool ok;

	if (o->args->form == TRACE_LACKEY && !lackey_can(o)) {
		say_error(o->process->name, "no addresses were traced: is the program built with -fchord=trace,data?");
		return false;
	}
	ok = trace_warn(o);
	seek_begins(o);
	for (size_t i = 0; i < o->process->file->stream.n; i++)
		ok &= stream_ends(o, i, seek_stream(o, i));
	seek_ends(o);
	strmap_free(&o->blocks);
	return ok;
}
