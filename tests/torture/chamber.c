/* SPDX-License-Identifier: MIT */
/* chamber [--measures LIST] [--jobs N] [--keep] LIST WORK: builds programs plain and by "chord cc". Both must have the same
 * status and output, no procedure may be without counts, and all measures must agree.
 *
 * A line of the file LIST is one program and compiler, in fields that tabs separate:
 *
 *	NAME  LANGUAGE(c, c++)  COMPILER  LEVEL...  HOW(text, driver)  ARGUMENT...
 *
 * Arguments that end in .c or .C are sources, -lNAME is for the linker, the others are for all. "driver" compiles anew for each
 * measure. "text" compiles once and then gives "chord cc" the assembler text, which is what its assembler would get. If the
 * text of a level is that of an earlier level, byte for byte, the level is not tried again.
 *
 * FAIL lines go to standard output. WORK/notes gets a block for each program and level in one write:
 *
 *	+ [MEASURE] KEY NUMBER               to be summed
 *	refused MEASURE NAME: REASON
 *	FAIL NAME LEVEL COMPILER [MEASURE]: WHY
 *	done NAME LEVEL COMPILER MEASURES
 *
 * What is done there without a FAIL is not done again. CHORD is the program to test. CHORD_TIMEOUT is the number of seconds
 * that a program may take; without Chord it may take an eighth of that. */
#include "measure/measure.h"
#include "tests/torture/chamber.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Every measure, selected paths (some.c), and edges and paths with registers that count in loops. */
enum { SOME_PATHS = CHORD_MEASURES, IN_REGISTERS, PATH_REGISTERS, VARIANTS };
static struct variant variants[VARIANTS];

/* More than -fchord=NAME. Events are counted beside edges, and have to agree with what these say. */
static const char *const special[VARIANTS] = {
	[CHORD_EVENTS] = "-fchord=edges,events -fchord-events=instructions,blocks,calls",
	[CHORD_CALLS] = "-fchord=calls -fchord-events=instructions,blocks",
	[CHORD_CLOCK] = "-fchord=edges,clock",
};

const char *chord;
struct pool *pool;
static bool chosen[VARIANTS];
static char *chosen_names;
unsigned limit;
static bool keep;
static int notes_fd;
static char *room; /* this worker's folder, where it stands */

/* ---- compiling ---- */

static bool
is_clang(const struct unit *u)
{
	return strstr(u->compiler, "clang") != NULL;
}

static const char *
compiler_of(const struct unit *u)
{
	if (!u->cxx)
		return u->compiler;
	return is_clang(u) ? "clang++" : "g++";
}

/* What makes programs: texts may come from clang, but gcc passes them on in half the time. */
static const char *
maker_of(const struct unit *u)
{
	if (!u->by_text)
		return compiler_of(u);
	return u->cxx ? "g++" : "gcc";
}

/* A compiler, or Chord in front of the maker, with everything but the files. */
static words
command_of(const struct trial *t, const char *compiler, const struct variant *m)
{
	words w = {0};

	if (m) {
		VEC_PUSH(w, (char *)(uintptr_t)chord);
		VEC_PUSH(w, (char *)(uintptr_t)(t->unit->cxx ? "c++" : "cc"));
		add_text(&w, m->options);
	} else {
		VEC_PUSH(w, (char *)(uintptr_t)compiler);
	}
	VEC_PUSH(w, pool_strdup(pool, t->level));
	add_words(&w, &t->unit->common);
	return w;
}

/* The assembler text of all sources: false if it does not compile. clang's is another for an assembler of its own. */
static bool
compile_text(struct trial *t)
{
	words w = command_of(t, compiler_of(t->unit), NULL);
	int status;

	if (is_clang(t->unit))
		VEC_PUSH(w, pool_strdup(pool, "-fno-integrated-as"));
	VEC_PUSH(w, pool_strdup(pool, "-S"));
	add_words(&w, &t->unit->sources);
	status = run(&w, NULL, "text.log", "text.log", COMPILE_SECONDS, false);
	free(w.at);
	return status == 0;
}

