/* SPDX-License-Identifier: MIT */
/* Reads an x86-64 object, for the programs that make the runtime's text when Chord is built. They define PROGRAM, their name;
 * errors end them with a message. */
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const unsigned char *image;
static const Elf64_Shdr *header;
static const char *section_names;
static uint32_t nsection;

static _Noreturn void __attribute__((format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs(PROGRAM ": ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	exit(1);
}

static void
read_object(const char *path)
{
	int fd = open(path, O_RDONLY);
	const Elf64_Ehdr *e;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		die("%s cannot be read", path);
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	e = (const Elf64_Ehdr *)image;
	if (image == MAP_FAILED || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_machine != EM_X86_64 || e->e_type != ET_REL)
		die("%s is no object of this machine", path);
	header = (const Elf64_Shdr *)(image + e->e_shoff);
	nsection = e->e_shnum;
	section_names = (const char *)image + header[e->e_shstrndx].sh_offset;
}

static uint32_t
find_section(const char *name)
{
	for (uint32_t i = 1; i < nsection; i++)
		if (!strcmp(section_names + header[i].sh_name, name))
			return i;
	die("there is no section %s", name);
}
