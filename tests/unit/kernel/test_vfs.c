/*
 * Names of files between threads: a check and the change that it is for are one step, and a directory that is open is held.
 * `comes_between` is the other thread: it runs before one of the times that the tree is locked, which are the
 * places where the tree can change during a call.
 *
 * links: tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define WITH_PROCESSES
#include "fs/vfs_attr.c"
#include "fs/vfs_dentry.c"
#include "fs/vfs_file.c"
#include "fs/vfs_may.c"
#include "fs/vfs_mounts.c"
#include "fs/vfs_proc_place.c"
#include "fs/vfs_open.c"
#include "fs/vfs_path.c"
#include "fs/vfs_ram.c"
#include "fs/vfs_ram_boot.c"
#include "fs/vfs_ram_file.c"
#include "fs/vfs_ram_name.c"
#include "fs/vfs_ram_mount.c"
#include "fs/vfs_ram_rename.c"
#include "fs/vfs_walk.c"
#include "host.h"

#include "kernel/vfs_kernel.h"

/* ---- Helpers ---- */

static void as_root(void (*fn)(void))
{
	uint32_t uid = fsuid;

	fsuid = ROOT;
	fn();
	fsuid = uid;
}

static int make(const char *path, uint32_t mode, uint32_t uid)
{
	const struct vfs_at at = { .path = path, .cwd = "/" };
	uint32_t own = fsuid;
	struct file *file;
	int err;

	fsuid = uid;
	err = vfs_open_at(&at, VFS_WRITE | VFS_CREATE | VFS_EXCL, mode, &file);
	fsuid = own;
	if (!err)
		fput(file);
	return err;
}

static struct vfs_stat stat_of(const char *path)
{
	struct vfs_stat stat = { 0 };

	assert_int_equal(vfs_lstat("/", path, &stat), 0);
	return stat;
}

static struct file *open_dir(const char *path)
{
	struct file *dir;

	assert_int_equal(vfs_open("/", path, VFS_READ | VFS_MAY_LIST | VFS_ONLY_DIR, &dir), 0);
	return dir;
}

static int set_up(void **state)
{
	static const char *const dirs[] = { "/tmp", "/proc", "/sys" };
	const struct vfs_stat open = { .mode = 01777 };

	(void)state;
	comes_between = NULL;
	is_everywhere = false;
	fsuid = ROOT;
	if (!ram_tree)
		assert_int_equal(vfs_ram_init(dirs, ARRAY_SIZE(dirs)), 0);
	assert_int_equal(vfs_set_attr("/", "/tmp", VFS_SET_MODE, &open), 0);
	return 0;
}

/* Each lock of a call, one after the other: there another thread comes in between. */
#define PLACES 8u

/* ---- The tests ---- */

static void roots_file_takes_the_name(void)
{
	vfs_rename("/", "/tmp/roots", "/tmp/x");
}

static void swap_in_roots(void)
{
	as_root(roots_file_takes_the_name);
}

/* A file of root that gets the name between the question and the removal stays. */
static void test_sticky_unlink(void **state)
{
	(void)state;
	for (uint32_t place = 1; place <= PLACES; place++) {
		make("/tmp/roots", 0644, ROOT);
		make("/tmp/x", 0644, USER);
		fsuid = USER;
		comes_between = swap_in_roots;
		place_left = place;
		vfs_unlink("/", "/tmp/x");
		comes_between = NULL;
		fsuid = ROOT;
		if (vfs_unlink("/", "/tmp/roots")) /* it has the name x, or was removed */
			assert_int_equal(stat_of("/tmp/x").uid, ROOT);
		vfs_unlink("/", "/tmp/x");
	}
}

static void test_sticky_rename(void **state)
{
	(void)state;
	for (uint32_t place = 1; place <= PLACES; place++) {
		make("/tmp/roots", 0644, ROOT);
		make("/tmp/x", 0644, USER);
		fsuid = USER;
		comes_between = swap_in_roots;
		place_left = place;
		vfs_rename("/", "/tmp/x", "/tmp/y");
		comes_between = NULL;
		fsuid = ROOT;
		if (vfs_unlink("/", "/tmp/roots"))
			assert_int_equal(stat_of("/tmp/x").uid, ROOT);
		vfs_unlink("/", "/tmp/x");
		vfs_unlink("/", "/tmp/y");
	}
}

static uint32_t seen_mode;

static void look_at_mode(void)
{
	struct vfs_stat stat;

	if (!vfs_lstat("/", "/tmp/new", &stat))
		seen_mode |= stat.mode;
}

