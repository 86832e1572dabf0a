/* SPDX-License-Identifier: MIT */
/* Signal handlers that continue the program in another place. There are markers before the instruction that faults (clc), after
 * it (stc), and where control continues instead (cmc). The program prints what should have run. argv: the way that is tried. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { ROUNDS = 100, BAD = 25 };

struct entry { long at, to; };
struct near { int at, to; };
extern const struct entry __start_my_table[], __stop_my_table[];
extern const struct near __start_my_near[], __stop_my_near[];
extern char fixed[] __asm__("fixed");

static const char *way;
static volatile long kept;        /* where to go on, as the program stored it */
static long skip;                 /* how many bytes */
static int valid = 3;

static void
handler(int sig, siginfo_t *info, void *context)
{
	greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)sig, (void)info;
	for (const struct entry *e = __start_my_table; e < __stop_my_table; e++)
		if (*pc == e->at) {
			*pc = e->to;
			return;
		}
	for (const struct near *e = __start_my_near; e < __stop_my_near; e++)
		if (*pc == (long)&e->at + e->at) {
			*pc = (long)&e->to + e->to;
			return;
		}
	if (!strcmp(way, "named"))
		*pc = (long)fixed;
	else if (!strcmp(way, "kept"))
		*pc = kept;
	else
		*pc += skip;
}

/* A table of addresses, in the same section. */
__attribute__((noinline)) static int
by_table(const int *p)
{
	int r;

	__asm__ volatile("clc\n1:\tmovl (%[p]), %[r]\n\tstc\n\tjmp 3f\n2:\tmovl $-1, %[r]\n\tcmc\n3:\n"
	                 "\t.pushsection my_table,\"aw\"\n\t.quad 1b, 2b\n\t.popsection" : [r] "=&r"(r) : [p] "r"(p) : "cc");
	return r;
}

/* A table of distances; the fixup stands in another section. */
__attribute__((noinline)) static int
by_distance(const int *p)
{
	int r;

	__asm__ volatile("clc\n1:\tmovl (%[p]), %[r]\n\tstc\n2:\n"
	                 "\t.pushsection .fixup,\"ax\"\n3:\tmovl $-1, %[r]\n\tcmc\n\tjmp 2b\n\t.popsection\n"
	                 "\t.pushsection my_near,\"a\"\n\t.long 1b-., 3b-.\n\t.popsection" : [r] "=&r"(r) : [p] "r"(p) : "cc");
	return r;
}

/* No table: the handler has the name of the fixup. */
__attribute__((noinline)) static int
named(const int *p)
{
	int r;

	__asm__ volatile("clc\n\tmovl (%[p]), %[r]\n\tstc\n2:\n"
	                 "\t.pushsection .fixup,\"ax\"\n\t.globl fixed\nfixed:\tmovl $-1, %[r]\n\tcmc\n\tjmp 2b\n\t.popsection"
	                 : [r] "=&r"(r) : [p] "r"(p) : "cc");
	return r;
}

/* The program keeps where to go on in memory. */
__attribute__((noinline)) static int
stored(const int *p)
{
	int r = -1;

	__asm__ volatile("leaq 1f(%%rip), %%rax\n\tmovq %%rax, %[kept]\n\tclc\n\tmovl (%[p]), %[r]\n\tstc\n\tjmp 2f\n1:\tcmc\n2:"
	                 : [r] "+&r"(r), [kept] "=m"(kept) : [p] "r"(p) : "rax", "cc");
	return r;
}

/* Behind a trap, and past data that stands behind it. */
__attribute__((noinline)) static int
trapped(int n)
{
	int r = 0;

	if (n)
		__asm__ volatile("clc\n\tud2\n\tcmc" ::: "cc");
	else
		__asm__ volatile("stc" ::: "cc");
	__asm__ volatile("" : "+r"(r));
	return r - (n != 0);
}

__attribute__((noinline)) static int
trapped_data(int n)
{
	if (n)
		__asm__ volatile("clc\n\tud2\n\t.value 0x3412\n9:\tcmc" ::: "cc");
	else
		__asm__ volatile("stc" ::: "cc");
	return -(n != 0);
}

/* Not foreseen: any instruction is skipped. */
__attribute__((noinline)) static int
skipped(const int *p)
{
	int r = -1;

	__asm__ volatile("clc\n\tmovl (%[p]), %%eax\n\tstc\n\tmovl %%eax, %[r]" : [r] "=r"(r) : [p] "D"(p) : "rax", "cc");
	return r;
}

extern int by_hand(const int *p);

static int
try(int i)
{
	const int *p = i % 4 ? &valid : (const int *)8;

	if (!strcmp(way, "table"))
		return by_table(p);
	if (!strcmp(way, "distance"))
		return by_distance(p);
	if (!strcmp(way, "named"))
		return named(p);
	if (!strcmp(way, "kept"))
		return stored(p);
	if (!strcmp(way, "trap"))
		return trapped(i % 4 == 0);
	if (!strcmp(way, "data"))
		return trapped_data(i % 4 == 0);
	if (!strcmp(way, "hand"))
		return by_hand(p);
	return skipped(p);
}

int
main(int argc, char **argv)
{
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	int bad = 0;

	way = argc > 1 ? argv[1] : "skip";
	skip = !strcmp(way, "data") ? 4 : 2;
	if (strcmp(way, "none") == 0)
		return 0;
	sigaction(SIGSEGV, &a, NULL);
	sigaction(SIGILL, &a, NULL);
	for (int i = 0; i < ROUNDS; i++)
		bad += try(i) == -1;
	printf("%d\n", bad);
	return 0;
}
