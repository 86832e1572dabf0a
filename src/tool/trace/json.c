/* SPDX-License-Identifier: MIT */
/* A trace as JSON, an object on each line; and as Chrome's JSON, which Perfetto reads, too, with times in instructions. */
#include "tool/trace/trace.h"

#include "tool/json.h"
#include "tool/print.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t
trace_thread(const struct trace_out *o)
{
	return o->replay.thread ? o->replay.thread : o->number;
}

static json_t *
new_object(const struct trace_out *o, const char *event, uint64_t insns)
{
	json_t *j = json_object();

	js_set(j, "event", js_text(event));
	js_set(j, "process", js_number(o->process->file->pid, true));
	js_set(j, "thread", js_number(trace_thread(o), true));
	js_set(j, "instructions", js_number(insns, true));
	js_set(j, "depth", js_number(o->replay.stack.n, true));
	return j;
}

/* The next instruction of the code that was interrupted. */
static json_t *
struck_json(struct trace_out *o)
{
	const struct replay_strike *s = &o->replay.struck;
	json_t *j = json_object();
	const struct trace_block *b;

	js_set_function(j, "function", s->proc->name);
	if (s->block == UINT32_MAX)
		return j;
	b = trace_block(o, s->proc, s->module, s->block);
	js_set(j, "block", js_number(s->block, true));
	js_set(j, "address", s->insn < b->n ? js_number(b->insn[s->insn].addr, b->insn[s->insn].addr) : js_number(0, false));
	return j;
}

void
json_event(struct trace_out *o, const char *event, enum replay_how how)
{
	json_t *j = new_object(o, event, o->replay.insns);

	js_set(j, "how", js_text(replay_how_name(how)));
	js_set_function(j, "function", o->replay.stack.at[o->replay.stack.n - 1].proc->name);
	if (how == REPLAY_FROM_NOWHERE && o->replay.struck.proc)
		js_set(j, "interrupted", struck_json(o));
	js_line(j, o->to);
}

void
json_note(struct trace_out *o, const char *event)
{
	js_line(new_object(o, event, o->replay.insns), o->to);
}

void
json_end(struct trace_out *o, const char *how)
{
	json_t *j = new_object(o, "end", o->replay.insns);

	js_set(j, "how", js_text(how));
	if (o->replay.ends == CHORD_ENDS_SIGNAL)
		js_set(j, "signal", js_number(o->replay.by, true));
	js_line(j, o->to);
}

void
json_order(struct trace_out *o, enum chord_event event)
{
	static const char *const name[] = {
		[CHORD_EVENT_CREATES] = "create", [CHORD_EVENT_UNMADE] = "not created", [CHORD_EVENT_FORKS] = "fork",
		[CHORD_EVENT_JOINS] = "join", [CHORD_EVENT_STAMP] = "stamp",
	};
	json_t *j = new_object(o, name[event], o->replay.insns);

	if (event == CHORD_EVENT_CREATES)
		js_set(j, "created", js_number(o->replay.made, true));
	if (event == CHORD_EVENT_JOINS)
		js_set(j, "joined", js_number(o->replay.joined, true));
	if (event == CHORD_EVENT_STAMP)
		js_set(j, "number", js_number(o->replay.stamp, true));
	js_line(j, o->to);
}

static json_t *
insns_json(const struct trace_block *b, uint32_t lo, uint32_t hi)
{
	json_t *list = json_array();

	for (uint32_t i = lo; i < hi && i < b->n; i++) {
		json_t *j = json_object();

		js_set(j, "address", js_number(b->insn[i].addr, b->insn[i].addr));
		if (b->insn[i].at.file) {
			js_set(j, "file", js_text(b->insn[i].at.file));
			js_set(j, "line", js_number(b->insn[i].at.line, true));
		}
		js_append(list, j);
	}
	return list;
}

/* The lines of instructions, each where it differs from the one before. insns: executed before the first of them. */
static json_t *
lines_json(const struct trace_block *b, uint64_t insns, uint32_t lo, uint32_t hi)
{
	json_t *list = json_array();
	struct image_place last = {0};

	for (uint32_t i = lo; i < hi && i < b->n; i++) {
		const struct image_place *at = &b->insn[i].at;
		json_t *j;

		if (!at->file || (at->file == last.file && at->line == last.line))
			continue;
		j = json_object();
		js_set(j, "instructions", js_number(insns + i - lo, true));
		js_set(j, "file", js_text(at->file));
		js_set(j, "line", js_number(at->line, true));
		js_append(list, j);
		last = *at;
	}
	return list;
}

