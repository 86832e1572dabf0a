/* SPDX-License-Identifier: MIT */
/* What the weaver, the runtime and the readers of traces share: the file that a process built with -fchord=trace leaves beside its
 * profile. This file and docs/format.md change together, with CHORD_TRACE_VERSION. Everything is little-endian; types and
 * constants only. */
#ifndef CHORD_TRACE_H
#define CHORD_TRACE_H

#include "format/format.h"

#define CHORD_TRACE_VERSION 2 /* in 1 all rings have CHORD_TRACE_SEGMENTS */
#define CHORD_TRACE_MAGIC 0x3145434152544843u /* "CHTRACE1" */
#define CHORD_TRACE_SUFFIX ".trace"           /* behind the profile's name */

/* A stream is what one region (format.h) wrote: slots of 32 bits, in the order in which they were reserved. A slot is
 *   0            reserved, and not written: the thread stood between the two, or still does
 *   a token      its CHORD_SLOT_KIND is 0: the low 32 bits of the address in the process, for base 0, of the counter of the
 *                path that ended. A path that leads to a call is written before the call
 *   a mark       else: an enum chord_mark, and 29 bits of payload above */
#define CHORD_SLOT_KIND(slot) ((slot) & 7u)
#define CHORD_SLOT_PAYLOAD(slot) ((slot) >> 3)
#define CHORD_SLOT_MARK(kind, payload) ((uint32_t)(payload) << 3 | (kind))

enum chord_mark {
	CHORD_MARK_MORE = 1,   /* 29 more bits for the event before: higher ones */
	CHORD_MARK_THREAD = 2, /* a thread begins: its number, from 1 on; it has the region now */
	CHORD_MARK_CHILD = 3,  /* a forked child begins, in the middle of its parent's stack: its process id */
	CHORD_MARK_JUMP = 4,   /* a nonlocal jump is made: it ends so many measured activations, besides the one that goes on;
	                        * CHORD_MARK_MOST: not known how many */
	CHORD_MARK_MODULES = 5, /* the list of modules has so many entries from here on */
	CHORD_MARK_EVENT = 6,  /* something has happened: an enum chord_event, the low 24 bits of its value above. A MORE follows */
	CHORD_MARK_NONE = 7,   /* says nothing; but see CHORD_DATA_... and CHORD_WORD */
};
#define CHORD_MARK_MOST 0x1fffffffu

/* Readers pass over events that they do not know. */
enum chord_event {
	CHORD_EVENT_STRUCK = 1, /* a signal's handler is entered. CHORD_STRUCK: where it interrupted the thread */
	CHORD_EVENT_ENDS = 2,   /* the thread or process ends, with what is active in it. CHORD_ENDS: how. What runs on the way out
	                         * (destructors, cleanup) comes behind */
	CHORD_EVENT_STAYS = 3,  /* it does not, after all: exec failed, or the signal had a handler. Value 0 */
	CHORD_EVENT_CREATES = 4, /* a thread is about to be created. CHORD_CREATES: its number, and the stream that it writes */
	CHORD_EVENT_UNMADE = 5, /* that failed. The number of the stream */
	CHORD_EVENT_FORKS = 6,  /* the process is about to fork: for which time, as it counts */
	CHORD_EVENT_FORKED = 7, /* behind CHORD_MARK_CHILD: CHORD_FORKED: by which process, and its number there */
	CHORD_EVENT_JOINS = 8,  /* the thread has joined another one, CHORD_CREATES: all of that stands before in its stream */
	CHORD_EVENT_STAMP = 9,  /* a number that no other stamp has; one with a smaller number was before, in whichever stream.
	                         * Forked children count on with their parent */
};
#define CHORD_EVENT_OF(payload) ((payload) & 31u)
#define CHORD_EVENT_VALUE(payload, more) ((uint64_t)(payload) >> 5 | (uint64_t)(more) << 24)
/* The number of a module in the profile, and a link-time address in it: of the instruction that would have been the next. All 0: in
 * none, or it is not known. */
