/* SPDX-License-Identifier: MIT */
/* gas SEED: writes a random program in the assembler's language, as people write it by hand, to standard output. gas-main.c calls
 * its f0. What the program does is the same in every run, and it ends. The directives around the instructions are chosen at random,
 * and a few texts are wrong. The same seed gives the same text. */
#include "gas.h"

#include <stdlib.h>
#include <string.h>

struct procedure procs[8];
int nproc;
int labels = 2, macros, names, sets; /* labels 0 to 2 are for what needs none of its own */
long cost;
bool wild, sized, sub;
static int wrong;         /* one statement in so many is wrong; 0: none is */

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

void
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
