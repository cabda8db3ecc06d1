"""Sums of products by index letters: opt_einsum finds the order, each step is an expand, multiply and reduce.

Source: Smith & Gray, "opt_einsum", Journal of Open Source Software 3 (2018), 753.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node
from uopc_array._array.promotion import result_dtype
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import integers, node_of, wrap
from uopc_core import UOp, composite
from uopc_core.errors import DTypeError, ShapeError, shortened
from uopc_core.lazy import LazyModule
from uopc_core.numerics import elementwise

if TYPE_CHECKING:
    import opt_einsum  # pyright: ignore[reportMissingTypeStubs]  # opt_einsum has no annotations
    from opt_einsum import parser  # pyright: ignore[reportMissingTypeStubs]  # likewise
else:
    opt_einsum = LazyModule("opt_einsum", computes=True)
    parser = LazyModule("opt_einsum.parser", computes=True)

__all__ = ["einsum", "einsum_path"]

Term = tuple[str, UOp]
Shape = tuple[int, ...]


def einsum(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> Array:
    """Sum of products of the operands over index letters, as in ``einsum("ij,jk->ik", x, y)``.

    Args:
        subscripts: a letter for every axis of every operand, and of the result; ``...`` stands for further axes. Or
            NumPy's other form, ``einsum(x, [0, 1], y, [1, 2], [0, 2])``.
        operands: any dtypes; a letter has the same extent, or 1, everywhere.
        optimize: how opt_einsum looks for the order of products: True, a name such as "greedy", a name with the size
            of the largest intermediate result, or a path from `einsum_path`; False takes all at once.
    Returns:
        the promoted dtype; the extents of the result's letters.
    Raises:
        ShapeError: a letter with two extents, or letters that do not fit the axes.
        TypeError, ValueError: another ``optimize``, or a path that does not multiply all operands.
    Example:
        >>> import uopc_array as xp
        >>> xp.einsum("ij,j->i", xp.asarray([[1, 2], [3, 4]]), xp.asarray([10, 1]))
        Array([12, 34], dtype=int64)
    """
    inputs, output, arrays = _parsed(subscripts, operands)
    dtype = result_dtype(*arrays, name="einsum")
    terms = [(letters, cast_node(node_of("einsum", x), dtype)) for letters, x in zip(inputs, arrays, strict=True)]
    _check_extents(terms)
    for places in _path(inputs, output, [node.shape for _, node in terms], optimize):
        taken = [terms[place] for place in places]
        terms = [term for place, term in enumerate(terms) if place not in places]
        wanted = {*output, *"".join(letters for letters, _ in terms)}
        kept = "".join(dict.fromkeys(a for letters, _ in taken for a in letters if a in wanted)) if terms else output
        terms.append((kept, _product(taken, kept)))
    return wrap(terms[0][1])


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> Any:
    """The order in which `einsum` would multiply.

    Args:
        subscripts: as for `einsum`.
        operands: as for `einsum`.
        optimize: as for `einsum`.
    Returns:
        the path as `einsum` and NumPy take it, "einsum_path" and then the places in the list of operands that are
        multiplied next, and a report, as from ``opt_einsum.contract_path``.
    Example:
        >>> import uopc_array as xp
        >>> xp.einsum_path("ij,jk,k->i", xp.ones((2, 3)), xp.ones((3, 4)), xp.ones(4))[0]
        ['einsum_path', (1, 2), (0, 1)]
    """
    inputs, output, arrays = _parsed(subscripts, operands)
    path, report = _contraction(inputs, output, [node_of("einsum_path", x).shape for x in arrays], optimize)
    return ["einsum_path", *path], report


def _parsed(subscripts: Any, operands: tuple[Any, ...]) -> tuple[list[str], str, list[Any]]:
    """The letters of each operand and of the result, with those that ``...`` stands for, and the operands."""
    given = [subscripts, *operands]
    try:
        arrays = [x if isinstance(subscripts, str) and i == 0 else _as_operand(x) for i, x in enumerate(given)]
        inputs, output, found = cast("Any", parser.parse_einsum_input)(arrays)
    except DTypeError as error:
        raise shortened(error) from None
    except ValueError as error:
        raise ShapeError(f"einsum: {str(error).removeprefix('einsum: ')}") from None
    except TypeError as error:
        raise DTypeError(
            f"einsum: expected a text of subscripts, or each operand with a list of its axes, got {subscripts!r:.60}; "
            f"{error}"
        ) from None
    return str(inputs).split(","), str(output), list(found)


def _as_operand(x: Any) -> Any:
    """An operand with a shape; lists of axis numbers, as in NumPy's other form, stay."""
    is_labels = isinstance(x, list | tuple) and all(isinstance(i, int) or i is Ellipsis for i in cast("list[Any]", x))
    return cast("Any", x) if is_labels or isinstance(x, Array) else wrap(node_of("einsum", x))


def _check_extents(terms: list[Term]) -> None:
    extents: dict[str, int] = {}
    for letters, node in terms:
        if len(letters) != node.ndim:
            raise ShapeError(f"einsum: the letters {letters!r} name {len(letters)} axes, got shape {node.shape}")
        for letter, n in zip(letters, node.shape, strict=True):
            own = {m for a, m in zip(letters, node.shape, strict=True) if a == letter}
            if len(own) > 1:
                raise ShapeError(f"einsum: letter {letter!r} has extents {sorted(own)} in one operand, {letters!r}")
            if n != 1 and extents.setdefault(letter, n) != n:
                raise ShapeError(f"einsum: letter {letter!r} has extents {extents[letter]} and {n}")


def _path(inputs: list[str], output: str, shapes: list[Shape], optimize: Any) -> list[tuple[int, ...]]:
    everything = tuple(range(len(inputs)))
    given = _given_path(optimize, len(inputs))
    if given is not None:
        return given
    if len(inputs) <= 2 or optimize is False or optimize is None:
        return [everything]
    return _contraction(inputs, output, shapes, optimize)[0]


def _contraction(
    inputs: list[str], output: str, shapes: list[Shape], optimize: Any
) -> tuple[list[tuple[int, ...]], Any]:
    """The path that opt_einsum finds, or that was given, and its report."""
    how, limit = optimize, None
    if _is_name_with_limit(optimize):
        how, limit = optimize[0], int(optimize[1])
    given = _given_path(optimize, len(inputs))
    equation = f"{','.join(inputs)}->{output}"
    path, report = cast("Any", opt_einsum.contract_path)(
        equation, *shapes, shapes=True, optimize=how if given is None else given, memory_limit=limit
    )
    return [tuple(places) for places in path], report


def _is_name_with_limit(optimize: Any) -> bool:
    """Whether this is a name with the size of the largest intermediate result, as in ``("greedy", 1000)``."""
    if not isinstance(optimize, tuple | list) or len(cast("list[Any]", optimize)) != 2:
        return False
    return isinstance(optimize[0], str) and isinstance(optimize[1], int | float)


def _given_path(optimize: Any, n: int) -> list[tuple[int, ...]] | None:
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
        raise TypeError(f"einsum: expected optimize to be a name, a name with a size or a path, got {optimize!r:.60}")
    path = [integers("einsum", "optimize", step) for step in steps]
    left = n
    for places in path:
        if not places or len(set(places)) < len(places) or not all(0 <= place < left for place in places):
            raise ValueError(f"einsum: expected places among {left} operands in the path, got {places}")
        left -= len(places) - 1
    if left != 1:
        raise ValueError(f"einsum: the path {path} leaves {left} of {n} operands; expected one")
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
            node = along_axes.diagonal(composite.move_axes_last(node, pair))
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