/* At no moment has a new file, or directory, more rights than it was made with. */
static void test_mode_of_new(void **state)
{
	const struct vfs_at at = { .path = "/tmp/new", .cwd = "/" };

	(void)state;
	seen_mode = 0;
	comes_between = look_at_mode;
	is_everywhere = true;
	assert_int_equal(make("/tmp/new", 0600, USER), 0);
	assert_int_equal(stat_of("/tmp/new").mode, 0600);
	vfs_unlink("/", "/tmp/new");
	assert_int_equal(vfs_mkdir_at(&at, 0700), 0);
	assert_int_equal(stat_of("/tmp/new").mode, 0700);
	vfs_rmdir("/", "/tmp/new");
	comes_between = NULL;
	assert_int_equal(seen_mode & 077, 0);
}

static void put_link_there(void)
{
	vfs_make_symlink("/", "/tmp/new", "/tmp/secret");
}

/* The file that open() makes is the one that it opens, whatever gets the name. */
static void test_open_what_is_made(void **state)
{
	const struct vfs_at at = { .path = "/tmp/new", .cwd = "/" };
	struct file *file;
	struct vfs_stat stat;
	int err;

	(void)state;
	make("/tmp/secret", 0600, ROOT);
	for (uint32_t place = 1; place <= PLACES; place++) {
		fsuid = USER;
		comes_between = put_link_there;
		place_left = place;
		err = vfs_open_at(&at, VFS_WRITE | VFS_CREATE | VFS_EXCL, 0600, &file);
		comes_between = NULL;
		fsuid = ROOT;
		if (!err) {
			assert_int_equal(file_stat(file, &stat), 0);
			assert_int_equal(stat.uid, USER);
			fput(file);
		}
		vfs_unlink("/", "/tmp/new");
	}
	vfs_unlink("/", "/tmp/secret");
}

static void root_makes_it(void)
{
	fsuid = ROOT;
	make("/tmp/new", 0600, ROOT);
	fsuid = USER;
}

/* A file that another has made meanwhile is opened only if its owner lets: it counts as old. */
static void test_open_of_anothers(void **state)
{
	const struct vfs_at at = { .path = "/tmp/new", .cwd = "/" };
	struct file *file;
	int err;

	(void)state;
	for (uint32_t place = 1; place <= PLACES; place++) {
		fsuid = USER;
		comes_between = root_makes_it;
		place_left = place;
		err = vfs_open_at(&at, VFS_WRITE | VFS_CREATE, 0666, &file);
		comes_between = NULL;
		fsuid = ROOT;
		if (stat_of("/tmp/new").uid == ROOT)
			assert_int_equal(err, -EACCES);
		if (!err)
			fput(file);
		vfs_unlink("/", "/tmp/new");
	}
}

static void give_to_root(void)
{
	const struct vfs_stat to = { .uid = ROOT };

	vfs_set_attr("/", "/tmp/mine", VFS_SET_UID, &to);
}

static void swap_owner(void)
{
	as_root(give_to_root);
}

/* A file that gets root as its owner gets no mode from the one that it had. */
static void test_chmod(void **state)
{
	const struct vfs_stat to = { .mode = 04755 };
	int err;

	(void)state;
	for (uint32_t place = 1; place <= PLACES; place++) {
		make("/tmp/mine", 0755, USER);
		fsuid = USER;
		comes_between = swap_owner;
		place_left = place;
		err = vfs_set_attr("/", "/tmp/mine", VFS_SET_MODE, &to);
		comes_between = NULL;
		fsuid = ROOT;
		assert_true(err || place_left); /* the change came before the answer */
		if (err)
			assert_int_equal(stat_of("/tmp/mine").mode, 0755);
		vfs_unlink("/", "/tmp/mine");
	}
}

/* An open directory is that directory, whatever name it has, and whatever has its name. */
static void test_held_directory(void **state)
{
	struct vfs_at at = { .path = "f" };
	char path[VFS_PATH_MAX];
	struct file *dir, *file;
	struct vfs_stat stat;

	(void)state;
	vfs_mkdir("/", "/tmp/a");
	vfs_mkdir("/", "/tmp/deep");
	make("/tmp/a/f", 0640, ROOT);
	at.dir = dir = open_dir("/tmp/a");
	assert_int_equal(vfs_rename("/", "/tmp/a", "/tmp/deep/b"), 0);
	vfs_mkdir("/", "/tmp/a");
	make("/tmp/a/f", 0600, ROOT);
	assert_int_equal(vfs_stat_at(&at, true, &stat), 0);
	assert_int_equal(stat.mode, 0640);
	assert_int_equal(file_stat(dir, &stat), 0);
	assert_int_equal(file_dir_path(dir, path), 0);
	assert_string_equal(path, "/tmp/deep/b");
	at.path = "../g";
	assert_int_equal(vfs_open_at(&at, VFS_WRITE | VFS_CREATE, 0644, &file), 0);
	assert_string_equal(file->path, "/tmp/deep/g");
	fput(file);
	vfs_unlink("/", "/tmp/deep/b/f");
	assert_int_equal(vfs_rmdir("/", "/tmp/deep/b"), 0);
	at.path = "f";
	assert_int_equal(vfs_open_at(&at, VFS_WRITE | VFS_CREATE, 0644, &file), -ENOENT);
	assert_int_equal(file_dir_path(dir, path), -ENOENT);
	fput(dir);
	vfs_unlink("/", "/tmp/deep/g");
	vfs_unlink("/", "/tmp/a/f");
	assert_int_equal(vfs_rmdir("/", "/tmp/deep"), 0);
	assert_int_equal(vfs_rmdir("/", "/tmp/a"), 0);
}

