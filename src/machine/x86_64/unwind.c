/* SPDX-License-Identifier: MIT */
/* Registers as DWARF and directives number them, the frame where a procedure is entered (after the return address), and directives
 * for a stack pointer that moves. */
#include "machine/x86_64/x86_64.h"

#include <inttypes.h>
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

static void
put_sleb(struct buf *out, int64_t v)
{
	bool more = true;

	while (more) {
		uint8_t byte = v & 0x7f;

		v >>= 7;
		more = v != (byte & 0x40 ? -1 : 0);
		buf_printf(out, ",%#x", byte | (more ? 0x80u : 0));
	}
}

static size_t
sleb_size(int64_t v)
{
	size_t n = 1;

	for (; v < -0x40 || v >= 0x40; v >>= 7)
		n++;
	return n;
}

void
x86_stack_moved(struct buf *out, const struct frame_rule *f, int64_t was, int64_t is)
{
	enum { DEF_CFA_EXPRESSION = 0x0f, BREG_SP = 0x77 };

	if (!f || was == is)
		return;
	if (!f->rest) {
		buf_printf(out, "\t.cfi_adjust_cfa_offset %" PRId64 "\n", is - was);
		return;
	}
	buf_printf(out, "\t.cfi_escape %#x,%#zx,%#x", DEF_CFA_EXPRESSION, 1 + sleb_size(f->off + is) + f->nrest, BREG_SP);
	put_sleb(out, f->off + is);
	for (size_t i = 0; i < f->nrest; i++)
		buf_printf(out, ",%#x", f->rest[i]);
	buf_char(out, '\n');
}

const struct machine_unwind x86_unwind = {
	.ncolumn = NCOLUMN, .sp = 7, .ra = RA, .entry = 8, .pushed = true, .general = general, .column = column,
};
