/*
 * Events of system calls, with a host that has six of them: formats, lines, switching, memory of the
 * caller, and what can go wrong.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/errno.h>
#include <trace/syscalls.h>
#include <trace/thread.h>

#define ENTER(name) "events/syscalls/sys_enter_" name "/"
#define EXIT(name)  "events/syscalls/sys_exit_" name "/"

enum {
	READ = 0,
	WRITE = 1,
	OPEN = 2,
	GETPID = 39,
	RENAME = 82,
	OPENAT = 257,
	NR_CALLS
};

static const struct trace_syscall *const calls[NR_CALLS] = {
	[READ] = &(const struct trace_syscall){ "read",
						{ "unsigned int", "char *", "size_t" },
						{ "fd", "buf", "count" } },
	[WRITE] = &(const struct trace_syscall){ "write",
						 { "unsigned int", "const char *", "size_t" },
						 { "fd", "buf", "count" } },
	[OPEN] = &(const struct trace_syscall){ "open",
						{ "const char *", "int", "umode_t" },
						{ "filename", "flags", "mode" } },
	[GETPID] = &(const struct trace_syscall){ .name = "getpid" },
	[OPENAT] = &(const struct trace_syscall){ "openat",
						  { "int", "const char *" },
						  { "dfd", "filename" } },
	[RENAME] = &(const struct trace_syscall){ "rename",
						  { "const char *", "const char *" },
						  { "oldname", "newname" } },
};

static unsigned int parts[NR_CALLS];
static uint32_t nr_reads; /* of the caller's memory */

static void divert(uint32_t nr, unsigned int new_parts)
{
	assert_true(nr < NR_CALLS && calls[nr]);
	parts[nr] = new_parts;
}

/* Addresses below are the caller's that cannot be read. */
#define BAD 4096

static long read_text(char *to, const char *from, size_t size)
{
	nr_reads++;
	if ((uintptr_t)from < BAD)
		return -EFAULT;
	for (size_t i = 0; i < size; i++) {
		to[i] = from[i];
		if (!from[i])
			return (long)i;
	}
	return -ENAMETOOLONG;
}

static size_t read_bytes(void *to, const void *from, size_t bytes)
{
	nr_reads++;
	if ((uintptr_t)from < BAD)
		return bytes;
	memcpy(to, from, bytes);
	return 0;
}

static const struct trace_syscall_host host = {
	.calls = calls,
	.nr_calls = NR_CALLS,
	.divert = divert,
	.strncpy_from_user = read_text,
	.copy_from_user = read_bytes,
};

static int setup(void **state)
{
	fake_syscalls = &host;
	return tracefs_setup(state);
}

static int reset(void **state)
{
	assert_int_equal(echo("63", "syscall_user_buf_size"), 0);
	nr_reads = 0;
	return tracefs_reset(state);
}

static int check(void **state)
{
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("", "error_log"), 0);
	clear_filters();
	for (uint32_t nr = 0; nr < NR_CALLS; nr++)
		assert_int_equal(parts[nr], 0);
	return tracefs_check(state);
}

/* A program makes the call, which goes where it was diverted to. */
static void call_made(uint32_t nr, const uint64_t *args, int64_t ret)
{
	if (parts[nr] & TRACE_SYSCALL_ENTER)
		trace_syscall_enter(nr, args);
	if (parts[nr] & TRACE_SYSCALL_EXIT)
		trace_syscall_exit(nr, ret);
}

#define CALL(nr, ret, ...) call_made(nr, (const uint64_t[6]){ __VA_ARGS__ }, ret)

