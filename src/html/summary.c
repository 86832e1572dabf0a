/* SPDX-License-Identifier: MIT */
/* data/summary.js: totals, functions and files, and what is not known. */
#include "html/html.h"

#include <inttypes.h>
#include <stdlib.h>

static void
put_names(struct buf *out, const char *key, const char *const *at, size_t n)
{
	script_key(out, key);
	buf_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		script_next(out);
		script_name(out, at[i]);
	}
	buf_char(out, ']');
}

static void
put_named(struct buf *out, const char *key, const struct named *at, size_t n)
{
	script_key(out, key);
	buf_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		script_next(out);
		buf_char(out, '[');
		script_symbol(out, at[i].name);
		buf_char(out, ',');
		script_name(out, image_readable_text(at[i].reason));
		buf_char(out, ']');
	}
	buf_char(out, ']');
}

static void
put_totals(struct buf *out, const struct view_tables *t)
{
	const struct view_totals *n = &t->totals;

	script_key(out, "totals");
	buf_str(out, "{\"instructions\":");
	script_bounds(out, &n->insns, n->known || n->insns.least);
	buf_str(out, ",\"blocks\":");
	script_bounds(out, &n->blocks, n->known);
	buf_str(out, ",\"edges\":");
	script_bounds(out, &n->edges, n->known && n->edges_known);
	buf_str(out, ",\"calls\":");
	script_bounds(out, &n->call_insns, n->known);
	buf_printf(out, ",\"procedures\":%" PRIu64 ",\"refused\":%" PRIu64 "}", n->procedures, n->refused);
}

static void
put_events(struct buf *out, const struct event_totals *e)
{
	script_key(out, "events");
	buf_char(out, '[');
	for (uint32_t i = 0; i < e->n; i++) {
		script_next(out);
		buf_char(out, '[');
		script_name(out, e->at[i].name);
		buf_char(out, ',');
		script_bounds(out, &(struct bounds){e->at[i].n, e->at[i].most}, !e->why);
		buf_printf(out, ",%" PRIu64 "]", e->at[i].without);
	}
	buf_char(out, ']');
}

static void
put_unmeasured(struct buf *out, const struct unmeasured *un)
{
	script_key(out, "unmeasured");
	buf_str(out, "{\"functions\":");
	script_known(out, un->symbol.n, !un->stripped);
	put_names(out, "libraries", un->library.at, un->library.n);
	script_key(out, "names");
	buf_char(out, '[');
	for (size_t i = 0; i < un->symbol.n; i++) {
		script_next(out);
		script_symbol(out, un->symbol.at[i].name);
	}
	buf_str(out, "]}");
}

/* ---- functions ---- */

static void
put_size(struct buf *out, const struct view_function *f)
{
	struct view_size s = view_size_of(f->proc, f->counts);

	buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, s.code, s.never, s.blocks, s.unentered);
}

/* The function's place has the number of its file. */
static void
put_function(struct pages *p, struct buf *out, size_t i)
{
	const struct view_function *f = &p->function.at[i];

	script_next(out);
	buf_char(out, '[');
	script_symbol(out, f->proc->name);
	buf_char(out, ',');
	script_name(out, f->proc->name);
	buf_printf(out, ",%u,%u,%zu,%d,", pages_file(p, *f->file ? f->file : "?"), f->line, (size_t)(f->binary - p->run->binary.at),
	           !f->proc->refused && f->proc->nblock);
	if (f->why) {
		script_name(out, f->why);
		buf_str(out, ",null,null,null]");
		return;
	}
	buf_str(out, "null,");
	script_bounds(out, &f->calls, f->counts->activations_known);
	buf_char(out, ',');
	script_bounds(out, &f->insns, true);
	buf_char(out, ',');
	script_bounds(out, &f->blocks, true);
	put_size(out, f);
	buf_char(out, ']');
}

static void
put_functions(struct pages *p, struct buf *out)
{
	script_key(out, "functions");
	buf_char(out, '[');
	for (size_t i = 0; i < p->function.n; i++)
		put_function(p, out, i);
	buf_char(out, ']');
}

/* ---- files ---- */

struct sizes {
	size_t lines, never, unknown; /* lines with code; those that never ran; those that are not known */
};

static struct sizes *
count_lines(const struct pages *p)
{
	struct sizes *all = xcalloc(p->file.n + 1, sizeof *all);

	for (size_t i = 0; i < p->list.file.n; i++)
		for (size_t k = 0; k < p->list.file.at[i].line.n; k++) {
			const struct view_line *l = &p->list.file.at[i].line.at[k];

			all[i].lines++;
			all[i].unknown += l->unknown && !l->insns.least;
			all[i].never += !l->unknown && !l->insns.least;
		}
	return all;
}

/* Executed instructions by file, as bounds if they are not exact. If nothing is known of a file, the upper bound is below the lower
 * one. */
static struct bounds *
count_insns(struct pages *p)
{
	struct bounds *all;

	for (size_t i = 0; i < p->table.file.n; i++)
		pages_file(p, p->table.file.at[i].file);
	all = xcalloc(p->file.n + 1, sizeof *all);
	for (size_t i = 0; i < p->file.n; i++)
		all[i].least = 1;
	for (size_t i = 0; i < p->table.file.n; i++)
		all[pages_file(p, p->table.file.at[i].file)] = p->table.file.at[i].insns;
	return all;
}

