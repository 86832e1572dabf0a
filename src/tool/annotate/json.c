/* SPDX-License-Identifier: MIT */
/* The annotation as JSON: lines of files, or instructions of procedures. */
#include "tool/annotate/annotate.h"

#include <stdlib.h>

static json_t *
document(const struct annotate *a)
{
	json_t *o = js_document("chord annotate");
	const struct run *run = a->run;

	js_set(o, "program", js_text(run->path));
	js_set(o, "instructions", js_number(a->insns, a->exact));
	js_set(o, "profiles", js_texts(run->summed.at, run->summed.n));
	js_set(o, "left_out", js_named_list(run->left_out.at, run->left_out.n));
	js_set(o, "unknown", js_named_list(run->unknown.at, run->unknown.n));
	js_set(o, "notes", js_texts(run->note.at, run->note.n));
	return o;
}

static void
set_ways(json_t *o, const struct view_branch *b)
{
	js_set(o, "taken", js_number(b->taken, b->known));
	js_set(o, "not_taken", js_number(b->fell, b->known));
}

/* ---- lines ---- */

static json_t *
line(const struct annotate *a, const struct view_file *f, const struct view_line *l)
{
	json_t *o = json_object(), *branches = json_array();
	bool known = !l->unknown || l->insns.least;
	struct str text;
	size_t n;
	const struct view_branch *b = view_branches(&a->list, (uint32_t)(f - a->list.file.at), l->line, &n);

	js_set(o, "line", js_number(l->line, true));
	js_set(o, "count", js_number(l->most.least, known));
	js_set(o, "instructions", js_number(l->insns.least, known));
	js_set(o, "code", js_number(l->code, true));
	js_set(o, "never", js_number(l->never, true));
	js_set(o, "some_unknown", json_boolean(l->unknown));
	for (; n; n--, b++) {
		json_t *branch = json_object();

		js_set(branch, "address", js_number(a->list.insn.at[b->insn].addr, a->list.insn.at[b->insn].addr));
		set_ways(branch, b);
		js_append(branches, branch);
	}
	js_set(o, "branches", branches);
	if (view_source_line(f->name, l->line, &text)) {
		char *copy = xmalloc(text.n + 1);

		snprintf(copy, text.n + 1, "%.*s", (int)text.n, text.at);
		js_set(o, "text", js_text(copy));
		free(copy);
	} else {
		js_set(o, "text", json_null());
	}
	return o;
}

static bool
add_files(const struct annotate *a, json_t *o)
{
	json_t *files = json_array(), *left_out = json_array();

	for (size_t i = 0; i < a->list.file.n; i++) {
		const struct view_file *f = &a->list.file.at[i];
		json_t *file, *lines;

		if (annotate_lacks_file(a, f))
			js_append(left_out, js_text(f->name));
		if (!annotate_shows_file(a, f))
			continue;
		file = json_object();
		lines = json_array();
		js_set(file, "file", js_text(f->name));
		for (size_t k = 0; k < f->line.n; k++)
			js_append(lines, line(a, f, &f->line.at[k]));
		js_set(file, "lines", lines);
		js_append(files, file);
	}
	js_set(o, "files", files);
	js_set(o, "files_left_out", left_out);
	return json_array_size(files);
}

/* ---- instructions ---- */

static json_t *
insn(const struct annotate *a, size_t number)
{
	const struct view_insn *in = &a->list.insn.at[number];
	json_t *o = json_object();
	struct buf text = {0};
	size_t n;
	const struct view_branch *b = view_branches(&a->list, in->file, in->line, &n);

	js_set(o, "address", js_number(in->addr, in->addr));
	js_set(o, "block", js_number(in->block, true));
	js_set(o, "count", js_number(in->count, in->known));
	if (in->kind != CHORD_INSN_PAD && view_insn_text(in, &text)) {
		buf_char(&text, 0);
		js_set(o, "text", js_text(text.at));
	} else {
		js_set(o, "text", json_null());
	}
	buf_free(&text);
	js_set(o, "file", in->file == VIEW_NO_FILE ? json_null() : js_text(a->list.file.at[in->file].name));
	js_set(o, "line", js_number(in->line, in->line));
	for (; in->kind == CHORD_INSN_BRANCH && n; n--, b++)
		if (b->insn == number)
			set_ways(o, b);
	return o;
}

static bool
add_functions(const struct annotate *a, json_t *o)
{
	json_t *functions = json_array();

	for (size_t i = 0, k; i < a->list.insn.n; i = k) {
		const struct view_insn *in = &a->list.insn.at[i];
		json_t *function = json_object(), *insns = json_array();

		for (k = i; k < a->list.insn.n && a->list.insn.at[k].proc == in->proc; k++)
			js_append(insns, insn(a, k));
		js_set_function(function, "name", in->proc->name);
		js_set(function, "module", js_text(in->binary->path));
		js_set(function, "instructions", insns);
		if (annotate_shows_insns(a, i, k))
			js_append(functions, function);
		else
			json_decref(function);
	}
	js_set(o, "functions", functions);
	return json_array_size(functions);
}

static bool
add_mnemonics(const struct annotate *a, json_t *o)
{
	struct view_mnemonics all = {0};
	json_t *list = json_array();

	view_mnemonics(&all, &a->list);
	for (size_t i = 0; i < all.n; i++) {
		json_t *m = json_object();

		js_set(m, "mnemonic", js_text(all.at[i].name));
		js_set(m, "count", js_number(all.at[i].count, true));
		js_set(m, "code", js_number(all.at[i].code, true));
		js_append(list, m);
	}
	js_set(o, "mnemonics", list);
	free(all.at);
	return json_array_size(list);
}

bool
annotate_json(struct annotate *a)
{
	json_t *o = document(a);
	bool some = a->what == ANNOTATE_SOURCE    ? add_files(a, o) :
	            a->what == ANNOTATE_MNEMONICS ? add_mnemonics(a, o) :
	            a->what == ANNOTATE_SUMMARY   ? annotate_summary_json(a, o) : add_functions(a, o);

	if (some)
		js_print(o, stdout); /* the caller checks standard output */
	else
		json_decref(o);
	return some;
}
