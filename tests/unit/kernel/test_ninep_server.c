/*
 * The server of a channel from outside: bytes of requests go in, bytes of replies come out. Its
 * beginning, requests that are none, and those about names.
 *
 * links: kernel/ninep/ninep_server.c kernel/ninep/ninep_poll.c kernel/ninep/ninep_fid.c
 * links: kernel/ninep/ninep_wait.c kernel/ninep/ninep_dir.c kernel/ninep/ninep_open.c
 * links: kernel/ninep/ninep_names.c kernel/ninep/ninep_msg.c kernel/ninep/ninep_frame.c
 * links: tests/unit/kernel/host.c tests/unit/kernel/files.c tests/unit/kernel/threads.c
 * links: tests/unit/kernel/ninep_client.c
 */
#include "unit.h"
#include <string.h>
#include "kernel/files.h"
#include "kernel/host.h"
#include "kernel/ninep_client.h"

/* ---- The session ---- */

static void test_version(void **state)
{
	static const struct {
		uint32_t asked, got;
	} sizes[] = {
		{ 512, 512 }, { 8192, 8192 }, { 128u << 10, 128u << 10 }, { 1u << 20, 128u << 10 }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_int_equal(client_version(sizes[i].asked, "9P2000.L"), 0);
		assert_int_equal(body_len, 4 + 2 + 8);
		assert_int_equal(ninep_number(body, 4), sizes[i].got);
		assert_memory_equal(body + 4,
				    "\x08\0"
				    "9P2000.L",
				    10);
		assert_int_equal(ask(NINEP_TSTATFS, "4", 0u), EBADF);
	}
	assert_int_equal(client_version(512, "9P2000.L.more"), 0);
	assert_memory_equal(body + 4,
			    "\x08\0"
			    "9P2000.L",
			    10);
	assert_int_equal(ask(NINEP_TSTATFS, "4", 0u), EBADF);
}

/* Without a version that both know there is no session: nothing but Tversion is served. */
static void test_no_version(void **state)
{
	static const char *const names[] = { "9P2000", "9P2000.u", "9P2000.", "" };

	(void)state;
	assert_int_equal(client_version(511, "9P2000.L"), EMSGSIZE);
	assert_int_equal(ask(NINEP_TSTATFS, "4", 0u), EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(client_version(777, names[i]), 0);
		assert_int_equal(body_len, 4 + 2 + 7);
		assert_memory_equal(body, "\x09\x03\0\0\x07\0unknown", 13);
		assert_int_equal(ask(NINEP_TATTACH, "44ss4", 0u, NO_FID, "", "/", 0u), EINVAL);
	}
}

static void test_version_ends_the_session(void **state)
{
	uint32_t aborts = client_nr_aborts;
	long live = host_live;
	uint16_t tag;

	(void)state;
	client_open_file(1, "f", 0);
	client_open_file(2, "w", 0);
	tag = post(NINEP_TREAD, "484", 2u, (uint64_t)0, 10u);
	assert_false(client_is_answered(tag));
	assert_int_equal(client_version(MSIZE, "9P2000.L"), 0);
	assert_int_equal(client_nr_aborts, aborts + 1);
	assert_int_equal(client_nr_resumes, client_nr_aborts);
	assert_int_equal(ask(NINEP_TCLUNK, "4", 1u), EBADF);
	assert_int_equal(ask(NINEP_TCLUNK, "4", 0u), EBADF);
	assert_false(client_is_answered(tag)); /* its client is not there any more */
	assert_int_equal(files_nr_open(), 0);
	assert_true(host_live < live);
}

/* Requests that are none, or too long, are refused; the next one is served. */
static void test_bad_requests(void **state)
{
	static const uint8_t others[] = { NINEP_TAUTH, NINEP_TXATTRWALK, NINEP_TLINK, 9, 132, 255 };
	static uint8_t text[9000];

	(void)state;
	assert_int_equal(ask(NINEP_TAUTH, "4ss4", 1u, "", "", 0u), EOPNOTSUPP);
	assert_int_equal(ask(NINEP_TLINK, "44s", 1u, 2u, ""), EOPNOTSUPP);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_not_equal(ask(others[i], ""), 0);
	assert_int_equal(ask(255, ""), EOPNOTSUPP);
	assert_int_equal(ask(NINEP_TCLUNK, "2", 1u), EINVAL);
	assert_int_equal(ask(NINEP_TCLUNK, "44", 0u, 0u), EINVAL);
	client_open_file(1, "f", 1);
	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(ask(NINEP_TWRITE, "48d", 1u, (uint64_t)0, (const char *)text), EMSGSIZE);
	assert_string_equal(files_find("/f")->text, "hello");
	text[MSIZE - NINEP_HEADER_BYTES - 16] = '\0'; /* as long as may be */
	assert_int_equal(ask(NINEP_TWRITE, "48d", 1u, (uint64_t)0, (const char *)text), ENOSPC);
	assert_int_equal(ask(NINEP_TGETATTR, "48", 0u, (uint64_t)0), 0);
}

