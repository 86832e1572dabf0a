/* SPDX-License-Identifier: MIT */
/* What ran at all. Each procedure's instructions, blocks and jumps are assigned to their source, and copies of the same source
 * become one row. */
#include "view/coverage.h"

#include "view/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const coverage_names[COVERAGE_KINDS] = {"lines", "branches", "functions", "blocks"};

/* Rows of each kind, with their places. */
struct place {
	uint32_t file;
	unsigned line;
};
struct block_row {
	struct place at;
	enum view_ran ran;
	uint32_t function;
};
struct branch_row {
	struct place at;
	enum view_ran taken, fell;
	uint32_t function;
};
struct function_row {
	struct place at;
	struct coverage_function f;
	bool unmeasured;         /* some copy of it is not measured */
};

/* What was seen of a function's code in one place: its own code, or a place where it was inlined. */
struct scope_seen {
	enum view_ran ran;
	unsigned last;           /* last line of its file that is not before its declaration; 0: none */
};
/* The lines of a function, in one of its places. */
struct extent_row {
	uint32_t file;
	struct coverage_extent e;
};

struct builder {
	struct coverage *c;
	struct pool *pool;
	struct line_table line;  /* over all binaries; all rows use its file numbers */
	struct line_table one;   /* of the binary that is being added */
	struct scope_seen *scope; /* of that binary's code, by scope */
	struct strmap inlined;   /* enum view_ran, with the keys of functions */
	struct strmap function;  /* index in functions, by place and name */
	struct strmap graph;     /* index in copy, by function and graph */
	struct { uint32_t block, branch; } *copy;
	size_t ncopy, copy_cap;
	VEC(struct function_row) functions;
	VEC(struct block_row) blocks;
	VEC(struct branch_row) branches;
	VEC(struct extent_row) extents;
	struct leaving leaving;
};

static enum view_ran
ran_of(uint64_t least, uint64_t most)
{
	return least ? VIEW_RAN : most ? VIEW_MAYBE : VIEW_NEVER;
}

static void
raise_ran(enum view_ran *r, enum view_ran other)
{
	*r = other > *r ? other : *r;
}

/* ---- functions ---- */

/* Compilers append suffixes to the names of clones; these are not part of the name. */
static size_t
base_length(const char *name)
{
	return strcspn(name + (*name == '.'), ".") + (*name == '.');
}

static char *
function_key(struct builder *b, struct place at, const char *name)
{
	return pool_printf(b->pool, "%" PRIu32 " %u %.*s", at.file, at.line, (int)base_length(name), name);
}

static uint32_t
function_at(struct builder *b, struct place at, const char *name)
{
	char *key = function_key(b, at, name);
	uint64_t i;

	if (!strmap_get(&b->function, str_of(key), &i)) {
		i = b->functions.n;
		strmap_put(&b->function, str_of(key), i);
		VEC_PUSH(b->functions, (struct function_row){.at = at, .f = {.name = name, .line = at.line, .calls_known = true}});
	}
	return (uint32_t)i;
}

static struct place
declared(struct builder *b, const struct binary *bin, uint64_t addr, const char *otherwise)
{
	struct image_place place = image_declared(bin->image, addr);
	const char *file = place.file ? place.file : *otherwise ? otherwise : "?";

	return (struct place){line_table_file(&b->line, file), place.file ? place.line : 0};
}

static void
add_calls(struct builder *b, struct function_row *f, const struct counts *c)
{
	const struct counts *most = c->most ? c->most : c;

	f->f.calls_known &= !c->why && c->activations_known;
	if (!c->why && c->activations_known)
		b->c->fits &= bounds_add(&f->f.calls, &(struct bounds){c->activations, most->activations});
}

/* ---- functions where they were inlined ---- */

static void
note_scope(struct builder *b, struct binary *bin, uint64_t addr, const struct image_place *place, enum view_ran ran)
{
	uint32_t scope = image_scope_at(bin->image, addr);
	const struct image_scope *s;

	if (scope == IMAGE_NO_SCOPE)
		return;
	raise_ran(&b->scope[scope].ran, ran);
	s = image_scope(bin->image, scope);
	if (place->line > b->scope[scope].last && place->line >= s->at.line && s->at.file && !strcmp(s->at.file, place->file))
		b->scope[scope].last = place->line;
}

