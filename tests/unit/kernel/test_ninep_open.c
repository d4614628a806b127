/*
 * The server of a channel from outside: open files, reads that wait, and Tpoll.
 *
 * links: kernel/ninep/ninep_server.c kernel/ninep/ninep_poll.c kernel/ninep/ninep_fid.c
 * links: kernel/ninep/ninep_wait.c kernel/ninep/ninep_dir.c kernel/ninep/ninep_open.c
 * links: kernel/ninep/ninep_names.c kernel/ninep/ninep_msg.c kernel/ninep/ninep_frame.c
 * links: tests/unit/kernel/host.c tests/unit/kernel/files.c tests/unit/kernel/threads.c
 * links: tests/unit/kernel/ninep_client.c
 */
#include "unit.h"
#include <sched.h>
#include <string.h>
#include <kernel/time.h>
#include "kernel/files.h"
#include "kernel/host.h"
#include "kernel/ninep_client.h"
#include "kernel/threads.h"

#define RDONLY	    0u
#define WRONLY	    1u
#define RDWR	    2u
#define O_EXCL	    0200u
#define O_TRUNC	    01000u
#define O_APPEND    02000u
#define O_NONBLOCK  04000u
#define O_DIRECTORY 0200000u

static int open_fid(uint32_t fid, uint32_t flags)
{
	return ask(NINEP_TLOPEN, "44", fid, flags);
}

static int read_at(uint32_t fid, uint64_t offset, uint32_t count)
{
	return ask(NINEP_TREAD, "484", fid, offset, count);
}

static int write_at(uint32_t fid, uint64_t offset, const char *text)
{
	return ask(NINEP_TWRITE, "48d", fid, offset, text);
}

/* The reply to a Tread has this text. */
static void check_text(const char *text)
{
	assert_int_equal(body_len, 4 + strlen(text));
	assert_int_equal(ninep_number(body, 4), strlen(text));
	assert_memory_equal(body + 4, text, strlen(text));
}

/* ---- Opening ---- */

static void test_flags(void **state)
{
	static const struct {
		uint32_t flags, wanted;
	} flags[] = { { RDONLY, VFS_READ },
		      { WRONLY, VFS_WRITE },
		      { RDWR, VFS_READ | VFS_WRITE },
		      { WRONLY | O_APPEND, VFS_WRITE | VFS_APPEND },
		      { O_NONBLOCK, VFS_READ | VFS_NONBLOCK },
		      { RDWR | O_TRUNC, VFS_READ | VFS_WRITE | VFS_TRUNCATE } };

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(flags); i++) {
		assert_int_equal(walk(1, "f", NULL), 0);
		assert_int_equal(open_fid(1, flags[i].flags), 0);
		assert_int_equal(files_last_flags, flags[i].wanted);
		assert_int_equal(body_len, NINEP_QID_BYTES + 4);
		assert_true(ninep_number(body + 5, 8) == files_find("/f")->stat.id);
		assert_int_equal(ninep_number(body + NINEP_QID_BYTES, 4), 0);
		assert_int_equal(open_fid(1, RDONLY), EBADF);
		assert_int_equal(ask(NINEP_TCLUNK, "4", 1u), 0);
	}
	assert_int_equal(walk(1, "f", NULL), 0);
	assert_int_equal(open_fid(1, 3), EINVAL);
	assert_int_equal(open_fid(1, O_DIRECTORY), ENOTDIR);
	assert_int_equal(open_fid(9, RDONLY), EBADF);
	files_fail_open_at = 1;
	assert_int_equal(open_fid(1, RDONLY), EIO);
	assert_int_equal(open_fid(1, RDONLY), 0);
}

