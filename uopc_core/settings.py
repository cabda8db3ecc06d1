"""The switches of both packages, in one table: environment at import, `context(...)` afterwards.

Invariant: the settings in force are one frozen object in a ContextVar, so threads and coroutines never see each other's
overrides, and reading one costs some 20 ns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from uopc_core.costs import AT_ONCE
from uopc_core.errors import SettingsError
from uopc_core.lazy import LazyModule
from uopc_core.limits import usable_memory
from uopc_core.records import record

if TYPE_CHECKING:
    import pathlib
else:
    pathlib = LazyModule("pathlib")

__all__ = [
    "SETTINGS",
    "SWITCHES",
    "Settings",
    "Switch",
    "context",
    "current",
    "set_tiers",
    "settings_from_environment",
    "when_eager",
]

MAX_THREADS = 256  # what the C runtime has room for
TIERS = ("auto", "compile", "interpret")  # who computes; see `runtime/executors.py`


@dataclass(frozen=True, slots=True)
class Settings:
    """One value per switch; the table below says what each means."""

    debug: int
    verify: bool
    tier: str
    num_threads: int
    cache_dir: pathlib.Path | None
    cc: str | None
    eager: bool
    pending_bytes: int
    at_once: int


@record(slots=True)
class Switch:
    """One row of the table.

    Attributes:
        environment: the variable read at import.
        parse: the text of the variable to a value; ValueError if it is none.
        accepts: whether a value is valid.
        valid: the valid values in words, for messages and the docs.
    """

    name: str
    environment: str
    default: Callable[[], Any]
    parse: Callable[[str], Any]
    accepts: Callable[[Any], bool]
    valid: str
    meaning: str


def _affinity_count() -> int:
    """CPUs this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return min(MAX_THREADS, len(os.sched_getaffinity(0)))
    return min(MAX_THREADS, os.cpu_count() or 1)


def _parse_bool(text: str) -> bool:
    words = {"0": False, "1": True, "false": False, "true": True}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_path_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str | pathlib.Path)


def _is_command_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() != "")


