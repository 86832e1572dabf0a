/* SPDX-License-Identifier: MIT */
/* The runtime inside measured programs. all.c includes every other file of this folder, so everything is static. pack.sh turns it
 * into assembly text that the weaver puts into every measured object; each linked module keeps one copy.
 *
 * The copies are interchangeable code. What the process knows is in one control block, at an address where every copy finds it,
 * because any module may be closed. The runtime needs no libc: it uses functions of libc by weak references if they are there, else
 * system calls. It never changes errno. */
#ifndef CHORD_RUNTIME_H
#define CHORD_RUNTIME_H

#include "format/pack.h"
#include "format/trace.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registers.h"

enum {
	CHORD_RT_MODULES = 0x7ffe, /* module numbers in keys have 15 bits; 0 is none */
	CHORD_RT_KEYED = 10,       /* extents of a struct chord_rt_keyed */
	CHORD_RT_ASKING = 176,     /* bytes of the frame of __chord_pointer, __chord_path and the like */
	CHORD_RT_ASKING_BEFORE = 144, /* offset in it of what chord_rt_desc.mine pointed to before */
	CHORD_RT_UNITS = 1024,     /* small pieces of shadow in the first table */
	CHORD_RT_UNIT = 65536,     /* bytes of a small piece */
	CHORD_RT_BESIDE = 1 << 24, /* greatest distance of a path register from its table */
	CHORD_RT_SPARES = 16,      /* small pieces reserved for when memory runs out */
	CHORD_RT_OWN_STACK = 0x4000, /* bytes of the runtime's own stack for a region */
	CHORD_RT_KNOWN = 2048,     /* return addresses in the cache */
	CHORD_RT_JUMPS = 64,       /* cached longjmps */
	CHORD_RT_JUMP_FRAMES = 14, /* frames of a cached longjmp, at most */
	CHORD_RT_OBJECTS = 64,     /* cached objects */
	CHORD_RT_PATH = 4096,      /* bytes of a path */
	CHORD_RT_MAKING = 64,      /* threads that can be in creation at a time */
	CHORD_RT_TABLE = 256,      /* flag beside a hook's number: it was called through a table */
	CHORD_RT_FIBRES = 64,      /* stacks in the first table */
	CHORD_RT_TABLES = 16,      /* tables, each twice as large as the one before */
	CHORD_RT_LEAVES = 256,     /* pages of bits for which pieces are mapped */
	CHORD_RT_FIRED_FRAME = 184, /* bytes from the frame pointer of __chord_struck to the end of its frame */
	CHORD_RT_STEPS = 8,        /* timers for which a thread is stepped through, at most */
	CHORD_RT_FRAMES = 28,      /* frames kept of a suspended stack */
	CHORD_RT_SPACES = 17,      /* glibc has 16 name spaces; the last entry is for all others */
	CHORD_RT_ELSEWHERE = 1,    /* name space of a module that is not known yet */
	CHORD_RT_FAR_JUMP = 14,    /* bytes of a jump to any address */
	CHORD_RT_INSN = 15,        /* bytes of an instruction, at most */
	CHORD_RT_RECENT = 256,     /* regions in the cache by base */
	CHORD_RT_PATHS = 256,      /* lists of modules, by the hash of their path */
	CHORD_RT_TRACED = 2,       /* in chord_rt_mod.paths: the module writes traces */
	CHORD_RT_PENDING = 32,     /* slots, see chord_rt_trace.pending */
	CHORD_RT_PAGE_TRIES = 1024, /* places tried for a page that exists at every base */
	CHORD_RT_PAGE_APART = 1 << 16, /* bytes from one such place to the next */
	CHORD_RT_RING = CHORD_TRACE_SEGMENTS * CHORD_TRACE_SEGMENT, /* bytes of a ring */
	/* bytes of a ring that a collector empties */
	CHORD_RT_RING_COLLECTED = CHORD_TRACE_SEGMENTS_COLLECTED * CHORD_TRACE_SEGMENT,
	CHORD_RT_RING_MEMORY = 1 << 20, /* bytes of a ring in memory */
	CHORD_RT_RINGS_MANY = 64,  /* from this ring on, rings in memory have the least size */
	CHORD_RT_PATIENCE = 100,   /* tenths of a second that a living collector may do nothing */
	CHORD_RT_LAST_MOST = 40,   /* log2 of the bytes kept of a stream, at most */
	CHORD_RT_NO_PID = 0x10000000, /* no process or thread has this or a higher number */
	CHORD_RT_COLLECTOR = 108,  /* bytes of a socket's name */
};

