/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. A function x86_NAME without a comment here is NAME of struct machine or of the structs that
 * it points to. */
#ifndef CHORD_X86_64_H
#define CHORD_X86_64_H

#include "machine/machine.h"

#include <Zydis/Zydis.h>

enum { X86_CF = 1, X86_PF = 2, X86_AF = 4, X86_ZF = 8, X86_SF = 16, X86_OF = 32, X86_ALL_FLAGS = 63 };
/* Masks of registers, with bits in the order of encoding: rax rcx rdx rbx rsp rbp rsi rdi r8 .. */
enum { X86_ALL_REGS = 0xffff, X86_SP = 4, X86_FP = 5, X86_RAX = 1, X86_RSP = 1 << X86_SP,
       X86_CLOBBERED = 0xfc2 /* rcx rsi rdi r8 r9 r10 r11 */, X86_SCRATCH = 1 << 11, X86_RESULTS = 1 << 0 | 1 << 2,
       X86_MORE_RESULTS = 1 << 1 | 1 << 8 /* rcx r8: results of swiftcall, and a third word in LLVM's convention */,
       X86_OTHERS_KEEP = 1 << 6 | 1 << 7 /* rsi rdi: Microsoft's convention (ms_abi) */,
       X86_CURSOR_REG = 11, X86_CURSOR = 1 << X86_CURSOR_REG, /* in traced code, where it is dead */
       /* Not rax, where flags are saved, and not rbp, by which frames are found. */
       X86_BASE_REGS = X86_ALL_REGS & ~(X86_RSP | X86_RAX | 1 << X86_FP) };
enum { X86_CALL_SIZE = 5, X86_NONLOCAL_DEPTH = 144 };

const ZydisDecoder *x86_decoder(void);
bool x86_decode(const uint8_t *bytes, size_t n, uint32_t off, struct insn *out);
/* decode.c: true if the instruction may leave its result unchanged, which Zydis does not say. */
bool x86_may_keep(ZydisMnemonic m);
bool x86_facts(const uint8_t *bytes, size_t n, struct facts *out);
void x86_add(struct buf *out, const char *label, uint64_t offset, int32_t n, uint8_t base, struct liveness live);
void x86_load_base(struct buf *out, const char *label, uint8_t base);
void x86_next_cell(struct buf *out, uint8_t base, uint32_t step);
void x86_add_borrowing(struct buf *out, const char *label, uint64_t offset, uint8_t reg, bool near, struct liveness live);
void x86_begin_count(struct buf *out, uint8_t reg);
void x86_count_up(struct buf *out, uint8_t reg, struct liveness live);
void x86_add_count(struct buf *out, uint8_t reg, const char *label, uint64_t offset, struct liveness live);
void x86_begin_steps(struct buf *out, const struct counted_steps *s);
/* Lets it begin one step later; may change all flags. */
void x86_skip_step(struct buf *out, const struct counted_steps *s);
void x86_end_steps(struct buf *out, const struct counted_steps *s, const char *label, uint64_t offset);
void x86_lend(struct buf *out, uint8_t reg, uint8_t below);
void x86_get_back(struct buf *out, uint8_t reg, uint8_t below);
void x86_add_timed(struct buf *out, struct buf *stub, const char *label, uint64_t offset, int32_t n, const struct timed_at *t,
                   uint8_t base, struct liveness live);
void x86_pointer(struct buf *out, struct buf *stub, struct str operand, struct pointer_at at, struct liveness live);
void x86_add_sum(struct buf *out, const char *from, const char *to, uint64_t offset, bool subtract, bool below,
                 struct liveness live);
void x86_path(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *table,
              const struct path_place *place);
void x86_data(struct buf *out, struct buf *stub, const struct data_op *op, const struct path_place *place);
/* unwind.c: appends a directive that says that the stack pointer is `is` bytes below its place in the program's code, and no longer
 * `was` bytes. f: NULL if the frame is not found by it. */
void x86_stack_moved(struct buf *out, const struct frame_rule *f, int64_t was, int64_t is);
/* scratch.c: registers and frame for the code for paths at one place. Sizes are in bytes, and code is appended to s->out unless it
 * is in a stub. */
