/* SPDX-License-Identifier: MIT */
/* A scheduler of fibres that cannot be told apart from a cooperative one: each fibre runs for 5,000 instructions at a time,
 * whatever it does. Every run has the same interleaving. With an argument the slices are exact. */
#include <chord.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FIBRES = 3, SLICE = 5000 };

static ucontext_t fibre[FIBRES], at_end;
static int now, left = FIBRES, exact;
static unsigned result[FIBRES];

static void slice(void *arg);

static void
set(void)
{
	int e = exact ? chord_timer_exact(instructions, SLICE, slice, NULL) : chord_timer(instructions, SLICE, slice, NULL);

	if (e) {
		fprintf(stderr, "slices: the timer cannot be set: %d\n", e);
		exit(1);
	}
}

static void
go_on(void)
{
	int from = now;

	do
		now = (now + 1) % FIBRES;
	while (!fibre[now].uc_link);
	set();
	swapcontext(&fibre[from], &fibre[now]);
}

static void
slice(void *arg)
{
	(void)arg;
	putchar('0' + now);
	printf("(%u)", result[now] & 0xfff);
	go_on();
}

static void
body(int i)
{
	for (unsigned k = 1; k < 40000u / (unsigned)(i + 1); k++)
		result[i] = (result[i] ^ k) * 2654435761u % (k + 7);
	printf("[%d ends]", i);
	fibre[i].uc_link = NULL;
	if (--left == 0)
		setcontext(&at_end);
	go_on();
}

int
main(int argc, char **argv)
{
	static char stack[FIBRES][65536];
	static volatile int begun;

	(void)argv;
	exact = argc > 1;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	for (int i = 0; i < FIBRES; i++) {
		getcontext(&fibre[i]);
		fibre[i].uc_stack.ss_sp = stack[i];
		fibre[i].uc_stack.ss_size = sizeof stack[i];
		fibre[i].uc_link = &at_end;
		makecontext(&fibre[i], (void (*)(void))body, 1, i);
	}
	getcontext(&at_end);
	if (!begun) {
		begun = 1;
		set();
		setcontext(&fibre[0]);
	}
	chord_timer_cancel(instructions);
	printf("\n%u %u %u\n", result[0], result[1], result[2]);
}
