/*
 * Code of a user of the public headers, in the words common to C and C++: every macro that makes
 * code, and an initialiser of every struct that users fill in. It is compiled as both, with warnings
 * about conversions, and with the integer types of other hosts; the compiler is told to include
 * all public headers. It is never run: what it calls, and its table of layouts, is compared.
 */

/* ---- event.h: a type with each kind of field ---- */

struct use_entry {
	struct trace_entry ent;
	int32_t door;
	char name[8];
	uint32_t ips[2];
	uint64_t ns;
} TRACE_ENTRY_ALIGNED;

struct use_rest_entry {
	struct trace_entry ent;
	uint32_t caller;
	uint16_t values[];
};

struct use_callers_entry {
	struct trace_entry ent;
	uint32_t ips[];
};

static const struct trace_event_field use_fields[] = {
	TRACE_FIELD("door", int, use_entry, door),
	TRACE_FIELD("name", char, use_entry, name),
	TRACE_FIELD_ADDRESS("ips", use_entry, ips),
	TRACE_FIELD("ns", unsigned long long, use_entry, ns),
};
static const struct trace_event_field use_rest_fields[] = {
	TRACE_FIELD_ADDRESS("caller", use_rest_entry, caller),
	TRACE_FIELD_REST("values", unsigned short, use_rest_entry, values),
};
static const struct trace_event_field use_callers_fields[] = {
	TRACE_FIELD_REST_ADDRESSES("ips", use_callers_entry, ips),
};

static void use_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint32_t len;
	const struct use_entry *entry = (const struct use_entry *)trace_iter_event(iter, &len);

	trace_seq_printf(seq, "door %d, %u bytes ", entry->door, len);
	trace_print_ip(iter, seq, entry->ips[0]);
	trace_seq_putc(seq, '\n');
}

static struct trace_event use_events[3];

/* Not by an initialiser: C++ warns of the members that it leaves out. */
static int use_register(void)
{
	static struct trace_event_functions functions;
	struct trace_event *event = &use_events[0];
	int err;

	functions.trace = use_text;
	event->name = "use";
	event->system = "use";
	event->fields = use_fields;
	event->nr_fields = sizeof(use_fields) / sizeof(use_fields[0]);
	event->print_fmt = "\"%ps\", " TRACE_REC_ADDRESS("ips");
	event->funcs = &functions;
	use_events[1].fields = use_rest_fields;
	use_events[2].fields = use_callers_fields;
	err = register_trace_event(event);
	return err ? err : unregister_trace_event(event);
}

static void use_write(struct trace_array *tr)
{
	struct trace_event_buffer fbuffer;
	struct use_entry *entry = (struct use_entry *)trace_event_buffer_reserve(
		&fbuffer, tr, &use_events[0], sizeof(*entry));

	if (entry)
		trace_event_buffer_commit(&fbuffer, entry);
}

/* ---- tracepoint.h, static_key.h ---- */

DECLARE_TRACE(use_shelf, TP_PROTO(int shelf, uint64_t nr), TP_ARGS(shelf, nr));
DEFINE_TRACE(use_shelf, TP_PROTO(int shelf, uint64_t nr), TP_ARGS(shelf, nr));
DECLARE_TRACE(use_atomic, TP_PROTO(int shelf), TP_ARGS(shelf));
DEFINE_TRACE_ATOMIC(use_atomic, TP_PROTO(int shelf), TP_ARGS(shelf));

static struct trace_static_key use_key;

static void use_probe(void *data, int shelf, uint64_t nr)
{
	*(uint64_t *)data += (uint64_t)shelf + nr;
}

static int use_tracepoint(uint64_t *sum)
{
	int err = register_trace_use_shelf(use_probe, sum);

	if (!err && trace_static_key_enabled(&use_key))
		err = trace_static_key_set(&use_key, false);
	trace_use_shelf(1, 2);
	trace_use_atomic(1);
	return err ? err : unregister_trace_use_shelf(use_probe, sum);
}

/* ---- ftrace.h, fgraph.h, ftrace_probe.h ---- */

TRACE_BEGIN_DECLS
static void use_direct_body(uint64_t argument) TRACE_DIRECT_BODY;
static void use_direct_body(uint64_t argument)
{
	(void)argument;
}
TRACE_END_DECLS
TRACE_DIRECT(use_direct, use_direct_body);

static void use_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	if (ftrace_get_regs(fregs, ops))
		ftrace_regs_set_argument(fregs, 0, ftrace_regs_get_argument(fregs, 1));
	use_write((struct trace_array *)ops->TRACE_PRIVATE);
	ftrace_test_recursion_unlock(bit);
}

static bool use_entryfunc(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	*ent->data = ent->depth;
	return gops->TRACE_PRIVATE != NULL;
}

static int use_ops(struct trace_array *tr)
{
	static struct ftrace_ops ops;
	static struct fgraph_ops gops;
	int err;

	ops.func = use_call;
	ops.TRACE_PRIVATE = tr;
	gops.entryfunc = use_entryfunc;
	err = register_ftrace_function(&ops);
	if (!err)
		err = register_ftrace_direct(&ops, (uintptr_t)use_direct);
	return err ? err : register_ftrace_graph(&gops);
}

static void use_hit(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	if (ftrace_probe_take(hit, ops))
		trace_array_printk(hit->tr, "hit %s\n", ops->name);
}

static int use_function_probe(struct trace_array *tr)
{
	static struct ftrace_probe_ops ops;

	ops.func = use_hit;
	return register_ftrace_function_probe("use_*", tr, &ops, 1);
}

/* ---- trace_printk.h, ring_buffer.h ---- */

static void use_texts(struct ring_buffer *buffer, uint8_t small, const char *text)
{
	uint32_t *payload = (uint32_t *)ring_buffer_lock_reserve(buffer, sizeof(*payload));

	if (payload)
		ring_buffer_unlock_commit(buffer, payload);
	trace_printk("nothing\n");
	trace_printk("a byte %u\n", small);
	trace_printk("a text %s\n", text);
	trace_printk("%u %s\n", small, text);
	trace_puts(text);
}

/* ---- Layouts of structs whose members are not declared alike ---- */

#define USE_LAYOUT(type, last) sizeof(struct type), offsetof(struct type, last)

__attribute__((section(".use_layout"), used)) static const uint32_t use_layout[] = {
	USE_LAYOUT(fgraph_ops, user.nr_abandoned), USE_LAYOUT(ftrace_ops, known_as),
	USE_LAYOUT(ftrace_ops, func_hash),	   USE_LAYOUT(ftrace_probe_hit, data),
	USE_LAYOUT(klp_func, is_moving),	   USE_LAYOUT(trace_event_field, is_address),
	USE_LAYOUT(trace_one_cpu, thread),	   USE_LAYOUT(trace_thread, graph_has_ended),
	USE_LAYOUT(trace_thread, switched_out_ns), USE_LAYOUT(tracepoint, funcs),
	USE_LAYOUT(tracepoint_func, prio),	   USE_LAYOUT(use_entry, ns),
};

/* ---- One thing that is not static, so that all is looked at ---- */

int use_headers(struct trace_array *tr, struct ring_buffer *buffer, uint64_t *sum);
int use_headers(struct trace_array *tr, struct ring_buffer *buffer, uint64_t *sum)
{
	use_texts(buffer, 1, "text");
	return use_register() | use_tracepoint(sum) | use_ops(tr) | use_function_probe(tr);
}
