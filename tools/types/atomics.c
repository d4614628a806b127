/* See atomics.h. DWARF 5, section 7.5.3: what .debug_abbrev consists of. */
#include "atomics.h"

#include <dwarf.h>

struct reader {
	uint8_t *pos;
	const uint8_t *end;
};

/* An unsigned LEB128 number; 0 at the end of the section. */
static uint64_t read_number(struct reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (reader->pos < reader->end) {
		uint8_t byte = *reader->pos++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static void skip_attributes(struct reader *reader)
{
	uint64_t name, form;

	do {
		name = read_number(reader);
		form = read_number(reader);
		if (form == DW_FORM_implicit_const)
			read_number(reader);
	} while ((name || form) && reader->pos < reader->end);
}

int atomics_to_volatile(struct linked *image)
{
	size_t section = linked_find_section(image, ".debug_abbrev");
	const Elf64_Shdr *header = &image->sections[section];
	struct reader reader;

	if (section == 0 || header->sh_offset > image->size ||
	    header->sh_size > image->size - header->sh_offset)
		return linked_error(image, "no debug information: compile with -g");
	reader.pos = image->bytes + header->sh_offset;
	reader.end = reader.pos + header->sh_size;
	while (reader.pos < reader.end) {
		uint8_t *tag;

		if (read_number(&reader) == 0)
			continue; /* the end of the table of a unit */
		tag = reader.pos;
		if (read_number(&reader) == DW_TAG_atomic_type)
			*tag = DW_TAG_volatile_type;
		reader.pos++; /* has children? */
		skip_attributes(&reader);
	}
	return 0;
}
