/* SPDX-License-Identifier: MIT */
/* What struct machine says of x86-64's instructions, checked by a table made from the manual, and by the processor. The
 * processor runs each of them with registers and flags changed one by one. What an instruction is said not to read must change
 * nothing; what it is said to overwrite must not depend on the old content. */
#include "tests/unit/assembled.h"

#include <sys/mman.h>

enum { CF = 1, PF = 2, AF = 4, ZF = 8, SF = 16, OF = 32, ALL = 63, NOT_C = ALL & ~CF };
enum { A = 1 << 0, C = 1 << 1, D = 1 << 2, B = 1 << 3, SP = 1 << 4, BP = 1 << 5, S = 1 << 6, DI = 1 << 7, R8 = 1 << 8, R9 = 1 << 9,
       R15 = 1 << 15 };

/* Those of `run` access registers and the word `cell` only, and leave no flag undefined but AF. */
static const struct expected {
	const char *text;
	unsigned read, kill, flags_read, flags_kill;
	bool run;
} table[] = {
	{"movq %rax, %rbx", A, B, 0, 0, true},
	{"movl %r8d, %r9d", R8, R9, 0, 0, true},
	{"movl $5, %r15d", 0, R15, 0, 0, true},
	{"leaq 8(%rax,%rcx,4), %rdx", A | C, D, 0, 0, true},
	{"leaq cell(%rip), %rsi", 0, S, 0, 0, true},
	{"addq %rax, %rbx", A | B, B, 0, ALL, true},
	{"adcq %rcx, %rdx", C | D, D, CF, ALL, true},
	{"sbbl %esi, %edi", S | DI, DI, CF, ALL, true},
	{"cmpl %eax, %ecx", A | C, 0, 0, ALL, true},
	{"testq %rdi, %rdi", DI, 0, 0, ALL, true},
	{"incq %rax", A, A, 0, NOT_C, true},
	{"decl %edx", D, D, 0, NOT_C, true},
	{"negq %rbp", BP, BP, 0, ALL, true},
	{"notl %ebx", B, B, 0, 0, true},
	{"xchgq %rax, %rdx", A | D, A | D, 0, 0, true},
	{"cmoveq %rax, %rbx", A | B, 0, ZF, 0, true},
	{"lahf", A, 0, CF | PF | AF | ZF | SF, 0, true},
	{"sahf", A, 0, 0, CF | PF | AF | ZF | SF, true},
	{"cmc", 0, 0, CF, CF, true},
	{"stc", 0, 0, 0, CF, true},
	{"cqto", A, D, 0, 0, true},
	{"cltq", A, A, 0, 0, true},
	{"bswapq %rcx", C, C, 0, 0, true},
	{"rolq $1, %rax", A, A, 0, CF | OF, true},
	{"movzbl %cl, %eax", C, A, 0, 0, true},
	{"movsbl %dh, %eax", D, A, 0, 0, true},
	{"movq cell(%rip), %rax", 0, A, 0, 0, true},
	{"movq %rax, cell(%rip)", A, 0, 0, 0, true},
	{"andq $-16, %rdi", DI, DI, 0, ALL, true},
	{"jrcxz 1f; 1:", C, 0, 0, 0, true},
	{"adcxq %rax, %rbx", A | B, B, CF, CF, true},
	{"adoxq %rax, %rbx", A | B, B, OF, OF, true},
	{"bsfl %eax, %ebx", A | B, 0, 0, ALL, false},
	{"bsrq %rcx, %rdx", C | D, 0, 0, ALL, false},
	{"tzcntq %rcx, %rdx", C, D, 0, ALL, false},
	{"rdsspq %rax", A, 0, 0, 0, false},
	{"rdsspd %ecx", C, 0, 0, 0, false},
	{"movq (%rax,%rcx), %rdx", A | C, D, 0, 0, false},
	{"pushq %rbx", B | SP, SP, 0, 0, false},
	{"popq %rbx", SP, B | SP, 0, 0, false},
	{"cpuid", A | C, A | B | C | D, 0, 0, false},
	{"rep stosq", A | C | DI, 0, 0, 0, false},
	{"mulq %rcx", A | C, A | D, 0, ALL, false},
	{"ja 1f; 1:", 0, 0, CF | ZF, 0, false},
	{"jl 1f; 1:", 0, 0, SF | OF, 0, false},
	{"setp (%rax)", A, 0, PF, 0, false},
};
enum { N = sizeof table / sizeof *table, REGS = 16, FLAGS = 16 /* its place in struct state */ };

