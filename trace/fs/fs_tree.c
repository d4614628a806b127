/*
 * The trees of tracefs: one for each instance, built in fs_build.c. See fs_tree.h.
 *
 *   /  files of the root, options/NAME, per_cpu/cpuN/files, instances/NAME/ and the same in there
 *
 * A directory with a struct trace_dir has no children in memory until it is looked into. Walkers
 * that hold it or one of its children, and open files among them, are counted in it. As long as
 * there are any, it counts as one of them in the directory of that kind that it lies in itself.
 * When the last has gone its children are freed; those that do not exist any more and are not held,
 * when the others are made anew. The one of events or monitors that was looked at last counts as held.
 *
 * Locking: the arrays lock guards every list of children and what a tree says. The other nodes of
 *          the root stay for good; those of an instance as long as it, and walkers that hold one.
 */
#include "fs_tree.h"
#include "instance/array.h"
#include "instance/grace.h"
#include "instance/instance.h"
#include "text/str.h"
#include "feature/feature.h"
#include "fs_file.h"

static struct trace_tree root_tree;
static struct trace_node *instances;
static struct trace_node *fs_tree_recent; /* held since its children were looked at; or NULL */

struct trace_node *trace_fs_root(void)
{
	return root_tree.root;
}

/* ---- Directories that are filled when looked into ---- */

static bool is_lazy(const struct trace_node *node)
{
	return node && node->is_dir && node->dir;
}

static bool fs_tree_is_same(const struct trace_node *old, const struct trace_node *node)
{
	/* The number of a system may change while it stays. */
	return old->arg == node->arg && (!node->arg || old->id == node->id);
}

/* Of the children that were made anew, have those that there were before in their places. */
static void keep_known(struct trace_node *dir, struct trace_node *old)
{
	struct trace_node **at = &dir->first_child, *next;

	while (*at && old) {
		int order = trace_strcmp(old->name, (*at)->name);

		next = old->next_sibling;
		if (!order && fs_tree_is_same(old, *at)) {
			old->next_sibling = (*at)->next_sibling;
			(*at)->name = NULL; /* never seen by a user, now or later */
			*at = old;
		}
		if (order >= 0)
			at = &(*at)->next_sibling;
		if (order <= 0)
			old = next;
	}
}

static bool fs_tree_is_in(const struct node_chunk *chunk, const struct trace_node *node)
{
	return node >= chunk->nodes && node < chunk->nodes + chunk->used;
}

/* Is a node of the chunk a child of the directory, or still held? */
static bool fs_tree_is_needed(const struct trace_node *dir, const struct node_chunk *chunk)
{
	for (const struct trace_node *child = dir->first_child; child;
	     child = child->next_sibling) {
		if (fs_tree_is_in(chunk, child))
			return true;
	}
	for (size_t i = 0; i < chunk->used; i++) {
		const struct trace_node *node = &chunk->nodes[i];

		/* Files are not counted one by one. */
		if (node->name && (dir->is_pinned || !is_lazy(node) || node->nr_held))
			return true;
	}
	return false;
}

/* Free the chunks of the directory, all of them or those that are not needed. */
static void free_chunks(struct trace_node *dir, bool all)
{
	struct node_chunk **at = &dir->tree->chunks, *chunk;

	while ((chunk = *at)) {
		if (chunk->dir != dir || (!all && fs_tree_is_needed(dir, chunk))) {
			at = &chunk->next;
			continue;
		}
		*at = chunk->next;
		chunk->next = NULL;
		trace_chunks_free(chunk);
	}
}

/* Free the chunks that the tree has got since `first` was its first one. */
static void free_newer_chunks(struct trace_tree *tree, const struct node_chunk *first)
{
	struct node_chunk *chunk;

	while ((chunk = tree->chunks) != first) {
		tree->chunks = chunk->next;
		chunk->next = NULL;
		trace_chunks_free(chunk);
	}
}

/* Make the children of the directory if it has none; not if the instance was removed. */
static int fs_tree_fill(struct trace_node *dir)
{
	struct trace_node *old = dir->first_child;
	const struct node_chunk *chunks = dir->tree->chunks;
	uint64_t version;
	int err;

	if (!is_lazy(dir) || !dir->tree->tr)
		return 0;
	version = dir->dir->version ? dir->dir->version() : 0;
	if (version ? dir->version == version : old != NULL)
		return 0;
	dir->first_child = NULL;
	err = dir->dir->fill(dir);
	if (err) {
		free_newer_chunks(dir->tree, chunks);
		dir->first_child = old;
		return err;
	}
	keep_known(dir, old);
	free_chunks(dir, false);
	dir->version = version;
	return 0;
}

