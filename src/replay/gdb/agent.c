/* SPDX-License-Identifier: MIT */
/* Conditions of breakpoints. gdb sends them as code of its agent, so it need not be asked at each breakpoint. The code is specified
 * in gdb's manual, appendix F. */
#include "replay/gdb/gdb.h"

#include <string.h>

enum op {
	OP_ADD = 0x02, OP_SUB, OP_MUL, OP_DIV_SIGNED, OP_DIV, OP_REM_SIGNED, OP_REM, OP_LEFT, OP_RIGHT_SIGNED, OP_RIGHT,
	OP_NOT = 0x0e, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_NOT, OP_EQUAL, OP_LESS_SIGNED, OP_LESS, OP_EXT,
	OP_REF8, OP_REF16, OP_REF32, OP_REF64, OP_IF_GOTO = 0x20, OP_GOTO, OP_CONST8, OP_CONST16, OP_CONST32,
	OP_CONST64, OP_REG, OP_END, OP_DUP, OP_POP,
	OP_ZERO_EXT, OP_SWAP, OP_PICK = 0x32, OP_ROT,
};

enum { STACK = 64, STEPS_MOST = 10000 };

struct agent {
	const struct expression *expression;
	const struct tracee *t;
	size_t at;               /* place in the code */
	uint64_t stack[STACK];
	size_t n;
	bool failed;
};

static uint64_t
pop(struct agent *a)
{
	a->failed |= !a->n;
	return a->failed ? 0 : a->stack[--a->n];
}

static void
push(struct agent *a, uint64_t v)
{
	a->failed |= a->n == STACK;
	if (!a->failed)
		a->stack[a->n++] = v;
}

/* Reads a number in the code; its first byte is the highest. */
static uint64_t
number(struct agent *a, size_t size)
{
	uint64_t v = 0;

	for (; size--; a->at++) {
		a->failed |= a->at >= a->expression->n;
		v = v << 8 | (a->failed ? 0 : a->expression->code[a->at]);
	}
	return v;
}

static uint64_t
extend(uint64_t v, uint64_t bits, bool sign)
{
	if (!bits || bits >= 64)
		return v;
	v &= (1ull << bits) - 1;
	return sign && v >> (bits - 1) ? v | ~0ull << bits : v;
}

static void
load(struct agent *a, size_t size)
{
	uint64_t v = 0;

	a->failed |= !tracee_read(a->t, pop(a), &v, size);
	push(a, v);
}

static void
load_register(struct agent *a)
{
	uint8_t all[DESCRIBED_MOST];
	uint64_t v = 0, n = number(a, 2);
	size_t size, at = register_at(a->t->machine, n, &size);

	a->failed |= !size || size > sizeof v;
	if (a->failed)
		return;
	registers_of(a->t, n >= a->t->machine->described[0].n, all);
	memcpy(&v, all + at, size);
	push(a, v);
}

/* The largest negative number divided by -1 overflows, and would trap. */
static uint64_t
divide(struct agent *a, uint64_t x, uint64_t y, enum op op)
{
	a->failed |= !y;
	if (a->failed)
		return 0;
	if ((int64_t)y == -1 && op == OP_DIV_SIGNED)
		return -x;
	if ((int64_t)y == -1 && op == OP_REM_SIGNED)
		return 0;
	switch (op) {
	case OP_DIV_SIGNED: return (uint64_t)((int64_t)x / (int64_t)y);
	case OP_DIV: return x / y;
	case OP_REM_SIGNED: return (uint64_t)((int64_t)x % (int64_t)y);
	default: return x % y;
	}
}

