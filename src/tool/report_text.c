/* SPDX-License-Identifier: MIT */
/* chord report as text. */
#include "tool/report.h"

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
total_of(const struct total *t, bool known, const char *what)
{
	total(t->least, t->most, known, what);
}

void
report_profiles(const struct run *run)
{
	size_t n = run->summed.n;

	printf("%s: ", run->path);
	if (n == 1) {
		printf("%s\n", run->summed.at[0]);
	} else {
		printf("sum of %zu profiles:", n);
		for (size_t i = 0; i < n; i++)
			printf(" %s", run->summed.at[i]);
		putchar('\n');
	}
	for (size_t i = 0; i < run->left_out.n; i++)
		printf("left out: %s: %s\n", run->left_out.at[i].name, run->left_out.at[i].reason);
	for (size_t i = 1; i < run->unit.n; i++)
		printf("with %s\n", run->unit.at[i].path);
}

static void
print_totals(const struct totals *t)
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
print_function(const struct report *r, const struct row_function *f)
{
	const struct counts *c = f->counts, *m = c->most ? c->most : c;
	char insns[RANGE], calls[RANGE];

	printf("%18s %6.2f%% %15s  %s", range(insns, c->insns, m->insns), share(c->insns, r->totals.insns.least),
	       c->calls_known ? range(calls, c->calls, m->calls) : "not known", f->proc->name);
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
	size_t n = rows(r, r->function.n);

	printf("\n%18s %7s %15s  %s\n", "instructions", "share", "activations", "function");
	for (size_t i = 0; i < n; i++)
		print_function(r, &r->function.at[i]);
	print_more(n, r->function.n, "functions");
}

static void
print_files(const struct report *r)
{
	size_t n = rows(r, r->file.n);
	char insns[RANGE];

	printf("\n%18s %7s  %s\n", "instructions", "share", "file");
	for (size_t i = 0; i < n; i++) {
		const struct total *t = &r->file.at[i].insns;

		printf("%18s %6.2f%%  %s\n", range(insns, t->least, t->most), share(t->least, r->totals.insns.least),
		       shown_path(r->file.at[i].file));
	}
	print_more(n, r->file.n, "files");
}

static void
print_lines(const struct report *r)
{
	size_t n = rows(r, r->line.n);
	char insns[RANGE], most[RANGE];

	if (!r->has_lines)
		printf("\nThe program has no line numbers: compile it with -g for counts of lines.\n");
	printf("\n%18s %7s %15s  %s\n", "instructions", "share", "most", "line");
	for (size_t i = 0; i < n; i++) {
		const struct row_line *l = &r->line.at[i];

		printf("%18s %6.2f%% %15s  %s:", range(insns, l->insns.least, l->insns.most),
		       share(l->insns.least, r->totals.insns.least), range(most, l->most.least, l->most.most),
		       shown_path(l->file));
		if (l->line)
			printf("%u\n", l->line);
		else
			printf("?\n");
	}
	print_more(n, r->line.n, "lines");
}

static void
print_callees(const struct report *r, const struct row_call *c)
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
print_call(const struct report *r, const struct row_call *c)
{
	char text[RANGE];

	for (uint32_t e = 0; e < c->nevent; e++)
		printf("%18s", c->known[e] ? grouped(text, c->n[e]) : "not known");
	printf(" %15s  %s -> %s", range(text, c->calls, c->calls_most), c->proc->name, c->callee);
	if (*c->file && c->line)
		printf("  %s:%u", shown_path(c->file), c->line);
	putchar('\n');
	print_callees(r, c);
}

static void
print_calls(const struct report *r)
{
	size_t n = rows(r, r->call.n);

	if (!r->call.n) {
		printf("\nNo calls were measured: compile with -fchord=calls.\n");
		return;
	}
	printf("\nBetween call and return:\n");
	for (uint32_t e = 0; e < r->call.at[0].nevent; e++)
		printf("%18s", r->call.at[0].proc->event[e].name);
	printf(" %15s  %s\n", "calls", "call");
	if (r->opt.tree) {
		report_tree(r);
		return;
	}
	for (size_t i = 0; i < n; i++)
		print_call(r, &r->call.at[i]);
	print_more(n, r->call.n, "calls");
}

/* The first few are enough to show what it is about. */
enum { FEW = 10 };

static void
print_refused(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->run->unit.n; i++) {
		const struct map *m = &r->run->unit.at[i].map;

		for (uint32_t k = 0; k < m->nproc; k++) {
			if (!m->proc[k].refused)
				continue;
			if (n++ < FEW || r->opt.unmeasured)
				printf("  %s: %s\n", m->proc[k].name, m->proc[k].refused);
		}
	}
	if (n > FEW && !r->opt.unmeasured)
		printf("  ... and %zu more (--unmeasured lists all)\n", n - FEW);
}

static void
print_unmeasured_symbols(const struct report *r)
{
	const struct unmeasured *un = &r->unmeasured;

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
	const struct unmeasured *un = &r->unmeasured;

	if (!r->totals.refused && !un->symbol.n && !un->stripped && !un->library.n)
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
report_not_known(const struct run *run)
{
	if (!run->unknown.n)
		return;
	printf("\nNot known, and in no sum above:\n");
	for (size_t i = 0; i < run->unknown.n; i++)
		printf("  %s: %s\n", run->unknown.at[i].name, run->unknown.at[i].reason);
}

void
report_notes(const struct run *run)
{
	if (run->note.n)
		printf("\nNote:\n");
	for (size_t i = 0; i < run->note.n; i++)
		printf("  %s\n", run->note.at[i]);
}

void
report_text(const struct report *r)
{
	report_profiles(r->run);
	print_totals(&r->totals);
	print_events(&r->events);
	if (r->opt.files)
		print_files(r);
	if (r->opt.lines)
		print_lines(r);
	if (r->opt.calls)
		print_calls(r);
	if (!r->opt.files && !r->opt.lines && !r->opt.calls && r->totals.known)
		print_functions(r);
	print_not_measured(r);
	report_not_known(r->run);
	report_notes(r->run);
}
