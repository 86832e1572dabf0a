/* SPDX-License-Identifier: MIT */
/* Graphs written by hand, read line by line. */
#include "study/study.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rest of a line. */
struct line {
	struct graph_file *f;
	struct str rest;
	unsigned number;
};

#define complain(l, ...) (error_at((l)->f->path, (l)->number, __VA_ARGS__), false)

/* The part of a word that fits into a message. */
#define WORD "%.*s%s"
#define SHOW(w) (w).n > 40 ? 40 : (int)(w).n, (w).at, (w).n > 40 ? "..." : ""

static bool
blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word; empty at the end of the line. */
static struct str
word(struct line *l)
{
	struct str w;

	while (l->rest.n && blank(*l->rest.at))
		l->rest.at++, l->rest.n--;
	w.at = l->rest.at;
	while (l->rest.n && !blank(*l->rest.at))
		l->rest.at++, l->rest.n--;
	w.n = (size_t)(l->rest.at - w.at);
	return w;
}

static bool
want_end(struct line *l)
{
	struct str w = word(l);

	return !w.n || complain(l, "'" WORD "' is one word too many", SHOW(w));
}

/* ---- numbers ---- */

static bool
read_count(struct line *l, const char *what, uint64_t *n)
{
	struct str w = word(l);

	*n = 0;
	if (!w.n)
		return complain(l, "%s wants a number", what);
	for (size_t i = 0; i < w.n; i++) {
		if (!isdigit((unsigned char)w.at[i]))
			return complain(l, "'" WORD "' is no count", SHOW(w));
		if (__builtin_mul_overflow(*n, 10, n) || !checked_add(n, (uint64_t)(w.at[i] - '0')))
			return complain(l, "'" WORD "' does not fit 64 bits", SHOW(w));
	}
	return true;
}

static bool
read_weight(struct line *l, const char *what, double *x)
{
	struct str w = word(l);
	char *text, *end;

	if (!w.n)
		return complain(l, "%s wants a number", what);
	text = pool_strndup(l->f->pool, w.at, w.n);
	*x = strtod(text, &end);
	if (*end || strspn(text, "0123456789.eE+-") != w.n || !isfinite(*x))
		return complain(l, "'" WORD "' is no number", SHOW(w));
	if (*x < 0)
		return complain(l, "%s " WORD " is negative", what, SHOW(w));
	return true;
}

/* ---- vertices ---- */

static bool
read_vertex(struct line *l, uint32_t *v)
{
	struct graph_file *f = l->f;
	struct str w = word(l);
	uint64_t known;
	char *name;

	if (!w.n)
		return complain(l, "a vertex is missing");
	if (strmap_get(&f->number, w, &known)) {
		*v = (uint32_t)known;
		return true;
	}
	name = pool_strndup(f->pool, w.at, w.n);
	*v = graph_vertex(f->g);
	strmap_put(&f->number, str_of(name), *v);
	VEC_PUSH(f->vertex, (struct file_vertex){.name = name});
	return true;
}

static bool
read_end(struct line *l, const char *what, uint32_t *v, unsigned *line)
{
	if (*line)
		return complain(l, "a second %s, the first is in line %u", what, *line);
	*line = l->number;
	return read_vertex(l, v) && want_end(l);
}

static bool
read_root(struct line *l)
{
	return read_end(l, "root", &l->f->g->root, &l->f->root_line);
}

static bool
read_exit(struct line *l)
{
	return read_end(l, "exit", &l->f->g->exit, &l->f->exit_line);
}

/* Reads a number, which may be negative, or a symbol. */
static bool
read_events(struct line *l, struct file_events *ev)
{
	struct str w = word(l);
	char *text, *end;

	if (!w.n)
		return complain(l, "events wants a number or a symbol");
	text = pool_strndup(l->f->pool, w.at, w.n);
	l->f->has_events = ev->given = true;
	if (!isdigit((unsigned char)*text) && *text != '-') {
		ev->symbol = text;
		return true;
	}
	errno = 0;
	ev->n = strtoll(text, &end, 10);
	if (*end || !isdigit((unsigned char)end[-1]))
		return complain(l, "'" WORD "' is no number of events", SHOW(w));
	return !errno || complain(l, "'" WORD "' does not fit 64 bits", SHOW(w));
}