def _pending_bytes() -> int:
    """128 MiB, or a 16th of the memory that this process may use where that is less."""
    return min(128 << 20, usable_memory() // 16)


def _is_int_in(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


SWITCHES: tuple[Switch, ...] = (
    Switch(
        *("debug", "UOPC_DEBUG", lambda: 0, int, _is_int_in(0, 4), "0, 1, 2, 3, 4"),
        "printed to stderr: 1 kernels and times, 2 the graph after each pass and the plan, 3 loops, "
        "4 C and the compiler's command",
    ),
    Switch(
        *("verify", "UOPC_VERIFY", lambda: False, _parse_bool, _is_bool, "0, 1, false, true"),
        "verify every form after every pass: graphs, plans, loop nests, and the values of kernels",
    ),
    Switch(
        *(
            "tier",
            "UOPC_TIER",
            lambda: "auto",
            str,
            _one_of(*TIERS),
            ", ".join(TIERS),
        ),
        "who computes: C for what is large or repeated and NumPy for the rest; always C; always NumPy",
    ),
    Switch(
        *("num_threads", "UOPC_NUM_THREADS", _affinity_count, int, _is_int_in(1, MAX_THREADS), f"1 to {MAX_THREADS}"),
        "threads of a kernel; by default the CPUs in the affinity mask",
    ),
    Switch(
        *("cache_dir", "UOPC_CACHE_DIR", lambda: None, str, _is_path_or_none, "a path"),
        "folder of the compiled kernels; by default $XDG_CACHE_HOME/uopc_array or ~/.cache/uopc_array",
    ),
    Switch(
        *("cc", "CC", lambda: None, str, _is_command_or_none, "a command"),
        "the C compiler, with options if need be; by default cc, gcc, clang or the ziglang wheel. "
        "A program that does not exist means no compiler at all",
    ),
    Switch(
        *("eager", "UOPC_EAGER", lambda: False, _parse_bool, _is_bool, "0, 1, false, true"),
        "compute every operation at its line, for debugging: what depends on values is raised where it is written",
    ),
    Switch(
        *("pending_bytes", "UOPC_PENDING_BYTES", _pending_bytes, int, _is_int_in(0, 2**63 - 1), "an int from 0 on"),
        "bytes that work which nobody has asked for yet may hold beyond what NumPy would; then the oldest is computed",
    ),
    Switch(
        *("at_once", "UOPC_AT_ONCE", lambda: AT_ONCE, int, _is_int_in(0, AT_ONCE), f"0 to {AT_ONCE}"),
        "elements up to which an array is small: what is known and small NumPy computes at the line itself; 0: nothing",
    ),
)
_BY_NAME: dict[str, Switch] = {switch.name: switch for switch in SWITCHES}


def set_tiers(names: Iterable[str]) -> None:
    """Have `names` be the values that `context` takes for `tier`."""
    words = tuple(names)
    _BY_NAME["tier"] = replace(_BY_NAME["tier"], accepts=_one_of(*words), valid=", ".join(words))


def _check(switch: Switch, label: str, value: Any) -> Any:
    if not switch.accepts(value):
        raise SettingsError(f"{label}: expected {switch.valid}, got {value!r}")
    return pathlib.Path(value) if switch.name == "cache_dir" and value is not None else value


def _value_from(switch: Switch, environment: Mapping[str, str]) -> Any:
    text = environment.get(switch.environment, "")
    if text == "":
        return switch.default()
    try:
        value = switch.parse(text)
    except ValueError:
        raise SettingsError(
            f"environment variable {switch.environment}: expected {switch.valid}, got {text!r}"
        ) from None
    return _check(switch, f"environment variable {switch.environment}", value)


def settings_from_environment(environment: Mapping[str, str]) -> Settings:
    """The settings that environment variables ask for; an empty variable counts as unset.

    Raises:
        SettingsError: a variable `UOPC_*` that is none of the table's, or a value that its switch does not take.
    """
    known = {switch.environment for switch in SWITCHES}
    for name in environment:
        if name.startswith("UOPC_") and name not in known:
            raise SettingsError(f"environment variable {name}: unknown; the known ones are {', '.join(sorted(known))}")
    return Settings(**{switch.name: _value_from(switch, environment) for switch in SWITCHES})


_INITIAL = settings_from_environment(os.environ)
SETTINGS: ContextVar[Settings] = ContextVar("uopc_settings", default=_INITIAL)
current: Callable[[], Settings] = SETTINGS.get
"""The settings in force here: `current().debug`."""
_waiting_for_eager: list[Callable[[], None]] = []


def when_eager(callback: Callable[[], None]) -> None:
    """Have `callback` called once, as soon as anybody asks for eager evaluation; until then nobody pays for asking."""
    if _INITIAL.eager:
        callback()
    else:
        _waiting_for_eager.append(callback)


@contextmanager
def context(**overrides: Any) -> Generator[Settings]:
    """Other settings inside a `with` block, for this thread or coroutine only.

    Args:
        overrides: values by the names of `SWITCHES`.
    Raises:
        SettingsError: an unknown name, or a value that the switch does not take.
    Example:
        >>> with context(debug=1, tier="compile") as settings:
        ...     settings.tier
        'compile'
    """
    for name in overrides:
        if name not in _BY_NAME:
            raise SettingsError(f"setting {name!r}: unknown; the known ones are {', '.join(_BY_NAME)}")
    checked = {name: _check(_BY_NAME[name], f"setting {name!r}", value) for name, value in overrides.items()}
    if checked.get("eager"):
        while _waiting_for_eager:
            _waiting_for_eager.pop()()
    token = SETTINGS.set(replace(current(), **checked))
    try:
        yield current()
    finally:
        SETTINGS.reset(token)
