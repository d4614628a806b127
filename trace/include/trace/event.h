/*
 * Types of events: the fields of an event, and its printing as a line. A type may be registered
 * from anywhere; docs/event-types.md has an example.
 *
 *   struct trace_entry   the head of every event: its type, and the state of the CPU
 *   own fields           each described once by a struct trace_event_field
 *
 * From the description comes everything else: the line in `trace`, if the type has no function for
 * it, the options raw, hex and bin, and the text of a `format` file, which tells tools how to read
 * raw pages.
 *
 * Context:   registering - thread, may sleep. Writing - any, NMI included. Printing - any.
 * Ownership: the type, with all its pointers, belongs to its user, and stays until unregistered.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ring_buffer;
struct trace_array;
struct trace_event;
struct trace_event_call;
struct trace_iter;
struct trace_seq;

struct trace_entry {
	uint16_t type;
	uint8_t flags;	       /* enum trace_entry_flags of instance/entry.h */
	uint8_t preempt_count; /* bits 0-3: preempt depth; 15 means 15 or more */
	int32_t pid;	       /* of the thread, in interrupts of the interrupted one */
};

/* To be written behind a struct with members of 8 bytes, because events are aligned to 4 only. */
#define TRACE_ENTRY_ALIGNED __attribute__((packed, aligned(4)))

/* ---- Fields of an event ---- */

/* Places of a field's value. */
enum trace_field_kind {
	TRACE_FIELD_PLAIN, /* in the field itself */
	/*
	 * Behind the fixed part. The field itself has 4 bytes: the low half is the offset of the
	 * value from the start of the event, the high half its length in bytes.
	 */
	TRACE_FIELD_DATA_LOC,
	TRACE_FIELD_REL_LOC, /* the same, but the offset counts from the end of the field itself */
};

/* Values compared by a filter. The names are those of __field_ext() in definitions for Linux. */
enum trace_filter_type {
	FILTER_OTHER,	   /* by the C type: a number, or text if it is an array of char */
	FILTER_PTR_STRING, /* a pointer to text that never goes away */
	FILTER_TRACE_FN,   /* a code address: may be compared by function */
	FILTER_CPUMASK,	   /* a set of CPUs */
	FILTER_STACKTRACE, /* an array of code addresses */
};

struct trace_event_field {
	const char *name;
	const char *type; /* in C; of an array, that of its elements */
	uint32_t offset;  /* from the start of the event, struct trace_entry included */
	uint32_t size;	  /* in bytes; 0: an array that goes on up to the end of the event */
	uint32_t element_size;
	bool is_signed;
	bool is_address;     /* a code address in 32 bits: trace_plat_ip_pack() */
	uint8_t kind;	     /* enum trace_field_kind */
	uint8_t filter_type; /* enum trace_filter_type */
};

/* For the macros below. Sets every member, because C++ warns of one that is left out. */
#define TRACE_FIELD_INIT(field_name, c_type, entry, member, bytes, element_bytes, sign, address)   \
	{                                                                                          \
		.name = (field_name), .type = (c_type), .offset = offsetof(struct entry, member),  \
		.size = (bytes), .element_size = (element_bytes), .is_signed = (sign),             \
		.is_address = (address), .kind = TRACE_FIELD_PLAIN, .filter_type = FILTER_OTHER    \
	}
#define TRACE_SIZEOF_MEMBER(entry, member) sizeof(((struct entry *)0)->member)
#define TRACE_TYPE_IS_SIGNED(c_type)	   ((c_type)-1 < (c_type)1)
/*
 * Field `field_name`, of the C type `c_type` or an array of it, is `member` of struct `entry`:
 *
 *	static const struct trace_event_field fields[] = {
 *		TRACE_FIELD("irq", int, my_entry, irq),
 *		TRACE_FIELD("name", char, my_entry, name),
 *	};
 */
#define TRACE_FIELD(field_name, c_type, entry, member)                                             \
	TRACE_FIELD_INIT(field_name, #c_type, entry, member, TRACE_SIZEOF_MEMBER(entry, member),   \
			 sizeof(c_type), TRACE_TYPE_IS_SIGNED(c_type), false)
/* A code address, which trace_plat_ip_pack() has put into 32 bits. */
#define TRACE_FIELD_ADDRESS(field_name, entry, member)                                             \
	TRACE_FIELD_INIT(field_name, "unsigned int", entry, member,                                \
			 TRACE_SIZEOF_MEMBER(entry, member), sizeof(uint32_t), false, true)
/* `member`, declared as `c_type member[]`, is as long as the rest of the event. */
#define TRACE_FIELD_REST(field_name, c_type, entry, member)                                        \
	TRACE_FIELD_INIT(field_name, #c_type, entry, member, 0, sizeof(c_type),                    \
			 TRACE_TYPE_IS_SIGNED(c_type), false)
/* The same, of code addresses. */
#define TRACE_FIELD_REST_ADDRESSES(field_name, entry, member)                                      \
	TRACE_FIELD_INIT(field_name, "unsigned int", entry, member, 0, sizeof(uint32_t), false,    \
			 true)

