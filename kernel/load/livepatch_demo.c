/*
 * The command livepatch: loads and unloads patches that ship with the kernel, to show how functions
 * are replaced while they run. The functions that they replace are in kernel/fs/vfs_special.c.
 */
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/version.h>
#include <trace/fmt.h>
#include <trace/livepatch.h>
#include "shell/cmd/command_tables.h"

static TRACE_NOINLINE size_t patched_show_version(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "Fathom %s (%s), this has been live patched\n",
			       KERNEL_VERSION, KERNEL_COMPILER);
}

static TRACE_NOINLINE size_t stacked_show_version(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "Fathom %s, patched twice\n", KERNEL_VERSION);
}

static TRACE_NOINLINE size_t stacked_show_uptime(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "up for %llu s, and still the same boot\n",
			       ktime_get_ns() / NSEC_PER_SEC);
}

static struct klp_func version_funcs[] = {
	{ .old_name = "show_version", .new_func = (uintptr_t)patched_show_version },
};

static struct klp_func stacked_funcs[] = {
	{ .old_name = "show_version", .new_func = (uintptr_t)stacked_show_version },
	{ .old_name = "show_uptime", .new_func = (uintptr_t)stacked_show_uptime },
};

static struct klp_patch patches[] = {
	{ .name = "demo_version", .funcs = version_funcs, .nr_funcs = 1 },
	{ .name = "demo_stacked", .funcs = stacked_funcs, .nr_funcs = 2 },
};

static struct klp_patch *livepatch_find_patch(const char *name)
{
	for (size_t i = 0; i < sizeof(patches) / sizeof(*patches); i++) {
		if (strcmp(patches[i].name, name) == 0)
			return &patches[i];
	}
	return NULL;
}

static const char *livepatch_state_of(const struct klp_patch *patch)
{
	if (!klp_patch_is_active(patch))
		return "not loaded";
	return klp_patch_in_transition(patch) ? "in transition" : "enabled";
}

static int livepatch_list_patches(struct command_env *env)
{
	for (size_t i = 0; i < sizeof(patches) / sizeof(*patches); i++) {
		const struct klp_patch *patch = &patches[i];

		command_printf(env, "%-14s %s, replaces", patch->name, livepatch_state_of(patch));
		for (size_t j = 0; j < patch->nr_funcs; j++)
			command_printf(env, " %s", patch->funcs[j].old_name);
		command_putc(env, '\n');
	}
	return 0;
}

static int livepatch_command(struct command_env *env, int argc, char **argv)
{
	struct klp_patch *patch;
	int err;

	if (argc == 1)
		return livepatch_list_patches(env);
	if (argc != 3 || (strcmp(argv[1], "load") != 0 && strcmp(argv[1], "unload") != 0))
		return COMMAND_USAGE;
	patch = livepatch_find_patch(argv[2]);
	if (!patch) {
		command_perror(env, argv[2], -ENOENT);
		return 1;
	}
	err = argv[1][0] == 'l' ? klp_enable_patch(patch) : klp_disable_patch(patch);
	if (err)
		command_perror(env, argv[2], err);
	return err != 0;
}

const struct command livepatch_commands[] = {
	{ "livepatch", "[load NAME | unload NAME]",
	  "list, enable or disable the live patches that ship with the kernel", livepatch_command,
	  0 },
	{ 0 },
};