static void test_directories(void **state)
{
	(void)state;
	assert_int_equal(walk(1, "d", NULL), 0);
	assert_int_equal(open_fid(1, WRONLY), EISDIR);
	assert_int_equal(open_fid(1, O_TRUNC), EISDIR);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)0, 100u), EBADF);
	assert_int_equal(open_fid(1, O_DIRECTORY), 0);
	assert_int_equal(files_nr_open(), 0);
	assert_int_equal(read_at(1, 0, 10), EISDIR);
	assert_int_equal(write_at(1, 0, "x"), EISDIR);
	assert_int_equal(ask(NINEP_TSETFL, "44", 1u, O_NONBLOCK), 0);
	client_open_file(2, "f", RDONLY);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 2u, (uint64_t)0, 100u), ENOTDIR);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 9u, (uint64_t)0, 100u), EBADF);
}

/* Names, kinds and numbers; from an offset on, as many as fit, and none behind the end. */
static void test_listing(void **state)
{
	static const struct {
		const char *name, *path;
		uint8_t kind;
	} wanted[] = { { ".", "/d", 4 },
		       { "..", "/", 4 },
		       { "a", "/d/a", 8 },
		       { "b", "/d/b", 8 },
		       { "dd", "/d/dd", 4 } };
	size_t at = 4, end;

	(void)state;
	assert_int_equal(walk(1, "d", NULL), 0);
	assert_int_equal(open_fid(1, RDONLY), 0);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)0, 4000u), 0);
	assert_int_equal(ninep_number(body, 4), body_len - 4);
	end = body_len;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		size_t len = strlen(wanted[i].name);

		assert_true(at + 24 + len <= end);
		assert_int_equal(body[at], wanted[i].kind == 4 ? NINEP_QID_DIR : NINEP_QID_FILE);
		assert_true(ninep_number(body + at + 5, 8) == files_find(wanted[i].path)->stat.id);
		assert_int_equal(ninep_number(body + at + 13, 8), i + 1);
		assert_int_equal(body[at + 21], wanted[i].kind);
		assert_int_equal(ninep_number(body + at + 22, 2), len);
		assert_memory_equal(body + at + 24, wanted[i].name, len);
		at += 24 + len;
	}
	assert_int_equal(at, end);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)4, 26u), 0);
	assert_int_equal(body_len, 4 + 26);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)4, 25u), EINVAL);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)2, 74u), 0);
	assert_int_equal(body_len, 4 + 50); /* two; the third would be one byte too long */
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)5, 100u), 0);
	assert_int_equal(body_len, 4);
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)500, 100u), 0);
	assert_int_equal(body_len, 4);
	/* Later parts are of the list that was made for the first one. */
	files_find("/d/a")->stat.id = 0;
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)2, 4000u), 0);
	assert_int_equal(body_len, 4 + 25 + 25 + 26);
	assert_int_equal(body[4 + 24], 'a');
	/* An entry that goes while the list is made is left out. */
	files_find("/d/b")->is_gone = true;
	assert_int_equal(ask(NINEP_TREADDIR, "484", 1u, (uint64_t)0, 4000u), 0);
	assert_int_equal(body_len, 4 + 25 + 26 + 26);
}

static void test_creating(void **state)
{
	(void)state;
	assert_int_equal(walk(1, "d", NULL), 0);
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 1u, "new", 3u, 0644u, 0u), EINVAL);
	assert_null(files_find("/d/new"));
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 1u, "new", RDWR | O_EXCL, 0644u, 0u), 0);
	assert_int_equal(files_nr_open(), 1);
	assert_int_equal(files_last_flags, VFS_READ | VFS_WRITE);
	assert_int_equal(body_len, NINEP_QID_BYTES + 4);
	assert_true(ninep_number(body + 5, 8) == files_find("/d/new")->stat.id);
	/* The fid stands for the file now. */
	assert_int_equal(write_at(1, 0, "text"), 0);
	assert_string_equal(files_find("/d/new")->text, "text");
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 1u, "x", RDWR, 0644u, 0u), EBADF);
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 9u, "x", RDWR, 0644u, 0u), EBADF);
	assert_int_equal(walk(2, "d", NULL), 0);
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 2u, "a", RDWR | O_EXCL, 0644u, 0u), EEXIST);
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 2u, "a", RDONLY, 0644u, 0u), 0);
	assert_int_equal(read_at(2, 0, 10), 0);
	check_text("a");
	/* Whatever cannot be opened leaves the fid as it was. */
	assert_int_equal(walk(3, "d", NULL), 0);
	for (files_fail_open_at = 2; files_fail_open_at; files_fail_open_at /= 2) {
		uint32_t turn = files_fail_open_at;

		assert_int_equal(ask(NINEP_TLCREATE, "4s444", 3u, "b", RDWR, 0644u, 0u), EIO);
		assert_int_equal(ask(NINEP_TMKDIR, "4s44", 3u, "b", 0u, 0u), EEXIST);
		files_fail_open_at = turn;
	}
	assert_int_equal(walk(4, "f", NULL), 0);
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 4u, "x", RDWR, 0644u, 0u), ENOTDIR);
	assert_int_equal(files_nr_open(), 2);
}

