/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine to inspect, under Linux, a stopped thread of another process. */
#ifndef CHORD_MACHINE_THREAD_H
#define CHORD_MACHINE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { THREAD_REGS_MOST = 40 };

/* Registers by DWARF's numbers, then those that have no such number. */
struct thread_regs {
	uint64_t reg[THREAD_REGS_MOST];
	uint64_t base;       /* if has_base: base of the thread's counters, see the runtime's home.h */
	bool has_base;
};

/* What an interruption does to a system call that waits. */
enum call_kind {
	CALL_RESTARTS,       /* nothing: the kernel continues it, with the rest of its time */
	CALL_AGAIN,          /* it returns EINTR; it could be made again, but then its time would begin anew */
	CALL_OTHER,          /* not known */
};

struct machine_thread {
	uint8_t nreg;        /* number of registers in struct thread_regs */
	uint8_t ndwarf;      /* the first ones, which DWARF numbers */
	uint8_t sp, pc;      /* numbers of these two */
	/* Reads the registers of a thread that ptrace has stopped. False: not possible. This and all fields up to waits_for_child
	 * are NULL if Chord does not run on the machine. */
	bool (*read)(pid_t tid, struct thread_regs *r);
	/* True if the stop ended a system call of the thread with EINTR; *number: of the call. */
	bool (*call_ended)(pid_t tid, uint64_t *number);
	/* Makes the thread repeat that call when it continues. No other register changes. */
	void (*call_again)(pid_t tid, uint64_t number);
	enum call_kind (*call_kind)(uint64_t number);
	/* True if a thread that waits in this call waits for a child that runs in its memory. */
	bool (*waits_for_child)(uint64_t number);
	/* True if these bytes, signal_return_size many, are the code to which handlers of signals return. */
	uint8_t signal_return_size;
	bool (*is_signal_return)(const uint8_t *bytes);
};

enum { SIGNAL_RETURN_MOST = 16 };

#endif
