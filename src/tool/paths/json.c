/* SPDX-License-Identifier: MIT */
/* chord paths: everything, for programs to read. */
#include "tool/json.h"
#include "tool/paths/paths.h"

#include <stdlib.h>

static json_t *
edges(const struct proc *p, const struct path *path)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < path->n; i++) {
		const struct arc *arc = &p->arc[path->edge[i]];
		json_t *o = json_object();

		js_set(o, "edge", js_number(path->edge[i], true));
		js_set(o, "from", js_vertex(p, arc->from));
		js_set(o, "to", js_vertex(p, arc->to));
		js_set(o, "kind", js_text(profile_edge_name(arc->kind)));
		js_append(a, o);
	}
	return a;
}

static json_t *
lines(const struct view_places *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++) {
		json_t *o = json_object();

		js_set(o, "file", js_text(l->at[i].file));
		js_set(o, "line", js_number(l->at[i].line, true));
		js_append(a, o);
	}
	return a;
}

json_t *
paths_json_row(const struct view_path *row)
{
	struct pool *pool = pool_new();
	struct path path = view_path_edges(pool, row);
	struct view_places l = view_path_lines(pool, row, &path);
	json_t *o = json_object();

	js_set_function(o, "function", row->of->proc->name);
	js_set(o, "module", js_text(row->of->binary->path));
	js_set(o, "file", js_text(row->of->proc->file));
	js_set(o, "number", js_number(row->sum, !row->stopped && !row->many));
	js_set(o, "count", js_number(row->count, true));
	js_set(o, "length", js_number(row->length, true));
	js_set(o, "instructions", js_number(row->insns, true));
	js_set(o, "exact", json_boolean(row->exact));
	js_set(o, "begins", js_text(view_path_begin(pool, row->of->proc, &path)));
	js_set(o, "ends", js_text(view_path_end(pool, row, &path)));
	js_set(o, "edges", edges(row->of->proc, &path));
	if (row->stopped)
		js_set(o, "block", js_number(path.end, true));
	js_set(o, "lines", lines(&l));
	pool_free(pool);
	return o;
}

static json_t *
rows(const struct view_path *row, size_t n, size_t top)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n && (!top || i < top); i++)
		js_append(a, paths_json_row(&row[i]));
	return a;
}

static json_t *
functions(const struct view_paths *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->proc.n; i++) {
		const struct view_paths_proc *p = &r->proc.at[i];
		json_t *o = json_object();

		js_set_function(o, "name", p->proc->name);
		js_set(o, "module", js_text(p->binary->path));
		js_set(o, "file", js_text(p->proc->file));
		js_set(o, "ran", js_number(p->ran, true));
		js_set(o, "possible", js_number(p->possible, true));
		js_set(o, "selected", json_boolean(p->proc->paths->kind == CHORD_PATH_SELECTED));
		js_set(o, "exact", json_boolean(!p->why));
		js_append(a, o);
	}
	return a;
}

static json_t *
branches(const struct view_paths *r)
{
	struct view_path_branches b;
	json_t *a = json_array();

	view_path_branches(&b, r);
	for (size_t i = 0; i < b.row.n; i++) {
		const struct view_path_branch *row = &b.row.at[i];
		json_t *o = json_object();

		js_set_function(o, "function", row->of->proc->name);
		js_set(o, "module", js_text(row->of->binary->path));
		js_set(o, "block", js_number(row->block, true));
		if (row->place.file) {
			js_set(o, "file", js_text(row->place.file));
			js_set(o, "line", js_number(row->place.line, true));
		}
		js_set(o, "taken", js_number(row->taken, true));
		js_set(o, "not_taken", js_number(row->fell, true));
		js_set(o, "exact", json_boolean(!row->of->why));
		js_append(a, o);
	}
	free(b.row.at);
	return a;
}

static json_t *
totals(const struct view_paths *r)
{
	json_t *o = json_object();

	js_set(o, "instructions", js_number(r->insns, r->insns_known));
	js_set(o, "ran", js_number(r->ran, true));
	js_set(o, "possible", js_number(r->possible, true));
	js_set(o, "under_way", js_number(r->under_way, true));
	js_set(o, "exact", json_boolean(!r->inexact.n));
	return o;
}

void
paths_json_doubts(json_t *o, const struct view_paths *r)
{
	js_set(o, "refused", js_named_list(r->refused.at, r->refused.n));
	js_set(o, "damaged", js_named_list(r->damaged.at, r->damaged.n));
	js_set(o, "inexact", js_named_list(r->inexact.at, r->inexact.n));
	js_set(o, "unknown", js_named_list(r->unknown.at, r->unknown.n));
	js_set(o, "left_out", js_named_list(r->run->left_out.at, r->run->left_out.n));
	js_set(o, "notes", js_texts(r->run->note.at, r->run->note.n));
}

bool
paths_json(const struct view_paths *r, const struct paths_options *opt)
{
	const struct run *run = r->run;
	json_t *o = js_document("chord paths");

	js_set(o, "program", js_text(run->path));
	js_set(o, "totals", totals(r));
	js_set(o, "paths", rows(r->row.at, r->row.n, opt->top));
	js_set(o, "unfinished", rows(r->stopped.at, r->stopped.n, opt->top));
	js_set(o, "functions", functions(r));
	if (opt->branches)
		js_set(o, "branches", branches(r));
	if (opt->def_use)
		paths_json_def_use(o, r, opt->top);
	paths_json_doubts(o, r);
	js_set(o, "profiles", js_texts(run->summed.at, run->summed.n));
	return js_print_whole(o);
}
