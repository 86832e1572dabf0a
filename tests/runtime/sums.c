/* SPDX-License-Identifier: MIT */
/* sums PROFILE [DENSE BEHIND]: prints the content of a profile, one fact a line, with counters summed over regions. With the
 * addresses of shadow.h's dense and hold_behind it prints what paths counted, in the words of paths.c. Exit status 1 if the
 * file is not as format.h says. */
#include "format/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096 };

enum { MODULES = 64 };

struct module {
	const char *path;
	uint64_t bytes, sum, at;
	uint64_t *count;
	const struct chord_extent_head *tables;
};

static struct module module[MODULES];
static uint32_t nmodule;
static uint64_t dense, behind;

static void
bad(const char *what)
{
	printf("bad %s\n", what);
	exit(1);
}

static void
read_module(const struct chord_extent_head *h)
{
	if (h->module != nmodule || nmodule == MODULES || h->a % PAGE || h->b % PAGE || h->c > 32)
		bad("module extent");
	module[nmodule].path = (const char *)(h + 1) + 32;
	module[nmodule].at = h->a;
	module[nmodule].count = calloc(h->b / 8, 8);
	module[nmodule++].bytes = h->b;
}

/* The hash tables of a region's counters. */
static void
read_tables(const struct chord_extent_head *h, const uint64_t *c)
{
	const struct chord_path_at *t = (const struct chord_path_at *)(h + 1);

	for (uint64_t i = 0; i < h->a; i++) {
		const uint64_t *e = c + (t[i].addr - module[h->module].at) / 8;

		for (uint64_t k = 0; k < 1ull << t[i].bits; k++, e += 2)
			if (e[1])
				printf("path %lld %llu\n", (long long)e[0] - 1, (unsigned long long)e[1]);
	}
}

static uint64_t
read_counts(const struct chord_extent_head *h)
{
	const uint64_t *c = (const uint64_t *)((const char *)h + PAGE);

	if (h->module >= nmodule || h->size != PAGE + module[h->module].bytes)
		bad("counts extent");
	for (uint64_t i = 0; i < module[h->module].bytes / 8; i++) {
		module[h->module].sum += c[i];
		module[h->module].count[i] += c[i];
	}
	if (dense && module[h->module].tables)
		read_tables(module[h->module].tables, c);
	return h->a;
}

static void
read_unfinished(const struct chord_extent_head *h)
{
	const struct chord_unfinished *u = (const struct chord_unfinished *)(h + 1);

	if (sizeof *h + h->a * sizeof *u > h->size)
		bad("unfinished extent");
	for (uint64_t i = 0; i < h->a; i++)
		if (u[i].count && dense && CHORD_EXIT_ADDR(u[i].key) == behind)
			printf("%s %lld %lld\n", u[i].key & CHORD_EXIT_REENTRY ? "resumed" : "unfinished",
			    (long long)(u[i].path - dense) / 8, (long long)u[i].count);
}

static void
read_paths(const struct chord_extent_head *h)
{
	const struct chord_path_count *p = (const struct chord_path_count *)(h + 1);

	if (sizeof *h + h->a * sizeof *p > h->size)
		bad("paths extent");
	for (uint64_t i = 0; i < h->a; i++)
		if (p[i].table && p[i].count)
			printf("path %lld %llu\n", (long long)p[i].sum, (unsigned long long)p[i].count);
}

static void
read_exits(const struct chord_extent_head *h)
{
	const struct chord_exit *e = (const struct chord_exit *)(h + 1);

	if (sizeof *h + h->a * sizeof *e > h->size)
		bad("exits extent");
	for (uint64_t i = 0; i < h->a; i++)
		if (e[i].key && e[i].count)
			printf("%s %u %llx %lld\n", e[i].key & CHORD_EXIT_REENTRY ? "reentry" : "exit",
			    CHORD_EXIT_MODULE(e[i].key), (unsigned long long)CHORD_EXIT_ADDR(e[i].key), (long long)e[i].count);
}

static void
read_waiting(const struct chord_extent_head *h)
{
	const struct chord_waiting *w = (const struct chord_waiting *)(h + 1);

	if (sizeof *h + h->a * sizeof *w > h->size)
		bad("waiting extent");
	for (uint64_t i = 0; i < h->a; i++)
		printf("waiting %u %llx %u\n", CHORD_EXIT_MODULE(w[i].key), (unsigned long long)CHORD_EXIT_ADDR(w[i].key),
		    w[i].region);
}

static void
read_extents(const char *p, uint64_t used)
{
	uint64_t regions = 0, n;

	for (uint64_t at = PAGE; at < used;) {
		const struct chord_extent_head *h = (const void *)(p + at);

		if (h->size == 0 || h->size % PAGE || h->size > used - at)
			bad("extent size");
		if (h->type == CHORD_EXTENT_MODULE)
			read_module(h);
		else if (h->type == CHORD_EXTENT_COUNTS)
			n = read_counts(h), regions = n + 1 > regions ? n + 1 : regions;
		else if (h->type == CHORD_EXTENT_EXITS)
			read_exits(h);
		else if (h->type == CHORD_EXTENT_TABLES && h->module < nmodule)
			module[h->module].tables = h;
		else if (h->type == CHORD_EXTENT_UNFINISHED)
			read_unfinished(h);
		else if (h->type == CHORD_EXTENT_WAITING)
			read_waiting(h);
		else if (h->type == CHORD_EXTENT_PATHS)
			read_paths(h);
		else if (h->type == CHORD_EXTENT_TEXT)
			printf("text %s\n", (const char *)(h + 1));
		else
			bad("extent type");
		at += h->size;
	}
	printf("regions %llu\n", (unsigned long long)regions);
}

int
main(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "", O_RDONLY);
	const struct chord_profile_head *h;
	const char *base;
	struct stat st;

	dense = argc > 3 ? strtoull(argv[2], NULL, 16) : 0;
	behind = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < PAGE)
		bad("file");
	h = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED || h->magic != CHORD_PROFILE_MAGIC || h->version != CHORD_FORMAT_VERSION || h->page != PAGE)
		bad("head");
	if (h->used > (uint64_t)st.st_size || h->used % PAGE)
		bad("used");
	printf("pid %llu\nflags %u\nstate %llu\nthreads %llu\nlost %llu\nin_flight %llu\n", (unsigned long long)h->pid,
	    h->flags, (unsigned long long)h->state, (unsigned long long)h->threads, (unsigned long long)h->lost,
	    (unsigned long long)h->in_flight);
	read_extents((const char *)h, h->used);
	for (uint32_t i = 0; i < nmodule; i++) {
		base = strrchr(module[i].path, '/');
		for (uint64_t k = (dense - module[i].at) / 8, n = 0; dense && n < 64; n++, k++)
			if (k < module[i].bytes / 8 && module[i].count[k])
				printf("counter %llu %llu\n", (unsigned long long)n, (unsigned long long)module[i].count[k]);
		printf("module %s %llu\n", base ? base + 1 : module[i].path, (unsigned long long)module[i].sum);
	}
	return 0;
}
