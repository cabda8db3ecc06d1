"""The folder of the compiled kernels: one of the package's own inside of the user's, or a private one for this process.

Invariants: nobody but the user can write into the folder that is returned, since what lies there is loaded as code; and
it holds a marker of the package's, so that nothing is ever deleted in a folder that the package did not make.
"""

from __future__ import annotations

import atexit
import io
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

from uopc_core.once import once
from uopc_core.settings import current

__all__ = [
    "MARKER",
    "SUBFOLDER",
    "cache_folder",
    "has_room",
    "is_ours",
    "leave_folder",
    "make_again",
    "private_folder",
    "read_file",
    "replace_file",
    "temporary_name",
]

SUBFOLDER = "uopc-kernels"  # whatever a setting or a link names may hold the user's own files
MARKER = "CACHEDIR.TAG"  # the name and first line that backup programs know, see bford.info/cachedir
_MARK = "Signature: 8a477f597d28d172789f06886806bc55\n# compiled kernels of uopc_array: may be deleted at any time\n"
_MODE, _FILE_MODE = 0o700, 0o600
_ROOM_BYTES = 1 << 20  # for a kernel and what the compiler writes on its way

_known: dict[Path | None, str | None] = {}
_private: list[str] = []
_serial = count()


def cache_folder() -> str | None:
    """The folder in force, made if need be; None where not even a temporary one can be made."""
    wanted = current().cache_dir
    if wanted not in _known:
        once(("folder", wanted), partial(_find_folder, wanted), is_short=True)
    return _known[wanted]


def _find_folder(wanted: Path | None) -> None:
    if wanted not in _known:
        _known.setdefault(wanted, _own_part(_preferred(wanted)) or private_folder())


def private_folder() -> str | None:
    """A temporary folder with mode 0700 that is deleted when the process ends."""
    return _private[0] if _private else once("private folder", _make_private_folder, is_short=True)


def _make_private_folder() -> str | None:
    if not _private:
        try:
            path = tempfile.mkdtemp(prefix="uopc_array-")
            os.chmod(path, _MODE)
        except OSError:
            return None
        atexit.register(_remove, path, os.getpid())
        _private.append(path)
    return _private[0]


def leave_folder() -> bool:
    """Turn from the folder in force, where nothing can be executed, to the private one; False if they are the same."""
    before, after = cache_folder(), private_folder()
    if after is None or before == after:
        return False
    _known[current().cache_dir] = after
    return True


def is_ours(status: os.stat_result) -> bool:
    """Whether a file is of the user that runs this process; False where the system does not tell."""
    return hasattr(os, "geteuid") and status.st_uid == os.geteuid()


def read_file(path: str) -> tuple[bytes, os.stat_result]:
    """The content and the state of a file of ours.

    Raises:
        OSError: there is none; or something else of its name, a FIFO perhaps, which nobody waits for, or a file that
            others may write to.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with io.FileIO(handle) as file:  # `os.fdopen` imports, and `open` is gone, where finalizers run at the end
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not is_ours(status) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise FileNotFoundError(f"{path}: expected a file of the user's own")
        return file.read(), status


def replace_file(path: str, content: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    temporary = temporary_name(os.path.dirname(path))
    try:
        with Path(temporary).open("xb") as file:
            file.write(content)
        os.chmod(temporary, _FILE_MODE)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def temporary_name(folder: str) -> str:
    """A name in `folder` for what will have another one when it is whole; nobody else uses it."""
    return os.path.join(folder, f".{os.getpid()}-{next(_serial)}.tmp")


def make_again(folder: str) -> None:
    """Make a folder that was deleted under our feet, as the package's own.

    Raises:
        OSError: it cannot be made.
    """
    if not os.path.isdir(folder):
        _make(folder)
        replace_file(os.path.join(folder, MARKER), _MARK.encode())


def has_room(folder: str) -> bool:
    """Whether files can still be written into `folder`."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        return False
    return True


def _preferred(wanted: Path | None) -> str | None:
    """What the setting names, or else the place for caches; None where that lies in a home that there is not."""
    if wanted is not None:
        path = os.path.expanduser(wanted)
        return None if path.startswith("~") else os.path.abspath(path)
    base, home = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~")
    if os.path.isabs(base):
        return os.path.join(base, "uopc_array")
    return os.path.join(home, ".cache", "uopc_array") if os.path.isabs(home) and os.path.isdir(home) else None


def _own_part(path: str | None) -> str | None:
    """The folder of the package's own inside of `path`, or None where there is something else of its name."""
    if path is None:
        return None
    own = os.path.join(path, SUBFOLDER)
    if _usable(path) is None or os.path.islink(own) or _usable(own) is None:
        return None
    marker = os.path.join(own, MARKER)
    try:
        if not os.path.exists(marker):
            if os.listdir(own):
                return None
            replace_file(marker, _MARK.encode())
        return own if read_file(marker)[0] == _MARK.encode() else None
    except OSError:
        return None


def _usable(path: str) -> str | None:
    """`path` if it is ours, writable, and closed to the writing of others; it is made where it is missing."""
    try:
        _make(path)
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    foreign = not is_ours(status) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return None if foreign or not os.access(path, os.W_OK | os.X_OK) else path


def _make(path: str) -> None:
    """Make a folder that is not there, and those around it, closed to others whatever the mask of this process says.

    Raises:
        OSError: it cannot be made.
    """
    if os.path.isdir(path):
        return
    if os.path.dirname(path) != path:
        _make(os.path.dirname(path))
    try:
        os.mkdir(path, _MODE)
    except FileExistsError:  # by another process, just now
        if not os.path.isdir(path):
            raise
    else:
        os.chmod(path, _MODE)


def _remove(path: str, pid: int) -> None:
    if os.getpid() == pid:  # a forked child leaves its parent's folder alone
        shutil.rmtree(path, ignore_errors=True)
