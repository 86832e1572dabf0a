/* SPDX-License-Identifier: MIT */
/* machine: everything that is known of a processor. Each processor has a folder here and a line in registry.c. docs/porting.md says
 * what a port provides, in the order in which one would write it.
 *
 * Register sets ("masks") have a bit for each general register, by the machine's number. A counter's address is for segment base
 * 0. */
#ifndef CHORD_MACHINE_H
#define CHORD_MACHINE_H

#include "base/base.h"
#include "format/format.h"
#include "graph/graph.h"
#include "machine/object.h"
#include "machine/query.h"
#include "machine/text.h"
#include "machine/thread.h"
#include "machine/traced.h"
#include "machine/unwind.h"

struct insn_cache;
struct chord_pack;

enum insn_attr {
	INSN_FALLS = 1,     /* control can go on to the next instruction */
	INSN_REL = 2,       /* a direct jump or call; `target` is its destination */
	INSN_NEAR = 4,      /* a jump that has only a short form (jrcxz, loop) */
	INSN_MENTIONS = 8,  /* computes an address relative to the PC, or loads from it: `target` */
	INSN_FIRST = 16,    /* has to stay the first instruction of its block (endbr64) */
	INSN_NOP = 32,
	INSN_RELOC = 64,    /* the target field has a relocation: see the object's relocations */
	INSN_GLUED = 128,   /* linkers need it right after the previous instruction */
	INSN_SETS_SP = 256, /* sets the stack pointer to a value that is not of this frame, but perhaps of another activation */
	INSN_LOADS = 512,   /* moves from memory to a register, and does nothing else */
	INSN_SPARES = 2048, /* a call, return or jump; neither it nor its destination reads the machine's `scratch` */
	INSN_SKIPS = 1024,  /* a call that returns to the place after the next instruction */
	INSN_PUSHES = 4096, /* moves the stack pointer by one word */
	INSN_ALONE = 16384, /* nothing may be put before it: it belongs to the prologue, or is expected to fault */
	INSN_DISTANCE = 8192, /* its number is the distance between two labels, given by name */
	INSN_TOO_FAR = 32768, /* INSN_NEAR, and woven code is too long for it: it needs another jump that leads on */
};

/* One instruction. Sets have a bit for every status flag and general register that can keep a value across it; flags_kill and
 * regs_kill are certainly overwritten. */
struct insn {
	uint32_t off;        /* in its section, before weaving */
	uint32_t target;     /* section offset; valid with INSN_REL or INSN_MENTIONS if INSN_RELOC is not set */
	uint32_t stmt;       /* the statement that it begins, or UINT32_MAX */
	uint16_t regs_read, regs_kill;
	uint8_t flags_read, flags_kill;
	uint8_t len;
	uint8_t cls;         /* enum chord_insn */
	uint8_t latency;     /* cycles from the last general register that it reads to those that it writes: a lower bound for all
	                      * processors that do not forward PC-relative stores ahead (Intel's) */
	uint8_t pc_at;       /* with INSN_MENTIONS: the offset in it of the distance from the PC */
	uint16_t leader;       /* enum leader, set by leader.c */
	uint16_t attr;       /* enum insn_attr */
	bool loose;          /* it has no statement, and there may be padding between it and the last instruction that has one */
	int8_t below;        /* the lowest place below the stack pointer that it reads or writes, relative to the stack pointer (-8:
	                      * the word just below); INT8_MIN: not known, or the new stack pointer is not known */
};

/* What one execution of an instruction does, for counting events. A memory operand counts whether it is written in the text or
 * implied (push, call, ret, string instructions): one access for a read, one for a write.
 * - What is done under a condition counts as done: masked elements, cmpxchg's write.
 * - With a rep prefix one round counts.
 * - A gather or scatter has an access for every element.
 * - xsave and the like access the 576 bytes that always exist.
 * - Prefetches, cache line flushes, lea and nops access nothing. The processor's walks of page tables do not count. */
