/*
 * Probes of programs: lines of uprobe_events. See probe.h, <trace/uprobe.h>.
 *
 * 	p:my/entry /bin/busybox:0x4a20 first=%di text=+0(%si):string
 * 	p:my/main /bin/prog:main                a symbol of the file
 * 	r:my/exit /bin/prog:0x1139 $retval      the same as PATH:OFFSET%return
 * 	p:my/mark /bin/prog:0x1200(0x4010)      a counter of 16 bits is 1 higher while it is on
 *
 *   probe_uprobe.c        the two kinds, and hits
 *   probe_uprobe_place.c  places: the line, the file, its symbols
 *   probe_uprobe_elf.c    symbols of a file, in ELF
 *   probe_uprobe_note.c   its markers, in notes
 *   probe_uprobe_files.c  uprobe_events and uprobe_profile
 *   probe_uprobe_why.c    answers of `why`
 *   probe_uprobe_complete.c  functions behind PATH: for Tab
 *
 * Context: thread, config lock held; hits - the thread of the program, which may fault.
 */
#ifndef PROBE_UPROBE_H
#define PROBE_UPROBE_H

#include "probe.h"

#define PROBE_PATH_MAX 256u /* characters of a file's path, and a NUL */

/* ---- probe_uprobe_elf.c ---- */

/* A symbol of a file. */
struct probe_elf_symbol {
	uint64_t offset; /* of its first byte in the file */
	uint64_t addr;	 /* the same as the file was linked */
	uint32_t nr;	 /* different places of the name */
};
/*
 * Find a function or variable of that name. 0; -ENOENT: the file has symbols, but not this one;
 * -ENODATA: it has no symbols; -ENOEXEC: it is no ELF file of 64 bits.
 */
int trace_probe_elf_find(struct uprobe_file *file, const char *name, size_t len,
			 struct probe_elf_symbol *out);
/* The address, as the file was linked, of a name that has one place; it may be a variable without contents in the file. */
bool trace_probe_elf_addr(struct uprobe_file *file, const char *name, size_t len,
			  uint64_t *out_addr);
/* Call fn for the name of each function of the file; a name may come twice. 0 or -ENOEXEC. */
int trace_probe_elf_each(struct uprobe_file *file, void (*fn)(const char *name, void *arg),
			 void *arg);
/*
 * The offset at which the function begins that the byte at `offset` is in: the last one in front of it, if it has that
 * many bytes, or does not say. False: there is none.
 */
bool trace_probe_elf_function(struct uprobe_file *file, uint64_t offset, uint64_t *out_begin);

/* ---- probe_uprobe_note.c ---- */

/* A marker of <sys/sdt.h>. */
struct probe_marker {
	uint64_t addr;	 /* as the file was linked */
	uint64_t offset; /* in the file */
	uint64_t
		semaphore; /* offset of a word of 16 bits in the file, of those that want it; 0: there is none */
	const char *provider, *name;
	const char *args; /* a list with blanks between, each as `-4@%edi` */
};
/* Call fn for each marker of the file, until it returns false. 0 or -ENOEXEC: it is no ELF file of 64 bits. */
int trace_probe_marker_each(struct uprobe_file *file,
			    bool (*fn)(const struct probe_marker *marker, void *arg), void *arg);

/* ---- probe_uprobe_place.c ---- */

/* For struct probe_kind. */
int trace_probe_uprobe_find(struct probe_definition *definition);
/* Is it the line of a probe of a program: is its place a path? And is it one of a return? */
bool trace_probe_uprobe_is(const char *line);
bool trace_probe_uprobe_is_return(const char *line);
/* Write the path of the probe's file, of at most PROBE_PATH_MAX bytes. */
void trace_probe_uprobe_path(const struct probe *probe, char *out);
/* Is the place of `a`, which is not attached yet, that of `b`, however their files are written? */
bool trace_probe_uprobe_is_same(const struct probe *a, const struct probe *b);
/* The state of the file that the probe's path names now: a text without a dot; NULL: it is the probe's. */
const char *trace_probe_uprobe_gone(const struct probe *probe);

/* ---- probe_uprobe.c ---- */

extern const struct probe_kind trace_probe_uprobe_kind, trace_probe_uretprobe_kind;
/* Is the event one of probes of programs? Any context. */
bool trace_probe_is_of_program(const struct trace_event_call *call);
/* The one kind of uprobe_events, and the end of the table. */
extern const struct dyn_event_kind trace_probe_uprobe_dyn[];

/* ---- probe_uprobe_complete.c ---- */

/* For struct probe_kind and struct dyn_event_kind. */
void trace_probe_uprobe_offer(const struct dyn_event_completion *completion, const char *at);
void trace_probe_uprobe_complete(struct dyn_event_completion *completion);

/* ---- probe_uprobe_why.c ---- */

/* For struct dyn_event_kind: as trace_dyn_event_explain_place(). */
int trace_probe_uprobe_locate(const char *line, struct trace_seq *seq);
extern const struct trace_why_check trace_probe_uprobe_whys[];

#endif
