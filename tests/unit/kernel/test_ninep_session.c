/*
 * The state of a session: fids, listings, requests that wait. Limits met exactly, a second fid and a
 * second session beside the first, and each allocation and each call of the files that fails.
 *
 * links: kernel/ninep/ninep_fid.c kernel/ninep/ninep_wait.c kernel/ninep/ninep_dir.c
 * links: kernel/ninep/ninep_open.c kernel/ninep/ninep_names.c kernel/ninep/ninep_msg.c
 * links: tests/unit/kernel/host.c
 */
#include "unit.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <kernel/mm.h>
#include <kernel/thread.h>
#include "kernel/host.h"
#include "mm/page.h"
#include "ninep/ninep_session.h"

/* ---- The files: directories / and /d, which has nr_entries, the file /f, and /w, which may wait ---- */

static uint32_t nr_entries;
static bool has_new; /* /d/new was made */
static int fail_call_at = -1;
static uint32_t nr_opens, last_open_flags;
static uint64_t size_of_files;

/* 0, or -EIO when it is the turn of this call to fail. */
static int call_may_fail(void)
{
	return fail_call_at >= 0 && fail_call_at-- == 0 ? -EIO : 0;
}

int vfs_resolve(const char *cwd, const char *path, char *out_path)
{
	bool is_absolute = path[0] == '/';

	snprintf(out_path, VFS_PATH_MAX, "%s%s%s", is_absolute ? "" : cwd,
		 is_absolute || !cwd[1] ? "" : "/", path);
	return call_may_fail();
}

int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	bool is_dir = !strcmp(path, "/") || !strcmp(path, "/d") || path[0] == '.';
	uint64_t id = 7;

	(void)cwd;
	if (!strcmp(path, "/d/new") && !has_new)
		return -ENOENT;
	for (const char *c = path; *c; c++)
		id = id * 31 + (uint8_t)*c;
	*out_stat = (struct vfs_stat){ .type = is_dir ? VFS_DIRECTORY : VFS_REGULAR,
				       .id = id,
				       .size = size_of_files };
	return call_may_fail();
}

int vfs_set_attr(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to)
{
	(void)cwd;
	(void)path;
	(void)which;
	(void)to;
	return call_may_fail();
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	(void)cwd;
	(void)path;
	snprintf(out_name, VFS_NAME_MAX, "entry%u", index);
	return index < nr_entries ? call_may_fail() : -ENOENT;
}

int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)
{
	int err = call_may_fail();

	(void)cwd;
	if (err)
		return err;
	*out_file = kzalloc(sizeof(**out_file));
	if (!*out_file)
		return -ENOMEM;
	(*out_file)->flags = flags;
	(*out_file)->pos = !strcmp(path, "/w");
	has_new = has_new || flags & VFS_CREATE;
	nr_opens++;
	last_open_flags = flags;
	return 0;
}

int fput(struct file *file)
{
	kfree(file);
	return 0;
}

bool file_may_wait(const struct file *file)
{
	return file->pos;
}

static ssize_t file_result;

ssize_t vfs_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	(void)pos;
	memset(buf, 'r', len);
	return file_result ? file_result : (ssize_t)len;
}

ssize_t vfs_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	(void)buf;
	(void)pos;
	return (ssize_t)len;
}

int vfs_mkdir(const char *cwd, const char *path)
{
	(void)cwd;
	(void)path;
	return call_may_fail();
}

int vfs_rmdir(const char *cwd, const char *path)
{
	return vfs_mkdir(cwd, path);
}

int vfs_unlink(const char *cwd, const char *path)
{
	return vfs_mkdir(cwd, path);
}

int vfs_rename(const char *cwd, const char *path, const char *new_path)
{
	(void)new_path;
	return vfs_mkdir(cwd, path);
}

void file_set_nonblock(struct file *file, bool on)
{
	(void)file;
	(void)on;
}

void ninep_polls_end(struct ninep_polls *polls, const struct file *file)
{
	(void)polls;
	(void)file;
}

void page_get_counts(uint64_t *out_total, uint64_t *out_free, uint64_t *out_failures)
{
	*out_total = *out_free = *out_failures = 0;
}

/* ---- Threads: one runs when it is joined, or by run_jobs(), until it would sleep ---- */

static struct cpu_local cpu;
static jmp_buf asleep;

