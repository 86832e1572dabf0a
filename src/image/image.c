/* SPDX-License-Identifier: MIT */
/* An ELF program or library: opens it, and finds its build id and sections. */
#include "format/format.h"
#include "image/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_MAX = 32 }; /* bytes of a build id that profiles have */

Elf_Scn *
image_section_named(Elf *elf, size_t shstrndx, const char *name, GElf_Shdr *header)
{
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		const char *have;

		if (!image_elf_header(s, header))
			continue;
		have = image_elf_string(elf, shstrndx, header->sh_name);
		if (have && !strcmp(have, name))
			return s;
	}
	return NULL;
}

static bool
open_file(struct image *im, const char **why)
{
	struct stat st;

	im->fd = open(im->path, O_RDONLY | O_CLOEXEC);
	if (im->fd < 0 || fstat(im->fd, &st) < 0) {
		*why = pool_strdup(im->pool, strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		*why = "not a regular file";
		return false;
	}
	elf_version(EV_CURRENT);
	im->elf = image_elf_file(im->fd);
	if (!im->elf)
		*why = pool_strdup(im->pool, elf_errmsg(-1));
	return im->elf != NULL;
}

/* Does the table of sections, which is behind all else, end beyond the file? */
static bool
is_cut(int fd, const GElf_Ehdr *h)
{
	uint64_t table = (uint64_t)h->e_shentsize * (h->e_shnum ? h->e_shnum : 1);
	struct stat st;

	return h->e_shoff && !fstat(fd, &st) && (h->e_shoff > (uint64_t)st.st_size || table > (uint64_t)st.st_size - h->e_shoff);
}

static const char *
check_kind(struct image *im)
{
	uint64_t magic = 0;
	GElf_Ehdr h;

	if (pread(im->fd, &magic, sizeof magic, 0) == sizeof magic && magic == CHORD_PROFILE_MAGIC)
		return "a profile: name the program first, then its profiles";
	if (elf_kind(im->elf) != ELF_K_ELF || !gelf_getehdr(im->elf, &h))
		return "not an ELF file";
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return "not a 64-bit little-endian program";
	if (is_cut(im->fd, &h))
		return "truncated: its table of sections is not all there";
	if (h.e_type == ET_REL)
		return "an object file: not linked yet";
	if (h.e_type != ET_EXEC && h.e_type != ET_DYN)
		return "neither an executable nor a shared object";
	if (!(im->machine = machine_of_elf(h.e_machine)))
		return "a program for a processor that Chord does not know";
	if (elf_getshdrstrndx(im->elf, &im->shstrndx) < 0)
		return "its table of sections cannot be read";
	return NULL;
}

static size_t
padded(uint32_t n)
{
	return ((size_t)n + 3) / 4 * 4;
}

/* gelf_getnote() wants padding behind the last note. Linkers put none behind a build id whose length somebody chose. */
static void
find_build_id(struct image *im, Elf_Scn *s)
{
	Elf_Data *d = image_elf_data(s);
	const char *at = d ? d->d_buf : NULL, *end = at ? at + d->d_size : NULL;

	while (at && (size_t)(end - at) > sizeof(GElf_Nhdr) && !im->id.n) {
		GElf_Nhdr n;
		size_t name, desc;

		memcpy(&n, at, sizeof n);
		at += sizeof n;
		name = padded(n.n_namesz);
		if (name > (size_t)(end - at) || n.n_descsz > (size_t)(end - at) - name)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(at, "GNU", 4))
			im->id = (struct str){at + name, n.n_descsz};
		desc = padded(n.n_descsz);
		at += name;
		at += desc < (size_t)(end - at) ? desc : (size_t)(end - at);
	}
}

