/*
 * A probe explained, for the command `why`. See probe_shell.h.
 *
 * 	int vfs_open(const char *path, uint32_t flags)
 * 	path:string from +0($arg1), const char *path
 * 	flags:u32 from $arg2, uint32_t flags
 * 	   0 PEEK_TEXT at [offset 40] + 0
 * 	   1 END
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "fetch_private.h"
#include "probe_shell.h"
#include "text/str.h"

static void probe_explain_put_word(const struct expr_word *word, struct trace_seq *seq)
{
	trace_seq_write(seq, word->at, word->len);
}

/* ---- Origins of values, written without names: +8(+0($arg1)) ---- */

static void put_start(const struct fetch_origin *origin, struct trace_seq *seq)
{
	if (origin->field)
		trace_seq_printf(seq, "$%s", origin->field->name);
	else if (origin->arg)
		trace_seq_printf(seq, "$arg%u", origin->arg);
	else
		probe_explain_put_word(&origin->start, seq);
}

/* The sign stands in front of the `u`. */
static void put_read(const struct fetch_read *read, struct trace_seq *seq)
{
	bool is_back = read->offset < 0;
	uint64_t offset = (uint64_t)read->offset;

	trace_seq_printf(seq, "%c%s%llu(", is_back ? '-' : '+', read->is_user ? "u" : "",
			 (unsigned long long)(is_back ? 0 - offset : offset));
}

static void put_origin(const struct fetch_origin *origin, struct trace_seq *seq)
{
	uint32_t nr = origin->nr_reads - origin->nr_own;
	bool is_here = origin->is_here;

	for (uint32_t i = origin->nr_reads;; i--) {
		if (is_here) {
			trace_seq_puts(seq, "this_cpu_ptr(");
			nr++;
		}
		if (i == origin->nr_own)
			break;
		is_here = origin->reads[i - 1].is_here;
		put_read(&origin->reads[i - 1], seq);
	}
	put_start(origin, seq);
	while (nr--)
		trace_seq_putc(seq, ')');
}

/* ---- Declarations of the source ---- */

static void probe_explain_put_declaration(const struct fetch_origin *origin, struct trace_seq *seq)
{
	if (origin->type) {
		trace_seq_puts(seq, ", ");
		trace_fetch_names->declare(origin, seq);
	} else if (origin->field && !origin->nr_reads) {
		trace_seq_puts(seq, ", ");
		trace_fetch_declare_field(origin->field, seq);
	}
	if (origin->bits)
		trace_seq_printf(seq, " : %u, from bit %u on", origin->bits, origin->first_bit);
}

static void probe_explain_put_type(const struct fetch_parsed *arg, struct trace_seq *seq)
{
	trace_seq_putc(seq, ':');
	if (arg->written_type.len)
		probe_explain_put_word(&arg->written_type, seq);
	else
		trace_seq_puts(seq, arg->type->name);
}

static void put_arg(const struct fetch_parsed *arg, struct trace_seq *seq)
{
	probe_explain_put_word(&arg->name, seq);
	probe_explain_put_type(arg, seq);
	trace_seq_puts(seq, " from ");
	put_origin(&arg->origin, seq);
	probe_explain_put_declaration(&arg->origin, seq);
	trace_seq_putc(seq, '\n');
}

/* ---- The whole ---- */

static TRACE_NOINLINE void probe_explain_put_args(const struct probe_definition *definition,
						  const char *args, const char *indent,
						  struct trace_seq *seq)
{
	struct fetch_build build = { .context = &definition->context, .error = definition->error };
	struct fetch_parsed arg;
	struct expr_word word;

	while ((word = trace_expr_next_word(&args, '\0')).len &&
	       !trace_fetch_parse(&build, &word, &arg)) {
		trace_seq_puts(seq, indent);
		put_arg(&arg, seq);
	}
}

/* Registers as they are need no program. */
static void put_program(const struct expr_program *program, const char *indent,
			struct trace_seq *seq)
{
	for (uint32_t i = 0; program && i < program->nr; i++) {
		trace_seq_puts(seq, indent);
		trace_fetch_show(program, i, seq);
	}
}

/* The place is looked up once more, to know the values that can be recorded there. */
void trace_probe_explain(const struct dyn_event *dyn, const char *indent, struct trace_seq *seq)
{
	const struct probe *probe = trace_probe_of(dyn);
	const char *place = trace_probe_place_text(probe);
	struct dyn_event_error error = { 0 };
	struct probe_definition definition = { .kind = trace_probe_event_of(dyn->call)->kind,
					       .error = &error,
					       .line = place,
					       .place = { place, trace_strlen(place) } };
	size_t before = seq->len;

	if (definition.kind->find(&definition))
		return; /* it has gone */
	trace_seq_puts(seq, indent);
	if (trace_fetch_names && trace_fetch_names->prototype(&definition.context, place, seq))
		trace_seq_putc(seq, '\n');
	else
		seq->len = before;
	probe_explain_put_args(&definition, trace_probe_args_text(probe), indent, seq);
	put_program(probe->program.steps, indent, seq);
}
