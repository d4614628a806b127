/*
 * The tree of an instance: its nodes, and what they are made from. See fs_tree.c, fs_build.c.
 *
 * Context: thread. Locking: the arrays lock, where nothing else is said.
 */
#ifndef TRACE_FS_TREE_H
#define TRACE_FS_TREE_H

#include "fs_file.h"

/* Nodes, and the names of those whose names are made here, from one piece of memory. */
struct node_chunk {
	struct node_chunk *next;
	size_t bytes;
	size_t used;
	char *names;
	struct trace_node *dir; /* whose children these are, with which they go; or NULL */
	uint64_t next_id;	/* of those: */
	uint64_t ids_each;
	struct trace_node nodes[];
};

struct trace_tree {
	struct trace_array *tr; /* NULL: removed */
	size_t nr_held;		/* nodes that walkers hold */
	struct node_chunk *chunks;
	struct trace_node *root;
	struct trace_node *options;
};

/* The memory of `nr_nodes`, and of names; NULL when out of memory. */
struct node_chunk *trace_chunk_alloc(size_t nr_nodes, size_t names_bytes);
/* This one, and those behind it. */
void trace_chunks_free(struct node_chunk *chunk);

/* Among the children of `dir`, in order. */
void trace_node_insert(struct trace_node *dir, struct trace_node *node);
/* The first chunk of the tree has room. */
struct trace_node *trace_node_add_dir(struct trace_tree *tree, struct trace_node *dir,
				      const char *name);
/*
 * A directory that is filled when somebody looks. Its children have their ids out of `nr_ids`,
 * which are theirs for good.
 */
struct trace_node *trace_node_add_lazy_dir(struct trace_tree *tree, struct trace_node *dir,
					   const char *name, const struct trace_dir *of,
					   uint64_t nr_ids);
/*
 * For struct trace_dir: room for `nr` children and for names. What is added to the tree now are
 * they, always in the same order: each has the next id of the directory, and behind it those of its
 * own children, `ids_each` with its own. Returns room for names, or NULL when out of memory.
 */
char *trace_dir_begin(struct trace_node *dir, size_t nr, size_t names_bytes, uint64_t ids_each);
void trace_node_add_tracer_options(struct trace_node *dir, struct tracer *tracer);

/*
 * Make the nodes of `tr`, which nobody sees yet; in the root there is room for one more. -ENOMEM
 * leaves nothing. Config lock held, but for the root.
 */
int trace_tree_build(struct trace_tree *tree, struct trace_array *tr);

#endif
