"""Sums of products by index letters: opt_einsum finds the order, each step is an expand, multiply and reduce.

Source: Smith & Gray, "opt_einsum", Journal of Open Source Software 3 (2018), 753.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from uopc_array._array.nodes import cast_node
from uopc_array._array.promotion import check_cast, check_casting, promote_dtypes
from uopc_array._functions.arguments import ArrayLike, integers, node_of
from uopc_array._functions.public import function
from uopc_core import DType, UOp, as_dtype, composite
from uopc_core.errors import DTypeError, MatrixError, ShapeError, shortened
from uopc_core.lazy import LazyModule
from uopc_core.numerics import elementwise

if TYPE_CHECKING:
    import opt_einsum  # pyright: ignore[reportMissingTypeStubs]  # opt_einsum has no annotations
    from opt_einsum import parser  # pyright: ignore[reportMissingTypeStubs]  # likewise
else:
    opt_einsum = LazyModule("opt_einsum", computes=True)
    parser = LazyModule("opt_einsum.parser", computes=True)

__all__: list[str] = []

Term = tuple[str, UOp]
Shape = tuple[int, ...]


@function("einsum(*operands, out=None, dtype=None, order='K', casting='safe', optimize='auto')", casting="safe")
def einsum(
    name: str, operands: Sequence[ArrayLike], dtype: Any, casting: str, optimize: bool | str | Sequence[Any]
) -> UOp:
    """Sum of products of the operands over index letters, as in ``einsum("ij,jk->ik", x, y)``.

    Args:
        operands: a letter for every axis of every operand, and of the result, where ``...`` stands for further axes,
            then the operands, of any dtypes; or NumPy's other form, ``einsum(x, [0, 1], y, [1, 2], [0, 2])``. A letter
            has the same extent, or 1, everywhere.
        out: takes the result.
        dtype: dtype in which to compute; None is the promoted one.
        order: as of NumPy's functions, without effect.
        casting: the rule by which ``dtype`` and ``out`` may convert: "safe" or another of NumPy's.
        optimize: how opt_einsum looks for the order of products: True, a name such as "greedy", a name with the size
            of the largest intermediate result, or a path from `einsum_path`; False takes all at once.
    Returns:
        ``dtype``; the extents of the result's letters.
    Raises:
        ShapeError: a letter with two extents, or letters that do not fit the axes.
        DTypeError: what ``casting`` does not let ``dtype`` hold.
        TypeError, ValueError: another ``optimize``, or a path that does not multiply all operands.
    Example:
        >>> import uopc_array as xp
        >>> xp.einsum("ij,j->i", xp.asarray([[1, 2], [3, 4]]), xp.asarray([10, 1]))
        Array([12, 34], dtype=int64)
    """
    inputs, output, nodes = _parsed(name, operands)
    if casting != "safe":
        check_casting(name, casting)
    wanted = None if dtype is None else as_dtype(dtype, name)
    if wanted is not None:
        for node in nodes:
            check_cast(name, node.dtype, wanted, casting)
    return _contracted(name, inputs, nodes, output, wanted, optimize)


def _contracted(
    name: str, inputs: Sequence[str], nodes: Sequence[UOp], output: str, dtype: DType | None, optimize: Any
) -> UOp:
    """The sum of products over the letters that `output` does not have, in `dtype` or the promoted one."""
    wanted = reduce(promote_dtypes, [node.dtype for node in nodes]) if dtype is None else dtype
    terms = [(letters, cast_node(node, wanted, name)) for letters, node in zip(inputs, nodes, strict=True)]
    _check_extents(name, terms)
    path = _path(name, [letters for letters, _ in terms], output, [node.shape for _, node in terms], optimize)
    for positions in path:
        taken = [terms[position] for position in positions]
        terms = [term for position, term in enumerate(terms) if position not in positions]
        wanted = {*output, *"".join(letters for letters, _ in terms)}
        kept = "".join(dict.fromkeys(a for letters, _ in taken for a in letters if a in wanted)) if terms else output
        terms.append((kept, _product(taken, kept)))
    return terms[0][1]


@function("einsum_path(*operands, optimize='greedy', einsum_call=False)")
def einsum_path(name: str, operands: Sequence[Any], optimize: bool | str | Sequence[Any]) -> tuple[list[Any], Any]:
    """The order in which `einsum` would multiply.

    Args:
        operands: as for `einsum`.
        optimize: as for `einsum`.
        einsum_call: True gives what NumPy hands from one of its functions to another.
    Returns:
        the path as `einsum` and NumPy take it, "einsum_path" and then the positions in the list of operands that are
        multiplied next, and a report, as from ``opt_einsum.contract_path``.
    Raises:
        ShapeError, TypeError, ValueError: as `einsum`.
    Example:
        >>> import uopc_array as xp
        >>> xp.einsum_path("ij,jk,k->i", xp.ones((2, 3)), xp.ones((3, 4)), xp.ones(4))[0]
        ['einsum_path', (1, 2), (0, 1)]
    """
    inputs, output, nodes = _parsed(name, operands)
    path, report = _contraction(name, inputs, output, [node.shape for node in nodes], optimize)
    return ["einsum_path", *path], report


@function("linalg.multi_dot(arrays, *, out=None)", casting="no")
def multi_dot(name: str, arrays: Sequence[ArrayLike]) -> UOp:
    """Product of several matrices, in the order that takes the fewest multiplications.

    Args:
        arrays: two matrices or more; the first may be a vector, a row, and the last one, a column.
        out: takes the result; of its dtype.
    Returns:
        the promoted dtype; the extents at both ends.
    Raises:
        ShapeError: fewer than two arrays, other numbers of axes, or extents that differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.multi_dot([xp.ones((2, 3)), xp.ones((3, 4)), xp.ones(4)])
        Array([12., 12.], dtype=float64)
    """
    if not isinstance(arrays, Iterable) or getattr(arrays, "ndim", 1) == 0:  # pyright: ignore[reportUnnecessaryIsInstance]  # (x, y) is easily written
        raise TypeError(f"{name}: expected a sequence of arrays, got {type(arrays).__name__}")
    nodes = [node_of(name, x) for x in arrays]
    n = len(nodes)
    if n < 2:
        raise ShapeError(f"{name}: expected two arrays or more, got {n}")
    shapes = [node.shape for node in nodes]
    if any([node.ndim != 2 and not (node.ndim == 1 and i in (0, n - 1)) for i, node in enumerate(nodes)]):
        raise MatrixError(f"{name}: expected matrices, with vectors at the ends at most, got shapes {shapes}")
    for left, right in pairwise(shapes):
        if left[-1] != right[0]:
            raise ShapeError(f"{name}: the last axis of one must equal the first of the next, got shapes {shapes}")
    letters = [opt_einsum.get_symbol(i) for i in range(n + 1)]
    inputs = [
        "".join(letters[i : i + 2] if node.ndim == 2 else letters[1:2] if i == 0 else letters[i : i + 1])
        for i, node in enumerate(nodes)
    ]
    ends = (letters[0] if len(shapes[0]) == 2 else "") + (letters[n] if len(shapes[-1]) == 2 else "")
    return _contracted(name, inputs, nodes, ends, None, "auto")


def _parsed(name: str, operands: Sequence[Any]) -> tuple[list[str], str, list[UOp]]:
    """The letters of each operand and of the result, with those that ``...`` stands for, and the operands."""
    if not operands:
        raise ShapeError(f"{name}: expected a text of subscripts and an operand or more, got nothing")
    first = operands[0]
    try:
        given = [x if isinstance(first, str) and i == 0 else _as_operand(name, x) for i, x in enumerate(operands)]
        inputs, output, found = cast("Any", parser.parse_einsum_input)(given)
    except DTypeError as error:
        raise shortened(error) from None
    except ValueError as error:
        raise ShapeError(f"{name}: {str(error).removeprefix(f'{name}: ')}") from None
    except TypeError as error:
        raise DTypeError(
            f"{name}: expected a text of subscripts, or each operand with a list of its axes, got {first!r:.60}; "
            f"{error}"
        ) from None
    return str(inputs).split(","), str(output), [node_of(name, x) for x in found]


def _as_operand(name: str, x: Any) -> Any:
    """An operand with a shape; lists of axis numbers, as in NumPy's other form, stay."""
    is_labels = isinstance(x, list | tuple) and all(isinstance(i, int) or i is Ellipsis for i in cast("list[Any]", x))
    return cast("Any", x) if is_labels else node_of(name, x)


