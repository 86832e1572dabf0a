/* SPDX-License-Identifier: MIT */
/* Reads the streams of all processes in turns, so that events come out in an order that was possible. What a thread did before it
 * created another one comes before that thread. What a thread did before it ended comes before the next thread of its stream, and
 * before what a thread does that has joined it. What a process did before it forked comes before its child. All else has no order.
 * Threads come where they are created, and the thread that ends a process comes last. */
#include "tool/trace/trace.h"

#include <stdlib.h>

enum state {
	GOES_ON,
	AWAITS_CREATION,         /* until its thread is created */
	AWAITS_STREAM,           /* it creates a thread, whose stream another thread still writes */
	AWAITS_FORK,             /* until its process is forked */
	AWAITS_OTHERS,           /* it ends the process: all other threads come first */
	AWAITS_END,              /* until the thread ends that it has joined */
	AWAITS_STAMPS,           /* until stamps with smaller numbers than its own have come */
	OVER,
};

struct meeting;

struct party {
	struct trace_out out;    /* has to be the first field: the party is found by its address */
	struct meeting *m;
	size_t stream;
	enum state state;
	uint64_t turn;           /* the party that went on last goes first */
	uint64_t made, place;    /* the thread that it creates or has joined; the number of the party that has that thread's
	                          * stream */
	uint64_t family;         /* the profile of the process from which this one descends by forks */
	bool ends;               /* it has waited for others */
	const char *why;         /* why the stream cannot be read to its end */
};

/* A fork that has been reported. */
struct fork {
	struct party *party;
	uint64_t number;
	uint64_t time, arrow;
};

/* A place in a stream, after which a place in another stream comes. */
struct place {
	struct party *party;     /* NULL: there is none */
	uint64_t thread, time;   /* what comes after it is drawn at this time or later */
	uint64_t at;             /* where an arrow begins */
	bool shown;
};

struct meeting {
	struct trace_out *process;
	struct party *party;
	size_t n;
	uint64_t turns;
	bool met;                /* another party may have its turn */
	VEC(struct fork) fork;
	VEC(struct place) ended; /* threads */
	VEC(struct place) stamp; /* the last stamp that was taken in each family */
};

/* ---- families ---- */

static const struct chord_origin *
origin_of(const struct party *p)
{
	return &p->out.process->profile->origin.at[0];
}

/* Forked children continue their parent's stamps. Stamps of other processes, also of programs that a process executes, have numbers
 * of their own. */
static void
find_family(struct party *p)
{
	const struct meeting *m = p->m;
	uint64_t of = origin_of(p)->of;

	p->family = origin_of(p)->id;
	for (size_t n = 0; of && n < m->n; n++) {
		p->family = of;
		of = 0;
		for (size_t i = 0; i < m->n && !of; i++)
			of = origin_of(&m->party[i])->id == p->family ? origin_of(&m->party[i])->of : 0;
	}
}

/* ---- who goes on ---- */

static void
go_on(struct party *p, uint64_t time, uint64_t arrow)
{
	p->state = GOES_ON;
	p->turn = ++p->m->turns;
	p->out.offset = time;
	p->out.from = arrow;
}

static struct party *
find_stream(const struct party *of, uint32_t number)
{
	for (size_t i = 0; i < of->m->n; i++) {
		struct party *p = &of->m->party[i];

		if (p->out.process == of->out.process && of->out.process->file->stream.at[p->stream].number == number)
			return p;
	}
	return NULL;
}

/* Puts the beginning of an arrow. Returns the arrow's number; 0: there is no arrow. */
static uint64_t
put_arrow(struct party *p)
{
	uint64_t number = ++p->m->turns;

	if (!select_shown(&p->out) || p->out.args->form < TRACE_CHROME)
		return 0;
	if (p->out.args->form == TRACE_CHROME)
		chrome_arrow(&p->out, number);
	else
		perfetto_arrow(&p->out, number);
	return number;
}

static uint64_t
time_of(const struct party *p)
{
	return p->out.offset + p->out.replay.insns;
}

static bool
is_drawn(const struct party *p)
{
	return p->out.args->form >= TRACE_CHROME;
}

