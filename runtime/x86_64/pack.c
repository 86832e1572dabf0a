/* SPDX-License-Identifier: MIT */
/* pack OBJECT SECTION LABEL [-b FILE] [SYMBOL...]: a section of an x86-64 object as assembly text that is quick to assemble:
 * numbers in place of instructions, .reloc in place of operands. -b: the numbers go into that file as they are, and the text
 * includes @libexec@/NAME, where NAME is the last part of FILE. Run when Chord is built. Symbols of other sections must be at the
 * beginning of their section. */
#define PROGRAM "pack"
#include "object.h"

static const Elf64_Sym *symbol;
static const char *names, *label;
static uint32_t nsymbol, section;

static void
read_symbols(void)
{
	for (uint32_t i = 0; i < nsection; i++) {
		if (header[i].sh_type != SHT_SYMTAB)
			continue;
		symbol = (const Elf64_Sym *)(image + header[i].sh_offset);
		nsymbol = (uint32_t)(header[i].sh_size / sizeof *symbol);
		names = (const char *)image + header[header[i].sh_link].sh_offset;
	}
}

/* The text names the file by the last part of its path. */
static void
print_included(const char *path)
{
	const char *slash = strrchr(path, '/');
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(image + header[section].sh_offset, 1, header[section].sh_size, f) != header[section].sh_size || fclose(f))
		die("%s cannot be written", path);
	printf("\t.incbin \"@libexec@/%s\"\n", slash ? slash + 1 : path);
}

static void
print_bytes(void)
{
	const unsigned char *p = image + header[section].sh_offset;
	uint64_t size = header[section].sh_size, at = 0, v;

	for (; at + 8 <= size; at += 8) {
		memcpy(&v, p + at, 8);
		printf(at % 128 ? "," : "%s\t.quad ", at ? "\n" : "");
		printf(v < 10 ? "%jx" : "0x%jx", (uintmax_t)v);
	}
	for (; at < size; at++)
		printf("%s%u", at % 8 ? "," : "\n\t.byte ", p[at]);
	putchar('\n');
}

/* The name that a relocation is against. For a section, the name of the section's first symbol. */
static const char *
name_of(const Elf64_Sym *s)
{
	if (ELF64_ST_TYPE(s->st_info) != STT_SECTION)
		return names + s->st_name;
	if (s->st_shndx == section)
		return label;
	for (uint32_t i = 0; i < nsymbol; i++)
		if (symbol[i].st_shndx == s->st_shndx && symbol[i].st_value == 0 && ELF64_ST_TYPE(symbol[i].st_info) != STT_SECTION)
			return names + symbol[i].st_name;
	die("nothing is at the beginning of section %s", section_names + header[s->st_shndx].sh_name);
}

static const char *
type_name(uint32_t type)
{
	static const struct { uint32_t type; const char *name; } known[] = {
		{R_X86_64_64, "R_X86_64_64"}, {R_X86_64_PC32, "R_X86_64_PC32"}, {R_X86_64_PLT32, "R_X86_64_PLT32"},
		{R_X86_64_GOTPCREL, "R_X86_64_GOTPCREL"}, {R_X86_64_GOTPCRELX, "R_X86_64_GOTPCRELX"},
		{R_X86_64_REX_GOTPCRELX, "R_X86_64_REX_GOTPCRELX"},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].type == type)
			return known[i].name;
	die("relocation of type %u", type);
}

/* Weak symbols are named through .weakref, so that the surrounding text's symbols of these names stay strong. */
static void
print_relocations(const Elf64_Rela *r, size_t n)
{
	for (; n > 0; n--, r++) {
		const Elf64_Sym *s = &symbol[ELF64_R_SYM(r->r_info)];
		const char *weak = ELF64_ST_BIND(s->st_info) == STB_WEAK ? "chord_rt_weak_" : "";

		printf("\t.reloc .L%s+%ju, %s, %s%s%+jd\n", label, (uintmax_t)r->r_offset, type_name(ELF64_R_TYPE(r->r_info)), weak,
		    name_of(s), (intmax_t)r->r_addend);
	}
}

static void
print_symbols(int argc, char **wanted)
{
	for (uint32_t i = 0; i < nsymbol; i++) {
		const Elf64_Sym *s = &symbol[i];
		const char *name = names + s->st_name;
		bool want = ELF64_ST_BIND(s->st_info) == STB_GLOBAL;

		if (ELF64_ST_BIND(s->st_info) == STB_WEAK)
			printf("\t.weakref chord_rt_weak_%s, %s\n", name, name);
		if (s->st_shndx != section)
			continue;
		for (int k = 0; k < argc; k++)
			want |= !strcmp(name, wanted[k]);
		if (!want)
			continue;
		if (ELF64_ST_BIND(s->st_info) == STB_GLOBAL)
			printf("\t.globl %s\n\t.hidden %s\n\t.type %s, @function\n", name, name, name);
		printf("\t.set %s, .L%s+%ju\n", name, label, (uintmax_t)s->st_value);
	}
}

int
main(int argc, char **argv)
{
	int first = argc > 5 && !strcmp(argv[4], "-b") ? 6 : 4;

	if (argc < 4) {
		fputs("Usage: pack OBJECT SECTION LABEL [-b FILE] [SYMBOL...]\n", stderr);
		return 2;
	}
	read_object(argv[1]);
	read_symbols();
	section = find_section(argv[2]);
	label = argv[3];
	/* .set copies the size of a symbol, too, so all symbols are defined relative to one that has no size. */
	printf("\t.balign %ju\n%s:\n.L%s:\n", (uintmax_t)header[section].sh_addralign, label, label);
	if (first == 6)
		print_included(argv[5]);
	else
		print_bytes();
	printf("\t.type %s, @function\n\t.size %s, .-%s\n", label, label, label);
	print_symbols(argc - first, argv + first);
	for (const Elf64_Shdr *h = header + 1; h < header + nsection; h++)
		if (h->sh_type == SHT_RELA && h->sh_info == section)
			print_relocations((const Elf64_Rela *)(image + h->sh_offset), h->sh_size / sizeof(Elf64_Rela));
	return fflush(stdout) ? 1 : 0;
}
