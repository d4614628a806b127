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
void trace_node_add_tracer_options(struct trace_node *dir, struct tracer *tracer);

/*
 * Make the nodes of `tr`, which nobody sees yet; in the root there is room for one more. -ENOMEM
 * leaves nothing. Config lock held, but for the root.
 */
int trace_tree_build(struct trace_tree *tree, struct trace_array *tr);

#endif
