/* SPDX-License-Identifier: MIT */
/* Directives: conditions, what repeats text, sections, odd ones, and mistakes. */
#include "gas.h"

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

void
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

void
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

void
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

void
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

void
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

void
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

void
other_syntax(const struct place *p)
{
	struct place q = inside(p);

	q.intel = !p->intel;
	raw("\t%s", q.intel ? PICK(".intel_syntax noprefix", ".INTEL_SYNTAX noprefix",
		".intel_syntax\tnoprefix # x") : PICK(".att_syntax", ".att_syntax prefix"));
	statements(q, 2);
	raw("\t%s", p->intel ? ".intel_syntax noprefix" : ".att_syntax");
}

void
mistake(void)
{
	raw("\t%s", PICK("movq %rax", "nosuch %rax", ".if undefined_yet", ".popsection", ".endif", ".endm",
		".byte 1b-undefined", "jmp 77b", ".macro", "addq $1",
		".rept", ".error \"told\"", ".else", ".if", ".warning \"told\"", ".section", ".include \"nowhere\"", ".org 0",
			"f0:", ".abort", "\"", "movq $'"));
}
