"""What is recognised has the canonical form that the long way gives it, for graphs drawn from all there are."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from uopc_core.dtype import DType, dtypes
from uopc_core.ir.composite import const_of
from uopc_core.ir.op import BINARY, COMPARISONS, UNARY, Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.shared import read_elsewhere
from uopc_core.schedule.structure import Structure

SHAPE = (3, 4)
OTHERS = {0.3: 0.7, 17.5: 18.5, -33.25: 1e-9, 1e9: -2e9}  # that change
NUMBERS = (0.0, -0.0, 1.0, 0.5, float("nan"), *OTHERS)
REAL_BINARY = sorted(BINARY - COMPARISONS - {Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.COMPLEX})
REAL_UNARY = sorted(UNARY - {Ops.NOT, Ops.REAL, Ops.IMAG, Ops.CONJ, Ops.CAST, Ops.BITCAST})
Step = tuple[str, int, int, int, float]  # what is done, to which of the values so far, how, and with which number
KINDS = (
    *("binary", "unary", "number left", "number right", "compare", "shift", "turn", "flip", "total", "cast", "scan"),
    *("gather", "scatter", "detach", "variable", "full", "counter", "join", "bits"),
)


def leaf(shape: tuple[int, ...] = SHAPE, dtype: DType = dtypes.float64) -> UOp:
    return UOp.buffer(Buffer.from_numpy(np.ones(shape, dtype)))


def drawn(rng: random.Random, length: int) -> list[Step]:
    return [
        (rng.choice(KINDS), rng.randrange(99), rng.randrange(99), rng.randrange(99), rng.choice(NUMBERS))
        for _ in range(length)
    ]


def with_other_numbers(steps: list[Step]) -> list[Step]:
    """The same, with other numbers where they may change."""
    return [(*step[:4], OTHERS.get(step[4], step[4])) for step in steps]


def changed(rng: random.Random, steps: list[Step]) -> list[Step]:
    """Another program that differs in one step."""
    i = rng.randrange(len(steps))
    step = list(steps[i])
    part = rng.randrange(5)
    step[part] = drawn(rng, 1)[0][part]
    return [*steps[:i], tuple(step), *steps[i + 1 :]]  # pyright: ignore[reportReturnType]


def made(step: Step, values: list[UOp]) -> UOp:  # noqa: C901  # a table
    kind, i, j, how, number = step
    x, y = values[i % len(values)], values[j % len(values)]
    match kind:
        case "binary":
            return x.binary(REAL_BINARY[how % len(REAL_BINARY)], y)
        case "unary":
            return x.unary(REAL_UNARY[how % len(REAL_UNARY)])
        case "number left":
            return UOp.const(number, x.dtype, SHAPE) - x
        case "number right":
            return x * number
        case "compare":
            return (x < y).where(x, y)
        case "shift":
            k = how % 3
            return x.shrink([(k, 3), (0, 4)]).pad([(0, k), (0, 0)])
        case "turn":
            return x.reshape((4, 3)).permute((1, 0))
        case "flip":
            return x.flip((how % 2,))
        case "total":
            return x.reduce(Ops.ADD if how % 2 else Ops.MAX, 1).reshape((3, 1)).expand(SHAPE)
        case "cast":
            return x.cast(dtypes.float32 if how % 2 else dtypes.int64).cast(dtypes.float64)
        case "scan":
            return x.scan(Ops.ADD if how % 2 else Ops.MUL)
        case "gather":
            return x.index(UOp.const(how % 3, dtypes.int64, (3,)))
        case "scatter":
            indices = UOp.new(Ops.IOTA, (), 3, dtypes.int64)
            return UOp.new(Ops.SCATTER, (x, y, indices), "add" if how % 2 else "set")
        case "detach":
            return x.detach()
        case "variable":
            return x.variable()
        case "full":
            return UOp.const(number, dtypes.float64, SHAPE)
        case "counter":
            return UOp.new(Ops.IOTA, (), 12, dtypes.int64).reshape(SHAPE).cast(dtypes.float64) + x
        case "join":
            return UOp.new(Ops.CONCAT, (x.shrink([(0, 1), (0, 4)]), y.shrink([(1, 3), (0, 4)])), 0)
        case _:
            return x.bitcast(dtypes.int64).bitcast(dtypes.float64) if how % 2 else x.ne(y).cast(dtypes.float64)


class Program:
    """A graph over two leaves, some of whose nodes handles stand for, and some have been computed.

    Attributes:
        marks: numbers of the steps that handles stand for, and of those that have been computed.
    """

    def __init__(self, steps: list[Step], marks: tuple[set[int], set[int]], n_roots: int) -> None:
        values = [leaf(), leaf()]
        for i, step in enumerate(steps):
            values.append(made(step, values))
            if i in marks[1] and const_of(values[-1]) is None:
                values[-1].settle(Buffer.from_numpy(np.ones(SHAPE)))
        self.roots = list(dict.fromkeys([x for x in reversed(values) if x.realized is None]))[:n_roots]
        self.held = [values[2 + i] for i in marks[0]]

    @contextmanager
    def seen(self) -> Iterator[list[UOp]]:
        self._count(1)
        yield self.roots
        self._count(-1)

    def _count(self, n: int) -> None:
        for node in self.held:
            node.held += n


def structure_of(program: Program) -> Structure | None:
    with program.seen() as roots:
        return Structure.of(canonicalise(roots)) if roots else None


def read_by_others(roots: list[UOp]) -> set[int]:
    """What others read, as the long way finds it, by identity: a reference is what it counts."""
    canonical = canonicalise(roots)
    nodes, _, sources = zip(*canonical.order, strict=True)
    return {id(node) for node in read_elsewhere(nodes, sources, canonical.outputs) if not node.held}


def assert_is_canonical(structure: Structure, program: Program) -> bool:
    """Whether the graph is recognised; then it is what the long way finds."""
    with program.seen() as roots:
        shared = read_by_others(roots)
        known = structure.recognised(roots)
        long = canonicalise(roots)
    if known is None:
        return False
    assert set(map(id, known.shared)) == shared
    assert known.key == long.key
    assert known.outputs == long.outputs
    assert known.bindings.buffers == long.bindings.buffers
    assert list(map(repr, known.bindings.scalars)) == list(map(repr, long.bindings.scalars))
    return True


def test_what_repeats_is_recognised_on_other_memory_and_with_other_numbers():
    n_recognised = 0
    for seed in range(400):
        rng = random.Random(seed)
        steps = drawn(rng, rng.randrange(2, 12))
        held = set(rng.sample(range(len(steps)), rng.randrange(2)))
        marks = held, set(rng.sample(range(len(steps) - 1), rng.randrange(2))) - held
        n_roots = rng.randrange(1, 3)
        structure = structure_of(Program(steps, marks, n_roots))
        again = Program(with_other_numbers(steps), marks, n_roots)
        if structure is not None:
            assert assert_is_canonical(structure, again), seed
            n_recognised += 1
    assert n_recognised > 200


def test_what_differs_is_not_taken_for_what_was_seen():
    for seed in range(1500):
        rng = random.Random(seed)
        steps = drawn(rng, rng.randrange(2, 9))
        marks: tuple[set[int], set[int]] = set(), set()
        structure = structure_of(Program(steps, marks, 1))
        if structure is None:
            continue
        for other in (changed(rng, steps), steps):
            more = {rng.randrange(len(steps))} if rng.randrange(2) else set[int]()
            computed = {rng.randrange(len(steps))} - more if rng.randrange(2) else set[int]()
            program = Program(other, (more, computed), rng.randrange(1, 3))
            if program.roots:
                assert_is_canonical(structure, program)


def of_numbers_and_shapes() -> dict[str, UOp]:
    """Graphs that differ in a number, in the shape or dtype of a leaf, or in how much of a constant there is, alone."""
    graphs = {f"number {number!r}": leaf() * number for number in NUMBERS}
    graphs |= {f"rows {n}": leaf((n, 4)) * 0.3 for n in (1, 2, 3)}
    for n in (1, 2, 3):
        joined = UOp.new(Ops.CONCAT, (leaf(), UOp.const(0.3, dtypes.float64, (n, 4))), 0)
        graphs[f"constant of {n} rows"] = joined.reduce(Ops.ADD, 2)
    for dtype in (dtypes.float32, dtypes.int64, dtypes.bool):
        graphs[f"from {dtype}"] = leaf(dtype=dtype).cast(dtypes.float64) * 0.3
    return graphs


def test_what_differs_in_numbers_shapes_or_dtypes_alone_is_recognised_where_the_key_is_the_same():
    kept = {name: canonicalise([root]) for name, root in of_numbers_and_shapes().items()}
    for name, canonical in kept.items():
        structure = Structure.of(canonical)
        assert structure is not None, name
        for other, root in of_numbers_and_shapes().items():
            known = structure.recognised([root])
            assert (known is not None) == (kept[other].key == canonical.key), (name, other)


def test_what_somebody_else_would_compute_again_is_told():
    def graph() -> tuple[UOp, UOp]:
        inner = leaf().unary(Ops.SIN)
        return inner, inner.reduce(Ops.ADD, 2) * 2.5

    inner, root = graph()
    structure = Structure.of(canonicalise([root]))
    assert structure is not None
    inner, root = graph()
    other = inner * 3.5
    del inner
    known = structure.recognised([root])
    assert known is not None
    assert [node.op for node in known.shared] == [Ops.SIN]
    del other, known
    known = structure.recognised([root])
    assert known is not None
    assert not known.shared


def test_one_array_in_the_place_of_two_is_another_structure():
    x, y = leaf(), leaf()
    structure = Structure.of(canonicalise([x.unary(Ops.SIN) * y.unary(Ops.SIN)]))
    assert structure is not None
    assert structure.recognised([y.unary(Ops.SIN) * x.unary(Ops.SIN)]) is not None
    assert structure.recognised([x.unary(Ops.SIN) * x.unary(Ops.SIN)]) is None