#define CHORD_RT_AMPLE (1ull << 32)                 /* bytes of memory that suffice for pieces and large rings */
#define CHORD_RT_AMID (1ull << 63)                 /* flag of a saved PC: it is not a return address */
#define CHORD_RT_DESC_MAGIC 0x4d524843u            /* "CHRM" */
#define CHORD_RT_EARLY_MAGIC (0x4e524f42u | (uint64_t)CHORD_FORMAT_VERSION << 32) /* "BORN" */

/* Hooked functions. pack.sh makes their wrappers, in this order; the first three have wrappers of their own. P: internal functions
 * of the C library, which no program may name. Functions that execute another program come last. */
#define CHORD_RT_HOOKS(X, P) \
	X(pthread_create) \
	X(thrd_create) \
	X(vfork) \
	P(_dl_allocate_tls) \
	P(_dl_allocate_tls_init) \
	P(_dl_deallocate_tls) \
	X(_Fork) \
	X(_exit) \
	X(_Exit) \
	X(quick_exit) \
	X(pthread_exit) \
	X(thrd_exit) \
	X(longjmp) \
	X(_longjmp) \
	X(siglongjmp) \
	X(__longjmp_chk) \
	X(_Unwind_SetIP) \
	X(clone) \
	X(timer_create) \
	X(mq_notify) \
	X(abort) \
	X(__assert_fail) \
	X(__assert_perror_fail) \
	X(raise) \
	X(sigaction) \
	X(signal) \
	X(kill) \
	X(setcontext) \
	X(swapcontext) \
	X(pthread_cancel) \
	X(__pthread_unwind_next) \
	X(_Unwind_ForcedUnwind) \
	X(_dl_find_object) \
	X(dlsym) \
	X(dlvsym) \
	X(pthread_join) \
	X(pthread_tryjoin_np) \
	X(pthread_timedjoin_np) \
	X(pthread_clockjoin_np) \
	X(thrd_join) \
	X(prctl) \
	X(syscall) \
	X(chroot) \
	X(unshare) \
	X(setns) \
	X(setuid) \
	X(seteuid) \
	X(setreuid) \
	X(setresuid) \
	X(execve) \
	X(execv) \
	X(execvp) \
	X(execvpe) \
	X(fexecve) \
	X(execl) \
	X(execlp) \
	X(execle) \
	X(daemon)

#define CHORD_RT_HOOK_ENUM(name) CHORD_RT_HOOK_##name,
enum { CHORD_RT_HOOKS(CHORD_RT_HOOK_ENUM, CHORD_RT_HOOK_ENUM) CHORD_RT_NHOOK };
_Static_assert(CHORD_RT_NHOOK <= 64, "");

/* The address of each of these functions in the module; in module.s. It is in data: an address in code could make the linker give
 * the function another address in the program's tables. */
extern const uint64_t chord_rt_links[CHORD_RT_NHOOK] __attribute__((visibility("hidden")));

/* A module's descriptor for other copies of the runtime; in module.s. It has distances instead of addresses, so that it can be read
 * before the module is relocated. A distance counts from the field that holds it. */
struct chord_rt_desc {
	/* The same in every version: */
	uint32_t magic, version;
	int32_t start, stop;          /* the counters */
	/* Of this version: */
	int32_t sum, sum_end;         /* distances to the counters whose values exits record */
	int32_t hook[CHORD_RT_NHOOK]; /* this module's wrappers */
	uint32_t nhook;
	uint64_t ctl;                 /* struct chord_rt_ctl; 0: the process does not know the module yet */
	uint64_t index;               /* of the module in the control block */
	int32_t pointer, pointer_end; /* __chord_pointer and its last instruction */
	int32_t mine;                 /* two words for each region: its number plus 1; the struct chord_rt_regs of woven code that
	                               * is in a routine of the runtime, or 0 */
	int32_t path, path_end;       /* CHORD_SECTION_PATH */
	int32_t shadow;               /* __chord_shadow, two words for each region */
	int32_t called, called2, called_end; /* __chord_stack, __chord_path and their last instruction */
	uint32_t shadowed;            /* __chord_stack has been called */
	uint64_t lost;                /* paths that were not counted before the module was known */
	int32_t code, code_end;       /* the runtime's own code */
	int32_t links, mapped;        /* chord_rt_links; chord_rt_mapped() */
	uint32_t mooring;             /* a thread of this module is looking for the control block, or making it */
	int32_t called3, called4;     /* __chord_trace_slow, __chord_trace_signal, which end where __chord_path does */
	int32_t called5;              /* __chord_stamp, likewise */
	int32_t resolving;            /* chord_rt_resolving() */
};