static uint64_t at(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

/* The text of the only event, which begins with the name of the call. */
static const char *line_of(const char *name)
{
	static char line[1024];

	snprintf(line, sizeof(line), "%s", only_event(name));
	assert_int_equal(echo("", "trace"), 0);
	return line;
}

static void formats(void **state)
{
	(void)state;
	assert_non_null(strstr(
		cat(ENTER("open") "format"),
		"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:int flags;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:umode_t mode;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] __filename_val;\toffset:40;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"filename: 0x%08lx \\\"%s\\\", flags: 0x%08lx, mode: 0x%08lx\", "
		"((unsigned long)(REC->filename)), __get_str(__filename_val), "
		"((unsigned long)(REC->flags)), ((unsigned long)(REC->mode))\n"));
	assert_non_null(strstr(cat(ENTER("write") "format"),
			       "print fmt: \"fd: 0x%08lx, buf: 0x%08lx (%s), count: 0x%08lx\", "));
	assert_non_null(strstr(cat(ENTER("getpid") "format"), "signed:1;\n\nprint fmt: \"\"\n"));
	assert_non_null(strstr(cat(EXIT("open") "format"),
			       "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			       "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"
			       "print fmt: \"0x%lx\", REC->ret\n"));
	assert_int_equal(count_in("available_events", "syscalls:sys_e"), 12);
}

static void lines(void **state)
{
	(void)state;
	assert_int_equal(echo("1", ENTER("read") "enable"), 0);
	CALL(READ, 0, 3, 0x7fffe000, 9);
	assert_string_equal(line_of("sys_"), "sys_read(fd: 3, buf: 0x7fffe000, count: 9)\n");
	CALL(READ, 0, 10, 0, ~0ull);
	assert_string_equal(line_of("sys_"),
			    "sys_read(fd: 0xa, buf: 0, count: 0xffffffffffffffff)\n");
	assert_int_equal(echo("verbose", "trace_options"), 0);
	CALL(READ, 0, 3, 0, 9);
	assert_string_equal(line_of("sys_"),
			    "sys_read(unsigned int fd: 3, char * buf: 0, size_t count: 9)\n");
	assert_int_equal(echo("noverbose", "trace_options"), 0);
	assert_int_equal(echo("0", ENTER("read") "enable"), 0);
	assert_int_equal(echo("1", "events/syscalls/sys_exit_read/enable"), 0);
	CALL(READ, -14, 3, 0, 9);
	assert_string_equal(line_of("sys_"), "sys_read -> 0xfffffffffffffff2\n");
	assert_int_equal(echo("1", ENTER("getpid") "enable"), 0);
	CALL(GETPID, 1, 0);
	assert_string_equal(line_of("sys_"), "sys_getpid()\n");
}

/* A call is diverted as long as one of its events is wanted somewhere, and no longer. */
static void diverted(void **state)
{
	struct trace_node *dir = node_of("instances");

	(void)state;
	assert_int_equal(echo("1", "events/syscalls/enable"), 0);
	assert_int_equal(parts[OPEN], TRACE_SYSCALL_ENTER | TRACE_SYSCALL_EXIT);
	assert_int_equal(parts[GETPID], TRACE_SYSCALL_ENTER | TRACE_SYSCALL_EXIT);
	assert_int_equal(echo("0", EXIT("open") "enable"), 0);
	assert_int_equal(parts[OPEN], TRACE_SYSCALL_ENTER);
	assert_int_equal(echo("0", "events/syscalls/enable"), 0);
	assert_int_equal(parts[OPEN] | parts[GETPID], 0);

	assert_int_equal(trace_fs_mkdir(dir, "one"), 0);
	assert_int_equal(echo("1", ENTER("getpid") "enable"), 0);
	assert_int_equal(echo("1", "instances/one/" ENTER("getpid") "enable"), 0);
	CALL(GETPID, 1, 0);
	assert_string_equal(line_of("sys_"), "sys_getpid()\n");
	assert_int_equal(count_in("instances/one/trace", "sys_getpid()\n"), 1);
	assert_int_equal(echo("0", ENTER("getpid") "enable"), 0);
	assert_int_equal(parts[GETPID], TRACE_SYSCALL_ENTER);
	assert_int_equal(trace_fs_rmdir(dir, "one"), 0);
	assert_int_equal(parts[GETPID], 0);

	/* A call that was on its way when its events were switched off. */
	trace_syscall_enter(OPEN, (const uint64_t[6]){ 0 });
	trace_syscall_exit(OPEN, 0);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(nr_reads, 0);
}

static void texts(void **state)
{
	static const char odd[] = "a\tb\x80\x7f ~\n";
	char name[200];

	(void)state;
	assert_int_equal(echo("1", ENTER("open") "enable"), 0);
	CALL(OPEN, 3, at("/etc/passwd"), 2, 0);
	assert_non_null(strstr(line_of("sys_"), " \"/etc/passwd\", flags: 2, mode: 0)\n"));
	CALL(OPEN, 3, at(odd));
	assert_non_null(strstr(line_of("sys_"), " \"a.b.. ~.\", flags: 0"));
	CALL(OPEN, 3, at(""));
	assert_non_null(strstr(line_of("sys_"), " \"\", flags"));
	CALL(OPEN, -14, 1);
	assert_string_equal(line_of("sys_"), "sys_open(filename: 1 \"\", flags: 0, mode: 0)\n");

	memset(name, 'x', sizeof(name));
	name[63] = '\0';
	CALL(OPEN, 3, at(name));
	assert_non_null(strstr(line_of("sys_"), "xx\", flags"));
	name[63] = 'x';
	name[64] = '\0';
	CALL(OPEN, 3, at(name));
	assert_non_null(strstr(line_of("sys_"), "xx...\", flags"));
	name[64] = 'x';
	name[sizeof(name) - 1] = '\0';
	for (uint32_t size = 0; size <= 165; size += 33) {
		char number[8], *text;

		snprintf(number, sizeof(number), "%u", size);
		assert_int_equal(echo(number, "syscall_user_buf_size"), 0);
		CALL(OPEN, 3, at(name));
		text = strchr(line_of("sys_"), '"') + 1;
		assert_int_equal(strspn(text, "x"), size);
		assert_int_equal(strncmp(text + size, "...\"", 4) == 0, size != 0);
	}
	assert_int_equal(echo("1", ENTER("rename") "enable"), 0);
	CALL(RENAME, 0, at("/old"), at("/new"));
	assert_non_null(strstr(line_of("sys_"), " \"/old\", newname: 0x"));
	CALL(RENAME, 0, at(name), at(name));
	assert_int_equal(strlen(line_of("sys_")) > 2 * 165, true);
}

static void bytes(void **state)
{
	char buffer[256];

	(void)state;
	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (char)i;
	assert_int_equal(echo("1", ENTER("write") "enable"), 0);
	CALL(WRITE, 3, 1, at("hi\n"), 3);
	assert_non_null(strstr(line_of("sys_"), " (68:69:0a) \"hi.\", count: 3)\n"));
	CALL(WRITE, 3, 1, at("\1\2"), 2);
	assert_non_null(strstr(line_of("sys_"), " (01:02), count: 2)\n"));
	CALL(WRITE, 3, 1, at(buffer), sizeof(buffer));
	assert_non_null(strstr(line_of("sys_"), ":3e, ...) \"................................ !"));
	CALL(WRITE, 3, 1, 0, 2);
	assert_string_equal(line_of("sys_"), "sys_write(fd: 1, buf: 0 (, ...), count: 2)\n");
	CALL(WRITE, 3, 1, at(buffer), 0);
	assert_non_null(strstr(line_of("sys_"), " (), count: 0)\n"));
}

/* The texts of the caller are a field like others. */
static void conditions(void **state)
{
	(void)state;
	assert_int_equal(echo("__filename_val ~ \"/etc/*\"", ENTER("open") "filter"), 0);
	assert_int_equal(echo("1", ENTER("open") "enable"), 0);
	CALL(OPEN, 3, at("/proc/version"));
	CALL(OPEN, 3, at("/etc/passwd"));
	assert_non_null(strstr(line_of("sys_"), "/etc/passwd"));
	fake_reads_user = true;
	assert_int_equal(echo("filename.ustring ~ \"/etc/*\"", ENTER("open") "filter"), 0);
	CALL(OPEN, 3, at("/proc/version"));
	CALL(OPEN, 3, 1);
	CALL(OPEN, 3, at("/etc/shadow"));
	assert_non_null(strstr(line_of("sys_"), "/etc/shadow"));
	assert_int_equal(echo("ret < 0", EXIT("open") "filter"), 0);
	assert_int_equal(echo("1", EXIT("open") "enable"), 0);
	assert_int_equal(echo("0", ENTER("open") "enable"), 0);
	CALL(OPEN, 3, 0);
	CALL(OPEN, -2, 0);
	assert_string_equal(line_of("sys_"), "sys_open -> 0xfffffffffffffffe\n");
	assert_int_equal(
		echo("hist:keys=__syscall_nr.syscall,__filename_val", ENTER("open") "trigger"), 0);
	CALL(OPEN, 3, at("/a"));
	CALL(OPEN, 3, at("/a"));
	assert_non_null(
		strstr(cat(ENTER("open") "hist"),
		       "{ __syscall_nr: sys_open                      [  2], __filename_val: /a"));
	assert_non_null(strstr(cat(ENTER("open") "hist"), "} hitcount:          2\n"));
	assert_int_equal(
		echo("!hist:keys=__syscall_nr.syscall,__filename_val", ENTER("open") "trigger"), 0);
	assert_int_equal(echo("", "trace"), 0);
}

/* The memory of a thread that is left out is not read: that could fault. */
static void left_out(void **state)
{
	(void)state;
	fake_thread_add(8, "eight");
	assert_int_equal(echo("7", "set_event_pid"), 0);
	assert_int_equal(echo("1", ENTER("open") "enable"), 0);
	fake_cpus[0].pid = 8;
	fake_cpus[0].thread = *fake_thread_of(8);
	CALL(OPEN, 3, at("/a"));
	assert_int_equal(nr_reads, 0);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("", "set_event_pid"), 0);
	fake_cpus[0].thread = *fake_thread_of(8);
	CALL(OPEN, 3, at("/a"));
	assert_int_equal(nr_reads, 1);
	assert_non_null(strstr(line_of("sys_"), "/a"));
}

