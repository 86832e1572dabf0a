/* SPDX-License-Identifier: MIT */
/* gas SEED: writes a random program in the assembler's language, as people write it by hand, to standard output; gas-main.c calls
 * its f0. What the program does is the same in every run, and it ends. The directives around the instructions are chosen at random,
 * and a few texts are wrong. The same seed gives the same text. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint64_t state;
static FILE *to;
static struct procedure procs[8];
static int nproc;
static int labels, macros, names, sets;
static long cost;
static bool wild;         /* what Chord may refuse: places by number, data in code */
static bool sized;        /* all procedures have types, and may have sizes: those of a text are right, or there are none */
static bool sub;          /* a procedure is not as long as its label and .size say */
static int wrong;         /* one statement in so many is wrong; 0: none is */

static const char *const counter[] = {"8", "9", "10", "11"};

static unsigned
below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((state >> 33) % n);
}

static bool
one_in(unsigned n)
{
	return !below(n);
}

static char *
text(const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	return s;
}

#define PICK(...) ((const char *const[]){__VA_ARGS__}[below(sizeof (const char *const[]){__VA_ARGS__} / sizeof(char *))])

/* ---- lines ---- */

static bool begun; /* this line has something already */

/* A line, or several, of its own. */
static void
raw(const char *fmt, ...)
{
	va_list ap;

	if (begun)
		fputc('\n', to);
	begun = false;
	va_start(ap, fmt);
	vfprintf(to, fmt, ap);
	va_end(ap);
	fputc('\n', to);
}

/* The name of an instruction or directive in other letters, and the blanks behind it. */
static void
disguise(const char *s)
{
	size_t n = strcspn(s, " ");
	bool upper = one_in(12);

	for (size_t i = 0; i < n; i++)
		fputc(upper && s[i] >= 'a' && s[i] <= 'z' ? s[i] - 32 : s[i], to);
	if (s[n] && one_in(6))
		fputs(PICK("\t", "  ", " \t ", "   "), to), n++;
	fputs(s + n, to);
}

/* A statement, with what may be around it. */
static void
line(const char *fmt, ...)
{
	char *s;
	unsigned after = below(16);
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (one_in(16))
		raw("%s", PICK("// it's \"", "/ 'tis", "# 12 \"other.c\"", "/* two\nlines; */", "# \" unclosed", "#APP", "",
			"\t;;", "\t/*\"*/ # ; '",
			"#", "#NO APP"));
	fputs(PICK("\t", "\t", "\t", "", "  ", "\t \t", "/* a */ "), to);
	disguise(s);
	switch (after) {
	case 0: fputs("\t# it's; \"\n", to); break;
	case 1: fputs(" /* ' */\n", to); break;
	case 2: fputs(" ; ", to); break;
	case 3: fputs(";\n", to); break;
	case 4: fputs(" /* over\n * two */\n", to); break;
	case 5: fputs("  \t\n", to); break;
	default: fputc('\n', to);
	}
	begun = after == 2;
	free(s);
}

static void
label(const char *name)
{
	fprintf(to, "%s%s", name, *name == '"' ? ":" : PICK(":", ":", ":", " :", ":\t", "\t:"));
	begun = one_in(2);
	fputs(begun ? PICK(" ", "\t", " /* here */ ", "; ") : PICK("\n", "\n\n", " # here\n"), to);
}

static void
say(const struct place *p, const char *att, const char *intel)
{
	line("%s", p->intel ? intel : att);
	cost += p->times;
}

/* A number in one of the ways to write it. */
static char *
number(long n)
{
	switch (below(9)) {
	case 0: return text("0x%lx", n);
	case 1: return text("0%lo", n);
	case 2: return text("(%ld+%ld)", n - 1, 1l);
	case 3: return text("%ld*1", n);
	case 4: return text("0X%lX", n);
	case 5: return n == ';' ? text("';") : n == '#' ? text("'#") : n == '"' ? text("'\"") : n == '\'' ? text("'''") :
		n > 64 && n < 91 ? text("'%c", (int)n) : text("%ld", n);
	case 6: return text("~~%ld", n);
	case 7: return text("1&&%ld+0", n);
	default: return text("%ld", n);
	}
}

/* ---- instructions that compute ---- */

