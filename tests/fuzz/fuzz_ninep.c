/*
 * Any bytes on a line, in any pieces and with pauses: whole messages come out of them, or nothing.
 * Each is decoded, and what it names lies in it.
 * links: kernel/ninep/ninep_msg.c kernel/ninep/ninep_frame.c
 */
#include <stdlib.h>
#include <string.h>
#include "ninep/ninep_frame.h"
#include "ninep/ninep_msg.h"

#define PAUSE 0xfe /* in the input: a pause; and before a length: so many bytes in one piece */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_inside(const uint8_t *message, size_t len, const void *from, size_t bytes)
{
	const uint8_t *at = from;

	if (at && (at < message || bytes > (size_t)(message + len - at)))
		abort();
}

static void check_message(const uint8_t *message, size_t len)
{
	struct ninep_request request;
	uint8_t *copy = malloc(len); /* ends where the message ends */
	uint8_t bytes[40];
	struct ninep_reply reply;
	int err;

	memcpy(copy, message, len);
	err = ninep_decode(copy, len, &request);
	if (!err) {
		check_inside(copy, len, request.name.bytes, request.name.len);
		check_inside(copy, len, request.new_name.bytes, request.new_name.len);
		check_inside(copy, len, request.data, request.data ? request.count : 0);
		for (uint16_t i = 0; i < request.nr_names; i++)
			check_inside(copy, len, request.names[i].bytes, request.names[i].len);
	}
	ninep_reply_begin(&reply, bytes, sizeof(bytes));
	ninep_put_text(&reply, request.name.bytes, err ? 0 : request.name.len);
	ninep_reply_end(&reply, request.type + 1, request.tag);
	if (reply.len > sizeof(bytes) || ninep_number(bytes, 4) != reply.len)
		abort();
	free(copy);
}

static size_t feed(struct ninep_frame *frame, const uint8_t *data, size_t len)
{
	size_t room;
	uint8_t *to = ninep_frame_room(frame, &room);

	if (!room)
		abort(); /* nothing would come out any more */
	if (len > room)
		len = room;
	memcpy(to, data, len);
	ninep_frame_add(frame, len);
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *end = data + len, *message;
	uint8_t *buf = malloc(100);
	struct ninep_frame frame;
	size_t size;

	ninep_frame_init(&frame, buf, 100);
	while (data < end) {
		if (*data == PAUSE) {
			ninep_frame_pause(&frame);
			data++;
		} else {
			size_t piece = *data % 32 + 1u;

			data++;
			data += feed(&frame, data,
				     piece < (size_t)(end - data) ? piece : (size_t)(end - data));
		}
		while ((message = ninep_frame_next(&frame, &size)))
			check_message(message, size);
	}
	free(buf);
	return 0;
}