/* Registers in the order of their numbers; flags as pushfq has them. */
struct state {
	uint64_t reg[REGS + 1];
};

static const uint64_t flag_bit[] = {1 << 0, 1 << 2, 1 << 4, 1 << 6, 1 << 7, 1 << 11};

/* Each instruction in a function of its own: loads all registers but the stack pointer from a struct state, and stores them
 * there. */
static void
write_text(struct buf *b)
{
	static const char *const name[] = {"rax", "rcx", "rdx", "rbx", NULL, "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
		"r13", "r14", "r15"};

	buf_str(b, "\t.text\n\t.balign 16\nstate: .quad 0\ncell: .quad 0x123456789\nkept: .quad 0\n");
	for (size_t i = 0; i < N; i++) {
		buf_printf(b, "run%zu:\n\tpush %%rbx; push %%rbp; push %%r12; push %%r13; push %%r14; push %%r15\n", i);
		buf_printf(b, "\tmov %%rdi, state(%%rip)\n\tpushq 128(%%rdi)\n\tpopfq\n");
		for (int r = 0; r < REGS; r++)
			if (name[r] && r != 7)
				buf_printf(b, "\tmov %d(%%rdi), %%%s\n", r * 8, name[r]);
		buf_printf(b, "\tmov 56(%%rdi), %%rdi\nat%zu:\n\t%s\n", i, table[i].text);
		buf_str(b, "\tmov %rdi, kept(%rip)\n\tmov state(%rip), %rdi\n");
		for (int r = 0; r < REGS; r++)
			if (name[r] && r != 7)
				buf_printf(b, "\tmov %%%s, %d(%%rdi)\n", name[r], r * 8);
		buf_str(b, "\tmov kept(%rip), %rax\n\tmov %rax, 56(%rdi)\n\tpushfq\n\tpopq 128(%rdi)\n");
		buf_str(b, "\tpop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n\tcld\n\tret\n");
	}
	buf_char(b, '\0');
}

static struct pool *pool;
static struct object *object;
static struct buf bytes;
static uint64_t at[N], run[N];

static int
set_up(void **state)
{
	struct buf text = {0};

	(void)state;
	pool = pool_new();
	write_text(&text);
	object = assemble_object(pool, text.at, &bytes);
	for (uint32_t i = 0; i < object->nsymbol; i++) {
		const struct obj_symbol *s = &object->symbols[i];
		unsigned n;

		if (sscanf(s->name, "at%u", &n) == 1)
			at[n] = s->value;
		else if (sscanf(s->name, "run%u", &n) == 1)
			run[n] = s->value;
	}
	buf_free(&text);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	object_free(object);
	buf_free(&bytes);
	pool_free(pool);
	return 0;
}

static struct insn
decoded(size_t i)
{
	const struct obj_section *text = section_of(object, ".text");
	struct insn in;

	if (!machine_of_host()->decode(text->data + at[i], text->size - at[i], (uint32_t)at[i], &in))
		fail_msg("%s: does not decode", table[i].text);
	return in;
}