static void
compute(const struct place *p)
{
	int k = ++labels;
	const char *n = p->arg && one_in(2) ? p->arg : one_in(2) ? text("%u", 1 + below(100)) :
		number((long[]){';', '#', '"', '\'', 'A', 'Z', 1 + below(100)}[below(7)]);

	if (strstr(n, "&&"))
		n = "7";
	switch (below(24)) {
	case 14: /* the carry goes over jumps */
		say(p, "stc", "stc");
		say(p, text("jmp %df", k), text("jmp %df", k));
		raw("%d:", k);
		say(p, "adcq $3, %rax", "adc rax, 3");
		break;
	case 15: /* below the stack pointer */
		say(p, "movq %rax, -16(%rsp)", "mov [rsp-16], rax");
		say(p, text("testb $1, %%al\n\tjz %df", k), text("test al, 1\n\tjz %df", k));
		say(p, "incq var(%rip)", "inc qword ptr var[rip]");
		raw("%d:", k);
		say(p, "addq -16(%rsp), %rax", "add rax, [rsp-16]");
		break;
	case 16: /* prefixes and encodings */
		say(p, PICK("{disp32} addq 0(%rsp), %rdx", "data16 nop", "rex nop", "addq.s %rdi, %rax",
			"{load} mov %rdi, %rdx", "ds addq var(%rip), %rax",
			".byte 0xf0; incq var(%rip)", "lock; incq var(%rip)", "lock\n\t.loc 1 5\n\tincq var(%rip)",
				"lock # x\n\n /* y */ incq var(%rip)",
			"notq %rax; notq %rax", "endbr64", "fs nop", "addr32 leaq 1(%edi), %rdx",
				".byte 0x48; .byte 1; .byte 0xf8"),
			PICK("{disp32} add rdx, [rsp]", "lock; inc qword ptr var[rip]", "lock inc QWORD PTR [rip+var]",
				"mov rdx, offset var - var", "endbr64",
			"lea rdx, [rip+var]", "add rax, [rip + var]", "add rax, ds:var[rip]", "imul rax, rdi, 3",
				"mov edx, 'A'", "add rax, 1 shl 3"));
		break;
	case 17: say(p, text("%s $'%s, %%dl", PICK("movb", "cmpb", "testb"), PICK("#", ";", "\"", "'", "\\'", "\\\\", "/",
		"a'", ";'", ":", "{", " ", "*")), "mov dl, 35"); break;
	case 18:
		say(p, "pushq %rdi", "push rdi"), say(p, "leaq area(%rip), %rdi", "lea rdi, area[rip]"), say(p, "pushq %rcx",
			"push rcx"), say(p, "movl $3, %ecx", "mov ecx, 3");
		say(p, PICK("rep stosb", "rep; stosb", "rep\n\tstosb", "repe scasb", "repnz\tscasb", ".byte 0xf3; stosb"),
			PICK("rep stosb", "repe scasb", "rep; stosb"));
		say(p, "popq %rcx", "pop rcx"), say(p, "popq %rdi", "pop rdi");
		break;
	case 19: say(p, "movq %rax, %r11", "mov r11, rax"), say(p, text("xorl %%edx, %%edx\n\ttestb $2, %%dil\n\tje %df", k),
		text("xor edx, edx\n\ttest dil, 2\n\tje %df", labels)),
		say(p, "incq %rdx", "inc rdx"), raw("%d:", k), say(p, "addq %r11, %rax", "add rax, r11"); break;
	case 20: if (p->loops < 3) raw("count%d = %%r11", p->again ? 0 : ++names), say(p, "movl $2, %r11d", "mov r11d, 2"),
		raw("%d:", k), say(p, "incq %rax", "inc rax"),
			say(p, text("decq count%d", p->again ? 0 : names), text("dec count%d", p->again ? 0 : names)), say(p,
				text("jnz %db", labels), text("jnz %db", k)); break;
	case 0: case 1: case 2: say(p, text("addq $%s, %%rax", n), text("add rax, %s", n)); break;
	case 3: say(p, text("xorq $%s, %%rax", n), text("xor rax, %s", n)); break;
	case 4: say(p, text("leaq 3(%%rax,%%rdi), %%rax"), text("lea rax, [rax+rdi+3]")); break;
	case 5: say(p, "rolq $7, %rax", "rol rax, 7"); break;
	case 6: say(p, "addq var(%rip), %rax", "add rax, var[rip]"); break;
	case 7: say(p, "incq var(%rip)", "inc qword ptr var[rip]"); break;
	case 8: say(p, "addq %rdi, %rax", "add rax, rdi"); break;
	case 9:
		line(PICK("lock", "lock", "LOCK")), say(p, "incq var(%rip)", "inc qword ptr var[rip]");
		break;
	case 10: /* flags that live over what follows */
		say(p, "cmpq $40, %rax", "cmp rax, 40");
		say(p, PICK("movl $5, %edx", "leaq 1(%rdx), %rdx", "nop"), PICK("mov edx, 5", "nop"));
		say(p, "adcq $0, %rax", "adc rax, 0");
		break;
	case 11: /* written as bytes */
		cost += p->times;
		line("%s", PICK(".byte 0x48,0x01,0xf8", ".byte 0x48\n\t.byte 1, 0xf8", ".byte 0x90", ".ascii \"\\220\"",
			".word 0x9090", ".long 0x90909090",
			".byte 0x48, 0xff, 0300", ".fill 3, 1, 0x90", ".skip 2, 0x90", ".nops 5", ".rept 2; nop; .endr",
				".2byte 0x9066",
			".ascii \"H\\001\\370\""));
		break;
	case 12:
		raw("\t%s", PICK(".p2align 4", ".balign 8", ".align 16", ".p2align 4,,10", ".p2align 4,0x90", ".p2align 3;nop"));
		break;
	default: say(p, "movq %rax, %rdx", "mov rdx, rax"), say(p, "imulq $5, %rdx, %rax", "imul rax, rdx, 5");
	}
}

/* ---- labels ---- */

struct way {
	char *at, *to, *back;
};

static struct way
new_label(const struct place *p)
{
	struct way w;
	int n = ++labels;

	if (p->macro && one_in(2)) {
		w.at = text(PICK(".L%d_\\@", "in%d_\\@", ".Lm%d\\()_\\@"), n);
		w.to = w.back = w.at;
	} else if (p->again || one_in(3)) {
		w = (struct way){text("%d", n), text("%df", n), text("%db", n)};
	} else {
		w.at = text(PICK(".L%d", ".L%d", ".L%d", "here.%d", "a$%d", "\xc3\xa9t\xc3\xa9%d", "\"q%d\"", "_%d",
			"\"two words%d\"", ".Lx$%d.y"), n);
		w.to = w.back = w.at;
	}
	return w;
}