static char *
text_name(const char *source)
{
	const char *base = strrchr(source, '/'), *dot = strrchr(source, '.');

	base = base ? base + 1 : source;
	return pool_printf(pool, "%.*s.s", (int)(dot - base), base);
}

bool
build(const struct trial *t, const struct variant *m, const char *output, const char *log)
{
	words w = command_of(t, maker_of(t->unit), m);
	int status;

	for (size_t i = 0; i < t->unit->sources.n; i++)
		VEC_PUSH(w, t->unit->by_text ? text_name(t->unit->sources.at[i]) : t->unit->sources.at[i]);
	VEC_PUSH(w, pool_strdup(pool, "-o"));
	VEC_PUSH(w, pool_strdup(pool, output));
	add_words(&w, &t->unit->libraries);
	status = run(&w, NULL, log, log, COMPILE_SECONDS, false);
	free(w.at);
	return status == 0;
}

/* All texts in one. */
static struct buf
whole_text(const struct unit *u)
{
	struct buf b = {0};

	for (size_t i = 0; i < u->sources.n; i++)
		if (!file_read(text_name(u->sources.at[i]), &b))
			die(u->name, "%s: %s", text_name(u->sources.at[i]), strerror(errno));
	return b;
}

/* ---- running ---- */

/* Measured or not, name and environment of the process are the same, so that the stack is where it was. */
int
run_program(const char *name, unsigned seconds)
{
	words w = {0};
	int status;
	glob_t found;

	make_folder("cwd");
	unlink("program");
	if (link(name, "program"))
		die(name, "%s", strerror(errno));
	VEC_PUSH(w, pool_printf(pool, "%s/program", room));
	status = run(&w, "cwd", pool_printf(pool, "%s.out", name), pool_printf(pool, "%s.out", name), seconds, true);
	free(w.at);
	if (rmdir("cwd"))
		remove_all("cwd");
	if (!glob("profile*", 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			rename(found.gl_pathv[i], pool_printf(pool, "%s.chord%s", name, found.gl_pathv[i] + strlen("profile")));
		globfree(&found);
	}
	return status;
}

/* ---- one program ---- */

static void
try_measured(struct trial *t, const struct variant *m)
{
	char *log = pool_printf(pool, "%s.log", m->name);
	int status;

	t->measure = m->name;
	if (!build(t, m, m->name, log)) {
		fail(t, "does not compile: %s", why(log));
		return;
	}
	if (is_empty("plain.log") && !is_empty(log))
		fail(t, "says: %s", why(log));
	status = run_program(m->name, limit);
	note(t, "runs", 1);
	if (status != 0) {
		fail(t, "exits with %d, not 0", status);
		return;
	}
	if (!same_file("plain.out", pool_printf(pool, "%s.out", m->name)))
		fail(t, "output differs");
	opinion(t);
}

/* The text of a level, unless an earlier one had it. */
static bool
is_new(struct trial *t, struct buf *texts, size_t *ntext)
{
	struct buf b = whole_text(t->unit);

	for (size_t i = 0; i < *ntext; i++)
		if (texts[i].n == b.n && !memcmp(texts[i].at, b.at, b.n)) {
			buf_free(&b);
			return false;
		}
	texts[(*ntext)++] = b;
	return true;
}

/* Tries one level. What it is worth nothing to try is said in the notes. */
static void
try_level(struct trial *t, struct buf *texts, size_t *ntext)
{
	note(t, "programs", 1);
	if (t->unit->by_text && !compile_text(t)) {
		note(t, "uncompilable", 1);
		return;
	}
	if (t->unit->by_text && !is_new(t, texts, ntext)) {
		note(t, "repeated", 1);
		return;
	}
	if (!build(t, NULL, "plain", "plain.log")) {
		note(t, "uncompilable", 1);
		return;
	}
	if (run_program("plain", (limit + 7) / 8) != 0) {
		note(t, "failing", 1);
		return;
	}
	note(t, t->unit->by_text ? "by_text" : "by_driver", 1);
	for (uint32_t i = 0; i < CHORD_MEASURES; i++)
		if (chosen[i])
			try_measured(t, &variants[i]);
	if (chosen[IN_REGISTERS])
		try_measured(t, &variants[IN_REGISTERS]);
	if (chosen[PATH_REGISTERS])
		try_measured(t, &variants[PATH_REGISTERS]);
	if (chosen[SOME_PATHS])
		try_some_paths(t, &variants[SOME_PATHS], &variants[CHORD_PATHS]);
}

static void
enter_room(const char *path)
{
	free(room);
	room = xstrdup(path);
	remove_all(path);
	make_folder(path);
	if (chdir(path))
		die(path, "%s", strerror(errno));
	setenv("CHORD_FILE", pool_printf(pool, "%s/profile", path), 1);
}

static char *
done_line(const struct unit *u, const char *level)
{
	return pool_printf(pool, "done %s %s %s %s\n", u->name, level, u->compiler, chosen_names);
}

static void
write_whole(int fd, const struct buf *b)
{
	if (b->n && write(fd, b->at, b->n) != (ssize_t)b->n)
		die("the notes", "cannot be written: %s", strerror(errno));
}

static void
try_unit(const struct unit *u, const struct strmap *already, const char *work, unsigned worker)
{
	struct buf texts[16];
	size_t ntext = 0;

	setenv("CHORD_CC", maker_of(u), 1);
	setenv("CHORD_CXX", maker_of(u), 1);
	for (size_t i = 0; i < u->levels.n && i < 16; i++) {
		struct trial t = {.unit = u, .level = u->levels.at[i]};
		char *done = done_line(u, t.level), *flat = pool_printf(pool, "%s%s.%s", u->name, t.level, u->compiler);

		if (strmap_get(already, str_of(done), &(uint64_t){0}))
			continue;
		for (char *p = flat; *p; p++)
			*p = *p == '/' ? '.' : *p;
		enter_room(keep ? pool_printf(pool, "%s/%s", work, flat) : pool_printf(pool, "%s/room.%u", work, worker));
		try_level(&t, texts, &ntext);
		buf_str(&t.notes, done);
		write_whole(STDOUT_FILENO, &t.fails);
		write_whole(notes_fd, &t.notes);
		buf_free(&t.notes);
		buf_free(&t.fails);
		strmap_free(&t.unknown);
		free(t.expected);
	}
	while (ntext)
		buf_free(&texts[--ntext]);
}

/* ---- the list ---- */

static bool
is_source(const char *word)
{
	size_t n = strlen(word);

	return n > 2 && word[n - 2] == '.' && (word[n - 1] == 'c' || word[n - 1] == 'C');
}

/* Field after field; an empty one counts. */
static char *
field(char **line)
{
	char *text = strsep(line, "\t");

	if (!text)
		die("the list", "a line has too few fields");
	return text;
}

static struct unit
read_unit(char *line)
{
	struct unit u = {.name = field(&line), .cxx = !strcmp(field(&line), "c++")};
	words w;

	u.compiler = field(&line);
	u.levels = split(field(&line), " ");
	u.by_text = !strcmp(field(&line), "text");
	w = split(field(&line), " ");
	for (size_t i = 0; i < w.n; i++) {
		if (is_source(w.at[i]))
			VEC_PUSH(u.sources, w.at[i]);
		else if (!strncmp(w.at[i], "-l", 2))
			VEC_PUSH(u.libraries, w.at[i]);
		else
			VEC_PUSH(u.common, w.at[i]);
	}
	free(w.at);
	return u;
}

/* Workers take the next line of the list, until there is none. */
static void
work_on(const words *list, atomic_size_t *next, const struct strmap *already, const char *work, unsigned worker)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while ((i = atomic_fetch_add(next, 1)) < list->n) {
		struct unit u;

		pool = pool_new();
		u = read_unit(list->at[i]);
		try_unit(&u, already, work, worker);
		free(u.levels.at);
		free(u.common.at);
		free(u.sources.at);
		free(u.libraries.at);
		pool_free(pool);
	}
	if (!keep && room)
		remove_all(room);
}