/* ---- Reading and writing ---- */

static void test_reading_and_writing(void **state)
{
	(void)state;
	assert_int_equal(walk(1, "f", NULL), 0);
	assert_int_equal(read_at(1, 0, 10), EBADF);
	assert_int_equal(write_at(1, 0, "x"), EBADF);
	assert_int_equal(ask(NINEP_TFSYNC, "44", 1u, 0u), EBADF);
	assert_int_equal(ask(NINEP_TSETFL, "44", 1u, 0u), EBADF);
	assert_int_equal(open_fid(1, RDWR), 0);
	assert_int_equal(read_at(1, 0, 10), 0);
	check_text("hello");
	assert_int_equal(read_at(1, 3, 1), 0);
	check_text("l");
	assert_int_equal(read_at(1, 5, 10), 0);
	check_text("");
	assert_int_equal(write_at(1, 2, "y!"), 0);
	assert_int_equal(body_len, 4);
	assert_int_equal(ninep_number(body, 4), 2);
	assert_string_equal(files_find("/f")->text, "hey!");
	assert_int_equal(ask(NINEP_TFSYNC, "44", 1u, 0u), 0);
	client_open_file(2, "f", WRONLY);
	assert_int_equal(read_at(2, 0, 10), EBADF);
	client_open_file(3, "f", RDONLY);
	assert_int_equal(write_at(3, 0, "x"), EBADF);
	assert_int_equal(ask(NINEP_TFSYNC, "44", 9u, 0u), EBADF);
	assert_int_equal(ask(NINEP_TSETFL, "44", 9u, 0u), EBADF);
	assert_int_equal(read_at(9, 0, 10), EBADF);
}

/* A reply is never longer than the message that both sides have agreed on. */
static void test_longest_read(void **state)
{
	char *text = files_find("/f")->text;

	(void)state;
	assert_int_equal(client_version(512, "9P2000.L"), 0);
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 0u, NO_FID, "", "/", 0u), 0);
	memset(text, 'x', 599);
	text[599] = '\0';
	client_open_file(1, "f", RDONLY);
	assert_int_equal(read_at(1, 0, 599), 0);
	assert_int_equal(body_len, 512 - NINEP_HEADER_BYTES);
	assert_int_equal(read_at(1, 0, 501), 0);
	assert_int_equal(body_len, 4 + 501);
	assert_int_equal(read_at(1, 0, 500), 0);
	assert_int_equal(body_len, 4 + 500);
}

static void test_nonblock(void **state)
{
	uint16_t tag;

	(void)state;
	client_open_file(1, "w", RDONLY | O_NONBLOCK);
	assert_int_equal(read_at(1, 0, 10), EAGAIN);
	assert_int_equal(ask(NINEP_TSETFL, "44", 1u, 0u), 0);
	assert_false(files_find("/w")->is_nonblock);
	tag = post(NINEP_TREAD, "484", 1u, (uint64_t)0, 10u);
	assert_false(client_is_answered(tag)); /* it waits now */
	assert_int_equal(ask(NINEP_TCLUNK, "4", 1u), 0);
	assert_int_equal(client_result_of(tag, NINEP_TREAD), EINTR);
	client_open_file(2, "f", RDONLY);
	assert_int_equal(ask(NINEP_TSETFL, "44", 2u, O_NONBLOCK), 0);
	assert_true(files_find("/f")->is_nonblock);
	assert_int_equal(ask(NINEP_TSETFL, "44", 2u, RDWR | O_APPEND), 0);
	assert_false(files_find("/f")->is_nonblock);
}

