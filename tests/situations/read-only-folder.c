/* SPDX-License-Identifier: MIT */
/* There is no profile; the program says one line of Chord's, and all else is as always. */
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
