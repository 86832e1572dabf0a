/* SPDX-License-Identifier: MIT */
/* What the weaver, the runtime and the readers share: the map that travels in
 * the object file and the profile that a process leaves behind. This file and
 * docs/format.md change together, with CHORD_FORMAT_VERSION.
 *
 * Everything is little-endian. This header and measures.h need no other and are used by
 * the runtime, which has no libc: types and constants only. */
#ifndef CHORD_FORMAT_H
#define CHORD_FORMAT_H

#include "format/measures.h"

#include <stdint.h>

#ifndef CHORD_FORMAT_VERSION /* tests build runtimes of another version */
#define CHORD_FORMAT_VERSION 7
#endif

/* Names of sections. CNT has to be a C identifier: linkers then define
 * __start_chord_cnt and __stop_chord_cnt. */
#define CHORD_SECTION_CNT "chord_cnt"   /* counters: zeroed, writable */
/* Map records: not loaded. By its beginning gold takes it for debugging information, in which references to what it
 * drops are 0; elsewhere they would be errors. */
#define CHORD_SECTION_MAP ".pdr.chord.map"
/* So many in an object have this name, the next so many `.pdr.chord.map.1`, and so on: assemblers walk all sections of
 * a name for each new one. */
#define CHORD_MAP_BUCKET 256
#define CHORD_SECTION_SUM "chord_sum"   /* a 32-bit distance to each counter of events that are summed for calls, 0 for others */
#define CHORD_SECTION_PATH "chord_path" /* hash tables of paths: struct chord_path_table for each */
#define CHORD_SECTION_NOTE ".note.chord" /* where a module's runtime is */
/* Not loaded: is there, with a byte for each object that may have paths of kind CHORD_PATH_WITNESS or BITS. It is named as the map
 * is. */
#define CHORD_SECTION_WITNESS ".pdr.chord.witness"

/* ---- the map: records one after another, not aligned ---- */

#define CHORD_MAP_MAGIC 0x314d4843u /* "CHM1" */

/* Fields of the fixed part, in order: X(type, name, what it is). Then follow
 *   npart x struct chord_part
 *   u32 nwoven; nwoven x u32       offsets in the woven code, see below
 *   u32 nevent; nevent x u64       link-time addresses of the counters of events, which
 *                                  all procedures of a module share
 *   u32 blob size; the blob        LEB128 numbers, see below */
#define CHORD_MAP_FIELDS(X) \
	X(uint32_t, magic, "CHORD_MAP_MAGIC") \
	X(uint32_t, size, "bytes of the whole record") \
	X(uint32_t, version, "CHORD_FORMAT_VERSION") \
	X(uint32_t, flags, "CHORD_MAP_...") \
	X(uint64_t, counters, "link-time address of the first counter; 0: none") \
	X(uint64_t, section, "link-time address of its section; 0: the linker dropped it, the record says nothing") \
	X(uint32_t, ncounter, "64-bit counters") \
	X(uint32_t, npart, "pieces of code: 1, or more with .cold parts")

#define CHORD_PART_FIELDS(X) \
	X(uint64_t, addr, "link-time address of the woven code") \
	X(uint32_t, orig_size, "bytes of the code before weaving") \
	X(uint32_t, woven_size, "bytes of the code after weaving")

#define CHORD_FIELD(type, name, what) type name;
struct chord_map_head { CHORD_MAP_FIELDS(CHORD_FIELD) } __attribute__((packed));
struct chord_part { CHORD_PART_FIELDS(CHORD_FIELD) } __attribute__((packed));

enum {
	CHORD_MAP_REFUSED = 1, /* passed through untouched; the blob says why, and has no blocks */
	CHORD_MAP_AT_CALLS = 2, /* some measure has that trait: events are counted so that sums over calls can be had */
};

#define CHORD_MAP_BASES "bases"