/* Only xbegin leads somewhere. */
static void
transactions(void **state)
{
	static const struct { uint8_t bytes[8]; uint32_t n; bool jumps; } insns[] = {
		{{0x0f, 0x01, 0xd5}, 3, false}, /* xend */
		{{0xc6, 0xf8, 0x01}, 3, false}, /* xabort $1 */
		{{0xc7, 0xf8, 0x10, 0, 0, 0}, 6, true}, /* xbegin .+22 */
	};
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof insns / sizeof *insns; i++) {
		assert_true(machine_of_host()->decode(insns[i].bytes, insns[i].n, 0, &in));
		assert_int_equal(in.cls, insns[i].jumps ? CHORD_INSN_BRANCH : CHORD_INSN_OTHER);
		assert_true(in.attr & INSN_FALLS);
		assert_true(!insns[i].jumps || in.target == 22);
	}
}

static void
by_the_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		struct insn in = decoded(i);

		if (in.regs_read != table[i].read || in.regs_kill != table[i].kill)
			fail_msg("%s: reads %x, not %x; overwrites %x, not %x", table[i].text, in.regs_read, table[i].read,
			         in.regs_kill, table[i].kill);
		if (in.flags_read != table[i].flags_read || in.flags_kill != table[i].flags_kill)
			fail_msg("%s: reads flags %x, not %x; overwrites %x, not %x", table[i].text, in.flags_read,
			         table[i].flags_read, in.flags_kill, table[i].flags_kill);
	}
}

static uint64_t
any(void)
{
	return (uint64_t)random() << 40 ^ (uint64_t)random() << 20 ^ (uint64_t)random();
}

static struct state
any_state(void)
{
	struct state s = {{0}};

	for (int r = 0; r < REGS; r++)
		s.reg[r] = random() % 4 ? any() : 0;
	s.reg[FLAGS] = 0x202;
	for (int f = 0; f < 6; f++)
		s.reg[FLAGS] |= random() % 2 ? flag_bit[f] : 0;
	return s;
}

static struct state
ran(const uint8_t *code, size_t i, struct state s)
{
	void (*function)(struct state *);
	const uint8_t *begin = code + run[i];

	memcpy(&function, &begin, sizeof function);
	function(&s);
	return s;
}

/* With one register other than before: the rest is the same unless it is said to be read, and itself if it is said to be
 * overwritten and not read. */
static void
change_register(const uint8_t *code, size_t i, const struct insn *in, const struct state *s, int r)
{
	struct state other = *s, t = ran(code, i, *s), u;

	other.reg[r] = any();
	u = ran(code, i, other);
	if (in->regs_read >> r & 1)
		return;
	for (int q = 0; q <= REGS; q++)
		if (q != r && q != 4 && t.reg[q] != u.reg[q])
			fail_msg("%s: register %d depends on %d, which it does not read", table[i].text, q, r);
	if (in->regs_kill >> r & 1 && t.reg[r] != u.reg[r])
		fail_msg("%s: register %d keeps what it had", table[i].text, r);
	if (!(in->regs_kill >> r & 1) && (t.reg[r] != s->reg[r] || u.reg[r] != other.reg[r]))
		fail_msg("%s: register %d is written", table[i].text, r);
}

/* AF is undefined behind some. */
static void
change_flag(const uint8_t *code, size_t i, const struct insn *in, const struct state *s, int f)
{
	const uint64_t all = 0x8d5 & ~flag_bit[2];
	struct state other = *s, t = ran(code, i, *s), u;

	other.reg[FLAGS] ^= flag_bit[f];
	u = ran(code, i, other);
	if (in->flags_read >> f & 1)
		return;
	assert_memory_equal(t.reg, u.reg, REGS * sizeof *t.reg);
	if ((t.reg[FLAGS] ^ u.reg[FLAGS]) & all & ~flag_bit[f])
		fail_msg("%s: flags depend on flag %d, which it does not read", table[i].text, f);
	if (f != 2 && in->flags_kill >> f & 1 && (t.reg[FLAGS] ^ u.reg[FLAGS]) & flag_bit[f])
		fail_msg("%s: flag %d stays as it was", table[i].text, f);
}