/* Of a request that is too long the size may come alone: it is passed over as a whole. */
static void test_size_of_a_long_request(void **state)
{
	static uint8_t rest[9000 - 4] = { NINEP_TWRITE, 0x34, 0x12 };

	(void)state;
	assert_int_equal(ask(255, ""), EOPNOTSUPP);
	client_send_bytes("\x28\x23\0\0", 4);
	client_wait_until_taken();
	client_send_bytes(rest, sizeof(rest));
	assert_int_equal(client_result_of(0x1234, NINEP_TWRITE), EMSGSIZE);
	assert_int_equal(ask(NINEP_TGETATTR, "48", 0u, (uint64_t)0), 0);
}

/* Behind half a request and a pause a client begins anew; without one the line may be silent. */
static void test_half_a_request(void **state)
{
	(void)state;
	client_settle();
	client_let_line_pause();
	assert_true(client_patience == WAIT_FOREVER);
	client_send_bytes("\x0b\0\0\0\x78\x02", 6);
	client_let_line_pause();
	assert_true(client_patience == NINEP_PAUSE_NS);
	assert_int_equal(client_version(MSIZE, "9P2000.L"), 0);
	assert_int_equal(ninep_number(body, 4), MSIZE);
}

/* ---- Names ---- */

static void test_attach(void **state)
{
	char path[VFS_PATH_MAX + 1];

	(void)state;
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 0u, NO_FID, "", "/", 0u), EBADF);
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 1u, NO_FID, "", "", 0u), 0);
	assert_int_equal(body_len, NINEP_QID_BYTES);
	assert_int_equal(body[0], NINEP_QID_DIR);
	assert_true(ninep_number(body + 5, 8) == files_find("/")->stat.id);
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 2u, NO_FID, "", "d", 0u), 0);
	assert_true(ninep_number(body + 5, 8) == files_find("/d")->stat.id);
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 3u, NO_FID, "", "/f", 0u), ENOTDIR);
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 3u, NO_FID, "", "/none", 0u), ENOENT);
	memset(path, 'x', VFS_PATH_MAX);
	path[0] = '/';
	path[VFS_PATH_MAX] = '\0';
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 3u, NO_FID, "", path, 0u), ENAMETOOLONG);
	path[VFS_PATH_MAX - 1] = '\0';
	assert_int_equal(ask(NINEP_TATTACH, "44ss4", 3u, NO_FID, "", path, 0u), ENOENT);
	assert_int_equal(ask(NINEP_TCLUNK, "4", 3u), EBADF);
}

static void test_walk(void **state)
{
	(void)state;
	assert_int_equal(walk(1, "d", "a"), 0);
	assert_int_equal(body_len, 2 + 2 * NINEP_QID_BYTES);
	assert_int_equal(ninep_number(body, 2), 2);
	assert_true(ninep_number(body + 7, 8) == files_find("/d")->stat.id);
	assert_int_equal(body[2 + NINEP_QID_BYTES], NINEP_QID_FILE);
	assert_true(ninep_number(body + 20, 8) == files_find("/d/a")->stat.id);
	assert_int_equal(walk(1, "d", NULL), EBADF); /* it is in use */
	assert_int_equal(walk(2, NULL, NULL), 0);
	assert_int_equal(ninep_number(body, 2), 0);
	assert_int_equal(body_len, 2);
	/* As far as the names lead; the fid is there at the end only. */
	assert_int_equal(walk(3, "d", "none"), 0);
	assert_int_equal(ninep_number(body, 2), 1);
	assert_int_equal(body_len, 2 + NINEP_QID_BYTES);
	assert_int_equal(walk(3, "f", "a"), 0);
	assert_int_equal(ninep_number(body, 2), 1);
	assert_int_equal(ask(NINEP_TCLUNK, "4", 3u), EBADF);
	assert_int_equal(walk(3, "none", "a"), ENOENT);
	assert_int_equal(ask(NINEP_TWALK, "442s", 1u, 3u, 1u, "x"), ENOTDIR);
	assert_int_equal(ask(NINEP_TWALK, "442", 9u, 3u, 0u), EBADF);
	/* From a fid to itself. */
	assert_int_equal(ask(NINEP_TWALK, "442s", 2u, 2u, 1u, "f"), 0);
	assert_int_equal(ask(NINEP_TGETATTR, "48", 2u, (uint64_t)0), 0);
	assert_int_equal(body[8], NINEP_QID_FILE);
}

