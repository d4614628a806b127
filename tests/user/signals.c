/* signals NAME: a test of handlers, masks, queues, faults or stacks; says "NAME is right", or what is not. */
#include "signals.h"

static void handlers(void)
{
	long in[2] = { 1, 2 }, out[2], red = 77;

	CHECK(set(SIGUSR1, note, 0) == 0);
	__asm__ volatile("movdqu %1, %%xmm7\n movq %2, -64(%%rsp)\n"
			 "mov $39, %%eax\n syscall\n mov %%eax, %%edi\n mov $10, %%esi\n"
			 "mov $62, %%eax\n syscall\n movdqu %%xmm7, %0\n movq -64(%%rsp), %2\n"
			 : "=m"(out), "+m"(in), "+r"(red)
			 :
			 : "rax", "rdi", "rsi", "rcx", "r11", "memory", "xmm7");
	CHECK(nr_seen == 1 && seen[0] == SIGUSR1 && codes[0] == 0);
	CHECK(out[0] == 1 && out[1] == 2 && red == 77);
	CHECK(CALL4(NR_RT_SIGACTION, SIGKILL, &in, 0, 8) == -EINVAL);
	CHECK(CALL4(NR_RT_SIGACTION, 65, 0, 0, 8) == -EINVAL &&
	      CALL4(NR_RT_SIGACTION, 1, 0, 0, 4) == -EINVAL);
	set(SIGUSR2, note, SA_RESETHAND);
	kill_self(SIGUSR2);
	struct action now;
	CALL4(NR_RT_SIGACTION, SIGUSR2, 0, &now, 8);
	CHECK(nr_seen == 2 && !now.handler);
}

static void vector_handler(int sig, void *info, void *context)
{
	note(sig, info, context);
	__asm__ volatile("pcmpeqd %%xmm6, %%xmm6\n pcmpeqd %%xmm0, %%xmm0" : : : "xmm6", "xmm0");
	*(unsigned long *)(((struct context *)context)->fpu + 160 + 16 * 5) = 0x55; /* xmm5 */
}

/* Vectors come back as they were, or as the handler has made them in the frame. */
static void vectors_come_back(void)
{
	unsigned long out[2] = { 0 }, five[2] = { 0 };
	int nr = nr_seen + 1;

	long pid = CALL0(NR_GETPID);
	long call = NR_KILL;
	__asm__ volatile("pxor %%xmm6, %%xmm6\n pxor %%xmm5, %%xmm5\n syscall\n movdqu %%xmm6, "
			 "%0\n movdqu %%xmm5, %1"
			 : "=m"(out), "=m"(five), "+a"(call)
			 : "D"(pid), "S"((long)SIGUSR1)
			 : "rcx", "r11", "memory", "xmm5", "xmm6");
	CHECK(nr_seen == nr && !out[0] && !out[1] && five[0] == 0x55 && !five[1]);
}

static void vectors(void)
{
	set(SIGUSR1, vector_handler, 0);
	vectors_come_back();
}

/* The handler hands back a copy of the area, at a place where no instruction takes it from. */
static unsigned char moved[1024];
static void moving_handler(int sig, void *info, void *context)
{
	struct context *to = context;

	vector_handler(sig, info, context);
	for (int i = 0; i < 840; i++)
		moved[8 + i] = to->fpu[i];
	to->fpu = moved + 8;
}

/* The same when the frame's pages are not there yet, and by a copy. */
static void places(void)
{
	struct stack stack = { 0, 0, 0, 65536 };

	set(SIGUSR1, vector_handler, SA_ONSTACK);
	for (int i = 0; i < 2; i++) {
		stack.sp = (char *)syscall6(NR_MMAP, 0, (long)stack.size, 3, 0x22, -1, 0);
		CHECK((long)stack.sp > 0 && CALL2(NR_SIGALTSTACK, &stack, 0) == 0);
		vectors_come_back();
		stack.size -=
			3496; /* its first half in another page than the rest, which is written first */
	}
	set(SIGUSR1, moving_handler, 0);
	vectors_come_back();
}

