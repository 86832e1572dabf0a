/* SPDX-License-Identifier: MIT */
/* Chord's count of every instruction against callgrind's.
 *
 *	compare [--rep] [--names NAMES] PLAIN CALLGRIND INSNS [LABEL]
 *	compare --places PLAIN INSNS      only prints ADDRESS COUNT CLASS for each instruction
 *
 * PLAIN      the program as compiled without Chord, with its symbols
 * CALLGRIND  what callgrind wrote about a run of PLAIN, with --dump-instr=yes
 *            --dump-line=no --compress-strings=no --compress-pos=no --skip-plt=no
 * INSNS      `chord report --insns` of the same run of the measured program, one
 *            line for each original instruction: NAME PART OFFSET COUNT CLASS
 *
 * An instruction is known by its procedure, part and offset, which PLAIN's symbols
 * turn into the address that callgrind knows it by. Part 1 of foo is foo.cold. Names
 * that occur several times are matched in order of address. Status 1 if anything
 * differs: a count, an instruction that ran and is not in INSNS, a procedure that ran
 * and is not in INSNS. callgrind counts every iteration of a rep instruction: these
 * are listed apart, and must only agree in having run or not. NAMES is a list of the procedures to
 * compare, one a line: others are left aside.
 *
 * Independent of the rest of Chord on purpose: nothing is shared with what it checks. */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 20 };

/* An instruction that callgrind saw. */
struct hit {
	uint64_t addr, count;
	bool compared;
};

/* A function symbol of PLAIN. */
struct symbol {
	const char *name;
	uint64_t addr, size;
	bool matched;
};

struct hits {
	struct hit *v;
	size_t n, cap;
};

struct symbols {
	struct symbol *v; /* by name, then address */
	size_t n;
};

/* A name in INSNS, or name.cold. Namesakes do not all have a cold part, so every part
 * counts its namesakes for itself. */
struct seen {
	char *key;
	size_t n;         /* namesakes so far */
	size_t procedure; /* the last of them, counted from 1 over INSNS */
	struct symbol *symbol;
};

struct tally {
	size_t compared, executed, differing, unknown, outside, rep, procedures;
};

static void __attribute__((format(printf, 1, 2), noreturn))
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("compare: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static void *
grown(void *v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 1024;
	v = reallocarray(v, *cap, size);
	if (!v)
		die("out of memory");
	return v;
}

static FILE *
opened(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f)
		die("%s: cannot open", path);
	return f;
}

/* ---- callgrind's side ---- */

static int
hit_order(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* One entry for an address, with the sum of what was said about it. */
static void
hits_merge(struct hits *hits)
{
	size_t out = 0;

	if (hits->n == 0)
		return;
	qsort(hits->v, hits->n, sizeof(*hits->v), hit_order);
	for (size_t i = 1; i < hits->n; i++) {
		if (hits->v[i].addr == hits->v[out].addr)
			hits->v[out].count += hits->v[i].count;
		else
			hits->v[++out] = hits->v[i];
	}
	hits->n = out + 1;
}

static void
hits_add(struct hits *hits, const char *line)
{
	uint64_t addr, count;

	if (sscanf(line, "0x%" SCNx64 " %" SCNu64, &addr, &count) != 2)
		die("not a line of callgrind's: %s", line);
	hits->v = grown(hits->v, hits->n, &hits->cap, sizeof(*hits->v));
	hits->v[hits->n++] = (struct hit){ .addr = addr, .count = count };
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Self cost lines of the object called name. The line after "calls=" is inclusive. */
static struct hits
hits_read(const char *path, const char *name)
{
	struct hits hits = { 0 };
	FILE *f = opened(path);
	char *line = NULL;
	size_t cap = 0;
	bool ours = false, inclusive = false, positions = false;

	while (getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "positions: instr") == 0)
			positions = true;
		else if (strncmp(line, "ob=", 3) == 0)
			ours = strcmp(base_name(line + 3), name) == 0;
		else if (strncmp(line, "calls=", 6) == 0)
			inclusive = true;
		else if (strncmp(line, "0x", 2) == 0) {
			if (ours && !inclusive)
				hits_add(&hits, line);
			inclusive = false;
		}
	}
	if (!positions)
		die("%s: not callgrind's with --dump-instr=yes --dump-line=no", path);
	if (hits.n == 0)
		die("%s: nothing of %s in it", path, name);
	free(line);
	fclose(f);
	hits_merge(&hits);
	return hits;
}

