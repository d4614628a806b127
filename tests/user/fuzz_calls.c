/*
 * fuzz_calls USER SEED CHILDREN CALLS: each of so many children makes so many calls of the kernel's own table, whose
 * arguments are drawn: by their types and names they are descriptors, paths, sizes, good pointers, or pointers to the
 * ends of pages, to the kernel and to nothing. The same seed gives the same calls. The program fails when the buffers
 * that it has handed over have an address of the kernel in them.
 */
#include "../../kernel/syscall/syscalls.h"
#include "fuzz.h"

#define KERNEL_TEXT 0xffffffff80123456ul /* no address that the kernel would give */
#define KERNEL_DATA 0xffff888000123456ul
#define AREA                                                                                       \
	0x30000000l /* no random place: bytes of it become names of files, the same each time */
#define PAGES	8
#define TIME_MS 100
#define LEAK	99

struct call {
	int nr;
	const char *name, *args;
};

#define ROW(nr, name, args, ...) { nr, #name, #__VA_ARGS__ },
static const struct call calls[] = { SYSCALLS(ROW) };
#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

static const char *const user_without[] = { "exit", "exit_group", "rt_sigreturn", "vfork", 0 };
/* Those by which root reaches other processes and the machine. */
static const char *const root_without[] = { "exit",
					    "exit_group",
					    "rt_sigreturn",
					    "vfork",
					    "fork",
					    "clone",
					    "clone3",
					    "kill",
					    "tkill",
					    "tgkill",
					    "rt_sigqueueinfo",
					    "rt_tgsigqueueinfo",
					    "reboot",
					    "ptrace",
					    "prlimit64",
					    "setpriority",
					    "process_vm_writev",
					    0 };

/* The last four are for users only: root could change their modes and owners. */
static const char *const paths[] = { "a",
				     "b",
				     "d",
				     "d/e",
				     "",
				     ".",
				     "d/../a",
				     "link",
				     "a/",
				     "/proc/self/maps",
				     "/proc/self/fd",
				     "/",
				     "..",
				     "/dev/null",
				     "/dev/zero" };
#define NR_PATHS (sizeof(paths) / sizeof(paths[0]))

static const unsigned long odd[] = { 0,		 1,	     2,		 8,	    127,
				     4095,	 4096,	     4097,	 65536,	    1ul << 20,
				     0x7fffffff, 0x80000000, 0xffffffff, 1ul << 47, 1ul << 62,
				     1ul << 63,	 ~0ul,	     ~0ul - 4095 };

static int is_root;
static char *const area = (char *)AREA; /* each second of its pages is there */
static volatile unsigned long *
	running; /* for the parent to see: the number of the call that a child makes, the word that it found */

static int has(const char *text, size_t len, const char *word)
{
	size_t nr = text_len(word);

	for (size_t i = 0; i + nr <= len; i++) {
		size_t j = 0;

		while (j < nr && text[i + j] == word[j])
			j++;
		if (j == nr)
			return 1;
	}
	return 0;
}

static char *good(void)
{
	return area + draw(PAGES / 2) * 8192 + draw(64) * 8;
}

static long bad(void)
{
	switch (draw(6)) {
	case 0:
		return (long)KERNEL_TEXT;
	case 1:
		return (long)KERNEL_DATA;
	case 2:
		return (long)(1ul << 47) - (long)draw(16);
	case 3:
		return (long)(1ul << (draw(16) + 48)) + (long)draw(4096);
	default:
		return (long)odd[draw(sizeof(odd) / sizeof(odd[0]))];
	}
}

static long pointer(void)
{
	char *page_end = area + draw(PAGES / 2) * 8192 + 4096;

	switch (draw(6)) {
	case 0:
		return bad();
	case 1:
		return (long)page_end - (long)draw(65);
	case 2:
		return (long)page_end + 4096 - (long)draw(9);
	default:
		return (long)good();
	}
}

static long number(void)
{
	unsigned long kind = draw(4);

	if (!kind)
		return (long)odd[draw(sizeof(odd) / sizeof(odd[0]))];
	if (kind == 1)
		return (long)(1ul << draw(32) | (draw(2) ? 1ul << draw(32) : 0));
	return (long)draw(17);
}

/* Values for the argument whose type and name are text[0] to text[len - 1]. */
static long argument(const char *text, size_t len)
{
	static const long pids[] = { 0, -1, 1 << 30 };

	if (has(text, len, "*")) {
		if (has(text, len, "name") || has(text, len, "path"))
			return draw(4) ? (long)paths[draw(is_root ? NR_PATHS - 4 : NR_PATHS)]
				       : pointer();
		return pointer();
	}
	if (has(text, len, "fd") || has(text, len, "fildes"))
		return draw(8) ? (long)draw(16) : draw(2) ? -100 : number();
	if (has(text, len, "sigsetsize"))
		return draw(8) ? 8 : number();
	if (has(text, len, "pid") || has(text, len, "tgid") || has(text, len, ", who"))
		return draw(3) ? CALL0(NR_GETPID) : pids[draw(is_root ? 1 : 3)];
	if (has(text, len, "addr") || has(text, len, "start"))
		return draw(2) ? pointer() & ~4095l : pointer();
	if (has(text, len, "arg") || has(text, len, "newsp"))
		return draw(2) ? pointer() : number();
	return number();
}

static const char *argument_end(const char *text)
{
	int commas = 0;

	while (*text && (*text != ',' || !commas++))
		text++;
	return text;
}

