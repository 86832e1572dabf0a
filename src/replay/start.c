/* SPDX-License-Identifier: MIT */
/* The beginning of a program: its arguments, its environment, its folder, what the kernel has put on its stack, and where it and
 * the loader are in memory. The functions that the kernel lends to programs (vDSO) are hidden, so programs ask the kernel for the
 * time. */
#include "replay/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/xattr.h>
#include <unistd.h>

struct stack {
	uint64_t at;
	struct str bytes;
};

/* Its mappings as "START-END HOW OFFSET NAME" lines, without what would differ for another file of the same content. The end of the
 * stack's mapping goes into *stack_end. */
static const char *
layout_of(const struct tracee *t, struct pool *pool, uint64_t *stack_end)
{
	const char *text = tracee_proc(t, pool, "maps");
	struct buf b = {0};
	struct maps_line m;

	if (!text)
		return NULL;
	while (maps_next(&text, &m)) {
		buf_printf(&b, "%" PRIx64 "-%" PRIx64 " %s %" PRIx64 " %.*s\n", m.start, m.end, m.mode, m.offset, (int)m.name.n,
		           m.name.at);
		if (str_is(m.name, "[stack]"))
			*stack_end = m.end;
	}
	text = pool_strndup(pool, b.at ? b.at : "", b.n);
	buf_free(&b);
	return text;
}

/* The auxiliary vector comes after the arguments and the environment, each of which ends with a 0. */
static void
hide_functions(struct tracee *t, struct stack *s)
{
	uint64_t *word = (uint64_t *)(uintptr_t)s->bytes.at;
	size_t n = s->bytes.n / sizeof *word, i = n ? 1 + word[0] + 1 : 0;

	while (i < n && word[i])
		i++;
	for (i++; i + 1 < n && word[i] != AT_NULL; i += 2)
		if (word[i] == AT_SYSINFO_EHDR)
			word[i] = AT_IGNORE;
	tracee_write(t, s->at, s->bytes.at, s->bytes.n);
}

static bool
read_stack(struct tracee *t, struct pool *pool, uint64_t end, struct stack *s)
{
	uint64_t at = tracee_word(t, t->machine->sp);
	char *bytes;

	if (end <= at || end - at > 1 << 28)
		return false;
	bytes = pool_alloc(pool, end - at);
	*s = (struct stack){at, {bytes, end - at}};
	return tracee_read(t, at, bytes, end - at);
}

/* A name that means another file in each process (/dev/fd/N and so on) has at least so many bytes. */
enum { MEANT_LEAST = sizeof "/dev/fd/" };

/* ---- recording ---- */

static void
put_list(struct log *l, char **list)
{
	size_t n = 0;

	while (list[n])
		n++;
	log_put(l, n);
	for (size_t i = 0; i < n; i++)
		log_put_text(l, list[i]);
}

static const char *
in_folder(struct pool *pool, const char *folder, const char *file)
{
	return *file == '/' ? file : pool_printf(pool, "%s/%s", folder, file);
}

static void
put_file(struct log *l, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	uint64_t size, sum;

	if (fd >= 0 && mapped_sum(fd, &size, &sum)) {
		log_put_text(l, name);
		log_put(l, size);
		log_put(l, sum);
	}
	if (fd >= 0)
		close(fd);
}

/* The files of the mappings, which are the program and its loader; and the file that was to be run, which may be a script. */
static void
put_files(struct log *l, struct pool *pool, const char *layout, const char *file)
{
	const char *last = "", *name, *end;

	for (; *layout; layout = end + 1) {
		end = strchr(layout, '\n');
		name = memchr(layout, '/', (size_t)(end - layout));
		name = name ? pool_strndup(pool, name, (size_t)(end - name)) : "";
		if (*name && strcmp(name, last))
			put_file(l, name);
		last = name;
	}
	put_file(l, file);
	log_put_text(l, "");
}

/* A program whose file gives it rights loses the setting that fixes its addresses. */
static bool
is_random(const struct tracee *t, struct pool *pool)
{
	const char *text = tracee_proc(t, pool, "personality");

	return text && !(strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE);
}

/* How large its stack may become; 0: not known. This is read in /proc, because prlimit(2) needs more rights for a process of
 * another user. */
static uint64_t
stack_limit(const struct tracee *t, struct pool *pool)
{
	static const char name[] = "Max stack size";
	const char *text = tracee_proc(t, pool, "limits"), *line = text ? strstr(text, name) : NULL, *rest;

	if (!line)
		return 0;
	rest = line + strlen(name);
	rest += strspn(rest, " ");
	return str_starts(str_of(rest), "unlimited") ? RLIM_INFINITY : strtoull(rest, NULL, 10);
}

