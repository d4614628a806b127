/*
 * Arguments of a probe's line, in Linux's language, compiled into a program of expr/ that runs at each
 * hit.
 *
 * 	dfd=%di name=+0(%si):string size=$arg3:u32 first=+0(+8($arg1)):x8[4]
 *
 *   fetch_parse.c   from an argument to its steps, or to an error and its place
 *   fetch_value.c   beginnings of values: registers, arguments, fields, numbers, symbols
 *   fetch_around.c  what is read around them: +8(VALUE), this_cpu_ptr(VALUE)
 *   fetch_field.c   fields of an event
 *   fetch_symbol.c  variables and functions by name
 *   fetch_name.c    arguments named as in the source, and members: path->len
 *   fetch_complete.c  completion of names and members
 *   fetch_cast.c    a value as the address of a struct: (thread)%di->name
 *   fetch_type.c    types: names, sizes, printing
 *   fetch_named.c   names of files: file:%pD
 *   fetch_program.c  from a value and its type to steps, see fetch_step.h
 *   fetch_run.c     the steps become bytes of an event
 *   fetch_text.c    texts of an event
 *
 * The event has the arguments one behind the other, without gaps, and texts behind all of them:
 *
 * 	| head | fields of the kind | arguments of fixed length | texts |
 *
 * An address that cannot be read makes a number 0, and a text `(fault)`. +u8(VALUE) and the type
 * `ustring` read the running program's memory alone; all others that of the kernel, and that of the
 * program where the kernel has none.
 *
 * Context:   trace_fetch_run() - any, NMI included. The rest - thread.
 * Ownership: programs and texts belong to the owner of their memory.
 */
#ifndef FETCH_H
#define FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/event.h>
#include "expr/expr_build.h"

struct dyn_event_error;
struct fetch_names;
struct ftrace_regs;
struct trace_seq;

#define FETCH_ARGS_MAX	128u
#define FETCH_NAME_MAX	32u /* characters */
#define FETCH_BODY_MAX	63u
#define FETCH_ARRAY_MAX 64u
#define FETCH_TEXT_MAX	4096u /* bytes of a text, with its NUL */
#define FETCH_NOWHERE	UINT16_MAX
#define FETCH_FAULT	"(fault)" /* text in place of one that cannot be read */

/* ---- Types ---- */

enum fetch_kind {
	FETCH_NUMBER,
	FETCH_CHAR,
	FETCH_SYMBOL, /* an address, shown as a symbol with an offset */
	FETCH_TEXT,
	FETCH_SYMBOL_TEXT, /* the same, recorded as a text */
};

struct fetch_type {
	const char *name;
	const char *field;	/* of a field in `format` */
	const char *conversion; /* in a print fmt */
	uint8_t size;		/* of a value; of a text, that of its place and length: 4 */
	uint8_t kind;		/* enum fetch_kind */
	char named;		/* 'D', 'd': it is the name of the file, of the dentry there */
	bool is_signed;
	bool is_hex;
	bool is_user; /* a text in the memory of the running program */
};

/* Is it recorded as a text? */
static inline bool fetch_is_text(const struct fetch_type *type)
{
	return type->kind == FETCH_TEXT || type->kind == FETCH_SYMBOL_TEXT;
}

/* Is its value known to the kernel alone: a symbol of it, or one of its structs? */
static inline bool fetch_is_of_kernel(const struct fetch_type *type)
{
	return type->named || type->kind == FETCH_SYMBOL || type->kind == FETCH_SYMBOL_TEXT;
}

/* The number of so many bytes: 'u', without sign; 's', with one; 'x', in hex. NULL: there is none. */
const struct fetch_type *trace_fetch_type_of(char letter, size_t bytes);
/* NULL: there is none of that name. */
const struct fetch_type *trace_fetch_type_find(const char *name, size_t len);
/* Number `i` of them; NULL behind the last. */
const struct fetch_type *trace_fetch_type_at(size_t i);
/* Print the value at `at` in the event of `len` bytes at `entry`, which is long enough for it. */
void trace_fetch_print(const struct fetch_type *type, const uint8_t *entry, uint32_t len,
		       uint32_t at, struct trace_seq *seq);

