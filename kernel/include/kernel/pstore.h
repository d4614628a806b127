/*
 * Messages that survive a reset, as files of /sys/fs/pstore after it: docs/black-box.md.
 *
 *   dmesg-ramoops-N     a panic: the messages before it, and its report of all CPUs
 *   console-ramoops-0   the messages of the last kernel, its newest
 *   pmsg-ramoops-0      what programs wrote to /dev/pmsg0
 *   ftrace-ramoops-0    the functions that were called, while record_ftrace was 1
 *
 * They lie in the memory of reserve_mem= that ramoops.mem_name= names. Without that parameter nothing is
 * here, and pstore_console() and pstore_panic_*() do nothing.
 *
 * Locking:   inside.
 */
#ifndef KERNEL_PSTORE_H
#define KERNEL_PSTORE_H

/* Read what the last kernel has left, make the files, begin to record. Boot, after vfs_init(). */
void pstore_init(void);
/* Keep the messages that are new. Any context. */
void pstore_console(void);
/* A panic begins: choose its record. The other CPUs are stopped. */
void pstore_panic_begin(void);
/* Keep the messages that came since. After pstore_panic_begin(). */
void pstore_panic_messages(void);

#endif
