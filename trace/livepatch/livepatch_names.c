/*
 * Patches by name: see <trace/livepatch.h>.
 */
#include "livepatch_private.h"
#include "text/str.h"

static struct klp_patch *livepatch_names_find(const char *name)
{
	struct klp_patch *patch = klp_patches;

	while (patch && !trace_streq(patch->name, name))
		patch = patch->next;
	return patch;
}

int klp_patch_name(size_t index, char *out_name)
{
	const struct klp_patch *patch;

	trace_plat_lock(&klp_lock);
	patch = klp_patches;
	while (patch && index--)
		patch = patch->next;
	if (patch)
		trace_strcpy(out_name, patch->name, KLP_NAME_LEN);
	trace_plat_unlock(&klp_lock);
	return patch ? 0 : -ENOENT;
}

int klp_func_name(const char *name, size_t index, char *out_name, size_t size)
{
	const struct klp_patch *patch;
	int err = -ENOENT;

	trace_plat_lock(&klp_lock);
	patch = livepatch_names_find(name);
	if (patch && index < patch->nr_funcs) {
		trace_strcpy(out_name, patch->funcs[index].old_name, size);
		err = 0;
	}
	trace_plat_unlock(&klp_lock);
	return err;
}

int klp_attr_get(const char *name, enum klp_attr attr, bool *out_on)
{
	const struct klp_patch *patch;

	trace_plat_lock(&klp_lock);
	patch = livepatch_names_find(name);
	if (patch)
		*out_on = attr == KLP_ATTR_ENABLED ? patch->is_enabled : klp_is_moving(patch);
	trace_plat_unlock(&klp_lock);
	return patch ? 0 : -ENOENT;
}

static int livepatch_names_set_enabled(struct klp_patch *patch, bool on)
{
	if (on == patch->is_enabled)
		return -EINVAL;
	return on ? klp_reenable_locked(patch) : klp_disable_locked(patch);
}

static int set_attr(struct klp_patch *patch, enum klp_attr attr, bool on)
{
	switch (attr) {
	case KLP_ATTR_ENABLED:
		return livepatch_names_set_enabled(patch, on);
	case KLP_ATTR_FORCE:
		return on ? klp_force_locked(patch) : 0;
	default:
		return -EINVAL;
	}
}

int klp_attr_set(const char *name, enum klp_attr attr, bool on)
{
	struct klp_patch *patch;
	int err = -ENOENT;

	trace_plat_lock(&klp_lock);
	patch = livepatch_names_find(name);
	if (patch)
		err = set_attr(patch, attr, on);
	trace_plat_unlock(&klp_lock);
	return err;
}