/* ---- Programs ---- */

/* A copy of bytes of the probe's data into the event. */
struct fetch_copy {
	uint16_t from, to;
};

struct fetch_program {
	const struct fetch_copy *copies, *copies_end; /* of 8 bytes; behind them those of 4 */
	struct expr_program *steps;		      /* of its owner; NULL: there are none */
	bool is_more;				      /* than copies of 8 bytes */
	uint8_t nr_words;			      /* copies of 4 bytes */
	uint16_t nr_texts;
	uint16_t fixed_bytes; /* of the event, without texts; not rounded up */
};

/* The properties of an argument that its field lacks, for `format` and the lines of `trace`. */
struct fetch_arg {
	const struct fetch_type *type;
	uint16_t count; /* of an array; 0: it is none */
};

/*
 * Carry out the program into the `room` bytes at `entry`, behind the fields filled in by the
 * caller. `got` is the probe's data: registers, arguments of a tracepoint, an event. Returns the
 * length of the event, a multiple of 4. When that is more than `room`, texts are cut. `room` is a
 * multiple of 4 and not less than `fixed_bytes`.
 */
uint32_t trace_fetch_run(const struct fetch_program *program, const void *got, uint8_t *entry,
			 uint32_t room);
/* Run everything but copies of 8 bytes, in a program without texts. */
void trace_fetch_rest(const struct fetch_program *program, const void *got, uint8_t *entry);

/* The copies of 8 bytes alone. */
static TRACE_ALWAYS_INLINE void fetch_copies(const struct fetch_program *program, const void *got,
					     uint8_t *entry)
{
	const struct fetch_copy *copy = program->copies, *end = program->copies_end;

	for (; copy < end; copy++)
		__builtin_memcpy(entry + copy->to, (const uint8_t *)got + copy->from, 8);
}

/* trace_fetch_run() for a program without texts. */
static TRACE_ALWAYS_INLINE void fetch_numbers(const struct fetch_program *program, const void *got,
					      uint8_t *entry)
{
	fetch_copies(program, got, entry);
	if (program->is_more)
		trace_fetch_rest(program, got, entry);
}

/* ---- From text to program ---- */

enum fetch_place {
	FETCH_AT_CODE,	     /* registers */
	FETCH_AT_ENTRY,	     /* registers, and arguments: the first instruction of a function */
	FETCH_AT_RETURN,     /* the value that a function returns, its arguments, and the stack */
	FETCH_AT_TRACEPOINT, /* arguments, and the stack: struct fetch_tracepoint */
	FETCH_AT_EVENT,	     /* fields */
	FETCH_AT_DATA,	     /* registers, and struct fetch_data */
};

/* The data of a probe at FETCH_AT_DATA. */
struct fetch_data {
	const struct ftrace_regs *regs;
	uint64_t addr, old, value; /* of the variable */
};

#define FETCH_TRACEPOINT_ARGS 8u

/* The data of a probe at FETCH_AT_TRACEPOINT. */
struct fetch_tracepoint {
	uint64_t args[FETCH_TRACEPOINT_ARGS];
	uint64_t stack; /* address of the word with the probe's return address */
};

#define FETCH_ENTRY_ARGS 6u /* arguments in registers */

/*
 * The data of a probe at a return that records more than the returned value, in place of registers.
 */
struct fetch_return {
	uint64_t value, stack;
	uint64_t args[FETCH_ENTRY_ARGS]; /* at the entry; only those that are asked for */
};

/* The place of a probe, which decides on the values that can be recorded. */
struct fetch_context {
	enum fetch_place place;
	bool is_gathered;     /* FETCH_AT_RETURN: there is a struct fetch_return */
	bool is_of_function;  /* registers have no names: Linux has none there */
	bool is_user;	      /* FETCH_AT_CODE: of a program; all memory is the program's */
	bool is_user_return;  /* the same, at the return of a function */
	uint64_t file_offset; /* is_user: of the probe in its file, in bytes */
	uint32_t nr_args;     /* FETCH_AT_TRACEPOINT: arguments that there may be */
	/*
	 * In the function whose arguments have names; at a tracepoint, in one that has them behind
	 * a pointer. 0: there are none.
	 */
	uintptr_t func;
	const struct trace_event *event; /* FETCH_AT_EVENT */
};

