/*
 * The requests of programs on user_events_data, <trace/user_events.h>, by the numbers and structs of <linux/user_events.h>;
 * and enablers: the bits in programs' memory that say whether an event is on.
 *
 * An enabler belongs to an address space, is copied with it by a fork, and goes with it at an exec or exit.
 *
 * Locking: mm->lock guards the enablers of an mm. A bit is written by its event's state with that lock held: so it is right
 *          whether the state changes before that, or the change finds the enabler.
 */
#include <kernel/mm.h>
#include <kernel/process.h>
#include <trace/platform.h>
#include <trace/user_events.h>
#include "mm.h"
#include "process.h"
#include "syscall/path.h"

#define DIAG_IOCSREG   0xc0082a00u
#define DIAG_IOCSDEL   0x40082a01u
#define DIAG_IOCSUNREG 0x40082a02u

struct user_reg {
	uint32_t size;
	uint8_t enable_bit;
	uint8_t enable_size; /* bytes at the address: 4 or 8 */
	uint16_t flags;
	uint64_t enable_addr;
	uint64_t name_args;
	uint32_t write_index; /* that the program gets */
} __attribute__((packed));

struct user_unreg {
	uint32_t size;
	uint8_t disable_bit;
	uint8_t reserved;
	uint16_t reserved2;
	uint64_t disable_addr;
} __attribute__((packed));

struct user_enabler {
	struct user_enabler *next;
	struct trace_user_event *event;
	uintptr_t addr;
	uint8_t bit;
};

/* ---- Bits ---- */

/* Write the bit. False: there is no memory that may be written. mm->lock is held. */
static bool user_enabler_set(struct mm *mm, const struct user_enabler *enabler, bool on)
{
	enum fault_result result;
	uint8_t *at = mm_page_locked(mm, enabler->addr + enabler->bit / 8, VM_WRITE, &result);
	uint8_t mask = (uint8_t)(1u << enabler->bit % 8);

	if (!at)
		return false;
	if (on)
		__atomic_fetch_or(at, mask, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(at, (uint8_t)~mask, __ATOMIC_SEQ_CST);
	return true;
}

static bool user_enabler_write(struct mm *mm, const struct user_enabler *enabler)
{
	return user_enabler_set(mm, enabler, trace_user_event_is_on(enabler->event));
}

static void user_enablers_changed(struct trace_user_event *event)
{
	struct list *pos;

	mutex_lock(&mm_list_lock);
	list_for_each(pos, &mm_list) {
		struct mm *mm = list_entry(pos, struct mm, all_link);
		const struct user_enabler *enabler;

		mutex_lock(&mm->lock);
		for (enabler = mm->user_enablers; enabler; enabler = enabler->next) {
			if (enabler->event == event)
				(void)user_enabler_write(mm, enabler); /* unmapped since then */
		}
		mutex_unlock(&mm->lock);
	}
	mutex_unlock(&mm_list_lock);
}

static const struct trace_user_events_host user_events_host = { .changed = user_enablers_changed };

const struct trace_user_events_host *trace_plat_user_events(void)
{
	return &user_events_host;
}

/* ---- Address spaces ---- */

int user_enablers_copy(struct mm *to, const struct mm *from)
{
	for (const struct user_enabler *own = from->user_enablers; own; own = own->next) {
		struct user_enabler *enabler = kmalloc(sizeof(*enabler));

		if (!enabler)
			return -ENOMEM;
		*enabler = *own;
		enabler->next = to->user_enablers;
		to->user_enablers = enabler;
		trace_user_event_get(enabler->event);
	}
	return 0;
}

static void user_enabler_free(struct user_enabler *enabler)
{
	trace_user_event_put(enabler->event);
	kfree(enabler);
}

void user_enablers_free(struct mm *mm)
{
	struct user_enabler *enabler;

	while ((enabler = mm->user_enablers)) {
		mm->user_enablers = enabler->next;
		user_enabler_free(enabler);
	}
}

/* The place of the enabler of that bit, or of the end. The lock is held. */
static struct user_enabler **user_enabler_find(struct mm *mm, uintptr_t addr, uint8_t bit)
{
	struct user_enabler **at = &mm->user_enablers;

	while (*at && ((*at)->addr != addr || (*at)->bit != bit))
		at = &(*at)->next;
	return at;
}

/* Add it, and write its bit. 0; -EADDRINUSE: the bit has one; -EFAULT. */
static int user_enabler_add(struct mm *mm, struct user_enabler *enabler)
{
	struct user_enabler **at;
	int err = 0;

	mutex_lock(&mm->lock);
	at = user_enabler_find(mm, enabler->addr, enabler->bit);
	if (*at)
		err = -EADDRINUSE;
	else if (!user_enabler_write(mm, enabler))
		err = -EFAULT;
	else
		*at = enabler;
	mutex_unlock(&mm->lock);
	return err;
}

static bool user_enabler_is_there(struct mm *mm, uintptr_t addr, uint8_t bit)
{
	bool is_there;

	mutex_lock(&mm->lock);
	is_there = *user_enabler_find(mm, addr, bit);
	mutex_unlock(&mm->lock);
	return is_there;
}

/* ---- Requests ---- */

/* The struct of a program, which begins with its size, as clone3() takes one: a longer one has zeros behind ours. */
static int user_events_get(const void *from, void *to, size_t bytes)
{
	uint32_t size;

	if (copy_from_user(&size, from, sizeof(size)))
		return -EFAULT;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < bytes)
		return -EINVAL;
	if (copy_from_user(to, from, bytes))
		return -EFAULT;
	for (size_t at = bytes; at < size; at++) {
		uint8_t byte;

		if (copy_from_user(&byte, (const char *)from + at, sizeof(byte)))
			return -EFAULT;
		if (byte)
			return -E2BIG;
	}
	return 0;
}

