/* SPDX-License-Identifier: MIT */
/* Events by somebody else's count, for the instructions that Chord measured.
 *
 *	events lackey PLACES DISASSEMBLY [BASE] <TRACE
 *	                                         valgrind --tool=lackey --trace-mem=yes; objdump -d; where a
 *	                                         position-independent program lies
 *	events callgrind PLACES DISASSEMBLY FILE OBJECT
 *	                                         --dump-instr=yes --dump-line=no --compress-strings=no
 *	                                         --compress-pos=no --cache-sim=yes --branch-sim=yes
 *
 * PLACES is what `compare --places` prints: ADDRESS COUNT CLASS of each instruction in the program that was not
 * measured. Prints lines `EVENT NUMBER`, with Chord's definitions: an instruction with a rep prefix counts once an
 * execution, and accesses memory as in one round.
 *
 * lackey traces every access, but for some differences of valgrind's own, and the disassembly says where: it tests
 * bits of registers (bt) by way of memory, loads what a locked instruction changes once more, and leaves out
 * what it takes off the stack (pop) if nothing uses it. Of a rep instruction that never got to a round the
 * disassembly says what a round would do.
 * callgrind counts what changes memory as a store only. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct access {
	uint64_t loads, stores, loaded, stored;
};

struct place {
	uint64_t addr, count;    /* by Chord */
	bool rep, branch, bit_test, locked, pop;
	uint64_t runs, branches;
	struct access all, round; /* round: of a rep instruction */
};

static struct place *places;
static size_t nplace, room;
static uint64_t low, high;       /* addresses of all places */
static uint32_t *at;             /* by address - low: number of the place + 1 */
static uint64_t taken;           /* conditional jumps, by lackey */
static uint64_t base;            /* address less that in the file */

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "events: %s: %s\n", what, why);
	exit(2);
}

static FILE *
opened(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f)
		die(path, "cannot open");
	return f;
}

static void
read_places(const char *path)
{
	FILE *f = opened(path);
	uint64_t addr, count;
	char class[32];

	low = UINT64_MAX;
	while (fscanf(f, "0x%" SCNx64 " %" SCNu64 " %31s\n", &addr, &count, class) == 3) {
		if (nplace == room) {
			room = room ? room * 2 : 4096;
			places = reallocarray(places, room, sizeof *places);
		}
		places[nplace++] = (struct place){.addr = addr, .count = count, .rep = !strcmp(class, "rep"),
		                                  .branch = !strcmp(class, "branch")};
		low = addr < low ? addr : low;
		high = addr > high ? addr : high;
	}
	if (!nplace || !feof(f) || high - low > 1u << 30)
		die(path, "no places");
	fclose(f);
	at = calloc(high - low + 1, sizeof *at);
	for (size_t i = 0; i < nplace; i++)
		at[places[i].addr - low] = (uint32_t)i + 1;
}

static struct place *
place_at(uint64_t addr)
{
	uint32_t i = addr >= low && addr <= high ? at[addr - low] : 0;

	return i ? &places[i - 1] : NULL;
}

/* ---- lackey ---- */

static void
add_access(struct access *a, char kind, uint64_t size)
{
	if (kind != 'S') {
		a->loads++;
		a->loaded += size;
	}
	if (kind != 'L') {
		a->stores++;
		a->stored += size;
	}
}

static bool
is_any(const struct access *a)
{
	return a->loads || a->stores;
}

/* Lines: "I  ADDR,SIZE", " L ADDR,SIZE", " S ...", " M ...". */
static void
read_trace(FILE *f)
{
	struct place *now = NULL;
	struct access round = {0};
	uint64_t behind = 0;
	char line[256], kind;

	while (fgets(line, sizeof line, f)) {
		uint64_t addr, size;
		char *end;

		if (*line == '=' || !strchr("I ", *line))
			continue;
		kind = *line == 'I' ? 'I' : line[1];
		addr = strtoull(line + 3, &end, 16);
		size = strtoull(end + 1, NULL, 10);
		if (kind == 'I') {
			struct place *next = place_at(addr - base);

			taken += now && now->branch && addr != behind;
			behind = addr + size;

			if (now && now->rep && is_any(&round))
				now->round = round;
			round = (struct access){0};
			if (next && !(next->rep && next == now))
				next->runs++;
			now = next;
		} else if (now && !now->bit_test && !(now->locked && kind == 'L')) {
			add_access(now->rep ? &round : &now->all, kind, size);
		}
	}
	if (now && now->rep && is_any(&round))
		now->round = round;
}

/* By the text: "rep movsq ...", "rep stos %rax,...". */
static struct access
round_of(const char *text)
{
	const char *movs = strstr(text, "movs"), *stos = strstr(text, "stos");
	uint64_t n = 0;

	if (movs)
		n = movs[4] == 'b' ? 1 : movs[4] == 'w' ? 2 : movs[4] == 'l' ? 4 : 8;
	else if (stos)
		n = strstr(stos, "%al") ? 1 : strstr(stos, "%ax") ? 2 : strstr(stos, "%eax") ? 4 : 8;
	return (struct access){movs != NULL, movs || stos, movs ? n : 0, n};
}