void
json_block(struct trace_out *o, const struct replay_path *p, uint32_t block, uint64_t insns, uint32_t lo, uint32_t hi)
{
	const struct trace_block *b = trace_block(o, p->proc, p->module, block);
	json_t *j = new_object(o, "block", insns);

	js_set_function(j, "function", p->proc->name);
	js_set(j, "block", js_number(block, true));
	if (o->args->view == TRACE_INSNS) {
		js_set(j, "insns", insns_json(b, lo, hi));
	} else if (b->n && b->insn[0].at.file) {
		js_set(j, "file", js_text(b->insn[0].at.file));
		js_set(j, "line", js_number(b->insn[0].at.line, true));
	}
	if (o->args->view == TRACE_LINES)
		js_set(j, "lines", lines_json(b, insns, lo, hi));
	js_line(j, o->to);
}

/* ---- Chrome ---- */

static void
put_chrome(struct trace_out *o, json_t *j)
{
	fputs(o->args->later ? ",\n" : "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", o->to);
	o->args->later = true;
	json_dumpf(j, o->to, JSON_COMPACT);
	json_decref(j);
}

/* A track's name is its process id and thread. Process ids have less than 2^22 values; a process with the id of another one, which
 * may have executed it, has a larger number. */
static json_t *
chrome_object(const struct trace_out *o, const char *kind, const char *name)
{
	json_t *j = json_object();

	js_set(j, "ph", js_text(kind));
	js_set(j, "pid", js_number(o->process->file->pid + (o->namesakes << 22), true));
	js_set(j, "tid", js_number(trace_thread(o), true));
	js_set(j, "name", js_text(name));
	return j;
}

void
chrome_process(struct trace_out *o)
{
	json_t *args = json_object(), *j;

	js_set(args, "name", js_text(o->process->name));
	j = chrome_object(o, "M", "process_name");
	js_set(j, "args", args);
	put_chrome(o, j);
}

static void
chrome_thread(struct trace_out *o)
{
	json_t *args = json_object(), *j;

	js_set(args, "name", json_sprintf("thread %" PRIu64 ", time in instructions", trace_thread(o)));
	j = chrome_object(o, "M", "thread_name");
	js_set(j, "args", args);
	put_chrome(o, j);
	o->any = true;
}

/* Puts one end of an arrow (s or f). Viewers bind it to the slice that encloses the place. */
static void
put_end_of_arrow(struct trace_out *o, const char *kind, const char *what, uint64_t number)
{
	json_t *j = chrome_object(o, kind, what);

	js_set(j, "cat", js_text("order"));
	js_set(j, "id", json_sprintf("%" PRIu64, number));
	js_set(j, "bp", js_text("e"));
	js_set(j, "ts", js_number(o->offset + o->replay.insns, true));
	put_chrome(o, j);
}

void
chrome_event(struct trace_out *o, char kind)
{
	const char *name = image_readable(o->replay.stack.at[o->replay.stack.n - 1].proc->name);
	json_t *j;

	if (!o->any)
		chrome_thread(o);
	j = chrome_object(o, (char[]){kind, 0}, name);
	js_set(j, "ts", js_number(o->offset + o->replay.insns, true));
	put_chrome(o, j);
	if (o->from)
		put_end_of_arrow(o, "f", "begins", o->from);
	o->from = 0;
}

void
chrome_arrow(struct trace_out *o, uint64_t number)
{
	if (!o->any)
		chrome_thread(o);
	put_end_of_arrow(o, "s", "begins", number);
}

void
chrome_end_of_arrow(struct trace_out *o, const char *what, uint64_t number, bool begins)
{
	put_end_of_arrow(o, begins ? "s" : "f", what, number);
}

void
chrome_end(struct trace_args *a, FILE *to)
{
	fputs(a->later ? "\n]}\n" : "{\"traceEvents\": []}\n", to);
}
