/* SPDX-License-Identifier: MIT */
/* Instructions with counts beside them. */
#include "tool/annotate/annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A procedure in the listing: its instructions are [first, last). */
struct span {
	size_t first, last;
	uint64_t insns;
};

static bool
same_proc(const struct view_insn *a, const struct view_insn *b)
{
	return a->proc == b->proc && a->binary == b->binary;
}

/* The arcs that leave block b: arc[at[b] .. at[b + 1]). */
struct leaving { uint32_t *at, *arc; };

static struct leaving
leaving_of(const struct proc *p)
{
	struct leaving l = {xcalloc(p->nvert + 2, sizeof *l.at), xcalloc(p->narc + 1, sizeof *l.arc)};
	uint32_t *next = l.at + 1;

	for (uint32_t i = 0; i < p->narc; i++)
		next[p->arc[i].from + 1]++;
	for (uint32_t v = 0; v < p->nvert; v++)
		next[v + 1] += next[v];
	for (uint32_t i = 0; i < p->narc; i++)
		l.arc[next[p->arc[i].from]++] = i;
	return l;
}

/* Puts where a jump within the procedure leads. The jump's own operand may be a stub that counts. */
static void
put_target(const struct view_insn *in, const struct leaving *l)
{
	for (uint32_t i = l->at[in->block]; i < l->at[in->block + 1]; i++) {
		const struct arc *a = &in->proc->arc[l->arc[i]];

		if ((a->kind == CHORD_EDGE_TAKEN || a->kind == CHORD_EDGE_JUMP) && a->to < in->proc->nblock)
			printf("  -> %" PRIx64, view_block_addr(in->proc, a->to));
	}
}

static void
put_text(const struct annotate *a, const struct view_insn *in, const struct leaving *l)
{
	struct callee c = view_insn_callee(in);
	struct buf text = {0};

	if (in->kind == CHORD_INSN_PAD)
		fputs("(padding)", stdout);
	else if (view_insn_text(in, &text))
		fwrite(text.at, 1, text.n, stdout);
	else
		fputs("(its place is not known)", stdout);
	buf_free(&text);
	if (c.n)
		printf(" <%s>", plain_name(callee_name(a->run->pool, &c, 0)));
	if (in->kind == CHORD_INSN_BRANCH || in->kind == CHORD_INSN_JUMP)
		put_target(in, l);
}

static void
put_branch(const struct annotate *a, size_t insn)
{
	const struct view_insn *in = &a->list.insn.at[insn];
	size_t n;
	const struct view_branch *b = view_branches(&a->list, in->file, in->line, &n);
	char taken[32], share[PERCENT];

	for (; n && b->insn != insn; n--)
		b++;
	if (n && b->known && b->taken + b->fell)
		printf("  (taken %s, %s%%)", grouped(taken, b->taken), percent_of(share, b->taken, b->taken + b->fell, 1));
}

static const struct column columns[] = {{NULL, 15, 0}, {NULL, 8, 2}, {NULL, 0, 0}};

static void
put_insn(const struct annotate *a, size_t i, const struct leaving *l)
{
	const struct view_insn *in = &a->list.insn.at[i];
	struct table t = TABLE(columns);

	table_widen_for(&t, a->insns);
	if (in->count)
		annotate_hot(a, in->count);
	else if (in->known)
		annotate_dim(a);
	if (in->count)
		table_number(&t, in->count);
	else
		table_text(&t, in->known ? "#####" : "?");
	t.mark = in->count && !in->known ? '?' : 0;
	table_printf(&t, "%" PRIx64, in->addr);
	table_text(&t, "");
	put_text(a, in, l);
	if (in->kind == CHORD_INSN_BRANCH)
		put_branch(a, i);
	annotate_plain(a);
	table_end(&t);
}

/* Puts the blanks before what stands between instructions: it begins where their addresses do. */
static void
put_margin(const struct annotate *a)
{
	struct table t = TABLE(columns);

	table_widen_for(&t, a->insns);
	table_skip(&t, 1);
	fputs("  ", stdout);
}

static void
put_source(const struct annotate *a, const struct view_insn *in)
{
	const char *file = a->list.file.at[in->file].name;
	struct str text;

	put_margin(a);
	printf("%s:%u", shown_path(base_name(file)), in->line);
	if (view_source_line(file, in->line, &text)) {
		fputs("  ", stdout);
		print_source(text);
	}
	putchar('\n');
}