static void test_names_that_no_file_has(void **state)
{
	char name[VFS_NAME_MAX + 1];

	(void)state;
	assert_int_equal(walk(1, "", NULL), ENOENT);
	assert_int_equal(walk(1, "d/a", NULL), ENOENT);
	memset(name, 'x', sizeof(name));
	name[VFS_NAME_MAX] = '\0';
	assert_int_equal(walk(1, name, NULL), ENAMETOOLONG);
	name[VFS_NAME_MAX - 1] = '\0';
	assert_int_equal(walk(1, name, NULL), ENOENT);
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 0u, name, 0755u, 0u), 0);
	assert_int_equal(walk(1, name, NULL), 0);
	files_last_call[0] = '\0';
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 0u, "", 0755u, 0u), ENOENT);
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 0u, "d/x", 0755u, 0u), ENOENT);
	assert_int_equal(ask(NINEP_TMKDIR, "42244", 0u, 2u, 0x0061u, 0755u, 0u), ENOENT);
	assert_string_equal(files_last_call, "");
}

/* No request is served for a fid that does not stand for anything. */
static void test_unknown_fids(void **state)
{
	(void)state;
	assert_int_equal(ask(NINEP_TSTATFS, "4", 9u), EBADF);
	assert_int_equal(ask(NINEP_TGETATTR, "48", 9u, (uint64_t)0), EBADF);
	assert_int_equal(ask(NINEP_TSETATTR, "4444488888", 9u, 8u, 0u, 0u, 0u, (uint64_t)0,
			     (uint64_t)0, (uint64_t)0, (uint64_t)0, (uint64_t)0),
			 EBADF);
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 9u, "x", 0755u, 0u), EBADF);
	assert_int_equal(ask(NINEP_TUNLINKAT, "4s4", 9u, "d", 0u), EBADF);
	assert_int_equal(ask(NINEP_TREMOVE, "4", 9u), EBADF);
	assert_string_equal(files_last_call, "");
}

#define ATTR_BYTES (8 + NINEP_QID_BYTES + 3 * 4 + 15 * 8)

static void check_attr(const char *path, uint32_t mode)
{
	const struct node *node = files_find(path);

	assert_int_equal(body_len, ATTR_BYTES);
	assert_int_equal(ninep_number(body, 8), 0x7ff);
	assert_true(ninep_number(body + 13, 8) == node->stat.id);
	assert_int_equal(ninep_number(body + 21, 4), mode);
	assert_int_equal(ninep_number(body + 25, 4), node->stat.uid);
	assert_int_equal(ninep_number(body + 29, 4), node->stat.gid);
	assert_int_equal(ninep_number(body + 33, 8), 1);
	assert_int_equal(ninep_number(body + 41, 8), 0);
	assert_int_equal(ninep_number(body + 49, 8), node->stat.size);
	assert_int_equal(ninep_number(body + 57, 8), 4096);
	assert_int_equal(ninep_number(body + 65, 8), node->stat.size ? 1 : 0);
	for (size_t at = 73; at < body_len; at++)
		assert_int_equal(body[at], 0);
}

static void test_attributes(void **state)
{
	(void)state;
	assert_int_equal(ask(NINEP_TGETATTR, "48", 0u, (uint64_t)0), 0);
	check_attr("/", 040755);
	assert_int_equal(walk(1, "f", NULL), 0);
	assert_int_equal(ask(NINEP_TGETATTR, "48", 1u, (uint64_t)0), 0);
	check_attr("/f", 0100644);
	/* Mode, owner and group, each by itself. */
	assert_int_equal(ask(NINEP_TSETATTR,
			     "444448"
			     "8888",
			     1u, 1u, 0107751u, 5u, 6u, (uint64_t)0, (uint64_t)0, (uint64_t)0,
			     (uint64_t)0, (uint64_t)0),
			 0);
	assert_int_equal(ask(NINEP_TGETATTR, "48", 1u, (uint64_t)0), 0);
	check_attr("/f", 0107751);
	assert_int_equal(ninep_number(body + 25, 4), 11);
	for (uint32_t which = 2; which <= 4; which += 2) {
		assert_int_equal(ask(NINEP_TSETATTR, "4444488888", 1u, which, 0u, 5u, 6u,
				     (uint64_t)0, (uint64_t)0, (uint64_t)0, (uint64_t)0,
				     (uint64_t)0),
				 0);
	}
	assert_int_equal(files_find("/f")->stat.uid, 5);
	assert_int_equal(files_find("/f")->stat.gid, 6);
	files_last_call[0] = '\0';
	assert_int_equal(ask(NINEP_TSETATTR, "4444488888", 1u, 0x10u, 0u, 0u, 0u, (uint64_t)0,
			     (uint64_t)0, (uint64_t)0, (uint64_t)0, (uint64_t)0),
			 0);
	assert_string_equal(files_last_call, ""); /* times: taken and forgotten */
}

