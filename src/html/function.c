/* SPDX-License-Identifier: MIT */
/* data/function/NUMBER.js: a function's instructions, blocks and edges with their counts, and its hottest paths. */
#include "html/html.h"

#include <inttypes.h>

/* ---- instructions ---- */

static void
put_text(struct buf *out, const struct view_insn *in)
{
	struct buf text = {0};

	if (in->kind == CHORD_INSN_PAD)
		buf_str(&text, "(padding)");
	else if (!view_insn_text(in, &text))
		buf_str(&text, "(its place is not known)");
	script_text(out, (struct str){text.at, text.n});
	buf_free(&text);
}

/* Writes the target: [NAME, function or null] outside of the procedure, the number of a block inside, or null. */
static void
put_target(struct pages *p, struct buf *out, const struct view_insn *in)
{
	struct callee c = view_insn_callee(in);
	uint32_t to = pages_callee(p, in->binary, &c);

	if (c.n) {
		buf_char(out, '[');
		script_symbol(out, callee_name(p->run->pool, &c, 0));
		buf_char(out, ',');
		script_known(out, to, to != UINT32_MAX);
		buf_char(out, ']');
		return;
	}
	for (uint32_t i = 0; i < in->proc->narc && (in->kind == CHORD_INSN_BRANCH || in->kind == CHORD_INSN_JUMP); i++) {
		const struct arc *a = &in->proc->arc[i];

		if (a->from != in->block || a->to >= in->proc->nblock)
			continue;
		if (a->kind == CHORD_EDGE_TAKEN || a->kind == CHORD_EDGE_JUMP) {
			buf_number(out, a->to);
			return;
		}
	}
	buf_str(out, "null");
}

/* How often a conditional jump was taken and not taken; null for other instructions. */
static void
put_ways(struct pages *p, struct buf *out, size_t insn)
{
	const struct view_branch *b = p->branch_of[insn] ? &p->list.branch.at[p->branch_of[insn] - 1] : NULL;

	if (!b || !b->known) {
		buf_str(out, "null");
		return;
	}
	buf_char(out, '[');
	script_count(out, b->taken);
	buf_char(out, ',');
	script_count(out, b->fell);
	buf_char(out, ']');
}

/* [block, address, count, text, file, line, target, ways] */
static void
put_insn(struct pages *p, struct buf *out, size_t insn)
{
	const struct view_insn *in = &p->list.insn.at[insn];

	script_next(out);
	buf_printf(out, "[%" PRIu32 ",\"%" PRIx64 "\",", in->block, in->addr);
	script_known(out, in->count, in->known);
	buf_char(out, ',');
	put_text(out, in);
	if (in->file == VIEW_NO_FILE)
		buf_str(out, ",null,0,");
	else
		buf_printf(out, ",%" PRIu32 ",%u,", in->file, in->line);
	put_target(p, out, in);
	buf_char(out, ',');
	put_ways(p, out, insn);
	buf_char(out, ']');
}

/* ---- the graph ---- */

static void
put_blocks(struct buf *out, const struct view_function *f)
{
	script_key(out, "blocks");
	buf_char(out, '[');
	for (uint32_t i = 0; i < f->proc->nblock; i++) {
		struct view_block b = view_block_of(f->proc, f->counts, i);

		script_next(out);
		script_bounds(out, &b.count, b.known);
	}
	buf_char(out, ']');
}

/* [from, to, kind, count]; the vertices after the blocks are ENTRY, EXIT, then others; all of these have names. */
static void
put_edges(struct buf *out, const struct view_function *f)
{
	script_key(out, "edges");
	buf_char(out, '[');
	for (uint32_t i = 0; i < f->proc->narc; i++) {
		struct view_edge e = view_edge_of(f->proc, f->counts, i);

		script_next(out);
		buf_printf(out, "[%" PRIu32 ",%" PRIu32 ",\"%s\",", e.arc->from, e.arc->to, profile_edge_name(e.arc->kind));
		script_bounds(out, &e.count, e.known);
		buf_char(out, ']');
	}
	buf_char(out, ']');
	script_key(out, "vertices");
	buf_char(out, '[');
	for (uint32_t v = f->proc->nblock; v < f->proc->nvert; v++) {
		char name[32];

		script_next(out);
		script_name(out, view_vertex_name(name, f->proc, v));
	}
	buf_char(out, ']');
}

/* ---- all ---- */

static void
write_function(struct pages *p, struct page_paths *paths, size_t number, size_t first, size_t last)
{
	const struct view_function *f = &p->function.at[number];
	struct buf out = {0};
	char name[64];

	snprintf(name, sizeof name, "function/%zu", number);
	script_begin(&out, name);
	buf_char(&out, '{');
	script_key(&out, "insns");
	buf_char(&out, '[');
	for (size_t i = first; i < last; i++)
		put_insn(p, &out, i);
	buf_char(&out, ']');
	put_blocks(&out, f);
	put_edges(&out, f);
	if (p->procs)
		pages_before(p, &out, f);
	if (paths)
		page_paths_put(paths, &out, f->proc);
	buf_char(&out, '}');
	script_end(&out);
	snprintf(name, sizeof name, "data/function/%zu.js", number);
	folder_write(p->to, name, &out);
	buf_free(&out);
}

void
pages_functions(struct pages *p)
{
	struct page_paths *paths = page_paths_find(p);

	for (size_t i = 0, k; i < p->list.insn.n; i = k) {
		const struct view_insn *in = &p->list.insn.at[i];

		for (k = i; k < p->list.insn.n && p->list.insn.at[k].proc == in->proc;)
			k++;
		write_function(p, paths, pages_function(p, in->binary, in->proc_number), i, k);
		progress("writing functions", k, p->list.insn.n);
	}
	page_paths_free(paths);
}
