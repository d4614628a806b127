/*
 * Parts of a file in ELF, of 64 bits, shared by the files that read symbols and notes: see probe_uprobe.h. Nothing of the
 * file is believed: each read may fail.
 *
 * Context: thread, which may block. The file is the caller's.
 */
#ifndef PROBE_UPROBE_ELF_H
#define PROBE_UPROBE_ELF_H

#include "probe_uprobe.h"

struct elf_header {
	uint8_t magic[4], class, order, rest[10];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments, sections;
	uint32_t flags;
	uint16_t bytes, segment_bytes, nr_segments, section_bytes, nr_sections, names;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, addr, unused, file_bytes, bytes, align;
};

struct elf_section {
	uint32_t name, type;
	uint64_t flags, addr, offset, bytes;
	uint32_t link, info;
	uint64_t align, entry_bytes;
};

struct probe_elf {
	struct uprobe_file *file;
	struct elf_header header;
};

/* False: the file is no ELF file of 64 bits. */
bool trace_probe_elf_open(struct probe_elf *elf, struct uprobe_file *file);
/* All of `bytes` from `offset` of the file on; false: it does not have them. */
bool trace_probe_elf_read(const struct probe_elf *elf, uint64_t offset, void *to, size_t bytes);
/* False: there is no section of that number. */
bool trace_probe_elf_section(const struct probe_elf *elf, uint32_t i, struct elf_section *out);
/* The offset in the file of the byte at that address; false: the file does not have it. */
bool trace_probe_elf_offset(const struct probe_elf *elf, uint64_t addr, uint64_t *out_offset);

#endif
