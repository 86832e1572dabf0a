/* SPDX-License-Identifier: MIT */
/* The report as JSON. */
#include "tool/json.h"
#include "tool/report/report.h"

#include <stdlib.h>
#include <string.h>

static json_t *
totals(const struct report *r)
{
	const struct view_totals *t = &r->table.totals;
	json_t *o = json_object();

	js_set_total(o, "instructions", &t->insns, t->known || t->insns.least);
	js_set_total(o, "blocks", &t->blocks, t->known);
	js_set_total(o, "edges", &t->edges, t->known && t->edges_known);
	js_set_total(o, "calls", &t->call_insns, t->known);
	js_set(o, "procedures", js_number(t->procedures, true));
	js_set(o, "refused", js_number(t->refused, true));
	js_set(o, "events_only", js_number(t->events_only, true));
	js_set(o, "unknown", js_number(r->run->unknown.n, true));
	return o;
}

static json_t *
events(const struct event_totals *e)
{
	json_t *o = json_object();

	for (uint32_t i = 0; i < e->n; i++)
		js_set_bounds(o, e->at[i].name, e->at[i].n, e->at[i].most, !e->why);
	return o;
}

/* Events that some measured procedures do not count, and how many procedures do not. */
static json_t *
partial_events(const struct event_totals *e)
{
	json_t *o = json_object();

	for (uint32_t i = 0; i < e->n; i++)
		if (e->at[i].without)
			js_set(o, e->at[i].name, js_number(e->at[i].without, true));
	return o;
}

static json_t *
function(const struct view_function *f, bool inclusive)
{
	json_t *o = json_object(), *also;

	js_set_function(o, "name", f->proc->name);
	js_set(o, "file", js_text(f->file));
	js_set(o, "line", js_number(f->line, f->line > 0));
	js_set_total(o, "calls", &f->calls, f->counts->activations_known);
	js_set_total(o, "instructions", &f->insns, true);
	js_set_total(o, "blocks", &f->blocks, true);
	js_set_total(o, "call_instructions", &f->call_insns, true);
	js_set(o, "module", js_text(f->binary->path));
	if (inclusive) {
		js_set(o, "with_callees", js_number(f->inclusive.insns, f->inclusive.known));
		js_set(o, "with_callees_unknown", f->inclusive.known ? json_null() : js_text(f->inclusive.why));
	}
	if (!f->proc->nalso)
		return o;
	also = json_array();
	for (uint32_t i = 0; i < f->proc->nalso; i++)
		js_append(also, js_text(f->proc->also[i]));
	js_set(o, "also", also);
	return o;
}

static json_t *
functions(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->table.function.n; i++)
		js_append(a, function(&r->table.function.at[i], r->opt.inclusive));
	return a;
}

static json_t *
lines(const struct view_line *at, size_t n, bool with_line)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		js_set(o, "file", js_text(at[i].file));
		if (with_line)
			js_set(o, "line", js_number(at[i].line, at[i].line > 0));
		js_set_total(o, "instructions", &at[i].insns, true);
		js_set_total(o, "most", &at[i].most, true);
		js_append(a, o);
	}
	return a;
}

static json_t *
callees(const struct view_call *c)
{
	json_t *a = json_array();

	for (size_t i = 0; i < c->nto; i++) {
		json_t *o = json_object();

		js_set_function(o, "name", c->to[i].name);
		js_set(o, "calls", js_number(c->to[i].calls, true));
		js_append(a, o);
	}
	return a;
}

static json_t *
calls(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->table.call.n; i++) {
		const struct view_call *c = &r->table.call.at[i];
		json_t *o = json_object(), *n = json_object();

		js_set_function(o, "caller", c->proc->name);
		js_set_function(o, "callee", c->callee);
		js_set(o, "file", js_text(c->file));
		js_set(o, "line", js_number(c->line, c->line > 0));
		js_set_total(o, "calls", &c->calls, true);
		for (uint32_t e = 0; e < c->nevent; e++)
			js_set(n, c->proc->event[e].name, js_number(c->n[e], c->known[e]));
		js_set(o, "events", n);
		if (c->has_to)
			js_set(o, "callees", callees(c));
		js_append(a, o);
	}
	return a;
}

