/*
 * Messages of 9P2000.L from and to bytes, and from the bytes of a line.
 * links: kernel/ninep/ninep_msg.c kernel/ninep/ninep_frame.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include "ninep/ninep_frame.h"
#include "ninep/ninep_msg.h"

#define VERSION                                                                                    \
	"\x15\0\0\0\x64\xff\xff\0\x20\0\0\x08\0"                                                   \
	"9P2000.L"
#define CLUNK "\x0b\0\0\0\x78\x02\0\x05\0\0\0"
#define WRITE                                                                                      \
	"\x1a\0\0\0\x76\x03\0\x09\0\0\0\x10\0\0\0\0\0\0\0\x03\0\0\0"                               \
	"abc"
#define LEN(s) (sizeof(s) - 1)

/* Decode from memory that ends where the message ends. */
static int decode(const char *message, size_t len, struct ninep_request *out_request)
{
	uint8_t *copy = malloc(len);
	int err;

	memcpy(copy, message, len);
	err = ninep_decode(copy, len, out_request);
	free(copy);
	return err;
}

static void test_requests(void **state)
{
	struct ninep_request request;

	(void)state;
	assert_int_equal(ninep_decode((const uint8_t *)WRITE, LEN(WRITE), &request), 0);
	assert_int_equal(request.type, NINEP_TWRITE);
	assert_int_equal(request.tag, 3);
	assert_int_equal(request.fid, 9);
	assert_int_equal(request.offset, 16);
	assert_int_equal(request.count, 3);
	assert_memory_equal(request.data, "abc", 3);

	assert_int_equal(ninep_decode((const uint8_t *)VERSION, LEN(VERSION), &request), 0);
	assert_int_equal(request.count, 8192);
	assert_int_equal(request.name.len, 8);
	assert_memory_equal(request.name.bytes, "9P2000.L", 8);
}

static void test_walk(void **state)
{
	char walk[7 + 10 + 17 * 3] = "\0\0\0\0\x6e\x01\0\x01\0\0\0\x02\0\0\0\0";
	struct ninep_request request;

	(void)state;
	for (int i = 0; i < 17; i++)
		memcpy(walk + 17 + 3 * i, "\x01\0x", 3);
	walk[15] = 16;
	assert_int_equal(ninep_decode((uint8_t *)walk, 17 + 16 * 3, &request), 0);
	assert_int_equal(request.nr_names, 16);
	assert_int_equal(request.new_fid, 2);
	assert_int_equal(request.names[15].bytes[0], 'x');
	walk[15] = 17;
	assert_int_equal(ninep_decode((uint8_t *)walk, sizeof(walk), &request), -EINVAL);
}

/* A message that is too short or too long by anything is refused, and nothing behind it is read. */
static void test_lengths(void **state)
{
	struct ninep_request request;
	char longer[LEN(WRITE) + 1] = WRITE;

	(void)state;
	for (size_t len = NINEP_HEADER_BYTES; len < LEN(WRITE); len++)
		assert_int_equal(decode(WRITE, len, &request), -EINVAL);
	assert_int_equal(decode(WRITE, LEN(WRITE), &request), 0);
	assert_int_equal(decode(longer, sizeof(longer), &request), -EINVAL);
	for (size_t len = NINEP_HEADER_BYTES; len < LEN(VERSION); len++)
		assert_int_equal(decode(VERSION, len, &request), -EINVAL);
}

static void test_types_that_do_not_exist(void **state)
{
	struct ninep_request request;
	char message[] = "\x07\0\0\0\0\x34\x12";
	unsigned int nr_known = 0;

	(void)state;
	for (unsigned int type = 0; type < 256; type++) {
		message[4] = (char)type;
		if (decode(message, 7, &request) == -EOPNOTSUPP)
			assert_int_equal(request.tag, 0x1234);
		else
			nr_known++;
	}
	assert_int_equal(nr_known, 30);
}

static void test_reply(void **state)
{
	struct ninep_qid qid = { .type = NINEP_QID_DIR, .version = 1, .path = 0x1122334455667788 };
	struct ninep_reply reply;
	uint8_t bytes[26];

	(void)state;
	ninep_reply_begin(&reply, bytes, sizeof(bytes));
	ninep_put_qid(&reply, &qid);
	ninep_put_text(&reply, "abcd", 4);
	assert_false(reply.is_cut);
	ninep_reply_end(&reply, 0x6f, 0x0203);
	assert_int_equal(reply.len, 26);
	assert_memory_equal(bytes,
			    "\x1a\0\0\0\x6f\x03\x02\x80\x01\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11"
			    "\x04\0abcd",
			    26);
	ninep_put_number(&reply, 1, 1);
	assert_true(reply.is_cut);
	ninep_reply_error(&reply, 5, -ENOENT);
	assert_false(reply.is_cut);
	assert_int_equal(reply.len, 11);
	assert_memory_equal(bytes, "\x0b\0\0\0\x07\x05\0\x02\0\0\0", 11);
}

