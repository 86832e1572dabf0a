// SPDX-License-Identifier: MIT
#include <cstdio>
#include <stdexcept>
#include <vector>

struct odd : std::runtime_error { using runtime_error::runtime_error; };

extern "C" __attribute__((noinline)) int work(int n)
{
	if (n & 1)
		throw odd("odd");
	return n;
}

int main()
{
	std::vector<int> even;
	int caught = 0;

	for (int i = 0; i < 10; i++)
		try {
			even.push_back(work(i));
		} catch (const odd &) {
			caught++;
		}
	std::printf("%zu %d\n", even.size(), caught);
	return even.size() == 5 && caught == 5 ? 0 : 1;
}
