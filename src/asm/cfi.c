/* SPDX-License-Identifier: MIT */
/* Call frame state along the text, so that code that is moved away from its block can restate what unwinders have to know. */
#include "asm/cfi_expression.h"
#include "cfg/in.h"

#include <stdlib.h>
#include <string.h>

/* A state has a rule for each of the machine's columns: more columns make it larger. */
enum { COLUMNS_MOST = 33 };

enum rule_kind { RULE_SAME, RULE_OFFSET, RULE_REGISTER, RULE_UNDEFINED, RULE_EXPRESSION };

struct rule {
	uint8_t kind;
	int64_t value;    /* offset from the CFA, register, or number of the expression */
};

struct state {
	bool inside;      /* between .cfi_startproc and .cfi_endproc */
	bool unknown;     /* holds something that cannot be restated */
	bool lost;        /* the CFA is not known */
	uint32_t cfa_expression; /* plus 1; 0: the CFA is cfa_reg + cfa_off */
	uint8_t cfa_reg;
	int64_t cfa_off;
	struct rule rule[COLUMNS_MOST];
};

/* The state after a statement. */
struct change {
	uint32_t stmt, state;
};

struct cfi {
	struct pool *pool;
	const struct machine_unwind *machine;
	VEC(struct change) at;
	VEC(struct state) states;
	VEC(struct cfi_expression) expressions;
	struct strmap numbers; /* of expressions, by their bytes, while text is read */
};

/* The operands of a directive: at most two, separated by a comma. */
static int
operands(struct str rest, struct str op[2])
{
	int n = 0;

	for (size_t i = 0; i <= rest.n && n < 2; i++) {
		size_t from = i;

		while (i < rest.n && rest.at[i] != ',')
			i++;
		op[n] = (struct str){rest.at + from, i - from};
		while (op[n].n && (op[n].at[0] == ' ' || op[n].at[0] == '\t'))
			op[n] = (struct str){op[n].at + 1, op[n].n - 1};
		while (op[n].n && (op[n].at[op[n].n - 1] == ' ' || op[n].at[op[n].n - 1] == '\t'))
			op[n].n--;
		n += op[n].n > 0;
	}
	return n;
}

/* A number of 32 bits, so that sums of them fit. */
static bool
number(struct str s, int64_t *v)
{
	char digits[32], *end;

	if (!s.n || s.n >= sizeof digits)
		return false;
	memcpy(digits, s.at, s.n);
	digits[s.n] = 0;
	*v = strtoll(digits, &end, 0);
	return !*end && *v >= INT32_MIN && *v <= INT32_MAX;
}

static bool
set_rule(const struct machine_unwind *m, struct state *s, struct str reg, uint8_t kind, int64_t value)
{
	int r = m->column(reg);

	if (r < 0)
		return false;
	s->rule[r] = (struct rule){kind, value};
	return true;
}

static bool
set_cfa(const struct machine_unwind *m, struct state *s, const struct str *reg, const struct str *off)
{
	int r = reg ? m->column(*reg) : s->cfa_reg;
	int64_t o = s->cfa_off;

	if (r < 0 || (off && !number(*off, &o)))
		return false;
	if (!(reg && off) && s->cfa_expression)
		return false;
	s->cfa_reg = (uint8_t)r;
	s->cfa_off = o;
	if (reg && off) {
		s->lost = false;
		s->cfa_expression = 0;
	}
	return true;
}