/* ---- The line ---- */

static uint8_t buf[64];
static struct ninep_frame frame;

static void send(const char *bytes, size_t len)
{
	while (len) {
		size_t room;
		uint8_t *to = ninep_frame_room(&frame, &room);

		assert_true(room > 0);
		if (room > len)
			room = len;
		memcpy(to, bytes, room);
		ninep_frame_add(&frame, room);
		bytes += room;
		len -= room;
		if (len)
			assert_null(ninep_frame_next(&frame, &room));
	}
}

static void expect(const char *message, size_t len)
{
	size_t got;
	const uint8_t *next = ninep_frame_next(&frame, &got);

	if (!message) {
		assert_null(next);
		return;
	}
	assert_non_null(next);
	assert_int_equal(got, len);
	assert_memory_equal(next, message, len);
}

static int begin(void **state)
{
	(void)state;
	ninep_frame_init(&frame, buf, sizeof(buf));
	send(VERSION, LEN(VERSION));
	expect(VERSION, LEN(VERSION));
	expect(NULL, 0);
	return 0;
}

static void test_messages_in_pieces(void **state)
{
	(void)state;
	for (size_t cut = 1; cut < LEN(WRITE); cut++) {
		send(WRITE, cut);
		expect(NULL, 0);
		assert_true(ninep_frame_is_waiting(&frame));
		send(WRITE + cut, LEN(WRITE) - cut);
		expect(WRITE, LEN(WRITE));
		expect(NULL, 0);
		assert_false(ninep_frame_is_waiting(&frame));
	}
	send(CLUNK WRITE CLUNK, 2 * LEN(CLUNK) + LEN(WRITE));
	expect(CLUNK, LEN(CLUNK));
	expect(WRITE, LEN(WRITE));
	expect(CLUNK, LEN(CLUNK));
	expect(NULL, 0);
}

static void test_only_a_version_begins(void **state)
{
	(void)state;
	ninep_frame_init(&frame, buf, sizeof(buf));
	send(CLUNK, LEN(CLUNK));
	expect(NULL, 0);
	send("\x15\x15\0\0", 4);
	send("\0\x64" VERSION CLUNK, 2 + LEN(VERSION) + LEN(CLUNK));
	expect(VERSION, LEN(VERSION));
	expect(CLUNK, LEN(CLUNK));
}

static void test_sizes_that_no_message_has(void **state)
{
	static const char *const wrong[] = { "\x06\0\0\0", "\0\0\0\0", "\x41\0\0\0",
					     "\x15\0\0\x80" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin(state);
		send(wrong[i], 4);
		expect(NULL, 0);
		send(CLUNK VERSION CLUNK, 2 * LEN(CLUNK) + LEN(VERSION));
		expect(VERSION, LEN(VERSION));
		expect(CLUNK, LEN(CLUNK));
		expect(NULL, 0);
	}
}

#define LONG_SIZE 200u
#define LONG_HEAD "\xc8\0\0\0\x76\x05\0"

/* A Twrite of LONG_SIZE bytes, which is more than the buffer has, in two pieces. */
static void send_long(size_t cut)
{
	static char message[LONG_SIZE] = LONG_HEAD;

	memset(message + LEN(LONG_HEAD), 'x', sizeof(message) - LEN(LONG_HEAD));
	memcpy(message + 50, VERSION, LEN(VERSION));
	send(message, cut);
	expect(NULL, 0);
	assert_true(ninep_frame_is_waiting(&frame));
	send(message + cut, sizeof(message) - cut);
}

/* A message that is too long is passed over, header aside, however it comes. */
static void test_message_that_is_too_long(void **state)
{
	for (size_t cut = 1; cut < LONG_SIZE; cut++) {
		begin(state);
		send_long(cut);
		expect(LONG_HEAD, LEN(LONG_HEAD));
		expect(NULL, 0);
		assert_false(ninep_frame_is_waiting(&frame));
		send(CLUNK, LEN(CLUNK));
		expect(CLUNK, LEN(CLUNK));
	}
}

/* The limit is met exactly. */
static void test_limit(void **state)
{
	begin(state);
	frame.limit = LEN(WRITE);
	send(WRITE CLUNK, LEN(WRITE) + LEN(CLUNK));
	expect(WRITE, LEN(WRITE));
	expect(CLUNK, LEN(CLUNK));
	frame.limit = LEN(WRITE) - 1;
	send(WRITE CLUNK, LEN(WRITE) + LEN(CLUNK));
	expect(WRITE, NINEP_HEADER_BYTES);
	expect(CLUNK, LEN(CLUNK));
}

