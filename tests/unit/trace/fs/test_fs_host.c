/*
 * Wishes of hosts other than our kernel to tracefs: reads at any position, a read that sleeps and is
 * taken back, identities, whole command lines.
 */
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "tracefs.h"
#include "fs/fs_tree.h"
#include "instance/array.h"

/* ---- Positions ---- */

/* Pieces of the file in any order are those of the whole. */
static void check_positions(const char *path)
{
	static char whole[1 << 20], piece[64];
	size_t len = strlen(strcpy(whole, cat(path)));
	struct trace_handle *handle = open_file(path, TRACE_FS_READ);

	srand(4);
	if (!len)
		fail_msg("%s is empty", path);
	for (int i = 0; i < 100; i++) {
		uint64_t at = (uint64_t)rand() % (len + 20), pos = at;
		size_t left = at < len ? len - at : 0, want = left < 64 ? left : 64;

		assert_int_equal(trace_fs_read(handle, piece, 64, &pos), want);
		assert_memory_equal(piece, whole + (at < len ? at : len), want);
		assert_int_equal(pos, at + want);
	}
	trace_fs_close(handle);
}

static void test_positions(void **state)
{
	static const char *const paths[] = {
		"README",
		"trace",
		"per_cpu/cpu0/trace",
		"available_filter_functions",
		"trace_options",
		"set_ftrace_filter",
		"per_cpu/cpu0/stats",
	};

	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	for (int i = 0; i < 200; i++)
		call(0, 5, (size_t)i % NR_FUNCS);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	for (size_t i = 0; i < 30; i++)
		assert_int_equal(echo("hello", "trace_marker"), 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		check_positions(paths[i]);
}

/* Data that a stream has given are gone: it knows no other place than the next one. */
static void test_streams_have_no_positions(void **state)
{
	static const char *const paths[] = { "trace_pipe", "per_cpu/cpu0/trace_pipe_raw" };
	char byte;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct trace_handle *handle =
			open_file(paths[i], TRACE_FS_READ | TRACE_FS_NONBLOCK);
		uint64_t pos = 3;

		assert_int_equal(echo("hello", "trace_marker"), 0);
		assert_int_equal(trace_fs_read(handle, &byte, 1, &pos), -ESPIPE);
		pos = 0;
		assert_int_equal(trace_fs_read(handle, &byte, 0, &pos), 0);
		assert_int_equal(trace_fs_read(handle, &byte, 1, &pos), 1);
		/* Who counts from 0 again, such as a shell's redirection, gets what comes. */
		pos = 0;
		assert_int_equal(echo("hello", "trace_marker"), 0);
		assert_int_equal(trace_fs_read(handle, &byte, 1, &pos), 1);
		assert_int_equal(pos, 1);
		trace_fs_close(handle);
	}
}

/* ---- Identities ---- */

static uint8_t nr_of_id[1 << 26];

static void count_ids(struct trace_node *dir)
{
	struct trace_node *node = NULL;

	while ((node = trace_fs_next_child(dir, node))) {
		assert_in_range(node->id, 1, sizeof(nr_of_id) - 1);
		assert_int_equal(++nr_of_id[node->id], 1);
		if (node->is_dir)
			count_ids(node);
	}
}

static void check_ids(void)
{
	memset(nr_of_id, 0, sizeof(nr_of_id));
	nr_of_id[trace_fs_root()->id]++;
	count_ids(trace_fs_root());
}

/* Of a directory that was removed nothing is mistaken for what has its name now. */
static void test_identities(void **state)
{
	struct trace_node *dir = node_of("instances");
	uint64_t file = node_of("per_cpu/cpu1/trace")->id, first, second;

	(void)state;
	check_ids();
	assert_int_equal(trace_fs_mkdir(dir, "a"), 0);
	assert_int_equal(trace_fs_mkdir(dir, "b"), 0);
	check_ids();
	first = node_of("instances/a/trace")->id;
	assert_int_equal(trace_fs_rmdir(dir, "a"), 0);
	assert_int_equal(trace_fs_mkdir(dir, "a"), 0);
	check_ids();
	second = node_of("instances/a/trace")->id;
	assert_true(second > first);
	assert_int_equal(node_of("per_cpu/cpu1/trace")->id, file);
	assert_int_equal(trace_fs_rmdir(dir, "a"), 0);
	assert_int_equal(trace_fs_rmdir(dir, "b"), 0);
}