static void
by_the_processor(void **state)
{
	const struct obj_section *text = section_of(object, ".text");
	uint8_t *code = mmap(NULL, text->size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (code == MAP_FAILED) {
		print_message("no memory may be written and run here\n");
		skip();
	}
	memcpy(code, text->data, text->size);
	srandom(1);
	for (size_t i = 0; i < N; i++)
		for (int round = 0; table[i].run && round < 20; round++) {
			struct insn in = decoded(i);
			struct state s = any_state();

			if ((in.flags_kill == CF || in.flags_kill == OF) && !__builtin_cpu_supports("adx") && in.flags_read)
				continue; /* adcx, adox */
			for (int r = 0; r < REGS; r++)
				if (r != 4)
					change_register(code, i, &in, &s, r);
			for (int f = 0; f < 6; f++)
				change_flag(code, i, &in, &s, f);
		}
	munmap(code, text->size);
}

/* ---- where control goes ---- */

static void
control(void **state)
{
	static const struct { const char *text; unsigned cls, attr, not_attr; } cases[] = {
		{"jmp 1f", CHORD_INSN_JUMP, INSN_REL, INSN_FALLS}, {"jne 1f", CHORD_INSN_BRANCH, INSN_REL | INSN_FALLS, INSN_NEAR},
		{"jrcxz 1f", CHORD_INSN_BRANCH, INSN_REL | INSN_FALLS | INSN_NEAR, 0},
		{"loop 1f", CHORD_INSN_BRANCH, INSN_REL | INSN_FALLS | INSN_NEAR, 0},
		{"call 1f", CHORD_INSN_CALL, INSN_REL | INSN_FALLS, 0}, {"call *%rax", CHORD_INSN_ICALL, INSN_FALLS, INSN_REL},
		{"jmp *%rax", CHORD_INSN_IJUMP, 0, INSN_REL | INSN_FALLS}, {"ret", CHORD_INSN_RET, 0, INSN_FALLS},
		{"iretq", CHORD_INSN_RET, 0, INSN_FALLS | INSN_SPARES}, {"uiret", CHORD_INSN_RET, 0, INSN_FALLS | INSN_SPARES},
		{"sysretq", CHORD_INSN_RET, 0, INSN_FALLS | INSN_SPARES},
		{"syscall", CHORD_INSN_SYSCALL, INSN_FALLS, INSN_REL},
		{"endbr64", CHORD_INSN_OTHER, INSN_FIRST | INSN_FALLS, INSN_REL},
		{"leaq 1f(%rip), %rax", CHORD_INSN_OTHER, INSN_MENTIONS | INSN_FALLS, INSN_REL | INSN_LOADS},
		{"movq 1f(%rip), %rax", CHORD_INSN_OTHER, INSN_MENTIONS | INSN_FALLS | INSN_LOADS, INSN_REL},
		{"ud2", CHORD_INSN_TRAP, 0, INSN_FALLS}, {"hlt", CHORD_INSN_TRAP, 0, INSN_FALLS},
		{"addl $1, %eax", CHORD_INSN_OTHER, INSN_FALLS, INSN_REL | INSN_LOADS | INSN_MENTIONS},
	};
	struct pool *own = pool_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = {0};
		const char *body = pool_printf(own, "\t.text\n\tnop\n\t%s\n\t.byte 0x90, 0x90, 0x90\n1:\n", cases[i].text);
		struct object *o = assemble_object(own, body, &b);
		const struct obj_section *text = section_of(o, ".text");
		struct insn in;

		assert_true(machine_of_host()->decode(text->data + 1, text->size - 1, 1, &in));
		assert_int_equal(in.len, text->size - 4);
		if (in.cls != cases[i].cls || (in.attr & cases[i].attr) != cases[i].attr || in.attr & cases[i].not_attr)
			fail_msg("%s: class %u, attributes %x", cases[i].text, in.cls, in.attr);
		if (in.attr & (INSN_REL | INSN_MENTIONS))
			assert_int_equal(in.target, text->size);
		assert_false(machine_of_host()->decode(text->data + 1, in.len - 1u, 1, &in));
		object_free(o);
		buf_free(&b);
	}
	pool_free(own);
}

