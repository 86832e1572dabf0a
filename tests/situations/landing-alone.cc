/* SPDX-License-Identifier: MIT */
/* With control-flow protection gcc joins the landing pads of a hot and a cold part: one of them is nothing but an endbr64, and falls
 * into the other. */
/* options: -fcf-protection=full */
/* expect: main 1 */
/* expect: _Z4fallii 54 */
#include <cstdio>

static int caught;

__attribute__((noinline)) void
fall(int n, int last)
{
	try {
		if (n)
			fall(n - 1, last);
		else
			throw last;
	} catch (int &at) {
		caught++;
		if (at != n)
			throw;
	}
}

int
main()
{
	for (int i = 0; i < 9; i++)
		try {
			fall(5, i);
		} catch (int) {
			caught += 100;
		}
	printf("%d\n", caught);
	return 0;
}
