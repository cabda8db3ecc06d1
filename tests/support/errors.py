"""Calls that are refused, as data: a line of Python, the class of the error, a pattern of its message."""

from uopc_core.errors import AxisError, IndexBoundsError

__all__ = [
    "ASSIGNMENTS",
    "AT_THE_CALL",
    "AXES",
    "DTYPES",
    "KINDS",
    "NOT_ARRAYS",
    "NO_CHECK",
    "OPERATORS",
    "WHEN_COMPUTED",
    "arguments_of",
]

Case = tuple[str, type[Exception], str]

# arguments that a function takes, where they are not one or two square matrices of float64
_ARGUMENTS: dict[str, str] = {
    "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor": "I I",
    "bitwise_invert": "I",
    "arange": "3",
    "empty ones zeros": "2",
    "eye": "3",
    "full": "2 1.0",
    "full_like": "S 1.0",
    "linspace": "0.0 1.0 5",
    "meshgrid linalg.cross linalg.outer searchsorted": "V V",
    "astype": "S 'float32'",
    "can_cast": "'int8' 'int16'",
    "finfo": "'float32'",
    "iinfo": "'int8'",
    "isdtype": "'int8' 'integral'",
    "broadcast_shapes": "(2,3) (3,)",
    "broadcast_to": "S (2,2,2)",
    "concat stack": "[S,S]",
    "expand_dims": "S axis=0",
    "squeeze": "xp.ones((1,2)) axis=0",
    "moveaxis": "S 0 1",
    "permute_dims": "S (1,0)",
    "repeat linalg.matrix_power": "S 2",
    "reshape": "S (4,)",
    "roll": "S 1",
    "tile": "S (2,)",
    "where": "B S S",
    "take take_along_axis": "S I0 axis=0",
    "cumulative_prod cumulative_sum": "V axis=0",
    "fft.fftfreq fft.rfftfreq": "4",
    "result_type broadcast_arrays": "S S",
    "add atan2 copysign divide equal floor_divide greater greater_equal hypot isin less less_equal linalg.matmul "
    "linalg.solve linalg.tensordot linalg.vecdot logaddexp logical_and logical_or logical_xor matmul maximum minimum "
    "multiply nextafter not_equal pow remainder subtract tensordot vecdot": "S S",
}
_BY_NAME = {name: text.split() for names, text in _ARGUMENTS.items() for name in names.split()}


def arguments_of(name: str) -> list[str]:
    """Arguments that the function takes, in the names of the tests' environment."""
    return list(_BY_NAME.get(name, ["S"]))


NOT_ARRAYS: list[Case] = [
    ("None", TypeError, "expected numbers.*None"),
    ("'text'", TypeError, "expected .*'text'|got str"),
    ("{}", TypeError, r"expected numbers.*\{\}"),
    ("[None]", TypeError, r"expected numbers.*\[None\]"),
    ("[[1], [1, 2]]", ValueError, "expected nested sequences of equal lengths"),
    ("[2**70]", OverflowError, "beyond 64 bits, got 1180591620717411303424"),
    ("np.ones((2, 2), np.float16)", TypeError, "expected a dtype, one of .* got float16"),
]
# what the function takes, or refuses in its own way: names of dtypes, objects without __dlpack__, no branch
NO_CHECK = {
    ("where", "None"),
    *(("result_type", value) for value, *_ in NOT_ARRAYS),
    *(("from_dlpack", value) for value, *_ in NOT_ARRAYS),
}

DTYPES = ["'float16'", "'nope'", "3", "object", "S"]

# kinds of dtypes that a function refuses: Z complex, S floating, B bool
KINDS = {
    "Z": (
        "atan2 ceil clip copysign floor floor_divide greater greater_equal hypot less less_equal logaddexp max maximum "
        "min minimum nextafter remainder signbit trunc argmax argmin fft.rfft fft.rfftn fft.ihfft"
    ),
    "ZS": "bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor",
    "B": "negative subtract",
}

# how many axes a function takes by keyword: "one", "many" or, under the name `axes`, "axes"
AXES = {
    **dict.fromkeys(
        "argmax argmin argsort concat cumulative_prod cumulative_sum diff linalg.cross linalg.vecdot repeat sort "
        "stack take take_along_axis unstack vecdot fft.fft fft.hfft fft.ifft fft.ihfft fft.irfft fft.rfft".split(),
        "one",
    ),
    **dict.fromkeys("all any count_nonzero flip linalg.vector_norm max mean min prod std sum var".split(), "many"),
    "roll": "repeated",
    **dict.fromkeys("fft.fftn fft.fftshift fft.ifftn fft.ifftshift fft.irfftn fft.rfftn".split(), "axes"),
}

