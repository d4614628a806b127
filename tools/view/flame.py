"""Time by call stack: trees that grow with each call that function_graph reports, each sample, each wait."""
NODES = 20000  # after which only what is known grows
UNSEEN = None  # in place of a function whose entry was lost, or lies before the beginning


class Node:
    __slots__ = ("children", "calls", "spent_ns")

    def __init__(self):
        self.children, self.calls, self.spent_ns = {}, 0, 0


class Tree:
    """Nodes by the way to them, no more of them than NODES."""

    def __init__(self):
        self.root, self.nodes = Node(), 1

    def child(self, node, function):
        found = node.children.get(function)
        if not found:
            found = Node()
            if self.nodes < NODES:
                node.children[function] = found
                self.nodes += 1
        return found

    def add(self, path, spent_ns, calls=1):
        """Time of one stack, whose outermost frame comes first; it is that of each frame."""
        node = self.root
        for frame in path:
            node = self.child(node, frame)
            node.spent_ns += spent_ns
            node.calls += calls

    def picture(self, name_of, least=1 / 2000):
        """[name, ns, calls, [children]] of all that is wide enough to be seen."""

        def below(node, floor):
            kept = []
            for function, one in node.children.items():
                children = below(one, floor)
                # A call that has not returned yet is as long as what it has called.
                spent = max(one.spent_ns, sum(child[1] for child in children))
                if spent >= floor and spent:
                    kept.append(["(not seen)" if function is UNSEEN else name_of(function), spent, one.calls, children])
            return sorted(kept, key=lambda row: row[0])

        whole = below(self.root, 0)
        total = sum(row[1] for row in whole)
        return ["all", total, sum(row[2] for row in whole), pruned(whole, total * least)]


class Calls(Tree):
    """Entries and returns come by CPU. A thread that is switched away goes on with its own stack later, maybe elsewhere."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.root, self.nodes = Node(), 1
        self.stacks = {}  # of a thread: [(function, node)]; idle threads share a number, so the CPU belongs to it

    def stack_of(self, cpu, pid, depth):
        """The known part of the thread's stack down to `depth`. Frames whose entry was not seen share one that has no name."""
        stack = self.stacks.setdefault((cpu, 0) if pid == 0 else pid, [])
        del stack[depth:]
        if len(stack) < depth:
            unseen = self.child(stack[-1][1] if stack else self.root, UNSEEN)
            stack += [(UNSEEN, unseen)] * (depth - len(stack))
        return stack

    def enter(self, cpu, pid, depth, function):
        stack = self.stack_of(cpu, pid, depth)
        stack.append((function, self.child(stack[-1][1] if stack else self.root, function)))

    def leave(self, cpu, pid, depth, function, spent_ns):
        stack = self.stack_of(cpu, pid, depth + 1)
        name, node = stack.pop()
        if name == function:
            node.calls += 1
            node.spent_ns += spent_ns

    def forget(self):
        """Events were lost: no stack is known for certain."""
        self.stacks.clear()


def pruned(rows, floor):
    return [[name, spent, calls, pruned(children, floor)] for name, spent, calls, children in rows if spent >= floor]
