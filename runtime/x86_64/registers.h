/* SPDX-License-Identifier: MIT */
/* The registers of x86-64 as the runtime saves them, and their names in the rest of the runtime.
 *
 * The slot of an activation: while it runs, each activation has one word of the stack that belongs to it alone, at its CFA minus
 * CHORD_RT_SLOT. Here it is the word of the return address. A path register in memory is at that address in the shadow of the
 * stack. A machine whose calls leave the return address in a register needs another word, about which the weaver and walks have to
 * agree. */

#define CHORD_RT_PAGE 4096 /* bytes of a page of the kernel; extents are whole pages */

#define CHORD_RT_SLOT 8

/* Registers that a callee preserves, in the order of entry.s. */
struct chord_rt_regs {
	uint64_t r[17];               /* DWARF numbers: 3 rbx, 6 rbp, 7 rsp, 12-15, 16 rip */
};

/* The roles of registers. Arguments are those of a called function; the fourth one of a system call is in another register. */
enum {
	CHORD_RT_RESULT = 0, CHORD_RT_FP = 6, CHORD_RT_SP = 7, CHORD_RT_STATIC = 10, CHORD_RT_HOOKED = 11, CHORD_RT_PC = 16,
	CHORD_RT_NREG = 17,           /* number of registers that walks follow */
	CHORD_RT_CFA = 17,            /* a walk's rules have one more, for the CFA */
	CHORD_RT_ARG0 = 5, CHORD_RT_ARG1 = 4, CHORD_RT_ARG2 = 1, CHORD_RT_ARG3 = 2, CHORD_RT_ARG4 = 8, CHORD_RT_ARG5 = 9,
	CHORD_RT_TRAP_ARG3 = 10,
};

/* Registers that a function preserves, and the index of the frame pointer among them. */
#define CHORD_RT_SAVED {3, 6, 12, 13, 14, 15}
enum { CHORD_RT_NSAVED = 6, CHORD_RT_SAVED_FP = 1 };

/* Registers as setjmp() saves them, by word. */
enum { CHORD_RT_JMP_SP = 6, CHORD_RT_JMP_PC = 7 };

/* Relocations of slots that hold a function's address: for calls, for data that code reads, and plain ones. */
enum { CHORD_RT_SLOT_CALL = R_X86_64_JUMP_SLOT, CHORD_RT_SLOT_DATA = R_X86_64_GLOB_DAT, CHORD_RT_SLOT_ADDRESS = R_X86_64_64 };

/* The relocation of a word that holds an address in its own module. */
enum { CHORD_RT_RELATIVE = R_X86_64_RELATIVE };

/* True if the 4-byte distance at p is the operand of a call or jump through a slot. */
static inline __attribute__((always_inline)) bool
chord_rt_calls_slot(const unsigned char *p)
{
	return p[-2] == 0xff && (p[-1] == 0x15 || p[-1] == 0x25);
}

/* The layout of glibc's ucontext_t, as swapcontext uses it. */
enum { CHORD_RT_CONTEXT_SP = 15, CHORD_RT_CONTEXT_PC = 16 };
#define CHORD_RT_CONTEXT_ORDER {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16}

/* Words of the kernel's struct ucontext, as a signal's handler gets it. */
enum { CHORD_RT_STRUCK_SP = 20, CHORD_RT_STRUCK_PC = 21 };
/* The code to which a handler returns: mov $15, %rax; syscall. FIRST: bytes of the first instruction. */
#define CHORD_RT_RESTORES {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}
enum { CHORD_RT_RESTORES_FIRST = 7 };

/* The value with which glibc hides jump targets. */
static inline __attribute__((always_inline)) uint64_t
chord_rt_jump_guard(void)
{
	uint64_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return guard;
}

/* The address of glibc's descriptor of the calling thread. */
static inline __attribute__((always_inline)) uint64_t
chord_rt_descriptor(void)
{
	uint64_t self;

	__asm__("movq %%fs:16, %0" : "=r"(self));
	return self;
}
