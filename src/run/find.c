/* SPDX-License-Identifier: MIT */
/* Which files a name stands for, and where profiles are if none is named. The heads of profiles tell which ones belong to one
 * run. */
#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names in a folder, sorted. */
struct listing {
	const char *folder;
	VEC(const char *) name;
};

struct finder {
	struct pool *pool;
	struct found_list *list;
	VEC(struct listing) folder; /* read so far */
};

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const struct listing *
list_folder(struct finder *f, const char *folder)
{
	struct listing l = {.folder = folder};
	struct dirent *d;
	DIR *dir;

	for (size_t i = 0; i < f->folder.n; i++)
		if (!strcmp(f->folder.at[i].folder, folder))
			return &f->folder.at[i];
	errno = 0;
	dir = opendir(folder);
	while (dir && (errno = 0, d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			VEC_PUSH(l.name, pool_strdup(f->pool, d->d_name));
	if (errno && errno != ENOENT && errno != ENOTDIR)
		say_warning(folder, "it cannot be listed: %s; profiles there that are not named are not found", strerror(errno));
	if (dir)
		closedir(dir);
	if (l.name.n)
		qsort(l.name.at, l.name.n, sizeof *l.name.at, by_name);
	VEC_PUSH(f->folder, l);
	return &f->folder.at[f->folder.n - 1];
}

/* The index of the first name with that prefix. */
static size_t
first_with(const struct listing *l, const char *prefix)
{
	size_t lo = 0, hi = l->name.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (strcmp(l->name.at[mid], prefix) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct found
find_look(const char *name, bool asked)
{
	struct found f = {.name = name, .asked = asked};
	struct chord_profile_head h;
	struct stat st;
	int fd;

	if (!strcmp(name, "-") || stat(name, &st))
		return f;
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	f.folder = S_ISDIR(st.st_mode);
	f.file = S_ISREG(st.st_mode);
	if (!f.file || (fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		return f;
	if (read(fd, &h, sizeof h) == sizeof h && h.magic == CHORD_PROFILE_MAGIC) {
		f.profile = true;
		f.flags = h.flags;
		f.run = h.run;
		f.run2 = h.run2;
		f.processes = h.processes;
		f.slot = h.slot;
	}
	close(fd);
	return f;
}

/* If two names stand for the same file, it is used once. If both were asked for, a message says so. */
static void
put(struct finder *f, struct found x)
{
	for (size_t i = 0; x.ino && i < f->list->n; i++) {
		struct found *have = &f->list->at[i];

		if (have->dev != x.dev || have->ino != x.ino)
			continue;
		if (have->asked && x.asked)
			x.same = have->name;
		else if (have->asked || !x.asked)
			return;
		else {
			have->asked = true;
			return;
		}
		break;
	}
	VEC_PUSH(*f->list, x);
}

static bool
same_run(const struct found *a, const struct found *b)
{
	return a->run == b->run && a->run2 == b->run2 && (a->run || a->run2);
}

static bool
is_sum_or_snapshot(const struct found *f)
{
	return f->flags & (CHORD_PROFILE_MERGED | CHORD_PROFILE_SNAPSHOT);
}

/* The other processes of a run have the first one's name plus a dot and more. */
static void
put_companions(struct finder *f, const struct found *first)
{
	const char *base = base_name(first->name);
	const char *folder = base == first->name ? "." : pool_strndup(f->pool, first->name, (size_t)(base - first->name));
	const char *prefix = pool_printf(f->pool, "%s.", base);
	const struct listing *l;

	if (!first->profile || is_sum_or_snapshot(first))
		return;
	l = list_folder(f, folder);
	for (size_t i = first_with(l, prefix); i < l->name.n && str_starts(str_of(l->name.at[i]), prefix); i++) {
		const char *name = pool_printf(f->pool, "%.*s%s", (int)(base - first->name), first->name, l->name.at[i]);
		struct found x = find_look(name, false);

		if (x.profile && same_run(&x, first) && !is_sum_or_snapshot(&x))
			put(f, x);
	}
}

/* Does it belong to an earlier run, whose first profile has been replaced? */
static bool
is_left_over(struct finder *f, const struct found *x)
{
	struct str s = str_of(x->name);
	struct found first;

	if (!x->slot)
		return false;
	while (s.n && s.at[s.n - 1] != '.')
		s.n--;
	first = find_look(pool_strndup(f->pool, s.at, s.n ? s.n - 1 : 0), false);
	return !same_run(&first, x);
}

/* Finds the .chord at the end of a name. A number follows if the name was in use. NULL: the name does not end so. */
static const char *
profile_ending(const char *name)
{
	const char *end = strstr(name, ".chord");

	while (end && end[strlen(".chord")] && end[strlen(".chord")] != '.')
		end = strstr(end + 1, ".chord");
	return end && !end[strlen(".chord") + strspn(end + strlen(".chord"), ".p0123456789abcdef")] ? end : NULL;
}

bool
is_profile_name(const char *name, const char *program)
{
	size_t n = strlen(program);
	const char *end;

	if (!str_starts(str_of(name), program) || name[n] != '.')
		return false;
	end = profile_ending(name + n);
	return end && end > name + n;
}

/* Adds all profiles in a folder. program: NULL, or only this program's profiles. meant: also files that have names of profiles. */
static void
put_folder(struct finder *f, const char *folder, const char *program, bool meant)
{
	const struct listing *l = list_folder(f, folder);

	for (size_t i = 0; i < l->name.n; i++) {
		const char *name = strcmp(folder, ".") ? pool_printf(f->pool, "%s/%s", folder, l->name.at[i]) : l->name.at[i];
		struct found x = find_look(name, false);

		x.inside = true;
		x.wanted = meant && !program;
		if (program && !is_profile_name(l->name.at[i], program))
			continue;
		if (!program && !x.profile && !(meant && x.file && profile_ending(l->name.at[i])))
			continue;
		x.left_over = is_left_over(f, &x);
		put(f, x);
	}
}

/* Profiles that contain others come first, so that the others are recognised. */
static int
by_size(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	uint64_t n = x->flags & CHORD_PROFILE_MERGED ? x->processes + 1 : 0;
	uint64_t m = y->flags & CHORD_PROFILE_MERGED ? y->processes + 1 : 0;

	if (n != m)
		return n > m ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void
finish(struct finder *f)
{
	for (size_t i = 0; i < f->list->n; i++)
		f->list->at[i].order = i;
	if (f->list->n)
		qsort(f->list->at, f->list->n, sizeof *f->list->at, by_size);
	for (size_t i = 0; i < f->folder.n; i++)
		free(f->folder.at[i].name.at);
	free(f->folder.at);
}

void
find_named(struct pool *pool, char **name, int n, struct found_list *list)
{
	struct finder f = {.pool = pool, .list = list};

	for (int i = 0; i < n; i++) {
		struct found x = find_look(name[i], true);

		if (x.folder) {
			put_folder(&f, name[i], NULL, true);
			continue;
		}
		put(&f, x);
		put_companions(&f, &x);
	}
	finish(&f);
}

/* "" if the program is in the current folder, or was found in PATH. */
static const char *
folder_of(struct pool *pool, const char *program)
{
	const char *base = base_name(program);
	struct stat here, there;
	const char *folder;

	if (base == program)
		return "";
	folder = base == program + 1 ? "/" : pool_strndup(pool, program, (size_t)(base - program) - 1);
	if (!stat(".", &here) && !stat(folder, &there) && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
		return "";
	return folder;
}

/* The folder above .libs, where libtool keeps a script for the program; NULL: the program is not in .libs. */
static const char *
above_libs(struct pool *pool, const char *program)
{
	const char *base = base_name(program), *libs = ".libs/";
	size_t n = strlen(libs), at = (size_t)(base - program);

	if (at < n || strncmp(base - n, libs, n) || (at > n && base[-1 - (ptrdiff_t)n] != '/'))
		return NULL;
	return at > n ? pool_strndup(pool, program, at - n - (at > n + 1)) : ".";
}

const char *
find_program(struct pool *pool, const char *name)
{
	static const char *const prefix[] = {"lt-", ""};
	const char *base = base_name(name);
	char head[512] = "";
	FILE *f = fopen(name, "re");

	if (f)
		head[fread(head, 1, sizeof head - 1, f)] = 0;
	if (f)
		fclose(f);
	/* If libtool linked the program again for running it in place, that one runs. */
	for (size_t i = 0; i < 2 && !strncmp(head, "#!", 2) && strstr(head, "temporary wrapper script for .libs/"); i++) {
		const char *program = pool_printf(pool, "%.*s.libs/%s%s", (int)(base - name), name, prefix[i], base);

		if (!access(program, X_OK))
			return program;
	}
	return name;
}

bool
find_place(struct pool *pool, const char *program, unsigned place, struct found_list *list, const char **where)
{
	const char *dir = getenv("CHORD_DIR"), *file = getenv("CHORD_FILE"), *beside = folder_of(pool, program);
	const char *wrapped = above_libs(pool, program);
	struct finder f = {.pool = pool, .list = list};
	struct found x;

	*where = NULL;
	switch (place) {
	case 0:
		if (!file || !*file || strchr(file, '%'))
			return true;
		file = dir && *dir && *file != '/' ? pool_printf(pool, "%s/%s", dir, file) : file;
		*where = pool_printf(pool, "under the name that CHORD_FILE gives (%s)", file);
		x = find_look(file, false);
		if (x.profile) {
			put(&f, x);
			put_companions(&f, &x);
		}
		break;
	case 1:
		if (!dir || !*dir)
			return true;
		*where = pool_printf(pool, "in the folder of CHORD_DIR (%s)", dir);
		put_folder(&f, dir, NULL, true);
		break;
	case 2:
		*where = pool_printf(pool, "in the current folder (%s.*.chord)", base_name(program));
		put_folder(&f, ".", base_name(program), true);
		break;
	case 3:
		if (!*beside)
			return true;
		*where = pool_printf(pool, "beside the program (%s/%s.*.chord)", beside, base_name(program));
		put_folder(&f, beside, base_name(program), true);
		break;
	case 4:
		if (!wrapped)
			return true;
		*where = pool_printf(pool, "beside libtool's script for it (%s/%s.*.chord)", wrapped, base_name(program));
		put_folder(&f, wrapped, base_name(program), true);
		break;
	case 5:
		*where = "by its build id under any other name there";
		put_folder(&f, ".", NULL, false);
		if (*beside)
			put_folder(&f, beside, NULL, false);
		if (wrapped)
			put_folder(&f, wrapped, NULL, false);
		break;
	default:
		return false;
	}
	finish(&f);
	return true;
}
