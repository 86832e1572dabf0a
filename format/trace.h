/* SPDX-License-Identifier: MIT */
/* The format that the weaver, the runtime and the readers of traces share: the file that a process built with -fchord=trace leaves
 * beside its profile. This file and docs/format.md change together, with CHORD_TRACE_VERSION. Everything is little-endian; there
 * are only types and constants. */
#ifndef CHORD_TRACE_H
#define CHORD_TRACE_H

#include "format/format.h"

#define CHORD_TRACE_VERSION 2 /* in version 1 all rings have CHORD_TRACE_SEGMENTS */
#define CHORD_TRACE_MAGIC 0x3145434152544843u /* "CHTRACE1" */
#define CHORD_TRACE_SUFFIX ".trace"           /* appended to the profile's name */

/* A stream is what one region (format.h) wrote: slots of 32 bits, in the order in which they were reserved. A slot is
 *   0            reserved but not written: the thread was or is between the two steps
 *   a token      CHORD_SLOT_KIND is 0: the low 32 bits of the address, in the process and for base 0, of the counter of the
 *                path that ended. A path that leads to a call is written before the call
 *   a mark       otherwise: an enum chord_mark, and 29 bits of payload above it */
#define CHORD_SLOT_KIND(slot) ((slot) & 7u)
#define CHORD_SLOT_PAYLOAD(slot) ((slot) >> 3)
#define CHORD_SLOT_MARK(kind, payload) ((uint32_t)(payload) << 3 | (kind))

enum chord_mark {
	CHORD_MARK_MORE = 1,   /* 29 more bits, higher ones, for the event before */
	CHORD_MARK_THREAD = 2, /* a thread begins, and has the region from here on: its number, from 1 */
	CHORD_MARK_CHILD = 3,  /* a forked child begins, in the middle of its parent's stack: its process id */
	CHORD_MARK_JUMP = 4,   /* a nonlocal jump: the number of measured activations that it ends, besides the one that continues;
	                        * CHORD_MARK_MOST: not known */
	CHORD_MARK_MODULES = 5, /* the list of modules has this many entries from here on */
	CHORD_MARK_EVENT = 6,  /* an event: an enum chord_event, above it the low 24 bits of its value. A MORE follows */
	CHORD_MARK_NONE = 7,   /* no meaning, except as CHORD_DATA_... and CHORD_WORD */
};
#define CHORD_MARK_MOST 0x1fffffffu

/* Readers skip events that they do not know. */
enum chord_event {
	CHORD_EVENT_STRUCK = 1, /* a signal's handler is entered. Value: CHORD_STRUCK, where it interrupted the thread */
	CHORD_EVENT_ENDS = 2,   /* the thread or process ends, and its activations with it. Value: CHORD_ENDS, how. Slots of what
	                         * runs on the way out (destructors, cleanup) come after it */
	CHORD_EVENT_STAYS = 3,  /* the end did not happen: exec failed, or the signal had a handler. Value 0 */
	CHORD_EVENT_CREATES = 4, /* a thread is about to be created. Value: CHORD_CREATES, its number and its stream */
	CHORD_EVENT_UNMADE = 5, /* creating that thread failed. Value: the number of the stream */
	CHORD_EVENT_FORKS = 6,  /* the process is about to fork. Value: the number of this fork in the process */
	CHORD_EVENT_FORKED = 7, /* after CHORD_MARK_CHILD. Value: CHORD_FORKED, the parent's process id and the number of the fork
	                         * there */
	CHORD_EVENT_JOINS = 8,  /* the thread has joined another one. Value: CHORD_CREATES; everything in that stream happened
	                         * before */
	CHORD_EVENT_STAMP = 9,  /* Value: a number that no other stamp has. A stamp with a smaller number was earlier, in whichever
	                         * stream. Forked children continue their parent's numbers */
};
#define CHORD_EVENT_OF(payload) ((payload) & 31u)
#define CHORD_EVENT_VALUE(payload, more) ((uint64_t)(payload) >> 5 | (uint64_t)(more) << 24)
/* Where a thread was interrupted: the number of a module in the profile, and the link-time address of the instruction that would
 * have been next. All 0: in no module, or not known. */
#define CHORD_STRUCK(module, addr) ((uint64_t)((module) + 1) << 40 | ((addr) & 0xffffffffffu))
#define CHORD_STRUCK_MODULE(value) ((uint32_t)((value) >> 40) - 1)
#define CHORD_STRUCK_ADDR(value) ((value) & 0xffffffffffu)
#define CHORD_STRUCK_RETURNING 1 /* address in no module: a handler that had interrupted the thread was about to return */
#define CHORD_STRUCK_OUTSIDE 2   /* elsewhere outside of all modules, or in the runtime while it works for the program */
#define CHORD_STRUCK_MODULES 0x1fff /* modules with this and higher numbers cannot be told */


