/* SPDX-License-Identifier: MIT */
/* Events by name, by pattern of mnemonics and by a file of costs: what an instruction adds to each. */
#include "asm/event.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* A regular expression, or globs of which one has to match. */
struct event_pattern {
	bool is_regex;
	regex_t regex;
	VEC(const char *) glob;
};

enum class {
	CLASS_DEFAULT, CLASS_INSN, CLASS_BRANCH, CLASS_JUMP, CLASS_CALL, CLASS_INDIRECT_CALL, CLASS_RETURN, CLASS_SYSCALL,
	CLASS_ATOMIC, CLASS_DIVIDE, CLASS_FP, CLASS_VECTOR, CLASS_REP, CLASS_NOP,
	CLASS_LOAD, CLASS_STORE, CLASS_TAKEN, /* their costs are added to those of the others */
	CLASSES,
};

static const char *const class_name[CLASSES] = {
	"default", "insn:GLOB", "branch", "jump", "call", "indirect-call", "return", "syscall", "atomic", "divide", "fp", "vector",
	"rep", "nop", "load", "store", "taken",
};

struct rule {
	enum class class;
	const char *text;                    /* as it stands in the file */
	const struct event_pattern *pattern; /* CLASS_INSN */
	uint64_t cost;
};

struct event_costs {
	const char *path;
	VEC(struct rule) rule;
	uint64_t added[CLASSES];
	uint64_t hash;           /* of the file's bytes */
};

static const char *const plain_name[EVENT_CALL_OF] = {
	"instructions", "blocks", "branches", "taken", "calls", "indirect-calls", "returns", "loads", "stores", "bytes-loaded",
	"bytes-stored", "atomics", "fp", "vector", "divides", "backward-branches",
};

const char *
event_name(enum event_kind kind)
{
	return kind < EVENT_CALL_OF ? plain_name[kind] : NULL;
}

/* ---- patterns ---- */

static void
pattern_free(const struct event_pattern *p)
{
	struct event_pattern *own = (struct event_pattern *)(uintptr_t)p;

	if (p && p->is_regex)
		regfree(&own->regex);
	else if (p)
		free(own->glob.at);
}

static const struct event_pattern *
read_regex(struct pool *pool, struct str text, const char **why)
{
	struct event_pattern *p = pool_alloc(pool, sizeof *p);
	char message[128];
	int e = regcomp(&p->regex, pool_strndup(pool, text.at, text.n), REG_EXTENDED | REG_NOSUB);

	p->is_regex = true;
	if (!e)
		return p;
	regerror(e, &p->regex, message, sizeof message);
	*why = pool_printf(pool, "/%.*s/: %s", (int)text.n, text.at, message);
	return NULL;
}

/* Reads a pattern. text: what stands after `call:` or `insn:`. */
static const struct event_pattern *
read_pattern(struct pool *pool, struct str text, const char **why)
{
	struct event_pattern *p;

	if (text.n && *text.at == '/') {
		if (text.n > 2 && text.at[text.n - 1] == '/')
			return read_regex(pool, (struct str){text.at + 1, text.n - 2}, why);
		*why = pool_printf(pool, "%.*s: a regular expression stands between two slashes", (int)text.n, text.at);
		return NULL;
	}
	p = pool_alloc(pool, sizeof *p);
	for (size_t i = 0, start = 0; i <= text.n; i++) {
		if (i < text.n && text.at[i] != '|')
			continue;
		if (i == start) {
			*why = "an empty pattern";
			pattern_free(p);
			return NULL;
		}
		VEC_PUSH(p->glob, pool_strndup(pool, text.at + start, i - start));
		start = i + 1;
	}
	return p;
}

static bool
matches(const struct event_pattern *p, const char *name)
{
	if (p->is_regex)
		return !regexec(&p->regex, name, 0, NULL, 0);
	for (size_t i = 0; i < p->glob.n; i++)
		if (!fnmatch(p->glob.at[i], name, 0))
			return true;
	return false;
}

/* ---- cost tables ---- */

static void
costs_free(const struct event_costs *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->rule.n; i++)
		pattern_free(c->rule.at[i].pattern);
	free(c->rule.at);
}

