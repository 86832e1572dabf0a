/* SPDX-License-Identifier: MIT */
/* The format that the weaver, the runtime and the readers share: the map, which travels in the object file, and the profile, which
 * a process leaves behind. This file and docs/format.md change together, with CHORD_FORMAT_VERSION.
 *
 * Everything is little-endian. This header and measures.h include no other header of Chord, and the runtime, which has no libc,
 * uses them: they contain only types and constants. */
#ifndef CHORD_FORMAT_H
#define CHORD_FORMAT_H

#include "format/measures.h"

#include <stdint.h>

#ifndef CHORD_FORMAT_VERSION /* tests build runtimes of another version */
#define CHORD_FORMAT_VERSION 11
#endif

/* Names of sections. CNT has to be a C identifier: then linkers define __start_chord_cnt and __stop_chord_cnt. */
#define CHORD_SECTION_CNT "chord_cnt"   /* counters: zeroed, writable */
/* Map records, not loaded. gold takes the section for debugging information because of how its name begins; in debugging
 * information it sets references to dropped sections to 0, elsewhere it reports errors. */
#define CHORD_SECTION_MAP ".pdr.chord.map"
/* At most this many map sections of an object have that name; the next ones are named `.pdr.chord.map.1`, and so on, because
 * assemblers search all sections of a name for each new one. */
#define CHORD_MAP_BUCKET 256
#define CHORD_SECTION_SUM "chord_sum"   /* for each counter of events summed for calls a 32-bit distance to it; 0 for other
                                         * counters */
#define CHORD_SECTION_PATH "chord_path" /* hash tables of paths: a struct chord_path_table for each */
#define CHORD_SECTION_NOTE ".note.chord" /* the place of the module's runtime */
/* Not loaded. It exists, with one byte for each object, if an object may have paths of kind CHORD_PATH_WITNESS or CHORD_PATH_BITS.
 * The name has the same beginning as the map's, for the same reason. */
#define CHORD_SECTION_WITNESS ".pdr.chord.witness"

/* ---- the map: records one after another, not aligned ---- */

#define CHORD_MAP_MAGIC 0x314d4843u /* "CHM1" */

/* Fields of the fixed part, in order: X(type, name, meaning). After it come
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
	CHORD_MAP_REFUSED = 1, /* refused: passed through unchanged; the blob has the reason and no blocks */
	CHORD_MAP_AT_CALLS = 2, /* some measure has the trait CHORD_AT_CALLS: events can be summed over calls */
};

#define CHORD_MAP_BASES "bases"
#define CHORD_MAP_CELLS "cells"
#define CHORD_MAP_PROMOTED "promoted"

/* A counter that consists of cells is the sum of so many words, one behind the other. */
enum {
	CHORD_CELLS = 32,
};

