/* SPDX-License-Identifier: MIT */
/* The rules that choose paths. */
#include "choice/choice.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
choice_add(struct choices *c, size_t proc, uint64_t sum, const uint32_t *edge, uint32_t n)
{
	struct chosen path = {.sum = sum, .n = n, .edge = pool_array(c->pool, n, sizeof *edge)};

	memcpy(path.edge, edge, n * sizeof *edge);
	VEC_PUSH(c->of[proc].path, path);
}

static bool
is_selected(const struct view_paths_proc *p)
{
	return p->proc->paths->kind == CHORD_PATH_SELECTED;
}

/* Adds a path by its number. False: there is no such path. */
static bool
add_number(struct choices *c, size_t proc, uint64_t sum)
{
	struct pool *tmp = pool_new();
	struct path path = path_new(tmp, c->report.proc.at[proc].graph);
	bool found = path_find(c->report.proc.at[proc].graph, sum, &path);

	if (found)
		choice_add(c, proc, sum, path.edge, path.n);
	pool_free(tmp);
	return found;
}

/* Every path of a procedure; if it has paths of interest, only these. `unless_ran`: except those that ran. */
struct every {
	struct choices *c;
	size_t proc;
	bool unless_ran;
};

static int
by_sum(const void *a, const void *b)
{
	const struct ran *x = a, *y = b;

	return (x->sum > y->sum) - (x->sum < y->sum);
}

static bool
has_run(const struct view_paths_proc *p, uint64_t sum)
{
	const struct path_counts *pc = p->counts->paths;
	struct ran key = {.sum = sum};

	return pc->nran && bsearch(&key, pc->ran, pc->nran, sizeof key, by_sum);
}

static void
take_path(void *ctx, uint64_t sum, const uint32_t *edge, uint32_t n)
{
	struct every *e = ctx;

	if (!e->unless_ran || !has_run(&e->c->report.proc.at[e->proc], sum))
		choice_add(e->c, e->proc, sum, edge, n);
}

/* False: there are too many. */
static bool
add_every(struct choices *c, size_t proc, bool unless_ran)
{
	const struct view_paths_proc *p = &c->report.proc.at[proc];
	struct every e = {c, proc, unless_ran};

	if (!is_selected(p))
		return paths_walk(p->graph, 1, NULL, take_path, &e, c->most) <= c->most;
	for (uint32_t i = 0; i < p->proc->paths->ninterest; i++)
		if (!unless_ran || !has_run(p, p->proc->paths->interest[i]))
			add_number(c, proc, p->proc->paths->interest[i]);
	return true;
}

/* ---- hot, top, uncovered ---- */

static bool
read_number(const char *text, const char **end, double *n)
{
	char *stop;

	errno = 0;
	*n = strtod(text, &stop);
	*end = stop;
	return isdigit((unsigned char)*text) && stop == text + strspn(text, "0123456789.") && !errno;
}

static bool
refuse(const char *rule, const char *why)
{
	char what[256];

	snprintf(what, sizeof what, "--rule=%s", rule);
	say_error(what, "%s", why);
	return false;
}

static bool
add_row(struct choices *c, const struct view_path *row)
{
	return add_number(c, (size_t)(row->of - c->report.proc.at), row->sum);
}

static const char *
wrong_hot(const char *text)
{
	const char *end;
	double percent;

	if (!read_number(text, &end, &percent) || strcmp(end, "%") || percent <= 0 || percent > 100)
		return "hot:P% wants a percentage above 0, at most 100";
	return NULL;
}

static bool
rule_hot(struct choices *c, const char *rule, const char *text)
{
	const char *end;
	double percent, all = 0, some = 0;

	(void)rule;
	read_number(text, &end, &percent);
	for (size_t i = 0; i < c->report.row.n; i++)
		all += (double)c->report.row.at[i].insns;
	for (size_t i = 0; i < c->report.row.n && some < all * percent / 100; i++) {
		some += (double)c->report.row.at[i].insns;
		add_row(c, &c->report.row.at[i]);
	}
	return true;
}

static const char *
wrong_top(const char *text)
{
	const char *end;
	double n;

	if (!read_number(text, &end, &n) || (*end && strcmp(end, "%")) || n <= 0 || (*end ? n > 100 : strchr(text, '.') != NULL))
		return "top:N wants a number of paths above 0, or top:P% a percentage of those that ran, at most 100";
	return NULL;
}

static bool
rule_top(struct choices *c, const char *rule, const char *text)
{
	const char *end;
	double n;

	(void)rule;
	read_number(text, &end, &n);
	if (*end)
		n = n * (double)c->report.row.n / 100;
	for (size_t i = 0; i < c->report.row.n && (double)i < n; i++)
		add_row(c, &c->report.row.at[i]);
	return true;
}

