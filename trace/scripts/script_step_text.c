/* Steps about texts and stacks: see script_step.h. */
#include <trace/platform.h>
#include <trace/platform_events.h>
#include "events/event_stack.h"
#include "expr/expr_memory.h"
#include "instance/entry.h"
#include "instance/stacktrace.h"
#include "script_step.h"
#include "script_target.h"
#include "script_user.h"
#include "text/str.h"

#define SCRIPT_OWN_FRAMES 16u /* of the run, in front of a stack */

/* ---- Texts and stacks ---- */

/* A text with zeros up to `bytes`, of which the last byte stays one. */
static void script_step_put(uint8_t *to, uint64_t bytes, const char *text)
{
	uint64_t i = 0;

	for (; i + 1 < bytes && text[i]; i++)
		to[i] = (uint8_t)text[i];
	memset(to + i, 0, bytes - i);
}

/* A word of a text, with zeros behind its NUL, if it has one. */
static uint64_t script_step_cut(uint64_t word, bool *out_has_end)
{
	uint64_t zeros = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;

	*out_has_end = zeros;
	/* The lowest bit that is set is in the first zero; bits in front of it are the text. */
	return zeros ? word & (((zeros & (0 - zeros)) >> 7) - 1) : word;
}

static TRACE_NOINLINE void script_step_put_comm(uint64_t *to)
{
	bool has_end;

	trace_plat_current_comm((char *)to);
	to[0] = script_step_cut(to[0], &has_end);
	to[1] = has_end ? 0 : script_step_cut(to[1], &has_end);
}

void trace_script_step_comm(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint64_t *to = script_step_word(expr, insn->offset);

	script_step_put_comm(to);
	for (uint64_t i = TRACE_COMM_LEN / 8; i < insn->own.words[0] / 8; i++)
		to[i] = 0;
	expr_next(expr, insn, value);
}

static bool script_step_is_event(const struct script_hit *hit)
{
	return hit->probe->kind == SCRIPT_EVENT;
}

/* The name of the event, tracepoint or marker; NULL: the probe is at something else. */
static const char *script_step_name_of(const struct script_hit *hit)
{
	if (script_step_is_event(hit))
		return hit->tap->name;
	return hit->probe->kind == SCRIPT_RAW || hit->probe->kind == SCRIPT_USDT ? hit->name : NULL;
}

static TRACE_NOINLINE void script_step_put_probe(const struct script_hit *hit, uint8_t *to,
						 uint64_t bytes)
{
	const char *other = script_step_name_of(hit);
	const struct script_probe *probe = hit->probe;
	char name[sizeof(probe->name) + TRACE_SYM_LEN];
	uintptr_t start;
	size_t size, len = trace_strlen(probe->name);

	trace_strcpy(name, probe->name, sizeof(probe->name));
	if (probe->nr > 1 && !other)
		(void)trace_plat_symbol(hit->ip, name + len, &start, &size);
	script_step_put(to, bytes, other ? other : name);
}

void trace_script_step_probe(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_run *run = script_step_run(expr);

	script_step_put_probe(&run->hit, run->bytes + insn->offset, insn->own.words[0]);
	expr_next(expr, insn, value);
}

void trace_script_step_text(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_put(script_step_run(expr)->bytes + insn->offset, insn->own.words[0],
			insn->own.data);
	expr_next(expr, insn, value);
}

void trace_script_step_copy(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint8_t *bytes = script_step_run(expr)->bytes;
	uint32_t there = (uint32_t)insn->own.words[1], here = (uint32_t)(insn->own.words[1] >> 32);
	uint32_t common = there < here ? there : here;

	memmove(bytes + insn->offset, bytes + insn->own.words[0], common);
	memset(bytes + insn->offset + common, 0, here - common);
	expr_next(expr, insn, value);
}

/* Copy a text at any address, up to `max` characters; what cannot be read ends it. */
static TRACE_NOINLINE void script_step_read_text(uint8_t *to, uint64_t bytes, uint64_t from,
						 uint64_t max)
{
	uint64_t i = 0, word;

	while (i < max && expr_number_at(&word, from & ~7ull, 8)) {
		uint32_t skipped = (uint32_t)(from % 8);

		from += 8 - skipped;
		for (word >>= 8 * skipped; skipped < 8 && i < max && (word & 0xff);
		     skipped++, word >>= 8)
			to[i++] = (uint8_t)word;
		if (skipped < 8)
			break;
	}
	memset(to + i, 0, bytes - i);
}

void trace_script_step_str(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_read_text(script_step_run(expr)->bytes + insn->offset, insn->own.words[0],
			      value, insn->own.words[1]);
	expr_next(expr, insn, value);
}

static TRACE_NOINLINE void script_step_join_texts(uint8_t *to, uint64_t from, const char *between)
{
	uint32_t at = 0;
	uint64_t text;

	memset(to, 0, SCRIPT_JOIN_BYTES);
	for (uint32_t i = 0; i < SCRIPT_JOIN_TEXTS && at + 1 < SCRIPT_JOIN_BYTES; i++) {
		if (!expr_number_at(&text, from + 8ull * i, 8) || !text)
			break;
		if (i)
			script_step_put(to + at, SCRIPT_JOIN_BYTES - at, between);
		at += (uint32_t)trace_strlen((const char *)to + at);
		script_step_read_text(to + at, SCRIPT_JOIN_BYTES - at, text,
				      SCRIPT_JOIN_BYTES - at - 1);
		at += (uint32_t)trace_strlen((const char *)to + at);
	}
}

