/* SPDX-License-Identifier: MIT */
/* What all emitted code is made of: labels of a procedure, places in the text, edits. */
#include "weave/emit.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#define L LABEL_PREFIX

void
label_add(struct buf *b, char kind, uint32_t proc, size_t number)
{
	buf_str(b, L);
	buf_char(b, kind);
	buf_number(b, proc);
	buf_char(b, '_');
	buf_number(b, number);
}

void
emit_label(struct buf *b, char kind, uint32_t proc, size_t number)
{
	label_add(b, kind, proc, number);
	buf_char(b, ':');
}

const struct insn *
emit_last(const struct emitter *m, uint32_t block)
{
	return woven_insn(m->w, block, m->w->proc->block_text.at[block].last - 1);
}

uint32_t
emit_behind(const struct emitter *m, uint32_t stmt)
{
	const struct stmt *s = &m->u->text->stmts.at[stmt];

	return s->at + s->len;
}

const struct code *
emit_code(const struct emitter *m, uint32_t block)
{
	const struct proc_text *p = m->w->proc;

	return p->parts.at[p->blocks.at[block].part].code;
}

uint32_t
emit_before(const struct emitter *m, uint32_t block, uint32_t i)
{
	return m->u->text->stmts.at[woven_insn(m->w, block, i)->stmt].at;
}

/* In text of another syntax than ours, code stands between switches of the syntax. */
void
emit_text(struct emitter *m, uint32_t at, uint32_t rank, uint32_t stmt)
{
	const char *foreign = stmt_syntax(m->u->text, &m->u->text->stmts.at[stmt]);
	struct buf all = {0};

	if (!m->b.n)
		return;
	if (rank <= RANK_ALIGNED)
		buf_char(&all, '\n');
	if (foreign)
		buf_str(&all, m->u->machine->text->own);
	buf_add(&all, m->b.at, m->b.n);
	if (foreign)
		buf_str(&all, foreign);
	buf_char(&all, ' ');
	edit_add(m->e, at, 0, rank, &all);
	buf_free(&all);
	m->b.n = 0;
}

const char *
emit_name(struct emitter *m, char kind, size_t number)
{
	return pool_printf(m->u->pool, L "%c%u_%zu", kind, m->w->number, number);
}

void
emit_segment(struct emitter *m, uint32_t block, uint32_t insn)
{
	VEC_PUSH(m->w->segments, (struct seg){.block = block, .insn = insn - m->w->proc->block_text.at[block].first});
}

/* A label that only debug information and tables of calls use. */
static bool
is_silent_label(const struct text *t, const struct stmt *s)
{
	struct str word = stmt_word(t, s);

	return t->compiler && s->kind == STMT_LABEL && (str_starts(word, ".LVL") || str_starts(word, ".Ltmp"));
}

/* The statement after which the code for a returned call stands. Debuggers find the caller by the label after the call, so that
 * label stays where it is. */
uint32_t
emit_returned(const struct emitter *m, uint32_t block, uint32_t insn, uint32_t stmt)
{
	const struct part *part = &m->w->proc->parts.at[m->w->proc->blocks.at[block].part];
	const struct text *t = m->u->text;
	uint32_t last = stmt_behind(t, stmt), behind = last;

	if (!insn_is_call(woven_insn(m->w, block, insn)) || insn + 1 >= part->last || stmt == part->last_stmt ||
	    part->code->insns.at[insn + 1].leader & ~(unsigned)(LEADER_JUMP | LEADER_AFTER))
		return last;
	while (behind + 1 < t->stmts.n && is_silent_label(t, &t->stmts.at[behind + 1]))
		behind++;
	return behind;
}

void
emit_after(struct emitter *m, uint32_t block, uint32_t rank)
{
	uint32_t stmt = code_end_stmt(m->u, emit_code(m, block), emit_last(m, block));

	stmt = emit_returned(m, block, m->w->proc->block_text.at[block].last - 1, stmt);
	emit_text(m, emit_behind(m, stmt), rank, stmt);
}

/* The place before the line's `.loc`. Debuggers stop where a line's code begins, and that must not be code that only some paths
 * run. */
uint32_t
emit_before_line(const struct emitter *m, uint32_t block, uint32_t i)
{
	const struct text *t = m->u->text;
	uint32_t stmt = woven_insn(m->w, block, i)->stmt;

	while (stmt && t->compiler && t->stmts.at[stmt - 1].kind == STMT_DIRECTIVE &&
	       str_is(stmt_word(t, &t->stmts.at[stmt - 1]), ".loc"))
		stmt--;
	return t->stmts.at[stmt].at;
}

/* The assembler accepts only the flags and the type that the text has given this section (libffi's text has @unwind). */
static void
frame_section(struct buf *b, const struct object *o)
{
	const struct obj_section *s = NULL;

	for (uint32_t i = 1; i < o->nsection && !s; i++)
		if (!strcmp(o->sections[i].name, ".eh_frame") && !o->sections[i].comdat)
			s = &o->sections[i];
	buf_printf(b, "\t.section .eh_frame,\"%s\",@%" PRIu32 "\n", s && s->write ? "aw" : "a", s ? s->type : SHT_PROGBITS);
}

void
emit_own(struct buf *b, const struct object *o, const char *text, size_t n)
{
	static const char mark[] = "\n@eh_frame@\n";
	const char *at = text ? memmem(text, n, mark, strlen(mark)) : NULL;
	size_t before = at ? (size_t)(at + 1 - text) : n;

	buf_add(b, text, before);
	if (!at)
		return;
	frame_section(b, o);
	buf_add(b, at + strlen(mark), n - before - strlen(mark) + 1);
}
