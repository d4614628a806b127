/* Names in directories of the tree in memory: see vfs_ram.h. */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "vfs_ram.h"

/* As strcmp(). Most names differ in the first byte. */
static int ram_compare(const char *a, const char *b)
{
	int differs = (uint8_t)*a - (uint8_t)*b;

	return differs ? differs : strcmp(a, b);
}

/* The link to the name `text`, or the one where it would be inserted: names are sorted. */
static struct ram_name **ram_find_link(struct ram_node *dir, const char *text)
{
	struct ram_name **link = &dir->children;

	while (*link && ram_compare((*link)->text, text) < 0)
		link = &(*link)->sibling;
	return link;
}

struct ram_node *ram_find_child(struct ram_node *dir, const char *text)
{
	struct ram_name *name = dir->children;
	int order = 1;

	while (name && (order = ram_compare(name->text, text)) < 0)
		name = name->sibling;
	return order ? NULL : name->node;
}

struct ram_name *ram_create_name(const char *text)
{
	size_t len = strlen(text) + 1;
	struct ram_name *name = kmalloc(sizeof(*name) + len);

	if (name)
		memcpy(name->text, text, len);
	return name;
}

static void ram_set_node(struct ram_node *dir, struct ram_name *name, struct ram_node *node)
{
	name->node = node;
	if (node->is_dir) {
		node->parent = dir;
		node->name = name;
		dir->nr_dirs++;
	}
}

void ram_add_name(struct ram_node *dir, struct ram_name *name, struct ram_node *node)
{
	struct ram_name **link = ram_find_link(dir, name->text);

	name->sibling = *link;
	*link = name;
	node->nr_names++;
	ram_set_node(dir, name, node);
}

struct ram_node *ram_unlink(struct ram_node *dir, const char *text)
{
	struct ram_name **link = ram_find_link(dir, text), *name = *link;
	struct ram_node *node;

	ASSERT(name);
	node = name->node;
	*link = name->sibling;
	kfree(name);
	node->nr_names--;
	node->parent = NULL;
	dir->nr_dirs -= node->is_dir;
	return node;
}

void ram_exchange(struct ram_node *dir, const char *text, struct ram_node *other_dir,
		  const char *other_text)
{
	struct ram_name *name = *ram_find_link(dir, text);
	struct ram_name *other = *ram_find_link(other_dir, other_text);
	struct ram_node *node;

	ASSERT(name && other);
	node = name->node;
	dir->nr_dirs -= node->is_dir;
	other_dir->nr_dirs -= other->node->is_dir;
	ram_set_node(dir, name, other->node);
	ram_set_node(other_dir, other, node);
}
