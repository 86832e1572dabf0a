/* SPDX-License-Identifier: MIT */
/* Core files: memory, threads, and the objects that were mapped. */
#include "image/core.h"
#include "image/internal.h"
#include "machine/machine.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a mapped file, a core has the first bytes or nothing. */
struct segment {
	uint64_t addr, size, filled, offset;
};

struct range {
	uint64_t start, end;
};

struct core {
	struct pool *pool;
	const char *object;      /* the program that was named, which may have been moved */
	int fd;
	Elf *elf;
	Dwfl *dwfl;
	VEC(struct segment) segment;
	VEC(struct range) file;  /* where files were mapped */
	const struct machine *machine;
	uint32_t pid;
	int signal;
};

/* ---- opening ---- */

/* The note has a number of mappings and the page size, then each mapping's start, end and place in its file. */
static void
read_files(struct core *c, const char *desc, size_t size)
{
	uint64_t n, range[3];

	if (size < 16)
		return;
	memcpy(&n, desc, sizeof n);
	for (size_t at = 16; n-- && size - at >= sizeof range; at += sizeof range) {
		memcpy(range, desc + at, sizeof range);
		VEC_PUSH(c->file, (struct range){range[0], range[1]});
	}
}

static void
read_note(struct core *c, const GElf_Nhdr *n, const char *desc)
{
	if (n->n_type == NT_PRSTATUS && n->n_descsz >= sizeof(struct elf_prstatus) && !c->signal) {
		struct elf_prstatus s;

		memcpy(&s, desc, sizeof s);
		c->signal = s.pr_cursig;
	} else if (n->n_type == NT_PRPSINFO && n->n_descsz >= sizeof(struct elf_prpsinfo)) {
		struct elf_prpsinfo s;

		memcpy(&s, desc, sizeof s);
		c->pid = (uint32_t)s.pr_pid;
	} else if (n->n_type == NT_FILE) {
		read_files(c, desc, n->n_descsz);
	}
}

static void
read_notes(struct core *c, const GElf_Phdr *h)
{
	Elf_Data *d = elf_getdata_rawchunk(c->elf, (int64_t)h->p_offset, h->p_filesz, ELF_T_NHDR);
	size_t at = 0, name, desc;
	GElf_Nhdr n;

	while (d && (at = gelf_getnote(d, at, &n, &name, &desc)) > 0)
		if (n.n_namesz == 5 && !memcmp((const char *)d->d_buf + name, "CORE", 5))
			read_note(c, &n, (const char *)d->d_buf + desc);
}

static const char *
read_headers(struct core *c)
{
	GElf_Ehdr e;
	GElf_Phdr h;
	size_t n;

	if (elf_kind(c->elf) != ELF_K_ELF || !gelf_getehdr(c->elf, &e) || e.e_type != ET_CORE)
		return "not a core file";
	if (!(c->machine = machine_of_elf(e.e_machine)) || e.e_ident[EI_CLASS] != ELFCLASS64 || elf_getphdrnum(c->elf, &n))
		return "a core file of another kind of machine";
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(c->elf, (int)i, &h))
			return "its program headers cannot be read";
		if (h.p_type == PT_LOAD)
			VEC_PUSH(c->segment, (struct segment){h.p_vaddr, h.p_memsz, h.p_filesz, h.p_offset});
		if (h.p_type == PT_NOTE)
			read_notes(c, &h);
	}
	return NULL;
}

/* Is the file the one that was loaded? */
static bool
same_build(Dwfl_Module *m, int fd)
{
	const unsigned char *loaded;
	const void *id;
	GElf_Addr where;
	int n = dwfl_module_build_id(m, &loaded, &where);
	Elf *elf = image_elf_file(fd);
	bool same = elf && n > 0 && dwelf_elf_gnu_build_id(elf, &id) == n && !memcmp(id, loaded, (size_t)n);

	elf_end(elf);
	return same;
}

/* Objects are only searched where they were loaded from, except the one that was named. */
static int
find_elf(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	const struct core *c = *user;
	const char *const path[] = {c->object, name};

	(void)base;
	(void)elf;
	for (int i = 0; i < 2; i++) {
		int fd = open(path[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && same_build(m, fd)) {
			*file = strdup(path[i]);
			return fd;
		}
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int
find_no_debug(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, const char *file, const char *link,
              GElf_Word crc, char **found)
{
	(void)m;
	(void)user;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)found;
	return -1;
}

static int
adopt(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr start, void *core)
{
	(void)m;
	(void)name;
	(void)start;
	*user = core;
	return DWARF_CB_OK;
}

static const char *
find_objects(struct core *c)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = find_no_debug};

	c->dwfl = dwfl_begin(&callbacks);
	if (!c->dwfl || dwfl_core_file_report(c->dwfl, c->elf, NULL) < 0 || dwfl_report_end(c->dwfl, NULL, NULL))
		return pool_strdup(c->pool, dwfl_errmsg(-1));
	dwfl_getmodules(c->dwfl, adopt, c, 0);
	return NULL;
}