def _check_extents(name: str, terms: list[Term]) -> None:
    extents: dict[str, int] = {}
    for letters, node in terms:
        if len(letters) != node.ndim:
            raise ShapeError(f"{name}: the letters {letters!r} name {len(letters)} axes, got shape {node.shape}")
        for letter, n in zip(letters, node.shape, strict=True):
            own = {m for a, m in zip(letters, node.shape, strict=True) if a == letter}
            if len(own) > 1:
                raise ShapeError(f"{name}: letter {letter!r} has extents {sorted(own)} in one operand, {letters!r}")
            if n != 1 and extents.setdefault(letter, n) != n:
                raise ShapeError(f"{name}: letter {letter!r} has extents {extents[letter]} and {n}")


def _path(name: str, inputs: list[str], output: str, shapes: list[Shape], optimize: Any) -> list[tuple[int, ...]]:
    everything = tuple(range(len(inputs)))
    given = _given_path(name, optimize, len(inputs))
    if given is not None:
        return given
    if len(inputs) <= 2 or optimize is False or optimize is None:
        return [everything]
    return _contraction(name, inputs, output, shapes, optimize)[0]


def _contraction(
    name: str, inputs: list[str], output: str, shapes: list[Shape], optimize: Any
) -> tuple[list[tuple[int, ...]], Any]:
    """The path that opt_einsum finds, or that was given, and its report."""
    how, limit = optimize, None
    if _is_name_with_limit(optimize):
        how, limit = optimize[0], int(optimize[1])
    given = _given_path(name, optimize, len(inputs))
    equation = f"{','.join(inputs)}->{output}"
    path, report = cast("Any", opt_einsum.contract_path)(
        equation, *shapes, shapes=True, optimize=how if given is None else given, memory_limit=limit
    )
    return [tuple(positions) for positions in path], report


