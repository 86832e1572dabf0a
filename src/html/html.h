/* SPDX-License-Identifier: MIT */
/* html: a run, or the differences of two runs, as a folder of pages that a browser opens from disk. The pages themselves are
 * share/html, the same for all runs. This folder writes their data, as scripts that the pages load when they need them. */
#ifndef CHORD_HTML_H
#define CHORD_HTML_H

#include "compare/compare.h"
#include "view/view.h"

/* ---- folder.c: the folder that is written ---- */

/* A folder. Only files named here are written in it, and nothing is written through links. */
struct folder {
	const char *path;
	int fd;                  /* -1: not open */
	bool bad;                /* something could not be written: reported */
};

/* Makes the folder, or takes an existing one: it has to be empty or to have such pages, whose data are removed; with force it may
 * be any. False: reported. */
bool folder_open(struct folder *f, const char *path, bool force);
/* Writes a file; its name may contain folders, which are made. An existing file is replaced. Sets f->bad on failure, and does
 * nothing if that is set. */
void folder_write(struct folder *f, const char *name, const struct buf *text);
/* Copies all files below another folder. Sets f->bad on failure. */
void folder_copy(struct folder *f, const char *from);
void folder_close(struct folder *f);

/* ---- script.c: values in scripts ---- */

/* Appends any bytes as one string of a script, in ASCII or UTF-8; bytes that are not UTF-8 become U+FFFD. */
void script_text(struct buf *out, struct str s);
static inline void
script_name(struct buf *out, const char *s)
{
	script_text(out, str_of(s));
}
/* The same for a symbol, or a text with symbols in it, in readable form. */
static inline void
script_symbol(struct buf *out, const char *symbol)
{
	script_name(out, image_readable(symbol));
}
/* Appends a number; above 2^53, where numbers of scripts are not exact, it is a string. */
void script_count(struct buf *out, uint64_t n);
/* Appends such a number, or null if it is not known. Bounds that differ are [LEAST, MOST], where MOST is null if there is no
 * bound. */
void script_known(struct buf *out, uint64_t n, bool known);
void script_bounds(struct buf *out, const struct bounds *b, bool known);
/* Appends a comma, unless a bracket has just been opened. */
void script_next(struct buf *out);
/* The call by which data of that name is handed to the pages: script_begin(), a value, script_end(). */
void script_begin(struct buf *out, const char *name);
void script_end(struct buf *out);
/* Appends "key": after a comma, if one is needed. */
void script_key(struct buf *out, const char *key);

/* ---- pages.c: a run ---- */

struct pages {
	struct folder *to;
	struct run *run;
	struct view_tables table;       /* with lines and files, of known functions */
	struct view_functions function; /* all, by binary and address, which gives their numbers in the pages */
	struct view_listing list;
	VEC(const char *) file;         /* by number in the pages: files of the listing, then others */
	/* from name to number */
	struct strmap file_number;
	uint32_t *first_function;       /* by binary: the number of its first function */
	size_t *branch_of;              /* by instruction of the listing: number of its branch plus 1; 0: none */
	struct compared_procs *procs;   /* with the run before; NULL: there is none */
};

/* Writes everything that is known of a run. before: the run that it is compared with, or NULL. False: reported, or to->bad. */
bool pages_write(struct folder *to, struct run *run, struct run *before);
/* The number of a file in the pages; new files get one. */
uint32_t pages_file(struct pages *p, const char *name);
/* The number in the pages of procedure proc_number of a binary. */
uint32_t pages_function(const struct pages *p, const struct binary *bin, uint32_t proc_number);
/* The number of the measured function, in the same binary, that a callee is; UINT32_MAX: not known. */
uint32_t pages_callee(const struct pages *p, const struct binary *bin, const struct callee *c);

/* summary.c, lines.c, source.c, function.c, calls.c, coverage.c, written.c: each writes one kind of data. */
void pages_summary(struct pages *p);
void pages_lines(struct pages *p);
void pages_sources(struct pages *p);
void pages_functions(struct pages *p);
void pages_calls(struct pages *p);
/* False: a count does not fit in 64 bits. */
bool pages_coverage(struct pages *p);
bool pages_written(struct pages *p); /* the same */

/* paths.c: the hottest paths of each function whose paths are counted. */
struct page_paths;
struct page_paths *page_paths_find(struct pages *p); /* NULL: the run counts no paths */
void page_paths_put(struct page_paths *all, struct buf *out, const struct proc *proc); /* appends those of a function */
void page_paths_free(struct page_paths *all);

/* before.c: appends the key "before" of a function: how often its instructions, blocks and edges ran before, or why that is not
 * known. */
void pages_before(struct pages *p, struct buf *out, const struct view_function *f);

/* ---- difference.c ---- */

/* Adds the differences of two runs to the pages of the second one. before, after: names of the runs. */
void pages_difference(struct folder *to, const struct comparison *c, const char *before, const char *after);

#endif