static int
code_by_addr(const void *a, const void *b)
{
	const struct image_code *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void
read_sections(struct image *im)
{
	for (Elf_Scn *s = NULL; (s = elf_nextscn(im->elf, s));) {
		const char *name;
		GElf_Shdr h;

		if (!image_elf_header(s, &h))
			continue;
		if (h.sh_type == SHT_NOTE)
			find_build_id(im, s);
		name = image_elf_string(im->elf, im->shstrndx, h.sh_name);
		if (h.sh_flags & SHF_EXECINSTR && h.sh_flags & SHF_ALLOC && h.sh_size <= UINT64_MAX - h.sh_addr)
			VEC_PUSH(im->code, (struct image_code){name ? name : "?", h.sh_addr, h.sh_size});
	}
	if (im->code.n)
		qsort(im->code.at, im->code.n, sizeof *im->code.at, code_by_addr);
}

struct image *
image_open(struct pool *pool, const char *path, const char **why)
{
	struct image *im = pool_alloc(pool, sizeof *im);

	im->pool = pool;
	im->path = pool_strdup(pool, path);
	im->fd = im->debug_fd = -1;
	*why = NULL;
	if (!open_file(im, why) || (*why = check_kind(im))) {
		image_close(im);
		return NULL;
	}
	read_sections(im);
	return im;
}

void
image_close(struct image *im)
{
	if (!im)
		return;
	if (im->dwarf)
		dwarf_end(im->dwarf);
	if (im->cfi)
		dwarf_cfi_end(im->cfi);
	if (im->debug_elf)
		elf_end(im->debug_elf);
	if (im->elf)
		elf_end(im->elf);
	if (im->debug_fd >= 0)
		close(im->debug_fd);
	if (im->fd >= 0)
		close(im->fd);
	free(im->code.at);
	free(im->symbol.at);
	free(im->import.at);
	free(im->needed.at);
	free(im->row.at);
	free(im->function.at);
	free(im->scope.at);
	free(im->scope_at.at);
	free(im->folder.at);
	strmap_free(&im->file);
	strmap_free(&im->begun);
	buf_free(&im->joined);
}

const struct machine *
image_machine(const struct image *im)
{
	return im->machine;
}

struct str
image_build_id(const struct image *im)
{
	return (struct str){im->id.at, im->id.n < ID_MAX ? im->id.n : ID_MAX};
}

char *
image_hex(struct pool *pool, struct str id)
{
	static const char digit[] = "0123456789abcdef";
	char *hex = pool_alloc(pool, 2 * id.n + 1);

	for (size_t i = 0; i < id.n; i++) {
		hex[2 * i] = digit[(unsigned char)id.at[i] >> 4];
		hex[2 * i + 1] = digit[(unsigned char)id.at[i] & 15];
	}
	return hex;
}

static bool
section_bytes(struct image *im, Elf_Scn *s, GElf_Shdr *h, const char *name, struct str *bytes, const char **why)
{
	Elf_Data *d = h->sh_flags & SHF_COMPRESSED && elf_compress(s, 0, 0) < 0 ? NULL : image_elf_data(s);

	if (!d || (!d->d_buf && h->sh_size)) {
		*why = pool_printf(im->pool, "section %s cannot be read: %s", name, elf_errmsg(-1));
		return false;
	}
	*bytes = (struct str){d->d_buf, d->d_size};
	return true;
}

bool
image_section(struct image *im, const char *name, struct str *bytes, const char **why)
{
	GElf_Shdr h;
	Elf_Scn *s = image_section_named(im->elf, im->shstrndx, name, &h);

	*why = NULL;
	*bytes = (struct str){NULL, 0};
	return s && h.sh_type != SHT_NOBITS && section_bytes(im, s, &h, name, bytes, why);
}

bool
image_section_all(struct image *im, const char *name, struct str *bytes, const char **why)
{
	size_t n = strlen(name), found = 0;
	struct buf all = {0};
	GElf_Shdr h;

	*why = NULL;
	*bytes = (struct str){NULL, 0};
	for (Elf_Scn *s = NULL; (s = elf_nextscn(im->elf, s)) && !*why;) {
		const char *have = image_elf_header(s, &h) ? image_elf_string(im->elf, im->shstrndx, h.sh_name) : NULL;

		if (!have || strncmp(have, name, n) || (have[n] && have[n] != '.') || h.sh_type == SHT_NOBITS)
			continue;
		/* Most programs have one section, which need not be copied. */
		if (found == 1)
			buf_add(&all, bytes->at, bytes->n);
		if (section_bytes(im, s, &h, have, bytes, why) && found++)
			buf_add(&all, bytes->at, bytes->n);
	}
	if (found > 1)
		*bytes = (struct str){pool_strndup(im->pool, all.n ? all.at : "", all.n), all.n};
	buf_free(&all);
	return found && !*why;
}

uint64_t
image_section_addr(const struct image *im, const char *name)
{
	GElf_Shdr h;

	return image_section_named(im->elf, im->shstrndx, name, &h) && h.sh_flags & SHF_ALLOC ? h.sh_addr : 0;
}

size_t
image_code(const struct image *im, const struct image_code **code)
{
	*code = im->code.at;
	return im->code.n;
}

/* The section that has the address, or NULL. */
static const struct image_code *
code_at(const struct image *im, uint64_t addr)
{
	size_t lo = 0, hi = im->code.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct image_code *c = &im->code.at[mid];

		if (addr >= c->addr && addr - c->addr < c->size)
			return c;
		if (addr < c->addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

bool
image_is_code(const struct image *im, uint64_t addr)
{
	return code_at(im, addr);
}

const char *
image_code_name(const struct image *im, uint64_t addr)
{
	const struct image_code *c = code_at(im, addr);

	return c ? c->name : "";
}

bool
image_segment(const struct image *im, uint64_t addr, struct image_segment *segment)
{
	GElf_Phdr h;
	size_t n;

	if (elf_getphdrnum(im->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(im->elf, (int)i, &h) || h.p_type != PT_LOAD || addr - h.p_vaddr >= h.p_memsz)
			continue;
		*segment = (struct image_segment){h.p_vaddr, h.p_memsz, h.p_offset};
		return true;
	}
	return false;
}

static void
read_bytes(struct image *im)
{
	im->bytes = pool_array(im->pool, im->code.n, sizeof *im->bytes);
	for (Elf_Scn *s = NULL; (s = elf_nextscn(im->elf, s));) {
		Elf_Data *d;
		GElf_Shdr h;

		if (!image_elf_header(s, &h) || !(h.sh_flags & SHF_EXECINSTR) || h.sh_type == SHT_NOBITS ||
		    !(d = image_elf_data(s)))
			continue;
		for (size_t i = 0; i < im->code.n; i++)
			if (im->code.at[i].addr == h.sh_addr && im->code.at[i].size == h.sh_size && d->d_buf)
				im->bytes[i] = (struct str){d->d_buf, d->d_size};
	}
}

struct str
image_bytes(struct image *im, uint64_t addr)
{
	const struct image_code *c = code_at(im, addr);
	struct str s;

	if (!c)
		return (struct str){NULL, 0};
	if (!im->bytes)
		read_bytes(im);
	s = im->bytes[c - im->code.at];
	if (addr - c->addr >= s.n)
		return (struct str){NULL, 0};
	return (struct str){s.at + (addr - c->addr), s.n - (addr - c->addr)};
}

bool
image_insn(struct image *im, uint64_t addr, struct insn *out)
{
	struct str bytes = image_bytes(im, addr);

	return bytes.n && im->machine->decode((const uint8_t *)bytes.at, bytes.n, (uint32_t)addr, out);
}

bool
image_facts(struct image *im, uint64_t addr, struct facts *out)
{
	struct str bytes = image_bytes(im, addr);

	return bytes.n && im->machine->facts((const uint8_t *)bytes.at, bytes.n, out);
}
