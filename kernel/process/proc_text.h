/*
 * Texts of /proc/PID, and the parts of them that have files of their own.
 *
 * Context:   thread.
 * Locking:   those of what is shown.
 * Ownership: the text is the caller's.
 */
#ifndef KERNEL_PROCESS_PROC_TEXT_H
#define KERNEL_PROCESS_PROC_TEXT_H

#include "process.h"

/* A text that is written to until it is full. */
struct text {
	char *to;
	size_t len, size;
};

void text_add(struct text *text, const char *fmt, ...) TRACE_PRINTF(2, 3);
/* The line of a range in the files maps and smaps. The lock of its address space is held. */
void proc_show_map(struct text *text, const struct vma *vma);

/* proc_smaps.c */
void proc_show_smaps(struct text *text, struct mm *mm);
void proc_show_statm(struct text *text, struct mm *mm);

/* proc_lists.c */
void proc_show_limits(struct text *text, struct process *process);
void proc_show_mountinfo(struct text *text);

#endif
