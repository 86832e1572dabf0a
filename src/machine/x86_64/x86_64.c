/* SPDX-License-Identifier: MIT */
/* The machine x86-64: all its parts. */
#include "machine/x86_64/x86_64.h"

#ifdef __x86_64__
enum { HOST = true };
#else
enum { HOST = false };
#endif

const struct machine machine_x86_64 = {
	.name = "x86_64",
	.host = HOST,
	.object = &x86_object,
	.unwind = &x86_unwind,
	.thread = &x86_thread,
	.traced = &x86_traced,
	.query = &x86_query,
	.text = &x86_text,
	.all_flags = X86_ALL_FLAGS,
	.all_regs = X86_ALL_REGS,
	.sp = X86_SP,
	.fp = X86_FP,
	.call_size = X86_CALL_SIZE,
	.clobbered = X86_CLOBBERED,
	.results = X86_RESULTS,
	.more_results = X86_MORE_RESULTS,
	.scratch = X86_SCRATCH,
	.path_regs = X86_ALL_REGS & ~X86_RSP & ~X86_RAX, /* rax keeps flags */
	.cursor_reg = X86_CURSOR,
	.base_regs = X86_BASE_REGS,
	.decode = x86_decode,
	.facts = x86_facts,
	.print = x86_print,
	.add = x86_add,
	.load_base = x86_load_base,
	.add_timed = x86_add_timed,
	.is_call = x86_is_call,
	.is_due = x86_is_due,
	.add_sum = x86_add_sum,
	.path = x86_path,
	.pointer = x86_pointer,
	.data = x86_data,
	.insn_cache = x86_insn_cache,
	.accesses = x86_accesses,
	.compute = x86_compute,
	.pack = x86_pack,
	.price = x86_price,
	.room = x86_room,
	.jump = x86_jump,
	.counts = x86_counts,
	.woven = x86_woven,
	.traces = x86_traces,
	.move = x86_move,
	.value = x86_value,
	.registers = x86_registers,
	.register_name = x86_register_name,
	.derived = x86_derived,
	.frame = x86_frame,
	.stamp = x86_stamp, .away = x86_away,
	.nonlocal_depth = X86_NONLOCAL_DEPTH,
	.trap = x86_trap,
	.trap_number = x86_trap_number,
	.trap_makes = x86_trap_makes,
	.trap_ends = x86_trap_ends,
	.trap_confines = x86_trap_confines,
	.around = x86_around,
	.around_trap = x86_around_trap,
};
