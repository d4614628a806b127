/*
 * Names of files as texts: an argument is the address of an open file, or of the name that it was
 * opened under. See fetch.h, struct trace_plat_file_names.
 *
 * 	file:%pD    the same as +0(+NAME(+DENTRY(file))):string, with the offsets of the host
 * 	dentry:%pd  the same as +0(+NAME(dentry)):string
 */
#include <trace/platform.h>
#include "fetch_private.h"

#define WORD_BYTES 8u

/* An address of unknown type is taken for what the type says, as on Linux. */
static int check_named(const struct fetch_parse *parse, const struct fetch_type *type,
		       const struct trace_plat_file_names *names, const char *at)
{
	bool is_file = type->named == 'D';

	if (fetch_is_own_text(parse->origin))
		return trace_fetch_refuse(parse, at,
					  "$comm and immediate-string only accepts string type");
	if (!parse->btf ||
	    trace_fetch_names->points_to(parse->btf, is_file ? names->file : names->dentry))
		return 0;
	return trace_fetch_refuse(parse, parse->btf_at,
				  is_file ? "This type does not fit for %pD."
					  : "This type does not fit for %pd.");
}

int trace_fetch_named(struct fetch_parse *parse, const struct fetch_type *type, const char *at)
{
	struct trace_plat_file_names names;
	int err;

	if (!trace_plat_file_names_get(&names))
		return trace_fetch_refuse(parse, at, "Unknown type is specified");
	err = check_named(parse, type, &names, at);
	if (!err && type->named == 'D')
		err = trace_fetch_read(parse, (int64_t)names.file_dentry, WORD_BYTES, at);
	if (!err)
		err = trace_fetch_read(parse, (int64_t)names.dentry_name, WORD_BYTES, at);
	return err ? err : trace_fetch_read(parse, 0, WORD_BYTES, at);
}