/* The blob. "n" is an unsigned LEB128 number, "s" a number of bytes and the bytes.
 *
 *   s name, s file, s reason      symbol; .file operand; why it was refused
 *   n nblock, then for each block
 *       n part, n offset          where it was before weaving
 *       n counter                 0: none; c: counter c-1 counts its entries
 *       n ninsn, then ninsn bytes length in bits 0-3, enum chord_insn in bits 4-7
 *   n nvert                       blocks are vertices 0..nblock-1, ENTRY is nblock,
 *                                 EXIT is nblock+1, hubs follow
 *   n nedge, then for each edge
 *       n from, n to, n kind      enum chord_edge
 *       n counter                 0: none (derived); c: counter c-1
 *   n ncall, then for each call
 *       n block, n insn           the call is instruction insn of that block
 *       n flags                   CHORD_CALL_...
 *       n sum                     0: none; c: counters c-1, one for each event, have the events from
 *                                 the call to its return, see below; with CHORD_CALL_POINTER counter
 *                                 c-1+nevent is a place of the runtime's, with no count
 *       s callee                  if there is a sum: the symbol that is called, "" if it is not known
 *   n nseg, then for each segment
 *       n block, n insn           from here on, up to the next segment or the end of
 *                                 the block, woven code runs parallel to the original
 *   then sections up to the end, in any order, none twice:
 *   s tag, n size                 then so many bytes. A reader names sections that it does not know, and passes over them
 *
 * There is one for each measure, whose name is the tag (measures.h); it is empty if it is not listed here.
 *
 * Section CHORD_MAP_BASES, if it is there:
 *   n nbase, then for each register that woven-in code adds to counters by
 *       n register                its number
 *       n what                    0: it has the address of the first counter, e: that of
 *                                 the counter of event e-1
 *
 * Section "events":
 *   n nevent                      as above
 *   nevent x (s name, n numbers, n stride, n span, z low)
 *                                 the counter is the sum of so many numbers, number i times
 *                                 low + i / stride % span; then for each block, for each event:
 *       z query                   QueryInc: what to add to the counter when control is before
 *                                 the block's first instruction
 *       n enter                   what entering the block adds to the events, before that
 *       n nrun; nrun x (n count, n events)
 *                                 what its instructions add, in runs of the same number
 *   sites inside blocks, n block + 1 (0: no more), each
 *       n insn                    the counters are changed before that instruction
 *       nevent x z add            by that much
 *   calls of local procedures, n block + 1 (0: no more), each
 *       n insn                    that of the call
 *       nevent x z lag            what the counters are behind by where the callee is entered
 *
 * Section "paths", for the paths of graph.h's struct dag:
 *   n kind                    enum chord_path_kind
 *   n table                   of its first entry, behind the first counter: bytes
 *   n size                    DENSE, SELECTED: counters; HASHED: log2 of entries
 *   nedge x n cut             1: the edge is cut (back edges are, too)
 *   n nval; nval x z val      by edge of the DAG
 *   nvert x (n held, z query, z start)
 *                             held: the path register means something there, and at calls in that block
 *                             register + query is the sum of the path so far; else query is. start: what the
 *                             register begins with behind a cut edge, and at ENTRY
 *   n ninterest               SELECTED: number of sums that are of interest; then each
 *
 * Section "blocks-vcnt":
 *   n where                   enum chord_vcnt
 *
 * "z" is a signed number n, written as an unsigned one: n < 0 ? -2 * n - 1 : 2 * n. Of refused
 * procedures everything behind the reason is missing, and nevent is 0.
 *
 * Sums (CHORD_MAP_AT_CALLS): before a call the events so far are subtracted from the sum, behind it they
 * are added. For activations that end at the call they are in the exit record.
 *
 * woven[] holds first nseg offsets (where a segment starts), then ncall offsets
 * (the return address of a call), each from the address of its block's part.
 *
 * The edge EXIT -> ENTRY is in the list (CHORD_EDGE_CLOSE); its count is the
 * number of activations. */

