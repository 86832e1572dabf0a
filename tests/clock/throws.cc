// SPDX-License-Identifier: MIT
// Exceptions: landing pads that are entered again and again, from one call and from several, by rethrown exceptions, in recursion.
#include <stdexcept>
#include <string>
#include <vector>

#define HOT __attribute__((noinline, noclone))

static volatile int sink;

struct guard {
	~guard() { sink++; }
};

HOT static void
thrower(int n)
{
	guard g;

	if (n % 3 == 0)
		throw n;
	if (n % 3 == 1)
		throw std::runtime_error("x");
	sink += n;
}

HOT static int
catcher(int n)
{
	guard g;

	for (;;) {
		try {
			thrower(n);
			return n;
		} catch (int k) {
			sink += k;
		} catch (const std::exception &e) {
			sink += (int)std::string(e.what()).size();
		}
		n++;
	}
}

HOT static void
deep(int n)
{
	guard g;

	try {
		if (n)
			deep(n - 1);
		thrower(n);
		thrower(0);
	} catch (int) {
		sink++;
		if (n % 2)
			throw;
	} catch (...) {
		sink--;
		throw;
	}
}

int
main()
{
	std::vector<int> v;

	for (int i = 0; i < 4; i++)
		v.push_back(catcher(i));
	for (int i = 0; i < 3; i++)
		try {
			deep(3 + i);
		} catch (...) {
			sink += v[(size_t)i];
		}
	return 0;
}
