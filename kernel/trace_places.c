/*
 * Functions, variables and lines of the source, which probes look up by name in this kernel's
 * tables. See <trace/platform_full.h>.
 */
#include <arch/per_cpu_array.h>
#include <kernel/lines.h>
#include <kernel/symbols.h>
#include <kernel/vfs.h>
#include <trace/platform.h>

size_t trace_plat_variable_find(const char *name, struct trace_plat_variable *out)
{
	struct symbols_variable variable;
	size_t nr = symbols_find_variable(name, &variable);

	if (nr)
		*out = (struct trace_plat_variable){ variable.addr, variable.bytes };
	return nr;
}

size_t trace_plat_symbol_find_all(const char *name, uintptr_t *out_addrs, size_t max)
{
	return symbols_find_all(name, out_addrs, max);
}

bool trace_plat_file_names_get(struct trace_plat_file_names *out)
{
	*out = (struct trace_plat_file_names){ .file = "file",
					       .dentry = "dentry",
					       .file_dentry = offsetof(struct file, dentry),
					       .dentry_name = offsetof(struct dentry, name) };
	return true;
}

uintptr_t trace_plat_this_cpu_ptr(uintptr_t variable)
{
	return per_cpu_this(variable);
}

const char *trace_plat_source_of(uintptr_t addr)
{
	struct line_place place;

	return lines_of(addr, &place) ? NULL : place.file;
}

int trace_plat_line_find(const char *file, size_t len, uint32_t line, struct trace_plat_line *out)
{
	struct line_place place;
	int err = lines_find(file, len, line, &place);

	if (!err)
		*out = (struct trace_plat_line){
			.addr = place.addr, .file = place.file, .line = place.line, .nr = place.nr
		};
	return err;
}