enum chord_insn {
	CHORD_INSN_OTHER,
	CHORD_INSN_CALL,
	CHORD_INSN_ICALL,  /* through a register or memory */
	CHORD_INSN_REP,    /* rep-prefixed string instruction: counted once an execution */
	CHORD_INSN_BRANCH, /* conditional */
	CHORD_INSN_JUMP,
	CHORD_INSN_IJUMP,
	CHORD_INSN_RET,
	CHORD_INSN_SYSCALL,
	CHORD_INSN_TRAP,   /* ud2, int3, hlt */
	CHORD_INSN_PAD,    /* nops of an alignment directive, run on the way to what is aligned */
};

enum chord_edge {
	CHORD_EDGE_FALL,     /* to the next block */
	CHORD_EDGE_TAKEN,    /* a conditional jump, taken */
	CHORD_EDGE_JUMP,     /* an unconditional jump */
	CHORD_EDGE_INDIRECT, /* into or out of a hub */
	CHORD_EDGE_EXIT,     /* ret, tail call, trap, leaving a call that does not come back */
	CHORD_EDGE_ENTRY,    /* ENTRY to the first block or another entry */
	CHORD_EDGE_LAND,     /* ENTRY to a landing pad: the activation goes on there */
	CHORD_EDGE_CLOSE,    /* EXIT to ENTRY: activations, landings, jumps received */
	CHORD_EDGE_NONLOCAL,     /* to EXIT by a jump to a receiver in another activation: the runtime records what it abandons */
	CHORD_EDGE_LOST,     /* as AWAY, but what it abandons is not recorded */
	CHORD_EDGE_RECEIVE,  /* ENTRY to a receiver: the activation goes on there */
	CHORD_EDGE_FAULT,    /* out of a gate: a signal's handler lets control go on elsewhere */
	CHORD_EDGE_KINDS,
};

enum {
	CHORD_CALL_NORETURN = 1, /* the graph has an edge to EXIT for it: exit records of it are ignored */
	CHORD_CALL_POINTER = 2,  /* which procedures it called is in the profile, under the number behind its sums */
	CHORD_CALL_TWICE = 4,    /* CHORD_PATHS: it may return twice; the path that leads to it is recorded before it */
};

/* A path's sum is a number from 0. The path register of an activation holds the address of its entry in a DENSE or SELECTED
 * table (for segment base 0), or, HASHED, the sum itself. */
enum chord_path_kind {
	CHORD_PATH_DENSE,    /* counter number s of the table: the path with sum s */
	CHORD_PATH_HASHED,   /* entries are struct chord_path_entry */
	CHORD_PATH_SELECTED, /* as DENSE; paths with a larger sum are not counted */
	CHORD_PATH_WITNESS,  /* as DENSE, of traces: what is written at an edge is the same on all ways there, the least sum of the
	                      * paths that end with the edge; which of them it was is told by what was written before */
	CHORD_PATH_BITS,     /* as DENSE, of traces: where more than one way leads to the end of a path, a word of outcomes is
	                      * written, and then the sum of a path with that end (src/graph/outcomes.c) */
	CHORD_PATH_KINDS,
};

/* What a map says of an edge of a procedure with paths. */
enum chord_cut {
	CHORD_NOT_CUT,
	CHORD_CUT,           /* paths end and begin there */
	CHORD_CUT_SOFTLY,    /* BITS: likewise, and a word of outcomes goes on until it is full */
};

/* Where counters of blocks-vcnt are. */
enum chord_vcnt {
	CHORD_VCNT_BLOCKS,   /* in blocks */
	CHORD_VCNT_EDGES,    /* as in edges, because blocks that need a counter have no place for one */
	CHORD_VCNTS,
};

/* The slot of an activation is the word at its CFA - CHORD_SLOT, whatever is there: on a machine whose calls push the return
 * address, this. The path register of an activation that keeps it in memory is at the address of its slot XOR the first word of
 * __chord_shadow. If the second word is ~that address >> CHORD_SHADOW_BITS, it is mapped. */
#define CHORD_SLOT 8
#define CHORD_SHADOW_BITS 24

/* In a hash table among the counters. The first place looked at for a sum is (uint32_t)sum * CHORD_PATH_HASH >> (32 - bits). */
#define CHORD_PATH_HASH 0x9e3779b1u
/* It is there or in one of the next places, so many in all, round the end; or, if others have these, outside of the table. */
#define CHORD_PATH_TRIES 8
struct chord_path_entry {
	uint64_t key;        /* sum + 1; 0: free */
	uint64_t count;
};

