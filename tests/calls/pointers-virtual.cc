// SPDX-License-Identifier: MIT
// Virtual functions, and exceptions through them.
/* callees: draw(Shape*) Circle::draw() 40 */
/* callees: draw(Shape*) Square::draw() 40 */
/* callees: draw(Shape*) Square::fail() 20 */
struct Shape {
	virtual int draw() = 0;
	virtual int fail() { return 0; }
	virtual ~Shape() {}
};
struct Circle : Shape {
	int draw() override { return 1; }
};
struct Square : Shape {
	int draw() override { return 2; }
	int fail() override { throw 3; }
};

__attribute__((noinline)) int
draw(Shape *s)
{
	return s->draw() == 2 ? s->draw() + s->fail() : 0;
}

int
main()
{
	Circle c;
	Square s;
	Shape *volatile shape[] = {&c, &s, &c};
	int n = 0;

	for (int i = 0; i < 60; i++)
		try {
			n += draw(shape[i % 3]);
		} catch (int e) {
			n += e;
		}
	return n != 60;
}
