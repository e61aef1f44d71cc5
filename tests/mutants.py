"""Small random changes of a program, of the sorts by which a fix goes wrong."""

import ast
import copy
import random

COMPARISONS = [ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.IsNot]
OPERATORS = [ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod]


def mutant(source: str, draw: random.Random) -> str | None:
    """The source with one small change; None: the draw found nothing to change."""
    tree = copy.deepcopy(ast.parse(source))
    nodes = list(ast.walk(tree))
    draw.shuffle(nodes)
    names = sorted({node.id for node in nodes if isinstance(node, ast.Name)})
    for node in nodes:
        if _changed(node, draw, names):
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return None


def _changed(node: ast.AST, draw: random.Random, names: list[str]) -> bool:
    """Change one node in place, if it is of a sort that is changed."""
    match node:
        case ast.Compare():
            if draw.random() < 0.5:
                node.ops[0] = draw.choice(COMPARISONS)()
            else:
                node.left, node.comparators[-1] = node.comparators[-1], node.left
        case ast.BinOp():
            if draw.random() < 0.3:
                node.op = draw.choice(OPERATORS)()
            else:
                node.left, node.right = node.right, node.left
        case ast.BoolOp():
            if draw.random() < 0.5:
                node.values.reverse()
            else:
                node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.If() if draw.random() < 0.7:
            if draw.random() < 0.5:
                node.test = ast.UnaryOp(ast.Not(), node.test)
            else:
                node.body, node.orelse = node.orelse or [ast.Pass()], node.body
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
        case ast.UnaryOp(op=ast.Not()):
            node.op = ast.UAdd()
        case ast.Call(args=[_, _, *_]):
            node.args[0], node.args[1] = node.args[1], node.args[0]
        case ast.Constant(value=int(value)) if draw.random() < 0.6:
            node.value = not value if isinstance(value, bool) else draw.choice([value + 1, value - 1, float(value)])
        case ast.Name() if draw.random() < 0.4 and len(names) > 1:
            node.id = draw.choice([name for name in names if name != node.id])
        case ast.Return(value=ast.expr() as value) if draw.random() < 0.3:
            node.value = draw.choice([None, ast.Tuple([value], ast.Load()), ast.UnaryOp(ast.Not(), value)])
        case ast.FunctionDef() | ast.For() | ast.While() if len(node.body) > 1 and draw.random() < 0.6:
            at = draw.randrange(len(node.body) - 1)
            if draw.random() < 0.6:
                node.body[at], node.body[at + 1] = node.body[at + 1], node.body[at]
            else:
                del node.body[at]
        case _:
            return False
    return True
