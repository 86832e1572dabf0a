/* SPDX-License-Identifier: MIT */
/* The report as text. */
#include "tool/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct table
totals(const struct view_totals *of)
{
	static const struct column columns[] = {{NULL, 26, 0}, {NULL, 0, 0}};
	struct table t = TABLE(columns);

	table_widen(&t, &of->insns);
	return t;
}

static void
print_total(struct table *t, const struct bounds *n, bool known, const char *what)
{
	table_bounds(t, n, known);
	table_text(t, what);
	table_end(t);
}

static void
print_totals(const struct view_totals *t)
{
	struct table table = totals(t);

	putchar('\n');
	if (t->known) {
		print_total(&table, &t->insns, true, "instructions");
		print_total(&table, &t->call_insns, true, "calls");
	}
	print_total(&table, &(struct bounds){t->procedures, t->procedures}, true, "procedures");
	if (t->refused)
		print_total(&table, &(struct bounds){t->refused, t->refused}, true, "of them refused");
	if (t->events_only)
		print_total(&table, &(struct bounds){t->events_only, t->events_only}, true,
		            t->known ? "of them with events only, not in these sums" : "of them with events only");
}

/* Prints totals that are seldom asked for. */
static void
print_flow(const struct view_totals *t)
{
	struct table table = totals(t);

	if (!t->known)
		return;
	putchar('\n');
	print_total(&table, &t->blocks, true, "blocks entered");
	print_total(&table, &t->edges, t->edges_known, "edges from block to block");
}

static void
print_events(const struct view_totals *t, const struct event_totals *e)
{
	struct table table = totals(t);

	if (e->n)
		printf("\nEvents counted:\n");
	for (uint32_t i = 0; i < e->n; i++) {
		print_total(&table, &(struct bounds){e->at[i].n, e->at[i].most}, !e->why, e->at[i].name);
		if (e->at[i].without)
			printf("%28sbut not those of %" PRIu64 " %s, which %s not count them\n", "", e->at[i].without,
			       e->at[i].without == 1 ? "procedure" : "procedures", e->at[i].without == 1 ? "does" : "do");
	}
}

/* Prints the share of all instructions. There is none if the least count exceeds the least total, which bounds allow. */
static void
print_share(const struct report *r, struct table *t, uint64_t insns)
{
	if (insns > r->table.totals.insns.least)
		table_skip(t, 1);
	else
		table_share(t, insns, r->table.totals.insns.least);
}

static void
print_function(const struct report *r, struct table *t, const struct view_function *f)
{
	table_bounds(t, &f->insns, true);
	print_share(r, t, f->insns.least);
	table_bounds(t, &f->calls, f->counts->activations_known);
	table_text(t, shown_name(f->proc->name));
	for (uint32_t i = 0; i < f->proc->nalso; i++)
		printf(" = %s", shown_name(f->proc->also[i]));
	if (*f->file && f->line)
		printf("  %s:%u", shown_path(f->file), f->line);
	else if (*f->file)
		printf("  %s", shown_path(f->file));
	if (f->binary != &r->run->binary.at[0])
		printf("  [%s]", shown_path(base_name(f->binary->path)));
	table_end(t);
}

/* If one function has most of the run, and functions were inlined into it, the table may say less than it seems to. */
static void
print_hint(const struct report *r)
{
	const struct view_function *f = r->table.function.at;
	bool inlined = false;

	if (!r->table.function.n || f->insns.least < r->table.totals.insns.least / 2 || r->opt.sort != VIEW_BY_INSNS)
		return;
	for (uint32_t i = 0, n = image_scopes(f->binary->image); i < n && !inlined; i++)
		inlined = image_scope(f->binary->image, i)->in != IMAGE_NO_SCOPE;
	if (inlined)
		printf("\nA function has what was inlined into it, too: --inlined tells it apart.\n");
}

static void
print_functions(const struct report *r)
{
	static const struct column columns[] = {
		{"instructions", 18, 0}, {"share", 7, 0}, {"activations", 15, 0}, {"function", 0, 0},
	};
	size_t n = table_rows(r->opt.top, r->table.function.n);
	struct table t = TABLE(columns);

	for (size_t i = 0; i < n; i++) {
		table_widen(&t, &r->table.function.at[i].insns);
		if (r->table.function.at[i].counts->activations_known)
			table_widen(&t, &r->table.function.at[i].calls);
	}
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++)
		print_function(r, &t, &r->table.function.at[i]);
	table_more(&t, n, r->table.function.n, "functions");
	print_hint(r);
}

static void
print_files(const struct report *r)
{
	static const struct column columns[] = {{"instructions", 18, 0}, {"share", 7, 0}, {"file", 0, 0}};
	size_t n = table_rows(r->opt.top, r->table.file.n);
	struct table t = TABLE(columns);

	for (size_t i = 0; i < n; i++)
		table_widen(&t, &r->table.file.at[i].insns);
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++) {
		const struct view_line *f = &r->table.file.at[i];

		table_bounds(&t, &f->insns, true);
		print_share(r, &t, f->insns.least);
		table_text(&t, shown_path(f->file));
		table_end(&t);
	}
	table_more(&t, n, r->table.file.n, "files");
}

