"""For check-probes, inside gdb: types of functions and of pointers to functions, as texts that can be compared."""
import json

import gdb


def describe(kind):
    kind = kind.strip_typedefs().unqualified()
    if kind.code == gdb.TYPE_CODE_PTR:
        return "*" + describe(kind.target())
    if kind.code == gdb.TYPE_CODE_FUNC:
        return describe(kind.target()) + "(" + ", ".join(describe(field.type) for field in kind.fields()) + ")"
    if kind.code == gdb.TYPE_CODE_INT:
        return f"int{kind.sizeof}{'s' if kind.is_signed else 'u'}"
    if kind.code == gdb.TYPE_CODE_ENUM:
        return "int4u"
    return f"{kind.code}:{kind.tag or kind.name}"


def member(kind, name):
    for field in kind.fields():
        if field.name == name:
            return field.type
        if not field.name and (found := member(field.type, name)):
            return found
    return None


def pointer(name):
    """The type that STRUCT.MEMBER, a typedef, or a parameter of FUNCTION() points to."""
    try:
        if name.endswith("()"):
            parameters = gdb.lookup_global_symbol(name[:-2]).type.fields()
            kinds = [field.type.strip_typedefs() for field in parameters]
            kind = next(
                kind for kind in kinds if kind.code == gdb.TYPE_CODE_PTR and kind.target().strip_typedefs().code == gdb.TYPE_CODE_FUNC
            )
        elif "." in name:
            kind = member(gdb.lookup_type("struct " + name.split(".")[0]), name.split(".")[1]).strip_typedefs()
        else:
            kind = gdb.lookup_type(name).strip_typedefs()
        target = kind.target().strip_typedefs()
        return describe(target) if target.code == gdb.TYPE_CODE_FUNC else None
    except (gdb.error, AttributeError, RuntimeError, StopIteration):
        return None


def function(address, name):
    """The type of the function at an address; None for assembly, ? when gdb does not know it. It is looked up by name:
    gdb's blocks are wrong beside a function whose unlikely part is elsewhere."""
    name = name.split(".")[0]
    symbols = [gdb.lookup_global_symbol(name), *gdb.lookup_static_symbols(name)]
    for symbol in symbols:
        if symbol and symbol.type.code == gdb.TYPE_CODE_FUNC and int(symbol.value().address) == address:
            return describe(symbol.type)
    where = gdb.find_pc_line(address).symtab
    return "?" if where and where.filename.endswith(".c") else None


def source_function(address):
    """The function of the source at an address, which may be inlined; None for assembly. Its line. The function that
    all of it is inlined into."""
    block, where = gdb.block_for_pc(address), gdb.find_pc_line(address)
    while block and not block.function:
        block = block.superblock
    outer = block
    while outer and outer.superblock and not outer.superblock.is_static:
        outer = outer.superblock
    return (
        block.function.name if block else None,
        f"{where.symtab.filename if where.symtab else '?'}:{where.line}",
        outer.function.name if outer and outer.function else None,
    )


with open(asked, encoding="utf-8") as file:  # noqa: F821, a variable of the command line
    questions = json.load(file)
answers = {
    "functions": {address: function(int(address), name) for address, name in questions["functions"].items()},
    "calls": {address: source_function(address) for address in questions["calls"]},
    "types": {name: pointer(name) for name in questions["types"]},
}
with open(questions["answer"], "w", encoding="utf-8") as file:
    json.dump(answers, file)