/* An array that grows: see CHORD_CHUNK. Elements never move. */
struct chord_rt_chunks {
	uint64_t at[CHORD_CHUNKS];
};

/* A measured module. Elements are never reused for another one: the index is the number of its extent in the file. */
struct chord_rt_mod {
	CHORD_LIVE_MODULE_FIELDS(CHORD_FIELD)
	unsigned char id[32];
	uint32_t index;
	struct chord_rt_desc *desc;
	uint64_t text, text_end;      /* its executable segments */
	uint64_t dynamic;             /* address of its dynamic section; 0: none */
	uint64_t fired, fired_end;   /* __chord_struck, if it was needed so far */
	uint64_t path_hash;           /* recognises it when it is opened again */
	uint64_t space;               /* which list of objects it is in */
	const char *name;             /* its path */
	uint32_t same;                /* the next module with the same hash of the path, + 1 */
	uint32_t main;                /* it is the program itself, which is never closed */
	uint32_t seen;                /* in the current scan */
	uint32_t left;                /* its destructor has run: desc may disappear any time */
	uint32_t begins;              /* it counts events, which begin at 0 in each process for chord_events() */
	uint32_t nsum;
	uint64_t sum[CHORD_SUMS];     /* addresses of counters, ascending */
	uint32_t paths;               /* it has paths; CHORD_RT_TRACED: it writes them to a trace */
	uint32_t unfinished;          /* some procedure counts all paths: how far activations came is recorded */
	uint64_t shadow;              /* address of its __chord_shadow */
	struct chord_path_at *table;  /* its hash tables, by link-time address */
	uint32_t ntable;
	uint32_t astray;              /* its counters have no room in region 0 */
	uint32_t order;               /* 1: the module whose counters were mapped first, 2: the next ... */
	struct chord_rt_chunks counts; /* by region, uint64_t: offset of its extent in the file; 0: none */
};

/* An event's counter in a region, followed by its timer. The sum of each pair counts. Woven code adds to the first number of a
 * pair, and asks whether the timer is due if the result is not below 0. Readers take all words for counts and add them up; so
 * numbers that can be 2^56 or more are kept as two halves. */
struct chord_rt_timer {
	struct chord_rt_pair { int64_t way, rest; } pair[CHORD_PAIRS_TIMED];
	uint64_t seq;                 /* odd: it is set. Changes whenever it is set or ends */
	uint64_t limit[2];            /* the timer is due when the counter has this value */
	uint64_t handler, arg[2];
	uint64_t how;                 /* CHORD_RT_SLACK, CHORD_RT_EXACT */
	uint64_t users;               /* of the region, when the timer was set */
	uint64_t most;                /* events that the counter lacks, or has too many, anywhere in the module, at most */
	uint64_t late;                /* events by which a handler was late in this region, at most */
	uint64_t due;                 /* address of __chord_due_... */
	uint64_t share[CHORD_PAIRS_TIMED];   /* each way's part of what was left when that was last divided */
};
_Static_assert(sizeof(struct chord_rt_timer) <= CHORD_TIMER_SIZE, "");

/* In timers.s. Distances count from the fields. */
struct chord_rt_timed {
	int32_t start, stop;          /* records of CHORD_SECTION_TIMED */
	int32_t fired, fired_end;     /* __chord_struck, which is last there */
	int32_t code, pad;            /* __chord_timer, which is first there */
	uint64_t most;                /* the most that counters lack, plus 1; 0: not computed yet */
};

/* A call of vfork whose child may still run on the caller's stack. */
struct chord_rt_vfork {
	uint64_t sp, pc;              /* after the call */
	uint64_t pid;                 /* the caller */
	bool ran;                     /* the child began, in its parent's memory */
};

/* Kinds of keyed tables. All their slots have the form of struct chord_callee; the type of their extents is CHORD_EXTENT_CALLEES
 * plus the kind. */
enum chord_rt_kind { CHORD_RT_CALLED, CHORD_RT_OVERFLOWN, CHORD_RT_UNFINISHED, CHORD_RT_KINDS };

/* A keyed table: the mapped extents of one kind and region. Extent k has CHORD_RT_PAGE << 2k bytes. They never move, because woven
 * code holds addresses of slots. */