static void fs_tree_empty(struct trace_node *dir)
{
	free_chunks(dir, true);
	dir->first_child = NULL;
	dir->version = 0;
}

/* The directory with whose children the memory of `node` is freed, or NULL. */
static struct trace_node *fs_tree_home_of(const struct trace_node *node)
{
	return is_lazy(node->parent) ? node->parent : NULL;
}

/* Keep `node`, and its children if they are made on demand, until they are released. */
static void hold(struct trace_node *node)
{
	if (!is_lazy(node))
		node = fs_tree_home_of(node);
	while (node && !node->nr_held++)
		node = fs_tree_home_of(node);
}

static void release(struct trace_node *node)
{
	struct trace_node *home;

	if (!is_lazy(node))
		node = fs_tree_home_of(node);
	for (; node && !--node->nr_held; node = home) {
		home = fs_tree_home_of(node);
		fs_tree_empty(node);
	}
}

static void pin(struct trace_node *dir)
{
	if (!is_lazy(dir) || dir->is_pinned)
		return;
	dir->is_pinned = true;
	hold(dir);
}

/*
 * Hold the directory until children of another are looked at: who goes through its entries walks along
 * the same path for each, and the children of all directories on it would be made again each time.
 */
static void fs_tree_remember(struct trace_node *dir)
{
	struct trace_node *node = fs_tree_recent;

	if (!is_lazy(dir) || !dir->dir->version)
		return;
	while (node && node != dir)
		node = fs_tree_home_of(node);
	if (node)
		return;
	hold(dir);
	if (fs_tree_recent)
		release(fs_tree_recent);
	fs_tree_recent = dir;
}

static void fs_tree_forget(const struct trace_tree *tree)
{
	if (fs_tree_recent && fs_tree_recent->tree == tree) {
		release(fs_tree_recent);
		fs_tree_recent = NULL;
	}
}

/* ---- Walking ---- */

static struct trace_node *find_child(const struct trace_node *dir, const char *name, size_t len)
{
	struct trace_node *child = dir->tree->tr ? dir->first_child : NULL;

	while (child && (trace_strlen(child->name) != len || memcmp(child->name, name, len) != 0))
		child = child->next_sibling;
	return child;
}

struct trace_node *trace_fs_lookup(struct trace_node *dir, const char *name, size_t name_len)
{
	struct trace_node *child;

	trace_plat_lock(&trace_arrays_lock);
	child = fs_tree_fill(dir) ? NULL : find_child(dir, name, name_len);
	if (child) {
		fs_tree_remember(dir);
		child->tree->nr_held++;
		hold(child);
	}
	trace_plat_unlock(&trace_arrays_lock);
	return child;
}

int trace_fs_entry(struct trace_node *dir, size_t index, char *out_name, size_t size)
{
	struct trace_node *child;
	int err;

	trace_plat_lock(&trace_arrays_lock);
	err = fs_tree_fill(dir);
	child = dir->tree->tr ? dir->first_child : NULL;
	while (child && index--)
		child = child->next_sibling;
	if (child) {
		fs_tree_remember(dir);
		trace_strcpy(out_name, child->name, size);
	} else if (!err) {
		err = -ENOENT;
	}
	trace_plat_unlock(&trace_arrays_lock);
	return err;
}

struct trace_node *trace_fs_next_child(struct trace_node *dir, struct trace_node *prev)
{
	struct trace_node *next;

	trace_plat_lock(&trace_arrays_lock);
	if (!prev) {
		pin(dir);
		(void)fs_tree_fill(dir);
	}
	next = prev ? prev->next_sibling : dir->first_child;
	trace_plat_unlock(&trace_arrays_lock);
	return next;
}

struct trace_array *trace_fs_get_array(struct trace_node *node)
{
	struct trace_array *tr;

	trace_plat_lock(&trace_arrays_lock);
	tr = node->tree->tr;
	if (tr) {
		tr->nr_refs++;
		hold(node);
	}
	trace_plat_unlock(&trace_arrays_lock);
	return tr;
}

void trace_fs_put_array(struct trace_node *node, struct trace_array *tr)
{
	trace_plat_lock(&trace_arrays_lock);
	release(node);
	tr->nr_refs--;
	trace_plat_unlock(&trace_arrays_lock);
}

