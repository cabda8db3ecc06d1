"""Calls of kernels -> C source: one readable function, and an entry that unpacks the arguments of the runtime's ABI."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from uopc_core.codegen.c_loops import LoopWriter
from uopc_core.codegen.c_types import C_TYPES
from uopc_core.codegen.c_writer import MARKED, Writer
from uopc_core.costs import MAX_PARTS
from uopc_core.dtype import DType, dtypes, is_complex, is_float, is_unsigned
from uopc_core.loop.fuse import lower_group
from uopc_core.loop.loop_ir import LoopNest, Memory, print_function
from uopc_core.loop.verify import verify_function
from uopc_core.loop.windows import Form, Windowed, lower_form
from uopc_core.records import record
from uopc_core.schedule.kernel import Alike, KernelCall, alike
from uopc_core.settings import current

__all__ = ["CSource", "Renderer", "join_kernels", "render", "render_function", "source_of", "with_fewer_texts"]

_ENTRY = "uopc_kernel"  # what the names of entries begin with; a digest follows, so that many fit into one object
_DIGITS = 16  # of a digest
MANY_TEXTS = 8  # that differ in places alone, from which on one text with places as parameters stands for them
_STATIC = re.compile(r"^static\b", re.MULTILINE)
_EXTENT = re.compile(r"_\d+")  # in the name of a function
_TYPE = re.compile(r"^(?:typedef\b|#define\b)", re.MULTILINE)
_DEBUG_LOOPS = 3  # the setting `debug` from which on loop nests are printed
_PARTS_BYTES = 16 * MAX_PARTS  # for the results of parts of one reduction
_SCALAR = "typedef union { int64_t i; uint64_t u; double f; double c[2]; } uopc_scalar;"


@record(slots=True)
class _Form:
    """A function before its numbers are settled.

    Attributes:
        prelude: what it needs before it, by name.
        lines: of the body, with marks (see `MARKED`).
        params: of the function, in C.
        arguments: that its entry gives.
        n_memory: of both, those before the lifted integers.
        has_dims: whether there are any.
    """

    prelude: Mapping[str, str]
    lines: str
    params: tuple[str, ...]
    arguments: tuple[str, ...]
    n_memory: int
    has_dims: bool

    def written(self, name: str, lines: str, has_dims: bool) -> tuple[str, str]:
        """The function called `name` with its entry, which has a name that no other text has; and that name."""
        k = self.n_memory
        params, arguments = list(self.params), list(self.arguments)
        if has_dims:
            params.insert(k, "const int64_t *restrict n")
            arguments.insert(k, "dims")
        head = f"static inline int64_t {name}({', '.join(params)}) {{"
        call = f"    return {name}({', '.join(arguments)});"
        text = "\n".join((head, lines, "    return 0;", "}", ""))
        digest = hashlib.sha256("\n".join((*self.prelude.values(), text, call)).encode()).hexdigest()
        entry = f"{_ENTRY}_{digest[:_DIGITS]}"
        exported = (
            f"int64_t {entry}(void *const *bufs, const int64_t *dims, const uopc_scalar *scalars, "
            "int64_t begin, int64_t end, char *scratch, int64_t *status) {"
        )
        return "\n".join((text, exported, call, "}", "")), entry


@record(slots=True)
class CSource:
    """C of one function and what to call it with.

    Attributes:
        text: the source; equal for many shapes.
        entry: name of the exported function, which no other text has.
        prelude: what the function needs before it, by name.
        body: the function, and the one that is exported.
        name: of the function.
        form: what the body is written of.
        outputs: plan slots, in the order of `bufs`; the first pointers.
        inputs: plan slots, the pointers after them.
        scalars: numbers of the plan's run-time scalars, in the order of `scalars`.
        dims: the integers of `dims`.
        extent: of the parallel loop: [begin, end) is a part of [0, extent).
        grain: iterations that are worth a thread of their own.
        work: scalar operations of the whole, roughly.
        scratch_bytes: per thread.
        parts_bytes: of scratch that all threads share in its place: the function is called once more for [extent,
            extent), after all else, and combines what is there. 0: it is not.
        inplace: slots of inputs that may be the same memory as an output of the same size.
    """

    text: str
    entry: str
    prelude: Mapping[str, str]
    body: str
    name: str
    form: _Form
    outputs: tuple[int, ...]
    inputs: tuple[int, ...]
    scalars: tuple[int, ...]
    dims: tuple[int, ...]
    extent: int
    grain: int
    work: int
    scratch_bytes: int
    inplace: tuple[int, ...] = ()
    parts_bytes: int = 0

    @property
    def declared(self) -> frozenset[str]:
        """Functions of libraries, as it says that they are. In one text with another that calls them too, they would be
        so for that as well: vectors would take the place of single calls.
        """
        return frozenset([text for text in self.prelude.values() if not _is_copied(text) and not _is_type(text)])


def render(group: tuple[KernelCall, ...], needed: AbstractSet[int], has_libmvec: bool = False) -> CSource:
    """The C of a group of calls that run as one function.

    Args:
        needed: slots that somebody reads after this function; other outputs are not stored.
        has_libmvec: the compiler vectorises the functions of libm.
    """
    return _render_checked(lower_group(group, needed), has_libmvec)


def _render_checked(function: LoopNest, has_libmvec: bool) -> CSource:
    settings = current()
    if settings.debug >= _DEBUG_LOOPS:
        print(print_function(function), file=sys.stderr)
    if settings.verify:
        verify_function(function)
    return render_function(function, has_libmvec)


class Renderer:
    """Renders groups of calls, those that are alike but for the numbers of their slots and scalars, and for the places
    of windows, once.

    A program that repeats a statement a thousand times has a thousand calls of one kernel.
    """

    def __init__(self, has_libmvec: bool) -> None:
        self._has_libmvec = has_libmvec
        self._known: dict[Alike, CSource] = {}
        self._forms: dict[Form, CSource | None] = {}

    def render(
        self, group: tuple[KernelCall, ...], needed: AbstractSet[int], windowed: Windowed | None = None
    ) -> CSource:
        """The C of `group`; see `render`.

        Args:
            windowed: the same over windows, where it is one call that is to be so.
        """
        if windowed is not None:
            source = self._over_windows(windowed)
            if source is not None:
                return source
        form, slot_of, scalar_of = alike(group, needed)
        source = self._known.get(form)
        if source is None:
            source = self._known[form] = render(form.calls, form.needed, self._has_libmvec)
        return _in_plan(source, slot_of, scalar_of)

    def _over_windows(self, call: Windowed) -> CSource | None:
        form, offsets = call.form, call.offsets
        if form not in self._forms:
            function = lower_form(form, offsets)
            self._forms[form] = None if function is None else _render_checked(function, self._has_libmvec)
        source = self._forms[form]
        if source is None:
            return None
        return _in_plan(source, call.slots, call.scalars, (*offsets, *source.dims[len(offsets) :]))


def _in_plan(
    source: CSource, slot_of: Sequence[int], scalar_of: Sequence[int], dims: tuple[int, ...] | None = None
) -> CSource:
    """`source`, of calls with slots and scalars numbered as they are met, in those that the numbers stand for."""
    return replace(
        source,
        outputs=tuple([slot_of[number] for number in source.outputs]),
        inputs=tuple([slot_of[number] for number in source.inputs]),
        scalars=tuple([scalar_of[number] for number in source.scalars]),
        inplace=tuple([slot_of[number] for number in source.inplace]),
        dims=source.dims if dims is None else dims,
    )


def render_function(function: LoopNest, has_libmvec: bool) -> CSource:
    """The C of one function."""
    writer = LoopWriter(function, has_libmvec)
    writer.need_types(_SCALAR)
    writer.windows()
    writer.block(function.body)
    lines = "\n".join(writer.lines)
    params, arguments, n_memory = _parameters(function, writer)
    writer.need_types("\n".join((*params, *arguments, lines)))
    prelude = {**writer.prelude, "uopc_scalar": _SCALAR}
    form = _Form(prelude, lines, tuple(params), tuple(arguments), n_memory, bool(writer.dims))
    body, entry = form.written(function.name, MARKED.sub(r"\1", lines), form.has_dims)
    buffers = function.buffers
    return CSource(
        text=_text(prelude, body),
        entry=entry,
        prelude=prelude,
        body=body,
        name=function.name,
        form=form,
        outputs=tuple([b.slot for b in buffers if b.written and not b.scratch]),
        inputs=tuple([b.slot for b in buffers if not b.written and not b.scratch]),
        scalars=tuple([number for number, _ in function.scalars]),
        dims=tuple(writer.dims),
        extent=function.extent,
        grain=function.grain,
        work=function.work,
        scratch_bytes=sum(_scratch_bytes(b) for b in buffers),
        inplace=tuple([buffers[i].slot for i in function.inplace]),
        parts_bytes=_PARTS_BYTES * len(function.parts),
    )


def source_of(
    writer: Writer,
    name: str,
    params: Sequence[str],
    outputs: tuple[int, ...],
    inputs: tuple[int, ...],
    dims: tuple[int, ...],
    extent: int,
    work: int,
) -> CSource:
    """The C of a function that no loop nest stands for, whose statements are the lines of `writer`.

    Args:
        params: of its memory, outputs first. In the lines `dims` is `n`; `begin` and `end` bound a part of `extent`.
    """
    lines = "\n".join(writer.lines)
    writer.need_types(_SCALAR)
    writer.need_types("\n".join((*params, lines)))
    prelude = {**writer.prelude, "uopc_scalar": _SCALAR}
    every = (*params, "int64_t begin", "int64_t end")
    arguments = (*[f"bufs[{i}]" for i in range(len(params))], "begin", "end")
    form = _Form(prelude, lines, every, arguments, len(params), has_dims=True)
    body, entry = form.written(name, lines, has_dims=True)
    text = _text(prelude, body)
    return CSource(
        *(text, entry, prelude, body, name, form),
        *(outputs, inputs, (), dims),
        extent=extent,
        grain=1,
        work=work,
        scratch_bytes=0,
    )


def _text(prelude: Mapping[str, str], body: str) -> str:
    return "\n".join((*prelude.values(), "", body))


@record(slots=True)
class _Lifted:
    """The C of a function with all places as parameters.

    Attributes:
        numbers: for each parameter the integer, or the text of the parameter that it was before.
    """

    text: str
    entry: str
    body: str
    name: str
    numbers: tuple[int | str, ...]

    @staticmethod
    def of(source: CSource) -> _Lifted:
        numbers: list[int | str] = []

        def parameter(match: re.Match[str]) -> str:
            text = match[1]
            numbers.append(text if text.startswith("n[") else int(text.strip("()")))
            return f"n[{len(numbers) - 1}]"

        lines = MARKED.sub(parameter, source.form.lines)
        name = _EXTENT.sub("_n", source.name)
        body, entry = source.form.written(name, lines, has_dims=bool(numbers))
        return _Lifted(_text(source.prelude, body), entry, body, name, tuple(numbers))

    def put_into(self, source: CSource) -> CSource:
        """`source`, whose text this was made of, with this text."""
        dims = [source.dims[int(x[2:-1])] if isinstance(x, str) else x for x in self.numbers]
        return replace(source, text=self.text, entry=self.entry, body=self.body, name=self.name, dims=tuple(dims))


def with_fewer_texts(sources: Sequence[CSource]) -> list[CSource]:
    """`sources`, of whose texts those that differ in places alone have become one where they are many: the statements
    of a loop in Python, each of which writes to another part of an array.
    """
    different = {source.text: source for source in sources}
    if len(different) < MANY_TEXTS:
        return [*sources]
    lifted = {text: _Lifted.of(source) for text, source in different.items()}
    n_alike = Counter([found.text for found in lifted.values()])
    return [
        found.put_into(source) if n_alike[found.text] >= MANY_TEXTS else source
        for source in sources
        for found in (lifted[source.text],)
    ]


def join_kernels(sources: Sequence[CSource]) -> str:
    """One text with the functions of all `sources`, which declare the same, each with its own copy of what it calls: as
    it would be compiled alone.
    """
    types = {name: text for source in sources for name, text in source.prelude.items() if not _is_copied(text)}
    lines = [*types.values()]
    for number, source in enumerate(sources):
        copied = {name: text for name, text in source.prelude.items() if _is_copied(text)}
        names = [*copied, source.name]
        lines += [f"#define {name} {name}_{number}" for name in names]
        lines += [*copied.values(), "", source.body]
        lines += [f"#undef {name}" for name in names]
    return "\n".join(lines)


def _is_copied(definition: str) -> bool:
    return _STATIC.search(definition) is not None


def _is_type(definition: str) -> bool:
    """Whether this is a type, or a macro."""
    return _TYPE.search(definition) is not None


def _parameters(function: LoopNest, writer: LoopWriter) -> tuple[list[str], list[str], int]:
    """Those of the function, the arguments for them, and how many are memory; without the lifted integers."""
    params: list[str] = []
    arguments: list[str] = []
    place = offset = 0
    for i, buffer in enumerate(function.buffers):
        c = C_TYPES[buffer.dtype]
        if buffer.scratch:
            if buffer.size:
                params.append(f"{c} *restrict {writer.pointers[i]}")
                arguments.append(f"({c} *)(scratch + {offset})")
            offset += _scratch_bytes(buffer)
            continue
        # what may be the same memory is not restricted
        restrict = "" if function.inplace and (buffer.written or i in function.inplace) else "restrict "
        params.append(f"{'' if buffer.written else 'const '}{c} *{restrict}{writer.pointers[i]}")
        arguments.append(f"bufs[{place}]")
        place += 1
    for k, acc in enumerate(function.parts):
        c = C_TYPES[acc.dtype]
        params.append(f"{c} *restrict {acc.name}_parts")
        arguments.append(f"({c} *)(scratch + {_PARTS_BYTES * k})")
    n_memory = len(params)
    for i, (_, dtype) in enumerate(function.scalars):
        params.append(f"const {C_TYPES[dtype]} s{i}")
        arguments.append(_unpack(dtype, f"scalars[{i}]"))
    params += ["int64_t begin", "int64_t end"]
    arguments += ["begin", "end"]
    if writer.uses_status:
        params.append("int64_t *status")
        arguments.append("status")
    return params, arguments, n_memory


def _scratch_bytes(buffer: Memory) -> int:
    """Rows in scratch start at multiples of 64."""
    return -(-buffer.size * buffer.dtype.itemsize // 64) * 64 if buffer.scratch else 0


def _unpack(dtype: DType, scalar: str) -> str:
    c = C_TYPES[dtype]
    if is_complex(dtype):
        part = "float" if dtype is dtypes.complex64 else "double"
        return f"__builtin_complex(({part}){scalar}.c[0], ({part}){scalar}.c[1])"
    if is_float(dtype):
        return f"({c}){scalar}.f"
    return f"({c}){scalar}.{'u' if is_unsigned(dtype) else 'i'}"