static void make(const struct call *call)
{
	const char *text = call->args;
	long args[6] = { 0 };

	for (int i = 0; i < 6 && *text; i++) {
		const char *end = argument_end(text);

		args[i] = argument(text, (size_t)(end - text));
		text = *end ? end + 1 : end;
	}
	running[0] = (unsigned long)call->nr;
	syscall6(call->nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/*
 * Words that structures are made of: numbers, pointers, descriptors. KERNEL_DATA is none of them, because half of it, with a
 * number that a call writes over the other half, would look like an address of the kernel.
 */
static void fill(char *at)
{
	for (int i = 0; i < 16; i++) {
		long value = draw(3) ? number() : pointer();

		((volatile long *)at)[i] = value == (long)KERNEL_DATA ? (long)KERNEL_TEXT : value;
	}
}

static int is_of_kernel(unsigned long word)
{
	int is_data = word >= 0xffff888000000000ul && word < 0xffff898000000000ul;
	int is_text = word >= 0xffffffff80100000ul && word < 0xffffffff80300000ul;

	if (word >> 16 ==
	    KERNEL_TEXT >> 16) /* the lowest bytes may be some that a call has written */
		return 0;
	return (is_data && word != KERNEL_DATA) || (is_text && word << 48);
}

static void look_for_leaks(void)
{
	for (int i = 0; i < PAGES / 2 * 128; i++) {
		unsigned long word = ((volatile unsigned long *)area)[i / 128 * 1024 + i % 128];

		if (is_of_kernel(word)) {
			running[1] = word;
			sys_exit(LEAK);
		}
	}
}

static void no_handler(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
}

/* Calls that wait are interrupted, again and again. */
static void prepare(void)
{
	const long every[4] = { 0, 2000, 0, 2000 };
	const struct action ignored = { (void (*)(int, void *, void *))1, SA_RESTORER, restorer,
					0 };

	set(SIGALRM, no_handler, 0);
	for (int sig = 1; sig < 64; sig++)
		if (sig == SIGHUP || sig == SIGPIPE || sig == 25 || sig == SIGTSTP || sig == 23 ||
		    sig >= 32)
			CALL4(NR_RT_SIGACTION, sig, &ignored, 0, 8);
	CALL0(NR_SETSID);
	limit(LIMIT_FSIZE, 1ul << 16);
	limit(LIMIT_AS, 1ul << 26);
	limit(LIMIT_NPROC, 12);
	limit(LIMIT_NOFILE, 64);
	if (!is_root)
		become_user();
	CALL3(NR_SETITIMER, 0, every, 0);
}

/* Descriptors 0 to 13 are of all kinds, and none is that of the terminal. */
static void open_files(void)
{
	const unsigned long usr1 = BIT(SIGUSR1);
	int ends[2];

	for (int fd = 0; fd < 3; fd++)
		CALL1(3, fd);
	CALL3(NR_OPEN, "/dev/null", 2, 0);
	CALL3(NR_OPEN, "a", 0102, 0600);
	CALL1(NR_PIPE, ends);
	CALL3(NR_OPEN, ".", 0200000, 0);
	CALL3(NR_OPEN, "/dev/zero", 2, 0);
	CALL3(NR_OPEN, "/proc/self/maps", 0, 0);
	CALL2(290, 3, 04000);	     /* eventfd2 */
	CALL1(291, 0);		     /* epoll_create1 */
	CALL2(283, 1, 0);	     /* timerfd_create */
	CALL4(289, -1, &usr1, 8, 0); /* signalfd4 */
	CALL2(319, "memory", 0);     /* memfd_create */
	CALL1(NR_PIPE, ends);
}

static void map_area(void)
{
	CHECK(syscall6(NR_MMAP, AREA, PAGES * 4096, 3, 0x32, -1, 0) == AREA);
	for (int i = 1; i < PAGES; i += 2)
		CALL2(NR_MUNMAP, area + i * 4096, 4096);
}

static int is_left_out(const char *name)
{
	for (const char *const *at = is_root ? root_without : user_without; *at; at++)
		if (text_equal(name, *at))
			return 1;
	return 0;
}

static void __attribute__((noreturn)) child(int nr_calls)
{
	long self;

	map_area();
	open_files();
	prepare();
	self = CALL0(NR_GETPID);
	for (int i = 0; i < nr_calls; i++) {
		const struct call *call = &calls[draw(NR_CALLS)];

		if (is_left_out(call->name))
			continue;
		fill(good());
		make(call);
		if (CALL0(NR_GETPID) != self)
			sys_exit(0);
		look_for_leaks();
	}
	sys_exit(0);
}

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1);
	long seed = number_of(argv[2]), children = number_of(argv[3]);

	is_root = text_equal(argv[1], "root");
	running = (unsigned long *)syscall6(NR_MMAP, 0, 4096, 3, 0x21, -1, 0);
	CHECK((long)running > 0);
	fuzz_begin("/tmp/fuzz_calls");
	for (long i = 0; i < children; i++) {
		long pid = CALL0(NR_FORK);
		int status;

		CHECK(pid >= 0);
		fuzz_seed = (unsigned long)(seed + i) * 7919 + 1;
		if (!pid)
			child((int)number_of(argv[4]));
		status = fuzz_wait(pid, TIME_MS);
		if (status == LEAK << 8) {
			say("an address of the kernel came from call", (long)running[0]);
			say("it is", (long)running[1]);
			sys_exit(1);
		}
		if (i % 16 == 15)
			fuzz_end_all();
	}
	fuzz_end_all();
	put("calls are as they should be\n");
	sys_exit(0);
}
