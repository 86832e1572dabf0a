/* SPDX-License-Identifier: MIT */
/* frames OBJECT SECTION LABEL [-b FILE]: the unwind table of a section of an x86-64 object as assembly text, for .eh_frame. Run
 * when Chord is built.
 *
 * Functions that follow one another share one description, in which each function begins with the state that all begin with. This
 * saves space, because every object pays for a description and for a relocation of its address. A reader goes through all rules
 * before the address that it looks for. So a description takes no more functions from SHARED bytes of rules on. It also ends where
 * there is code without rules between two functions. -b: the rules go into that file, and the text includes parts of
 * @libexec@/NAME. */
#define PROGRAM "frames"
#include "object.h"

enum { ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0, ADVANCE1 = 2, ADVANCE2 = 3, ADVANCE4 = 4, REMEMBER = 0x0a, FORGET = 0x0b };
enum { MOST = 2048, RULES_MOST = 1 << 16 };
enum { PADDING = 16 }; /* fewer bytes between two functions are padding */
enum { SHARED = 512 }; /* a description that has as many bytes of rules takes no further function */

/* A function: where it is in the section, and its rules. */
static struct function {
	uint64_t at, size;
	const unsigned char *rule, *end;
} functions[MOST];
static size_t nfunction;

static unsigned char rules[RULES_MOST];
static size_t nrule;