static const char *
read_class(struct pool *pool, struct rule *r)
{
	const char *why = NULL;

	if (str_starts(str_of(r->text), "insn:")) {
		r->class = CLASS_INSN;
		r->pattern = read_pattern(pool, str_of(r->text + 5), &why);
		return why;
	}
	for (r->class = 0; r->class < CLASSES; r->class++)
		if (!strcmp(class_name[r->class], r->text))
			return NULL;
	return pool_printf(pool, "'%s' is no class of instructions; there are default, insn:GLOB, branch, jump, call, "
	                   "indirect-call, return, syscall, atomic, divide, fp, vector, rep, nop, load, store and taken", r->text);
}

static const char *
add_rule(struct pool *pool, struct event_costs *c, const char *text, const char *cost)
{
	struct rule r = {.text = text};
	const char *why = read_class(pool, &r);
	char *end;

	if (why)
		return why;
	VEC_PUSH(c->rule, r); /* from here on its pattern is freed with the table */
	for (size_t i = 0; i + 1 < c->rule.n; i++)
		if (!strcmp(c->rule.at[i].text, text))
			return pool_printf(pool, "'%s' has a cost already", text);
	errno = 0;
	r.cost = strtoull(cost, &end, 10);
	if (!isdigit((unsigned char)*cost) || *end || errno || r.cost > UINT32_MAX)
		return pool_printf(pool, "'%s' is no cost: a whole number below 2^32", cost);
	c->rule.at[c->rule.n - 1].cost = r.cost;
	if (r.class >= CLASS_LOAD)
		c->added[r.class] = r.cost;
	return NULL;
}

static const char *
read_line(struct pool *pool, struct event_costs *c, char *line)
{
	char *rest, *text, *cost;

	line[strcspn(line, "#")] = 0;
	text = strtok_r(line, " \t\r", &rest);
	if (!text)
		return NULL;
	cost = strtok_r(NULL, " \t\r", &rest);
	if (!cost || strtok_r(NULL, " \t\r", &rest))
		return "a line has a class and its cost, as in `load 4`";
	return add_rule(pool, c, text, cost);
}

static bool
read_lines(struct pool *pool, struct event_costs *c, struct str bytes, const char **why)
{
	const char *wrong = NULL;
	unsigned number = 0;

	for (const char *at = bytes.at, *end = at + bytes.n; at < end && !wrong; number++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = stop ? (size_t)(stop - at) : (size_t)(end - at);

		wrong = memchr(at, 0, n) ? "not a text" : read_line(pool, c, pool_strndup(pool, at, n));
		at += n + 1;
	}
	if (!wrong && !c->rule.n) {
		*why = pool_printf(pool, "%s: no costs in it", c->path);
		return false;
	}
	if (wrong)
		*why = pool_printf(pool, "%s:%u: %s", c->path, number, wrong);
	return !wrong;
}

static struct event_costs *
read_costs(struct pool *pool, const char *path, const char **why)
{
	struct event_costs *c = pool_alloc(pool, sizeof *c);
	struct buf b = {0};

	c->path = path;
	if (!*path) {
		*why = "cost: needs the name of a file";
		return NULL;
	}
	if (!file_read(path, &b)) {
		*why = pool_printf(pool, "%s: %s", path, strerror(errno));
		c = NULL;
	} else if (!read_lines(pool, c, (struct str){b.at, b.n}, why)) {
		costs_free(c);
		c = NULL;
	} else {
		c->hash = str_hash((struct str){b.at, b.n});
	}
	buf_free(&b);
	return c;
}

/* ---- lists ---- */

/* The length of an item: up to a comma that is not inside /.../. */
size_t
event_list_item(const char *at)
{
	const char *close = at + 5;

	if (strncmp(at, "call:/", 6) && strncmp(at, "insn:/", 6))
		return strcspn(at, ",");
	while ((close = strchr(close + 1, '/')))
		if (!close[1] || close[1] == ',')
			return (size_t)(close + 1 - at);
	return strcspn(at, ",");
}

