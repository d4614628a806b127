/* The names of system and machine: see proc_machine.h. */
#include <kernel/lock.h>
#include <kernel/string.h>
#include "proc_machine.h"

static char uts_names[NR_UTS_NAMES][UTS_LEN] = { "Linux",  "fathom", "6.1.0-fathom",
						 "#1 SMP", "x86_64", "(none)" };
static struct spinlock uts_lock;

void uts_get(enum uts_name which, char out[UTS_LEN])
{
	spin_lock(&uts_lock);
	memcpy(out, uts_names[which], UTS_LEN);
	spin_unlock(&uts_lock);
}

void uts_get_all(char out[NR_UTS_NAMES][UTS_LEN])
{
	spin_lock(&uts_lock);
	memcpy(out, uts_names, sizeof(uts_names));
	spin_unlock(&uts_lock);
}

void uts_set(enum uts_name which, const char *name, size_t len)
{
	if (len > UTS_LEN - 1)
		len = UTS_LEN - 1;
	spin_lock(&uts_lock);
	memset(uts_names[which], 0, UTS_LEN);
	memcpy(uts_names[which], name, len);
	spin_unlock(&uts_lock);
}