void spin_lock(struct spinlock *lock)
{
	lock->locked++;
	assert_int_equal(lock->locked, 1);
}

void spin_unlock(struct spinlock *lock)
{
	lock->locked--;
}

int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	(void)queue;
	(void)interruptible;
	(void)timeout_ns;
	if (!done(arg))
		longjmp(asleep, 1);
	return 0;
}

void waitq_wake_all_waiters(struct waitq *queue)
{
	(void)queue;
}

struct thread *thread_create(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags)
{
	struct thread *thread = kzalloc(sizeof(*thread));

	(void)name;
	(void)flags;
	if (!thread)
		return NULL;
	thread->fn = fn;
	thread->arg = arg;
	return thread;
}

void thread_interrupt(struct thread *thread)
{
	(void)thread;
}

void thread_clear_interrupt(void)
{
}

int thread_join_wait(struct thread *thread)
{
	thread->fn(thread->arg);
	kfree(thread);
	return 0;
}

static uint32_t nr_replies;

void ninep_send(struct ninep_session *session, const struct ninep_reply *reply)
{
	(void)session;
	assert_int_equal(ninep_number(reply->bytes, 4), reply->len);
	nr_replies++;
}

/* ---- Requests ---- */

static struct ninep_session session, other;
static uint8_t reply_bytes[8192];
static size_t reply_len;
static struct ninep_request request;

static int setup(void **state)
{
	(void)state;
	syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu);
	session = other =
		(struct ninep_session){ .msize = sizeof(reply_bytes), .wait_bytes_max = 1u << 20 };
	nr_entries = 2;
	has_new = false;
	nr_opens = nr_replies = 0;
	size_of_files = 0;
	file_result = 0;
	fail_call_at = -1;
	host_fail_at = -1;
	host_live = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ninep_fid_drop_all(&session);
	ninep_fid_drop_all(&other);
	assert_int_equal(session.nr_fids + session.nr_waits + session.wait_bytes, 0);
	assert_int_equal(host_live, 0);
	return 0;
}

static int call(ninep_handler_fn handler)
{
	struct ninep_reply reply;
	int err;

	ninep_reply_begin(&reply, reply_bytes, sizeof(reply_bytes));
	err = handler(&session, &request, &reply);
	reply_len = reply.len;
	return err;
}

static void set(struct ninep_session *to, uint32_t nr, const char *path)
{
	struct vfs_stat stat;

	assert_int_equal(vfs_stat("/", path, &stat), 0);
	assert_int_equal(ninep_fid_set(to, nr, path, &stat), 0);
}

/* A fid that stands for `path`, opened. */
static void open_at(struct ninep_session *to, uint32_t nr, const char *path, uint32_t flags)
{
	struct ninep_reply reply;

	set(to, nr, path);
	request = (struct ninep_request){ .fid = nr, .flags = flags };
	ninep_reply_begin(&reply, reply_bytes, sizeof(reply_bytes));
	assert_int_equal(ninep_lopen(to, &request, &reply), 0);
}

static int ask(struct ninep_session *to, uint32_t nr, uint8_t type, uint16_t tag, uint32_t count)
{
	static const uint8_t data[4096];

	request = (struct ninep_request){
		.type = type, .tag = tag, .fid = nr, .count = count, .data = data
	};
	return ninep_waits_add(ninep_fid_find(to, nr), &request);
}

/* The thread of a fid works until there is nothing to do. */
static void run_jobs(struct ninep_session *of, uint32_t nr)
{
	const struct ninep_fid *fid = ninep_fid_find(of, nr);
	/* A struct ninep_waits has the session, the file, the thread. */
	struct thread *thread = ((struct thread *const *)fid->waits)[2];

	if (!setjmp(asleep))
		thread->fn(thread->arg);
}

static void test_as_many_fids_as_there_may_be(void **state)
{
	struct vfs_stat stat;

	(void)state;
	vfs_stat("/", "/f", &stat);
	for (uint32_t nr = 0; nr < NINEP_FIDS_MAX; nr++)
		assert_int_equal(ninep_fid_set(&session, nr, "/f", &stat), 0);
	assert_int_equal(ninep_fid_set(&session, NINEP_FIDS_MAX, "/f", &stat), -EMFILE);
	assert_int_equal(ninep_fid_set(&session, 5, "/d", &stat), 0);
	assert_int_equal(ninep_fid_set(&other, NINEP_FIDS_MAX, "/f", &stat), 0);
	ninep_fid_drop(&session, ninep_fid_find(&session, 6));
	assert_int_equal(ninep_fid_set(&session, NINEP_FIDS_MAX, "/f", &stat), 0);
	assert_int_equal(session.nr_fids, NINEP_FIDS_MAX);
}

