/* SPDX-License-Identifier: MIT */
/* Alignment of short loops that have code woven in.
 *
 * A processor fetches one line of 64 bytes in a cycle, and a taken jump begins another. A loop of few instructions that lies in two
 * lines takes a second cycle each round, which is more than the counter in it. Compilers align loops to 8 or 16 bytes. After the
 * compiler's directive, Chord puts one that goes to the next line if the loop would lie in one line more than it has to.
 *
 * A loop of more than a dozen steps takes a second cycle anyway. It is left where it is: Zen 5 takes three or four cycles for more
 * than twelve steps in one line, and two if they lie in two lines. */
#include "weave/emit.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, LONG = 2 * LINE, MOST_STEPS = 12 };

/* The room of the code woven in at an offset of the text, and of all that comes before it in the list. */
struct inserted {
	uint32_t at;
	struct room room;
};

struct align {
	struct emitter *m;
	struct inserted *in;    /* sorted */
	size_t n;
};

static int
by_offset(const void *a, const void *b)
{
	const struct inserted *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* The operand that replaces a jump's own leads farther away than the old one. */
static struct room
room_of(const struct align *a, const struct edit *e)
{
	enum { FARTHER = 4 };

	if (e->rank == RANK_OPERAND)
		return (struct room){.bytes = FARTHER};
	return a->m->u->machine->room(a->m->e->text.at + e->text, e->len);
}

/* The edits of the procedure begin at `first`. */
static void
find_inserted(struct align *a, size_t first)
{
	const struct edits *e = a->m->e;

	a->in = pool_array(a->m->u->pool, e->list.n - first + 1, sizeof *a->in);
	for (size_t i = first; i < e->list.n; i++)
		a->in[a->n++] = (struct inserted){e->list.at[i].at, room_of(a, &e->list.at[i])};
	if (a->n)
		qsort(a->in, a->n, sizeof *a->in, by_offset);
	for (size_t i = 1; i < a->n; i++) {
		a->in[i].room.bytes += a->in[i - 1].room.bytes;
		a->in[i].room.steps += a->in[i - 1].room.steps;
	}
}

/* The room of the code woven in before an offset of the text. */
static struct room
inserted_before(const struct align *a, uint32_t at)
{
	size_t lo = 0, hi = a->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->in[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? a->in[lo - 1].room : (struct room){0};
}

/* Is all that stands between the loop's first and last instruction part of it, and is there no loop and no call inside? */
static bool
is_innermost(const struct code *c, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		const struct insn *in = &c->insns.at[i];

		if (insn_is_call(in) || in->stmt == UINT32_MAX)
			return false;
		if ((in->attr & (INSN_REL | INSN_RELOC)) == INSN_REL && in->target > c->insns.at[first].off &&
		    in->target <= in->off)
			return false;
	}
	return true;
}

/* The steps of a loop without woven-in code. Conditional jumps do not count. */
static uint32_t
steps_of(const struct code *c, uint32_t first, uint32_t last)
{
	uint32_t n = 0;

	for (uint32_t i = first; i <= last; i++)
		n += c->insns.at[i].cls != CHORD_INSN_BRANCH;
	return n;
}

/* Does a register count there? Perhaps one of the program's, so that nothing is woven in. */
static bool
is_promoted(const struct woven *w, uint32_t vertex)
{
	for (size_t i = 0; i < w->promotions.n; i++)
		if (w->promotions.at[i].in[vertex])
			return true;
	return false;
}

/* The length of the loop that an edge closes, with all that is woven in. 0: the loop is not short, has too many steps, or is not
 * counted. */
static uint32_t
loop_length(const struct align *a, uint32_t e)
{
	const struct proc_text *p = a->m->w->proc;
	const struct edge *edge = &p->graph->edge[e];
	const struct block_text *from, *to;
	const struct insn *first, *last;
	struct room woven, before;

	if (!p->arc_text.at[e].jump || edge->from >= p->blocks.n || edge->to >= p->blocks.n)
		return 0;
	from = &p->block_text.at[edge->from];
	to = &p->block_text.at[edge->to];
	first = woven_insn(a->m->w, edge->to, to->first);
	last = emit_last(a->m, edge->from);
	if (from->part != to->part || last->off < first->off || last->off + last->len - first->off > LONG ||
	    !is_innermost(emit_code(a->m, edge->to), to->first, from->last - 1))
		return 0;
	/* The operand of the last jump is not counted: it leads to where the loop begins, whether it was replaced or not. */
	woven = inserted_before(a, emit_before(a->m, edge->from, from->last - 1) + 1);
	before = inserted_before(a, emit_before_line(a->m, edge->to, to->first));
	if ((woven.bytes == before.bytes && !is_promoted(a->m->w, edge->to)) ||
	    woven.steps - before.steps + steps_of(emit_code(a->m, edge->to), to->first, from->last - 1) > MOST_STEPS)
		return 0;
	return last->off + last->len - first->off + woven.bytes - before.bytes;
}

/* May the statement stand between the compiler's alignment of a loop and the loop? Directives that may change the section may
 * not. */
static bool
may_follow(const struct stmt *s, struct str word)
{
	return s->kind == STMT_LABEL || (s->kind == STMT_DIRECTIVE && !(s->flags & (STMT_BYTES | STMT_INLINE)) &&
	                                    (str_starts(word, ".loc") || str_starts(word, ".cfi_")));
}

/* The directive by which the compiler aligns the statement, or UINT32_MAX. */
static uint32_t
aligned_by(const struct text *t, uint32_t stmt)
{
	while (stmt-- > 0) {
		const struct stmt *s = &t->stmts.at[stmt];
		struct str word = stmt_word(t, s);

		if (s->kind == STMT_DIRECTIVE && s->flags & STMT_PAD && !(s->flags & STMT_INLINE))
			return memmem(word.at, word.n, "align", 5) ? stmt : UINT32_MAX;
		if (!may_follow(s, word))
			break;
	}
	return UINT32_MAX;
}

/* Pads only if the loop would lie in more lines than it needs. */
static void
emit_align(struct align *a, uint32_t length, uint32_t at, uint32_t rank, uint32_t stmt)
{
	uint32_t rest = (length - 1) % LINE;

	if (length && rest && length <= LONG)
		buf_printf(&a->m->b, "\t.p2align 6,,%u\n", rest);
	emit_text(a->m, at, rank, stmt);
}

/* If the code of the back edge stands before the loop, the loop begins with that code, and nothing falls into it. */
static void
align_split(struct align *a, uint32_t e)
{
	const struct site *s = &a->m->w->edge[e];
	uint32_t stmt = woven_insn(a->m->w, s->block, s->insn)->stmt;

	buf_str(&a->m->b, "\t.p2align 4\n");
	emit_align(a, loop_length(a, e), emit_before_line(a->m, s->block, s->insn), RANK_ALIGN, stmt);
}

static void
align_loop(struct align *a, uint32_t e)
{
	const struct text *t = a->m->u->text;
	const struct proc_text *p = a->m->w->proc;
	uint32_t to = p->graph->edge[e].to, length = loop_length(a, e), by;

	if (!length)
		return;
	by = aligned_by(t, woven_insn(a->m->w, to, p->block_text.at[to].first)->stmt);
	if (by != UINT32_MAX)
		emit_align(a, length, emit_behind(a->m, by), RANK_ALIGNED, by);
}

void
emit_aligned(struct emitter *m, size_t first)
{
	const struct woven *w = m->w;
	struct align a = {.m = m};

	if (!m->u->text->compiler)
		return;
	find_inserted(&a, first);
	for (uint32_t e = 0; e < w->proc->arcs.n; e++) {
		uint32_t to = w->proc->graph->edge[e].to;
		bool split = site_used(&w->edge[e]) && w->edge[e].where == SITE_SPLIT;

		if (split && w->proc->arc_text.at[e].jump)
			align_split(&a, e);
		else if (!split && to < w->proc->blocks.n && !w->split[to])
			align_loop(&a, e);
	}
}
