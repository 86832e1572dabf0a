/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine to record a process that is traced, and to have it run so again, under Linux. */
#ifndef CHORD_MACHINE_TRACED_H
#define CHORD_MACHINE_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRACED_WORDS = 27, TRACED_STATE_MOST = 16384, DESCRIBED_MOST = 4096 };

/* A stopped thread's registers, as the kernel has them. */
struct traced_regs {
	uint64_t word[TRACED_WORDS];
};

/* An instruction whose result the program does not determine. One that traps is put in its place. */
enum nondeterminism {
	NONDET_NOT,
	NONDET_TIME, NONDET_TIME_AND_PROCESSOR, /* the value; and the processor's number */
	NONDET_RANDOM, NONDET_SEED, /* a random number; and whether there was one */
	NONDET_PROCESSOR,        /* its number */
	NONDET_IDENTITY,         /* what the processor says of itself (x86: cpuid), its number among that: four of 32 bits each */
};

struct nondet_result {
	uint64_t value, more;
};

/* What one instruction writes. */
enum { TRACED_WRITES = 4, TRACED_WRITE = 64 };
struct traced_writes {
	unsigned n;
	struct {
		uint64_t at;
		uint32_t size;       /* bytes, TRACED_WRITE at most */
		bool counter;        /* it may be one of a measured program */
	} of[TRACED_WRITES];
};

/* Reads a process's memory. False: not all of it is there. */
typedef bool traced_read_fn(const void *of, uint64_t addr, void *to, size_t n);

/* What counts down at an addition of woven code. It ends with a breakpoint that stops before the addition when less is left than
 * that adds; the flags are then not what they were, but the addition sets them, or the detour has kept them. */
struct traced_detour {
	uint8_t code[128], size; /* `to` begins so */
	uint8_t jump[5];         /* the addition's place does */
	uint8_t took;            /* so many bytes from there on are not to be jumped to */
	uint8_t next, next_was;  /* where the instruction behind the addition is in the code (0: it is not), and in its own place */
};

/* A register as a debugger knows it. */
struct described_reg {
	const char *name;
	uint8_t size;            /* in bytes */
	const char *type;        /* in gdb's words */
};

/* Registers that gdb knows by one name, and the types that they need, as XML. */
struct described {
	const char *feature, *types;
	const struct described_reg *reg;
	size_t n;
};

/* The syscall buffer: memory of a traced process with code by which it makes system calls without a stop, and writes them down.
 * First the code, from SBUF_CODE on this, from SBUF_CODE + SBUF_DATA on the calls, one behind the other, in two rooms of SBUF_RING
 * bytes. While one is taken over the other one is filled; a replay uses the first. */
enum { SBUF_CODE = 1 << 16, SBUF_DATA = 1 << 13, SBUF_RING = 1 << 20, SBUF_FILES = 1024, SBUF_CALLS = 512, SBUF_STUB = 32 };
/* Of the code, so much makes calls and writes them down; behind it are the stubs. */
enum { SBUF_INNER = 1 << 12, SBUF_STUBS = (SBUF_CODE - SBUF_INNER) / SBUF_STUB };

struct syscallbuf_data {
	uint8_t blocks;          /* calls from elsewhere are stopped by SIGSYS: the kernel looks at it */
	uint8_t closed;          /* each call is made by the stub itself, and seen */
	uint8_t room[6];
	uint64_t fill;           /* bytes of the calls that have been written down */
	uint64_t read;           /* replay: so many of these have been given */
	uint64_t saved[4];       /* the code's own */
	uint64_t ring;           /* recording: the address of the room that is filled */
	uint64_t state[18];      /* struct stat, for the code */
	uint8_t regular[SBUF_FILES / 8]; /* which descriptors are known to be of regular files */
	uint64_t call[SBUF_CALLS]; /* what may be made so: see SBUF_CALL() */
	uint8_t output[SBUF_FILES / 8]; /* to which descriptors may be written */
	uint8_t pipe_from[SBUF_FILES / 8], pipe_to[SBUF_FILES / 8]; /* which are pipes, to be read and written without waiting */
};

