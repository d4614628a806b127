/*
 * Any bytes as an instruction, in memory that ends with them: both decoders say the same, and ours the
 * same of its beginning, up to where it has too few bytes.
 * links: trace/arch/x86_64/decode*.c tests/decode/compare.c
 * libraries: -lZydis
 */
#include <stdlib.h>
#include <string.h>
#include <trace/arch_decode.h>
#include <trace/errno.h>
#include "../decode/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* An instruction that is cut anywhere is too short. */
static void try_parts(const uint8_t *data, const struct trace_insn *whole)
{
	for (size_t part = 0; part < whole->length; part++) {
		uint8_t *text = malloc(part ? part : 1);
		struct trace_insn insn;

		memcpy(text, data, part);
		if (trace_insn_decode(&insn, text, part) != -ENODATA)
			abort();
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct trace_insn insn;
	size_t length;

	if (trace_insn_decode(&insn, data, len) == 0)
		try_parts(data, &insn);
	if (len >= TRACE_INSN_MAX && compare_insn(data, TRACE_INSN_MAX, &length))
		abort();
	return 0;
}
