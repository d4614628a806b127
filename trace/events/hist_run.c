/*
 * Histograms: what happens at each event. See hist.h, hist_run.h.
 */
#include "hist_run.h"
#include "event_file.h"
#include "text/str.h"

#define LOW_BITS   0x0101010101010101u
#define HIGH_BITS  0x8080808080808080u
#define OWN_FRAMES 12u /* at most, between a probe and us */

/* ---- Numbers ---- */

static TRACE_ALWAYS_INLINE uint64_t high_product(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* value / divisor, where magic is 2^64 / divisor, rounded down. */
static TRACE_ALWAYS_INLINE uint64_t divide(uint64_t value, uint64_t divisor, uint64_t magic)
{
	uint64_t quotient;

	if (TRACE_UNLIKELY(divisor == 1))
		return value;
	quotient = high_product(value, magic);
	return quotient + (value - quotient * divisor >= divisor);
}

static TRACE_NOINLINE uint64_t now_of(struct hist_run *run)
{
	if (!run->has_now)
		run->now = run->hist->clock ? run->hist->clock() : trace_plat_clock_ns();
	run->has_now = true;
	return run->now;
}

/* Of Linux: rounded up, and 0 for 0. */
static uint64_t log2_of(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

/* Operations that are not the fields of an event. */
static TRACE_NOINLINE uint64_t compute_other(struct hist_run *run, const struct hist_op *op,
					     uint64_t value)
{
	switch (op->code) {
	case HIST_OP_CONST:
		return op->value;
	case HIST_OP_TIME:
		return now_of(run);
	case HIST_OP_LOG2:
		return log2_of(value);
	case HIST_OP_SAVE:
		run->temps[op->to] = value;
		return value;
	case HIST_OP_ADD:
		return run->temps[op->to] + value;
	case HIST_OP_SUB:
		return run->temps[op->to] - value;
	case HIST_OP_MUL:
		return run->temps[op->to] * value;
	case HIST_OP_DIV:
		return value ? run->temps[op->to] / value : UINT64_MAX;
	case HIST_OP_NEG:
		return 0 - value;
	case HIST_OP_REF:
		return run->refs[op->to];
	case HIST_OP_VAR:
		return run->vars[op->to];
	default:
		return 0;
	}
}

/* Fields are aligned to 4 at most, as events are. */
#define FIELD(type)                                                                                \
	({                                                                                         \
		type field_;                                                                       \
		__builtin_memcpy(&field_, (const char *)run->hit->entry + op->offset,              \
				 sizeof(field_));                                                  \
		field_;                                                                            \
	})

/* Operations of which a key or a value often has nothing else. */
static TRACE_ALWAYS_INLINE uint64_t compute_field(struct hist_run *run, const struct hist_op *op,
						  uint64_t value)
{
	switch (op->code) {
	case HIST_OP_U8:
		return FIELD(uint8_t);
	case HIST_OP_U16:
		return FIELD(uint16_t);
	case HIST_OP_U32:
		return FIELD(uint32_t);
	case HIST_OP_U64:
		return FIELD(uint64_t);
	case HIST_OP_S8:
		return (uint64_t)FIELD(int8_t);
	case HIST_OP_S16:
		return (uint64_t)FIELD(int16_t);
	case HIST_OP_S32:
		return (uint64_t)FIELD(int32_t);
	case HIST_OP_PID:
		return (uint64_t)trace_plat_current_pid();
	case HIST_OP_CPU:
		return trace_plat_cpu_id();
	case HIST_OP_ADDRESS:
		return trace_plat_ip_unpack((uint32_t)value);
	case HIST_OP_ROUND:
		return divide(value, op->value, op->magic) * op->value;
	case HIST_OP_DIVIDE:
		return divide(value, op->value, op->magic);
	default:
		return compute_other(run, op, value);
	}
}

static TRACE_ALWAYS_INLINE uint64_t compute(struct hist_run *run, const struct hist_op *op)
{
	uint64_t value = compute_field(run, op, 0);

	while (TRACE_UNLIKELY(!op->is_last))
		value = compute_field(run, ++op, value);
	return value;
}

uint64_t hist_compute(struct hist_run *run, const struct hist_op *op)
{
	return compute(run, op);
}

/* ---- Texts ---- */

/*
 * Write a text of at most `len` bytes, behind which `spare` bytes may be read, too, as words, with
 * zeros behind its end. Returns how many words; the last one has a zero byte.
 */
static TRACE_ALWAYS_INLINE uint32_t put_text(uint64_t *to, const char *text, uint32_t len,
					     uint32_t spare)
{
	uint32_t nr = 0;

	for (; len + spare >= 8; text += 8, len -= 8) {
		uint64_t word, zeros;

		__builtin_memcpy(&word, text, 8);
		if (len < 8)
			word &= ((uint64_t)1 << len * 8) - 1;
		zeros = (word - LOW_BITS) & ~word & HIGH_BITS;
		/* The lowest bit of `zeros` is the highest one of the first byte that is 0. */
		if (zeros)
			word &= ((zeros & (0 - zeros)) >> 7) - 1;
		to[nr++] = word;
		if (zeros)
			return nr;
	}
	to[nr] = 0;
	for (uint32_t i = 0; i < len && text[i]; i++)
		to[nr] |= (uint64_t)(uint8_t)text[i] << i * 8;
	return nr + 1;
}

static uint32_t put_fixed_text(const struct hist_run *run, const struct hist_op *op, uint64_t *to)
{
	const char *text = (const char *)run->hit->entry + op->offset;
	uint32_t len = op->size, spare = 1;

	/* A field that goes on up to the end of the event. */
	if (!len)
		len = run->hit->bytes > op->offset ? run->hit->bytes - op->offset : 1;
	if (len > HIST_TEXT_MAX)
		len = HIST_TEXT_MAX;
	return put_text(to, text, len - spare, spare);
}

/* A text or an array behind the fixed part; its length is cut to what there is. */
static const void *data_of(const struct hist_run *run, const struct hist_op *op, uint32_t *out_len)
{
	const char *entry = run->hit->entry;
	uint32_t place, at;

	__builtin_memcpy(&place, entry + op->offset, sizeof(place));
	at = place & 0xffff;
	if (op->code == HIST_OP_REL_TEXT)
		at += op->offset + (uint32_t)sizeof(place);
	*out_len = place >> 16;
	if (at > run->hit->bytes)
		at = run->hit->bytes;
	if (*out_len > run->hit->bytes - at)
		*out_len = run->hit->bytes - at;
	return entry + at;
}

static uint32_t put_data_text(const struct hist_run *run, const struct hist_op *op, uint64_t *to)
{
	uint32_t len;
	const char *text = data_of(run, op, &len);

	return put_text(to, text, len < HIST_TEXT_MAX ? len : HIST_TEXT_MAX - 1, 0);
}

static uint32_t put_pointer_text(const struct hist_run *run, const struct hist_op *op, uint64_t *to)
{
	const char *text;

	__builtin_memcpy(&text, (const char *)run->hit->entry + op->offset, sizeof(text));
	if (!text)
		text = "(null)";
	return put_text(to, text, (uint32_t)trace_strnlen(text, HIST_TEXT_MAX - 1), 0);
}

static uint32_t put_comm(uint64_t *to)
{
	char comm[TRACE_COMM_LEN];

	trace_plat_current_comm(comm);
	return put_text(to, comm, sizeof(comm) - 1, 1);
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

static TRACE_NOINLINE uint32_t put_stack(const struct hist_run *run, uint64_t *to)
{
	uint32_t ips[OWN_FRAMES + HIST_STACK_MAX];
	uint32_t nr = (uint32_t)trace_plat_backtrace((uintptr_t)__builtin_frame_address(0), false,
						     ips, OWN_FRAMES + HIST_STACK_MAX);
	uint32_t probe = trace_plat_ip_pack(run->hit->caller), first = 0;

	while (first < nr && first < OWN_FRAMES && ips[first] != probe)
		first++;
	/* Behind the probe is the function that calls all probes, then the tracepoint. */
	first = first < nr && ips[first] == probe ? first + 2 : 0;
	nr = nr > first ? nr - first : 0;
	return put_ips(to, &ips[first], nr < HIST_STACK_MAX ? nr : HIST_STACK_MAX);
}

static uint32_t put_data_stack(const struct hist_run *run, const struct hist_op *op, uint64_t *to)
{
	uint32_t ips[HIST_STACK_MAX], len, nr = 0;
	const char *data = data_of(run, op, &len);
	uint64_t ip;

	for (; nr < HIST_STACK_MAX && len >= sizeof(ip); data += sizeof(ip), len -= 8) {
		__builtin_memcpy(&ip, data, sizeof(ip));
		if (!ip)
			break;
		ips[nr++] = trace_plat_ip_pack((uintptr_t)ip);
	}
	return put_ips(to, ips, nr);
}

/* The words of a variable; another CPU may be giving it a new value at this moment. */
static uint32_t put_words(const struct hist_entry *entry, uint32_t at, uint64_t *to, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		to[i] = hist_entry_word(entry, at + i);
	return nr;
}

uint32_t hist_compute_words(struct hist_run *run, const struct hist_op *op, uint64_t *to,
			    uint32_t max_words)
{
	switch (op->code) {
	case HIST_OP_TEXT:
		return put_fixed_text(run, op, to);
	case HIST_OP_DATA_TEXT:
	case HIST_OP_REL_TEXT:
		return put_data_text(run, op, to);
	case HIST_OP_POINTER_TEXT:
		return put_pointer_text(run, op, to);
	case HIST_OP_COMM:
		return put_comm(to);
	case HIST_OP_STACK:
		return put_stack(run, to);
	case HIST_OP_DATA_STACK:
		return put_data_stack(run, op, to);
	case HIST_OP_REF_WORDS:
		return put_words((const struct hist_entry *)(uintptr_t)run->refs[op->to],
				 op->offset, to, max_words);
	default:
		return 0;
	}
}

/* ---- The key and its entry ---- */

static TRACE_ALWAYS_INLINE void make_key(struct hist_run *run)
{
	const struct hist *hist = run->hist;
	uint64_t *to = run->key, hash = 0;

	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		const struct hist_value *key = &hist->keys[i];
		uint32_t nr;

		if (TRACE_LIKELY(key->kind == HIST_NUMBER)) {
			*to = compute(run, &hist->ops[key->op]);
			hash = hist_hash(hash, *to++);
			continue;
		}
		nr = hist_compute_words(run, &hist->ops[key->op], to, key->words);
		while (nr--)
			hash = hist_hash(hash, *to++); // NOLINT: the call above has set them
	}
	run->hash = hash;
	run->nr_words = (uint32_t)(to - run->key);
}

static TRACE_NOINLINE struct hist_entry *add_entry(struct hist *hist, const struct hist_run *run)
{
	uint64_t extra[HIST_COMM_WORDS] = { 0 };
	struct hist_key key = {
		.words = run->key, .nr_words = run->nr_words, .hash = run->hash, .extra = extra
	};

	if (hist->has_comm) {
		(void)put_comm(extra);
		key.nr_extra = HIST_COMM_WORDS;
	}
	return hist_map_add(hist->map, &key);
}

void hist_run(struct hist *hist, const struct trace_trigger_hit *hit)
{
	struct hist_entry *entry;
	struct hist_run run;

	if (TRACE_UNLIKELY(atomic_load_explicit(&hist->is_paused, memory_order_relaxed)))
		return;
	run.hist = hist;
	run.hit = hit;
	run.entry = NULL;
	run.has_now = false;
	make_key(&run);
	if (TRACE_UNLIKELY(hist->nr_refs) && !hist_refs_run(&run))
		return;
	entry = hist_map_find(hist->map, run.key, run.nr_words, run.hash);
	if (TRACE_UNLIKELY(!entry)) {
		entry = add_entry(hist, &run);
		if (!entry)
			return;
	}
	run.entry = entry;
	hist_entry_hit(entry);
	if (TRACE_UNLIKELY(hist->nr_vars))
		hist_vars_run(&run);
	for (uint32_t i = 0; i < hist->nr_vals; i++) {
		const struct hist_value *value = &hist->vals[i];

		hist_entry_sum(entry, value->at, compute(&run, &hist->ops[value->op]));
	}
}
