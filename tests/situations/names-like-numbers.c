/* SPDX-License-Identifier: MIT */
/* Functions and labels whose names are hexadecimal digits, and whose addresses are taken. */
/* expect: main 1 */
/* expect: f 30 */
/* expect: abc 20 */
/* refused ways: allowed because a jump through the address may come with any frame, which matters to paths */
#include "situation.h"

typedef long function(long);

static __attribute__((noinline)) long
f(long n)
{
	return n % 3 ? n : -n;
}

__attribute__((noinline)) long
abc(long n)
{
	return n & 1 ? f(n) : 2 * f(n);
}

static function *volatile one;

/* Takes the address of a local label. */
long ways(long n);
__asm__(".text\n\t.globl ways\n\t.type ways, @function\nways:\n\tleaq 1f(%rip), %rcx\n\txorl %eax, %eax\n\t"
	"testq %rdi, %rdi\n\tje 2f\n1:\tincl %eax\n2:\tincl %eax\n\tret\n\t.size ways, .-ways\n");

int
main(void)
{
	long sum = 0, count = 0;

	for (long i = 0; i < 10; i++) {
		one = f;
		sum += one(i);
		one = abc;
		sum += one(i) + abc(i + 1);
	}
	for (long i = 0; i < 20; i++)
		count += ways(i % 4);
	return count != 35 || sum == 0;
}
