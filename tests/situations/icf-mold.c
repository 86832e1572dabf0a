/* SPDX-License-Identifier: MIT */
/* With --icf=all identical functions would be one. With counters they are not: each has counts of its own. */
/* options: -ffunction-sections -fuse-ld=mold -Wl,--icf=all,--gc-sections */
/* need: ld.mold --version || mold --version */
/* expect: main 1 */
/* expect: same_1 10 */
/* expect: same_2 20 */
/* expect: same_3 30 */
#include "icf-gold.c"
