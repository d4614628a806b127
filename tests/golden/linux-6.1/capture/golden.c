/*
 * Functions for Linux's tracers to trace while samples of their output are taken. Built into the
 * kernel, so that no name carries a module. A line written to /proc/golden runs one of them.
 *
 * Dual licensed: MIT like the rest of this repository, GPL-2.0 inside a kernel.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/trace.h>
#include <linux/uaccess.h>

static volatile unsigned long gold_sink;

noinline void gold_leaf(void)
{
	gold_sink++;
}

noinline void gold_leaf2(void)
{
	gold_sink += 2;
}

noinline void gold_busy(unsigned long us)
{
	u64 end = ktime_get_mono_fast_ns() + us * 1000;

	while (ktime_get_mono_fast_ns() < end)
		gold_sink++;
}

noinline void gold_nested(void)
{
	gold_leaf();
	gold_leaf2();
	gold_sink++;
}

noinline void gold_tail(void)
{
	gold_sink++;
	gold_leaf();
}

noinline void gold_printk_leaf(void)
{
	trace_printk("comment in a leaf %d\n", 1);
}

noinline void gold_printk_nested(void)
{
	trace_printk("before the call\n");
	gold_leaf();
	trace_printk("after the call %s\n", "with text");
	gold_sink++;
}

noinline unsigned long gold_recurse(int depth)
{
	unsigned long inner = depth ? gold_recurse(depth - 1) : 0;

	gold_leaf();
	return inner + 1;
}

/* One call site: repeated calls from the same place. */
noinline void gold_leaves(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		gold_leaf();
		barrier();
	}
	gold_sink++;
}

/* Times on both sides of each overhead mark, and widths of durations. */
noinline void gold_marks(void)
{
	gold_busy(1);
	gold_busy(12);
	gold_busy(120);
	gold_busy(1200);
	gold_busy(12000);
	gold_busy(120000);
	gold_busy(1200000);
	gold_sink++;
}

noinline void gold_outer(void)
{
	gold_leaf();
	gold_nested();
	gold_tail();
	gold_busy(5);
	gold_recurse(2);
	gold_sink++;
}

/*
 * Where function_graph looks for interrupt entries. On x86 those of the kernel itself are noinstr,
 * so only a function put there shows the marks.
 */
noinline __section(".irqentry.text") void gold_irq_entry(void)
{
	gold_leaf();
	gold_nested();
	gold_sink++;
}

noinline __section(".irqentry.text") void gold_irq_leaf(void)
{
	gold_sink++;
}

noinline void gold_interrupted(void)
{
	gold_leaf();
	gold_irq_entry();
	gold_leaf2();
	gold_irq_leaf();
	gold_sink++;
}

noinline void gold_sleep(void)
{
	gold_leaf();
	schedule_timeout_uninterruptible(2);
	gold_leaf2();
}

noinline void gold_printk(void)
{
	static const char not_constant[] = "a string that is data\n";

	trace_printk("no argument\n");
	trace_printk("one integer %d\n", 42);
	trace_printk("string %s hex %#x pointer %ps\n", "text", 0x2a, gold_leaf);
	trace_printk(not_constant);
	trace_puts("from trace_puts\n");
	trace_printk("no newline at the end");
	trace_puts("puts without newline");
}

noinline void gold_stack(void)
{
	trace_dump_stack(0);
	gold_sink++;
}

noinline void gold_irqoff(unsigned long us)
{
	unsigned long flags;

	local_irq_save(flags);
	gold_nested();
	gold_busy(us);
	gold_leaf();
	local_irq_restore(flags);
	gold_sink++;
}

noinline void gold_preemptoff(unsigned long us)
{
	preempt_disable();
	gold_nested();
	gold_busy(us);
	gold_leaf();
	preempt_enable();
	gold_sink++;
}

noinline void gold_bothoff(unsigned long us)
{
	preempt_disable();
	gold_nested();
	local_irq_disable();
	gold_busy(us);
	local_irq_enable();
	gold_leaf();
	preempt_enable();
	gold_sink++;
}

/* Never left: the thread exits inside. */
noinline void gold_ends(void)
{
	gold_leaf();
	kthread_exit(0);
}

static int gold_ending(void *data)
{
	gold_ends();
	return 0;
}

/* Entered, and left after `us`: the tracer is switched on in between. */
noinline void gold_lingers(unsigned long us)
{
	gold_leaf();
	msleep(us / 1000);
	gold_leaf2();
}

static int gold_lingering(void *data)
{
	gold_lingers((unsigned long)data);
	return 0;
}

static noinline void gold_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				   struct ftrace_regs *fregs)
{
	gold_sink++;
}

static struct ftrace_ops gold_plain = { .func = gold_callback };
static struct ftrace_ops gold_plain2 = { .func = gold_callback };
static struct ftrace_ops gold_regs = { .func = gold_callback, .flags = FTRACE_OPS_FL_SAVE_REGS };
static struct ftrace_ops gold_ipmodify = {
	.func = gold_callback, .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY
};
static struct ftrace_ops gold_ipmodify2 = {
	.func = gold_callback, .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY
};
static struct ftrace_ops gold_noregs = { .func = gold_callback, .flags = FTRACE_OPS_FL_IPMODIFY };
static struct ftrace_ops *gold_dynamic;