/* When an inlined function runs, the functions into which it was inlined run, too. */
static void
fold_scope(struct builder *b, struct binary *bin, uint32_t scope)
{
	enum view_ran ran = b->scope[scope].ran;

	for (const struct image_scope *s; scope != IMAGE_NO_SCOPE; scope = s->in) {
		uint64_t before = VIEW_NEVER;
		char *key;

		s = image_scope(bin->image, scope);
		if (s->in == IMAGE_NO_SCOPE || !s->at.file || !s->name)
			continue;
		key = function_key(b, (struct place){line_table_file(&b->line, s->at.file), s->at.line}, s->name);
		strmap_get(&b->inlined, str_of(key), &before);
		if (ran > before)
			strmap_put(&b->inlined, str_of(key), ran);
	}
}

static void
fold_scopes(struct builder *b, struct binary *bin)
{
	uint32_t n = image_scopes(bin->image);

	for (uint32_t i = 0; i < n; i++) {
		const struct image_place *at = &image_scope(bin->image, i)->at;
		unsigned last = b->scope[i].last;

		if (b->scope[i].ran)
			fold_scope(b, bin, i);
		if (last)
			VEC_PUSH(b->extents, ((struct extent_row){line_table_file(&b->line, at->file), {at->line, last}}));
	}
	free(b->scope);
	b->scope = NULL;
}

/* A function also ran if it ran where it was inlined. */
static void
raise_functions(struct builder *b)
{
	for (size_t i = 0; i < b->functions.n; i++) {
		struct function_row *f = &b->functions.at[i];
		uint64_t ran;

		if (strmap_get(&b->inlined, str_of(function_key(b, f->at, f->f.name)), &ran))
			raise_ran(&f->f.ran, (enum view_ran)ran);
	}
}

/* ---- blocks and branches ---- */

/* The place of a line, with the file numbers of all binaries. */
static struct place
global(struct builder *b, const struct image_place *place)
{
	return (struct place){line_table_file(&b->line, place->file), place->line};
}

static enum view_ran
arc_ran(const struct counts *c, uint32_t a, enum view_ran block)
{
	const struct counts *most = c->most ? c->most : c;

	if (!c->arc_known[a] || !most->arc_known[a])
		return block == VIEW_NEVER ? VIEW_NEVER : VIEW_MAYBE;
	return ran_of(c->arc[a], most->arc[a]);
}

/* If a block ends in a conditional jump, the edge to the next block means that the jump was not taken, and every other edge that it
 * was. */
static void
add_branch(struct builder *b, struct branch_row *row, const struct proc *p, const struct counts *c, uint32_t block,
           enum view_ran ran)
{
	bool fall = false, taken = false;

	if (c->why) {
		row->taken = row->fell = VIEW_MAYBE;
		return;
	}
	leaving_of(&b->leaving, p);
	for (uint32_t i = b->leaving.first[block]; i < b->leaving.first[block + 1]; i++) {
		uint32_t a = b->leaving.arc[i];
		bool falls = p->arc[a].kind == CHORD_EDGE_FALL;

		*(falls ? &fall : &taken) = true;
		raise_ran(falls ? &row->fell : &row->taken, arc_ran(c, a, ran));
	}
	if (!fall)
		raise_ran(&row->fell, ran ? VIEW_MAYBE : VIEW_NEVER);
	if (!taken)
		raise_ran(&row->taken, ran ? VIEW_MAYBE : VIEW_NEVER);
}

static void
add_line(struct builder *b, const struct image_place *place, const struct walk *w, const struct walk *most, bool known)
{
	struct view_line *l = line_table_line(&b->one, line_table_file(&b->one, place->file), place->line);

	l->unknown |= !known;
	if (known)
		bounds_raise(&l->most, &(struct bounds){w->count, most->count});
}

