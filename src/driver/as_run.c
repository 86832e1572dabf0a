/* SPDX-License-Identifier: MIT */
/* Finds and runs the real assembler. It gets texts by a pipe, which no limit on the size of files concerns, and leaves objects in
 * files without names. So names cannot clash, and no file is left behind. */
#include "driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Set for the assembler's process: a stand-in that sees it was started by another stand-in. */
#define RUNNING "CHORD_AS_RUNNING"

/* ---- finding the assembler, and Chord's files ---- */

static char *
self_path(struct pool *pool)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	return n < 0 ? NULL : pool_strndup(pool, path, (size_t)n);
}

/* Is the file Chord: this one, a link to it, a copy, or another version? Each of them contains this text. */
bool
is_chord(const char *path)
{
	enum { LARGEST = 64 << 20 }; /* some compilers are larger, and searching them would take long */
	static const char mark[] = "Chord, which stands in for the assembler";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *at = MAP_FAILED;
	bool found = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < LARGEST)
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at != MAP_FAILED) {
		found = memmem(at, (size_t)st.st_size, mark, sizeof mark);
		munmap(at, (size_t)st.st_size);
	}
	return found;
}

static const char *
find_in(struct pool *pool, const char *path)
{
	for (const char *p = path, *end; *p; p = *end ? end + 1 : end) {
		const char *name;
		struct stat st;

		end = p + strcspn(p, ":");
		name = pool_printf(pool, "%.*s/as", (int)(end - p), p);
		if (end > p && !stat(name, &st) && S_ISREG(st.st_mode) && !access(name, X_OK) && !is_chord(name))
			return name;
	}
	return NULL;
}

const char *
as_find(struct pool *pool)
{
	const char *given = getenv("CHORD_AS"), *compiler = getenv("COMPILER_PATH"), *path = getenv("PATH");
	const char *as = NULL;

	if (given && *given) {
		if (is_chord(given))
			die(given, "CHORD_AS names Chord, not an assembler");
		return given;
	}
	as = as_of_compiler(pool);
	/* gcc tells those that link in COMPILER_PATH where it searches itself, including -B. */
	if (!as && compiler)
		as = find_in(pool, compiler);
	return as ? as : find_in(pool, path ? path : "/usr/bin:/bin");
}

const char *
libexec_dir(struct pool *pool)
{
	static const char *const places[] = {"", "/libexec/chord", "/../libexec/chord"};
	char *exe = self_path(pool), real[4096];

	if (!exe)
		return NULL;
	*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *dir = pool_printf(pool, "%s%s", exe, places[i]);

		if (!access(pool_printf(pool, "%s/runtime.s", dir), R_OK))
			return realpath(dir, real) ? pool_strdup(pool, real) : dir;
	}
	return NULL;
}

/* ---- running ---- */

/* Opens a file without a name. */
static int
nameless(void)
{
	int fd = memfd_create("chord", MFD_CLOEXEC);
	const char *dir = getenv("TMPDIR");

	if (fd < 0)
		fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		die("temporary file", "%s", strerror(errno));
	return fd;
}

/* Reads all of a nameless file. False: it is empty. */
static bool
take(int fd, struct buf *b)
{
	lseek(fd, 0, SEEK_SET);
	b->n = 0;
	child_drain(fd, b);
	return b->n;
}

int
as_run_io(const char *as, char *const *args, size_t nargs, const struct as_io *io)
{
	struct child_fds fds = CHILD_FDS_NONE;
	char **argv = xcalloc(nargs + 4, sizeof *argv), object[40];
	struct feeder feeder;
	int status;

	fds.keep = io->object ? nameless() : -1;
	fds.out = io->quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
	argv[0] = (char *)(uintptr_t)as;
	for (size_t i = 0; i < nargs; i++)
		argv[i + 1] = args[i];
	if (io->object) {
		snprintf(object, sizeof object, "/proc/self/fd/%d", fds.keep);
		argv[nargs + 1] = (char *)(uintptr_t)"-o";
		argv[nargs + 2] = object;
	}
	if (io->input && !child_feed(&feeder, io->input, &fds.in))
		die("pipe", "%s", strerror(errno));
	if (setenv(RUNNING, as, 1))
		die("environment", "%s", strerror(errno));
	status = child_hear(argv, &fds, &fds.err, io->says);
	free(argv);
	if (status == 0 && io->object && !take(fds.keep, io->object))
		die(as, "left no object");
	if (io->input)
		child_fed(&feeder, fds.in);
	if (fds.keep >= 0)
		close(fds.keep);
	if (fds.out >= 0)
		close(fds.out);
	if (status < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool
as_within(void)
{
	return getenv(RUNNING);
}