static bool
read_declaration(struct line *l)
{
	struct file_events ev = {0};
	bool call = false;
	struct str w;
	uint32_t v;

	if (!read_vertex(l, &v))
		return false;
	w = word(l);
	if (str_is(w, "events")) {
		if (!read_events(l, &ev))
			return false;
		w = word(l);
	}
	if (str_is(w, "call")) {
		l->f->has_calls = call = true;
		w = word(l);
	}
	if (w.n)
		return complain(l, "'" WORD "' is one word too many", SHOW(w));
	if (l->f->vertex.at[v].declared)
		return complain(l, "vertex '%.40s' is declared twice", l->f->vertex.at[v].name);
	l->f->vertex.at[v].declared = true;
	l->f->vertex.at[v].events = ev;
	l->f->vertex.at[v].call = call;
	return true;
}

/* ---- paths of interest, walks ---- */

/* The vertices up to the end of the line. */
static bool
read_vertices(struct line *l, struct file_path *path)
{
	VEC(uint32_t) v = {0};
	uint32_t one;
	bool ok = true;
	struct line ahead = *l;

	for (; ok && word(&ahead).n; ahead = *l) {
		ok = read_vertex(l, &one);
		VEC_PUSH(v, one);
	}
	*path = (struct file_path){.line = l->number, .n = (uint32_t)v.n};
	if (v.n) {
		path->vertex = pool_array(l->f->pool, v.n, sizeof *v.at);
		memcpy(path->vertex, v.at, v.n * sizeof *v.at);
	}
	free(v.at);
	return ok;
}

static bool
read_path(struct line *l)
{
	struct file_path path;
	bool ok = read_vertices(l, &path);

	if (path.n < 2)
		return complain(l, "a path has two vertices at least");
	VEC_PUSH(l->f->path_of_interest, path);
	return ok;
}

static bool
read_walk(struct line *l)
{
	struct file_path path;
	bool ok = read_vertices(l, &path);

	if (!path.n)
		return complain(l, "a walk has one vertex at least");
	VEC_PUSH(l->f->walk, path);
	return ok;
}

/* Reads how many activations leave at a vertex or come back there. The sum of all fits into the flow at EXIT. */
static bool
read_source(struct line *l, bool early)
{
	struct graph_file *f = l->f;
	uint64_t n, *at;
	uint32_t v;

	if (!read_vertex(l, &v) || !read_count(l, early ? "early" : "reentry", &n) || !want_end(l))
		return false;
	at = early ? &f->vertex.at[v].early : &f->vertex.at[v].reentry;
	if (*at)
		return complain(l, "vertex '%.40s' has this twice", f->vertex.at[v].name);
	if (n > UINT32_MAX)
		return complain(l, "more than %u activations", UINT32_MAX);
	*at = n;
	f->source_line = l->number;
	return true;
}

static bool
read_early(struct line *l)
{
	return read_source(l, true);
}

static bool
read_reentry(struct line *l)
{
	return read_source(l, false);
}

/* ---- edges ---- */

/* What was read of an edge, so that nothing is given twice. */
enum { SAID_WEIGHT = 1, SAID_COST = 2, SAID_COUNT = 4, SAID_FIXED = 8, SAID_TREE = 16, SAID_EVENTS = 32, SAID_NAME = 64 };

static const char *const attributes[] = {"weight", "cost", "count", "fixed", "tree", "events", "name"};

static bool
read_name(struct line *l, const char **name)
{
	struct str w = word(l);

	*name = pool_strndup(l->f->pool, w.at, w.n);
	return w.n || complain(l, "name wants a word");
}

