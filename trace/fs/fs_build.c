/*
 * Building the tree of an instance, from the tables of files. See fs_tree.h.
 */
#include <trace/fmt.h>
#include "fs_tree.h"
#include "instance/array.h"
#include "feature/list.h"
#include "text/str.h"

#define CPU_NAME_LEN 16ul

static uint64_t fs_build_last_id; /* config lock, but for the root */

static const struct trace_file_table *const tables[] = {
	&trace_config_files, &trace_option_files, &trace_thread_files, &trace_info_files,
	&trace_buffer_files, &trace_marker_files, &trace_kept_files,
};

static struct trace_files *files_of_features;

void trace_files_register(struct trace_files *files)
{
	TRACE_LIST_ADD(files_of_features, files);
}

/* The tables, then those of features; NULL behind the last. */
static const struct trace_file_table *table_at(size_t at)
{
	if (at < TRACE_ARRAY_SIZE(tables))
		return tables[at];
	at -= TRACE_ARRAY_SIZE(tables);
	for (const struct trace_files *files = files_of_features; files; files = files->next) {
		if (!at--)
			return files->table;
	}
	return NULL;
}

struct node_chunk *trace_chunk_alloc(size_t nr_nodes, size_t names_bytes)
{
	size_t bytes = sizeof(struct node_chunk) + nr_nodes * sizeof(struct trace_node);
	struct node_chunk *chunk = trace_plat_alloc(bytes + names_bytes);

	if (!chunk)
		return NULL;
	chunk->bytes = bytes + names_bytes;
	chunk->names = (char *)chunk + bytes;
	return chunk;
}

void trace_chunks_free(struct node_chunk *chunk)
{
	struct node_chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		trace_plat_free(chunk, chunk->bytes);
	}
}

void trace_node_insert(struct trace_node *dir, struct trace_node *node)
{
	struct trace_node **at = &dir->first_child;

	while (*at && trace_strcmp((*at)->name, node->name) < 0)
		at = &(*at)->next_sibling;
	node->next_sibling = *at;
	*at = node;
}

static uint64_t next_id(struct node_chunk *chunk)
{
	uint64_t id = chunk->next_id;

	if (!chunk->dir)
		return ++fs_build_last_id;
	chunk->next_id += chunk->ids_each;
	return id;
}

/* The first chunk of the tree has room. */
static struct trace_node *add_node(struct trace_tree *tree, struct trace_node *dir,
				   const char *name)
{
	struct trace_node *node = &tree->chunks->nodes[tree->chunks->used++];

	node->id = next_id(tree->chunks);
	node->name = name;
	node->parent = dir;
	node->tree = tree;
	node->arg = (uint64_t)RING_BUFFER_ALL_CPUS;
	if (dir)
		trace_node_insert(dir, node);
	return node;
}

struct trace_node *trace_node_add_dir(struct trace_tree *tree, struct trace_node *dir,
				      const char *name)
{
	struct trace_node *node = add_node(tree, dir, name);

	node->is_dir = true;
	node->mode = TRACE_MODE_DIR;
	return node;
}

struct trace_node *trace_node_add_lazy_dir(struct trace_tree *tree, struct trace_node *dir,
					   const char *name, const struct trace_dir *of,
					   uint64_t nr_ids)
{
	struct trace_node *node = trace_node_add_dir(tree, dir, name);

	node->dir = of;
	/* In another one they lie behind its id, see trace_dir_begin(). */
	if (!tree->chunks->dir)
		fs_build_last_id += nr_ids;
	return node;
}

char *trace_dir_begin(struct trace_node *dir, size_t nr, size_t names_bytes, uint64_t ids_each)
{
	struct node_chunk *chunk = trace_chunk_alloc(nr, names_bytes);

	if (!chunk)
		return NULL;
	chunk->dir = dir;
	chunk->next_id = dir->id + 1;
	chunk->ids_each = ids_each;
	chunk->next = dir->tree->chunks;
	dir->tree->chunks = chunk;
	return chunk->names;
}

struct trace_node *trace_node_add_file(struct trace_node *dir, const char *name,
				       const struct trace_file *file, uint64_t arg)
{
	struct trace_node *node = add_node(dir->tree, dir, name);

	node->file = file;
	node->mode = file->mode;
	node->arg = arg;
	return node;
}

int trace_dir_fill(struct trace_node *dir, const struct trace_file *files, size_t nr, uint64_t arg)
{
	if (!trace_dir_begin(dir, nr, 0, 1))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		trace_node_add_file(dir, files[i].name, &files[i], arg);
	return 0;
}

static bool is_root_tree(const struct trace_tree *tree)
{
	return trace_array_is_global(tree->tr);
}

static void add_files(struct trace_node *dir, const struct trace_file *const *files, size_t nr,
		      uint64_t arg)
{
	for (size_t i = 0; i < nr; i++) {
		if ((is_root_tree(dir->tree) || !files[i]->root_only) &&
		    (dir->tree->tr->kept || !files[i]->kept_only))
			trace_node_add_file(dir, files[i]->name, files[i], arg);
	}
}

