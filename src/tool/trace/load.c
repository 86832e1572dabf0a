/* SPDX-License-Identifier: MIT */
/* The processes of a program that left traces, with the code that they ran. */
#include "measure/measure.h"
#include "tool/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name of the profile, if that of its trace may be given. Folders and profiles may be called like a trace. */
static char *
profile_name(struct pool *pool, const char *name)
{
	struct str s = str_of(name);
	struct found f = find_look(name, true);
	bool trace = str_ends(s, CHORD_TRACE_SUFFIX) && !f.folder && !f.profile;

	return pool_strndup(pool, name, trace ? s.n - strlen(CHORD_TRACE_SUFFIX) : s.n);
}

static struct profile *
read_profile(struct pool *pool, const char *name, const char **why)
{
	struct buf b = {0};
	struct profile *p = NULL;

	if (!file_read(name, &b))
		*why = strerror(errno);
	else if (!b.n)
		*why = PROFILE_EMPTY;
	else
		p = profile_parse(pool, (struct str){b.at, b.n}, why);
	buf_free(&b);
	return p;
}

/* Opens a core file, of a process that could make no file. NULL, or why it cannot be used. */
static const char *
open_core(struct run *r, struct traced *t)
{
	const char *why = core_trace_open(r, t->name, &t->core);

	t->trace = t->name;
	t->profile = t->core.profile;
	t->file = t->core.file;
	if (!why && !profile_module(t->profile, image_build_id(r->binary.at[0].image)))
		why = run_why_not(r, t->profile, r->path);
	return why;
}

/* Was any code of the program built to trace? A library that it opens may be, all the same. */
static bool
traces(const struct run *r)
{
	for (size_t k = 0; k < r->binary.n; k++)
		for (uint32_t i = 0; i < r->binary.at[k].map.nproc; i++)
			if (measures_with(r->binary.at[k].map.proc[i].measures, CHORD_IN_ORDER))
				return true;
	return false;
}

static const char *
open_trace(struct run *r, struct traced *t)
{
	const char *why = NULL;

	t->file = trace_open(r->pool, t->trace, &why);
	if (t->file)
		why = trace_why_not(t->file, t->profile);
	return why ? pool_printf(r->pool, "its trace %s: %s%s", t->trace, why,
	                         t->file || traces(r) ? "" : " (the program was not built with -fchord=trace)") : NULL;
}

/* NULL, or why the process cannot be used. *missed: it may still be of this build. */
static const char *
open_process(struct run *r, const char *name, struct traced *t, bool *missed)
{
	const char *why = NULL;

	*missed = false;

	*t = (struct traced){.name = name, .trace = trace_name(r->pool, name)};
	if (core_trace_is(name))
		return open_core(r, t);
	t->profile = read_profile(r->pool, name, &why);
	*missed = !t->profile && why != PROFILE_EMPTY;
	if (!t->profile)
		return why;
	if (!profile_module(t->profile, image_build_id(r->binary.at[0].image)))
		return run_why_not(r, t->profile, r->path);
	if (t->profile->flags & (CHORD_PROFILE_MERGED | CHORD_PROFILE_SNAPSHOT))
		return "a sum or a snapshot has no trace";
	*missed = true;
	return open_trace(r, t);
}

static void
close_process(struct traced *t)
{
	replay_code_free(t->code);
	if (t->trace == t->name) {
		core_trace_close(&t->core);
	} else {
		trace_close(t->file);
		profile_free(t->profile);
	}
	*t = (struct traced){0};
}

/* Takes a process. One that was not asked for by name is skipped if it is of another program, left no trace, or is not a profile.
 * False: reported. */