/* In CHORD_SECTION_PATH. */
struct chord_path_table {
	int32_t distance;    /* from this field to the first entry; 0: none, a text with paths */
	uint32_t bits;       /* log2 of entries; of a text 0, or 1 if only some of its paths are counted (2: of the runtime) */
};

/* ---- the note by which the runtimes of a process find one another ---- */

#define CHORD_NOTE_NAME "Chord"
#define CHORD_NOTE_MODULE 1 /* descriptor: int32_t, address of struct chord_module minus that of the descriptor */

/* ---- the profile: a header page, then extents, each a whole number of pages. The head says how large pages are: those of the
 * machine that wrote it, or larger ---- */

#define CHORD_PROFILE_MAGIC 0x31464f5250484343u /* "CCHPROF1" */

/* X(type, name, what it is) */
#define CHORD_PROFILE_FIELDS(X) \
	X(uint64_t, magic, "CHORD_PROFILE_MAGIC") \
	X(uint32_t, version, "CHORD_FORMAT_VERSION") \
	X(uint32_t, flags, "CHORD_PROFILE_...") \
	X(uint64_t, used, "bytes of the file that are complete; extents end here") \
	X(uint64_t, pid, "process that wrote it; 0 after a merge") \
	X(uint64_t, state, "enum chord_state: how far the process is known to have come") \
	X(uint64_t, threads, "threads that were given counters of their own, the first included") \
	X(uint64_t, lost, "threads that could not be given counters of their own") \
	X(uint64_t, in_flight, "walks of a stack that could not be finished") \
	X(uint64_t, id, "tells this profile from all others, copies of it excepted; id and id2 are 0 after a merge") \
	X(uint64_t, id2, "the rest of it") \
	X(uint64_t, run, "likewise of the run: of the profile that the run began with") \
	X(uint64_t, run2, "the rest of it") \
	X(uint64_t, of, "likewise: of the profile of the process that forked this one, or that this is a snapshot of; or 0") \
	X(uint64_t, of2, "the rest of it") \
	X(uint64_t, processes, "that counted here, one after the other") \
	X(uint64_t, ticks, "of the process with that pid: its start, as in /proc/PID/stat; 0: not asked for") \
	X(uint64_t, slot, "the number behind the name that was asked for; 0: it has that name itself, or another") \
	X(uint64_t, children, "processes that it forked and that were seen to begin") \
	X(uint64_t, orphans, "of these and of theirs: could not write a profile, their counts are in none") \
	X(uint64_t, orphan_error, "the number of the error that the first one met") \
	X(uint64_t, stack, "bytes that the stack of a thread may have; 0: not known") \
	X(uint64_t, page, "bytes of a page in this file: a power of two, CHORD_PAGE_LEAST to CHORD_PAGE_MOST")
#define CHORD_PAGE_LEAST 4096
#define CHORD_PAGE_MOST (1 << 16)

enum {
	CHORD_PROFILE_MERGED = 1,
	CHORD_PROFILE_NOT_WATCHED = 2, /* threads may have been made unseen: counts may be short */
	CHORD_PROFILE_SNAPSHOT = 4,    /* a copy that a process made of its profile on the way */
	CHORD_PROFILE_PER_THREAD = 8,       /* each region is of one thread only, and exits say whose they are */
	CHORD_PROFILE_INTERRUPTED = 16,     /* of a snapshot: the activation that the signal interrupted is among the exits, too */
};

enum chord_state {
	CHORD_STATE_RUNNING = 0, /* still running, or killed: activations may be in flight */
	CHORD_STATE_ENDED = 1,   /* ended through exit() or _exit(); the ending thread's stack was walked */
	CHORD_STATE_THREADS = 2, /* as ENDED, but other threads were still running */
};

