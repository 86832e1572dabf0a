/* SPDX-License-Identifier: MIT */
/* Runs a command once, with a folder of its own for the profiles of its processes. */
#include "launch/launch.h"
#include "driver/driver.h"
#include "format/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder of the run that is under way, or NULL. It does not stay behind if Chord gives up, for lack of memory, say. */
static const char *folder_now;

/* Needs no memory. */
static void
remove_folder(void)
{
	_Alignas(struct dirent64) char some[4096];
	int dir = folder_now ? open(folder_now, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	const struct dirent64 *d;

	if (dir < 0)
		return;
	for (ssize_t n; (n = getdents64(dir, some, sizeof some)) > 0;)
		for (const char *at = some; at < some + n; at += d->d_reclen) {
			d = (const void *)at;
			if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
				unlinkat(dir, d->d_name, 0);
		}
	close(dir);
	rmdir(folder_now);
	folder_now = NULL;
}

static char *
make_folder(struct pool *pool)
{
	static bool at_exit;
	const char *tmp = getenv("TMPDIR");
	char *name = pool_printf(pool, "%s/chord-stat-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (!at_exit && atexit(remove_folder)) {
		say_error(name, "%s", strerror(ENOMEM));
		return NULL;
	}
	at_exit = true;
	if (mkdtemp(name)) {
		folder_now = name;
		return name;
	}
	say_error(name, "%s", strerror(errno));
	return NULL;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
list_profiles(struct launched *l)
{
	DIR *dir = opendir(l->folder);

	if (!dir) {
		say_error(l->folder, "%s", strerror(errno));
		return false;
	}
	for (struct dirent *d; (d = readdir(dir));)
		if (*d->d_name != '.' && !str_ends(str_of(d->d_name), CHORD_TRACE_SUFFIX))
			VEC_PUSH(l->profile, pool_printf(l->pool, "%s/%s", l->folder, d->d_name));
	closedir(dir);
	if (l->profile.n)
		qsort(l->profile.at, l->profile.n, sizeof *l->profile.at, by_name);
	return true;
}

/* What the program does may depend on the addresses of its code and memory. They are the same every time, unless the system does
 * not allow that. */
static int
run_command(const struct launch_options *o)
{
	int old = personality(0xffffffff), status;

	if (!o->aslr && old != -1)
		personality((unsigned long)old | ADDR_NO_RANDOMIZE);
	status = child_run(o->argv);
	if (!o->aslr && old != -1)
		personality((unsigned long)old);
	return status;
}

bool
launch(struct launched *l, struct pool *pool, const struct launch_options *o, struct launch_input *in)
{
	int status, saved;
	bool ok;

	*l = (struct launched){.pool = pool, .folder = make_folder(pool)};
	if (!l->folder)
		return false;
	setenv("CHORD_FILE", pool_printf(pool, "%s/%%n.%%p.chord", l->folder), 1);
	if (o->per_thread)
		setenv("CHORD_THREADS", "apart", 1); /* the word that runtimes of all versions know */
	if (!input_begin(in))
		return false;
	status = run_command(o);
	saved = errno;
	ok = input_end(in);
	l->ended = status != -1;
	if (l->ended)
		l->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	else
		say_error(o->argv[0], "%s", strerror(saved));
	return list_profiles(l) && ok && l->ended;
}

void
launch_forget(struct launched *l)
{
	remove_folder();
	free(l->profile.at);
}
