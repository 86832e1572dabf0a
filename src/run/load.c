/* SPDX-License-Identifier: MIT */
/* Opens a program and its profiles, and joins them to a run. */
#include "run/run.h"
#include "trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
binary_open(struct pool *pool, const char *path, struct binary *bin, const char **why)
{
	const char *no;
	struct str bytes;

	*bin = (struct binary){.path = path, .image = image_open(pool, path, why)};
	if (!bin->image)
		return false;
	if (!image_section_all(bin->image, CHORD_SECTION_MAP, &bytes, why)) {
		if (!*why)
			*why = "it has no map of Chord's: it was not built with `chord cc`, or a tool has removed the map "
			       "(llvm-strip, eu-strip)";
	} else if (map_parse(pool, bytes, &bin->map, why)) {
		bin->parts = map_parts(pool, &bin->map);
		bin->woven = woven_code(pool, bin->image, bin->parts);
		relaxed_read(pool, bin);
		if (image_section(bin->image, CHORD_SECTION_SUM, &bytes, &no))
			map_sums(&bin->map, bytes, image_section_addr(bin->image, CHORD_SECTION_SUM));
		return true;
	}
	binary_close(bin);
	return false;
}

void
binary_close(struct binary *bin)
{
	image_close(bin->image);
	bin->image = NULL;
}

static bool
is_at_path(struct pool *pool, const struct module *m, struct binary *bin)
{
	struct str id = {(const char *)m->id, m->nid};
	const char *why;

	return id.n && binary_open(pool, m->path, bin, &why) && str_eq(image_build_id(bin->image), id);
}

/* Do modules have witnesses, as far as they are still where they ran? */
static bool
has_witnesses(struct pool *pool, const struct profile *p)
{
	bool any = false;

	for (size_t i = 0; i < p->module.n && !any; i++) {
		const char *why;
		struct image *image = image_open(pool, p->module.at[i].path, &why);
		struct str bytes;

		any = image && image_section(image, CHORD_SECTION_WITNESS, &bytes, &why);
		image_close(image);
	}
	return any;
}

/* Reads counts from the trace. Counts of traced procedures are not known without a whole trace; all other counts are. */
void
load_trace(struct pool *pool, const char *path, uint64_t stream, struct profile *p)
{
	bool follow = !access(trace_name(pool, path), F_OK) && has_witnesses(pool, p);
	size_t n = follow ? p->module.n : 0;
	struct binary *bin = pool_array(pool, n, sizeof *bin);
	const struct map **map = pool_array(pool, n, sizeof *map);
	const char *why;

	for (size_t i = 0; i < n; i++)
		if (is_at_path(pool, &p->module.at[i], &bin[i]))
			map[i] = &bin[i].map;
	why = trace_fill(pool, path, p, stream, follow ? map : NULL);
	for (size_t i = 0; i < n; i++)
		binary_close(&bin[i]);
	if (why)
		say_warning(trace_name(pool, path), "%s: what ran is not known from it", why);
}

const char PROFILE_EMPTY[] = "the file is empty: its process was killed before it could begin it, or somebody emptied it";

/* Did the process run while its file was read? Then a counter and the number of executions of its loop may be of different
 * moments. */
static bool
ran_meanwhile(const char *path, const struct buf *b)
{
	struct buf now = {0};
	struct stat st;
	bool ran = path && !stat(path, &st) && S_ISREG(st.st_mode) && file_read(path, &now) &&
	           (now.n != b->n || memcmp(now.at, b->at, b->n) != 0);

	buf_free(&now);
	return ran;
}

struct profile *
load_profile(struct pool *pool, const char *path, const char **why)
{
	struct buf b = {0};
	struct profile *p = NULL;

	*why = NULL;
	if (!file_read(path, &b))
		*why = strerror(errno);
	else if (!b.n)
		*why = PROFILE_EMPTY;
	else
		p = profile_parse(pool, (struct str){b.at, b.n}, why);
	if (p && p->standing && !p->flight.n && ran_meanwhile(path, &b))
		p->flags |= CHORD_PROFILE_SINCE;
	if (p)
		load_trace(pool, path, 0, p);
	buf_free(&b);
	return p;
}

static const char NO_MODULES[] = "it does not say which program it is of: its process wrote only its head (killed, or disk full?)";