const char *
start_cannot(const struct tracee *t, struct pool *pool, const struct tracee_start *s)
{
	if (s->real && !*s->real)
		return "its file has no name";
	if (is_random(t, pool))
		return "its addresses are random, for it has a user's, a group's or other rights by its file";
	return NULL;
}

const char *
start_record(struct log *l, struct pool *pool, struct tracee *t, const struct tracee_start *s)
{
	uint32_t processor[64];
	uint64_t stack_end = 0;
	const char *layout = layout_of(t, pool, &stack_end), *cwd = s->cwd;
	uint64_t limit = stack_limit(t, pool);
	struct stack stack;
	char here[PATH_MAX];
	const char *why = start_cannot(t, pool, s);

	if (why)
		return why;
	if (!cwd)
		cwd = getcwd(here, sizeof here);
	if (!cwd)
		return "the folder in which it begins has been removed, or has no name that can be found out";
	if (!layout || !limit || !read_stack(t, pool, stack_end, &stack))
		return "its beginning cannot be read";
	hide_functions(t, &stack);
	log_put_bytes(l, processor, t->machine->processor(processor, sizeof processor / sizeof *processor));
	log_put_text(l, s->file);
	log_put_text(l, s->real ? s->real : "");
	put_list(l, s->argv);
	put_list(l, s->env);
	log_put_text(l, cwd);
	log_put(l, limit);
	put_files(l, pool, layout, s->real ? s->real : in_folder(pool, cwd, s->file));
	log_put_text(l, layout);
	log_put(l, tracee_sum(t));
	log_put_bytes(l, stack.bytes.at, stack.bytes.n);
	return NULL;
}

/* ---- another program in the place of one ---- */

/* Memory that is read by pages, because the strings of a list mostly stand next to each other. */
struct page {
	uint64_t at;
	size_t n;                /* bytes that are there; 0: none has been read */
	char bytes[4096];
};

/* The bytes at an address, up to the end of its page. Returns how many there are. */
static size_t
read_page(const struct tracee *t, struct page *p, uint64_t addr, const char **bytes)
{
	uint64_t at = addr & ~(uint64_t)(sizeof p->bytes - 1), from = addr - at;

	if (!p->n || p->at != at)
		p->n = tracee_read_some(t, at, p->bytes, sizeof p->bytes);
	p->at = at;
	*bytes = p->bytes + from;
	return p->n > from ? p->n - from : 0;
}

static const char *
read_text(struct pool *pool, const struct tracee *t, struct page *p, uint64_t addr)
{
	enum { MOST = 1 << 17 };
	struct buf b = {0};
	const char *text = NULL, *part, *end;
	size_t got = 1;

	while (!text && b.n < MOST && got) {
		got = read_page(t, p, addr + b.n, &part);
		end = memchr(part, 0, got);
		buf_add(&b, part, end ? (size_t)(end - part) : got);
		if (end)
			text = pool_strndup(pool, b.at ? b.at : "", b.n);
	}
	buf_free(&b);
	return text;
}

/* A pointer may lie across the end of a page. */
static bool
read_pointer(const struct tracee *t, struct page *p, uint64_t addr, uint64_t *to)
{
	const char *bytes;

	if (read_page(t, p, addr, &bytes) < sizeof *to)
		return tracee_read(t, addr, to, sizeof *to);
	memcpy(to, bytes, sizeof *to);
	return true;
}

/* NULL: a part of it cannot be read. */
static char **
read_list(struct pool *pool, const struct tracee *t, uint64_t addr)
{
	VEC(char *) v = {0};
	struct page pointers = {0}, texts = {0};
	uint64_t at = 0;
	char **list;
	bool ok = true;

	for (; addr && (ok = read_pointer(t, &pointers, addr, &at)) && at; addr += sizeof at) {
		VEC_PUSH(v, (char *)(uintptr_t)read_text(pool, t, &texts, at));
		ok = v.at[v.n - 1];
		if (!ok)
			break;
	}
	list = pool_array(pool, v.n + 1, sizeof *list);
	if (v.n)
		memcpy(list, v.at, v.n * sizeof *list);
	free(v.at);
	return ok ? list : NULL;
}

/* The file that a name means for this process, if it means another one for each process or thread. NULL: it does not. */
static const char *
meant(struct pool *pool, const struct tracee *t, const char *name)
{
	static const struct { const char *begins, *folder; } own[] = {
		{"/proc/self/", ""}, {"/proc/thread-self/", ""}, {"/dev/fd/", "fd/"}, {"/proc/", NULL},
	};
	char real[PATH_MAX];

	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		size_t n = strlen(own[i].begins);

		if (strncmp(name, own[i].begins, n))
			continue;
		if (own[i].folder)
			name = pool_printf(pool, "/proc/%d/%s%s", t->pid, own[i].folder, name + n);
		return realpath(name, real) ? pool_strdup(pool, real) : "";
	}
	return NULL;
}