static void test_as_many_fids_with_a_thread(void **state)
{
	(void)state;
	for (uint32_t nr = 0; nr < NINEP_WAITS_MAX; nr++)
		open_at(&session, nr, "/w", 0);
	set(&session, 100, "/w");
	request = (struct ninep_request){ .fid = 100 };
	assert_int_equal(call(ninep_lopen), -EMFILE);
	assert_false(ninep_fid_find(&session, 100)->is_open);
	assert_null(ninep_fid_find(&session, 100)->file);
	open_at(&other, 100, "/w", 0);
	ninep_fid_close(&session, ninep_fid_find(&session, 3));
	assert_int_equal(call(ninep_lopen), 0);
}

static void test_as_many_requests_as_may_wait(void **state)
{
	(void)state;
	open_at(&session, 1, "/w", 0);
	open_at(&session, 2, "/w", 0);
	for (uint16_t tag = 0; tag < NINEP_JOBS_MAX; tag++)
		assert_int_equal(ask(&session, 1, NINEP_TREAD, tag, 10), 0);
	assert_int_equal(ask(&session, 1, NINEP_TREAD, 500, 10), -EAGAIN);
	assert_int_equal(ask(&session, 2, NINEP_TREAD, 501, 10), 0);
	ninep_waits_flush(ninep_fid_find(&session, 1), 7);
	assert_int_equal(ask(&session, 1, NINEP_TREAD, 500, 10), 0);
	assert_int_equal(ask(&session, 1, NINEP_TREAD, 502, 10), -EAGAIN);
	run_jobs(&session, 1);
	assert_int_equal(nr_replies, NINEP_JOBS_MAX);
	assert_int_equal(ask(&session, 1, NINEP_TREAD, 502, 10), 0);
}

/* Bytes of all fids of a session count, and are given back by each way that a request can end. */
static void test_as_many_bytes_as_may_wait(void **state)
{
	static const uint8_t types[] = { NINEP_TREAD, NINEP_TWRITE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		open_at(&session, 1, "/w", 0);
		open_at(&session, 2, "/w", 0);
		open_at(&other, 1, "/w", 0);
		session.wait_bytes_max = 3 * (1000 + NINEP_READ_BYTES);
		assert_int_equal(ask(&session, 1, types[i], 1, 1000), 0);
		assert_int_equal(ask(&session, 1, types[i], 2, 1000), 0);
		assert_int_equal(ask(&session, 2, types[i], 3, 1001), -EAGAIN);
		assert_int_equal(ask(&session, 2, types[i], 3, 1000), 0);
		assert_int_equal(ask(&session, 1, types[i], 4, 0), -EAGAIN);
		assert_int_equal(ask(&other, 1, types[i], 4, 1000), 0);
		ninep_waits_flush(ninep_fid_find(&session, 1), 2);
		assert_int_equal(ask(&session, 2, types[i], 4, 1000), 0);
		assert_int_equal(ask(&session, 2, types[i], 5, 1), -EAGAIN);
		run_jobs(&session, 2);
		assert_int_equal(session.wait_bytes, 1000 + NINEP_READ_BYTES);
		assert_int_equal(ask(&session, 2, types[i], 5, 1000), 0);
		file_result = -EINTR;
		ninep_fid_drop(&session, ninep_fid_find(&session, 2));
		file_result = 0;
		assert_int_equal(session.wait_bytes, 1000 + NINEP_READ_BYTES);
		ninep_fid_drop(&session, ninep_fid_find(&session, 1));
		assert_int_equal(session.wait_bytes, 0);
	}
}

/* Read from 0, a directory is listed anew; what was listed before is freed. */
static void test_listing_again(void **state)
{
	size_t len;

	(void)state;
	open_at(&session, 1, "/d", 0);
	request = (struct ninep_request){ .fid = 1, .count = 4000 };
	assert_int_equal(call(ninep_readdir), 0);
	len = reply_len;
	nr_entries = 3;
	request.offset = 2;
	assert_int_equal(call(ninep_readdir), 0);
	assert_true(reply_len < len);
	request.offset = 0;
	assert_int_equal(call(ninep_readdir), 0);
	assert_true(reply_len > len);
	ninep_fid_close(&session, ninep_fid_find(&session, 1));
	request = (struct ninep_request){ .fid = 1 };
	assert_int_equal(call(ninep_lopen), 0);
	request.count = 4000;
	assert_int_equal(call(ninep_readdir), 0);
}

