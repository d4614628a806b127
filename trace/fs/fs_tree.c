/*
 * The trees of tracefs: one for each instance, built from the tables of files. See fs_file.h.
 *
 *   /  files of the root, options/NAME, per_cpu/cpuN/files, instances/NAME/ and the same in there
 *
 * Locking: the arrays lock guards every list of children and what a tree says. The nodes of the
 *          root stay for good; those of an instance as long as it, and walkers that hold one.
 */
#include <trace/fmt.h>
#include "fs_file.h"
#include "instance/array.h"
#include "instance/feature.h"
#include "instance/instance.h"
#include "ops/ftrace_grace.h"
#include "text/str.h"

#define CPU_NAME_LEN 16ul

/* Nodes, and the names of those whose names are made here, from one piece of memory. */
struct node_chunk {
	struct node_chunk *next;
	size_t bytes;
	size_t used;
	char *names;
	struct trace_node nodes[];
};

struct trace_tree {
	struct trace_array *tr; /* NULL: removed */
	size_t nr_held;		/* nodes that walkers hold */
	struct node_chunk *chunks;
	struct trace_node *root;
	struct trace_node *options;
};

static struct trace_tree root_tree;
static uint64_t last_id; /* config lock, but for the root */
static struct trace_node *instances;

static const struct trace_file_table *const tables[] = {
	&trace_config_files, &trace_option_files,   &trace_thread_files, &trace_info_files,
	&trace_buffer_files, &trace_function_files, &trace_marker_files,
};

/* The tables, then those of features; NULL behind the last. */
static const struct trace_file_table *table_at(size_t at)
{
	if (at < TRACE_ARRAY_SIZE(tables))
		return tables[at];
	at -= TRACE_ARRAY_SIZE(tables);
	for (const struct trace_feature *const *feature = trace_features; *feature; feature++) {
		if ((*feature)->files && !at--)
			return (*feature)->files;
	}
	return NULL;
}

struct trace_node *trace_fs_root(void)
{
	return root_tree.root;
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
	child = find_child(dir, name, name_len);
	if (child)
		child->tree->nr_held++;
	trace_plat_unlock(&trace_arrays_lock);
	return child;
}

int trace_fs_entry(struct trace_node *dir, size_t index, char *out_name, size_t size)
{
	struct trace_node *child;

	trace_plat_lock(&trace_arrays_lock);
	child = dir->tree->tr ? dir->first_child : NULL;
	while (child && index--)
		child = child->next_sibling;
	if (child)
		trace_strcpy(out_name, child->name, size);
	trace_plat_unlock(&trace_arrays_lock);
	return child ? 0 : -ENOENT;
}

struct trace_node *trace_fs_next_child(struct trace_node *dir, struct trace_node *prev)
{
	return prev ? prev->next_sibling : dir->first_child;
}

struct trace_array *trace_fs_get_array(struct trace_node *node)
{
	struct trace_array *tr;

	trace_plat_lock(&trace_arrays_lock);
	tr = node->tree->tr;
	if (tr)
		tr->nr_refs++;
	trace_plat_unlock(&trace_arrays_lock);
	return tr;
}

static void free_chunks(struct node_chunk *chunk)
{
	struct node_chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		trace_plat_free(chunk, chunk->bytes);
	}
}

static void free_tree(struct trace_tree *tree)
{
	free_chunks(tree->chunks);
	trace_plat_free(tree, sizeof(*tree));
}

void trace_fs_put(struct trace_node *node)
{
	struct trace_tree *tree = node->tree;
	bool is_last;

	if (node == root_tree.root)
		return;
	trace_plat_lock(&trace_arrays_lock);
	is_last = !--tree->nr_held && !tree->tr;
	trace_plat_unlock(&trace_arrays_lock);
	if (is_last)
		free_tree(tree);
}

/* ---- Building ---- */

static struct node_chunk *chunk_alloc(size_t nr_nodes, size_t names_bytes)
{
	size_t bytes = sizeof(struct node_chunk) + nr_nodes * sizeof(struct trace_node);
	struct node_chunk *chunk = trace_plat_alloc(bytes + names_bytes);