static bool
read_attribute(struct line *l, struct str w, struct file_edge *d, struct edge *e, unsigned *said)
{
	unsigned what = 0;

	for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
		what |= str_is(w, attributes[i]) ? 1u << i : 0;
	if (!what)
		return complain(l, "'" WORD "' is none of weight, cost, count, fixed, tree, events, name", SHOW(w));
	if (*said & what)
		return complain(l, "a second " WORD, SHOW(w));
	*said |= what;
	if (what == SAID_WEIGHT)
		return d->weighed = read_weight(l, "weight", &d->weight);
	if (what == SAID_COUNT)
		return d->counted = read_count(l, "count", &d->count);
	if (what == SAID_FIXED)
		return e->fixed = true;
	if (what == SAID_TREE)
		return d->tree = true;
	if (what == SAID_EVENTS)
		return read_events(l, &d->events);
	if (what == SAID_NAME)
		return read_name(l, &d->name);
	if (!read_weight(l, "cost", &e->cost))
		return false;
	return e->cost > 0 || complain(l, "a cost of 0");
}

static bool
read_edge(struct line *l)
{
	struct graph_file *f = l->f;
	struct file_edge d = {.line = l->number};
	uint32_t from, to, e;
	unsigned said = 0;

	if (!read_vertex(l, &from) || !read_vertex(l, &to))
		return false;
	e = graph_edge(f->g, from, to);
	for (struct str w = word(l); w.n; w = word(l))
		if (!read_attribute(l, w, &d, &f->g->edge[e], &said))
			return false;
	f->weighed |= d.weighed;
	f->counted |= d.counted;
	f->treed |= d.tree;
	VEC_PUSH(f->edge, d);
	return true;
}

/* ---- lines ---- */

static const struct {
	const char *word;
	bool (*read)(struct line *l);
} statements[] = {
	{"root", read_root}, {"exit", read_exit}, {"vertex", read_declaration},
	{"edge", read_edge}, {"early", read_early}, {"reentry", read_reentry}, {"path", read_path},
	{"walk", read_walk},
};

static bool
check_bytes(struct line *l)
{
	for (size_t i = 0; i < l->rest.n; i++) {
		unsigned char c = (unsigned char)l->rest.at[i];

		if ((c < 0x20 && !blank((char)c)) || c == 0x7f)
			return complain(l, "byte 0x%02x in column %zu: this is no text", c, i + 1);
	}
	return true;
}

static bool
read_line(struct line *l)
{
	const char *comment;
	struct str w;

	if (!check_bytes(l))
		return false;
	comment = l->rest.n ? memchr(l->rest.at, '#', l->rest.n) : NULL;
	if (comment)
		l->rest.n = (size_t)(comment - l->rest.at);
	w = word(l);
	if (!w.n)
		return true;
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
		if (str_is(w, statements[i].word))
			return statements[i].read(l);
	return complain(l, "'" WORD "' is none of root, exit, vertex, edge, early, reentry, path, walk", SHOW(w));
}

static bool
read_lines(struct graph_file *f, struct str text)
{
	while (text.n) {
		const char *end = memchr(text.at, '\n', text.n);
		size_t n = end ? (size_t)(end - text.at) : text.n;
		struct line l = {f, {text.at, n}, ++f->nline};

		if (!read_line(&l))
			return false;
		text.at += n + !!end;
		text.n -= n + !!end;
	}
	return true;
}

/* ---- the whole file ---- */

static bool
check_edges(struct graph_file *f)
{
	for (uint32_t e = 0; e < f->edge.n; e++) {
		struct line l = {.f = f, .number = f->edge.at[e].line};

		if (f->g->edge[e].from == f->g->exit)
			return complain(&l, "an edge leaves the exit vertex");
		if (f->weighed && !f->edge.at[e].weighed)
			return complain(&l, "this edge has no weight, but others have");
	}
	return true;
}