static struct place
here(struct party *p)
{
	return (struct place){p, trace_thread(&p->out), time_of(p), time_of(p), select_shown(&p->out) && p->out.any};
}

/* Puts an end of an arrow at a place that was passed. */
static void
put_end_at(const struct place *x, const char *what, uint64_t number, bool begins)
{
	struct trace_out at = x->party->out;

	at.text = (struct buf){0};
	at.any = true; /* it has been shown */
	at.replay.thread = x->thread;
	at.offset = x->at;
	at.replay.insns = 0;
	if (at.args->form == TRACE_CHROME)
		chrome_end_of_arrow(&at, what, number, begins);
	else
		perfetto_end_of_arrow(&at, what, number, begins);
	buf_free(&at.text);
}

/* What the stream does now comes after `from`: it is drawn after it, and an arrow leads to it. */
static void
is_behind(struct party *p, struct place from, const char *what)
{
	struct place to;
	uint64_t number;

	if (time_of(p) < from.time)
		p->out.offset += from.time - time_of(p);
	to = here(p);
	if (!from.shown || !to.shown)
		return;
	number = ++p->m->turns;
	put_end_at(&from, what, number, true);
	put_end_at(&to, what, number, false);
}

/* The thread that `maker` creates is about to begin in the stream of `made`. */
static void
create(struct party *maker, struct party *made)
{
	maker->state = GOES_ON;
	maker->turn = ++maker->m->turns;
	go_on(made, time_of(maker), put_arrow(maker));
}

static void
creates(struct party *p)
{
	struct party *to = find_stream(p, p->out.replay.stream);

	if (!to || to == p || to->state == OVER)
		return;
	if (to->state == AWAITS_CREATION && to->out.replay.thread == p->out.replay.made) {
		create(p, to);
		return;
	}
	p->state = AWAITS_STREAM;
	p->made = p->out.replay.made;
	p->place = (uint64_t)(to - p->m->party);
}

static bool
has_ended(const struct party *p, uint64_t thread)
{
	return p->state == OVER || p->out.replay.thread > thread;
}

/* The thread that this one has joined has ended: draws the arrow, if that end was seen. */
static void
has_joined(struct party *p, const struct party *of)
{
	for (size_t i = is_drawn(p) ? p->m->ended.n : 0; i--;) {
		const struct place *x = &p->m->ended.at[i];

		if (x->party == of && x->thread == p->out.replay.joined) {
			is_behind(p, *x, "joined");
			return;
		}
	}
}

/* Lets the parties go on that wait for the end of a thread that was in this stream and is there no longer. */
static void
release(const struct party *ended)
{
	for (size_t i = 0; i < ended->m->n; i++) {
		struct party *p = &ended->m->party[i];

		if (p->state == AWAITS_END && &p->m->party[p->place] == ended && has_ended(ended, p->made)) {
			p->state = GOES_ON;
			has_joined(p, ended);
		}
	}
}

/* A stream has its threads in the order of their numbers. */
static void
joins(struct party *p)
{
	struct party *of = find_stream(p, p->out.replay.joined_in);

	if (!of || of == p)
		return;
	if (has_ended(of, p->out.replay.joined)) {
		has_joined(p, of);
		return;
	}
	p->state = AWAITS_END;
	p->made = p->out.replay.joined;
	p->place = (uint64_t)(of - p->m->party);
}

static void
begins(struct party *p)
{
	release(p);
	if (p->out.replay.thread == 1)
		return;
	for (size_t i = 0; i < p->m->n; i++) {
		struct party *by = &p->m->party[i];

		if (by->state == AWAITS_STREAM && &p->m->party[by->place] == p && by->made == p->out.replay.thread) {
			create(by, p);
			return;
		}
	}
	p->state = AWAITS_CREATION;
}

/* Has that process forked the child? A process that executes another program has the process id of the one before it, which may
 * have forked as often. */
static bool
is_parent(const struct party *p, const struct party *child)
{
	const uint64_t of = origin_of(child)->of;

	return p->out.process->file->pid == child->out.replay.parent && (!of || of == origin_of(p)->id);
}

