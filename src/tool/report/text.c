/* SPDX-License-Identifier: MIT */
/* The report as text. */
#include "tool/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
total(uint64_t n, uint64_t most, bool known, const char *what)
{
	char text[RANGE];

	printf("%26s  %s\n", known ? range(text, n, most) : "not known", what);
}

static void
total_of(const struct bounds *t, bool known, const char *what)
{
	total(t->least, t->most, known, what);
}

static void
print_totals(const struct view_totals *t)
{
	putchar('\n');
	if (t->known) {
		total_of(&t->insns, true, "instructions");
		total_of(&t->blocks, true, "blocks entered");
		total_of(&t->edges, t->edges_known, "edges from block to block");
		total_of(&t->call_insns, true, "calls");
	}
	total(t->procedures, t->procedures, true, "procedures");
	total(t->refused, t->refused, true, "of them refused");
}

static void
print_events(const struct event_totals *e)
{
	if (e->n)
		printf("\nEvents counted:\n");
	for (uint32_t i = 0; i < e->n; i++) {
		total(e->at[i].n, e->at[i].most, !e->why, e->at[i].name);
		if (e->at[i].without)
			printf("%28sbut not those of %" PRIu64 " %s, which %s not count them\n", "", e->at[i].without,
			       e->at[i].without == 1 ? "procedure" : "procedures", e->at[i].without == 1 ? "does" : "do");
	}
}

static double
share(uint64_t n, uint64_t all)
{
	return all ? 100.0 * (double)n / (double)all : 0;
}

static void
print_function(const struct report *r, const struct view_function *f)
{
	char insns[RANGE], calls[RANGE];

	printf("%18s %6.2f%% %15s  %s", range(insns, f->insns.least, f->insns.most),
	       share(f->insns.least, r->table.totals.insns.least),
	       f->counts->calls_known ? range(calls, f->calls.least, f->calls.most) : "not known", f->proc->name);
	for (uint32_t i = 0; i < f->proc->nalso; i++)
		printf(" = %s", f->proc->also[i]);
	if (*f->file && f->line)
		printf("  %s:%u", shown_path(f->file), f->line);
	else if (*f->file)
		printf("  %s", shown_path(f->file));
	if (f->unit != &r->run->unit.at[0])
		printf("  [%s]", base_name(f->unit->path));
	putchar('\n');
}

static size_t
rows(const struct report *r, size_t n)
{
	return r->opt.top && r->opt.top < n ? r->opt.top : n;
}

static void
print_more(size_t shown_rows, size_t n, const char *what)
{
	if (shown_rows < n)
		printf("%18s and %zu more %s (--top=0 shows all)\n", "", n - shown_rows, what);
}

static void
print_functions(const struct report *r)
{
	size_t n = rows(r, r->table.function.n);

	printf("\n%18s %7s %15s  %s\n", "instructions", "share", "activations", "function");
	for (size_t i = 0; i < n; i++)
		print_function(r, &r->table.function.at[i]);
	print_more(n, r->table.function.n, "functions");
}

static void
print_files(const struct report *r)
{
	size_t n = rows(r, r->table.file.n);
	char insns[RANGE];

	printf("\n%18s %7s  %s\n", "instructions", "share", "file");
	for (size_t i = 0; i < n; i++) {
		const struct bounds *t = &r->table.file.at[i].insns;

		printf("%18s %6.2f%%  %s\n", range(insns, t->least, t->most), share(t->least, r->table.totals.insns.least),
		       shown_path(r->table.file.at[i].file));
	}
	print_more(n, r->table.file.n, "files");
}

