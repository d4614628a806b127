/*
 * Memory set aside by the boot parameter reserve_mem=SIZE:ALIGN:NAME, see <kernel/mm.h>.
 *
 * Context: boot CPU, before page_init().
 */
#ifndef KERNEL_MM_RESERVE_H
#define KERNEL_MM_RESERVE_H

void reserve_init(void);

#endif
