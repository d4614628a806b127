/*
 * From bytes to messages. See ninep_frame.h.
 */
#include <kernel/string.h>
#include "ninep_frame.h"
#include "ninep_msg.h"

/* A Tversion as all clients of 9P2000.L send it; the msize, at SIGN_MSIZE, may be any. */
static const uint8_t sign[] = {
	21,  0,	  0,   0,   NINEP_TVERSION, 0xff, 0xff, 0, 0, 0, 0, 8, 0, '9', 'P', '2', '0',
	'0', '0', '.', 'L',
};
#define SIGN_MSIZE 7

/* A header with a larger size is noise, not a message. */
#define FRAME_TOO_LONG_MAX (64u << 20)

void ninep_frame_init(struct ninep_frame *frame, uint8_t *buf, size_t size)
{
	*frame = (struct ninep_frame){ .buf = buf, .size = size, .limit = size, .is_lost = true };
}

/*
 * The number of bytes at `at`, of `len`, that match the beginning of a Tversion; at most the length
 * of `sign`.
 */
static size_t frame_sign_len(const uint8_t *at, size_t len)
{
	size_t i, end = len < sizeof(sign) ? len : sizeof(sign);

	for (i = 0; i < end; i++) {
		bool is_msize = i >= SIGN_MSIZE && i < SIGN_MSIZE + 4;

		if (!is_msize && at[i] != sign[i])
			break;
	}
	return i;
}

/* Throw away `nr` bytes from number `from` on. A pause among them, or before, is over. */
static void frame_cut(struct ninep_frame *frame, size_t from, size_t nr)
{
	memmove(frame->buf + from, frame->buf + from + nr, frame->len - from - nr);
	frame->len -= nr;
	if (frame->pause_at < from + nr)
		frame->has_pause = false;
	else
		frame->pause_at -= nr;
}

static void frame_drop(struct ninep_frame *frame, size_t nr)
{
	frame_cut(frame, 0, nr);
	if (nr)
		frame->passed = 0;
}

uint8_t *ninep_frame_room(struct ninep_frame *frame, size_t *out_len)
{
	*out_len = frame->size - frame->len;
	return frame->buf + frame->len;
}

void ninep_frame_add(struct ninep_frame *frame, size_t nr)
{
	frame->len += nr;
}

bool ninep_frame_is_waiting(const struct ninep_frame *frame)
{
	return frame->len > frame->done;
}

/* The bytes behind the last pause were too short to tell: they were no Tversion. */
void ninep_frame_pause(struct ninep_frame *frame)
{
	frame_drop(frame, frame->done);
	frame->done = 0;
	frame->has_pause = true;
	frame->pause_at = frame->len;
}

/* Throw away the bytes in front of a possible beginning of a Tversion. */
static void frame_seek_sign(struct ninep_frame *frame)
{
	size_t from = 0;

	while (from < frame->len) {
		size_t left = frame->len - from, same = frame_sign_len(frame->buf + from, left);

		if (same == left || same == sizeof(sign))
			break;
		from++;
	}
	frame_drop(frame, from);
	frame->is_lost = frame->len < sizeof(sign);
}

/*
 * Is there a Tversion behind the pause? If so, throw away the bytes before it. False: it is too
 * early to tell.
 */
static bool frame_look_behind_pause(struct ninep_frame *frame)
{
	size_t left = frame->len - frame->pause_at;
	size_t same = frame_sign_len(frame->buf + frame->pause_at, left);

	if (same == sizeof(sign))
		frame_drop(frame, frame->pause_at);
	else if (same == left && left)
		return false;
	if (left)
		frame->has_pause = false;
	return true;
}

/*
 * Throw away the bytes behind the header of a message of `size` bytes, which is too long. Returns
 * the header when the last of them has come, NULL before.
 */
static const uint8_t *frame_pass_over(struct ninep_frame *frame, size_t size, size_t *out_len)
{
	size_t left = size - NINEP_HEADER_BYTES - frame->passed;
	size_t nr = frame->len - NINEP_HEADER_BYTES;

	if (nr > left)
		nr = left;
	frame_cut(frame, NINEP_HEADER_BYTES, nr);
	frame->passed += nr;
	if (nr < left)
		return NULL;
	frame->done = *out_len = NINEP_HEADER_BYTES;
	return frame->buf;
}

/* Can `size` be that of the message at the beginning of the buffer? */
static bool frame_is_size(const struct ninep_frame *frame, size_t size)
{
	if (size <= frame->limit)
		return size >= NINEP_HEADER_BYTES;
	return size <= FRAME_TOO_LONG_MAX &&
	       (frame->len < NINEP_HEADER_BYTES || ninep_is_request(frame->buf[4]));
}

const uint8_t *ninep_frame_next(struct ninep_frame *frame, size_t *out_len)
{
	size_t size;

	frame_drop(frame, frame->done);
	frame->done = 0;
	if (frame->has_pause && !frame_look_behind_pause(frame))
		return NULL;
	if (frame->is_lost)
		frame_seek_sign(frame);
	if (frame->is_lost || frame->len < 4)
		return NULL;
	size = ninep_number(frame->buf, 4);
	if (!frame_is_size(frame, size)) {
		frame->is_lost = true;
		return ninep_frame_next(frame, out_len);
	}
	if (size > frame->limit && frame->len >= NINEP_HEADER_BYTES)
		return frame_pass_over(frame, size, out_len);
	if (frame->len < size)
		return NULL;
	frame->done = *out_len = size;
	return frame->buf;
}
