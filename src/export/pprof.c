/* SPDX-License-Identifier: MIT */
/* pprof's format: a sample for each instruction that was executed, with the functions above it as far as they are known. If the
 * callers of a function cannot be told apart, it has none. */
#include "export/export.h"
#include "export/value.h"
#include "view/stacks.h"

#include "pprof.pb-c.h"

#include <stdlib.h>
#include <string.h>

enum { INLINED = 64 };

struct writer {
	const struct export *x;
	struct pool *pool;
	const struct view_above *up;
	struct strmap string, function;
	uint64_t *frame;         /* by function: its location as a caller; 0: none yet */
	VEC(char *) text;
	VEC(PprofSample *) sample;
	VEC(PprofMapping *) mapping;
	VEC(PprofLocation *) location;
	VEC(PprofFunction *) functions;
};

#define NEW(w, TYPE, INIT) \
	({ \
		TYPE *new_ = pool_alloc((w)->pool, sizeof *new_); \
		*new_ = (TYPE)INIT; \
		new_; \
	})

static int64_t
string_of(struct writer *w, const char *s)
{
	uint64_t i = w->text.n;

	if (strmap_get(&w->string, str_of(s), &i))
		return (int64_t)i;
	s = pool_strdup(w->pool, s);
	strmap_put(&w->string, str_of(s), i);
	VEC_PUSH(w->text, (char *)(uintptr_t)value_utf8(w->pool, s));
	return (int64_t)i;
}

static uint64_t
function_of(struct writer *w, const char *name, const char *file, unsigned line)
{
	const char *key = pool_printf(w->pool, "%s\n%s\n%u", name, file, line);
	uint64_t id = w->functions.n + 1;
	PprofFunction *f;

	if (strmap_get(&w->function, str_of(key), &id))
		return id;
	strmap_put(&w->function, str_of(key), id);
	f = NEW(w, PprofFunction, PPROF_FUNCTION__INIT);
	f->id = id;
	f->name = string_of(w, image_readable(name));
	f->system_name = string_of(w, name);
	f->filename = string_of(w, file);
	f->start_line = line;
	VEC_PUSH(w->functions, f);
	return id;
}

static void
add_line(struct writer *w, PprofLocation *l, uint64_t function, unsigned line)
{
	PprofLine *p = NEW(w, PprofLine, PPROF_LINE__INIT);

	p->function_id = function;
	p->line = line;
	l->line[l->n_line++] = p;
}

static PprofLocation *
add_location(struct writer *w, const struct binary *bin, uint64_t addr, size_t lines)
{
	PprofLocation *l = NEW(w, PprofLocation, PPROF_LOCATION__INIT);

	l->id = w->location.n + 1;
	l->mapping_id = (uint64_t)(bin - w->x->run->binary.at) + 1;
	l->address = addr;
	l->line = pool_array(w->pool, lines, sizeof(PprofLine *));
	VEC_PUSH(w->location, l);
	return l;
}

/* The location of an instruction: functions inlined there first, then the function itself, with the name that is used elsewhere,
 * too. */
static uint64_t
location_of(struct writer *w, const struct view_insn *in, const struct view_function *f)
{
	struct image_frame at[INLINED];
	size_t n = in->line ? image_frames(in->binary->image, in->addr, at, INLINED) : 0;
	PprofLocation *l = add_location(w, in->binary, in->addr, n + 1);

	for (size_t i = 0; i + 1 < n; i++)
		add_line(w, l, function_of(w, at[i].name, at[i].file ? at[i].file : "", at[i].line), at[i].at.line);
	add_line(w, l, function_of(w, f->proc->name, f->file, f->line), n ? at[n - 1].at.line : in->line);
	return l->id;
}

static uint64_t
frame_of(struct writer *w, uint32_t function)
{
	const struct view_function *f = &w->x->function->at[function];
	PprofLocation *l;

	if (!w->frame[function]) {
		l = add_location(w, f->binary, f->proc->part[0].addr, 1);
		add_line(w, l, function_of(w, f->proc->name, f->file, f->line), f->line);
		w->frame[function] = l->id;
	}
	return w->frame[function];
}