/* Events that other tools have, by the beginning of their names, and what is nearest to them here. */
static const struct { const char *name, *instead; } foreign[] = {
	{"cycles", "the hardware's; cost:FILE weighs instructions by a table"},
	{"cpu-cycles", "the hardware's; cost:FILE weighs instructions by a table"},
	{"ref-cycles", "the hardware's; cost:FILE weighs instructions by a table"},
	{"stalled-cycles", "the hardware's; cost:FILE weighs instructions by a table"},
	{"branch-instructions", "called branches (conditional)"},
	{"branch-misses", "the hardware's; branches and taken are exact"},
	{"cache-", "the hardware's; loads, stores and their bytes are exact"},
	{"L1-", "the hardware's; loads, stores and their bytes are exact"},
	{"LLC-", "the hardware's; loads, stores and their bytes are exact"},
	{"dTLB-", "the hardware's; loads, stores and their bytes are exact"},
	{"iTLB-", "the hardware's; instructions and blocks are exact"},
	{"task-clock", "a time: Chord counts what is executed"},
	{"cpu-clock", "a time: Chord counts what is executed"},
	{"page-faults", "the kernel's: Chord counts what the program's code executes"},
	{"faults", "the kernel's: Chord counts what the program's code executes"},
	{"context-switches", "the kernel's: Chord counts what the program's code executes"},
	{"cpu-migrations", "the kernel's: Chord counts what the program's code executes"},
};

static const char *
name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return i < EVENT_CALL_OF ? plain_name[i] : NULL;
}

static const char *
unknown(struct pool *pool, const char *text)
{
	const char *why, *meant = name_nearest(text, name_at, NULL);
	struct buf b = {0};

	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		if (str_starts(str_of(text), foreign[i].name))
			return pool_printf(pool, "'%s' is no event of Chord's: it is %s", text, foreign[i].instead);
	buf_printf(&b, "'%s' is no event; there are ", text);
	for (unsigned i = 0; i < EVENT_CALL_OF; i++)
		buf_printf(&b, "%s, ", plain_name[i]);
	buf_str(&b, CHORD_EVENT_CLOCK ", call:PATTERN, insn:PATTERN and cost:FILE");
	if (meant)
		buf_printf(&b, "; did you mean %s?", meant);
	why = pool_strndup(pool, b.at, b.n);
	buf_free(&b);
	return why;
}

static bool
is_printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static bool
read_pattern_event(struct pool *pool, const char *text, struct event *e, const char **why)
{
	const char *pattern_why = NULL;

	e->kind = *text == 'c' ? EVENT_CALL_OF : EVENT_INSN;
	e->pattern = read_pattern(pool, str_of(text + 5), &pattern_why);
	if (!e->pattern)
		*why = pool_printf(pool, "%s: %s", text, pattern_why);
	return e->pattern;
}

static bool
read_cost_event(struct pool *pool, const char *text, struct event *e, const char **why)
{
	const char *path = text + 5, *slash = strrchr(path, '/');
	struct event_costs *c = read_costs(pool, path, why);

	e->kind = EVENT_COST;
	e->costs = c;
	if (c)
		e->name = pool_printf(pool, "cost:%s#%08" PRIx32, slash ? slash + 1 : path, (uint32_t)(c->hash >> 32 ^ c->hash));
	return c;
}

static bool
read_event(struct pool *pool, const char *text, struct event *e, const char **why)
{
	*e = (struct event){.name = text};
	if (!is_printable(text)) {
		*why = "the name of an event has control characters";
		return false;
	}
	if (str_starts(str_of(text), "call:") || str_starts(str_of(text), "insn:"))
		return read_pattern_event(pool, text, e, why);
	if (str_starts(str_of(text), "cost:"))
		return read_cost_event(pool, text, e, why);
	for (; e->kind < EVENT_CALL_OF; e->kind++)
		if (!strcmp(plain_name[e->kind], text))
			return true;
	e->kind = EVENT_CLOCK;
	if (!strcmp(CHORD_EVENT_CLOCK, text))
		return true;
	*why = unknown(pool, text);
	return false;
}

static void
event_free(const struct event *e)
{
	pattern_free(e->pattern);
	costs_free(e->costs);
}

/* Adds an event to the list, unless it is there already. */
static void
take(struct event_list *list, struct event e)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (!strcmp(list->at[i].name, e.name)) {
			event_free(&e);
			return;
		}
	list->at[list->n++] = e;
}

bool
event_list_read(struct pool *pool, const char *list, struct event_list *out, const char **why)
{
	size_t most = 1;

	*why = NULL;
	for (const char *c = list; *c; c++)
		most += *c == ',';
	*out = (struct event_list){.at = pool_array(pool, most, sizeof *out->at)};
	for (const char *at = list;; at++) {
		size_t n = event_list_item(at);
		struct event e;

		if (!n)
			*why = "an empty name in the list of events";
		if (!n || !read_event(pool, pool_strndup(pool, at, n), &e, why)) {
			event_list_free(out);
			return false;
		}
		take(out, e);
		at += n;
		if (!*at)
			return true;
	}
}