/* The blob. "n" is an unsigned LEB128 number, "s" a number of bytes and then the bytes. "z" is a signed number i, written as the
 * unsigned number i < 0 ? -2 * i - 1 : 2 * i.
 *
 *   s name, s file, s reason      symbol; .file operand; why it was refused
 *   n nblock, then for each block
 *       n part, n offset          its place before weaving
 *       n counter                 0: none; c: counter c-1 counts its entries
 *       n ninsn, then ninsn bytes length in bits 0-3, enum chord_insn in bits 4-7
 *   n nvert                       vertices 0..nblock-1 are the blocks, ENTRY is nblock,
 *                                 EXIT is nblock+1, then come hubs
 *   n nedge, then for each edge
 *       n from, n to, n kind      enum chord_edge
 *       n counter                 0: none (derived); c: counter c-1
 *   n ncall, then for each call
 *       n block, n insn           the call is instruction insn of that block
 *       n flags                   CHORD_CALL_...
 *       n sum                     0: none; c: counters from c-1 on, one for each event, have the events
 *                                 from the call to its return, see below; with CHORD_CALL_POINTER counter
 *                                 c-1+nevent is a word for the runtime, not a count
 *       s callee                  only if there is a sum: the symbol that is called, "" if not known
 *   n nseg, then for each segment
 *       n block, n insn           from this instruction on, up to the next segment or the end of
 *                                 the block, woven code runs parallel to the original
 *   then sections up to the end, in any order, each at most once:
 *   s tag, n size                 and then `size` bytes. A reader skips sections that it does not know, and names them
 *
 * Each measure of the procedure has a section. Its tag is the measure's name (measures.h); it is empty if it is not listed here.
 *
 * Section CHORD_MAP_BASES, optional:
 *   n nbase, then for each register that woven code uses to address counters
 *       n register                its number
 *       n what                    0: it has the address of the first counter; e: that of
 *                                 the counter of event e-1
 *
 * Section CHORD_MAP_CELLS, optional:
 *   n first, n ncell                the words first .. first + ncell * CHORD_CELLS - 1 are the
 *                                 cells of ncell counters; such a counter has the number of
 *                                 its first cell
 *
 * Section CHORD_MAP_PROMOTED, optional:
 *   n npromoted, then for each counter for which a register counts in a loop
 *       n counter                 which counter: it lacks what executions of the loop that
 *                                 are under way have counted
 *       n open                    the word with the number of these executions
 *
 * Section "events":
 *   n nevent                      as above
 *   nevent x (s name, n numbers, n stride, n span, z low)
 *                                 the counter is the sum of `numbers` numbers; number i counts
 *                                 low + i / stride % span times. Then for each block, for each event:
 *       z query                   the query increment: what to add to the counter when control is before
 *                                 the block's first instruction
 *       n enter                   the events of entering the block, before that instruction
 *       n nrun; nrun x (n count, n events)
 *                                 the events of its instructions: runs of `count` instructions with
 *                                 the same number of events each
 *   sites inside blocks, n block + 1 (0: no more), each
 *       n insn                    the counters change before this instruction
 *       nevent x z add            by this much
 *   calls of local procedures, n block + 1 (0: no more), each
 *       n insn                    the call
 *       nevent x z lag            what the counters lack when the callee is entered
 *
 * Section "paths", for the paths of graph.h's struct dag:
 *   n kind                    enum chord_path_kind
 *   n table                   bytes from the first counter to the first entry of the table
 *   n size                    DENSE, SELECTED: counters; HASHED: log2 of entries
 *   nedge x n cut             enum chord_cut; back edges are cut, too
 *   n nval; nval x z val      by edge of the DAG
 *   nvert x (n held, z query, z start)
 *                             held: the path register is valid there; then, at calls in that block,
 *                             register + query is the sum of the path so far, otherwise query is. start: the
 *                             register's first value after a cut edge, and at ENTRY
 *   n ninterest               SELECTED: number of sums of interest; then each sum
 *
 * Section "blocks-vcnt":
 *   n where                   enum chord_vcnt
 *
 * The blob of a refused procedure ends after the reason, and nevent is 0.
 *
 * Sums (CHORD_MAP_AT_CALLS): the events so far are subtracted from the sum before a call and added after it. For activations that
 * end at the call they are in the exit record.
 *
 * woven[] has nseg offsets (where each segment starts), then ncall offsets (the return address of each call), each from the address
 * of its block's part.
 *
 * The edge EXIT -> ENTRY is in the list (CHORD_EDGE_CLOSE); its count is the number of activations. */

enum chord_insn {
	CHORD_INSN_OTHER,
	CHORD_INSN_CALL,
	CHORD_INSN_ICALL,  /* through a register or memory */
	CHORD_INSN_REP,    /* string instruction with a rep prefix: counted once per execution */
	CHORD_INSN_BRANCH, /* conditional */
	CHORD_INSN_JUMP,
	CHORD_INSN_IJUMP,
	CHORD_INSN_RET,
	CHORD_INSN_SYSCALL,
	CHORD_INSN_TRAP,   /* ud2, int3, hlt */
	CHORD_INSN_PAD,    /* nops of an alignment directive, executed on the way to the aligned place */
};

