/* SPDX-License-Identifier: MIT */
/* Reads and writes the files of -fchord-paths= and -fchord-weights=. */
#include "selection/selection.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Files of version 1 do not have lines with the counts of edges. */
static const char title[] = "chord paths of interest 2", title1[] = "chord paths of interest 1";
static const char weights_title[] = "chord weights 1";

struct reader {
	struct selection *in;
	struct str text;
	unsigned line;
	bool weights;            /* it is a file of weights */
	const char *why;
	struct selection_proc *proc; /* the last one */
	VEC(struct selection_path) path;
	VEC(uint64_t) number;
};

/* ---- lines ---- */

static struct str
next_line(struct reader *r)
{
	const char *end = memchr(r->text.at, '\n', r->text.n);
	struct str s = {r->text.at, end ? (size_t)(end - r->text.at) : r->text.n};

	r->text.at += s.n + (end != NULL);
	r->text.n -= s.n + (end != NULL);
	r->line++;
	return s;
}

static struct str
cut_at(struct str *s, char c)
{
	const char *end = memchr(s->at, c, s->n);
	struct str word = {s->at, end ? (size_t)(end - s->at) : s->n};

	s->at += word.n + (end != NULL);
	s->n -= word.n + (end != NULL);
	return word;
}

/* Reads numbers up to `most`, with a blank before each. */
static void
read_numbers(struct reader *r, struct str s, uint64_t most, const char *what)
{
	r->number.n = 0;
	while (s.n && !r->why) {
		uint64_t v = 0;
		bool over = false;
		size_t i = 1;

		for (; *s.at == ' ' && i < s.n && isdigit((unsigned char)s.at[i]) && !over; i++)
			over = __builtin_mul_overflow(v, 10, &v) || !checked_add(&v, (uint64_t)(s.at[i] - '0'));
		if (i == 1 || over || v > most) {
			r->why = what;
			return;
		}
		VEC_PUSH(r->number, v);
		s.at += i;
		s.n -= i;
	}
}

static void
read_edges(struct reader *r, struct str s)
{
	read_numbers(r, s, UINT32_MAX - 1, "not the number of an edge");
}

static uint32_t *
copy_edges(struct reader *r)
{
	uint32_t *at = pool_array(r->in->pool, r->number.n, sizeof *at);

	for (size_t i = 0; i < r->number.n; i++)
		at[i] = (uint32_t)r->number.at[i];
	return at;
}

/* ---- statements ---- */

static void
end_proc(struct reader *r)
{
	struct selection_proc *p = r->proc;

	if (!p)
		return;
	if (!p->has_cuts && !r->weights)
		r->why = "a procedure without a line of its cuts";
	p->npath = (uint32_t)r->path.n;
	p->path = pool_array(r->in->pool, r->path.n, sizeof *p->path);
	if (r->path.n)
		memcpy(p->path, r->path.at, r->path.n * sizeof *p->path);
	r->path.n = 0;
}

static struct str
key(struct pool *pool, const char *name, const char *file)
{
	return str_of(pool_printf(pool, "%s\n%s", name, file));
}

static struct str
full_key(struct pool *pool, const char *name, const char *file, uint64_t hash)
{
	return str_of(pool_printf(pool, "%s\n%s\n%" PRIx64, name, file, hash));
}

static bool
read_hash(struct str s, uint64_t *hash)
{
	*hash = 0;
	for (size_t i = 0; i < s.n; i++) {
		const char *digits = "0123456789abcdef", *d = memchr(digits, s.at[i], 16);

		if (!d)
			return false;
		*hash = *hash << 4 | (uint64_t)(d - digits);
	}
	return s.n == 16;
}

struct selection_proc *
selection_add(struct selection *in, const char *name, const char *file, uint64_t hash)
{
	struct str full = full_key(in->pool, name, file, hash);
	uint64_t i;

	if (!strmap_get(&in->known, full, &i)) {
		i = in->proc.n;
		strmap_put(&in->known, full, i);
		strmap_put(&in->named, key(in->pool, name, file), i);
		VEC_PUSH(in->proc, (struct selection_proc){.name = name, .file = file, .hash = hash});
	}
	return &in->proc.at[i];
}

static void
read_proc(struct reader *r, struct str s)
{
	struct pool *pool = r->in->pool;
	struct str name, file;
	uint64_t hash;
	size_t before = r->in->proc.n;

	end_proc(r);
	if (r->why)
		return;
	name = cut_at(&s, '\t');
	file = cut_at(&s, '\t');
	if (!name.n || !read_hash(s, &hash)) {
		r->why = "a procedure has a name, a file and 16 digits, with tabs before them";
		return;
	}
	r->proc = selection_add(r->in, pool_strndup(pool, name.at, name.n), pool_strndup(pool, file.at, file.n), hash);
	r->proc->line = r->line;
	if (r->in->proc.n == before)
		r->why = "a procedure listed twice";
}

static void
read_cuts(struct reader *r, struct str s)
{
	struct selection_proc *p = r->proc;

	read_edges(r, s);
	if (!r->why && (p->has_cuts || r->path.n))
		r->why = "a second line of cuts, or one behind the paths";
	for (size_t i = 1; i < r->number.n; i++)
		if (r->number.at[i] <= r->number.at[i - 1])
			r->why = "cuts that are not in order";
	p->has_cuts = true;
	p->ncut = (uint32_t)r->number.n;
	p->cut = copy_edges(r);
}