static void statements(struct place p, int n);
static void statement(const struct place *p);

static struct place
inside(const struct place *p)
{
	struct place q = *p;

	q.depth++;
	return q;
}

/* ---- control ---- */

static const char *const conditions[] = {"je", "jne", "jc", "jnc", "js", "jns", "jz", "jnz", "jb", "jae", "jp", "jnp"};

static void
test(const struct place *p)
{
	unsigned n = 1 + below(30);

	if (one_in(2))
		say(p, text("testb $%u, %%al", n), text("test al, %u", n));
	else
		say(p, text("cmpb $%u, %%dil", below(10)), text("cmp dil, %u", below(10)));
}

static void
branch(const struct place *p)
{
	struct way w = new_label(p), x = new_label(p);
	const char *jump = conditions[below(12)];

	test(p);
	say(p, text("%s %s", jump, w.to), text("%s %s", jump, w.to));
	statements(inside(p), 2);
	if (one_in(2)) {
		say(p, text("jmp %s", x.to), text("jmp %s", x.to));
		label(w.at);
		statements(inside(p), 2);
		label(x.at);
	} else {
		label(w.at);
	}
}

static void
loop(const struct place *p)
{
	struct way w = new_label(p), x = new_label(p);
	struct place q = inside(p);
	unsigned n = 1 + below(4);
	const char *r = counter[p->loops];
	bool wide = one_in(3) && !p->loops;

	q.loops++;
	q.times *= n;
	if (wide) { /* rcx itself */
		say(p, text("movl $%u, %%ecx", n), text("mov ecx, %u", n));
		label(w.at);
		compute(&q);
		if (one_in(2))
			statements((struct place){.depth = 5, .times = q.times, .intel = q.intel, .macro = q.macro,
				.again = q.again, .loops = 3}, 1);
		if (one_in(2)) {
			say(&q, text("loop %s", w.back), text("loop %s", w.back));
		} else {
			say(&q, "decq %rcx", "dec rcx");
			say(&q, text("%s %s", "jrcxz", x.to), text("jrcxz %s", x.to));
			say(&q, text("jmp %s", w.back), text("jmp %s", w.back));
			label(x.at);
		}
		return;
	}
	say(p, text("movl $%u, %%r%sd", n, r), text("mov r%sd, %u", r, n));
	label(w.at);
	statements(q, 2);
	say(&q, text("decl %%r%sd", r), text("dec r%sd", r));
	say(&q, text("jnz %s", w.back), text("jnz %s", w.back));
}

static void
around_call(const struct place *p, bool before)
{
	if (!before)
		for (int i = p->loops; i-- > 0;)
			say(p, text("popq %%r%s", counter[i]), text("pop r%s", counter[i]));
	else
		say(p, "pushq %rdi", "push rdi");
	if (before)
		for (int i = 0; i < p->loops; i++)
			say(p, text("pushq %%r%s", counter[i]), text("push r%s", counter[i]));
	else
		say(p, "popq %rdi", "pop rdi");
}

static void
call(const struct place *p)
{
	int i = nproc ? (int)below((unsigned)nproc) : -1;
	const char *name = i < 0 ? "" : procs[i].name;

	if (i < 0 || procs[i].cost * p->times > MOST || p->depth >= 5) {
		compute(p);
		return;
	}
	around_call(p, true);
	cost += procs[i].cost * p->times;
	say(p, "movq %rax, %rdi", "mov rdi, rax");
	switch (below(8)) {
	case 0:
		say(p, text("leaq %s(%%rip), %%rdx", name), text("lea rdx, %s[rip]", name));
		say(p, "call *%rdx", "call rdx");
		break;
	case 1:
		raw("\t.pushsection .data.rel.ro,\"aw\"\n\t.balign 8\n%d:\t.quad %s\n\t.popsection", labels + 1, name);
		say(p, text("call *%db(%%rip)", labels + 1), text("call qword ptr %db[rip]", labels + 1));
		labels++;
		break;
	case 2:
		if (!p->again) {
			raw("\t%s", text(PICK(".set alias%d, %s", "alias%d = %s", ".equ alias%d, %s", ".equiv alias%d, %s",
				".weakref alias%d, %s", "alias%d == %s"),
				++names, name));
			say(p, text("call alias%d", names), text("call alias%d", names));
			break;
		}
		/* fall through */
	default: say(p, text("call %s", name), text("call %s", name));
	}
	around_call(p, false);
}

/* ---- jump tables ---- */

