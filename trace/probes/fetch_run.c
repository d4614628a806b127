/*
 * The steps of a program become bytes of an event. See fetch.h.
 *
 * Context: any, NMI included.
 */
#include <trace/platform.h>
#include "fetch.h"
#include "text/str.h"

#define LOCATION_BYTES 4u
#define PIECE	       8u /* of a text that is read at once: never from two pages */

static const char fault_text[] = "(fault)";

/* An event that is being filled. */
struct fetch_event {
	uint8_t *entry;
	uint32_t room;
	uint32_t bytes; /* so far; may be more than there is room for */
};

static uint64_t load(const uint8_t *from, uint32_t size)
{
	uint64_t value = 0;

	switch (size) {
	case 1:
		return *from;
	case 2:
		__builtin_memcpy(&value, from, 2);
		return value;
	case 4:
		__builtin_memcpy(&value, from, 4);
		return value;
	default:
		__builtin_memcpy(&value, from, 8);
		return value;
	}
}

static uint64_t load_signed(const uint8_t *from, uint32_t size)
{
	uint32_t shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(load(from, size) << shift) >> shift);
}

static void store(uint8_t *to, uint64_t value, uint32_t size)
{
	switch (size) {
	case 1:
		*to = (uint8_t)value;
		break;
	case 2:
		__builtin_memcpy(to, &value, 2);
		break;
	case 4:
		__builtin_memcpy(to, &value, 4);
		break;
	default:
		__builtin_memcpy(to, &value, 8);
		break;
	}
}

/* The address that a field with a place and a length leads to, and what its place counts from. */
static uint64_t located(const uint8_t *field, const uint8_t *from)
{
	return (uintptr_t)from + (load(field, LOCATION_BYTES) & 0xffff);
}

static uint64_t bits_of(const struct fetch_op *op, uint64_t value)
{
	value <<= op->left;
	return op->is_signed ? (uint64_t)((int64_t)value >> op->right) : value >> op->right;
}

/* ---- Texts ---- */

/* How many bytes of the `nr` at `piece` are before a NUL? */
static uint32_t text_len(uint64_t piece, uint32_t nr)
{
	const uint64_t ones = 0x0101010101010101;
	/* The lowest bit that is set is the high one of the first byte that is 0. */
	uint64_t zeros = (piece - ones) & ~piece & ones << 7;
	uint32_t len = zeros ? (uint32_t)__builtin_ctzll(zeros) / 8 : PIECE;

	return len < nr ? len : nr;
}

/* Copy what there is room for; bytes behind it count nevertheless. */
static void put(struct fetch_event *event, const void *from, uint32_t bytes)
{
	uint32_t room = event->bytes < event->room ? event->room - event->bytes : 0;

	memcpy(event->entry + (room ? event->bytes : 0), from, bytes < room ? bytes : room);
	event->bytes += bytes;
}

static void put_piece(struct fetch_event *event, uint64_t piece, uint32_t bytes)
{
	if (TRACE_LIKELY(event->bytes + PIECE <= event->room)) {
		__builtin_memcpy(event->entry + event->bytes, &piece, PIECE);
		event->bytes += bytes;
	} else {
		put(event, &piece, bytes);
	}
}

/* Copy the text at `from` without its NUL. False: some of it cannot be read. */
static bool put_text(struct fetch_event *event, uintptr_t from)
{
	uintptr_t end = from + FETCH_TEXT_MAX - 1;
	uint64_t piece = 0;
	uint32_t step, len;

	do {
		step = PIECE - (uint32_t)(from % PIECE);
		if (step > end - from)
			step = (uint32_t)(end - from);
		if (!step)
			break;
		if (!trace_plat_read(&piece, (const void *)from, step))
			return false;
		len = text_len(piece, step);
		put_piece(event, piece, len);
		from += step;
	} while (len == step);
	return true;
}

/* End the text that begins at `start`, and say in the field at `at` where it is. */
static void end_text(struct fetch_event *event, uint32_t start, uint32_t at)
{
	uint32_t place;

	if (TRACE_LIKELY(event->bytes < event->room))
		event->entry[event->bytes] = '\0';
	event->bytes++;
	/* Cut by the end of the longest event. */
	if (event->bytes > event->room && start < event->room)
		event->entry[event->room - 1] = '\0';
	if (start > event->room)
		start = event->room;
	place = (event->bytes < event->room ? event->bytes : event->room) - start;
	place = start | place << 16;
	__builtin_memcpy(event->entry + at, &place, sizeof(place));
}

static TRACE_NOINLINE void store_text(struct fetch_event *event, uint32_t at, uintptr_t from,
				      bool is_there)
{
	uint32_t start = event->bytes;

	if (!is_there || !put_text(event, from)) {
		event->bytes = start;
		put(event, fault_text, sizeof(fault_text) - 1);
	}
	end_text(event, start, at);
}

static TRACE_NOINLINE void store_texts(struct fetch_event *event, const struct fetch_op *op,
				       uintptr_t from, bool is_there)
{
	for (uint32_t i = 0; i < op->count; i++) {
		uint64_t text = 0;
		bool is_read = is_there && trace_plat_read(&text, (const void *)from, sizeof(text));

		store_text(event, op->at + i * LOCATION_BYTES, text, is_read);
		from += sizeof(text);
	}
}

