/*
 * The steps of a program become bytes of an event. See fetch.h.
 *
 * Context: any, NMI included.
 */
#include <trace/platform.h>
#include "expr/expr_memory.h"
#include "fetch.h"
#include "fetch_step.h"
#include "text/str.h"

#define LOCATION_BYTES 4u
#define PIECE	       8u /* of a text that is read at once */

/* An event that is being filled, and the run that fills it. */
struct fetch_event {
	struct expr_run run;
	uint8_t *entry;
	uint32_t room;
	uint32_t bytes; /* so far; may be more than there is room for */
};

static TRACE_ALWAYS_INLINE struct fetch_event *event_of(struct expr_run *run)
{
	return (struct fetch_event *)run;
}

static TRACE_ALWAYS_INLINE const struct fetch_own *own_of(const struct expr_insn *insn)
{
	return (const struct fetch_own *)(const void *)&insn->own;
}

/* Go on behind the end of an argument. */
static TRACE_ALWAYS_INLINE void end_argument(struct expr_run *run, const struct expr_insn *insn)
{
	insn = insn->next[false] ? insn->next[false] : insn + 1;
	insn->step(run, insn, 0);
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
		fetch_run_put(event, "(fault)", 7);
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

static TRACE_ALWAYS_INLINE void store_text(struct fetch_event *event, uint32_t at, uintptr_t from)
{
	uint32_t start = event->bytes, len = UINT32_MAX;

	if (TRACE_LIKELY(start + PIECE <= event->room))
		len = fetch_run_take_text(event->entry + start, event->room - PIECE - start, from);
	if (TRACE_UNLIKELY(len == UINT32_MAX)) {
		store_any_text(event, at, from, true);
		return;
	}
	event->entry[start + len] = '\0';
	event->bytes = start + len + 1;
	len = start | (len + 1) << 16;
	__builtin_memcpy(event->entry + at, &len, sizeof(len));
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

/* ---- Steps: beginnings ---- */

static void fetch_step_address(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(run, insn, (uintptr_t)run->data + own_of(insn)->operand);
}

/* The place that a field of the data describes counts from `from`. */
static void fetch_step_located(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	uint32_t place;

	(void)value;
	__builtin_memcpy(&place, run->data + own_of(insn)->operand, sizeof(place));
	expr_next(run, insn, (uintptr_t)run->data + own_of(insn)->from + (place & 0xffff));
}

static void fetch_step_thread(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(run, insn, (uintptr_t)trace_plat_current() - own_of(insn)->operand);
}

static void fetch_step_this_cpu(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	value = trace_plat_this_cpu_ptr(value);
	insn = value ? insn + 1 : insn->next[false];
	insn->step(run, insn, value);
}

/* ---- Steps: numbers ---- */

static TRACE_ALWAYS_INLINE void fetch_run_store(uint8_t *to, uint64_t value, uint32_t size)
{
	if (size == 8)
		__builtin_memcpy(to, &value, 8);
	else if (size == 4)
		__builtin_memcpy(to, &value, 4);
	else if (size == 2)
		__builtin_memcpy(to, &value, 2);
	else
		*to = (uint8_t)value;
}

static void fetch_step_store(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	const struct fetch_own *own = own_of(insn);

	fetch_run_store(event_of(run)->entry + own->at, value, own->size);
	expr_next(run, insn, 0);
}

static void fetch_step_memory(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	const struct fetch_own *own = own_of(insn);
	uint8_t *to = event_of(run)->entry + own->at;

	if (!trace_plat_read(to, (const void *)(uintptr_t)(value + own->operand), own->size))
		memset(to, 0, own->size);
	end_argument(run, insn);
}

/* Numbers one behind the other, bits of each. */
static TRACE_NOINLINE void store_bits_of(const struct fetch_own *own, uint8_t *to, uint64_t from)
{
	uint64_t number;

	for (uint32_t i = 0; i < own->count; i++) {
		number = expr_number_at(&number, from, own->size) ? number << own->left : 0;
		fetch_run_store(to, number >> own->right, own->size);
		to += own->size;
		from += own->size;
	}
}

static void fetch_step_bits_of(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	const struct fetch_own *own = own_of(insn);

	store_bits_of(own, event_of(run)->entry + own->at, value + own->operand);
	end_argument(run, insn);
}

static void fetch_step_no_bytes(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	memset(event_of(run)->entry + own_of(insn)->at, 0, own_of(insn)->size);
	expr_next(run, insn, 0);
}

static TRACE_ALWAYS_INLINE uint64_t peek_address(const struct fetch_own *own, const uint8_t *got)
{
	uint64_t base = 0;

	if (TRACE_LIKELY(own->from != FETCH_NOWHERE))
		__builtin_memcpy(&base, got + own->from, sizeof(base));
	return base + own->operand;
}

static TRACE_ALWAYS_INLINE void peek(const struct fetch_own *own, const uint8_t *got,
				     uint8_t *entry, uint32_t size)
{
	uint64_t value = 0;

	if (TRACE_UNLIKELY(!expr_number_at(&value, peek_address(own, got), size)))
		value = 0;
	fetch_run_store(entry + own->at, value, size);
}

static TRACE_NOINLINE void peek_any(const struct fetch_own *own, const uint8_t *got, uint8_t *entry)
{
	peek(own, got, entry, own->size);
}

static void fetch_step_peek(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	peek_any(own_of(insn), run->data, event_of(run)->entry);
	expr_next(run, insn, 0);
}

static void fetch_step_peek_word(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	peek(own_of(insn), run->data, event_of(run)->entry, sizeof(uint64_t));
	expr_next(run, insn, 0);
}

/* ---- Steps: texts ---- */

static void fetch_step_peek_text(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	value = peek_address(own_of(insn), run->data);
	store_text(event_of(run), own_of(insn)->at, value);
	expr_next(run, insn, 0);
}

static void fetch_step_text(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	const struct fetch_own *own = own_of(insn);

	store_any_text(event_of(run), own->at, value + own->operand, true);
	end_argument(run, insn);
}

static TRACE_NOINLINE void store_texts(struct fetch_event *event, const struct fetch_own *own,
				       uint64_t from)
{
	for (uint32_t i = 0; i < own->count; i++) {
		uint64_t text = 0;
		bool is_there = trace_plat_read(&text, (const void *)(uintptr_t)from, sizeof(text));

		store_any_text(event, own->at + i * LOCATION_BYTES, text, is_there);
		from += sizeof(text);
	}
}

static void fetch_step_texts(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	store_texts(event_of(run), own_of(insn), value + own_of(insn)->operand);
	end_argument(run, insn);
}

static void fetch_step_no_texts(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	for (uint32_t i = 0; i < own_of(insn)->count; i++)
		store_any_text(event_of(run), own_of(insn)->at + i * LOCATION_BYTES, 0, false);
	expr_next(run, insn, 0);
}

static void fetch_step_name_of(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	store_symbol(event_of(run), own_of(insn)->at, value);
	end_argument(run, insn);
}

static void fetch_step_literal(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	const struct fetch_own *own = own_of(insn);
	struct fetch_event *event = event_of(run);
	uint32_t start = event->bytes;

	(void)value;
	fetch_run_put(event, (const void *)(uintptr_t)own->operand, own->size);
	fetch_run_end_text(event, start, own->at);
	expr_next(run, insn, 0);
}

static TRACE_NOINLINE void store_comm(struct fetch_event *event, uint32_t at)
{
	char comm[TRACE_COMM_LEN];
	uint32_t start = event->bytes;

	trace_plat_current_comm(comm);
	fetch_run_put(event, comm, (uint32_t)trace_strnlen(comm, sizeof(comm) - 1));
	fetch_run_end_text(event, start, at);
}

static void fetch_step_comm(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	store_comm(event_of(run), own_of(insn)->at);
	expr_next(run, insn, 0);
}

const expr_step_fn trace_fetch_steps[FETCH_NR_CODES] = {
	[FETCH_ADDRESS] = fetch_step_address,
	[FETCH_LOCATED] = fetch_step_located,
	[FETCH_LOCATED_BACK] = fetch_step_located,
	[FETCH_THREAD] = fetch_step_thread,
	[FETCH_THIS_CPU] = fetch_step_this_cpu,
	[FETCH_LITERAL] = fetch_step_literal,
	[FETCH_COMM] = fetch_step_comm,
	[FETCH_STORE] = fetch_step_store,
	[FETCH_MEMORY] = fetch_step_memory,
	[FETCH_BITS_OF] = fetch_step_bits_of,
	[FETCH_TEXT_AT] = fetch_step_text,
	[FETCH_TEXTS] = fetch_step_texts,
	[FETCH_NAME_OF] = fetch_step_name_of,
	[FETCH_NO_BYTES] = fetch_step_no_bytes,
	[FETCH_NO_TEXTS] = fetch_step_no_texts,
	[FETCH_PEEK] = fetch_step_peek,
	[FETCH_PEEK_WORD] = fetch_step_peek_word,
	[FETCH_PEEK_TEXT] = fetch_step_peek_text,
};

/* ---- All of it ---- */

static void fetch_run_copy_words(const struct fetch_program *program, const uint8_t *got,
				 uint8_t *entry)
{
	const struct fetch_copy *copy = program->copies_end, *end = copy + program->nr_words;

	for (; copy < end; copy++)
		__builtin_memcpy(entry + copy->to, got + copy->from, 4);
}

static TRACE_NOINLINE void fetch_run_numbers(const struct expr_insn *insn, const uint8_t *got,
					     uint8_t *entry)
{
	struct fetch_event event;

	event.run.data = got;
	event.entry = entry;
	insn->step(&event.run, insn, 0);
}

/* A program that begins with reads of 8 bytes needs no registers that would have to be saved. */
void trace_fetch_rest(const struct fetch_program *program, const void *got, uint8_t *entry)
{
	const struct expr_insn *insn;

	fetch_run_copy_words(program, got, entry);
	if (!program->steps)
		return;
	for (insn = program->steps->insns; insn->step == fetch_step_peek_word; insn++)
		peek(own_of(insn), got, entry, sizeof(uint64_t));
	if (insn->op != EXPR_END)
		fetch_run_numbers(insn, got, entry);
}

/* The steps, into an event that may have texts; those at the beginning are the commonest. */
static void fetch_run_any(const struct expr_insn *insn, struct fetch_event *event)
{
	for (; insn->step == fetch_step_peek_text; insn++)
		store_text(event, own_of(insn)->at, peek_address(own_of(insn), event->run.data));
	if (insn->op != EXPR_END)
		insn->step(&event->run, insn, 0);
}

uint32_t trace_fetch_run(const struct fetch_program *program, const void *got, uint8_t *entry,
			 uint32_t room)
{
	struct fetch_event event;

	fetch_copies(program, got, entry);
	fetch_run_copy_words(program, got, entry);
	event.run.data = got;
	event.entry = entry;
	event.room = room;
	event.bytes = program->fixed_bytes;
	if (program->steps)
		fetch_run_any(program->steps->insns, &event);
	if (event.bytes & 3 && event.bytes < room)
		memset(entry + event.bytes, 0, 4 - (event.bytes & 3)); /* no old bytes */
	return (event.bytes + 3) & ~3u;
}