static void move_directory(void)
{
	vfs_rename("/", "/tmp/a/b", "/tmp/c");
}

/* A walk goes on from the directory that it has come to: a relative link in it is not looked for by the old path. */
static void test_link_in_moved_directory(void **state)
{
	struct vfs_stat stat;

	(void)state;
	vfs_mkdir("/", "/tmp/a");
	for (uint32_t place = 1; place <= PLACES; place++) {
		vfs_mkdir("/", "/tmp/a/b");
		make("/tmp/a/b/f", 0640, ROOT);
		vfs_make_symlink("/", "/tmp/a/b/link", "f");
		comes_between = move_directory;
		place_left = place;
		if (!vfs_stat("/", "/tmp/a/b/link", &stat))
			assert_int_equal(stat.mode, 0640);
		else
			assert_true(place <
				    4); /* the directory was away before the walk came to it */
		comes_between = NULL;
		vfs_rename("/", "/tmp/c", "/tmp/a/b");
		vfs_unlink("/", "/tmp/a/b/f");
		vfs_unlink("/", "/tmp/a/b/link");
		vfs_rmdir("/", "/tmp/a/b");
	}
	vfs_rmdir("/", "/tmp/a");
}

/* No set-group-ID for a file in a directory whose group the thread is not in; directories hand the bit on. */
static void test_group_of_new(void **state)
{
	const struct vfs_at dir = { .path = "/tmp/shared/dir", .cwd = "/" };
	const struct vfs_stat to = { .mode = 02777, .gid = 7 };

	(void)state;
	vfs_mkdir("/", "/tmp/shared");
	vfs_set_attr("/", "/tmp/shared", VFS_SET_MODE | VFS_SET_GID, &to);
	assert_int_equal(make("/tmp/shared/f", 02755, USER), 0);
	assert_int_equal(stat_of("/tmp/shared/f").mode, 0755);
	assert_int_equal(stat_of("/tmp/shared/f").gid, 7);
	assert_int_equal(vfs_mkdir_at(&dir, 0700), 0);
	assert_int_equal(stat_of("/tmp/shared/dir").mode, 02700);
	vfs_unlink("/", "/tmp/shared/f");
	vfs_rmdir("/", "/tmp/shared/dir");
	assert_int_equal(vfs_rmdir("/", "/tmp/shared"), 0);
}

/* Without any memory at each place: an error, and nothing is left. */
static void test_no_memory(void **state)
{
	const struct vfs_at at = { .path = "/tmp/new", .cwd = "/" };
	long live = host_live;
	struct file *file;
	int err = -ENOMEM;

	(void)state;
	for (long at_nr = 0; err; at_nr++) {
		host_fail_at = at_nr;
		err = vfs_open_at(&at, VFS_WRITE | VFS_CREATE, 0600, &file);
		host_fail_at = -1;
		vfs_unlink("/", "/tmp/new");
		if (err) {
			assert_int_equal(err, -ENOMEM);
			assert_int_equal(host_live, live);
		}
	}
	fput(file);
	assert_int_equal(host_live, live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sticky_unlink, set_up),
		cmocka_unit_test_setup(test_sticky_rename, set_up),
		cmocka_unit_test_setup(test_mode_of_new, set_up),
		cmocka_unit_test_setup(test_open_what_is_made, set_up),
		cmocka_unit_test_setup(test_open_of_anothers, set_up),
		cmocka_unit_test_setup(test_chmod, set_up),
		cmocka_unit_test_setup(test_held_directory, set_up),
		cmocka_unit_test_setup(test_link_in_moved_directory, set_up),
		cmocka_unit_test_setup(test_group_of_new, set_up),
		cmocka_unit_test_setup(test_no_memory, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