#define CHORD_STRUCK(module, addr) ((uint64_t)((module) + 1) << 40 | ((addr) & 0xffffffffffu))
#define CHORD_STRUCK_MODULE(value) ((uint32_t)((value) >> 40) - 1)
#define CHORD_STRUCK_ADDR(value) ((value) & 0xffffffffffu)
#define CHORD_STRUCK_RETURNING 1 /* in none: a handler that had interrupted the thread was about to go back */
#define CHORD_STRUCK_OUTSIDE 2   /* elsewhere in no module, or in the runtime, where that does something for the program */
#define CHORD_STRUCK_MODULES 0x1fff /* from that number on it is not known */


enum chord_ends {
	CHORD_ENDS_EXIT = 1,    /* the process: main returned, or exit was called */
	CHORD_ENDS_AT_ONCE,     /* by _exit, quick_exit or the system call */
	CHORD_ENDS_SIGNAL,      /* by a signal that it sends itself; its number is told */
	CHORD_ENDS_EXEC,        /* it executes another program */
	CHORD_ENDS_DAEMON,      /* in daemon(): the child goes on */
	CHORD_ENDS_THREAD,      /* the thread: pthread_exit, thrd_exit or the system call */
	CHORD_ENDS_CANCELLED,   /* it is cancelled */
	CHORD_ENDS_GONE,        /* written by another thread at the end of the process: this one had ended before */
};
#define CHORD_ENDS(how, signal) ((uint64_t)(signal) << 8 | (how))
#define CHORD_ENDS_HOW(value) ((uint32_t)(value) & 255u)
#define CHORD_ENDS_BY(value) ((uint32_t)((value) >> 8) & 255u)
#define CHORD_CREATES(thread, stream) ((uint64_t)(stream) << 29 | ((thread) & CHORD_MARK_MOST))
#define CHORD_CREATES_THREAD(value) ((uint32_t)(value) & CHORD_MARK_MOST)
#define CHORD_CREATES_STREAM(value) ((uint32_t)((value) >> 29))
#define CHORD_FORKED(pid, n) ((uint64_t)(n) << 24 | ((pid) & 0xffffffu))
#define CHORD_FORKED_PID(value) ((uint32_t)(value) & 0xffffffu)
#define CHORD_FORKED_N(value) ((value) >> 24)

/* What code with the measure data writes down of registers is a value of 48 bits in two slots: a CHORD_MARK_NONE whose payload is
 * not 0, then a CHORD_MARK_MORE with the 29 low bits, which readers without the measure pass over. What signals' handlers write may
 * stand between them, as between any two slots. Those of one context are in the order in which it ran. The first one has
 *   bit 3          1
 *   bits 4-12      which record of the procedure it is, by its number in the map modulo CHORD_DATA_CHECKS - 1; the last number:
 *                  the activation begins here, and this is its stack pointer
 *   bits 13-31     the 19 high bits */
enum { CHORD_DATA_CHECKS = 1 << 9, CHORD_DATA_BEGINS = CHORD_DATA_CHECKS - 1, CHORD_DATA_LOW = 29, CHORD_DATA_HIGH = 13 };
/* What a record of the map is of (docs/format.md): below that a register, else what access number `what` less that adds up. */
enum { CHORD_DATA_SUM = 32 };
#define CHORD_DATA_FIRST(check) ((uint32_t)(check) << 4 | 1u << 3 | CHORD_MARK_NONE)
#define CHORD_IS_DATA(slot) (((slot) & 15) == (1u << 3 | CHORD_MARK_NONE))
#define CHORD_DATA_CHECK(slot) ((slot) >> 4 & (CHORD_DATA_CHECKS - 1))
#define CHORD_DATA_VALUE(first, second) ((uint64_t)((first) >> CHORD_DATA_HIGH) << CHORD_DATA_LOW | (second) >> 3)

