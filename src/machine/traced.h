/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine to record a traced process, and to replay it, under Linux. */
#ifndef CHORD_MACHINE_TRACED_H
#define CHORD_MACHINE_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRACED_WORDS = 27, TRACED_STATE_MOST = 16384, DESCRIBED_MOST = 4096 };

/* The registers of a stopped thread, in the kernel's order. */
struct traced_regs {
	uint64_t word[TRACED_WORDS];
};

/* An instruction whose result the program does not determine. A trapping instruction replaces it. */
enum nondeterminism {
	NONDET_NOT,
	NONDET_TIME, NONDET_TIME_AND_PROCESSOR, /* the time; the time and the processor's number */
	NONDET_RANDOM, NONDET_SEED, /* a random number; the same, and whether there was one */
	NONDET_PROCESSOR,        /* the processor's number */
	NONDET_IDENTITY,         /* what the processor says of itself, its number included (x86: cpuid): four values of 32 bits */
};

struct nondet_result {
	uint64_t value, more;
};

/* What one instruction writes to memory. */
enum { TRACED_WRITES = 4, TRACED_WRITE = 64 };
struct traced_writes {
	int8_t cell;             /* the word of the register by which woven code goes to a counter's next cell; -1: it does not */
	unsigned n;
	struct {
		uint64_t at;
		uint32_t size;       /* bytes, at most TRACED_WRITE */
		bool counter;        /* it may be a counter of a measured program */
	} of[TRACED_WRITES];
};

/* Reads a process's memory. False: not all of it is there. */
typedef bool traced_read_fn(const void *of, uint64_t addr, void *to, size_t n);

/* A detour: code that is executed in place of an addition of woven code, and counts down. A breakpoint in it stops before the
 * addition if less is left than the addition adds. The flags are then changed, but either the addition sets them, or the detour has
 * kept them. */
struct traced_detour {
	uint8_t code[128], size; /* `to` begins with this code */
	uint8_t jump[5];         /* replaces the first bytes of the addition */
	uint8_t took;            /* this many bytes from there on must not be jumped to */
	uint8_t next, next_was;  /* offset of the instruction after the addition: in the code (0: it is not there), and in its own
	                          * place */
};

/* A register as a debugger knows it. */
struct described_reg {
	const char *name;
	uint8_t size;            /* in bytes */
	const char *type;        /* in gdb's words */
};

/* Registers that gdb knows as one feature, and the types that they need, as XML. */
struct described {
	const char *feature, *types;
	const struct described_reg *reg;
	size_t n;
};

/* The syscall buffer: memory of a traced process. It contains code that makes system calls without a stop and writes them down.
 * First comes the code; at SBUF_CODE this struct; at SBUF_CODE + SBUF_DATA the calls, one after another, in two rooms of SBUF_RING
 * bytes. While one room is read, the other one is filled; a replay uses the first. */
enum { SBUF_CODE = 1 << 16, SBUF_DATA = 1 << 13, SBUF_RING = 1 << 20, SBUF_FILES = 1024, SBUF_CALLS = 512, SBUF_STUB = 32 };
/* The first part of the code makes the calls and writes them down; after it come the stubs. */
enum { SBUF_INNER = 1 << 12, SBUF_STUBS = (SBUF_CODE - SBUF_INNER) / SBUF_STUB };

struct syscallbuf_data {
	uint8_t blocks;          /* the kernel looks at it: it stops calls from other code by SIGSYS */
	uint8_t closed;          /* each call is made by its stub, with a stop */
	uint8_t room[6];
	uint64_t fill;           /* bytes of the calls that have been written down */
	uint64_t read;           /* replay: how many of these have been given to the program */
	uint64_t saved[4];       /* for the code */
	uint64_t ring;           /* recording: address of the room that is filled */
	uint64_t state[18];      /* for the code: a struct stat */
	uint8_t regular[SBUF_FILES / 8]; /* bits: descriptors that are known to be of regular files */
	uint64_t call[SBUF_CALLS]; /* calls that may be made so: see SBUF_CALL() */
	uint8_t output[SBUF_FILES / 8]; /* bits: descriptors to which output may be written */
	uint8_t pipe_from[SBUF_FILES / 8], pipe_to[SBUF_FILES / 8]; /* bits: descriptors of pipes that may be read, and written,
	                                                             * without waiting */
};