struct facts {
	uint16_t loads, stores;
	uint32_t bytes_loaded, bytes_stored;
	bool atomic;            /* a locked read-modify-write, or xchg with memory */
	bool fp;                /* computes, converts, rounds or compares floating point; not moves, shuffles or bitwise logic */
	bool vector;            /* computes with, compares or rearranges a whole vector register (MMX, SSE, AVX, AMX) of any type;
	                         * not moves, broadcasts, inserts and extracts of single elements, or xor with itself */
	bool divide;            /* division or square root, integer or floating point; not approximations */
	const char *mnemonic;   /* lower case, static */
};

/* A move of 64 bits between registers and memory, or of an address to a register. Registers are given by number. */
struct move {
	int8_t to, from;     /* -1: memory; as `from` also a number */
	bool stores;         /* moves to memory; the operand in memory, stored to or loaded from, is */
	bool address;        /* the same operand, if its address is moved: */
	int8_t base, index;  /* -1: none */
	uint8_t scale, segment; /* segment 0: none that has a base of its own */
	uint8_t disp_at;     /* offset of the displacement in the instruction; 0: there is none */
	int64_t disp;
};

/* How a value depends on what the instruction reads. */
enum value_how {
	VALUE_OTHER,      /* on everything, somehow */
	VALUE_SAME,       /* the value of `plus`, perhaps extended */
	VALUE_EITHER,     /* the value of one of the registers that it reads */
	VALUE_LOADED,     /* a value from memory, perhaps extended */
	VALUE_SUM,        /* the sum of `plus` and more: see loads and number */
	VALUE_DIFFERENCE, /* that sum less `minus` */
	VALUE_MASK,       /* 0 or -1 */
	VALUE_MASKED,     /* both of `plus`, combined bit by bit: if one is 0 or -1, the result is that or the other */
};

/* Where the values come from that an instruction leaves in general registers. Sets are masks. */
struct value {
	uint16_t to;            /* registers that it writes, wholly or in part, except the stack pointer */
	uint16_t plus, minus;
	uint16_t scaled;        /* those of `plus` that are multiplied */
	uint16_t led;           /* the register with the address to which it jumps, or which it calls */
	uint16_t given;         /* the register that it pushes or stores */
	uint8_t how;            /* enum value_how */
	bool loads, number;     /* a word from memory takes part; a number other than 0 takes part, if it is not relative to the
	                         * PC */
};

/* Registers that an instruction reads and writes, as bits: general registers by number, vector and mask registers, single flags;
 * not the stack pointer, and no x87 registers. An instruction that keeps part of a register, or writes it under a condition, also
 * reads it. For a call: read is what the instruction itself reads; written are the registers of results; lost are the others that a
 * callee may change by the ABI. */
enum { REGISTERS = 64 };
struct registers {
	uint64_t read, written, lost;
};

/* General registers that have a known distance from the canonical frame address (CFA). */
struct frame_regs {
	uint16_t known;      /* mask */
	uint16_t lost;       /* frame.c: registers that have changed since directives gave the frame by them */
	int64_t at[16];      /* by number: register minus CFA */
};

/* One access of an instruction to memory. */
enum { ACCESS_LOADS = 1, ACCESS_STORES = 2, ACCESS_FS = 1, ACCESS_GS = 2, ACCESSES_MOST = 4 };
struct access {
	uint8_t how;         /* both: it changes the bytes that are there */
	uint8_t segment;     /* 0: none that has a base of its own */
	int8_t base, index;  /* general registers; -1: none */
	uint8_t scale;
	bool narrow;         /* addresses have 32 bits */
	bool pc;             /* disp is relative to the end of the instruction */
	int8_t count;        /* the register that has the number of repetitions, towards higher addresses; -1: once */
	bool unknown;        /* registers do not determine which bytes it accesses */
	bool atomic;         /* changes memory depending on the old value, locked, but not by comparing it with a register */
	uint32_t bytes;
	int64_t disp;
};

/* Registers whose values are known: the low REG_VALUE_BITS bits of each, which distinguish addresses. General registers by number,
 * then the base of the thread's segment. */
enum { REG_VALUE_BITS = 48, REG_THREAD = 16, REG_VALUES };
struct reg_values {
	uint32_t known;      /* mask */
	uint64_t v[REG_VALUES];
};

/* What woven code writes to a trace: the value of base + index * scale. */
struct data_op {
	int8_t base, index;  /* -1: none; REG_THREAD: the base of the thread's segment */
	uint8_t scale;
	bool narrow;
	uint32_t check;      /* number of its record in the map, modulo CHORD_DATA_CHECKS - 1 (format/trace.h) */
};