static struct hit *
hits_find(const struct hits *hits, uint64_t addr)
{
	struct hit key = { .addr = addr };

	return bsearch(&key, hits->v, hits->n, sizeof(*hits->v), hit_order);
}

/* ---- the plain program's symbols ---- */

static int
symbol_order(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	return by_name ? by_name : (x->addr > y->addr) - (x->addr < y->addr);
}

static const char *
mapped(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		die("%s: cannot open", path);
	*size = (size_t)st.st_size;
	p = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die("%s: cannot map", path);
	close(fd);
	return p;
}

static const Elf64_Shdr *
symbol_table(const char *image, size_t size)
{
	const Elf64_Ehdr *head = (const void *)image;
	const Elf64_Shdr *section = (const void *)(image + head->e_shoff);

	if (size < sizeof(*head) || memcmp(image, ELFMAG, SELFMAG) != 0)
		die("not an ELF file");
	for (size_t i = 0; i < head->e_shnum; i++)
		if (section[i].sh_type == SHT_SYMTAB)
			return &section[i];
	die("no symbols");
}

/* Code only: functions, and labels in hand-written assembly. */
static bool
is_code(const Elf64_Sym *sym, const char *image)
{
	const Elf64_Ehdr *head = (const void *)image;
	const Elf64_Shdr *section = (const void *)(image + head->e_shoff);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= head->e_shnum)
		return false;
	if (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE)
		return section[sym->st_shndx].sh_flags & SHF_EXECINSTR;
	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC || ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC;
}

static struct symbols
symbols_read(const char *path)
{
	size_t size, cap = 0;
	const char *image = mapped(path, &size);
	const Elf64_Shdr *table = symbol_table(image, size);
	const Elf64_Shdr *section = (const void *)(image + ((const Elf64_Ehdr *)(const void *)image)->e_shoff);
	const Elf64_Sym *sym = (const void *)(image + table->sh_offset);
	const char *names = image + section[table->sh_link].sh_offset;
	struct symbols symbols = { 0 };

	for (size_t i = 0; i < table->sh_size / sizeof(*sym); i++) {
		if (!is_code(&sym[i], image))
			continue;
		symbols.v = grown(symbols.v, symbols.n, &cap, sizeof(*symbols.v));
		symbols.v[symbols.n++] = (struct symbol){
			.name = names + sym[i].st_name, .addr = sym[i].st_value, .size = sym[i].st_size,
		};
	}
	qsort(symbols.v, symbols.n, sizeof(*symbols.v), symbol_order);
	return symbols;
}

/* The nth symbol of that name, in order of address. */
static struct symbol *
symbols_nth(const struct symbols *symbols, const char *name, size_t nth)
{
	size_t low = 0, high = symbols->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(symbols->v[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low + nth >= symbols->n || strcmp(symbols->v[low + nth].name, name) != 0)
		return NULL;
	return &symbols->v[low + nth];
}

/* ---- Chord's side ---- */

/* What starts a program and ends it comes with the compiler and the C library. */
static bool
is_outside(const char *name)
{
	static const char *const outside[] = {
		"_start", "_init", "_fini", "deregister_tm_clones", "register_tm_clones",
		"__do_global_dtors_aux", "frame_dummy", "_dl_relocate_static_pie", "atexit",
		"at_quick_exit", "pthread_atfork", "__stack_chk_fail_local", "__libc_csu_init",
	};

	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++)
		if (strcmp(name, outside[i]) == 0)
			return true;
	return false;
}

/* NAMES, or NULL: all are compared. */
static char *compared_names;

static void
names_read(const char *path)
{
	FILE *f = opened(path);
	size_t cap = 0;

	if (getdelim(&compared_names, &cap, '\0', f) < 0)
		die("%s: empty", path);
	fclose(f);
}

static bool
is_compared(const char *name)
{
	size_t n = strlen(name);

	for (const char *p = compared_names; p; p = strchr(p, '\n'), p += p != NULL)
		if (strncmp(p, name, n) == 0 && (p[n] == '\n' || !p[n]))
			return true;
	return !compared_names;
}