struct chord_rt_keyed {
	uint32_t kind, number;        /* kind: enum chord_rt_kind; number: of the region plus 1, 0: threads without one */
	uint32_t n;
	uint64_t used;                /* slots used in the last extent */
	struct chord_extent_head *map[CHORD_RT_KEYED];
};

/* A thread that forks, from its first handler before the fork to its last one after it. */
struct chord_rt_forker {
	uint64_t mask;                /* signal mask before */
	uint32_t tid;
	uint32_t level;               /* number of handlers that have run before and not yet after; 0: it does not fork */
	uint32_t blocked;             /* signals are blocked until the last handler */
};

/* A region and its thread. entry.s knows the offsets of start and arg. */
struct chord_rt_region {
	CHORD_LIVE_REGION_FIELDS(CHORD_FIELD)
	void *(*start)(void *);
	void *arg;
	uint32_t index;
	uint64_t stack;               /* where the thread's own stack begins; 0: not known */
	uint32_t nvfork;
	struct chord_rt_vfork vfork[4];
	uint32_t nstep, in_call, pushed; /* timers for which the thread is stepped through; it is in a system call; the last
	                                  * instruction was pushf */
	struct chord_rt_timer *step[CHORD_RT_STEPS]; /* these timers */
	uint64_t mask;                /* the signal mask that the thread would have */
	const unsigned char *record;  /* of CHORD_SECTION_TIMED, found last */
	uint32_t process;             /* a thread of another process in this memory: its process id */
	uint32_t known;               /* its handle is known, or nobody needs it */
	uint32_t given_up;            /* modules from this order on have no counters in it: nobody counts there; 0: all have */
	uint32_t uncounted;           /* counters of some module here are in no file: its threads are among the head's lost ones */
	uint64_t first_function, first_sp; /* a thread that began in the middle of a function, on a stack of its own: where the
	                                    * function begins, and the stack pointer then */
	uint64_t pd;                  /* a thread that the C library made by itself: address of its descriptor */
	uint32_t slots;               /* its extent of exits that was added last, + 1 */
	struct chord_rt_filter *filter; /* what its thread may call; NULL: everything */
	uint64_t own_stack;           /* where the runtime's own stack for it begins; 0: none */
	uint64_t thread;              /* number of the thread that has it, or had it last */
	struct chord_rt_forker forker;
	struct chord_rt_keyed keyed[CHORD_RT_KINDS];
};

/* The newest filter of system calls of a thread, and those before it. A call has to pass all of them. */
struct chord_rt_filter {
	struct chord_rt_filter *before;
	uint64_t n;                   /* number of instructions; 0: the strict mode */
	struct sock_filter *code;
};

/* A stack that swapcontext or setcontext has suspended. Elements are never reused for another stack: those that are not live keep
 * its identity. */
struct chord_rt_fibre {
	uint64_t top;                 /* where its outermost frame is */
	uint64_t sp, pc;              /* where it was left */
	uint64_t by;                  /* the stack whose end leads back to it; 0: none */
	int32_t tid;                  /* the thread whose own stack it is; 0: none */
	uint32_t live, n, pad;
	struct { uint64_t pc, cfa; } frame[CHORD_RT_FRAMES];
};

/* A mapped extent of exit records. Begins like struct chord_live_exits. */
struct chord_rt_slots {
	struct chord_extent_head *map;
	uint64_t size, n, used;
	uint32_t region;              /* plus 1, of the thread that the records are about; 0: any */
	uint32_t before;              /* the previous extent for the same, + 1; 0: none */
};

/* A cache entry: how to get from the frame with a return address to its caller's frame. The CFA is rsp or rbp plus a number. rbx,
 * rbp and r12-r15 are saved in slots below it; the return address is just below it. A reader may use the entry if seq was even, and
 * the same before and after. */
struct chord_rt_known {
	uint32_t seq;
	int32_t cfa;                  /* minus rsp or rbp */
	uint64_t pc;
	uint64_t stamp;               /* of its object; otherwise the rest has no meaning */
	uint64_t begin;               /* of the function */
	uint64_t *count;              /* counter of its exits; NULL: not looked up yet; 1: none are counted */
	uint8_t at[6];                /* number of the slot from the CFA down, from 1; 0: the register is unchanged */
	uint8_t deepest;              /* the greatest of these */
	uint8_t by_fp;
};

/* A cached longjmp: all frames that it leaves are the program's own code, of known sizes. Read and written as above. A frame's
 * `way` has its end, minus the stack pointer of the call; whether its end is found by rbp; and how many words below its end the
 * caller's rbp is saved, 0 if that is still in rbp. */