static void
forks(struct party *p)
{
	uint64_t time = time_of(p), arrow = put_arrow(p);

	VEC_PUSH(p->m->fork, (struct fork){p, p->out.replay.forks, time, arrow});
	for (size_t i = 0; i < p->m->n; i++) {
		struct party *child = &p->m->party[i];

		if (child->state == AWAITS_FORK && child->out.replay.forks == p->out.replay.forks && is_parent(p, child))
			go_on(child, time, arrow);
	}
}

static void
is_forked(struct party *p)
{
	bool here = false;

	for (size_t i = 0; i < p->m->fork.n; i++)
		if (p->m->fork.at[i].number == p->out.replay.forks && is_parent(p->m->fork.at[i].party, p)) {
			go_on(p, p->m->fork.at[i].time, p->m->fork.at[i].arrow);
			return;
		}
	for (size_t i = 0; i < p->m->n; i++)
		here |= p->m->party[i].state != OVER && is_parent(&p->m->party[i], p);
	if (here)
		p->state = AWAITS_FORK;
}

/* Notes the thread's last instruction. At the place where its slices end, an arrow would be bound to none. */
static void
thread_ends(struct party *p)
{
	struct place x = here(p);

	x.shown &= p->out.replay.insns != 0;
	x.at -= x.shown;
	if (is_drawn(p))
		VEC_PUSH(p->m->ended, x);
}

static bool
meets(struct trace_out *o, enum trace_meeting what)
{
	struct party *p = (struct party *)o;

	p->m->met |= what != TRACE_THREAD_ENDS;
	switch (what) {
	case TRACE_BEGINS:
		begins(p);
		break;
	case TRACE_CREATES:
		creates(p);
		break;
	case TRACE_FORKS:
		forks(p);
		break;
	case TRACE_FORKED:
		is_forked(p);
		break;
	case TRACE_ENDS:
		if (o->replay.ends < CHORD_ENDS_THREAD && !p->ends) {
			p->state = AWAITS_OTHERS;
			p->ends = true;
		}
		break;
	case TRACE_JOINS:
		joins(p);
		break;
	case TRACE_STAMP:
		p->state = AWAITS_STAMPS;
		break;
	case TRACE_THREAD_ENDS:
		thread_ends(p);
		return true;
	}
	return p->state == GOES_ON;
}

/* ---- turns ---- */

static struct party *
next_of(const struct meeting *m, enum state state)
{
	struct party *best = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct party *p = &m->party[i];

		if (p->state == state && (!best || p->turn > best->turn))
			best = p;
	}
	return best;
}

/* Reads the beginning of a stream, which says what the stream waits for: CHILD or THREAD, MODULES, and FORKED in two slots. In a
 * forked child, empty slots may come first, where the parent's stream was. */
static void
come(struct party *p)
{
	const int most = 4;
	struct replay *r = &p->out.replay;

	p->m->met = false;
	for (int n = 0; n < most && !p->m->met;) {
		if (!replay_step(r))
			return;
		n += r->slots->slot[r->i - 1] && CHORD_SLOT_KIND(r->slots->slot[r->i - 1]) != CHORD_MARK_NONE;
	}
}

/* A thread that ends its process, if it is the last one left. */
static struct party *
next_end(const struct meeting *m)
{
	for (size_t i = 0; i < m->n; i++) {
		struct party *p = &m->party[i];
		bool alone = p->state == AWAITS_OTHERS;

		for (size_t k = 0; k < m->n && alone; k++)
			alone = k == i || m->party[k].state == OVER || m->party[k].out.process != p->out.process;
		if (alone)
			return p;
	}
	return NULL;
}

/* No other party can go on, so everything that is left comes after something that waits. Of the stamps at which streams wait, the
 * one with the smallest number is next, even if numbers are missing. */
static struct party *
next_stamp(const struct meeting *m)
{
	struct party *best = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct party *p = &m->party[i];

		if (p->state == AWAITS_STAMPS && (!best || p->out.replay.stamp < best->out.replay.stamp))
			best = p;
	}
	return best;
}