/* A client may go on where it has read with another fid: the first request has an offset. */
static void test_listing_from_the_middle(void **state)
{
	size_t all;

	(void)state;
	open_at(&session, 1, "/d", 0);
	open_at(&session, 2, "/d", 0);
	request = (struct ninep_request){ .fid = 1, .count = 4000 };
	assert_int_equal(call(ninep_readdir), 0);
	all = reply_len;
	request = (struct ninep_request){ .fid = 2, .count = 4000, .offset = 1 };
	assert_int_equal(call(ninep_readdir), 0);
	assert_in_range(reply_len, NINEP_HEADER_BYTES + 5, all - 1);
}

#define BLOCKS_AT (NINEP_HEADER_BYTES + 8 + 13 + 4 + 4 + 4 + 8 + 8 + 8 + 8)

/* A file takes as many blocks of 512 bytes as it has begun. */
static void test_blocks_of_a_file(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 511, 512, 513, 1024 };
	static const uint64_t blocks[] = { 0, 1, 1, 1, 2, 2 };

	(void)state;
	set(&session, 1, "/f");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_of_files = sizes[i];
		request = (struct ninep_request){ .fid = 1 };
		assert_int_equal(call(ninep_getattr), 0);
		assert_int_equal(ninep_number(reply_bytes + BLOCKS_AT - 16, 8), sizes[i]);
		assert_int_equal(ninep_number(reply_bytes + BLOCKS_AT, 8), blocks[i]);
	}
}

#define SET_SIZE 8u
#define RDWR	 2u

/* A size of 0 opens that fid again which was opened for writing and not used yet, and no other. */
static void test_size_of_0(void **state)
{
	uint32_t opens;

	(void)state;
	open_at(&session, 1, "/f", RDWR);
	open_at(&session, 2, "/f", RDWR);
	set(&session, 3, "/f");
	request = (struct ninep_request){ .fid = 1, .count = 1, .data = reply_bytes };
	assert_int_equal(call(ninep_write), 0);
	request = (struct ninep_request){ .fid = 3, .flags = SET_SIZE };
	opens = nr_opens;
	assert_int_equal(call(ninep_setattr), 0);
	assert_int_equal(nr_opens, opens + 1);
	assert_int_equal(ninep_fid_find(&session, 2)->file->flags & VFS_TRUNCATE, VFS_TRUNCATE);
	assert_int_equal(ninep_fid_find(&session, 1)->file->flags & VFS_TRUNCATE, 0);
	assert_true(ninep_fid_find(&session, 1)->is_used);
	/* All are used: the file is cut by an open of its own. */
	request = (struct ninep_request){ .fid = 2, .count = 1, .data = reply_bytes };
	assert_int_equal(call(ninep_write), 0);
	request = (struct ninep_request){ .fid = 3, .flags = SET_SIZE };
	assert_int_equal(call(ninep_setattr), 0);
	assert_int_equal(last_open_flags, VFS_WRITE | VFS_TRUNCATE);
	assert_true(ninep_fid_find(&session, 1)->is_used && ninep_fid_find(&session, 2)->is_used);
	/* Whatever fails on the way there says so. */
	for (int n = 0, err;; n++) {
		fail_call_at = n;
		err = call(ninep_setattr);
		if (fail_call_at >= 0)
			break;
		assert_int_equal(err, -EIO);
	}
	assert_int_equal(last_open_flags, VFS_WRITE | VFS_TRUNCATE);
}

/* ---- Failures ---- */

/* Everything that the fids of the session are. */
static uint64_t facts(void)
{
	uint64_t sum = session.nr_fids * 3 + session.nr_waits * 5 + session.wait_bytes * 7;

	for (uint32_t i = 0; i < NINEP_FID_LISTS; i++) {
		for (const struct ninep_fid *fid = session.fids[i]; fid; fid = fid->next)
			sum = sum * 31 + fid->nr + fid->id + fid->is_open * 11u +
			      (uintptr_t)fid->file + (uintptr_t)fid->waits + (uintptr_t)fid->dir;
	}
	return sum;
}

