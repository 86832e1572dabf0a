/* SPDX-License-Identifier: MIT */
/* System calls that make, end or confine threads and processes. */
#include "machine/x86_64/x86_64.h"

#include <string.h>
#include <sys/syscall.h>

bool
x86_trap(const uint8_t *bytes, size_t n, bool *other)
{
	bool old = n >= 2 && bytes[0] == 0xcd && bytes[1] == 0x80;        /* int $0x80 */
	bool enter = n >= 2 && bytes[0] == 0x0f && bytes[1] == 0x34;      /* sysenter */

	*other = old || enter;
	return *other || (n >= 2 && bytes[0] == 0x0f && bytes[1] == 0x05);
}

bool
x86_trap_number(const uint8_t *bytes, size_t n, uint32_t *number)
{
	if (n == 5 && bytes[0] == 0xb8) {
		memcpy(number, bytes + 1, 4);
		return true;
	}
	if (n == 7 && bytes[0] == 0x48 && bytes[1] == 0xc7 && bytes[2] == 0xc0) {
		memcpy(number, bytes + 3, 4);
		return true;
	}
	*number = 0;
	return n == 2 && (bytes[0] == 0x31 || bytes[0] == 0x33) && bytes[1] == 0xc0; /* xorl %eax, %eax */
}

bool
x86_trap_makes(uint32_t number)
{
	return number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork;
}

/* A signal may end the process that sends it. */
bool
x86_trap_ends(uint32_t number)
{
	return number == SYS_exit || number == SYS_exit_group || number == SYS_kill || number == SYS_tkill || number == SYS_tgkill;
}

bool
x86_trap_confines(uint32_t number)
{
	return number == SYS_prctl || number == SYS_seccomp;
}

/* `leaq ON(%rip), %r11` */
uint64_t
x86_around(const uint8_t *bytes, size_t n, uint64_t addr)
{
	int32_t far;

	if (n < 7 || memcmp(bytes, "\x4c\x8d\x1d", 3))
		return 0;
	memcpy(&far, bytes + 3, 4);
	return addr + 7 + (uint64_t)(int64_t)far;
}

/* The instruction itself overwrites rcx and r11, so they are free before it. It returns 0 in a child, and may do so in other
 * cases. */
void
x86_around_trap(struct buf *out, const struct trap_at *t)
{
	buf_printf(out, "\tleaq\t%s(%%rip), %%r11\n\tleaq\t%s(%%rip), %%rcx\n\tjmp\t__chord_trap\n", t->call, t->other);
	buf_printf(out, "%s:\tsyscall\n\tmovq\t%%rax, %%rcx\n\tjrcxz\t%s\n\tjmp\t%s\n", t->other, t->child, t->on);
	buf_printf(out, "%s:\tleaq\t%s(%%rip), %%r11\n\tjmp\t__chord_born\n%s:\n", t->child, t->on, t->call);
}