/* ---- how long it takes ---- */

static void
latencies(void **state)
{
	static const struct { const char *text; unsigned latency; } cases[] = {
		{"movq %rax, %rbx", 0}, {"movl $1, %eax", 0}, {"addq %rax, %rbx", 1}, {"leaq 8(%rax,%rbx), %rcx", 1},
		{"imulq %rax, %rbx", 3},
		{"movq (%rax), %rbx", 5}, {"movzwl (%rax), %ebx", 5}, {"movslq (%rax), %rbx", 5}, {"imulq $3, (%rax), %rbx", 8},
		/* the register may be the last to be known, and then memory has been read already */
		{"addq (%rax), %rbx", 1}, {"imulq (%rax), %rbx", 3}, {"cmovne (%rax), %rbx", 1}, {"addq %rbx, (%rax)", 1},
		{"popq %rax", 1}, {"lodsq", 1}, {"cmpq (%rax), %rbx", 1},
	};
	struct pool *own = pool_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = {0};
		struct object *o = assemble_object(own, pool_printf(own, "\t.text\n\t%s\n", cases[i].text), &b);
		const struct obj_section *text = section_of(o, ".text");
		struct insn in;

		assert_true(machine_of_host()->decode(text->data, text->size, 0, &in));
		if (in.latency != cases[i].latency)
			fail_msg("%s: %u", cases[i].text, in.latency);
		object_free(o);
		buf_free(&b);
	}
	pool_free(own);
}

/* ---- code that the machine writes ---- */

/* For every live: what is written assembles, counts by exactly n at the counter, and leaves the stack pointer as it was. */
static void
additions(void **state)
{
	static const int32_t by[] = {1, 2, -1, 127, 128, INT32_MAX, INT32_MIN};
	const struct machine *m = machine_of_host();
	struct pool *own = pool_new();

	(void)state;
	for (unsigned kind = 0; kind < 32; kind++)
		for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
			/* The frame may be found by rax. */
			struct liveness live = {.flags_live = (uint8_t)(kind & 1 ? ALL : kind & 2 ? CF : 0),
				.no_stack = kind & 4, .frame_regs = (uint16_t)(kind >> 4),
				.regs_live = (uint16_t)(kind & 8 ? 0xffff : 0x0010 | kind >> 4)};
			struct buf b = {0}, made = {0};
			const struct obj_section *text;
			struct object *o;
			int64_t sum = 0, sp = 0;
			uint32_t adds = 0;

			if (m->price(live) < 0) {
				/* Flags and all registers are live, and the stack must not be used. */
				assert_true(live.no_stack && live.flags_live && (live.regs_live == 0xffff || live.frame_regs));
				continue;
			}
			buf_str(&b, "\t.text\ncounters:\n\t.zero 64\nf:\n");
			m->add(&b, "counters", 16, by[i], 0, live);
			buf_str(&b, "\n");
			buf_char(&b, '\0');
			o = assemble_object(own, b.at, &made);
			text = section_of(o, ".text");
			for (uint64_t off = 64; off < text->size;) {
				struct woven_insn in;

				assert_true(m->woven(text->data + off, text->size - off, 0x1000 + off, NULL, &in));
				if (in.counter) {
					assert_true(in.counter == 0x1000 + 16);
					sum += in.add;
					adds++;
				}
				sp += in.sp;
				assert_true(sp <= 0 && (!live.no_stack || !sp));
				off += in.len;
			}
			assert_int_equal(adds, 1);
			assert_true(sum == by[i]);
			assert_int_equal(sp, 0);
			object_free(o);
			buf_free(&b);
			buf_free(&made);
		}
	pool_free(own);
}