static void
table(const char *base, const char *stem, unsigned n, const char *word)
{
	const char *minus = base ? text(PICK("-%s", " - %s", "-%s+0", "-(%s)", "+4-%s-4", "-%s # ;"), base) : PICK("", "",
		"+0", " /* ; */");
	int k = ++macros;

	switch (below(6)) {
	case 0:
		raw("\t.irp i,%s\n\t%s %s\\i\\()%s\n\t.endr", n == 4 ? "0,1,2,3" : n == 3 ? "0,1,2" : "0,1", word, stem, minus);
		return;
	case 1:
		raw("\t.irpc i,%s\n\t%s %s\\i%s\n\t.endr", n == 4 ? "0123" : n == 3 ? "012" : "01", word, stem, minus);
		return;
	case 2:
		raw("\t.macro entry%d n\n\t%s %s\\n%s\n\t.endm", k, word, stem, minus);
		for (unsigned i = 0; i < n; i++)
			line("entry%d %u", k, i);
		return;
	case 3:
		raw("\t.macro list%d first, more:vararg\n\t%s %s\\first%s"
			"\n\t.ifnb \\more\n\tlist%d \\more\n\t.endif\n\t.endm", k, word, stem, minus, k);
		line("list%d %s", k, n == 4 ? "0,1,2,3" : n == 3 ? "0,1,2" : "0,1");
		return;
	case 4:
		raw("\t.altmacro\n\t.macro one%d n\n\t%s %s\\n%s"
			"\n\t.endm\n\t.set i%d, 0\n\t.rept %u\n\tone%d %%i%d\n\t.set i%d, i%d+1\n\t.endr\n\t.noaltmacro",
			k, word, stem, minus, k, n, k, k, k, k);
		return;
	default:
		for (unsigned i = 0; i < n; i++)
			line("%s %s%u%s", word, stem, i, minus);
	}
}

static void
choice(const struct place *p)
{
	int k = ++labels;
	unsigned n = 2 + below(3);
	bool far = one_in(2), narrow = wild && one_in(4), in_text = one_in(5) || (far && narrow), direct = !far && one_in(3);
	char *base = text(".Ltab%d", k), *stem = text(PICK(".Lcase%d_", "case%d.", ".Lc%d$"), k);

	say(p, "movl %eax, %esi", "mov esi, eax");
	say(p, n == 4 ? "andl $3, %esi" : "andl $1, %esi", n == 4 ? "and esi, 3" : "and esi, 1");
	say(p, text("leaq %s(%%rip), %%rdx", base), text("lea rdx, %s[rip]", base));
	if (far && narrow) {
		say(p, "movzwl (%rdx,%rsi,2), %esi", "movzx esi, word ptr [rdx+rsi*2]");
		say(p, "addq %rdx, %rsi", "add rsi, rdx");
		say(p, "jmp *%rsi", "jmp rsi");
	} else if (far) {
		say(p, "movslq (%rdx,%rsi,4), %rsi", "movsxd rsi, dword ptr [rdx+rsi*4]");
		say(p, "addq %rdx, %rsi", "add rsi, rdx");
		say(p, "jmp *%rsi", "jmp rsi");
	} else if (direct) {
		say(p, "jmp *(%rdx,%rsi,8)", "jmp qword ptr [rdx+rsi*8]");
	} else {
		say(p, "movq (%rdx,%rsi,8), %rdx", "mov rdx, qword ptr [rdx+rsi*8]");
		say(p, one_in(4) ? "notrack jmp *%rdx" : "jmp *%rdx", "jmp rdx");
	}
	if (!in_text)
		raw("%s", far ? "\t.pushsection .rodata" : "\t.pushsection .data.rel.ro,\"aw\"");
	raw("\t.balign 8");
	label(base);
	table(far ? base : NULL, stem, n, far && narrow ? ".word" : far ? PICK(".long", ".int", ".4byte", ".LONG",
		".dc.l") : PICK(".quad", ".8byte"));
	if (!in_text)
		raw("\t.popsection");
	for (unsigned i = 0; i < n; i++) {
		label(text("%s%u", stem, i));
		statements(inside(p), 1);
		if (one_in(2) || i == n - 1)
			say(p, text("jmp .Lend%d", k), text("jmp .Lend%d", k));
	}
	label(text(".Lend%d", k));
}

/* ---- conditions ---- */

/* The head of a condition that is what is wanted. */
static void
head(bool yes, bool again)
{
	int k = ++sets;

	switch (below(16)) {
	case 0: raw("\t.set s%d, %d", k, yes), raw("\t.if s%d == 1", k); break;
	case 1: raw("\t.ifdef %s", yes ? "var" : "undefined_here"); break;
	case 2: raw("\t.ifndef %s", yes ? "undefined_here" : "var"); break;
	case 3: raw("\t.ifc %s,a", yes ? "a" : "b"); break;
	case 4: raw("\t.ifnc a b,%s", yes ? "a c" : "a b"); break;
	case 5: raw("\t.ifb %s", yes ? "" : "x"); break;
	case 6: raw("\t.ifnb %s", yes ? "x" : ""); break;
	case 7: raw("\t.ifeq 4-%d", yes ? 4 : 3); break;
	case 8: raw("\t.ifeqs \"a;b\",%s", yes ? "\"a;b\"" : "\"a\""); break;
	case 9: raw("\t.ifgt %d-2", yes ? 3 : 1); break;
	case 10: raw("\t.IF (2*3 %s 6) && !0", yes ? "==" : "!="); break;
	case 11: raw("\tt%d = %d\n\t.ifne t%d", again ? 0 : k, yes, again ? 0 : k); break;
	case 12: raw("\t.equ u, 5 ; .if u %s 4", yes ? ">" : "<"); break;
	case 13: raw("\t.iflt %d", yes ? -1 : 1); break;
	case 14: raw("\t.if '%c' == 'a'", yes ? 'a' : 'b'); break;
	default: raw("\t.if %d # .endif", yes); break;
	}
}

