/* SPDX-License-Identifier: MIT */
/* AutoFDO's profiles, version 2, as gcc's auto-profile.cc reads them: 32-bit words and 64-bit counters, a table of names, then a
 * tree for each function:
 *   function: ENTERED:64 tree
 *   tree: NAME:32 COUNTS:32 CALLSITES:32 count... callsite...
 *   count: LINE<<16:32 TARGETS:32 N:64 target...
 *   target: 7:32 NAME:64 N:64, for calls through pointers
 *   callsite: LINE<<16:32 tree
 * Clones of a function (foo.constprop.0) are one with it: gcc has read the profile before it makes them. */
#include "export/fdo.h"
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x67636461, VERSION = 2, INDIRECT_CALL = 7 };
enum section { NAMES = 0xaa, FUNCTIONS = 0xac, MODULES = 0xae };

struct function {
	struct fdo *tree;
	uint64_t part;           /* how often outlined parts were entered */
};

struct afdo {
	struct pool *pool;
	VEC(struct function) function;
	struct strmap at;        /* index in function, by name */
	VEC(const char *) name;
	struct strmap index;     /* index in name, by name */
};

/* ---- names ---- */

/* A constructor or destructor is declared once (C4, D4), but has symbols for several kinds of code. The second kind (C2, D2) is the
 * one that is compiled first. */
static const char *
base_constructor(struct pool *pool, const char *name)
{
	char *second = pool_strdup(pool, name);

	for (char *c = second; c[0] && c[1]; c++) {
		bool same;
		char *as_declared, *as_code;

		if ((c[0] != 'C' && c[0] != 'D') || c[1] != '4')
			continue;
		c[1] = '2';
		as_declared = image_demangle(name, true);
		as_code = image_demangle(second, true);
		same = as_declared && as_code && !strcmp(as_declared, as_code);
		free(as_declared);
		free(as_code);
		if (same)
			return second;
		c[1] = '4';
	}
	return name;
}

/* The name without its name spaces and classes. */
static const char *
unqualified(const char *name)
{
	int depth = 0;

	for (const char *c = name; *c; c++) {
		depth += (*c == '<' || *c == '(') - (*c == '>' || *c == ')');
		if (!depth && c[0] == ':' && c[1] == ':')
			name = c + 2;
	}
	return name;
}

/* The name that gcc knows: a symbol without what comes after a dot. A function without a symbol has the name with which it is
 * declared. */
static const char *
original(struct pool *pool, const char *name)
{
	name = unqualified(name);
	name = pool_strndup(pool, name, strcspn(name, "."));
	return str_starts(str_of(name), "_Z") ? base_constructor(pool, name) : name;
}

static uint32_t
index_of(struct afdo *a, const char *name)
{
	uint64_t i;

	name = original(a->pool, name);
	if (strmap_get(&a->index, str_of(name), &i))
		return (uint32_t)i;
	strmap_put(&a->index, str_of(name), a->name.n);
	VEC_PUSH(a->name, name);
	return (uint32_t)a->name.n - 1;
}

/* ---- functions ---- */

/* The outlined part of a function that was inlined into the rest belongs to the function. The debug information has it at its very
 * beginning. */
static void
join_parts(struct fdo *s)
{
	for (size_t i = 0; i < s->inlined.n; i++) {
		struct fdo *in = s->inlined.at[i];

		join_parts(in);
		if (in->at.line || strcmp(in->name, s->name))
			continue;
		s->inlined.at[i] = s->inlined.at[--s->inlined.n];
		fdo_merge(s, in);
		fdo_free(in);
		i = (size_t)-1;  /* the list has a new order */
	}
}

static void
add_function(struct afdo *a, struct fdo *tree, const char *symbol)
{
	const char *name = original(a->pool, symbol);
	uint64_t i = a->function.n, part = 0;

	join_parts(tree);
	tree->name = name;
	if (strstr(symbol, ".part.")) {
		part = tree->entered;
		tree->entered = 0;
	}
	if (strmap_get(&a->at, str_of(name), &i)) {
		fdo_merge(a->function.at[i].tree, tree);
		fdo_free(tree);
	} else {
		strmap_put(&a->at, str_of(name), i);
		VEC_PUSH(a->function, (struct function){.tree = tree});
	}
	a->function.at[i].part = saturating_add(a->function.at[i].part, part);
}

