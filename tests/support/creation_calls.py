"""What the functions that make, sort and compare arrays are called with, for `test_descriptions`."""

from typing import Any

import numpy as np

__all__ = ["METHODS", "NO_VALUES", "OPERANDS", "OTHER_DEFAULTS", "VALUES"]

X = np.asarray([[1.5, 0.0, 3.0], [4.0, 5.0, -6.0]])
TWICE = np.asarray([[3, 1, 3], [3, 1, 3], [2, 2, 0]])
NEAR = np.asarray([[1.5 + 1e-9, 0.0, 2.0], [4.0, np.nan, -6.0]])

# functions in place of the operands of the others
OPERANDS: dict[str, tuple[Any, ...]] = {
    "__array_namespace_info__": (),
    "arange": (5,),
    "array": ([[1, 2], [3, 4]],),
    "array_equal": (NEAR, NEAR),
    "asanyarray": ([1.5, 2.5],),
    "asarray": ([1.5, 2.5],),
    "astype": (X, "float32"),
    "can_cast": ("int8", "float32"),
    "empty": ((2, 3),),
    "eye": (3,),
    "finfo": ("float32",),
    "full": ((2, 3), 2.5),
    "full_like": (X, 2.5),
    "identity": (3,),
    "iinfo": ("int16",),
    "isclose": (X, NEAR),
    "isdtype": (np.dtype("int8"), "integral"),
    "isin": (TWICE, np.asarray([3, 0])),
    "linspace": (0.0, 3.0),
    "meshgrid": (X[0], X[1]),
    "argpartition": (X, (0, 1)),
    "ones": (3,),
    "partition": (X, (0, 1)),
    "result_type": ("int8", 2, X.astype("float32")),
    "tri": (3,),
    "unique": (TWICE,),
    "unique_values": (np.asarray([2.0, 1.0]),),
    "zeros": ((2, 3),),
}
# a value for a parameter, by function and name, or by name
VALUES: dict[Any, Any] = {
    ("arange", "start"): [],
    ("arange", "stop"): [9, None],
    ("arange", "step"): [2, 0.5, None],
    ("array", "copy"): [True, None, False],
    ("asarray", "copy"): [True, None, False],
    ("asanyarray", "copy"): [True, None, False],
    ("can_cast", "casting"): ["no", "equiv", "safe", "same_kind", "unsafe", "none"],
    ("astype", "casting"): ["no", "equiv", "safe", "same_kind", "unsafe", "none"],
    ("from_dlpack", "copy"): [True, None],
    ("isin", "kind"): ["sort", "table", "none"],
    ("meshgrid", "copy"): [False],
    ("meshgrid", "indexing"): ["ij", "xy", "none"],
    **{(name, "axis"): [0, -1, 7] for name in ("partition", "argpartition", "linspace")},
    ("unique", "axis"): [0, -1, None, 7, 1.5],
    **{(name, "axis"): [0, -1, None, 7, 1.5] for name in ("sort", "argsort")},
    **{(name, "kind"): ["introselect", "quicksort"] for name in ("partition", "argpartition")},
    **{(name, "kind"): ["quicksort", "S", "none", 3] for name in ("sort", "argsort")},
    **{(name, "order"): ["f"] for name in ("sort", "argsort", "partition", "argpartition")},
    **{(name, "order"): ["C", "f", "K", "none", None, 3] for name in ("zeros", "ones", "empty", "full", "eye")},
    **{(name, "order"): ["C", "k", "A", "none", None] for name in ("asarray", "asanyarray", "array", "copy", "astype")},
    **{(f"{name}_like", "shape"): [4, (3, 1, 2), ()] for name in ("zeros", "ones", "empty", "full")},
    **{(name, "shape"): [] for name in ("zeros", "ones", "empty", "full")},
    "M": [2, None],
    "atol": [0.5],
    "device": ["cpu", None, "gpu"],
    "endpoint": [False],
    "equal_nan": [True, False],
    "k": [1, -1, 9],
    "like": [X, 3],
    "ndmax": [],
    "ndmin": [0, 1, 4, 65],
    "num": [1, 0, 7, -1],
    "requirements": ["C", ["W", "O"]],
    "rtol": [0.5],
    "stable": [True, False],
}
# methods that are no functions, or whose function is another one
METHODS = ("astype", "copy", "partition", "sort")
# what gives neither arrays nor numbers
NO_VALUES = ("__array_namespace_info__",)
# where the default is not NumPy's
OTHER_DEFAULTS: dict[tuple[str, str], str] = {
    ("eye", "dtype"): "None means the same as NumPy's float",
    ("tri", "dtype"): "None means the same as NumPy's float",
}
