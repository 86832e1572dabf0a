/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine to inspect a thread of another process that stands still, under Linux. */
#ifndef CHORD_MACHINE_THREAD_H
#define CHORD_MACHINE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { THREAD_REGS_MOST = 40 };

/* Registers by DWARF's numbers, and behind these what DWARF has no number for. */
struct thread_regs {
	uint64_t reg[THREAD_REGS_MOST];
	uint64_t base;       /* of the thread's counters, if has_base: see struct counter_home */
	bool has_base;
};

/* What an interruption does to a system call that waits. */
enum call_kind {
	CALL_RESTARTS,       /* nothing: the kernel takes it up again, with what is left of its time */
	CALL_AGAIN,          /* it gives EINTR, and could be made once more but that its time would begin anew */
	CALL_OTHER,          /* nobody knows */
};

struct machine_thread {
	uint8_t nreg;        /* of struct thread_regs */
	uint8_t ndwarf;      /* the first so many of them are DWARF's */
	uint8_t sp, pc;      /* which these are */
	/* Reads the registers of a thread that ptrace has stopped. False: they cannot be read. This and what follows up to
	 * waits_for_child is NULL if Chord does not run on the machine. */
	bool (*read)(pid_t tid, struct thread_regs *r);
	/* Did the stop end a system call of the thread with EINTR? Then *number. */
	bool (*call_ended)(pid_t tid, uint64_t *number);
	/* Has it make that call again when it goes on. No other register changes. */
	void (*call_again)(pid_t tid, uint64_t number);
	enum call_kind (*call_kind)(uint64_t number);
	/* Does the thread that waits in this call wait for a child which runs in its memory? */
	bool (*waits_for_child)(uint64_t number);
	/* Is that, so many bytes, the code to which handlers of signals return? */
	uint8_t signal_return_size;
	bool (*is_signal_return)(const uint8_t *bytes);
};

enum { SIGNAL_RETURN_MOST = 16 };

#endif
