/*
 * The zones of <kernel/pstore.h>, between the files of this folder.
 *
 * Context: thread, but pstore_ftrace_*() as said.
 */
#ifndef KERNEL_PSTORE_PSTORE_H
#define KERNEL_PSTORE_PSTORE_H

#include "zone.h"

/* Make the file of the old text of `zone`, if there is one; it is removed with its file. 0 or -ENOMEM. */
int pstore_add_file(const char *name, struct zone *zone);
/* The same with a text, from vmalloc(), which becomes the file's; made of `nr` zones. */
int pstore_add_text(const char *name, char *text, size_t len, struct zone *zones, uint32_t nr);
/* Make /dev/pmsg0, which writes to `zone`. 0 or -ENOMEM. */
int pstore_add_pmsg(struct zone *zone);
/* Make the file of the calls found in the zones, one a CPU, and the switch record_ftrace. 0 or -ENOMEM. */
int pstore_add_ftrace(struct zone *zones, uint32_t nr_cpus);

#endif
