/* kshark FILE: what KernelShark's library reads in a trace.dat, an event a line: time, CPU, pid, name, fields. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <libkshark.h>

static void print_entry(const struct kshark_entry *entry)
{
	char *name, *info;

	if (entry->event_id < 0) /* of the library's own, where events are missing */
		return;
	name = kshark_get_event_name(entry);
	info = kshark_get_info(entry);
	printf("%" PRIu64 " %d %d %s: %s\n", entry->ts, entry->cpu, entry->pid, name ? name : "?",
	       info ? info : "?");
	free(name);
	free(info);
}

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **entries = NULL;
	ssize_t nr;
	int stream;

	if (argc != 2 || !kshark_instance(&context))
		return 2;
	stream = kshark_open(context, argv[1]);
	if (stream < 0) {
		fprintf(stderr, "kshark: cannot open %s: %d\n", argv[1], stream);
		return 1;
	}
	nr = kshark_load_entries(context, stream, &entries);
	if (nr < 0) {
		fprintf(stderr, "kshark: cannot read %s: %zd\n", argv[1], nr);
		return 1;
	}
	for (ssize_t i = 0; i < nr; i++)
		print_entry(entries[i]);
	return 0;
}
