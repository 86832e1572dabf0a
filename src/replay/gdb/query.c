/* SPDX-License-Identifier: MIT */
/* What gdb asks about the program and this stub, and gdb's command `monitor`. */
#include "replay/gdb/gdb.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- objects that gdb reads in parts ---- */

static void
describe(const struct machine_traced *machine, struct buf *to)
{
	buf_printf(to, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target><architecture>%s</architecture>"
	           "<osabi>GNU/Linux</osabi>", machine->debugger_name);
	for (size_t i = 0; i < machine->ndescribed; i++) {
		const struct described *f = &machine->described[i];

		buf_printf(to, "<feature name=\"%s\">%s", f->feature, f->types);
		for (size_t j = 0; j < f->n; j++)
			buf_printf(to, "<reg name=\"%s\" bitsize=\"%d\" type=\"%s\"/>", f->reg[j].name, f->reg[j].size * 8,
			           f->reg[j].type);
		buf_str(to, "</feature>");
	}
	buf_str(to, "</target>");
}

/* Leaves out the functions that the kernel lends (vDSO), which are hidden from the program, too. */
static void
read_auxv(const struct tracee *t, struct buf *to)
{
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/auxv", t->pid);
	file_read(name, to);
	for (size_t at = 0; at + 16 <= to->n; at += 16) {
		uint64_t type;

		memcpy(&type, to->at + at, sizeof type);
		type = type == AT_SYSINFO_EHDR ? AT_IGNORE : type;
		memcpy(to->at + at, &type, sizeof type);
	}
}

static void
read_name(const struct tracee *t, struct buf *to)
{
	char name[64], link[4096];
	ssize_t n;

	snprintf(name, sizeof name, "/proc/%d/exe", t->pid);
	n = readlink(name, link, sizeof link);
	if (n > 0)
		buf_add(to, link, (size_t)n);
}

uint64_t
loader_of(const struct tracee *t)
{
	struct buf b = {0};
	uint64_t pair[2], base = 0;

	read_auxv(t, &b);
	for (size_t at = 0; at + sizeof pair <= b.n; at += sizeof pair) {
		memcpy(pair, b.at + at, sizeof pair);
		base = pair[0] == AT_BASE ? pair[1] : base;
	}
	buf_free(&b);
	return base;
}

/* qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH */
static void
transfer(struct debugger *d, const char *p)
{
	const char *numbers = strrchr(p, ':');
	const struct task *any = view_any(d);
	const struct tracee *t = any ? &any->t : NULL;
	struct buf all = {0}, part = {0};
	uint64_t at, n;

	if (!t) {
		packet_text(&d->c, "E01");
		return;
	}
	if (!strncmp(p, "features:read:target.xml:", 25)) {
		describe(t->machine, &all);
	} else if (!strncmp(p, "auxv:read:", 10)) {
		read_auxv(t, &all);
	} else if (!strncmp(p, "exec-file:read:", 15)) {
		read_name(t, &all);
	} else if (!strncmp(p, "threads:read:", 13)) {
		view_list(d, &all);
	} else {
		packet_text(&d->c, "");
		return;
	}
	numbers++;
	at = get_hex(&numbers);
	numbers += *numbers == ',';
	n = get_hex(&numbers);
	at = at < all.n ? at : all.n;
	n = n < all.n - at ? n : all.n - at;
	buf_char(&part, at + n < all.n ? 'm' : 'l');
	buf_add(&part, all.at + at, n);
	packet_put(&d->c, part.at, part.n);
	buf_free(&part);
	buf_free(&all);
}

/* ---- monitor ---- */

static void
say_when(struct debugger *d, struct buf *to)
{
	const struct task *t = view_any(d);
	struct clock *clock = t ? t->group->space->clock : NULL;
	uint64_t count;

	buf_printf(to, "event %" PRIu64, d->r.event);
	if (!clock)
		buf_str(to, ", the process has ended");
	else if (clock_at(clock, view_pc(d), &count))
		buf_printf(to, ", clock %" PRIu64, clock_sum(clock));
	else if ((count = clock_sum(clock)))
		buf_printf(to, ", clock %" PRIu64 " (this code has none)", count);
	else
		buf_str(to, ", no clock (none yet, or it was built without -fchord=events or clock)");
	if (t)
		buf_printf(to, ", thread %" PRIu64 " of process %" PRIu64, t->number, t->group->number);
	buf_char(to, '\n');
}

/* Reads which state to go to: a number alone is a count of the clock. */
static bool
read_seek(struct debugger *d, const char *to)
{
	bool event = !strncmp(to, "event ", 6);
	const char *number = to + (event ? 6 : 0);
	char *end;

	if (!strcmp(to, "begin") || !strcmp(to, "end")) {
		d->seek = *to == 'b' ? SOUGHT_BEGIN : SOUGHT_END;
		return true;
	}
	d->sought = strtoull(number, &end, 10);
	if (*number < '0' || *number > '9' || *end)
		return false;
	d->seek = event ? SOUGHT_EVENT : SOUGHT_CLOCK;
	return true;
}

