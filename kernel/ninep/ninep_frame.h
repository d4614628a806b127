/*
 * From the bytes of a line to messages, whatever happens on the line.
 *
 *   bytes --ninep_frame_room/add--> buffer --ninep_frame_next--> a whole message
 *                                     ^
 *   silence --ninep_frame_pause-------'
 *
 * A message that is longer than the limit is passed over, and its header handed out, so that it can
 * be answered.
 *
 * A line says neither who sends nor that the sender has gone. So two things end an earlier message:
 *   - a size that no message has, also one over the limit without the type of a request behind it:
 *     everything is thrown away up to the next Tversion;
 *   - a Tversion that begins behind a pause, though a message is not complete: the message's sender
 *     has vanished in the middle of it, and this is another sender. After a pause without a
 *     Tversion the message goes on as if there had been none.
 *
 * Context:   any.
 * Locking:   none: a frame belongs to the thread that reads the line.
 * Ownership: the buffer is the caller's. A message is good until the next call.
 */
#ifndef NINEP_FRAME_H
#define NINEP_FRAME_H

#include <kernel/base.h>

/* The length of a pause behind which another sender may begin. */
#define NINEP_PAUSE_NS (1000ull * 1000 * 1000)

struct ninep_frame {
	uint8_t *buf;
	size_t size;  /* of `buf` */
	size_t limit; /* bytes of the longest message, at most `size` */
	size_t len;
	size_t passed;	/* bytes behind a header that were thrown away: the message is too long */
	size_t done;	/* bytes of it that belong to the message that was handed out last */
	bool has_pause; /* the bytes from pause_at on may be a Tversion */
	size_t pause_at;
	bool is_lost; /* no Tversion has come yet: looking for one */
};

/* Begin with a buffer of `size` bytes at `buf`; messages may have up to `size` bytes. */
void ninep_frame_init(struct ninep_frame *frame, uint8_t *buf, size_t size);
/* Room for the next bytes; *out_len is how many fit. Every message was taken before. */
uint8_t *ninep_frame_room(struct ninep_frame *frame, size_t *out_len);
/* Note that `nr` bytes were put into the room. */
void ninep_frame_add(struct ninep_frame *frame, size_t nr);
/* Has a message begun that is not complete? Then the caller tells of the next pause. */
bool ninep_frame_is_waiting(const struct ninep_frame *frame);
/* No byte has come for NINEP_PAUSE_NS. There may be a message then. */
void ninep_frame_pause(struct ninep_frame *frame);
/*
 * The next whole message and its length; NULL when more bytes are needed. Of one that is too long
 * there is only the header: *out_len is less than the size that it begins with.
 */
const uint8_t *ninep_frame_next(struct ninep_frame *frame, size_t *out_len);

#endif
