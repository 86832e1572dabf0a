/* SPDX-License-Identifier: MIT */
/* After a link: has anything been measured? A folder that the compiler did not
 * look into, a build that dropped options, objects from elsewhere: the program would
 * run, and only its silence would tell. */
#include "tool/as.h"
#include "tool/report.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is it what a link makes: a file, and not an object for another link? */
static bool
is_final(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head = {0};
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (is && read(fd, &head, sizeof head) >= 20 && !memcmp(head.e_ident, ELFMAG, SELFMAG))
		is = head.e_type != ET_REL;
	close(fd);
	return is;
}

/* Without functions there is nothing to measure: data, an empty library. */
static bool
has_functions(struct image *im)
{
	struct unit u = {.image = im};
	struct unmeasured un = {0};
	bool has;

	unmeasured_find(&u, &un);
	has = un.symbol.n || (un.stripped && un.bytes);
	unmeasured_free(&un);
	return has;
}

void
link_check(struct pool *pool, const char *output)
{
	const char *why = NULL;
	struct image *im;
	struct str map;

	if (!is_final(output))
		return;
	im = image_open(pool, output, &why);
	if (!im) {
		say_warning(output, "nothing in it is measured: %s", why);
		return;
	}
	if (!(image_section(im, CHORD_SECTION_MAP, &map, &why) && map.n) && has_functions(im))
		say_warning(output, "nothing in it is measured");
	image_close(im);
}
