/* SPDX-License-Identifier: MIT */
/* With -fbasic-block-sections=all landing pads are in another section than the calls, and each section has a table of its own. */
#include <cstdio>
#include <string>

static int alive;

struct counted {
	std::string name;
	counted(int n) : name(std::to_string(n)) { alive++; }
	~counted() { alive--; }
};

extern "C" __attribute__((noinline)) int
fall(int depth, int n)
{
	counted c(n);

	if (!depth) {
		if (n % 3 == 0)
			throw n;
		if (n % 3 == 1)
			throw c.name;
		return n;
	}
	try {
		return fall(depth - 1, n) + 1;
	} catch (int caught) {
		if (depth % 4 == 0)
			throw;
		return caught + depth;
	}
}

int
main()
{
	int sum = 0;

	for (int n = 0; n < 90; n++) {
		try {
			sum += fall(n % 10, n);
		} catch (int caught) {
			sum += 2 * caught;
		} catch (const std::string &caught) {
			sum += (int)caught.size();
		}
	}
	std::printf("%d %d\n", sum, alive);
	return 0;
}
