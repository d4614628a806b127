/*
 * The tree of tracefs: built once from the tables of files, then only read. See fs_file.h.
 *
 *   /  files of the root, options/NAME, per_cpu/cpuN/files
 */
#include <trace/fmt.h>
#include "array.h"
#include "fs_file.h"
#include "print/str.h"

#define CPU_NAME_LEN 16ul

/* Nodes and the names of CPU directories come from one piece of memory. */
struct arena {
	struct trace_node *nodes;
	size_t nr;
	size_t used;
	char *names;
};

static struct trace_node *root;

struct trace_node *trace_fs_root(void)
{
	return root;
}

struct trace_node *trace_fs_lookup(struct trace_node *dir, const char *name, size_t name_len)
{
	struct trace_node *child = dir->first_child;

	for (; child; child = child->next_sibling) {
		if (trace_strlen(child->name) == name_len &&
		    memcmp(child->name, name, name_len) == 0)
			return child;
	}
	return NULL;
}

struct trace_node *trace_fs_next_child(struct trace_node *dir, struct trace_node *prev)
{
	return prev ? prev->next_sibling : dir->first_child;
}

static void insert_sorted(struct trace_node *dir, struct trace_node *node)
{
	struct trace_node **at = &dir->first_child;

	while (*at && trace_strcmp((*at)->name, node->name) < 0)
		at = &(*at)->next_sibling;
	node->next_sibling = *at;
	*at = node;
}

static struct trace_node *add_node(struct arena *arena, struct trace_node *dir, const char *name)
{
	struct trace_node *node = &arena->nodes[arena->used++];

	node->name = name;
	node->parent = dir;
	node->arg = (uint64_t)RING_BUFFER_ALL_CPUS;
	if (dir) {
		node->tr = dir->tr;
		insert_sorted(dir, node);
	}
	return node;
}

static struct trace_node *add_dir(struct arena *arena, struct trace_node *dir, const char *name)
{
	struct trace_node *node = add_node(arena, dir, name);

	node->is_dir = true;
	node->mode = TRACE_MODE_DIR;
	return node;
}

static void add_file(struct arena *arena, struct trace_node *dir, const char *name,
		     const struct trace_file *file, uint64_t arg)
{
	struct trace_node *node = add_node(arena, dir, name);

	node->file = file;
	node->mode = file->mode;
	node->arg = arg;
}

static void add_table(struct arena *arena, struct trace_node *dir,
		      const struct trace_file_table *table, uint64_t arg)
{
	for (size_t i = 0; i < table->nr; i++)
		add_file(arena, dir, table->files[i]->name, table->files[i], arg);
}

static const struct trace_file_table *const root_tables[] = {
	&trace_config_files, &trace_option_files,   &trace_thread_files, &trace_info_files,
	&trace_buffer_files, &trace_function_files, &trace_marker_files,
};

static size_t count_nodes(void)
{
	size_t nr = 3 + TRACE_NR_OPTIONS; /* root, options, per_cpu */

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(root_tables); i++)
		nr += root_tables[i]->nr;
	for (struct tracer *tracer = NULL; (tracer = tracer_next(tracer));)
		nr += tracer->nr_options;
	return nr + trace_plat_nr_cpus() * (1 + trace_cpu_files.nr);
}

static void add_options(struct arena *arena)
{
	struct trace_node *dir = add_dir(arena, root, "options");

	for (unsigned int i = 0; i < TRACE_NR_OPTIONS; i++)
		add_file(arena, dir, trace_option_names[i], &trace_option_file, i);
	for (struct tracer *tracer = NULL; (tracer = tracer_next(tracer));) {
		for (size_t i = 0; i < tracer->nr_options; i++)
			add_file(arena, dir, tracer->options[i].name, &trace_tracer_option_file,
				 (uintptr_t)tracer);
	}
}

static void add_cpus(struct arena *arena)
{
	struct trace_node *cpu_dir, *dir = add_dir(arena, root, "per_cpu");
	char *name = arena->names;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		trace_snprintf(name, CPU_NAME_LEN, "cpu%u", cpu);
		cpu_dir = add_dir(arena, dir, name);
		add_table(arena, cpu_dir, &trace_cpu_files, cpu);
		name += CPU_NAME_LEN;
	}
}

int trace_fs_create(struct trace_array *tr)
{
	size_t nr = count_nodes();
	struct arena arena = { .nr = nr };

	arena.nodes =
		trace_plat_alloc(nr * sizeof(*arena.nodes) + trace_plat_nr_cpus() * CPU_NAME_LEN);
	if (!arena.nodes)
		return -ENOMEM;
	arena.names = (char *)(arena.nodes + nr);
	root = add_dir(&arena, NULL, "");
	root->tr = tr;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(root_tables); i++)
		add_table(&arena, root, root_tables[i], (uint64_t)RING_BUFFER_ALL_CPUS);
	add_options(&arena);
	add_cpus(&arena);
	return 0;
}