/* An instruction of woven code, as the functions below write it and linkers leave it. */
struct woven_insn {
	uint8_t len;
	bool jumps;          /* always continues at target */
	uint64_t target;     /* an address */
	uint64_t counter;    /* address of the counter to which it adds; 0: it adds to none */
	int64_t add;
	int64_t sp;          /* what it adds to the stack pointer */
	bool reserves;       /* takes the thread's next slot of a trace */
	bool asks;           /* at a procedure's entry: tests whether a signal seems to have called it */
};

/* How directives find a call frame by the stack pointer: at the stack pointer plus a number, or by an expression of DWARF that
 * begins with such a sum. Code that moves the stack pointer has to say so, for a signal's handler may look for the frame. */
struct frame_rule {
	const uint8_t *rest; /* of an expression: what comes behind the sum; NULL: there is no expression */
	size_t nrest;
	int64_t off;         /* of an expression: what is added to the stack pointer */
};

/* What a counter must not change where it is put. */
struct liveness {
	uint8_t flags_live;
	bool no_stack;       /* the stack pointer may point to data: nothing may be put below it */
	uint16_t regs_live;
	uint16_t frame_regs; /* registers by which unwinders find the frame; they are live */
	const struct frame_rule *frame; /* how they find it by the stack pointer; NULL: not by it */
};

/* What code needs that asks for the callee of a call: the place of its last slot, LABEL+offset; the labels of the stub and of the
 * code after it. */
struct pointer_at {
	const char *label;
	uint64_t offset;
	const char *ask, *on;
};

/* Where the paths of a procedure are counted: at LABEL + offset. */
struct path_counters {
	const char *label;
	uint64_t offset;
	uint8_t kind;        /* enum chord_path_kind */
	uint8_t bits;        /* HASHED: log2 of entries, at least 1 */
	const char *desc;    /* HASHED: label of its struct chord_path_table */
};

/* The word this many bytes below the stack pointer is for the path register, if nothing else is kept there. */
enum { PATH_ROOM = 120 };
/* Signals leave so many bytes below the stack pointer alone. */
enum { RED_ZONE = 128 };
/* Registers that are lent at a time, at most: their words are that one and those above it. */
enum { LENT_MOST = 4 };

/* What happens at one place to the activation's path register, in the order of the fields; meanings as in struct path_act. */
struct path_op {
	bool guard;          /* makes sure that the register has a place in memory */
	uint8_t record;      /* enum path_record */
	uint8_t next;        /* enum path_next */
	int8_t from, to;     /* where the register is before and after: a general register that is otherwise dead; the stack
	                      * pointer's number: PATH_ROOM below the stack pointer; -1: in the shadow, or nowhere */
	int64_t sum, n;
	uint8_t mark;        /* a bit below those of an address. If it is set in the register, the path is the one that begins and
	                      * ends here, and nothing changes; otherwise it is set afterwards. The flags are not live. 0: none */
	bool marked;         /* such bits may be set in what is recorded, and are removed */
	bool traced;         /* the address of the path's entry is written to the trace, and nothing is counted; DENSE tables
	                      * only */
	bool outcomes;       /* the register holds a word of outcomes (graph.h) in the form of a slot; SET sets it to n itself */
	uint8_t shift;       /* words: as in struct path_act */
	int64_t more;
	uint32_t full;       /* FULL: the least slot that is written; 0: none is */
	bool strikes;        /* the procedure is being entered, perhaps as a signal's handler, and the runtime is told so. Arguments
	                      * are as at the entry, flags are not live, and nothing is kept below the stack pointer */
	bool compiled;       /* strikes: a compiler made the procedure, so a handler uses no register in which it gets nothing */
};

/* How a register of the program counts: it moves by a power of two for each count. Registers are given by number. */
struct counted_steps {
	uint8_t var;         /* that register */
	uint8_t reg;         /* the register that keeps where it began; at the end it is changed */
	uint8_t below;       /* not 0: that is kept so many bytes below the stack pointer, and `reg` is only used at the end */
	uint8_t scratch;     /* not 0: then `reg` keeps its value, which waits so many bytes below the stack pointer */
	uint8_t shift;       /* log2 of the power */
	bool down;           /* it is subtracted */
	int32_t more;        /* it began at its value plus this (with `below`: 0); it ends at its value less this */
};

