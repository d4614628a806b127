/*
 * Checks of places: the offsets of a file at which a probe may be. See uprobe_private.h.
 */
#include <trace/errno.h>
#include "text/str.h"
#include "uprobe_private.h"

static int uprobe_refuse(struct uprobe_refusal *out, int err, const char *why)
{
	*out = (struct uprobe_refusal){ why, err };
	return err;
}

int uprobe_check(struct uprobe_file *file, uint64_t offset, struct trace_uprobe_insn *out_insn,
		 struct uprobe_refusal *out_refusal)
{
	const struct trace_uprobe_host *host = trace_plat_uprobes();
	uint8_t bytes[TRACE_UPROBE_INSN_MAX];
	size_t len = host->file_read(file, offset, bytes, sizeof(bytes));
	const char *why;

	if (!len)
		return uprobe_refuse(out_refusal, -EINVAL, "the file ends before it");
	why = host->prepare(bytes, len, out_insn);
	if (why)
		return uprobe_refuse(out_refusal, out_insn->len ? -EOPNOTSUPP : -EILSEQ, why);
	return 0;
}

int uprobe_check_counter(struct uprobe_file *file, uint64_t offset,
			 struct uprobe_refusal *out_refusal)
{
	if (offset % sizeof(uint16_t))
		return uprobe_refuse(out_refusal, -EINVAL, "the counter's offset is odd");
	if (offset >= trace_plat_uprobes()->file_bytes(file))
		return uprobe_refuse(out_refusal, -EINVAL, "the file ends before the counter");
	return 0;
}

uint64_t uprobe_insn_at(struct uprobe_file *file, uint64_t from, uint64_t offset)
{
	const struct trace_uprobe_host *host = trace_plat_uprobes();
	uint8_t bytes[TRACE_UPROBE_INSN_MAX];
	struct trace_uprobe_insn insn;

	while (from < offset) {
		size_t len = host->file_read(file, from, bytes, sizeof(bytes));

		(void)host->prepare(bytes, len, &insn);
		if (!insn.len)
			return offset;
		if (offset - from < insn.len)
			return from;
		from += insn.len;
	}
	return offset;
}

int uprobe_refusal(struct uprobe_file *file, uint64_t offset, char *out_text, size_t len)
{
	struct uprobe_refusal refusal = { .why = "" };
	struct trace_uprobe_insn insn;
	int err = uprobe_check(file, offset, &insn, &refusal);

	if (len)
		trace_strcpy(out_text, refusal.why, len);
	return err;
}