static int depth, depth_seen;
static void nesting(int sig, void *info, void *context)
{
	note(sig, info, context);
	if (++depth < 3)
		kill_self(SIGUSR1);
	else
		depth_seen = nr_seen;
}

static void masks(void)
{
	unsigned long pending = 0;

	set(SIGUSR1, note, 0);
	mask(0, BIT(SIGUSR1) | BIT(SIGKILL));
	kill_self(SIGUSR1);
	kill_self(SIGUSR1);
	CALL2(NR_RT_SIGPENDING, &pending, 8);
	CHECK(!nr_seen && pending == BIT(SIGUSR1));
	unsigned long old = 0;
	CALL4(NR_RT_SIGPROCMASK, 0, 0, &old, 8);
	CHECK(old == BIT(SIGUSR1));
	mask(1, BIT(SIGUSR1));
	CHECK(nr_seen == 1);
	set(SIGUSR1, nesting, SA_NODEFER);
	kill_self(SIGUSR1);
	CHECK(nr_seen == 4 && depth_seen == 4);
	set(SIGUSR1, nesting, 0); /* blocked in its handler: the next comes after it */
	depth = 0;
	kill_self(SIGUSR1);
	CHECK(nr_seen == 7);
}

/* Real-time signals are queued, in the order of their numbers, those of one number in theirs. */
static void queue(void)
{
	struct info info = { .code = -1 };
	long pid = CALL0(NR_GETPID);

	for (int sig = 34; sig <= 36; sig++)
		set(sig, note, 0);
	mask(0, 0x3ul << 34 | 1ul << 33);
	for (int i = 0; i < 9; i++) {
		info.value = i;
		CHECK(CALL3(NR_RT_SIGQUEUEINFO, pid, 36 - i % 3, &info) == 0);
	}
	CHECK(!nr_seen);
	mask(1, ~0ul);
	CHECK(nr_seen == 9);
	/* Frames are built one over the other, so that the last one is handled first. */
	for (int i = 0; i < 9; i++) {
		CHECK(codes[i] == -1);
		CHECK(seen[i] == 36 - i / 3);
	}
	CHECK(values[8] - values[7] == 3 && values[7] - values[6] == 3);
	info.code = 0;
	CHECK(CALL3(NR_RT_SIGQUEUEINFO, CALL0(NR_GETPPID), 34, &info) == -EPERM);
	mask(0, 1ul << 33);
	info.code = -1;
	long err = 0, nr = 0;
	while (!(err = CALL3(NR_RT_SIGQUEUEINFO, pid, 34, &info)))
		nr++;
	CHECK(err == -EAGAIN && nr > 100);
	unsigned long of = 1ul << 33;
	long now[2] = { 0, 0 };
	while (CALL4(NR_RT_SIGTIMEDWAIT, &of, &info, now, 8) == 34)
		nr--;
	CHECK(nr == 0);
}

/* ---- Faults ---- */

static volatile unsigned long fault_addr;
static void skip_fault(int sig, void *info, void *context)
{
	note(sig, info, context);
	fault_addr = *(unsigned long *)((char *)info + 16);
	((struct context *)context)->ip = ((struct context *)context)->r[11]; /* rbx */
}

#define FAULTS(insn)                                                                               \
	__asm__ volatile("lea 1f(%%rip), %%rbx\n" insn "\n1:" : : : "rbx", "rax", "rdx", "memory")

