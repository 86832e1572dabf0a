/* SPDX-License-Identifier: MIT */
/* Draws random numbers by instructions, of all forms, and asks for the processor's number, in threads, processes, programs and
 * libraries that come and go. Prints what depends on these numbers, and what an instruction has changed that it must not.
 * Argument `apart`: it then makes a call that cannot be recorded, and draws more numbers. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t sum;
static long bad;

#define must(ok) do if (!(ok)) bad = __LINE__; while (0)

static void
mix(uint64_t v)
{
	sum = (sum ^ v) * 0x9e3779b97f4a7c15u;
	sum ^= sum >> 29;
}

/* What the flags are behind the instruction, all of them set before it. */
#define DRAW(insn, v) ({ uint64_t f_; \
	__asm__ volatile("pushq $0x8d5\n\tpopfq\n\t" insn "\n\tpushfq\n\tpopq %1" : "+r"(v), "=&r"(f_) : : "cc", "memory"); f_; })

#define FORM(insn, operand, keeps) do { \
	uint64_t v_ = 0x123456789abcdef0, f_ = DRAW(insn " " operand, v_); \
	must(!(f_ & 0x8d4)); \
	must((v_ & (keeps)) == (0x123456789abcdef0 & (keeps))); \
	mix(v_), mix(f_ & 1); \
} while (0)

/* A register by its number. */
#define NAMED(insn, reg) do { \
	uint64_t v_; \
	__asm__ volatile(insn " %%" reg "\n\tmovq %%" reg ", %0" : "=r"(v_) : : reg, "cc"); \
	mix(v_); \
} while (0)

/* The processor's number, in a function that .eh_frame does not know. */
__asm__(".text\n\t.type processor, @function\n"
        "processor: pushq %rbx\n\tmovl $1, %eax\n\tcpuid\n\tmovl %ebx, %eax\n\tshrl $24, %eax\n\tpopq %rbx\n\tret\n\t"
        ".size processor, .-processor");
unsigned processor(void);

static void
draw(int seeds, int pid)
{
	unsigned a, b, c, d;

	FORM("rdrand", "%w0", ~0xffffull);
	FORM("rdrand", "%k0", 0);
	FORM("rdrand", "%q0", 0);
	NAMED("rdrand", "rax"); NAMED("rdrand", "rcx"); NAMED("rdrand", "rdx"); NAMED("rdrand", "rbx");
	NAMED("rdrand", "rsi"); NAMED("rdrand", "rdi"); NAMED("rdrand", "r8"); NAMED("rdrand", "r9");
	NAMED("rdrand", "r10"); NAMED("rdrand", "r11"); NAMED("rdrand", "r12"); NAMED("rdrand", "r13");
	NAMED("rdrand", "r14"); NAMED("rdrand", "r15");
	/* A prefix too many. */
	NAMED(".byte 0x66; rdrand", "r9");
	if (seeds) {
		FORM("rdseed", "%w0", ~0xffffull);
		FORM("rdseed", "%k0", 0);
		FORM("rdseed", "%q0", 0);
		NAMED("rdseed", "rdi"); NAMED("rdseed", "r13");
	}
	if (pid) {
		NAMED("rdpid", "rcx"); NAMED("rdpid", "r12");
	}
	mix(processor());
	if (__get_cpuid_count(11, 0, &a, &b, &c, &d))
		mix(d);
}

/* Bytes that are no instructions: outside of functions, and within one. */
__asm__(".text\n\t.byte 0x0f, 0xc7, 0xf0\n"
        "data_outside: .byte 0x48, 0x0f, 0xc7, 0xf1, 0x0f, 0xc7, 0xfa\n\t"
        ".globl data_around\n\t.type data_around, @function\n"
        "data_around:\n\t.cfi_startproc\n\tleaq data_inside(%rip), %rax\n\tret\n"
        "data_inside: .byte 0x0f, 0xc7, 0xf0, 0x06, 0x0f, 0xc7, 0xf8, 0x06\n\t.cfi_endproc\n\t.size data_around, .-data_around");
extern const uint8_t data_outside[7] __asm__("data_outside");
const uint8_t *data_around(void);

static void *
thread(void *how)
{
	int *has = how;

	for (int i = 0; i < 20; i++)
		draw(has[0], has[1]);
	return NULL;
}

static void
in_process(int *has)
{
	int p[2];
	uint64_t theirs;

	must(!pipe(p));
	if (!fork()) {
		draw(has[0], has[1]);
		must(write(p[1], &sum, sizeof sum) == sizeof sum);
		_exit(bad != 0);
	}
	must(read(p[0], &theirs, sizeof theirs) == sizeof theirs);
	mix(theirs);
	must(wait(NULL) > 0);
}

/* It comes and goes, mostly to the same place. */
static void
in_library(void)
{
	for (int i = 0; i < 3; i++) {
		void *l = dlopen("./libchance.so", RTLD_NOW);
		uint64_t (*f)(void) = l ? (uint64_t (*)(void))dlsym(l, "library_draws") : NULL;

		must(f);
		if (f)
			mix(f());
		if (l)
			dlclose(l);
	}
}

static sigjmp_buf back;

static void
segv(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

int
main(int argc, char **argv)
{
	int has[2] = {__builtin_cpu_supports("rdseed"), argc > 1 && strstr(argv[1], "rdpid")};
	pthread_t other[2];

	draw(has[0], has[1]);
	for (int i = 0; i < 2; i++)
		must(!pthread_create(&other[i], NULL, thread, has));
	for (int i = 0; i < 2; i++)
		pthread_join(other[i], NULL);
	in_process(has);
	in_library();
	/* A fault of its own. */
	signal(SIGSEGV, segv);
	if (!sigsetjmp(back, 1))
		*(volatile int *)0 = 1;
	else
		mix(1);
	must(!memcmp(data_outside, "\x48\x0f\xc7\xf1\x0f\xc7\xfa", 7));
	must(!memcmp(data_around(), "\x0f\xc7\xf0\x06\x0f\xc7\xf8\x06", 8));
	if (argc > 1 && strstr(argv[1], "apart")) {
		/* There are no such flags. */
		must(syscall(SYS_memfd_secret, -1) == -1);
		for (int i = 0; i < 100; i++)
			draw(has[0], has[1]);
		in_process(has);
		in_library();
	}
	printf("%016llx, %s%ld\n", (unsigned long long)sum, bad ? "wrong in line " : "", bad);
	if (argc > 2) {
		fflush(stdout);
		execv("/proc/self/exe", (char *[]){argv[0], argv[1], NULL});
	}
	return bad != 0;
}