static json_t *
copies(const struct view_source *f)
{
	json_t *a = json_array();

	for (size_t i = 0; i < f->copy.n; i++) {
		const struct view_copy *c = &f->copy.at[i];
		json_t *o = json_object();

		if (c->in) {
			js_set_function(o, "in", c->in);
			js_set(o, "file", js_text(c->file));
			js_set(o, "line", js_number(c->line, c->line > 0));
		} else {
			js_set(o, "in", json_null());
		}
		js_set_total(o, "instructions", &c->insns, true);
		js_append(a, o);
	}
	return a;
}

static json_t *
sources(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->table.source.n; i++) {
		const struct view_source *f = &r->table.source.at[i];
		json_t *o = json_object();

		js_set_function(o, "name", f->name);
		js_set(o, "file", js_text(f->file));
		js_set(o, "line", js_number(f->line, f->line > 0));
		js_set_total(o, "instructions", &f->insns, true);
		js_set_total(o, "inlined", &f->inlined, true);
		js_set_total(o, "with_inlined", &f->whole, true);
		js_set(o, "copies", copies(f));
		js_append(a, o);
	}
	return a;
}

static json_t *
unmeasured(const struct report *r)
{
	const struct unmeasured *un = &r->table.unmeasured;
	json_t *o = json_object(), *names = json_array();

	js_set(o, "functions", js_number(un->symbol.n, !un->stripped));
	js_set(o, "libraries", js_texts(un->library.at, un->library.n));
	js_set_bounds(o, "function_bytes", un->symbol_bytes, un->unsized ? COUNT_NO_BOUND : un->symbol_bytes, !un->stripped);
	js_set(o, "bytes", js_number(un->bytes, true));
	for (size_t i = 0; i < un->symbol.n; i++)
		js_append(names, js_text(un->symbol.at[i].name));
	js_set(o, "names", names);
	return o;
}

static const char *
state_name(uint64_t state)
{
	static const char *const name[] = {"running", "ended", "threads"};

	return state < 3 ? name[state] : "?";
}

int
report_json(const struct report *r)
{
	const struct run *run = r->run;
	json_t *o = js_document("chord report");

	js_set(o, "program", js_text(run->path));
	js_set(o, "build_id", js_text(image_hex(run->pool, image_build_id(run->binary.at[0].image))));
	js_set(o, "totals", totals(r));
	if (r->table.events.n) {
		js_set(o, "events", events(&r->table.events));
		js_set(o, "events_not_counted_in", partial_events(&r->table.events));
	}
	js_set(o, "functions", functions(r));
	js_set(o, "refused", js_named_list(r->table.refused.at, r->table.refused.n));
	js_set(o, "unknown", js_named_list(run->unknown.at, run->unknown.n));
	js_set(o, "unmeasured", unmeasured(r));
	js_set(o, "state", js_text(state_name(run->sum->state)));
	js_set(o, "notes", js_texts(run->note.at, run->note.n));
	js_set(o, "profiles", js_texts(run->summed.at, run->summed.n));
	js_set(o, "left_out", js_named_list(run->left_out.at, run->left_out.n));
	if (r->opt.lines)
		js_set(o, "lines", lines(r->table.line.at, r->table.line.n, true));
	if (r->opt.files)
		js_set(o, "files", lines(r->table.file.at, r->table.file.n, false));
	if (r->opt.hottest)
		js_set(o, "hottest", report_hottest_json(r));
	if (r->opt.inlined)
		js_set(o, "source_functions", sources(r));
	if (r->opt.calls)
		js_set(o, "call_sites", calls(r));
	if (r->table.call.left.most)
		js_set_total(o, "calls_in_no_site", &r->table.call.left, true);
	return js_print_whole(o) ? 0 : EXIT_NO;
}
