/* SPDX-License-Identifier: MIT */
/* On-line queries (Ball 1994, section 3.3): include/chord.h leaves `.set ".Levents.NAME", 0` before an instruction that puts 0 into
 * a register. After this instruction, woven code puts the counter into the register and adds the query increment of the place.
 * After `.set ".Ltimer.NAME", 0` the register gets the address of the routine that sets the event's timer, after `.set
 * ".Lcounted.NAME", 0` the number 1. */
#include "weave/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum asks { ASKS_EVENTS, ASKS_TIMER, ASKS_COUNTED, ASKS };
static const char *const marks[ASKS] = {"\".Levents.", "\".Ltimer.", "\".Lcounted."};

/* The name that a statement asks for, after a mark; n is 0 if it does not ask. */
static struct str
name_asked(const struct text *t, const struct stmt *s, const char *mark)
{
	struct str name = {NULL, 0};
	size_t n = strlen(mark);
	const char *end;

	if ((s->kind != STMT_DIRECTIVE && s->kind != STMT_ASSIGN) || !str_is(stmt_word(t, s), ".set"))
		return name;
	name = stmt_rest(t, s);
	if (!str_starts(name, mark) || !(end = memrchr(name.at, '"', name.n)))
		return (struct str){NULL, 0};
	name.n = (size_t)(end - name.at);
	name.at += n;
	name.n -= name.n < n ? name.n : n;
	return name;
}

/* A cost file may be named without the digits of its content if only one has that name. */
static const struct event *
event_named(struct str name, const struct event_list *list)
{
	const struct event *found = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		const char *have = list->at[i].name;

		if (str_is(name, have))
			return &list->at[i];
		if (list->at[i].kind == EVENT_COST && strlen(have) == name.n + strlen("#01234567") &&
		    !memcmp(have, name.at, name.n)) {
			found = &list->at[i];
			n++;
		}
	}
	return n == 1 ? found : NULL;
}

static uint32_t
block_with(const struct proc_text *p, uint32_t part, uint32_t insn)
{
	for (uint32_t b = 0; b < p->blocks.n; b++)
		if (p->blocks.at[b].part == part && insn >= p->block_text.at[b].first && insn < p->block_text.at[b].last)
			return b;
	return GRAPH_NONE;
}

/* QueryInc after an instruction, before the code that is woven in there. */
static int64_t
query_behind(const struct woven *w, uint32_t block, uint32_t insn, uint32_t e, const struct event_list *list)
{
	const struct proc_text *p = w->proc;
	size_t at = 0;
	int64_t sum = w->query[(size_t)block * list->n + e] + (int64_t)event_of_block(&list->at[e]);

	for (uint32_t b = 0; b < block; b++)
		at += p->block_text.at[b].last - p->block_text.at[b].first;
	for (uint32_t i = p->block_text.at[block].first; i <= insn; i++)
		sum += (int64_t)w->events[at++ * list->n + e];
	for (uint32_t i = 0; i < p->arcs.n; i++)
		sum -= site_added(&w->edge[i], block, insn, list, e);
	for (uint32_t b = 0; b < p->blocks.n; b++)
		sum -= site_added(&w->block[b], block, insn, list, e);
	for (size_t i = 0; i < w->call_free.n; i++)
		sum -= site_added(&w->call_free.at[i].site, block, insn, list, e);
	for (size_t i = 0; i < w->entered.n; i++)
		sum -= w->entered.at[i].block == block && w->entered.at[i].insn <= insn ? w->entered.at[i].callee->lag[e] : 0;
	return sum;
}

/* What a query asks for. */
struct asked {
	const struct event_list *list;
	const struct number_box *box;
	const struct number_axis *axis;
	const char *numbers;     /* symbol of the box */
	int64_t query;
	uint32_t number;         /* number of the statement, which names a label */
};

/* Writes a table, once in each module: a byte for each number, with how many events it stands for, and a byte that ends the
 * table. */
static void
put_factors(struct buf *b, const struct asked *a, const char *symbol)
{
	const struct number_axis *x = a->axis;

	buf_printf(b, "\t.ifndef\t%s\n\t.pushsection .rodata.chord_factors,\"aG\",@progbits,%s,comdat\n", symbol, symbol);
	buf_printf(b, "\t.globl\t%s\n\t.hidden\t%s\n%s:\n", symbol, symbol, symbol);
	buf_printf(b, "\t.rept\t%u\n", a->box->size / x->stride / x->span);
	for (uint32_t i = 0; i < x->span; i++)
		buf_printf(b, "\t.fill\t%u,1,%" PRId64 "\n", x->stride, (int64_t)x->low + i);
	buf_printf(b, "\t.endr\n\t.byte\t%d\n\t.popsection\n\t.endif\n", QUERY_FACTORS_END);
}

