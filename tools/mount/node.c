/* Files that FUSE knows. See node.h. */
#include <stdlib.h>
#include "client.h"
#include "node.h"

#define NR_LISTS 1024u

static struct node *lists[NR_LISTS];
static uint32_t *free_fids;
static size_t nr_free, free_size;
static uint32_t next_fid = ROOT_FID + 1;

uint32_t fid_new(void)
{
	return nr_free ? free_fids[--nr_free] : next_fid++;
}

void fid_free(uint32_t fid)
{
	if (nr_free == free_size) {
		free_size = free_size ? 2 * free_size : 64;
		free_fids = realloc(free_fids, free_size * sizeof(*free_fids));
		if (!free_fids)
			abort();
	}
	free_fids[nr_free++] = fid;
}

static void clunk_done(void *arg, int err, const uint8_t *body, size_t len)
{
	(void)err;
	(void)body;
	(void)len;
	fid_free((uint32_t)(uintptr_t)arg);
}

void fid_clunk(uint32_t fid)
{
	client_begin(TCLUNK);
	client_put(fid, 4);
	client_send(clunk_done, (void *)(uintptr_t)fid);
}

static struct node **link_of(uint64_t id)
{
	struct node **link = &lists[id % NR_LISTS];

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	return link;
}

struct node *node_get(uint64_t id, uint32_t fid)
{
	struct node **link = link_of(id);
	struct node *node = *link;

	if (node) {
		/* The kernel may have renamed the file: the fid that has just been found knows. */
		fid_clunk(node->fid);
		node->fid = fid;
	} else {
		node = calloc(1, sizeof(*node));
		if (!node)
			abort();
		node->id = id;
		node->fid = fid;
		*link = node;
	}
	node->nr_lookups++;
	return node;
}

void node_forget(struct node *node, uint64_t nr_lookups)
{
	node->nr_lookups -= nr_lookups < node->nr_lookups ? nr_lookups : node->nr_lookups;
	if (node->nr_lookups)
		return;
	*link_of(node->id) = node->next;
	fid_clunk(node->fid);
	free(node);
}
