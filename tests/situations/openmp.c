/* SPDX-License-Identifier: MIT */
/* When the process ends, threads of OpenMP's pool spin or sleep. They are idle. */
/* options: -fopenmp */
/* only: gcc because clang's library may not be there */
/* run: OMP_NUM_THREADS=2 ./program */
/* notes: none */
/* expect: main 1 */
/* expect: work 1000 */
/* line: ROUND 1000 */
#include "situation.h"

int
main(void)
{
#pragma omp parallel for
	for (int i = 0; i < 1000; i++) {
		STEP; /* @ROUND */
		work();
	}
	return 0;
}
