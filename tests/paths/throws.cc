// SPDX-License-Identifier: MIT
// Activations that exceptions end, or in which they land.
#include <cstdio>
#include <stdexcept>
#include <string>

struct guard {
	int *n;
	explicit guard(int *at) : n(at) {}
	~guard() { ++*n; }
};

static int cleaned;

static __attribute__((noinline)) int
throws(int n)
{
	guard g(&cleaned);

	for (int i = 0; i < n; i++) {
		if (i == 4)
			throw std::runtime_error("four");
		if (i == 7)
			throw i;
		if (n == 11)
			throw std::string("eleven");
	}
	return n;
}

static __attribute__((noinline)) int
between(int n)
{
	guard g(&cleaned);
	int sum = 0;

	for (int k = 0; k < 2; k++) {
		try {
			sum += throws(n - k);
		} catch (const std::string &) {
			sum -= 1;
			if (k)
				throw;
		}
	}
	return sum;
}

int
main()
{
	int sum = 0;

	for (int n = 0; n < 14; n++)
		try {
			sum += between(n);
		} catch (const std::exception &) {
			sum += 100;
		} catch (...) {
			sum += 1000;
		}
	std::printf("%d %d\n", sum, cleaned);
	return 0;
}
