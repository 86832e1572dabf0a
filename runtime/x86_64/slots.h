/* SPDX-License-Identifier: MIT */
/* Tests all slots of a segment, 16 bytes at a time. Vector registers belong to the program, and are restored. */

/* True if the n slots from `slot` on are all written, i.e. not 0. slot: at a multiple of 16; n: a multiple of 8. *sum: the sum of
 * the slots, modulo 2^32. */
static inline bool
chord_rt_home_slots(const uint32_t *slot, size_t n, uint32_t *sum)
{
	uint32_t keep[4][4], all[4], zero[4];
	const uint32_t *end = slot + n;

	__asm__ volatile(
	    "movups %%xmm0, %[keep]\n\t"
	    "movups %%xmm1, 16+%[keep]\n\t"
	    "movups %%xmm2, 32+%[keep]\n\t"
	    "movups %%xmm3, 48+%[keep]\n\t"
	    "pxor %%xmm0, %%xmm0\n\t"
	    "pxor %%xmm1, %%xmm1\n"
	    "1:\n\t"
	    "pxor %%xmm2, %%xmm2\n\t"
	    "movdqa (%[slot]), %%xmm3\n\t"
	    "paddd %%xmm3, %%xmm0\n\t"
	    "pcmpeqd %%xmm2, %%xmm3\n\t"
	    "por %%xmm3, %%xmm1\n\t"
	    "movdqa 16(%[slot]), %%xmm3\n\t"
	    "paddd %%xmm3, %%xmm0\n\t"
	    "pcmpeqd %%xmm3, %%xmm2\n\t"
	    "por %%xmm2, %%xmm1\n\t"
	    "addq $32, %[slot]\n\t"
	    "cmpq %[end], %[slot]\n\t"
	    "jb 1b\n\t"
	    "movups %%xmm0, %[all]\n\t"
	    "movups %%xmm1, %[zero]\n\t"
	    "movups %[keep], %%xmm0\n\t"
	    "movups 16+%[keep], %%xmm1\n\t"
	    "movups 32+%[keep], %%xmm2\n\t"
	    "movups 48+%[keep], %%xmm3"
	    : [slot] "+r"(slot), [keep] "=m"(keep), [all] "=m"(all), [zero] "=m"(zero) : [end] "r"(end) : "memory", "cc");
	*sum = all[0] + all[1] + all[2] + all[3];
	return !(zero[0] | zero[1] | zero[2] | zero[3]);
}