const char *
run_why_not(struct run *r, const struct profile *p, const char *program)
{
	struct str id = image_build_id(r->binary.at[0].image);

	if (!p->module.n)
		return NO_MODULES;
	for (size_t i = 0; i < p->module.n; i++) {
		const struct module *m = &p->module.at[i];

		if (strcmp(base_name(m->path), base_name(program)))
			continue;
		if (!m->nid)
			return "it names a program without a build id: it cannot be told whether it is this one";
		return pool_printf(r->pool, "of another build: its build id is %s, the program's is %s",
		                   image_hex(r->pool, (struct str){(const char *)m->id, m->nid}), image_hex(r->pool, id));
	}
	return pool_printf(r->pool, "of another program: none of its modules has build id %s", image_hex(r->pool, id));
}

static void
leave_out(struct run *r, const char *name, const char *reason)
{
	VEC_PUSH(r->left_out, (struct named){name, reason});
}

/* The profile is missing in the sum. */
static void
miss(struct run *r, const char *name, const char *reason)
{
	leave_out(r, name, reason);
	VEC_PUSH(r->missing, (struct named){name, reason});
	say_error(name, "%s", reason);
}

/* Is the profile, or a part of it, in the sum already? Then it is left out. */
static bool
is_twice(struct run *r, const char *name, const struct profile *p)
{
	switch (profile_overlap(r->sum, p)) {
	case PROFILE_PER_THREAD:
		return false;
	case PROFILE_INSIDE:
		leave_out(r, name, "what it has is in the sum already: it is a copy, or has been merged");
		break;
	case PROFILE_OVERLAPS:
		miss(r, name, "a part of what it has is in the sum already, and cannot be told from the rest");
	}
	return true;
}

/* Adds a profile to the sum. */
bool
run_take(struct run *r, const char *name, const struct profile *p)
{
	const char *why;

	if (is_twice(r, name, p))
		return true;
	if (!profile_add(r->sum, p, r->pool, &why)) {
		say_error(name, "%s", why);
		return false;
	}
	VEC_PUSH(r->summed, name);
	return true;
}

/* Leaves out a profile that cannot be used. If it was asked for, or is damaged, it is missing in the sum. An empty one has no
 * counts that could be missing. */
static void
refuse(struct run *r, const struct found *f, const char *why, bool damaged)
{
	if (why != PROFILE_EMPTY && (f->asked || damaged))
		miss(r, f->name, why);
	else
		leave_out(r, f->name, why);
}

static bool
is_of_program(const struct run *r, const struct profile *p)
{
	for (size_t k = 0; k < r->nprogram; k++)
		if (profile_module(p, image_build_id(r->binary.at[k].image)))
			return true;
	return false;
}

/* Does the file have a name of the program's profiles? */
static bool
is_called_so(const char *file, const char *program)
{
	size_t n = strlen(base_name(program));

	return !strncmp(base_name(file), base_name(program), n) && base_name(file)[n] == '.';
}

/* The program that has the name of one of the profile's modules or, if it has no modules, the program in the file's name. NULL:
 * none: a profile that was found in a folder and belongs to no program is ignored. */
static const char *
program_of_name(const struct run *r, const struct profile *p, const char *file)
{
	for (size_t k = 0; k < r->nprogram && !p->module.n; k++)
		if (is_called_so(file, r->binary.at[k].path))
			return r->binary.at[k].path;
	for (size_t k = 0; k < r->nprogram; k++)
		for (size_t i = 0; i < p->module.n; i++)
			if (!strcmp(base_name(p->module.at[i].path), base_name(r->binary.at[k].path)))
				return r->binary.at[k].path;
	return NULL;
}

static const char *
why_of_none(struct run *r, const struct profile *p, const char *program)
{
	if (r->nprogram > 1 && p->module.n)
		return program ? pool_printf(r->pool, "of another build of %s", program) : "of none of the programs";
	return run_why_not(r, p, r->path);
}

/* Why a profile that was found, not named, is not used; NULL: it is used. What a merged profile was made from may be here, too. */
static const char *
why_not_found(const struct found *f, const struct profile *p)
{
	if (f->left_over)
		return "of an earlier run, whose first profile has been replaced";
	if (p->flags & CHORD_PROFILE_MERGED)
		return "a merged profile: used only where it is named";
	if (p->flags & CHORD_PROFILE_SNAPSHOT)
		return "a snapshot: used only where it is named";
	return NULL;
}