	if (!chunk)
		return NULL;
	chunk->bytes = bytes + names_bytes;
	chunk->names = (char *)chunk + bytes;
	return chunk;
}

static void insert_sorted(struct trace_node *dir, struct trace_node *node)
{
	struct trace_node **at = &dir->first_child;

	while (*at && trace_strcmp((*at)->name, node->name) < 0)
		at = &(*at)->next_sibling;
	node->next_sibling = *at;
	*at = node;
}

/* The first chunk of the tree has room. */
static struct trace_node *add_node(struct trace_tree *tree, struct trace_node *dir,
				   const char *name)
{
	struct trace_node *node = &tree->chunks->nodes[tree->chunks->used++];

	node->id = ++last_id;
	node->name = name;
	node->parent = dir;
	node->tree = tree;
	node->arg = (uint64_t)RING_BUFFER_ALL_CPUS;
	if (dir)
		insert_sorted(dir, node);
	return node;
}

static struct trace_node *add_dir(struct trace_tree *tree, struct trace_node *dir, const char *name)
{
	struct trace_node *node = add_node(tree, dir, name);

	node->is_dir = true;
	node->mode = TRACE_MODE_DIR;
	return node;
}

static void add_file(struct trace_node *dir, const char *name, const struct trace_file *file,
		     uint64_t arg)
{
	struct trace_node *node = add_node(dir->tree, dir, name);

	node->file = file;
	node->mode = file->mode;
	node->arg = arg;
}

static bool is_root_tree(const struct trace_tree *tree)
{
	return tree == &root_tree;
}

static void add_files(struct trace_node *dir, const struct trace_file *const *files, size_t nr,
		      uint64_t arg)
{
	for (size_t i = 0; i < nr; i++) {
		if (is_root_tree(dir->tree) || !files[i]->root_only)
			add_file(dir, files[i]->name, files[i], arg);
	}
}

static size_t count_nodes(void)
{
	size_t nr_cpus = trace_plat_nr_cpus();
	size_t nr = 5 + TRACE_NR_OPTIONS; /* root, options, per_cpu, trace_stat, instances */
	const struct trace_file_table *table;

	for (size_t at = 0; (table = table_at(at)); at++)
		nr += table->nr + nr_cpus * (table->nr_cpu + (table->stat ? 1 : 0));
	for (struct tracer *tracer = NULL; (tracer = tracer_next(tracer));)
		nr += tracer->nr_options;
	return nr + nr_cpus;
}

static size_t count_stats(void)
{
	const struct trace_file_table *table;
	size_t nr = 0;

	for (size_t at = 0; (table = table_at(at)); at++)
		nr += table->stat ? 1 : 0;
	return nr;
}

static void add_tracer_options(struct trace_node *dir, struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->nr_options; i++)
		add_file(dir, tracer->options[i].name, &trace_tracer_option_file,
			 (uintptr_t)tracer);
}

static void add_options(struct trace_tree *tree)
{
	tree->options = add_dir(tree, tree->root, "options");
	for (unsigned int i = 0; i < TRACE_NR_OPTIONS; i++) {
		if (is_root_tree(tree) || !(TRACE_OPTIONS_ROOT_ONLY & TRACE_OPT_BIT(i)))
			add_file(tree->options, trace_option_names[i], &trace_option_file, i);
	}
	for (struct tracer *tracer = NULL; (tracer = tracer_next(tracer));)
		add_tracer_options(tree->options, tracer);
}

static void add_cpu(struct trace_node *dir, uint32_t cpu)
{
	const struct trace_file_table *table;

	for (size_t at = 0; (table = table_at(at)); at++)
		add_files(dir, table->cpu_files, table->nr_cpu, cpu);
}

static void add_cpus(struct trace_tree *tree)
{
	struct trace_node *dir = add_dir(tree, tree->root, "per_cpu");
	char *name = tree->chunks->names;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		trace_snprintf(name, CPU_NAME_LEN, "cpu%u", cpu);
		add_cpu(add_dir(tree, dir, name), cpu);
		name += CPU_NAME_LEN;
	}
}

