"""What the extension does with nodes is what Python does: the same nodes, the same errors, the same answers."""

import gc
import random
from contextlib import suppress
from typing import Any

import pytest

from tests.schedule.test_structure import changed, drawn, leaf, made, with_other_numbers
from uopc_array._array.extension import IN_C
from uopc_core.dtype import DTYPES, dtypes
from uopc_core.ir import alike, uop
from uopc_core.ir.op import BINARY, CALLS, LEAVES, UNARY, Ops
from uopc_core.ir.uop import UOp, node_count
from uopc_core.runtime.buffer import Buffer
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.structure import Structure

pytestmark = pytest.mark.skipif(IN_C is None, reason="the extension is optional")
FIELDS = ("op", "src", "arg", "dtype", "shape", "flags", "depth", "held", "realized")
BY = {"python": uop._make_in_python, "c": getattr(IN_C, "make_node", None)}

MOVES = (Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.SHRINK, Ops.PAD, Ops.FLIP)
APT = (*MOVES, Ops.WHERE, Ops.CAST, Ops.REDUCE)


def outcome(by: str, op: Ops, src: tuple[UOp, ...], arg: Any, *more: Any) -> Any:
    """The fields of the node that is made, or what is wrong."""
    make: Any = BY[by]
    try:
        node = make((by, op, src, arg, *more), op, src, arg, *more)
    except Exception as error:
        return type(error), str(error)
    assert make is not None
    assert uop._table[by, op, src, arg, *more]() is node
    return [getattr(node, field) for field in FIELDS]


def sources() -> list[UOp]:
    found = [leaf((3, 4), dtype) for dtype in DTYPES]
    found += [leaf((4,)), leaf((3, 4)).variable(), leaf((3, 4)).variable().cast(dtypes.int64), leaf(()) + leaf(())]
    return [*found, UOp.param(0, (3, 4), dtypes.float64), UOp.const(2.5, dtypes.float64, (3, 4))]


def test_nodes_and_their_errors_are_the_same_for_all_operations():
    rng = random.Random(0)
    given = sources()
    arguments = (None, (3, 4), (12,), (1, 0), 0, 1, (Ops.ADD, 1), Ops.MAX, ((0, 2), (1, 3)), "add")
    n_errors = n_nodes = 0
    for op in Ops:
        if op in CALLS or op in LEAVES:
            continue
        is_elementwise = op in UNARY or op in BINARY
        for _ in range(60):
            src = tuple(rng.choices(given, k=rng.choice((1, 1, 2, 2, 3))))
            arg = None if is_elementwise else rng.choice(arguments)
            dtype = rng.choice((None, dtypes.float32)) if op in uop.TYPED_BY_DTYPE else None
            wanted = outcome("python", op, src, arg, dtype)
            assert outcome("c", op, src, arg, dtype) == wanted
            n_errors += isinstance(wanted, tuple)
            n_nodes += isinstance(wanted, list)
            if isinstance(wanted, list):  # for who knows the type already
                assert outcome("c", op, src, arg, wanted[3], wanted[4]) == wanted
    assert n_errors > 500
    assert n_nodes > 400


def apt(rng: random.Random, op: Ops) -> tuple[tuple[UOp, ...], Any, Any]:
    """Sources, an argument and a dtype that the rule of `op` takes, or nearly."""
    shape = tuple(rng.choices((0, 1, 1, 2, 3), k=rng.randrange(4)))
    x, ndim = leaf(shape, rng.choice(DTYPES)), len(shape)
    if op is Ops.WHERE:
        wrong = rng.randrange(9)
        condition = leaf((3,) if wrong == 0 else shape, dtypes.int8 if wrong == 1 else dtypes.bool)
        y = leaf((2,) if wrong == 2 else shape, rng.choice(DTYPES) if wrong == 3 else x.dtype)
        return (condition, x, y), None, None
    if op is Ops.CAST:
        return (x,), None, rng.choice(DTYPES)
    if op is Ops.REDUCE:
        how = rng.choice((Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN, Ops.AND, Ops.OR, Ops.SUB))
        return (x,), (how, rng.randrange(-1, ndim + 2)), None
    near = rng.randrange(ndim + 1) if rng.randrange(4) == 0 else ndim  # as many axes, most times
    pairs = tuple([(rng.randrange(-1, 2) if rng.randrange(6) == 0 else 0, rng.randrange(3)) for _ in range(near)])
    argument = {
        Ops.RESHAPE: rng.sample(shape, ndim) if near == ndim else rng.choices((-1, 1, 2, 6), k=near),
        Ops.EXPAND: [n if rng.randrange(2) else rng.randrange(-1, 4) for n in shape[:near]],
        Ops.PERMUTE: rng.sample(range(ndim), near) if rng.randrange(4) else rng.choices(range(-1, ndim + 1), k=near),
        Ops.SHRINK: pairs,
        Ops.PAD: pairs,
        Ops.FLIP: rng.choices(range(-1, ndim + 1), k=rng.randrange(ndim + 1)),
    }.get(op)
    return (x,), None if argument is None else tuple(argument), None


