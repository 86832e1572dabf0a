/* SPDX-License-Identifier: MIT */
/* Activations that end unseen and are continued later: longjmp, the compiler's own jumps, signals, handlers on another stack,
 * contexts that are resumed more than once, a stack that is used again. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#define HOT __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf env;
static sigjmp_buf signal_env;
static void *own[5];
static volatile int *volatile nowhere;

HOT static void
jump(int n)
{
	if (n > 0)
		jump(n - 1);
	longjmp(env, n + 1);
}

HOT static void
catch(void)
{
	volatile int n = 0;

	setjmp(env);
	sink++;
	if (n++ < 4)
		jump(n % 3);
}

HOT static void
jump_own(void)
{
	__builtin_longjmp(own, 1);
}

HOT static void
catch_own(void)
{
	volatile int n = 0;

	__builtin_setjmp(own);
	sink++;
	if (n++ < 4)
		jump_own();
}

static void
on_signal(int sig)
{
	for (int i = 0; i < 3; i++)
		sink += sig;
}

static void
on_fault(int sig)
{
	sink += sig;
	siglongjmp(signal_env, 1);
}

/* The same instruction is interrupted again and again. */
HOT static void
faults(void)
{
	volatile int n = 0;

	sigsetjmp(signal_env, 1);
	if (n++ < 3)
		sink = *nowhere;
}

HOT static void
signals(void)
{
	static char other[1 << 16];
	stack_t s = {.ss_sp = other, .ss_size = sizeof other};
	struct sigaction a = {.sa_handler = on_signal}, f = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};

	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGSEGV, &f, NULL);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	raise(SIGUSR1);
	faults();
}

/* ---- contexts ---- */

static ucontext_t back, fibre, again;
static char stack[1 << 16];

static void
work(void)
{
	for (int i = 0; i < 3; i++) {
		sink++;
		swapcontext(&fibre, &back);
	}
	sink++;
	swapcontext(&fibre, &back);
	abort();
}

/* The same stack for one after another, each left in the middle. */
HOT static void
fibres(void)
{
	for (int k = 0; k < 3; k++) {
		getcontext(&fibre);
		fibre.uc_stack.ss_sp = stack;
		fibre.uc_stack.ss_size = sizeof stack;
		makecontext(&fibre, work, 0);
		for (int i = 0; i < 2 + k; i++)
			swapcontext(&back, &fibre);
	}
}

/* A context that is saved once and resumed three times. */
HOT static void
resumed(void)
{
	volatile int n = 0;

	getcontext(&again);
	sink++;
	if (n++ < 3)
		setcontext(&again);
}

static ucontext_t saved, other;
static volatile int times;

static void
resume(void)
{
	setcontext(&saved);
}

/* The same of one that swapcontext() saved. */
HOT static void
swapped(void)
{
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof stack;
	makecontext(&other, resume, 0);
	times = 0;
	swapcontext(&saved, &other);
	sink++;
	if (times++ < 3)
		setcontext(&saved);
}

int
main(void)
{
	catch();
	catch_own();
	signals();
	fibres();
	resumed();
	swapped();
	return 0;
}
