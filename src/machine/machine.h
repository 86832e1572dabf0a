/* SPDX-License-Identifier: MIT */
/* machine: all that is known of a processor. Each has a folder here and a line in registry.c; docs/porting.md says what a port
 * provides, in the order in which one would write it. */
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
	INSN_REL = 2,       /* a direct jump or call: target is where to */
	INSN_NEAR = 4,      /* a jump with a short form only (jrcxz, loop) */
	INSN_MENTIONS = 8,  /* computes or loads from an address relative to the PC: target */
	INSN_FIRST = 16,    /* has to stay the first of its block (endbr64) */
	INSN_NOP = 32,
	INSN_RELOC = 64,    /* the target field is relocated: see the object's relocations */
	INSN_GLUED = 128,   /* linkers want nothing between it and the instruction before */
	INSN_SETS_SP = 256, /* moves to the stack pointer what is not this frame's: perhaps another activation's */
	INSN_LOADS = 512,   /* moves from memory to a register and does nothing else */
	INSN_SPARES = 2048, /* a call, return or jump that does not read the machine's `scratch`, nor what it leads to */
	INSN_SKIPS = 1024,  /* a call that comes back behind the instruction that follows */
	INSN_PUSHES = 4096, /* moves the stack pointer by one word */
	INSN_ALONE = 16384, /* nothing goes between it and what is before: it is of the prologue, or a fault there is expected */
	INSN_DISTANCE = 8192, /* its number is the distance between two labels, by name */
};

/* One instruction. Masks: a bit for every status flag and general register that
 * can hold a value across it; flags_kill and regs_kill: certainly overwritten. */
struct insn {
	uint32_t off;        /* in its section, before weaving */
	uint32_t target;     /* section offset, valid with INSN_REL or INSN_MENTIONS and no INSN_RELOC */
	uint32_t stmt;       /* statement it begins, or UINT32_MAX */
	uint16_t regs_read, regs_kill;
	uint8_t flags_read, flags_kill;
	uint8_t len;
	uint8_t cls;         /* enum chord_insn */
	uint8_t latency;     /* cycles from the last of the general registers that it reads to those that it writes: what no
	                      * processor goes below, on those that do not forward PC-relative stores ahead (Intel's) */
	uint16_t leader;       /* enum leader, set by leader.c */
	uint16_t attr;       /* enum insn_attr */
	int8_t below;        /* the lowest place below the stack pointer that it reads or writes, by its distance (-8: the
	                      * word just below); INT8_MIN: that, or what becomes of the stack pointer, is not known */
};

/* What one execution of an instruction does, for counting events. A memory operand counts whether it is
 * written in the text or implied (push, call, ret, string instructions); one access for read and one for write.
 * - What is done under a condition counts as done: masked elements, cmpxchg's write.
 * - Of a rep prefix one round counts.
 * - A gather or scatter has an access for every element.
 * - xsave and its like access the 576 bytes that are always there.
 * - Prefetches, cache line flushes, lea and nops access nothing; nor do the tables that the processor walks. */
struct facts {
	uint16_t loads, stores;
	uint32_t bytes_loaded, bytes_stored;
	bool atomic;            /* a locked read-modify-write, or xchg with memory */
	bool fp;                /* computes, converts, rounds or compares floating point; not moves, shuffles or bitwise logic */
	bool vector;            /* computes with, compares or rearranges a whole vector register (MMX, SSE, AVX, AMX), of any
	                         * type; not moves, broadcasts, single elements put in or taken out, nor xor with itself */
	bool divide;            /* division or square root, integer or floating point; not approximations */
	const char *mnemonic;   /* lower case, static */
};

/* A move of 64 bits between registers and memory, or of an address to a register. Registers by their bits in
 * the masks. */
struct move {
	int8_t to, from;     /* -1: memory, or as `from` a number */
	bool stores;         /* to memory; that operand, or the one that is loaded: */
	bool address;        /* moves the address of it, too: */
	int8_t base, index;  /* -1: none */
	uint8_t scale, segment; /* 0: of no segment with a base of its own */
	uint8_t disp_at;     /* where in the instruction the displacement is; 0: it has none */
	int64_t disp;
};

enum value_how {
	VALUE_OTHER,      /* of all that it reads, somehow */
	VALUE_SAME,       /* as `plus` has it, perhaps extended */
	VALUE_EITHER,     /* that of one of the registers that it reads */
	VALUE_LOADED,     /* as memory has it, perhaps extended */
	VALUE_SUM,        /* of `plus`, and more: see loads and number */
	VALUE_DIFFERENCE, /* the same, less `minus` */
	VALUE_MASK,       /* 0 or -1 */
	VALUE_MASKED,     /* both of `plus`, bit by bit: where one is 0 or -1, that or the other */
};

