/* SPDX-License-Identifier: MIT */
/* A library: run(f, arg) calls f(arg) while it holds a path register, and counts; without f it counts path arg. */
#include "count.h"
#include "shadow.h"

long
run(long (*f)(long), long arg)
{
	CHORD_COUNT(1);
	if (f)
		return hold(f, arg, &dense[1]);
	path((uint64_t)arg);
	return 0;
}
