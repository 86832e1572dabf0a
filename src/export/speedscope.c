/* SPDX-License-Identifier: MIT */
/* The file format of speedscope: stacks with weights. */
#include "export/export.h"
#include "export/value.h"
#include "view/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

struct writer {
	struct pool *pool;
	struct strmap number;    /* the number of a frame */
	size_t n;
	struct buf frames, stacks, weights;
	struct buf key;
};

static uint64_t
number_of(struct writer *w, const struct view_stack_frame *f)
{
	uint64_t i = w->n;
	json_t *o;

	w->key.n = 0;
	buf_printf(&w->key, "%s\n%s\n%u", f->name, f->file ? f->file : "", f->line);
	if (strmap_get(&w->number, (struct str){w->key.at, w->key.n}, &i))
		return i;
	strmap_put(&w->number, (struct str){pool_strndup(w->pool, w->key.at, w->key.n), w->key.n}, w->n++);
	o = json_pack("{s:o}", "name", value_text(w->pool, image_readable(f->name)));
	if (f->file)
		json_object_set_new(o, "file", value_text(w->pool, f->file));
	if (f->line)
		json_object_set_new(o, "line", json_integer(f->line));
	buf_str(&w->frames, i ? ",\n" : "\n");
	value_put(&w->frames, o);
	return i;
}

static void
put_stack(struct writer *w, const struct view_stack *s, bool first)
{
	buf_str(&w->stacks, first ? "\n[" : ",\n[");
	for (size_t k = 0; k < s->n; k++)
		buf_printf(&w->stacks, "%s%" PRIu64, k ? "," : "", number_of(w, &s->frame[k]));
	buf_char(&w->stacks, ']');
	buf_printf(&w->weights, "%s%" PRIu64, first ? "\n" : ",\n", s->insns);
}

static void
put_document(struct writer *w, const struct export *x, uint64_t total, struct buf *out)
{
	buf_str(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"chord\",\"name\":");
	value_put(out, value_text(w->pool, x->run->path));
	buf_str(out, ",\"shared\":{\"frames\":[");
	buf_add(out, w->frames.at, w->frames.n);
	buf_str(out, "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"instructions\",\"unit\":\"none\",\"startValue\":0,");
	buf_printf(out, "\"endValue\":%" PRIu64 ",\"samples\":[", total);
	buf_add(out, w->stacks.at, w->stacks.n);
	buf_str(out, "],\n\"weights\":[");
	buf_add(out, w->weights.at, w->weights.n);
	buf_str(out, "]}]}\n");
}

bool
export_speedscope(const struct export *x, struct buf *out)
{
	struct writer w = {.pool = x->run->pool};
	struct view_stacks s = {0};
	bool fits = view_stacks(&s, x->run->pool, x->run, x->function, x->list);
	uint64_t total = 0;

	for (size_t i = 0; i < s.n && fits; i++) {
		put_stack(&w, &s.at[i], !i);
		fits &= !__builtin_add_overflow(total, s.at[i].insns, &total);
	}
	if (fits)
		put_document(&w, x, total, out);
	free(s.at);
	strmap_free(&w.number);
	buf_free(&w.frames);
	buf_free(&w.stacks);
	buf_free(&w.weights);
	buf_free(&w.key);
	return export_fits(x, fits);
}
