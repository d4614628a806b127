/*
 * The steps of a program become bytes of an event. See fetch.h.
 *
 * Context: any, NMI included.
 */
#include <trace/platform.h>
#include "fetch.h"
#include "fetch_number.h"
#include "text/str.h"

#define LOCATION_BYTES 4u
#define PIECE	       8u /* of a text that is read at once */

static const char fault_text[] = "(fault)";

/* An event that is being filled. */
struct fetch_event {
	uint8_t *entry;
	uint32_t room;
	uint32_t bytes; /* so far; may be more than there is room for */
};

/* The address described by a field with a place and a length; `from` is the base of the place. */
static uint64_t located(const uint8_t *field, const uint8_t *from)
{
	return (uintptr_t)from + (fetch_load(field, LOCATION_BYTES) & 0xffff);
}

static uint64_t bits_of(const struct fetch_op *op, uint64_t value)
{
	value <<= op->left;
	return op->is_signed ? (uint64_t)((int64_t)value >> op->right) : value >> op->right;
}

/* ---- Texts ---- */

/* The lowest bit that is set is the high one of the first byte that is 0; none: none is. */
static TRACE_ALWAYS_INLINE uint64_t text_zeros(uint64_t piece)
{
	const uint64_t ones = 0x0101010101010101;

	return (piece - ones) & ~piece & ones << 7;
}

/* Bytes before a NUL, among the `nr` at `piece`. */
static uint32_t fetch_run_text_len(uint64_t piece, uint32_t nr)
{
	uint64_t zeros = text_zeros(piece);
	uint32_t len = zeros ? (uint32_t)__builtin_ctzll(zeros) / 8 : PIECE;

	return len < nr ? len : nr;
}

/* Copy the bytes that fit; further ones count nevertheless. */
static void fetch_run_put(struct fetch_event *event, const void *from, uint32_t bytes)
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
		fetch_run_put(event, &piece, bytes);
	}
}

/*
 * Copy the text at `from` without its NUL. Returns false when some of it cannot be read. It is read
 * by words, which never lie in two pages. Bytes in front of it in the first word are shifted out;
 * the zeros that come in at the other end are cut off.
 */
static bool fetch_run_put_text(struct fetch_event *event, uintptr_t from)
{
	uint32_t skipped = (uint32_t)(from % PIECE), left = FETCH_TEXT_MAX - 1, step, len;
	uint64_t piece;

	for (from -= skipped;; from += PIECE, skipped = 0) {
		if (!trace_plat_read_word(&piece, (const void *)from))
			return false;
		step = PIECE - skipped;
		piece >>= 8 * skipped;
		len = fetch_run_text_len(piece, step < left ? step : left);
		put_piece(event, piece, len);
		left -= len;
		if (len < step || !left)
			return true;
	}
}

/* End the text that begins at `start`, and say in the field at `at` where it is. */
static void fetch_run_end_text(struct fetch_event *event, uint32_t start, uint32_t at)
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

static TRACE_NOINLINE void store_any_text(struct fetch_event *event, uint32_t at, uintptr_t from,
					  bool is_there)
{
	uint32_t start = event->bytes;

	if (!is_there || !fetch_run_put_text(event, from)) {
		event->bytes = start;
		fetch_run_put(event, fault_text, sizeof(fault_text) - 1);
	}
	fetch_run_end_text(event, start, at);
}

/*
 * fetch_run_put_text() for the common case: the text can be read, and lies in the `room` bytes at
 * `to`, behind which another word may be written. Returns its length; UINT32_MAX: it is another
 * case.
 */
static TRACE_ALWAYS_INLINE uint32_t fetch_run_take_text(uint8_t *to, uint32_t room, uintptr_t from)
{
	uint32_t skipped = (uint32_t)(from % PIECE), at = PIECE - skipped, len;
	uint64_t piece, zeros;

	from -= skipped;
	if (!trace_plat_read_word(&piece, (const void *)from))
		return UINT32_MAX;
	piece >>= 8 * skipped;
	len = fetch_run_text_len(piece, at);
	__builtin_memcpy(to, &piece, PIECE);
	if (len < at)
		return len;
	for (; at <= room; at += PIECE) {
		from += PIECE;
		if (!trace_plat_read_word(&piece, (const void *)from))
			return UINT32_MAX;
		__builtin_memcpy(to + at, &piece, PIECE);
		zeros = text_zeros(piece);
		if (zeros)
			return at + (uint32_t)__builtin_ctzll(zeros) / 8;
	}
	return UINT32_MAX;
}

