/*
 * Writing values as a synthetic event in the ring. See synth_event.h.
 *
 * Context: any, NMI included, preemption off.
 */
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <trace/thread.h>
#include "event_file.h"
#include "synth_private.h"
#include "text/str.h"

#define HEAD_BYTES    sizeof(struct trace_entry)
#define NUMBERS_BYTES (HEAD_BYTES + SYNTH_FIELDS_MAX * sizeof(uint64_t))

/*
 * Write all 8 bytes of each number. Excess bytes land in the next field, which is written later, or
 * behind the event.
 */
static void write_numbers(struct synth_event *event, const uint64_t *values)
{
	uint64_t entry[NUMBERS_BYTES / sizeof(uint64_t) + 1];
	const struct synth_field *field = event->fields, *end = field + event->nr_fields;

	for (; field < end; field++, values++)
		__builtin_memcpy((uint8_t *)entry + field->offset, values, sizeof(*values));
	trace_event_write(&event->call, entry, event->fixed_bytes, NULL);
}

/* ---- With texts or stacks ---- */

/* An event under construction. */
struct synth_build {
	const struct synth_event *event;
	const uint64_t *values;
	uint32_t bytes;
	/* Length of each dynamic field, measured once, as texts may change at any moment. */
	uint16_t data_bytes[SYNTH_FIELDS_MAX];
};

static const char *text_of(uint64_t value)
{
	return value ? (const char *)(uintptr_t)value : "(null)";
}

static uint32_t stack_bytes(uint64_t value)
{
	const uint32_t *ips = (const uint32_t *)(uintptr_t)value;
	uint32_t nr = 0;

	while (ips && nr < SYNTH_STACK_MAX && ips[nr])
		nr++;
	return nr * (uint32_t)sizeof(unsigned long);
}

/* Measure the event. Data beyond the longest event is cut off. */
static void synth_write_measure(struct synth_build *build)
{
	const struct synth_event *event = build->event;
	uint32_t bytes, room;

	build->bytes = event->fixed_bytes;
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		if (event->fields[i].kind == SYNTH_DYNAMIC_TEXT)
			bytes = (uint32_t)trace_strnlen(text_of(build->values[i]),
							SYNTH_TEXT_MAX - 1) +
				1;
		else if (event->fields[i].kind == SYNTH_STACK)
			bytes = stack_bytes(build->values[i]);
		else
			continue;
		room = (RING_MAX_PAYLOAD - build->bytes) & ~7u;
		build->data_bytes[i] = (uint16_t)(bytes < room ? bytes : room);
		build->bytes += (build->data_bytes[i] + 3u) & ~3u;
	}
}

/* Copy at most `bytes` of a text, NUL included: the memory is zeroed. */
static void synth_write_put_text(uint8_t *to, const char *text, uint32_t bytes)
{
	for (; bytes > 1 && *text; bytes--)
		*to++ = (uint8_t)*text++;
}

static void synth_write_put_stack(uint8_t *to, const uint32_t *ips, uint32_t bytes)
{
	for (uint32_t at = 0; ips && at < bytes; at += (uint32_t)sizeof(unsigned long)) {
		unsigned long ip = trace_plat_ip_unpack(*ips++);

		__builtin_memcpy(to + at, &ip, sizeof(ip));
	}
}

static void synth_write_put_number(uint8_t *to, uint64_t value, uint32_t bytes)
{
	for (; bytes--; value >>= 8)
		*to++ = (uint8_t)value;
}