/* The inlined function that this code belongs to, and where it was inlined. NULL: the procedure itself. */
static const struct image_scope *
inlined_at(const struct view_insn *in)
{
	uint32_t scope = view_insn_scope(in);
	const struct image_scope *s = scope == IMAGE_NO_SCOPE ? NULL : image_scope(in->binary->image, scope);

	return s && s->in != IMAGE_NO_SCOPE ? s : NULL;
}

static void
put_inlined(const struct annotate *a, const struct view_insn *in, const struct image_scope *s)
{
	put_margin(a);
	printf("in %s", plain_name(s ? s->name : in->proc->name));
	for (; s && s->in != IMAGE_NO_SCOPE; s = image_scope(in->binary->image, s->in))
		if (s->call.file)
			printf(", inlined at %s:%u", shown_path(base_name(s->call.file)), s->call.line);
	putchar('\n');
}

static void
put_heading(const struct annotate *a, const struct view_insn *in, uint64_t insns)
{
	const struct counts *c = &in->binary->counts[in->proc_number];
	char n[RANGE], calls[32];

	fputs(image_readable(in->proc->name), stdout);
	if (!in->known && c->why)
		printf(": its counts are not known: %s\n", c->why);
	else if (!in->known)
		printf(": its counts are known within bounds only: %s instructions executed\n",
		       range(n, c->insns, c->most->insns));
	else if (a->inlined)
		printf(": %s instructions executed for it here\n", grouped(n, insns));
	else
		printf(": %s instructions executed in %s call%s\n", grouped(n, insns), grouped(calls, c->activations),
		       of_many(c->activations, "", "s"));
}

/* Puts what stands before an instruction: its function, if that was inlined, and its line. Each is put where it changes. */
static void
put_origin(const struct annotate *a, const struct view_insn *in, const struct view_insn *before)
{
	const struct image_scope *scope = inlined_at(in);
	bool other = (before ? inlined_at(before) : NULL) != scope;

	if (other)
		put_inlined(a, in, scope);
	if (in->line && (!before || other || in->line != before->line || in->file != before->file || in->block != before->block))
		put_source(a, in);
}

static void
put_proc(const struct annotate *a, const struct span *s)
{
	struct leaving leaving = leaving_of(a->list.insn.at[s->first].proc);
	const struct view_insn *before = NULL;

	put_heading(a, &a->list.insn.at[s->first], s->insns);
	for (size_t i = s->first; i < s->last; i++) {
		const struct view_insn *in = &a->list.insn.at[i];

		if (before && in->block != before->block)
			putchar('\n');
		if (a->what == ANNOTATE_BOTH)
			put_origin(a, in, before);
		put_insn(a, i, &leaving);
		before = in;
	}
	putchar('\n');
	free(leaving.at);
	free(leaving.arc);
}

static int
hottest_first(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns > y->insns ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* Is some of it wanted, or, if nothing is named, has some of it run? */
bool
annotate_shows_insns(const struct annotate *a, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		if (a->wanted.n == 0 && a->list.insn.at[i].count)
			return true;
	for (size_t i = first; a->wanted.n && i < last; i++)
		if (a->functions || (a->list.insn.at[i].file != VIEW_NO_FILE &&
		    annotate_wants_file(a, a->list.file.at[a->list.insn.at[i].file].name)))
			return true;
	return false;
}

bool
annotate_asm(struct annotate *a)
{
	VEC(struct span) spans = {0};
	bool some;

	for (size_t i = 0, k; i < a->list.insn.n; i = k) {
		const struct view_insn *in = &a->list.insn.at[i];
		struct span s = {.first = i};

		for (k = i; k < a->list.insn.n && same_proc(&a->list.insn.at[k], in); k++)
			s.insns += a->list.insn.at[k].count;
		s.last = k;
		if (annotate_shows_insns(a, s.first, s.last))
			VEC_PUSH(spans, s);
	}
	if (spans.n)
		qsort(spans.at, spans.n, sizeof *spans.at, hottest_first);
	for (size_t i = 0; i < spans.n; i++)
		put_proc(a, &spans.at[i]);
	some = spans.n;
	free(spans.at);
	return some;
}
