/* SPDX-License-Identifier: MIT */
/* chord paths --def-use: which instructions used what others had left in registers. */
#include "tool/paths/paths.h"
#include "tool/table.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const how_name[DEF_USE_HOWS] = {"covered", "may be", "not covered"};

static const struct view_def_use_insn *
def_of(const struct view_def_use *d, const struct view_def_use_pair *row)
{
	return &d->proc.at[row->proc].insn[row->def];
}

static const struct view_def_use_insn *
use_of(const struct view_def_use *d, const struct view_def_use_pair *row)
{
	return &d->proc.at[row->proc].insn[row->use];
}

static bool
is_call(const struct view_def_use_insn *in)
{
	return in->kind == CHORD_INSN_CALL || in->kind == CHORD_INSN_ICALL;
}

/* ---- text ---- */

static void
put_total(size_t n, const char *what)
{
	static const struct column column[] = {{NULL, 18, 0}, {NULL, 0, 0}};
	struct table t = TABLE(column);

	table_number(&t, n);
	table_text(&t, what);
	table_end(&t);
}

static void
print_totals(const struct view_def_use *d)
{
	put_total(d->of_how[DEF_USE_COVERED] + d->of_how[DEF_USE_MAY_BE] + d->of_how[DEF_USE_NOT],
	          "pairs of instructions that define and use a register");
	put_total(d->of_how[DEF_USE_COVERED], "were covered");
	put_total(d->of_how[DEF_USE_MAY_BE], "may have been: that is not known");
	put_total(d->of_how[DEF_USE_NOT], "were not");
	if (d->unknown)
		put_total(d->unknown, "uses of a register that calls or handlers may have changed are in no pair");
}

static void
print_functions(const struct view_def_use *d)
{
	static const struct column columns[] = {{"covered", 18, 0}, {"may be", 12, 0}, {"not", 12, 0}, {"", 8, 0}, {NULL, 0, 0}};
	struct table t = TABLE(columns);

	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < d->proc.n; i++) {
		const struct view_def_use_proc *p = &d->proc.at[i];
		size_t n = p->of_how[0] + p->of_how[1] + p->of_how[2];
		char share[PERCENT];

		for (int how = 0; how < DEF_USE_HOWS; how++)
			table_number(&t, p->of_how[how]);
		if (n)
			table_printf(&t, "%s %%", percent_of(share, p->of_how[DEF_USE_COVERED], n, 1));
		else
			table_skip(&t, 1);
		table_text(&t, shown_name(p->of->proc->name));
		if (p->some)
			printf(p->of->why ? " (not exact)" : " (other paths may have run)");
		table_end(&t);
	}
}

/* Puts the instruction: its text, block and line. */
static void
put_insn(const struct view_def_use *d, const struct view_def_use_pair *row, const struct view_def_use_insn *in)
{
	struct image *image = d->proc.at[row->proc].of->binary->image;
	struct str bytes = image_bytes(image, in->addr);
	struct image_place place;
	struct buf text = {0};

	if (image_machine(image)->print(&text, (const uint8_t *)bytes.at, bytes.n, in->addr))
		printf("%.*s", (int)text.n, text.at);
	printf(" at %" PRIx64 ", block %" PRIu32, in->addr, in->block);
	if (image_place(image, in->addr, &place))
		printf(" (%s:%u)", shown_path(place.file), place.line);
	buf_free(&text);
}

static void
print_pair(const struct view_def_use *d, const struct view_def_use_pair *row)
{
	static const struct column columns[] = {{NULL, 18, 0}, {NULL, 0, 0}};
	struct table t = TABLE(columns);

	if (row->count.most)
		table_bounds(&t, &row->count, true);
	else
		table_skip(&t, 1);
	table_text(&t, shown_name(d->proc.at[row->proc].of->proc->name));
	printf(", %s%s", view_def_use_register(d, row), is_call(def_of(d, row)) ? ", by the calling convention" : "");
	table_end(&t);
	printf("%*sfrom ", 20, "");
	put_insn(d, row, def_of(d, row));
	printf("\n%*sto   ", 20, "");
	put_insn(d, row, use_of(d, row));
	putchar('\n');
}

static int
by_count(const void *a, const void *b)
{
	const struct view_def_use_pair *x = a, *y = b;

	if (x->count.least != y->count.least)
		return x->count.least < y->count.least ? 1 : -1;
	if (x->count.most != y->count.most)
		return x->count.most < y->count.most ? 1 : -1;
	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	if (x->use != y->use)
		return x->use < y->use ? -1 : 1;
	if (x->def != y->def)
		return x->def < y->def ? -1 : 1;
	return (x->reg > y->reg) - (x->reg < y->reg);
}