static void synth_write_fill(const struct synth_build *build, uint8_t *entry)
{
	const struct synth_event *event = build->event;
	uint32_t behind = event->fixed_bytes;

	/* No old bytes stay in the gaps. */
	memset(entry + HEAD_BYTES, 0, build->bytes - HEAD_BYTES);
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		const struct synth_field *field = &event->fields[i];
		uint32_t bytes = build->data_bytes[i];
		uint64_t value = build->values[i];

		if (field->kind == SYNTH_NUMBER) {
			synth_write_put_number(entry + field->offset, value, field->size);
			continue;
		}
		if (field->kind == SYNTH_TEXT) {
			synth_write_put_text(entry + field->offset, text_of(value), field->size);
			continue;
		}
		synth_write_put_number(entry + field->offset, behind | (uint64_t)bytes << 16, 4);
		if (field->kind == SYNTH_STACK)
			synth_write_put_stack(entry + behind, (const uint32_t *)(uintptr_t)value,
					      bytes);
		else
			synth_write_put_text(entry + behind, text_of(value), bytes);
		behind += (bytes + 3) & ~3u;
	}
}

static TRACE_NOINLINE void synth_write_long(struct synth_event *event,
					    const struct synth_build *build)
{
	struct trace_event_room room;
	uint8_t *entry =
		trace_event_reserve(trace_event_front_of(&event->call), build->bytes, &room);

	if (!entry)
		return;
	synth_write_fill(build, entry);
	trace_event_commit(&room, entry, build->bytes);
}

static TRACE_NOINLINE void synth_write_any(struct synth_event *event, const uint64_t *values)
{
	uint64_t entry[TRACE_EVENT_SCRATCH / sizeof(uint64_t)];
	struct synth_build build = { .event = event, .values = values };

	synth_write_measure(&build);
	if (build.bytes > sizeof(entry)) {
		synth_write_long(event, &build);
		return;
	}
	synth_write_fill(&build, (uint8_t *)entry);
	trace_event_write(&event->call, entry, build.bytes, NULL);
}

/* Is the event on in an instance, or has it triggers there? */
static bool synth_write_is_wanted(const struct synth_event *event)
{
	return trace_event_flags(trace_event_front_of(&event->call)) & TRACE_EVENT_WANTED;
}

void trace_synth_event_write(struct synth_event *event, const uint64_t *values)
{
	struct trace_thread *thread;
	uint32_t depth;

	if (!synth_write_is_wanted(event))
		return;
	thread = trace_plat_current();
	/* Interrupts on the thread leave the depth unchanged, so no atomic step is needed. */
	depth = atomic_load_explicit(&thread->synth_depth, memory_order_relaxed);
	if (depth == SYNTH_DEPTH_MAX)
		return;
	atomic_store_explicit(&thread->synth_depth, depth + 1, memory_order_relaxed);
	if (event->is_numbers)
		write_numbers(event, values);
	else
		synth_write_any(event, values);
	atomic_store_explicit(&thread->synth_depth, depth, memory_order_relaxed);
}

/* Write numbers on conditions, or with a time not known yet. */
static TRACE_NOINLINE void write_numbers_deeper(struct synth_event *event, void *entry,
						struct trace_thread *thread)
{
	uint32_t depth = atomic_load_explicit(&thread->synth_depth, memory_order_relaxed);

	if (depth == SYNTH_DEPTH_MAX)
		return;
	atomic_store_explicit(&thread->synth_depth, depth + 1, memory_order_relaxed);
	trace_event_write(&event->call, entry, event->fixed_bytes, NULL);
	atomic_store_explicit(&thread->synth_depth, depth, memory_order_relaxed);
}

void trace_synth_event_write_built(struct synth_event *event, void *entry,
				   const struct trace_event_time *time)
{
	const struct trace_event_front *front = trace_event_front_of(&event->call);
	struct trace_thread *thread = trace_plat_current();

	if (TRACE_UNLIKELY(trace_event_flags(front) != TRACE_EVENT_RECORDS || !time->clock))
		write_numbers_deeper(event, entry, thread);
	/* An event that is recorded without conditions causes no further events. */
	else if (TRACE_LIKELY(atomic_load_explicit(&thread->synth_depth, memory_order_relaxed) <
			      SYNTH_DEPTH_MAX))
		trace_event_record_time(front, entry, TRACE_EVENT_STEP(event->fixed_bytes), time);
}
