/* See kretprobe_list.h. */
#include "kprobe_line.h"
#include "kretprobe_list.h"

/*
 * A reader's position in the list: behind an address, and a number among the probes of that
 * address, counted from 1.
 */
#define NTH_BITS 16u

static struct kretprobe *first;
static struct kretprobe **last = &first;

void kretprobe_list_add(struct kretprobe *rp)
{
	rp->next_listed = NULL;
	rp->listed_at = last;
	*last = rp;
	last = &rp->next_listed;
}

void kretprobe_list_remove(struct kretprobe *rp)
{
	*rp->listed_at = rp->next_listed;
	if (rp->next_listed)
		rp->next_listed->listed_at = rp->listed_at;
	else
		last = rp->listed_at;
}

/* Probe number `nth` at `addr`, or NULL. */
static struct kretprobe *nth_at(uintptr_t addr, uint64_t nth)
{
	struct kretprobe *rp = first;

	while (rp && (rp->kp.addr != addr || --nth))
		rp = rp->next_listed;
	return rp;
}

/* The first probe at the lowest address above `addr`. */
static struct kretprobe *first_above(uintptr_t addr)
{
	struct kretprobe *found = NULL;

	for (struct kretprobe *rp = first; rp; rp = rp->next_listed) {
		if (rp->kp.addr > addr && (!found || rp->kp.addr < found->kp.addr))
			found = rp;
	}
	return found;
}

size_t kretprobe_list_line(uint64_t *cursor, char *buf, size_t size)
{
	uintptr_t addr = trace_plat_ip_unpack((uint32_t)(*cursor >> NTH_BITS));
	uint64_t nth = (*cursor & ((1u << NTH_BITS) - 1)) + 1;
	struct kretprobe *rp = *cursor ? nth_at(addr, nth) : NULL;

	if (!rp) {
		nth = 1;
		rp = first_above(addr);
	}
	if (!rp)
		return 0;
	*cursor = (uint64_t)trace_plat_ip_pack(rp->kp.addr) << NTH_BITS | nth;
	return kprobe_line_print(buf, size, rp->kp.addr, 'r',
				 rp->kp.flags & KRETPROBE_FLAG_DISABLED ? "[DISABLED][FTRACE]"
									: "[FTRACE]");
}
