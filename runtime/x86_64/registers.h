/* SPDX-License-Identifier: MIT */
/* The registers of x86-64 as the runtime keeps them, and the names by which the rest of it knows them.
 *
 * The slot of an activation, a contract: each activation has one word of the stack that is its own as long as it lives, at its CFA
 * less CHORD_RT_SLOT, and nothing of another activation is ever there at the same time. Here it is where the return address is. A
 * path register in memory is at that address in the shadow of the stack. A machine whose calls leave the return address in a
 * register has another word for it, which the weaver and the walks have to agree about. */

#define CHORD_RT_PAGE 4096 /* of what the kernel maps; extents are as many of these */

#define CHORD_RT_SLOT 8

/* Registers that a frame's caller wants back; in the order of entry.s. */
struct chord_rt_regs {
	uint64_t r[17];               /* DWARF numbers: 3 rbx, 6 rbp, 7 rsp, 12-15, 16 rip */
};

/* Which of them are what. The arguments are those of a function that has been called, but for the fourth of a system call. */
enum {
	CHORD_RT_RESULT = 0, CHORD_RT_FP = 6, CHORD_RT_SP = 7, CHORD_RT_HOOKED = 11, CHORD_RT_PC = 16,
	CHORD_RT_NREG = 17,           /* and as many are followed by walks */
	CHORD_RT_CFA = 17,            /* a walk's rules have one more: for the CFA */
	CHORD_RT_ARG0 = 5, CHORD_RT_ARG1 = 4, CHORD_RT_ARG2 = 1, CHORD_RT_ARG3 = 2, CHORD_RT_ARG4 = 8, CHORD_RT_ARG5 = 9,
};

/* Those that a function gives back as they were, and the frame pointer's place among them. */
#define CHORD_RT_SAVED {3, 6, 12, 13, 14, 15}
enum { CHORD_RT_NSAVED = 6, CHORD_RT_SAVED_FP = 1 };

/* As setjmp() keeps them, by word. */
enum { CHORD_RT_JMP_SP = 6, CHORD_RT_JMP_PC = 7 };

/* Relocations of slots that hold a function's address: a call's, one of data that code reads, and a plain one. */
enum { CHORD_RT_SLOT_CALL = R_X86_64_JUMP_SLOT, CHORD_RT_SLOT_DATA = R_X86_64_GLOB_DAT, CHORD_RT_SLOT_ADDRESS = R_X86_64_64 };

/* Is the 4-byte distance at p the operand of a call or jump through a slot? */
static inline __attribute__((always_inline)) bool
chord_rt_calls_slot(const unsigned char *p)
{
	return p[-2] == 0xff && (p[-1] == 0x15 || p[-1] == 0x25);
}

/* glibc's ucontext_t, as swapcontext has it. */
enum { CHORD_RT_CONTEXT_SP = 15, CHORD_RT_CONTEXT_PC = 16 };
#define CHORD_RT_CONTEXT_ORDER {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16}

/* What glibc hides jump targets with. */
static inline __attribute__((always_inline)) uint64_t
chord_rt_jump_guard(void)
{
	uint64_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return guard;
}

/* glibc's descriptor of the calling thread. */
static inline __attribute__((always_inline)) uint64_t
chord_rt_descriptor(void)
{
	uint64_t self;

	__asm__("movq %%fs:16, %0" : "=r"(self));
	return self;
}