/* Reads which memory to watch: an address and a number of bytes, as gdb's user writes numbers, and maybe a comparison. */
static bool
read_watch(struct debugger *d, const char *p, bool back)
{
	enum { MOST = 1 << 24 };
	char *end;

	d->sought = strtoull(p, &end, 0);
	if (end == p || *end != ' ')
		return false;
	p = end + 1;
	d->bytes = strtoull(p, &end, 0);
	if (end == p || *p == '-' || !d->bytes || d->bytes > MOST)
		return false;
	d->backwards = back;
	d->becomes = comparison_read(d->pool, d->sought, d->bytes, end);
	if (d->becomes) {
		d->seek = SOUGHT_TRUE;
		return true;
	}
	if (*end || back)
		return false;
	d->was = go_memory(d, d->sought, d->bytes);
	d->seek = SOUGHT_CHANGE;
	return true;
}

static void
say_checkpoints(const struct debugger *d, struct buf *to)
{
	for (size_t i = 0; i < d->node.n; i++)
		buf_printf(to, "%sevent %" PRIu64 "\n", d->node.at[i].inside ? "behind " : "", checkpoint_event(d->node.at[i].c));
}

static void
answer(struct debugger *d, const char *command, struct buf *out)
{
	if (!strcmp(command, "when"))
		say_when(d, out);
	else if (!strcmp(command, "checkpoints"))
		say_checkpoints(d, out);
	else if ((!strncmp(command, "seek ", 5) && read_seek(d, command + 5)) ||
	         (!strncmp(command, "watch ", 6) && read_watch(d, command + 6, false)) ||
	         (!strncmp(command, "rwatch ", 7) && read_watch(d, command + 7, true)))
		buf_str(out, "now use `continue` or `reverse-continue` to go there\n");
	else
		buf_str(out, "monitor when: the event of the log, the clock, the thread\n"
		        "monitor seek CLOCK | event N | begin | end: to that state\n"
		        "monitor watch ADDRESS BYTES: to where so much memory (16 MiB at most) has changed\n"
		        "monitor watch ADDRESS SIZE OPERATOR VALUE: to where that begins to hold, of 1, 2, 4\n"
		        "  or 8 bytes; the operator is one of == != < <= > >=; numbers have a sign if VALUE has one (+5, -1)\n"
		        "monitor rwatch ADDRESS SIZE OPERATOR VALUE: back to where that began to hold last\n"
		        "monitor checkpoints: where copies of the program are\n");
}

/* The command comes in hexadecimal digits. */
static void
monitor(struct debugger *d, const char *p)
{
	struct buf b = {0}, out = {0};
	char command[256];
	size_t n = 0;

	for (; p[0] && p[1] && n + 1 < sizeof command; p += 2) {
		char two[3] = {p[0], p[1], 0};

		command[n++] = (char)strtoul(two, NULL, 16);
	}
	command[n] = 0;
	answer(d, command, &out);
	put_hex(&b, out.at, out.n);
	packet_put(&d->c, b.at, b.n);
	buf_free(&b);
	buf_free(&out);
}

/* ---- threads ---- */

static void
say_threads(struct debugger *d, bool current)
{
	const struct task *now = view_any(d);
	struct buf b = {0};

	buf_str(&b, current ? "QC" : "m");
	for (size_t i = 0; i < d->r.all.at.n; i++) {
		const struct task *t = d->r.all.at.at[i];

		if (view_thread(d, t->number) == t && (!current || t == now))
			buf_printf(&b, "%s%" PRIx64, b.at[b.n - 1] == 'm' || current ? "" : ",", t->number);
	}
	packet_put(&d->c, b.at, b.n);
	buf_free(&b);
}

/* ---- all of them ---- */

void
query(struct debugger *d, const char *packet, size_t n)
{
	static const struct { const char *of, *answer; } answers[] = {
		{"qsThreadInfo", "l"}, {"qAttached", "1"}, {"qSymbol", "OK"},
		{"qSupported", "PacketSize=8000;QStartNoAckMode+;vContSupported+;ConditionalBreakpoints+;swbreak+;hwbreak+;"
		 "ReverseStep+;ReverseContinue+;qXfer:features:read+;qXfer:auxv:read+;qXfer:exec-file:read+;"
		 "qXfer:threads:read+;exec-events+"},
	};

	(void)n;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		size_t size = strlen(answers[i].of);

		if (!strncmp(packet, answers[i].of, size) && (!packet[size] || packet[size] == ':')) {
			packet_text(&d->c, answers[i].answer);
			return;
		}
	}
	if (!strncmp(packet, "qC", 2) || !strncmp(packet, "qfThreadInfo", 12)) {
		say_threads(d, packet[1] == 'C');
	} else if (!strncmp(packet, "qXfer:", 6)) {
		transfer(d, packet + 6);
	} else if (!strncmp(packet, "qRcmd,", 6)) {
		monitor(d, packet + 6);
	} else if (!strcmp(packet, "QStartNoAckMode")) {
		packet_text(&d->c, "OK");
		d->c.ack = false;
	} else {
		packet_text(&d->c, "");
	}
}
