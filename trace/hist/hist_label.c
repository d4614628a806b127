/* Keys of histograms as short texts. See hist_label.h. */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "hist_label.h"
#include "hist_user.h"
#include "print/output.h"
#include "text/str.h"

/* Print a text, with `?` for characters that are not printable. */
static void label_text(const char *text, struct trace_seq *seq)
{
	for (; *text; text++)
		trace_seq_putc(seq, *text >= ' ' && *text <= '~' ? *text : '?');
}

/* Print the name of an address, up to the character `end` if the name has one. */
static void label_address(const char *format, uint64_t address, char end, struct trace_seq *seq)
{
	char text[TRACE_SYM_LEN + 48];

	(void)trace_snprintf(text, sizeof(text), format, (void *)(uintptr_t)address);
	for (char *at = text; *at; at++) {
		if (*at == end)
			*at = '\0';
	}
	label_text(text, seq);
}

/* ---- Stacks ---- */

uint32_t trace_hist_stack_depth(const struct hist_value *key, const uint64_t *words)
{
	const uint32_t *ips = (const void *)words;
	uint32_t nr = 0;

	if (key->kind == HIST_USER_STACK)
		return ((const struct hist_user_stack *)(const void *)words)->nr;
	while (nr < HIST_STACK_MAX && ips[nr])
		nr++;
	return nr;
}

static const char *last_name_of(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		name = *path == '/' ? path + 1 : name;
	return name;
}

/* Print the function of a program; or its file, and how far from the start of the mapping; or the address. */
static void label_user_frame(const struct hist_user_stack *stack, uint32_t index,
			     struct trace_seq *seq)
{
	uint64_t ip = stack->callers[index];
	struct trace_plat_user_place place;

	if (!trace_user_place(stack->tgid, ip, index > 0, &place)) {
		trace_seq_printf(seq, "0x%llx", (unsigned long long)ip);
	} else if (place.function[0]) {
		label_text(place.function, seq);
	} else {
		label_text(last_name_of(place.path), seq);
		trace_seq_printf(seq, "+0x%llx", (unsigned long long)place.offset);
	}
}

void trace_hist_label_frame(const struct hist_value *key, const uint64_t *words, uint32_t index,
			    struct trace_seq *seq)
{
	const uint32_t *ips = (const void *)words;

	if (key->kind == HIST_USER_STACK)
		label_user_frame((const void *)words, index, seq);
	else
		label_address("%pB", trace_plat_ip_unpack(ips[index]), '+', seq);
}

/* ---- Keys that are no stacks ---- */

void trace_hist_label_power(uint64_t exponent, struct trace_seq *seq)
{
	static const char units[] = "KMGTPE";

	trace_seq_printf(seq, "%u", 1u << exponent % 10);
	if (exponent >= 10 && exponent < 70)
		trace_seq_putc(seq, units[exponent / 10 - 1]);
}

/* Print the value that `hist` shows as ~ 2^N; values were rounded up to it. */
static void label_log2(uint64_t exponent, struct trace_seq *seq)
{
	trace_seq_putc(seq, exponent ? '(' : '[');
	if (exponent)
		trace_hist_label_power(exponent - 1, seq);
	trace_seq_puts(seq, exponent ? ", " : "0, ");
	trace_hist_label_power(exponent, seq);
	trace_seq_putc(seq, ']');
}

void trace_hist_label_number(const struct hist_value *key, uint64_t number, struct trace_seq *seq)
{
	unsigned long long value = number;

	switch (key->modifier) {
	case HIST_HEX:
		trace_seq_printf(seq, "0x%llx", value);
		break;
	case HIST_SYM:
		label_address("%ps", number, '\0', seq);
		break;
	case HIST_SYM_OFFSET:
		label_address("%pS", number, '/', seq);
		break;
	case HIST_LOG2:
		label_log2(number, seq);
		break;
	case HIST_BUCKETS:
		trace_seq_printf(seq, "%llu-%llu", value,
				 value + (unsigned long long)key->buckets - 1);
		break;
	default:
		trace_seq_printf(seq, key->is_signed ? "%lld" : "%llu", value);
	}
}

void trace_hist_label(const struct hist *hist, const uint64_t *entry, uint32_t index,
		      struct trace_seq *seq)
{
	const struct hist_value *key = &hist->keys[index];
	const uint64_t *words = trace_hist_key_at(hist, entry, index);

	if (key->kind == HIST_TEXT) {
		label_text((const char *)words, seq);
	} else if (key->modifier == HIST_EXECNAME) {
		label_text((const char *)(entry + 1 + hist->comm_at), seq);
		trace_seq_printf(seq, "-%lld", (long long)*words);
	} else {
		trace_hist_label_number(key, *words, seq);
	}
}

void trace_hist_label_name(const struct hist_value *key, struct trace_seq *seq)
{
	trace_seq_puts(seq, key->name);
	if (key->modifier == HIST_USECS)
		trace_seq_puts(seq, ".usecs");
}

/* Is this a field of a CPU: common_cpu, cpu, target_cpu and the like? */
static bool is_cpu(const char *name)
{
	size_t len = trace_strlen(name);

	return len >= 3 && trace_streq(name + len - 3, "cpu") && (len == 3 || name[len - 4] == '_');
}

bool trace_hist_is_scale(const struct hist_value *key)
{
	if (key->modifier == HIST_LOG2 || key->modifier == HIST_BUCKETS)
		return true;
	return key->kind == HIST_NUMBER && key->modifier == HIST_PLAIN && !key->is_expression &&
	       is_cpu(key->name);
}

bool trace_hist_is_number(const struct hist_value *key)
{
	return key->kind == HIST_NUMBER && key->modifier != HIST_EXECNAME &&
	       key->modifier != HIST_SYM && key->modifier != HIST_SYM_OFFSET;
}