/* How a call is made without a stop. */
enum {
	SBUF_MAKES = 1,          /* at all */
	SBUF_FILE = 2,           /* argument 0 is a descriptor of a regular file that is not empty, of a pipe that is not, */
	                         /* or of a plain device: /dev/null, /dev/zero, /dev/urandom */
	SBUF_CLOSES = 4,         /* argument 0 is that of a regular file, a folder or a plain device, and is no more */
	SBUF_OPENS = 8,          /* openat(), of something that is not waited for, and not cut off */
	SBUF_ASKS = 16,          /* fcntl() with a command about flags, or one that makes a copy of a descriptor */
	SBUF_RESULT = 32,        /* writes as many bytes as its result says, and no more than argument `most` */
	SBUF_ALONE = 64,         /* argument 1 is NULL */
	SBUF_ANONYMOUS = 128,    /* mmap(), of no file, and not shared */
	SBUF_OUTPUT = 1 << 24,   /* writes as many bytes to descriptor argument 0; they are written down as if it had read them */
	SBUF_TERMINAL = 1 << 25, /* ioctl() with TCGETS */
	SBUF_HANDLES = 1 << 26,  /* argument 0 is a signal, and not SIGSYS */
};
/* out: the argument that points to what it writes; n: so many bytes. */
#define SBUF_CALL(how, out, most, n) \
	((uint64_t)(SBUF_MAKES | (how)) | (uint64_t)(out) << 8 | (uint64_t)(most) << 16 | (uint64_t)(n) << 32)

/* A call that has been written down; what it wrote follows, and zeros up to the next multiple of 8. */
struct syscallbuf_entry {
	uint64_t size, number, at, arg[6];
	int64_t result;
	uint64_t to, n;          /* so many bytes were written there; at: in the stub, where its call is */
};

/* That code. */
struct machine_syscallbuf {
	const uint8_t *record, *replay; /* what stands at the beginning; the latter gives what was written down */
	const uint8_t *record_end, *replay_end;
	const uint8_t *makes;    /* in `replay`: the instruction of a system call, and a breakpoint */
	uint64_t reach;          /* how far from it a place may be that makes calls */
	uint8_t traced;          /* where in a stub its own call is */
	uint8_t hop_size, jump_size;
	int8_t hop_most;         /* how far a hop leads */
	uint8_t nop;
	/* The stub that takes the place of the call at `site`. */
	void (*stub)(uint64_t at, uint64_t syscallbuf, uint64_t site, uint8_t to[SBUF_STUB]);
	/* A short jump in the place of the call, to a long one close by. */
	void (*hop)(uint64_t at, uint64_t to, uint8_t *code);
	void (*jump)(uint64_t at, uint64_t to, uint8_t *code);
	/* Has a call been made that is not written down yet? Its entry; it has the result, or a register still has it: then *result
	 * is it, and else stays as it is. */
	bool (*unfinished)(const struct traced_regs *r, uint64_t syscallbuf, uint64_t *entry, int64_t *result);
	/* The registers of a task that stands behind the call at one place become those of one behind the same call at another. */
	void (*as_call)(struct traced_regs *r, uint64_t from, uint64_t to);
};

