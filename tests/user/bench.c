/*
 * Instructions of what programs do: `bench NAME...` prints `bench NAME VALUE` for each, or for all without a
 * name. A chunk of rounds is timed with rdtsc, which counts instructions in QEMU with -icount shift=0; the
 * value is that of the median chunk for a round, above an empty loop. Ticks of the timer fall into few chunks.
 * `bench hold FILE` maps the file as code, reads each of its pages and stays.
 */
#include "threads.h"

#define CHUNKS	   41
#define PAGE_BYTES 4096
#define MAX_PAGES  64

#define NR_PIPE	       22
#define NR_LSEEK       8
#define NR_PAUSE       34
#define NR_GETPPID     110
#define NR_SETPRIORITY 141

static uint64_t samples[CHUNKS];
static char buffer[PAGE_BYTES];
static char *area;
static int null_fd, file_fd, to_child[2], from_child[2];

static inline uint64_t tsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static void die(const char *name)
{
	put(name);
	put(": failed\n");
	sys_exit(1);
}

/* ---- Rounds ---- */

static void round_null(void)
{
	CALL0(NR_GETPPID);
}

/* The same from the bottom of a few calls: compiled with frame pointers, a stack of eight frames. */
#define DEEP_CALLS 6

static __attribute__((noinline)) void below(int depth)
{
	if (depth)
		below(depth - 1);
	else
		CALL0(NR_GETPPID);
	__asm__ volatile("" : : : "memory"); /* no jump in place of the call */
}

static void round_deep(void)
{
	below(DEEP_CALLS);
}

/* The time of two ticks down there. */
#define SPIN_LOOPS 4000000ul

static __attribute__((noinline)) void spin_below(int depth)
{
	unsigned long nr = SPIN_LOOPS;

	if (depth)
		spin_below(depth - 1);
	else
		__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(nr) : : "cc", "memory");
	__asm__ volatile("" : : : "memory");
}

static void round_spin(void)
{
	spin_below(DEEP_CALLS);
}

static void round_read0(void)
{
	CALL3(NR_READ, null_fd, buffer, 0);
}

static void round_write0(void)
{
	CALL3(NR_WRITE, null_fd, buffer, 0);
}

static void round_read4k(void)
{
	CALL4(17, file_fd, buffer, PAGE_BYTES, 0);
}

static void round_clock(void)
{
	CALL2(NR_CLOCK_GETTIME, 1, buffer);
}

static void round_open_close(void)
{
	CALL1(NR_CLOSE, CALL3(NR_OPEN, "/tmp/file_of_20_chars", 0, 0));
}

static void round_switch(void)
{
	CALL3(NR_WRITE, to_child[1], buffer, 1);
	CALL3(NR_READ, from_child[0], buffer, 1);
}

static void wait_child(long pid)
{
	if (pid <= 0 || CALL4(NR_WAIT4, pid, 0, 0, 0) != pid)
		die("wait4");
}

static void round_fork(void)
{
	long pid = CALL0(NR_FORK);

	if (!pid)
		sys_exit(0);
	wait_child(pid);
}

static long vfork_exec(const char *path, char *const *argv)
{
	long pid;

	/* The child has the parent's stack: nothing of it is used between the two. */
	pid = CALL0(NR_VFORK);
	if (!pid) {
		CALL3(NR_EXECVE, path, argv, 0);
		sys_exit(1);
	}
	return pid;
}

static void round_vfork_exec(void)
{
	static char *const argv[] = { "null", 0 };

	wait_child(vfork_exec("/bin/null", argv));
}

static void round_busybox(void)
{
	static char *const argv[] = { "true", 0 };
	long pid = CALL0(NR_FORK);

	if (!pid) {
		CALL3(NR_EXECVE, "/bin/busybox", argv, 0);
		sys_exit(1);
	}
	wait_child(pid);
}

static unsigned int next_page;

static void round_touch(void)
{
	area[next_page++ * PAGE_BYTES]++;
}

/* A turn for the other thread, and back. */
static int turn;

static void pass_turn(int to)
{
	__atomic_store_n(&turn, to, __ATOMIC_SEQ_CST);
	futex(&turn, FUTEX_WAKE | FUTEX_PRIVATE, 1, 0);
	while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) == to)
		futex(&turn, FUTEX_WAIT | FUTEX_PRIVATE, to, 0);
}

static void round_turn(void)
{
	pass_turn(1);
}

