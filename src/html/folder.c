/* SPDX-License-Identifier: MIT */
/* Writes the folder of pages: only its own files, not through links, and not over a folder of another kind. */
#include "html/html.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file that marks a folder of pages; it is written first. */
static const char mark[] = ".chord-html";

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static void
failed(struct folder *f, const char *name)
{
	int error = errno;
	char *path = xmalloc(strlen(f->path) + strlen(name) + 2);

	stpcpy(stpcpy(stpcpy(path, f->path), "/"), name);
	say_error(path, "%s", strerror(error));
	free(path);
	f->bad = true;
}

/* False also if it cannot be listed: then f->bad is set. */
static bool
is_empty(struct folder *f)
{
	int copy = openat(f->fd, ".", DIRECTORY);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	size_t n = 0;

	if (!d) {
		failed(f, "");
		if (copy >= 0)
			close(copy);
		return false;
	}
	while (n <= 2 && readdir(d))
		n++;
	closedir(d);
	return n <= 2;
}

/* Opens the folder of a file with that name, and makes missing folders. -1: errno. */
static int
open_parent(int at, const char **name)
{
	int fd = fcntl(at, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	for (; fd >= 0 && (slash = strchr(*name, '/')); *name = slash + 1) {
		char *step = strndup(*name, (size_t)(slash - *name));
		int below, error = ENOMEM;

		if (step)
			mkdirat(fd, step, 0777);
		below = step ? openat(fd, step, DIRECTORY) : -1;
		error = below < 0 && step ? errno : error;
		free(step);
		close(fd);
		fd = below;
		errno = error;
	}
	return fd;
}

/* An existing file is replaced, not written to, because it may be a link. */
void
folder_write(struct folder *f, const char *name, const struct buf *text)
{
	const char *last = name;
	int parent, fd = -1;

	if (f->bad)
		return;
	parent = open_parent(f->fd, &last);
	if (parent >= 0) {
		unlinkat(parent, last, 0);
		fd = openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	}
	if (fd < 0 || !write_all(fd, text->at, text->n))
		failed(f, name);
	if (fd >= 0 && close(fd) && !f->bad)
		failed(f, name);
	if (parent >= 0)
		close(parent);
}

/* Removes the scripts of earlier pages from one of the folders. */
static void
remove_scripts(struct folder *f, const char *folder)
{
	const char *name = folder;
	int fd = open_parent(f->fd, &name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		failed(f, folder);
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (str_ends(str_of(e->d_name), ".js"))
			unlinkat(fd, e->d_name, 0);
	closedir(d);
}

/* A folder that was taken by force is not marked, so nothing else in it is ever removed. */
static bool
take(struct folder *f, bool force)
{
	static const char *const data[] = {"data/", "data/source/", "data/function/"};
	const struct buf text = {.at = (char *)(uintptr_t)"pages of chord html\n", .n = 20};

	if (!faccessat(f->fd, mark, F_OK, AT_SYMLINK_NOFOLLOW)) {
		for (size_t i = 0; i < sizeof data / sizeof *data; i++)
			remove_scripts(f, data[i]);
	} else if (is_empty(f)) {
		folder_write(f, mark, &text);
	} else if (!force && !f->bad) {
		say_error(f->path, "there is something else in it; choose another folder, or --force");
		return false;
	}
	return !f->bad;
}

bool
folder_open(struct folder *f, const char *path, bool force)
{
	*f = (struct folder){.path = path, .fd = -1};
	if (mkdir(path, 0777) && errno != EEXIST) {
		say_error(path, "%s", strerror(errno));
		return false;
	}
	f->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0) {
		say_error(path, "%s", strerror(errno));
		return false;
	}
	if (!take(f, force)) {
		folder_close(f);
		return false;
	}
	return true;
}

static void
copy_below(struct folder *f, const char *from, const char *name)
{
	struct pool *pool = pool_new();
	const char *path = pool_printf(pool, "%s/%s", from, name);
	DIR *d = opendir(path);
	const struct dirent *e;
	struct buf text = {0};

	if (d) {
		while (!f->bad && (e = readdir(d)))
			if (e->d_name[0] != '.')
				copy_below(f, from, *name ? pool_printf(pool, "%s/%s", name, e->d_name) : e->d_name);
		closedir(d);
	} else if (file_read(path, &text)) {
		folder_write(f, name, &text);
	} else {
		say_error(path, "%s", strerror(errno));
		f->bad = true;
	}
	buf_free(&text);
	pool_free(pool);
}

void
folder_copy(struct folder *f, const char *from)
{
	copy_below(f, from, "");
}

void
folder_close(struct folder *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
