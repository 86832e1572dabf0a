/* SPDX-License-Identifier: MIT */
/* What each path through a procedure executes is told by its tags: the STEP lines that end in "@TAG". Expected are all
 * sequences of tags that paths of a function have, and how often:
 *   path: FUNCTION COUNT TAG...
 * Functions without loops only: compilers may turn those as they like. */
/* path: choose 10 start small */
/* path: choose 30 start large even end */
/* path: choose 60 start large odd end */
/* path: twice 25 one left two left */
/* path: twice 25 one left two right */
/* path: twice 25 one right two left */
/* path: twice 25 one right two right */
/* path: pick 4 zero */
/* path: pick 3 five */
/* path: pick 3 other */
/* path: deep 90 down again up */
/* path: deep 10 down bottom */
#include "../situations/situation.h"

FUNC int
choose(int n)
{
	STEP; /* @start */
	if (n < 10) {
		STEP; /* @small */
		return 1;
	}
	STEP; /* @large */
	if (n % 3 == 0)
		STEP; /* @even */
	else
		STEP; /* @odd */
	STEP; /* @end */
	return 2;
}

FUNC void
twice(int n)
{
	STEP; /* @one */
	if (n & 1)
		STEP; /* @left */
	else
		STEP; /* @right */
	STEP; /* @two */
	if (n & 2)
		STEP; /* @left */
	else
		STEP; /* @right */
}

FUNC void
pick(int n)
{
	switch (n) {
	case 0:
		STEP; /* @zero */
		break;
	case 5:
		STEP; /* @five */
		break;
	default:
		STEP; /* @other */
	}
}

FUNC void
deep(int n)
{
	STEP; /* @down */
	if (n) {
		STEP; /* @again */
		deep(n - 1);
		STEP; /* @up */
	} else {
		STEP; /* @bottom */
	}
}

int
main(void)
{
	for (int i = 0; i < 100; i++) {
		choose(i);
		twice(i);
	}
	for (int i = 0; i < 10; i++) {
		deep(9);
		pick(i < 4 ? 0 : i < 7 ? 5 : i);
	}
	return 0;
}
