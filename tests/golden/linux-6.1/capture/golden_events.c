/*
 * Fires the tracepoints of golden_events.h. A line written to /proc/golden_events names one and its values:
 *
 *   int N | types N | enum COLOUR FLAGS | string TEXT N | array N | condition N | first N NAME | second N NAME |
 *   third N NAME | call LEAF BYTES NR TIME | begin ID TIME NAME | end ID TIME NAME | repeat TIMES LINE
 *
 * LEAF is 0 to 2, and 4 more for each byte behind the function's beginning.
 *
 * Dual licensed: MIT like the rest of this repository, GPL-2.0 inside a kernel.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define CREATE_TRACE_POINTS
#include "golden_events.h"

void gold_leaf(void);
void gold_leaf2(void);
void gold_tail(void);

static noinline int gold_fire(const char *line)
{
	static void (*const leaves[])(void) = { gold_leaf, gold_leaf2, gold_tail };
	static const int list[] = { 1, 2, 3, -4, 5, 6, 7, 8 };
	char what[16] = "", name[64] = "";
	long a = 0, b = 0, c = 0, d = 0;

	if (sscanf(line, "%15s %li %li %li %li", what, &a, &b, &c, &d) < 1)
		return -EINVAL;
	if (!strcmp(what, "int"))
		trace_gold_int(a);
	else if (!strcmp(what, "types"))
		trace_gold_types(a);
	else if (!strcmp(what, "enum"))
		trace_gold_enum(a, b);
	else if (!strcmp(what, "string") && sscanf(line, "string %63s %li", name, &a) == 2)
		trace_gold_string(name, a);
	else if (!strcmp(what, "array") && a >= 0 && a <= ARRAY_SIZE(list))
		trace_gold_array(a, list);
	else if (!strcmp(what, "condition"))
		trace_gold_condition(a);
	else if (!strcmp(what, "first") && sscanf(line, "first %li %63s", &a, name) == 2)
		trace_gold_first(a, name);
	else if (!strcmp(what, "second") && sscanf(line, "second %li %63s", &a, name) == 2)
		trace_gold_second(a, name);
	else if (!strcmp(what, "third") && sscanf(line, "third %li %63s", &a, name) == 2)
		trace_gold_third(a, name);
	else if (!strcmp(what, "call") && a >= 0 && a % 4 < ARRAY_SIZE(leaves))
		trace_gold_call((unsigned long)leaves[a % 4] + a / 4, b, c, d);
	else if (!strcmp(what, "begin") && sscanf(line, "begin %li %li %63s", &a, &b, name) == 3)
		trace_gold_begin(a, b, name);
	else if (!strcmp(what, "end") && sscanf(line, "end %li %li %63s", &a, &b, name) == 3)
		trace_gold_end(a, b, name);
	else
		return -EINVAL;
	return 0;
}

static ssize_t gold_events_write(struct file *file, const char __user *ubuf, size_t len,
				 loff_t *pos)
{
	long times = 1;
	int err = 0, skip = 0;
	char buf[128];

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, len))
		return -EFAULT;
	buf[len] = 0;
	sscanf(buf, "repeat %li %n", &times, &skip);
	while (!err && times-- > 0)
		err = gold_fire(buf + skip);
	return err ? err : len;
}

static const struct proc_ops gold_events_ops = { .proc_write = gold_events_write };

static int __init gold_events_init(void)
{
	return proc_create("golden_events", 0222, NULL, &gold_events_ops) ? 0 : -ENOMEM;
}
late_initcall(gold_events_init);
