/* SPDX-License-Identifier: MIT */
/* There is no profile. The program prints one line of Chord's, and otherwise does what it always does. */
/* need: [ "$(id -u)" != 0 ] || setpriv --reuid 65534 --clear-groups true */
/* run: mkdir sub; chmod 555 sub; cd sub; $([ "$(id -u)" != 0 ] || echo setpriv --reuid 65534 --clear-groups) ../program */
/* says: chord: .* */
/* profiles: 0 */
#include "situation.h"
#include <stdio.h>

int
main(void)
{
	work_times(1000);
	puts("done");
	return 0;
}