/* How an instruction comes by what it leaves in general registers. Masks: a bit for every register. */
struct value {
	uint16_t to;            /* those that it writes, in part or whole, but for the stack pointer */
	uint16_t plus, minus;
	uint16_t scaled;        /* those of `plus` that are multiplied */
	uint16_t led;           /* the one that has the address which it jumps to or calls */
	uint16_t given;         /* the one that it pushes or stores */
	uint8_t how;            /* enum value_how */
	bool loads, number;     /* a word from memory takes part; a number other than 0, not counting one from the PC on */
};

/* Registers that an instruction reads and writes, as bits: general ones by number, vector and mask registers, single flags; neither
 * the stack pointer nor registers of the x87's kind. What keeps a part of a register, or writes it under a condition, reads it,
 * too. Of a call: what the instruction itself reads; written are the registers of results, lost the others that a callee may leave
 * anything in, as the ABI has it. */
enum { REGISTERS = 64 };
struct registers {
	uint64_t read, written, lost;
};

/* General registers that are at a known distance from the canonical frame address. */
struct frame_regs {
	uint16_t known;      /* bits */
	uint16_t lost;       /* frame.c: registers that have been changed since directives gave the frame by them */
	int64_t at[16];      /* by number: register - CFA */
};

/* One access of an instruction to memory. */
enum { ACCESS_LOADS = 1, ACCESS_STORES = 2, ACCESS_FS = 1, ACCESS_GS = 2, ACCESSES_MOST = 4 };
struct access {
	uint8_t how;         /* both: it changes what is there */
	uint8_t segment;     /* 0: none with a base of its own */
	int8_t base, index;  /* general registers; -1: none */
	uint8_t scale;
	bool narrow;         /* addresses have 32 bits */
	bool pc;             /* disp counts from the end of the instruction */
	int8_t count;        /* the register that says how often it is done, upwards; -1: once */
	bool unknown;        /* registers do not tell which bytes it accesses */
	bool atomic;         /* changes memory by what was there, locked; not by comparing it with a register */
	uint32_t bytes;
	int64_t disp;
};

/* Registers whose values are known: the low REG_VALUE_BITS bits of each, which are what tells addresses apart. The general ones by
 * number, then the base of the thread's segment. */
enum { REG_VALUE_BITS = 48, REG_THREAD = 16, REG_VALUES };
struct reg_values {
	uint32_t known;      /* bits */
	uint64_t v[REG_VALUES];
};

/* What woven code writes down of registers: the value of one, or base + index * scale (-1: there is none of the two). */
struct data_op {
	int8_t base, index;  /* REG_THREAD: that */
	uint8_t scale;
	bool narrow;
	uint32_t check;      /* DATA_CHECK of the record */
};

/* An instruction of woven-in code, as the functions below write it and linkers leave it. */
struct woven_insn {
	uint8_t len;
	bool jumps;          /* goes on at target, always */
	uint64_t target;     /* an address */
	uint64_t counter;    /* address of what it adds to, for segment base 0; 0: it adds to nothing */
	int64_t add;
	int64_t sp;          /* what it adds to the stack pointer */
	bool reserves;       /* takes a thread's next slot of a trace */
	bool asks;           /* at a procedure's entry: does it look as if a signal had called it? */
};

/* What a counter has to leave alone at the place where it goes. */
struct liveness {
	uint8_t flags_live;
	bool no_stack;       /* the stack pointer may point to data: nothing may be put below it */
	uint16_t regs_live;
};

/* Where code that asks for a call's callee has what it needs: the place of its last slot, LABEL+offset; the labels of
 * the stub and of where that goes on. */
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
	uint8_t bits;        /* HASHED: log2 of its entries, at least 1 */
	const char *desc;    /* HASHED: label of its struct chord_path_table */
};

/* Below the stack pointer there is a word for the path register, where nothing else is kept so far down. */
enum { PATH_ROOM = 120 };

/* What happens at one place to the path register of the activation: in this order, and as struct path_act has it. */
struct path_op {
	bool guard;          /* makes sure that it has a place in memory */
	uint8_t record;      /* enum path_record */
	uint8_t next;        /* enum path_next */
	int8_t from, to;     /* where it is before and behind: a general register, dead but for it; the stack pointer's
	                      * number: PATH_ROOM below that; -1: in the shadow, or nowhere */
	int64_t sum, n;
	uint8_t mark;        /* a bit below those of an address: where it is set, the path is the one that begins and ends
	                      * here, and nothing changes; else it is set behind. The flags are not live. 0: none */
	bool marked;         /* such bits may be set in what is recorded, and are no part of it */
	bool traced;         /* the address of the path's entry is written down, nothing is counted; of DENSE tables only */
	bool outcomes;       /* the register holds a word of outcomes (graph.h) in the form of a slot, SET makes it n itself */
	uint8_t shift;       /* as struct path_act has it, likewise */
	int64_t more;
	uint32_t full;       /* FULL: the least slot that is written; 0: it never is */
	bool strikes;        /* the procedure is being entered, perhaps as a signal's handler: then the runtime is told. Arguments
	                      * are as at the entry, flags are not live, and nothing is below the stack pointer */
};

