/* SPDX-License-Identifier: MIT */
/* slots TRACE ADDRESS: prints what is in a trace, which it reads by the format alone: for each stream its slots in order. A
 * token is a number of 8 bytes, counted from that link-time address in the program (module 0); those of other modules are
 * `other`. Tests compare the output with what the program says. */
#include "format/pack.h"
#include "format/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MOST = 1 << 14 };

static unsigned char *file;
static uint64_t size, address;
static const struct chord_trace_head *head;
static const struct chord_trace_module *module[MOST];
static uint32_t nmodule;

struct segment {
	uint32_t stream, place;
	uint64_t number;
	const uint32_t *slot;
};
static struct segment segment[MOST];
static uint32_t nsegment;

static void
die(const char *why)
{
	printf("wrong: %s\n", why);
	exit(1);
}

static const struct chord_extent_head *
extent_at(uint64_t at)
{
	const struct chord_extent_head *h = (const struct chord_extent_head *)(file + at);

	if (at + sizeof *h > head->used || h->size < head->page || h->size % head->page || at + h->size > head->used)
		die("an extent is not in the file");
	return h;
}

static void
add_segment(uint32_t stream, uint64_t number, const uint32_t *slot)
{
	for (uint32_t i = 0; i < nsegment; i++)
		if (segment[i].stream == stream && segment[i].number == number)
			return; /* packed before */
	if (nsegment == MOST)
		die("too many segments");
	segment[nsegment] = (struct segment){stream, nsegment, number, slot};
	nsegment++;
}

static void
unpack(const struct chord_extent_head *h)
{
	const unsigned char *p = (const unsigned char *)h + head->page, *end = p + h->a;
	struct chord_pack *pack = calloc(1, sizeof *pack);
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	const struct chord_trace_record *r;
	uint32_t *slot, sum;
	static uint8_t bytes[CHORD_TRACE_SLOTS * CHORD_PACK_WORST];

	for (; p < end; p += sizeof *r + ((r->bytes + 3) & ~3u)) {
		r = (const struct chord_trace_record *)p;
		slot = malloc(CHORD_TRACE_SEGMENT);
		if (r->bytes > (uint64_t)(end - p))
			die("a record is cut off");
		ZSTD_inBuffer in = {p + sizeof *r, r->bytes, 0};
		ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
		while (h->c == CHORD_TRACE_ZSTD && in.pos < in.size)
			if (ZSTD_isError(ZSTD_decompressStream(zstd, &out, &in)))
				die("a record cannot be decompressed");
		if (!chord_unpack(pack, h->c ? bytes : p + sizeof *r, h->c ? out.pos : r->bytes, slot, CHORD_TRACE_SLOTS))
			die("a record does not unpack");
		sum = 0;
		for (uint32_t i = 0; i < CHORD_TRACE_SLOTS; i++)
			sum += slot[i] * 0x9e3779b1u + i;
		if (sum != r->sum)
			die("a sum is another one");
		add_segment(h->module, r->segment, slot);
	}
	ZSTD_freeDCtx(zstd);
	free(pack);
}

/* The first segment behind all that are packed, or 0. */
static uint64_t
packed(uint32_t stream)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < nsegment; i++)
		if (segment[i].stream == stream && segment[i].number + 1 > most)
			most = segment[i].number + 1;
	return most;
}

/* Where the ring behind that one begins; ~0: it is the last. */
static uint64_t
next_ring(const struct chord_extent_head *ring)
{
	const struct chord_extent_head *h;

	for (uint64_t at = head->page; at < head->used; at += h->size) {
		h = extent_at(at);
		if (h->type == CHORD_TRACE_RING && h->module == ring->module && h->c == ring->c + 1)
			return h->a;
	}
	return ~0ull;
}

