/* SPDX-License-Identifier: MIT */
/* Two objects have the same inline functions, and the program has one copy of each. */
/* build: $CC -DONE -c $SRC -o one.o */
/* build: $CC -c $SRC -o two.o */
/* build: $CC one.o two.o -o program */
/* expect: main 1 */
/* expect: one 1 */
/* expect: _Z6sharedi 111 */
/* expect: _Z5timesIiEvT_ 7 */
/* line: here 111 */
#include "situation.h"

extern "C" void one(void);

inline FUNC void
shared(int n)
{
	if (n)
		STEP; /* @here */
}

template<typename T> FUNC void
times(T n)
{
	while (n-- > 0)
		shared(1);
}

#ifdef ONE
extern "C" void
one()
{
	times(1);
	times(10);
	for (int i = 0; i < 4; i++)
		times(0);
}
#else
int
main()
{
	one();
	times(100);
	return 0;
}
#endif