/* Of the longest header that is no noise, and of those that are: by their size, by the type of an answer. */
static void test_headers_that_are_noise(void **state)
{
	static const struct {
		const char *header;
		bool is_message;
	} rows[] = { { "\0\0\0\x04\x76\x05\0", true },
		     { "\x01\0\0\x04\x76\x05\0", false },
		     { "\0\0\0\x04\x77\x05\0", false } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(state);
		send(rows[i].header, NINEP_HEADER_BYTES);
		expect(NULL, 0);
		assert_int_equal(ninep_frame_is_waiting(&frame), rows[i].is_message);
	}
}

/* Behind a pause in a message that is too long, another client may begin, or it goes on. */
static void test_pause_in_message_that_is_too_long(void **state)
{
	for (size_t cut = 1; cut < LONG_SIZE; cut++) {
		char x[LONG_SIZE];

		begin(state);
		memset(x, 'x', sizeof(x));
		memcpy(x, LONG_HEAD, LEN(LONG_HEAD));
		for (int is_new = 0; is_new < 2; is_new++) {
			send(x, cut);
			expect(NULL, 0);
			ninep_frame_pause(&frame);
			if (is_new) {
				send(VERSION, LEN(VERSION));
				expect(VERSION, LEN(VERSION));
			} else {
				send(x + cut, sizeof(x) - cut);
				expect(LONG_HEAD, LEN(LONG_HEAD));
			}
			send(CLUNK, LEN(CLUNK));
			expect(CLUNK, LEN(CLUNK));
		}
	}
}

/* Wherever the message stopped, and however the new beginning comes. */
static void test_version_behind_a_pause(void **state)
{
	for (size_t cut = 1; cut < LEN(WRITE); cut++) {
		for (size_t piece = 1; piece <= LEN(VERSION); piece++) {
			begin(state);
			send(WRITE, cut);
			expect(NULL, 0);
			ninep_frame_pause(&frame);
			expect(NULL, 0);
			send(VERSION, piece);
			if (piece < LEN(VERSION)) {
				expect(NULL, 0);
				send(VERSION + piece, LEN(VERSION) - piece);
			}
			expect(VERSION, LEN(VERSION));
			expect(NULL, 0);
			send(CLUNK, LEN(CLUNK));
			expect(CLUNK, LEN(CLUNK));
		}
	}
}

static void test_message_goes_on_behind_a_pause(void **state)
{
	for (size_t cut = 1; cut < LEN(WRITE); cut++) {
		begin(state);
		send(WRITE, cut);
		expect(NULL, 0);
		ninep_frame_pause(&frame);
		ninep_frame_pause(&frame);
		send(WRITE + cut, LEN(WRITE) - cut);
		expect(WRITE, LEN(WRITE));
		expect(NULL, 0);
	}
}

/* Bytes like the beginning of a Tversion, without the rest: after another pause it is data. */
static void test_data_like_a_version(void **state)
{
	static const char message[] = "\x1a\0\0\0\x76\x03\0\x09\0\0\0\x10\0\0\0\0\0\0\0\x03\0\0\0"
				      "\x15\0\0";

	(void)state;
	send(message, 23);
	expect(NULL, 0);
	ninep_frame_pause(&frame);
	send(message + 23, 3);
	expect(NULL, 0);
	ninep_frame_pause(&frame);
	expect(message, LEN(message));
	/* A whole Tversion without a pause is data, too. */
	send("\x2c\0\0\0\x76\x03\0\x09\0\0\0\x10\0\0\0\0\0\0\0\x15\0\0\0" VERSION,
	     23 + LEN(VERSION));
	expect("\x2c\0\0\0\x76\x03\0\x09\0\0\0\x10\0\0\0\0\0\0\0\x15\0\0\0" VERSION,
	       23 + LEN(VERSION));
	expect(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_types_that_do_not_exist),
		cmocka_unit_test(test_reply),
		cmocka_unit_test_setup(test_messages_in_pieces, begin),
		cmocka_unit_test(test_only_a_version_begins),
		cmocka_unit_test(test_sizes_that_no_message_has),
		cmocka_unit_test(test_message_that_is_too_long),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_headers_that_are_noise),
		cmocka_unit_test(test_pause_in_message_that_is_too_long),
		cmocka_unit_test(test_version_behind_a_pause),
		cmocka_unit_test(test_message_goes_on_behind_a_pause),
		cmocka_unit_test_setup(test_data_like_a_version, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