enum chord_edge {
	CHORD_EDGE_FALL,     /* to the next block */
	CHORD_EDGE_TAKEN,    /* a conditional jump, taken */
	CHORD_EDGE_JUMP,     /* an unconditional jump */
	CHORD_EDGE_INDIRECT, /* into or out of a hub */
	CHORD_EDGE_EXIT,     /* ret, tail call, trap, or a call that does not return */
	CHORD_EDGE_ENTRY,    /* ENTRY to the first block or another entry */
	CHORD_EDGE_LAND,     /* ENTRY to a landing pad: the activation goes on there */
	CHORD_EDGE_CLOSE,    /* EXIT to ENTRY: counts activations, landings and received jumps */
	CHORD_EDGE_NONLOCAL,     /* to EXIT by a jump to a receiver in another activation; the runtime records the abandoned
	                          * activations */
	CHORD_EDGE_LOST,     /* as NONLOCAL, but the abandoned activations are not recorded */
	CHORD_EDGE_RECEIVE,  /* ENTRY to a receiver: the activation goes on there */
	CHORD_EDGE_FAULT,    /* from a gate: a signal's handler continues elsewhere */
	CHORD_EDGE_KINDS,
};

enum {
	CHORD_CALL_NORETURN = 1, /* the graph has an edge to EXIT for it: exit records of it are ignored */
	CHORD_CALL_POINTER = 2,  /* the profile has its callees, under the number of the counter after its sums */
	CHORD_CALL_TWICE = 4,    /* measures of paths: it may return twice, so the path that leads to it is recorded before it */
};

/* A path's sum is a number from 0 up. With DENSE and SELECTED the path register of an activation holds the address of a counter in
 * the table (for segment base 0), with HASHED the sum itself. */
enum chord_path_kind {
	CHORD_PATH_DENSE,    /* counter number s of the table counts the path with sum s */
	CHORD_PATH_HASHED,   /* entries are struct chord_path_entry */
	CHORD_PATH_SELECTED, /* as DENSE; paths with a larger sum are not counted */
	CHORD_PATH_WITNESS,  /* as DENSE, for traces: the slot written at an edge is the least sum of all paths that end with the
	                      * edge, whichever ran; the slots before it tell which one ran */
	CHORD_PATH_BITS,     /* as DENSE, for traces: if more than one path leads to an end, a word of outcomes is written, then the
	                      * sum of some path with that end (src/graph/outcomes.c) */
	CHORD_PATH_KINDS,
};

/* How an edge of a procedure with paths is cut, in the map. */
enum chord_cut {
	CHORD_NOT_CUT,
	CHORD_CUT,           /* a path ends there, and another begins */
	CHORD_CUT_SOFTLY,    /* BITS: likewise, but the word of outcomes continues until it is full */
};

/* Where the counters of blocks-vcnt are. */
enum chord_vcnt {
	CHORD_VCNT_BLOCKS,   /* in blocks */
	CHORD_VCNT_EDGES,    /* placed as with edges, because some blocks that need a counter have no place for one */
	CHORD_VCNTS,
};

/* The slot of an activation is the word at its CFA - CHORD_SLOT, whatever that word holds: the return address, on a machine whose
 * calls push it. An activation that keeps its path register in memory has it at (address of the slot) XOR (first word of
 * __chord_shadow). It is mapped if the second word equals ~(address of the slot) >> CHORD_SHADOW_BITS. */
#define CHORD_SLOT 8
#define CHORD_SHADOW_BITS 24

/* Hash tables among the counters. The first entry tried for a sum is (uint32_t)sum * CHORD_PATH_HASH >> (32 - bits). */
#define CHORD_PATH_HASH 0x9e3779b1u
/* A sum is in one of this many entries from there on, wrapping around; if others occupy these, it is counted outside of the
 * table. */
#define CHORD_PATH_TRIES 8
struct chord_path_entry {
	uint64_t key;        /* sum + 1; 0: free */
	uint64_t count;
};

