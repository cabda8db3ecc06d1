"""What the process may use: the least of machine, control groups with their parents, and resource limits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from uopc_core import limits
from uopc_core.lazy import LazyModule
from uopc_core.limits import address_space_limit, usable_memory

GIB = 1 << 30


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch):
    """Nothing limits this process but what a test sets up, and nothing is remembered."""
    monkeypatch.setattr(limits, "RECHECK_S", 0)
    monkeypatch.setattr(limits, "_MEMBERSHIPS", "/nonexistent")
    monkeypatch.setattr(limits, "_resource_limits", list)
    monkeypatch.setattr(limits, "_machine_bytes", lambda: 64 * GIB)
    limits._group_folders.cache_clear()
    yield
    limits._group_folders.cache_clear()
    limits._checked.at_s = -1e9


def set_up_groups(monkeypatch, tmp_path, membership, mounts, files):
    """A process in the groups `membership`, of trees mounted at `mounts`, which show `files`."""
    (tmp_path / "cgroup").write_text(membership)
    lines = [
        f"30 23 0:26 {root} {tmp_path}{mount} rw - {kind} {kind} rw,{options}" for kind, root, mount, options in mounts
    ]
    (tmp_path / "mountinfo").write_text("\n".join(["22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw", *lines]))
    for name, text in files.items():
        path: Path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(limits, "_MEMBERSHIPS", str(tmp_path / "cgroup"))
    monkeypatch.setattr(limits, "_MOUNTS", str(tmp_path / "mountinfo"))


V2 = [("cgroup2", "/", "/sys", "nsdelegate")]
V1 = [("cgroup", "/", "/sys/cpu", "cpu"), ("cgroup", "/", "/sys/memory", "memory")]
GROUPS = {
    "version 2": ("0::/job\n", V2, {"sys/job/memory.max": "1073741824\n"}, 1),
    "version 2, a parent": (
        "0::/slice/job\n",
        V2,
        {"sys/slice/job/memory.max": "max\n", "sys/slice/memory.max": "2147483648\n"},
        2,
    ),
    "version 2, throttled earlier": (
        "0::/job\n",
        V2,
        {"sys/job/memory.max": "4294967296\n", "sys/job/memory.high": "3221225472\n"},
        3,
    ),
    "version 1": (
        "4:memory:/job\n3:cpu:/other\n0::/\n",
        V1,
        {"sys/memory/job/memory.limit_in_bytes": "5368709120\n", "sys/cpu/other/memory.limit_in_bytes": "1\n"},
        5,
    ),
    "version 1, a parent; unlimited is a huge number": (
        "4:cpu,memory:/slice/job\n",
        V1,
        {
            "sys/memory/slice/job/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/memory/memory.limit_in_bytes": "6442450944\n",
        },
        6,
    ),
    "a container that sees its own group as the root": (
        "0::/\n",
        [("cgroup2", "/", "/sys", "rw")],
        {"sys/memory.max": "7516192768\n"},
        7,
    ),
    "a container that sees the host's names": (
        "4:memory:/docker/12ab\n",
        [("cgroup", "/docker/12ab", "/sys/memory", "memory")],
        {"sys/memory/memory.limit_in_bytes": "8589934592\n"},
        8,
    ),
    "a group outside of what is mounted": (
        "0::/../other\n",
        V2,
        {"sys/memory.max": "9663676416\n", "other/memory.max": "1\n"},
        9,
    ),
    "no limit": ("0::/job\n", V2, {"sys/job/memory.max": "max\n"}, 64),
}


@pytest.mark.parametrize(("membership", "mounts", "files", "gib"), GROUPS.values(), ids=GROUPS)
def test_control_groups_limit_what_may_be_used(monkeypatch, tmp_path, membership, mounts, files, gib):
    set_up_groups(monkeypatch, tmp_path, membership, mounts, files)
    assert usable_memory() == gib * GIB


def test_a_limit_that_changes_is_seen(monkeypatch, tmp_path):
    set_up_groups(monkeypatch, tmp_path, "0::/job\n", V2, {"sys/job/memory.max": "max\n"})
    assert usable_memory() == 64 * GIB
    (tmp_path / "sys/job/memory.max").write_text("1073741824\n")
    assert usable_memory() == GIB


def test_strict_overcommit_limits_what_may_be_mapped(monkeypatch):
    assert address_space_limit() is None
    monkeypatch.setattr(limits, "_first_line", lambda path: "2")
    assert address_space_limit() == 64 * GIB


def test_a_figure_serves_for_a_while(monkeypatch, tmp_path):
    set_up_groups(monkeypatch, tmp_path, "0::/job\n", V2, {"sys/job/memory.max": "max\n"})
    assert usable_memory() == 64 * GIB
    monkeypatch.setattr(limits, "RECHECK_S", 1e6)
    (tmp_path / "sys/job/memory.max").write_text("1073741824\n")
    assert usable_memory() == 64 * GIB


def test_without_anything_to_ask_a_modest_machine_is_assumed(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(limits, "RECHECK_S", 0)
    monkeypatch.setattr(limits, "_MEMBERSHIPS", "/nonexistent")
    monkeypatch.delattr("os.sysconf", raising=False)
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.setattr(limits, "resource", LazyModule("resource"))
    assert usable_memory() == limits.UNKNOWN_BYTES


@pytest.mark.skipif(sys.platform == "win32", reason="limits of this kind are Unix's")
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_resource_limit_counts(kind):
    program = f"""
import resource
resource.setrlimit(resource.{kind}, (3 << 30, resource.RLIM_INFINITY))
from uopc_core.limits import address_space_limit, usable_memory
assert usable_memory() <= 3 << 30
assert address_space_limit() <= 3 << 30
resource.setrlimit(resource.{kind}, (2 << 30, resource.RLIM_INFINITY))
assert address_space_limit() <= 2 << 30
"""
    subprocess.run([sys.executable, "-c", program], env=os.environ, check=True, timeout=60)
