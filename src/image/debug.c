/* SPDX-License-Identifier: MIT */
/* Separate debug files are searched as gdb does: by build id, then by the name in .gnu_debuglink, next to the program, in .debug/
 * there, and below /usr/lib/debug; last among files that debuginfod's client has fetched before. Nothing is fetched over the
 * network. */
#include "image/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* Does the file belong to this image? If the image has no build id, the name has to do. */
static bool
same_build(const struct image *im, Elf *elf)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &id);

	if (!im->id.n)
		return true;
	return n > 0 && (size_t)n == im->id.n && !memcmp(id, im->id.at, im->id.n);
}

static bool
try_file(struct image *im, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : image_elf_file(fd);

	if (elf && elf_kind(elf) == ELF_K_ELF && same_build(im, elf)) {
		im->debug_fd = fd;
		im->debug_elf = elf;
		return true;
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
	return false;
}

static bool
try_build_id(struct image *im)
{
	char *hex;

	if (im->id.n < 2)
		return false;
	hex = image_hex(im->pool, im->id);
	return try_file(im, pool_printf(im->pool, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2));
}

/* Tries the place where debuginfod's client keeps what it has fetched (debuginfod_find_debuginfo(3)). */
static bool
try_cache(struct image *im)
{
	const char *dir = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *hex;

	if (!im->id.n)
		return false;
	hex = image_hex(im->pool, im->id);
	if (dir && *dir)
		return try_file(im, pool_printf(im->pool, "%s/%s/debuginfo", dir, hex));
	return (xdg && *xdg && try_file(im, pool_printf(im->pool, "%s/debuginfod_client/%s/debuginfo", xdg, hex))) ||
	       (home && *home && (try_file(im, pool_printf(im->pool, "%s/.cache/debuginfod_client/%s/debuginfo", home, hex)) ||
	                          try_file(im, pool_printf(im->pool, "%s/.debuginfod_client_cache/%s/debuginfo", home, hex))));
}

static bool
try_link(struct image *im)
{
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(im->elf, &crc);
	char *full = name ? realpath(im->path, NULL) : NULL;
	bool found = false;

	if (full) {
		int dir = (int)(strrchr(full, '/') - full);

		found = try_file(im, pool_printf(im->pool, "%.*s/%s", dir, full, name)) ||
		        try_file(im, pool_printf(im->pool, "%.*s/.debug/%s", dir, full, name)) ||
		        try_file(im, pool_printf(im->pool, DEBUG_ROOT "%.*s/%s", dir, full, name));
	}
	free(full);
	return found;
}

/* Is there a compressed line table? */
static bool
has_compressed_lines(Elf *elf)
{
	GElf_Shdr h;
	size_t strings;

	return !elf_getshdrstrndx(elf, &strings) && image_section_named(elf, strings, ".debug_line", &h) &&
	       h.sh_type != SHT_NOBITS && (h.sh_flags & SHF_COMPRESSED);
}

const char *
image_lines_wanted(struct image *im)
{
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(im->elf, &crc);

	/* libdw may be older than the compression. */
	if (has_compressed_lines(im->elf))
		return "decompress its debug sections (objcopy --decompress-debug-sections)";
	if (!name || image_debug_elf(im))
		return "compile it with -g";
	return pool_printf(im->pool, "put its debug file %s, which is not found, beside it", image_readable(name));
}

Elf *
image_debug_elf(struct image *im)
{
	if (!im->debug_sought) {
		im->debug_sought = true;
		if (!try_build_id(im) && !try_link(im))
			try_cache(im);
	}
	return im->debug_elf;
}
