// SPDX-License-Identifier: MIT
// Cases of C++ for line coverage: templates, inlined code, exceptions, switches, loops, functions and instances that never run.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

template<class T>
static T
clamp(T x, T low, T high)
{
	if (x < low)
		return low;
	if (x > high)
		return high;
	return x;
}

template<class T>
static T
often(T x)
{
	if (x > T(1000))
		return T(1000);
	return x + T(1);
}

struct shape {
	virtual ~shape() {}
	virtual int area() const = 0;
	int twice() const { return 2 * area(); }
};

struct square : shape {
	explicit square(int n) : side(n) {}
	int area() const override { return side * side; }
	int side;
};

struct circle : shape {
	int area() const override
	{
		return 3;
	}
};

static int
parse(const std::string &s)
{
	int n = 0;

	for (char c : s) {
		if (c < '0' || c > '9')
			throw std::invalid_argument(s);
		n = n * 10 + (c - '0');
	}
	return n;
}

static int
kind(int n)
{
	switch (n % 7) {
	case 0:
		return 1;
	case 1:
	case 2:
		return 2;
	case 3:
		n++;
		/* fall through */
	case 4:
		return n;
	case 9:
		return 77;
	default:
		break;
	}
	return 0;
}

static int
unused(int n)
{
	while (n > 10)
		n /= 2;
	return n;
}

int
main(int argc, char **argv)
{
	std::vector<std::string> words(argv + 1, argv + argc);
	int sum = 0;

	for (const std::string &w : words)
		try {
			int n = parse(w);
			square s(n);

			sum += clamp(n, 0, 5) + s.twice() + kind(n);
			sum += (int)often(2.0) + often(n);
		} catch (const std::invalid_argument &e) {
			sum--;
		}
	if (sum == 123456)
		sum = unused(sum) + (int)clamp(0.5, 1.0, 2.0) + circle().twice();
	return sum < 0 ? EXIT_FAILURE : sum > 0 ? EXIT_SUCCESS : 3;
}
