/* SPDX-License-Identifier: MIT */
/* Code that is entered as a signal handler would be, and is none: by a jump, with the top of its stack as the third argument,
 * and with nothing to return to. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static volatile int done;

void start(void (*f)(void *), void *arg, void *top);
__asm__(".text\n.globl start\n.type start, @function\nstart:\n"
	"movq %rdx, %rsp\n"
	"movq %rdi, %rax\nmovq %rsi, %rdi\npushq $0\njmp *%rax\n.size start, .-start\n");

static void
body(void *arg)
{
	done += *(int *)arg;
	printf("%d\n", done);
	exit(done != 7);
}

int
main(void)
{
	static int seven = 7;
	char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	start(body, &seven, stack + (1 << 16));
	return 1;
}
