/* Walks over the instructions of a function, see <trace/arch_walk.h>. */
#include <trace/arch_walk.h>
#include <trace/errno.h>

static uintptr_t walk_end(const struct trace_walk_func *func)
{
	return func->start + func->bytes;
}

int trace_walk_decode(const struct trace_walk_func *func, uintptr_t addr,
		      struct trace_insn *out_insn)
{
	uint8_t bytes[TRACE_INSN_MAX];
	size_t room = walk_end(func) - addr;
	int err;

	if (addr - func->start >= func->bytes)
		return -ERANGE;
	if (room > sizeof(bytes))
		room = sizeof(bytes);
	if (!func->read(addr, bytes, room))
		return -EINVAL;
	err = trace_insn_decode(out_insn, bytes, room);
	if (err == -ENODATA)
		return -ERANGE;
	return err ? -EINVAL : 0;
}

int trace_walk_find(const struct trace_walk_func *func, uintptr_t addr, uintptr_t *out_start,
		    struct trace_insn *out_insn)
{
	uintptr_t at = func->start;

	if (addr - func->start >= func->bytes)
		return -ERANGE;
	for (;;) {
		if (trace_walk_decode(func, at, out_insn))
			return -EINVAL;
		if (addr - at < out_insn->length)
			break;
		at += out_insn->length;
	}
	*out_start = at;
	return 0;
}

/* The whole instructions from `addr` on that cover `need` bytes. */
static int walk_cover(const struct trace_walk_func *func, uintptr_t addr, size_t need,
		      size_t *out_bytes)
{
	struct trace_insn insn;
	size_t bytes = 0;
	int err;

	while (bytes < need) {
		err = trace_walk_decode(func, addr + bytes, &insn);
		if (err)
			return err;
		bytes += insn.length;
	}
	*out_bytes = bytes;
	return 0;
}

/* Does the instruction at `at` go behind the first byte of the `bytes` at `addr`? */
static int walk_enters(const struct trace_insn *insn, uintptr_t at, uintptr_t addr, size_t bytes)
{
	uintptr_t into;

	if (insn->kind == TRACE_INSN_JMP_INDIRECT || insn->kind == TRACE_INSN_JMP_FAR)
		return -EOPNOTSUPP;
	if (!trace_insn_is_relative(insn))
		return 0;
	into = trace_insn_target(insn, at) - addr;
	return into > 0 && into < bytes ? -EBUSY : 0;
}

int trace_walk_room(const struct trace_walk_func *func, uintptr_t addr, size_t jump_bytes,
		    size_t *out_bytes)
{
	struct trace_insn insn;
	uintptr_t start;
	size_t bytes;
	int err = trace_walk_find(func, addr, &start, &insn);

	if (err)
		return err;
	if (start != addr)
		return -EINVAL;
	err = walk_cover(func, addr, jump_bytes, &bytes);
	if (err)
		return err;

	for (uintptr_t at = func->start; at != walk_end(func); at += insn.length) {
		if (trace_walk_decode(func, at, &insn))
			return -EINVAL;
		err = walk_enters(&insn, at, addr, bytes);
		if (err)
			return err;
	}
	*out_bytes = bytes;
	return 0;
}