/* Where and how code for it may be. The register is in the shadow of the place of the return address. */
struct path_place {
	struct liveness live;
	uint8_t reg;         /* general register by which the return address is found, at reg + off, */
	bool loaded;         /* or, if this is set, below the address that is there */
	int64_t off;
	bool below;          /* nothing is kept below the stack pointer */
	bool by_sp;          /* directives find the frame by the stack pointer */
	const char *guard, *guarded; /* labels for the stub of a guard and for where it goes on */
	const char *miss, *counted;  /* likewise of a record in a hash table */
	const char *struck, *begun;  /* likewise of what looks like a signal */
	uint8_t base;        /* a register that has the address of LABEL, plus 1; 0: none */
};

/* Where code that counts goes on when what it added to is no longer below 0. */
struct timed_at {
	const char *ask, *on; /* labels of the stub, and of what follows */
	const char *due;      /* the routine that it calls: all registers are kept */
	int32_t lag;          /* added for the call to the number behind the one added to, so that the counter is exact */
	bool in_line;         /* the stub has to stand where the code is */
	bool by_sp;           /* the call frame there is found by the stack pointer */
};

/* Labels around a system call that may make or end threads and processes: it, what is done in its place if it may make one,
 * the end of that, and behind it. */
struct trap_at {
	const char *call, *other, *child, *on;
};

