/*
 * /proc/sys/kernel and /proc/sys/debug: settings that are one number each. A write is read as Linux
 * reads its integer settings: perhaps blanks, then a number up to the next blank; the rest is
 * ignored.
 *
 * Context:   thread.
 * Locking:   each setting's own.
 * Ownership: the table is constant.
 */
#include <kernel/process.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fmt.h>
#include <trace/ftrace.h>
#include <trace/kprobe.h>
#include <trace/stack_tracer.h>
#include <trace/trace.h>
#include "vfs_mount.h"

#define NUMBER_MAX  24 /* a number of 64 bits, sign and NUL */
#define SETTING_DIR "/proc/sys/kernel"

struct setting {
	int (*get)(void);
	int (*set)(int value); /* 0, or -errno with nothing changed */
};

static const struct setting dump_on_oops = { trace_dump_on_oops_mode, trace_set_dump_on_oops_mode };

static int sysctl_get_ftrace_enabled(void)
{
	return ftrace_is_enabled();
}

static int sysctl_set_ftrace_enabled(int value)
{
	return ftrace_set_enabled(value != 0);
}

static const struct setting ftrace_enabled = { sysctl_get_ftrace_enabled,
					       sysctl_set_ftrace_enabled };

static const struct setting stack_tracer = { stack_tracer_enabled, stack_tracer_enable };

static const struct setting tracepoint_printk = { trace_tracepoint_printk,
						  trace_set_tracepoint_printk };

static const struct setting off_on_warning = { trace_off_on_warning, trace_set_off_on_warning };

static int sysctl_get_printk_missed(void)
{
	return (int)trace_tracepoint_printk_missed();
}

static int sysctl_refuse(int value)
{
	(void)value;
	return -EACCES;
}

static const struct setting printk_missed = { sysctl_get_printk_missed, sysctl_refuse };

static const struct setting randomize = { aslr_get_mode, aslr_set_mode };

static const struct setting rt_period = { sched_rt_period_us, sched_rt_set_period_us };
static const struct setting rt_runtime = { sched_rt_runtime_us, sched_rt_set_runtime_us };

static const struct setting *sysctl_setting_of(const struct file *file)
{
	const struct vfs_special *special = file->object;

	return special->data;
}

/* The text is made anew at each read. It is so short that readers take it in one piece. */
static ssize_t sysctl_setting_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	char text[NUMBER_MAX];
	size_t size = trace_scnprintf(text, sizeof(text), "%d\n", sysctl_setting_of(file)->get());

	if (*pos >= size)
		return 0;
	if (len > size - *pos)
		len = size - *pos;
	memcpy(buf, text + *pos, len);
	*pos += len;
	return (ssize_t)len;
}

static bool sysctl_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * Copy the first word of `buf` to `out_word`, which has NUMBER_MAX bytes. 0; -EINVAL when there is
 * none, or it is too long for a number.
 */
static int sysctl_first_word(const char *buf, size_t len, char *out_word)
{
	size_t from = 0, size = 0;

	while (from < len && sysctl_is_blank(buf[from]))
		from++;
	while (from < len && buf[from] && !sysctl_is_blank(buf[from])) {
		if (size == NUMBER_MAX - 1)
			return -EINVAL;
		out_word[size++] = buf[from++];
	}
	out_word[size] = '\0';
	return size ? 0 : -EINVAL;
}

/* A write that does not begin at position 0 is accepted and ignored, as on Linux. */
static ssize_t sysctl_setting_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	char word[NUMBER_MAX];
	long value = 0;
	int err;

	if (*pos == 0 && len > 0) {
		err = sysctl_first_word(buf, len, word);
		if (!err && (str_to_i64(word, 0, &value) || value != (int)value))
			err = -EINVAL;
		if (!err)
			err = sysctl_setting_of(file)->set((int)value);
		if (err)
			return err;
	}
	*pos += len;
	return (ssize_t)len;
}

static const struct file_ops setting_ops = {
	.read = sysctl_setting_read,
	.write = sysctl_setting_write,
	.has_position = true,
};

static int sysctl_get_kprobes_optimization(void)
{
	return kprobes_optimization();
}

static int sysctl_set_kprobes_optimization(int value)
{
	return value == 0 || value == 1 ? kprobes_set_optimization(value) : -EINVAL;
}

static const struct setting optimization = { sysctl_get_kprobes_optimization,
					     sysctl_set_kprobes_optimization };

#define SETTING_WITH(mode, name, setting)                                                          \
	{                                                                                          \
		SETTING_DIR, name, mode, 0, &setting_ops, NULL, setting                            \
	}
#define SETTING(name, setting) SETTING_WITH(0644, name, setting)

const struct vfs_special vfs_sysctl_specials[] = {
	{ "/proc/sys/debug", "kprobes-optimization", 0644, 0, &setting_ops, NULL, &optimization },
	SETTING("ftrace_dump_on_oops", &dump_on_oops),
	SETTING("ftrace_enabled", &ftrace_enabled),
	SETTING("randomize_va_space", &randomize),
	SETTING("sched_rt_period_us", &rt_period),
	SETTING("sched_rt_runtime_us", &rt_runtime),
	SETTING("stack_tracer_enabled", &stack_tracer),
	SETTING("traceoff_on_warning", &off_on_warning),
	SETTING("tracepoint_printk", &tracepoint_printk),
	SETTING_WITH(0444, "tracepoint_printk_missed", &printk_missed),
};
const size_t vfs_nr_sysctl_specials = ARRAY_SIZE(vfs_sysctl_specials);