/* A record of CHORD_SECTION_PATH. */
struct chord_path_table {
	int32_t distance;    /* bytes from this field to the first entry; 0: no table, the record stands for a text with paths */
	uint32_t bits;       /* log2 of entries; for a text: 0, or 1 if only some of its paths are counted (2: the runtime's own
	                      * record) */
};

/* ---- the note by which the runtimes of a process find one another ---- */

#define CHORD_NOTE_NAME "Chord"
/* The descriptor: two of int32_t, the address of struct chord_rt_desc (runtime/runtime.h) minus that of the descriptor, and the
 * address of the module's entry in its table of constructors minus that of the second number. */
#define CHORD_NOTE_MODULE 1

/* ---- the profile: a header page, then extents, each a whole number of pages. The header has the size of pages: that of the
 * machine that wrote the file, or a larger one ---- */

#define CHORD_PROFILE_MAGIC 0x31464f5250484343u /* "CCHPROF1" */

/* X(type, name, meaning) */
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
	CHORD_PROFILE_NOT_WATCHED = 2, /* some thread may have been created unseen: counts may be too low */
	CHORD_PROFILE_SNAPSHOT = 4,    /* a copy that a process made of its profile while it ran */
	CHORD_PROFILE_PER_THREAD = 8,       /* each region belongs to one thread only, and exit records have their region */
	CHORD_PROFILE_INTERRUPTED = 16,     /* snapshot: the exits include the activation that the signal interrupted */
	CHORD_PROFILE_SINCE = 32,           /* snapshot: the counts are those since an earlier one; a sum: or a process ran while
	                                     * its file was read */
};

enum chord_state {
	CHORD_STATE_RUNNING = 0, /* still running, or killed: activations may be in flight */
	CHORD_STATE_ENDED = 1,   /* ended through exit() or _exit(); the ending thread's stack was walked */
	CHORD_STATE_THREADS = 2, /* as ENDED, but other threads were still running */
};

/* Every extent begins with a page that starts with these fields. */
#define CHORD_EXTENT_FIELDS(X) \
	X(uint32_t, type, "enum chord_extent") \
	X(uint32_t, module, "index of the module it belongs to, counted from 0 in file order") \
	X(uint64_t, size, "bytes, with this page; a whole number of pages") \
	X(uint64_t, a, "by type, below") \
	X(uint64_t, b, "by type, below") \
	X(uint64_t, c, "by type, below")

struct chord_profile_head { CHORD_PROFILE_FIELDS(CHORD_FIELD) };
struct chord_extent_head { CHORD_EXTENT_FIELDS(CHORD_FIELD) };

/* An extent's type has a tag in its low 16 bits and, above, the rule by which a merge of profiles joins extents of that tag. The
 * types listed below have rules of their own (CHORD_MERGE_OWN). A reader that does not know a type names the tag, skips the extent,
 * and merges it by the rule. Extents are of one kind if type, module, a, b and c are equal. */
enum chord_merge {
	CHORD_MERGE_OWN = 0,  /* by a rule of the tag: a reader that does not know the tag leaves the extent out and says so */
	CHORD_MERGE_SUM = 1,  /* 64-bit numbers after the head: added one by one, if both extents have equally many */
	CHORD_MERGE_KEEP = 2, /* all extents are kept unchanged */
};
#define CHORD_EXTENT_TAG(type) ((type) & 0xffffu)
#define CHORD_EXTENT_RULE(type) ((type) >> 16)