/* Code that traces bits (CHORD_PATH_BITS) writes a word of outcomes as a CHORD_MARK_NONE whose bit 3 is 0; a word is never 0. The
 * context's next token is the path with the same end of which the word is. What signals' handlers write may stand between them. */
enum { CHORD_WORD_SHIFT = 4 };
#define CHORD_WORD(word) ((uint32_t)(word) << CHORD_WORD_SHIFT | CHORD_MARK_NONE)
#define CHORD_IS_WORD(slot) (((slot) & 15) == CHORD_MARK_NONE && (slot) >> CHORD_WORD_SHIFT)
#define CHORD_WORD_OF(slot) ((slot) >> CHORD_WORD_SHIFT)

/* The ring of a region: segments, each of so many bytes, in one extent; as many as it has room for behind its head. A pointer
 * into it that is at a multiple of the segment's size is at the beginning of a segment. */
enum {
	CHORD_TRACE_SEGMENT = 1 << 16,
	CHORD_TRACE_SEGMENTS = 4,                    /* of a ring at least */
	CHORD_TRACE_SEGMENTS_COLLECTED = 32,         /* of one that a collector empties */
	CHORD_TRACE_SLOTS = CHORD_TRACE_SEGMENT / 4, /* of a segment */
	CHORD_TRACE_PACKED = 1 << 20,                /* bytes of an extent of packed segments */
};

/* The head is a page; then come extents, each a whole number of pages and with a page for its head (struct chord_extent_head, where
 * `module` is the stream's number here: that of the region; ~0 for threads that have none). */
#define CHORD_TRACE_FIELDS(X) \
	X(uint64_t, magic, "CHORD_TRACE_MAGIC") \
	X(uint32_t, version, "CHORD_TRACE_VERSION") \
	X(uint32_t, flags, "CHORD_TRACE_...") \
	X(uint64_t, used, "bytes of the file that are complete; extents end here") \
	X(uint64_t, pid, "process that wrote it") \
	X(uint64_t, id, "id of the profile that it belongs to") \
	X(uint64_t, id2, "the rest of it") \
	X(uint64_t, page, "bytes of a page in this file") \
	X(uint64_t, error, "the number of the error for which CHORD_TRACE_STOPPED is set")
struct chord_trace_head { CHORD_TRACE_FIELDS(CHORD_FIELD) };

enum {
	CHORD_TRACE_STOPPED = 1, /* no more could be written: what came later is missing, in all streams */
	CHORD_TRACE_SHARED = 2,  /* threads shared a stream, without a lock: its slots may be lost, doubled or mixed */
	CHORD_TRACE_UNKNOWN = 4, /* the tokens of some module were those of another one, too */
	CHORD_TRACE_LAST = 16,   /* CHORD_TRACE=last:SIZE: nothing is packed, and of each stream the last so many bytes are kept */
	CHORD_TRACE_OVERRUN = 32, /* two contexts were interrupted at once where a segment of a full ring begins: slots may be lost,
	                           * doubled or mixed */
	CHORD_TRACE_LATE = 8,    /* the beginning is missing: no room for what came before the runtime was up, or a fork amid it */
};

enum chord_trace_extent {
	/* Behind the head: the ring. a: number of the first segment in it, counted from 0 in the stream. b: so many segments of the
	 * stream have been packed, or lie in rings before this one for good. c: its number among the stream's rings. Segment s of
	 * the stream is in place s - a, modulo the number of segments in the ring. A ring that another one follows has the
	 * segments from b on that are before the next ring's a. A segment that is also in a record is taken from there. A stream
	 * begins with any segment. */
	CHORD_TRACE_RING = 1,
	/* a: bytes used behind the head: records, struct chord_trace_record and then its bytes, each from a multiple of 4 on. b:
	 * number of the first segment in it. The packer begins anew with each of these extents. c: CHORD_TRACE_ZSTD, or 0: the
	 * bytes of a record are what the packer gives. */
	CHORD_TRACE_PACKS = 2,
	/* a: entries used, of struct chord_trace_module. */
	CHORD_TRACE_MODULES = 3,
};