extern const char *const name64[16], *const name32[16], *const name16[16], *const name8[16];
/* Registers for one piece of code, and how live ones are saved. */
struct scratch {
	struct buf *out;
	const struct path_place *place;
	uint16_t dead, used;     /* dead: free registers; used: those that must not be taken */
	int kept[6], nkept;      /* live registers that are saved in memory, in this order */
	int64_t depth;           /* how far the stack pointer has been moved down */
	int rax_in;              /* register that has rax meanwhile; -1: none */
	int shadow;              /* register that has the address of the shadow; -1: none */
	bool flags;              /* the flags are in rax */
	int flags_in;            /* register that has them; -1: none */
};

/* True if the path register is in the word below the stack pointer. */
static inline bool
is_room(int8_t assigned)
{
	return assigned == X86_SP;
}
static inline bool
is_short(int64_t n)
{
	return n >= INT32_MIN && n <= INT32_MAX;
}
static inline unsigned
bit(int8_t reg)
{
	return reg < 0 ? 0 : 1u << reg;
}
/* Begins the code of a path_op: saves the flags if they are live and the code changes them. scratch_end() restores everything. */
struct scratch scratch_begin(struct buf *out, const struct path_op *op, const struct path_place *place);
void scratch_end(struct scratch *s);
/* True if the path register is in the shadow before or after, or has to be guarded. */
bool scratch_uses_memory(const struct path_op *op);
/* Makes n registers available in all, for scratch_take(), saving live ones if needed. scratch_take() aborts if none is left. */
void scratch_reserve(struct scratch *s, int n);
int scratch_take(struct scratch *s);
void scratch_give_back(struct scratch *s, int reg);
void scratch_keep_flags(struct scratch *s);
/* Restores the live registers, except the first `first` ones that were saved. back: also moves the stack pointer back. */
void scratch_restore(const struct scratch *s, int first, bool back);
/* The directive of x86_stack_moved(). */
void scratch_moved(struct buf *out, const struct scratch *s, int64_t was, int64_t is);
/* A stub begins with its label and ends with a jump to `to`. In between, lower and raise move the stack pointer below the red zone
 * and n words further, and back. */
void scratch_begin_stub(const struct scratch *s, struct buf *stub, const char *label);
void scratch_end_stub(const struct scratch *s, struct buf *stub, const char *to);
void scratch_lower(const struct scratch *s, struct buf *stub, int n);
void scratch_raise(const struct scratch *s, struct buf *stub, int n);
/* Puts the address of the return address into a register, while the stack pointer is `depth` lower than at the place. */
void scratch_load_frame(const struct scratch *s, struct buf *out, int reg, int64_t depth);
/* The path register in the shadow is at scratch_distance() from the register that scratch_shadow() returns. */
int scratch_shadow(struct scratch *s);
int64_t scratch_distance(const struct scratch *s);
void scratch_to_shadow(struct scratch *s, int reg);
void scratch_guard(struct scratch *s, struct buf *stub); /* the code of path_op.guard */
/* Appends the operand of the word below the stack pointer; stores a register there. */
void scratch_room(const struct scratch *s);
void scratch_to_room(const struct scratch *s, int reg);
/* Loads a path register that is in memory into a register. scratch_fetch(): the register to use for the path register: `from` if it
 * is a register, else `to` if that is one, else another one, loaded. */
int scratch_load(struct scratch *s, int8_t from);
int scratch_fetch(struct scratch *s, int8_t from, int8_t to);
/* probe_path.c: appends the operand for an address that many bytes after the first counter. */
void x86_entry_of(struct buf *out, const struct path_counters *t, int64_t bytes);
/* probe_trace.c: parts of x86_path() for traces. */
int x86_write_path_registers(const struct path_op *op, const struct path_place *place);
void x86_write_path(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op);
void x86_outcomes(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *table,
                  const struct path_place *place);