static const struct {
	const char *name;
	struct ftrace_ops *op;
} gold_ops[] = {
	{ "plain", &gold_plain },	  { "plain2", &gold_plain2 },
	{ "regs", &gold_regs },		  { "ipmodify", &gold_ipmodify },
	{ "ipmodify2", &gold_ipmodify2 }, { "ipnoregs", &gold_noregs },
};

static int gold_op(const char *name, const char *func)
{
	struct ftrace_ops *op = NULL;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(gold_ops); i++)
		if (!strcmp(name, gold_ops[i].name))
			op = gold_ops[i].op;
	if (!strcmp(name, "dynamic")) {
		if (!gold_dynamic)
			gold_dynamic = kzalloc(sizeof(*gold_dynamic), GFP_KERNEL);
		op = gold_dynamic;
		if (op)
			op->func = gold_callback;
	}
	if (!op)
		return -ENOENT;
	if (!strcmp(func, "off"))
		return unregister_ftrace_function(op);
	err = ftrace_set_filter(op, (unsigned char *)func, strlen(func), 1);
	return err ? err : register_ftrace_function(op);
}

void gold_direct_target(void);
extern void gold_direct_tramp(void);
extern void gold_direct_tramp2(void);

noinline void gold_direct_target(void)
{
	gold_sink++;
}

asm(".pushsection .text, \"ax\", @progbits\n"
    ".globl gold_direct_tramp, gold_direct_tramp2\n"
    ".type gold_direct_tramp, @function\n"
    "gold_direct_tramp:\n"
    "	push %rbp\n	mov %rsp, %rbp\n	pop %rbp\n	ret\n"
    ".size gold_direct_tramp, .-gold_direct_tramp\n"
    ".type gold_direct_tramp2, @function\n"
    "gold_direct_tramp2:\n"
    "	push %rbp\n	mov %rsp, %rbp\n	pop %rbp\n	ret\n"
    ".size gold_direct_tramp2, .-gold_direct_tramp2\n"
    ".popsection\n");

static int gold_direct(const char *what)
{
	unsigned long ip = (unsigned long)gold_direct_target;

	if (!strcmp(what, "on"))
		return register_ftrace_direct(ip, (unsigned long)gold_direct_tramp);
	if (!strcmp(what, "modify"))
		return modify_ftrace_direct(ip, (unsigned long)gold_direct_tramp,
					    (unsigned long)gold_direct_tramp2);
	if (!strcmp(what, "off"))
		return unregister_ftrace_direct(ip, (unsigned long)gold_direct_tramp);
	if (!strcmp(what, "off2"))
		return unregister_ftrace_direct(ip, (unsigned long)gold_direct_tramp2);
	return -EINVAL;
}

static int gold_run(const char *what, const char *arg, const char *arg2)
{
	unsigned long n = simple_strtoul(arg, NULL, 0);
	struct task_struct *task;

	if (!strcmp(what, "outer"))
		gold_outer();
	else if (!strcmp(what, "leaf"))
		gold_leaf();
	else if (!strcmp(what, "leaves"))
		gold_leaves(n);
	else if (!strcmp(what, "marks"))
		gold_marks();
	else if (!strcmp(what, "busy"))
		gold_busy(n);
	else if (!strcmp(what, "recurse"))
		gold_sink += gold_recurse(n);
	else if (!strcmp(what, "interrupted"))
		gold_interrupted();
	else if (!strcmp(what, "sleep"))
		gold_sleep();
	else if (!strcmp(what, "printk"))
		gold_printk();
	else if (!strcmp(what, "comments"))
		gold_printk_leaf(), gold_printk_nested();
	else if (!strcmp(what, "stack"))
		gold_stack();
	else if (!strcmp(what, "irqoff"))
		gold_irqoff(n);
	else if (!strcmp(what, "preemptoff"))
		gold_preemptoff(n);
	else if (!strcmp(what, "bothoff"))
		gold_bothoff(n);
	else if (!strcmp(what, "snapshot"))
		tracing_snapshot();
	else if (!strcmp(what, "snapshot_alloc"))
		tracing_snapshot_alloc();
	else if (!strcmp(what, "off"))
		tracing_off();
	else if (!strcmp(what, "rt"))
		sched_set_fifo(current);
	else if (!strcmp(what, "direct"))
		return gold_direct(arg);
	else if (!strcmp(what, "direct_call"))
		gold_direct_target();
	else if (!strcmp(what, "op"))
		return gold_op(arg, arg2);
	else if (!strcmp(what, "ends") || !strcmp(what, "lingers")) {
		task = kthread_run(what[0] == 'e' ? gold_ending : gold_lingering, (void *)n,
				   "gold_%s", what);
		if (IS_ERR(task))
			return PTR_ERR(task);
	} else
		return -EINVAL;
	return 0;
}

static ssize_t gold_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	char buf[128], what[32] = "", arg[32] = "", arg2[64] = "";
	int err;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, len))
		return -EFAULT;
	buf[len] = 0;
	sscanf(buf, "%31s %31s %63s", what, arg, arg2);
	err = gold_run(what, arg, arg2);
	return err ? err : len;
}

static const struct proc_ops gold_proc_ops = { .proc_write = gold_write };

static int __init gold_init(void)
{
	return proc_create("golden", 0222, NULL, &gold_proc_ops) ? 0 : -ENOMEM;
}
late_initcall(gold_init);
