"""Derivatives of functions: reverse mode (`grad`, `value_and_grad`, `vjp`) and forward mode (`jvp`).

A function is run once on variables: nodes that are their arguments in value but have an identity of their own, so that
nested derivatives never confuse theirs. What comes back is a graph; the variables are taken out of it again before the
caller sees it. Derivatives of complex functions follow JAX: the gradient of a real function of z is the conjugate of
its steepest ascent, df/dx - i df/dy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

import uopc_core
from uopc_array._array.array import Array
from uopc_array._array.nodes import as_node, cast_node, is_scalar
from uopc_array._array.numbers import integers, is_sequence
from uopc_array._array.tracing import run_user, substitute
from uopc_array._functions.arguments import wrap_like
from uopc_array._transforms.transformed import Transformed, check_function
from uopc_array._transforms.trees import TreeDef, flatten, flatten_named, map_tree, same_structure, split, unflatten
from uopc_core import HIDDEN, TRACKED, UOp, composite, is_complex, is_float, is_inexact, name_of
from uopc_core.errors import DTypeError, GradientError, ShapeError, TraceError, shortened

__all__ = ["check_argnums", "grad", "jvp", "stop_gradient", "value_and_grad", "vjp"]

UserFunction = Callable[..., Any]
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


@dataclass
class _Variables:
    """The arguments of a function, those to differentiate by replaced with variables.

    Attributes:
        args: what to call the function with.
        handles: on the variables, as the function is given them.
        nodes: the variables.
        sources: the nodes that they stand for.
        treedefs: structure of each argument that is differentiated by.
    """

    args: list[Any]
    handles: list[Array]
    nodes: list[UOp]
    sources: list[UOp]
    treedefs: list[TreeDef]

    def run(self, f: UserFunction, kwargs: Mapping[str, Any] | None = None) -> Any:
        """What `f` returns for the variables."""
        return run_user(f, self.args, kwargs or {}, [node.arg for node in self.nodes])

    def close(self, nodes: Sequence[UOp]) -> list[UOp]:
        """`nodes` with the variables replaced by what they stand for: they carry no history of this derivative."""
        return substitute(nodes, dict(zip(self.nodes, self.sources, strict=True)), TRACKED | HIDDEN)

    def closed(self, name: str, roots: Sequence[UOp], transform: Callable[[], Sequence[UOp]]) -> list[UOp]:
        """What the transformation of this `name` gives of `roots`, of which it is a pure function; closed."""
        return [*uopc_core.repeated(name, roots, self.nodes, self.sources, transform, self.close)]

    def wrap(self, nodes: Sequence[UOp]) -> list[Array]:
        """What belongs to the variables, as numbers and arrays as they are."""
        return [handle._same_kind(node) for handle, node in zip(self.handles, nodes, strict=True)]

    def unflatten(self, leaves: Sequence[Array]) -> list[Any]:
        """One tree an argument."""
        parts = split(leaves, [treedef.num_leaves for treedef in self.treedefs])
        return [unflatten(treedef, part) for treedef, part in zip(self.treedefs, parts, strict=True)]


def check_argnums(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], argnums: Sequence[int]) -> None:
    """
    Raises:
        GradientError: an argument to differentiate by that the call does not have by position.
        ValueError: one that is named twice.
    """
    n = len(args)
    for number in argnums:
        if not -n <= number < n:
            named = f" and {', '.join(kwargs)} by name" if kwargs else ""
            raise GradientError(
                f"{name}: argument {number} was asked for, but the function was called with {n}{named}; "
                "pass what to differentiate by by position, or choose other argnums"
            )
    if len({number % n for number in argnums}) != len(argnums):
        raise ValueError(f"{name}: expected every argument once, got argnums={tuple(argnums)} for {n} arguments")


def _variables(
    name: str, args: Sequence[Any], argnums: Sequence[int], kwargs: Mapping[str, Any] | None = None
) -> _Variables:
    check_argnums(name, args, kwargs or {}, argnums)
    out = _Variables(list(args), [], [], [], [])
    for number in argnums:
        leaves, paths, treedef = flatten_named(args[number], f"argument {number}")
        try:
            handles = [_variable(name, leaf, path, out) for leaf, path in zip(leaves, paths, strict=True)]
        except Exception as error:
            raise shortened(error) from None
        out.handles += handles
        out.args[number] = unflatten(treedef, handles)
        out.treedefs.append(treedef)
    return out


def _variable(name: str, leaf: Any, path: str, into: _Variables) -> Array:
    """A handle on a fresh variable with the value of `leaf`.

    Raises:
        GradientError: it is not floating, real or complex.
    """
    try:
        source = as_node(leaf)
    except TraceError:
        raise
    except (TypeError, ValueError):
        raise GradientError(f"{name}: {path} must be a floating array or number, got {type(leaf).__name__}") from None
    if not is_inexact(source.dtype):
        raise GradientError(
            f"{name}: {path} must be floating to differentiate by it, got {name_of(source.dtype)} of shape "
            f"{source.shape}; convert it with astype(xp.float64), or leave it out of argnums"
        )
    node = source.variable()
    into.sources.append(source)
    into.nodes.append(node)
    if isinstance(leaf, Array):
        return leaf._same_kind(node, leaf._weak)
    return Array._array_from_uop(node) if isinstance(leaf, np.ndarray) else Array._from_uop(node, is_scalar(leaf))


def _scalar_output(name: str, value: Any) -> UOp:
    """The node of what the function returned.

    Raises:
        GradientError: it is not one real floating number.
    """
    if isinstance(value, np.ndarray | np.generic):
        raise GradientError(
            f"{name}: the function returned a NumPy array, which does not know what it was computed from; "
            "compute with uopc_array, or call NumPy's functions on its arrays without np.asarray"
        )
    if not isinstance(value, Array) and not is_scalar(value):
        raise GradientError(
            f"{name}: the function must return one number, got {type(value).__name__}; use has_aux=True for more"
        )
    node = as_node(value)
    if node.shape != ():
        raise GradientError(
            f"{name}: the function must return a number, shape (), got shape {node.shape}; "
            "reduce it with xp.sum or xp.mean, or take jacrev or vjp of it"
        )
    if isinstance(value, Array) and not is_float(node.dtype):
        wanted = (
            "take its real part" if is_complex(node.dtype) else "the derivative of an integer function is not defined"
        )
        raise GradientError(
            f"{name}: the function must return a real floating number, got {name_of(node.dtype)}; {wanted}"
        )
    return node


def value_and_grad(
    f: Callable[P, R], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[P, tuple[R, Any]]:
    """The function that returns the value of `f` and its gradient.

    Args:
        f: returns one real floating number, shape (); with `has_aux` a pair of that and anything else.
        argnums: the argument or arguments to differentiate by: floating arrays or numbers, or nested containers of
            them.
    Returns:
        A function of the arguments of `f` that returns ``(value, gradient)``, or ``((value, aux), gradient)``. The
        gradient has the structure of the argument; for several `argnums` it is a tuple.
    Raises:
        GradientError: (a TypeError, when called) an argument that is not floating, or a value that is not one real
            number.
    Example:
        >>> value_and_grad(lambda x: x * x)(3.0)
        (Array(9., dtype=float64), Array(6., dtype=float64))
    """
    return Transformed(value_and_grad, _build_value_and_grad, f, argnums, has_aux)


def _build_value_and_grad(f: UserFunction, argnums: int | Sequence[int], has_aux: bool) -> UserFunction:
    return _reverse("value_and_grad", f, argnums, has_aux)


def grad(f: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]:
    """The function that returns the gradient of `f`; with `has_aux` the pair ``(gradient, aux)``.

    Arguments, the structure of the gradient and errors are those of `value_and_grad`.

    Args:
        f: returns one real floating number, shape ().
        argnums: the argument or arguments to differentiate by.
        has_aux: `f` returns a pair of the number and anything else.
    Returns:
        A function of the arguments of `f`; the gradient has the structure, shapes and dtypes of the argument.
    Raises:
        GradientError: (a TypeError, when called) an argument that is not floating, or a value that is not one real
            number.
    Example:
        >>> grad(lambda x: x * x)(3.0)
        Array(6., dtype=float64)
    """
    return Transformed(grad, _build_grad, f, argnums, has_aux)


def _build_grad(f: UserFunction, argnums: int | Sequence[int], has_aux: bool) -> UserFunction:
    both = _reverse("grad", f, argnums, has_aux)

    def gradient_only(*args: Any, **kwargs: Any) -> Any:
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient_only


def _reverse(name: str, f: UserFunction, argnums: int | Sequence[int], has_aux: bool) -> UserFunction:
    numbers = integers(name, "argnums", argnums)

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        variables = _variables(name, args, numbers, kwargs)
        out = variables.run(f, kwargs)
        value, aux = _split_aux(name, out) if has_aux else (out, None)
        root = _scalar_output(name, value)
        aux_leaves, aux_tree = flatten(aux)
        roots = [root, *[leaf._uop for leaf in aux_leaves if isinstance(leaf, Array)]]
        closed = variables.closed("gradient", roots, lambda: [root, *_gradients(root, variables.nodes), *roots[1:]])
        n = 1 + len(variables.nodes)
        first, arrays, rest = wrap_like(value, closed[0]), variables.wrap(closed[1:n]), iter(closed[n:])
        others = [x._same_kind(next(rest)) if isinstance(x, Array) else x for x in aux_leaves]
        trees = variables.unflatten(arrays)
        result = tuple(trees) if is_sequence(argnums) else trees[0]
        return ((first, unflatten(aux_tree, others)) if has_aux else first), result

    return differentiated


def _gradients(root: UOp, nodes: Sequence[UOp]) -> list[UOp]:
    if is_float(root.dtype):
        return uopc_core.gradient(root, nodes)
    return [composite.zeros_like(node) for node in nodes]


def _split_aux(name: str, out: Any) -> tuple[Any, Any]:
    if not isinstance(out, tuple) or len(cast("tuple[Any, ...]", out)) != 2:
        raise GradientError(f"{name}: with has_aux=True the function must return a pair (value, aux), got {out!r:.60}")
    return cast("tuple[Any, Any]", out)


def stop_gradient(x: T) -> T:
    """`x`, a tree of arrays, as constants: nothing is differentiated through them.

    Example:
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        Array(3., dtype=float64)
    """

    def detach(leaf: Any) -> Any:
        return leaf._same_kind(leaf._uop.detach()) if isinstance(leaf, Array) else leaf

    return map_tree(detach, x)


# ------------------------------------------------------------------------------------- products with the derivative


@dataclass
class _Outputs:
    """What a function returned, as it came and as nodes."""

    leaves: list[Any]
    nodes: list[UOp]
    treedef: TreeDef

    def wrap(self, nodes: Sequence[UOp]) -> Any:
        """What belongs to the results, as numbers and arrays as they are."""
        return unflatten(self.treedef, [wrap_like(x, node) for x, node in zip(self.leaves, nodes, strict=True)])


def _outputs(name: str, value: Any) -> _Outputs:
    leaves, treedef = flatten(value)
    return _Outputs(leaves, [_output(name, leaf) for leaf in leaves], treedef)


def _output(name: str, leaf: Any) -> UOp:
    try:
        return as_node(leaf, name=name)
    except DTypeError:
        raise GradientError(f"{name}: the function must return arrays or numbers, got {type(leaf).__name__}") from None


def _like(name: str, tree: Any, treedef: TreeDef, nodes: Sequence[UOp]) -> list[UOp]:
    """The leaves of `tree` as nodes of the shape and dtype of `nodes`.

    Raises:
        GradientError, ShapeError: another structure or shape.
    """
    leaves, given = flatten(tree)
    if not same_structure(given, treedef):
        raise GradientError(f"{name}: expected the structure {_shown(treedef)}, got {_shown(given)}")
    try:
        out = [cast_node(as_node(leaf, name=name), node.dtype, name) for leaf, node in zip(leaves, nodes, strict=True)]
    except Exception as error:
        raise shortened(error) from None
    for x, node in zip(out, nodes, strict=True):
        if x.shape != node.shape:
            raise ShapeError(f"{name}: expected a value of shape {node.shape}, got {x.shape}")
    return out


def _shown(treedef: TreeDef) -> str:
    """The structure with a star for each array."""
    return str(treedef).removeprefix("PyTreeSpec(").removesuffix(")")


def vjp(f: Callable[..., R], *primals: Any) -> tuple[R, UserFunction]:
    """The value of `f` and its pullback, the function that multiplies a cotangent with the derivative.

    Args:
        f: any number of floating arrays, or trees of them, in and out.
        primals: where to differentiate.
    Returns:
        ``f(*primals)``, and a function from a cotangent of its structure to a tuple of cotangents, one a primal.
    Raises:
        GradientError: a primal that is not floating, or a cotangent of another structure.
        ShapeError: a cotangent of another shape.
    Example:
        >>> value, pull = vjp(lambda x: x * x, 3.0)
        >>> pull(1.0)
        (Array(6., dtype=float64),)
    """
    try:
        return _value_and_pullback(f, primals)
    except Exception as error:
        raise shortened(error, "vjp") from error.__cause__


def _value_and_pullback(f: UserFunction, primals: tuple[Any, ...]) -> tuple[Any, UserFunction]:
    check_function("vjp", f)
    variables = _variables("vjp", primals, range(len(primals)))
    outputs = _outputs("vjp", variables.run(f))

    def pull(cotangent: Any) -> tuple[Any, ...]:
        seeds = _like("vjp", cotangent, outputs.treedef, outputs.nodes)
        roots = [*outputs.nodes, *seeds]
        nodes = variables.closed("vjp", roots, lambda: uopc_core.pull_back(outputs.nodes, seeds, variables.nodes))
        return tuple(variables.unflatten(variables.wrap(nodes)))

    return outputs.wrap(variables.close(outputs.nodes)), pull


def _arguments(what: str, given: Any) -> tuple[Any, ...]:
    """
    Raises:
        TypeError: `given` is no tuple: an array is one argument, not as many as it has elements.
    """
    if not isinstance(given, tuple | list):
        shown = f"an array of shape {given.shape}" if hasattr(given, "shape") else f"{given!r:.60}"
        raise TypeError(f"jvp: expected a tuple of arguments for {what}, got {shown}; write jvp(f, (x,), (dx,))")
    return tuple(cast("Sequence[Any]", given))


def jvp(f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, R]:
    """The value of `f` and its directional derivative along `tangents` (Jacobian-vector product, pushforward).

    Args:
        primals: the arguments of `f`, floating arrays or trees of them.
        tangents: the direction, of the same structure and shapes.
    Returns:
        ``f(*primals)`` and the derivative along `tangents`, of one structure.
    Raises:
        GradientError: a primal that is not floating, or tangents of another structure.
        ShapeError: a tangent of another shape.
    Example:
        >>> jvp(lambda x: x * x, (3.0,), (1.0,))
        (Array(9., dtype=float64), Array(6., dtype=float64))
    """
    try:
        return _value_and_pushed(f, primals, tangents)
    except Exception as error:
        raise shortened(error, "jvp") from error.__cause__


def _value_and_pushed(f: UserFunction, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    check_function("jvp", f)
    arguments = _arguments("primals", primals)
    variables = _variables("jvp", arguments, range(len(arguments)))
    treedef = flatten(arguments)[1]
    directions = _like("jvp", _arguments("tangents", tangents), treedef, variables.nodes)
    outputs = _outputs("jvp", variables.run(f))
    roots = [*outputs.nodes, *directions]
    n = len(outputs.nodes)
    closed = variables.closed(
        "jvp", roots, lambda: [*outputs.nodes, *uopc_core.jvp(outputs.nodes, variables.nodes, directions)]
    )
    return outputs.wrap(closed[:n]), outputs.wrap(closed[n:])