static void
read_ran(struct reader *r, struct str s)
{
	struct selection_proc *p = r->proc;

	read_numbers(r, s, UINT64_MAX, "not how often an edge ran");
	if (!r->why && ((!p->has_cuts && !r->weights) || p->nran || r->path.n))
		r->why = r->weights ? "how often edges ran stands once" :
			"how often edges ran stands once, behind the line of cuts";
	if (!r->why && !r->number.n)
		r->why = "a line without numbers";
	p->nran = (uint32_t)r->number.n;
	p->ran = pool_array(r->in->pool, r->number.n, sizeof *p->ran);
	if (r->number.n)
		memcpy(p->ran, r->number.at, r->number.n * sizeof *p->ran);
}

static void
read_path(struct reader *r, struct str s)
{
	struct selection_path p = {.line = r->line};

	read_edges(r, s);
	if (!r->why && !r->number.n)
		r->why = "a path without edges";
	if (!r->proc->has_cuts)
		r->why = "a path before the line of cuts";
	p.n = (uint32_t)r->number.n;
	p.edge = copy_edges(r);
	VEC_PUSH(r->path, p);
}

static void
read_line(struct reader *r, struct str s)
{
	if (!s.n || *s.at == '#')
		return;
	if (str_starts(s, "procedure\t")) {
		s.at += strlen("procedure\t");
		s.n -= strlen("procedure\t");
		read_proc(r, s);
	} else if (!r->proc && (str_starts(s, "cut") || str_starts(s, "path ") || str_starts(s, "ran "))) {
		r->why = "no procedure comes before it";
	} else if (r->weights && !str_starts(s, "ran ")) {
		r->why = "neither a procedure nor how often its edges ran";
	} else if (str_is(s, "cut") || str_starts(s, "cut ")) {
		read_cuts(r, (struct str){s.at + 3, s.n - 3});
	} else if (str_starts(s, "ran ")) {
		read_ran(r, (struct str){s.at + 3, s.n - 3});
	} else if (str_starts(s, "path ")) {
		read_path(r, (struct str){s.at + 4, s.n - 4});
	} else {
		r->why = "neither a procedure nor cuts nor a path";
	}
}

/* NULL, or why a file with that first line cannot be used for that. */
static const char *
read_title(struct reader *r, struct str first, enum selection_kind kind)
{
	r->weights = str_is(first, weights_title);
	if (r->weights && kind == SELECTION_PATHS)
		return "a file of weights: -fchord-weights= takes it";
	if (r->weights || str_is(first, title) || str_is(first, title1))
		return NULL;
	if (str_starts(first, "chord paths of interest ") || str_starts(first, "chord weights "))
		return "of another version of Chord";
	return kind == SELECTION_PATHS ? "not a file of paths of interest: `chord paths select` makes them" :
		"neither a profile nor a file of weights: `chord weights` makes them";
}

static void
read_text(struct reader *r, enum selection_kind kind)
{
	r->why = read_title(r, next_line(r), kind);
	while (r->text.n && !r->why)
		read_line(r, next_line(r));
	if (!r->why)
		end_proc(r);
}

bool
selection_read(struct pool *pool, const char *file, enum selection_kind kind, struct selection *in)
{
	struct reader r = {.in = in};
	struct buf b = {0};

	*in = (struct selection){.pool = pool, .file = file};
	if (!file_read(file, &b)) {
		say_error(file, "%s", strerror(errno));
		return false;
	}
	r.text = (struct str){b.at ? b.at : "", b.n};
	read_text(&r, kind);
	if (r.why)
		error_at(file, r.line, "%s", r.why);
	buf_free(&b);
	free(r.path.at);
	free(r.number.at);
	return !r.why;
}

void
selection_free(struct selection *in)
{
	free(in->proc.at);
	strmap_free(&in->known);
	strmap_free(&in->named);
}

const struct selection_proc *
selection_find(const struct selection *in, const char *name, const char *file, uint64_t hash, const struct selection_proc **other)
{
	uint64_t i;

	*other = NULL;
	if (strmap_get(&in->known, full_key(in->pool, name, file, hash), &i))
		return &in->proc.at[i];
	if (strmap_get(&in->named, key(in->pool, name, file), &i))
		*other = &in->proc.at[i];
	return NULL;
}

/* ---- writing ---- */

void
selection_write_head(struct buf *out, enum selection_kind kind)
{
	buf_str(out, kind == SELECTION_WEIGHTS ? weights_title : title);
	buf_char(out, '\n');
}

static void
write_numbers(struct buf *out, const char *word, const uint32_t *at, uint32_t n)
{
	buf_str(out, word);
	for (uint32_t i = 0; i < n; i++) {
		buf_char(out, ' ');
		buf_number(out, at[i]);
	}
	buf_char(out, '\n');
}

void
selection_write(struct buf *out, enum selection_kind kind, const struct selection_proc *p)
{
	buf_printf(out, "procedure\t%s\t%s\t%016" PRIx64 "\n", p->name, p->file, p->hash);
	if (kind == SELECTION_PATHS)
		write_numbers(out, "cut", p->cut, p->ncut);
	if (p->nran)
		buf_str(out, "ran");
	for (uint32_t i = 0; i < p->nran; i++)
		buf_printf(out, " %" PRIu64, p->ran[i]);
	if (p->nran)
		buf_char(out, '\n');
	for (uint32_t i = 0; i < p->npath; i++)
		write_numbers(out, "path", p->path[i].edge, p->path[i].n);
}
