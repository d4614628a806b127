/* Texts of an event: their bytes, and the fields that say where they are. See fetch_event.h. */
#include "fetch_event.h"
#include <trace/platform.h>
#include "fetch.h"
#include "text/str.h"

/* Copy the bytes that fit; further ones count nevertheless. */
static void fetch_text_put(struct fetch_event *event, const void *from, uint32_t bytes)
{
	uint32_t room = event->bytes < event->room ? event->room - event->bytes : 0;

	memcpy(event->entry + (room ? event->bytes : 0), from, bytes < room ? bytes : room);
	event->bytes += bytes;
}

static void put_piece(struct fetch_event *event, uint64_t piece, uint32_t bytes)
{
	if (TRACE_LIKELY(event->bytes + FETCH_PIECE <= event->room)) {
		__builtin_memcpy(event->entry + event->bytes, &piece, FETCH_PIECE);
		event->bytes += bytes;
	} else {
		fetch_text_put(event, &piece, bytes);
	}
}

static bool read_piece(uint64_t *to, uintptr_t from, bool is_user)
{
	const void *at = (const void *)from;

	return is_user ? trace_plat_read_user(to, at, FETCH_PIECE) : trace_plat_read_word(to, at);
}

/*
 * Copy the text at `from` without its NUL. Returns false when some of it cannot be read. It is read
 * by words, which never lie in two pages. Bytes in front of it in the first word are shifted out;
 * the zeros that come in at the other end are cut off.
 */
static bool fetch_text_copy(struct fetch_event *event, uintptr_t from, bool is_user)
{
	uint32_t skipped = (uint32_t)(from % FETCH_PIECE), left = FETCH_TEXT_MAX - 1, step, len;
	uint64_t piece;

	for (from -= skipped;; from += FETCH_PIECE, skipped = 0) {
		if (!read_piece(&piece, from, is_user))
			return false;
		step = FETCH_PIECE - skipped;
		piece >>= 8 * skipped;
		len = fetch_text_len(piece, step < left ? step : left);
		put_piece(event, piece, len);
		left -= len;
		if (len < step || !left)
			return true;
	}
}

/* End the text that begins at `start`, and say in the field at `at` where it is. */
static void fetch_text_end(struct fetch_event *event, uint32_t start, uint32_t at)
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

void trace_fetch_store_no_text(struct fetch_event *event, uint32_t at)
{
	trace_fetch_store_literal(event, at, FETCH_FAULT, sizeof(FETCH_FAULT) - 1);
}

void trace_fetch_store_text(struct fetch_event *event, uint32_t at, uintptr_t from, bool is_user)
{
	uint32_t start = event->bytes;
	bool is_there = !is_user && fetch_text_copy(event, from, false);

	if (!is_there) {
		event->bytes = start;
		is_there = fetch_text_copy(event, from, true);
	}
	if (is_there) {
		fetch_text_end(event, start, at);
		return;
	}
	event->bytes = start;
	trace_fetch_store_no_text(event, at);
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
	fetch_text_put(event, text + at, (uint32_t)sizeof(text) - at);
}

void trace_fetch_store_symbol(struct fetch_event *event, uint32_t at, uint64_t address)
{
	char name[TRACE_SYM_LEN];
	uint32_t begin = event->bytes;
	uintptr_t start;
	size_t size;

	if (trace_plat_symbol(address, name, &start, &size)) {
		fetch_text_put(event, name, (uint32_t)trace_strnlen(name, sizeof(name)));
		fetch_text_put(event, "+", 1);
		put_hex(event, address - start);
		fetch_text_put(event, "/", 1);
		put_hex(event, size);
	} else {
		put_hex(event, address);
	}
	fetch_text_end(event, begin, at);
}

void trace_fetch_store_comm(struct fetch_event *event, uint32_t at)
{
	char comm[TRACE_COMM_LEN];

	trace_plat_current_comm(comm);
	trace_fetch_store_literal(event, at, comm, (uint32_t)trace_strnlen(comm, sizeof(comm) - 1));
}

void trace_fetch_store_literal(struct fetch_event *event, uint32_t at, const char *text,
			       uint32_t len)
{
	uint32_t start = event->bytes;

	fetch_text_put(event, text, len);
	fetch_text_end(event, start, at);
}
