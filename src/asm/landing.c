/* SPDX-License-Identifier: MIT */
/* Landing pads, from the bytes of the exception tables. Directives say which table a frame has. If the text makes its own unwind
 * table (gcc -fno-dwarf2-cfi-asm), that table says it. */
#include "asm/asm.h"

#include <string.h>

/* Encodings of addresses. EH_RELATIVE: eight bytes, relative to their own place. */
enum { EH_NONE = 0xff, EH_SIZE = 0x0f, EH_4_UNSIGNED = 0x03, EH_4_SIGNED = 0x0b, EH_RELATIVE = 0x10 };

struct lsda {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t
take_uleb(struct lsda *l)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		if (l->p == l->end || shift > 56) {
			l->bad = true;
			return 0;
		}
		v |= (uint64_t)(*l->p & 0x7f) << shift;
		if (!(*l->p++ & 0x80))
			return v;
	}
}

static uint8_t
take_byte(struct lsda *l)
{
	if (l->p == l->end) {
		l->bad = true;
		return 0;
	}
	return *l->p++;
}

static void
mark_pad(struct unit *u, uint32_t section, uint64_t off)
{
	const struct code *c = u->code[section];

	if (off < c->nbyte && c->at[off] != UINT32_MAX)
		c->insns.at[c->at[off]].leader |= LEADER_LAND;
}

/* The place to which the field at an offset leads. Its section is 0 if there is no such field. */
static struct place
field_at(const struct object *o, const struct obj_section *s, uint64_t off)
{
	uint32_t low = 0, high = s->nreloc;
	const struct obj_reloc *r;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (o->relocs[s->reloc + mid].off < off)
			low = mid + 1;
		else
			high = mid;
	}
	r = &o->relocs[s->reloc + low];
	if (low == s->nreloc || r->off != off || r->sym >= o->nsymbol)
		return (struct place){0, 0};
	return (struct place){o->symbols[r->sym].section, (uint32_t)(o->symbols[r->sym].value + (uint64_t)r->addend)};
}

/* Takes the place from which landing pads are counted, if the table says one: clang does if they are in another section than the
 * frame (-fbasic-block-sections=, -fsplit-machine-functions). */
static bool
take_start(const struct unit *u, const struct obj_section *table, struct lsda *l, struct place *start)
{
	uint8_t encoding = take_byte(l);

	if (encoding == EH_NONE)
		return true;
	if (encoding != EH_RELATIVE || l->end - l->p < 8)
		return false;
	*start = field_at(u->object, table, (uint64_t)(l->p - table->data));
	l->p += 8;
	return start->section && start->section < u->ncode && u->code[start->section];
}

enum { RECORD_LEAST = 4 };   /* bytes of a call-site record, at least */

/* Call-site records: start, length, landing pad (0: none), action; relative to the start of the frame, or pads to that of pads. For
 * a procedure with several tables, clang says that the records of each go to the end of the last one. Up to `next`, where another
 * table begins, there are records, and perhaps padding. */
static bool
mark_lsda(struct unit *u, const struct obj_section *table, struct lsda l, const uint8_t *next, struct place pads)
{
	const uint8_t *end;

	if (!take_start(u, table, &l, &pads))
		return false;
	if (take_byte(&l) != EH_NONE)
		take_uleb(&l);
	if (take_byte(&l) != 0x01)
		return false;
	uint64_t n = take_uleb(&l);
	if (l.bad || n > (uint64_t)(l.end - l.p) || l.p > next)
		return false;
	end = n < (uint64_t)(next - l.p) ? l.p + n : next;
	while (end - l.p >= RECORD_LEAST && !l.bad) {
		take_uleb(&l);
		take_uleb(&l);
		uint64_t pad = take_uleb(&l);
		take_uleb(&l);
		if (pad)
			mark_pad(u, pads.section, pads.off + pad);
	}
	return !l.bad;
}

static void
refuse_frame(struct unit *u, struct place frame, const char *reason)
{
	uint32_t proc, part;

	if (unit_find(u, frame.section, frame.off, &proc, &part))
		u->procs.at[proc].reason = reason;
}

/* Marks the landing pads of a frame, whose table is at an offset in a section of the object, and at most so many bytes long. */
static void
land(struct unit *u, const struct obj_section *table, uint64_t at, uint64_t size, struct place frame)
{
	if (!frame.section || !u->code[frame.section])
		return;
	if (!table || !table->data || at >= table->size ||
	    !mark_lsda(u, table, (struct lsda){table->data + at, table->data + table->size, false},
	               size < table->size - at ? table->data + at + size : table->data + table->size, frame))
		refuse_frame(u, frame, "its exception table is not understood");
}

static const struct obj_symbol *
symbol_named(const struct strmap *names, const struct object *o, struct str name)
{
	uint64_t i;

	return strmap_get(names, name, &i) ? &o->symbols[i] : NULL;
}

/* The table of `.cfi_lsda ENCODING, SYMBOL`; NULL: there is no such symbol. */
static const struct obj_symbol *
table_named(const struct strmap *names, const struct object *o, struct str rest)
{
	const char *comma = memchr(rest.at, ',', rest.n);
	struct str name = comma ? (struct str){comma + 1, (size_t)(rest.at + rest.n - comma - 1)} : rest;

	while (name.n && (*name.at == ' ' || *name.at == '\t'))
		name = (struct str){name.at + 1, name.n - 1};
	return symbol_named(names, o, name);
}

