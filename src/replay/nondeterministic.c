/* SPDX-License-Identifier: MIT */
/* Instructions whose result the program does not determine (x86: rdtsc, rdrand, rdseed, rdpid, cpuid). While a program is recorded,
 * an instruction that traps replaces each of them in code of files. This is done in functions whose bounds the unwind table or a
 * symbol gives, and that can be decoded from the first byte to the last, so no data is taken for code. Elsewhere instructions that
 * read the time trap if the kernel can make them (hide_time). */
#include "replay/internal.h"

#include "image/image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INSN_MOST = 15 };

/* ---- where files have them ---- */

/* Offsets in a file. */
typedef VEC(uint64_t) offsets;

/* Results for files that have not changed for a while. They are kept because libraries are mapped again and again. */
static VEC(struct searched {
	struct stat st;
	offsets found;
}) searched;

static enum nondeterminism
kind_at(struct image *im, uint64_t addr)
{
	struct str bytes = image_bytes(im, addr);

	return image_machine(im)->traced->nondet((const uint8_t *)bytes.at, bytes.n < INSN_MOST ? bytes.n : INSN_MOST);
}

/* Searches the function [from, to). in_file is added to an address to get its offset in the file. */
static void
search_function(struct image *im, uint64_t from, uint64_t to, uint64_t in_file, offsets *found)
{
	size_t before = found->n;
	struct insn insn;
	uint64_t at;

	for (at = from; at < to; at += insn.len) {
		if (!image_insn(im, at, &insn) || !insn.len)
			break;
		if (kind_at(im, at) != NONDET_NOT)
			VEC_PUSH(*found, at + in_file);
	}
	if (at != to)
		found->n = before;
}

static void
search_section(struct image *im, const struct image_code *code, offsets *found)
{
	struct str bytes = image_bytes(im, code->addr);
	const uint8_t *first = (const uint8_t *)bytes.at, *end = first + bytes.n, *at = first;
	struct image_segment segment;

	if (!bytes.n || !image_segment(im, code->addr, &segment))
		return;
	while ((at = image_machine(im)->traced->nondet_find(at, end))) {
		uint64_t from, to, addr = code->addr + (uint64_t)(at - first);

		if (image_extent(im, addr, &from, &to) && from >= code->addr && to - code->addr <= bytes.n) {
			search_function(im, from, to, segment.offset - segment.addr, found);
			at = first + (to - code->addr);
		} else {
			at++;
		}
	}
}

static void
search_image(int fd, offsets *found)
{
	struct pool *pool = pool_new();
	const struct image_code *code;
	const char *why;
	struct image *im = image_open(pool, pool_printf(pool, "/proc/self/fd/%d", fd), &why);
	size_t n = im ? image_code(im, &code) : 0;

	for (size_t i = 0; i < n; i++)
		search_section(im, &code[i], found);
	image_close(im);
	pool_free(pool);
}

/* The result is valid until the next call. */
static const offsets *
search_file(int fd)
{
	static offsets last;
	struct searched s = {0};

	if (fstat(fd, &s.st) || !S_ISREG(s.st.st_mode))
		return NULL;
	for (size_t i = 0; i < searched.n; i++)
		if (stat_same(&searched.at[i].st, &s.st))
			return &searched.at[i].found;
	search_image(fd, &s.found);
	if (stat_is_settled(&s.st)) {
		VEC_PUSH(searched, s);
		return &searched.at[searched.n - 1].found;
	}
	free(last.at);
	last = s.found;
	return &last;
}

/* ---- making them trap ---- */

static struct replaced *
replaced_at(struct space *s, uint64_t at)
{
	for (size_t i = 0; i < s->replaced.n; i++)
		if (s->replaced.at[i].at == at)
			return &s->replaced.at[i];
	return NULL;
}

static bool
replace(struct task *task, uint64_t at, enum nondeterminism but)
{
	const struct machine_traced *machine = task->t.machine;
	struct space *s = task->group->space;
	struct replaced new = {.at = at}, *old = replaced_at(s, at);
	uint8_t bytes[INSN_MOST];
	size_t n = tracee_read_some(&task->t, at, bytes, sizeof bytes);
	enum nondeterminism kind = machine->nondet(bytes, n);

	if (kind == but || kind == NONDET_NOT ||
	    !tracee_write(&task->t, at, machine->nondet_trap, machine->nondet_trap_size))
		return false;
	memcpy(new.was, bytes, machine->nondet_trap_size);
	if (old)
		*old = new;
	else
		VEC_PUSH(s->replaced, new);
	return true;
}