/* Applies a directive, except startproc, endproc, remember_state and restore_state. False: it is not understood. */
static bool
apply(const struct machine_unwind *m, struct state *s, struct str word, struct str rest)
{
	struct str op[2];
	int n = operands(rest, op);
	int64_t v;

	if (word_is(word, ".cfi_def_cfa"))
		return n == 2 && set_cfa(m, s, &op[0], &op[1]);
	if (word_is(word, ".cfi_def_cfa_register"))
		return n == 1 && set_cfa(m, s, &op[0], NULL);
	if (word_is(word, ".cfi_def_cfa_offset"))
		return n == 1 && set_cfa(m, s, NULL, &op[0]);
	if (word_is(word, ".cfi_adjust_cfa_offset"))
		return n == 1 && !s->cfa_expression && number(op[0], &v) && (s->cfa_off += v, true);
	if (word_is(word, ".cfi_offset"))
		return n == 2 && number(op[1], &v) && set_rule(m, s, op[0], RULE_OFFSET, v);
	if (word_is(word, ".cfi_rel_offset"))
		return n == 2 && number(op[1], &v) && set_rule(m, s, op[0], RULE_OFFSET, v - s->cfa_off);
	if (word_is(word, ".cfi_restore"))
		return n == 1 && set_rule(m, s, op[0], RULE_SAME, 0);
	if (word_is(word, ".cfi_undefined"))
		return n == 1 && set_rule(m, s, op[0], RULE_UNDEFINED, 0);
	if (word_is(word, ".cfi_same_value"))
		return n == 1 && set_rule(m, s, op[0], RULE_SAME, 0);
	if (word_is(word, ".cfi_register"))
		return n == 2 && m->column(op[1]) >= 0 && set_rule(m, s, op[0], RULE_REGISTER, m->column(op[1]));
	return word_is(word, ".cfi_personality") || word_is(word, ".cfi_lsda") || word_is(word, ".cfi_signal_frame") ||
	       word_is(word, ".cfi_sections") || word_is(word, ".cfi_return_column") || word_is(word, ".cfi_personality_id");
}

/* The bytes of a .cfi_escape (pool). NULL: they are not all numbers. */
static uint8_t *
escape_bytes(struct pool *pool, struct str rest, size_t *n)
{
	uint8_t *bytes = pool_array(pool, rest.n + 1, 1);
	struct str op[2];
	int64_t v;

	for (*n = 0; operands(rest, op);) {
		size_t used = (size_t)(op[0].at + op[0].n - rest.at) + 1;

		if (!number(op[0], &v))
			return NULL;
		bytes[(*n)++] = (uint8_t)v;
		rest = used < rest.n ? (struct str){rest.at + used, rest.n - used} : STR("");
	}
	return bytes;
}

/* The number of the expression, plus 1: the same for the same bytes. 0: it is not understood, or has more than 127 bytes. */
static uint32_t
expression_number(struct cfi *c, const uint8_t *bytes, size_t n)
{
	struct str key = {(const char *)bytes, n};
	struct cfi_expression x;
	uint64_t number;

	if (strmap_get(&c->numbers, key, &number))
		return (uint32_t)number;
	if (n > INT8_MAX || !cfi_expression_read(c->machine, bytes, n, &x))
		return 0;
	VEC_PUSH(c->expressions, x);
	strmap_put(&c->numbers, key, c->expressions.n);
	return (uint32_t)c->expressions.n;
}

enum { CFA_EXPRESSION = 0x0f, EXPRESSION = 0x10, ARGS_SIZE = 0x2e };

/* Applies an expression for the CFA, as compilers have it where they realign the stack, or for a register. False: it is not
 * understood. */
static bool
apply_expression(struct cfi *c, struct state *s, const uint8_t *bytes, size_t n)
{
	struct in in = {.at = bytes + 1, .end = bytes + n};
	uint64_t reg = *bytes == EXPRESSION ? in_uleb(&in) : 0, size = in_uleb(&in);
	uint32_t number = 0;

	if (size == in_left(&in) && reg < c->machine->ncolumn)
		number = expression_number(c, in.at, in_left(&in));
	if (!number)
		return false;
	if (*bytes == CFA_EXPRESSION) {
		s->cfa_expression = number;
		s->lost = false;
		return true;
	}
	s->rule[reg] = (struct rule){RULE_EXPRESSION, number};
	return !c->expressions.at[number - 1].by_sp;
}

/* Applies an instruction of DWARF that is given by its bytes. One that describes pushed arguments cannot be restated, but it does
 * not change the CFA. */
static void
apply_escape(struct cfi *c, struct state *s, struct str rest)
{
	size_t n;
	const uint8_t *b = escape_bytes(c->pool, rest, &n);
	bool known = b && n && (b[0] == CFA_EXPRESSION || b[0] == EXPRESSION) && apply_expression(c, s, b, n);

	s->unknown |= !known;
	s->lost |= !known && !(b && n && b[0] == ARGS_SIZE);
}

