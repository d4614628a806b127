/*
 * Two types of events as code outside of trace/ makes them, with public headers only. To be
 * included by one test file.
 */
#ifndef EVENT_HELP_H
#define EVENT_HELP_H

#include <trace/event.h>

struct door_entry {
	struct trace_entry ent;
	int32_t door;
	uint16_t visitors;
};

static const struct trace_event_field door_fields[] = {
	TRACE_FIELD("door", int, door_entry, door),
	TRACE_FIELD("visitors", unsigned short, door_entry, visitors),
};

static struct trace_event door = {
	.name = "door",
	.system = "house",
	.fields = door_fields,
	.nr_fields = sizeof(door_fields) / sizeof(door_fields[0]),
};

/* Every kind of field. */
struct all_entry {
	struct trace_entry ent;
	uint32_t who;
	char name[8];
	int8_t small;
	char letter;
	uint16_t list[3];
	uint64_t large;
	int64_t negative;
	const char *pointer;
	uint32_t callers[2];
	uint32_t rest[];
} TRACE_ENTRY_ALIGNED;

static const struct trace_event_field all_fields[] = {
	TRACE_FIELD_ADDRESS("who", all_entry, who),
	TRACE_FIELD("name", char, all_entry, name),
	TRACE_FIELD("small", signed char, all_entry, small),
	TRACE_FIELD("letter", char, all_entry, letter),
	TRACE_FIELD("list", unsigned short, all_entry, list),
	TRACE_FIELD("large", unsigned long, all_entry, large),
	TRACE_FIELD("negative", long long, all_entry, negative),
	TRACE_FIELD("pointer", const char *, all_entry, pointer),
	TRACE_FIELD_ADDRESS("callers", all_entry, callers),
	TRACE_FIELD_REST("rest", unsigned int, all_entry, rest),
};

static struct trace_event all = {
	.name = "all",
	.system = "house",
	.fields = all_fields,
	.nr_fields = sizeof(all_fields) / sizeof(all_fields[0]),
};

/* Into `tr`, NULL for the global trace; `nr_rest` numbers 5, 16, 27 ... at its end. */
HELPER void write_all(struct trace_array *tr, uint32_t nr_rest)
{
	struct trace_event_buffer fbuffer;
	struct all_entry *entry;

	entry = trace_event_buffer_reserve(&fbuffer, tr, &all,
					   sizeof(*entry) + nr_rest * sizeof(uint32_t));
	assert_non_null(entry);
	entry->who = trace_plat_ip_pack(fake_func(KFREE) + 2);
	memcpy(entry->name, "eight ch", 8); /* without a NUL */
	entry->small = -1;
	entry->letter = 'x';
	memcpy(entry->list, (const uint16_t[]){ 1, 0xffff, 0 }, sizeof(entry->list));
	entry->large = UINT64_MAX;
	entry->negative = INT64_MIN;
	entry->pointer = (const char *)0x1234;
	entry->callers[0] = trace_plat_ip_pack(fake_func(YIELD));
	entry->callers[1] = 0x10;
	for (uint32_t i = 0; i < nr_rest; i++)
		entry->rest[i] = 5 + 11 * i;
	trace_event_buffer_commit(&fbuffer, entry);
}

#endif