static void
add_ring(const struct chord_extent_head *h)
{
	uint64_t from = h->b, to = next_ring(h), segments = (h->size - head->page) / CHORD_TRACE_SEGMENT;
	const uint32_t *slot = (const uint32_t *)((const unsigned char *)h + head->page);

	if (to == ~0ull) {
		from = packed(h->module) > from ? packed(h->module) : from;
		to = h->b + segments;
	}
	for (; from < to; from++)
		add_segment(h->module, from, slot + (from - h->a) % segments * CHORD_TRACE_SLOTS);
}

static int
by_number(const void *a, const void *b)
{
	const struct segment *s = a, *t = b;

	if (s->stream != t->stream)
		return s->stream < t->stream ? -1 : 1;
	return s->number < t->number ? -1 : s->number > t->number;
}

/* The number of a token's module in the list, of whose entries the stream knows so many, plus 1; 0: there is none. Others may have
 * been opened by another thread since. */
static uint32_t
module_of(uint32_t slot, uint32_t known)
{
	for (uint32_t i = known; i > 0; i--)
		if (slot - module[i - 1]->low < module[i - 1]->bytes)
			return i;
	for (uint32_t i = known; i < nmodule; i++)
		if (slot - module[i]->low < module[i]->bytes)
			return i + 1;
	return 0;
}

static void
print_slot(uint32_t stream, uint32_t slot, uint32_t *known)
{
	static const char *const name[] = {"", "more", "thread", "child", "jump", "modules", "event"};
	uint32_t i;

	if (CHORD_SLOT_KIND(slot) == CHORD_MARK_NONE)
		return;
	if (CHORD_SLOT_KIND(slot) == CHORD_MARK_MODULES)
		*known = CHORD_SLOT_PAYLOAD(slot);
	if (CHORD_SLOT_KIND(slot)) {
		printf("%d %s %u\n", (int)stream, name[CHORD_SLOT_KIND(slot)], CHORD_SLOT_PAYLOAD(slot));
		return;
	}
	i = module_of(slot, *known);
	if (!i)
		printf("%d unknown\n", (int)stream);
	else if (module[i - 1]->module)
		printf("%d other\n", (int)stream);
	else
		printf("%d %jd\n", (int)stream, (intmax_t)(module[i - 1]->first + (slot - module[i - 1]->low) - address) / 8);
}

static void
read_file(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		die("no file");
	fseek(f, 0, SEEK_END);
	size = (uint64_t)ftell(f);
	rewind(f);
	file = malloc(size);
	if (fread(file, 1, size, f) != size)
		die("it cannot be read");
	fclose(f);
	head = (const struct chord_trace_head *)file;
	if (size < sizeof *head || head->magic != CHORD_TRACE_MAGIC || head->version != CHORD_TRACE_VERSION || head->used > size)
		die("no trace");
}

int
main(int argc, char **argv)
{
	const struct chord_extent_head *h;
	uint32_t known = 0;

	if (argc != 3)
		return 2;
	read_file(argv[1]);
	address = strtoull(argv[2], NULL, 16);
	printf("flags %u error %ju\n", head->flags, (uintmax_t)head->error);
	for (int pass = 0; pass < 2; pass++)
		for (uint64_t at = head->page; at < head->used; at += h->size) {
			h = extent_at(at);
			for (uint64_t i = 0; pass == 0 && h->type == CHORD_TRACE_MODULES && i < h->a && nmodule < MOST; i++)
				module[nmodule++] = (const struct chord_trace_module *)((const unsigned char *)h + head->page) + i;
			if (pass == 0 && h->type == CHORD_TRACE_PACKS)
				unpack(h);
			if (pass == 1 && h->type == CHORD_TRACE_RING)
				add_ring(h);
		}
	qsort(segment, nsegment, sizeof *segment, by_number);
	for (uint32_t i = 0; i < nsegment; i++) {
		if (!i || segment[i].stream != segment[i - 1].stream)
			known = nmodule;
		for (uint32_t k = 0; k < CHORD_TRACE_SLOTS; k++)
			if (segment[i].slot[k])
				print_slot(segment[i].stream, segment[i].slot[k], &known);
	}
	return 0;
}