/* A variable or a function, and an offset to it. */
struct fetch_symbol {
	struct expr_word name;
	uint64_t offset; /* modulo 2^64 */
	uint64_t addr;	 /* offset included */
	size_t bytes;	 /* of a variable; 0: not known */
};
/*
 * Find SYMBOL, SYMBOL+OFFSET or SYMBOL-OFFSET. 0; -EINVAL: it is something else; -ENOENT: there is
 * no such symbol; -EEXIST: trace_fetch_not_unique. *out has what was written then.
 */
int trace_fetch_symbol(const struct expr_word *word, struct fetch_symbol *out);
extern const char trace_fetch_not_unique[];

/*
 * Programs that are being made. The first time nothing is stored, to know how much memory it takes.
 */
struct fetch_build {
	const struct fetch_context *context;
	struct dyn_event_error *error;
	/* NULL the first time, and if there is no need. */
	struct expr_build expr; /* its program */
	struct fetch_copy *copies;
	struct fetch_copy *words; /* behind all `copies` */
	uint32_t nr_insns, nr_copies, nr_words, nr_texts;
	uint32_t bytes;		/* of the event so far, head and fields of the kind included */
	bool has_all_registers; /* others are asked for than those that hold arguments */
	uint8_t entry_args; /* FETCH_AT_RETURN: bit n: argument n, from 0, is kept from the entry */
};

#define FETCH_READS_MAX 15u

/* A read of memory at the address value + `offset`, which makes the value. */
struct fetch_read {
	int64_t offset;
	uint8_t size;
	bool is_here; /* the value is that on this CPU first */
	bool is_user; /* memory of the running program */
};

/* The origin of a value: its beginning, and the addresses that are read from there on. */
struct fetch_origin {
	struct expr_word start; /* as it is written */
	uint8_t how;		/* enum fetch_code */
	bool is_signed;
	uint16_t size;
	uint64_t operand;
	struct fetch_read reads[FETCH_READS_MAX];
	uint32_t nr_reads;
	uint32_t nr_own; /* of them, those that belong to the beginning */
	bool is_here;	 /* the last value is that on this CPU, of which nothing is read */
	bool is_word;	 /* the last read is of a word that stands for a value: of the stack */
	uint32_t arg;	 /* not 0: it is this argument, from 1, instead */
	const struct trace_event_field *field; /* not NULL: it is this one */
	uint32_t type;			       /* in the source, see types/btf.h; 0: not known */
	struct expr_word name;	  /* name of the thing with that type; of length 0 for none */
	uint32_t bits, first_bit; /* of a bit field in it; `bits` 0: it is none */
	bool has_sign;		  /* the bit field */
};

/* An argument, taken apart. */
struct fetch_parsed {
	struct expr_word name; /* behind `=`, or of length 0 */
	struct expr_word body;
	const struct fetch_type *type;
	uint32_t count;		       /* 0: no array */
	uint32_t bits, first_bit;      /* of the type; `bits` 0: all of it */
	uint32_t at;		       /* in the event */
	struct expr_word written_type; /* behind `:`, or of length 0 */
	struct fetch_origin origin;
};

/* Copy the register of that name to `at` in the event, in front of the arguments. */
void trace_fetch_add_register(struct fetch_build *build, const char *name, uint32_t at);
/*
 * Add the argument `word`. 0; -EINVAL, -ENOENT with *build->error. The caller looks at names.
 */
int trace_fetch_parse(struct fetch_build *build, const struct expr_word *word,
		      struct fetch_parsed *out);
/* Make room for steps and copies that were counted; `copies` is that of both kinds. 0 or -ENOMEM. */
int trace_fetch_create(struct fetch_build *build, const struct fetch_build *counted,
		       struct fetch_copy *copies);
/* All arguments are added: make *out ready to be run. 0 or -errno; then nothing is in it. */
int trace_fetch_finish(struct fetch_build *build, struct fetch_program *out);

/* Names of the source, set once by the feature probe_names; NULL without it. */
extern const struct fetch_names *trace_fetch_names;

#endif