enum chord_ends {
	CHORD_ENDS_EXIT = 1,    /* the process ends: main returned, or exit was called */
	CHORD_ENDS_AT_ONCE,     /* the process ends by _exit, quick_exit or the system call */
	CHORD_ENDS_SIGNAL,      /* the process ends by a signal that it sends itself; the number is in the value */
	CHORD_ENDS_EXEC,        /* the process executes another program */
	CHORD_ENDS_DAEMON,      /* the process ends in daemon(), while the child continues */
	CHORD_ENDS_THREAD,      /* the thread ends: pthread_exit, thrd_exit or the system call */
	CHORD_ENDS_CANCELLED,   /* the thread is cancelled */
	CHORD_ENDS_GONE,        /* the thread had ended before; another thread wrote this at the end of the process */
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

/* Code with the measure data writes a value of 48 bits in two slots: a CHORD_MARK_NONE whose payload is not 0, then a
 * CHORD_MARK_MORE with the 29 low bits. Readers without the measure skip both. Slots of signal handlers may stand between them, as
 * between any two slots. Values of one context are in the order in which it ran. The first slot has
 *   bit 3          1
 *   bits 4-12      the number of the procedure's record in the map, modulo CHORD_DATA_CHECKS - 1; or CHORD_DATA_BEGINS:
 *                  the activation begins here, and the value is its stack pointer
 *   bits 13-31     the 19 high bits */
enum { CHORD_DATA_CHECKS = 1 << 9, CHORD_DATA_BEGINS = CHORD_DATA_CHECKS - 1, CHORD_DATA_LOW = 29, CHORD_DATA_HIGH = 13 };
/* The field `what` of a record in the map (docs/format.md): below CHORD_DATA_SUM a register, otherwise the address of access number
 * `what` - CHORD_DATA_SUM. */
enum { CHORD_DATA_SUM = 32 };
#define CHORD_DATA_FIRST(check) ((uint32_t)(check) << 4 | 1u << 3 | CHORD_MARK_NONE)
#define CHORD_IS_DATA(slot) (((slot) & 15) == (1u << 3 | CHORD_MARK_NONE))
#define CHORD_DATA_CHECK(slot) ((slot) >> 4 & (CHORD_DATA_CHECKS - 1))
#define CHORD_DATA_VALUE(first, second) ((uint64_t)((first) >> CHORD_DATA_HIGH) << CHORD_DATA_LOW | (second) >> 3)

/* Code that traces bits (CHORD_PATH_BITS) writes a word of outcomes as a CHORD_MARK_NONE whose bit 3 is 0; a word is never 0. The
 * next token of the same context is a path with the same end as the path that the word describes. Slots of signal handlers may
 * stand between the two. */
enum { CHORD_WORD_SHIFT = 4 };
#define CHORD_WORD(word) ((uint32_t)(word) << CHORD_WORD_SHIFT | CHORD_MARK_NONE)
#define CHORD_IS_WORD(slot) (((slot) & 15) == CHORD_MARK_NONE && (slot) >> CHORD_WORD_SHIFT)
#define CHORD_WORD_OF(slot) ((slot) >> CHORD_WORD_SHIFT)

/* The ring of a region is one extent: a head, and as many segments as there is room for. A pointer into the ring that is a multiple
 * of the segment's size is the beginning of a segment. */
enum {
	CHORD_TRACE_SEGMENT = 1 << 16,               /* bytes of a segment */
	CHORD_TRACE_SEGMENTS = 4,                    /* of a ring, at least */
	CHORD_TRACE_SEGMENTS_COLLECTED = 32,         /* of a ring that a collector empties */
	CHORD_TRACE_SLOTS = CHORD_TRACE_SEGMENT / 4, /* slots of a segment */
	CHORD_TRACE_PACKED = 1 << 20,                /* bytes of an extent of packed segments */
};

/* The file: a page for the head, then extents, each a whole number of pages. An extent's first page has its head (struct
 * chord_extent_head), whose field `module` is the number of the stream, which is that of the region; ~0: threads that have none. */
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
	CHORD_TRACE_STOPPED = 1, /* nothing more could be written: everything later is missing, in all streams */
	CHORD_TRACE_SHARED = 2,  /* threads shared a stream without a lock: slots may be lost, doubled or mixed */
	CHORD_TRACE_UNKNOWN = 4, /* two modules had the same tokens */
	CHORD_TRACE_LAST = 16,   /* CHORD_TRACE=last:SIZE: nothing is packed, and the last SIZE bytes of each stream are kept */
	CHORD_TRACE_OVERRUN = 32, /* a full ring's segment began while two contexts were interrupted: slots may be lost, doubled or
	                           * mixed */
	CHORD_TRACE_LATE = 8,    /* the beginning is missing: there was no room before the runtime was up, or a fork came in the
	                          * middle */
};

