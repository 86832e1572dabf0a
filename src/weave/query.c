/* SPDX-License-Identifier: MIT */
/* On-line queries (Ball 1994, section 3.3): include/chord.h leaves `.set ".Levents.NAME", 0` before an
 * instruction that puts 0 into a register. Behind it, what the register is to hold is loaded from the counter,
 * and the query increment of the place is added. */
#include "weave/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define MARK ".Levents."

/* The event that a statement asks for, or NULL. */
static const struct event *
asked_for(const struct text *t, const struct stmt *s, const struct event_list *list)
{
	struct str name;
	const char *comma;

	if ((s->kind != STMT_DIRECTIVE && s->kind != STMT_ASSIGN) || !str_is(stmt_word(t, s), ".set"))
		return NULL;
	name = stmt_rest(t, s);
	if (!str_starts(name, "\"" MARK) || !(comma = memrchr(name.at, '"', name.n)))
		return NULL;
	name.n = (size_t)(comma - name.at);
	name.at += strlen("\"" MARK);
	name.n -= strlen("\"" MARK);
	for (uint32_t i = 0; i < list->n; i++)
		if (str_is(name, list->at[i].name))
			return &list->at[i];
	return NULL;
}

/* The 64-bit name of the register that an instruction writes, "rax" or "r12"; its text ends or begins (Intel) with it. */
static bool
register_of(const struct unit *u, const struct stmt *s, char out[8])
{
	struct str operands = stmt_rest(u->text, s);
	const char *at = operands.at, *end = operands.at + operands.n, *percent = memrchr(at, '%', operands.n);
	size_t n = 0;

	if (percent)
		at = percent + 1;
	while (at + n < end && isalnum((unsigned char)at[n]) && n < 6)
		n++;
	if (n < 2 || n > 5)
		return false;
	memcpy(out, at, n);
	out[n] = 0;
	if (*out == 'e')
		*out = 'r';
	else if (*out == 'r' && out[n - 1] == 'd')
		out[n - 1] = 0;
	return *out == 'r';
}

static uint32_t
block_with(const struct proc *p, uint32_t part, uint32_t insn)
{
	for (uint32_t b = 0; b < p->blocks.n; b++)
		if (p->blocks.at[b].part == part && insn >= p->blocks.at[b].first && insn < p->blocks.at[b].last)
			return b;
	return GRAPH_NONE;
}

static int64_t
added_at(const struct site *s, uint32_t block, uint32_t insn, uint32_t e)
{
	return s->where == SITE_BLOCK && s->add && s->block == block && s->insn <= insn ? s->add[e] : 0;
}

/* QueryInc behind an instruction, before whatever is woven in there. */
static int64_t
query_behind(const struct woven *w, uint32_t block, uint32_t insn, uint32_t e, const struct event_list *list)
{
	const struct proc *p = w->proc;
	size_t at = 0;
	int64_t sum = w->query[(size_t)block * list->n + e] + (int64_t)event_of_block(&list->at[e]);

	for (uint32_t b = 0; b < block; b++)
		at += p->blocks.at[b].last - p->blocks.at[b].first;
	for (uint32_t i = p->blocks.at[block].first; i <= insn; i++)
		sum += (int64_t)w->events[at++ * list->n + e];
	for (uint32_t i = 0; i < p->arcs.n; i++)
		sum -= added_at(&w->edge[i], block, insn, e);
	for (uint32_t b = 0; b < p->blocks.n; b++)
		sum -= added_at(&w->block[b], block, insn, e);
	for (size_t i = 0; i < w->pieces.n; i++)
		sum -= added_at(&w->pieces.at[i].site, block, insn, e);
	return sum;
}

static void
answer(const struct unit *u, const struct stmt *s, const char *counter, int64_t query, struct edits *e)
{
	bool intel = s->flags & STMT_INTEL;
	struct buf b = {0};
	char reg[8];

	if (!register_of(u, s, reg))
		return;
	buf_str(&b, intel ? "\n\t.att_syntax prefix\n\tmovq\t%gs:" : "\n\tmovq\t%gs:");
	buf_printf(&b, "%s(%%rip), %%%s\n", counter, reg);
	for (int way = 1; way < CHORD_WAYS; way++)
		buf_printf(&b, "\taddq\t%%gs:%s+%d(%%rip), %%%s\n", counter, way * 8, reg);
	if (query)
		buf_printf(&b, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", query, reg, reg);
	if (intel)
		buf_str(&b, "\t.intel_syntax noprefix\n");
	edit_add(e, s->at + s->len, 0, RANK_QUERY, &b);
}

/* The statement that begins an instruction behind statement i. */
static uint32_t
next_code(const struct text *t, uint32_t i)
{
	while (++i < t->stmts.n)
		if (t->stmts.at[i].kind == STMT_CODE)
			return i;
	return UINT32_MAX;
}

void
emit_queries(const struct unit *u, struct woven *woven, const struct weave_options *o, struct edits *e)
{
	const struct event_list *list = &o->events;
	const struct text *t = u->text;
	struct buf name = {0};

	for (uint32_t i = 0; list->n && i < t->stmts.n; i++) {
		const struct event *event = asked_for(t, &t->stmts.at[i], list);
		uint32_t stmt = event ? next_code(t, i) : UINT32_MAX, proc, part, block, insn;
		struct woven *w;

		if (stmt == UINT32_MAX || !unit_find(u, u->place[stmt].section, u->place[stmt].off, &proc, &part))
			continue;
		w = &woven[proc];
		insn = u->code[u->place[stmt].section]->at[u->place[stmt].off];
		if (w->proc->reason || insn == UINT32_MAX || (block = block_with(w->proc, part, insn)) == GRAPH_NONE)
			continue;
		if (insn + 1 < w->proc->blocks.at[block].last)
			VEC_PUSH(w->segments, (struct segment){block, insn + 1});
		name.n = 0;
		event_symbol(&name, event, o->calls);
		buf_char(&name, 0);
		answer(u, &t->stmts.at[stmt], name.at, query_behind(w, block, insn, (uint32_t)(event - list->at), list), e);
	}
	buf_free(&name);
}