/* Reads what is done, and leaves the notes without the blocks that are not whole or have a FAIL. */
static struct strmap
resume(const char *path)
{
	struct strmap done = {0};
	struct buf kept = {0};
	char *text = text_of(path, NULL), *block = text;
	bool good = true;

	for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
		good &= strncmp(at, "FAIL ", 5) != 0;
		if (strncmp(at, "done ", 5) != 0)
			continue;
		if (good) {
			buf_add(&kept, block, (size_t)(end + 1 - block));
			strmap_put(&done, str_of(pool_strndup(pool, at, (size_t)(end + 1 - at))), 1);
		}
		block = end + 1;
		good = true;
	}
	free(text);
	if (!file_write(path, kept.at, kept.n) || (notes_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)) < 0)
		die(path, "%s", strerror(errno));
	buf_free(&kept);
	return done;
}

static void
list_variants(void)
{
	for (uint32_t i = 0; i < CHORD_MEASURES; i++) {
		struct buf b = {0};

		buf_printf(&b, "-fchord=%s", measure_list[i].name);
		buf_char(&b, '\0');
		variants[i] = (struct variant){measure_list[i].name, special[i] ? special[i] : b.at};
	}
	variants[SOME_PATHS] = (struct variant){"some-paths", "-fchord-paths=chosen"};
	variants[IN_REGISTERS] = (struct variant){"registers", "-fchord=edges -fchord-loops=registers"};
	variants[PATH_REGISTERS] = (struct variant){"path-registers", "-fchord=paths -fchord-loops=registers"};
}

