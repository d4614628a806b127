/*
 * Locks of files against a model: an array that says of each byte which owners have it locked, and how.
 */
#define WITH_PROCESSES
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <kernel/mm.h>
#include "fs/vfs_lock.c"

#define BYTES  24u
#define OWNERS 3u
#define FILES  2u
#define ROUNDS 20000

static int owners[OWNERS];
static enum file_lock_type model[FILES][OWNERS]
				[BYTES + 1]; /* the last one: all bytes behind them */
static int nr_nodes;

void *kmalloc(size_t size)
{
	nr_nodes++;
	return malloc(size);
}

void kfree(void *object)
{
	nr_nodes -= object != NULL;
	free(object);
}

void mutex_lock(struct mutex *mutex)
{
	(void)mutex;
}

void mutex_unlock(struct mutex *mutex)
{
	(void)mutex;
}

void waitq_wake_all_waiters(struct waitq *queue)
{
	(void)queue;
}

/* Another thread gives the first owner's locks up meanwhile. */
int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	(void)queue;
	(void)interruptible;
	(void)timeout_ns;
	if (done(arg))
		return 0;
	file_locks_drop(&owners[0], NULL);
	return done(arg) ? 0 : -EINTR;
}

int file_stat(struct file *file, struct vfs_stat *out_stat)
{
	out_stat->id = file->pos;
	return 0;
}

int vfs_lstat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	(void)cwd;
	(void)path;
	(void)out_stat;
	return -ENOENT;
}

static struct file_lock lock_of(uint32_t file, uint32_t owner, uint64_t first, uint64_t last)
{
	return (struct file_lock){ .file = file + 1,
				   .owner = &owners[owner],
				   .pid = (int32_t)owner + 1,
				   .first = first,
				   .last = last };
}

static bool goes_with(uint32_t file, uint32_t owner, uint64_t byte, enum file_lock_type type)
{
	for (uint32_t i = 0; i < OWNERS; i++) {
		enum file_lock_type held = model[file][i][byte];

		if (i != owner && held &&
		    (held == FILE_LOCK_EXCLUSIVE || type == FILE_LOCK_EXCLUSIVE))
			return false;
	}
	return true;
}

/* Locks of each byte, as an owner that has none meets them. */
static void compare(uint32_t file)
{
	for (uint64_t byte = 0; byte <= BYTES; byte++) {
		struct file_lock asked = lock_of(file, 0, byte, byte), held;
		static int stranger;

		asked.owner = &stranger;
		for (asked.type = FILE_LOCK_SHARED; asked.type <= FILE_LOCK_EXCLUSIVE; asked.type++)
			assert_int_equal(!file_lock_get(&asked, &held),
					 goes_with(file, OWNERS, byte, asked.type));
	}
}

static void one_round(void)
{
	uint32_t file = (uint32_t)rand() % FILES, owner = (uint32_t)rand() % OWNERS;
	uint64_t first = (uint64_t)rand() % BYTES,
		 last = first + (uint64_t)rand() % (BYTES - first);
	bool is_open = rand() % 8 == 0, goes = true;
	struct file_lock lock = lock_of(file, owner, first, is_open ? UINT64_MAX : last);

	last = is_open ? BYTES : last;
	lock.type = (enum file_lock_type)(rand() % 3);
	for (uint64_t byte = first; byte <= last; byte++)
		goes &= lock.type == FILE_UNLOCK || goes_with(file, owner, byte, lock.type);
	assert_int_equal(file_lock_set(&lock, false), goes ? 0 : -EAGAIN);
	for (uint64_t byte = first; goes && byte <= last; byte++)
		model[file][owner][byte] = lock.type;
	compare(file);
}

static void test_ranges(void **state)
{
	struct file file = { .pos = 1 };

	(void)state;
	srand(3);
	for (int round = 0; round < ROUNDS; round++) {
		one_round();
		if (round % 100 == 0) { /* a descriptor of the first file is closed */
			file_locks_drop(&owners[1], &file);
			memset(model[0][1], 0, sizeof(model[0][1]));
		}
	}
	for (uint32_t i = 0; i < OWNERS; i++)
		file_locks_drop(&owners[i], NULL);
	assert_int_equal(nr_nodes, 0);
}

/* Neighbours of one type are one lock: the list does not grow with them. */
static void test_neighbours_are_joined(void **state)
{
	struct file_lock lock = lock_of(0, 0, 0, 0), held;

	(void)state;
	lock.type = FILE_LOCK_SHARED;
	for (uint64_t byte = 0; byte < BYTES; byte++) {
		lock.first = lock.last = byte * 7 % BYTES;
		assert_int_equal(file_lock_set(&lock, false), 0);
	}
	assert_int_equal(nr_nodes, 1);
	lock = lock_of(0, 1, 0, UINT64_MAX);
	lock.type = FILE_LOCK_EXCLUSIVE;
	assert_true(file_lock_get(&lock, &held) && held.first == 0 && held.last == BYTES - 1);
	file_locks_drop(&owners[0], NULL);
}

static void test_waits(void **state)
{
	struct file_lock first = lock_of(0, 0, 0, 9), second = lock_of(0, 1, 5, 5);

	(void)state;
	first.type = second.type = FILE_LOCK_EXCLUSIVE;
	assert_int_equal(file_lock_set(&first, false), 0);
	assert_int_equal(file_lock_set(&second, false), -EAGAIN);
	assert_int_equal(file_lock_set(&second, true), 0);
	first.owner = &owners[2];
	assert_int_equal(file_lock_set(&first, true),
			 -EINTR); /* what the first owner gave up is not enough */
	file_locks_drop(&owners[1], NULL);
	assert_int_equal(nr_nodes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_neighbours_are_joined),
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