def _is_name_with_limit(optimize: Any) -> bool:
    """Whether this is a name with the size of the largest intermediate result, as in ``("greedy", 1000)``."""
    if not isinstance(optimize, tuple | list) or len(cast("list[Any]", optimize)) != 2:
        return False
    return isinstance(optimize[0], str) and isinstance(optimize[1], int | float)


def _given_path(name: str, optimize: Any, n: int) -> list[tuple[int, ...]] | None:
    """The path, where `optimize` is one, with or without NumPy's "einsum_path" in front.

    Raises:
        TypeError: a sequence that is neither a path nor a name with a limit.
        ValueError: a path that names an operand which is not there, or leaves some over.
    """
    if not isinstance(optimize, tuple | list) or _is_name_with_limit(optimize):
        return None
    items = list(cast("list[Any]", optimize))
    steps = items[1:] if items[:1] == ["einsum_path"] else items
    if not all(isinstance(step, tuple | list) for step in steps):
        raise TypeError(f"{name}: expected optimize to be a name, a name with a size or a path, got {optimize!r:.60}")
    path = [integers(name, "optimize", step) for step in steps]
    left = n
    for positions in path:
        if (
            not positions
            or len(set(positions)) < len(positions)
            or not all(0 <= position < left for position in positions)
        ):
            raise ValueError(f"{name}: expected positions among {left} operands in the path, got {positions}")
        left -= len(positions) - 1
    if left != 1:
        raise ValueError(f"{name}: the path {path} leaves {left} of {n} operands; expected one")
    return path


def _product(terms: list[Term], output: str) -> UOp:
    """The product of `terms`, summed over the letters that are not in `output`."""
    terms = [_without_repeats(term) for term in terms]
    letters = [x for x, _ in terms]
    terms = [_summed_alone(term, {*output, *"".join(letters[:i] + letters[i + 1 :])}) for i, term in enumerate(terms)]
    extents: dict[str, int] = {}
    for own, node in terms:
        extents |= {a: n for a, n in zip(own, node.shape, strict=True) if n != 1 or a not in extents}
    summed = [letter for letter in extents if letter not in output]
    order = [*output, *summed]
    shape = tuple([extents[letter] for letter in order])
    return elementwise.sum_of_products([_spread(term, order, shape) for term in terms], len(summed))


def _without_repeats(term: Term) -> Term:
    """A letter named twice by one operand stands for the diagonal."""
    letters, node = term
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            pair = [i for i, a in enumerate(letters) if a == letter][:2]
            node = composite.diagonal(composite.move_axes_last(node, pair))
            letters = "".join(a for i, a in enumerate(letters) if i not in pair) + letter
    return letters, node


def _summed_alone(term: Term, needed: set[str]) -> Term:
    """Letters that neither the result nor another operand has are summed first."""
    letters, node = term
    alone = [i for i, letter in enumerate(letters) if letter not in needed]
    if not alone:
        return term
    summed = elementwise.sum_of_products([composite.move_axes_last(node, alone)], len(alone))
    return "".join(letter for letter in letters if letter in needed), summed


def _spread(term: Term, order: list[str], shape: tuple[int, ...]) -> UOp:
    """The operand with its axes in `order` and grown to `shape`."""
    letters, node = term
    present = [letter for letter in order if letter in letters]
    node = node.permute([letters.index(letter) for letter in present])
    extents = dict(zip(present, node.shape, strict=True))
    return node.reshape([extents.get(letter, 1) for letter in order]).expand(shape)