double x86_price(struct liveness live);
/* pack.c */
uint8_t *x86_pack(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to);
/* access.c */
struct insn_cache *x86_insn_cache(void);
unsigned x86_accesses(struct insn_cache *cache, const uint8_t *bytes, size_t n, struct access *out);
void x86_compute(struct insn_cache *cache, const uint8_t *bytes, size_t n, uint64_t addr, struct reg_values *r);
bool x86_woven(const uint8_t *bytes, size_t n, uint64_t addr, const uint64_t *base, struct woven_insn *out);
bool x86_traces(const uint8_t *bytes, size_t n, uint64_t addr, struct woven_insn *out);
void x86_jump(struct buf *out, const char *operand);
bool x86_is_call(const uint8_t *bytes);
bool x86_is_due(const uint8_t *bytes, size_t n);
uint32_t x86_counts(const uint8_t *bytes, size_t n, uint64_t at, const uint64_t *base, uint64_t *counter, bool *jumps);
/* The address of the counter that %gs:N(%rip) addresses, or %gs:N(%r) where %r is a base; 0: the operand is neither. next: the
 * address after the instruction. */
uint64_t x86_counter(const ZydisDecodedOperand *op, uint64_t next, const uint64_t *base);
bool x86_move(const uint8_t *bytes, size_t n, struct move *out);
bool x86_value(const uint8_t *bytes, size_t n, struct value *out);
void x86_derived(const uint8_t *bytes, size_t n, uint32_t *regs);
/* registers.c */
bool x86_registers(const uint8_t *bytes, size_t n, struct registers *out);
const char *x86_register_name(unsigned bit);
/* room.c */
struct room x86_room(const char *at, size_t n);
/* print.c */
bool x86_print(struct buf *out, const uint8_t *bytes, size_t n, uint64_t addr);
/* frame.c */
void x86_frame(const uint8_t *bytes, size_t n, struct frame_regs *f);
void x86_stamp(struct buf *out);
void x86_away(struct buf *out, struct str sp, struct str pc, bool on_stack);
/* object.c */
extern const struct machine_object x86_object;
/* unwind.c */
extern const struct machine_unwind x86_unwind;
/* query.c */
extern const struct machine_query x86_query;
/* text.c */
extern const struct machine_text x86_text;
/* thread.c */
extern const struct machine_thread x86_thread;
/* traced.c */
extern const struct machine_traced x86_traced;
/* effect.c */
extern const uint8_t x86_word[16]; /* index of a register in struct traced_regs */
bool x86_writes(const uint8_t *bytes, size_t n, const struct traced_regs *r, struct traced_writes *to);
bool x86_touches(const uint8_t *bytes, size_t n, const struct traced_regs *r, uint64_t at, uint64_t size);
/* nondeterministic.c */
enum { X86_NONDET_TRAP = 2 };
extern const uint8_t x86_nondet_trap[X86_NONDET_TRAP];
enum nondeterminism x86_nondet(const uint8_t *bytes, size_t n);
struct nondet_result x86_nondet_make(enum nondeterminism kind, const struct traced_regs *r);
void x86_nondet_give(struct traced_regs *r, const uint8_t *bytes, size_t n, const struct nondet_result *result);
const uint8_t *x86_nondet_find(const uint8_t *from, const uint8_t *end);
/* detour.c */
bool x86_detour(const uint8_t *bytes, size_t n, uint64_t at, uint8_t before, bool next, uint32_t amount, uint64_t to, uint64_t left,
                struct traced_detour *d);
/* syscallbuf.c */
extern const struct machine_syscallbuf x86_syscallbuf;
/* described.c */
enum { X86_DESCRIBED = 5 };
extern const struct described x86_described[X86_DESCRIBED];
void x86_describe(const struct traced_regs *r, const void *state, size_t n, uint8_t *to);
unsigned x86_watches(void);
bool x86_watch(pid_t tid, unsigned slot, uint64_t at, uint64_t n, bool reads);
bool x86_stop_at(pid_t tid, unsigned slot, uint64_t at);
unsigned x86_watched(pid_t tid);
/* trap.c */
bool x86_trap(const uint8_t *bytes, size_t n, bool *other);
bool x86_trap_number(const uint8_t *bytes, size_t n, uint32_t *number);
bool x86_trap_makes(uint32_t number);
bool x86_trap_ends(uint32_t number);
bool x86_trap_confines(uint32_t number);
uint64_t x86_around(const uint8_t *bytes, size_t n, uint64_t addr);
void x86_around_trap(struct buf *out, const struct trap_at *t);

#endif