static size_t count_nodes(void)
{
	size_t nr_cpus = trace_plat_nr_cpus();
	size_t nr = 5 + TRACE_NR_OPTIONS; /* root, options, per_cpu, trace_stat, instances */
	const struct trace_file_table *table;

	for (size_t at = 0; (table = table_at(at)); at++)
		nr += table->nr + (table->stat ? nr_cpus : 0) + (table->dir ? 1 : 0);
	for (struct tracer *tracer = NULL; (tracer = tracer_next(tracer));)
		nr += tracer->nr_options;
	return nr;
}

static size_t count_stats(void)
{
	const struct trace_file_table *table;
	size_t nr = 0;

	for (size_t at = 0; (table = table_at(at)); at++)
		nr += table->stat ? 1 : 0;
	return nr;
}

void trace_node_add_tracer_options(struct trace_node *dir, struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->nr_options; i++)
		trace_node_add_file(dir, tracer->options[i].name, &trace_tracer_option_file,
				    (uintptr_t)tracer);
}

static void add_options(struct trace_tree *tree)
{
	tree->options = trace_node_add_dir(tree, tree->root, "options");
	for (unsigned int i = 0; i < TRACE_NR_OPTIONS; i++) {
		if (is_root_tree(tree) || !(TRACE_OPTIONS_ROOT_ONLY & TRACE_OPT_BIT(i)))
			trace_node_add_file(tree->options, trace_option_names[i],
					    &trace_option_file, i);
	}
	for (struct tracer *tracer = NULL; (tracer = tracer_next(tracer));)
		trace_node_add_tracer_options(tree->options, tracer);
}

/* ---- per_cpu/ and its directories, which few ever look at ---- */

static size_t count_cpu_files(void)
{
	const struct trace_file_table *table;
	size_t nr = 0;

	for (size_t at = 0; (table = table_at(at)); at++)
		nr += table->nr_cpu;
	return nr;
}

static int fill_cpu(struct trace_node *dir)
{
	const struct trace_file_table *table;

	if (!trace_dir_begin(dir, count_cpu_files(), 0, 1))
		return -ENOMEM;
	for (size_t at = 0; (table = table_at(at)); at++)
		add_files(dir, table->cpu_files, table->nr_cpu, dir->arg);
	return 0;
}

static const struct trace_dir cpu_dir = { .fill = fill_cpu };

static int fill_per_cpu(struct trace_node *dir)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	size_t nr_files = count_cpu_files();
	char *name = trace_dir_begin(dir, nr_cpus, nr_cpus * CPU_NAME_LEN, 1 + nr_files);

	if (!name)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++, name += CPU_NAME_LEN) {
		trace_snprintf(name, CPU_NAME_LEN, "cpu%u", cpu);
		trace_node_add_lazy_dir(dir->tree, dir, name, &cpu_dir, nr_files)->arg = cpu;
	}
	return 0;
}

static const struct trace_dir per_cpu_dir = { .fill = fill_per_cpu };

/* `name`: room for the names of the files. */
static void add_stat(struct trace_node *dir, const struct trace_file *file, char *name)
{
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		trace_snprintf(name, CPU_NAME_LEN, "%s%u", file->name, cpu);
		trace_node_add_file(dir, name, file, cpu);
		name += CPU_NAME_LEN;
	}
}

/* Only in the root. */
static void add_stats(struct trace_tree *tree)
{
	struct trace_node *dir = trace_node_add_dir(tree, tree->root, "trace_stat");
	size_t names_bytes = trace_plat_nr_cpus() * CPU_NAME_LEN;
	char *name = tree->chunks->names;
	const struct trace_file_table *table;

	for (size_t at = 0; (table = table_at(at)); at++) {
		if (!table->stat)
			continue;
		add_stat(dir, table->stat, name);
		name += names_bytes;
	}
}

int trace_tree_build(struct trace_tree *tree, struct trace_array *tr)
{
	size_t nr_stats = trace_array_is_global(tr) ? count_stats() : 0;
	size_t nr_cpus = trace_plat_nr_cpus();
	const struct trace_file_table *table;

	tree->chunks = trace_chunk_alloc(count_nodes(), nr_stats * CPU_NAME_LEN * nr_cpus);
	if (!tree->chunks)
		return -ENOMEM;
	tree->tr = tr;
	tree->root = trace_node_add_dir(tree, NULL, tr->name);
	for (size_t at = 0; (table = table_at(at)); at++)
		add_files(tree->root, table->files, table->nr, (uint64_t)RING_BUFFER_ALL_CPUS);
	for (size_t at = 0; (table = table_at(at)); at++) {
		if (table->dir && (is_root_tree(tree) || !table->is_dir_root_only))
			trace_node_add_lazy_dir(tree, tree->root, table->dir_name, table->dir,
						table->dir_ids);
	}
	add_options(tree);
	trace_node_add_lazy_dir(tree, tree->root, "per_cpu", &per_cpu_dir,
				nr_cpus * (1 + count_cpu_files()));
	if (nr_stats)
		add_stats(tree);
	return 0;
}