enum chord_extent {
	/* A loaded object. a: link-time address of its first counter page (page aligned). b: bytes of counters from there. c:
	 * length of the build id. After the head: 32 bytes of build id (zero padded), then the object's path, zero terminated. */
	CHORD_EXTENT_MODULE = 1,
	/* The counters of one region (one thread at a time). a: number of the region. After the first page: the bytes of the
	 * module's counter pages, from link-time address a of the module's extent. */
	CHORD_EXTENT_COUNTS = 2,
	/* After the head: a slots of struct chord_exit (open addressing; key 0: free). b: number of the region whose threads they
	 * are about, plus 1; 0: any. */
	CHORD_EXTENT_EXITS = 3,
	/* After the head: a message for the reader, zero terminated. */
	CHORD_EXTENT_TEXT = 4,
	/* After the head: a slots of struct chord_callee (open addressing; site 0: free). b as in EXITS. */
	CHORD_EXTENT_CALLEES = 5,
	/* Paths that found no room in their hash table. After the head: a slots of struct chord_path_count (site 0: free). b as in
	 * EXITS. */
	CHORD_EXTENT_PATHS = 6,
	/* Paths that did not end. After the head: a slots of struct chord_unfinished (key 0: free). b as in EXITS. */
	CHORD_EXTENT_UNFINISHED = 7,
	/* The hash tables among a module's counters. After the head: a x struct chord_path_at. Stands after the extent of the
	 * module and before all its COUNTS. */
	CHORD_EXTENT_TABLES = 8,
	/* Of a merged profile: the profiles in it. After the head: a x struct chord_origin. */
	CHORD_EXTENT_ORIGINS = 9,
	/* Of a merged file: which regions have the counts of a process in flight. After the head: a x struct chord_flight. Region 0
	 * then has the counts of all processes that ended; records say whose they are as if threads were apart. */
	CHORD_EXTENT_FLIGHT = 15,
	/* Of a merged file: the module's counters hold everything that its processes traced (format/trace.h). Stands after the
	 * extent of the module and before all its COUNTS. */
	CHORD_EXTENT_FILLED = 16,
	/* Of a process that ended while all its other threads waited in the kernel: the activations in these threads at that time.
	 * After the head: a x struct chord_waiting. b: number of the region of the thread that ended the process, plus 1; 0: it had
	 * none. c: the sum (CHORD_WEIGHT) over all other counters and all records at that time. If the sum at the end differs, some
	 * thread has continued. module: 1 if the process traced. Then a 64-bit number follows the records: the sum of
	 * CHORD_WEIGHT(n, 8 x the stream's number) over the other threads' streams, where n is the number of slots in a stream. It
	 * has to be the same at the end, too. */
	CHORD_EXTENT_WAITING = 17,
};

/* Extents whose records are in the sum; and what the 64-bit word at an offset of the file adds to it. */
#define CHORD_IS_WEIGHED(type) \
	((type) == CHORD_EXTENT_EXITS || ((type) >= CHORD_EXTENT_CALLEES && (type) <= CHORD_EXTENT_UNFINISHED))
#define CHORD_WEIGHT(word, offset) ((uint64_t)(word) * (((uint64_t)(offset) >> 3) * 0x9e3779b97f4a7c16u + 1))

/* ---- in a running process ---- */

/* The kernel chose the place of the runtimes' control block. Its address is in a read-only page (struct chord_live_anchor), which
 * is at the first of these addresses that was free. Other processes may read the fields of the block that are listed here. While
 * `owner` is not 0, that thread changes them, and moves counters.
 *
 * A process may have modules with runtimes of different versions. All these fields keep their places and meanings in later
 * versions, which may only add fields. A runtime of another version that comes later uses them to join as a guest: it is not
 * measured, but its code needs counters at every region's base. */
#define CHORD_LIVE_PLACES {0x1c0d00000000, 0x3c0d00000000, 0x0c0d00000000, 0x005c0d000000}
/* A runtime that has its own control block and keeps path registers maps one of these pages to reserve the mask of its shadow: page
 * b stands for the mask 1 << b. A runtime of another version then takes another mask. */
#define CHORD_MASK_PAGES 0x1c0cfff00000
#define CHORD_ANCHOR_MAGIC 0x52484e4144524843u /* "CHRDANHR" */
#define CHORD_ANCHOR_FIELDS(X) \
	X(uint64_t, magic, "CHORD_ANCHOR_MAGIC, written last") \
	X(uint32_t, version, "CHORD_FORMAT_VERSION of the control block") \
	X(uint32_t, pad, "0") \
	X(uint64_t, block, "its address")
