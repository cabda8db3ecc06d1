"""This system made to look like another one, in a child process: names taken away, modules that cannot be imported.

Run as a program with the name of a platform, it hides what that platform lacks, then imports the package and computes.
"""

import ctypes
import importlib
import io
import pickle
import subprocess
import sys
import sysconfig
import threading
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

__all__ = ["PLATFORMS", "Platform", "hide"]

_MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "_posixshmem", "posixshmem", "syslog", "pty", "tty")
_OF_PROCESSES = (
    *("fork", "forkpty", "register_at_fork", "setsid", "getsid", "setpgid", "getpgid", "getpgrp", "killpg", "wait3"),
    *("wait4", "waitid", "posix_spawn", "posix_spawnp", "nice", "getpriority", "setpriority"),
)
_OF_USERS = (
    *("getuid", "geteuid", "getgid", "getegid", "setuid", "setgid", "getgroups", "initgroups", "getlogin", "chown"),
    *("fchown", "lchown", "fchmod", "fchdir", "umask", "getresuid", "getresgid"),
)
_OF_MACHINES = (
    *("sysconf", "sysconf_names", "confstr", "sched_getaffinity", "sched_setaffinity", "sched_yield", "uname"),
    *("getloadavg", "statvfs", "fstatvfs", "mkfifo", "mknod", "sync", "posix_fallocate", "posix_fadvise"),
    *(
        "memfd_create",
        "pread",
        "pwrite",
        "preadv",
        "pwritev",
        "sendfile",
        "copy_file_range",
        "get_blocking",
        "set_blocking",
    ),
)
_FLAGS = ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "O_TMPFILE", "O_SYNC", "O_DSYNC")
_LOADING = ("RTLD_NOW", "RTLD_LOCAL", "RTLD_GLOBAL", "RTLD_LAZY", "RTLD_NODELETE", "RTLD_NOLOAD", "RTLD_DEEPBIND")
_SIGNALS = ("SIGKILL", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGQUIT", "SIGCHLD", "SIGSTOP", "SIGCONT")
_TIMERS = ("pthread_sigmask", "pthread_kill", "sigwait", "setitimer", "getitimer", "alarm", "pause", "set_wakeup_fd")


@dataclass(frozen=True)
class Platform:
    """What there is not.

    Attributes:
        sys_platform: what `sys.platform` says.
        missing: names by the module that they are taken from.
        modules: that cannot be imported.
        has_dlopen, has_processes, has_threads: whether those can be had when they are asked for.
    """

    sys_platform: str
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    modules: tuple[str, ...] = ()
    has_dlopen: bool = True
    has_processes: bool = True
    has_threads: bool = True


PLATFORMS = {
    "Windows": Platform(
        "win32",
        {
            "os": (*_OF_PROCESSES, *_OF_USERS, *_OF_MACHINES, *_FLAGS, *_LOADING),
            "signal": (*_SIGNALS, *_TIMERS),
            "mmap": ("MAP_PRIVATE", "MAP_SHARED", "MAP_ANONYMOUS", "MAP_ANON", "MADV_HUGEPAGE", "PROT_READ"),
        },
        _MODULES,
        has_dlopen=False,
    ),
    "macOS": Platform(
        "darwin",
        {
            "os": ("sched_getaffinity", "sched_setaffinity", "posix_fallocate", "memfd_create", "O_PATH", "O_TMPFILE"),
            "mmap": ("MADV_HUGEPAGE", "MAP_POPULATE", "MADV_DONTFORK"),
        },
    ),
    "WebAssembly": Platform(
        "emscripten",
        {
            "os": (*_OF_PROCESSES, *_OF_USERS, "sched_getaffinity", "sysconf"),
            "signal": (*_SIGNALS, *_TIMERS),
            "mmap": ("MADV_HUGEPAGE",),
        },
        _MODULES,
        has_processes=False,
        has_threads=False,
    ),
    "Linux in a box": Platform(  # no /proc, no other process, no thread
        "linux",
        {"os": ("sched_getaffinity",)},
        has_processes=False,
        has_threads=False,
    ),
}


def _refuse(error: Exception) -> Any:
    def refusing(*args: Any, **kwargs: Any) -> Any:
        raise error

    return refusing


def hide(platform: Platform) -> None:
    """Take away what `platform` has not; NumPy and the standard library are loaded, and keep what they have taken."""
    for module in platform.modules:
        sys.modules[module] = None  # pyright: ignore[reportArgumentType]  # an import of it fails
    for module, names in platform.missing.items():
        for name in names:
            if hasattr(importlib.import_module(module), name):
                delattr(importlib.import_module(module), name)
    sys.platform = platform.sys_platform
    if not platform.has_dlopen:
        load = ctypes.CDLL.__init__

        def load_named(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
            if name is None:
                raise TypeError("bad argument type for built-in operation")
            load(self, name, *args, **kwargs)

        ctypes.CDLL.__init__ = load_named
    if not platform.has_processes:
        subprocess.Popen = _refuse(OSError(138, "emscripten does not support processes"))  # pyright: ignore
    if not platform.has_threads:
        threading.Thread.start = _refuse(RuntimeError("can't start new thread"))


def _compute() -> None:
    """A little of everything, small and large; what comes out is NumPy's."""
    xp: Any = importlib.import_module("uopc_array")
    rng = np.random.default_rng(7)
    small, large = rng.standard_normal((3, 3)), rng.standard_normal(200_000)
    a, b = xp.asarray(small), xp.asarray(large)
    close: Any = assert_allclose
    close(xp.sum(xp.sin(a) * 2 + 1), np.sum(np.sin(small) * 2 + 1))
    for _ in range(3):  # the first run of a plan is NumPy's anywhere
        close(xp.sum(xp.exp(-b * b) + 1), np.sum(np.exp(-large * large) + 1))
    step = xp.jit(lambda x: xp.cumulative_sum(xp.tanh(x) * x - 1))
    for _ in range(3):
        close(step(b), np.cumsum(np.tanh(large) * large - 1))
    close(xp.grad(lambda x: xp.sum(x**3))(a), 3 * small**2)
    close(xp.vmap(lambda row: xp.max(row) + 1)(a), small.max(1) + 1)
    close(xp.linalg.inv(a), np.linalg.inv(small))
    close(xp.fft.rfft(b[:1000]), np.fft.rfft(large[:1000]), atol=1e-10)
    close(xp.sort(b), np.sort(large))
    filled = xp.zeros(100_000)
    filled[::2] = 3
    assert float(filled.sum()) == 150_000.0
    close(pickle.loads(pickle.dumps(a)), small)
    close(np.from_dlpack(xp.asarray([1.0, 2.0])), [1.0, 2.0])
    assert str(xp.arange(3)) == "[0 1 2]"
    assert "NumPy" in _printed(xp)


def _refuses_to_compile() -> None:
    core: Any = importlib.import_module("uopc_core")
    with core.context(tier="compile"), pytest.raises(core.errors.CompileError, match="there is no C compiler"):
        float(importlib.import_module("uopc_array").sum(np.ones(5)) * 3)


def _printed(xp: Any) -> str:
    with redirect_stdout(io.StringIO()) as out:
        xp.show_config()
    return out.getvalue()


def _main(name: str) -> None:
    platform = PLATFORMS[name]
    warnings.simplefilter("error")
    sysconfig.get_paths()  # Python has it of its own platform
    hide(platform)
    _compute()
    if not (platform.has_dlopen and platform.has_processes):
        _refuses_to_compile()
    print("computed")


if __name__ == "__main__":
    _main(sys.argv[1])
