/* syslog(): the kernel's messages, for dmesg and klogd. <kernel/printk.h> has the ring that they are in. */
#include <kernel/cred.h>
#include <kernel/lock.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "syscall.h"

#define SYSLOG_LINE_MAX	 (PRINTK_LINE_MAX + 32)
#define SYSLOG_BUFFER	 (128l << 10) /* so much has room for all messages */
#define SYSLOG_LOOK_NS	 (50 * NSEC_PER_MSEC)
#define SYSLOG_LEVEL_MAX 8

enum syslog_action {
	SYSLOG_CLOSE,
	SYSLOG_OPEN,
	SYSLOG_READ, /* takes what no such call has taken yet; waits for a message */
	SYSLOG_READ_ALL,
	SYSLOG_READ_CLEAR,
	SYSLOG_CLEAR,
	SYSLOG_CONSOLE_OFF,
	SYSLOG_CONSOLE_ON,
	SYSLOG_CONSOLE_LEVEL,
	SYSLOG_SIZE_UNREAD,
	SYSLOG_SIZE_BUFFER
};

/* Bytes that the user gets, or would get, of messages from one on. */
struct syslog_copy {
	char *to;     /* NULL: they are only counted */
	uint64_t seq; /* of the next message */
	size_t skip;  /* bytes of messages that are left out before the first one */
	size_t len, size;
};

static struct mutex syslog_lock;    /* guards the next */
static uint64_t syslog_taken_below; /* messages with lower numbers were taken by SYSLOG_READ */

static size_t syslog_format(const struct dmesg_line *line, char *text)
{
	size_t len = trace_scnprintf(text, SYSLOG_LINE_MAX, "<%d>", (int)line->level);

	len += dmesg_format(line, text + len, SYSLOG_LINE_MAX - 1 - len);
	text[len++] = '\n';
	return len;
}

/* Copy whole messages, as many as have room. 0 or -EFAULT. */
static int syslog_copy(struct syslog_copy *copy)
{
	uint64_t next = copy->seq;
	char text[SYSLOG_LINE_MAX];
	struct dmesg_line line;

	while (dmesg_read(&next, &line)) {
		size_t len = syslog_format(&line, text);

		if (copy->skip) {
			copy->skip -= len < copy->skip ? len : copy->skip;
		} else {
			size_t room = copy->size - copy->len;

			if (len > room && copy->len)
				break;
			if (len > room)
				len = room; /* the rest is lost */
			if (copy->to && copy_to_user(copy->to + copy->len, text, len))
				return -EFAULT;
			copy->len += len;
		}
		copy->seq = next;
	}
	return 0;
}

/* The bytes of all messages from `seq` on. */
static size_t syslog_bytes(uint64_t seq)
{
	struct syslog_copy copy = { .seq = seq, .size = SIZE_MAX };

	syslog_copy(&copy);
	return copy.len;
}

/* The last messages that have room in `size` bytes. */
static long syslog_read_all(char *buf, size_t size)
{
	struct syslog_copy copy = { .to = buf, .size = size };
	size_t all = syslog_bytes(0);
	int err;

	copy.skip = all > size ? all - size : 0;
	err = syslog_copy(&copy);
	return err ? err : (long)copy.len;
}

static long syslog_read(char *buf, size_t size)
{
	struct syslog_copy copy = { .to = buf, .size = size };
	int err = 0;

	while (!err && !copy.len) {
		mutex_lock(&syslog_lock);
		copy.seq = syslog_taken_below;
		err = syslog_copy(&copy);
		if (!err)
			syslog_taken_below = copy.seq;
		mutex_unlock(&syslog_lock);
		if (!err && !copy.len && thread_sleep_ns(SYSLOG_LOOK_NS))
			err = -ERESTARTSYS;
	}
	return err ? err : (long)copy.len;
}

static long syslog_set_console_level(int level)
{
	if (level < 1 || level > SYSLOG_LEVEL_MAX)
		return -EINVAL;
	printk_set_console_level((enum log_level)(level - 1));
	return 0;
}

/* Of actions without a buffer. */
static long syslog_do(enum syslog_action action, int len)
{
	switch (action) {
	case SYSLOG_CLEAR:
		dmesg_clear();
		return 0;
	case SYSLOG_CONSOLE_OFF:
		return syslog_set_console_level(1);
	case SYSLOG_CONSOLE_ON:
		return syslog_set_console_level(LOG_WARN + 1);
	case SYSLOG_CONSOLE_LEVEL:
		return syslog_set_console_level(len);
	case SYSLOG_SIZE_UNREAD:
		return (long)syslog_bytes(syslog_taken_below);
	case SYSLOG_SIZE_BUFFER:
		return SYSLOG_BUFFER;
	default:
		return action <= SYSLOG_OPEN ? 0 : -EINVAL;
	}
}

long sys_syslog(int type, char *buf, int len)
{
	enum syslog_action action = (enum syslog_action)type;
	long result;

	if (action != SYSLOG_READ_ALL && action != SYSLOG_SIZE_BUFFER && !capable(CAP_SYSLOG))
		return -EPERM;
	if (action < SYSLOG_READ || action > SYSLOG_READ_CLEAR)
		return syslog_do(action, len);
	if (!buf || len < 0)
		return -EINVAL;
	if (!len)
		return 0;
	if (action == SYSLOG_READ)
		return syslog_read(buf, (size_t)len);
	result = syslog_read_all(buf, (size_t)len);
	if (action == SYSLOG_READ_CLEAR && result >= 0)
		dmesg_clear();
	return result;
}