/* Conditions under which a call is made without a stop. */
enum {
	SBUF_MAKES = 1,          /* always set */
	SBUF_FILE = 2,           /* argument 0 is a descriptor of a regular file or a pipe that is not empty, */
	                         /* or of a plain device: /dev/null, /dev/zero, /dev/urandom */
	SBUF_CLOSES = 4,         /* argument 0 is a descriptor of a regular file, folder or plain device, which it closes */
	SBUF_OPENS = 8,          /* openat() of a file that needs no waiting and is not truncated */
	SBUF_ASKS = 16,          /* fcntl() with a command for flags, or one that duplicates a descriptor */
	SBUF_RESULT = 32,        /* writes as many bytes as its result says, at most as many as argument `most` */
	SBUF_ALONE = 64,         /* argument 1 is NULL */
	SBUF_ANONYMOUS = 128,    /* mmap() without a file, not shared */
	SBUF_OUTPUT = 1 << 24,   /* outputs that many bytes to the descriptor argument 0; they are written down as if the call had
	                          * read them */
	SBUF_TERMINAL = 1 << 25, /* ioctl() with TCGETS */
	SBUF_HANDLES = 1 << 26,  /* argument 0 is a signal other than SIGSYS, SIGSEGV and SIGTRAP, by which a recording stops it */
};
/* out: the argument that points to the memory it writes; n: bytes of it. */
#define SBUF_CALL(how, out, most, n) \
	((uint64_t)(SBUF_MAKES | (how)) | (uint64_t)(out) << 8 | (uint64_t)(most) << 16 | (uint64_t)(n) << 32)

/* A call that has been written down. After it come the n bytes that it wrote, then zeros up to a multiple of 8. */
struct syscallbuf_entry {
	uint64_t size, number, at, arg[6];
	int64_t result;
	uint64_t to, n;          /* n bytes were written to address `to`; at: the address of the call in its stub */
};

/* The code of a syscall buffer. */
struct machine_syscallbuf {
	const uint8_t *record, *replay; /* what stands at the beginning; `replay` gives the program what was written down */
	const uint8_t *record_end, *replay_end;
	const uint8_t *makes;    /* in `replay`: the instruction of a system call, and a breakpoint */
	uint64_t reach;          /* greatest distance from it of a place that makes calls */
	uint8_t traced;          /* offset of a stub's own call in the stub */
	uint8_t hop_size, jump_size;
	int8_t hop_most;         /* greatest distance over which a hop leads */
	uint8_t nop;
	/* Writes the stub, at address `at`, that replaces the call at `site`. */
	void (*stub)(uint64_t at, uint64_t syscallbuf, uint64_t site, uint8_t to[SBUF_STUB]);
	/* Write a short jump that replaces a call, to a long jump close by; and that long jump. at: address of the jump. */
	void (*hop)(uint64_t at, uint64_t to, uint8_t *code);
	void (*jump)(uint64_t at, uint64_t to, uint8_t *code);
	/* True if a call has been made that is not yet written down. *entry: its entry. *result is set if a register still has the
	 * result; otherwise the entry has it, and *result is unchanged. */
	bool (*unfinished)(const struct traced_regs *r, uint64_t syscallbuf, uint64_t *entry, int64_t *result);
	/* Changes the registers of a task that stands after the call at `from` to those of one after the same call at `to`. */
	void (*as_call)(struct traced_regs *r, uint64_t from, uint64_t to);
};

