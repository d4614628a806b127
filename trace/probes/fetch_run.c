/*
 * The steps of a program become bytes of an event. See fetch.h.
 *
 * Context: any, NMI included.
 */
#include <trace/platform.h>
#include "expr/expr_memory.h"
#include "fetch.h"
#include "fetch_event.h"
#include "fetch_step.h"
#include "text/str.h"

#define LOCATION_BYTES 4u

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

/*
 * fetch_text_copy() for the common case: the text can be read, and lies in the `room` bytes at
 * `to`, behind which another word may be written. Returns its length; UINT32_MAX: it is another
 * case.
 */
static TRACE_ALWAYS_INLINE uint32_t fetch_run_take_text(uint8_t *to, uint32_t room, uintptr_t from)
{
	uint32_t skipped = (uint32_t)(from % FETCH_PIECE), at = FETCH_PIECE - skipped, len;
	uint64_t piece, zeros;

	from -= skipped;
	if (!trace_plat_read_word(&piece, (const void *)from))
		return UINT32_MAX;
	piece >>= 8 * skipped;
	len = fetch_text_len(piece, at);
	__builtin_memcpy(to, &piece, FETCH_PIECE);
	if (len < at)
		return len;
	for (; at <= room; at += FETCH_PIECE) {
		from += FETCH_PIECE;
		if (!trace_plat_read_word(&piece, (const void *)from))
			return UINT32_MAX;
		__builtin_memcpy(to + at, &piece, FETCH_PIECE);
		zeros = fetch_text_zeros(piece);
		if (zeros)
			return at + (uint32_t)__builtin_ctzll(zeros) / 8;
	}
	return UINT32_MAX;
}

static TRACE_ALWAYS_INLINE void store_text(struct fetch_event *event, uint32_t at, uintptr_t from)
{
	uint32_t start = event->bytes, len = UINT32_MAX;

	if (TRACE_LIKELY(start + FETCH_PIECE <= event->room))
		len = fetch_run_take_text(event->entry + start, event->room - FETCH_PIECE - start,
					  from);
	if (TRACE_UNLIKELY(len == UINT32_MAX)) {
		trace_fetch_store_text(event, at, from, false);
		return;
	}
	event->entry[start + len] = '\0';
	event->bytes = start + len + 1;
	len = start | (len + 1) << 16;
	__builtin_memcpy(event->entry + at, &len, sizeof(len));
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

static void fetch_step_head(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(run, insn, expr_load8(event_of(run)->entry, (uint32_t)own_of(insn)->operand));
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

static void fetch_step_read_user(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	const struct expr_got got =
		trace_expr_user_number(value + own_of(insn)->operand, sizeof(uint64_t));

	insn = got.is_there ? insn + 1 : insn->next[false];
	insn->step(run, insn, got.value);
}

/* ---- Steps: numbers ---- */

/* Read bytes of the running program, or of the kernel, or where that has none, of the program. */
static TRACE_NOINLINE bool fetch_run_read(void *to, uint64_t from, uint32_t bytes, bool is_user)
{
	const void *at = (const void *)(uintptr_t)from;

	return (!is_user && trace_plat_read(to, at, bytes)) || trace_plat_read_user(to, at, bytes);
}

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

	if (!fetch_run_read(to, value + own->operand, own->size, own->is_user))
		memset(to, 0, own->size);
	end_argument(run, insn);
}

/* Numbers one behind the other, bits of each. */
static TRACE_NOINLINE void store_bits_of(const struct fetch_own *own, uint8_t *to, uint64_t from)
{
	uint64_t number;

	for (uint32_t i = 0; i < own->count; i++) {
		number = 0;
		if (!fetch_run_read(&number, from, own->size, own->is_user))
			number = 0;
		number <<= own->left;
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

/* False, with nothing stored: it is no memory of the kernel's. */
static TRACE_ALWAYS_INLINE bool peek_kernel_word(const struct fetch_own *own, const uint8_t *got,
						 uint8_t *entry)
{
	uint64_t value;

	if (!trace_plat_read_word(&value, (const void *)(uintptr_t)peek_address(own, got)))
		return false;
	fetch_run_store(entry + own->at, value, sizeof(value));
	return true;
}

static TRACE_NOINLINE void peek_any(const struct fetch_own *own, const uint8_t *got, uint8_t *entry)
{
	uint64_t value = 0;

	if (TRACE_UNLIKELY(!expr_number_at(&value, peek_address(own, got), own->size)))
		value = 0;
	fetch_run_store(entry + own->at, value, own->size);
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
	if (TRACE_UNLIKELY(!peek_kernel_word(own_of(insn), run->data, event_of(run)->entry)))
		peek_any(own_of(insn), run->data, event_of(run)->entry);
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

	trace_fetch_store_text(event_of(run), own->at, value + own->operand, own->is_user_text);
	end_argument(run, insn);
}

static TRACE_NOINLINE void store_texts(struct fetch_event *event, const struct fetch_own *own,
				       uint64_t from)
{
	for (uint32_t i = 0; i < own->count; i++) {
		uint64_t text = 0;
		uint32_t at = own->at + i * LOCATION_BYTES;

		if (fetch_run_read(&text, from, sizeof(text), own->is_user))
			trace_fetch_store_text(event, at, text, own->is_user_text);
		else
			trace_fetch_store_no_text(event, at);
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
		trace_fetch_store_no_text(event_of(run), own_of(insn)->at + i * LOCATION_BYTES);
	expr_next(run, insn, 0);
}

static void fetch_step_name_of(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	trace_fetch_store_symbol(event_of(run), own_of(insn)->at, value);
	end_argument(run, insn);
}

static void fetch_step_literal(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	const struct fetch_own *own = own_of(insn);

	(void)value;
	trace_fetch_store_literal(event_of(run), own->at, (const char *)(uintptr_t)own->operand,
				  own->size);
	expr_next(run, insn, 0);
}

static void fetch_step_comm(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	trace_fetch_store_comm(event_of(run), own_of(insn)->at);
	expr_next(run, insn, 0);
}

const expr_step_fn trace_fetch_steps[FETCH_NR_CODES] = {
	[FETCH_ADDRESS] = fetch_step_address,
	[FETCH_LOCATED] = fetch_step_located,
	[FETCH_LOCATED_BACK] = fetch_step_located,
	[FETCH_HEAD] = fetch_step_head,
	[FETCH_THREAD] = fetch_step_thread,
	[FETCH_THIS_CPU] = fetch_step_this_cpu,
	[FETCH_READ_USER] = fetch_step_read_user,
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
	for (insn = program->steps->insns; insn->step == fetch_step_peek_word; insn++) {
		if (TRACE_UNLIKELY(!peek_kernel_word(own_of(insn), got, entry)))
			break; /* the step tries again, elsewhere */
	}
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