/* Every extent begins with a page that starts with these. */
#define CHORD_EXTENT_FIELDS(X) \
	X(uint32_t, type, "enum chord_extent") \
	X(uint32_t, module, "index of the module it belongs to, counted from 0 in file order") \
	X(uint64_t, size, "bytes, with this page; a whole number of pages") \
	X(uint64_t, a, "by type, below") \
	X(uint64_t, b, "by type, below") \
	X(uint64_t, c, "by type, below")

struct chord_profile_head { CHORD_PROFILE_FIELDS(CHORD_FIELD) };
struct chord_extent_head { CHORD_EXTENT_FIELDS(CHORD_FIELD) };

/* An extent's type is a tag in the low 16 bits and, above, how profiles that are merged have theirs of that tag joined. Each type
 * that is listed below has rules of its own, CHORD_MERGE_OWN. Of a type that it does not know a reader names the tag, passes over
 * the bytes, and merges as the rule says. Extents of one kind are those with equal type, module, a, b and c. */
enum chord_merge {
	CHORD_MERGE_OWN = 0,  /* as the tag has it: who does not know the tag cannot merge it, leaves it out and says so */
	CHORD_MERGE_SUM = 1,  /* 64-bit numbers behind the head: added one by one, where there are equally many */
	CHORD_MERGE_KEEP = 2, /* all are kept as they are */
};
#define CHORD_EXTENT_TAG(type) ((type) & 0xffffu)
#define CHORD_EXTENT_RULE(type) ((type) >> 16)

enum chord_extent {
	/* A loaded object. a: link-time address of its first counter page (page aligned),
	 * b: bytes of counters from there, c: length of the build id. After the head:
	 * 32 bytes build id (zero padded), then its path, zero terminated. */
	CHORD_EXTENT_MODULE = 1,
	/* The counters of one region (a thread at a time). After the first page: the bytes
	 * of the module's counter pages, from link-time address a of the module's extent.
	 * a: number of the region. */
	CHORD_EXTENT_COUNTS = 2,
	/* After the head: a slots of struct chord_exit (open addressing; key 0: free). b: the number of the
	 * region whose thread's they are, plus 1; 0: of any. */
	CHORD_EXTENT_EXITS = 3,
	/* After the head: a message for the reader, zero terminated. */
	CHORD_EXTENT_TEXT = 4,
	/* After the head: a slots of struct chord_callee (open addressing; site 0: free). b as in EXITS. */
	CHORD_EXTENT_CALLEES = 5,
	/* Paths that had no room in their hash table. After the head: a slots of struct chord_path_count (site 0: free). b
	 * as in EXITS. */
	CHORD_EXTENT_PATHS = 6,
	/* Paths that did not come to an end. After the head: a slots of struct chord_unfinished (key 0: free). b as in EXITS. */
	CHORD_EXTENT_UNFINISHED = 7,
	/* Which counters of a module are hash tables. After the head: a x struct chord_path_at. Stands behind the extent of the
	 * module and before all COUNTS of it. */
	CHORD_EXTENT_TABLES = 8,
	/* Of a merged profile: what is in it. After the head: a x struct chord_origin. */
	CHORD_EXTENT_ORIGINS = 9,
	/* Of a merged file: which regions have the counts of a process in flight. After the head: a x struct chord_flight. Region 0
	 * then has those of all processes that ended; records say whose they are as if threads were apart. */
	CHORD_EXTENT_FLIGHT = 15,
	/* Of a merged file: the module's counters hold what its processes traced (format/trace.h), all of them. Stands behind the
	 * extent of the module and before all COUNTS of it. */
	CHORD_EXTENT_FILLED = 16,
	/* Of a process that ended while all its other threads waited in the kernel: what was active in them then. After the head:
	 * a x struct chord_waiting. b: number of the region of the thread that ended the process, plus 1; 0: it had none. c: the
	 * sum over all other counters and all records then (CHORD_WEIGHT): if it is another one at the end, some thread went on.
	 * module: 1 if the process traced; then, behind these, a 64-bit sum over the other threads' streams, each of which had n
	 * slots, of CHORD_WEIGHT(n, 8 x the stream's number): it is to be the same at the end, too. */
	CHORD_EXTENT_WAITING = 17,
};

