/* Functions named by users. See func_name.h. */
#include "func_name.h"

#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "text/str.h"

#define SAME_MAX 16u /* most functions of a name that can be told apart */
#define WHY_MAX	 400u

/* Functions of one name; those behind the first SAME_MAX cannot be told apart. */
struct same_name {
	const char *name;
	uintptr_t addrs[SAME_MAX];
	size_t nr;
};

/* The reason of the last mistake; guarded by the config lock. */
static char why[WHY_MAX];

static void find_all(struct same_name *all, const char *name)
{
	all->name = name;
	all->nr = trace_plat_symbol_find_all(name, all->addrs, SAME_MAX);
	if (all->nr > SAME_MAX)
		all->nr = SAME_MAX;
}

/* Is `file` this path, or its end behind a slash? */
static bool is_file(const char *path, const char *file, size_t len)
{
	size_t path_len = path ? trace_strlen(path) : 0;

	return len && path_len >= len && memcmp(path + path_len - len, file, len) == 0 &&
	       (path_len == len || path[path_len - len - 1] == '/');
}

/* Keep the functions of that file, drop the others. */
static void keep_file(struct same_name *all, const char *file, size_t len)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (is_file(trace_plat_source_of(all->addrs[i]), file, len))
			all->addrs[kept++] = all->addrs[i];
	}
	all->nr = kept;
}

/* The file that tells `addr` from the others; NULL when there is none. */
static const char *own_file(const struct same_name *all, uintptr_t addr)
{
	const char *file = trace_plat_source_of(addr), *other;

	for (size_t i = 0; file && i < all->nr; i++) {
		other = trace_plat_source_of(all->addrs[i]);
		if (all->addrs[i] != addr && other && trace_streq(other, file))
			return NULL;
	}
	return file;
}

/* Make the reason: `what`, and the files of the functions with the name. */
static const char *say_where(const char *what, const struct same_name *all)
{
	struct trace_seq seq;

	trace_seq_init(&seq, why, sizeof(why) - 1);
	trace_seq_puts(&seq, what);
	for (size_t i = 0; i < all->nr; i++) {
		const char *file = own_file(all, all->addrs[i]);

		trace_seq_puts(&seq, i ? ", " : ": ");
		if (file)
			trace_seq_printf(&seq, "%s@%s", all->name, file);
		else
			trace_seq_printf(&seq, "0x%lx", (unsigned long)all->addrs[i]);
	}
	why[seq.len] = '\0';
	return why;
}

int trace_func_name_find(const char *text, size_t len, uintptr_t *out_addr, const char **out_why)
{
	struct same_name all, of_file;
	char name[TRACE_SYM_LEN];
	size_t at = 0;

	*out_why = NULL;
	while (at < len && text[at] != '@')
		at++;
	if (!at || at >= sizeof(name))
		return -ENOENT;
	memcpy(name, text, at);
	name[at] = '\0';
	find_all(&all, name);
	if (!all.nr)
		return -ENOENT;
	of_file = all;
	if (at < len)
		keep_file(&of_file, text + at + 1, len - at - 1);
	if (!of_file.nr)
		*out_why = say_where("No function of that name is of that file", &all);
	else if (of_file.nr > 1)
		*out_why = say_where("The symbol is not unique", &of_file);
	*out_addr = of_file.addrs[0];
	return !of_file.nr ? -ENOENT : of_file.nr > 1 ? -EADDRNOTAVAIL : 0;
}

size_t trace_func_name_write(const char *name, uintptr_t addr, char out_text[FUNC_NAME_MAX])
{
	struct same_name all;
	struct trace_seq seq;
	const char *file;

	find_all(&all, name);
	file = own_file(&all, addr);
	if (all.nr > 1 && !file)
		return 0;
	trace_seq_init(&seq, out_text, FUNC_NAME_MAX - 1);
	trace_seq_puts(&seq, name);
	if (all.nr > 1)
		trace_seq_printf(&seq, "@%s", file);
	out_text[seq.len] = '\0';
	return seq.overflowed ? 0 : seq.len;
}
