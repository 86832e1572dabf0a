/* SPDX-License-Identifier: MIT */
/* gcov's JSON, version 2, as in gcov(1). Blocks and edges are those of the machine code. */
#include "export/coverage.h"
#include "export/value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct writer {
	const struct export *x;
	struct pool *pool;
	struct covered_list function;
	struct strmap size;      /* index in sizes, by file, line and name of a function */
	VEC(struct view_size) sizes;
	struct buf *out;
};

static const char *
key_of(struct writer *w, const char *file, unsigned line, const char *name)
{
	return pool_printf(w->pool, "%u %s %s", line, name, file);
}

static void
collect_sizes(struct writer *w)
{
	for (size_t i = 0; i < w->x->function->n; i++) {
		const struct view_function *f = &w->x->function->at[i];
		const char *key = key_of(w, f->file, f->line, f->proc->name);
		struct view_size size;
		uint64_t k;

		if (!view_is_exact(f->counts))
			continue;
		size = view_size_of(f->proc, f->counts);
		if (strmap_get(&w->size, str_of(key), &k)) {
			view_size_add(&w->sizes.at[k], &size);
		} else {
			strmap_put(&w->size, str_of(key), w->sizes.n);
			VEC_PUSH(w->sizes, size);
		}
	}
}

static void
put_function(struct writer *w, const struct covered *f)
{
	uint64_t k = 0;
	const struct view_size *s;
	json_t *o;
	bool known = strmap_get(&w->size, str_of(key_of(w, f->file, f->line, f->name)), &k);

	if (!known)
		bug("%s has no size", f->name);
	s = &w->sizes.at[k];
	o = json_pack("{s:o,s:o,s:i,s:i,s:i,s:i}", "name", value_text(w->pool, f->name), "demangled_name",
	              value_text(w->pool, image_readable(f->name)), "start_line", (int)f->line, "start_column", 1, "end_line",
	              (int)f->end, "end_column", 1);
	json_object_set_new(o, "execution_count", value_number(f->calls));
	json_object_set_new(o, "blocks", value_number(s->blocks));
	json_object_set_new(o, "blocks_executed", value_number(s->blocks - s->unentered));
	value_put(w->out, o);
}

static json_t *
branches(struct writer *w, const struct view_branch *b, size_t n)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct view_insn *in = &w->x->list->insn.at[b[i].insn];

		for (int fall = 0; fall < 2; fall++)
			json_array_append_new(all, json_pack("{s:o,s:b,s:b,s:i,s:i}", "count",
			                      value_number(fall ? b[i].fell : b[i].taken), "throw", 0, "fallthrough", fall,
			                      "source_block_id", (int)in->block, "destination_block_id",
			                      (int)(fall ? b[i].fell_to : b[i].taken_to)));
	}
	return all;
}

/* The innermost function at a line. NULL: none is known there. */
static const char *
function_at(const struct covered *f, size_t n, unsigned line)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f[mid].line <= line)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo && line > f[lo - 1].end)
		lo--;
	return lo ? f[lo - 1].name : NULL;
}

static void
put_line(struct writer *w, uint32_t file, const struct view_line *l, const struct covered *f, size_t nf)
{
	size_t n;
	const struct view_branch *b = covered_branches(w->x, file, l, &n);
	const char *name = function_at(f, nf, l->line);
	json_t *o = json_pack("{s:i,s:o,s:b,s:[],s:[],s:o,s:[]}", "line_number", (int)l->line, "count", value_number(l->most.least),
	                      "unexecuted_block", l->never != 0, "block_ids", "calls", "branches", branches(w, b, n), "conditions");

	if (o && name)
		json_object_set_new(o, "function_name", value_text(w->pool, name));
	value_put(w->out, o);
}

static void
put_file(struct writer *w, uint32_t file)
{
	const struct view_file *v = &w->x->list->file.at[file];
	const char *comma = "";
	size_t n;
	const struct covered *f = covered_in(&w->function, v->name, &n);

	buf_str(w->out, "{\"file\":");
	value_put(w->out, value_text(w->pool, v->name));
	buf_str(w->out, ",\"functions\":[");
	for (size_t i = 0; i < n; i++) {
		buf_str(w->out, i ? ",\n" : "\n");
		put_function(w, &f[i]);
	}
	buf_str(w->out, "],\"lines\":[");
	for (size_t i = 0; i < v->line.n; i++) {
		if (v->line.at[i].unknown)
			continue;
		buf_printf(w->out, "%s\n", comma);
		put_line(w, file, &v->line.at[i], f, n);
		comma = ",";
	}
	buf_str(w->out, "]}");
}

bool
export_gcov(const struct export *x, struct buf *out)
{
	struct writer w = {.x = x, .pool = pool_new(), .function = covered_functions(x), .out = out};
	const char *folder = export_folder(x);

	collect_sizes(&w);
	buf_str(out, "{\"format_version\":\"2\",\"gcc_version\":\"chord\",\"current_working_directory\":");
	value_put(out, value_text(w.pool, *folder ? folder : "/"));
	buf_str(out, ",\"data_file\":");
	value_put(out, value_text(w.pool, x->run->path));
	buf_str(out, ",\"files\":[");
	for (uint32_t i = 0; i < x->nfile; i++) {
		buf_str(out, i ? ",\n" : "\n");
		put_file(&w, x->file[i]);
	}
	buf_str(out, "]}\n");
	free(w.sizes.at);
	free(w.function.at);
	strmap_free(&w.size);
	pool_free(w.pool);
	return export_fits(x, w.function.fits);
}