/* Extents of records that are in the sum, and what a 64-bit word at that offset of the file adds to it. */
#define CHORD_IS_WEIGHED(type) \
	((type) == CHORD_EXTENT_EXITS || ((type) >= CHORD_EXTENT_CALLEES && (type) <= CHORD_EXTENT_UNFINISHED))
#define CHORD_WEIGHT(word, offset) ((uint64_t)(word) * (((uint64_t)(offset) >> 3) * 0x9e3779b97f4a7c16u + 1))

/* ---- in a running process ---- */

/* The control block of the runtimes is where the kernel put it. Its address stands in a page at the first of these addresses that
 * was free, which nobody can write: struct chord_live_anchor. Other processes may read what stands here of the block; while owner
 * is not 0 that thread changes it, and moves counters.
 *
 * A process may have modules with runtimes of different versions. All these fields keep their places and meanings in every later
 * version, which may only add to them: by them a runtime that comes later and has another version joins as a guest. It is not
 * measured, but its code has to have counters wherever a region's base leads. */
#define CHORD_LIVE_PLACES {0x1c0d00000000, 0x3c0d00000000, 0x0c0d00000000, 0x005c0d000000}
/* Each runtime with a control block of its own that keeps path registers maps one of these pages, for the mask of its shadow:
 * that of 1 << b is the b-th. Another version's then takes another mask. */
#define CHORD_MASK_PAGES 0x1c0cfff00000
#define CHORD_ANCHOR_MAGIC 0x52484e4144524843u /* "CHRDANHR" */
#define CHORD_ANCHOR_FIELDS(X) \
	X(uint64_t, magic, "CHORD_ANCHOR_MAGIC, written last") \
	X(uint32_t, version, "CHORD_FORMAT_VERSION of the control block") \
	X(uint32_t, pad, "0") \
	X(uint64_t, block, "its address")
/* Modules and the like are in chunks that grow in number and never move: chunk k has CHORD_CHUNK << k of them. Their addresses
 * stand one behind another. */
enum { CHORD_CHUNK = 16, CHORD_CHUNKS = 24 };
#define CHORD_CHUNK_OF(i) (31u - (uint32_t)__builtin_clz((uint32_t)(i) / CHORD_CHUNK + 1))
#define CHORD_IN_CHUNK(i) ((uint32_t)(i) + CHORD_CHUNK - (CHORD_CHUNK << CHORD_CHUNK_OF(i)))
#define CHORD_LIVE_MAGIC 0x314c544344524843u /* "CHRDCTL1" */
#define CHORD_LIVE_FIELDS(X) \
	X(uint64_t, magic, "CHORD_LIVE_MAGIC, written last") \
	X(uint32_t, version, "CHORD_FORMAT_VERSION") \
	X(uint32_t, pid, "of the process that it belongs to") \
	X(uint32_t, owner, "thread that has the lock, CHORD_LIVE_WAITED, CHORD_LIVE_LENT; 0: none") \
	X(uint32_t, depth, "how often") \
	X(uint32_t, nmodule, "modules, struct chord_live_module first in each") \
	X(uint32_t, nregion, "regions, struct chord_live_region first in each") \
	X(uint64_t, modules, "address of the addresses of their chunks") \
	X(uint64_t, regions, "likewise") \
	X(uint32_t, module_size, "bytes from one to the next") \
	X(uint32_t, region_size, "likewise") \
	X(uint64_t, profile, "address of the profile's head") \
	X(uint64_t, file, "address of the profile's name, zero terminated; 0: it has no file") \
	X(uint64_t, dev, "the file's device") \
	X(uint64_t, ino, "and inode") \
	X(uint64_t, exits, "of the chunks of struct chord_live_exits") \
	X(uint32_t, nslots, "of these") \
	X(uint32_t, exits_size, "bytes from one to the next") \
	X(int32_t, dying, "thread that is to end by a signal of its own, so that its exits are recorded; 0: none") \
	X(uint32_t, nfibre, "stacks that swapcontext has left") \
	X(uint64_t, dying_sp, "stack pointer of that thread: frames from there on are recorded") \
	X(uint64_t, guests, "of the chunks of struct chord_live_guest; 0: not there yet") \
	X(uint32_t, nguest, "of these; with size 0: gone") \
	X(uint32_t, guest_size, "bytes from one to the next") \
	X(uint64_t, mask, "the path register of an activation is at the address of its slot XOR this; 0: nowhere")