enum { CHORD_RT_JUMP_SIZE = 0x7fffff, CHORD_RT_JUMP_BY_FP = 23, CHORD_RT_JUMP_SAVED = 24 };
struct chord_rt_jump {
	uint32_t seq;
	uint16_t n, traced;           /* number of frames; how many of them write a trace, if there is one */
	struct chord_rt_leap {
		uint64_t from, to;    /* return address of the call of longjmp; destination */
		uint64_t sp;          /* stack pointer there, minus that of the call */
		uint64_t epoch;
	} leap;
	uint64_t *up;                 /* counter of activations that are resumed there, or 1 */
	struct {
		uint32_t way;
		uint64_t caller;      /* the return address there */
		uint64_t *count;      /* counter of its exits, or 1 */
	} frame[CHORD_RT_JUMP_FRAMES];
};

/* A loaded object, identified by its build id. The id is read again at the known address, because another object may have been
 * loaded in its place. */
struct chord_rt_object_id {
	uint32_t seq, pad;
	uint64_t start, end, hdr;
	uint64_t at, id[2];           /* address of the id; its first 16 bytes */
	uint64_t stamp;
};

/* A list of objects, as last visited. Each name space has one. New objects are appended. */
struct chord_rt_space {
	uint64_t id;                  /* of its libc: see `space` in struct chord_rt_mod */
	uint64_t adds, subs;          /* as libc counts them */
	uint64_t first, last;         /* program headers of the first and the last object */
	uint32_t known;               /* number of objects */
	uint32_t hooked;              /* number of objects whose tables have been searched */
};

/* Where messages go: descriptor 2, as long as it is the same file as when the process began. */
struct chord_rt_stderr {
	uint64_t dev, ino;
	uint32_t type;                /* S_IFMT of its mode; 0: none */
	uint32_t early;               /* examined before the program's first instruction */
};

/* How the profile gets its name; place.c. */
enum chord_rt_naming { CHORD_RT_BY_PID, CHORD_RT_BY_NAME, CHORD_RT_BY_FOLDER };
struct chord_rt_home {
	uint32_t naming;              /* enum chord_rt_naming */
	uint32_t member;              /* the run's first profile is another process's */
	uint32_t length;              /* length of the common beginning of the names of the run's profiles, in path; 0: not known
	                               * yet */
	uint32_t makes;               /* makes the folder if it does not exist: it is CHORD_DIR's */
	uint32_t null;                /* /dev/null: no profile is wanted */
	uint32_t strange;             /* the file with the wanted name is not a profile */
	uint64_t run[2], id[2], of[2];
	uint64_t ticks;               /* when this process began; 0: not asked for */
	uint64_t slot;                /* of the head */
	uint64_t reused;              /* bytes of the file that an earlier process of the run left for this one; 0: it is new */
	uint64_t exits;               /* offset in these at which to look for the next extent of exits */
	uint32_t forks;               /* of this process */
	struct chord_profile_head *elder; /* head of the parent's profile, or of the nearest existing one, while it is needed */
};

/* The C library is making a thread by itself: its pthread_create will return to chord_rt_created. */
struct chord_rt_making {
	uint64_t sp, pc;              /* after that return, and its original destination; sp 0: free */
	uint64_t base;                /* of the thread that makes it */
	uint32_t region, pid;
};

/* In trace.s. */
struct chord_rt_traced {
	uint64_t home;                /* address of the cursor, for base 0: `cell`, or when the runtime is up, the one of all
	                               * modules */
	uint64_t cell, early;         /* the cursor before that; where it began */
	uint64_t lost;                /* paths that had no room there */
	int32_t join, pad;            /* distance to chord_trace_join, which calls a function that joins a thread */
};

/* A thread that may be joined. */
struct chord_rt_joinable {
	uint64_t handle;              /* pthread_t; 0: the element is free */
	uint64_t thread;              /* CHORD_CREATES; 0: it has been forgotten */
};

enum chord_rt_torn { CHORD_RT_PACKS = 1, CHORD_RT_CHANGES_RING };
/* A new ring in a stream. While CHORD_RT_CHANGES_RING is set, whoever inherits the ring can do this from the beginning. */
struct chord_rt_change {
	uint64_t at, size, first, from; /* from: the extent's offset in the file */
	struct chord_extent_head *head;
	uint32_t collected, rings;
	struct chord_rt_old_ring *old;  /* the ring that is given up; NULL: the new one is the stream's first */
	uint64_t seen, seen_at;         /* of the old one: the slot that was next when the runtime was last there, its address */
	uint64_t packed;                /* slots before this one are packed */
};