static const char *
wrong_uncovered(const char *text)
{
	return *text ? "nothing can follow `uncovered`" : NULL;
}

static bool
rule_uncovered(struct choices *c, const char *rule, const char *text)
{
	(void)rule;
	(void)text;
	for (size_t i = 0; i < c->report.proc.n; i++)
		if (!add_every(c, i, true))
			say_warning(image_readable(c->report.proc.at[i].proc->name), "left out: it has more than %" PRIu64 " paths "
			            "(--most)", c->most);
	return true;
}

/* ---- function, number ---- */

static bool
rule_function(struct choices *c, const char *rule, const char *text)
{
	bool any = false;

	for (size_t i = 0; i < c->report.proc.n; i++) {
		const struct view_paths_proc *p = &c->report.proc.at[i];

		if (!view_is_named(p->proc, text))
			continue;
		any = true;
		if (!add_every(c, i, false)) {
			say_error(image_readable(p->proc->name), "it has more than %" PRIu64 " paths (--most)", c->most);
			return false;
		}
	}
	return any || refuse(rule, "no procedure whose paths are counted has such a name");
}

static const char *
wrong_number(const char *text)
{
	const char *at = strrchr(text, ':');

	if (!at)
		return "number:FUNCTION:N,N...";
	do {
		size_t n = strspn(++at, "0123456789");

		at += n;
		if (!n || (*at && *at != ','))
			return "number:FUNCTION:N,N... wants numbers of paths";
	} while (*at);
	return NULL;
}

static bool
rule_number(struct choices *c, const char *rule, const char *text)
{
	const char *colon = strrchr(text, ':'), *function = pool_strndup(c->pool, text, (size_t)(colon - text));
	bool any = false;

	for (size_t i = 0; i < c->report.proc.n; i++) {
		char *at = (char *)(uintptr_t)colon;

		if (!view_is_named(c->report.proc.at[i].proc, function))
			continue;
		any = true;
		do {
			const char *number = at + 1;
			uint64_t sum = strtoull(number, &at, 10);

			if (!add_number(c, i, sum))
				return refuse(rule, pool_printf(c->pool, "%s has no path %.*s",
				                                image_readable(c->report.proc.at[i].proc->name),
				                                (int)(at - number), number));
		} while (*at);
	}
	return any || refuse(rule, "no procedure whose paths are counted has such a name");
}

/* ---- lines ---- */

struct line_rule {
	struct every every;      /* must be first, because it is the context of take_path() */
	const char *file;
	VEC(unsigned) line;
	bool *seen;              /* by line: some block has it */
	struct view_places *block; /* of the current procedure */
	const struct proc *proc;
};

static bool
is_file(const char *path, const char *file)
{
	size_t n = strlen(path), k = strlen(file);

	return n >= k && !strcmp(path + n - k, file) && (n == k || path[n - k - 1] == '/');
}

static uint32_t
step_lines(void *ctx, uint32_t v, uint32_t k)
{
	struct line_rule *r = ctx;

	for (size_t i = 0; v < r->proc->nblock && i < r->block[v].n && k < r->line.n; i++)
		k += r->block[v].at[i].line == r->line.at[k] && is_file(r->block[v].at[i].file, r->file);
	return k;
}

static void
look_at(struct choices *c, struct line_rule *r, size_t proc)
{
	const struct view_paths_proc *p = &c->report.proc.at[proc];

	r->proc = p->proc;
	r->every = (struct every){.c = c, .proc = proc};
	r->block = pool_array(c->pool, p->proc->nblock, sizeof *r->block);
	for (uint32_t v = 0; v < p->proc->nblock; v++) {
		r->block[v] = view_block_lines(c->pool, p->binary, p->proc, v, UINT32_MAX);
		for (size_t i = 0; i < r->block[v].n; i++)
			for (size_t k = 0; k < r->line.n && is_file(r->block[v].at[i].file, r->file); k++)
				r->seen[k] |= r->block[v].at[i].line == r->line.at[k];
	}
}

/* Reads the number of a line behind *at, and the `-` or end behind it. 0: it is none. */
static unsigned
read_line(char **at)
{
	unsigned long n = isdigit((unsigned char)(*at)[1]) ? strtoul(*at + 1, at, 10) : 0;

	return n > UINT32_MAX || (**at && **at != '-') ? 0 : (unsigned)n;
}

static const char *
wrong_lines(const char *text)
{
	char *at = strrchr(text, ':');

	if (!at || at == text)
		return "lines:FILE:A-B-C";
	do {
		if (!read_line(&at))
			return "lines:FILE:A-B-C wants line numbers from 1 on";
	} while (*at);
	return NULL;
}