static void free_tree(struct trace_tree *tree)
{
	trace_attr_free(tree);
	trace_chunks_free(tree->chunks);
	trace_plat_free(tree, sizeof(*tree));
}

void trace_fs_put(struct trace_node *node)
{
	struct trace_tree *tree = node->tree;
	bool is_last;

	if (node == root_tree.root)
		return;
	trace_plat_lock(&trace_arrays_lock);
	release(node);
	is_last = !--tree->nr_held && !tree->tr;
	trace_plat_unlock(&trace_arrays_lock);
	if (is_last)
		free_tree(tree);
}

/* ---- Trees that come and go ---- */

static int create_root(struct trace_array *tr)
{
	int err = trace_tree_build(&root_tree, tr);

	if (err)
		return err;
	instances = trace_node_add_dir(&root_tree, root_tree.root, "instances");
	tr->tree = &root_tree;
	return 0;
}

/*
 * Build the tree of an instance and make it visible; that of the global one is the root. 0 or
 * -ENOMEM. Config lock held, except for the root.
 */
static int fs_tree_create(struct trace_array *tr)
{
	struct trace_tree *tree;

	if (trace_array_is_global(tr))
		return create_root(tr);
	tree = trace_plat_alloc(sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	if (trace_tree_build(tree, tr)) {
		trace_plat_free(tree, sizeof(*tree));
		return -ENOMEM;
	}
	trace_plat_lock(&trace_arrays_lock);
	trace_attr_inherit(tree, instances);
	tree->root->parent = instances;
	trace_node_insert(instances, tree->root);
	tr->tree = tree;
	trace_plat_unlock(&trace_arrays_lock);
	return 0;
}

/*
 * Take the tree of an instance away, so that it cannot be found. It is freed when none of its nodes
 * is held any more. Arrays lock held.
 */
static void fs_tree_detach(struct trace_array *tr)
{
	struct trace_tree *tree = tr->tree;
	struct trace_node **at = &instances->first_child;

	fs_tree_forget(tree);
	while (*at != tree->root)
		at = &(*at)->next_sibling;
	*at = tree->root->next_sibling;
	tree->tr = NULL;
	if (!tree->nr_held)
		free_tree(tree);
}

/* First allocates the memory for all instances, so that all get the files or none does. */
static int fs_tree_add_tracer(struct tracer *tracer)
{
	struct node_chunk *chunks = NULL, *chunk;
	struct trace_array *tr = NULL;

	if (!root_tree.tr || !tracer->nr_options)
		return 0; /* building the tree later adds the options of all tracers */
	while ((tr = trace_array_next(tr))) {
		chunk = trace_chunk_alloc(tracer->nr_options, 0);
		if (!chunk) {
			trace_chunks_free(chunks);
			return -ENOMEM;
		}
		chunk->next = chunks;
		chunks = chunk;
	}
	trace_plat_lock(&trace_arrays_lock);
	while (chunks && (tr = trace_array_next(tr))) {
		chunk = chunks;
		chunks = chunk->next;
		chunk->next = tr->tree->chunks;
		tr->tree->chunks = chunk;
		trace_node_add_tracer_options(tr->tree->options, tracer);
	}
	trace_plat_unlock(&trace_arrays_lock);
	return 0;
}

/* ---- Directories that users make and remove ---- */

int trace_fs_mkdir(struct trace_node *dir, const char *name)
{
	if (dir == instances)
		return trace_instance_create(name);
	return is_lazy(dir) && dir->dir->make ? dir->dir->make(name) : -EPERM;
}

int trace_fs_rmdir(struct trace_node *dir, const char *name)
{
	uint64_t mark = trace_grace_mark();
	int err = -EPERM;

	if (dir == instances)
		err = trace_instance_remove(name);
	else if (is_lazy(dir) && dir->dir->remove)
		err = dir->dir->remove(name);
	trace_grace_wait_since(mark);
	return err;
}

/* ---- The feature ---- */

static int files_init(void)
{
	return fs_tree_create(&trace_global);
}

/* The last in the table, so that all tracers are registered, and their options get files. */
const struct trace_feature trace_feature_files = {
	.name = "files",
	.init = files_init,
	.instance_made = fs_tree_create,
	.instance_hidden = fs_tree_detach,
	.tracer_added = fs_tree_add_tracer,
};