/* Operations on two numbers. */
static void
combine(struct agent *a, enum op op)
{
	uint64_t y = pop(a), x = pop(a);

	switch (op) {
	case OP_ADD: push(a, x + y); break;
	case OP_SUB: push(a, x - y); break;
	case OP_MUL: push(a, x * y); break;
	case OP_LEFT: push(a, y < 64 ? x << y : 0); break;
	case OP_RIGHT_SIGNED: push(a, (uint64_t)((int64_t)x >> (y < 64 ? y : 63))); break;
	case OP_RIGHT: push(a, y < 64 ? x >> y : 0); break;
	case OP_BIT_AND: push(a, x & y); break;
	case OP_BIT_OR: push(a, x | y); break;
	case OP_BIT_XOR: push(a, x ^ y); break;
	case OP_EQUAL: push(a, x == y); break;
	case OP_LESS_SIGNED: push(a, (int64_t)x < (int64_t)y); break;
	case OP_LESS: push(a, x < y); break;
	case OP_DIV_SIGNED: case OP_DIV: case OP_REM_SIGNED: case OP_REM: push(a, divide(a, x, y, op)); break;
	case OP_SWAP: push(a, y), push(a, x); break;
	default: a->failed = true;
	}
}

/* Sets where the code goes on. */
static void
jump(struct agent *a, bool always)
{
	uint64_t to = number(a, 2);

	if (always || pop(a))
		a->at = to;
}

/* pick: pushes the number that lies so far down. rotate: turns the three topmost. */
static void
pick(struct agent *a)
{
	uint64_t down = number(a, 1);

	a->failed |= down >= a->n;
	push(a, a->failed ? 0 : a->stack[a->n - 1 - down]);
}

static void
rotate(struct agent *a)
{
	uint64_t z = pop(a), y = pop(a), x = pop(a);

	push(a, z), push(a, x), push(a, y);
}

static void
run_op(struct agent *a, enum op op)
{
	uint64_t bits;

	switch (op) {
	case OP_NOT: push(a, !pop(a)); break;
	case OP_BIT_NOT: push(a, ~pop(a)); break;
	case OP_EXT: bits = number(a, 1), push(a, extend(pop(a), bits, true)); break;
	case OP_ZERO_EXT: bits = number(a, 1), push(a, extend(pop(a), bits, false)); break;
	case OP_REF8: load(a, 1); break;
	case OP_REF16: load(a, 2); break;
	case OP_REF32: load(a, 4); break;
	case OP_REF64: load(a, 8); break;
	case OP_CONST8: push(a, number(a, 1)); break;
	case OP_CONST16: push(a, number(a, 2)); break;
	case OP_CONST32: push(a, number(a, 4)); break;
	case OP_CONST64: push(a, number(a, 8)); break;
	case OP_REG: load_register(a); break;
	case OP_IF_GOTO: jump(a, false); break;
	case OP_GOTO: jump(a, true); break;
	case OP_DUP: a->failed |= !a->n, push(a, a->failed ? 0 : a->stack[a->n - 1]); break;
	case OP_POP: pop(a); break;
	case OP_PICK: pick(a); break;
	case OP_ROT: rotate(a); break;
	default: combine(a, op);
	}
}

/* Does the condition hold? If the code fails, it does: gdb then looks itself. */
static bool
holds(const struct expression *expression, const struct tracee *t)
{
	struct agent a = {.expression = expression, .t = t};

	for (unsigned i = 0; i < STEPS_MOST && !a.failed; i++) {
		enum op op = (enum op)number(&a, 1);

		if (op == OP_END)
			return !a.n || a.stack[a.n - 1];
		run_op(&a, op);
	}
	return true;
}

bool
expression_holds(const struct expression *expression, const struct tracee *t)
{
	for (const struct expression *one = expression; one; one = one->next)
		if (holds(one, t))
			return true;
	return !expression;
}

const struct expression *
expression_read(struct pool *pool, const char *p)
{
	const struct expression *all = NULL;

	while (*p == 'X') {
		struct expression *one = pool_alloc(pool, sizeof *one);
		uint8_t *code;

		p++;
		one->n = get_hex(&p);
		p += *p == ',';
		if (strlen(p) / 2 < one->n)
			return NULL;
		code = pool_alloc(pool, one->n + 1);
		for (size_t i = 0; i < one->n; i++, p += 2) {
			char two[3] = {p[0], p[1], 0};
			const char *at = two;

			code[i] = (uint8_t)get_hex(&at);
		}
		one->code = code;
		one->next = all;
		all = one;
	}
	return all;
}