static bool user_may_persist(void)
{
	return capable(CAP_PERFMON) || capable(CAP_SYS_ADMIN);
}

static int user_reg_check(const struct user_reg *reg)
{
	if (reg->flags & ~TRACE_USER_EVENT_FLAGS ||
	    (reg->enable_size != sizeof(uint32_t) && reg->enable_size != sizeof(uint64_t)) ||
	    reg->enable_bit >= reg->enable_size * 8 || reg->enable_addr % reg->enable_size)
		return -EINVAL;
	if (reg->flags & TRACE_USER_EVENT_PERSIST && !user_may_persist())
		return -EPERM;
	return user_enabler_is_there(current_task()->mm, reg->enable_addr, reg->enable_bit)
		       ? -EADDRINUSE
		       : 0;
}

/* Register the event, for which there is an enabler already. Its index or -errno. */
static int user_events_register(struct trace_handle *handle, const struct user_reg *reg,
				const char *definition, struct user_enabler *enabler)
{
	int index = trace_user_events_register(handle, definition, reg->flags, &enabler->event),
	    err;

	if (index < 0) {
		kfree(enabler);
		return index;
	}
	err = user_enabler_add(current_task()->mm, enabler);
	if (!err)
		return index;
	user_enabler_free(enabler);
	return err;
}

static long user_events_reg(struct trace_handle *handle, struct user_reg *from)
{
	char definition[TRACE_USER_EVENT_TEXT_MAX];
	struct user_enabler *enabler;
	struct user_reg reg;
	long len = 0, result = user_events_get(from, &reg, sizeof(reg));

	if (!result)
		result = user_reg_check(&reg);
	if (!result)
		len = strncpy_from_user(definition, (const char *)reg.name_args,
					sizeof(definition));
	if (result || len < 0)
		return result ? result : len == -EFAULT ? -EFAULT : -EINVAL;
	enabler = kzalloc(sizeof(*enabler));
	if (!enabler)
		return -ENOMEM;
	enabler->addr = reg.enable_addr;
	enabler->bit = reg.enable_bit;
	result = user_events_register(handle, &reg, definition, enabler);
	if (result < 0)
		return result;
	reg.write_index = (uint32_t)result;
	return copy_to_user(&from->write_index, &reg.write_index, sizeof(reg.write_index)) ? -EFAULT
											   : 0;
}

static long user_events_unreg(const struct user_unreg *from)
{
	struct mm *mm = current_task()->mm;
	struct user_enabler **at, *enabler;
	struct user_unreg unreg;
	int err = user_events_get(from, &unreg, sizeof(unreg));

	if (err)
		return err;
	if (unreg.reserved || unreg.reserved2)
		return -EINVAL;
	mutex_lock(&mm->lock);
	at = user_enabler_find(mm, unreg.disable_addr, unreg.disable_bit);
	enabler = *at;
	if (enabler) {
		*at = enabler->next;
		err = user_enabler_set(mm, enabler, false) ? 0 : -EFAULT;
	}
	mutex_unlock(&mm->lock);
	if (!enabler)
		return -ENOENT;
	user_enabler_free(enabler);
	return err;
}

static long user_events_delete(const char *from)
{
	char name[TRACE_USER_EVENT_TEXT_MAX];
	long len = strncpy_from_user(name, from, sizeof(name));

	if (len < 0)
		return len == -EFAULT ? -EFAULT : -EINVAL;
	return trace_user_event_delete(name, user_may_persist());
}

long user_events_ioctl(struct trace_handle *handle, unsigned int cmd, unsigned long arg)
{
	if (!trace_user_events_is_data(handle))
		return -ENOTTY;
	switch (cmd) {
	case DIAG_IOCSREG:
		return user_events_reg(handle, (struct user_reg *)arg);
	case DIAG_IOCSDEL:
		return user_events_delete((const char *)arg);
	case DIAG_IOCSUNREG:
		return user_events_unreg((const struct user_unreg *)arg);
	default:
		return -ENOTTY;
	}
}
