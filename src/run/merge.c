/* SPDX-License-Identifier: MIT */
/* The sum of profiles of one build, added one by one. Besides the sum, only the origin of each is kept, and what is in flight. */
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>

/* A snapshot is contained in the whole profile of its process. One warning is enough. */
static void
warn_of_twice(struct merge *m, const struct profile *p, const char *name)
{
	const struct chord_origin *o = profile_snapshot_of(m->sum, p);

	if (!o || m->warned)
		return;
	m->warned = true;
	say_warning(name, "the sum has a snapshot and the whole profile of process %" PRIu64 ": what is in the snapshot is "
	            "summed twice", o->pid);
}

/* ---- builds: modules that are in one profile belong together, in any order of the profiles ---- */

static size_t
root_of(struct merge *m, size_t module)
{
	while (m->kin.at[module].of != module)
		module = m->kin.at[module].of = m->kin.at[m->kin.at[module].of].of;
	return module;
}

/* name: the profile, whose modules are already in the sum. */
static void
relate(struct merge *m, const struct profile *p, const char *name)
{
	size_t first = SIZE_MAX;

	for (size_t i = m->kin.n; i < m->sum->module.n; i++)
		VEC_PUSH(m->kin, (struct kin){i, name});
	for (size_t i = 0; i < p->module.n; i++) {
		struct str id = {(const char *)p->module.at[i].id, p->module.at[i].nid};
		const struct module *have = id.n ? profile_module(m->sum, id) : NULL;
		size_t root = have ? root_of(m, (size_t)(have - m->sum->module.at)) : SIZE_MAX;

		if (first == SIZE_MAX)
			first = root;
		/* The module of the earlier profile becomes the root. */
		if (root != SIZE_MAX)
			m->kin.at[root > first ? root : first].of = root > first ? first : root;
		if (root != SIZE_MAX && root < first)
			first = root;
	}
}

bool
merge_is_one(struct merge *m)
{
	for (size_t i = 1; i < m->kin.n; i++) {
		if (!m->sum->module.at[i].nid || root_of(m, i) == root_of(m, 0))
			continue;
		say_error(m->kin.at[i].profile, "of another build than the profiles before it");
		return false;
	}
	return true;
}

/* ---- adding ---- */

static void
add_profile(struct merge *m, struct pool *pool, const char *name, const struct profile *p)
{
	enum profile_overlap overlap = profile_overlap(m->sum, p);
	const char *why = NULL;

	if (overlap == PROFILE_INSIDE) {
		say_warning(name, "what it has is in the sum already: not added again");
		return;
	}
	if (overlap == PROFILE_OVERLAPS) {
		why = "a part of what it has is in the sum already, and cannot be told from the rest";
	} else {
		warn_of_twice(m, p, name);
		if (profile_add(m->sum, p, pool, &why))
			relate(m, p, name);
	}
	if (why)
		say_error(name, "%s", why);
	m->spoilt |= why != NULL;
}

static const char *
why_not_here(const struct found *f)
{
	if (f->left_over)
		return "of an earlier run, whose first profile has been replaced";
	if (f->inside && f->flags & (CHORD_PROFILE_MERGED | CHORD_PROFILE_SNAPSHOT))
		return "sums and snapshots are used only where they are named";
	return NULL;
}

/* An empty profile has no counts that could be missing. */
void
merge_file(struct merge *m, const struct found *f)
{
	const char *why = NULL;
	struct pool *pool;
	struct profile *p;

	if (f->same || why_not_here(f)) {
		say_warning(f->name, "left out: %s%s", f->same ? "the same file as " : why_not_here(f), f->same ? f->same : "");
		return;
	}
	pool = pool_new();
	p = load_profile(pool, f->name, &why);
	if (p) {
		add_profile(m, pool, f->name, p);
	} else if (why == PROFILE_EMPTY) {
		say_warning(f->name, "left out: %s", why);
	} else {
		say_error(f->name, "%s", why);
		m->spoilt = true;
	}
	profile_free(p);
	pool_free(pool);
}

void
merge_free(struct merge *m)
{
	profile_free(m->sum);
	free(m->kin.at);
}