static void
add_sample(struct writer *w, const struct view_insn *in, uint32_t function)
{
	PprofSample *s = NEW(w, PprofSample, PPROF_SAMPLE__INIT);
	size_t n = 0;

	for (uint32_t up = w->up[function].caller; up != VIEW_NO_CALLER && n < w->x->function->n; up = w->up[up].caller)
		n++;
	s->location_id = pool_array(w->pool, n + 1, sizeof *s->location_id);
	s->location_id[s->n_location_id++] = location_of(w, in, &w->x->function->at[function]);
	for (uint32_t up = w->up[function].caller; s->n_location_id <= n; up = w->up[up].caller)
		s->location_id[s->n_location_id++] = frame_of(w, up);
	s->value = pool_array(w->pool, 1, sizeof *s->value);
	s->value[s->n_value++] = (int64_t)in->count;
	VEC_PUSH(w->sample, s);
}

static void
add_mappings(struct writer *w)
{
	for (size_t i = 0; i < w->x->run->binary.n; i++) {
		const struct binary *bin = &w->x->run->binary.at[i];
		PprofMapping *m = NEW(w, PprofMapping, PPROF_MAPPING__INIT);
		const struct image_code *code;
		struct image_segment s = {0};

		if (image_code(bin->image, &code))
			image_segment(bin->image, code[0].addr, &s);
		m->id = i + 1;
		m->memory_start = s.addr;
		m->memory_limit = s.addr + s.size;
		m->file_offset = s.offset;
		m->filename = string_of(w, bin->path);
		m->build_id = string_of(w, image_hex(w->pool, image_build_id(bin->image)));
		m->has_functions = m->has_filenames = m->has_line_numbers = m->has_inline_frames = true;
		VEC_PUSH(w->mapping, m);
	}
}

/* False: a count is too large for the format. */
static bool
add_samples(struct writer *w)
{
	const struct proc *proc = NULL;
	uint32_t function = 0;

	for (size_t i = 0; i < w->x->list->insn.n; i++) {
		const struct view_insn *in = &w->x->list->insn.at[i];

		if (!in->known || !in->count)
			continue;
		if (in->count > INT64_MAX)
			return false;
		while (in->proc != proc && w->x->function->at[function].proc != in->proc)
			function++;
		proc = in->proc;
		add_sample(w, in, function);
	}
	return true;
}

static void
pack(struct writer *w, struct buf *out)
{
	PprofProfile p = PPROF_PROFILE__INIT;
	PprofValueType type = PPROF_VALUE_TYPE__INIT, *types = &type;
	struct buf plain = {0};

	type.type = string_of(w, "instructions");
	type.unit = string_of(w, "count");
	p.period_type = &type;
	p.period = 1;
	p.n_sample_type = 1;
	p.sample_type = &types;
	p.n_sample = w->sample.n;
	p.sample = w->sample.at;
	p.n_mapping = w->mapping.n;
	p.mapping = w->mapping.at;
	p.n_location = w->location.n;
	p.location = w->location.at;
	p.n_function = w->functions.n;
	p.function = w->functions.at;
	p.n_string_table = w->text.n;
	p.string_table = w->text.at;
	buf_reserve(&plain, pprof_profile__get_packed_size(&p));
	plain.n = pprof_profile__pack(&p, (uint8_t *)plain.at);
	export_gzip(&plain, out);
	buf_free(&plain);
}

bool
export_pprof(const struct export *x, struct buf *out)
{
	struct writer w = {.x = x, .pool = pool_new()};
	bool fits;

	string_of(&w, "");
	w.up = view_above(w.pool, x->run, x->function, x->list);
	w.frame = pool_array(w.pool, x->function->n + 1, sizeof *w.frame);
	add_mappings(&w);
	fits = add_samples(&w);
	if (fits)
		pack(&w, out);
	free(w.text.at);
	free(w.sample.at);
	free(w.mapping.at);
	free(w.location.at);
	free(w.functions.at);
	strmap_free(&w.string);
	strmap_free(&w.function);
	pool_free(w.pool);
	return export_fits(x, fits);
}