static void put_hex(struct fetch_event *event, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 + 16];
	uint32_t at = sizeof(text);

	do {
		text[--at] = digits[value & 15];
		value >>= 4;
	} while (value);
	text[--at] = 'x';
	text[--at] = '0';
	put(event, text + at, (uint32_t)sizeof(text) - at);
}

static TRACE_NOINLINE void store_symbol(struct fetch_event *event, uint32_t at, uint64_t address)
{
	char name[TRACE_SYM_LEN];
	uint32_t begin = event->bytes;
	uintptr_t start;
	size_t size;

	if (trace_plat_symbol(address, name, &start, &size)) {
		put(event, name, (uint32_t)trace_strnlen(name, sizeof(name)));
		put(event, "+", 1);
		put_hex(event, address - start);
		put(event, "/", 1);
		put_hex(event, size);
	} else {
		put_hex(event, address);
	}
	end_text(event, begin, at);
}

static TRACE_NOINLINE void store_comm(struct fetch_event *event, uint32_t at)
{
	char comm[TRACE_COMM_LEN];
	uint32_t start = event->bytes;

	trace_plat_current_comm(comm);
	put(event, comm, (uint32_t)trace_strnlen(comm, sizeof(comm) - 1));
	end_text(event, start, at);
}

static void store_literal(struct fetch_event *event, const struct fetch_op *op)
{
	uint32_t start = event->bytes;

	put(event, (const void *)(uintptr_t)op->value, op->size);
	end_text(event, start, op->at);
}

/* ---- Memory ---- */

static void store_memory(uint8_t *to, const struct fetch_op *op, uintptr_t from, bool is_there)
{
	if (!is_there || !trace_plat_read(to, (const void *)from, op->size))
		memset(to, 0, op->size);
}

/* Numbers one behind the other, bits of each. */
static void store_bits(uint8_t *to, const struct fetch_op *op, uintptr_t from, bool is_there)
{
	for (uint32_t i = 0; i < op->count; i++) {
		uint64_t value = 0;

		if (!is_there || !trace_plat_read(&value, (const void *)from, op->size))
			value = 0;
		store(to, bits_of(op, value), op->size);
		to += op->size;
		from += op->size;
	}
}

static TRACE_NOINLINE void store_other(struct fetch_event *event, const struct fetch_op *op,
				       uint64_t value, bool is_there)
{
	uintptr_t from = value + op->value;

	switch (op->code) {
	case FETCH_STORE_BITS_OF:
		store_bits(event->entry + op->at, op, from, is_there);
		break;
	case FETCH_STORE_TEXTS:
		store_texts(event, op, from, is_there);
		break;
	case FETCH_STORE_LITERAL:
		store_literal(event, op);
		break;
	case FETCH_STORE_SYMBOL:
		if (is_there)
			store_symbol(event, op->at, value);
		else
			store_text(event, op->at, 0, false);
		break;
	default:
		store_comm(event, op->at);
		break;
	}
}

/* ---- All of it ---- */

static uint64_t begin_value(const struct fetch_op *op, const uint8_t *got)
{
	switch (op->code) {
	case FETCH_LOAD:
		return load(got + op->value, op->size);
	case FETCH_LOAD_SIGNED:
		return load_signed(got + op->value, op->size);
	case FETCH_ADDRESS:
		return (uintptr_t)got + op->value;
	case FETCH_LOCATED:
		return located(got + op->value, got);
	case FETCH_LOCATED_BACK:
		return located(got + op->value, got + op->value + LOCATION_BYTES);
	case FETCH_THREAD:
		return (uintptr_t)trace_plat_current() - op->value;
	default:
		return op->value;
	}
}

static void run_ops(const struct fetch_program *program, const uint8_t *got,
		    struct fetch_event *event)
{
	const struct fetch_op *op = program->ops, *end = op + program->nr_ops;
	bool is_there = true; /* nothing was read that cannot be */
	uint64_t value = 0, next;

	for (; op < end; op++) {
		if (op->code < FETCH_READ) {
			value = begin_value(op, got);
			is_there = true;
			continue;
		}
		switch (op->code) {
		case FETCH_READ:
			next = 0;
			is_there =
				is_there &&
				trace_plat_read(&next, (const void *)(value + op->value), op->size);
			value = is_there ? next : 0;
			break;
		case FETCH_STORE:
			store(event->entry + op->at, value, op->size);
			break;
		case FETCH_STORE_BITS:
			store(event->entry + op->at, bits_of(op, value), op->size);
			break;
		case FETCH_STORE_MEMORY:
			store_memory(event->entry + op->at, op, value + op->value, is_there);
			break;
		case FETCH_STORE_TEXT:
			store_text(event, op->at, value + op->value, is_there);
			break;
		default:
			store_other(event, op, value, is_there);
			break;
		}
	}
}

uint32_t fetch_run(const struct fetch_program *program, const void *got, uint8_t *entry,
		   uint32_t room)
{
	const struct fetch_copy *copy = program->copies, *end = copy + program->nr_copies;
	struct fetch_event event = { entry, room, program->fixed_bytes };

	for (; copy < end; copy++)
		__builtin_memcpy(entry + copy->to, (const uint8_t *)got + copy->from, 8);
	if (program->nr_ops)
		run_ops(program, got, &event);
	if (event.bytes & 3 && event.bytes < room)
		memset(entry + event.bytes, 0, 4 - (event.bytes & 3)); /* no old bytes */
	return (event.bytes + 3) & ~3u;
}