/* What is known of one block of one copy. */
struct seen {
	bool code;               /* it has more than padding */
	bool jump;               /* it ends in a conditional jump, whose place is at_jump */
	bool placed;             /* it has a line */
	struct place at_jump;
	struct block_row row;
};

/* Padding may have another length in the woven program, so its address does not determine its line. */
static struct seen
see_block(struct builder *b, struct binary *bin, uint32_t proc, uint32_t block, struct place function)
{
	const struct proc *p = &bin->map.proc[proc];
	const struct counts *c = &bin->counts[proc];
	struct seen s = {.row.at = function, .at_jump = function};
	struct walk w, most;

	walk_start(&most, p, c->most ? c->most : c, block);
	for (walk_start(&w, p, c, block); walk_next(&w) && walk_next(&most);) {
		struct image_place place;

		if (w.kind == CHORD_INSN_PAD)
			continue;
		s.code = true;
		s.jump |= w.kind == CHORD_INSN_BRANCH;
		raise_ran(&s.row.ran, c->why ? VIEW_MAYBE : ran_of(w.count, most.count));
		if (!w.addr || !image_place(bin->image, w.addr, &place))
			continue;
		add_line(b, &place, &w, &most, !c->why);
		note_scope(b, bin, w.addr, &place, c->why ? VIEW_MAYBE : ran_of(w.count, most.count));
		if (!s.placed)
			s.row.at = global(b, &place);
		s.placed = true;
		if (w.kind == CHORD_INSN_BRANCH)
			s.at_jump = global(b, &place);
	}
	return s;
}

/* Where the rows of a graph begin. *known: another copy has already made them. */
static size_t
copy_of(struct builder *b, const struct proc *p, uint32_t function, bool *known)
{
	char *key = pool_printf(b->pool, "%" PRIu32 " %016" PRIx64, function, proc_hash(p));
	uint64_t i;

	*known = strmap_get(&b->graph, str_of(key), &i);
	if (*known)
		return i;
	if (b->ncopy == b->copy_cap)
		b->copy = vec_grow(b->copy, &b->copy_cap, sizeof *b->copy);
	b->copy[b->ncopy].block = (uint32_t)b->blocks.n;
	b->copy[b->ncopy].branch = (uint32_t)b->branches.n;
	strmap_put(&b->graph, str_of(key), b->ncopy);
	return b->ncopy++;
}

static void
add_blocks(struct builder *b, struct binary *bin, uint32_t proc, uint32_t function)
{
	const struct proc *p = &bin->map.proc[proc];
	struct place at = b->functions.at[function].at;
	bool known;
	size_t copy = copy_of(b, p, function, &known);
	uint32_t block = b->copy[copy].block, branch = b->copy[copy].branch;

	for (uint32_t i = 0; i < p->nblock; i++) {
		struct seen s = see_block(b, bin, proc, i, at);
		struct branch_row jump = {.at = s.at_jump, .function = function};

		if (!s.code)
			continue;
		s.row.function = function;
		b->functions.at[function].f.placed |= s.placed;
		raise_ran(&b->functions.at[function].f.ran, s.row.ran);
		if (!known)
			VEC_PUSH(b->blocks, s.row);
		raise_ran(&b->blocks.at[block++].ran, s.row.ran);
		if (!s.jump)
			continue;
		add_branch(b, &jump, p, &bin->counts[proc], i, s.row.ran);
		if (!known)
			VEC_PUSH(b->branches, jump);
		raise_ran(&b->branches.at[branch].taken, jump.taken);
		raise_ran(&b->branches.at[branch++].fell, jump.fell);
	}
}

/* ---- code that is not measured ---- */

static void
add_unmeasured(struct builder *b, struct binary *bin, uint32_t function, uint64_t addr, uint64_t size)
{
	struct image_place place;
	struct insn in;

	for (uint64_t at = addr; at < addr + size; at += in.len) {
		if (!image_insn(bin->image, at, &in))
			return;
		if (in.attr & INSN_NOP || !image_place(bin->image, at, &place))
			continue;
		b->functions.at[function].f.placed = true;
		add_line(b, &place, NULL, NULL, false);
		note_scope(b, bin, at, &place, VIEW_MAYBE);
	}
}