/* Modules, regions and the like are in chunks, which never move: chunk k has CHORD_CHUNK << k elements. An array has the addresses
 * of the chunks. */
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

/* Flag in owner: some thread waits with futex(2) for the lock, and has to be woken when the lock is free. */
#define CHORD_LIVE_WAITED 0x80000000u
/* In owner: the owner forks, and a thread that waits for long may take the lock. Only runtimes of the block's version take it. */
#define CHORD_LIVE_LENT 0x40000000u

/* A module that is or was loaded. first and size describe its counter pages in memory. */
#define CHORD_LIVE_MODULE_FIELDS(X) \
	X(uint64_t, bias, "its addresses in memory less those at link time") \
	X(uint64_t, first, "address of its counter pages, for base 0") \
	X(uint64_t, size, "bytes of them") \
	X(uint32_t, life, "enum chord_life") \
	X(uint32_t, idlen, "bytes of the build id, at most 32; then these")
enum chord_life { CHORD_LIFE_NONE, CHORD_LIFE_LOADED, CHORD_LIFE_CLOSED };

/* A region: the counters of one thread at a time. */
#define CHORD_LIVE_REGION_FIELDS(X) \
	X(uint64_t, base, "base of its counters: they are at their addresses plus it") \
	X(int32_t, tid, "of the thread; 0: none; -1: being handed over") \
	X(uint32_t, users, "threads that have had it so far") \
	X(uint64_t, left, "its thread is ending: frames from this address on are recorded among the exits; or 0") \
	X(uint64_t, program_sp, "its stack pointer as it went over to a stack of the runtime's; 0: it is on its own")

/* Counters of code that another version wove. Pages for it are at these addresses plus each region's base; they are in no
 * profile. */
#define CHORD_LIVE_GUEST_FIELDS(X) \
	X(uint64_t, first, "address of its counter pages, for base 0") \
	X(uint64_t, size, "bytes of them")

/* A mapped extent of exit records. */
#define CHORD_LIVE_EXITS_FIELDS(X) \
	X(uint64_t, at, "address") \
	X(uint64_t, size, "bytes")

struct chord_live_anchor { CHORD_ANCHOR_FIELDS(CHORD_FIELD) };
struct chord_live { CHORD_LIVE_FIELDS(CHORD_FIELD) };
struct chord_live_module { CHORD_LIVE_MODULE_FIELDS(CHORD_FIELD) unsigned char id[32]; };
struct chord_live_region { CHORD_LIVE_REGION_FIELDS(CHORD_FIELD) };
struct chord_live_exits { CHORD_LIVE_EXITS_FIELDS(CHORD_FIELD) };
struct chord_live_guest { CHORD_LIVE_GUEST_FIELDS(CHORD_FIELD) };
/* The counter of an event is a weighted sum of consecutive 64-bit numbers; a number's weight is how many events it stands for.
 * Events may share numbers. Each place in the code adds to one or a few numbers. */
enum { CHORD_NUMBERS_MOST = 4096 };
/* Of an event that is summed for calls only every CHORD_SUMMED_STEP-th number is used, each of weight 1 and of one event: each call
 * adds up these few twice. */
enum { CHORD_WAYS_SUMMED = 4, CHORD_SUMMED_STEP = 8 };
/* Numbers of the clock, each of weight 1. They are several because additions to the same number wait for each other. */
enum { CHORD_WAYS_CLOCK = 64 };
/* With timers (-fchord-timers=): four numbers, each followed by another one that compensates for what the runtime subtracts from
 * it. The runtime keeps the first of each pair below 0 while no timer can be due. */
enum { CHORD_PAIRS_TIMED = 4, CHORD_WAYS_TIMED = 2 * CHORD_PAIRS_TIMED };
enum { CHORD_TIMER_SIZE = 256 }; /* bytes: the numbers, then the runtime's data on the timer */

