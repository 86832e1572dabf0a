/* SPDX-License-Identifier: MIT */
/* A library that is not measured. SIZE makes its only frame larger, and changes nothing else. */
void
lib_call(void (*f)(void))
{
	char big[SIZE];

	__asm__ volatile("" : : "r"(big) : "memory");
	f();
	__asm__ volatile("" : : "r"(big) : "memory");
}