/* ---- Waiting ---- */

static uint16_t post_read(uint32_t fid, uint32_t count)
{
	return post(NINEP_TREAD, "484", fid, (uint64_t)0, count);
}

static void wait_for_readers(uint32_t nr)
{
	while (files_nr_readers != nr)
		sched_yield();
}

static int flush(uint16_t tag)
{
	return ask(NINEP_TFLUSH, "2", (uint32_t)tag);
}

/* Others are served meanwhile; text that comes is read by the request that has waited longest. */
static void test_reads_that_wait(void **state)
{
	uint16_t first, second;

	(void)state;
	client_open_file(1, "w", RDWR);
	first = post_read(1, 10);
	second = post_read(1, 3);
	wait_for_readers(1);
	assert_false(client_is_answered(first));
	files_say("/w", "abcd");
	assert_int_equal(client_result_of(first, NINEP_TREAD), 0);
	check_text("abcd");
	wait_for_readers(1);
	assert_false(client_is_answered(second));
	files_say("/w", "efgh");
	assert_int_equal(client_result_of(second, NINEP_TREAD), 0);
	check_text("efg");
	/* A write goes the same way. */
	assert_int_equal(write_at(1, 0, "more"), 0);
	assert_int_equal(ninep_number(body, 4), 4);
	assert_string_equal(files_find("/w")->text, "more");
}

/* A request that is given up has no answer, and takes nothing. Others go on. */
static void test_giving_up(void **state)
{
	uint16_t first, second, third;

	(void)state;
	client_open_file(1, "w", RDONLY);
	client_open_file(2, "f", RDONLY);
	first = post_read(1, 10);
	second = post_read(1, 10);
	third = post_read(1, 10);
	wait_for_readers(1);
	assert_int_equal(flush(second), 0); /* which has not begun */
	assert_int_equal(flush(first), 0);
	wait_for_readers(1);
	assert_false(client_is_answered(first) || client_is_answered(second) ||
		     client_is_answered(third));
	files_say("/w", "text");
	assert_int_equal(client_result_of(third, NINEP_TREAD), 0);
	check_text("text");
	assert_int_equal(flush(third), 0);
	assert_int_equal(flush(12345), 0);
	assert_false(client_is_answered(first) || client_is_answered(second));
}

/* Closing ends what waits: each request has an answer, in front of that to the Tclunk. */
static void test_closing(void **state)
{
	uint16_t first, second;

	(void)state;
	client_open_file(1, "w", RDONLY);
	first = post_read(1, 10);
	second = post_read(1, 10);
	wait_for_readers(1);
	assert_int_equal(ask(NINEP_TCLUNK, "4", 1u), 0);
	assert_int_equal(client_result_of(first, NINEP_TREAD), EINTR);
	assert_int_equal(client_result_of(second, NINEP_TREAD), EINTR);
	assert_int_equal(files_nr_readers, 0);
}

/* All requests that wait have a part of the memory, and no more. */
static void test_bytes_that_wait(void **state)
{
	uint16_t first;

	(void)state;
	client_open_file(1, "w", RDONLY);
	assert_int_equal(read_at(1, 0, WAIT_BYTES - NINEP_READ_BYTES + 1), EAGAIN);
	first = post_read(1, WAIT_BYTES - NINEP_READ_BYTES);
	wait_for_readers(1);
	assert_int_equal(read_at(1, 0, 0), EAGAIN);
	files_say("/w", "text");
	assert_int_equal(client_result_of(first, NINEP_TREAD), 0);
	check_text("text");
}

/* ---- Tpoll ---- */

