/* SPDX-License-Identifier: MIT */
/* System calls of x86-64, and other things that single instructions do. */

/* There is one function for each number of arguments: in line they are smaller than a call of one routine with six arguments. They
 * return what the kernel returns: -errno on failure. */
enum { CHORD_RT_SET_GS = 0x1001, CHORD_RT_GET_GS = 0x1004 }; /* set and get a thread's base */
#define CHORD_RT_SYS_BASE SYS_arch_prctl
#define CHORD_RT_AUDIT 0xc000003e /* AUDIT_ARCH_X86_64 */

/* chord_rt_gate does what the syscall instruction does, unless the thread may not make that call (filter.c). */
#define CHORD_RT_TRAP(...) \
	__asm__ volatile("call chord_rt_gate" : "+a"(n) : __VA_ARGS__ : "rcx", "r11", "memory"); \
	return n

static inline __attribute__((always_inline)) long
chord_rt_syscall0(long n)
{
	CHORD_RT_TRAP();
}

static inline __attribute__((always_inline)) long
chord_rt_syscall1(long n, long a)
{
	CHORD_RT_TRAP("D"(a));
}

static inline __attribute__((always_inline)) long
chord_rt_syscall2(long n, long a, long b)
{
	CHORD_RT_TRAP("D"(a), "S"(b));
}

static inline __attribute__((always_inline)) long
chord_rt_syscall3(long n, long a, long b, long c)
{
	CHORD_RT_TRAP("D"(a), "S"(b), "d"(c));
}

static inline __attribute__((always_inline)) long
chord_rt_syscall4(long n, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;

	CHORD_RT_TRAP("D"(a), "S"(b), "d"(c), "r"(r10));
}

static inline __attribute__((always_inline)) long
chord_rt_syscall5(long n, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;

	CHORD_RT_TRAP("D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8));
}

static inline __attribute__((always_inline)) long
chord_rt_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	CHORD_RT_TRAP("D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9));
}

/* Copies by words as far as possible: each round is a step for a debugger, and not every processor copies bytes as fast as
 * words. */
static void
chord_rt_copy(void *to, const void *from, size_t n)
{
	size_t words = n / 8;

	n %= 8;
	__asm__ volatile("rep movsq\n\tmovq %3, %2\n\trep movsb" : "+&D"(to), "+&S"(from), "+&c"(words) : "r"(n) : "memory");
}

static void
chord_rt_clear(void *to, size_t n)
{
	size_t words = n / 8;

	n %= 8;
	__asm__ volatile("rep stosq\n\tmovq %2, %1\n\trep stosb" : "+&D"(to), "+&c"(words) : "r"(n), "a"(0ull) : "memory");
}

/* True if valgrind runs the process. The sequence of instructions is valgrind's, and does nothing on a processor. */
static bool
chord_rt_valgrind(void)
{
	uint64_t request[6] = {0x1001}, answer = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
			 : "+d"(answer) : "a"(request) : "cc", "memory");
	return answer;
}

/* Ends the process, as far as an instruction can. */
static void
chord_rt_stop(void)
{
	__asm__ volatile("ud2");
}
