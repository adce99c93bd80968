import ast, sys

split = sys.modules["_wildgym"].split
SPLIT = [
    "print(1)", "x = 1\nx", "if 1:\n  2\n3", "s = '''a\nb'''\ns", "x  # why", "1  # why\n",
    "lambda: 1", "a,", "a if b else c\n", "try:\n  1\nfinally:\n  2\n5", "'a'\n'b'",
    "def f():\n  '''x\ny'''\nf()", "match x:\n case 1: pass\nmatch\n", "print(1)\r\nprint(2)\r\n",
    "(a\n)\nb", "x = 1\n\n\n  \nx", "@d\ndef f(): pass\nf",
]
WHOLE = [
    "", "'''a\nb'''", "f(\n1\n)", "(\n1)", "a = 1; b", "x = [1,\n2]", "@d\ndef f(): pass", "a\\\n+b",
    "if x:\n  pass\nelse:\n  y", "# why", "for i in x: i", "yield 1", "await f()", "x: int", "*a",
    "a\rb", "x = 5 if 1 else \\\n3", "if x:\n  1\n2 if", "from __future__ import annotations\nx",
]


def same(one, other):
    return ast.dump(one) == ast.dump(other)


for source in SPLIT:
    tree, text = ast.parse(source), source.rstrip()
    at = text.rfind("\n") + 1
    assert split(source), source
    assert same(ast.parse(text[at:], mode="eval").body, tree.body[-1].value), source
    assert same(ast.parse(text[:at]), ast.Module(tree.body[:-1], [])), source
for source in WHOLE:
    assert split(source) is None, source
print("as the tree says")
