"""Small faults in Python source: each is one change of one place (`mutants.py` runs them)."""

from __future__ import annotations

import ast
import copy

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.MatMult: None,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
CALLS = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all",
    "all": "any", "abs": "float", "argmin": "argmax", "argmax": "argmin", "ceil": "floor",
    "floor": "ceil", "sqrt": "square", "cumsum": "cumprod", "argsort": "sort",
}  # fmt: skip


class Places(ast.NodeVisitor):
    """Walks what runs: no annotations, docstrings, texts, messages of errors or `__all__`."""

    def __init__(self):
        self.found = []
        self.depth = 0  # of functions around; 0: runs when the module is imported
        self.names = []  # of functions and classes around
        self.statement = None

    def add(self, node, what, change):
        around = ".".join(self.names), self.statement
        self.found.append((node.lineno, what, change, self.depth > 0, *around))

    def visit(self, node):
        before = self.names, self.statement
        if isinstance(node, ast.stmt):
            self.statement = node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.names = [*self.names, node.name]
        super().visit(node)
        self.names, self.statement = before

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node):
        pass

    def visit_JoinedStr(self, node):
        pass

    def visit_Raise(self, node):
        pass

    def visit_Assign(self, node):
        if getattr(node.targets[0], "id", "") != "__all__":
            self.visit(node.value)

    def visit_FunctionDef(self, node):
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self.depth += 1
        for line in node.body:
            self.visit(line)
        self.depth -= 1

    def visit_If(self, node):
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self._condition(node)

    def visit_While(self, node):
        self._condition(node)

    def visit_IfExp(self, node):
        self._condition(node)

    def _condition(self, node):
        def change():
            node.test = ast.UnaryOp(ast.Not(), node.test)

        self.add(node, f"if not ({ast.unparse(node.test)})", change)
        self.generic_visit(node)

    def visit_Compare(self, node):
        for at, operator in enumerate(node.ops):
            other = COMPARISONS[type(operator)]

            def change(at=at, other=other):
                node.ops[at] = other()

            self.add(node, f"{ast.unparse(node)}: {other.__name__}", change)
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        self._swap(node, other)

    def visit_BinOp(self, node):
        texts = (ast.Constant, ast.JoinedStr)
        text = any(isinstance(n, texts) and _is_text(n) for n in (node.left, node.right))
        other = ARITHMETIC.get(type(node.op))
        if other is None or text or (isinstance(node.op, ast.BitOr) and _is_type(node)):
            self.generic_visit(node)
        else:
            self._swap(node, other)

    def visit_AugAssign(self, node):
        other = ARITHMETIC.get(type(node.op))
        if other is not None:
            self._swap(node, other)

    def _swap(self, node, other):
        def change():
            node.op = other()

        self.add(node, f"{ast.unparse(node)}: {other.__name__}", change)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):

            def change():
                node.op = ast.UAdd()

            self.add(node, f"{ast.unparse(node)}: without the minus", change)
        self.generic_visit(node)

    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            new = not value
        elif isinstance(value, int):
            new = value + 1
        elif isinstance(value, float):
            new = 2 * value if value else 1.0
        else:
            return

        def change():
            node.value = new

        self.add(node, f"{value} → {new}", change)

    def visit_Call(self, node):
        name = node.func
        key = "attr" if isinstance(name, ast.Attribute) else "id"
        other = CALLS.get(getattr(name, key, ""))
        if other:

            def change():
                setattr(name, key, other)

            self.add(node, f"{ast.unparse(node)}: {other}", change)
        self.generic_visit(node)


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or isinstance(node.value, str)


def _is_type(node):
    names = [ast.unparse(part) for part in (node.left, node.right)]
    return any(name in ("None", "int", "float", "str", "Array") for name in names)


def _head(statement):
    """Text of a statement, without the statements inside it."""
    inside = (ast.stmt, ast.excepthandler, ast.match_case)
    head = copy.copy(statement)
    for name, part in ast.iter_fields(statement):
        if isinstance(part, list) and part and isinstance(part[0], inside):
            setattr(head, name, [])
    return ast.unparse(head)


def _places(source):
    tree = ast.parse(source)
    walker = Places()
    walker.visit(tree)
    return tree, walker.found


def mutants_of(source):
    """Every mutant of a file: its number, line, what, the line's text, inside a function or not.

    Also what stays when a function is formatted anew or moves: its name and the whole statement.
    """
    lines = source.splitlines()
    return [
        {"number": number, "line": line, "what": what, "text": lines[line - 1].strip()}
        | {"inside": inside, "function": function, "original": _head(statement)}
        for number, (line, what, _, inside, function, statement) in enumerate(_places(source)[1])
    ]


def faulty_statement(source, number):
    """The statement of the mutant of that number, with its fault."""
    _, _, change, _, _, statement = _places(source)[1][number]
    change()
    return _head(statement)


def mutated(source, number):
    """The tree of the source with the fault of that number (None: as it was)."""
    tree, found = _places(source)
    if number is not None:
        found[number][2]()
    return ast.fix_missing_locations(tree)


def reached_by(source, line):
    """What to look for to see a line at work that runs at import: (names, lines of its own).

    A default belongs to the body of its function, a class's line to its methods, a constant
    to the lines that name it.
    """
    tree = ast.parse(source)
    for node in tree.body:
        if not node.lineno <= line <= node.end_lineno:
            continue
        inner = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef)]
        around = [n for n in inner if n.lineno <= line <= n.end_lineno]
        if around:
            return [], _lines(around[-1].body)
        if isinstance(node, ast.ClassDef):
            return [node.name], [at for one in inner for at in _lines(one.body)]
        return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _stored(n)], []
    return [], []


def _lines(body):
    return range(body[0].lineno, body[-1].end_lineno + 1)


def _stored(name):
    return isinstance(name.ctx, ast.Store)