/* The line of each file with the most executed instructions. */
static const struct view_line **
find_hottest(struct pages *p)
{
	const struct view_line **all = xcalloc(p->file.n + 1, sizeof *all);

	for (size_t i = 0; i < p->table.line.n; i++) {
		const struct view_line *l = &p->table.line.at[i], **hottest = &all[pages_file(p, l->file)];

		if (l->line && l->insns.least && (!*hottest || l->insns.least > (*hottest)->insns.least))
			*hottest = l;
	}
	return all;
}

/* Must be called last, when all files have been numbered. */
static void
put_files(struct pages *p, struct buf *out)
{
	struct bounds *insns = count_insns(p);
	struct sizes *sizes = count_lines(p);
	const struct view_line **hottest = find_hottest(p);

	script_key(out, "files");
	buf_char(out, '[');
	for (size_t i = 0; i < p->file.n; i++) {
		const struct sizes *s = &sizes[i];

		script_next(out);
		buf_char(out, '[');
		script_name(out, p->file.at[i]);
		buf_char(out, ',');
		script_bounds(out, &insns[i], insns[i].most >= insns[i].least);
		buf_printf(out, ",%zu,%zu,%zu,%zu,%u,", s->lines, s->never, s->unknown,
		           i < p->list.file.n ? view_source_lines(p->file.at[i]) : 0, hottest[i] ? hottest[i]->line : 0);
		script_bounds(out, hottest[i] ? &hottest[i]->insns : &(struct bounds){0}, true);
		buf_char(out, ']');
	}
	buf_char(out, ']');
	free(insns);
	free(sizes);
	free(hottest);
}

/* ---- lines ---- */

static int
by_insns(const void *a, const void *b)
{
	const struct view_line *x = *(const struct view_line *const *)a, *y = *(const struct view_line *const *)b;

	return x->insns.least != y->insns.least ? (x->insns.least < y->insns.least ? 1 : -1) : (x > y) - (x < y);
}

/* The hottest lines: [file, line, instructions, text]. */
static void
put_lines(struct pages *p, struct buf *out)
{
	enum { TOP = 12 };
	const struct view_line **line = xcalloc(p->table.line.n + 1, sizeof *line);
	size_t n = 0;

	for (size_t i = 0; i < p->table.line.n; i++)
		if (p->table.line.at[i].line && p->table.line.at[i].insns.least)
			line[n++] = &p->table.line.at[i];
	qsort(line, n, sizeof *line, by_insns);
	script_key(out, "lines");
	buf_char(out, '[');
	for (size_t i = 0; i < n && i < TOP; i++) {
		struct str text = {"", 0};

		view_source_line(line[i]->file, line[i]->line, &text);
		script_next(out);
		buf_printf(out, "[%" PRIu32 ",%u,", pages_file(p, line[i]->file), line[i]->line);
		script_bounds(out, &line[i]->insns, true);
		buf_char(out, ',');
		script_text(out, text);
		buf_char(out, ']');
	}
	buf_char(out, ']');
	free(line);
}

/* ---- all ---- */

static void
put_notes(struct buf *out, const struct run *run)
{
	script_key(out, "notes");
	buf_char(out, '[');
	for (size_t i = 0; i < run->note.n; i++) {
		script_next(out);
		script_name(out, image_readable_text(run->note.at[i]));
	}
	buf_char(out, ']');
}

static void
put_run(struct pages *p, struct buf *out)
{
	const struct run *run = p->run;

	buf_char(out, '{');
	script_key(out, "program");
	script_name(out, run->path);
	script_key(out, "build");
	script_name(out, image_hex(run->pool, image_build_id(run->binary.at[0].image)));
	put_names(out, "profiles", run->summed.at, run->summed.n);
	put_notes(out, run);
	put_named(out, "leftOut", run->left_out.at, run->left_out.n);
	put_named(out, "unknown", run->unknown.at, run->unknown.n);
	put_named(out, "refused", p->table.refused.at, p->table.refused.n);
	script_key(out, "hasLines");
	buf_str(out, p->table.has_lines ? "true" : "false");
	script_key(out, "objects");
	buf_char(out, '[');
	for (size_t i = 0; i < run->binary.n; i++) {
		script_next(out);
		script_name(out, run->binary.at[i].path);
	}
	buf_char(out, ']');
}

void
pages_summary(struct pages *p)
{
	struct buf out = {0};

	script_begin(&out, "summary");
	put_run(p, &out);
	script_key(&out, "listed");
	buf_number(&out, p->list.file.n);
	script_key(&out, "differs");
	buf_str(&out, p->procs ? "true" : "false");
	put_totals(&out, &p->table);
	put_events(&out, &p->table.events);
	put_unmeasured(&out, &p->table.unmeasured);
	put_functions(p, &out);
	put_lines(p, &out);
	put_files(p, &out);
	buf_char(&out, '}');
	script_end(&out);
	folder_write(p->to, "data/summary.js", &out);
	buf_free(&out);
}
