/*
 * Arguments of traced calls become part of events. See call_args.h.
 */
#include <trace/errno.h>
#include <trace/trace_seq.h>
#include "call_args.h"
#include "print/output.h"
#include "text/str.h"

#define PIECE 64u /* memory can be read or not in pieces of this size at least */

struct trace_call_codes *_Atomic trace_call_codes;
const struct call_types *trace_call_types;

/* Copy the text at `from`, ended by a NUL, to `to`. Returns its bytes with the NUL. */
static uint32_t call_args_copy_text(char *to, uintptr_t from)
{
	uint32_t len = 0;

	while (len < CALL_TEXT_MAX) {
		uint32_t step = PIECE - (uint32_t)((from + len) % PIECE), got;

		if (step > CALL_TEXT_MAX - len)
			step = CALL_TEXT_MAX - len;
		if (!trace_plat_read(to + len, (const void *)(from + len), step)) {
			to[len++] = CALL_TEXT_LOST;
			break;
		}
		got = (uint32_t)trace_strnlen(to + len, step);
		len += got;
		if (got < step)
			break;
	}
	to[len] = '\0';
	return len + 1;
}

void trace_call_args_get(const struct ftrace_regs *fregs, uint32_t code, struct call_args *out)
{
	uint32_t texts = CALL_TEXTS(code);

	out->nr = call_nr_args(code);
	out->text_bytes = 0;
	for (uint32_t i = 0; i < out->nr; i++) {
		out->values[i] = ftrace_regs_get_argument(fregs, i);
		if (texts >> i & 1)
			out->text_bytes += call_args_copy_text(out->text + out->text_bytes,
							       (uintptr_t)out->values[i]);
	}
	while (out->text_bytes % 4) /* as events are */
		out->text[out->text_bytes++] = '\0';
}

void trace_call_args_put(const struct call_args *args, struct trace_args_part *part,
			 uint32_t offset)
{
	part->args = trace_args_loc(offset, args->nr);
	part->text = trace_text_loc(offset, args->nr, args->text_bytes);
	memcpy(part->values, args->values, args->nr * sizeof(args->values[0]));
	memcpy(part->values + args->nr, args->text, args->text_bytes);
}

/* ---- Out of events ---- */

static bool call_args_is_inside(const struct trace_iter *iter, uint32_t loc)
{
	return (loc & 0xffff) + (loc >> 16) <= iter->event.len;
}

bool trace_call_recorded_find(const struct trace_iter *iter, uint32_t offset,
			      struct call_recorded *out)
{
	const uint8_t *data = iter->event.data;
	struct trace_args_part part;

	if (offset + sizeof(part) > iter->event.len)
		return false;
	memcpy(&part, data + offset, sizeof(part));
	if (!call_args_is_inside(iter, part.args) || !call_args_is_inside(iter, part.text))
		return false;
	out->values = data + (part.args & 0xffff);
	out->nr = (part.args >> 16) / 8;
	out->text = (const char *)data + (part.text & 0xffff);
	out->text_left = part.text >> 16;
	return true;
}

uint64_t trace_call_recorded_value(const struct call_recorded *recorded, uint32_t nr)
{
	uint64_t value;

	memcpy(&value, recorded->values + nr * sizeof(value), sizeof(value));
	return value;
}

void trace_call_print_raw(const struct trace_iter *iter, struct trace_seq *seq, uint32_t offset)
{
	struct call_recorded recorded;

	if (!trace_call_recorded_find(iter, offset, &recorded))
		return;
	for (uint32_t i = 0; i < recorded.nr; i++)
		trace_seq_printf(seq, " %llx",
				 (unsigned long long)trace_call_recorded_value(&recorded, i));
}

void trace_call_print_hex(const struct trace_iter *iter, struct trace_seq *seq, uint32_t offset)
{
	struct call_recorded recorded;

	if (!trace_call_recorded_find(iter, offset, &recorded))
		return;
	for (uint32_t i = 0; i < recorded.nr; i++)
		trace_seq_hex(seq, trace_call_recorded_value(&recorded, i), sizeof(uint64_t));
}

void trace_call_print_binary(const struct trace_iter *iter, struct trace_seq *seq, uint32_t offset)
{
	struct call_recorded recorded;

	if (trace_call_recorded_find(iter, offset, &recorded))
		trace_seq_write(seq, recorded.values, recorded.nr * sizeof(uint64_t));
}

int trace_call_args_prepare(void)
{
	return trace_call_types ? trace_call_types->prepare() : -EOPNOTSUPP;
}
