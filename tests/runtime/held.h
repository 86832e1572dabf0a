/* SPDX-License-Identifier: MIT */
/* What paths.c and tables.c share; both are parts of one program. */
#ifndef HELD_H
#define HELD_H

#include "shadow.h"

#include <setjmp.h>

struct held_case {
	const char *name;
	void (*run)(void);
};

#define CASE(name) {#name, case_##name}

/* Of tables.c; the last has no name. */
extern const struct held_case table_cases[];

extern const char *arg1;
/* n activations one in another, each with a register of its own; innermost in the last. */
extern long down(long n);
extern long (*innermost)(long);
/* longjmp to env. */
extern long jump_back(long n);
extern jmp_buf env;

#endif