static TRACE_ALWAYS_INLINE void store_text(struct fetch_event *event, uint32_t at, uintptr_t from,
					   bool is_there)
{
	uint32_t start = event->bytes, len = UINT32_MAX;

	if (TRACE_LIKELY(is_there && start + PIECE <= event->room))
		len = fetch_run_take_text(event->entry + start, event->room - PIECE - start, from);
	if (TRACE_UNLIKELY(len == UINT32_MAX)) {
		store_any_text(event, at, from, is_there);
		return;
	}
	event->entry[start + len] = '\0';
	event->bytes = start + len + 1;
	len = start | (len + 1) << 16;
	__builtin_memcpy(event->entry + at, &len, sizeof(len));
}

static TRACE_NOINLINE void store_texts(struct fetch_event *event, const struct fetch_op *op,
				       uintptr_t from, bool is_there)
{
	for (uint32_t i = 0; i < op->count; i++) {
		uint64_t text = 0;
		bool is_read = is_there && trace_plat_read(&text, (const void *)from, sizeof(text));

		store_any_text(event, op->at + i * LOCATION_BYTES, text, is_read);
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
	fetch_run_put(event, text + at, (uint32_t)sizeof(text) - at);
}

static TRACE_NOINLINE void store_symbol(struct fetch_event *event, uint32_t at, uint64_t address)
{
	char name[TRACE_SYM_LEN];
	uint32_t begin = event->bytes;
	uintptr_t start;
	size_t size;

	if (trace_plat_symbol(address, name, &start, &size)) {
		fetch_run_put(event, name, (uint32_t)trace_strnlen(name, sizeof(name)));
		fetch_run_put(event, "+", 1);
		put_hex(event, address - start);
		fetch_run_put(event, "/", 1);
		put_hex(event, size);
	} else {
		put_hex(event, address);
	}
	fetch_run_end_text(event, begin, at);
}

static TRACE_NOINLINE void store_comm(struct fetch_event *event, uint32_t at)
{
	char comm[TRACE_COMM_LEN];
	uint32_t start = event->bytes;

	trace_plat_current_comm(comm);
	fetch_run_put(event, comm, (uint32_t)trace_strnlen(comm, sizeof(comm) - 1));
	fetch_run_end_text(event, start, at);
}

static void store_literal(struct fetch_event *event, const struct fetch_op *op)
{
	uint32_t start = event->bytes;

	fetch_run_put(event, (const void *)(uintptr_t)op->value, op->size);
	fetch_run_end_text(event, start, op->at);
}

/* ---- Memory ---- */

static TRACE_NOINLINE void store_memory(uint8_t *to, const struct fetch_op *op, uintptr_t from,
					bool is_there)
{
	if (!is_there || !trace_plat_read(to, (const void *)from, op->size))
		memset(to, 0, op->size);
}

/* Numbers one behind the other, bits of each. */
static TRACE_NOINLINE void store_bits(uint8_t *to, const struct fetch_op *op, uintptr_t from,
				      bool is_there)
{
	for (uint32_t i = 0; i < op->count; i++) {
		uint64_t value = 0;

		if (!is_there || !fetch_number_at(&value, from, op->size))
			value = 0;
		fetch_store(to, bits_of(op, value), op->size);
		to += op->size;
		from += op->size;
	}
}

static TRACE_NOINLINE void store_other(struct fetch_event *event, const struct fetch_op *op,
				       uint64_t value, bool is_there)
{
	uintptr_t from = value + op->value;

	switch (op->code) {
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
			store_any_text(event, op->at, 0, false);
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
		return fetch_load(got + op->value, op->size);
	case FETCH_LOAD_SIGNED:
		return fetch_load_signed(got + op->value, op->size);
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

/* The value that the steps so far have made. */
struct fetch_state {
	uint64_t value;
	bool is_there; /* nothing was read that cannot be */
};

static TRACE_ALWAYS_INLINE void read_value(struct fetch_state *state, const struct fetch_op *op)
{
	uint64_t value = 0;

	state->is_there =
		state->is_there && fetch_number_at(&value, state->value + op->value, op->size);
	state->value = state->is_there ? value : 0;
}

static TRACE_NOINLINE void find_on_this_cpu(struct fetch_state *state)
{
	state->value = state->is_there ? trace_plat_this_cpu_ptr(state->value) : 0;
	state->is_there = state->value;
}

static TRACE_ALWAYS_INLINE uint64_t peek_address(const struct fetch_op *op, const uint8_t *got)
{
	uint64_t base = 0;

	if (TRACE_LIKELY(op->from != FETCH_NOWHERE))
		__builtin_memcpy(&base, got + op->from, sizeof(base));
	return base + op->value;
}

static TRACE_ALWAYS_INLINE void peek_word(const struct fetch_op *op, const uint8_t *got,
					  uint8_t *entry)
{
	uint64_t value;

	if (TRACE_UNLIKELY(!trace_plat_read_word(&value, (const void *)peek_address(op, got))))
		value = 0;
	__builtin_memcpy(entry + op->at, &value, sizeof(value));
}

static TRACE_ALWAYS_INLINE void peek(const struct fetch_op *op, const uint8_t *got, uint8_t *entry)
{
	uint64_t value = 0;

	if (TRACE_UNLIKELY(!fetch_number_at(&value, peek_address(op, got), op->size)))
		value = 0;
	fetch_store(entry + op->at, value, op->size);
}

/* A step that stores no text. False: it does. */
static TRACE_ALWAYS_INLINE bool run_number(struct fetch_state *state, const struct fetch_op *op,
					   const uint8_t *got, uint8_t *entry)
{
	if (op->code == FETCH_PEEK) {
		peek(op, got, entry);
		return true;
	}
	if (op->code < FETCH_READ) {
		state->value = begin_value(op, got);
		state->is_there = true;
		return true;
	}
	switch (op->code) {
	case FETCH_READ:
		read_value(state, op);
		return true;
	case FETCH_THIS_CPU:
		find_on_this_cpu(state);
		return true;
	case FETCH_STORE:
		fetch_store(entry + op->at, state->value, op->size);
		return true;
	case FETCH_STORE_BITS:
		fetch_store(entry + op->at, bits_of(op, state->value), op->size);
		return true;
	case FETCH_STORE_MEMORY:
		store_memory(entry + op->at, op, state->value + op->value, state->is_there);
		return true;
	case FETCH_STORE_BITS_OF:
		store_bits(entry + op->at, op, state->value + op->value, state->is_there);
		return true;
	default:
		return false;
	}
}

static void fetch_run_copy_words(const struct fetch_program *program, const uint8_t *got,
				 uint8_t *entry)
{
	const struct fetch_copy *copy = program->copies_end, *end = copy + program->nr_words;

	for (; copy < end; copy++)
		__builtin_memcpy(entry + copy->to, got + copy->from, 4);
}

static TRACE_NOINLINE void fetch_run_numbers(const struct fetch_op *op, const struct fetch_op *end,
					     const uint8_t *got, uint8_t *entry)
{
	struct fetch_state state = { 0, true };

	for (; op < end; op++)
		(void)run_number(&state, op, got, entry);
}

/* A program that begins with reads of 8 bytes needs no registers that would have to be saved. */
void trace_fetch_rest(const struct fetch_program *program, const void *got, uint8_t *entry)
{
	const struct fetch_op *op = program->ops, *end = op + program->nr_ops;

	fetch_run_copy_words(program, got, entry);
	while (op < end && op->code == FETCH_PEEK && op->size == 8)
		peek_word(op++, got, entry);
	if (op < end)
		fetch_run_numbers(op, end, got, entry);
}

static void run_ops(const struct fetch_program *program, const uint8_t *got,
		    struct fetch_event *event)
{
	const struct fetch_op *op = program->ops, *end = op + program->nr_ops;
	struct fetch_state state = { 0, true };

	for (; op < end; op++) {
		if (op->code == FETCH_PEEK_TEXT)
			store_text(event, op->at, peek_address(op, got), true);
		else if (op->code == FETCH_STORE_TEXT)
			store_any_text(event, op->at, state.value + op->value, state.is_there);
		else if (!run_number(&state, op, got, event->entry))
			store_other(event, op, state.value, state.is_there);
	}
}

static TRACE_ALWAYS_INLINE void copy_all(const struct fetch_program *program, const uint8_t *got,
					 uint8_t *entry)
{
	const struct fetch_copy *copy = program->copies, *end = program->copies_end;

	for (; copy < end; copy++)
		__builtin_memcpy(entry + copy->to, got + copy->from, 8);
	fetch_run_copy_words(program, got, entry);
}

uint32_t trace_fetch_run(const struct fetch_program *program, const void *got, uint8_t *entry,
			 uint32_t room)
{
	struct fetch_event event = { entry, room, program->fixed_bytes };

	copy_all(program, got, entry);
	run_ops(program, got, &event);
	if (event.bytes & 3 && event.bytes < room)
		memset(entry + event.bytes, 0, 4 - (event.bytes & 3)); /* no old bytes */
	return (event.bytes + 3) & ~3u;
}