static uint32_t
add_unknown_function(struct builder *b, struct place at, const char *name)
{
	uint32_t i = function_at(b, at, name);
	struct function_row *f = &b->functions.at[i];

	raise_ran(&f->f.ran, VIEW_MAYBE);
	f->f.calls_known = false;
	f->unmeasured = true;
	return i;
}

static void
add_proc(struct builder *b, struct binary *bin, uint32_t i)
{
	const struct proc *p = &bin->map.proc[i];
	struct place at = declared(b, bin, p->part[0].addr, p->file);
	uint32_t function;

	if (p->refused) {
		function = add_unknown_function(b, at, p->name);
		for (uint32_t k = 0; k < p->npart; k++)
			add_unmeasured(b, bin, function, p->part[k].addr, p->part[k].woven_size);
		return;
	}
	function = function_at(b, at, p->name);
	add_calls(b, &b->functions.at[function], &bin->counts[i]);
	add_blocks(b, bin, i, function);
}

/* Functions that were not built with Chord, if their source files are known. Libraries without debug information are nobody's
 * source. */
static void
add_others(struct builder *b, struct binary *bin)
{
	struct unmeasured un = {0};

	unmeasured_find(bin, &un);
	for (size_t i = 0; i < un.symbol.n; i++) {
		const struct image_symbol *s = &un.symbol.at[i];
		uint32_t function;

		if (!image_declared(bin->image, s->addr).file)
			continue;
		function = add_unknown_function(b, declared(b, bin, s->addr, ""), s->name);
		add_unmeasured(b, bin, function, s->addr, s->size);
	}
	unmeasured_free(&un);
}

/* Adds what is known of the binary's lines. */
static void
fold_lines(struct builder *b)
{
	for (size_t i = 0; i < b->one.cell.n; i++) {
		const struct line_cell *cell = &b->one.cell.at[i];
		uint32_t file = line_table_file(&b->line, b->one.name.at[cell->file]);
		struct view_line *l = line_table_line(&b->line, file, cell->line.line);

		l->unknown |= cell->line.unknown;
		b->c->fits &= bounds_add(&l->most, &cell->line.most);
	}
	line_table_free(&b->one);
	b->one = (struct line_table){0};
}

static void
add_binary(struct builder *b, struct binary *bin)
{
	b->scope = xcalloc((size_t)image_scopes(bin->image) + 1, sizeof *b->scope);
	for (uint32_t i = 0; i < bin->map.nproc; i++) {
		progress("finding lines", i, bin->map.nproc);
		add_proc(b, bin, i);
	}
	progress("finding lines", bin->map.nproc, bin->map.nproc);
	add_others(b, bin);
	fold_scopes(b, bin);
	fold_lines(b);
}

/* ---- rows by file ---- */

static struct coverage_line
line_of(const struct view_line *l)
{
	struct coverage_line row = {.line = l->line, .count = l->most, .ran = ran_of(l->most.least, l->most.most)};

	if (l->unknown)
		raise_ran(&row.ran, VIEW_MAYBE);
	return row;
}

/* If a copy of a function is not measured, the parts that seem not to have run may have run in it. */
static enum view_ran
with_unmeasured(const struct builder *b, uint32_t function, enum view_ran ran)
{
	return ran == VIEW_NEVER && b->functions.at[function].unmeasured ? VIEW_MAYBE : ran;
}