/* Prints the text of a line, without the blanks before it. */
static void
print_text(const struct view_line *l)
{
	struct str text;

	if (!view_source_line(l->file, l->line, &text))
		return;
	while (text.n && (*text.at == ' ' || *text.at == '\t')) {
		text.at++;
		text.n--;
	}
	fputs("  ", stdout);
	print_source(text);
}

static void
print_lines(const struct report *r)
{
	static const struct column columns[] = {{"instructions", 18, 0}, {"share", 7, 0}, {"count", 15, 0}, {"line", 0, 0}};
	size_t n = table_rows(r->opt.top, r->table.line.n);
	struct table t = TABLE(columns);

	if (!r->table.has_lines)
		printf("\nThe program has no line numbers: %s for counts of lines.\n",
		       image_lines_wanted(r->run->binary.at[0].image));
	for (size_t i = 0; i < n; i++) {
		table_widen(&t, &r->table.line.at[i].insns);
		table_widen(&t, &r->table.line.at[i].most);
	}
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++) {
		const struct view_line *l = &r->table.line.at[i];

		table_bounds(&t, &l->insns, true);
		print_share(r, &t, l->insns.least);
		table_bounds(&t, &l->most, true);
		table_text(&t, shown_path(l->file));
		printf(l->line ? ":%u" : ":?", l->line);
		if (r->opt.source)
			print_text(l);
		table_end(&t);
	}
	table_more(&t, n, r->table.line.n, "lines");
}

/* ---- functions as they are written ---- */

/* At most so many copies of a function are shown. */
enum { COPIES = 5 };

static void
print_copies(const struct report *r, struct table *t, const struct view_source *f)
{
	size_t n = table_rows(r->opt.top ? COPIES : 0, f->copy.n);

	/* If the function was not inlined, the row above already has the count. */
	for (size_t i = 0; i < n && f->inlined.most; i++) {
		const struct view_copy *c = &f->copy.at[i];

		if (!c->insns.most)
			continue;
		table_bounds(t, &c->insns, true);
		table_skip(t, 3);
		table_text(t, c->in ? "  in " : "  in its own code");
		if (c->in)
			fputs(shown_name(c->in), stdout);
		if (c->in && *c->file)
			printf("  %s:%u", shown_path(c->file), c->line);
		table_end(t);
	}
	if (n < f->copy.n && f->inlined.most) {
		table_skip(t, 4);
		printf("    and %zu more %s (--top=0 shows all)", f->copy.n - n, f->copy.n - n == 1 ? "place" : "places");
		table_end(t);
	}
}

static void
print_sources(const struct report *r)
{
	static const struct column columns[] = {
		{"instructions", 18, 0}, {"share", 7, 0}, {"inlined", 18, 0}, {"with inlined", 18, 0},
		{"function as written", 0, 0},
	};
	size_t n = table_rows(r->opt.top, r->table.source.n);
	struct table t = TABLE(columns);

	if (!r->table.has_lines)
		printf("\nThe program has no debug information: %s for what was inlined.\n",
		       image_lines_wanted(r->run->binary.at[0].image));
	for (size_t i = 0; i < n; i++)
		table_widen(&t, &r->table.source.at[i].whole);
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++) {
		const struct view_source *f = &r->table.source.at[i];

		table_bounds(&t, &f->insns, true);
		print_share(r, &t, f->insns.least);
		table_bounds(&t, &f->inlined, true);
		table_bounds(&t, &f->whole, true);
		table_text(&t, shown_name(f->name));
		if (*f->file && f->line)
			printf("  %s:%u", shown_path(f->file), f->line);
		table_end(&t);
		print_copies(r, &t, f);
	}
	table_more(&t, n, r->table.source.n, "functions");
}

/* ---- calls ---- */

struct table
report_calls_table(struct column column[CALL_COLUMNS], const struct view_call *c)
{
	for (uint32_t e = 0; e < c->nevent; e++)
		column[e] = (struct column){c->proc->event[e].name, e ? 17 : 18, 0};
	/* Without events the text begins at the same place as with one event. */
	column[c->nevent] = (struct column){"calls", c->nevent ? 15 : 16, 0};
	column[c->nevent + 1] = (struct column){"call", 0, 0};
	return (struct table){.to = stdout, .column = column, .n = c->nevent + 2};
}

void
report_call_events(struct table *t, const struct view_call *c)
{
	for (uint32_t e = 0; e < c->nevent; e++)
		table_bounds(t, &(struct bounds){c->n[e], c->n[e]}, c->known[e]);
}

static void
print_callees(const struct report *r, struct table *t, const struct view_call *c)
{
	size_t n = table_rows(r->opt.top, c->nto);

	for (size_t i = 0; i < n; i++) {
		table_skip(t, c->nevent);
		table_number(t, c->to[i].calls);
		table_text(t, "");
		printf("  %s", shown_name(c->to[i].name));
		table_end(t);
	}
	if (n == c->nto)
		return;
	table_skip(t, c->nevent + 1);
	printf("    and %zu more (--top=0 shows all)", c->nto - n);
	table_end(t);
}