/* For sums of everything that a command started. */
static const char only_named[] = "it has counts of a snapshot (CHORD_SIGNAL), which are used only where the program is named";

static const char *
why_not_counted(const struct profile *p)
{
	return p->flags & CHORD_PROFILE_SNAPSHOT ? only_named : NULL;
}

static bool
take_found(struct run *r, const struct found *f)
{
	const char *why = f->same ? pool_printf(r->pool, "the same file as %s: it is counted once", f->same) : NULL;
	struct profile *p;
	bool ok = true;

	if (why) {
		leave_out(r, f->name, why);
		return true;
	}
	p = load_profile(r->pool, f->name, &why);
	if (!p)
		refuse(r, f, why, f->profile || f->wanted);
	else if (r->nprogram && !is_of_program(r, p)) {
		const char *program = program_of_name(r, p, f->name);

		if (f->asked || (f->inside && program))
			refuse(r, f, why_of_none(r, p, program), !p->module.n);
	} else if ((!f->asked && (why = why_not_found(f, p))) || (r->every && (why = why_not_counted(p))))
		leave_out(r, f->name, why);
	else
		ok = run_take(r, f->name, p);
	profile_free(p);
	return ok;
}

static bool
take_all(struct run *r, const struct found_list *list)
{
	bool ok = true;

	for (size_t i = 0; i < list->n && ok; i++) {
		progress("reading profiles", i, list->n);
		ok = take_found(r, &list->at[i]);
	}
	progress("reading profiles", list->n, list->n);
	return ok;
}

/* Says why nothing can be used, as far as that has not been said. */
static void
say_left_out(const struct run *r)
{
	for (size_t i = 0; i < r->left_out.n && !r->missing.n; i++)
		say_error(r->left_out.at[i].name, "%s", r->left_out.at[i].reason);
}

/* Drops profiles that were already found for another program: the first places are the same for all programs. */
static void
leave_known(const struct run *r, struct found_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		bool have = false;

		for (size_t k = 0; k < r->summed.n && !have; k++)
			have = !strcmp(r->summed.at[k], list->at[i].name);
		for (size_t k = 0; k < r->left_out.n && !have; k++)
			have = !strcmp(r->left_out.at[k].name, list->at[i].name);
		if (!have)
			list->at[n++] = list->at[i];
	}
	list->n = n;
}

static bool
load_given(struct run *r, char **name, int n)
{
	struct found_list list = {0};
	bool ok;

	find_named(r->pool, name, n, &list);
	ok = take_all(r, &list);
	free(list.at);
	for (size_t i = 0; i < r->left_out.n; i++)
		if (r->left_out.at[i].reason == only_named) /* the caller can say more about it */
			return ok;
	if (!ok || r->summed.n)
		return ok;
	say_left_out(r);
	if (!r->left_out.n && access(name[0], R_OK | X_OK))
		say_error(name[0], "%s", strerror(errno));
	else if (!r->left_out.n)
		say_error(name[0], "no profile %sin the folder", r->binary.n ? "of this build " : "");
	return false;
}

static bool
has_profile(const struct run *r, size_t program)
{
	return profile_module(r->sum, image_build_id(r->binary.at[program].image));
}

/* Finds the profiles of one program, in the first place that has any. *looked: where it looked. False: the error has been
 * reported. */
static bool
find_profiles(struct run *r, size_t program, const char **looked)
{
	const char *where;
	bool ok = true, more = true;

	*looked = NULL;
	for (unsigned i = 0; ok && more && !has_profile(r, program); i++) {
		struct found_list list = {0};

		more = find_place(r->pool, r->binary.at[program].path, i, &list, &where);
		leave_known(r, &list);
		ok = take_all(r, &list);
		free(list.at);
		if (more && where)
			*looked = *looked ? pool_printf(r->pool, "%s, nor %s", *looked, where) : where;
	}
	return ok;
}

static void
say_no_profile(const struct binary *b, const char *looked)
{
	if (b->map.nproc && b->map.nrefused == b->map.nproc)
		say_error(b->path, "it leaves no profile, because each of its procedures was refused; `chord verify` says why");
	else
		say_error(b->path, "no profile of this build %s; a program leaves its profile in the folder where it is run",
		          looked ? looked : "was found");
}

