/*
 * Arguments of traced calls: the list for each function, recording, and printing.
 *
 *   types/btf.h --> code of each call site --> callback: values of registers, copies of texts
 *                                               event --> name=value, by types again
 *
 * A code is one byte: 1 << number of argument registers, and below it a bit for each of them that
 * points to a text. 0: the function is unknown. The table of all codes is made when arguments are
 * first recorded, and stays.
 *
 * A text (`const char *`) is copied when the function is called, because later it may not be there
 * any more; all other pointers are recorded as addresses.
 *
 * Context:   making the table - thread, config lock held. The rest - any, NMI included.
 * Ownership: the table is never freed but in tests.
 */
#ifndef TRACE_CALL_ARGS_H
#define TRACE_CALL_ARGS_H

#include <stdatomic.h>
#include <trace/ftrace.h>
#include <trace/platform.h>

struct trace_event_field;
struct trace_iter;
struct trace_seq;

#define CALL_ARGS_MAX	 6u
#define CALL_TEXT_MAX	 32u	/* characters of a text that are recorded */
#define CALL_TEXT_LOST	 '\xff' /* instead of a text that could not be read */
#define CALL_SITE_STEP	 4u	/* no two call sites are so close */
#define CALL_TEXTS(code) ((code) & ((1u << call_nr_args(code)) - 1))

/* The end of events with arguments; `args` and `text` as TRACE_FIELD_DATA_LOC. */
struct trace_args_part {
	uint32_t args; /* unsigned long[] */
	uint32_t text; /* char[]: texts one behind the other, each with a NUL */
	uint64_t values[];
} __attribute__((packed, aligned(4)));

struct trace_call_codes {
	uintptr_t base;
	size_t bytes; /* of code that it covers */
	uint8_t codes[];
};
extern struct trace_call_codes *_Atomic trace_call_codes;

static TRACE_ALWAYS_INLINE uint32_t call_nr_args(uint32_t code)
{
	return 31u - (uint32_t)__builtin_clz(code | 1);
}

/* The code of the function at the call site `ip`. */
static TRACE_ALWAYS_INLINE uint32_t trace_call_code(uintptr_t ip)
{
	/* Pairs with the release that publishes the table. */
	const struct trace_call_codes *all =
		atomic_load_explicit(&trace_call_codes, memory_order_acquire);

	if (TRACE_UNLIKELY(!all) || TRACE_UNLIKELY(ip - all->base >= all->bytes))
		return 0;
	return all->codes[(ip - all->base) / CALL_SITE_STEP];
}

/* Arguments of one call, with copies of texts. */
struct call_args {
	uint32_t nr;
	uint32_t text_bytes;
	uint64_t values[CALL_ARGS_MAX];
	char text[CALL_ARGS_MAX * (CALL_TEXT_MAX + 1) + 3]; /* rounded up */
};

void trace_call_args_get(const struct ftrace_regs *fregs, uint32_t code, struct call_args *out);
/* Bytes that they need behind the fixed part of an event, `struct trace_args_part` included. */
static inline uint32_t trace_call_args_bytes(const struct call_args *args)
{
	return (uint32_t)sizeof(struct trace_args_part) + args->nr * 8 + args->text_bytes;
}
/* Write them to the part, which is at `offset` in its event. */
void trace_call_args_put(const struct call_args *args, struct trace_args_part *part,
			 uint32_t offset);

/* The first word of a part: where the values are. */
static TRACE_ALWAYS_INLINE uint32_t trace_args_loc(uint32_t part_offset, uint32_t nr)
{
	return (part_offset + (uint32_t)sizeof(struct trace_args_part)) | nr * 8 << 16;
}
/* The second: the texts behind them. */
static TRACE_ALWAYS_INLINE uint32_t trace_text_loc(uint32_t part_offset, uint32_t nr,
						   uint32_t bytes)
{
	return (part_offset + (uint32_t)sizeof(struct trace_args_part) + nr * 8) | bytes << 16;
}

/* The arguments of an event, all inside the event. */
struct call_recorded {
	const uint8_t *values;
	uint32_t nr;
	const char *text; /* the next one */
	uint32_t text_left;
};
/* false: the event is damaged. */
bool trace_call_recorded_find(const struct trace_iter *iter, uint32_t offset,
			      struct call_recorded *out);
uint64_t trace_call_recorded_value(const struct call_recorded *recorded, uint32_t nr);
/* The values as the options raw, hex and bin print them, each with a blank in front for raw. */
void trace_call_print_raw(const struct trace_iter *iter, struct trace_seq *seq, uint32_t offset);
void trace_call_print_hex(const struct trace_iter *iter, struct trace_seq *seq, uint32_t offset);
void trace_call_print_binary(const struct trace_iter *iter, struct trace_seq *seq, uint32_t offset);

/* For descriptions of events: the two words of a part, and the values for a print_fmt. */
#define TRACE_FIELD_LOC(field_name, c_type, entry, member)                                         \
	{                                                                                          \
		.name = (field_name), .type = #c_type, .offset = offsetof(struct entry, member),   \
		.size = sizeof(uint32_t), .element_size = sizeof(c_type),                          \
		.kind = TRACE_FIELD_DATA_LOC                                                       \
	}
#define TRACE_FIELD_ARGS(field_name, entry, member)                                                \
	TRACE_FIELD_LOC(field_name, unsigned long, entry, member)
#define TRACE_FIELD_ARG_TEXTS(field_name, entry, member)                                           \
	TRACE_FIELD_LOC(field_name, char, entry, member)
#define TRACE_ARGS_FMT                                                                             \
	"__print_array(__get_dynamic_array(args), __get_dynamic_array_len(args) / 8, 8)"

/* ---- With types: call_types.c; without, there are no such functions ---- */

struct call_types {
	/* Make the table. 0, -EOPNOTSUPP: there are no types, -ENOMEM. */
	int (*prepare)(void);
	/* Print `(name=value, ...)` of the event, whose part is at `offset`. */
	void (*print_args)(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
			   uint32_t offset);
	/*
	 * Print the returned value, with `before` in front. Returns false, with nothing printed,
	 * when its type is not known. A function that returns nothing has no value, and prints
	 * none.
	 */
	bool (*print_return)(struct trace_seq *seq, uint32_t packed_ip, uint64_t value,
			     const char *before);
	bool (*returns_nothing)(uint32_t packed_ip);
};
extern const struct call_types *trace_call_types; /* NULL: none; set at start */
/* Free the table, while nothing is recorded. For tests. */
void trace_call_codes_free(void);

/* For an option that records arguments, before it is set. 0 or -errno, with a line in error_log. */
int trace_call_args_prepare(void);

#endif