/* For the runtime: records of the procedures whose events have timers, in the order of the code, not merged. Records are aligned to
 * 4 bytes:
 *   i32 text                       distance to the beginning of a part of the procedure in memory
 *   u32 woven size; u32 size       bytes of the part; bytes of the whole record
 *   u32 nevent; nevent x (i32 counter, i32 lag)
 *                                  distance to the counter; the most that it lacks, or has too many, anywhere in the part
 *   segments, each: u32 offset     from the beginning of the part, as in the map
 *       u32 size; then bytes:      nevent x z: what the counters lack before the segment's first instruction; then for each
 *                                  instruction: its length, nevent x n: what it adds. Bytes without meaning pad the
 *                                  record to a multiple of 4 */
#define CHORD_SECTION_TIMED "chord_timed"

enum { CHORD_SUMS = 4 };

/* Activations that ended at a call that did not return, or that were resumed after a call (setjmp). key: link-time return address
 * in the woven code, plus (module index + 1) << 48. Bit 63: a re-entry. Bit 47: neither; the address is that of a function that was
 * set as handler of a signal that instructions raise, and the count is 1 or more. */
struct chord_exit {
	uint64_t key;
	uint64_t count;
	/* The events that the thread had counted at these moments, summed over the activations: of the counters that
	 * CHORD_SECTION_SUM lists, by address; 0 for entries without a counter. */
	uint64_t sum[CHORD_SUMS];
};
/* What a call through a pointer called, and how often. site and callee are link-time addresses plus (module index + 1) << 48. */
struct chord_callee {
	uint64_t site;   /* the word after the call's sums, by which woven code finds slots */
	uint64_t callee; /* entry of the procedure; 0: in no measured module */
	uint64_t count;
	uint64_t raw;    /* the pointer's value in the process; readers ignore it */
};
/* A hash table of struct chord_path_entry. */
struct chord_path_at {
	uint64_t addr;   /* link-time address of its first entry */
	uint64_t bits;   /* log2 of entries */
};
/* A path of a hashed table, counted outside of the table. sum UINT64_MAX: `count` paths of the table that are not known; if `table`
 * has only the module, of any table of it. */
struct chord_path_count {
	uint64_t table;  /* link-time address of the table's first entry, plus (module index + 1) << 48 */
	uint64_t sum;
	uint64_t count;
	uint64_t unused;
};
/* A profile that was merged, with the fields of its head. */
struct chord_origin {
	uint64_t id, id2, of, of2;
	uint64_t pid;
	uint64_t flags;  /* CHORD_PROFILE_SNAPSHOT or 0 */
};
/* A process that left activations that are not among the exits. */
struct chord_flight {
	uint64_t region;
	uint64_t standing; /* this many threads may have been anywhere */
	uint64_t state;    /* enum chord_state */
	uint64_t stack;    /* bytes that the stack of each thread may have; 0: not known */
};
/* The path register in activations that ended at a call; struct chord_exit has the same key. With the re-entry bit: in activations
 * that were resumed after the call, in a forked child. */
struct chord_unfinished {
	uint64_t key;    /* as in struct chord_exit */
	uint64_t path;   /* the register; a link-time address if it may be the address of a counter of the module, or near one */
	uint64_t count;
	uint64_t raw;    /* the register itself, except that bit 63 may be set; 0: not known, or equal to path */
};
/* An activation in a thread that waits, as an exit would record it. */
struct chord_waiting {
	uint64_t key, sum[CHORD_SUMS]; /* as in struct chord_exit */
	uint64_t path, raw;            /* as in struct chord_unfinished, if has_path is 1 */
	uint32_t region;               /* number of the thread's region */
	uint32_t has_path;             /* 1: path and raw are valid */
};
#define CHORD_EXIT_REENTRY (1ull << 63)
#define CHORD_EXIT_MODULE(key) ((uint32_t)((key) >> 48 & 0x7fff) - 1)
#define CHORD_EXIT_HANDLER (1ull << 47)
#define CHORD_EXIT_ADDR(key) ((key) & 0x7fffffffffffull)

#endif