static void
print_pairs(const struct view_def_use *d, enum view_def_use_how how, size_t top)
{
	static const char *const title[] = {"Covered", "Not known whether covered", "Not covered"};
	size_t n = d->of_how[how], shown = table_rows(top, n), left = shown;

	if (n)
		printf("\n%s\n", title[how]);
	for (size_t i = 0; i < d->pair.n && left; i++)
		if (view_def_use_how(&d->pair.at[i]) == how) {
			print_pair(d, &d->pair.at[i]);
			left--;
		}
	if (shown < n)
		printf("  and %zu more (--top=0 shows all)\n", n - shown);
}

void
paths_print_def_use(const struct view_paths *r, size_t top)
{
	struct view_def_use d;

	view_def_use(&d, r);
	if (d.pair.n)
		qsort(d.pair.at, d.pair.n, sizeof *d.pair.at, by_count);
	print_totals(&d);
	print_functions(&d);
	print_pairs(&d, DEF_USE_NOT, top);
	print_pairs(&d, DEF_USE_MAY_BE, top);
	print_pairs(&d, DEF_USE_COVERED, top);
	paths_print_named("Left out, since what their instructions do to registers cannot be told", "", d.left_out.at,
	                  d.left_out.n);
	view_def_use_free(&d);
}

/* ---- JSON ---- */

static json_t *
json_insn(const struct view_def_use *d, const struct view_def_use_pair *row, const struct view_def_use_insn *in)
{
	struct image *image = d->proc.at[row->proc].of->binary->image;
	struct image_place place;
	json_t *o = json_object();
	bool known = image_place(image, in->addr, &place);

	js_set(o, "block", js_number(in->block, true));
	js_set(o, "insn", js_number(in->insn, true));
	js_set(o, "part", js_number(in->part, true));
	js_set(o, "offset", js_number(in->offset, true));
	js_set(o, "address", js_number(in->addr, true));
	js_set(o, "file", known ? js_text(place.file) : json_null());
	js_set(o, "line", js_number(known ? place.line : 0, known));
	js_set(o, "call", json_boolean(is_call(in)));
	return o;
}

static json_t *
json_pair(const struct view_def_use *d, const struct view_def_use_pair *row)
{
	const struct view_paths_proc *of = d->proc.at[row->proc].of;
	json_t *o = json_object();

	js_set_function(o, "function", of->proc->name);
	js_set(o, "module", js_text(of->binary->path));
	js_set(o, "register", js_text(view_def_use_register(d, row)));
	js_set(o, "definition", json_insn(d, row, def_of(d, row)));
	js_set(o, "use", json_insn(d, row, use_of(d, row)));
	js_set(o, "status", js_text(how_name[view_def_use_how(row)]));
	js_set_bounds(o, "count", row->count.least, row->count.most, true);
	return o;
}

static json_t *
json_function(const struct view_def_use_proc *p)
{
	json_t *o = json_object();

	js_set_function(o, "name", p->of->proc->name);
	js_set(o, "module", js_text(p->of->binary->path));
	js_set(o, "covered", js_number(p->of_how[DEF_USE_COVERED], true));
	js_set(o, "may_be_covered", js_number(p->of_how[DEF_USE_MAY_BE], true));
	js_set(o, "not_covered", js_number(p->of_how[DEF_USE_NOT], true));
	js_set(o, "uses_unknown", js_number(p->unknown, true));
	js_set(o, "all_paths", json_boolean(!p->some));
	return o;
}

void
paths_json_def_use(json_t *o, const struct view_paths *r, size_t top)
{
	struct view_def_use d;
	json_t *pairs = json_array(), *functions = json_array(), *all = json_object();

	view_def_use(&d, r);
	if (d.pair.n)
		qsort(d.pair.at, d.pair.n, sizeof *d.pair.at, by_count);
	for (size_t i = 0; i < table_rows(top, d.pair.n); i++)
		js_append(pairs, json_pair(&d, &d.pair.at[i]));
	for (size_t i = 0; i < d.proc.n; i++)
		js_append(functions, json_function(&d.proc.at[i]));
	js_set(all, "pairs", pairs);
	js_set(all, "functions", functions);
	js_set(all, "left_out", js_named_list(d.left_out.at, d.left_out.n));
	js_set(o, "def_use", all);
	view_def_use_free(&d);
}
