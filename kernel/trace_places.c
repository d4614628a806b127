/*
 * What probes ask of this kernel's tables by name: variables, and lines of the source. See
 * <trace/platform_full.h>.
 */
#include <kernel/lines.h>
#include <kernel/symbols.h>
#include <trace/platform.h>

size_t trace_plat_variable_find(const char *name, struct trace_plat_variable *out)
{
	struct symbols_variable variable;
	size_t nr = symbols_find_variable(name, &variable);

	if (nr)
		*out = (struct trace_plat_variable){ variable.addr, variable.bytes };
	return nr;
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
