/* SPDX-License-Identifier: MIT */
/* html: a run, or what two runs differ in, as a folder of pages that a browser opens from disk. The pages are share/html, the same
 * for all runs; this writes what they show, as scripts that they load when it is asked for. */
#ifndef CHORD_HTML_H
#define CHORD_HTML_H

#include "compare/compare.h"
#include "view/view.h"

/* ---- folder.c: where it is written ---- */

/* A folder in which nothing is written but what is named here, and nothing through links. */
struct folder {
	const char *path;
	int fd;                  /* -1: not open */
	bool bad;                /* something could not be written: reported */
};

/* Makes the folder, or takes one that is empty or has such pages in it, whose data are removed; with force any. False: reported. */
bool folder_open(struct folder *f, const char *path, bool force);
/* Writes the file of that name, which may be in folders, which are made. Failure: f->bad. */
void folder_write(struct folder *f, const char *name, const struct buf *text);
/* Copies all files below another folder. Failure: f->bad. */
void folder_copy(struct folder *f, const char *from);
void folder_close(struct folder *f);

/* ---- script.c: values in scripts ---- */

/* Whatever the bytes are, this is one string of a script, in ASCII or UTF-8; what is no UTF-8 becomes U+FFFD. */
void script_text(struct buf *out, struct str s);
static inline void
script_name(struct buf *out, const char *s)
{
	script_text(out, str_of(s));
}
/* A symbol, or a text with symbols in it, as people read it. */
static inline void
script_symbol(struct buf *out, const char *symbol)
{
	script_name(out, image_readable(symbol));
}
/* A number; above 2^53, where those of scripts are not exact, as a string. */
void script_count(struct buf *out, uint64_t n);
/* That, null if it is not known, or [LEAST, MOST], where MOST is null without a bound. */
void script_known(struct buf *out, uint64_t n, bool known);
void script_bounds(struct buf *out, const struct bounds *b, bool known);
/* A comma, unless a bracket has just been opened. */
void script_next(struct buf *out);
/* The call that hands data of a name to the pages: script_begin(), a value, script_end(). */
void script_begin(struct buf *out, const char *name);
void script_end(struct buf *out);
/* "key": behind a comma, if there has to be one. */
void script_key(struct buf *out, const char *key);

/* ---- pages.c: a run ---- */

struct pages {
	struct folder *to;
	struct run *run;
	struct view_tables table;       /* with lines and files, of known functions */
	struct view_functions function; /* all, by binary and address: their numbers in the pages */
	struct view_listing list;
	VEC(const char *) file;         /* their numbers in the pages: those of the listing, then others */
	struct strmap file_number;
	uint32_t *first_function;       /* by binary */
	size_t *branch_of;              /* by instruction of the listing: number of the branch plus 1 */
	struct compared_procs *procs;   /* with the run before; NULL: there is none */
};

/* Writes all that is known of a run; before: the one that it is compared with, or NULL. False: reported, or to->bad. */
bool pages_write(struct folder *to, struct run *run, struct run *before);
/* The number of a file in the pages. */
uint32_t pages_file(struct pages *p, const char *name);
uint32_t pages_function(const struct pages *p, const struct binary *bin, uint32_t proc_number);
/* The measured function of the same binary that a callee is; UINT32_MAX: none is known. */
uint32_t pages_callee(const struct pages *p, const struct binary *bin, const struct callee *c);

/* summary.c, lines.c, source.c, function.c, calls.c, coverage.c, written.c: one kind of data each. */
void pages_summary(struct pages *p);
void pages_lines(struct pages *p);
void pages_sources(struct pages *p);
void pages_functions(struct pages *p);
void pages_calls(struct pages *p);
/* False: a count does not fit 64 bits. */
bool pages_coverage(struct pages *p);
bool pages_written(struct pages *p);

/* paths.c: the paths of all functions that count some, the hottest of each. */
struct page_paths;
struct page_paths *page_paths_find(struct pages *p);
void page_paths_put(struct page_paths *all, struct buf *out, const struct proc *proc);
void page_paths_free(struct page_paths *all);

/* before.c: the key "before" of a function: how often its instructions, blocks and edges ran before, or why that is not known. */
void pages_before(struct pages *p, struct buf *out, const struct view_function *f);

/* ---- difference.c ---- */

/* Adds what two runs differ in to the pages of the second. */
void pages_difference(struct folder *to, const struct comparison *c, const char *before, const char *after);

#endif