static void
fill_files(struct builder *b)
{
	struct coverage_file *file;

	for (size_t i = 0; i < b->line.name.n; i++)
		VEC_PUSH(b->c->file, (struct coverage_file){.name = b->line.name.at[i]});
	file = b->c->file.at;
	for (size_t i = 0; i < b->line.cell.n; i++)
		VEC_PUSH(file[b->line.cell.at[i].file].line, line_of(&b->line.cell.at[i].line));
	for (size_t i = 0; i < b->branches.n; i++) {
		const struct branch_row *r = &b->branches.at[i];
		struct coverage_branch row = {r->at.line, with_unmeasured(b, r->function, r->taken),
		                              with_unmeasured(b, r->function, r->fell)};

		VEC_PUSH(file[r->at.file].branch, row);
	}
	for (size_t i = 0; i < b->blocks.n; i++) {
		const struct block_row *r = &b->blocks.at[i];
		struct coverage_block row = {r->at.line, with_unmeasured(b, r->function, r->ran)};

		b->functions.at[r->function].f.blocks.n[row.ran]++;
		VEC_PUSH(file[r->at.file].block, row);
	}
	for (size_t i = 0; i < b->functions.n; i++)
		VEC_PUSH(file[b->functions.at[i].at.file].function, b->functions.at[i].f);
	for (size_t i = 0; i < b->extents.n; i++)
		VEC_PUSH(file[b->extents.at[i].file].extent, b->extents.at[i].e);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct coverage_file *)a)->name, ((const struct coverage_file *)b)->name);
}

