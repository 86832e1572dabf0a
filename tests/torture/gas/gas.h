/* SPDX-License-Identifier: MIT */
/* A random program in the assembler's language. How a line is written is in line.c, code and its control flow in code.c, the
 * directives around it in directive.c; gas.c writes the program with them. */
#ifndef TESTS_TORTURE_GAS_H
#define TESTS_TORTURE_GAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST = 3000 }; /* rounds of all loops around a call, times what the callee costs */

/* Where a statement stands. */
struct place {
	int depth;        /* of statements in statements */
	int loops;        /* around it, in this procedure */
	long times;       /* how often they go round */
	bool intel;
	bool macro;       /* in a macro: \@ is a number */
	bool again;       /* in a macro, .rept or .irp: the text is used several times */
	const char *arg;  /* a number that differs each time */
};

struct procedure {
	char *name, *text;
	size_t size;
	long cost;
	bool tail;        /* it ends with code at a label tail%d */
};

extern uint64_t state;    /* of the random numbers */
extern FILE *to;          /* where lines are written */
extern struct procedure procs[8];
extern int nproc;
extern int labels, macros, names, sets; /* how many were made, for names that differ */
extern long cost;         /* of the procedure that is being written */
extern bool wild;         /* what Chord may refuse: places by number, data in code */
extern bool sized;        /* all procedures have types, and may have sizes: those of a text are right, or there are none */
extern bool sub;          /* a procedure is not as long as its label and .size say */

/* ---- line.c ---- */

unsigned below(unsigned n);
bool one_in(unsigned n);

/* A string that nobody frees: the program is short. */
char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define PICK(...) ((const char *const[]){__VA_ARGS__}[below(sizeof (const char *const[]){__VA_ARGS__} / sizeof(char *))])

/* A line, or several, of its own. */
void raw(const char *fmt, ...);

/* A statement, with what may be around it. */
void line(const char *fmt, ...);

void label(const char *name);

/* An instruction in the syntax of the place. */
void say(const struct place *p, const char *att, const char *intel);

/* A number in one of the ways to write it. */
char *number(long n);

/* ---- code.c ---- */

/* How a new label is defined, and how it is named before and after that. */
struct way {
	char *at, *to, *back;
};
struct way new_label(const struct place *p);

/* The place of statements in a statement. */
struct place inside(const struct place *p);

void compute(const struct place *p);

/* Sets flags. */
void test(const struct place *p);

void branch(const struct place *p);
void loop(const struct place *p);
void call(const struct place *p);

/* A jump through a table. */
void choice(const struct place *p);

/* ---- directive.c ---- */

void condition(const struct place *p);
void repeat(const struct place *p);
void use_macro(const struct place *p);

/* Data and code in other sections. */
void elsewhere(const struct place *p);

void odd(const struct place *p);

/* Control that macros, .rept and definitions of names make, or that goes to another procedure's middle. */
void shape(const struct place *p);

void other_syntax(const struct place *p);
void mistake(void);

/* ---- gas.c ---- */

/* n statements. */
void statements(struct place p, int n);

#endif