static void
take_lines(struct choices *c, struct line_rule *r, const char *text)
{
	char *at = strrchr(text, ':');

	r->file = pool_strndup(c->pool, text, (size_t)(at - text));
	do
		VEC_PUSH(r->line, read_line(&at));
	while (*at);
	r->seen = pool_array(c->pool, r->line.n, sizeof *r->seen);
}

static bool
find_lines(struct choices *c, struct line_rule *r, const char *rule)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->report.proc.n; i++) {
		uint64_t here;

		look_at(c, r, i);
		here = paths_walk(c->report.proc.at[i].graph, (uint32_t)r->line.n + 1, step_lines, take_path, r, c->most);
		if (here > c->most) {
			say_error(image_readable(c->report.proc.at[i].proc->name),
			          "more than %" PRIu64 " of its paths execute these lines (--most)", c->most);
			return false;
		}
		n += here;
	}
	for (size_t k = 0; k < r->line.n; k++)
		if (!r->seen[k] && !image_has_lines(c->run.binary.at[0].image)) {
			say_error(c->run.path, "it has no line numbers: %s", image_lines_wanted(c->run.binary.at[0].image));
			return false;
		} else if (!r->seen[k]) {
			error_at(r->file, r->line.at[k], "no instruction of a procedure whose paths are counted is of this line");
			return false;
		}
	return n || refuse(rule, "no path executes these lines in this order");
}

static bool
rule_lines(struct choices *c, const char *rule, const char *text)
{
	struct line_rule r = {0};
	bool ok;

	take_lines(c, &r, text);
	ok = find_lines(c, &r, rule);
	free(r.line.at);
	return ok;
}

/* ---- all ---- */

static const struct rule {
	const char *name;
	bool profile;            /* it needs a profile */
	bool (*choose)(struct choices *c, const char *rule, const char *text);
	const char *(*wrong)(const char *text); /* why that cannot be behind the name; NULL: it can. Member NULL: everything can */
} rules[] = {
	{"hot:", true, rule_hot, wrong_hot},
	{"top:", true, rule_top, wrong_top},
	{"uncovered", true, rule_uncovered, wrong_uncovered},
	{"function:", false, rule_function, NULL},
	{"number:", false, rule_number, wrong_number},
	{"lines:", false, rule_lines, wrong_lines},
};

static const struct rule *
find_rule(const char *text)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!strncmp(text, rules[i].name, strlen(rules[i].name)))
			return &rules[i];
	return NULL;
}

bool
choices_rule_profile(const char *rule)
{
	const struct rule *r = find_rule(rule);

	return r && r->profile;
}

const char *
choices_rule_wrong(const char *rule)
{
	const struct rule *r = find_rule(rule);

	if (!r)
		return "rules are hot:P%, top:N, top:P%, uncovered, function:GLOB, lines:FILE:A-B-C and number:FUNCTION:N";
	return r->wrong ? r->wrong(rule + strlen(r->name)) : NULL;
}

bool
choices_rule(struct choices *c, const char *text)
{
	const struct rule *r = find_rule(text);

	return r->choose(c, text, text + strlen(r->name));
}

/* ---- files ---- */

static bool
add_from_file(struct choices *c, size_t proc, const struct selection *in, const struct selection_proc *ip)
{
	const struct path_graph *pg = c->report.proc.at[proc].graph;

	for (uint32_t i = 0; i < ip->npath; i++) {
		const struct selection_path *path = &ip->path[i];
		uint32_t begin = path->edge[0] < pg->proc->narc ? pg->proc->arc[path->edge[0]].from : UINT32_MAX;

		if (begin == UINT32_MAX || !dag_has(pg->dag, begin, path->edge, path->n)) {
			error_at(in->file, path->line, "%s has no such path", image_readable(ip->name));
			return false;
		}
		choice_add(c, proc, (uint64_t)dag_sum(pg->dag, pg->val, begin, path->edge, path->n), path->edge, path->n);
	}
	return true;
}

bool
choices_file(struct choices *c, const char *file)
{
	struct selection in;
	bool ok = selection_read(c->pool, file, SELECTION_PATHS, &in);

	for (size_t i = 0; i < c->report.proc.n && ok; i++) {
		const struct view_paths_proc *p = &c->report.proc.at[i];
		const struct selection_proc *other, *ip = selection_find(&in, p->proc->name, p->proc->file, p->hash, &other);

		if (ip)
			ok = add_from_file(c, i, &in, ip);
		if (!ip && other) {
			error_at(file, other->line, "%s: these paths are of another build of it", other->name);
			ok = false;
		}
	}
	selection_free(&in);
	return ok;
}
