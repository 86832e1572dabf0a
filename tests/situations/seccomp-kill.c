/* SPDX-License-Identifier: MIT */
/* As seccomp.c, with a filter that kills: Chord maps nothing late where the program does not do so itself. */
/* options: -pthread */
/* status: 3 */
/* notes: none */
/* expect: main 1 */
/* expect: deep 4 */
/* expect: leave 1 */
/* expect: over 20 */
/* expect: jump 20 */
/* without: trace because the filter keeps the trace from growing: it stops, and reports say so */
#define FORBIDDEN SECCOMP_RET_KILL_PROCESS
#define ALONE
#include "seccomp.c"