/*
 * For a print_fmt: unpacks the code address in field `field_name` as an argument of %ps, that is,
 * extends it by its sign. The expression is one that libtraceevent computes correctly: there a cast
 * to int does not extend the sign, ^ is not known, and parentheses behind an operator are dropped.
 */
#define TRACE_REC_ADDRESS(field_name)                                                              \
	"(void *)(((REC->" field_name " + 0x80000000ul) & 0xfffffffful) - 0x80000000ul)"

/* ---- Types ---- */

typedef void (*trace_print_fn)(const struct trace_iter *iter, struct trace_seq *seq);

/*
 * Functions that print events of one type, behind the columns common to all lines. Each may be
 * NULL; the event is then printed by the description of its fields. Types may share one of these.
 */
struct trace_event_functions {
	trace_print_fn trace;	/* the text, newline included; NULL: `NAME: FIELD=VALUE ...` */
	trace_print_fn raw;	/* option raw: the values, newline included */
	trace_print_fn hex;	/* option hex: digits and a blank for each field */
	trace_print_fn binary;	/* option bin: the bytes of each field */
	trace_print_fn message; /* option printk-msg-only; NULL: it changes nothing */
	/* Write the type's `print_fmt` on demand, instead of keeping it. */
	void (*print_fmt)(const struct trace_event *event, struct trace_seq *seq);
};

struct trace_event {
	const char *name;
	const char *system; /* the directory of events/ that it belongs to */
	/* 0: registering sets a number. Those below TRACE_EVENT_FIRST_TYPE are for trace/ only. */
	uint16_t type;
	uint32_t nr_fields;
	const struct trace_event_field *fields; /* without those of struct trace_entry */
	/*
	 * For tools: a format and arguments, such as `"%d", REC->irq`. NULL: the text of `funcs`,
	 * or else one made of the fields.
	 */
	const char *print_fmt;
	/* NULL: registering sets one that has none. */
	const struct trace_event_functions *funcs;
	/*
	 * Of a trace event, which is switched in events/; NULL for a type that is not switched
	 * there.
	 */
	struct trace_event_call *call;
};

#define TRACE_EVENT_FIRST_TYPE 32u
#define TRACE_EVENT_MAX_TYPE   UINT16_MAX

/*
 * Register a type, so that its events can be written and printed. 0; -EINVAL: no name, no system, a
 * field that cannot exist, or a number that is not trace/'s; -EEXIST: it is registered, or its
 * number, or its name in that system, is taken; -ENOSPC: all numbers are taken; -ENOMEM. Thread.
 */
int register_trace_event(struct trace_event *event);
/*
 * Unregister a type; waits until none of its events is being printed. Those that are still in
 * buffers are printed as `Unknown type N`. Its number is given to another type only after all other
 * free ones. None of its events may be being written. Returns 0, or -ENOENT when it is not
 * registered. Thread.
 */
int unregister_trace_event(struct trace_event *event);

/*
 * Write the text of the file `format` and a NUL into the `size` bytes at `buf`. Returns its length
 * without the NUL, or -ENOSPC: it was cut. Any context.
 */
int trace_event_format(const struct trace_event *event, char *buf, size_t size);
/* The same, into a text that grows. */
void trace_event_format_seq(const struct trace_event *event, struct trace_seq *seq);

/* ---- Writing ---- */

struct trace_event_buffer {
	struct trace_array *tr;
	struct ring_buffer *buffer;
};
/*
 * Reserve room for an event of `bytes` bytes, which begins with a struct trace_entry, in the
 * instance `tr` (the caller has a reference, see <trace/trace.h>) or with NULL in the global one.
 * The head is filled in; the caller fills in the rest and calls trace_event_buffer_commit().
 * Preemption is off until then. NULL: recording is off or the event was dropped; do not commit.
 */
void *trace_event_buffer_reserve(struct trace_event_buffer *fbuffer, struct trace_array *tr,
				 const struct trace_event *event, size_t bytes);
/* Make the event at `entry` visible to readers; it is no longer the caller's. */
void trace_event_buffer_commit(struct trace_event_buffer *fbuffer, void *entry);

/* ---- For functions that print ---- */

/*
 * The event that is being printed, from its struct trace_entry on. It has *out_len bytes; after
 * damage that may be fewer than the type has.
 */
const void *trace_iter_event(const struct trace_iter *iter, uint32_t *out_len);
/* Its instance, the CPU that wrote it, and its time in units of the trace_clock. */
struct trace_array *trace_iter_array(const struct trace_iter *iter);
uint32_t trace_iter_cpu(const struct trace_iter *iter);
uint64_t trace_iter_ts(const struct trace_iter *iter);
/*
 * Print an address in the form that options ask for: `name` or `name+0x1/0x2`, then ` <address>`.
 */
void trace_print_ip(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip);
/* The same for a return address: the name is that of the function that made the call. */
void trace_print_return(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip);

TRACE_END_DECLS

#endif
