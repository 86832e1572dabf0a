/* SPDX-License-Identifier: MIT */
/* The whole runtime in one unit, lowest first. */
#include "runtime.h"
#include "measures.h"

#include "sys.c"
#include "lock.c"
#include "memory.c"
#include "place.c"
#include "file.c"
#include "guest.c"
#include "region.c"
#include "own_stack.c"
#include "module.c"
#include "thread.c"
#include "symbols.c"
#include "hook.c"
#include "divert.c"
#include "mapped.c"
#include "unwind.c"
#include "walk.c"
#include "keyed.c"
#include "shadow.c"
#include "measure_events.c"
#include "measure_paths.c"
#include "measure_calls.c"
#include "exit.c"
#include "fast_walk.c"
#include "handler.c"
#include "jump.c"
#include "fibre.c"
#include "dying.c"
#include "cancel.c"
#include "libc_thread.c"
#include "vfork.c"
#include "fork.c"
#include "clone.c"
#include "snapshot.c"
#include "truncated.c"
#include "timer.c"
#include "hooked.c"
#include "start.c"

/* Numbers that entry.s has. */
_Static_assert(offsetof(struct chord_rt_region, start) == 32 && offsetof(struct chord_rt_region, arg) == 40, "");
_Static_assert(sizeof(struct chord_rt_regs) == 136 && CHORD_RT_ASKING == 176 && CHORD_RT_HOOK_vfork == 2, "");
_Static_assert(sizeof chord_rt_moved == 280, "");
_Static_assert(CHORD_RT_DESC_MAGIC == 0x4d524843 && CHORD_NOTE_MODULE == 1, "");
