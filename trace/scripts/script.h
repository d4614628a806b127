/*
 * The inside of scripts; see <trace/script.h>.
 *
 *   script_lex.c     characters to words
 *   script_parse.c   words to trees of clauses and statements; script_tree.c: of expressions; script_constant.c: of numbers, texts
 *   script_type.c    types of trees, and the shapes of tables; script_call.c: of calls; script_name.c: of names; script_unify.c
 *   script_action.c  statements to programs of trace/expr/; script_emit.c: values; script_slot.c: texts; script_value.c: calls, ++
 *   script_condition.c conditions and operators
 *   script_step.c    steps of these programs; script_step_map.c: about tables; script_step_text.c: texts, stacks; script_hit.h
 *   script_map.c     tables
 *   script_out.c     the buffer of output, and its texts
 *   script_print.c   tables as text
 *   script_attach.c  words of probes, and the functions and events that they stand for
 *   script_probe.c   probes that call clauses; script_target.h
 *   script_program.c probes in programs; script_marker.c: at markers; script_operand.c: their arguments
 *   script_direct.c  probes of tracepoints, of data, of timers
 *   script_list.c    their names
 *   script.c         the life of a script
 *   script_named.c   those with a name; script_files.c: their files in tracefs
 *
 * A run's memory is one block for each CPU. Values of one word go through expr_run; texts, stacks and
 * keys lie in the block's bytes, at offsets that are known when the script is compiled.
 *
 * Context:   thread, where nothing else is said.
 * Ownership: everything belongs to its script. Trees lie in memory that is freed as a whole.
 */
#ifndef TRACE_SCRIPT_PRIVATE_H
#define TRACE_SCRIPT_PRIVATE_H

#include <stdatomic.h>
#include <trace/errno.h>
#include <trace/ftrace.h>
#include <trace/platform.h>
#include <trace/script.h>
#include "expr/expr_build.h"
#include "script_table.h"

#define SCRIPT_BYTES_MAX    1024u /* of a run's variables, keys and texts */
#define SCRIPT_OUT_BYTES    65536u
#define SCRIPT_PARTS_MAX    8u	   /* of a key, and arguments of printf() */
#define SCRIPT_ROUNDS_MAX   10000u /* of all loops of a run */
#define SCRIPT_COUNTERS_MAX 16u /* tables that are one for each CPU; further ones are as others */
#define SCRIPT_NESTING_MAX  16u /* of parentheses and blocks */
#define SCRIPT_HEIGHT_MAX   24u /* of the tree of an expression */

struct script_builtin;
struct script_format;
struct script_function;
struct script_map;
struct script_mark;
struct script_node;
struct trace_event_call;
struct trace_event_field;

/* ---- Clauses ---- */

struct script_var {
	struct expr_word name;
	struct script_type type;
	uint32_t offset; /* in the block */
	struct script_var *next;
};

enum script_probe_kind {
	SCRIPT_BEGIN,
	SCRIPT_END,
	SCRIPT_ENTRY,  /* of functions */
	SCRIPT_RETURN, /* of functions */
	SCRIPT_EVENT,
	SCRIPT_INTERVAL,
	SCRIPT_PROFILE, /* on each CPU, from its timer */
	SCRIPT_RAW,	/* of tracepoints, by their arguments */
	SCRIPT_WATCH,	/* of data */
	SCRIPT_UPROBE,
	SCRIPT_URETPROBE,
	SCRIPT_USDT, /* markers of programs */
	SCRIPT_NR_PROBES
};

struct script_clause;
struct script_tap;
struct script_target;

/* One word in front of a clause: a pattern, and what it stands for. */
struct script_probe {
	enum script_probe_kind kind;
	struct expr_word word;
	char name[96]; /* as printed by `probe`, up to the last colon for patterns */
	struct script_clause *clause;
	struct script_probe *next;
	struct script_target *target; /* script_target.h */
	uint32_t nr;		      /* of functions or events */
	uint64_t period_ns, due_ns;   /* SCRIPT_INTERVAL */
};