static void
find_functions(struct afdo *a, const struct export *x)
{
	size_t at = 0;

	for (uint32_t i = 0; i < x->function->n; i++) {
		size_t from = fdo_insns(x, i, &at);
		struct fdo *tree = fdo_of(x, i, x->list->insn.at + from, at - from, false);

		if (tree)
			add_function(a, tree, x->function->at[i].proc->name);
	}
}

/* ---- words ---- */

static void
put32(struct buf *out, uint32_t n)
{
	buf_add(out, &n, sizeof n);
}

static void
put64(struct buf *out, uint64_t n)
{
	buf_add(out, &n, sizeof n);
}

/* gcc's counters are signed. */
static void
put_count(struct buf *out, uint64_t n)
{
	put64(out, n < INT64_MAX ? n : INT64_MAX);
}

/* The length of a section is in words. */
static void
put_section(struct buf *out, enum section s, const struct buf *body)
{
	put32(out, (uint32_t)s << 24);
	put32(out, (uint32_t)(body->n / 4));
	buf_add(out, body->at, body->n);
}

static void
put_name(struct buf *out, const char *name)
{
	put32(out, (uint32_t)strlen(name) + 1);
	buf_add(out, name, strlen(name) + 1);
}

/* ---- trees ---- */

static void
put_place_count(struct afdo *a, struct buf *out, const struct fdo_count *c)
{
	uint32_t targets = 0;

	for (size_t i = 0; i < c->target.n; i++)
		targets += c->target.at[i].by_pointer;
	put32(out, c->at.line << 16);
	put32(out, targets);
	put_count(out, c->n);
	for (size_t i = 0; i < c->target.n; i++) {
		if (!c->target.at[i].by_pointer)
			continue;
		put32(out, INDIRECT_CALL);
		put64(out, index_of(a, c->target.at[i].name));
		put_count(out, c->target.at[i].n);
	}
}

/* Inlined functions that never ran are left out: otherwise gcc would inline them again. */
static void
put_tree(struct afdo *a, struct buf *out, const struct fdo *s)
{
	uint32_t ncallsite = 0;

	for (size_t i = 0; i < s->inlined.n; i++)
		ncallsite += s->inlined.at[i]->total > 0;
	put32(out, index_of(a, s->name));
	put32(out, (uint32_t)s->count.n);
	put32(out, ncallsite);
	for (size_t i = 0; i < s->count.n; i++)
		put_place_count(a, out, &s->count.at[i]);
	for (size_t i = 0; i < s->inlined.n; i++) {
		if (!s->inlined.at[i]->total)
			continue;
		put32(out, s->inlined.at[i]->at.line << 16);
		put_tree(a, out, s->inlined.at[i]);
	}
}

static void
put_functions(struct afdo *a, struct buf *out)
{
	put32(out, (uint32_t)a->function.n);
	for (size_t i = 0; i < a->function.n; i++) {
		const struct function *f = &a->function.at[i];

		put_count(out, f->tree->entered > f->part ? f->tree->entered : f->part);
		put_tree(a, out, f->tree);
	}
}

static void
put_names(struct afdo *a, struct buf *out)
{
	put32(out, (uint32_t)a->name.n);
	for (size_t i = 0; i < a->name.n; i++)
		put_name(out, a->name.at[i]);
}

bool
export_afdo(const struct export *x, struct buf *out)
{
	struct afdo a = {.pool = x->run->pool};
	struct buf names = {0}, functions = {0}, none = {0};

	index_of(&a, "");        /* gcc asserts that no name has index 0 */
	find_functions(&a, x);
	put_functions(&a, &functions);
	put_names(&a, &names);
	put32(&none, 0);
	put32(out, MAGIC);
	put32(out, VERSION);
	put32(out, 0);
	put_section(out, NAMES, &names);
	put_section(out, FUNCTIONS, &functions);
	put_section(out, MODULES, &none);
	for (size_t i = 0; i < a.function.n; i++)
		fdo_free(a.function.at[i].tree);
	free(a.function.at);
	free(a.name.at);
	strmap_free(&a.at);
	strmap_free(&a.index);
	buf_free(&names);
	buf_free(&functions);
	buf_free(&none);
	return true;
}
