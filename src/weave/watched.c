/* SPDX-License-Identifier: MIT */
/* Calls that the runtime watches. */
#include "weave/internal.h"

/* Functions that the runtime has to see called. In programs with a dynamic section it sees them by itself. */
static bool
is_watched(struct str name)
{
	static const char *const names[] = {"pthread_create", "vfork", "_Fork", "_exit", "_Exit", "quick_exit", "pthread_exit",
		"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "execve", "execv", "execvp", "execvpe", "fexecve", "execl",
		"execlp", "execle", "daemon", "thrd_exit", "setcontext", "swapcontext", "prctl", "syscall"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

/* The function stays wanted by code that nothing runs, so that an archive's member that has it is linked. */
static void
keep_wanted(struct buf *tail, struct str name)
{
	buf_printf(tail, "\t.section .text.chord_want,\"axG\",@progbits,__chord_want.%.*s,comdat\n\tjmp\t%.*s@PLT\n",
	           (int)name.n, name.at, (int)name.n, name.at);
}

void
emit_watched(const struct text *t, struct edits *e, struct buf *tail)
{
	struct buf b = {0};

	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];
		struct str word, name;

		if (s->kind != STMT_CODE || (t->at[s->at] != 'c' && t->at[s->at] != 'j'))
			continue;
		word = stmt_word(t, s);
		name = stmt_rest(t, s);
		if (!str_is(word, "call") && !str_is(word, "jmp") && !str_is(word, "callq") && !str_is(word, "jmpq"))
			continue;
		if (str_ends(name, "@PLT"))
			name.n -= 4;
		if (!is_watched(name))
			continue;
		keep_wanted(tail, name);
		buf_str(&b, "__chord_");
		edit_add(e, (uint32_t)(name.at - t->at), 0, RANK_OPERAND, &b);
	}
	buf_free(&b);
}