enum chord_trace_extent {
	/* After the head: the ring. a: number in the stream of the ring's first segment, from 0. b: this many segments of the
	 * stream have been packed, or stay in earlier rings for good. c: the ring's number among those of the stream. Segment s of
	 * the stream is in place s - a, modulo the number of segments in the ring. A ring that is followed by another one has the
	 * segments from b up to the next ring's a. If a segment is also in a record, the record is used. A stream begins with any
	 * segment. */
	CHORD_TRACE_RING = 1,
	/* a: bytes used after the head: records, each a struct chord_trace_record and its bytes, each at a multiple of 4. b: number
	 * of the first segment in it. The packer's state is reset at the beginning of each of these extents. c: CHORD_TRACE_ZSTD,
	 * or 0: a record's bytes are the packer's output. */
	CHORD_TRACE_PACKS = 2,
	/* a: number of entries used, struct chord_trace_module. */
	CHORD_TRACE_MODULES = 3,
};

struct chord_trace_record {
	uint32_t segment;  /* low 32 bits of its number in the stream; segments between two records are in rings */
	uint32_t bytes;    /* how many follow */
	uint32_t sum;      /* over all slots of the segment: slot number i times 0x9e3779b1, plus i */
};

/* In the head of a ring, from this byte on, with CHORD_TRACE_LAST: what stood before its segment b and is gone. */
#define CHORD_TRACE_GONE 256
struct chord_trace_gone {
	uint64_t segments;  /* how many */
	uint32_t thread;    /* the last mark there of a thread or forked child; 0: none */
	uint32_t modules;   /* the last mark there of modules; 0: none */
};

/* A process may leave the packing to another process, its collector (chord trace --run). Both have the file mapped. They
 * communicate in the pages of heads, from this byte on; readers ignore these bytes. */
#define CHORD_TRACE_TALK 512
#define CHORD_TRACE_VARIABLE "CHORD_TRACE" /* the environment variable that says how a program traces */
#define CHORD_TRACE_KEEP_LAST "last:" /* CHORD_TRACE=last:64M */
#define CHORD_TRACE_COLLECT "collect:" /* CHORD_TRACE=collect:PATH: a datagram socket, to which the process sends the file's
                                        * descriptor */
#define CHORD_TRACE_FILTERED "filtered:" /* before PATH: a filter of system calls permits everything that this needs; chord trace
                                          * --run has found that out */
#define CHORD_TRACE_OWNER_DIED 0x40000000u /* FUTEX_OWNER_DIED: set by the kernel in `collector` */

/* In the file's head. */
struct chord_trace_talk {
	uint32_t collector; /* 0: no collector has come; otherwise its thread id; with CHORD_TRACE_OWNER_DIED: it is gone */
	uint32_t lock;      /* who is adding an extent: 0 nobody, else CHORD_TRACE_BY_... */
	uint32_t bell;      /* a futex: the process adds 1 when there is much to pack */
	uint32_t sleeps;    /* 1: the collector waits on `bell` */
};
enum { CHORD_TRACE_BY_PROCESS = 1, CHORD_TRACE_BY_COLLECTOR = 2 };

/* In a ring's head. For each segment the collector writes the record, sets `done`, zeroes the segment, and sets the head's b. */
struct chord_trace_room {
	uint64_t filled;    /* by the thread: segments before this one are complete once no slot in them is 0 */
	uint64_t done;      /* by the collector: the records of segments before this one are complete */
	uint32_t freed;     /* a futex: the collector adds 1 for each segment that it has emptied */
	uint32_t waiting;   /* the thread waits on `freed` */
	uint32_t collected; /* 1: the collector packs, and the thread does not. Never changes */
	uint32_t pad;
};

/* If no file can be made, the same structures are in memory. The head is this many bytes after the page with the address of the
 * control block (struct chord_live_anchor). The head and each extent's head have, at byte CHORD_TRACE_NEXT, the address of the next
 * extent; 0: there is none. There are no packed segments. */
enum { CHORD_TRACE_MOORED = CHORD_PAGE_LEAST, CHORD_TRACE_NEXT = 1024 };

/* CHORD_TRACE_ZSTD: the bytes of an extent's records, one after another, are one zstd frame that has not ended. Each record ends
 * with a zstd block; the decompressed bytes of a record are the packer's output. The window has at most CHORD_TRACE_ZSTD_WINDOW
 * bits. */
enum { CHORD_TRACE_ZSTD = 1, CHORD_TRACE_ZSTD_WINDOW = 19 };

/* A loaded module. Its tokens are from `low` on, `bytes` many (modulo 2^32). */
struct chord_trace_module {
	uint32_t low, bytes;
	uint64_t first;    /* link-time address that corresponds to `low` */
	uint32_t module;   /* its number in the profile */
	uint32_t high;     /* the high 32 bits of the address whose low ones are `low`; 0 in files of old runtimes */
};

#endif