static uint32_t
word_at(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* ---- reading ---- */

/* The assembler gives each address by a relocation against the section, whose addend is the address. */
static uint64_t
address_at(uint32_t frames, uint64_t offset)
{
	for (const Elf64_Shdr *h = header + 1; h < header + nsection; h++) {
		const Elf64_Rela *r = (const Elf64_Rela *)(image + h->sh_offset);

		for (size_t n = h->sh_type == SHT_RELA && h->sh_info == frames ? h->sh_size / sizeof *r : 0; n > 0; n--, r++)
			if (r->r_offset == offset && ELF64_R_TYPE(r->r_info) == R_X86_64_PC32)
				return (uint64_t)r->r_addend;
	}
	die("a description has no address");
}

static int
by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* All functions must have the CIE that is written below. */
static void
check_cie(const unsigned char *p)
{
	static const unsigned char want[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};

	if (memcmp(p, want, sizeof want))
		die("functions begin with a state that is not expected");
}

static void
read_functions(uint32_t frames)
{
	const unsigned char *begin = image + header[frames].sh_offset, *end = begin + header[frames].sh_size;
	uint32_t size;

	for (const unsigned char *p = begin; p + 8 < end && (size = word_at(p)) != 0; p += 4 + size) {
		if (word_at(p + 4) == 0) {
			check_cie(p + 8);
			continue;
		}
		if (nfunction == MOST || p[16] != 0)
			die("more functions, or more of one, than expected");
		functions[nfunction++] = (struct function){address_at(frames, (uint64_t)(p + 8 - begin)), word_at(p + 12), p + 17,
		                                           p + 4 + size};
	}
	qsort(functions, nfunction, sizeof *functions, by_address);
}

/* ---- rules ---- */

static const unsigned char *
behind_number(const unsigned char *p)
{
	while (*p & 0x80)
		p++;
	return p + 1;
}

/* The rule after p's; *by: how far p's rule advances the address. */
static const unsigned char *
next_rule(const unsigned char *p, uint64_t *by)
{
	unsigned op = *p++;

	*by = 0;
	switch (op & 0xc0) {
	case ADVANCE: *by = op & 0x3f; return p;
	case OFFSET: return behind_number(p);
	case RESTORE: return p;
	}
	switch (op) {
	case 0x00: case REMEMBER: case FORGET: return p;
	case ADVANCE1: *by = *p; return p + 1;
	case ADVANCE2: *by = *p | (uint64_t)p[1] << 8; return p + 2;
	case ADVANCE4: *by = word_at(p); return p + 4;
	case 0x06: case 0x07: case 0x08: case 0x0d: case 0x0e: return behind_number(p);
	case 0x05: case 0x09: case 0x0c: return behind_number(behind_number(p));
	default: die("a rule %#x is not expected", op);
	}
}

static void
put(const unsigned char *p, size_t n)
{
	if (nrule + n > RULES_MOST)
		die("there are too many rules");
	memcpy(rules + nrule, p, n);
	nrule += n;
}

static void
put_op(unsigned char op)
{
	put(&op, 1);
}

static void
put_advance(uint64_t by)
{
	const unsigned char two[] = {ADVANCE2, (unsigned char)by, (unsigned char)(by >> 8)};

	if (by > 0xffff)
		die("a function is too long");
	if (by > 0xff)
		put(two, 3);
	else if (by > 0x3f)
		put((const unsigned char []){ADVANCE1, (unsigned char)by}, 2);
	else if (by)
		put_op((unsigned char)(ADVANCE | by));
}

/* Writes the rules of a function. Gives how far they advance in it. Readers remember few states at a time (runtime/unwind.c:
 * two). */
static uint64_t
put_rules(const struct function *f)
{
	const unsigned char *next, *last = f->rule;
	uint64_t at = 0, by;
	int depth = 0;

	for (const unsigned char *p = f->rule; p < f->end; p = next) {
		next = next_rule(p, &by);
		at += by;
		depth += (*p == REMEMBER) - (*p == FORGET);
		if (depth < 0 || depth > 1)
			die("a function remembers too much");
		last = *p ? next : last;
	}
	if (depth)
		die("a function forgets nothing");
	put(f->rule, (size_t)(last - f->rule));
	return at;
}

/* ---- writing ---- */

static void
print_rules(size_t from, const char *beside)
{
	if (beside) {
		const char *slash = strrchr(beside, '/');

		printf("\t.incbin \"@libexec@/%s\", %zu, %zu\n", slash ? slash + 1 : beside, from, nrule - from);
		return;
	}
	for (size_t i = from; i < nrule; i++)
		printf("%s%u", (i - from) % 32 ? "," : "\n\t.byte ", rules[i]);
	putchar('\n');
}

/* Writes one description for the functions from the first one on that follow one another. Gives their number. */
static size_t
print_description(const struct function *f, size_t most, const char *label, const char *beside)
{
	uint64_t at = f->at;
	size_t n = 0, from = nrule;

	do {
		put_advance(f[n].at - at);
		if (n)
			put_op(FORGET);
		put_op(REMEMBER);
		at = f[n].at + put_rules(&f[n]);
		n++;
	} while (n < most && nrule - from < SHARED && f[n].at - (f[n - 1].at + f[n - 1].size) < PADDING);
	printf("\t.long .L%s_end%zu-.L%s_begin%zu\n.L%s_begin%zu:\n", label, from, label, from, label, from);
	printf("\t.long .-.L%s_cie\n\t.long .L%s+%ju-.\n\t.long %ju\n\t.byte 0\n", label, label, (uintmax_t)f->at,
	       (uintmax_t)(f[n - 1].at + f[n - 1].size - f->at));
	print_rules(from, beside);
	printf("\t.balign 8, 0\n.L%s_end%zu:\n", label, from);
	return n;
}

static void
print_cie(const char *label)
{
	printf("\t.balign 8\n.L%s_cie:\n\t.long .L%s_cie_end-.L%s_cie-4\n", label, label, label);
	printf("\t.long 0\n\t.byte 1\n\t.asciz \"zR\"\n");
	printf("\t.byte 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1\n\t.balign 8, 0\n.L%s_cie_end:\n", label);
}

int
main(int argc, char **argv)
{
	const char *beside = argc == 6 && !strcmp(argv[4], "-b") ? argv[5] : NULL;
	FILE *f;

	if (argc != 4 && !beside) {
		fputs("Usage: frames OBJECT SECTION LABEL [-b FILE]\n", stderr);
		return 2;
	}
	read_object(argv[1]);
	find_section(argv[2]);
	read_functions(find_section(".eh_frame"));
	print_cie(argv[3]);
	for (size_t i = 0; i < nfunction;)
		i += print_description(functions + i, nfunction - i, argv[3], beside);
	if (beside && (!(f = fopen(beside, "wb")) || fwrite(rules, 1, nrule, f) != nrule || fclose(f)))
		die("%s cannot be written", beside);
	return fflush(stdout) ? 1 : 0;
}