#define ALL_EVENTS                                                                                 \
	(NINEP_POLLIN | NINEP_POLLPRI | NINEP_POLLOUT | NINEP_POLLRDNORM | NINEP_POLLWRNORM)
#define IN_EVENTS  (NINEP_POLLIN | NINEP_POLLRDNORM)
#define OUT_EVENTS (NINEP_POLLOUT | NINEP_POLLWRNORM)

static uint32_t events_now(uint32_t fid, uint32_t wanted)
{
	assert_int_equal(ask(NINEP_TPOLL, "444", fid, wanted, 0u), 0);
	assert_int_equal(body_len, 4);
	return (uint32_t)ninep_number(body, 4);
}

static void test_poll_now(void **state)
{
	(void)state;
	client_open_file(1, "w", RDWR);
	client_open_file(2, "w", RDONLY);
	client_open_file(3, "w", WRONLY);
	assert_int_equal(events_now(1, ALL_EVENTS), OUT_EVENTS);
	assert_int_equal(events_now(1, NINEP_POLLIN | NINEP_POLLOUT), NINEP_POLLOUT);
	assert_int_equal(files_find("/w")->asked, FILE_IN);
	assert_int_equal(events_now(2, ALL_EVENTS), 0);
	assert_int_equal(files_find("/w")->asked, FILE_IN | FILE_PRI);
	assert_int_equal(events_now(2, 0), 0);
	files_say("/w", "text");
	assert_int_equal(events_now(1, ALL_EVENTS), IN_EVENTS | OUT_EVENTS);
	assert_int_equal(events_now(2, ALL_EVENTS), IN_EVENTS);
	assert_int_equal(events_now(2, NINEP_POLLRDNORM), NINEP_POLLRDNORM);
	assert_int_equal(events_now(3, ALL_EVENTS), OUT_EVENTS);
	files_find("/w")->events = FILE_PRI;
	assert_int_equal(events_now(2, ALL_EVENTS), IN_EVENTS | NINEP_POLLPRI);
	assert_int_equal(events_now(2, NINEP_POLLIN), NINEP_POLLIN);
	assert_int_equal(ask(NINEP_TPOLL, "444", 9u, ALL_EVENTS, 0u), EBADF);
	assert_int_equal(walk(4, "d", NULL), 0);
	assert_int_equal(ask(NINEP_TPOLL, "444", 4u, ALL_EVENTS, 0u), EBADF);
	assert_int_equal(open_fid(4, RDONLY), 0);
	assert_int_equal(events_now(4, ALL_EVENTS), IN_EVENTS);
	/* A directory has nothing to wait for. */
	assert_int_equal(ask(NINEP_TPOLL, "444", 4u, NINEP_POLLPRI, 1000u), 0);
}

static uint16_t post_poll(uint32_t fid, uint32_t wanted, uint32_t ms)
{
	return post(NINEP_TPOLL, "444", fid, wanted, ms);
}

/* Those that wait were looked at, twice: once may have begun before. */
static void let_it_look(void)
{
	uint32_t naps = threads_nr_naps();

	client_settle();
	while (threads_nr_naps() - naps < 3)
		sched_yield();
}

static void check_events(uint16_t tag, uint32_t events)
{
	assert_int_equal(client_result_of(tag, NINEP_TPOLL), 0);
	assert_int_equal(body_len, 4);
	assert_int_equal(ninep_number(body, 4), events);
}

static void test_poll_until_it_happens(void **state)
{
	uint16_t first, second, other;

	(void)state;
	client_open_file(1, "w", RDONLY);
	client_open_file(2, "d", RDONLY);
	first = post_poll(1, ALL_EVENTS, 1000000);
	second = post_poll(1, NINEP_POLLIN, 1000000);
	other = post_poll(1, NINEP_POLLPRI, 1000000);
	let_it_look();
	assert_false(client_is_answered(first) || client_is_answered(second) ||
		     client_is_answered(other));
	files_say("/w", "text");
	check_events(first, IN_EVENTS);
	check_events(second, NINEP_POLLIN);
	let_it_look();
	assert_false(client_is_answered(other));
	files_find("/w")->events = FILE_PRI;
	check_events(other, NINEP_POLLPRI);
}