struct machine_traced {
	const struct machine_syscallbuf *syscallbuf; /* NULL: there is none */
	const char *const *name; /* of each word */
	/* Which word is what. number: of the system call at a stop in one, -1 elsewhere. */
	uint8_t pc, sp, number, result, arg[6], flags;
	uint8_t base[2];         /* what a system call may change beside its result: the bases of segments */
	uint8_t counters;        /* the base of the thread's counters */
	uint8_t tls;             /* that of its own memory, which clone() sets */
	uint32_t kind;           /* of its system calls: AUDIT_ARCH_... */
	uint8_t mode;            /* what decides of which kind those are that the instruction makes; with this in it: of that */
	uint64_t own_mode;
	uint8_t call_size;       /* bytes of the instruction that makes a system call; these are: */
	const uint8_t *call;
	bool (*get)(pid_t tid, struct traced_regs *r);
	bool (*set)(pid_t tid, const struct traced_regs *r);
	/* The registers of floating point and vectors: their size, 0 if they cannot be read. to has TRACED_STATE_MOST bytes. */
	size_t (*get_state)(pid_t tid, void *to);
	bool (*set_state)(pid_t tid, const void *from, size_t n);
	/* Without what a debugger's steps change, and what is no matter outside of system calls. */
	struct traced_regs (*bare)(const struct traced_regs *r);
	/* Has the thread make a call by the instruction that stands before its PC. */
	void (*make)(struct traced_regs *r, uint64_t number, const uint64_t arg[6]);
	/* A breakpoint: its bytes, and how far behind its beginning it stops. */
	uint8_t break_size, break_stop;
	const uint8_t *breakpoint;
	/* Does the instruction repeat itself? The register that has how many rounds are left. */
	bool (*repeats)(const uint8_t *bytes, size_t n);
	uint8_t round;
	/* Behind a step over the instruction with these bytes: takes out of memory what only shows that it was stepped. */
	void (*stepped)(const uint8_t *bytes, uint64_t *top);
	/* In or behind a system call that was stepped: the same of the registers. False: there is no such thing. */
	bool (*stepped_call)(struct traced_regs *r);
	/* What the instruction with these bytes writes to memory, if it is executed with these registers; less than that, perhaps.
	 * False: not known, or these and memory do not determine what it does. */
	bool (*writes)(const uint8_t *bytes, size_t n, const struct traced_regs *r, struct traced_writes *to);
	/* Does it read or write any of `size` bytes of memory there? Once, if it repeats itself. False, too, if that is not
	 * known. */
	bool (*accesses)(const uint8_t *bytes, size_t n, const struct traced_regs *r, uint64_t at, uint64_t size);
	/* The detour of the addition with these bytes, n of them with what follows, at an address; before: there begins the
	 * instruction before it, of so many bytes, from which alone control comes to it, and the detour takes that, too; next:
	 * nothing else leads to the instruction behind it. It takes amount from the word at `left`, behind which there is room for
	 * another one. False: there can be none. */
	bool (*detour)(const uint8_t *bytes, size_t n, uint64_t at, uint8_t before, bool next, uint32_t amount, uint64_t to,
	               uint64_t left, struct traced_detour *d);
	uint64_t reach;          /* how far such a jump leads */
	/* Has the calling process trap where it reads the time from the processor, also in code where nothing is put in the place
	 * of such instructions. False: the kernel refuses. True: it does, or it is the guest of another one and cannot. What undoes
	 * it is a system call. */
	bool (*hide_time)(void);
	uint64_t show_time, show_time_arg[2];
	/* The instruction with these bytes, its result here and now, and as if it had given that. */
	enum nondeterminism (*nondet)(const uint8_t *bytes, size_t n);
	struct nondet_result (*nondet_make)(enum nondeterminism kind, const struct traced_regs *r);
	void (*nondet_give)(struct traced_regs *r, const uint8_t *bytes, size_t n, const struct nondet_result *result);
	/* What is put in the place of the first bytes of one, and traps; and the first of some bytes of which one, but for what
	 * stands before them, may consist; NULL: none. */
	const uint8_t *nondet_trap;
	uint8_t nondet_trap_size;
	const uint8_t *(*nondet_find)(const uint8_t *from, const uint8_t *end);
	/* At the first instruction of a signal's handler: what the kernel has written on its stack. */
	bool (*frame)(const struct traced_regs *r, traced_read_fn *read, const void *of, uint64_t *at, uint64_t *size);
	/* How a debugger sees the registers: gdb's name of the machine, the registers in their order, and their bytes in
	 * that. state: of the vectors, n bytes; what is not in it is 0. to has DESCRIBED_MOST bytes. */
	const char *debugger_name;
	const struct described *described;
	size_t ndescribed;
	void (*describe)(const struct traced_regs *r, const void *state, size_t n, uint8_t *to);
	/* Stops behind each instruction that writes n bytes (or reads them, if `reads`), with watches() such at a time; n 0: no
	 * more. False: it cannot. watches(): 0 where the processor is not seen to stop a program so, whatever the kernel says. */
	unsigned (*watches)(void);
	bool (*watch)(pid_t tid, unsigned slot, uint64_t at, uint64_t n, bool reads);
	/* Stops before the instruction there, without a change of the code. */
	bool (*stop_at)(pid_t tid, unsigned slot, uint64_t at);
	/* Which of them have stopped it since they were asked last, as bits. */
	unsigned (*watched)(pid_t tid);
	/* What programs see of the processor they run on, as bytes; returns how many. */
	size_t (*processor)(uint32_t *to, size_t most);
};

#endif