/* In owner: some thread waits for the lock, with futex(2), to be woken when it is free. */
#define CHORD_LIVE_WAITED 0x80000000u
/* In owner: the owner forks, and a thread that waits for long may take the lock. Only runtimes of the block's version take it. */
#define CHORD_LIVE_LENT 0x40000000u

/* A module that is or was loaded. first and size: its counter pages, as they are in memory. */
#define CHORD_LIVE_MODULE_FIELDS(X) \
	X(uint64_t, bias, "its addresses in memory less those at link time") \
	X(uint64_t, first, "address of its counter pages, for base 0") \
	X(uint64_t, size, "bytes of them") \
	X(uint32_t, life, "enum chord_life") \
	X(uint32_t, idlen, "bytes of the build id, at most 32; then these")
enum chord_life { CHORD_LIFE_NONE, CHORD_LIFE_LOADED, CHORD_LIFE_CLOSED };

/* The counters of one thread at a time. */
#define CHORD_LIVE_REGION_FIELDS(X) \
	X(uint64_t, base, "base of its counters: they are at their addresses plus it") \
	X(int32_t, tid, "of the thread; 0: none; -1: being handed over") \
	X(uint32_t, users, "threads that have had it so far") \
	X(uint64_t, left, "its thread is ending: frames from this address on are recorded among the exits; or 0") \
	X(uint64_t, program_sp, "its stack pointer as it went over to a stack of the runtime's; 0: it is on its own")

/* Counters of code that another version wove. At these addresses plus each region's base are pages for it, of no profile. */
#define CHORD_LIVE_GUEST_FIELDS(X) \
	X(uint64_t, first, "address of its counter pages, for base 0") \
	X(uint64_t, size, "bytes of them")

/* An extent of exit records that is mapped. */
#define CHORD_LIVE_EXITS_FIELDS(X) \
	X(uint64_t, at, "address") \
	X(uint64_t, size, "bytes")

struct chord_live_anchor { CHORD_ANCHOR_FIELDS(CHORD_FIELD) };
struct chord_live { CHORD_LIVE_FIELDS(CHORD_FIELD) };
struct chord_live_module { CHORD_LIVE_MODULE_FIELDS(CHORD_FIELD) unsigned char id[32]; };
struct chord_live_region { CHORD_LIVE_REGION_FIELDS(CHORD_FIELD) };
struct chord_live_exits { CHORD_LIVE_EXITS_FIELDS(CHORD_FIELD) };
struct chord_live_guest { CHORD_LIVE_GUEST_FIELDS(CHORD_FIELD) };
/* The counter of an event is a sum of 64-bit numbers, one behind another, each times so many events as it stands
 * for. Other events may count in the same numbers. Each place adds to one or a few of them. */
enum { CHORD_NUMBERS_MOST = 4096 };
/* If events are summed for calls, where each call adds up all of them twice, they stand for 1 event of one kind. */
enum { CHORD_WAYS_SUMMED = 4 };
/* That of the clock is of so many, which stand for 1: additions to one number wait for each other. */
enum { CHORD_WAYS_CLOCK = 64 };
/* With timers (-fchord-timers=) four, each followed by another one that makes up for what the runtime takes from it: it
 * keeps the first of them below 0 as long as no timer can be due. */
enum { CHORD_PAIRS_TIMED = 4, CHORD_WAYS_TIMED = 2 * CHORD_PAIRS_TIMED };
enum { CHORD_TIMER_SIZE = 256 }; /* bytes, with what the runtime knows of the timer behind the numbers */

