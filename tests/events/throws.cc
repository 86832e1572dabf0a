// SPDX-License-Identifier: MIT
// Exceptions that are caught near and far, thrown on, and pass destructors.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

static unsigned seed = 1, left;

static unsigned next()
{
	seed = seed * 1103515245 + 12345;
	return seed >> 16 & 0x7fff;
}

struct guard {
	unsigned n;
	explicit guard(unsigned k) : n(k) {}
	~guard()
	{
		for (unsigned i = 0; i < n; i++)
			left += i & 1 ? n : i;
	}
};

__attribute__((noinline)) static unsigned deep(unsigned n)
{
	guard g(n % 7);
	std::string s(n % 40, 'x');

	if (n == 0)
		throw std::runtime_error("bottom");
	if (n % 11 == 0)
		throw n;
	return deep(n - 1) + (unsigned)s.size();
}

__attribute__((noinline)) static unsigned middle(unsigned n)
{
	try {
		return deep(n);
	} catch (unsigned k) {
		if (k % 2)
			throw;
		return k;
	}
}

int main(int argc, char **argv)
{
	unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 10, sum = 0;
	std::vector<unsigned> all;

	for (unsigned i = 0; i < times; i++) {
		try {
			all.push_back(middle(next() % 30));
		} catch (const std::exception &e) {
			sum += (unsigned)std::string(e.what()).size();
		} catch (...) {
			sum += 3;
		}
	}
	for (unsigned n : all)
		sum += n;
	std::printf("%u\n", sum + left);
}