/* Handles `.cfi_lsda` after a .cfi_startproc. next: the table of the directive after it, or NULL. */
static void
land_table(struct unit *u, const struct obj_symbol *s, const struct obj_symbol *next, struct place frame)
{
	bool before = s && next && s->section == next->section && s->value < next->value;

	land(u, s ? &u->object->sections[s->section] : NULL, s ? s->value : 0, before ? next->value - s->value : UINT64_MAX, frame);
}

/* Handles all directives. True: the text makes unwind tables by itself. */
static bool
land_directives(struct unit *u)
{
	struct strmap names = {0};
	struct place frame = {0}, last_frame = {0};
	const struct obj_symbol *last = NULL, *table;
	bool by_itself = false;

	for (uint32_t i = 1; i < u->object->nsymbol; i++)
		if (u->object->symbols[i].section)
			strmap_put(&names, str_of(u->object->symbols[i].name), i);
	for (uint32_t i = 0; i < u->text->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[i];
		struct str word = stmt_word(u->text, s);

		if (s->kind != STMT_DIRECTIVE)
			continue;
		by_itself |= (word_is(word, ".section") || word_is(word, ".pushsection")) &&
			str_starts(stmt_rest(u->text, s), ".eh_frame");
		if (word_is(word, ".cfi_startproc"))
			frame = u->place[i];
		if (!word_is(word, ".cfi_lsda"))
			continue;
		table = table_named(&names, u->object, stmt_rest(u->text, s));
		land_table(u, last, table, last_frame);
		last = table;
		last_frame = frame;
	}
	land_table(u, last, NULL, last_frame);
	strmap_free(&names);
	return by_itself;
}

/* ---- unwind tables that the text itself makes ---- */

/* What the descriptions have that refer to a CIE. */
struct eh_cie {
	bool lsda;               /* the address of an exception table, */
	bool known;              /* and addresses of four bytes */
};

static uint32_t
word_at(const struct obj_section *s, uint64_t off)
{
	uint32_t v;

	memcpy(&v, s->data + off, sizeof v);
	return v;
}

static bool
is_known(uint8_t encoding)
{
	return (encoding & EH_SIZE) == EH_4_UNSIGNED || (encoding & EH_SIZE) == EH_4_SIGNED;
}

/* What an augmentation string says; its data are at l. */
static struct eh_cie
read_augmentation(const char *augmentation, struct lsda l)
{
	struct eh_cie c = {.known = true};
	uint8_t encoding;

	for (const char *a = augmentation; *a; a++)
		switch (*a) {
		case 'z': take_uleb(&l); break;
		case 'S': break;
		case 'R':
			c.known &= is_known(take_byte(&l));
			break;
		case 'L':
			encoding = take_byte(&l);
			c.lsda = encoding != EH_NONE;
			c.known &= !c.lsda || is_known(encoding);
			break;
		case 'P':
			c.known &= is_known(take_byte(&l)) && l.end - l.p >= 4;
			l.p += c.known ? 4 : 0;
			break;
		default:
			c.known = false;
		}
	c.known &= !l.bad;
	return c;
}

/* The CIE at an offset. If it is damaged, nothing is known of it. */
static struct eh_cie
read_cie(const struct obj_section *s, uint64_t off)
{
	struct lsda l = {s->data + off + 9, s->data + s->size, false};
	const char *augmentation = (const char *)l.p;

	if (off + 9 >= s->size || !memchr(l.p, 0, (size_t)(l.end - l.p)))
		return (struct eh_cie){.lsda = true};
	l.p += strlen(augmentation) + 1;
	take_uleb(&l);
	take_uleb(&l);
	take_uleb(&l);
	return read_augmentation(augmentation, l);
}

/* Handles the description at an offset. size: its bytes after the length. */
static void
land_description(struct unit *u, const struct obj_section *s, uint64_t off, uint32_t size)
{
	struct place frame = field_at(u->object, s, off + 8), table;
	uint64_t id = word_at(s, off + 4);
	struct eh_cie cie = id > off + 4 ? (struct eh_cie){.lsda = true} : read_cie(s, off + 4 - id);
	struct lsda l = {s->data + off + 16, s->data + off + 4 + size, false};

	if (!cie.lsda || !frame.section || frame.section >= u->ncode || !u->code[frame.section])
		return;
	if (!cie.known || size < 17 || take_uleb(&l) < 4) {
		refuse_frame(u, frame, "its exception table is not understood");
		return;
	}
	table = field_at(u->object, s, (uint64_t)(l.p - s->data));
	if (table.section)
		land(u, &u->object->sections[table.section], table.off, UINT64_MAX, frame);
}

static void
land_descriptions(struct unit *u, const struct obj_section *s)
{
	uint32_t size;

	for (uint64_t off = 0; off + 8 <= s->size && (size = word_at(s, off)) >= 4 && size <= s->size - off - 4; off += 4 + size)
		if (word_at(s, off + 4))
			land_description(u, s, off, size);
}

void
landing_find(struct unit *u)
{
	u->frames_as_data = land_directives(u);
	if (!u->frames_as_data)
		return;
	for (uint32_t i = 1; i < u->object->nsection; i++)
		if (u->object->sections[i].data && !strcmp(u->object->sections[i].name, ".eh_frame"))
			land_descriptions(u, &u->object->sections[i]);
}