static void __attribute__((format(printf, 2, 3)))
differs(struct tally *tally, const char *format, ...)
{
	va_list args;

	if (++tally->differing > SHOWN)
		return;
	va_start(args, format);
	fputs("  ", stdout);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Open addressing over the names of INSNS; grows by being made large. */
struct table {
	struct seen *v;
	size_t size; /* a power of two */
};

static struct seen *
table_at(struct table *table, const char *key)
{
	size_t i = 5381;

	for (const char *p = key; *p; p++)
		i = i * 33 + (unsigned char)*p;
	while (table->v[i &= table->size - 1].key) {
		if (strcmp(table->v[i].key, key) == 0)
			return &table->v[i];
		i++;
	}
	table->v[i] = (struct seen){ .key = strdup(key) };
	return &table->v[i];
}

static struct table
table_new(size_t symbols)
{
	struct table table = { .size = 1024 };

	while (table.size < symbols * 4)
		table.size *= 2;
	table.v = calloc(table.size, sizeof(*table.v));
	if (!table.v)
		die("out of memory");
	return table;
}

struct insn {
	char *name, *class;
	unsigned part;
	bool known;
	uint64_t offset, count;
};

/* Cuts the line in pieces. Names have no spaces: they are the symbol table's. A count
 * of "?" is one that the profile does not tell. */
static bool
insn_parse(char *line, struct insn *insn)
{
	char *field[5], *rest = line, *end;

	for (size_t i = 0; i < 5; i++) {
		field[i] = strsep(&rest, " \t\n");
		if (!field[i] || !*field[i])
			return false;
	}
	insn->name = field[0];
	insn->part = (unsigned)strtoul(field[1], &end, 10);
	insn->offset = strtoull(field[2], &end, 0);
	insn->class = field[4];
	insn->known = strcmp(field[3], "?") != 0;
	insn->count = strtoull(insn->known ? field[3] : "0", &end, 10);
	return *end == '\0';
}

static void
unknown(struct tally *tally, const struct insn *insn, uint64_t truth)
{
	tally->unknown++;
	differs(tally, "%s part %u +0x%" PRIx64 " (%s): not known to chord, callgrind %" PRIu64,
		insn->name, insn->part, insn->offset, insn->class, truth);
}

static void
compare_rep(struct tally *tally, const struct insn *insn, uint64_t truth, bool list)
{
	tally->rep++;
	if (!insn->known) {
		unknown(tally, insn, truth);
		return;
	}
	if (list)
		printf("  rep %s part %u +0x%" PRIx64 ": ran %" PRIu64 " times, %" PRIu64 " by callgrind with every iteration\n",
			insn->name, insn->part, insn->offset, insn->count, truth);
	if ((insn->count == 0) != (truth == 0) || insn->count > truth)
		differs(tally, "%s part %u +0x%" PRIx64 " (rep): chord %" PRIu64 ", callgrind %" PRIu64,
			insn->name, insn->part, insn->offset, insn->count, truth);
}

static void
compare_insn(struct tally *tally, const struct hits *hits, const struct insn *insn, uint64_t addr, bool list)
{
	struct hit *hit = hits_find(hits, addr);
	uint64_t truth = hit ? hit->count : 0;

	if (hit)
		hit->compared = true;
	if (strcmp(insn->class, "rep") == 0) {
		compare_rep(tally, insn, truth, list);
		return;
	}
	tally->compared++;
	tally->executed += truth != 0;
	if (!insn->known)
		unknown(tally, insn, truth);
	else if (insn->count != truth)
		differs(tally, "%s part %u +0x%" PRIx64 " (%s): chord %" PRIu64 ", callgrind %" PRIu64,
			insn->name, insn->part, insn->offset, insn->class, insn->count, truth);
}

/* The symbol of the instruction's part, in procedure number tally->procedures. */
static struct symbol *
symbol_of(struct table *table, const struct symbols *symbols, const struct insn *insn, struct tally *tally)
{
	char key[4096];
	struct seen *seen;

	snprintf(key, sizeof(key), "%s%s", insn->name, insn->part ? ".cold" : "");
	seen = table_at(table, key);
	if (seen->procedure == tally->procedures)
		return seen->symbol;
	seen->procedure = tally->procedures;
	seen->symbol = symbols_nth(symbols, key, seen->n++);
	if (!seen->symbol)
		differs(tally, "%s: the plain program has %s", key, seen->n == 1 ? "no such function" : "fewer of that name");
	else
		seen->symbol->matched = true;
	return seen->symbol;
}

/* Without hits only the places are printed. */
static void
compare_all(const char *path, const struct hits *hits, const struct symbols *symbols, struct tally *tally, bool list)
{
	struct table table = table_new(symbols->n);
	FILE *f = opened(path);
	char *line = NULL, last[4096] = "";
	size_t cap = 0, number = 0;

	while (getline(&line, &cap, f) > 0) {
		struct insn insn;
		struct symbol *symbol;

		number++;
		if (!insn_parse(line, &insn))
			die("%s:%zu: not NAME PART OFFSET COUNT CLASS", path, number);
		if (!is_compared(insn.name))
			continue;
		tally->procedures += (insn.part == 0 && insn.offset == 0) || strcmp(insn.name, last) != 0;
		snprintf(last, sizeof(last), "%s", insn.name);
		symbol = symbol_of(&table, symbols, &insn, tally);
		if (!symbol)
			continue;
		if (symbol->size && insn.offset >= symbol->size && tally->outside++ == 0)
			differs(tally, "%s part %u +0x%" PRIx64 ": the plain program's has only %" PRIu64 " bytes (the first such)",
				insn.name, insn.part, insn.offset, symbol->size);
		if (hits)
			compare_insn(tally, hits, &insn, symbol->addr + insn.offset, list);
		else
			printf("0x%" PRIx64 " %" PRIu64 " %s\n", symbol->addr + insn.offset, insn.count, insn.class);
	}
	if (number == 0)
		die("%s: empty", path);
	free(line);
	fclose(f);
}

/* ---- what ran and was not compared ---- */

/* Every symbol that has the address may have been the one that was compared. */
static const struct symbol *
function_at(const struct symbols *symbols, uint64_t addr, bool matched)
{
	for (size_t i = 0; i < symbols->n; i++) {
		const struct symbol *symbol = &symbols->v[i];

		if (addr >= symbol->addr && addr < symbol->addr + symbol->size && symbol->matched == matched)
			return symbol;
	}
	return NULL;
}

static void
find_left_out(const struct hits *hits, const struct symbols *symbols, struct tally *tally)
{
	const struct symbol *last = NULL;

	for (size_t i = 0; i < hits->n; i++) {
		const struct hit *hit = &hits->v[i];
		const struct symbol *symbol;

		if (hit->compared || hit->count == 0)
			continue;
		if ((symbol = function_at(symbols, hit->addr, true)))
			differs(tally, "%s +0x%" PRIx64 ": callgrind %" PRIu64 ", no such instruction in Chord's map",
				symbol->name, hit->addr - symbol->addr, hit->count);
		else if ((symbol = function_at(symbols, hit->addr, false)) && symbol != last && !is_outside(symbol->name) &&
			 is_compared(symbol->name)) {
			differs(tally, "%s: ran (%" PRIu64 " by callgrind) and is not in Chord's map", symbol->name, hit->count);
			last = symbol;
		}
	}
}

static int
usage(void)
{
	fputs("usage: compare [--rep] [--names NAMES] PLAIN CALLGRIND INSNS [LABEL]\n"
	      "       compare --places PLAIN INSNS\n", stderr);
	return 2;
}

int
main(int argc, char **argv)
{
	bool list = false;
	struct tally tally = { 0 };
	struct symbols symbols;
	struct hits hits;

	if (argc == 4 && strcmp(argv[1], "--places") == 0) {
		symbols = symbols_read(argv[2]);
		compare_all(argv[3], NULL, &symbols, &tally, false);
		return 0;
	}
	for (; argc > 1 && strncmp(argv[1], "--", 2) == 0; argc--, argv++) {
		if (strcmp(argv[1], "--rep") == 0)
			list = true;
		else if (strcmp(argv[1], "--names") == 0 && argc > 2)
			names_read(argv[2]), argc--, argv++;
		else
			return usage();
	}
	if (argc < 4)
		return usage();
	symbols = symbols_read(argv[1]);
	hits = hits_read(argv[2], base_name(argv[1]));
	compare_all(argv[3], &hits, &symbols, &tally, list);
	find_left_out(&hits, &symbols, &tally);
	if (tally.differing > SHOWN)
		printf("  ... and %zu more\n", tally.differing - SHOWN);
	printf("%s%scompared %zu instructions (%zu ran) of %zu procedures, differing %zu (%zu not known), rep %zu (listed apart)\n",
		argc > 4 ? argv[4] : "", argc > 4 ? ": " : "",
		tally.compared, tally.executed, tally.procedures, tally.differing, tally.unknown, tally.rep);
	return tally.differing != 0;
}