/* The stamp before this one was taken before it, whichever thread of the family took it. */
static void
takes_stamp(struct party *p)
{
	struct meeting *m = p->m;
	struct place *last = NULL;

	if (!is_drawn(p))
		return;
	for (size_t i = 0; i < m->stamp.n && !last; i++)
		last = m->stamp.at[i].party->family == p->family ? &m->stamp.at[i] : NULL;
	if (last && (last->party != p || last->thread != trace_thread(&p->out)))
		is_behind(p, *last, "stamp");
	if (last)
		*last = here(p);
	else
		VEC_PUSH(m->stamp, here(p));
}

/* A party that waits for something that is in no trace goes on when nothing else can. */
static struct party *
next(const struct meeting *m)
{
	static const enum state order[] = {AWAITS_OTHERS, AWAITS_CREATION, AWAITS_STREAM, AWAITS_FORK, AWAITS_END};
	struct party *p = next_end(m);

	p = p ? p : next_of(m, GOES_ON);
	if (!p && (p = next_stamp(m)))
		takes_stamp(p);
	for (size_t i = 0; i < sizeof order / sizeof *order && !p; i++)
		p = next_of(m, order[i]);
	if (p)
		p->state = GOES_ON;
	return p;
}

static void
leave(struct party *p)
{
	p->why = replay_end(&p->out.replay);
	p->state = OVER;
	for (size_t i = 0; i < p->m->n; i++)
		if (p->m->party[i].state == AWAITS_STREAM && &p->m->party[p->m->party[i].place] == p)
			p->m->party[i].state = GOES_ON;
	release(p);
}

static void
take_turns(struct meeting *m)
{
	struct party *p;

	while ((p = next(m))) {
		stream_goes_on(&p->out);
		for (m->met = false; p->state == GOES_ON && !m->met;)
			if (!seek_step(&p->out))
				leave(p);
	}
}

static bool
begin_process(struct meeting *m, struct trace_out *o, struct party *to)
{
	bool ok = trace_warn(o);

	seek_begins(o);
	if (o->args->form == TRACE_PERFETTO)
		perfetto_process(o);
	else if (o->args->form == TRACE_CHROME)
		chrome_process(o);
	for (size_t i = 0; i < o->process->file->stream.n; i++) {
		to[i] = (struct party){.out = *o, .m = m, .stream = i};
		to[i].out.text = (struct buf){0};
		to[i].out.meets = meets;
		stream_begins(&to[i].out, i);
		replay_begin(&to[i].out.replay, i);
	}
	return ok;
}

/* How many processes before that one have its process id? */
static uint64_t
namesakes(const struct traced_list *list, size_t i)
{
	uint64_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += list->at[k].file->pid == list->at[i].file->pid;
	return n;
}

bool
trace_print_together(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to)
{
	struct trace_out o = {.args = a, .run = r, .to = to};
	struct meeting m = {0};
	bool ok = true;

	for (size_t i = 0; i < list->n; i++)
		m.n += list->at[i].file->stream.n;
	m.party = xcalloc(m.n + 1, sizeof *m.party);
	m.turns = m.n;
	m.n = 0;
	m.process = xcalloc(list->n + 1, sizeof *m.process);
	for (size_t i = 0; i < list->n; i++) {
		o.process = &list->at[i];
		o.namesakes = namesakes(list, i);
		ok &= begin_process(&m, &o, m.party + m.n);
		m.n += o.process->file->stream.n;
		m.process[i] = o;
	}
	for (size_t i = 0; i < m.n; i++) {
		m.party[i].turn = m.n - i;
		find_family(&m.party[i]);
	}
	for (size_t i = 0; i < m.n; i++)
		come(&m.party[i]);
	take_turns(&m);
	for (size_t i = 0; i < m.n; i++) {
		ok &= stream_ends(&m.party[i].out, m.party[i].stream, m.party[i].why);
		strmap_free(&m.party[i].out.blocks);
	}
	for (size_t i = 0; i < list->n; i++)
		seek_ends(&m.process[i]);
	buf_free(&o.text);
	free(m.process);
	free(m.fork.at);
	free(m.ended.at);
	free(m.stamp.at);
	free(m.party);
	return ok;
}