/* `name`: room for the names of the files. */
static void add_stat(struct trace_node *dir, const struct trace_file *file, char *name)
{
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		trace_snprintf(name, CPU_NAME_LEN, "%s%u", file->name, cpu);
		add_file(dir, name, file, cpu);
		name += CPU_NAME_LEN;
	}
}

/* Only in the root; its names are behind those of per_cpu. */
static void add_stats(struct trace_tree *tree)
{
	struct trace_node *dir = add_dir(tree, tree->root, "trace_stat");
	size_t names_bytes = trace_plat_nr_cpus() * CPU_NAME_LEN;
	char *name = tree->chunks->names + names_bytes;
	const struct trace_file_table *table;

	for (size_t at = 0; (table = table_at(at)); at++) {
		if (!table->stat)
			continue;
		add_stat(dir, table->stat, name);
		name += names_bytes;
	}
}

static int build(struct trace_tree *tree, struct trace_array *tr)
{
	size_t nr_stats = count_stats();
	const struct trace_file_table *table;

	tree->chunks =
		chunk_alloc(count_nodes(), (1 + nr_stats) * CPU_NAME_LEN * trace_plat_nr_cpus());
	if (!tree->chunks)
		return -ENOMEM;
	tree->tr = tr;
	tree->root = add_dir(tree, NULL, tr->name);
	for (size_t at = 0; (table = table_at(at)); at++)
		add_files(tree->root, table->files, table->nr, (uint64_t)RING_BUFFER_ALL_CPUS);
	add_options(tree);
	add_cpus(tree);
	if (is_root_tree(tree) && nr_stats)
		add_stats(tree);
	return 0;
}

static int create_root(struct trace_array *tr)
{
	int err = build(&root_tree, tr);

	if (err)
		return err;
	instances = add_dir(&root_tree, root_tree.root, "instances");
	tr->tree = &root_tree;
	return 0;
}

int trace_fs_create(struct trace_array *tr)
{
	struct trace_tree *tree;

	if (trace_array_is_global(tr))
		return create_root(tr);
	tree = trace_plat_alloc(sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	if (build(tree, tr)) {
		trace_plat_free(tree, sizeof(*tree));
		return -ENOMEM;
	}
	trace_plat_lock(&trace_arrays_lock);
	tree->root->parent = instances;
	insert_sorted(instances, tree->root);
	tr->tree = tree;
	trace_plat_unlock(&trace_arrays_lock);
	return 0;
}

void trace_fs_detach(struct trace_array *tr)
{
	struct trace_tree *tree = tr->tree;
	struct trace_node **at = &instances->first_child;

	while (*at != tree->root)
		at = &(*at)->next_sibling;
	*at = tree->root->next_sibling;
	tree->tr = NULL;
	if (!tree->nr_held)
		free_tree(tree);
}

/* Memory for each instance first, so that all get the files or none. */
int trace_fs_add_tracer(struct tracer *tracer)
{
	struct node_chunk *chunks = NULL, *chunk;
	struct trace_array *tr = NULL;

	if (!root_tree.tr || !tracer->nr_options)
		return 0; /* before the tree is built, which has all there are then */
	while ((tr = trace_array_next(tr))) {
		chunk = chunk_alloc(tracer->nr_options, 0);
		if (!chunk) {
			free_chunks(chunks);
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
		add_tracer_options(tr->tree->options, tracer);
	}
	trace_plat_unlock(&trace_arrays_lock);
	return 0;
}

/* ---- Directories that users make and remove ---- */

int trace_fs_mkdir(struct trace_node *dir, const char *name)
{
	return dir == instances ? trace_instance_create(name) : -EPERM;
}

int trace_fs_rmdir(struct trace_node *dir, const char *name)
{
	uint64_t mark = ftrace_grace_mark();
	int err = dir == instances ? trace_instance_remove(name) : -EPERM;

	(void)ftrace_grace_wait(mark, true);
	return err;
}