/* A dearer live is never cheaper. */
static void
prices(void **state)
{
	const struct machine *m = machine_of_host();
	const struct liveness nothing_live = {.regs_live = 1 << 4}, carry = {.flags_live = CF, .regs_live = 1 << 4},
		flags = {.flags_live = ALL, .regs_live = 1 << 4}, all = {.flags_live = ALL, .regs_live = 0xffff};
	struct liveness by_rax = {.flags_live = ALL, .regs_live = 1 << 4 | 1, .frame_regs = 1}, no_stack = all;

	(void)state;
	assert_true(m->price(nothing_live) > 0);
	assert_true(m->price(carry) >= m->price(nothing_live));
	assert_true(m->price(flags) > m->price(carry));
	assert_true(m->price(all) > m->price(flags));
	assert_true(m->price(by_rax) > m->price(all));
	no_stack.no_stack = by_rax.no_stack = true;
	assert_true(m->price(no_stack) < 0 && m->price(by_rax) < 0);
}

/* ---- registers, by several names and numbers ---- */

static void
columns(void **state)
{
	/* The System V ABI for x86-64, figure 3.36: DWARF has rdx before rcx. */
	static const struct { const char *name; int column, number; } cases[] = {
		{"%rax", 0, 0}, {"rdx", 1, 2}, {"%rcx", 2, 1}, {"%rbx", 3, 3}, {"%rsi", 4, 6}, {"%rdi", 5, 7}, {"rbp", 6, 5},
		{"%rsp", 7, 4}, {"%r8", 8, 8}, {"%r15", 15, 15}, {"6", 6, 5},
	};
	const struct machine_unwind *u = machine_of_host()->unwind;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(u->column(str_of(cases[i].name)), cases[i].column);
		assert_int_equal(u->general((unsigned)cases[i].column), cases[i].number);
	}
	assert_int_equal(u->general(16), -1);
	assert_int_equal(u->column(STR("%nothing")), -1);
	assert_true(u->sp == 7 && u->ra == 16 && u->entry == 8 && u->pushed);
}

static bool
same_access(const struct access *a, const struct access *b)
{
	return a->how == b->how && a->segment == b->segment && a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->narrow == b->narrow && a->pc == b->pc && a->count == b->count && a->unknown == b->unknown &&
	       a->atomic == b->atomic && a->bytes == b->bytes && a->disp == b->disp;
}

/* What one that was decoded before is said to do is what it is said to do when it is decoded now: any bytes, many more than a cache
 * has room for, each kind cut off, too, and all a second time. */
static void
decoded_before(void **state)
{
	enum { KINDS = 5000 };
	const struct machine *machine = machine_of_host();
	struct insn_cache *cache = machine->insn_cache();
	unsigned found = 0;

	(void)state;
	for (unsigned i = 0; i < 3 * KINDS; i++) {
		uint64_t x = (i % KINDS + 1) * 0x9e3779b97f4a7c15, y = x * 0xc2b2ae3d27d4eb4f;
		size_t size = i % 3 ? 16 : 1 + x % 5;
		struct access now[ACCESSES_MOST], then[ACCESSES_MOST];
		struct reg_values r = {.known = 0xffff}, s;
		uint8_t code[16];
		unsigned n;

		memcpy(code, &x, 8);
		memcpy(code + 8, &y, 8);
		for (unsigned k = 0; k < REG_VALUES; k++)
			r.v[k] = k << 20;
		s = r;
		n = machine->accesses(NULL, code, size, now);
		assert_int_equal(machine->accesses(cache, code, size, then), n);
		for (unsigned k = 0; k < n; k++)
			assert_true(same_access(&now[k], &then[k]));
		machine->compute(NULL, code, size, 0x400000, &r);
		machine->compute(cache, code, size, 0x400000, &s);
		assert_memory_equal(&r, &s, sizeof r);
		found += n;
	}
	assert_true(found > KINDS);
	free(cache);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoded_before),
		cmocka_unit_test(transactions),
		cmocka_unit_test(by_the_manual),
		cmocka_unit_test(by_the_processor),
		cmocka_unit_test(control),
		cmocka_unit_test(latencies),
		cmocka_unit_test(additions),
		cmocka_unit_test(prices),
		cmocka_unit_test(columns),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