/* What the assembler passes over. */
static void
passed_over(const struct place *p)
{
	switch (below(14)) {
	case 0: raw("\tthis isn't an instruction"); break;
	case 1: if (!p->again || one_in(8)) raw("\t.end"); break;
	case 2: raw("\t.macro unused%d\n\t.endm", ++macros); break;
	case 3: if (wild && one_in(5)) raw("\t.intel_syntax noprefix"); break;
	case 4: raw("\t.data"); break;
	case 5: raw("\t.section .rodata\n\t.previous"); break;
	case 6: raw("\t.include \"no such file\""); break;
	case 7: raw("\t.error \"not here\""); break;
	case 8: raw("\t.if 1\n\t.else\n\tjmp nowhere\n\t.endif"); break;
	case 9: raw("f0:\tret"); break;
	case 10: raw("\t.rept 100\n\tud2\n\t.endr"); break;
	case 11: raw("\t.popsection"); break;
	case 12: if (wild && one_in(5)) raw("\t.code32"); break;
	default: statements(inside(p), 1);
	}
}

static void
condition(const struct place *p)
{
	bool yes = one_in(2);
	long kept;

	head(yes, p->again);
	for (int arm = 0; arm < 2; arm++) {
		kept = cost;
		if (yes == !arm) {
			statements(inside(p), 2);
		} else {
			passed_over(p);
			cost = kept;
		}
		if (arm)
			break;
		if (!yes && one_in(3))
			raw("\t.elseif %s", PICK("1", "u5 == 5 || 1", "2 > 1"));
		else
			raw(one_in(8) ? "\t.ELSE" : "\t.else");
	}
	raw("\t%s", PICK(".endif", ".endif", ".endif # it's", ".ENDIF", ".endif;"));
}

/* ---- what repeats text ---- */

static void
repeat(const struct place *p)
{
	struct place q = inside(p);
	unsigned n = below(4);
	long before;

	q.again = true;
	q.macro = false;
	switch (below(4)) {
	case 0: raw("\t.rept %u", n); break;
	case 1: raw("\t.irp n%d,%s", p->depth, PICK("1,2,3", "1 2 3", " 5 , 6,7")), n = 3; break;
	case 2: raw("\t.irpc n%d,%s", p->depth, PICK("123", "987")), n = 3; break;
	default: raw("\t.rept %u+%u # ;", n, 1), n++;
	}
	before = cost;
	if (n == 3 && one_in(2))
		raw("\t%s", p->intel ? "add rax, 7" : "addq $7, %rax");
	statements(q, 2);
	cost = before + (cost - before) * (long)n;
	raw("\t%s", PICK(".endr", ".endr", ".ENDR", ".endr # x"));
}

static void
use_macro(const struct place *p)
{
	struct place q = inside(p);
	int k = ++macros;
	unsigned n = 1 + below(3);
	const char *name = text(PICK("m%d", "M%d", ".m%d", "m_%d", "do.it%d", "mAc%d"), k);
	long before = cost;

	q.again = q.macro = true;
	switch (below(9)) {
	case 0:
		raw("\t.macro %s", name);
		statements(q, 2);
		raw("\t.endm");
		for (unsigned i = 0; i < n; i++)
			line("%s", name);
		break;
	case 1:
		q.arg = "\\n";
		raw("\t.macro %s n=%u", name, below(50));
		statements(q, 2);
		raw("\t.endm");
		for (unsigned i = 0; i < n; i++)
			line("%s %s", name, PICK("", "5", "n=7", "(1+2)", "0x1f"));
		break;
	case 2: /* of itself */
		raw("\t.macro %s n\n\t%s\n\t.if \\n\n\t%s \"(\\n-1)\"\n\t.endif\n\t.endm", name,
			p->intel ? "add rax, \\n" : "addq $\\n, %rax", name);
		line("%s %u", name, below(5));
		break;
	case 3: /* left early */
		raw("\t.macro %s a, b\n\t.ifb \\b\n\t%s\n\t.exitm\n\t.endif", name, p->intel ? "add rax, \\a" : "addq $\\a, %rax");
		statements(q, 2);
		raw("\t.endm");
		line("%s 4", name), line("%s 4, 5", name);
		break;
	case 4: /* defined anew */
		raw("\t.macro %s\n\t%s\n\t.endm", name, p->intel ? "inc rax" : "incq %rax");
		line("%s", name);
		raw("\t.purgem %s\n\t.macro %s x:req\n\t%s\n\t.endm", name, name, p->intel ? "add rax, \\x" : "addq $\\x, %rax");
		line("%s 9", name);
		break;
	case 5: /* made by another */
		raw("\t.macro make%d name, n\n\t.macro \\name\n\t%s\n\t.endm\n\t.endm", k,
			p->intel ? "add rax, \\n" : "addq $\\n, %rax");
		line("make%d %s, 6", k, name);
		line("%s", name);
		break;
	case 6: /* local names */
		raw("\t.altmacro\n\t.macro %s n\n\tLOCAL over, again\n\t%s\n\tjz over\n\t%s\nover:\n\t.endm", name,
			p->intel ? "test al, \\n" : "testb $\\n, %al",
			p->intel ? "dec rax" : "decq %rax");
		for (unsigned i = 0; i < n; i++)
			line("%s %s", name, PICK("5", "%1+2", "<4>"));
		raw("\t.noaltmacro");
		break;
	case 7: /* whole statements as arguments */
		raw("\t.macro %s what:vararg\n\t\\what\n\t.endm", name);
		line("%s %s", name, p->intel ? "add rax, 5" : "addq $5, %rax");
		line("%s %s", name, p->intel ? "inc rax" : "incq %rax");
		break;
	default: /* a name made of pieces */
		raw("\t.macro %s op, n\n\t\\op\\()%s\n\t.endm", name, p->intel ? "\trax, \\n" : "q $\\n, %rax");
		line("%s add, 3", name);
		line("%s op=xor n=5", name);
	}
	cost += (cost - before) * n + 20 * p->times;
}