/* ---- Reads that are taken back ---- */

struct reader {
	const char *path;
	uint32_t cpu; /* of its own: what is off on a CPU is off for all that runs there */
	struct trace_handle *handle;
	_Atomic int64_t got;
	_Atomic bool is_over;
};

static void *read_one(void *arg)
{
	struct reader *reader = arg;
	char text[300];
	uint64_t pos = 0;

	fake_bind(reader->cpu);
	reader->got = trace_fs_read(reader->handle, text, sizeof(text), &pos);
	reader->is_over = true;
	return NULL;
}

static _Atomic uint32_t nr_sleeps;

static void count_sleep(void)
{
	nr_sleeps++;
}

/* One reader sleeps; cancelled, it comes back, and no other of the instance does. */
static void check_cancel(const char *path)
{
	struct reader reader = { .path = path, .cpu = 1 };
	struct reader other = { .path = "per_cpu/cpu0/trace_pipe_raw", .cpu = 2 };
	pthread_t threads[2];
	uint64_t pos = 0;
	char text[300];

	nr_sleeps = 0;
	reader.handle = open_file(path, TRACE_FS_READ);
	other.handle = open_file(other.path, TRACE_FS_READ);
	pthread_create(&threads[0], NULL, read_one, &reader);
	pthread_create(&threads[1], NULL, read_one, &other);
	while (nr_sleeps < 50)
		usleep(100);
	assert_false(reader.is_over);
	trace_fs_cancel(reader.handle);
	pthread_join(threads[0], NULL);
	assert_int_equal(reader.got, -EINTR);
	assert_false(other.is_over);

	assert_int_equal(trace_fs_read(reader.handle, text, sizeof(text), &pos), -EINTR);
	trace_fs_resume(reader.handle);
	assert_int_equal(echo("hello", "trace_marker"), 0);
	pthread_join(threads[1], NULL);
	assert_int_equal(other.got, 300); /* the first bytes of a page */
	/* Whoever is cancelled still gets what is there. */
	assert_int_equal(echo("hello", "trace_marker"), 0);
	trace_fs_cancel(reader.handle);
	assert_true(trace_fs_read(reader.handle, text, sizeof(text), &pos) > 0);
	trace_fs_close(reader.handle);
	trace_fs_close(other.handle);
}

static void test_cancel(void **state)
{
	(void)state;
	fake_on_wait = count_sleep;
	check_cancel("trace_pipe");
	check_cancel("per_cpu/cpu0/trace_pipe");
	check_cancel("per_cpu/cpu0/trace_pipe_raw");
	fake_on_wait = NULL;
}

/* ---- Command lines ---- */

static char printed[1 << 16];
static size_t printed_len;

static void print(void *arg, const char *text, size_t len)
{
	assert_string_equal(arg, "mine");
	assert_true(printed_len + len < sizeof(printed));
	memcpy(printed + printed_len, text, len);
	printed_len += len;
	printed[printed_len] = '\0';
}

static int do_line(const char *line, size_t *out_pos)
{
	static char mine[] = "mine";

	printed_len = 0;
	printed[0] = '\0';
	return trace_fs_command(line, print, mine, out_pos);
}

static void does(const char *line, const char *text)
{
	assert_int_equal(do_line(line, NULL), 0);
	assert_string_equal(printed, text);
}

static void fails(const char *line, int err, size_t where)
{
	size_t pos = 9999;

	assert_int_equal(do_line(line, &pos), err);
	assert_int_equal(pos, where);
}

