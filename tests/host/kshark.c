/*
 * kshark FILE: what KernelShark's library reads in a trace.dat, an event a line: time, CPU, pid, name,
 * fields; in front of those of an instance its name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <libkshark-tepdata.h>
#include <libkshark.h>

static void print_entry(const struct kshark_entry *entry, const char *instance)
{
	char *name, *info;

	if (entry->event_id < 0) /* of the library's own, where events are missing */
		return;
	name = kshark_get_event_name(entry);
	info = kshark_get_info(entry);
	printf("%s%s%" PRIu64 " %d %d %s: %s\n", instance, *instance ? " " : "", entry->ts,
	       entry->cpu, entry->pid, name ? name : "?", info ? info : "?");
	free(name);
	free(info);
}

/* Of one buffer. */
static bool print_stream(struct kshark_context *context, int stream, const char *instance)
{
	struct kshark_entry **entries = NULL;
	ssize_t nr = kshark_load_entries(context, stream, &entries);

	if (nr < 0) {
		fprintf(stderr, "kshark: cannot read stream %d: %zd\n", stream, nr);
		return false;
	}
	for (ssize_t i = 0; i < nr; i++)
		print_entry(entries[i], instance);
	return true;
}

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	int stream, *streams, nr_buffers;
	bool is_read;

	if (argc != 2 || !kshark_instance(&context))
		return 2;
	stream = kshark_open(context, argv[1]);
	if (stream < 0) {
		fprintf(stderr, "kshark: cannot open %s: %d\n", argv[1], stream);
		return 1;
	}
	nr_buffers = kshark_tep_init_all_buffers(context, stream);
	streams = kshark_all_streams(context);
	if (nr_buffers < 0 || !streams) {
		fprintf(stderr, "kshark: cannot open the instances in %s: %d\n", argv[1],
			nr_buffers);
		return 1;
	}
	is_read = print_stream(context, stream, "");
	for (int i = 0; is_read && i < context->n_streams; i++) {
		if (streams[i] != stream)
			is_read = print_stream(context, streams[i],
					       context->stream[streams[i]]->name);
	}
	return is_read ? 0 : 1;
}