void
exec_read(struct pool *pool, const struct tracee *t, const uint64_t arg[6], struct tracee_start *s)
{
	char link[4096];
	struct page page = {0};
	ssize_t n;

	*s = (struct tracee_start){
		.file = read_text(pool, t, &page, arg[0]), .argv = read_list(pool, t, arg[1]), .env = read_list(pool, t, arg[2]),
		.cwd = "",
	};
	if (!s->argv || !s->env)
		s->file = NULL;
	if (s->file)
		s->real = meant(pool, t, s->file);
	/* The program can see the name, so it stays as it is. The folder matters only for a name that begins there. */
	if (!s->file || *s->file == '/')
		return;
	n = readlink(pool_printf(pool, "/proc/%d/cwd", t->pid), link, sizeof link);
	s->cwd = n > 0 && (size_t)n < sizeof link ? pool_strndup(pool, link, (size_t)n) : "";
}

bool
has_its_rights(const char *file, const char *cwd)
{
	struct pool *pool = pool_new();
	const char *name = in_folder(pool, cwd ? cwd : ".", file);
	struct stat st;
	bool ok = !geteuid() || stat(name, &st) ||
	          (!(st.st_mode & S_ISUID && st.st_uid != geteuid()) &&
	           !((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid()) &&
	           getxattr(name, "security.capability", NULL, 0) < 0);

	pool_free(pool);
	return ok;
}

/* ---- replaying ---- */

static char **
get_list(struct log *l, struct pool *pool)
{
	VEC(char *) v = {0};
	uint64_t n = log_get(l);
	char **list;

	for (uint64_t i = 0; i < n && !log_failed(l); i++)
		VEC_PUSH(v, (char *)(uintptr_t)log_get_text(l, pool));
	list = pool_array(pool, v.n + 1, sizeof *list);
	if (v.n)
		memcpy(list, v.at, v.n * sizeof *list);
	free(v.at);
	return list;
}

static bool
same_processor(struct log *l, struct pool *pool)
{
	const struct machine *host = machine_of_host();
	struct str was = log_get_bytes(l, pool);
	uint32_t now[64];
	size_t n = host ? host->traced->processor(now, sizeof now / sizeof *now) : 0;

	if (log_failed(l))
		return false;
	if (host && str_eq(was, (struct str){(const char *)now, n}))
		return true;
	say_error(log_name(l), "it was recorded on another processor: programs may take other ways on this one");
	return false;
}

static bool
same_files(struct log *l, struct pool *pool)
{
	for (;;) {
		const char *name = log_get_text(l, pool);
		uint64_t size, sum;
		int fd;

		if (log_failed(l))
			return false;
		if (!*name)
			return true;
		size = log_get(l);
		sum = log_get(l);
		fd = log_failed(l) ? -1 : mapped_open_same(name, size, sum);
		if (fd < 0)
			return false;
		close(fd);
	}
}

/* The first line in which two texts differ. */
static const char *
other_line(struct pool *pool, const char *a, const char *b)
{
	const char *line = b;

	for (; *a && *a == *b; a++, b++)
		if (*b == '\n')
			line = b + 1;
	return pool_strndup(pool, line, strcspn(line, "\n"));
}

void
start_read(struct log *l, struct pool *pool, struct tracee_start *s)
{
	*s = (struct tracee_start){.file = log_get_text(l, pool)};
	s->real = log_get_text(l, pool);
	if (!*s->real || strlen(s->file) < MEANT_LEAST)
		s->real = NULL;
	s->argv = get_list(l, pool);
	s->env = get_list(l, pool);
	s->cwd = log_get_text(l, pool);
	if (!*s->cwd)
		s->cwd = NULL;
	s->stack_limit = log_get(l);
}

bool
start_replay(struct log *l, struct pool *pool, struct tracee *t)
{
	struct tracee_start s = {0};
	const char *layout, *now;
	struct stack stack;
	uint64_t sum, stack_end;

	if (log_failed(l) || !same_processor(l, pool))
		return false;
	start_read(l, pool, &s);
	if (!same_files(l, pool))
		return false;
	layout = log_get_text(l, pool);
	sum = log_get(l);
	stack.bytes = log_get_bytes(l, pool);
	if (log_failed(l) || !tracee_start(t, &s))
		return false;
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes that Chord meets is reported */
	now = layout_of(t, pool, &stack_end);
	stack.at = tracee_word(t, t->machine->sp);
	if (!now || strcmp(now, layout) || sum != tracee_sum(t)) {
		say_error(s.file, "the kernel lays it out in another way than in the recording: %s",
		          now ? other_line(pool, layout, now) : strerror(errno));
		return false;
	}
	if (tracee_write(t, stack.at, stack.bytes.at, stack.bytes.n))
		return true;
	say_error(s.file, "its stack cannot be filled");
	return false;
}
