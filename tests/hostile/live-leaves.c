/* SPDX-License-Identifier: MIT */
/* Keeps values across calls of leaves in the registers that their convention keeps. */
#include <stdio.h>

extern volatile long to;

#define CALL(leaf) __asm__ volatile( \
	/* The callee of ms_abi may write to 32 bytes above its return address; the red zone is below. */ \
	"subq $256, %%rsp\n\tcall " #leaf "\n\taddq $256, %%rsp" \
	: "+S"(r[0]), "+D"(r[1]), KEPT : : LOST "rax", "r11", "memory", "cc")

#ifdef KEEPS_MOST
#define KEPT "+c"(r[2]), "+d"(r[3]), "+r"(r8), "+r"(r9), "+r"(r10)
#define LOST
#else
#define KEPT "+b"(r[2])
#define LOST "rcx", "rdx", "r8", "r9", "r10",
#endif

int
main(void)
{
	long r[4] = {101, 102, 103, 104};
	register long r8 __asm__("r8") = 108;
	register long r9 __asm__("r9") = 109;
	register long r10 __asm__("r10") = 110;

	CALL(few);
#ifdef KEEPS_MOST
	long after[3] = {r8, r9, r10};

	printf("%ld %ld %ld %ld %ld %ld %ld %ld\n", r[0], r[1], r[2], r[3], after[0], after[1], after[2], to);
	r8 = 208, r9 = 209, r10 = 210;
#else
	printf("%ld %ld %ld\n", r[0], r[1], to);
#endif
	CALL(many);
#ifdef KEEPS_MOST
	after[0] = r8, after[1] = r9, after[2] = r10;
	printf("%ld %ld %ld %ld %ld %ld %ld %ld\n", r[0], r[1], r[2], r[3], after[0], after[1], after[2], to);
#else
	printf("%ld %ld %ld\n", r[0], r[1], to);
#endif
	return 0;
}