static void latency(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "events/latency/syscall_latency/enable"), 0);
	assert_int_equal(parts[OPEN], TRACE_SYSCALL_LATENCY);
	assert_int_equal(parts[GETPID], TRACE_SYSCALL_LATENCY);
	assert_int_equal(echo("1", EXIT("open") "enable"), 0);
	assert_int_equal(parts[OPEN], TRACE_SYSCALL_LATENCY | TRACE_SYSCALL_EXIT);
	assert_int_equal(echo("0", EXIT("open") "enable"), 0);
	trace_syscall_latency(OPEN, fake_clock - 1500, 3);
	assert_string_equal(line_of("syscall_"), "syscall_latency: open lat=1500 ret=3\n");
	trace_syscall_latency(RENAME, fake_clock, -2);
	assert_string_equal(line_of("syscall_"), "syscall_latency: rename lat=0 ret=-2\n");
	assert_int_equal(echo("hist:keys=name:vals=lat", "events/latency/syscall_latency/trigger"),
			 0);
	trace_syscall_latency(OPEN, fake_clock - 40, 3);
	trace_syscall_latency(OPEN, fake_clock - 2, 3);
	assert_non_null(strstr(cat("events/latency/syscall_latency/hist"), "lat:         42\n"));
	assert_int_equal(echo("!hist:keys=name:vals=lat", "events/latency/syscall_latency/trigger"),
			 0);
	assert_int_equal(echo("0", "events/latency/syscall_latency/enable"), 0);
	assert_int_equal(parts[OPEN] | parts[GETPID], 0);
}

