/* SPDX-License-Identifier: MIT */
/* Registers as DWARF and directives number them, and the frame where a procedure is entered: after the return address. */
#include "machine/x86_64/x86_64.h"

#include <stdlib.h>
#include <string.h>

enum { NGENERAL = 16, RA = 16, FIRST_XMM = 17, NCOLUMN = 33 };

/* rax rdx rcx rbx rsi rdi rbp rsp */
static int
general(unsigned column)
{
	static const int8_t bit[NGENERAL] = {0, 2, 1, 3, 6, 7, X86_FP, X86_SP, 8, 9, 10, 11, 12, 13, 14, 15};

	return column < NGENERAL ? bit[column] : -1;
}

static int
column(struct str s)
{
	static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
	bool xmm;
	char *end, digits[8] = "";
	long n;

	if (s.n && *s.at == '%')
		s = (struct str){s.at + 1, s.n - 1};
	for (int i = 0; i <= RA; i++)
		if (str_is(s, names[i]))
			return i;
	xmm = str_starts(s, "xmm");
	if (xmm)
		s = (struct str){s.at + 3, s.n - 3};
	memcpy(digits, s.at, s.n < 7 ? s.n : 7);
	if (!*digits)
		return -1;
	n = strtol(digits, &end, 10) + (xmm ? FIRST_XMM : 0);
	return *end || n < 0 || n >= NCOLUMN ? -1 : (int)n;
}

const struct machine_unwind x86_unwind = {
	.ncolumn = NCOLUMN, .sp = 7, .ra = RA, .entry = 8, .pushed = true, .general = general, .column = column,
};