static void
push_state(struct cfi *c, uint32_t stmt, struct state s)
{
	VEC_PUSH(c->at, (struct change){stmt, (uint32_t)c->states.n});
	VEC_PUSH(c->states, s);
}

static struct state
initial_state(const struct machine_unwind *m)
{
	struct state s = {.inside = true, .cfa_reg = m->sp, .cfa_off = m->entry};

	if (m->pushed)
		s.rule[m->ra] = (struct rule){RULE_OFFSET, -m->entry};
	return s;
}

/* Moves what a list has to the pool. */
static void *
to_pool(struct pool *pool, void *list, size_t n, size_t size)
{
	void *at = pool_array(pool, n + 1, size);

	if (n)
		memcpy(at, list, n * size);
	free(list);
	return at;
}

static void
release(struct cfi *c)
{
	c->states.at = to_pool(c->pool, c->states.at, c->states.n, sizeof *c->states.at);
	c->at.at = to_pool(c->pool, c->at.at, c->at.n, sizeof *c->at.at);
	c->expressions.at = to_pool(c->pool, c->expressions.at, c->expressions.n, sizeof *c->expressions.at);
	strmap_free(&c->numbers);
}

/* ---- sections: each has a frame of its own ---- */

/* The section that the directives are in, and the one before it; .text is "". */
struct section_now {
	struct str now, before;
};

struct open_frame {
	struct str section;
	struct state state;
};

struct sections {
	struct section_now at;
	VEC(struct section_now) pushed;
	VEC(struct open_frame) open; /* frames that were still open when their section was left: few */
};

static struct str
section_name(struct str rest)
{
	struct str op[2];

	return operands(rest, op) && !str_is(op[0], ".text") ? op[0] : STR("");
}

/* False: the directive changes no section. */
static bool
switch_section(struct sections *x, struct str word, struct str rest)
{
	struct section_now was = x->at;

	if (word_is(word, ".previous")) {
		x->at = (struct section_now){was.before, was.now};
	} else if (word_is(word, ".popsection")) {
		if (x->pushed.n)
			x->at = x->pushed.at[--x->pushed.n];
	} else if (word_is(word, ".section") || word_is(word, ".pushsection")) {
		if (word_is(word, ".pushsection"))
			VEC_PUSH(x->pushed, was);
		x->at = (struct section_now){section_name(rest), was.now};
	} else if (word_is(word, ".text") || word_is(word, ".data") || word_is(word, ".bss")) {
		x->at = (struct section_now){word_is(word, ".text") ? STR("") : word, was.now};
	} else {
		return false;
	}
	return true;
}

/* Changes the state when the section has changed: each section has a frame of its own. True: the state has changed. */
static bool
change_frame(struct sections *x, struct str left, struct state *s)
{
	bool was = s->inside;

	if (str_eq(left, x->at.now))
		return false;
	if (was)
		VEC_PUSH(x->open, (struct open_frame){left, *s});
	*s = (struct state){0};
	for (size_t i = x->open.n; i-- > 0;)
		if (str_eq(x->open.at[i].section, x->at.now)) {
			*s = x->open.at[i].state;
			x->open.at[i] = x->open.at[--x->open.n];
			return true;
		}
	return was;
}

struct cfi *
cfi_read(const struct text *t, const struct machine_unwind *machine, struct pool *pool)
{
	struct cfi *c = pool_alloc(pool, sizeof *c);
	struct state s = {0};
	struct sections x = {{STR(""), STR("")}, {0}, {0}};
	VEC(struct state) saved = {0};

	if (machine->ncolumn > COLUMNS_MOST)
		bug("the machine has %u columns", machine->ncolumn);
	c->pool = pool;
	c->machine = machine;
	for (uint32_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *st = &t->stmts.at[i];
		struct str word = stmt_word(t, st), left = x.at.now;

		if (st->kind != STMT_DIRECTIVE)
			continue;
		if (switch_section(&x, word, stmt_rest(t, st)) && change_frame(&x, left, &s))
			push_state(c, i, s);
		if (!str_starts(word, ".cfi_"))
			continue;
		if (word_is(word, ".cfi_startproc")) {
			s = initial_state(machine);
			saved.n = 0;
		} else if (word_is(word, ".cfi_endproc")) {
			s = (struct state){0};
		} else if (word_is(word, ".cfi_remember_state")) {
			VEC_PUSH(saved, s);
		} else if (word_is(word, ".cfi_restore_state")) {
			if (saved.n)
				s = saved.at[--saved.n];
			else
				s.unknown = s.lost = true;
		} else if (word_is(word, ".cfi_escape")) {
			apply_escape(c, &s, stmt_rest(t, st));
		} else if (!apply(machine, &s, word, stmt_rest(t, st))) {
			s.unknown = s.lost = true;
		}
		push_state(c, i, s);
	}
	free(saved.at);
	free(x.pushed.at);
	free(x.open.at);
	release(c);
	return c;
}