/* "NAME,NAME..."; NULL is all. */
static bool
choose(const char *names)
{
	struct buf b = {0};
	words w;

	list_variants();
	for (size_t i = 0; i < VARIANTS; i++)
		buf_printf(&b, "%s%s", i ? "," : "", variants[i].name);
	buf_char(&b, '\0');
	chosen_names = names ? xstrdup(names) : b.at;
	w = split(xstrdup(chosen_names), ",");
	for (size_t k = 0; k < w.n; k++) {
		size_t i = 0;

		while (i < VARIANTS && strcmp(w.at[k], variants[i].name) != 0)
			i++;
		if (i == VARIANTS)
			return say_error(w.at[k], "no such measure; there are %s", b.at), false;
		chosen[i] = true;
	}
	free(w.at);
	return true;
}

static int
run_workers(const words *list, unsigned jobs, const struct strmap *already, const char *work)
{
	atomic_size_t *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, bad = 0;

	if (next == MAP_FAILED)
		die("memory", "%s", strerror(errno));
	for (unsigned k = 0; k < jobs; k++) {
		pid_t child = fork();

		if (child < 0)
			die("fork", "%s", strerror(errno));
		if (!child) {
			work_on(list, next, already, work, k);
			exit(0);
		}
	}
	while (wait(&status) > 0)
		if (status) {
			printf("FAIL a worker: status %#x, not done\n", (unsigned)status);
			bad = 1;
		}
	return bad;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {{"measures", 1, NULL, 'm'}, {"jobs", 1, NULL, 'j'}, {"keep", 0, NULL, 'k'}, {0}};
	const char *names = NULL, *seconds = getenv("CHORD_TIMEOUT");
	unsigned jobs = 1;
	struct strmap already;
	words list;
	char *work;

	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (c == 'm')
			names = optarg;
		else if (c == 'j')
			jobs = (unsigned)atoi(optarg);
		else if (c == 'k')
			keep = true;
		else
			return EXIT_USAGE;
	}
	chord = getenv("CHORD");
	if (argc - optind != 2 || !jobs || !chord || *chord != '/' || !choose(names)) {
		say_error("chamber", "usage: CHORD=/PATH/chord chamber [--measures LIST] [--jobs N] [--keep] LIST WORK");
		return EXIT_USAGE;
	}
	setlinebuf(stdout);
	limit = seconds ? (unsigned)atoi(seconds) : 20;
	work = realpath(argv[optind + 1], NULL);
	if (!work)
		die(argv[optind + 1], "%s", strerror(errno));
	list = split(text_of(argv[optind], NULL), "\n");
	pool = pool_new();
	already = resume(pool_printf(pool, "%s/notes", work));
	return run_workers(&list, jobs, &already, work);
}