/* ---- other directives ---- */

static void
elsewhere(const struct place *p)
{
	struct way w = new_label(p), x = new_label(p);
	const char *back = ".popsection";

	if (p->again || one_in(2)) { /* data elsewhere, or nothing at all */
		raw("\t%s", PICK(".pushsection .rodata; .byte 1,2,3 ; .popsection", ".pushsection .text ; .popsection",
			".data; .byte 1 ; .previous",
			".pushsection .rodata.str,\"aMS\",@progbits,1\n\t.string \"a;b#c/*\\\"\\\\\"\n\t.popsection",
				".section .data.x,\"aw\" ; .quad 5\n\t.previous",
			".pushsection .note.x,\"\",@note ; .long 1 ; .popsection"));
		return;
	}
	/* a cold piece that comes back */
	x = (struct way){text(".Lx%d", labels), text(".Lx%d", labels), text(".Lx%d", labels)};
	w = (struct way){text("w%d", labels), text("w%d", labels), text("w%d", labels)};
	test(p);
	say(p, text("je %s", w.to), text("je %s", w.to));
	if (one_in(3))
		raw("\t%s", PICK(".subsection 1", ".section .text.cold,\"ax\"")), back = ".previous", sub = true;
	else
		raw("\t.pushsection %s", PICK(".text.unlikely,\"ax\",@progbits", "\".text.odd\",\"ax\"", ".fixup,\"ax\"",
			"\".text.ab\",\"ax\"", ".text,2", ".text,1"));
	label(w.at);
	compute(p);
	say(p, text("jmp %s", x.to), text("jmp %s", x.to));
	raw("\t%s", back);
	label(x.at);
}

static void
odd(const struct place *p)
{
	int k = ++labels;

	switch (below(wild && one_in(3) ? 22 : 10)) {
	case 2: if (!p->again) { /* another entry */
			raw("\t.globl entry%d\nentry%d:", k, k);
			if (one_in(2))
				raw("\t.type entry%d,@function", k), sub = true;
		} break;
	case 0: raw("\t.set n%d, %u\n\t.set n%d, n%d+1", k, below(20), k, k), say(p, text("addq $n%d, %%rax", k),
		text("add rax, n%d", k)); break;
	case 1: if (!p->again) say(p, text("jmp here%d", k), text("jmp here%d", k)), raw("%s", text(PICK("\tnop\nhere%d = .",
		"\tnop\n\t.set here%d, .", "here%d: there%d:", "\t.p2align 3\nhere%d:", "\"here%d\":"), k, k)); break;
	case 3: raw("\t.loc 1 %u", 1 + below(40)); break;
	case 4: raw("\t.size var, 8"); break;
	case 5: raw("\t%s", PICK(".ident \"x'\"", ".globl nothing", ".weak nothing", ".p2align 0", ".fill 0", ".skip 0",
		".byte", ".list", ".nolist",
		".sleb128", ".psize 0", ".eject", ".title \"t;\"", ".equ a9,1", ".file \"x y.c\"", ".nop", ".line 5")); break;
	case 6: say(p, "jmp 0f", "jmp 0f"), raw("\t%s", PICK(".ascii \"data; # \\\"here\"", ".string \"x\"", ".quad 0",
		".byte 0xcc", ".asciz \"a\",\"b\"",
			".long 0xffffffff", ".zero 9", ".octa 1", ".double 1.5", ".byte 0x90")), label("0"); break;
	case 7: if (one_in(9)) raw("\t.print \"said\""); break;
	case 8: say(p, "movq %rsp, %rdx", "mov rdx, rsp"), say(p, "movq %rdx, %rsp", "mov rsp, rdx"); break;
	case 9: say(p, "rep; nop", "rep; nop"); break;
	/* Places that are counted in bytes. */
	case 10: say(p, "jmp .+4", "jmp $+4"), line("nop; nop"); break;
	case 11: raw("\t.byte 0xeb, 2f-1f\n1:\tnop\n2:"); break;
	case 12: say(p, "jmp 1f+1", "jmp 1f+1"), raw("1:\tnop"); break;
	case 13: say(p, "leaq 1f(%rip), %rdx", "lea rdx, 1f[rip]"), say(p, "jmp *%rdx", "jmp rdx"), raw("1:"); break;
	case 14: say(p, "leaq 1f+2(%rip), %rdx", "lea rdx, 1f[rip+2]"), say(p, "jmp *%rdx", "jmp rdx"), raw("1:\tnop;nop"); break;
	case 15: say(p, "call 1f", "call 1f"), raw("1:"), say(p, "popq %rdx", "pop rdx"); break;
	case 16: say(p, "leaq 1f(%rip), %rdx", "lea rdx, 1f[rip]"), say(p, "pushq %rdx", "push rdx"), say(p, "ret", "ret"),
		raw("1:"); break;
	case 17: raw("1:\tnop"), raw("2:\t.if 2b-1b > 4"), compute(p), raw("\t.endif"); break;
	case 18: raw("\t.org . + 3, 0x90"); break;
	case 19: raw("1:\tnop\n2:"), say(p, "addq $2b-1b, %rax", "add rax, 2b-1b"); break;
	case 20: raw("1:\t%s", p->intel ? "inc rax" : "incq %rax"), raw("2:\t.rept 2b-1b\n\tnop\n\t.endr"); break;
	default: /* cases of one size, without a table */
		say(p, "movl %eax, %esi", "mov esi, eax"), say(p, "andl $1, %esi", "and esi, 1"), say(p, "shll $4, %esi",
			"shl esi, 4");
		say(p, text("leaq .Ls%d(%%rip), %%rdx", k), text("lea rdx, .Ls%d[rip]", k));
		say(p, "addq %rsi, %rdx", "add rdx, rsi"), say(p, "jmp *%rdx", "jmp rdx");
		if (p->again)
			break;
		raw("\t.p2align 4\n.Ls%d:", k), say(p, text("addq $5, %%rax"), "add rax, 5"), raw("\t.p2align 4"), compute(p);
	}
}