/* The number of the first change at or after the statement. */
static size_t
change_at(const struct cfi *c, uint32_t stmt)
{
	size_t lo = 0, hi = c->at.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->at.at[mid].stmt < stmt)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The state before a statement. *n is its number, or UINT32_MAX before the first change. */
static const struct state *
state_before(const struct cfi *c, uint32_t stmt, uint32_t *n)
{
	static const struct state none;
	size_t lo = change_at(c, stmt);

	*n = lo ? c->at.at[lo - 1].state : UINT32_MAX;
	return lo ? &c->states.at[*n] : &none;
}

static void
write_expression(struct buf *out, const struct cfi_expression *x)
{
	buf_printf(out, ",%#zx", x->n);
	for (size_t i = 0; i < x->n; i++)
		buf_printf(out, ",%#x", x->bytes[i]);
	buf_char(out, '\n');
}

static void
write_rule(const struct cfi *c, struct buf *out, unsigned reg, struct rule r)
{
	switch (r.kind) {
	case RULE_SAME: buf_printf(out, "\t.cfi_restore %u\n", reg); break;
	case RULE_OFFSET: buf_printf(out, "\t.cfi_offset %u, %lld\n", reg, (long long)r.value); break;
	case RULE_REGISTER: buf_printf(out, "\t.cfi_register %u, %lld\n", reg, (long long)r.value); break;
	case RULE_EXPRESSION:
		buf_printf(out, "\t.cfi_escape %#x,%#x", EXPRESSION, reg);
		write_expression(out, &c->expressions.at[r.value - 1]);
		break;
	default: buf_printf(out, "\t.cfi_undefined %u\n", reg); break;
	}
}

/* The assembler remembers the number that was added last in a CFA without an expression. So that is stated in any case. */
static void
write_change(const struct cfi *c, struct buf *out, const struct state *a, const struct state *b)
{
	bool changes = a->cfa_reg != b->cfa_reg || a->cfa_off != b->cfa_off || a->cfa_expression != b->cfa_expression;

	if (changes)
		buf_printf(out, "\t.cfi_def_cfa %u, %lld\n", b->cfa_reg, (long long)b->cfa_off);
	if (changes && b->cfa_expression) {
		buf_printf(out, "\t.cfi_escape %#x", CFA_EXPRESSION);
		write_expression(out, &c->expressions.at[b->cfa_expression - 1]);
	}
	for (unsigned i = 0; i < COLUMNS_MOST; i++)
		if (a->rule[i].kind != b->rule[i].kind || a->rule[i].value != b->rule[i].value)
			write_rule(c, out, i, b->rule[i]);
}

bool
cfi_move(const struct cfi *c, uint32_t to, uint32_t from, struct buf *there, struct buf *back)
{
	uint32_t nto, nfrom;
	const struct state *sto = state_before(c, to, &nto), *sfrom = state_before(c, from, &nfrom);

	if (nto == nfrom || (!sto->inside && !sfrom->inside))
		return true;
	if (!sto->inside || !sfrom->inside || sto->unknown || sfrom->unknown)
		return false;
	write_change(c, there, sto, sfrom);
	write_change(c, back, sfrom, sto);
	return true;
}