void trace_script_step_join(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_join_texts(script_step_run(expr)->bytes + insn->offset, value, insn->own.data);
	expr_next(expr, insn, value);
}

/* The bytes at `from`, zeros behind; fewer where they cannot be read. Returns how many. */
static TRACE_NOINLINE uint64_t script_step_read_bytes(uint8_t *to, uint64_t room, uint64_t from,
						      uint64_t nr)
{
	uint64_t i = 0, byte;

	for (; i < nr && expr_number_at(&byte, from + i, 1); i++)
		to[i] = (uint8_t)byte;
	memset(to + i, 0, room - i);
	return i;
}

void trace_script_step_buf(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint64_t *len = script_step_word(expr, insn->offset);
	uint64_t max = insn->own.words[1];

	*len = script_step_read_bytes((uint8_t *)&len[1], insn->own.words[0], value,
				      *len < max ? *len : max);
	expr_next(expr, insn, value);
}

/* A text of an event: the place of its characters; false: a pointer to it instead. */
static bool script_step_field_place(const struct expr_run *event,
				    const struct trace_event_field *field, uint32_t *out_at,
				    uint32_t *out_bytes)
{
	uint32_t word = 0;

	*out_at = field->offset;
	*out_bytes = field->size ? field->size : event->len - field->offset;
	if (field->kind != TRACE_FIELD_PLAIN) {
		memcpy(&word, event->data + field->offset, sizeof(word));
		*out_at = (word & 0xffff) + (field->kind == TRACE_FIELD_REL_LOC
						     ? field->offset + (uint32_t)sizeof(word)
						     : 0);
		*out_bytes = word >> 16;
	}
	return field->filter_type != FILTER_PTR_STRING;
}

static TRACE_NOINLINE void script_step_take_field(const struct expr_run *event,
						  const struct trace_event_field *field,
						  uint8_t *to, uint32_t room)
{
	uint32_t at, bytes;

	if (!script_step_field_place(event, field, &at, &bytes)) {
		script_step_read_text(to, room, expr_load8(event->data, field->offset), room - 1);
		return;
	}
	if (at > event->len || bytes > event->len - at)
		bytes = 0;
	if (bytes > room - 1)
		bytes = room - 1;
	memcpy(to, event->data + at, bytes);
	to[bytes] = '\0';
	bytes = (uint32_t)trace_strlen((const char *)to);
	memset(to + bytes, 0, room - bytes);
}

void trace_script_step_field(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_take_field(expr, insn->own.data, script_step_run(expr)->bytes + insn->offset,
			       (uint32_t)insn->own.words[0]);
	expr_next(expr, insn, value);
}

/* The start of a stack: the function, the caller that it returns to, or the place of the event. */
static struct trace_stack_start script_step_start(const struct script_run *run)
{
	const struct script_hit *hit = &run->hit;

	if (script_step_is_event(hit))
		return trace_event_stack_start(hit->tap->call, run->expr.data, hit->ip);
	if (script_is_of_program(hit->probe->kind))
		return (struct trace_stack_start){ 0 };
	return (struct trace_stack_start){
		.ip = hit->probe->kind == SCRIPT_RETURN ? hit->ret_ip : hit->ip,
		.span = TRACE_EVENT_PLACE_SPAN,
	};
}

/* Two at a time: a stack has ten or so. */
static TRACE_ALWAYS_INLINE void script_step_unpack(uint64_t *to, const uint32_t *ips, uint32_t nr)
{
	uint32_t i = nr % 2;

	if (i)
		to[0] = trace_plat_ip_unpack(ips[0]);
	for (; i < nr; i += 2) {
		to[i] = trace_plat_ip_unpack(ips[i]);
		to[i + 1] = trace_plat_ip_unpack(ips[i + 1]);
	}
}

/* Up to `max` addresses. Returns how many. */
static TRACE_NOINLINE uint32_t script_step_walk(const struct script_run *run, uint64_t *to,
						uint32_t max)
{
	uint32_t ips[SCRIPT_OWN_FRAMES + SCRIPT_STACK_DEPTH], nr, at;
	const struct trace_stack_start start = script_step_start(run);

	if (!start.ip)
		return 0;
	nr = (uint32_t)trace_plat_backtrace((uintptr_t)__builtin_frame_address(0), false, ips,
					    SCRIPT_OWN_FRAMES + max);
	at = (uint32_t)trace_stacktrace_find(ips, nr, &start);
	nr = nr > at ? nr - at : 0;
	nr = nr < max ? nr : max;
	script_step_unpack(to, ips + at, nr);
	return nr;
}

void trace_script_step_kstack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint64_t *to = script_step_word(expr, insn->offset);
	uint32_t nr = script_step_walk(script_step_run(expr), to, (uint32_t)insn->own.words[0]);

	if (insn->own.words[1])
		memset(to + nr, 0, insn->own.words[1] - sizeof(*to) * nr);
	else
		to[nr] = 0;
	expr_next(expr, insn, value);
}

static TRACE_NOINLINE void script_step_put_ustack(uint64_t *to, uint64_t max)
{
	uint64_t callers[TRACE_USER_STACK_MAX];
	uint32_t tgid, nr = trace_userstack_get(&tgid, callers);

	for (uint32_t i = 0; i < nr && i < max; i++)
		to[i] = script_user_pack(callers[i], tgid);
}

void trace_script_step_ustack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint64_t *to = script_step_word(expr, insn->offset);

	memset(to, 0, insn->own.words[1]);
	script_step_put_ustack(to, insn->own.words[0]);
	expr_next(expr, insn, value);
}