static void round_wake_none(void)
{
	futex(&turn, FUTEX_WAKE | FUTEX_PRIVATE, 1, 0);
}

static void nothing_to_do(int sig)
{
	(void)sig;
}

static long own_pid;

static void round_signal(void)
{
	CALL2(NR_KILL, own_pid, SIGUSR1);
}

/* Functions for probes: each begins with the instruction in its text. */
#define PROBED(name, text)                                                                         \
	void name(void);                                                                           \
	__asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n" text ".size " #name   \
		", . - " #name "\n")

PROBED(probed_nop, "nop\n ret\n");
PROBED(probed_nop10, ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n ret\n");
PROBED(probed_push, "push %rbx\n pop %rbx\n ret\n");
PROBED(probed_step, "lea 1(%rdi), %rax\n ret\n");

/* ---- Before and after a chunk ---- */

static void begin_zero(void)
{
	area = (char *)syscall6(NR_MMAP, 0, (MAX_PAGES + 1) * PAGE_BYTES, 3, 0x22, -1, 0);
	next_page = 0;
	area[MAX_PAGES * PAGE_BYTES] = 1; /* the page table is there */
}

static void end_zero(void)
{
	CALL2(NR_MUNMAP, area, (MAX_PAGES + 1) * PAGE_BYTES);
}

static long holder;

/* A child that has the same pages, until it is told to go. */
static void begin_cow(void)
{
	begin_zero();
	while (next_page < MAX_PAGES)
		round_touch();
	next_page = 0;
	holder = CALL0(NR_FORK);
	if (!holder) {
		CALL3(NR_READ, to_child[0], buffer, 1);
		sys_exit(0);
	}
}

static void end_cow(void)
{
	CALL3(NR_WRITE, to_child[1], buffer, 1);
	wait_child(holder);
	end_zero();
}

static void start_null(void)
{
	null_fd = (int)CALL3(NR_OPEN, "/dev/null", 2, 0);
	if (null_fd < 0)
		die("/dev/null");
}

static void start_file(void)
{
	file_fd = (int)CALL3(NR_OPEN, "/tmp/file_of_20_chars", 0102, 0644);
	if (file_fd < 0 || CALL3(NR_WRITE, file_fd, buffer, PAGE_BYTES) != PAGE_BYTES)
		die("/tmp/file");
}

static void start_pipe(void)
{
	if (CALL1(NR_PIPE, to_child) || CALL1(NR_PIPE, from_child))
		die("pipe");
}

/*
 * A partner steps back: whenever it wakes the measured thread, that goes on at once, and finds its answer there when it
 * sleeps the next time. Of two equals each wakes the other and goes to sleep itself, or not, as their run times lie.
 */
static void step_back(void)
{
	if (CALL3(NR_SETPRIORITY, 0, 0, 10))
		die("setpriority");
}

static long partner;

static void start_partner(void)
{
	start_pipe();
	partner = CALL0(NR_FORK);
	if (partner)
		return;
	step_back();
	CALL1(NR_CLOSE, to_child[1]);
	while (CALL3(NR_READ, to_child[0], buffer, 1) == 1)
		CALL3(NR_WRITE, from_child[1], buffer, 1);
	sys_exit(0);
}

static void stop_partner(void)
{
	CALL1(NR_CLOSE, to_child[1]);
	wait_child(partner);
}

static char turn_stack[8192] __attribute__((aligned(16)));
static int turn_tid;

static void take_turns(long arg)
{
	(void)arg;
	step_back();
	while (!__atomic_load_n(&turn, __ATOMIC_SEQ_CST))
		futex(&turn, FUTEX_WAIT | FUTEX_PRIVATE, 0, 0);
	while (turn != 2)
		pass_turn(0);
}

static void start_turns(void)
{
	if (new_thread(turn_stack + sizeof(turn_stack), &turn_tid, take_turns, 0) < 0)
		die("clone");
}

static void stop_turns(void)
{
	__atomic_store_n(&turn, 2, __ATOMIC_SEQ_CST);
	futex(&turn, FUTEX_WAKE | FUTEX_PRIVATE, 1, 0);
	wait_zero(&turn_tid);
	turn = 0;
}

static void start_signal(void)
{
	own_pid = CALL0(NR_GETPID);
	set_handler(SIGUSR1, nothing_to_do);
}

struct kind {
	const char *name;
	void (*round)(void);
	unsigned int rounds; /* of a chunk */
	void (*start)(void);
	void (*begin)(void), (*end)(void); /* around each chunk */
	void (*stop)(void);
};

static const struct kind kinds[] = {
	{ .name = "call_null", .round = round_null, .rounds = 200 },
	{ .name = "call_deep", .round = round_deep, .rounds = 200 },
	{ .name = "spin_deep", .round = round_spin, .rounds = 1 },
	{ .name = "call_read0", .round = round_read0, .rounds = 200, .start = start_null },
	{ .name = "call_write0", .round = round_write0, .rounds = 200, .start = start_null },
	{ .name = "clock_call", .round = round_clock, .rounds = 200 },
	{ .name = "open_close", .round = round_open_close, .rounds = 40, .start = start_file },
	{ .name = "read4k", .round = round_read4k, .rounds = 40, .start = start_file },
	{ .name = "pipe_switch",
	  .round = round_switch,
	  .rounds = 40,
	  .start = start_partner,
	  .stop = stop_partner },
	{ .name = "futex_switch",
	  .round = round_turn,
	  .rounds = 40,
	  .start = start_turns,
	  .stop = stop_turns },
	{ .name = "futex_none", .round = round_wake_none, .rounds = 200 },
	{ .name = "signal_round", .round = round_signal, .rounds = 100, .start = start_signal },
	{ .name = "fork_exit_wait", .round = round_fork, .rounds = 4 },
	{ .name = "vfork_exec", .round = round_vfork_exec, .rounds = 2 },
	{ .name = "fork_exec_busybox", .round = round_busybox, .rounds = 1 },
	{ .name = "probed_nop", .round = probed_nop, .rounds = 200 },
	{ .name = "probed_nop10", .round = probed_nop10, .rounds = 200 },
	{ .name = "probed_push", .round = probed_push, .rounds = 200 },
	{ .name = "probed_step", .round = probed_step, .rounds = 200 },
	{ .name = "fault_zero",
	  .round = round_touch,
	  .rounds = MAX_PAGES,
	  .begin = begin_zero,
	  .end = end_zero },
	{ .name = "fault_cow",
	  .round = round_touch,
	  .rounds = MAX_PAGES,
	  .start = start_pipe,
	  .begin = begin_cow,
	  .end = end_cow },
};

static void call(void (*step)(void))
{
	if (step)
		step();
}

static uint64_t chunk(void (*round)(void), unsigned int rounds)
{
	uint64_t begin = tsc();

	for (unsigned int i = 0; i < rounds; i++)
		round();
	return tsc() - begin;
}

static void nothing(void)
{
	__asm__ volatile("");
}

static uint64_t median(void)
{
	for (unsigned int i = 1; i < CHUNKS; i++) {
		uint64_t value = samples[i];
		unsigned int at = i;

		for (; at && samples[at - 1] > value; at--)
			samples[at] = samples[at - 1];
		samples[at] = value;
	}
	return samples[CHUNKS / 2];
}

static void measure(const struct kind *kind)
{
	uint64_t value, empty;

	call(kind->start);
	chunk(nothing, kind->rounds);
	empty = chunk(nothing, kind->rounds);
	for (unsigned int i = 0; i < CHUNKS; i++) {
		call(kind->begin);
		samples[i] = chunk(kind->round, kind->rounds);
		call(kind->end);
	}
	call(kind->stop);
	value = (median() - empty) * 10 / kind->rounds;
	put("bench ");
	put(kind->name);
	put(" ");
	put_number((long)(value / 10));
	put(".");
	put_number((long)(value % 10));
	put(" instructions\n");
}

static void hold(const char *path)
{
	int fd = (int)CALL3(NR_OPEN, path, 0, 0);
	long bytes = CALL3(NR_LSEEK, fd, 0, 2);
	volatile char *code = (char *)syscall6(NR_MMAP, 0, bytes, 5, 2, fd, 0);

	if (bytes <= 0 || (long)code < 0)
		die("hold");
	for (long at = 0; at < bytes; at += PAGE_BYTES)
		(void)code[at];
	CALL0(NR_PAUSE);
}

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1);

	if (*sp == 3 && text_equal(argv[1], "hold"))
		hold(argv[2]);
	for (unsigned int k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		int is_wanted = *sp == 1;

		for (long i = 1; i < *sp; i++)
			is_wanted |= text_equal(argv[i], kinds[k].name);
		if (is_wanted)
			measure(&kinds[k]);
	}
	sys_exit(0);
}
