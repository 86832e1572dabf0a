/* SPDX-License-Identifier: MIT */
#include "tool/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Names are bytes; what is no UTF-8 gets a question mark for each byte of it that is not ASCII. */
static json_t *
text(const char *s)
{
	json_t *j = json_string(s);
	char *copy;

	if (j)
		return j;
	copy = xstrdup(s);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

/* Counts above 2^63 do not fit the library's integers: null, never a wrong number. */
static json_t *
number(uint64_t n, bool known)
{
	return known && n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

static void
set(json_t *o, const char *key, json_t *value)
{
	if (json_object_set_new(o, key, value))
		die("memory", "out of memory");
}

static void
append(json_t *a, json_t *value)
{
	if (json_array_append_new(a, value))
		die("memory", "out of memory");
}

static json_t *
totals(const struct report *r)
{
	const struct totals *t = &r->totals;
	json_t *o = json_object();

	set(o, "instructions", number(t->insns, t->known || t->insns));
	set(o, "blocks", number(t->blocks, t->known));
	set(o, "edges", number(t->edges, t->known && t->edges_known));
	set(o, "calls", number(t->call_insns, t->known));
	set(o, "procedures", number(t->procedures, true));
	set(o, "refused", number(t->refused, true));
	set(o, "unknown", number(r->run->unknown.n, true));
	return o;
}

static json_t *
events(const struct event_totals *e)
{
	json_t *o = json_object();

	for (uint32_t i = 0; i < e->n; i++)
		set(o, e->at[i].name, number(e->at[i].n, !e->why));
	return o;
}

static json_t *
function(const struct row_function *f)
{
	json_t *o = json_object(), *also;

	set(o, "name", text(f->proc->name));
	set(o, "file", text(f->file));
	set(o, "line", number(f->line, f->line > 0));
	set(o, "calls", number(f->counts->calls, f->counts->calls_known));
	set(o, "instructions", number(f->counts->insns, true));
	set(o, "blocks", number(f->counts->blocks, true));
	set(o, "call_instructions", number(f->counts->call_insns, true));
	set(o, "module", text(f->unit->path));
	if (!f->proc->nalso)
		return o;
	also = json_array();
	for (uint32_t i = 0; i < f->proc->nalso; i++)
		append(also, text(f->proc->also[i]));
	set(o, "also", also);
	return o;
}

static json_t *
functions(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->function.n; i++)
		append(a, function(&r->function.at[i]));
	return a;
}

static json_t *
named(const char *name, const char *reason)
{
	json_t *o = json_object();

	set(o, "name", text(name));
	set(o, "reason", text(reason));
	return o;
}

static json_t *
refused(const struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->run->unit.n; i++) {
		const struct map *m = &r->run->unit.at[i].map;

		for (uint32_t k = 0; k < m->nproc; k++)
			if (m->proc[k].refused)
				append(a, named(m->proc[k].name, m->proc[k].refused));
	}
	return a;
}

static json_t *
named_list(const struct named *at, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		append(a, named(at[i].name, at[i].reason));
	return a;
}

static json_t *
texts(const char *const *at, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		append(a, text(at[i]));
	return a;
}

static json_t *
lines(const struct row_line *at, size_t n, bool with_line)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		set(o, "file", text(at[i].file));
		if (with_line)
			set(o, "line", number(at[i].line, at[i].line > 0));
		set(o, "instructions", number(at[i].insns, true));
		set(o, "most", number(at[i].most, true));
		append(a, o);
	}
	return a;
}

static json_t *
unmeasured(const struct report *r)
{
	const struct unmeasured *un = &r->unmeasured;
	json_t *o = json_object(), *names = json_array();

	set(o, "functions", number(un->symbol.n, !un->stripped));
	set(o, "function_bytes", number(un->symbol_bytes, !un->stripped));
	set(o, "bytes", number(un->bytes, true));
	for (size_t i = 0; i < un->symbol.n; i++)
		append(names, text(un->symbol.at[i].name));
	set(o, "names", names);
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
	json_t *o = json_object();
	bool ok;

	set(o, "program", text(run->path));
	set(o, "build_id", text(image_hex(run->pool, image_build_id(run->unit.at[0].image))));
	set(o, "totals", totals(r));
	if (r->events.n)
		set(o, "events", events(&r->events));
	set(o, "functions", functions(r));
	set(o, "refused", refused(r));
	set(o, "unknown", named_list(run->unknown.at, run->unknown.n));
	set(o, "unmeasured", unmeasured(r));
	set(o, "state", text(state_name(run->sum->state)));
	set(o, "notes", texts(run->note.at, run->note.n));
	set(o, "profiles", texts(run->summed.at, run->summed.n));
	set(o, "left_out", named_list(run->left_out.at, run->left_out.n));
	if (r->opt.lines)
		set(o, "lines", lines(r->line.at, r->line.n, true));
	if (r->opt.files)
		set(o, "files", lines(r->file.at, r->file.n, false));
	ok = !json_dumpf(o, stdout, JSON_INDENT(1));
	ok &= putchar('\n') != EOF && !fflush(stdout);
	if (!ok)
		say_error("standard output", "the report cannot be written whole");
	json_decref(o);
	return ok ? 0 : EXIT_NO;
}
