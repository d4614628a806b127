/*
 * The tree of an instance: its nodes, and their sources. See fs_tree.c, fs_build.c.
 *
 * Context: thread. Locking: the arrays lock, where nothing else is said.
 */
#ifndef TRACE_FS_TREE_H
#define TRACE_FS_TREE_H

#include "fs_file.h"

struct trace_event_call;

/* A piece of memory with nodes, and with those of their names that are made at run time. */
struct node_chunk {
	struct node_chunk *next;
	size_t bytes;		/* size of the piece */
	size_t used;		/* nodes in use */
	char *names;		/* room for names */
	struct trace_node *dir; /* its children are these, see trace_dir_begin(); or NULL */
	uint64_t next_id;	/* with `dir`: the id of the next node */
	uint64_t ids_each;	/* with `dir`: ids for each node with its children */
	struct trace_node nodes[];
};

struct trace_tree {
	struct trace_array *tr; /* NULL: the instance was removed */
	size_t nr_held;		/* number of holds on nodes */
	struct node_chunk *chunks;
	struct trace_node *root;
	struct trace_node *options;
	struct trace_fs_attr owner;  /* of all files that `changes` does not name */
	struct attr_change *changes; /* see fs_attr.c */
	unsigned int nr_changes;
};

/* Memory for `nr_nodes` nodes and `names_bytes` bytes of names; NULL when out of memory. */
struct node_chunk *trace_chunk_alloc(size_t nr_nodes, size_t names_bytes);
/* Free this chunk, and those behind it. */
void trace_chunks_free(struct node_chunk *chunk);

/* Put the node among the children of `dir`, which are sorted by name. */
void trace_node_insert(struct trace_node *dir, struct trace_node *node);
/* Add a directory. There has to be room in the first chunk of the tree. */
struct trace_node *trace_node_add_dir(struct trace_tree *tree, struct trace_node *dir,
				      const char *name);
/* Add a file; `arg` is for its functions. */
struct trace_node *trace_node_add_file(struct trace_node *dir, const char *name,
				       const struct trace_file *file, uint64_t arg);
/*
 * A directory that is filled when it is looked into. `nr_ids` ids behind its own are reserved for
 * its children, so that these have the same ids each time they are made.
 */
struct trace_node *trace_node_add_lazy_dir(struct trace_tree *tree, struct trace_node *dir,
					   const char *name, const struct trace_dir *of,
					   uint64_t nr_ids);
/*
 * For fill() of struct trace_dir: make room for `nr` children and `names_bytes` bytes of names. The
 * nodes that are added to the tree next are the children of `dir`. They have to come in the same
 * order each time, because each gets the next ids of those reserved: one for itself and, up to
 * `ids_each` in all, those for its own children. Returns the room for names; NULL when out of
 * memory.
 */
char *trace_dir_begin(struct trace_node *dir, size_t nr, size_t names_bytes, uint64_t ids_each);
/* The same for a directory of `nr` files alone, which get `arg`. Adds them. 0 or -ENOMEM. */
int trace_dir_fill(struct trace_node *dir, const struct trace_file *files, size_t nr, uint64_t arg);
void trace_node_add_tracer_options(struct trace_node *dir, struct tracer *tracer);

/* The files of a new tree belong to whom `dir` belongs to. Arrays lock held. */
void trace_attr_inherit(struct trace_tree *tree, const struct trace_node *dir);
/* Free the changes of a tree without users. */
void trace_attr_free(struct trace_tree *tree);

/*
 * Hide the directory of an event, for the feature `events`. Returns false, with nothing changed, while it
 * is in use. Config lock held.
 */
bool trace_fs_event_goes(struct trace_event_call *call);

/*
 * Make the tree of `tr`, which cannot be seen yet; the root also has room for the directory
 * instances/. 0, or -ENOMEM with nothing made. Config lock held, except for the root.
 */
int trace_tree_build(struct trace_tree *tree, struct trace_array *tr);

#endif