static bool
load_found(struct run *r)
{
	const char **looked = pool_array(r->pool, r->nprogram, sizeof *looked);
	bool ok = true, all = true;

	for (size_t k = 0; k < r->nprogram && ok; k++)
		ok = find_profiles(r, k, &looked[k]);
	/* Profiles of a later program may be those of an earlier one, too. */
	for (size_t k = 0; k < r->nprogram && ok; k++)
		all &= has_profile(r, k) || r->never_ran;
	if (!ok || all)
		return ok;
	say_left_out(r);
	for (size_t k = 0; k < r->nprogram; k++)
		if (!has_profile(r, k))
			say_no_profile(&r->binary.at[k], looked[k]);
	return false;
}

static bool
is_program(const struct run *r, struct str id)
{
	for (size_t k = 0; k < r->nprogram; k++)
		if (id.n && str_eq(id, image_build_id(r->binary.at[k].image)))
			return true;
	return false;
}

/* Opens the objects that the profile names, except the programs that are open. */
static void
open_others(struct run *r)
{
	for (size_t i = 0; i < r->sum->module.n; i++) {
		const struct module *m = &r->sum->module.at[i];
		struct str id = {(const char *)m->id, m->nid};
		const char *why = NULL;
		struct binary bin = {0};

		if (is_program(r, id))
			continue;
		if (!m->nid)
			why = "it has no build id: link it with -Wl,--build-id";
		else if (binary_open(r->pool, pool_printf(r->pool, "%s%s", r->root, m->path), &bin, &why) &&
		         !str_eq(image_build_id(bin.image), id))
			why = "another build of it lies at its path now";
		if (why) {
			binary_close(&bin);
			VEC_PUSH(r->unknown, (struct named){m->path, why});
			r->nunread = r->unknown.n;
		} else {
			VEC_PUSH(r->binary, bin);
		}
	}
}

static void
solve_binary(struct run *r, struct binary *bin)
{
	const struct module *m = profile_module(r->sum, image_build_id(bin->image));

	bin->counts = profile_solve(r->pool, &bin->map, r->sum, m, &bin->woven);
	bin->events = profile_events(r->pool, &bin->map, r->sum, m, bin->counts, &bin->woven);
	if (bin->events.why)
		VEC_PUSH(r->unknown, (struct named){bin->path, bin->events.why});
	replaced_correct(r, bin);
	if (bin->relaxed)
		VEC_PUSH(r->replaced, pool_printf(r->pool, "instructions: at %" PRIu32 " %s of %s the linker put more instructions "
		                                  "in place of some; those that were assembled are counted", bin->relaxed,
		                                  bin->relaxed == 1 ? "place" : "places", base_name(bin->path)));
	for (uint32_t i = 0; i < bin->map.nproc; i++)
		if (!bin->map.proc[i].refused && bin->counts[i].why && !counts_by_design(&bin->counts[i]))
			VEC_PUSH(r->unknown, (struct named){bin->map.proc[i].name, bin->counts[i].why});
}

/* If a procedure does not count an event, the event's total is not that of the whole program. */
static void
note_without(struct event_totals *t, const struct proc *p)
{
	for (uint32_t i = 0; i < t->n && !p->refused; i++) {
		bool counted = false;

		for (uint32_t e = 0; e < p->nevent; e++)
			counted |= !strcmp(p->event[e].name, t->at[i].name);
		t->at[i].without += !counted;
	}
}

struct event_totals
run_events(const struct run *r)
{
	struct event_totals sum = {0};
	size_t most = 0;

	for (size_t i = 0; i < r->binary.n; i++)
		most += r->binary.at[i].events.n;
	sum.at = pool_array(r->pool, most, sizeof *sum.at);
	for (size_t i = 0; i < r->binary.n; i++) {
		const struct event_totals *t = &r->binary.at[i].events;

		sum.why = sum.why ? sum.why : t->why;
		for (uint32_t k = 0; k < t->n; k++) {
			struct event_total *e = event_total_of(&sum, t->at[k].name);

			if (!checked_add(&e->n, t->at[k].n))
				sum.why = "the sum of its counts does not fit 64 bits";
			e->most = saturating_add(e->most, t->at[k].most);
		}
	}
	for (size_t i = 0; i < r->binary.n; i++)
		for (uint32_t k = 0; k < r->binary.at[i].map.nproc; k++)
			note_without(&sum, &r->binary.at[i].map.proc[k]);
	return sum;
}

