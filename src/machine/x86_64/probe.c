/* SPDX-License-Identifier: MIT */
/* Code that counts. A counter is addressed as %gs:LABEL+offset(%rip): the
 * thread's segment base is added to a PC-relative address, so it needs no
 * register, no GOT and no TLS. */
#include "machine/x86_64/x86_64.h"

/* inc leaves CF alone. */
enum { INC_CHANGES = X86_ALL_FLAGS & ~X86_CF };

static const char *const reg_name[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};

static int
dead_reg(struct gap gap)
{
	uint16_t dead = (uint16_t)(X86_ALL_REGS & ~gap.regs_live & ~X86_RSP);

	return dead ? __builtin_ctz(dead) : -1;
}

static void
add_counter(struct buf *out, const char *label, uint64_t offset)
{
	buf_str(out, "%gs:");
	buf_str(out, label);
	buf_char(out, '+');
	buf_number(out, offset);
	buf_str(out, "(%rip)");
}

static void
through_reg(struct buf *out, const char *label, uint64_t offset, const char *reg)
{
	buf_str(out, "\tmovq\t");
	add_counter(out, label, offset);
	buf_printf(out, ", %%%s\n\tleaq\t1(%%%s), %%%s\n\tmovq\t%%%s, ", reg, reg, reg, reg);
	add_counter(out, label, offset);
	buf_char(out, '\n');
}

/* In the last resort a register is saved below the red zone, which neither the
 * flags nor a signal handler notice. */
void
x86_count(struct buf *out, const char *label, uint64_t offset, struct gap gap)
{
	int reg = dead_reg(gap);

	if (!(gap.flags_live & INC_CHANGES)) {
		buf_str(out, "\tincq\t");
		add_counter(out, label, offset);
		buf_char(out, '\n');
	} else if (reg >= 0) {
		through_reg(out, label, offset, reg_name[reg]);
	} else {
		buf_str(out, "\tleaq\t-128(%rsp), %rsp\n\tpushq\t%rax\n");
		through_reg(out, label, offset, "rax");
		buf_str(out, "\tpopq\t%rax\n\tleaq\t128(%rsp), %rsp\n");
	}
}

double
x86_price(struct gap gap)
{
	if (!(gap.flags_live & INC_CHANGES))
		return 1;
	return dead_reg(gap) >= 0 ? 1.5 : 4;
}

void
x86_jump(struct buf *out, const char *operand)
{
	buf_str(out, "\tjmp\t");
	buf_str(out, operand);
	buf_char(out, '\n');
}