struct machine_traced {
	const struct machine_syscallbuf *syscallbuf; /* NULL: none */
	const char *const *name; /* of each word */
	/* Which words have which registers. number: of the system call, at a stop in one; -1 elsewhere. */
	uint8_t pc, sp, number, result, arg[6], flags;
	uint8_t base[2];         /* bases of segments, which a system call may change besides its result */
	uint8_t counters;        /* base of the thread's counters */
	uint8_t tls;             /* base of the thread's own memory, which clone() sets */
	uint32_t kind;           /* of its system calls: AUDIT_ARCH_... */
	uint8_t mode;            /* a word that selects the kind of system calls that the instruction makes: own_mode for that
	                          * kind */
	uint64_t own_mode;
	uint8_t call_size;       /* bytes of the instruction that makes a system call, which is */
	const uint8_t *call;
	/* Read and set the registers of a stopped thread. False: not possible. */
	bool (*get)(pid_t tid, struct traced_regs *r);
	bool (*set)(pid_t tid, const struct traced_regs *r);
	/* Read and set the floating point and vector registers; the size, 0 if they cannot be read. `to` has TRACED_STATE_MOST
	 * bytes. */
	size_t (*get_state)(pid_t tid, void *to);
	bool (*set_state)(pid_t tid, const void *from, size_t n);
	/* The registers without what single steps change, and without what matters only in system calls. */
	struct traced_regs (*bare)(const struct traced_regs *r);
	/* Sets registers so that the thread makes a call with the instruction before its PC. */
	void (*make)(struct traced_regs *r, uint64_t number, const uint64_t arg[6]);
	/* A breakpoint: its bytes, and how many bytes after its beginning the PC is when it stops. */
	uint8_t break_size, break_stop;
	const uint8_t *breakpoint;
	/* True if the instruction repeats itself (rep). round: the register that has the number of rounds left. */
	bool (*repeats)(const uint8_t *bytes, size_t n);
	uint8_t round;
	/* After a step over the instruction with these bytes: removes from *top, the top of the stack, the traces of the step. */
	void (*stepped)(const uint8_t *bytes, uint64_t *top);
	/* In or after a system call that was stepped: does the same in the registers. False: there was nothing to remove. */
	bool (*stepped_call)(struct traced_regs *r);
	/* The registers behind an instruction that goes to the next cell, without what the addition behind it overwrites or may not
	 * depend on: the flags, and in which of its cells a counter is. cell: as struct traced_writes has it. */
	struct traced_regs (*any_cell)(const struct traced_regs *r, int8_t cell);
	/* What the instruction writes to memory if it is executed with these registers; it may write less. False: not known, or
	 * registers and memory do not determine what it does. */
	bool (*writes)(const uint8_t *bytes, size_t n, const struct traced_regs *r, struct traced_writes *to);
	/* True if one execution of it (one round if it repeats itself) reads or writes any of `size` bytes at `at`. False also if
	 * that is not known. */
	bool (*accesses)(const uint8_t *bytes, size_t n, const struct traced_regs *r, uint64_t at, uint64_t size);
	/* Makes the detour of an addition. bytes: the addition and what follows, n bytes, at address `at`. before: 0, or the size
	 * of the previous instruction, if control comes to the addition from there only; the detour then takes that, too. next:
	 * nothing else leads to the instruction after the addition. to: where the code will be. left: address of the word from
	 * which `amount` is subtracted; the next word is for the detour's use. False: no detour is possible. */
	bool (*detour)(const uint8_t *bytes, size_t n, uint64_t at, uint8_t before, bool next, uint32_t amount, uint64_t to,
	               uint64_t left, struct traced_detour *d);
	uint64_t reach;          /* greatest distance over which such a jump leads */
	/* Makes the calling process trap when it reads the time from the processor, also in code where such instructions are not
	 * replaced. False: the kernel refuses. True: it traps, or it is a virtual machine's guest and cannot. The system call
	 * show_time, with these arguments, undoes it. */
	bool (*hide_time)(void);
	uint64_t show_time, show_time_arg[2];
	/* For the instruction with these bytes: its kind; its result here and now; the registers as if it had given that result. */
	enum nondeterminism (*nondet)(const uint8_t *bytes, size_t n);
	struct nondet_result (*nondet_make)(enum nondeterminism kind, const struct traced_regs *r);
	void (*nondet_give)(struct traced_regs *r, const uint8_t *bytes, size_t n, const struct nondet_result *result);
	/* The bytes that replace the beginning of such an instruction, and trap. nondet_find: the first place in [from, end) that
	 * may be such an instruction without its prefixes; NULL: none. */
	const uint8_t *nondet_trap;
	uint8_t nondet_trap_size;
	const uint8_t *(*nondet_find)(const uint8_t *from, const uint8_t *end);
	/* At the first instruction of a signal's handler: the memory on the stack that the kernel has written. False: not known. */
	bool (*frame)(const struct traced_regs *r, traced_read_fn *read, const void *of, uint64_t *at, uint64_t *size);
	/* How a debugger sees the registers: gdb's name of the machine; the registers in their order; and their bytes in that
	 * order. state: vector registers, n bytes; registers that are not in it are 0. `to` has DESCRIBED_MOST bytes. */
	const char *debugger_name;
	const struct described *described;
	size_t ndescribed;
	void (*describe)(const struct traced_regs *r, const void *state, size_t n, uint8_t *to);
	/* watches(): how many places the processor can watch at a time; 0 if it was not seen to stop a program so, whatever the
	 * kernel says. watch(): stops after each instruction that writes any of n bytes at `at` (with `reads`, also after one that
	 * reads them); n 0: ends that. False: not possible. */
	unsigned (*watches)(void);
	bool (*watch)(pid_t tid, unsigned slot, uint64_t at, uint64_t n, bool reads);
	/* Stops before the instruction at `at`, without changing the code. False: not possible. */
	bool (*stop_at)(pid_t tid, unsigned slot, uint64_t at);
	/* The slots that have stopped the thread since the last call, as bits. */
	unsigned (*watched)(pid_t tid);
	/* What programs see of the processor on which they run. `to` has room for `most` words; returns bytes. */
	size_t (*processor)(uint32_t *to, size_t most);
};

#endif
