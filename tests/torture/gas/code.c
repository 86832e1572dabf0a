/* SPDX-License-Identifier: MIT */
/* Code: instructions that compute, labels, control flow and jump tables. */
#include "gas.h"

#include <string.h>

static const char *const counter[] = {"8", "9", "10", "11"};

/* ---- instructions that compute ---- */

/* An instruction in both syntaxes. */
struct both {
	const char *att, *intel;
};

static void
say_both(const struct place *p, struct both b)
{
	say(p, b.att, b.intel);
}

/* All flags, or the carry alone, are set, live over control flow, and are read in one of all the ways. */
static void
flags(const struct place *p)
{
	static const struct both sets[] = {{"cmpq $40, %rax", "cmp rax, 40"}, {"addb $100, %al", "add al, 100"},
		{"subb $0x7f, %al", "sub al, 127"}, {"negq %rax", "neg rax"}, {"addq %rdi, %rax", "add rax, rdi"},
		{"stc", "stc"}, {"clc", "clc"}, {"btq $3, %rax", "bt rax, 3"}, {"shlq $1, %rax", "shl rax, 1"}};
	static const struct both reads[] = {{"adcq $0, %rax", "adc rax, 0"}, {"sbbq $2, %rax", "sbb rax, 2"},
		{"rclq $1, %rax", "rcl rax, 1"}, {"setc %al", "setc al"}, {"cmc; adcb $1, %al", "cmc; adc al, 1"},
		{"cmovcq %rdi, %rax", "cmovc rax, rdi"},
		{"seto %al", "seto al"}, {"setp %al", "setp al"}, {"cmovsq %rdi, %rax", "cmovs rax, rdi"},
		{"cmovleq %rdi, %rax", "cmovle rax, rdi"}, {"setg %al", "setg al"}, {"lahf", "lahf"},
		{"pushfq; popq %rdx; andl $0x8d5, %edx; addq %rdx, %rax", "pushfq; pop rdx; and edx, 0x8d5; add rax, rdx"},
		{"lahf; movb $0, %al; addb $0x7f, %al; sahf; adcb $0, %al", "lahf; mov al, 0; add al, 127; sahf; adc al, 0"}};
	/* Others than the carry may be undefined after some, and are not the same in an emulator then. */
	unsigned set = below(9), read = below(set < 5 ? 14 : 6);
	const char *jump;
	int k = ++labels;

	say_both(p, sets[set]);
	if (one_in(3))
		say(p, "movl $5, %edx", "mov edx, 5");
	jump = set < 5 ? PICK("jmp", "je", "jns", "jc") : PICK("jmp", "jc");
	say(p, text("%s %df", jump, k), text("%s %df", jump, k));
	if (one_in(2))
		say(p, "leaq 1(%rax), %rax", "lea rax, [rax+1]");
	raw("%d:", k);
	say_both(p, reads[read]);
}

/* Memory of the stack that is made, used over a branch and given back. */
static void
stack(const struct place *p)
{
	int k = ++labels;
	bool frame = one_in(2);

	if (frame)
		say(p, "pushq %rbp", "push rbp"), say(p, "movq %rsp, %rbp", "mov rbp, rsp");
	say(p, "leaq -200(%rsp), %rsp", "lea rsp, [rsp-200]");
	say(p, "movq %rax, (%rsp)", "mov [rsp], rax");
	test(p);
	say(p, text("jz %df", k), text("jz %df", k));
	say(p, "incq (%rsp)", "inc qword ptr [rsp]");
	raw("%d:", k);
	say(p, "movq (%rsp), %rax", "mov rax, [rsp]");
	if (frame)
		say(p, "leave", "leave");
	else
		say(p, "addq $200, %rsp", "add rsp, 200");
}

void
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
	case 21: flags(p); break;
	case 22: stack(p); break;
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

struct way
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

struct place
inside(const struct place *p)
{
	struct place q = *p;

	q.depth++;
	return q;
}

/* ---- control ---- */

static const char *const conditions[] = {"je", "jne", "jc", "jnc", "js", "jns", "jz", "jnz", "jb", "jae", "jp", "jnp"};

void
test(const struct place *p)
{
	unsigned n = 1 + below(30);

	if (one_in(2))
		say(p, text("testb $%u, %%al", n), text("test al, %u", n));
	else
		say(p, text("cmpb $%u, %%dil", below(10)), text("cmp dil, %u", below(10)));
}

void
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

void
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

void
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

void
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