static void test_commands(void **state)
{
	(void)state;
	does("", "");
	does("  ;; # nothing", "");
	does("echo", "\n");
	does("echo -n  a   'b  c' \"d 'e'\" f\\ g", "a b  c d 'e' f g");
	does("echo a#b", "a\n");
	does("echo \"a\\\"b\" '\\'", "a\"b \\\n");
	does("echo function > current_tracer; cat current_tracer", "function\n");
	does("echo nop>current_tracer\ncat /sys/kernel/tracing/current_tracer", "nop\n");
	does("> set_ftrace_filter echo schedule; echo yield >> set_ftrace_filter\n"
	     "cat /sys/kernel/debug/tracing//set_ftrace_filter",
	     "schedule\nyield\n");
	does("echo > set_ftrace_filter; cat set_ftrace_filter",
	     "#### all functions enabled ####\n");
	does("mkdir instances/a; ls instances; cat instances/a/current_tracer; rmdir /instances/a/",
	     "a\nnop\n");
	does("ls instances", "");
	does("ls per_cpu", "cpu0\ncpu1\n");
	assert_int_equal(do_line("echo 1 > trace_marker; cat trace_pipe tracing_on", NULL), 0);
	if (!strstr(printed, ": 1\n1\n"))
		fail_msg("%s", printed);
}

static void test_mistakes(void **state)
{
	static char line[TRACE_FS_LINE_MAX + 2];

	(void)state;
	fails("frobnicate", -ENOENT, 0);
	fails("echo a; cat nosuch; echo b", -ENOENT, 8);
	assert_string_equal(printed, "a\n");
	fails("cat current_tracer/x", -ENOENT, 0);
	fails("cat options", -EISDIR, 0);
	fails("cat", -EINVAL, 0);
	fails("cat tracing_on > tracing_on", -EINVAL, 0);
	fails("ls tracing_on", -ENOTDIR, 0);
	fails("ls a b", -ENOENT, 0);
	fails("  echo 'a", -EINVAL, 2);
	fails("echo a\\", -EINVAL, 0);
	fails("echo a >", -EINVAL, 0);
	fails("echo a > b > c", -EINVAL, 0);
	fails("> tracing_on", -EINVAL, 0);
	fails("echo 1 > nosuch", -ENOENT, 0);
	fails("mkdir x", -EPERM, 0);
	fails("mkdir nosuch/x", -ENOENT, 0);
	fails("mkdir tracing_on/x", -ENOTDIR, 0);
	fails("rmdir instances/x", -ENOENT, 0);
	fails("mkdir", -EINVAL, 0);
	/* The file says no, and error_log why. */
	fails("echo 1;echo nosuch > current_tracer", -EINVAL, 7);
	assert_non_null(strstr(cat("error_log"), "Command: nosuch"));
	assert_int_equal(echo("", "error_log"), 0);

	memset(line, 'x', sizeof(line) - 1);
	memcpy(line, "echo ", 5);
	assert_int_equal(do_line(line, NULL), -E2BIG);
	line[TRACE_FS_LINE_MAX] = '\0';
	assert_int_equal(do_line(line, NULL), 0);
	assert_int_equal(printed_len, TRACE_FS_LINE_MAX - 5 + 1);
	for (size_t i = 5; i < TRACE_FS_LINE_MAX; i += 2)
		line[i] = ' ';
	fails(line, -EINVAL, 0); /* more words than there is room for */

	fake_alloc_budget = 0;
	assert_int_equal(do_line("echo", NULL), -ENOMEM);
	fake_alloc_budget = -1;
}

#define T(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

