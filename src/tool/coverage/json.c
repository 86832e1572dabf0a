/* SPDX-License-Identifier: MIT */
/* Coverage as JSON. */
#include "tool/coverage/coverage.h"
#include "tool/json.h"

static json_t *
percent(uint64_t part, uint64_t all)
{
	return all ? json_real(100.0 * (double)part / (double)all) : json_null();
}

static json_t *
share(const struct coverage_share *s)
{
	json_t *o = json_object();
	uint64_t all = coverage_of(s);

	js_set(o, "total", js_number(all, true));
	js_set(o, "covered", js_number(s->n[VIEW_RAN], true));
	js_set(o, "not_covered", js_number(s->n[VIEW_NEVER], true));
	js_set(o, "not_known", js_number(s->n[VIEW_MAYBE], true));
	js_set(o, "percent", s->n[VIEW_MAYBE] ? json_null() : percent(s->n[VIEW_RAN], all));
	if (!s->n[VIEW_MAYBE])
		return o;
	js_set(o, "percent_at_least", percent(s->n[VIEW_RAN], all));
	js_set(o, "percent_at_most", percent(s->n[VIEW_RAN] + s->n[VIEW_MAYBE], all));
	return o;
}

static void
set_shares(json_t *o, const struct coverage_share s[COVERAGE_KINDS])
{
	for (int k = 0; k < COVERAGE_KINDS; k++)
		js_set(o, coverage_names[k], share(&s[k]));
}

static json_t *
ran(enum view_ran r)
{
	static const char *const name[] = {[VIEW_NEVER] = "not covered", [VIEW_MAYBE] = "not known", [VIEW_RAN] = "covered"};

	return js_text(name[r]);
}

static json_t *
line(const struct coverage_file *f, const struct coverage_line *l)
{
	json_t *o = json_object(), *branches;

	js_set(o, "line", js_number(l->line, true));
	js_set(o, "state", ran(l->ran));
	js_set_total(o, "count", &l->count, l->ran != VIEW_MAYBE || l->count.most);
	if (!l->nbranch)
		return o;
	branches = json_array();
	for (uint32_t i = 0; i < l->nbranch; i++) {
		json_t *b = json_object();

		js_set(b, "taken", ran(f->branch.at[l->branch + i].taken));
		js_set(b, "not_taken", ran(f->branch.at[l->branch + i].fell));
		js_append(branches, b);
	}
	js_set(o, "branches", branches);
	return o;
}

static json_t *
function(const struct coverage_function *f)
{
	json_t *o = json_object();

	js_set_function(o, "name", f->name);
	js_set(o, "line", js_number(f->line, f->line > 0));
	js_set(o, "state", ran(f->ran));
	js_set_total(o, "calls", &f->calls, f->calls_known);
	js_set(o, "blocks", share(&f->blocks));
	return o;
}

static json_t *
file(const struct coverage_file *f)
{
	json_t *o = json_object(), *lines = json_array(), *functions = json_array();

	js_set(o, "file", js_text(f->name));
	set_shares(o, f->share);
	js_set(o, "line_information", json_boolean(!coverage_lacks_lines(f)));
	js_set(o, "excluded_lines", js_number(f->excluded, true));
	for (size_t i = 0; i < f->line.n; i++)
		js_append(lines, line(f, &f->line.at[i]));
	js_set(o, "line", lines);
	for (size_t i = 0; i < f->function.n; i++)
		js_append(functions, function(&f->function.at[i]));
	js_set(o, "function", functions);
	return o;
}

static json_t *
changed(const struct changed *ch)
{
	json_t *o = json_object(), *files = json_array();

	js_set(o, "lines", share(&ch->share));
	for (size_t i = 0; i < ch->file.n; i++) {
		const struct changed_file *f = &ch->file.at[i];
		json_t *x = json_object(), *lines = json_array();

		js_set(x, "name", js_text(f->name));
		js_set(x, "file", f->file ? js_text(f->file->name) : json_null());
		js_set(x, "line_information", json_boolean(!f->unplaced));
		js_set(x, "changed", js_number(f->line.n, true));
		js_set(x, "lines", share(&f->share));
		for (size_t k = 0; k < f->code.n; k++)
			js_append(lines, line(f->file, &f->code.at[k]));
		js_set(x, "line", lines);
		js_append(files, x);
	}
	js_set(o, "files", files);
	return o;
}

static json_t *
modules(const struct run *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->binary.n; i++) {
		json_t *o = json_object();

		js_set(o, "path", js_text(r->binary.at[i].path));
		js_set(o, "build_id", js_text(image_hex(r->pool, image_build_id(r->binary.at[i].image))));
		js_append(a, o);
	}
	return a;
}

bool
coverage_json(const struct coverage_tool *t, bool failed)
{
	json_t *o = js_document("chord coverage"), *totals = json_object(), *files = json_array();

	js_set(o, "modules", modules(t->run));
	js_set(o, "profiles", js_texts(t->run->summed.at, t->run->summed.n));
	js_set(o, "processes", js_number(t->run->sum->nsummed, true));
	js_set(o, "left_out", js_named_list(t->run->left_out.at, t->run->left_out.n));
	js_set(o, "failed", json_boolean(failed));
	set_shares(totals, t->c.share);
	js_set(o, "totals", totals);
	if (t->opt->diff)
		js_set(o, "changed", changed(&t->changed));
	for (size_t i = 0; i < t->c.file.n; i++)
		js_append(files, file(&t->c.file.at[i]));
	js_set(o, "files", files);
	js_set(o, "files_left_out", js_texts(t->c.left_out.at, t->c.left_out.n));
	js_set(o, "refused", js_number(t->refused, true));
	js_set(o, "unknown", js_named_list(t->run->unknown.at, t->run->unknown.n));
	js_set(o, "notes", js_texts(t->run->note.at, t->run->note.n));
	return js_print_whole(o);
}
