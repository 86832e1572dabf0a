/* SPDX-License-Identifier: MIT */
/* Runs a command once, with a folder of its own for the profiles of its processes. */
#include "launch/launch.h"
#include "driver/driver.h"
#include "format/trace.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

static char *
make_folder(struct pool *pool)
{
	const char *tmp = getenv("TMPDIR");
	char *name = pool_printf(pool, "%s/chord-stat-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(name))
		return name;
	say_error(name, "%s", strerror(errno));
	return NULL;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
list_profiles(struct launched *l)
{
	DIR *dir = opendir(l->folder);

	for (struct dirent *d; dir && (d = readdir(dir));)
		if (*d->d_name != '.' && !str_ends(str_of(d->d_name), CHORD_TRACE_SUFFIX))
			VEC_PUSH(l->profile, pool_printf(l->pool, "%s/%s", l->folder, d->d_name));
	if (dir)
		closedir(dir);
	if (l->profile.n)
		qsort(l->profile.at, l->profile.n, sizeof *l->profile.at, by_name);
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
	list_profiles(l);
	return ok && l->ended;
}

void
launch_forget(struct launched *l)
{
	for (size_t i = 0; i < l->profile.n; i++) {
		unlink(l->profile.at[i]);
		unlink(pool_printf(l->pool, "%s" CHORD_TRACE_SUFFIX, l->profile.at[i]));
	}
	if (l->folder)
		rmdir(l->folder);
	free(l->profile.at);
}