static int set_size(uint32_t fid, uint64_t size)
{
	return ask(NINEP_TSETATTR, "4444488888", fid, 8u, 0u, 0u, 0u, size, (uint64_t)0,
		   (uint64_t)0, (uint64_t)0, (uint64_t)0);
}

static void test_size(void **state)
{
	(void)state;
	assert_int_equal(walk(1, "f", NULL), 0);
	assert_int_equal(set_size(1, 5), 0); /* it has that */
	assert_int_equal(set_size(1, 4), EOPNOTSUPP);
	assert_int_equal(files_find("/f")->stat.size, 5);
	assert_int_equal(set_size(1, 0), 0);
	assert_int_equal(files_find("/f")->stat.size, 0);
	assert_int_equal(set_size(0, 0), EISDIR);
	assert_int_equal(files_nr_open(), 0);
}

static void test_file_system(void **state)
{
	static const uint8_t wanted[] = { 0x97, 0x19, 2, 1, 0, 16, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0,
					  5,	0,    0, 0, 0, 0,  0, 0, 5,  0, 0, 0, 0, 0, 0, 0 };

	(void)state;
	assert_int_equal(ask(NINEP_TSTATFS, "4", 0u), 0);
	assert_int_equal(body_len, 4 + 4 + 6 * 8 + 4);
	assert_memory_equal(body, wanted, sizeof(wanted));
	for (size_t at = sizeof(wanted); at < body_len - 4; at++)
		assert_int_equal(body[at], 0);
	assert_int_equal(ninep_number(body + body_len - 4, 4), 127);
}

static void test_making_and_removing(void **state)
{
	(void)state;
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 0u, "new", 0755u, 0u), 0);
	assert_int_equal(body_len, NINEP_QID_BYTES);
	assert_int_equal(body[0], NINEP_QID_DIR);
	assert_true(ninep_number(body + 5, 8) == files_find("/new")->stat.id);
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 0u, "new", 0755u, 0u), EEXIST);
	assert_int_equal(walk(1, "f", NULL), 0);
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 1u, "new", 0755u, 0u), ENOTDIR);
	assert_int_equal(ask(NINEP_TUNLINKAT, "4s4", 0u, "new", 0u), EISDIR);
	assert_int_equal(ask(NINEP_TUNLINKAT, "4s4", 0u, "new", 0x200u), 0);
	assert_null(files_find("/new"));
	assert_int_equal(ask(NINEP_TUNLINKAT, "4s4", 0u, "f", 0x200u), ENOTDIR);
	assert_int_equal(ask(NINEP_TUNLINKAT, "4s4", 0u, "f", 0u), 0);
	assert_null(files_find("/f"));
	assert_int_equal(ask(NINEP_TGETATTR, "48", 1u, (uint64_t)0), ENOENT);
	/* Tremove ends the fid, whatever comes of it. */
	assert_int_equal(ask(NINEP_TREMOVE, "4", 1u), ENOENT);
	assert_int_equal(ask(NINEP_TCLUNK, "4", 1u), EBADF);
	client_open_file(1, "w", 0);
	assert_int_equal(ask(NINEP_TREMOVE, "4", 1u), 0);
	assert_string_equal(files_last_call, "unlink /w");
	assert_int_equal(ask(NINEP_TCLUNK, "4", 1u), EBADF);
	assert_int_equal(walk(1, "d", "dd"), 0);
	assert_int_equal(ask(NINEP_TREMOVE, "4", 1u), 0);
	assert_string_equal(files_last_call, "rmdir /d/dd");
	assert_int_equal(ask(NINEP_TREMOVE, "4", 1u), EBADF);
}

