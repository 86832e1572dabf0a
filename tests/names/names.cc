/* SPDX-License-Identifier: MIT */
/* Functions with names of every kind; each runs as often as its name says. */
#include <cstdlib>
#include <string>
#include <vector>

#define ALONE __attribute__((noinline, noclone))

namespace app {

template <class T> struct Box {
	T v;
	ALONE T twice(T a) const { return v + a; }
	ALONE Box &operator+=(const T &a) { v += a; return *this; }
};

ALONE int thrice(const std::string &s, std::vector<int> &out)
{
	for (char c : s)
		out.push_back(c);
	return (int)out.size();
}

namespace {
ALONE int hidden(int a) { asm(""); return a + 1; }
}

struct Shape {
	virtual ~Shape() {}
	virtual double area() const = 0;
};

struct Square : Shape {
	ALONE explicit Square(double x) : a(x) {}
	ALONE double area() const override { return a * a; }
	double a;
};

}

extern "C" ALONE int plain(int a) { asm(""); return a; }

int main(int argc, char **)
{
	std::vector<int> v;
	app::Box<long> b{argc};
	app::Shape *s = new app::Square(argc);
	int n = plain((int)b.twice(1) + (int)b.twice(2));

	b += 3;
	for (int i = 0; i < 3; i++)
		n += app::thrice("hello", v);
	n += app::hidden(n) + (int)s->area();
	delete s;
	return n == 0;
}