/* The files of per_cpu/cpuN are made when they are looked up, and go with the last reference. */
static void test_directories_on_demand(void **state)
{
	struct trace_node *one, *per_cpu, *cpu, *file, *again;
	struct trace_handle *handle;
	uint64_t dir_id, file_id, pos = 0;
	char name[32];
	long out;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	one = trace_fs_lookup(node_of("instances"), "one", 3);
	out = fake_alloc_out;
	per_cpu = trace_fs_lookup(one, "per_cpu", 7);
	assert_int_equal(fake_alloc_out, out); /* without a look into it */
	cpu = trace_fs_lookup(per_cpu, "cpu1", 4);
	assert_int_equal(fake_alloc_out, out + 1);
	assert_int_equal(trace_fs_entry(cpu, 0, name, sizeof(name)), 0);
	assert_string_equal(name, "buffer_size_kb");
	assert_int_equal(trace_fs_entry(cpu, 20, name, sizeof(name)), -ENOENT);
	assert_int_equal(fake_alloc_out, out + 2);
	file = trace_fs_lookup(cpu, "stats", 5);
	dir_id = cpu->id;
	file_id = file->id;
	assert_int_equal(trace_fs_open(file, TRACE_FS_READ, &handle), 0);
	trace_fs_put(per_cpu);
	trace_fs_put(cpu);
	trace_fs_put(file);
	/* The open file has all above it. */
	assert_int_equal(fake_alloc_out, out + 3);
	assert_int_equal(trace_fs_read(handle, name, 9, &pos), 9);
	assert_memory_equal(name, "entries: ", 9);
	trace_fs_close(handle);
	assert_int_equal(fake_alloc_out, out);
	/* The same again is the same, and nothing else is it. */
	per_cpu = trace_fs_lookup(one, "per_cpu", 7);
	cpu = trace_fs_lookup(per_cpu, "cpu1", 4);
	file = trace_fs_lookup(cpu, "stats", 5);
	again = trace_fs_lookup(cpu, "trace", 5);
	assert_int_equal(cpu->id, dir_id);
	assert_int_equal(file->id, file_id);
	assert_int_not_equal(again->id, file_id);
	trace_fs_put(again);
	trace_fs_put(file);
	trace_fs_put(cpu);
	cpu = trace_fs_lookup(per_cpu, "cpu0", 4);
	file = trace_fs_lookup(cpu, "stats", 5);
	assert_int_not_equal(file->id, file_id);
	trace_fs_put(file);
	trace_fs_put(cpu);
	assert_int_equal(fake_alloc_out, out + 1);
	/* Without memory there is nothing to find; afterwards there is. */
	cpu = trace_fs_lookup(per_cpu, "cpu0", 4);
	fake_alloc_budget = 0;
	assert_null(trace_fs_lookup(cpu, "stats", 5));
	assert_int_equal(trace_fs_entry(cpu, 0, name, sizeof(name)), -ENOMEM);
	fake_alloc_budget = -1;
	file = trace_fs_lookup(cpu, "stats", 5);
	assert_non_null(file);
	/* The instance goes; its walker may come back from where it is. */
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
	assert_int_equal(trace_fs_open(file, TRACE_FS_READ, &handle), -ENODEV);
	assert_null(trace_fs_lookup(cpu, "stats", 5));
	trace_fs_put(file);
	assert_null(trace_fs_lookup(cpu, "stats", 5)); /* and is not made for it any more */
	trace_fs_put(cpu);
	trace_fs_put(per_cpu);
	trace_fs_put(one);
}

static const struct trace_file nothing_file = { .name = "nothing", .mode = TRACE_MODE_READ };

/* A directory that needs two pieces of memory. */
static int fill_twice(struct trace_node *dir)
{
	if (!trace_dir_begin(dir, 1, 0, 1))
		return -ENOMEM;
	trace_node_add_file(dir, "nothing", &nothing_file, 0);
	if (!trace_dir_begin(dir, 1, 0, 1))
		return -ENOMEM;
	trace_node_add_file(dir, "more", &nothing_file, 0);
	return 0;
}

static const struct trace_dir twice_dir = { .fill = fill_twice };

/* When memory runs out in the middle of a directory, it is as if there had been no look. */
static void test_directory_half_made(void **state)
{
	struct trace_tree tree = { .tr = trace_global_array(), .chunks = trace_chunk_alloc(2, 0) };
	struct trace_node *dir, *file;
	long out = fake_alloc_out;

	(void)state;
	tree.root = trace_node_add_dir(&tree, NULL, "");
	dir = trace_node_add_lazy_dir(&tree, tree.root, "twice", &twice_dir, 2);
	for (long budget = 0; budget < 2; budget++) {
		fake_alloc_budget = budget;
		assert_null(trace_fs_lookup(dir, "nothing", 7));
		fake_alloc_budget = -1;
		assert_int_equal(fake_alloc_out, out);
		assert_null(dir->first_child);
	}
	file = trace_fs_lookup(dir, "nothing", 7);
	assert_non_null(file);
	assert_int_equal(fake_alloc_out, out + 2);
	trace_fs_put(file);
	trace_chunks_free(tree.chunks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_positions),
		T(test_streams_have_no_positions),
		T(test_cancel),
		T(test_identities),
		T(test_commands),
		T(test_mistakes),
		T(test_directories_on_demand),
		T(test_directory_half_made),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
