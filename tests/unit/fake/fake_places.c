/*
 * Variables and lines of the source of the fake machine, and its system calls; see fake.h.
 */
#include <stdio.h>
#include <string.h>
#include <trace/syscalls.h>
#include "fake.h"

const struct fake_variable *fake_variables;
const struct fake_line *fake_lines;
const struct trace_plat_file_names *fake_file_names;
void *fake_per_cpu;
size_t fake_per_cpu_bytes;
const struct trace_syscall_host *fake_syscalls;
const struct trace_uprobe_host *fake_uprobes;
const struct trace_user_events_host *fake_user_events;
const struct trace_plat_user *fake_user;

size_t trace_plat_variable_find(const char *name, struct trace_plat_variable *out)
{
	size_t nr = 0;

	for (const struct fake_variable *v = fake_variables; v && v->name; v++) {
		if (strcmp(v->name, name) != 0)
			continue;
		*out = (struct trace_plat_variable){ (uintptr_t)v->at, v->bytes };
		nr++;
	}
	return nr;
}

bool trace_plat_file_names_get(struct trace_plat_file_names *out)
{
	if (fake_file_names)
		*out = *fake_file_names;
	return fake_file_names;
}

uintptr_t trace_plat_this_cpu_ptr(uintptr_t variable)
{
	uintptr_t at = variable - (uintptr_t)fake_per_cpu;

	if (at >= FAKE_MAX_CPUS * fake_per_cpu_bytes)
		return 0;
	return (uintptr_t)fake_per_cpu + trace_plat_cpu_id() * fake_per_cpu_bytes +
	       at % fake_per_cpu_bytes;
}

/* Of those that were added, and of functions. */
size_t trace_plat_symbol_find_all(const char *name, uintptr_t *out_addrs, size_t max)
{
	return fake_symbol_all(name, out_addrs, max);
}

const char *trace_plat_source_of(uintptr_t addr)
{
	for (const struct fake_line *l = fake_lines; l && l->file; l++)
		if (l->addr == addr)
			return l->file;
	return NULL;
}

/* Is it that path, or its end behind a slash? */
static bool is_file(const char *path, const char *file, size_t len)
{
	size_t path_len = strlen(path);

	return path_len >= len && memcmp(path + path_len - len, file, len) == 0 &&
	       (path_len == len || path[path_len - len - 1] == '/');
}

int trace_plat_line_find(const char *file, size_t len, uint32_t line, struct trace_plat_line *out)
{
	const struct fake_line *found = NULL, *known = NULL;

	if (!fake_lines)
		return -EOPNOTSUPP;
	for (const struct fake_line *l = fake_lines; l->file; l++) {
		if (!is_file(l->file, file, len))
			continue;
		if (known && strcmp(known->file, l->file) != 0)
			return -EEXIST;
		known = l;
		if (l->line >= line && (!found || l->line < found->line))
			found = l;
	}
	if (!found)
		return known ? -ENODATA : -ENOENT;
	*out = (struct trace_plat_line){
		.addr = found->addr, .file = found->file, .line = found->line, .nr = 1
	};
	return 0;
}

void *fake_kept;
size_t fake_kept_bytes;
const char *fake_build_id = "fake";

void *trace_plat_kept_memory(const char *name, size_t *out_bytes)
{
	bool is_there = fake_kept && strcmp(name, "kept") == 0;

	*out_bytes = is_there ? fake_kept_bytes : 0;
	return is_there ? fake_kept : NULL;
}

const char *trace_plat_build_id(void)
{
	return fake_build_id;
}

const struct trace_syscall_host *trace_plat_syscalls(void)
{
	return fake_syscalls;
}

const struct trace_uprobe_host *trace_plat_uprobes(void)
{
	return fake_uprobes;
}

const struct trace_user_events_host *trace_plat_user_events(void)
{
	return fake_user_events;
}

bool trace_plat_user_get(struct trace_plat_user *out)
{
	if (fake_user)
		*out = *fake_user;
	return fake_user;
}

uint64_t trace_plat_current_uid_gid(void)
{
	return fake_user ? 1001ull << 32 | 1000 : 0;
}

/* A file per thread group, mapped at 4 MiB; in its first MiB is one function. */
bool trace_plat_user_object(int32_t tgid, uint64_t ip, struct trace_plat_user_place *out)
{
	out->offset = ip - (4u << 20);
	snprintf(out->path, sizeof(out->path), "/bin/program%d", tgid);
	strcpy(out->function, out->offset < 1u << 20 ? "main" : "");
	out->function_offset = out->offset;
	return fake_user && ip >= 4u << 20 && ip < 8u << 20;
}