/* Where the code of a path_op is put. The path register is in the shadow of the place of the return address. */
struct path_place {
	struct liveness live;
	uint16_t reserved;   /* registers that are neither used nor saved */
	uint8_t reg;         /* a general register: the return address is at reg + off */
	bool loaded;         /* the return address is below the address that is in memory at reg + off */
	int64_t off;
	bool below;          /* nothing is kept below the stack pointer */
	const char *guard, *guarded; /* labels of a guard's stub, and of the code after it */
	const char *miss, *counted;  /* the same for a record in a hash table */
	const char *struck, *begun;  /* the same for an entry that seems to come from a signal */
	uint8_t base;        /* a register that holds the address of LABEL, plus 1; 0: none */
	uint8_t cells;       /* the same: the path is counted `cell` bytes from there, in the next cell; flags are dead */
	uint64_t cell;
	uint8_t counts;      /* of a marked path: a register that counts it in place of its counter, plus 1; 0: none */
	const struct counted_steps *steps; /* of a marked path: how a register of the program counts each time that control comes
	                                    * here; the stub makes it begin one step later. NULL: none does */
};

/* What code needs that counts and asks whether a timer is due when the number to which it added is no longer below 0. */
struct timed_at {
	const char *ask, *on; /* labels of the stub, and of the code after it */
	const char *due;      /* the routine that the stub calls; it keeps all registers */
	int32_t lag;          /* added, for the call, to the number after the one that was added to, so that the counter is exact */
	bool in_line;         /* the stub has to stand where the code is */
};

/* Labels around a system call that may create or end threads and processes: the call; what is done in its place if it may create
 * one; the end of that; the place after all. */
struct trap_at {
	const char *call, *other, *child, *on;
};

/* The size of code: bytes, and steps that a processor makes of it (a comparison and the jump after it are one). */
struct room {
	uint32_t bytes, steps;
};

enum { CALL_SIZE_MOST = 16 };