bool
cfi_frame_at(const struct cfi *c, uint32_t stmt, struct cfi_frame *out)
{
	uint32_t n;
	const struct state *s = state_before(c, stmt, &n);

	*out = (struct cfi_frame){0};
	if (!s->inside || s->lost)
		return false;
	if (s->cfa_expression)
		return cfi_expression_loads(c->machine, &c->expressions.at[s->cfa_expression - 1], out);
	*out = (struct cfi_frame){(uint8_t)c->machine->general(s->cfa_reg), false, s->cfa_off};
	return c->machine->general(s->cfa_reg) >= 0;
}

/* Registers by which unwinders find the frame, and what is saved in it. 0: not known. */
static uint32_t
frame_regs(const struct cfi *c, const struct state *s)
{
	uint32_t regs = 0;

	if (!s->inside || s->lost)
		return 0;
	if (s->cfa_expression)
		regs |= c->expressions.at[s->cfa_expression - 1].regs;
	else if (c->machine->general(s->cfa_reg) >= 0)
		regs |= 1u << c->machine->general(s->cfa_reg);
	for (unsigned r = 0; c->expressions.n && r < c->machine->ncolumn; r++)
		if (s->rule[r].kind == RULE_EXPRESSION)
			regs |= c->expressions.at[s->rule[r].value - 1].regs;
	return regs;
}

/* How the frame is found by the stack pointer. NULL: not by it, or not known. */
static const struct frame_rule *
frame_rule(const struct cfi *c, const struct state *s)
{
	static const struct frame_rule plain;
	const struct cfi_expression *x = s->cfa_expression ? &c->expressions.at[s->cfa_expression - 1] : NULL;

	if (!s->inside || s->lost)
		return NULL;
	if (x)
		return x->by_sp ? &x->rule : NULL;
	return s->cfa_reg == c->machine->sp ? &plain : NULL;
}

bool
cfi_frame_regs(const struct cfi *c, uint32_t stmt, uint32_t *regs)
{
	uint32_t n;

	*regs = frame_regs(c, state_before(c, stmt, &n));
	return *regs;
}

void
cfi_need(const struct cfi *c, uint32_t stmt, struct liveness *live)
{
	uint32_t n;
	const struct state *s = state_before(c, stmt, &n);

	live->frame = frame_rule(c, s);
	live->frame_regs = (uint16_t)frame_regs(c, s);
	live->regs_live |= live->frame_regs;
}

static uint32_t
kept_in(const struct cfi *c, const struct state *s)
{
	uint32_t regs = 0;

	for (unsigned r = 0; r < c->machine->ncolumn; r++)
		if (s->rule[r].kind != RULE_SAME && c->machine->general(r) >= 0)
			regs |= 1u << c->machine->general(r);
	return s->unknown ? UINT32_MAX : regs;
}

bool
cfi_kept(const struct cfi *c, uint32_t first, uint32_t last, uint32_t *regs)
{
	uint32_t n;
	const struct state *s = state_before(c, first, &n);

	*regs = kept_in(c, s);
	for (size_t i = change_at(c, first); i < c->at.n && c->at.at[i].stmt <= last; i++)
		*regs |= kept_in(c, &c->states.at[c->at.at[i].state]);
	return s->inside;
}

bool
cfi_frame_open(const struct cfi *c, uint32_t stmt)
{
	uint32_t n;
	const struct state *s = state_before(c, stmt, &n);

	return s->inside && (s->unknown || s->cfa_expression || s->cfa_reg != c->machine->sp || s->cfa_off != c->machine->entry);
}

bool
cfi_by_frame_pointer(const struct cfi *c, uint32_t stmt)
{
	uint32_t n;
	const struct state *s = state_before(c, stmt, &n);

	return s->unknown || s->cfa_expression || s->cfa_reg != c->machine->sp;
}

uint32_t
stmt_behind(const struct text *t, uint32_t stmt)
{
	uint32_t last = stmt;

	for (uint32_t i = stmt + 1; i < t->stmts.n && t->stmts.at[i].kind == STMT_DIRECTIVE; i++) {
		struct str word = stmt_word(t, &t->stmts.at[i]);

		if (!str_starts(word, ".cfi_") || word_is(word, ".cfi_endproc"))
			break;
		last = i;
	}
	return last;
}