/* Control that macros, .rept and definitions of names make, or that goes to another procedure's middle. */
static void
shape(const struct place *p)
{
	int k = ++labels;
	unsigned n = below(4);
	const char *plus = p->intel ? "add rax, 11" : "addq $11, %rax";

	if (p->again) {
		compute(p);
		return;
	}
	switch (below(9)) {
	case 0: /* a table whose entries stand beside the code */
		raw("\t.macro case%d\n\t.pushsection .data.rel.ro.%d,\"aw\"\n\t.quad 1f\n\t.popsection\n1:\n\t.endm", k, k);
		raw("\t.pushsection .data.rel.ro.%d,\"aw\"\n\t.balign 8\ncases%d:\n\t.popsection", k, k);
		say(p, "movl %eax, %esi\n\tandl $1, %esi", "mov esi, eax\n\tand esi, 1");
		say(p, text("leaq cases%d(%%rip), %%rdx", k), text("lea rdx, cases%d[rip]", k));
		say(p, "jmp *(%rdx,%rsi,8)", "jmp qword ptr [rdx+rsi*8]");
		line("case%d", k), compute(p), line("case%d", k), compute(p);
		break;
	case 1: /* an entry to what is unrolled */
		test(p);
		say(p, text("jz .Lun%d_%u", k, 1 + n), text("jz .Lun%d_%u", k, 1 + n));
		raw("\t.irp n,1,2,3,4\n.Lun%d_\\n:\n\t%s\n\t.endr", k, plus);
		break;
	case 2: /* a name for a place that comes later */
		raw("\t%s", text(PICK(".set to%d, .Lone%d", "to%d = .Lone%d", ".equiv to%d, .Lone%d", ".set to%d, .Lone%d+0"),
			k, k)), test(p);
		say(p, text("jz to%d", k), text("jz to%d", k)), compute(p), raw(".Lone%d:", k);
		break;
	case 3: /* far for loop and jrcxz, with code in between */
		say(p, "movl $3, %ecx", "mov ecx, 3"), raw("%d:\t.fill %u, 1, 0x90", k, 80 + below(40)), test(p);
		say(p, text("jz .Lf%d", k), text("jz .Lf%d", k)), compute(&(struct place){.times = p->times,
			.intel = p->intel, .loops = 3}), raw(".Lf%d:", k);
		say(p, text("loop %db", k), text("loop %db", k));
		break;
	case 4: /* into another procedure, which returns */
		if (nproc && procs[nproc - 1].tail && p->depth < 2)
			test(p), say(p, text("%s tail%d", PICK("jz", "jnz", "js"), nproc - 1), text("jz tail%d", nproc - 1));
		break;
	case 5: /* a call of another procedure's middle */
		if (nproc && procs[nproc - 1].tail)
			say(p, text("call tail%d", nproc - 1), text("call tail%d", nproc - 1));
		break;
	case 6: /* branches in a macro, to places outside of it */
		raw("\t.macro if%d cond, to\n\t%s\n\tj\\cond \\to\n\t.endm", k, p->intel ? "test al, 4" : "testb $4, %al");
		line("if%d z, %df", k, k), compute(p), line("if%d nz, .Lq%d", k, k), raw("%d:", k), compute(p), raw(".Lq%d:", k);
		break;
	case 7: /* a loop that two macros make */
		raw("\t.macro do%d n\n\t%s\n771:\n\t.endm\n\t.macro while%d\n\t%s\n\tjnz 771b\n\t.endm", k,
			p->intel ? "mov esi, \\n" : "movl $\\n, %esi", k, p->intel ? "dec esi" : "decl %esi");
		line("do%d %u", k, 1 + n), compute(&(struct place){.times = p->times * 4, .intel = p->intel, .loops = 3,
			.again = true}), line("while%d", k);
		break;
	default: /* a procedure in one macro, called on the spot */
		if (p->intel)
			break;
		raw("\t.macro proc%d name, n\n\t.pushsection .text.inner,\"ax\""
			"\n\t.type \\name, @function\n\\name:\taddq $\\n, %%rax\n\tjs 2f\n\taddq $1, %%rax\n2:\tret\n"
			"\t.size \\name, .-\\name\n\t.popsection\n\t.endm", k);
		line("proc%d inner%da, 5", k, k), line("proc%d inner%db, 6", k, k);
		say(p, text("call inner%da%s", k, PICK("", "@PLT", "+0")), ""), say(p, text("call inner%db", k), "");
	}
}

static void
other_syntax(const struct place *p)
{
	struct place q = inside(p);

	q.intel = !p->intel;
	raw("\t%s", q.intel ? PICK(".intel_syntax noprefix", ".INTEL_SYNTAX noprefix",
		".intel_syntax\tnoprefix # x") : PICK(".att_syntax", ".att_syntax prefix"));
	statements(q, 2);
	raw("\t%s", p->intel ? ".intel_syntax noprefix" : ".att_syntax");
}

