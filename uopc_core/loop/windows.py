"""Calls of kernels over windows: the boxes of memory that they read and write, each with a beginning of its own.

The statements of a loop in Python read and write other boxes of the same arrays. As graphs over whole arrays they are
as many kernels; over windows those that differ in places alone are one, which is lowered and written as C once. And
what writes a box of an array that nobody reads any more writes no more than the box, where the array is.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.loop.index import Index, Var, strides_of
from uopc_core.loop.loop_ir import Block, Load, Loop, LoopNest, Store, Unless
from uopc_core.loop.lower import Parameters, accesses, finish_function, work_of
from uopc_core.loop.nest import Nest, build_nest, mark_parallel
from uopc_core.loop.space import BoundKernel, space_of
from uopc_core.records import record
from uopc_core.schedule.boxes import Bounds, BoxWrite, are_apart, box_write, is_inside
from uopc_core.schedule.kernel import Kernel, KernelCall

__all__ = ["Form", "Windowed", "lower_form", "lower_windowed", "over_windows", "written_base"]

Strides = tuple[int, ...]


@record(slots=True)
class BoxForm:
    """The box that is written.

    Attributes:
        base: the slot of the array before, as the form numbers it.
        strides: of the array, in elements.
        size: elements of the array.
        apart: the PARAMs that read the array outside of the box; all others that read it do so in the very box.
    """

    base: int
    strides: Strides
    size: int
    apart: frozenset[int]


@record(slots=True)
class Form:
    """What calls have in common with all that differ from them in slots, scalars and places alone.

    Attributes:
        kernel: over PARAMs that are windows, whole slots or scalars.
        inputs: a slot or a scalar for each, numbered in the order in which they are met.
        strides: of each window; None for what is none.
        outputs: slots, numbered with those of the inputs.
        needed: those of the outputs that are stored.
    """

    kernel: Kernel
    inputs: tuple[int, ...]
    strides: tuple[Strides | None, ...]
    outputs: tuple[int, ...]
    needed: frozenset[int]
    box: BoxForm | None


@record(slots=True)
class Windowed:
    """A call as one of its form.

    Attributes:
        offsets: where the windows begin, in elements, in the order of the buffers of the function.
        slots, scalars: what the numbers of the form stand for.
    """

    form: Form
    offsets: tuple[int, ...]
    slots: tuple[int, ...]
    scalars: tuple[int, ...]


def over_windows(call: KernelCall, needed: Container[int], in_place: bool) -> Windowed | None:
    """`call` over windows; None where it reads and writes nothing but whole slots.

    Args:
        in_place: it writes a box, and nobody reads the array that is in it before any more.
    """
    cut = _Cut(call)
    found = _box_and_base(call) if in_place else None
    if found is None:
        outputs = tuple([cut(root) for root in call.kernel.outputs])
        return cut.windowed(outputs, needed, None, None) if cut.offsets else None
    write, base = found
    return cut.windowed((cut(write.value),), needed, base, write.bounds)


def written_base(call: KernelCall) -> int | None:
    """The slot of the array that `call` writes a small box of; None where it does something else."""
    found = _box_and_base(call)
    return None if found is None else _input_of(call, found[1])


def _input_of(call: KernelCall, param: UOp) -> int:
    """The slot or the scalar that a PARAM of a kernel stands for in a call."""
    number: int = param.arg[0]
    return call.inputs[number]


def _box_and_base(call: KernelCall) -> tuple[BoxWrite, UOp] | None:
    """The small box that a kernel writes, and the PARAM that is the array before."""
    write = box_write(call.kernel.outputs[0]) if len(call.outputs) == 1 else None
    if write is None or not write.is_small:
        return None
    base = write.base
    while (inner := box_write(base)) is not None and is_inside(inner.bounds, write.bounds):
        base = inner.base
    return (write, base) if base.op is Ops.PARAM and base.arg[2] == "buffer" else None


class _Cut:
    """Nodes of a kernel over windows in the place of slices of its PARAMs.

    A slice of an array in which a box has been written is a slice of what is written there, or of the array before,
    where it lies in the box or apart from it.
    """

    def __init__(self, call: KernelCall) -> None:
        self.call = call
        self.made: dict[UOp, UOp] = {}
        self.numbers: dict[tuple[UOp, Bounds | None], UOp] = {}
        self.given: list[tuple[UOp, Bounds | None]] = []  # what each new PARAM is: an old one, and the part of it
        self.offsets: dict[int, int] = {}

    def __call__(self, root: UOp) -> UOp:
        made = self.made
        stack = [root]
        while stack:
            node = stack[-1]
            if node in made:
                stack.pop()
                continue
            if node.op is Ops.PARAM:
                made[node] = self._param(node, None)
                continue
            seen = _seen_through(node) if node.op is Ops.SHRINK else node
            if seen is not node:
                if seen in made:
                    made[node] = made[seen]
                else:
                    stack.append(seen)
                continue
            if node.op is Ops.SHRINK and node.src[0].op is Ops.PARAM:
                made[node] = self._param(node.src[0], node.arg)
                continue
            waiting = [s for s in node.src if s not in made]
            if waiting:
                stack += waiting
            else:
                made[node] = node.over(tuple([made[s] for s in node.src]))
        return made[root]

    def _param(self, old: UOp, bounds: Bounds | None) -> UOp:
        key = old, bounds
        new = self.numbers.get(key)
        if new is None:
            number = len(self.given)
            shape = old.shape if bounds is None else tuple([stop - start for start, stop in bounds])
            new = self.numbers[key] = UOp.param(number, shape, old.dtype, old.arg[2])
            self.given.append(key)
            if bounds is not None:
                self.offsets[number] = _offset(bounds, old.shape)
        return new

    def windowed(
        self, outputs: tuple[UOp, ...], needed: Container[int], base: UOp | None, bounds: Bounds | None
    ) -> Windowed | None:
        """The call, of which `outputs` are the outputs over windows, into the box of `base`, if into one."""
        slots: dict[int, int] = {}
        scalars: dict[int, int] = {}
        written = tuple([slots.setdefault(slot, len(slots)) for slot in self.call.outputs])
        inputs: list[int] = []
        strides: list[Strides | None] = []
        for old, part in self.given:
            numbers = scalars if old.arg[2] == "scalar" else slots
            inputs.append(numbers.setdefault(_input_of(self.call, old), len(numbers)))
            strides.append(None if part is None else tuple(strides_of(old.shape)))
        box: BoxForm | None = None
        offsets = tuple(self.offsets.values())
        if base is not None and bounds is not None:
            apart = self._apart_from(base, bounds)
            if apart is None:
                return None
            number = slots.setdefault(_input_of(self.call, base), len(slots))
            box = BoxForm(number, tuple(strides_of(base.shape)), base.size, apart)
            offsets = (_offset(bounds, base.shape), *offsets)
        stored = frozenset([slots[slot] for slot in self.call.outputs if slot in needed])
        kernel = Kernel(outputs, len(self.given))
        form = Form(kernel, tuple(inputs), tuple(strides), written, stored, box)
        return Windowed(form, offsets, tuple(slots), tuple(scalars))

    def _apart_from(self, base: UOp, bounds: Bounds) -> frozenset[int] | None:
        """The windows of `base` that have nothing in common with its box; None where one has something, but not all."""
        apart: list[int] = []
        for number, (old, part) in enumerate(self.given):
            if old is not base or part == bounds:
                continue
            if part is None or not are_apart(part, bounds):
                return None
            apart.append(number)
        return frozenset(apart)


def _seen_through(shrink: UOp) -> UOp:
    """`shrink` as a slice of what has been written last where it reads."""
    source, bounds = shrink.src[0], shrink.arg
    while (write := box_write(source)) is not None:
        if is_inside(bounds, write.bounds):
            bounds = tuple([(a - start, b - start) for (a, b), (start, _) in zip(bounds, write.bounds, strict=True)])
            source = write.value
        elif are_apart(bounds, write.bounds):
            source = write.base
        else:
            break
    if source is shrink.src[0]:
        return shrink
    is_whole = all(start == 0 and stop == n for (start, stop), n in zip(bounds, source.shape, strict=True))
    return source if is_whole else source.shrink(bounds)


def _offset(bounds: Bounds, shape: Sequence[int]) -> int:
    return sum([start * stride for (start, _), stride in zip(bounds, strides_of(shape), strict=True)])


def _span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last of a window."""
    return 1 + sum([(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]) if 0 not in shape else 0


def lower_windowed(call: Windowed) -> LoopNest | None:
    """The function of one call, in the slots and scalars of its plan."""
    nest = lower_form(call.form, call.offsets)
    if nest is None:
        return None
    buffers = tuple([replace(buffer, slot=call.slots[buffer.slot]) for buffer in nest.buffers])
    scalars = tuple([(call.scalars[number], dtype) for number, dtype in nest.scalars])
    return replace(nest, buffers=buffers, scalars=scalars)


def lower_form(form: Form, offsets: Sequence[int]) -> LoopNest | None:
    """The function of all calls of a form, for one with these offsets.

    None where a box would be read at other elements than the one that is being written.
    """
    bind = Parameters()
    begins = iter(offsets)
    box = form.box
    root = form.kernel.outputs[0]
    if box is None:
        outputs = zip(form.outputs, form.kernel.outputs, strict=True)
        targets = [
            bind.buffer(slot, out.dtype, out.size, True) if slot in form.needed else None for slot, out in outputs
        ]
        whole = base = None
    else:
        whole = bind.buffer(form.outputs[0], root.dtype, box.size, True)
        targets = [bind.window(form.outputs[0], root.dtype, _span(root.shape, box.strides), True, next(begins))]
        base = bind.buffer(box.base, root.dtype, box.size, False)
    params: dict[int, int | str] = {}
    strides: dict[int, Strides] = {}
    for node in sorted(form.kernel.params, key=lambda node: node.arg[0]):
        number: int = node.arg[0]
        slot, own = form.inputs[number], form.strides[number]
        if node.arg[2] == "scalar":
            params[number] = bind.scalar(slot, node.dtype)
        elif own is None:
            params[number] = bind.buffer(slot, node.dtype, node.size, False)
        else:
            strides[number] = own
            params[number] = bind.window(slot, node.dtype, _span(node.shape, own), False, next(begins))
    call = BoundKernel(form.kernel, params, tuple(targets), strides=strides, box=None if box is None else box.strides)
    nest = build_nest(call)
    work = work_of(root, space_of(form.kernel).full)
    if box is None or whole is None or base is None:
        return finish_function(bind, nest, work)
    same = [
        params[k] for k, slot in enumerate(form.inputs) if slot == box.base and form.strides[k] and k not in box.apart
    ]
    if not _is_read_where_written(nest.body, same):
        return None
    body = (_copy(whole, base, bind), *mark_parallel(nest.body, False))
    function = finish_function(bind, Nest(body, 1, "B"), work)
    return replace(function, inplace=(base, *[buffer for buffer in same if isinstance(buffer, int)]))


def _is_read_where_written(body: Block, buffers: Sequence[int | str]) -> bool:
    """Whether `buffers` are read only at the element that is stored then."""
    found = list(accesses(body))
    stored = {item.index for item in found if not isinstance(item, Load)}
    read = {item.index for item in found if isinstance(item, Load) and item.buffer in buffers}
    return not read or (len(stored) == 1 and read == stored)


def _copy(whole: int, base: int, bind: Parameters) -> Unless:
    """The array before, for whoever writes the box elsewhere."""
    memory = bind.buffers[base]
    var = Var("c", 0, memory.size)
    at = Index.of(var)
    statements = (Load("c0", memory.dtype, base, at, ()), Store(whole, at, "c0", memory.dtype))
    return Unless((whole, base), (Loop(var, statements, False, True),))