struct machine {
	const char *name;
	bool host;           /* Chord itself runs on it */
	const struct machine_object *object;
	const struct machine_unwind *unwind;
	const struct machine_thread *thread;
	const struct machine_traced *traced;
	const struct machine_query *query;
	const struct machine_text *text;
	uint8_t all_flags;   /* every status flag */
	uint16_t all_regs;   /* mask of all general registers */
	uint8_t sp, fp;      /* numbers of the stack pointer and the frame pointer */
	uint8_t call_size;   /* bytes of a direct call */
	uint16_t clobbered;  /* registers that a callee may change, except those of results */
	uint16_t results;    /* registers of results */
	uint16_t more_results; /* those of `clobbered` that also have results in some conventions */
	uint16_t others_keep;  /* those of `clobbered` that callees keep in a convention that clobbers the other ones */
	uint16_t path_regs;  /* registers that can be the path register */
	uint16_t cursor_reg; /* holds the address of a trace's cursor, so it is no path register in traced code */
	uint16_t scratch;    /* those of path_regs that pass no arguments */
	uint16_t base_regs;  /* registers that can hold the address of counters (a base) */
	/* Decodes one instruction at bytes[0..n), at section offset off. Fills all fields except stmt and leader. False: the bytes
	 * are no instruction, or more bytes are needed. */
	bool (*decode)(const uint8_t *bytes, size_t n, uint32_t off, struct insn *out);
	/* The facts of the instruction at bytes[0..n). False: the bytes are no instruction. */
	bool (*facts)(const uint8_t *bytes, size_t n, struct facts *out);
	/* Appends its text, as the assembler takes it, for an instruction at that address. False: the bytes are no instruction. */
	bool (*print)(struct buf *out, const uint8_t *bytes, size_t n, uint64_t addr);
	/* Appends code, one or more lines of AT&T text, that adds n to the 8-byte counter LABEL+offset with one instruction. It
	 * keeps everything in `live`, for which price() must not be negative. base: a register that holds the address of LABEL and
	 * is live, plus 1; 0: none. */
	void (*add)(struct buf *out, const char *label, uint64_t offset, int32_t n, uint8_t base, struct liveness live);
	/* The same as with a base, through a register whose value waits on the stack meanwhile: past the red zone, or, with `near`,
	 * right below the stack pointer. reg: plus 1. live.no_stack is false. */
	void (*add_borrowing)(struct buf *out, const char *label, uint64_t offset, uint8_t reg, bool near,
	                      struct liveness live);
	/* Appends code that makes a register such a base, and changes nothing else. */
	void (*load_base)(struct buf *out, const char *label, uint8_t base);
	/* Appends code that changes the lowest byte of a base from the offset of one cell to that of the step-th one behind it, and
	 * may change all flags. Behind the last of CHORD_CELLS comes the first. step: 1 or CHORD_SUMMED_STEP. */
	void (*next_cell)(struct buf *out, uint8_t base, uint32_t step);
	/* Append code that lets a register (its number) count: sets it to 0, and changes nothing else; adds 1 to it; adds it to
	 * the counter LABEL+offset with one instruction. The last two keep everything in `live`, as add does. */
	void (*begin_count)(struct buf *out, uint8_t reg);
	void (*count_up)(struct buf *out, uint8_t reg, struct liveness live);
	void (*add_count)(struct buf *out, uint8_t reg, const char *label, uint64_t offset, struct liveness live);
	/* Append code where such a register begins to count, which changes nothing else, and where it ends, which adds the count
	 * to the counter LABEL+offset with one instruction and may change all flags. */
	void (*begin_steps)(struct buf *out, const struct counted_steps *s);
	void (*end_steps)(struct buf *out, const struct counted_steps *s, const char *label, uint64_t offset);
	/* Appends code that copies a register (plus 1) to the word so many bytes below the stack pointer, or back, and changes
	 * nothing else. */
	void (*lend)(struct buf *out, uint8_t reg, uint8_t below);
	void (*get_back)(struct buf *out, uint8_t reg, uint8_t below);
	/* As add. The code then goes to a stub if the counter is 0 or more; the stub is appended to *stub, without the directives
	 * around it. */
	void (*add_timed)(struct buf *out, struct buf *stub, const char *label, uint64_t offset, int32_t n,
	                  const struct timed_at *t, uint8_t base, struct liveness live);
	/* Appends code that adds the sum of CHORD_WAYS_SUMMED numbers, CHORD_SUMMED_STEP apart from FROM on, to the counter
	 * TO+offset, or subtracts it. below: nothing is kept below the stack pointer, as at a call. */
	void (*add_sum)(struct buf *out, const char *from, const char *to, uint64_t offset, bool subtract,
	                bool below, struct liveness live);
	/* Appends code that counts which procedure a call through `operand`, which comes next, calls. *out gets what is done if the
	 * last call there went to the same procedure, *stub the rest, with its label. The flags are not live, and nothing is kept
	 * below the stack pointer. */
	void (*pointer)(struct buf *out, struct buf *stub, struct str operand, struct pointer_at at, struct liveness live);
	/* Appends code for paths; *stub gets what is rarely executed, which begins with the labels and is reached by jumps. */
	void (*path)(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *table,
	             const struct path_place *place);
	/* Appends code that writes values to the trace, each in two slots (format/trace.h). Of `place` everything except the labels
	 * `miss` and `counted` is as for paths. */
	void (*data)(struct buf *out, struct buf *stub, const struct data_op *op, const struct path_place *place);
	/* Makes a cache for accesses() and compute(), which keeps decoded instructions by their bytes. For one thread; free() frees
	 * it. With NULL instead of a cache both do the same, slower. */
	struct insn_cache *(*insn_cache)(void);
	/* The accesses of the instruction, in order, at most ACCESSES_MOST; returns how many. */
	unsigned (*accesses)(struct insn_cache *cache, const uint8_t *bytes, size_t n, struct access *out);
	/* Updates what is known of registers by the instruction at that address. After a call: as when it has returned, registers
	 * that the ABI preserves keep their values. */
	void (*compute)(struct insn_cache *cache, const uint8_t *bytes, size_t n, uint64_t addr, struct reg_values *r);
	/* As chord_pack() (format/pack.h), by the fastest instructions of this processor. */
	uint8_t *(*pack)(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to);
	/* The price of add, relative to its cheapest form. Below 0: impossible without the stack. */
	double (*price)(struct liveness live);
	/* The size of lines of such code; a few bytes less, perhaps. */
	struct room (*room)(const char *at, size_t n);
	/* True if these call_size bytes are a direct call. */
	bool (*is_call)(const uint8_t *bytes);
	/* True if the code begins with the call by which a stub of add_timed asks whether a timer is due. */
	bool (*is_due)(const uint8_t *bytes, size_t n);
	/* Appends an unconditional jump to an operand given as text. */
	void (*jump)(struct buf *out, const char *operand);
	/* The length of an instruction of woven code at an address; 0: it is none. *counter: the counter that it writes, or 0.
	 * *jumps: it is a jump. base, by register: the address that the register holds as a base, or 0; NULL: no register is a
	 * base. */
	uint32_t (*counts)(const uint8_t *bytes, size_t n, uint64_t at, const uint64_t *base, uint64_t *counter, bool *jumps);
	/* Decodes an instruction of woven code at that address, for which calls return. False: it is none. */
	bool (*woven)(const uint8_t *bytes, size_t n, uint64_t addr, const uint64_t *base, struct woven_insn *out);
	/* The same for code that writes traces: fills only len, target, `reserves` and `asks`. */
	bool (*traces)(const uint8_t *bytes, size_t n, uint64_t addr, struct woven_insn *out);
	/* True if the instruction is such a move. */
	bool (*move)(const uint8_t *bytes, size_t n, struct move *out);
	/* Tells where the values come from that the instruction leaves in registers. False: the bytes are no instruction. */
	bool (*value)(const uint8_t *bytes, size_t n, struct value *out);
	/* The registers that the instruction reads and writes. False: this cannot be told, or the bytes are no instruction. */
	bool (*registers)(const uint8_t *bytes, size_t n, struct registers *out);
	/* The name of bit `bit` of struct registers. */
	const char *(*register_name)(unsigned bit);
	/* Updates, by an instruction, which registers hold addresses on the stack: general registers by number, then vector
	 * registers. */
	void (*derived)(const uint8_t *bytes, size_t n, uint32_t *regs);
	/* Updates what is known of registers and the frame by an instruction. */
	void (*frame)(const uint8_t *bytes, size_t n, struct frame_regs *f);
	/* Appends a call of the runtime for a nonlocal jump that comes next. sp, pc: the operands that hold the future stack
	 * pointer and, if not empty, the target; on_stack: sp is addressed by the stack pointer. All registers are kept. */
	void (*away)(struct buf *out, struct str sp, struct str pc, bool on_stack);
	/* Appends a call of the runtime, before or after a call, that puts a stamp into a trace. All registers are kept. */
	void (*stamp)(struct buf *out);
	uint8_t nonlocal_depth;  /* at the return address of that call the stack pointer is this many bytes below its value before
	                          * the code */
	/* True if the instruction is a system call. *other: of a kind that is not understood. */
	bool (*trap)(const uint8_t *bytes, size_t n, bool *other);
	/* True if it sets the register for the number of a system call to a constant. */
	bool (*trap_number)(const uint8_t *bytes, size_t n, uint32_t *number);
	/* True if the system call with that number may create a thread or process; may end one; or may forbid system calls to the
	 * thread. */
	bool (*trap_makes)(uint32_t number);
	bool (*trap_ends)(uint32_t number);
	bool (*trap_confines)(uint32_t number);
	/* The address after the code that around_trap() has put before a system call, if that code begins here; or 0. */
	uint64_t (*around)(const uint8_t *bytes, size_t n, uint64_t addr);
	/* Appends code that comes before a system call, which has the label t->call, and that tells the runtime about calls of the
	 * kinds above. It changes nothing that such a call keeps. */
	void (*around_trap)(struct buf *out, const struct trap_at *t);
};

/* registry.c: the machine of an ELF file by its e_machine; NULL: Chord does not know it. */
const struct machine *machine_of_elf(uint16_t elf);
/* The machine on which Chord runs; NULL: Chord does not know it. */
const struct machine *machine_of_host(void);

#endif