/* Of code: its length, and how many steps a processor makes of it; a comparison and the jump behind it are one. */
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
	uint16_t all_regs;   /* every general register */
	uint8_t sp, fp;      /* bits of the stack pointer and the frame pointer */
	uint8_t call_size;   /* bytes of a direct call */
	uint16_t clobbered;  /* registers that a callee may leave anything in, but for those of results */
	uint16_t results;    /* registers of results */
	uint16_t more_results; /* of those clobbered, the ones that some conventions have results in, too */
	uint16_t path_regs;  /* registers that can be the path register */
	uint16_t cursor_reg; /* has the address of a trace's cursor: no path register of traced code */
	uint16_t scratch;    /* of these, those that pass no arguments */
	uint16_t base_regs;  /* registers that can be a base */
	/* Decodes one instruction at bytes[0..n), which stands at section offset off. False if
	 * the bytes are no instruction, or more are needed. Fills all but stmt and leader. */
	bool (*decode)(const uint8_t *bytes, size_t n, uint32_t off, struct insn *out);
	/* The facts of the instruction at bytes[0..n). False if the bytes are no instruction. */
	bool (*facts)(const uint8_t *bytes, size_t n, struct facts *out);
	/* Appends its text, as the assembler would take it, if it stands at that address. False: the bytes are no instruction. */
	bool (*print)(struct buf *out, const uint8_t *bytes, size_t n, uint64_t addr);
	/* Writes code, one or more lines of AT&T text, that adds n to the 8-byte counter LABEL+offset in one
	 * instruction, and keeps what is live there, which must have a price. base: a register, live there, that
	 * has the address of LABEL, plus 1; 0: none. */
	void (*add)(struct buf *out, const char *label, uint64_t offset, int32_t n, uint8_t base, struct liveness live);
	/* Writes code that makes a register such a base, and changes nothing else. */
	void (*load_base)(struct buf *out, const char *label, uint8_t base);
	/* The same; then goes to `stub`, of which it writes all but directives around it, if the counter is 0 or more. */
	void (*add_timed)(struct buf *out, struct buf *stub, const char *label, uint64_t offset, int32_t n,
	                  const struct timed_at *t, uint8_t base, struct liveness live);
	/* Writes code that adds to the counter TO+offset the sum of the n counters at FROM, or subtracts it. `below`:
	 * nothing is kept below the stack pointer, as at a call. */
	void (*add_sum)(struct buf *out, const char *from, unsigned n, const char *to, uint64_t offset, bool subtract,
	                bool below, struct liveness live);
	/* Writes code that counts who is called by a call through `operand`, which comes next: to out what is done if that
	 * is who was called last, to stub, which has its label, the rest. The flags are not live, and nothing is kept below
	 * the stack pointer. */
	void (*pointer)(struct buf *out, struct buf *stub, struct str operand, struct pointer_at at, struct liveness live);
	/* Writes code for paths, and to `stub` what is rarely run: it begins with the labels and is jumped to. */
	void (*path)(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *table,
	             const struct path_place *place);
	/* Writes code that writes down registers, in two slots (format/trace.h); of `place` all but the labels `miss` and `counted`
	 * are as for paths. */
	void (*data)(struct buf *out, struct buf *stub, const struct data_op *op, const struct path_place *place);
	/* Keeps what the next two have decoded, for when they meet the same bytes again. For one thread; to be freed by free().
	 * Without one (NULL) they do the same, slower. */
	struct insn_cache *(*insn_cache)(void);
	/* The accesses of the instruction, in the order in which they are made. Gives their number. */
	unsigned (*accesses)(struct insn_cache *cache, const uint8_t *bytes, size_t n, struct access *out);
	/* What is known of registers behind an instruction at that address, by what is known before it. A call has come back:
	 * registers that the ABI makes it keep are as they were. */
	void (*compute)(struct insn_cache *cache, const uint8_t *bytes, size_t n, uint64_t addr, struct reg_values *r);
	/* Packs slots of a trace as chord_pack() does (format/pack.h), with what the processor at hand has. */
	uint8_t *(*pack)(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to);
	/* How dear that is, relative to the cheapest form. Below 0: it cannot be done without the stack. */
	double (*price)(struct liveness live);
	/* What lines of such code take; a few bytes less, perhaps. */
	struct room (*room)(const char *at, size_t n);
	/* Are those call_size bytes a direct call? */
	bool (*is_call)(const uint8_t *bytes);
	/* Does code begin with the call by which such a stub asks whether a timer is due? */
	bool (*is_due)(const uint8_t *bytes, size_t n);
	/* Writes an unconditional jump to an operand's text. */
	void (*jump)(struct buf *out, const char *operand);
	/* The length of an instruction of woven code at an address, 0 if it is none; the counter that it
	 * writes, or 0; is it a jump? base: by register, the address that it has as a base, or 0; NULL: none has. */
	uint32_t (*counts)(const uint8_t *bytes, size_t n, uint64_t at, const uint64_t *base, uint64_t *counter, bool *jumps);
	/* Decodes an instruction of woven-in code at that address; a call in it comes back. False: it is none. */
	bool (*woven)(const uint8_t *bytes, size_t n, uint64_t addr, const uint64_t *base, struct woven_insn *out);
	/* The same of code that writes traces: only length, target, `reserves` and `asks` are told. */
	bool (*traces)(const uint8_t *bytes, size_t n, uint64_t addr, struct woven_insn *out);
	/* Is the instruction such a move? */
	bool (*move)(const uint8_t *bytes, size_t n, struct move *out);
	/* How does the instruction come by what it leaves in registers? False if the bytes are no instruction. */
	bool (*value)(const uint8_t *bytes, size_t n, struct value *out);
	/* The registers that the instruction reads and writes. False if that cannot be told, or the bytes are no instruction. */
	bool (*registers)(const uint8_t *bytes, size_t n, struct registers *out);
	const char *(*register_name)(unsigned bit);
	/* Which registers have addresses on the stack behind an instruction, by which have them before it: general ones by
	 * their numbers, then vector registers. */
	void (*derived)(const uint8_t *bytes, size_t n, uint32_t *regs);
	/* What is known behind an instruction of what is known before it. */
	void (*frame)(const uint8_t *bytes, size_t n, struct frame_regs *f);
	/* Writes a call of the runtime for a jump that is about to be made, by the operands that hold the stack
	 * pointer to be (on_stack: addressed by this one) and, if not empty, the target. All registers stay. */
	void (*away)(struct buf *out, struct str sp, struct str pc, bool on_stack);
	/* Writes a call of the runtime before or behind a call, which puts a stamp into a trace. All registers stay. */
	void (*stamp)(struct buf *out);
	uint8_t nonlocal_depth;  /* behind that call the stack pointer is so far below where it was */
	/* Is the instruction a system call? *other: of a kind that is not understood. */
	bool (*trap)(const uint8_t *bytes, size_t n, bool *other);
	/* Does it set what would be the number of a system call to a constant? */
	bool (*trap_number)(const uint8_t *bytes, size_t n, uint32_t *number);
	/* May the system call of that number make a thread or process; end one; or forbid the thread other system calls? */
	bool (*trap_makes)(uint32_t number);
	bool (*trap_ends)(uint32_t number);
	bool (*trap_confines)(uint32_t number);
	/* Where control goes on behind what around_trap() has put before a system call, if that begins there; or 0. */
	uint64_t (*around)(const uint8_t *bytes, size_t n, uint64_t addr);
	/* Writes code that comes before a system call, which has the label t->call, and tells the runtime if it is one of
	 * these. It changes nothing that such a call keeps. */
	void (*around_trap)(struct buf *out, const struct trap_at *t);
};

/* registry.c: the machine of an ELF file by its e_machine; NULL: Chord does not know it. */
const struct machine *machine_of_elf(uint16_t elf);
/* The one that Chord runs on; NULL likewise. */
const struct machine *machine_of_host(void);

#endif