static void names_of_errors(void **state)
{
	static const struct {
		int64_t ret;
		const char *line;
	} cases[] = {
		{ -2, "sys_open -> 0xfffffffffffffffe (ENOENT)\n" },
		{ -133, "sys_open -> 0xffffffffffffff7b (EHWPOISON)\n" },
		{ -134, "sys_open -> 0xffffffffffffff7a\n" },
		{ -41, "sys_open -> 0xffffffffffffffd7\n" },
		{ -512, "sys_open -> 0xfffffffffffffe00 (ERESTARTSYS)\n" },
		{ -516, "sys_open -> 0xfffffffffffffdfc (ERESTART_RESTARTBLOCK)\n" },
		{ -517, "sys_open -> 0xfffffffffffffdfb\n" },
		{ 0, "sys_open -> 0x0\n" },
		{ 2, "sys_open -> 0x2\n" },
		{ INT64_MIN, "sys_open -> 0x8000000000000000\n" },
	};

	(void)state;
	assert_int_equal(echo("errno-names", "trace_options"), 0);
	assert_int_equal(echo("1", EXIT("open") "enable"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CALL(OPEN, cases[i].ret, 0);
		assert_string_equal(line_of("sys_"), cases[i].line);
	}
	assert_int_equal(echo("0", EXIT("open") "enable"), 0);
	assert_int_equal(echo("1", "events/latency/syscall_latency/enable"), 0);
	trace_syscall_latency(OPEN, fake_clock, -13);
	assert_string_equal(line_of("syscall_"), "syscall_latency: open lat=0 ret=-13 (EACCES)\n");
	assert_int_equal(echo("noerrno-names", "trace_options"), 0);
}

/* A program may make another call that does the same. */
static void why(void **state)
{
	(void)state;
	assert_int_equal(echo("1", ENTER("read") "enable"), 0);
	assert_null(strstr(cat("why"), "do not call"));
	assert_int_equal(echo("0", ENTER("read") "enable"), 0);
	assert_int_equal(echo("1", ENTER("open") "enable"), 0);
	assert_non_null(strstr(cat("why"),
			       "Programs that do not call open may call openat: echo 1 > "
			       "events/syscalls/sys_enter_NAME/enable.\n"));
	CALL(OPEN, 3, at("/a"));
	assert_null(strstr(cat("why"), "do not call"));
}

static void size_file(void **state)
{
	(void)state;
	assert_string_equal(cat("syscall_user_buf_size"), "63\n");
	assert_int_equal(echo("165", "syscall_user_buf_size"), 0);
	assert_string_equal(cat("syscall_user_buf_size"), "165\n");
	assert_int_equal(echo("166", "syscall_user_buf_size"), 0);
	assert_string_equal(cat("syscall_user_buf_size"), "165\n");
	assert_int_equal(echo("x", "syscall_user_buf_size"), -EINVAL);
	assert_int_equal(echo("99999999999999999999", "syscall_user_buf_size"), -ERANGE);
	assert_string_equal(cat("syscall_user_buf_size"), "165\n");
	assert_int_equal(echo("", "error_log"), 0);
}

static void switched_off(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "events/syscalls/enable"), 0);
	assert_int_equal(echo("0", "tracing_on"), 0);
	CALL(READ, 0, 3, 0, 9);
	CALL(OPEN, 0, at("/a"));
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_string_equal(cat_body("trace"), "");
	CALL(READ, 0, 3, 0, 9);
	assert_int_equal(count_in("trace", "sys_read"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(formats, reset, check),
		cmocka_unit_test_setup_teardown(lines, reset, check),
		cmocka_unit_test_setup_teardown(diverted, reset, check),
		cmocka_unit_test_setup_teardown(texts, reset, check),
		cmocka_unit_test_setup_teardown(bytes, reset, check),
		cmocka_unit_test_setup_teardown(conditions, reset, check),
		cmocka_unit_test_setup_teardown(left_out, reset, check),
		cmocka_unit_test_setup_teardown(latency, reset, check),
		cmocka_unit_test_setup_teardown(names_of_errors, reset, check),
		cmocka_unit_test_setup_teardown(why, reset, check),
		cmocka_unit_test_setup_teardown(size_file, reset, check),
		cmocka_unit_test_setup_teardown(switched_off, reset, check),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