static void
put_sum(const struct unit *u, struct buf *b, const struct asked *a, const char *reg, uint32_t stmt)
{
	struct query_sum q = {.numbers = a->numbers, .n = a->box->size, .step = a->box->step, .more = a->query};
	struct liveness live = {0};
	struct buf factors = {0}, loop = {0};

	cfi_need(u->cfi, stmt, &live);
	q.frame = live.frame;
	if (a->box->axis[0].span > 1) {
		number_symbol(&factors, a->box, a->list, false);
		buf_printf(&factors, ".%u", a->axis->stride);
		buf_char(&factors, 0);
		put_factors(b, a, factors.at);
		buf_printf(&loop, LABEL_PREFIX "W%u", a->number);
		buf_char(&loop, 0);
		q.factors = factors.at;
		q.loop = loop.at;
	}
	u->machine->query->sum(b, reg, &q);
	buf_free(&factors);
	buf_free(&loop);
}

/* Puts the code of an answer after the instruction that puts 0 into the register. */
static void
answer(const struct unit *u, const struct stmt *s, const struct buf *code, struct edits *e)
{
	const char *foreign = stmt_syntax(u->text, s);
	struct buf b = {0};

	buf_char(&b, '\n');
	if (foreign)
		buf_str(&b, u->machine->text->own);
	buf_add(&b, code->at, code->n);
	if (foreign)
		buf_str(&b, foreign);
	edit_add(e, s->at + s->len, 0, RANK_QUERY, &b);
	buf_free(&b);
}

static bool
is_blank(const struct unit *u, const struct stmt *s, char reg[QUERY_REG_SIZE])
{
	return s->kind == STMT_CODE &&
	       u->machine->query->is_blank(stmt_word(u->text, s), stmt_rest(u->text, s), s->flags & STMT_FOREIGN, reg);
}

static void
put_events(const struct unit *u, const struct weave_options *o, uint32_t mark, uint32_t event, int64_t query, const char *reg,
           struct buf *b)
{
	struct number_boxes boxes = number_boxes(u->pool, &o->events, at_calls(o));
	struct asked a = {.list = &o->events, .number = mark, .query = query};
	struct buf symbol = {0};

	a.box = number_box_of(&boxes, event, &a.axis);
	number_symbol(&symbol, a.box, a.list, at_calls(o));
	buf_char(&symbol, 0);
	a.numbers = symbol.at;
	put_sum(u, b, &a, reg, mark + 1);
	buf_free(&symbol);
}

static void
put_timer(const struct unit *u, const struct event *event, const char *reg, struct buf *b)
{
	struct buf symbol = {0};

	event_symbol_of(&symbol, "timer", event);
	buf_char(&symbol, 0);
	u->machine->query->address(b, reg, symbol.at);
	buf_free(&symbol);
}

/* ---- warnings of what is not answered ---- */

/* Where the statement comes from: the line that the compiler's comment before it names (`# 7 "prog.c" 1`), or else its line in the
 * text. */
static void
place_of(const struct text *t, const struct stmt *s, struct buf *b)
{
	const char *line = t->at + s->at, *end, *file;
	unsigned number = 0;

	while (line > t->at && line[-1] != '\n')
		line--;
	end = line;
	while (line > t->at && (line == end || line[-1] != '\n'))
		line--;
	if (end - line > 4 && line[0] == '#' && line[1] == ' ') {
		for (line += 2; line < end && isdigit((unsigned char)*line) && number < 100000000; line++)
			number = number * 10 + (unsigned)(*line - '0');
		file = end - line > 2 && line[0] == ' ' && line[1] == '"' ? line + 2 : NULL;
		line = file ? memchr(file, '"', (size_t)(end - file)) : NULL;
		if (line && number) {
			buf_printf(b, "%.*s:%u", (int)(line - file), file, number);
			return;
		}
	}
	if (t->source && *t->source)
		buf_printf(b, "%s: line %u of the assembler text", t->source, s->line);
	else
		buf_printf(b, "%s:%u", t->file, s->line);
}

