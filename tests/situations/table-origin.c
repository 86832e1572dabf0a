/* SPDX-License-Identifier: MIT */
/* Tables beside code that are counted from 1, as in nettle's sha3-permute.asm: 8 bytes before the table there is the middle of an
 * instruction, or padding. What stands before the other table is the last instruction: its procedure is left as it is. */
/* expect: main 1 */
/* expect: crossed 100 */
/* expect: padded 100 */
/* refused beginning: allowed because the table is 3 bytes behind it */
#include "situation.h"

long crossed(long), padded(long), beginning(long);

/* %rdi from 1: adds 7 for each round, and the element of the table. */
#define ROUNDS(name, table, before) \
	".type " #name ", @function\n" #name ":\tlea " table "-" before "(%rip), %rdx\n\txorl %eax, %eax\n\tmovq %rdi, %rcx\n" \
	"1:\taddq $7, %rax\n\tdecq %rcx\n\tjnz 1b\n"
#define TABLE "\t.quad 1000, 2000, 3000, 4000\n"

__asm__(".text\n\t.p2align 4\n" ROUNDS(crossed, ".Lcrossed", "8")
        "\taddq (%rdx,%rdi,8), %rax\n\tmovabsq $0x1122334455667788, %rcx\n\tret\n\t.size crossed, .-crossed\n"
        "\t.p2align 3\n.Lcrossed:\n" TABLE
        "\t.p2align 4\n" ROUNDS(padded, ".Lpadded", "8")
        "\taddq (%rdx,%rdi,8), %rax\n\tret\n\t.size padded, .-padded\n"
        "\t.p2align 6\n.Lpadded:\n" TABLE
        "\t.p2align 4\n" ROUNDS(beginning, ".Lbeginning", "3")
        "\taddq 3-8(%rdx,%rdi,8), %rax\n\tnop\n\tnop\n\tret\n\t.size beginning, .-beginning\n"
        ".Lbeginning:\n" TABLE);

int
main(void)
{
	long wrong = 0;

	for (long i = 0; i < 100; i++) {
		long n = i % 4 + 1, sum = 1007 * n;

		wrong += (crossed(n) != sum) + (padded(n) != sum) + (beginning(n) != sum);
	}
	return wrong != 0;
}