static bool
open_program(struct run *r, const char *path, const char *file)
{
	const char *why = NULL;
	struct binary bin;

	if (!binary_open(r->pool, file, &bin, &why)) {
		say_error(path, "%s", why);
		return false;
	}
	bin.path = path;
	VEC_PUSH(r->binary, bin);
	r->nprogram++;
	if (image_build_id(bin.image).n)
		return true;
	say_error(path, "it has no build id, so that no profile can be told to be its own: link it with -Wl,--build-id");
	return false;
}

bool
run_open(struct run *r, const char *file)
{
	return open_program(r, r->path, file);
}

static bool
holds_counts(const struct profile *p)
{
	for (size_t i = 0; i < p->module.n; i++)
		for (uint64_t k = 0; p->module.at[i].count && k < p->module.at[i].ncount; k++)
			if (p->module.at[i].count[k])
				return true;
	return false;
}

bool
run_solve(struct run *r)
{
	if (r->sum->lost && !holds_counts(r->sum)) {
		say_error(r->path, "its process could not be given any counters (a full disk?): nothing is known");
		return false;
	}
	open_others(r);
	if (r->sum->flight.n)
		mark_recursive_calls(r);
	for (size_t i = 0; i < r->binary.n; i++)
		solve_binary(r, &r->binary.at[i]);
	run_notes(r);
	return true;
}

bool
run_load(struct run *r, const char *program, char **profile, int nprofile)
{
	*r = (struct run){.pool = pool_new(), .root = "", .sum = profile_new()};
	r->path = find_program(r->pool, program);
	if (!run_open(r, r->path) || !(nprofile ? load_given(r, profile, nprofile) : load_found(r)))
		return false;
	return run_solve(r);
}

/* Each of several programs needs a profile, and none may be named twice. */
static bool
is_complete(const struct run *r)
{
	bool ok = true;

	for (size_t k = 0; k < r->nprogram; k++) {
		struct str id = image_build_id(r->binary.at[k].image);

		for (size_t i = 0; i < k; i++)
			if (str_eq(id, image_build_id(r->binary.at[i].image))) {
				say_error(r->binary.at[k].path, "the same program as %s: named twice", r->binary.at[i].path);
				return false;
			}
		if (has_profile(r, k) || r->never_ran)
			continue;
		say_error(r->binary.at[k].path, "none of the profiles is of this build");
		ok = false;
	}
	return ok;
}

bool
run_load_programs(struct run *r, char **program, int n, char **profile, int nprofile, bool never_ran)
{
	*r = (struct run){.pool = pool_new(), .path = program[0], .root = "", .sum = profile_new(), .never_ran = never_ran};
	for (int i = 0; i < n; i++) {
		const char *path = find_program(r->pool, program[i]);

		if (!open_program(r, path, path))
			return false;
	}
	if (!(nprofile ? load_given(r, profile, nprofile) : load_found(r)) || !is_complete(r))
		return false;
	return run_solve(r);
}

bool
run_load_all(struct run *r, const char *name, char **profile, int nprofile)
{
	bool ok;

	*r = (struct run){.pool = pool_new(), .path = name, .every = true, .root = "", .sum = profile_new()};
	ok = load_given(r, profile, nprofile);
	return ok && run_solve(r);
}

void
run_resolve(struct run *r, struct profile *p)
{
	profile_free(r->sum);
	r->sum = p;
	r->unknown.n = r->nunread;
	for (size_t i = 0; i < r->binary.n; i++)
		solve_binary(r, &r->binary.at[i]);
}

void
run_close(struct run *r)
{
	for (size_t i = 0; i < r->binary.n; i++)
		binary_close(&r->binary.at[i]);
	profile_free(r->sum);
	free(r->binary.at);
	free(r->summed.at);
	free(r->left_out.at);
	free(r->unknown.at);
	free(r->note.at);
	free(r->missing.at);
	free(r->replaced.at);
	pool_free(r->pool);
}
