/* SPDX-License-Identifier: MIT */
/* libelf's functions that take memory. If they get none, the program ends with that message: what libelf says then must not pass
 * for what the file is like. */
#include "image/internal.h"

#include <errno.h>

/* What libelf gave; it set errno if it gave nothing for want of memory. */
static void *
given(void *p)
{
	if (!p && errno == ENOMEM)
		die("memory", "out of memory");
	return p;
}

Elf *
image_elf_file(int fd)
{
	errno = 0;
	return given(elf_begin(fd, ELF_C_READ, NULL));
}

Elf *
image_elf_memory(char *data, size_t n)
{
	errno = 0;
	return given(elf_memory(data, n));
}

GElf_Shdr *
image_elf_header(Elf_Scn *s, GElf_Shdr *header)
{
	errno = 0;
	return given(gelf_getshdr(s, header));
}

Elf_Data *
image_elf_data(Elf_Scn *s)
{
	errno = 0;
	return given(elf_getdata(s, NULL));
}

Elf_Data *
image_elf_raw(Elf_Scn *s)
{
	errno = 0;
	return given(elf_rawdata(s, NULL));
}

const char *
image_elf_string(Elf *elf, size_t strings, size_t offset)
{
	errno = 0;
	return given(elf_strptr(elf, strings, offset));
}
