/* SPDX-License-Identifier: MIT */
/* 1,000,000 exceptions, each through three frames, one of which cleans up. */
/* expect: main 1, catcher 1000000, middle 1000000, thrower 1000000, caught 1000000, clean 1000000 */
#define FUNC __attribute__((noinline)) void

static volatile unsigned long done;

extern "C" {
FUNC
clean()
{
	done = done + 1;
}

FUNC
caught(int n)
{
	done = done + (unsigned)n;
}

FUNC
thrower(int n)
{
	throw n;
}

struct cleaner {
	~cleaner() { clean(); }
};

FUNC
middle(int n)
{
	cleaner c;
	thrower(n);
}

FUNC
catcher(int n)
{
	try {
		middle(n);
	} catch (int k) {
		caught(k);
	}
}
}

int
main()
{
	for (int i = 0; i < 1000000; i++)
		catcher(i);
}
