/* SPDX-License-Identifier: MIT */
/* Executes another program by the function ONLY, and names none of the related functions. */
#include <stddef.h>
#include <unistd.h>

#define execlp_ execlp("true", "true", (char *)NULL)
#define execl_ execl("/bin/true", "true", (char *)NULL)
#define execv_ execv("/bin/true", argv)
#define CALL_(f) f##_
#define CALL(f) CALL_(f)

int
main(int argc, char **argv)
{
	(void)argc;
	return CALL(ONLY), 1;
}