struct script_clause {
	struct script_probe *probes;
	struct script_node *predicate; /* or NULL */
	struct script_node *block;
	struct script_var *vars;
	struct expr_program *program;
	uint32_t zeroed;	 /* bytes at the beginning of the block that a run begins with */
	struct script_cpu *cpus; /* of the script */
	const char *body;	 /* what stands behind its probes */
	bool needs_event;	 /* it looks at data of the event, or at the stack of its place */
	bool needs_begin;	 /* its program begins with SCRIPT_STEP_BEGIN */
	struct trace_script *script;
	struct script_clause *next;
};

/* ---- Runs ---- */

/* A hit, as its clause sees it. Members that its kind of probe lacks are not set. */
struct script_hit {
	const struct script_probe *probe;
	struct ftrace_regs *regs;
	const uint64_t *args; /* of a tracepoint, five */
	const char *name;     /* of the tracepoint or marker */
	uintptr_t ip;	      /* of the function, or of the event's probe */
	uintptr_t ret_ip; /* of functions: where it returns to, or a hook that is there instead */
	const struct script_mark *mark;
	const struct script_tap *tap; /* of the event, whose data are those of the run */
};

/* A run. Nothing in it lasts from one run to the next. */
struct script_run {
	struct expr_run expr; /* first */
	struct trace_script *script;
	struct script_hit hit;
	uint64_t now_ns;      /* 0: not read yet */
	uint32_t rounds_left; /* of all its loops */
	bool has_left;	      /* a round has ended the run */
	_Alignas(8) uint8_t bytes[SCRIPT_BYTES_MAX];
};

enum script_state {
	SCRIPT_IDLE,
	SCRIPT_RUNS,
	SCRIPT_RUNS_GUARDED, /* its end gives the guard TRACE_RECURSION_CALLBACK back */
};

/* Of each CPU: the run that is there, and counts. */
struct script_cpu {
	struct script_run run; /* first */
	_Atomic uint8_t state; /* enum script_state */
	uint64_t runs, missed, lost, full;
	uint64_t cut; /* loops that ended because they had had all rounds that they may have */
	uint64_t counters[SCRIPT_COUNTERS_MAX];
} __attribute__((aligned(64)));

/* ---- Output ---- */

/* A format of printf(), or another text that the reading thread makes. */
struct script_format {
	enum script_record {
		SCRIPT_PRINTF,
		SCRIPT_PRINT_MAP,
		SCRIPT_CLEAR_MAP,
		SCRIPT_ZERO_MAP,
	} kind;
	const char *text;
	struct script_map *map;
	uint32_t top, divisor; /* of a table that is printed; 0: all its keys, undivided */
	uint32_t nr, bytes;
	struct script_type types[SCRIPT_PARTS_MAX];
	uint32_t offsets[SCRIPT_PARTS_MAX]; /* in the record */
	uint32_t number;
	struct script_format *next;
};

struct script_out {
	_Atomic uint32_t lock;
	uint8_t *memory;     /* SCRIPT_OUT_BYTES */
	uint64_t head, tail; /* bytes ever written, and read */
};

struct script_chunk;

struct trace_script {
	char *text;
	size_t text_bytes;
	struct script_chunk *chunks;
	struct trace_script_error *error; /* while it is compiled */
	int err;
	const struct trace_script_params *params;
	struct script_clause *clauses;
	struct script_map *maps; /* sorted by name */
	struct script_format *formats;
	uint32_t nr_formats;
	bool wants_split; /* events of a pattern have a field at different places */
	struct script_node *loops;
	struct script_cpu *cpus;
	uint32_t nr_cpus, nr_counters;
	uint64_t began_ns;
	_Atomic bool wants_end;
	const struct script_named
		*named; /* that it is the program of, or NULL; set before its start */
	struct trace_script *next_started; /* see script_why.c */
	bool is_stuck; /* tracing died, and sites may call its probes for ever: it is never freed */
	enum {
		SCRIPT_MADE,
		SCRIPT_STARTED,
		SCRIPT_STOPPED
	} state;
	struct script_out out;
	struct script_print print;
	struct script_map *next_printed;       /* at the end of the script */
	uint64_t values[SCRIPT_BYTES_MAX / 8]; /* of the record that is being read */
};