_SQUARE = "linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.slogdet"
_MATRICES = "linalg.svd linalg.svdvals linalg.qr linalg.pinv"
_BROADCAST = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
    "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum "
    "minimum multiply nextafter not_equal pow remainder subtract"
).split()
_OF_INTS = [name for name in _BROADCAST if name.startswith("bitwise")]
# with an int that the dtype cannot hold; the others convert to floating, compare by value or ask for truth
_OVERFLOW = "add floor_divide maximum minimum multiply remainder subtract pow".split() + _OF_INTS
_ONE_AXIS_FFT = "fft hfft ifft ihfft irfft rfft".split()
_SEVERAL_AXES_FFT = "fftn ifftn irfftn rfftn".split()
_CREATION = ["zeros({})", "ones({})", "empty({})", "full({}, 1.0)"]

AT_THE_CALL: list[Case] = [
    # shapes that do not fit
    *[(f"xp.{n}({x}, xp.ones(3, dtype={x}.dtype))", ValueError, r"shapes \(2, 2\) and \(3,\) cannot be broadcast")
      for n in _BROADCAST for x in ["I" if n in _OF_INTS else "S"]],
    ("xp.where(B, S, V)", ValueError, r"shapes \(2, 2\) and \(3,\) cannot be broadcast"),
    ("xp.where(xp.ones(3), S, S)", ValueError, r"shapes \(3,\) and \(2, 2\) cannot be broadcast"),
    ("xp.clip(S, V, V)", ValueError, r"shapes \(2, 2\) and \(3,\) cannot be broadcast"),
    ("xp.broadcast_arrays(S, V)", ValueError, r"shapes \(2, 2\) and \(3,\) cannot be broadcast"),
    ("xp.broadcast_shapes((2,), (3,))", ValueError, r"shapes \(2,\) and \(3,\) cannot be broadcast"),
    ("xp.broadcast_shapes((-2,))", ValueError, r"expected extents of 0 or more, got shape \(-2,\)"),
    ("xp.broadcast_to(S, (2, 3))", ValueError, r"shape \(2, 2\) cannot be broadcast to \(2, 3\)"),
    ("xp.full((2, 3), S)", ValueError, r"shapes \(2, 2\) and \(2, 3\) cannot be broadcast"),
    ("xp.full_like(S, V)", ValueError, r"shapes \(3,\) and \(2, 2\) cannot be broadcast"),
    ("xp.matmul(S, V)", ValueError, r"x1 \(2, 2\) and x2 \(3,\) \(2 != 3\); .* pass x2.mT"),
    ("xp.matmul(S, D)", ValueError, r"expected one axis or more, got x1 \(2, 2\) and x2 \(\)"),
    ("xp.linalg.matmul(S, V)", ValueError, r"x1 \(2, 2\) and x2 \(3,\)"),
    ("xp.vecdot(S, V)", ValueError, r"one length, got x1 \(2, 2\) and x2 \(3,\)"),
    ("xp.linalg.vecdot(S, D)", ValueError, r"expected one axis or more, got x1 \(2, 2\) and x2 \(\)"),
    ("xp.tensordot(S, V, axes=1)", ValueError, r"equal extents, got x1 \(2, 2\) .* x2 \(3,\)"),
    ("xp.tensordot(S, S, axes=3)", ValueError, "axes=3 is out of range"),
    ("xp.tensordot(S, S, axes=1.5)", TypeError, "expected an integer for axes, got 1.5"),
    ("xp.tensordot(S, S, axes=((0,), (0, 1)))", ValueError, "two sequences of equal length"),
    ("xp.tensordot(S, S, axes=((9,), (0,)))", IndexError, "axis 9 is out of bounds"),
    ("xp.linalg.tensordot(S, V, axes=1)", ValueError, r"equal extents, got x1 \(2, 2\)"),
    ("xp.linalg.cross(S, S)", ValueError, r"expected 3 elements along axis -1, got shapes \(2, 2\)"),
    ("xp.linalg.cross(V > 0, V > 0)", TypeError, "expected a numeric dtype, got bool"),
    ("xp.linalg.outer(S, V)", ValueError, r"expected two vectors, got shapes \(2, 2\) and \(3,\)"),
    ("xp.concat([S, C])", ValueError, r"shapes must agree on every axis but 0, got \(2, 2\), \(2, 3, 4\)"),
    ("xp.concat([])", ValueError, "expected one array or more, got none"),
    ("xp.concat(5)", TypeError, "expected a sequence of arrays, got int"),
    ("xp.concat([D, D])", ValueError, "axis 0 is out of bounds for an array of 0 axes"),
    ("xp.stack([S, V])", ValueError, r"expected one shape, got \(2, 2\), \(3,\)"),
    ("xp.stack([])", ValueError, "expected one array or more, got none"),
    ("xp.stack([S, S], axis=5)", AxisError, "axis 5 is out of bounds for an array of 3 axes"),
    ("xp.unstack(D)", ValueError, "axis 0 is out of bounds for an array of 0 axes"),
    ("xp.take_along_axis(S, xp.ones(2, dtype='int64'), axis=0)", ValueError, r"indices of 2 axes, got .*\(2,\)"),
    ("xp.take_along_axis(xp.ones((3, 3)), I0, axis=0)", IndexError, r"fit on every axis but 0, got shapes \(3, 3\)"),
    ("xp.take_along_axis(S, S, axis=0)", IndexError, "expected indices of an integer dtype, got float64"),
    ("xp.take(S, S, axis=0)", TypeError, "expected indices of an integer dtype, got float64"),
    ("xp.diff(S, n=-1)", ValueError, "of 0 or more, got n=-1"),
    ("xp.diff(S, n=1.5)", TypeError, "expected an integer for n, got 1.5"),
    ("xp.diff(D)", ValueError, r"expected one axis or more, got an array of shape \(\)"),
    ("xp.diff(S, prepend=C)", ValueError, r"must agree with a on every axis but 1, got shapes \(2, 3, 4\), \(2, 2\)"),
    ("xp.diff(S, append=C)", ValueError, r"must agree with a on every axis but 1, got shapes \(2, 2\), \(2, 3, 4\)"),
    # new shapes
    ("xp.reshape(S, (3,))", ValueError, r"4 elements of shape \(2, 2\) cannot take the shape \(3,\)"),
    ("xp.reshape(S, (-1, -1))", ValueError, r"one -1 at most, got shape \(-1, -1\)"),
    ("xp.reshape(S, (-2, -2))", ValueError, r"cannot take the shape \(-2, -2\)"),
    ("xp.reshape(S, 1.5)", TypeError, "expected an integer or a sequence of them for shape, got 1.5"),
    ("xp.reshape(S, I)", TypeError, r"for shape, got an array of shape \(2, 2\)"),
    *[(f"xp.{call.format(shape)}", error, words) for call in _CREATION for shape, error, words in [
        ("-1", ValueError, r"expected extents of 0 or more, got shape \(-1,\)"),
        ("(1.5,)", TypeError, r"expected an integer for shape, got 1\.5 \(float\)"),
        ("'a'", TypeError, "expected an integer for shape, got 'a'"),
        ("2**70", ValueError, "expected 9223372036854775807 elements at most"),
        ("(1,) * 65", ValueError, "expected 64 axes at most, got 65"),
        ("S", TypeError, r"for shape, got an array of shape \(2, 2\)")]],
    ("xp.full(2, 1j, dtype='float32')", TypeError, "needs a complex dtype, got float32"),
    ("xp.full(2, 300, dtype='int8')", OverflowError, "Python integer 300 out of bounds for int8"),
    ("xp.full(2, 'a')", TypeError, "expected numbers"),
    ("xp.full_like(I8, 300)", OverflowError, "Python integer 300 out of bounds for int8"),
    ("xp.asarray(300, dtype='int8')", OverflowError, "Python integer 300 out of bounds for int8"),
    ("xp.asarray([300], dtype='int8')", OverflowError, "Python integer 300 out of bounds for int8"),
    ("xp.asarray(1j, dtype='float64')", TypeError, "complex number cannot be converted to float64"),
    ("xp.asarray([1, 2], copy=False)", ValueError, "copy=False needs an object with memory to share, got list"),
    ("xp.asarray(I, dtype='int8', copy=False)", ValueError, "copy=False cannot convert int64 to int8"),
    ("xp.from_dlpack([1, 2])", AttributeError, "expected an object with __dlpack__, got list"),
    ("xp.arange()", TypeError, "expected the end of the range, got neither start nor stop"),
    ("xp.array(V, ndmin=65)", ValueError, "expected 64 axes at most, got 65"),
    *[(f"xp.{n}(2, order='K')", ValueError, "expected order \"C\" or \"F\", got 'K'")
      for n in ("zeros", "ones", "empty")],
    ("xp.full(2, 1.0, order='A')", ValueError, "expected order \"C\" or \"F\", got 'A'"),
    *[(f"xp.{n}(S, order='Q')", ValueError, "expected order \"C\", \"F\", \"A\" or \"K\", got 'Q'")
      for n in ("asarray", "array", "copy", "zeros_like", "empty_like")],
    ("xp.zeros(2, like=3)", TypeError, "expected an array for like, got int"),
    ("xp.full(2, 1.0, device='gpu')", ValueError, "expected device \"cpu\" or None, got 'gpu'"),
    ("xp.eye(-1)", ValueError, r"expected extents of 0 or more, got shape \(-1, -1\)"),
    ("xp.eye(1.5)", TypeError, "expected an integer for N, got 1.5"),
    ("xp.eye(3, k=1.5)", TypeError, "expected an integer for k, got 1.5"),
    ("xp.arange('a')", TypeError, "expected a real number for stop"),
    ("xp.arange(V)", ValueError, r"expected one number for stop, got an array of shape \(3,\)"),
    ("xp.arange(1j)", TypeError, "expected a real number for stop, got 1j"),
    ("xp.arange(0, 3, 0)", ZeroDivisionError, "a step other than 0, got start=0, stop=3, step=0"),
    ("xp.arange(float('nan'))", ValueError, "expected finite numbers, got start=0, stop=nan"),
    ("xp.arange(300, dtype='int8')", OverflowError, "Python integer 299 out of bounds for int8"),
    ("xp.arange(3, dtype='bool')", TypeError, "expected two numbers at most for bool, got 3"),
    ("xp.linspace(0, 1, -1)", ValueError, "of 0 or more, got num=-1"),
    ("xp.linspace(0, 1, 1.5)", TypeError, "expected an integer for num, got 1.5"),
    ("xp.linspace(V, xp.zeros(2))", ValueError, r"shapes \(3,\) and \(2,\) cannot be broadcast"),
    ("xp.linspace(V, 1.0, axis=2)", AxisError, "linspace: axis 2"),
    ("xp.linspace('a', 1.0)", TypeError, "expected numbers"),
    ("xp.meshgrid(V, V, indexing='yx')", ValueError, "expected indexing \"xy\" or \"ij\", got 'yx'"),
    *[(f"xp.{n}(V)", ValueError, r"expected two axes or more, got shape \(3,\)") for n in ("tril", "triu")],
    *[(f"xp.{n}(S, k=1.5)", TypeError, "expected an integer for k, got 1.5") for n in ("tril", "triu")],
    # dtypes
    ("xp.astype(Z, 'float32')", TypeError, "complex128 cannot be converted to float32; take the real part first"),
    ("xp.can_cast('int8', 'int8', 'soft')", ValueError, "expected casting no, .* got 'soft'"),
    ("xp.astype(S, 'nope')", TypeError, "expected a dtype, one of .* got 'nope'"),
    ("xp.can_cast('nope', 'int8')", TypeError, "expected a dtype, one of .* got 'nope'"),
    ("xp.can_cast('int8', S)", TypeError, "got an array of float64; pass its dtype"),
    ("xp.finfo('int8')", ValueError, "expected a real or complex floating dtype, got int8"),
    ("xp.finfo('nope')", ValueError, "expected a dtype"),
    ("xp.iinfo('float32')", ValueError, "expected an integer dtype, got float32"),
    ("xp.isdtype(np.dtype('int8'), 'float')", ValueError, "expected a dtype or one of .* got 'float'"),
    ("xp.isdtype(S, 'integral')", TypeError, "got an array of float64"),
    ("xp.isdtype(np.dtype('int8'), 1)", TypeError, "expected a dtype, .* got 1"),
    ("xp.result_type()", ValueError, "expected one operand or more, got none"),
    ("xp.result_type('nope', 'int8')", TypeError, "expected a dtype, .* got 'nope'"),
    # Python ints
    *[(f"xp.{n}(I8, 300)", OverflowError, "Python integer 300 out of bounds for int8; convert") for n in _OVERFLOW],
    ("xp.where(B, xp.zeros((2, 2), dtype='uint8'), -1)", OverflowError, "Python integer -1 out of bounds for uint8"),
    ("xp.clip(I8, 300, 400)", OverflowError, "Python integer 300 out of bounds for int8"),
    ("xp.pow(I, -1)", ValueError, "negative power -1"),
    # axes and repetitions
    ("xp.squeeze(S, 0)", ValueError, r"only axes of extent 1 .* \(2, 2\) with axis=0"),
    ("xp.squeeze(S, 5)", AxisError, "axis 5 is out of bounds"),
    ("xp.squeeze(xp.ones((1, 1)), (0, 0))", ValueError, "every axis may be named once"),
    ("xp.squeeze(S, 1.0)", TypeError, "expected an integer for axis, got 1.0"),
    ("xp.expand_dims(S, 5)", AxisError, "axis 5 is out of bounds"),
    ("xp.expand_dims(S, (0, 0))", ValueError, "every axis may be named once"),
    ("xp.expand_dims(S, None)", TypeError, "expected an integer for axis, got None"),
    ("xp.permute_dims(S, (0, 0))", ValueError, "every axis may be named once"),
    ("xp.permute_dims(S, (0,))", ValueError, r"every one of 2 axes once, got axes=\(0,\)"),
    ("xp.permute_dims(S, (0, 5))", ValueError, "axis 5 is out of bounds"),
    ("xp.permute_dims(S, (0, 1.0))", TypeError, "expected an integer for axes, got 1.0"),
    ("xp.moveaxis(S, 5, 0)", AxisError, "axis 5 is out of bounds"),
    ("xp.moveaxis(S, (0, 0), (0, 1))", ValueError, "every axis may be named once"),
    ("xp.moveaxis(S, (0, 1), 0)", ValueError, "must be as many"),
    ("xp.moveaxis(S, None, 0)", TypeError, "for source, got None"),
    ("xp.roll(S, 1.5)", TypeError, "expected an integer or a sequence of them for shift, got 1.5"),
    ("xp.roll(S, (1, 2, 3), axis=(0, 1))", ValueError, "expected one shift or one for each axis"),
    ("xp.repeat(S, -1)", ValueError, "of 0 or more, got -1"),
    ("xp.repeat(V, [1, -1, 1])", ValueError, "of 0 or more, got -1"),
    ("xp.repeat(V, [1, 2])", ValueError, r"expected repeats of shape \(3,\) or \(1,\), got \(2,\)"),
    ("xp.repeat(V, 1.5)", TypeError, "expected repeats of an integer dtype, got float64"),
    ("xp.tile(V, -1)", ValueError, "extents of 0 or more"),
    ("xp.tile(V, 1.5)", TypeError, "for reps, got 1.5"),
    # searching, statistics
    *[(f"xp.{n}(E)", ValueError, r"got shape \(0,\)") for n in ("max", "min", "argmax", "argmin")],
    *[(f"xp.{n}(S)", ValueError, "expected an axis for an array of 2 axes, got axis=None")
      for n in ("cumulative_sum", "cumulative_prod")],
    *[(f"xp.{n}(S, correction='a')", TypeError, "a real number for correction, got 'a'") for n in ("std", "var")],
    ("xp.sort(D)", ValueError, r"expected one axis or more, got an array of shape \(\)"),
    ("xp.sort(V, kind='bubble')", ValueError, 'expected kind "quicksort", .* got \'bubble\''),
    ("xp.partition(V, 3)", ValueError, "kth=3 is out of bounds for 3 elements along axis -1"),
    ("xp.partition(V, 1, kind='quick')", ValueError, "expected kind \"introselect\", got 'quick'"),
    ("xp.isin(V, V, kind='table')", ValueError, 'kind "table" is for integers and bool, got float64'),
    ("xp.isin(V, V, kind='tree')", ValueError, 'expected kind "sort" or "table", got \'tree\''),
    ("xp.unique(S, axis=2)", AxisError, "unique: axis 2 is out of bounds"),
    ("xp.nonzero(D)", ValueError, r"got an array of shape \(\); reshape it"),
    ("xp.searchsorted(V, V, side='middle')", ValueError, "expected side \"left\" or \"right\", got 'middle'"),
    ("xp.searchsorted(S, V)", ValueError, r"one axis, got shape \(2, 2\)"),
    ("xp.searchsorted(V, V, sorter=V)", TypeError, "a sorter of an integer dtype, got float64"),
    ("xp.searchsorted(V, V, sorter=I8)", ValueError, r"the shape of a, got \(2,\) and \(3,\)"),
    ("xp.searchsorted(V, V, sorter=xp.asarray([[0, 1, 2]]))", TypeError, r"a sorter of one axis, got shape \(1, 3\)"),
    # linalg
    *[(f"xp.{n}({x})", ValueError, rf"expected square matrices \(\.\.\., M, M\), got shape {shape}")
      for n in _SQUARE.split() for x, shape in (("V", r"\(3,\)"), ("F", r"\(2, 3\)"), ("D", r"\(\)"))],
    *[(f"xp.{n}(V)", ValueError, r"expected matrices \(\.\.\., M, N\), got shape \(3,\)")
      for n in [*_MATRICES.split(), "linalg.diagonal", "linalg.trace"]],
    ("xp.linalg.matrix_norm(V)", IndexError, r"expected matrices .* got shape \(3,\); vector_norm takes vectors"),
    ("xp.linalg.matrix_norm(S, ord='x')", ValueError, "expected ord to be 'fro', .* got 'x'"),
    ("xp.linalg.matrix_norm(S, ord=3)", ValueError, "expected ord to be 'fro', .* got 3"),
    ("xp.linalg.vector_norm(S, ord='fro')", ValueError, "expected a number for ord, got 'fro'; matrix_norm"),
    ("xp.linalg.vector_norm(E, ord=-float('inf'))", ValueError, r"the smallest of some sizes, .* shape \(0,\)"),
    ("xp.linalg.matrix_power(F, 2)", ValueError, r"expected square matrices .* got shape \(2, 3\)"),
    ("xp.linalg.matrix_power(S, 1.5)", TypeError, "expected an integer for n, got 1.5"),
    ("xp.linalg.qr(S, mode='x')", ValueError, "expected mode \"reduced\", .* or \"raw\", got 'x'"),
    ("xp.linalg.solve(F, V)", ValueError, r"got \(2, 3\) and \(3,\)"),
    ("xp.linalg.solve(S, V)", ValueError, r"got \(2, 2\) and \(3,\)"),
    ("xp.linalg.diagonal(S, offset=1.5)", TypeError, "expected an integer for offset, got 1.5"),
    ("xp.linalg.trace(S, offset=1.5)", TypeError, "expected an integer for offset, got 1.5"),
    ("xp.matrix_transpose(V)", ValueError, r"expected two axes or more, got shape \(3,\)"),
    ("xp.linalg.matrix_transpose(V)", ValueError, r"expected two axes or more, got shape \(3,\)"),
    # fft
    *[(f"xp.fft.{n}(V, n={k})", error, words) for n in _ONE_AXIS_FFT for k, error, words in [
        ("0", ValueError, "expected one element or more .*n=0"), ("-1", ValueError, "n=-1"),
        ("1.5", TypeError, "expected an integer for n, got 1.5")]],
    *[(f"xp.fft.{n}(V, norm='x')", ValueError, "expected norm \"backward\", \"ortho\" or \"forward\", got 'x'")
      for n in _ONE_AXIS_FFT + _SEVERAL_AXES_FFT],
    *[(f"xp.fft.{n}(S, s=(2,), axes=(0, 1))", ValueError, r"one length per axis, got s=\(2,\)")
      for n in _SEVERAL_AXES_FFT],
    *[(f"xp.fft.{n}(S, s=(0, 0))", ValueError, "expected one element or more") for n in _SEVERAL_AXES_FFT],
    *[(f"xp.fft.{n}(S, s=(1.5, 2))", TypeError, "expected an integer for s, got 1.5") for n in _SEVERAL_AXES_FFT],
    *[(f"xp.fft.{n}(0)", ZeroDivisionError, "expected n of 1 or more, got n=0") for n in ("fftfreq", "rfftfreq")],
    *[(f"xp.fft.{n}(1.5)", ValueError, "expected an integer for n, got 1.5") for n in ("fftfreq", "rfftfreq")],
    *[(f"xp.fft.{n}(4, d='a')", TypeError, "expected a real number for d, got 'a'") for n in ("fftfreq", "rfftfreq")],
    *[(f"xp.fft.{n}(4, dtype='int8')", TypeError, "a real floating dtype, got int8") for n in ("fftfreq", "rfftfreq")],
]  # fmt: skip

_ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "//": "floor_divide", "%": "remainder", "**": "pow"}
_BITS = {"&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "bitwise_left_shift"}
_BITS[">>"] = "bitwise_right_shift"
_COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
_EQUALITY = {"==": "equal", "!=": "not_equal"}

# the call, the name in the message, the class, a pattern
OPERATORS: list[tuple[str, str, type[Exception], str]] = [
    ("S.astype('f4', 'Q')", "astype", ValueError, "expected order .* got 'Q'"),
    ("S.copy(order=3)", "copy", TypeError, "expected a string for order, got 3"),
    ("S.astype('int8', casting='safe')", "astype", TypeError, 'float64 cannot be converted to int8 .* casting="safe"'),
    ("S.astype('int8', casting='soft')", "astype", ValueError, "expected casting no, .* got 'soft'"),
    ("V.argsort(kind=1)", "argsort", TypeError, "expected a string for kind, got 1"),
    *[(call, name, OverflowError, f"Python integer {value} out of bounds for int8") for op, name in
      (_ARITHMETIC | _BITS).items() for value in (300, -200)
      for call in (f"I8 {op} {value}", f"{value} {op} I8", f"I8 {op}= {value}") if not (op == "**" and value < 0)],
    *[(f"S {op} V", name, ValueError, r"shapes \(2, 2\) and \(3,\) cannot be broadcast") for op, name in
      (_ARITHMETIC | _COMPARISONS | _EQUALITY | {"/": "divide"}).items()],
    *[(f"I8 {op} [1, 2, 3]", name, ValueError, r"shapes \(2,\) and \(3,\) cannot be broadcast") for op, name in
      _BITS.items()],
    *[(call, name, TypeError, "expected integers or bool, got float64") for op, name in _BITS.items()
      for call in (f"S {op} S", f"I {op} 1.5", f"1.5 {op} I")],
    *[(f"Z {op} S", name, TypeError, "expected real numbers, got complex128") for op, name in
      ({"//": "floor_divide", "%": "remainder"} | _COMPARISONS).items()],
    *[(f"I8 {op} [None, 1]", name, TypeError, r"expected numbers .*\[None, 1\]") for op, name in
      (_ARITHMETIC | _COMPARISONS | _BITS).items()],
    ("S @ V", "matmul", ValueError, r"x1 \(2, 2\) and x2 \(3,\)"),
    ("S @ 2.0", "matmul", ValueError, r"x2 \(\); use \* for scalars"),
    ("S @= F", "matmul", ValueError, r"\(2, 3\) does not fit the array of shape \(2, 2\) in place"),
    ("B - B", "subtract", TypeError, "logical_xor"),
    ("I ** -1", "pow", ValueError, "negative integer powers"),
    ("-B", "negative", TypeError, "use logical_not"),
    ("~S", "bitwise_invert", TypeError, "expected integers or bool, got float64"),
    ("S += 1j", "add", TypeError, "complex128 and cannot be stored in the array of float64"),
    ("I += 1.5", "add", TypeError, "float64 and cannot be stored in the array of int64"),
    ("I /= 2", "divide", TypeError, "float64 and cannot be stored in the array of int64"),
    ("B += 1", "add", TypeError, "int64 and cannot be stored in the array of bool"),
    ("S += xp.ones((4, 2, 2))", "add", ValueError, r"\(4, 2, 2\) does not fit the array of shape \(2, 2\) in place"),
    ("bool(S)", "bool", ValueError, r"shape \(2, 2\) is ambiguous; use xp.any"),
    ("int(S)", "int", TypeError, r"one element, got shape \(2, 2\)"),
    ("float(S)", "float", TypeError, r"one element, got shape \(2, 2\)"),
    ("complex(S)", "complex", TypeError, r"one element, got shape \(2, 2\)"),
    ("S.__index__()", "index", TypeError, r"only a 0-d integer array is an index, got shape \(2, 2\), float64"),
    ("D.__index__()", "index", TypeError, r"got shape \(\), float64"),
    ("len(D)", "len", TypeError, "a 0-d array has no length"),
    ("V.mT", "mT", ValueError, r"expected two axes or more, got shape \(3,\)"),
    ("S.to_device('gpu')", "to_device", ValueError, "expected \"cpu\", got 'gpu'"),
    ("S.__dlpack__(dl_device=(2, 0))", "__dlpack__", BufferError, r"got \(2, 0\)"),
    ("S.astype('x')", "astype", TypeError, "expected a dtype, .* got 'x'"),
    ("S.reshape(3)", "reshape", ValueError, r"cannot take the shape \(3,\)"),
    *[(f"S.{n}(axis=5)", n, AxisError, "axis 5 is out of bounds for an array of 2 axes")
      for n in "sum prod max min mean std var any all argmax argmin argsort sort".split()],
    *[(f"S.{n}(axis=1.0)", n, TypeError, "expected an integer for axis, got 1.0")
      for n in "sum prod max min mean std var any all argmax argmin argsort sort".split()],
    ("S.swapaxes(0, 5)", "swapaxes", AxisError, "axis 5 is out of bounds"),
    ("S.diagonal(0, 0, 5)", "diagonal", AxisError, "axis 5 is out of bounds"),
    ("S.trace(0, 0, 5)", "trace", AxisError, "axis 5 is out of bounds"),
    ("S.squeeze(0)", "squeeze", ValueError, "only axes of extent 1"),
    ("S.repeat(-1)", "repeat", ValueError, "got -1"),
]  # fmt: skip

ASSIGNMENTS: list[Case] = [
    ("S[2]", IndexError, "index 2 is out of bounds for axis 0 with size 2"),
    ("S[0, -3]", IndexError, "index -3 is out of bounds for axis 1 with size 2"),
    ("D[0]", IndexError, r"index: too many indices, the array has 0 axes, shape \(\), but 1 were indexed"),
    ("S[0, 0, 0]", IndexError, r"index: too many indices, .* shape \(2, 2\), but 3 were indexed"),
    *[(f"S[{key}]", IndexError, "index: expected ints, slices, None, ..., integer arrays or bool masks")
      for key in ("2.0", "'a'", "[0.5]", "{}", "S")],
    ("S[..., ...]", IndexError, "index: expected one ellipsis"),
    ("S[xp.asarray([True, False, True])]", IndexError, r"index: the mask of shape \(3,\) .* shape \(2, 2\)"),
    ("V[B]", IndexError, "index: too many indices"),
    ("S[::0]", ValueError, "index: the step of a slice cannot be zero"),
    ("S[1.5:]", TypeError, "index: expected an integer for a slice, got 1.5"),
    ("S[[0, 1], [0, 1, 0]]", IndexError, r"index: the index arrays of shapes \(2,\) and \(3,\) cannot be broadcast"),
    ("S[2] = 1", IndexError, "index 2 is out of bounds for axis 0 with size 2"),
    ("S[[9]] = 1", IndexError, "index 9 is out of bounds for axis 0 with size 2"),
    ("S[xp.asarray([9])] = V[:2]", IndexError, "index 9 is out of bounds for axis 0 with size 2"),
    ("S['a'] = 1", IndexError, "."),
    ("S[0, 0, 0] = 1", IndexError, "too many indices"),
    ("S[xp.ones((3, 3), dtype='bool')] = 1", IndexError, "."),
    ("S[0] = [1, 2, 3]", ValueError, r"assignment: a value of shape \(3,\)"),
    ("S[:] = xp.ones((4,))", ValueError, r"assignment: a value of shape \(4,\)"),
    ("S[0] = 1j", TypeError, "assignment: a value of complex128 cannot be stored in an array of float64"),
    ("I8[0] = 300", OverflowError, "Python integer 300 out of bounds for int8"),
    ("I8[:] = 300", OverflowError, "Python integer 300 out of bounds for int8"),
    ("I8[0] = np.int64(300)", OverflowError, "Python integer 300 out of bounds for int8"),
    ("I8[:] = np.float64(300.5)", OverflowError, "Python integer 300 out of bounds for int8"),
    ("I8[...] = np.float32('nan')", ValueError, "cannot convert float NaN to integer"),
    ("I8[[0]] = 300", OverflowError, "Python integer 300 out of bounds for int8"),
    ("I8[I8 > 0] = 300", OverflowError, "Python integer 300 out of bounds for int8"),
    ("I8[:] = [300, 1]", OverflowError, "assignment: Python integer 300 out of bounds for int8"),
    ("S[0] = object()", TypeError, "assignment: expected numbers"),
]  # fmt: skip

# what depends on values
WHEN_COMPUTED: list[Case] = [
    ("xp.take(V, xp.asarray([7]))", IndexError, "^take: index 7 is out of bounds for axis 0 with size 3"),
    ("xp.take(V, xp.asarray([-4])) + 1", IndexError, "^take: index -4 is out of bounds for axis 0 with size 3"),
    ("xp.take(F, xp.asarray([7]), axis=1)", IndexError, "^take: index 7 is out of bounds for axis 0 with size 3"),
    ("xp.take_along_axis(V, xp.asarray([7]), axis=0)", IndexBoundsError, "^take_along_axis: index 7 is out of bounds"),
    ("V[xp.asarray([7])]", IndexError, "^index 7 is out of bounds for axis 0 with size 3"),
    ("xp.searchsorted(V, V, sorter=I9) if xp is not np else 0", IndexError, "^searchsorted: index 9"),
    ("xp.searchsorted(V, V, sorter=xp.asarray([9, 9, 9]))", ValueError, "^searchsorted: index 9 is out of bounds"),
    ("xp.linalg.inv(singular)", ValueError, "^inv: Singular matrix"),
    ("xp.linalg.solve(singular, singular)", ValueError, "^solve: Singular matrix"),
    ("xp.linalg.matrix_power(singular, -1)", ValueError, "Singular matrix"),
    ("xp.linalg.cholesky(-S)", ValueError, "^cholesky: Matrix is not positive definite"),
]  # fmt: skip
