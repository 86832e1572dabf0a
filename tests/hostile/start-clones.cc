/* SPDX-License-Identifier: MIT */
/* A function with clones and their resolver in a group of sections, in two texts: the linker keeps one group. */
__attribute__((target_clones("avx2", "default"))) inline int
sum(const int *p, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += p[i];
	return s;
}

int other(const int *p, int n);

#ifdef OTHER
int
other(const int *p, int n)
{
	return sum(p, n);
}
#else
extern "C" int
get(void)
{
	int a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

	return sum(a, 9) + other(a, 8);
}
#endif