/* ---- script_parse.c, script_type.c, script_action.c: the ways from a text to a program ---- */

int trace_script_parse(struct trace_script *script);
/* Make each clause with a pattern of several events one for each of them. */
int trace_script_split(struct trace_script *script);
int trace_script_check_types(struct trace_script *script);
int trace_script_emit(struct trace_script *script);
/* Memory that lasts as long as the script, zeroed; NULL, with the script's error set. */
void *trace_script_alloc(struct trace_script *script, size_t bytes);
void trace_script_free_memory(struct trace_script *script);
/* Note a mistake, unless there is one already. Returns `err`. */
int trace_script_refuse(struct trace_script *script, const struct expr_word *word, int err,
			const char *fmt, ...) TRACE_PRINTF(4, 5);

/* ---- script_step.c: probe context ---- */

/*
 * The last instructions of a clause are those that its runs come to, in front of EXPR_END: one if its
 * condition held, the other if not. The first run changes it to one that does no more than it must.
 */
static inline struct expr_insn *trace_script_clause_last(const struct script_clause *clause,
							 bool has_held)
{
	return &clause->program->insns[clause->program->nr - (has_held ? 3 : 2)];
}
/* Has a run come there? Any context. */
bool trace_script_clause_saw(const struct script_clause *clause, bool has_held);
/* Run a clause for a hit, with preemption off; any context. */
void trace_script_hit(struct script_clause *clause, const struct script_hit *hit);

/* ---- script_out.c ---- */

/* Write a record; probe context. False: there is no room. */
bool trace_script_out_write(struct trace_script *script, const struct script_format *format,
			    const void *bytes);
/* Take the next record, whose values are copied to SCRIPT_BYTES_MAX bytes. NULL: there is none. */
bool trace_script_out_is_empty(struct trace_script *script);
const struct script_format *trace_script_out_take(struct trace_script *script, void *values);
/* Its text. */
void trace_script_out_format(struct trace_seq *seq, const struct script_format *format,
			     const uint8_t *values);
/* NULL: the text fits the types of the values; otherwise a reason. */
const char *trace_script_format_check(const struct script_format *format);

/* ---- script.c ---- */

/*
 * Until resume the script does not run on this CPU, whose interrupts are off; hits in NMIs are missed.
 */
uint64_t trace_script_pause(struct trace_script *script);
void trace_script_resume(struct trace_script *script, uint64_t flags);

/* Would trace_script_read() write something, or run an interval, or has the script called exit()? */
bool trace_script_is_ready(struct trace_script *script);

/* ---- script_why.c ---- */

/*
 * Scripts from their start until they are freed, for `why`. When remove has returned no reader of that
 * looks at the script any more. Thread context, may block.
 */
void trace_script_why_add(struct trace_script *script);
void trace_script_why_remove(struct trace_script *script);
/* Register the checks, for init(). */
void trace_script_why_init(void);

/* ---- script_attach.c ---- */

/* Read the word in front of a clause. 0, or an error that was noted. */
int trace_script_probe_parse(struct trace_script *script, struct script_probe *probe);
/* The event that `args` is of; NULL: there is none. */
const struct trace_event *trace_script_probe_event(const struct script_probe *probe);
/* Whether the other events of a pattern have the field at the same place. */
bool trace_script_probe_has_field(const struct script_probe *probe,
				  const struct trace_event_field *field);
void trace_script_probe_free(struct script_probe *probe);
/*
 * Leave a probe the first event of its pattern. Returns a probe of the others; NULL: there are none, or it is no pattern of
 * events, or there is no memory, which is noted.
 */
struct script_probe *trace_script_probe_split(struct script_probe *probe);

/* ---- script_probe.c ---- */

int trace_script_attach(struct trace_script *script);
void trace_script_detach(struct trace_script *script);
/* Hits of a probe that did not get as far as its clause: tracing was at work in that context. */
uint64_t trace_script_probe_missed(const struct script_probe *probe);

#endif