static void begin_one(const char *path, bool is_open)
{
	ninep_fid_drop_all(&session);
	has_new = false;
	if (is_open)
		open_at(&session, 1, path, 0);
	else
		set(&session, 1, path);
}

enum failure {
	ALLOCATIONS,
	AN_ALLOCATION,
	A_CALL
};

/*
 * Each allocation fails in turn, with all behind it or alone, and each call of the files: then
 * nothing has changed.
 */
static void check_failures(ninep_handler_fn handler, const char *path, bool is_open,
			   struct ninep_request asked, int expected)
{
	for (enum failure kind = ALLOCATIONS; kind <= A_CALL; kind++) {
		for (int n = 0;; n++) {
			uint64_t before;
			bool failed;
			long live;
			int err;

			begin_one(path, is_open);
			before = facts();
			live = host_live;
			request = asked;
			fail_call_at = kind == A_CALL ? n : -1;
			host_fail_at = kind == A_CALL ? -1 : n;
			host_fails_once = kind == AN_ALLOCATION;
			err = call(handler);
			failed = kind == ALLOCATIONS ? !host_fail_at
						     : fail_call_at < 0 && host_fail_at < 0;
			fail_call_at = -1;
			host_fail_at = -1;
			if (!failed) {
				assert_int_equal(err, expected);
				break;
			}
			if (err == expected) /* the last of all: nothing came behind it */
				continue;
			assert_int_equal(err, kind == A_CALL ? -EIO : -ENOMEM);
			assert_true(facts() == before);
			assert_int_equal(host_live, live);
		}
	}
}

static void test_failures(void **state)
{
	const struct ninep_text new_name = { "new", 3 }, name = { "x", 1 };

	(void)state;
	check_failures(ninep_attach, "/d", false,
		       (struct ninep_request){ .fid = 9, .new_name = { "/d", 2 } }, 0);
	check_failures(
		ninep_walk, "/d", false,
		(struct ninep_request){ .fid = 1, .new_fid = 2, .nr_names = 1, .names = { name } },
		0);
	check_failures(
		ninep_walk, "/d", false,
		(struct ninep_request){ .fid = 1, .new_fid = 1, .nr_names = 1, .names = { name } },
		0);
	check_failures(ninep_lopen, "/f", false, (struct ninep_request){ .fid = 1 }, 0);
	check_failures(ninep_lopen, "/w", false, (struct ninep_request){ .fid = 1 }, 0);
	check_failures(ninep_lcreate, "/d", false,
		       (struct ninep_request){ .fid = 1, .flags = RDWR, .name = new_name }, 0);
	check_failures(ninep_read, "/w", true, (struct ninep_request){ .fid = 1, .count = 100 },
		       NINEP_LATER);
	check_failures(ninep_readdir, "/d", true, (struct ninep_request){ .fid = 1, .count = 4000 },
		       0);
	check_failures(ninep_mkdir, "/d", false,
		       (struct ninep_request){ .fid = 1, .name = new_name }, -ENOENT);
	check_failures(ninep_unlinkat, "/d", false,
		       (struct ninep_request){ .fid = 1, .name = name }, 0);
	check_failures(ninep_renameat, "/d", false,
		       (struct ninep_request){
			       .fid = 1, .name = name, .new_fid = 1, .new_name = new_name },
		       0);
}

/* Renamed where there is no memory, a fid leads to nothing; all else is as it was. */
static void test_rename_without_memory(void **state)
{
	(void)state;
	set(&session, 1, "/d/x");
	host_fail_at = 0;
	ninep_fid_rename(&session, "/d", "/e");
	host_fail_at = -1;
	assert_string_equal(ninep_fid_find(&session, 1)->path, "/d/x");
	ninep_fid_rename(&session, "/d", "/e");
	assert_string_equal(ninep_fid_find(&session, 1)->path, "/e/x");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_as_many_fids_as_there_may_be),
		TEST(test_as_many_fids_with_a_thread),
		TEST(test_as_many_requests_as_may_wait),
		TEST(test_as_many_bytes_as_may_wait),
		TEST(test_listing_again),
		TEST(test_listing_from_the_middle),
		TEST(test_blocks_of_a_file),
		TEST(test_size_of_0),
		TEST(test_failures),
		TEST(test_rename_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