/* Lines: "  ADDR:<tab>BYTES<tab>TEXT". */
static void
read_disassembly(const char *path)
{
	FILE *f = opened(path);
	char line[1024];

	while (fgets(line, sizeof line, f)) {
		struct place *p = place_at(strtoull(line, NULL, 16));
		char *text = strrchr(line, '\t');

		if (!p || !text || !strchr(line, ':'))
			continue;
		p->bit_test = !strncmp(text, "\tbt", 3) && !strchr(text, '(');
		p->pop = !strncmp(text, "\tpop ", 5) && !strchr(text, '(');
		if (p->rep)
			p->round = round_of(text);
		p->locked = !strncmp(text, "\tlock ", 6) || (!strncmp(text, "\txchg", 5) && strchr(text, '('));
	}
	fclose(f);
}

static void
print_lackey(void)
{
	struct access sum = {0};
	uint64_t runs = 0;

	for (size_t i = 0; i < nplace; i++) {
		struct place *p = &places[i];
		uint64_t n = p->rep ? p->runs : 1;
		struct access *a = p->rep ? &p->round : &p->all;

		if (p->pop)
			*a = (struct access){.loads = p->runs, .loaded = p->runs * 8};
		runs += p->runs;
		sum.loads += n * a->loads;
		sum.stores += n * a->stores;
		sum.loaded += n * a->loaded;
		sum.stored += n * a->stored;
		if (p->runs != p->count)
			fprintf(stderr, "events: 0x%" PRIx64 ": Chord says %" PRIu64 ", lackey %" PRIu64 "\n", p->addr, p->count,
				p->runs);
	}
	printf("instructions %" PRIu64 "\ntaken %" PRIu64 "\n", runs, taken);
	printf("loads %" PRIu64 "\nstores %" PRIu64 "\n", sum.loads, sum.stores);
	printf("bytes-loaded %" PRIu64 "\nbytes-stored %" PRIu64 "\n", sum.loaded, sum.stored);
}

/* ---- callgrind ---- */

static int ir = -1, dw = -1, bc = -1;

static void
read_columns(char *line)
{
	int i = 0;

	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), i++) {
		ir = strcmp(word, "Ir") ? ir : i;
		dw = strcmp(word, "Dw") ? dw : i;
		bc = strcmp(word, "Bc") ? bc : i;
	}
	if (ir < 0 || dw < 0 || bc < 0)
		die("callgrind's file", "not with --cache-sim=yes --branch-sim=yes");
}

/* "0xADDR N N N ...", zeros at the end are left out. */
static void
read_costs(char *line)
{
	char *rest;
	struct place *p = place_at(strtoull(line, &rest, 16));

	for (int i = 0; p && *rest; i++) {
		uint64_t n = strtoull(rest, &rest, 10);

		p->runs += i == ir ? n : 0;
		p->all.stores += i == dw ? n : 0;
		p->branches += i == bc ? n : 0;
		rest += strspn(rest, " \n");
	}
}

static const char *
base_name(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void
read_callgrind(const char *path, const char *object)
{
	FILE *f = opened(path);
	char *line = NULL;
	size_t cap = 0;
	bool ours = false, inclusive = false;

	while (getline(&line, &cap, f) > 0) {
		if (!strncmp(line, "events: ", 8)) {
			read_columns(line + 8);
		} else if (!strncmp(line, "ob=", 3)) {
			line[strcspn(line, "\n")] = 0;
			ours = !strcmp(base_name(line + 3), object);
		} else if (!strncmp(line, "calls=", 6)) {
			inclusive = true;
		} else if (!strncmp(line, "0x", 2)) {
			if (ours && !inclusive)
				read_costs(line);
			inclusive = false;
		}
	}
	free(line);
	fclose(f);
}

static void
print_callgrind(void)
{
	uint64_t runs = 0, stores = 0, branches = 0;

	for (size_t i = 0; i < nplace; i++) {
		struct place *p = &places[i];
		uint64_t rounds = p->runs > p->count ? p->runs - p->count : 0;

		if (p->rep) {
			runs += p->count;
			stores += p->count * (rounds ? p->all.stores / rounds : p->round.stores);
			continue;
		}
		runs += p->runs;
		stores += p->bit_test ? 0 : p->all.stores;
		branches += p->branch ? p->branches : 0;
	}
	printf("instructions %" PRIu64 "\nstores %" PRIu64 "\nbranches %" PRIu64 "\n", runs, stores, branches);
}

int
main(int argc, char **argv)
{
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "lackey")) {
		base = argc == 5 ? strtoull(argv[4], NULL, 16) : 0;
		read_places(argv[2]);
		read_disassembly(argv[3]);
		read_trace(stdin);
		print_lackey();
	} else if (argc == 6 && !strcmp(argv[1], "callgrind")) {
		read_places(argv[2]);
		read_disassembly(argv[3]);
		read_callgrind(argv[4], argv[5]);
		print_callgrind();
	} else {
		die("usage", "events lackey PLACES DISASSEMBLY [BASE], events callgrind PLACES DISASSEMBLY FILE OBJECT");
	}
	return 0;
}