static int
by_line(const void *a, const void *b)
{
	const struct coverage_line *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

static int
branch_by_line(const void *a, const void *b)
{
	const struct coverage_branch *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->taken != y->taken ? (int)x->taken - (int)y->taken : (int)x->fell - (int)y->fell;
}

static int
function_by_line(const void *a, const void *b)
{
	const struct coverage_function *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int
block_by_line(const void *a, const void *b)
{
	const struct coverage_block *x = a, *y = b;

	return x->line != y->line ? (x->line < y->line ? -1 : 1) : (int)x->ran - (int)y->ran;
}

#define SORT(list, order) ((list).n ? qsort((list).at, (list).n, sizeof *(list).at, order) : (void)0)

/* Keeps the rows whose lines none of these markers excludes. */
#define UNMARKED(list, marks, what) \
	do { \
		size_t kept = 0; \
		for (size_t at = 0; at < (list).n; at++) \
			if (!marks_has(marks, (list).at[at].line, what)) \
				(list).at[kept++] = (list).at[at]; \
		(list).n = kept; \
	} while (0)

/* A marker of a function covers all of its lines. */
static void
mark_functions(const struct coverage_file *f, struct marks *m)
{
	for (size_t i = 0; i < f->extent.n; i++) {
		const struct coverage_extent *e = &f->extent.at[i];

		if (!marks_has(m, e->from, MARK_FUNCTION))
			continue;
		for (unsigned line = e->from; line < m->n && line <= e->to; line++)
			m->at[line] |= MARK_LINE;
	}
	for (unsigned line = 1; line < m->n; line++)
		if (m->at[line] & MARK_FUNCTION && !(m->at[line] & MARK_LINE))
			error_at(f->name, line, "warning: this excludes nothing: no function that has code is declared here");
}

/* Lines marked as unreachable are excluded if they did not run. */
static void
mark_unreachable(const struct coverage_file *f, struct marks *m)
{
	for (size_t i = 0; i < f->line.n; i++) {
		const struct coverage_line *l = &f->line.at[i];

		if (!marks_has(m, l->line, MARK_UNREACHABLE) || marks_has(m, l->line, MARK_LINE))
			continue;
		if (l->ran == VIEW_RAN)
			error_at(f->name, l->line, "warning: it ran, but is marked as unreachable: it is not excluded");
		else
			m->at[l->line] |= MARK_LINE;
	}
}

static void
leave_unmarked(struct coverage_file *f)
{
	struct marks m = marks_read(f->name);
	size_t all = f->line.n;

	mark_functions(f, &m);
	mark_unreachable(f, &m);
	UNMARKED(f->line, &m, MARK_LINE);
	UNMARKED(f->branch, &m, MARK_LINE | MARK_BRANCH);
	UNMARKED(f->function, &m, MARK_LINE);
	UNMARKED(f->block, &m, MARK_LINE);
	f->excluded = (uint32_t)(all - f->line.n);
	marks_free(&m);
}

static void
finish_file(struct coverage_file *f)
{
	uint32_t k = 0;

	SORT(f->line, by_line);
	SORT(f->branch, branch_by_line);
	SORT(f->function, function_by_line);
	SORT(f->block, block_by_line);
	for (size_t i = 0; i < f->line.n; i++) {
		struct coverage_line *l = &f->line.at[i];

		f->share[COVERAGE_LINES].n[l->ran]++;
		while (k < f->branch.n && f->branch.at[k].line < l->line)
			k++;
		for (l->branch = k; k < f->branch.n && f->branch.at[k].line == l->line; k++)
			l->nbranch++;
	}
	for (size_t i = 0; i < f->branch.n; i++) {
		f->share[COVERAGE_BRANCHES].n[f->branch.at[i].taken]++;
		f->share[COVERAGE_BRANCHES].n[f->branch.at[i].fell]++;
	}
	for (size_t i = 0; i < f->function.n; i++) {
		f->share[COVERAGE_FUNCTIONS].n[f->function.at[i].ran]++;
		f->unplaced += !f->function.at[i].placed;
	}
	for (size_t i = 0; i < f->block.n; i++)
		f->share[COVERAGE_BLOCKS].n[f->block.at[i].ran]++;
}

/* ---- choice of files ---- */

bool
coverage_chooses(const struct coverage_choice *choice, const char *file)
{
	bool in = !choice->in.n;

	for (size_t i = 0; i < choice->in.n; i++)
		in |= view_is_file(file, choice->in.at[i]);
	for (size_t i = 0; i < choice->out.n; i++)
		in &= !view_is_file(file, choice->out.at[i]);
	return in;
}

static void
free_file(struct coverage_file *f)
{
	free(f->line.at);
	free(f->branch.at);
	free(f->function.at);
	free(f->block.at);
	free(f->extent.at);
}

static void
choose_files(struct coverage *c, const struct coverage_choice *choice)
{
	size_t n = 0;

	for (size_t i = 0; i < c->file.n; i++) {
		struct coverage_file *f = &c->file.at[i];
		bool wanted = coverage_chooses(choice, f->name);

		if (!wanted && (f->line.n || f->function.n))
			VEC_PUSH(c->left_out, f->name);
		if (wanted && !choice->unmarked)
			leave_unmarked(f);
		if (!wanted || !(f->line.n || f->function.n || f->block.n || f->excluded)) {
			free_file(f);
			continue;
		}
		finish_file(f);
		for (int k = 0; k < COVERAGE_KINDS; k++)
			for (int r = 0; r <= VIEW_RAN; r++)
				c->share[k].n[r] += f->share[k].n[r];
		c->file.at[n++] = *f;
	}
	c->file.n = n;
}

void
view_coverage(struct coverage *c, struct run *run, const struct coverage_choice *choice)
{
	struct builder b = {.c = c, .pool = pool_new()};

	*c = (struct coverage){.run = run, .fits = true};
	for (size_t i = 0; i < run->binary.n; i++)
		add_binary(&b, &run->binary.at[i]);
	raise_functions(&b);
	fill_files(&b);
	c->has_lines = b.line.cell.n;
	SORT(c->file, by_name);
	choose_files(c, choice);
	line_table_free(&b.line);
	strmap_free(&b.function);
	strmap_free(&b.graph);
	strmap_free(&b.inlined);
	free(b.copy);
	free(b.functions.at);
	free(b.blocks.at);
	free(b.branches.at);
	free(b.extents.at);
	leaving_free(&b.leaving);
	pool_free(b.pool);
}

void
view_coverage_free(struct coverage *c)
{
	for (size_t i = 0; i < c->file.n; i++)
		free_file(&c->file.at[i]);
	free(c->file.at);
	free(c->left_out.at);
	*c = (struct coverage){0};
}

bool
coverage_lacks_lines(const struct coverage_file *f)
{
	return f->unplaced && !f->line.n && !f->excluded;
}

const struct coverage_line *
coverage_line_at(const struct coverage_file *f, unsigned line)
{
	const struct coverage_line key = {.line = line};

	return f->line.n ? bsearch(&key, f->line.at, f->line.n, sizeof key, by_line) : NULL;
}
