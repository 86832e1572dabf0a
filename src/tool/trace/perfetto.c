/* SPDX-License-Identifier: MIT */
/* A trace in Perfetto's own format: a track for each thread, a slice for each activation, a nanosecond for each instruction. A
 * trace is a message of packets. Messages that follow one another merge into one, so packets are written one by one. */
#include "tool/trace/trace.h"

#include "export/value.h"
#include "tool/print.h"

#include "perfetto.pb-c.h"

#include <inttypes.h>
#include <string.h>

/* One writer (sequence) has written all packets. Numbers of names are valid from the first packet on. */
enum { SEQUENCE = 1, BEGINS = 1, NEEDS_NAMES = 2 };

/* The number of a track, by process and thread; thread 0 is for the track of the process. */
static uint64_t
track_of(const struct trace_out *o, uint64_t thread)
{
	return o->nprocess << 32 | thread;
}

static void
put_packet(struct trace_out *o, PerfettoPacket *packet)
{
	PerfettoTrace trace = PERFETTO_TRACE__INIT;

	packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->sequence_flags = o->args->later ? NEEDS_NAMES : BEGINS | NEEDS_NAMES;
	o->args->later = true;
	trace.n_packet = 1;
	trace.packet = &packet;
	o->text.n = 0;
	buf_reserve(&o->text, perfetto_trace__get_packed_size(&trace));
	o->text.n = perfetto_trace__pack(&trace, (uint8_t *)o->text.at);
	fwrite(o->text.at, 1, o->text.n, o->to);
}

static void
put_process(struct trace_out *o)
{
	PerfettoPacket packet = PERFETTO_PACKET__INIT;
	PerfettoTrack track = PERFETTO_TRACK__INIT;
	PerfettoProcess process = PERFETTO_PROCESS__INIT;

	process.has_pid = track.has_uuid = true;
	process.pid = (int32_t)o->process->file->pid;
	process.process_name = (char *)(uintptr_t)value_utf8(o->run->pool, o->run->path);
	track.uuid = track_of(o, 0);
	track.process = &process;
	packet.track_descriptor = &track;
	put_packet(o, &packet);
}

static void
put_thread(struct trace_out *o)
{
	PerfettoPacket packet = PERFETTO_PACKET__INIT;
	PerfettoTrack track = PERFETTO_TRACK__INIT;

	track.has_uuid = track.has_parent_uuid = true;
	track.uuid = track_of(o, trace_thread(o));
	track.parent_uuid = track_of(o, 0);
	track.name = pool_printf(o->run->pool, "thread %" PRIu64 ", time in instructions", trace_thread(o));
	packet.track_descriptor = &track;
	put_packet(o, &packet);
}

/* Finds the number of a name. False: the name is new. */
static bool
number_name(struct trace_out *o, const char *name, uint64_t *number)
{
	struct strmap *names = &o->args->names;

	if (strmap_get(names, str_of(name), number))
		return true;
	*number = names->n + 1;
	strmap_put(names, str_of(pool_strdup(o->run->pool, name)), *number);
	return false;
}

void
perfetto_process(struct trace_out *o)
{
	o->nprocess++;
	put_process(o);
}

/* Puts an event on the thread's track, at the present time. text: its name, or NULL. */
static void
put_event(struct trace_out *o, PerfettoEvent *event, const char *text)
{
	PerfettoPacket packet = PERFETTO_PACKET__INIT;
	PerfettoInterned interned = PERFETTO_INTERNED__INIT;
	PerfettoName name = PERFETTO_NAME__INIT, *names = &name;

	if (!o->any)
		put_thread(o);
	o->any = true;
	packet.has_timestamp = event->has_type = event->has_track_uuid = true;
	packet.timestamp = o->offset + o->replay.insns;
	packet.track_event = event;
	event->track_uuid = track_of(o, trace_thread(o));
	event->has_name_iid = text != NULL;
	if (text && !number_name(o, text, &event->name_iid)) {
		name.has_iid = true;
		name.iid = event->name_iid;
		name.name = (char *)(uintptr_t)value_utf8(o->run->pool, text);
		interned.n_event_names = 1;
		interned.event_names = &names;
		packet.interned_data = &interned;
	}
	put_packet(o, &packet);
}

void
perfetto_event(struct trace_out *o, bool begins)
{
	PerfettoEvent event = PERFETTO_EVENT__INIT;
	uint64_t from = o->from;

	event.type = begins ? PERFETTO_EVENT__TYPE__TYPE_SLICE_BEGIN : PERFETTO_EVENT__TYPE__TYPE_SLICE_END;
	if (begins && from) {
		event.n_terminating_flow_ids = 1;
		event.terminating_flow_ids = &from;
		o->from = 0;
	}
	put_event(o, &event, begins ? image_readable(o->replay.stack.at[o->replay.stack.n - 1].proc->name) : NULL);
}

void
perfetto_end_of_arrow(struct trace_out *o, const char *what, uint64_t number, bool begins)
{
	PerfettoEvent event = PERFETTO_EVENT__INIT;

	event.type = PERFETTO_EVENT__TYPE__TYPE_INSTANT;
	*(begins ? &event.n_flow_ids : &event.n_terminating_flow_ids) = 1;
	*(begins ? &event.flow_ids : &event.terminating_flow_ids) = &number;
	put_event(o, &event, what);
}

void
perfetto_arrow(struct trace_out *o, uint64_t number)
{
	perfetto_end_of_arrow(o, "begins", number, true);
}
