/* SPDX-License-Identifier: MIT */
/* Calls that the runtime watches. */
#include "weave/internal.h"

#include <ctype.h>
#include <string.h>

/* Functions whose calls the runtime has to see, except those that it notices in other ways. In programs with a dynamic section it
 * also sees calls in unmeasured code. */
static const char *const names[] = {
	"pthread_create", "thrd_create", "vfork", "_Fork", "_exit", "_Exit", "quick_exit", "pthread_exit", "thrd_exit",
	"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "clone", "timer_create", "mq_notify", "abort", "__assert_fail",
	"__assert_perror_fail", "raise", "kill", "setcontext", "swapcontext", "pthread_cancel", "__pthread_unwind_next",
	"dlsym", "dlvsym", "prctl", "syscall", "chroot", "unshare", "setns", "setuid", "seteuid",
	"setreuid", "setresuid", "execve", "execv", "execvp", "execvpe", "fexecve", "execl", "execlp", "execle",
	"daemon",
	/* only in code that writes a trace */
	"pthread_join", "pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np", "thrd_join",
};

enum { NNAME = sizeof names / sizeof *names, TRACED = 5 };

static int
watched(struct str name)
{
	for (int i = 0; i < NNAME; i++)
		if (str_is(name, names[i]))
			return i;
	return -1;
}

static struct str
first_operand(struct str s)
{
	size_t n = 0;

	while (n < s.n && !strchr(", \t", s.at[n]))
		n++;
	s.n = n;
	return s;
}

/* Functions that the text itself defines. */
static void
find_own(const struct text *t, bool *own)
{
	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];
		struct str word = stmt_word(t, s);
		int k;

		if (s->kind == STMT_DIRECTIVE && (word_is(word, ".set") || word_is(word, ".equ") || word_is(word, ".symver"))) {
			word = first_operand(stmt_rest(t, s));
		} else if (s->kind != STMT_LABEL && s->kind != STMT_ASSIGN) {
			continue;
		}
		if ((k = watched(word)) >= 0)
			own[k] = true;
	}
}

/* Makes code that never runs but refers to the function, so that the archive member that has it is linked. */
static void
keep_wanted(const struct text *t, struct buf *tail, const char *name)
{
	buf_printf(tail, "\t.section .text.chord_want,\"axG\",@progbits,__chord_want.%s,comdat\n", name);
	t->machine->jump_out(tail, name);
}

/* Makes the word of memory by which a call through memory finds the runtime's function. */
static void
make_slot(struct buf *tail, const char *name)
{
	buf_printf(tail, "\t.section .data.rel.ro.chord_slot,\"awG\",@progbits,__chord_slot.%s,comdat\n\t.balign 8\n"
	           "\t.globl __chord_slot_%s\n\t.hidden __chord_slot_%s\n__chord_slot_%s:\n\t.quad\t__chord_%s\n",
	           name, name, name, name, name);
}

/* What the tail of the text has already, by function. */
struct made {
	bool wanted[NNAME], slot[NNAME];
};

static void
turn(const struct text *t, struct edits *e, const struct text_callee *o, int k, struct made *made, struct buf *tail)
{
	struct buf b = {0};
	uint32_t at = (uint32_t)(o->name.at - t->at);

	if (!made->wanted[k])
		keep_wanted(t, tail, names[k]);
	made->wanted[k] = true;
	if (o->mark.n) {
		if (!made->slot[k])
			make_slot(tail, names[k]);
		made->slot[k] = true;
		edit_add(e, (uint32_t)(o->mark.at - t->at), (uint32_t)o->mark.n, RANK_OPERAND, &b);
	}
	buf_str(&b, o->mark.n ? "__chord_slot_" : "__chord_");
	edit_add(e, at, 0, RANK_OPERAND, &b);
	buf_free(&b);
}

void
emit_watched(const struct text *t, bool traced, struct edits *e, struct buf *tail)
{
	bool own[NNAME] = {0}, asked = false;
	struct made made = {0};

	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];
		struct text_callee o;
		int k;

		if (s->kind != STMT_CODE || !strchr(t->machine->callers, tolower((unsigned char)t->at[s->at])))
			continue;
		if (!t->machine->callee(stmt_word(t, s), stmt_rest(t, s), &o))
			continue;
		if ((k = watched(o.name)) < 0 || (k >= NNAME - TRACED && !traced))
			continue;
		if (!asked)
			find_own(t, own);
		asked = true;
		if (!own[k])
			turn(t, e, &o, k, &made, tail);
	}
}