void
event_list_free(struct event_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		event_free(&list->at[i]);
	list->n = 0;
}

/* ---- what counts ---- */

static bool
is_call(const struct insn *in)
{
	return in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL;
}

static bool
is_jump(const struct insn *in)
{
	return in->cls == CHORD_INSN_JUMP || in->cls == CHORD_INSN_IJUMP;
}

static bool
in_class(const struct rule *r, const struct insn *in, const struct facts *f)
{
	switch (r->class) {
	case CLASS_DEFAULT: return true;
	case CLASS_INSN: return matches(r->pattern, f->mnemonic);
	case CLASS_BRANCH: return in->cls == CHORD_INSN_BRANCH;
	case CLASS_JUMP: return is_jump(in);
	case CLASS_CALL: return is_call(in);
	case CLASS_INDIRECT_CALL: return in->cls == CHORD_INSN_ICALL;
	case CLASS_RETURN: return in->cls == CHORD_INSN_RET;
	case CLASS_SYSCALL: return in->cls == CHORD_INSN_SYSCALL;
	case CLASS_ATOMIC: return f->atomic;
	case CLASS_DIVIDE: return f->divide;
	case CLASS_FP: return f->fp;
	case CLASS_VECTOR: return f->vector;
	case CLASS_REP: return in->cls == CHORD_INSN_REP;
	case CLASS_NOP: return in->cls == CHORD_INSN_PAD || in->attr & INSN_NOP;
	default: return false;
	}
}

static uint64_t
cost_of_insn(const struct event_costs *c, const struct insn *in, const struct facts *f)
{
	uint64_t cost = f->loads * c->added[CLASS_LOAD] + f->stores * c->added[CLASS_STORE];

	for (size_t i = 0; i < c->rule.n; i++)
		if (in_class(&c->rule.at[i], in, f))
			return cost + c->rule.at[i].cost;
	return cost;
}

uint64_t
event_of_insn(const struct event *e, const struct insn *in, const struct facts *f, const char *callee)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_INSTRUCTIONS: return 1;
	case EVENT_BRANCHES: return in->cls == CHORD_INSN_BRANCH;
	case EVENT_CALLS: return is_call(in);
	case EVENT_INDIRECT_CALLS: return in->cls == CHORD_INSN_ICALL;
	case EVENT_RETURNS: return in->cls == CHORD_INSN_RET;
	case EVENT_LOADS: return f->loads;
	case EVENT_STORES: return f->stores;
	case EVENT_BYTES_LOADED: return f->bytes_loaded;
	case EVENT_BYTES_STORED: return f->bytes_stored;
	case EVENT_ATOMICS: return f->atomic;
	case EVENT_FP: return f->fp;
	case EVENT_VECTOR: return f->vector;
	case EVENT_DIVIDES: return f->divide;
	case EVENT_CALL_OF: return callee && (is_call(in) || is_jump(in)) && matches(e->pattern, callee);
	case EVENT_INSN: return matches(e->pattern, f->mnemonic);
	case EVENT_COST: return cost_of_insn(e->costs, in, f);
	case EVENT_BLOCKS: case EVENT_TAKEN: case EVENT_BACKWARD_BRANCHES: case EVENT_CLOCK: case EVENT_KINDS: break;
	}
	return 0;
}

uint64_t
event_of_block(const struct event *e)
{
	return e->kind == EVENT_BLOCKS;
}

uint64_t
event_of_edge(const struct event *e, uint32_t kind, bool backward)
{
	switch (e->kind) {
	case EVENT_TAKEN: return kind == CHORD_EDGE_TAKEN;
	case EVENT_BACKWARD_BRANCHES:
		return backward && (kind == CHORD_EDGE_TAKEN || kind == CHORD_EDGE_JUMP || kind == CHORD_EDGE_INDIRECT);
	case EVENT_COST: return kind == CHORD_EDGE_TAKEN ? e->costs->added[CLASS_TAKEN] : 0;
	default: return 0;
	}
}

uint64_t
event_of_jump_out(const struct event *e, const char *callee)
{
	return e->kind == EVENT_CALL_OF && callee && matches(e->pattern, callee);
}
