/* SPDX-License-Identifier: MIT */
/* Names of source files. A line table may name the same file `a.c`, `./a.c` and `b/../a.c`, relative to the folder in which the
 * compiler ran, and each unit has its own copy of a name. */
#include "image/internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Drops `.` and empty components, and with `all` every component that is followed by `..`. Returns whether there was a `..` */
static bool
shorten(const char *path, bool all, struct buf *out)
{
	size_t root = *path == '/', fixed;
	bool up = false;

	out->n = 0;
	if (root)
		buf_char(out, '/');
	fixed = out->n;
	for (const char *p = path, *end; *p; p = *end ? end + 1 : end) {
		size_t n = (size_t)((end = p + strcspn(p, "/")) - p);

		if (!n || (n == 1 && *p == '.'))
			continue;
		if (n == 2 && !memcmp(p, "..", 2)) {
			up = true;
			if (all && out->n > fixed) {
				while (out->n > fixed && out->at[out->n - 1] != '/')
					out->n--;
				out->n -= out->n > fixed;
				continue;
			}
			if (all && root)
				continue;
		}
		if (out->n > root)
			buf_char(out, '/');
		buf_add(out, p, n);
		if (n == 2 && !memcmp(p, "..", 2))
			fixed = out->n;
	}
	return up;
}

/* If b is a symbolic link, `b/../a.c` is a different file from `a.c`. That can be checked if the files exist. */
static bool
is_other(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && (stat(b, &y) || x.st_dev != y.st_dev || x.st_ino != y.st_ino);
}

const char *
image_clean_path(struct pool *pool, const char *path)
{
	struct buf b = {0};
	bool up = shorten(path, true, &b);
	const char *clean = pool_strndup(pool, b.n ? b.at : "", b.n);

	if (up && is_other(path, clean)) {
		shorten(path, false, &b);
		clean = pool_strndup(pool, b.at, b.n);
	}
	buf_free(&b);
	return *clean ? clean : path;
}

/* The clean form of a path, computed once for each path. */
static const char *
interned(struct image *im, const char *path)
{
	const char *clean;
	uint64_t known;

	if (strmap_get(&im->file, str_of(path), &known))
		return (const char *)(uintptr_t)known;
	path = pool_strdup(im->pool, path);
	clean = image_clean_path(im->pool, path);
	strmap_put(&im->file, str_of(path), (uintptr_t)clean);
	return clean;
}

const char *
image_file_name(struct image *im, const char *dir, const char *name)
{
	if (name == im->last_file && dir == im->last_dir)
		return im->last_clean;
	im->last_file = name;
	im->last_dir = dir;
	if (*name == '/' || !dir)
		return im->last_clean = interned(im, name);
	im->joined.n = 0;
	buf_printf(&im->joined, "%s/%s", dir, name);
	return im->last_clean = interned(im, im->joined.at);
}

const char *
image_unit_folder(struct image *im, Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &a));

	if (!dir || *dir != '/')
		return NULL;
	dir = interned(im, dir);
	for (size_t i = im->folder.n; i-- > 0;)
		if (!strcmp(im->folder.at[i], dir))
			return im->folder.at[i];
	VEC_PUSH(im->folder, dir);
	return dir;
}

const char *
image_file_below(struct image *im, const char *file)
{
	size_t most = 0;

	if (!image_has_lines(im))
		return file;
	for (size_t i = 0; i < im->folder.n; i++) {
		size_t n = strlen(im->folder.at[i]);

		if (n > most && !strncmp(file, im->folder.at[i], n) && file[n] == '/')
			most = n;
	}
	return most ? file + most + 1 : file;
}