@pytest.mark.parametrize("op", [*APT, Ops.MATERIALIZE, Ops.DETACH], ids=str)
def test_types_are_what_the_rules_say(op: Ops):
    rng = random.Random(0)
    n_nodes = n_errors = 0
    for _ in range(300):
        src, arg, dtype = apt(rng, op)
        wanted = outcome("python", op, src, arg, dtype)
        assert outcome("c", op, src, arg, dtype) == wanted, (src, arg, dtype)
        n_errors += isinstance(wanted, tuple)
        n_nodes += isinstance(wanted, list)
    assert n_nodes > 60
    assert n_errors > 20 or op not in APT


def test_what_is_gone_leaves_the_table_whoever_made_it():
    x = leaf()
    uop._recent_consts.clear()
    gc.collect()
    before = node_count()
    node = x * 2.5 + x
    assert node_count() > before
    del node
    uop._recent_consts.clear()
    assert node_count() == before


def rows_of(seed: int) -> tuple[list[Any], list[list[UOp]], random.Random]:
    """What a structure says, and graphs: of that one, and of others."""
    rng = random.Random(seed)
    steps = drawn(rng, rng.randrange(2, 12))
    graphs: list[list[UOp]] = []
    for program in (steps, with_other_numbers(steps), changed(rng, steps), changed(rng, steps)):
        values = [leaf(), leaf()]
        for step in program:
            values.append(made(step, values))
        graphs.append([values[-1]])
    structure = Structure.of(canonicalise(graphs[0]))
    return ([] if structure is None else structure._rows), graphs, rng


def test_graphs_are_alike_in_both_languages():
    answers: list[bool] = []
    for seed in range(300):
        rows, graphs, rng = rows_of(seed)
        for roots in graphs:
            if rng.randrange(4) == 0:
                # what is made of constants alone outlives this test
                own = [node for node in roots[0].walk() if any([x.op is Ops.BUFFER for x in node.walk()])]
                for node in rng.choices(own, k=2) if own else ():
                    if rng.randrange(2):
                        node.held += 1
                    else:
                        node.settle(Buffer.empty(node.shape, node.dtype))
            said: list[Any] = []
            for compare in (alike._are_alike, IN_C.are_alike):
                nodes, memory, numbers = [*roots], [], []
                said.append((compare(rows, nodes, 0, memory, numbers), nodes, memory, list(map(repr, numbers))))
            assert said[0] == said[1]
            answers.append(said[0][0])
    assert 200 < sum(answers) < 1000


def test_graphs_are_made_again_in_both_languages():
    for seed in range(200):
        _, graphs, _ = rows_of(seed)
        order = graphs[0][0].walk()
        leaves = [node for node in order if not node.src]
        numbers = {node: i for i, node in enumerate(leaves)}
        rows: list[alike.Made] = []
        for node in order:
            if node.src:
                places = tuple([numbers[s] for s in node.src])
                numbers[node] = len(numbers)
                rows.append((node.op, node.arg, node.shape, node.dtype, places))
        others = [leaf() if node.op is Ops.BUFFER else node for node in leaves]
        for inputs in (leaves, others):
            found: list[list[UOp]] = []
            for make in (alike._make_again, IN_C.make_again):
                found.append([*inputs])
                make(rows, found[-1])
            assert [*map(id, found[0])] == [*map(id, found[1])]
            assert (found[0][-1] is graphs[0][0]) is (inputs is leaves or not any([x.op is Ops.BUFFER for x in leaves]))


NAMES = ("new", "of_type", "make_node", "forget_node", "are_alike", "make_again", "held_among", "latest_nodes")


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_are_errors_and_no_crash(name: str):
    x = leaf()
    blank = object.__new__(UOp)
    others: tuple[Any, ...] = (1, None, x, (x,), (blank,), [x], [blank], [1], [(Ops.ADD, None, (), None, (0, 7))], (3,))
    rng = random.Random(0)
    for n in range(8):
        for _ in range(60):
            args = [rng.choice((*others, Ops.ADD, Ops.RESHAPE, Ops.REDUCE)) for _ in range(n)]
            with suppress(Exception):
                getattr(IN_C, name)(*args)
    assert (x + x).src == (x, x)
