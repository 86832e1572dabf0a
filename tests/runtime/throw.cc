// SPDX-License-Identifier: MIT
// Exceptions through frames with and without landing pads.
#include "count.h"
#include <cstring>
#include <thread>

#define NOINLINE __attribute__((noinline, noclone))

struct guard {
	~guard() { CHORD_COUNT(1); }
};

NOINLINE static void
thrower(int n)
{
	if (n >= 0)
		throw n;
	__asm__ volatile("");
}

NOINLINE static void
plain(int n)
{
	thrower(n);
	__asm__ volatile("");
}

NOINLINE static void
guarded(int n)
{
	guard g;

	plain(n);
	__asm__ volatile("");
}

NOINLINE static int
catcher(int n)
{
	try {
		guarded(n);
	} catch (int v) {
		return v;
	}
	return 0;
}

NOINLINE static void
body()
{
	for (int i = 0; i < 10; i++)
		catcher(i);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && std::strcmp(argv[1], "thread") == 0) {
		std::thread t(body);
		t.join();
	} else {
		body();
	}
	return 0;
}