static void
print_call(const struct report *r, const struct view_call *c)
{
	struct column column[CALL_COLUMNS];
	struct table t = report_calls_table(column, c);

	report_call_events(&t, c);
	table_bounds(&t, &c->calls, true);
	table_text(&t, shown_name(c->proc->name));
	printf(" -> %s", shown_name(c->callee));
	if (*c->file && c->line)
		printf("  %s:%u", shown_path(c->file), c->line);
	table_end(&t);
	print_callees(r, &t, c);
}

static void
print_calls_left(const struct report *r)
{
	const struct bounds *left = &r->table.call.left;
	char n[RANGE];

	if (left->most)
		printf("\nCalls that are in no row, because their sums were not counted: %s\n", range(n, left->least, left->most));
}

static void
print_call_rows(const struct report *r)
{
	size_t n = table_rows(r->opt.top, r->table.call.n);
	struct column column[CALL_COLUMNS];
	struct table t;

	if (!r->table.call.n) {
		if (!r->table.call.left.most)
			printf(r->table.totals.known ? "\nNo calls were made.\n"
			       : "\nCalls were not counted: compile with -fchord=edges or calls.\n");
		return;
	}
	printf(r->table.call.at[0].nevent ? "\nBetween call and return:\n"
	       : "\nCall instructions that ran (-fchord=calls has who is called through pointers, and what happens until the "
	         "return):\n");
	t = report_calls_table(column, &r->table.call.at[0]);
	table_head(&t);
	if (r->opt.tree) {
		report_tree(r);
		return;
	}
	for (size_t i = 0; i < n; i++)
		print_call(r, &r->table.call.at[i]);
	table_more(&t, n, r->table.call.n, "calls");
}

static void
print_calls(const struct report *r)
{
	print_call_rows(r);
	print_calls_left(r);
}

/* ---- what is not in the sums ---- */

/* The first few are enough to show what the reasons are. */
enum { FEW = 10 };

static void
print_refused(const struct report *r)
{
	size_t n = r->table.refused.n;

	for (size_t i = 0; i < n && (i < FEW || r->opt.unmeasured); i++)
		printf("  %s: %s\n", plain_name(r->table.refused.at[i].name), r->table.refused.at[i].reason);
	if (n > FEW && !r->opt.unmeasured)
		printf("  ... and %zu more (--unmeasured lists all)\n", n - FEW);
}

/* How long these functions are, as far as their symbols say. */
static void
print_symbol_bytes(const struct unmeasured *un)
{
	if (un->unsized == un->symbol.n)
		printf("of unknown size");
	else
		printf("%s%" PRIu64 " bytes", un->unsized ? "at least " : "", un->symbol_bytes);
}

static void
print_unmeasured_symbols(const struct report *r)
{
	const struct unmeasured *un = &r->table.unmeasured;

	if (un->stripped)
		printf("  functions without Chord: the program has no symbol table (-s, strip), so they cannot be told;\n"
		       "    %" PRIu64 " bytes of code, with Chord's own, belong to no measured procedure\n", un->bytes);
	else if (un->symbol.n) {
		printf("  %zu %s, ", un->symbol.n, un->symbol.n == 1 ? "function" : "functions");
		print_symbol_bytes(un);
		printf(", not built with Chord%s\n", r->opt.unmeasured ? ":" : " (--unmeasured lists them)");
	}
	for (size_t i = 0; i < un->symbol.n && r->opt.unmeasured; i++)
		printf("    %s\n", plain_name(un->symbol.at[i].name));
}

static void
print_not_measured(const struct report *r)
{
	const struct unmeasured *un = &r->table.unmeasured;

	if (!r->table.totals.refused && !un->symbol.n && !un->stripped && !un->library.n)
		return;
	printf("\nNot measured:\n");
	print_refused(r);
	print_unmeasured_symbols(r);
	for (size_t i = 0; i < un->library.n; i++)
		printf("%s%s", i ? ", " : "  ", un->library.at[i]);
	if (un->library.n)
		printf(": not built with Chord\n");
}

void
report_text(const struct report *r)
{
	print_run_profiles(r->run);
	print_totals(&r->table.totals);
	print_events(&r->table.totals, &r->table.events);
	if (r->opt.files)
		print_files(r);
	if (r->opt.inlined)
		print_sources(r);
	if (r->opt.hottest)
		report_hottest(r);
	if (r->opt.lines)
		print_lines(r);
	if (r->opt.calls)
		print_calls(r);
	if (r->opt.inclusive)
		report_inclusive(r);
	if (!r->opt.files && !r->opt.lines && !r->opt.calls && !r->opt.inlined && !r->opt.hottest && !r->opt.inclusive &&
	    r->table.totals.known)
		print_functions(r);
	print_flow(&r->table.totals);
	print_not_measured(r);
	print_run_unknown(r->run);
	print_run_notes(r->run);
}
