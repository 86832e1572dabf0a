/* SPDX-License-Identifier: MIT */
/* Calls the procedures of entries.s. */
#include <stdint.h>
#include <stdio.h>

uint64_t sum(uint64_t *to, const uint64_t *a, const uint64_t *b, uint64_t n);
uint64_t sum_carry(uint64_t *to, const uint64_t *a, const uint64_t *b, uint64_t n, uint64_t carry);
uint64_t sum_one(uint64_t *to, const uint64_t *a, const uint64_t *b);
uint64_t moved(uint64_t n);
uint64_t again(uint64_t n, uint64_t more);
uint64_t stops(uint64_t n);
uint64_t enters(uint64_t n);
uint64_t chooses(uint64_t n);

int
main(void)
{
	uint64_t a[20], b[20], c[20] = {0}, carry = 0;

	for (uint64_t i = 0; i < 20; i++) {
		a[i] = i * 0x9e3779b97f4a7c15u;
		b[i] = ~a[i] + (i % 3);
	}
	for (uint64_t n = 0; n <= 20; n++) {
		carry += sum(c, a, b, n) + sum_carry(c, a, c, n, n & 1) + sum_one(c, c, a);
		carry += moved(n) + again(n, carry) + stops(n) + enters(n) + chooses(n);
		printf("%016llx %llu\n", (unsigned long long)c[n / 2], (unsigned long long)carry);
	}
	return 0;
}