static bool
take(struct run *r, const struct found *f, struct traced_list *list)
{
	const char *name = f->name;
	bool missed;
	struct traced t;
	const char *why = open_process(r, name, &t, &missed);

	if (!why && !run_take(r, name, t.profile)) {
		close_process(&t);
		return false;
	}
	if (!why) {
		VEC_PUSH(*list, t);
		return true;
	}
	if (f->asked || (missed && (t.profile ? !access(t.trace, F_OK) : f->profile || f->wanted))) {
		say_error(name, "%s", why);
		list->missing++;
	} else if (missed && t.profile && traces(r)) {
		say_warning(name, "left out: %s", why);
	}
	close_process(&t);
	return !f->asked;
}

static bool
take_found(struct run *r, const struct found_list *found, struct traced_list *list)
{
	bool ok = true;

	for (size_t i = 0; i < found->n && ok; i++)
		if (!found->at[i].same && !found->at[i].left_over && !found->at[i].folder)
			ok = take(r, &found->at[i], list);
	return ok;
}

static bool
take_named(struct run *r, struct pool *pool, char **profile, size_t nprofile, struct traced_list *list)
{
	struct found_list found = {0};
	char **name = pool_array(pool, nprofile, sizeof *name);
	bool ok;

	for (size_t i = 0; i < nprofile; i++)
		name[i] = profile_name(pool, profile[i]);
	find_named(pool, name, (int)nprofile, &found);
	ok = take_found(r, &found, list);
	free(found.at);
	return ok;
}

/* Leaves only files that were in no earlier place. */
static void
drop_seen(struct found_list *found, struct found_list *seen)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		struct found x = found->at[i];
		size_t k = 0;

		while (k < seen->n && (seen->at[k].dev != x.dev || seen->at[k].ino != x.ino))
			k++;
		if (k < seen->n)
			continue;
		VEC_PUSH(*seen, x);
		found->at[n++] = x;
	}
	found->n = n;
}

static bool
take_places(struct run *r, struct pool *pool, struct traced_list *list)
{
	struct found_list seen = {0};
	bool ok = true, more = true;

	for (unsigned i = 0; ok && more && !list->n; i++) {
		struct found_list found = {0};
		const char *where;

		more = find_place(pool, r->path, i, &found, &where);
		drop_seen(&found, &seen);
		ok = take_found(r, &found, list);
		free(found.at);
	}
	free(seen.at);
	return ok;
}

static void
join_binaries(struct run *r, struct pool *pool, struct traced *t)
{
	const struct map **map = pool_array(pool, t->profile->module.n, sizeof *map);

	t->binary = pool_array(pool, t->profile->module.n, sizeof *t->binary);
	for (size_t i = 0; i < t->profile->module.n; i++) {
		const struct module *m = &t->profile->module.at[i];

		for (size_t k = 0; k < r->binary.n; k++)
			if (str_eq(image_build_id(r->binary.at[k].image), (struct str){(const char *)m->id, m->nid})) {
				t->binary[i] = &r->binary.at[k];
				map[i] = &r->binary.at[k].map;
			}
	}
	t->map = map;
	t->code = replay_code_new(t->file, t->profile, map);
}

bool
traced_load(struct run *r, struct pool *pool, const char *program, char **profile, size_t nprofile, struct traced_list *list)
{
	*r = (struct run){.pool = pool_new(), .root = "", .sum = profile_new()};
	raise_descriptors(); /* all traces stay open, one for each process that the program had */
	r->path = find_program(r->pool, program);
	if (!run_open(r, r->path) || !(nprofile ? take_named(r, pool, profile, nprofile, list) : take_places(r, pool, list)))
		return false;
	if (!list->n) {
		say_error(r->path, "no trace of this build was found: %s",
		          traces(r) ? "has it been run?" : "it was not built with -fchord=trace");
		return false;
	}
	if (!run_solve(r))
		return false;
	for (size_t i = 0; i < list->n; i++)
		join_binaries(r, pool, &list->at[i]);
	return true;
}

void
traced_free(struct traced_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		close_process(&list->at[i]);
	free(list->at);
}

struct binary *
traced_binary(const struct traced *t, uint32_t module)
{
	return t->binary[module];
}
