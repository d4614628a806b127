/*
 * Any bytes as types: if they are accepted, everything is asked of them, and nothing outside is read.
 * links: trace/types/btf*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/fmt_bin.c trace/text/str.c trace/text/seq.c
 */
#include <stdlib.h>
#include <string.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "types/btf_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	(void)addr;
	(void)out_name;
	(void)out_start;
	(void)out_size;
	return false;
}

void *trace_plat_alloc(size_t bytes)
{
	return calloc(1, bytes);
}

void trace_plat_free(void *memory, size_t bytes)
{
	(void)bytes;
	free(memory);
}

static void ask(uint32_t id)
{
	struct btf_member member;
	struct btf_func func;
	struct btf_arg arg;
	struct trace_seq seq;
	char text[200];

	trace_seq_init(&seq, text, sizeof(text));
	trace_btf_print_decl(&seq, id, trace_btf_name(id));
	trace_btf_print_value(&seq, id, 7);
	trace_btf_sizeof(id);
	trace_btf_points_to_const(id);
	trace_btf_member_find(id, "a", 1, &member);
	if (trace_btf_func_of_proto(id, &func)) {
		trace_btf_func_arg(&func, func.nr_args > 3 ? 3 : 0, &arg);
		trace_btf_func_arg_find(&func, "a", 1, &arg);
	}
}

/* The first byte says how many words of the input are types; the others are their strings. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct btf_header header = { .magic = BTF_MAGIC,
				     .version = 1,
				     .header_len = sizeof(header) };
	size_t types = len ? (data[0] * 4u < len ? data[0] * 4u : len / 4 * 4) : 0;
	uint8_t *blob = malloc(sizeof(header) + len + 2);

	header.type_len = (uint32_t)types;
	header.string_offset = (uint32_t)types;
	header.string_len = (uint32_t)(len - types + 2);
	memcpy(blob, &header, sizeof(header));
	memcpy(blob + sizeof(header), data, types);
	blob[sizeof(header) + types] = 0;
	memcpy(blob + sizeof(header) + types + 1, data + types, len - types);
	blob[sizeof(header) + len + 1] = 0;
	if (types)
		blob[sizeof(header)] = 0; /* said how long the types are */
	if (trace_btf_load(blob, sizeof(header) + len + 2) == 0) {
		struct btf_func func;

		for (uint32_t id = 0; id < 100; id++)
			ask(id);
		for (uint32_t nr = 0; trace_btf_func_get(nr, &func); nr++)
			ask(func.proto);
		trace_btf_func_find("a", &func);
		trace_btf_find_type("a");
	}
	trace_btf_unload();
	free(blob);
	return 0;
}