static void
mistake(void)
{
	raw("\t%s", PICK("movq %rax", "nosuch %rax", ".if undefined_yet", ".popsection", ".endif", ".endm",
		".byte 1b-undefined", "jmp 77b", ".macro", "addq $1",
		".rept", ".error \"told\"", ".else", ".if", ".warning \"told\"", ".section", ".include \"nowhere\"", ".org 0",
			"f0:", ".abort", "\"", "movq $'"));
}

static void
statement(const struct place *p)
{
	struct place q = *p;

	if (wrong && one_in((unsigned)wrong))
		mistake();
	if (p->depth >= 5) {
		compute(p);
		return;
	}
	switch (below(24)) {
	case 0: case 1: case 2: branch(p); break;
	case 3: case 4:
		if (p->loops < 3)
			loop(p);
		else
			compute(p);
		break;
	case 5: case 6: call(p); break;
	case 7: if (!p->again) choice(p); else compute(p); break;
	case 8: case 9: condition(p); break;
	case 10: case 11: repeat(p); break;
	case 12: case 13: if (!p->again) use_macro(p); else compute(p); break;
	case 14: elsewhere(p); break;
	case 15: case 16: odd(p); break;
	case 18: shape(p); break;
	case 17: if (!p->again && (!p->depth || one_in(20))) other_syntax(&q); else compute(p); break;
	default: compute(p);
	}
}

static void
statements(struct place p, int n)
{
	for (int i = 0; i < n; i++)
		statement(&p);
}

/* ---- procedures ---- */

static void
procedure(void)
{
	struct procedure *f = &procs[nproc];
	struct place p = {.times = 1};
	FILE *all = to;
	bool cfi = one_in(2), typed = sized || one_in(2), made;

	to = open_memstream(&f->text, &f->size);
	cost = 0;
	sub = false;
	raw("\t%s", PICK(".text", ".text", ".text", ".section .text", ".text 0", ".section .text.hot,\"ax\",@progbits",
		".section \".text\"",
		".section .mine,\"ax\"", ".TEXT", ".text 3", ".section .text.one,\"axG\",@progbits,sig,comdat",
			".section .sdata.code,\"awx\"", ".pushsection .text.pushed,\"ax\"",
		".section .text.u,\"ax\",@progbits,unique,7"));
	if (one_in(3))
		raw("\t.p2align 4");
	if (typed && one_in(2))
		raw("\t.type %s, %s", f->name, PICK("@function", "%function", "STT_FUNC", "\"function\"")), typed = false;
	if (one_in(2) || !strcmp(f->name, "f0"))
		raw("\t.globl %s", f->name);
	made = one_in(6);
	if (made) /* by a macro */
		raw("\t.macro begin%d name:req, type=function\n\t.type \\name, @\\type\n\\name:\n\t.endm\n\tbegin%d %s",
			nproc, nproc, f->name);
	else
		label(f->name);
	if (typed && !made)
		raw("\t.type %s,@function", f->name);
	if (cfi)
		raw("\t.cfi_startproc");
	say(&p, PICK("movq %rdi, %rax", "xorl %eax, %eax", "leaq 5(%rdi), %rax"), "");
	statements(p, 3 + (int)below(5));
	if (one_in(2)) {
		raw("%s%d:", one_in(2) ? text("\t.globl tail%d\ntail", nproc) : "tail", nproc);
		f->tail = true;
		say(&p, "addq $13, %rax", "");
	}
	if (!f->tail && nproc && one_in(8) && procs[below((unsigned)nproc)].cost < MOST)
		line("jmp %s", procs[below((unsigned)nproc)].name), cost += MOST / 2;
	else
		line("%s", PICK("ret", "ret", "retq", "rep; ret", "rep ret", "RET"));
	if (cfi)
		raw("\t.cfi_endproc");
	if (made && one_in(2) && sized && !sub)
		raw("\t.macro end%d name\n\t.size \\name, . - \\name\n\t.endm\n\tend%d %s", nproc, nproc, f->name);
	else if (!one_in(3) && sized && !sub)
		raw("\t.size %s, .-%s", f->name, f->name);
	f->cost = cost + 1;
	fclose(to);
	to = all;
	nproc++;
}

int
main(int argc, char **argv)
{
	int n, order[8];

	state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435761u + 12345 : 1;
	for (int i = 0; i < 8; i++)
		below(2);
	to = stdout;
	n = 1 + (int)below(4);
	wild = one_in(3);
	sized = !one_in(4);
	wrong = one_in(8) ? 30 : 0;
	for (int i = 0; i < n; i++) {
		procs[i].name = i == n - 1 ? text("f0") : text(PICK("f%d", "g.%d", "p$%d", "\xc3\xbc%d", "_h%d", ".k%d",
			"\"q%d\""), i + 1);
		procedure();
	}
	raw("\t.data\narea:\t.zero 8\nvar:\t.quad %u\n\t.file 1 \"x.c\"", below(100));
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = (int)below((unsigned)i + 1), was = order[i];

		order[i] = order[k], order[k] = was;
	}
	for (int i = 0; i < n; i++)
		fputs(procs[order[i]].text, stdout);
	raw("\t.section .note.GNU-stack,\"\",@progbits");
	if (one_in(10))
		raw("\t.end\nrubbish ( behind");
	return 0;
}
