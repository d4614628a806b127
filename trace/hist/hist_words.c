/* Histograms: texts and stacks, which take several words. See hist.h, hist_run.h. */
#include "hist_words.h"
#include "hist_user.h"
#include "events/event_stack.h"

#define OWN_FRAMES 16u /* most frames between a probe and this file */

/* ---- Texts ---- */

static uint32_t hist_words_put_text(uint64_t *to, const char *text, uint32_t len)
{
	uint64_t hash = 0;

	return hist_put_text(to, text, len, &hash);
}

/* Write the text of a field, which may reach to the end of the event. */
static uint32_t put_fixed_text(const struct hist_run *run, const struct expr_insn *insn,
			       uint64_t *to)
{
	uint32_t len = insn->with.size;

	if (insn->place == EXPR_PLACE_REST)
		len = run->hit->bytes > insn->offset ? run->hit->bytes - insn->offset : 1;
	if (len > HIST_TEXT_MAX)
		len = HIST_TEXT_MAX;
	return hist_words_put_text(to, (const char *)run->expr.data + insn->offset, len - 1);
}

/*
 * A text or an array behind the event's fixed part, with its length cut to the event's end. The
 * head of the event is in front of it.
 */
static const void *data_of(const struct hist_run *run, const struct expr_insn *insn,
			   uint32_t *out_len)
{
	const char *entry = (const char *)run->expr.data;
	uint32_t place, at;

	__builtin_memcpy(&place, entry + insn->offset, sizeof(place));
	at = place & 0xffff;
	if (insn->place == EXPR_PLACE_REL)
		at += insn->offset + (uint32_t)sizeof(place);
	*out_len = at < sizeof(struct trace_entry) ? 0 : place >> 16;
	if (at > run->hit->bytes)
		at = run->hit->bytes;
	if (*out_len > run->hit->bytes - at)
		*out_len = run->hit->bytes - at;
	return entry + at;
}

static uint32_t put_data_text(const struct hist_run *run, const struct expr_insn *insn,
			      uint64_t *to)
{
	uint32_t len;
	const char *text = data_of(run, insn, &len);

	return hist_words_put_text(to, text, len < HIST_TEXT_MAX ? len : HIST_TEXT_MAX - 1);
}

/* Write a text at an address; the memory in front of it may be unreadable. */
static uint32_t put_pointer_text(const struct hist_run *run, const struct expr_insn *insn,
				 uint64_t *to)
{
	static const char null[8 + 8] = "        (null)";
	char copy[8 + HIST_TEXT_MAX];
	const char *text;
	uint32_t len = 0;

	__builtin_memcpy(&text, (const char *)run->expr.data + insn->offset, sizeof(text));
	if (!text)
		return hist_words_put_text(to, null + 8, 6);
	for (; len < HIST_TEXT_MAX - 1 && text[len]; len++)
		copy[8 + len] = text[len];
	return hist_words_put_text(to, copy + 8, len);
}

uint32_t trace_hist_put_comm(uint64_t *to)
{
	char comm[TRACE_COMM_LEN];

	trace_plat_current_comm(comm);
	return hist_words_put_text(to, comm, sizeof(comm) - 1);
}

/* ---- Stacks: packed addresses, and a 0 behind the last ---- */

static uint32_t put_ips(uint64_t *to, const uint32_t *ips, uint32_t nr)
{
	uint32_t nr_words = nr / 2 + 1;

	for (; nr >= 2; nr -= 2, ips += 2)
		*to++ = ips[0] | (uint64_t)ips[1] << 32;
	*to = nr ? ips[0] : 0;
	return nr_words;
}

static TRACE_NOINLINE uint32_t hist_words_put_stack(const struct hist_run *run, uint64_t *to)
{
	uint32_t ips[OWN_FRAMES + HIST_STACK_MAX];
	uint32_t nr =
		(uint32_t)trace_plat_backtrace(run->frame, false, ips, OWN_FRAMES + HIST_STACK_MAX);
	struct trace_stack_start start =
		trace_event_stack_start(run->hit->file->call, run->hit->entry, run->hit->caller);
	uint32_t first;

	/* Frames of a probe: the probe, the function that calls all probes, the tracepoint. */
	if (!trace_event_has_place(run->hit->file->call))
		start.skip = 2;
	first = (uint32_t)trace_stacktrace_find(ips, nr, &start);
	first = first < nr ? first : 0;
	nr = start.ip ? nr - first : 0;
	return put_ips(to, &ips[first], nr < HIST_STACK_MAX ? nr : HIST_STACK_MAX);
}

static uint32_t put_data_stack(const struct hist_run *run, const struct expr_insn *insn,
			       uint64_t *to)
{
	uint32_t ips[HIST_STACK_MAX], len, nr = 0;
	const char *data = data_of(run, insn, &len);
	uint64_t ip;

	for (; nr < HIST_STACK_MAX && len >= sizeof(ip); data += sizeof(ip), len -= 8) {
		__builtin_memcpy(&ip, data, sizeof(ip));
		if (!ip)
			break;
		ips[nr++] = trace_plat_ip_pack((uintptr_t)ip);
	}
	return put_ips(to, ips, nr);
}

/* Write the words of a variable, to which another CPU may be giving a new value at this moment. */
static uint32_t hist_words_put(const struct hist_run *run, const struct expr_insn *insn,
			       uint64_t *to)
{
	const struct hist_entry *entry = (const struct hist_entry *)(uintptr_t)run->refs[insn->to];

	for (uint32_t i = 0; i < insn->with.len; i++)
		to[i] = hist_entry_word(entry, insn->offset + i);
	return insn->with.len;
}

uint32_t trace_hist_compute_words(const struct hist_run *run, const struct expr_insn *insn,
				  uint64_t *to)
{
	switch (insn->place) {
	case EXPR_PLACE_FIELD:
	case EXPR_PLACE_REST:
		return put_fixed_text(run, insn, to);
	case EXPR_PLACE_LOC:
	case EXPR_PLACE_REL:
		return put_data_text(run, insn, to);
	case EXPR_PLACE_POINTER:
		return put_pointer_text(run, insn, to);
	case EXPR_PLACE_COMM:
		return trace_hist_put_comm(to);
	case HIST_PLACE_STACK:
		return hist_words_put_stack(run, to);
	case HIST_PLACE_USER_STACK:
		return trace_hist_user_put(to);
	case HIST_PLACE_DATA_STACK:
		return put_data_stack(run, insn, to);
	default: /* HIST_PLACE_REF */
		return hist_words_put(run, insn, to);
	}
}