static void test_poll_until_time_is_over(void **state)
{
	uint16_t first, second;

	(void)state;
	client_open_file(1, "w", RDONLY);
	first = post_poll(1, NINEP_POLLIN, 1000);
	second = post_poll(1, NINEP_POLLIN, 2000);
	let_it_look();
	threads_let_pass(1000 * NSEC_PER_MSEC - 1);
	let_it_look();
	assert_false(client_is_answered(first));
	threads_let_pass(1);
	check_events(first, 0);
	let_it_look();
	assert_false(client_is_answered(second));
	threads_let_pass(1000 * NSEC_PER_MSEC);
	check_events(second, 0);
}

static void test_poll_is_given_up(void **state)
{
	uint16_t first, second, third;

	(void)state;
	client_open_file(1, "w", RDONLY);
	client_open_file(2, "w", RDONLY);
	first = post_poll(1, NINEP_POLLIN, 1000000);
	second = post_poll(1, NINEP_POLLIN, 1000000);
	third = post_poll(2, NINEP_POLLIN, 1000000);
	let_it_look();
	assert_int_equal(flush(first), 0);
	assert_int_equal(ask(NINEP_TCLUNK, "4", 1u), 0);
	assert_int_equal(client_result_of(second, NINEP_TPOLL), EBADF);
	let_it_look();
	assert_false(client_is_answered(first) || client_is_answered(third));
	files_say("/w", "text");
	check_events(third, NINEP_POLLIN);
	assert_false(client_is_answered(first));
}

static void test_as_many_polls_as_may_wait(void **state)
{
	uint16_t tags[NINEP_POLLS_MAX];

	(void)state;
	client_open_file(1, "w", RDONLY);
	for (uint32_t i = 0; i < NINEP_POLLS_MAX; i++)
		tags[i] = post_poll(1, NINEP_POLLIN, 1000000);
	assert_int_equal(ask(NINEP_TPOLL, "444", 1u, NINEP_POLLIN, 1000000u), EAGAIN);
	assert_int_equal(events_now(1, NINEP_POLLIN), 0);
	for (uint32_t i = 1; i < NINEP_POLLS_MAX; i++)
		assert_int_equal(flush(tags[i]), 0);
	tags[1] = post_poll(1, NINEP_POLLIN, 1000000);
	files_say("/w", "text");
	check_events(tags[0], NINEP_POLLIN);
	check_events(tags[1], NINEP_POLLIN);
}

/* Without memory for it a Tpoll fails, and nothing is kept. */
static void test_poll_without_memory(void **state)
{
	long live;

	(void)state;
	client_open_file(1, "w", RDONLY);
	client_settle();
	live = host_live;
	host_fail_at = 0;
	assert_int_equal(ask(NINEP_TPOLL, "444", 1u, NINEP_POLLIN, 1000u), ENOMEM);
	host_fail_at = -1;
	assert_int_equal(host_live, live);
	assert_int_equal(events_now(1, NINEP_POLLIN), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, client_start, client_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_poll_without_memory), /* in front of the first Tpoll that waits */
		TEST(test_flags),
		TEST(test_directories),
		TEST(test_listing),
		TEST(test_creating),
		TEST(test_reading_and_writing),
		TEST(test_longest_read),
		TEST(test_nonblock),
		TEST(test_reads_that_wait),
		TEST(test_giving_up),
		TEST(test_closing),
		TEST(test_bytes_that_wait),
		TEST(test_poll_now),
		TEST(test_poll_until_it_happens),
		TEST(test_poll_until_time_is_over),
		TEST(test_poll_is_given_up),
		TEST(test_as_many_polls_as_may_wait),
		TEST(test_poll_without_memory),
	};

	return cmocka_run_group_tests(tests, client_begin, NULL);
}