struct chord_trace_record {
	uint32_t segment;  /* number in the stream, its low 32 bits; those between two records are in rings */
	uint32_t bytes;    /* that follow */
	uint32_t sum;      /* of all slots of the segment, each times 0x9e3779b1 plus its number in it */
};

/* In the head of a ring, from that byte on: what was in it with CHORD_TRACE_LAST before its segment b, and is gone. */
#define CHORD_TRACE_GONE 256
struct chord_trace_gone {
	uint64_t segments;  /* so many */
	uint32_t thread;    /* the last mark there of a thread or of a forked child; 0: there was none */
	uint32_t modules;   /* of modules */
};

/* A process may leave the packing to another one, its collector (chord trace --run). Both have the file mapped; what they say to
 * each other is in the pages of heads, from this byte on, and means nothing to readers. */
#define CHORD_TRACE_TALK 512
#define CHORD_TRACE_VARIABLE "CHORD_TRACE" /* of the environment: how a program traces */
#define CHORD_TRACE_KEEP_LAST "last:" /* CHORD_TRACE=last:64M */
#define CHORD_TRACE_COLLECT "collect:" /* CHORD_TRACE=collect:PATH: a datagram socket; the process sends the file's descriptor */
#define CHORD_TRACE_FILTERED "filtered:" /* before PATH: a filter of system calls permits all of that, as chord trace --run knows */
#define CHORD_TRACE_OWNER_DIED 0x40000000u /* FUTEX_OWNER_DIED: set by the kernel in `collector` */

/* In the file's head. */
struct chord_trace_talk {
	uint32_t collector; /* 0: none has come; the thread id of the collector; with CHORD_TRACE_OWNER_DIED: it is gone */
	uint32_t lock;      /* who adds an extent now: 0 nobody, else CHORD_TRACE_BY_... */
	uint32_t bell;      /* a futex: the process adds 1 where there is much to pack */
	uint32_t sleeps;    /* the collector waits on it */
};
enum { CHORD_TRACE_BY_PROCESS = 1, CHORD_TRACE_BY_COLLECTOR = 2 };

/* In a ring's head. The collector writes the record of a segment, sets `done`, zeroes the segment, sets the head's b. */
struct chord_trace_room {
	uint64_t filled;    /* the thread: segments before this one are complete when no slot in them is 0 */
	uint64_t done;      /* the collector: records of those before this one are complete */
	uint32_t freed;     /* a futex: the collector adds 1 with each segment that it has emptied */
	uint32_t waiting;   /* the thread waits on `freed` */
	uint32_t collected; /* 1: the collector packs; the thread does not. Never changes */
	uint32_t pad;
};

/* Where no file can be made, the same is in memory: the head so far behind the page with the address of the control block
 * (struct chord_live_anchor); in it and in each extent's head, at byte CHORD_TRACE_NEXT, the address of the extent that would
 * come next; 0: there is none. There are no packed segments. */
enum { CHORD_TRACE_MOORED = CHORD_PAGE_LEAST, CHORD_TRACE_NEXT = 1024 };

/* The bytes of all records of an extent, one behind the other, are one frame of zstd that has not ended, in which each record ends
 * with a block: what the packer gives for its segment. The window is of so many bits at most. */
enum { CHORD_TRACE_ZSTD = 1, CHORD_TRACE_ZSTD_WINDOW = 19 };

/* A module that was loaded. Tokens from `low` on, so many bytes (modulo 2^32), are its. */
struct chord_trace_module {
	uint32_t low, bytes;
	uint64_t first;    /* link-time address that `low` stands for */
	uint32_t module;   /* its number in the profile */
	uint32_t high;     /* the high 32 bits of the address of which `low` are the low ones; files of old runtimes have 0 */
};

#endif