static void
print_lines(const struct report *r)
{
	size_t n = rows(r, r->table.line.n);
	char insns[RANGE], most[RANGE];

	if (!r->table.has_lines)
		printf("\nThe program has no line numbers: compile it with -g for counts of lines.\n");
	printf("\n%18s %7s %15s  %s\n", "instructions", "share", "most", "line");
	for (size_t i = 0; i < n; i++) {
		const struct view_line *l = &r->table.line.at[i];

		printf("%18s %6.2f%% %15s  %s:", range(insns, l->insns.least, l->insns.most),
		       share(l->insns.least, r->table.totals.insns.least), range(most, l->most.least, l->most.most),
		       shown_path(l->file));
		if (l->line)
			printf("%u\n", l->line);
		else
			printf("?\n");
	}
	print_more(n, r->table.line.n, "lines");
}

static void
print_callees(const struct report *r, const struct view_call *c)
{
	size_t n = rows(r, c->nto);
	int indent = (int)(18 * c->nevent);
	char text[32];

	for (size_t i = 0; i < n; i++)
		printf("%*s %15s    %s\n", indent, "", grouped(text, c->to[i].calls), c->to[i].name);
	if (n < c->nto)
		printf("%*s %15s    and %zu more (--top=0 shows all)\n", indent, "", "", c->nto - n);
}

static void
print_call(const struct report *r, const struct view_call *c)
{
	char text[RANGE];

	for (uint32_t e = 0; e < c->nevent; e++)
		printf("%18s", c->known[e] ? grouped(text, c->n[e]) : "not known");
	printf(" %15s  %s -> %s", range(text, c->calls.least, c->calls.most), c->proc->name, c->callee);
	if (*c->file && c->line)
		printf("  %s:%u", shown_path(c->file), c->line);
	putchar('\n');
	print_callees(r, c);
}

static void
print_calls(const struct report *r)
{
	size_t n = rows(r, r->table.call.n);

	if (!r->table.call.n) {
		printf("\nNo calls were measured: compile with -fchord=calls.\n");
		return;
	}
	printf("\nBetween call and return:\n");
	for (uint32_t e = 0; e < r->table.call.at[0].nevent; e++)
		printf("%18s", r->table.call.at[0].proc->event[e].name);
	printf(" %15s  %s\n", "calls", "call");
	if (r->opt.tree) {
		report_tree(r);
		return;
	}
	for (size_t i = 0; i < n; i++)
		print_call(r, &r->table.call.at[i]);
	print_more(n, r->table.call.n, "calls");
}

/* The first few are enough to show what it is about. */
enum { FEW = 10 };

static void
print_refused(const struct report *r)
{
	size_t n = r->table.refused.n;

	for (size_t i = 0; i < n && (i < FEW || r->opt.unmeasured); i++)
		printf("  %s: %s\n", r->table.refused.at[i].name, r->table.refused.at[i].reason);
	if (n > FEW && !r->opt.unmeasured)
		printf("  ... and %zu more (--unmeasured lists all)\n", n - FEW);
}

static void
print_unmeasured_symbols(const struct report *r)
{
	const struct unmeasured *un = &r->table.unmeasured;

	if (un->stripped)
		printf("  the program has no symbol table: %" PRIu64 " bytes of code belong to no measured procedure\n",
		       un->bytes);
	else if (un->symbol.n)
		printf("  %zu %s, %" PRIu64 " bytes, not built with Chord%s\n", un->symbol.n,
		       un->symbol.n == 1 ? "function" : "functions", un->symbol_bytes,
		       r->opt.unmeasured ? ":" : " (--unmeasured lists them)");
	for (size_t i = 0; i < un->symbol.n && r->opt.unmeasured; i++)
		printf("    %s\n", un->symbol.at[i].name);
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
	print_events(&r->table.events);
	if (r->opt.files)
		print_files(r);
	if (r->opt.lines)
		print_lines(r);
	if (r->opt.calls)
		print_calls(r);
	if (!r->opt.files && !r->opt.lines && !r->opt.calls && r->table.totals.known)
		print_functions(r);
	print_not_measured(r);
	print_run_unknown(r->run);
	print_run_notes(r->run);
}
