/* SPDX-License-Identifier: MIT */
/* The runtime's reader of unwind tables, which runs inside other people's processes. Whatever is in .eh_frame_hdr and
 * .eh_frame, it has to end, and touches nothing that cannot be read. The input is both sections, one after the other. It ends
 * where a page begins that may not be read. Registers have any values. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/all.c"

/* What the runtime's assembly has, for threads that may make any call. */
__asm__("chord_rt_gate: syscall\n\tret");

enum { ROOM = 1 << 20, STACK = 16384, ENTRIES = 64, SECONDS = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static unsigned char *end;   /* of what may be read */
static uint64_t stack[STACK / 8];

static void
prepare(void)
{
	unsigned char *at = mmap(NULL, ROOM + 2 * CHORD_RT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + CHORD_RT_PAGE, ROOM, PROT_READ | PROT_WRITE))
		abort();
	end = at + CHORD_RT_PAGE + ROOM;
	for (size_t i = 0; i < STACK / 8; i++)
		stack[i] = i % 7 ? (uint64_t)&stack[i * 31 % (STACK / 8)] : i;
}

/* All that a walk does with the rules at a PC. */
static uint64_t
use(struct chord_rt_walk *w, struct chord_rt_machine *m, uint64_t pc)
{
	const struct chord_rt_rules *r = m->state;
	uint64_t sum = 0;

	if (!chord_rt_rules_at(&w->cfi, m, pc))
		return 0;
	if (r->how[CHORD_RT_CFA] == CHORD_RT_VAL_EXPR)
		w->cfa = chord_rt_evaluate(w, r->value[CHORD_RT_CFA], 0);
	else
		w->cfa = w->regs.r[r->reg] + (uint64_t)r->value[CHORD_RT_CFA];
	for (uint32_t i = 0; i < CHORD_RT_NREG; i++)
		sum += chord_rt_value(w, r, i);
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct chord_rt_ctl ctl;
	const unsigned char *at;
	volatile uint64_t sum = 0;
	struct chord_rt_machine m;
	struct chord_rt_walk w;
	struct chord_rt_regs regs;

	if (!end)
		prepare();
	if (n < 64 || n > ROOM)
		return 0;
	alarm(SECONDS);
	at = memcpy(end - n, data, n);
	for (size_t i = 0; i < sizeof regs.r / sizeof *regs.r; i++)
		regs.r[i] = (uint64_t)&stack[STACK / 16 + i];
	chord_rt_walk_from(&w, &ctl, &regs);
	for (size_t k = 0; k < ENTRIES && 12 + 8 * k + 8 <= n; k++) {
		int32_t off;

		memcpy(&off, at + 12 + 8 * k, 4);
		for (uint64_t pc = (uint64_t)at + (uint64_t)(int64_t)off, i = 0; i < 64; i = 2 * i + 1) {
			w.in.hdr = at;
			w.in.bad = false;
			if (chord_rt_find_cfi(&w, pc + i))
				sum += use(&w, &m, pc + i);
		}
		if (k % 16 == 0 && chord_rt_scan_frames(&w.in, at + 12 + 8 * k, n - 12 - 8 * k, regs.r[CHORD_RT_PC] + off, &w.cfi))
			sum += use(&w, &m, w.cfi.begin);
	}
	alarm(0);
	return 0;
}
