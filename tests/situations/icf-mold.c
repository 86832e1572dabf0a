/* SPDX-License-Identifier: MIT */
/* Identical functions would be one with --icf=all: with counters they are not, and each has counts of its own. */
/* options: -ffunction-sections -fuse-ld=mold -Wl,--icf=all,--gc-sections */
/* need: ld.mold --version || mold --version */
/* expect: main 1 */
/* expect: same_1 10 */
/* expect: same_2 20 */
/* expect: same_3 30 */
#include "icf-gold.c"
