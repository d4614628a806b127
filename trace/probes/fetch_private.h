/* Shared declarations of the files that make programs. See fetch.h. */
#ifndef FETCH_PRIVATE_H
#define FETCH_PRIVATE_H

#include <trace/errno.h>
#include "fetch.h"
#include "fetch_step.h"

struct btf_func;
struct dyn_event_completion;

/* An argument that is being read. */
struct fetch_parse {
	struct fetch_build *build;
	struct fetch_origin *origin;
	/* Type of the argument's beginning, for an argument without a written type; or NULL. */
	const struct fetch_type *own_type;
	uint32_t nr_casts; /* whose value is being read, one in the other */
	/* For a name of the source: its type, see types/btf.h, or 0; and the last name. */
	uint32_t btf;
	const char *btf_at;
};

/*
 * Functions for names of the source; NULL in a build without types. All return 0, or -errno after
 * blaming.
 */
struct fetch_names {
	/*
	 * Add the steps that fetch the argument, or members of the struct it points to:
	 * NAME[->MEMBER].
	 */
	int (*argument)(struct fetch_parse *parse, const struct expr_word *word);
	/*
	 * $retval, $current: the value is there, and gets its type; members behind it are fetched.
	 */
	int (*result)(struct fetch_parse *parse, const struct expr_word *word);
	int (*thread)(struct fetch_parse *parse, const struct expr_word *word);
	/*
	 * The value is the address of a struct, or of a member that is in it: STRUCT[,MEMBER].
	 * Fetch the `members` of that.
	 */
	int (*cast)(struct fetch_parse *parse, const struct expr_word *type,
		    const struct expr_word *members);
	/* It is to be shown as a text. */
	int (*text)(struct fetch_parse *parse);
	/* The name of argument number `n`, from 0; "" if it has none; NULL: it is not known. */
	const char *(*name_of)(const struct fetch_context *context, uint32_t n);
	/* The number of arguments, or -ENOENT when it is unknown. */
	int (*count)(const struct fetch_context *context);
	/*
	 * Write the declaration of the function, or of the tracepoint `name`; false: it is not
	 * known.
	 */
	bool (*prototype)(const struct fetch_context *context, const char *name,
			  struct trace_seq *seq);
	/* Write the declaration of the thing with the type origin->type. */
	void (*declare)(const struct fetch_origin *origin, struct trace_seq *seq);
	/*
	 * Offer words for the place `at`: arguments; structs; members of the struct `type`, or of
	 * the struct that a pointer of that type points to.
	 */
	void (*offer_arguments)(const struct dyn_event_completion *completion, const char *at,
				const struct fetch_context *context);
	void (*offer_structs)(const struct dyn_event_completion *completion, const char *at);
	void (*offer_members)(const struct dyn_event_completion *completion, const char *at,
			      uint32_t type, bool is_pointer);
	/* The struct, or union, that is called so; 0: there is none. */
	uint32_t (*find_struct)(const struct expr_word *name);
	/* Is `type` that of a pointer to the struct `name`? */
	bool (*points_to)(uint32_t type, const char *name);
};

/* fetch_complete.c: for the table above; arguments of `func` from number `first` on. */
void trace_fetch_offer_arguments(const struct dyn_event_completion *completion, const char *at,
				 const struct btf_func *func, uint32_t first);
void trace_fetch_offer_structs(const struct dyn_event_completion *completion, const char *at);
void trace_fetch_offer_members(const struct dyn_event_completion *completion, const char *at,
			       uint32_t type, bool is_pointer);
bool trace_fetch_points_to(uint32_t type, const char *name);

/* Returns `err`; -EINVAL. */
int trace_fetch_blame(const struct fetch_parse *parse, const char *at, const char *why, int err);
int trace_fetch_refuse(const struct fetch_parse *parse, const char *at, const char *why);
/* fetch_program.c: add the steps, or the copy, of an argument. */
void trace_fetch_add(struct fetch_build *build, const struct fetch_parsed *arg);

/* Is it a text that is no memory? */
static inline bool fetch_is_own_text(const struct fetch_origin *origin)
{
	return origin->how == FETCH_LITERAL || origin->how == FETCH_COMM;
}

/* Does it end with a read? */
static inline bool fetch_is_read(const struct fetch_origin *origin)
{
	return origin->nr_reads && !origin->is_here;
}

/*
 * Read `size` bytes of memory there, which is all of the program's or of any; the caller knows that
 * there are not too many reads.
 */
static inline void fetch_add_read(struct fetch_parse *parse, int64_t offset, uint32_t size)
{
	struct fetch_origin *origin = parse->origin;

	origin->reads[origin->nr_reads++] =
		(struct fetch_read){ .offset = offset,
				     .size = (uint8_t)size,
				     .is_here = origin->is_here,
				     .is_user = parse->build->context->is_user };
	origin->is_here = false;
	origin->is_word = false;
}

/* Add a read of `size` bytes there, unless there are too many steps: -EINVAL after blaming `at`. */
int trace_fetch_read(struct fetch_parse *parse, int64_t offset, uint32_t size, const char *at);
/* Fetch argument `n`, from 1, as a word; `word` is blamed if there is none. */
int trace_fetch_argument(struct fetch_parse *parse, const struct expr_word *word, uint64_t n);

/* fetch_field.c: fetch the field of the event; false: it has none of that name. */
bool trace_fetch_field(struct fetch_parse *parse, const struct expr_word *name);
/* Its declaration in C; of one whose length is not fixed, with empty brackets. */
void trace_fetch_declare_field(const struct trace_event_field *field, struct trace_seq *seq);

/* fetch_cast.c: fetch a member of the struct a value points to: (STRUCT[,MEMBER])VALUE->MEMBER. */
int trace_fetch_cast(struct fetch_parse *parse, const struct expr_word *word);

/*
 * fetch_named.c: the value is the address of a file, or of a name, as `type` says: add the reads up to
 * the text. 0, or -errno after blaming the value, or the type, which is written at `at`.
 */
int trace_fetch_named(struct fetch_parse *parse, const struct fetch_type *type, const char *at);

/*
 * fetch_symbol.c: the last @ of a value that the first colon of its argument has cut off, if no
 * variable has the name behind it: the beginning of @MODULE:SYMBOL. NULL: it is something else.
 */
const char *trace_fetch_module(const struct expr_word *value);

/* fetch_value.c: fetch the beginning of a value. 0 or -errno after blaming. */
int trace_fetch_start(struct fetch_parse *parse, const struct expr_word *word);

/* fetch_around.c: does it begin with this_cpu_read() or this_cpu_ptr()? */
bool trace_fetch_is_per_cpu(const struct expr_word *word);
/* fetch_around.c: the steps that set the value which `word` names. 0 or -errno after blaming. */
int trace_fetch_value(struct fetch_parse *parse, const struct expr_word *word);

#endif
