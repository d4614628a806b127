/*
 * Targets of the probes of scripts: script_attach.c finds them, script_probe.c attaches clauses to them.
 * See script.h.
 */
#ifndef TRACE_SCRIPT_TARGET_H
#define TRACE_SCRIPT_TARGET_H

#include <trace/fprobe.h>
#include <trace/tracepoint.h>
#include <trace/uprobe.h>
#include <trace/wprobe.h>
#include "events/event_watch.h"
#include "sample/sample_watch.h"
#include "script.h"

/* A probe at an event. */
struct script_tap {
	struct trace_event_watch watch;
	struct script_probe *probe;
	struct trace_event_call *call;
	struct trace_event_file *file; /* NULL: it is not watched */
	bool is_direct;		       /* the tracepoint calls the clause */
	uint32_t type;		       /* number of the event's type */
	char name[TRACE_SYM_LEN + 16];
};

/* A tracepoint, without the event that is made of it. */
struct script_raw {
	struct tracepoint *tp;
	struct script_probe *probe;
	bool is_on;
	char name[TRACE_SYM_LEN + 16];
};

/* ---- Markers ---- */

#define SCRIPT_MARK_ARGS 10u /* further ones are not known */

/* Where an argument of a marker is. */
struct script_operand {
	enum {
		SCRIPT_OPERAND_UNKNOWN,
		SCRIPT_OPERAND_NUMBER,
		SCRIPT_OPERAND_REGISTER, /* `base` */
		SCRIPT_OPERAND_MEMORY,	 /* at `number` + base + index * scale */
	} kind;
	uint8_t bits;
	bool is_signed;
	uint8_t scale;	      /* 0: there is no `index` */
	uint16_t base, index; /* registers, by their offsets in struct ftrace_regs */
	uint64_t number;
};

/* A marker that a word stands for. */
struct script_mark {
	struct uprobe_consumer consumer; /* first */
	struct script_probe *probe;
	uint32_t nr_args;
	struct script_operand args[SCRIPT_MARK_ARGS];
	char name[96]; /* as printed by `probe` */
};

/* A marker's file, and its address as the file was linked. */
struct script_marker_at {
	struct uprobe_file *file;
	uint64_t addr;
};

/* ---- Targets ---- */

/* The functions or events that a word stands for. */
struct script_target {
	size_t bytes; /* of this */
	struct script_probe *probe;
	union {
		struct ftrace_ops ops; /* of entries */
		struct fprobe fprobe;  /* of returns */
	};
	uint32_t nr;
	struct tracepoint_change *changes; /* of events: room for nr_changes, one for each */
	uint32_t nr_changes;
	union {
		uintptr_t addrs[1];
		struct script_tap taps[1];
		struct script_raw raws[1];
		struct uprobe_consumer uprobe;
		struct script_mark marks[1]; /* behind the last one: as many pointers */
		struct wprobe wprobe;
		struct trace_sample_watch sample;
	};
};

static inline bool script_is_of_program(enum script_probe_kind kind)
{
	return kind == SCRIPT_UPROBE || kind == SCRIPT_URETPROBE || kind == SCRIPT_USDT;
}

/* ---- script_attach.c ---- */

/* Make the target of a probe, zeroed, with room for `nr` of `each` bytes. NULL: out of memory, noted. */
struct script_target *trace_script_target(struct script_probe *probe, uint32_t nr, size_t each);
bool trace_script_matches(const struct expr_word *pattern, const char *name);
bool trace_script_is_pattern(const struct expr_word *word);

/* ---- script_marker.c ---- */

/* Find the markers behind the kind's colon, and make the target. 0, or an error that was noted. */
int trace_script_marker_find(struct trace_script *script, struct script_probe *probe,
			     const struct expr_word *rest);
/* Have all markers of a probe the argument `word`, arg0 to arg9? 0, and whether it has a sign everywhere; or noted. */
int trace_script_marker_arg(struct trace_script *script, const struct script_probe *probe,
			    const struct expr_word *word, bool *out_is_signed);
int trace_script_marker_attach(struct script_probe *probe);
void trace_script_marker_detach(struct script_probe *probe);

/* ---- script_operand.c ---- */

/* Read an argument as a note has it; one that is not known becomes SCRIPT_OPERAND_UNKNOWN. */
void trace_script_operand_parse(const struct expr_word *word, const struct script_marker_at *at,
				struct script_operand *out);
/* Its value, 0 where memory cannot be read. Probe context. */
uint64_t trace_script_operand_value(const struct script_operand *operand,
				    const struct ftrace_regs *regs);

/* ---- script_program.c: places of programs; script_direct.c: others ---- */

/* Find the place behind the kind's colon, and make the target. 0, or an error that was noted. */
int trace_script_program_find(struct trace_script *script, struct script_probe *probe,
			      const struct expr_word *rest);
/* Hold the file of that path. 0, or an error that was noted. */
int trace_script_program_file(struct trace_script *script, const struct expr_word *path,
			      struct uprobe_file **out_file);
int trace_script_raw_find(struct trace_script *script, struct script_probe *probe,
			  const struct expr_word *rest);
int trace_script_watch_find(struct trace_script *script, struct script_probe *probe,
			    const struct expr_word *rest);
int trace_script_profile_find(struct trace_script *script, struct script_probe *probe,
			      const struct expr_word *rest);
/* Call the clause from now on. 0 or -errno. */
int trace_script_program_attach(struct script_probe *probe);
int trace_script_direct_attach(struct script_probe *probe);
/* Call it no more; it may still run until tracepoint_synchronize_unregister(). */
void trace_script_program_detach(struct script_probe *probe);
void trace_script_direct_detach(struct script_probe *probe);

#endif