struct core *
core_open(struct pool *pool, const char *path, const char *object, const char **why)
{
	struct core *c = pool_alloc(pool, sizeof *c);

	c->pool = pool;
	c->object = object;
	c->fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	c->elf = c->fd < 0 ? NULL : image_elf_file(c->fd);
	if (!c->elf)
		*why = c->fd < 0 ? pool_strdup(pool, strerror(errno)) : pool_strdup(pool, elf_errmsg(-1));
	else if (!(*why = read_headers(c)) && !(*why = find_objects(c)))
		return c;
	core_close(c);
	return NULL;
}

void
core_close(struct core *c)
{
	if (!c)
		return;
	if (c->dwfl)
		dwfl_end(c->dwfl);
	if (c->elf)
		elf_end(c->elf);
	if (c->fd >= 0)
		close(c->fd);
	free(c->segment.at);
	free(c->file.at);
}

int
core_signal(const struct core *c)
{
	return c->signal;
}

bool
core_is_cut(const struct core *c)
{
	uint64_t end = 0;
	struct stat st;

	for (size_t i = 0; i < c->segment.n; i++)
		if (c->segment.at[i].filled && c->segment.at[i].offset + c->segment.at[i].filled > end)
			end = c->segment.at[i].offset + c->segment.at[i].filled;
	return !fstat(c->fd, &st) && (uint64_t)st.st_size < end;
}

/* ---- memory ---- */

static bool
is_of_file(const struct core *c, uint64_t addr)
{
	for (size_t i = 0; i < c->file.n; i++)
		if (addr >= c->file.at[i].start && addr < c->file.at[i].end)
			return true;
	return false;
}

/* Reads from the segment that has the address, as far as the segment goes. Cores leave out anonymous memory that was never touched,
 * which is zero. */
static size_t
read_some(const struct core *c, uint64_t addr, void *to, size_t n)
{
	for (size_t i = 0; i < c->segment.n; i++) {
		const struct segment *s = &c->segment.at[i];
		uint64_t off = addr - s->addr;
		ssize_t got;

		if (off >= s->size)
			continue;
		if (off < s->filled) {
			got = pread(c->fd, to, n < s->filled - off ? n : s->filled - off, (off_t)(s->offset + off));
			return got > 0 ? (size_t)got : 0;
		}
		if (is_of_file(c, addr))
			return 0;
		n = n < s->size - off ? n : s->size - off;
		memset(to, 0, n);
		return n;
	}
	return 0;
}

bool
core_read(const struct core *c, uint64_t addr, void *to, size_t n)
{
	size_t got;

	for (char *at = to; n; at += got, addr += got, n -= got)
		if (!(got = read_some(c, addr, at, n)))
			return false;
	return true;
}

/* The file of an object. Sometimes only the name of the program is known. NULL: there is no file. */
static const char *
file_of(Dwfl_Module *m, uint64_t *bias)
{
	const char *file = NULL, *name = NULL;

	if (!m || !dwfl_module_getelf(m, bias) || !(name = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, &file, NULL)))
		return NULL;
	return file ? file : *name == '/' ? name : NULL;
}

const char *
core_object(const struct core *c, uint64_t addr, uint64_t *bias)
{
	return file_of(dwfl_addrmodule(c->dwfl, addr), bias);
}

struct objects {
	core_object_fn *fn;
	void *ctx;
};

static int
object(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr start, void *arg)
{
	struct objects *o = arg;
	uint64_t bias;
	const char *file = file_of(m, &bias);

	(void)user;
	(void)name;
	(void)start;
	if (file)
		o->fn(o->ctx, file, bias);
	return DWARF_CB_OK;
}

void
core_objects(const struct core *c, core_object_fn *fn, void *ctx)
{
	dwfl_getmodules(c->dwfl, object, &(struct objects){fn, ctx}, 0);
}

/* ---- stacks ---- */

struct frames {
	core_frame_fn *fn;
	void *ctx;
	uint32_t tid;
	unsigned sp;             /* register number of the stack pointer */
	int stuck;
};

static int
frame(Dwfl_Frame *state, void *arg)
{
	struct frames *f = arg;
	bool next = true;
	Dwarf_Word sp;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, &next) || dwfl_frame_reg(state, f->sp, &sp))
		return -1;
	f->fn(f->ctx, &(struct core_frame){f->tid, pc, sp, !next});
	return DWARF_CB_OK;
}

static int
thread(Dwfl_Thread *t, void *arg)
{
	struct frames *f = arg;

	f->tid = (uint32_t)dwfl_thread_tid(t);
	f->stuck += dwfl_thread_getframes(t, frame, f) != 0;
	return DWARF_CB_OK;
}

int
core_frames(struct core *c, core_frame_fn *fn, void *ctx)
{
	struct frames f = {.fn = fn, .ctx = ctx, .sp = c->machine->unwind->sp};

	if (dwfl_core_file_attach(c->dwfl, c->elf) < 0 || dwfl_getthreads(c->dwfl, thread, &f))
		return -1;
	return f.stuck;
}