/* Fids follow their file, and what is in a directory that moves; others stay. */
static void test_renaming(void **state)
{
	(void)state;
	assert_int_equal(walk(1, "d", "a"), 0);
	assert_int_equal(walk(2, "d", NULL), 0);
	assert_int_equal(ask(NINEP_TRENAMEAT, "4s4s", 2u, "a", 0u, "x"), 0);
	assert_string_equal(files_last_call, "rename /d/a /x");
	assert_int_equal(ask(NINEP_TGETATTR, "48", 1u, (uint64_t)0), 0);
	assert_int_equal(ask(NINEP_TRENAME, "44s", 1u, 2u, "y"), 0);
	assert_string_equal(files_last_call, "rename /x /d/y");
	assert_int_equal(ask(NINEP_TGETATTR, "48", 1u, (uint64_t)0), 0);
	files_last_call[0] = '\0';
	assert_int_equal(ask(NINEP_TRENAME, "44s", 1u, 2u, "y"), 0);
	assert_string_equal(files_last_call, ""); /* it is called so */
	assert_int_equal(ask(NINEP_TRENAMEAT, "4s4s", 2u, "none", 0u, "x"), ENOENT);
	assert_int_equal(ask(NINEP_TRENAMEAT, "4s4s", 2u, "y", 1u, "x"), ENOTDIR);
	assert_int_equal(ask(NINEP_TRENAMEAT, "4s4s", 9u, "y", 0u, "x"), EBADF);
	assert_int_equal(ask(NINEP_TRENAMEAT, "4s4s", 2u, "y", 9u, "x"), EBADF);
	assert_int_equal(ask(NINEP_TRENAME, "44s", 9u, 0u, "x"), EBADF);
	assert_int_equal(ask(NINEP_TRENAME, "44s", 1u, 9u, "x"), EBADF);
	assert_int_equal(ask(NINEP_TGETATTR, "48", 1u, (uint64_t)0), 0);
}

/* A fid leads to nothing when another file has the name; then nothing is done with that. */
static void test_another_file_of_that_name(void **state)
{
	(void)state;
	assert_int_equal(walk(1, "f", NULL), 0);
	assert_int_equal(walk(2, "d", NULL), 0);
	files_replace("/f");
	files_replace("/d");
	assert_int_equal(ask(NINEP_TGETATTR, "48", 1u, (uint64_t)0), ENOENT);
	assert_int_equal(ask(NINEP_TLOPEN, "44", 1u, 0u), ENOENT);
	assert_int_equal(set_size(1, 0), ENOENT);
	assert_int_equal(ask(NINEP_TWALK, "442", 1u, 3u, 0u), ENOENT);
	assert_int_equal(ask(NINEP_TRENAME, "44s", 1u, 0u, "x"), ENOENT);
	assert_int_equal(ask(NINEP_TMKDIR, "4s44", 2u, "new", 0u, 0u), ENOENT);
	assert_int_equal(ask(NINEP_TUNLINKAT, "4s4", 2u, "a", 0u), ENOENT);
	assert_int_equal(ask(NINEP_TLCREATE, "4s444", 2u, "new", 2u, 0644u, 0u), ENOENT);
	assert_int_equal(ask(NINEP_TREMOVE, "4", 1u), ENOENT);
	assert_string_equal(files_last_call, "");
	assert_string_equal(files_find("/f")->text, "hello");
	/* Why it cannot be looked at is said. */
	files_stat_error = -EIO;
	assert_int_equal(ask(NINEP_TGETATTR, "48", 2u, (uint64_t)0), EIO);
	assert_int_equal(ask(NINEP_TWALK, "442s", 0u, 3u, 1u, "f"), EIO);
	files_stat_error = 0;
}

/* ---- No memory ---- */

static void test_no_memory(void **state)
{
	static const struct ninep_channel none = { .name = "none" };
	long live = host_live;

	(void)state;
	client_settle();
	for (int n = 0; n < 8; n++) {
		host_fail_at = n / 2;
		host_fails_once = n % 2;
		assert_int_equal(ninep_serve(&none), -ENOMEM);
		host_fail_at = -1;
		assert_int_equal(host_live, live);
	}
	host_fails_once = false;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, client_start, client_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_version),
		TEST(test_no_version),
		TEST(test_version_ends_the_session),
		TEST(test_bad_requests),
		TEST(test_size_of_a_long_request),
		TEST(test_half_a_request),
		TEST(test_attach),
		TEST(test_walk),
		TEST(test_names_that_no_file_has),
		TEST(test_unknown_fids),
		TEST(test_attributes),
		TEST(test_size),
		TEST(test_file_system),
		TEST(test_making_and_removing),
		TEST(test_renaming),
		TEST(test_another_file_of_that_name),
		TEST(test_no_memory),
	};

	return cmocka_run_group_tests(tests, client_begin, NULL);
}
