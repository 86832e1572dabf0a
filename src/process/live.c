/* SPDX-License-Identifier: MIT */
/* The profile of a running process: the file that it has mapped, whatever file has its name now. The process is stopped while the
 * file is read, if that is permitted. */
#include "process/inspector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
is_profile(const char *path)
{
	uint64_t magic = 0;
	FILE *f = fopen(path, "re");

	if (!f || fread(&magic, sizeof magic, 1, f) != 1)
		magic = 0;
	if (f)
		fclose(f);
	return magic == CHORD_PROFILE_MAGIC;
}

/* Is it the first page of a file that is mapped shared and writable? */
static bool
may_be_profile(const struct mapping *m)
{
	return !strncmp(m->how, "rw-s", 4) && !m->offset && m->ino;
}

const char *
live_profile_path(struct process *p)
{
	for (size_t i = 0; i < p->mapping.n; i++) {
		const char *path = may_be_profile(&p->mapping.at[i]) ? process_file(p, &p->mapping.at[i], is_profile) : NULL;

		if (path)
			return path;
	}
	return NULL;
}

const char *
live_profile_find(struct process *p)
{
	const char *path = NULL;

	bool mapped = process_mappings(p);
	int error = errno;

	if (mapped && (path = live_profile_path(p)))
		return path;
	if (process_ended(p))
		say_error(p->pid, "it has ended");
	else if (mapped)
		say_error(p->pid, "the process has no profile: it is not measured, has only just begun, or its profile "
		          "cannot be opened from here");
	else if (error == EACCES || error == EPERM)
		say_error(p->pid, "not permitted: only root and its owner can look into a process");
	else
		say_error(p->pid, "%s", strerror(error));
	return NULL;
}

struct profile *
live_profile_load(struct pool *pool, const struct process *p, const char *path)
{
	struct buf b = {0};
	const char *why = NULL;
	struct profile *profile = NULL;

	if (!file_read(path, &b))
		why = strerror(errno);
	else
		profile = profile_parse(pool, (struct str){b.at, b.n}, &why);
	buf_free(&b);
	if (!profile && process_ended(p))
		say_error(p->pid, "it has ended");
	else if (!profile)
		say_error(path, "%s", why);
	return profile;
}

/* Reads the counts while the process is stopped. *known: the positions of all threads are known. */
static bool
inspect_still(struct inspector *k, const char *path, bool *known)
{
	struct profile *p = k->profile = live_profile_load(k->pool, &k->process, path);

	*known = false;
	if (!p || process_was_still(&k->process) == false || !process_mappings(&k->process))
		return false;
	query_modules(k->q, &k->process, p);
	if (!inspector_read_control(k))
		return true;
	frames_close(&k->frames);
	k->frames = (struct frames){.process = &k->process, .loaded = k->loaded.at, .nloaded = k->loaded.n};
	p->standing = inspector_end_all(k, p);
	if (!p->standing)
		p->nrunning = p->nthreads = 0;
	*known = !p->standing && !k->live.owner;
	return process_was_still(&k->process);
}

/* Tries until the positions of all threads are known, but not for long. */
static void
inspect_long(struct inspector *k, const char *path, bool *stood_still)
{
	bool known = false;

	for (int i = 0; !(*stood_still && known) && i < 20; i++) {
		bool stopped = process_stop(&k->process) == PROCESS_STILL;

		profile_free(k->profile);
		if (stopped)
			*stood_still = inspect_still(k, path, &known);
		else
			k->profile = live_profile_load(k->pool, &k->process, path);
		process_go_on(&k->process);
		if (!stopped || !k->profile)
			return;
		if (!known)
			usleep(1000);
	}
}

struct profile *
live_profile(struct pool *pool, const char *pid, bool *stood_still)
{
	struct query q = {.pool = pool, .pid = pid};
	struct sample m = {0};
	struct inspector k = {.q = &q, .pool = pool, .m = &m};
	const char *path;

	if (!process_open(&k.process, pool, pid))
		return NULL;
	path = live_profile_find(&k.process);
	if (path)
		inspect_long(&k, path, stood_still);
	frames_close(&k.frames);
	process_close(&k.process);
	free(k.region.at);
	free(k.loaded.at);
	sample_free(&m);
	q.pool = pool_new(); /* the pool belongs to the caller */
	query_close(&q);
	return k.profile;
}

/* A name of the profile, for finding the trace next to it; NULL: the file has no name any more. */
static const char *
name_of(struct pool *pool, const char *path, const char *root)
{
	char link[4096];
	ssize_t n = readlink(path, link, sizeof link - 1);
	const char *name;

	if (n < 0)
		return path;
	link[n] = 0;
	name = pool_printf(pool, "%s%s", root, link);
	return is_profile(name) ? name : is_profile(link) ? pool_strdup(pool, link) : NULL;
}

/* A traced process has its counts in the trace next to its profile. Both are read as they are while the process runs, because it
 * would have to be stopped for long. NULL: it is not traced. */
static struct profile *
traced_profile(struct pool *pool, const char *pid, const char *root)
{
	struct process k = {0};
	struct profile *p = NULL;
	const char *path, *why;

	if (!process_open(&k, pool, pid))
		return NULL;
	path = process_mappings(&k) ? live_profile_path(&k) : NULL;
	path = path ? name_of(pool, path, root) : NULL;
	if (path && !access(trace_name(pool, path), F_OK))
		p = load_profile(pool, path, &why);
	process_close(&k);
	return p;
}

/* The name of the program that a process runs. */
static const char *
program_of(struct pool *pool, const char *pid)
{
	char name[4096];
	ssize_t n = readlink(pool_printf(pool, "/proc/%s/exe", pid), name, sizeof name - 1);

	if (n < 0)
		return pool_printf(pool, "process %s", pid);
	name[n] = 0;
	return pool_strdup(pool, name);
}

bool
run_load_live(struct run *r, const char *pid)
{
	struct profile *p, *traced;
	bool stood_still = false, ok;

	*r = (struct run){.pool = pool_new(), .sum = profile_new()};
	r->root = pool_printf(r->pool, "/proc/%s/root", pid);
	r->path = program_of(r->pool, pid);
	p = live_profile(r->pool, pid, &stood_still);
	traced = p ? traced_profile(r->pool, pid, r->root) : NULL;
	if (traced) {
		profile_free(p);
		p = traced;
		stood_still = true;
	}
	ok = p && run_open(r, pool_printf(r->pool, "/proc/%s/exe", pid));
	if (ok && !profile_module(p, image_build_id(r->binary.at[0].image))) {
		say_error(r->path, "of the process %s, its program is not measured: only libraries are", pid);
		ok = false;
	}
	ok = ok && run_take(r, pool_printf(r->pool, "process %s", pid), p);
	profile_free(p);
	if (!ok)
		return false;
	if (!stood_still)
		VEC_PUSH(r->note, "the process could not be stopped while it was read: its counts are not all of one moment");
	return run_solve(r);
}