bool
nondet_replace(struct task *task, uint64_t at)
{
	return replace(task, at, NONDET_NOT);
}

/* Replaces what n bytes of a file have of them. The bytes begin at `offset` in the file and are mapped at `at`. */
static void
replace_all(struct recorder *r, uint64_t at, uint64_t n, uint64_t offset, int fd, enum nondeterminism but)
{
	const offsets *found = search_file(fd);

	for (size_t i = 0; found && i < found->n; i++) {
		uint64_t there = at + (found->at[i] - offset);

		if (found->at[i] - offset < n && replace(r->task, there, but)) {
			record_event(r, LOG_REPLACED);
			log_put(r->log, there);
		}
	}
}

void
nondet_mapped(struct recorder *r, const uint64_t arg[6], uint64_t result)
{
	enum { LENGTH = 1, PROT, FLAGS, FD, OFFSET };
	int fd;

	if (!(arg[PROT] & PROT_EXEC) || (arg[FLAGS] & MAP_TYPE) != MAP_PRIVATE || arg[FLAGS] & MAP_ANONYMOUS)
		return;
	fd = open(pool_printf(r->task->pool, "/proc/%d/fd/%d", r->t->pid, (int)arg[FD]), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	replace_all(r, result, arg[LENGTH], arg[OFFSET], fd, NONDET_NOT);
	close(fd);
}

/* Is it the program, and not its loader? */
static bool
is_program(const struct recorder *r, int fd)
{
	struct stat program, file;

	return stat(pool_printf(r->task->pool, "/proc/%d/exe", r->t->pid), &program) || fstat(fd, &file) ||
	       (program.st_dev == file.st_dev && program.st_ino == file.st_ino);
}

/* The loader executes cpuid dozens of times to see what processor it has. The answers contain the processor's number, which does
 * not matter there, so these instructions are left as they are. */
void
nondet_begun(struct recorder *r)
{
	const char *maps = tracee_proc(r->t, r->task->pool, "maps");
	struct maps_line m;

	while (maps_next(&maps, &m)) {
		int fd = -1;

		if (str_starts(m.name, "/") && !strcmp(m.mode, "r-xp"))
			fd = open(pool_strndup(r->task->pool, m.name.at, m.name.n), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		replace_all(r, m.start, m.end - m.start, m.offset, fd, is_program(r, fd) ? NONDET_NOT : NONDET_IDENTITY);
		close(fd);
	}
}

void
nondet_restore(struct task *task)
{
	struct space *s = task->group->space;

	for (size_t i = 0; i < s->replaced.n; i++) {
		uint8_t now[sizeof s->replaced.at->was];
		size_t n = task->t.machine->nondet_trap_size;

		if (tracee_read(&task->t, s->replaced.at[i].at, now, n) && !memcmp(now, task->t.machine->nondet_trap, n))
			tracee_write(&task->t, s->replaced.at[i].at, s->replaced.at[i].was, n);
	}
	s->replaced.n = 0;
}

/* ---- what the program has there ---- */

void
nondet_show(const struct task *task, uint64_t at, char *bytes, size_t n)
{
	const struct machine_traced *machine = task->t.machine;
	const struct space *s = task->group->space;

	for (size_t i = 0; i < s->replaced.n; i++)
		for (size_t j = 0; j < machine->nondet_trap_size; j++) {
			uint64_t to = s->replaced.at[i].at + j - at;

			if (to < n && (uint8_t)bytes[to] == machine->nondet_trap[j])
				bytes[to] = (char)s->replaced.at[i].was[j];
		}
}

size_t
nondet_here(struct task *task, uint8_t bytes[NONDET_BYTES])
{
	struct tracee *t = &task->t;
	uint64_t pc = tracee_word(t, t->machine->pc);
	const struct replaced *old = replaced_at(task->group->space, pc);
	size_t n = tracee_read_some(t, pc, bytes, NONDET_BYTES);

	if (old && n >= t->machine->nondet_trap_size && !memcmp(bytes, t->machine->nondet_trap, t->machine->nondet_trap_size))
		memcpy(bytes, old->was, t->machine->nondet_trap_size);
	return t->machine->nondet(bytes, n) == NONDET_NOT ? 0 : n;
}