/* What the runtime has to know of procedures whose events have timers; not merged, in the order of the code. Records
 * are aligned to 4 bytes:
 *   i32 text                       distance to where a part of the procedure begins in memory
 *   u32 woven size; u32 size       bytes of the part; of the whole record
 *   u32 nevent; nevent x (i32 counter, i32 lag)
 *                                  distance to the counter; the most that it lacks, or has too many, anywhere there
 *   segments, each: u32 offset     from the beginning of the part, as in the map
 *       u32 size; then bytes:      nevent x z: what the counters lack before its first instruction; then for each
 *                                  instruction: its length, nevent x n: what it adds. Then bytes that are no matter, up to a
 *                                  multiple of 4 in the whole record */
#define CHORD_SECTION_TIMED "chord_timed"

enum { CHORD_SUMS = 4 };

/* An activation ended at a call that did not come back, or was taken up again
 * behind a call (setjmp). key: link-time return address in the woven code,
 * plus the module's index + 1 shifted left by 48. Reentry when bit 63 is set. With bit 47 it is none of these: a
 * function that was set as a handler of a signal which instructions raise; the count is 1 or more. */
struct chord_exit {
	uint64_t key;
	uint64_t count;
	/* The events that the thread had counted then, summed over these activations: of the counters
	 * that CHORD_SECTION_SUM lists, in the order of their addresses; 0 if there are fewer. */
	uint64_t sum[CHORD_SUMS];
};
/* What was called at a call through a pointer, and how often. Keys are link-time addresses plus the module's
 * index + 1 shifted left by 48. */
struct chord_callee {
	uint64_t site;   /* the number behind the call's sums, by which the weaver's code finds slots */
	uint64_t callee; /* where the procedure begins; 0: in no measured module */
	uint64_t count;
	uint64_t raw;    /* the pointer's value in the process, no matter for readers */
};
/* A hash table of struct chord_path_entry. */
struct chord_path_at {
	uint64_t addr;   /* link-time address of its first entry */
	uint64_t bits;   /* log2 of entries */
};
/* A path of a hashed table, counted outside of it. With sum UINT64_MAX: of so many it is not known which they were; of
 * the table or, where only the module is given, of any. */
struct chord_path_count {
	uint64_t table;  /* link-time address of the table's first entry plus the module's index + 1 shifted left by 48 */
	uint64_t sum;
	uint64_t count;
	uint64_t unused;
};
/* A profile that was merged, as its head says. */
struct chord_origin {
	uint64_t id, id2, of, of2;
	uint64_t pid;
	uint64_t flags;  /* CHORD_PROFILE_SNAPSHOT or 0 */
};
/* A process that left activations which are not among the exits. */
struct chord_flight {
	uint64_t region;
	uint64_t standing; /* so many threads may have been anywhere */
	uint64_t state;    /* enum chord_state */
	uint64_t stack;    /* bytes that the stack of each may have; 0: not known */
};
/* How the path register stood in activations that ended at a call, beside struct chord_exit of the same key. With the
 * re-entry bit: in activations that were taken up again behind it, in a forked child. */
struct chord_unfinished {
	uint64_t key;    /* as in struct chord_exit */
	uint64_t path;   /* the register; as a link-time address if it can be that of a counter of the module, or near it */
	uint64_t count;
	uint64_t raw;    /* the register itself, but that bit 63 may be set; 0: it is not known, or the same */
};
/* An activation that is active in a thread that waits, as an exit would record it. */
struct chord_waiting {
	uint64_t key, sum[CHORD_SUMS]; /* as in struct chord_exit */
	uint64_t path, raw;            /* as in struct chord_unfinished, if there is one */
	uint32_t region;               /* number of the thread's */
	uint32_t has_path;             /* 1: there is one */
};
#define CHORD_EXIT_REENTRY (1ull << 63)
#define CHORD_EXIT_MODULE(key) ((uint32_t)((key) >> 48 & 0x7fff) - 1)
#define CHORD_EXIT_HANDLER (1ull << 47)
#define CHORD_EXIT_ADDR(key) ((key) & 0x7fffffffffffull)

#endif
