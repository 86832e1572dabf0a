/* SPDX-License-Identifier: MIT */
/* Small texts, assembled by the real assembler, and what the passes before weaving make of them. */
#ifndef CHORD_TEST_ASSEMBLED_H
#define CHORD_TEST_ASSEMBLED_H

#include "asm/asm.h"
#include "driver/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static inline bool
assemble_bytes(struct pool *pool, const struct buf *text, struct buf *bytes)
{
	char *args[] = {(char *)(uintptr_t)"--keep-locals"};
	struct buf says = {0};
	int status = as_run_io(as_find(pool), args, 1, &(struct as_io){.input = text, .object = bytes, .says = &says});

	if (status)
		print_error("%.*s", (int)says.n, says.at);
	buf_free(&says);
	return status == 0;
}

/* The object that a text makes; it is in `bytes`. */
static inline struct object *
assemble_object(struct pool *pool, const char *text, struct buf *bytes)
{
	const struct buf in = {(char *)(uintptr_t)text, strlen(text), 0};
	const char *why = "the assembler rejects it";
	struct object *o = assemble_bytes(pool, &in, bytes) ? object_read(pool, bytes->at, bytes->n, &why) : NULL;

	if (!o)
		fail_msg("%s: %s", why, text);
	return o;
}

static inline const struct obj_section *
section_of(const struct object *o, const char *name)
{
	for (uint32_t i = 1; i < o->nsection; i++)
		if (!strcmp(o->sections[i].name, name))
			return &o->sections[i];
	fail_msg("no section %s", name);
	return NULL;
}

/* A text as compilers leave it, that is with .ident; `body` is what is in .text. */
#define COMPILED(body) "\t.text\n" body "\n\t.ident \"GCC: (test) 12\"\n"
/* The same as a function of that name. */
#define FUNCTION(name, body) \
	"\t.globl " name "\n\t.type " name ", @function\n" name ":\n\t.cfi_startproc\n" body "\n\t.cfi_endproc\n" \
	"\t.size " name ", .-" name "\n"

/* All that is known of a text before counters are placed. */
struct known {
	struct text text;
	struct buf labelled, bytes;
	struct object *object;
	struct unit u;
};

/* reserved: registers that the compiler was told to leave alone. */
static inline void
known_new_reserving(struct known *k, const char *text, uint16_t reserved)
{
	const char *why = "";

	*k = (struct known){.u.pool = pool_new(), .u.machine = machine_of_host(), .u.reserved = reserved};
	if (!text_read(&k->text, k->u.pool, k->u.machine->text, text, strlen(text), "test.s", &why))
		fail_msg("%s", why);
	assert_true(label_text(&k->text, &k->labelled));
	buf_char(&k->labelled, '\0');
	k->u.object = k->object = assemble_object(k->u.pool, k->labelled.at, &k->bytes);
	k->u.text = &k->text;
	k->u.place = label_places(&k->text, k->object, k->u.pool);
	k->u.cfi = cfi_read(&k->text, k->u.machine->unwind, k->u.pool);
	code_read(&k->u);
	proc_find(&k->u);
	leader_find(&k->u);
	for (size_t i = 0; i < k->u.procs.n; i++)
		cfg_build(&k->u, &k->u.procs.at[i]);
	live_prepare(&k->u);
	live_find(&k->u);
	stack_find(&k->u);
}

static inline void
known_new(struct known *k, const char *text)
{
	known_new_reserving(k, text, 0);
}

static inline void
known_free(struct known *k)
{
	unit_free(&k->u);
	object_free(k->object);
	text_free(&k->text);
	buf_free(&k->labelled);
	buf_free(&k->bytes);
	pool_free(k->u.pool);
}

static inline struct proc_text *
proc_called(struct known *k, const char *name)
{
	for (size_t i = 0; i < k->u.procs.n; i++)
		if (!strcmp(k->u.procs.at[i].name, name))
			return &k->u.procs.at[i];
	fail_msg("no procedure %s", name);
	return NULL;
}

/* The number of the statement that begins with that text. */
static inline uint32_t
stmt_at(const struct text *t, const char *begin)
{
	for (uint32_t i = 0; i < t->stmts.n; i++)
		if (str_starts(stmt_str(t, &t->stmts.at[i]), begin))
			return i;
	fail_msg("no statement '%s'", begin);
	return 0;
}

/* Its instruction, by block and number. */
static inline const struct insn *
insn_at(const struct known *k, const struct proc_text *p, const char *begin, uint32_t *block, uint32_t *number)
{
	uint32_t stmt = stmt_at(&k->text, begin);

	*block = *number = 0;
	for (uint32_t b = 0; b < p->blocks.n; b++)
		for (uint32_t i = p->block_text.at[b].first; i < p->block_text.at[b].last; i++) {
			const struct insn *in = &p->parts.at[p->blocks.at[b].part].code->insns.at[i];

			if (in->stmt == stmt) {
				*block = b;
				*number = i;
				return in;
			}
		}
	fail_msg("'%s' is no instruction of %s", begin, p->name);
	return NULL;
}

#endif