/* The ring to which one thread at a time writes its trace. Slots are counted from the beginning of the stream. */
struct chord_rt_ring {
	uint64_t at;                  /* address, mapped twice in succession; 0: none */
	uint64_t size;                /* bytes of the ring */
	uint64_t first;               /* number of the first segment in it */
	uint64_t packed;              /* segments before this one are packed, or in earlier rings; if a collector packs, see
	                               * chord_rt_packed() */
	uint64_t seen;                /* number of the next slot when the runtime was last here */
	uint64_t room;                /* slots before this one had room when a segment last ended */
	uint32_t number, rings;       /* number: of the stream; rings: of the ring in the stream */
	uint32_t busy;                /* the thread that packs */
	uint32_t collected;           /* another process packs */
	uint32_t gone;                /* its thread has ended, which has been noted */
	volatile uint32_t torn;       /* enum chord_rt_torn: what is half done while a thread has the ring */
	struct chord_rt_change change;
	uint64_t place;               /* offset in the file */
	uint64_t since, backed;       /* if only the last segments are kept: since: the segment with which it began, plus 1; backed:
	                               * the segment from which on it has no room in the file yet. since 0: all of it has room */
	uint64_t kept;                /* no later segment has a mark that chord_rt_keep_marks() keeps */
	struct chord_extent_head *head, *packs; /* mapped; NULL: none */
	struct chord_rt_packer *packer;
	struct chord_rt_old_ring *old; /* the newest of the rings that were given up */
};
struct chord_rt_old_ring {
	uint64_t at, size;
	uint64_t end, n;              /* the n slots before the address `end` may be reserved and not written */
	uint64_t next;                /* number of the slot at `end` */
	uint32_t collected;
	struct chord_rt_old_ring *before;
};
struct chord_rt_packer {
	struct chord_pack pack;
	uint8_t out[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 64];
};

/* The trace of the process. */
struct chord_rt_trace {
	uint64_t home;                /* page with a cursor in each region, for base 0 */
	uint64_t scratch;             /* where tokens go that nobody keeps */
	uint32_t pid, parent, forks;  /* the process; its parent; forks so far */
	uint32_t stopped;             /* nothing more is kept, or there never was a file */
	uint32_t senseless;           /* CHORD_TRACE is not understood */
	uint64_t last;                /* bytes to keep of each stream, whole segments; 0: all */
	uint32_t collected;           /* a collector packs new rings */
	char collector[CHORD_RT_COLLECTOR]; /* address of its socket; empty: none */
	uint64_t dev, ino;
	int32_t fd;                   /* held open, or -1 */
	uint32_t noted, late;         /* noted: the thread that forks, for which the next fields hold; late: more slots, or slots
	                               * elsewhere */
	uint32_t npending;            /* while a thread forks: slots of its ring that are reserved and not written */
	uint64_t pending[CHORD_RT_PENDING];
	struct chord_trace_head *head; /* mapped; NULL: no file has been made yet */
	struct chord_extent_head *list; /* of modules: the newest extent */
	uint32_t listed;              /* modules in all of these */
	struct chord_rt_ring nobody;  /* of threads without a region */
	struct chord_rt_chunks ring;  /* by region */
	struct chord_rt_joinable *joinable; /* by hash of the handle, open addressing; NULL: none so far */
	uint64_t njoinable, joinables; /* elements that are taken; elements in all, a power of two */
	uint64_t *stamp;              /* the last stamp; forked children have the same page. NULL: there are no stamps */
	uint32_t memory;              /* it is in memory, and only the last bytes of each stream are kept */
	uint32_t begun;               /* a ring has been added */
	uint64_t newest;              /* in memory: head of the last extent, or of the trace */
};

