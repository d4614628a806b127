/*
 * The memory of the files that are nowhere else: those of the root and of each tmpfs, which have half of it together,
 * so that no program can take all by writing files.
 */
#ifndef KERNEL_RAM_FILES_H
#define KERNEL_RAM_FILES_H

#include <kernel/base.h>

/* Pages that they may have, and those of them that are free. Any context. */
void ram_files_room(uint64_t *out_pages, uint64_t *out_free);

#endif