static bool
check_file(struct graph_file *f)
{
	struct line end = {.f = f, .number = f->nline ? f->nline : 1};
	struct line exit = {.f = f, .number = f->exit_line}, source = {.f = f, .number = f->source_line};

	if (!f->root_line || !f->exit_line)
		return complain(&end, "no %s is declared", f->root_line ? "exit" : "root");
	if (f->g->root == f->g->exit)
		return complain(&exit, "root and exit are one vertex");
	if (f->vertex.at[f->g->exit].early || f->vertex.at[f->g->exit].reentry)
		return complain(&source, "nothing leaves early or comes back at the exit vertex");
	if (f->source_line && !f->counted)
		return complain(&source, "no edge has a count");
	return check_edges(f);
}

static void
name_vertices(struct graph_file *f)
{
	const char **name = pool_array(f->pool, f->vertex.n, sizeof *name);

	for (size_t v = 0; v < f->vertex.n; v++)
		name[v] = f->vertex.at[v].name;
	f->g->name = name;
}

/* The tree must contain the edges marked for it, and all fixed edges. Phantom edges complete it. */
static bool
check_tree(struct graph_file *f)
{
	struct graph *g = f->g;
	double *w = pool_array(f->pool, g->nedge, sizeof *w);
	bool *fixed = pool_array(f->pool, g->nedge, sizeof *fixed);
	uint32_t bad;

	for (uint32_t e = 0; e < g->nedge; e++) {
		fixed[e] = g->edge[e].fixed;
		g->edge[e].fixed |= e < f->edge.n && f->edge.at[e].tree;
	}
	f->tree = span_max(g, w, &bad);
	for (uint32_t e = 0; e < g->nedge; e++)
		g->edge[e].fixed = fixed[e];
	if (!f->tree) {
		error_at(f->path, f->edge.at[bad].line, "this edge closes a cycle of the tree");
		return false;
	}
	for (uint32_t e = 0; e < f->edge.n; e++)
		if (f->tree[e] && !f->edge.at[e].tree) {
			error_at(f->path, f->edge.at[e].line, "the tree does not span the graph: %s",
			         fixed[e] ? "this edge is fixed" : "it could have this edge");
			return false;
		}
	return true;
}

double *
graph_file_weights(const struct graph_file *f)
{
	struct order *o = order_dfs(f->g);
	double *w = weight_heuristic(f->g, o, loops_find(f->g, o));

	if (!f->weighed)
		return w;
	memset(w, 0, f->g->nedge * sizeof *w);
	for (size_t e = 0; e < f->edge.n; e++) {
		w[e] = f->edge.at[e].weight;
		w[f->g->close] += f->g->edge[e].to == f->g->exit ? w[e] : 0;
	}
	return w;
}

bool *
graph_file_tree(const struct graph_file *f, const double *w)
{
	uint32_t bad;
	bool *tree = f->tree ? f->tree : span_max(f->g, w, &bad);

	if (!tree)
		error_at(f->path, f->edge.at[bad].line, "this edge closes a cycle of fixed edges");
	return tree;
}

bool
graph_file_read(struct graph_file *f, const char *path)
{
	struct buf text = {0};
	bool ok;

	*f = (struct graph_file){.path = path, .pool = pool_new()};
	f->g = graph_new(f->pool, 0, 0, 0);
	ok = file_read(path, &text);
	if (!ok)
		say_error(path, "%s", strerror(errno));
	ok = ok && read_lines(f, (struct str){text.at, text.n}) && check_file(f);
	buf_free(&text);
	if (!ok)
		return false;
	name_vertices(f);
	graph_close(f->g);
	graph_complete(f->g);
	return !f->treed || check_tree(f);
}

void
graph_file_close(struct graph_file *f)
{
	free(f->edge.at);
	free(f->vertex.at);
	free(f->path_of_interest.at);
	free(f->walk.at);
	strmap_free(&f->number);
	pool_free(f->pool);
}