static void faults(void)
{
	set(SIGSEGV, skip_fault, 0);
	set(SIGFPE, skip_fault, 0);
	set(SIGILL, skip_fault, 0);
	set(SIGTRAP, skip_fault, 0);
	FAULTS("movq $0, 0x123");
	CHECK(nr_seen == 1 && seen[0] == SIGSEGV && codes[0] == 1 && fault_addr == 0x123);
	CHECK(last_context->trapno == 14 && last_context->err == 6 && last_context->cr2 == 0x123);
	FAULTS("lea _start(%%rip), %%rax\n movb $0, (%%rax)");
	CHECK(nr_seen == 2 && codes[1] == 2);
	FAULTS("xor %%eax, %%eax\n xor %%edx, %%edx\n div %%eax");
	CHECK(seen[2] == SIGFPE && codes[2] == 1);
	FAULTS("ud2");
	CHECK(seen[3] == SIGILL && codes[3] == 2);
	FAULTS("int3");
	CHECK(seen[4] == SIGTRAP && codes[4] == 0x80);
	FAULTS("hlt");
	CHECK(seen[5] == SIGSEGV && codes[5] == 0x80);
	/* blocked or ignored: the program ends all the same */
	for (int way = 0; way < 2; way++) {
		int status;
		long child = CALL0(NR_FORK);

		if (!child) {
			if (way)
				set(SIGSEGV, (void *)1, 0);
			else
				mask(0, BIT(SIGSEGV));
			*(volatile int *)0 = 1;
			sys_exit(0);
		}
		CHECK(wait_for(child, 0, &status) == child && status == SIGSEGV);
	}
}

static char other_stack[16384] __attribute__((aligned(16)));

static void overflow(int sig, void *info, void *context)
{
	note(sig, info, context);
	sys_exit(stack_seen > (unsigned long)other_stack &&
				 stack_seen < (unsigned long)other_stack + sizeof(other_stack)
			 ? 9
			 : 8);
}

static __attribute__((noinline)) int deep(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return n > 1000000 ? n : deep(n + 1) + room[0];
}

static void altstack(void)
{
	struct stack stack = { other_stack, 0, 0, sizeof(other_stack) }, old;
	const struct stack small = { other_stack, 0, 0, 100 }, odd = { other_stack, 64, 0, 9000 };
	int status;

	CHECK(CALL2(NR_SIGALTSTACK, 0, &old) == 0 && old.flags == 2);
	CHECK(CALL2(NR_SIGALTSTACK, &small, 0) == -ENOMEM &&
	      CALL2(NR_SIGALTSTACK, &odd, 0) == -EINVAL);
	CHECK(CALL2(NR_SIGALTSTACK, &stack, 0) == 0);
	set(SIGUSR1, note, SA_ONSTACK);
	kill_self(SIGUSR1);
	CHECK(stack_seen > (unsigned long)other_stack &&
	      stack_seen < (unsigned long)other_stack + sizeof(other_stack));
	long child = CALL0(NR_FORK);
	if (!child) { /* its stack overflows: only the other one can take the frame */
		set(SIGSEGV, overflow, SA_ONSTACK);
		sys_exit(deep(0));
	}
	CHECK(wait_for(child, 0, &status) == child && status == 9 << 8);
	child = CALL0(NR_FORK);
	if (!child) { /* without one it dies */
		set(SIGSEGV, overflow, 0);
		sys_exit(deep(0));
	}
	CHECK(wait_for(child, 0, &status) == child && status == SIGSEGV);
}

/* SIGINT does not come again and again for one Ctrl-C: how often is asked when others had time to come. */
static void once(void)
{
	long fd = CALL3(NR_OPEN, "/dev/console", 1, 0);

	CHECK(fd >= 0 && set(SIGINT, note, 0) == 0 && CALL3(NR_WRITE, fd, "ready\n", 6) == 6);
	while (!nr_seen)
		sleep_ms(5);
	for (int i = 0; i < 10 && nr_seen < 4; i++)
		sleep_ms(5);
	CHECK(nr_seen < 4 && seen[0] == SIGINT);
}

void main_program(long *sp)
{
	static const struct signal_test tests[] = {
		{ "handlers", handlers }, { "once", once },	    { "vectors", vectors },
		{ "places", places },	  { "masks", masks },	    { "queue", queue },
		{ "faults", faults },	  { "altstack", altstack }, { 0, 0 }
	};

	run_test(tests, ((char **)(sp + 1))[1]);
}