/* The control block. */
struct chord_rt_ctl {
	CHORD_LIVE_FIELDS(CHORD_FIELD)
	uint64_t early_magic;         /* CHORD_RT_EARLY_MAGIC: it is this version's, long before magic says so */
	uint64_t confined;            /* some thread has a filter; entry.s knows the offset */
	struct chord_rt_filter *filter, strict; /* the newest filter of any thread; one that forbids most */
	uint64_t memory;              /* address of struct chord_rt_seen_memory, or 0 */
	uint64_t *here;               /* 1; in a forked child, whoever forked it, 0. NULL: the kernel does not support that */
	uint64_t room, room_end;      /* memory that can be given away */
	uint32_t fsgsbase, nogs, nofile, dynamic, ended, warned, secure, traced;
	uint32_t hint, cursor;        /* where to look for a free region */
	uint32_t recent[CHORD_RT_RECENT]; /* regions by base, as last found */
	uint64_t bases;               /* page that has at each base that base; 0: none, or rdgsbase makes it unnecessary */
	uint32_t scheme, step_no;     /* where to look for the next base */
	uint32_t narrow;              /* the first thread's base is in a gap that is too small for more */
	uint64_t highest;             /* end of the highest loaded object below the stack */
	uint64_t stack;               /* where the first thread's stack begins */
	const struct chord_rt_regs *daemon; /* where the thread is that forks in daemon(); NULL: none */
	uint64_t phdr, phnum;         /* program headers of the program, from the kernel */
	uint64_t gap_top, gap_step, gap_least; /* of bases: the highest; distance between them at first, and when they run out */
	uint64_t main, main_end, main_hdr; /* the program; its .eh_frame_hdr or 0 */
	uint32_t epoch;               /* what was known of frames in another epoch is forgotten */
	uint32_t stamps;              /* number of stamps given to objects */
	uint32_t asked;               /* a walk came through __chord_pointer */
	uint32_t quitters;            /* the `left` of some region is not 0 */
	uint32_t switching;           /* lock of the suspended stacks */
	uint32_t cancels;             /* pthread_cancel has been called */
	uint32_t sums;                /* some module has counters whose values exits record */
	uint32_t paths;               /* some module has paths */
	uint64_t leaving;             /* base of the region that its thread has to leave, or 0 */
	uint32_t left_base;           /* 1: it has left; 2: it may not */
	uint32_t pages;               /* how many of the guests are pages of the runtime's own */
	uint32_t guests_warned;       /* the profile says that there are guests */
	uint32_t too_many;            /* the profile says that there are more modules than can be told apart */
	uint64_t dying_state;         /* `state` of the head before */
	uint64_t waiting, waiting_size; /* offset of CHORD_EXTENT_WAITING in the profile, or 0; its bytes */
	struct chord_rt_regs dying_regs;
	uint32_t per_thread;          /* CHORD_THREADS=per-thread: regions are not used again, and exits are kept by region */
	uint32_t steppers;            /* threads that are stepped through */
	uint32_t fired;               /* some thread has been in __chord_struck */
	uint64_t trap_handler;        /* the runtime's handler for SIGTRAP */
	struct chord_rt_action { uint64_t handler, flags, restorer, mask; } trap; /* for SIGTRAP, the program's own */
	struct chord_rt_action before_leave; /* for CHORD_RT_SIGLEAVE, the program's own */
	uint64_t state_size;          /* bytes of the floating point and vector state, plus 1; 0: not asked yet */
	uint64_t bus;                 /* our handler for SIGBUS; 0: none */
	uint64_t bus_flags, bus_mask; /* given by the program with the default action, which it would see again */
	uint64_t handler[16];         /* by signal: the program's handlers for signals that instructions raise */
	uint32_t handlers_warned;     /* the profile says that one of these is not measured */
	uint32_t truncated;           /* the file has become shorter */
	uint32_t signal, reset;       /* numbers of signals, by CHORD_SIGNAL; 0: none */
	uint32_t snapshots;           /* number of snapshots written */
	uint64_t kept, kept_size;     /* the profile at the last reset */
	uint64_t frames, frames_size; /* .eh_frame of a static program */
	uint32_t frames_asked;
	uint32_t hooks_wanted;        /* result of chord_rt_is_wanted() when the hooks were last set */
	uint32_t forks_watched;       /* by a module that is never closed */
	uint64_t dl_asked;            /* libc's count of objects when dlsym last asked */
	uint32_t changes;             /* changes of the list of objects that chord_rt_mapped() has seen */
	uint32_t changes_asked;       /* the same when dlsym last asked */
	uint32_t order;               /* of the module whose counters were mapped last */
	uint32_t hooker;              /* module whose wrappers are in the tables, + 1 */
	uint64_t debug;               /* struct chord_rt_debug, if its function has been redirected to chord_rt_mapped() */
	uint64_t brk;                 /* that function; 0: not yet */
	unsigned char brk_was[CHORD_RT_FAR_JUMP]; /* its original bytes */
	uint64_t resolving;           /* the chord_rt_resolving() of whoever has the hooks; 0: nobody has them yet */
	uint64_t stays, stays_size;   /* destination of the hooks if no module has them: a copy of the last one's library; 0:
	                               * none */
	struct chord_profile_head *head;
	int32_t fd;
	uint32_t described;           /* number of regions with a descriptor */
	uint64_t space;               /* the list of objects from which `real` was learned */
	uint32_t holds;               /* fd stays open */
	uint32_t births;              /* threads that began in the middle of a function */
	uint32_t unseen;              /* CHORD_RT_UNSEEN_...: warnings given about threads and processes made unseen */
	uint32_t emulators;           /* number of threads that an emulator has made for itself */
	uint32_t qemu;                /* it is qemu, which makes vfork a fork, and does not know MADV_WIPEONFORK */
	uint64_t *whole;              /* a word that is 0 in a child that has its memory for itself */
	uint64_t address_taken;       /* bits of hooks: those with functions whose address is taken, which was reported */
	uint64_t creator;             /* the C library's own pthread_create; 1: not known */
	struct chord_rt_making making[CHORD_RT_MAKING];
	uint64_t asked_for[CHORD_RT_MAKING]; /* frames of hooks through which threads are being made; 0: none */
	uint64_t real[CHORD_RT_NHOOK];
	uint64_t letters[4];          /* first letters of their names */
	uint32_t hash[CHORD_RT_NHOOK];
	uint16_t name[CHORD_RT_NHOOK];
	uint32_t slots_last;          /* extent of exits without a region, + 1 */
	struct chord_rt_chunks module, region, slots, guest;
	struct chord_rt_keyed keyed[CHORD_RT_KINDS]; /* of threads without a region */
	uint32_t nlist, elsewhere;    /* elsewhere: some module was seen in a name space of its own */
	struct chord_rt_space list[CHORD_RT_SPACES];
	uint32_t same[CHORD_RT_PATHS]; /* by hash of the path: the first module, + 1 */
	struct chord_rt_fibre *fibre[CHORD_RT_TABLES]; /* hash tables */
	uint32_t *unit[CHORD_RT_TABLES]; /* hash tables of the numbers of mapped small pieces, plus 1 */
	uint64_t *piece[CHORD_RT_LEAVES]; /* one bit for each mapped piece */
	uint32_t nspare, limit;       /* spares used; limit: 1: the process has limited its memory, 2: it has not */
	unsigned char (*spare)[CHORD_RT_UNIT];
	struct chord_rt_stderr err;
	struct chord_rt_home place;
	char prog[256];
	char wanted[CHORD_RT_PATH];   /* CHORD_FILE made absolute, not expanded */
	char path[CHORD_RT_PATH];     /* the file */
	struct chord_rt_trace *trace; /* NULL: no module writes one */
	uint32_t untraced;            /* one would, but there is no memory: code counts and writes only for base 0 */
	uint64_t file_limit;          /* RLIMIT_FSIZE when last asked */
	struct chord_rt_forker forker; /* of threads without a region */
	uint32_t forkers;             /* number of threads that fork */
	uint32_t lent;                /* the depth at which the lock was lent */
	_Alignas(CHORD_RT_PAGE) unsigned char page[CHORD_RT_PAGE];  /* scratch, under the lock */
	unsigned char zero[CHORD_RT_PAGE];
	unsigned char spare_head[CHORD_RT_PAGE]; /* for a process that can map none */
	struct chord_rt_known known[CHORD_RT_KNOWN];
	struct chord_rt_jump jump[CHORD_RT_JUMPS];
	struct chord_rt_object_id object[CHORD_RT_OBJECTS];
	struct chord_rt_mod first_modules[CHORD_CHUNK];
	struct chord_rt_region first_regions[CHORD_CHUNK];
	struct chord_rt_slots first_slots[CHORD_CHUNK];
	uint32_t first_units[CHORD_RT_UNITS];
	unsigned char first_room[CHORD_RT_PAGE];
	_Alignas(CHORD_RT_PAGE) uint64_t first_here[CHORD_RT_PAGE / 8]; /* last: a page with rules of its own */
};

/* Bits of ctl->unseen: threads and processes that share counters. SHARED: a thread for which there was no region. */
enum {
	CHORD_RT_UNSEEN_LIBC = 1, CHORD_RT_UNSEEN_THREAD = 2, CHORD_RT_UNSEEN_PROCESS = 4, CHORD_RT_UNSEEN_SHARED = 8,
	CHORD_RT_UNSEEN_FORBIDDEN = 16,
};

extern struct chord_rt_desc chord_rt_desc __attribute__((visibility("hidden")));

/* The address that a distance leads to. */
#define CHORD_RT_NEAR(field) ((uint64_t)&(field) + (uint64_t)(int64_t)(field))

#endif
