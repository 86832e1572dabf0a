/* SPDX-License-Identifier: MIT */
/* Exceptions through several frames, with cleanups, rethrown, out of a recursion, and caught in the middle of it. */
#include <cstdio>
#include <stdexcept>
#include <string>

static int cleaned;
struct guard {
	~guard() { cleaned++; }
};

__attribute__((noinline)) static int
deep(int n, int where)
{
	guard g;

	if (!n)
		throw std::runtime_error("deep");
	try {
		return deep(n - 1, where) + 1;
	} catch (const std::logic_error &) {
		return -1;
	} catch (const std::runtime_error &) {
		if (n == where)
			return 100;
		throw;
	}
}

int
main()
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		try {
			sum += deep(3, i);
		} catch (const std::exception &e) {
			sum += (int)std::string(e.what()).size();
		}
	std::printf("%d %d\n", sum, cleaned);
}