static void
unanswered(const struct text *t, const struct stmt *s, struct str name, enum asks asks, const struct weave_options *o,
           const char *why)
{
	bool timer = asks == ASKS_TIMER;
	const char *between = " ";

	/* The answer to the question whether an event is counted may be no. */
	if (!o->warnings || asks == ASKS_COUNTED)
		return;
	place_of(t, s, o->warnings);
	/* The text does not say by which of its two names the clock was asked for. */
	buf_printf(o->warnings, ": %s%s(%.*s): ", !timer && str_eq(name, STR("clock")) ? "chord_clock() or " : "",
	           timer ? "chord_timer" : "chord_events", (int)name.n, name.at);
	if (why) {
		buf_printf(o->warnings, "%s: %s\n", timer ? "never set" : "0 here", why);
		return;
	}
	buf_str(o->warnings, timer ? "no event with timers (-fchord-timers=); those are" : "not counted; counted are");
	for (uint32_t i = 0; i < o->events.n; i++)
		if (o->events.at[i].timed || !timer) {
			buf_printf(o->warnings, "%s%s", between, o->events.at[i].name);
			between = ", ";
		}
	buf_str(o->warnings, between[0] == ' ' ? " none\n" : "\n");
}

/* Finds the instruction. Returns NULL, or why nothing is counted there. */
static const char *
find_place(const struct unit *u, struct woven *woven, const struct place *at, struct woven **w, struct seg *seg)
{
	uint32_t proc, part, insn;

	if (!at->section || !unit_find(u, at->section, at->off, &proc, &part))
		return "where it stands nothing is measured";
	*w = &woven[proc];
	if ((*w)->proc->reason)
		return (*w)->proc->reason;
	insn = u->code[at->section]->at[at->off];
	if (insn == UINT32_MAX || (seg->block = block_with((*w)->proc, part, insn)) == GRAPH_NONE)
		return "where it stands nothing is measured";
	seg->insn = insn - (*w)->proc->block_text.at[seg->block].first;
	return NULL;
}

/* Reads the query in a statement: its kind and name. Name.n is 0 if there is none. */
static struct str
asked_at(const struct unit *u, uint32_t mark, enum asks *asks, char reg[QUERY_REG_SIZE])
{
	const struct stmt *s = &u->text->stmts.at[mark];
	struct str name = {NULL, 0};

	for (*asks = 0; *asks < ASKS; ++*asks) {
		name = name_asked(u->text, s, marks[*asks]);
		if (name.n)
			break;
	}
	if (name.n && !is_blank(u, s + 1, reg))
		name.n = 0;
	return name;
}

/* Answers the query at mark, which asks by the instruction after it. */
static void
answer_mark(const struct unit *u, struct woven *woven, const struct weave_options *o, uint32_t mark, struct edits *e)
{
	const struct event_list *list = &o->events;
	const struct stmt *s = &u->text->stmts.at[mark];
	enum asks asks;
	char reg[QUERY_REG_SIZE];
	struct str name = asked_at(u, mark, &asks, reg);
	const struct event *event;
	struct woven *w = NULL;
	struct seg here;
	struct buf b = {0};
	const char *why;

	if (!name.n)
		return;
	event = event_named(name, list);
	if (asks == ASKS_TIMER && event && !event->timed)
		event = NULL;
	why = event ? find_place(u, woven, &u->place[mark + 1], &w, &here) : NULL;
	if (!event || why) {
		unanswered(u->text, s, name, asks, o, why);
		return;
	}
	if (here.insn + 1 < w->proc->blocks.at[here.block].ninsn)
		VEC_PUSH(w->segments, (struct seg){.block = here.block, .insn = here.insn + 1});
	if (asks == ASKS_TIMER)
		put_timer(u, event, reg, &b);
	else if (asks == ASKS_COUNTED)
		u->machine->query->number(&b, reg, 1);
	else
		put_events(u, o, mark, (uint32_t)(event - list->at),
		           query_behind(w, here.block, w->proc->block_text.at[here.block].first + here.insn,
		                        (uint32_t)(event - list->at), list), reg, &b);
	answer(u, s + 1, &b, e);
	buf_free(&b);
}

void
emit_queries(const struct unit *u, struct woven *woven, const struct weave_options *o, struct edits *e)
{
	for (uint32_t i = 0; i + 1 < u->text->stmts.n; i++)
		answer_mark(u, woven, o, i, e);
}
