"""Caches whose files were damaged, swapped or replaced by something else: none of it is loaded, and nothing hangs."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.programs import compute
from tests.reliability.trial import value_of
from uopc_core.runtime import cache
from uopc_core.runtime.folder import MARKER, SUBFOLDER

pytestmark = pytest.mark.needs_compiler

Damage = Callable[[Path, random.Random, list[Path]], object]


def rewritten(path: Path, content: bytes) -> None:
    """As another process would: under the same name, but not in memory that a process may have mapped."""
    path.unlink()
    path.write_bytes(content)


def replaced(make: Callable[[Path], object]) -> Damage:
    def damage(path: Path, _: random.Random, __: list[Path]) -> None:
        path.unlink()
        make(path)

    return damage


def flip_bits(n: int) -> Damage:
    def damage(path: Path, rng: random.Random, _: list[Path]) -> None:
        content = bytearray(path.read_bytes())
        for place in rng.sample(range(len(content) * 8), n):
            content[place // 8] ^= 1 << place % 8
        rewritten(path, bytes(content))

    return damage


def overwrite(path: Path, rng: random.Random, _: list[Path]) -> None:
    content = bytearray(path.read_bytes())
    start = rng.randrange(len(content))
    content[start : start + 512] = rng.randbytes(len(content[start : start + 512]))
    rewritten(path, bytes(content))


# What may have become of each object. The last argument: all objects, in an order of chance.
DAMAGES: dict[str, Damage] = {
    "one bit flipped": flip_bits(1),
    "many bits flipped": flip_bits(100),
    "overwritten in part": overwrite,
    "truncated": lambda path, rng, _: os.truncate(path, rng.randrange(path.stat().st_size)),
    "lengthened": lambda path, rng, _: rewritten(path, path.read_bytes() + rng.randbytes(rng.randrange(1, 99))),
    "empty": lambda path, _, __: os.truncate(path, 0),
    "rubbish": lambda path, rng, _: rewritten(path, rng.randbytes(16_000)),
    "a script": lambda path, _, __: rewritten(path, b"#!/bin/sh\n"),
    "another object": lambda path, _, others: rewritten(path, others[others.index(path) - 1].read_bytes()),
    "a link to another object": lambda path, _, others: replaced(
        lambda place: place.symlink_to(others[others.index(path) - 1])
    )(path, _, others),
    "a link to nothing": replaced(lambda path: path.symlink_to("nowhere")),
    "a link to itself": replaced(lambda path: path.symlink_to(path)),
    "a link to a device": replaced(lambda path: path.symlink_to("/dev/zero")),
    "a folder": replaced(Path.mkdir),
    "a full folder": replaced(lambda path: (path / "thesis.tex").mkdir(parents=True)),
    "a FIFO": replaced(os.mkfifo),
    "unreadable": lambda path, _, __: path.chmod(0),
    "gone": lambda path, _, __: path.unlink(),
}


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the kernels of `compute`."""
    place = tmp_path_factory.mktemp("filled")
    assert value_of(compute, env={"UOPC_CACHE_DIR": str(place)})["compiled"] > 0
    return place


def is_right_with(place: Path) -> dict[str, Any]:
    value = value_of(compute, env={"UOPC_CACHE_DIR": str(place)})
    assert (value["wrong"], value["warnings"]) == ([], [])
    return value


def long(names: Any, *keep: str) -> list[Any]:
    return [pytest.param(name, marks=[] if name in keep else [pytest.mark.reliability]) for name in names]


@pytest.mark.parametrize("name", long(DAMAGES, "one bit flipped", "a FIFO", "another object"))
def test_damaged_objects_are_compiled_again(tmp_path, tries, filled, name):
    by_chance = name in {"one bit flipped", "many bits flipped", "overwritten in part", "truncated"}
    for number in range(8 if tries.is_full and by_chance else 1):
        place = tmp_path / str(number)
        shutil.copytree(filled, place)
        place.chmod(0o700)
        objects = sorted((place / SUBFOLDER).glob("*.so"))
        rng = random.Random(number)
        rng.shuffle(objects)
        for path in objects:
            DAMAGES[name](path, rng, objects)
        assert is_right_with(place)["compiled"] > 0
        tries.add(len(objects))


VALUES = (None, 1, "", "x", [], ["x"], [1], {}, ["/nonexistent/cc"], True, "\0", ["-o", "/nonexistent/x"], "é" * 9)


def answers(rng: random.Random, answer: dict[str, Any]) -> Any:
    """Something like an answer about a compiler, with a field that is missing, of another type, or not true."""
    name = rng.choice(list(answer))
    kind = rng.randrange(5)
    if kind == 0:
        return {key: value for key, value in answer.items() if key != name}
    if kind == 1:
        return {**answer, f"{name}_": rng.choice(VALUES)}
    if kind == 2:
        return rng.choice(VALUES)
    return {**answer, name: rng.choice(VALUES)}


def test_damaged_answers_about_the_compiler_are_asked_for_again(tmp_path, tries, filled):
    for number in tries(short=2, full=40):
        place = tmp_path / str(number)
        shutil.copytree(filled, place)
        place.chmod(0o700)
        (path,) = (place / SUBFOLDER).glob("toolchain-*.json")
        whole = json.loads(path.read_text())
        rng = random.Random(number)
        kept = rng.choice(({"toolchain": answers(rng, whole["toolchain"])}, {"seal": rng.choice(VALUES)}))
        path.write_text(json.dumps(answers(rng, whole) if number % 3 == 0 else {**whole, **kept}))
        is_right_with(place)
        assert json.loads(path.read_text()).items() >= whole.items()


@pytest.mark.parametrize("name", ["a FIFO", *long(("a folder", "a link to itself", "a link to a device", "rubbish"))])
@pytest.mark.parametrize("which", ["toolchain-*.json", MARKER])
def test_the_other_files_of_the_cache_may_be_anything(tmp_path, filled, which, name):
    place = tmp_path / "cache"
    shutil.copytree(filled, place)
    place.chmod(0o700)
    (path,) = (place / SUBFOLDER).glob(which)
    DAMAGES[name](path, random.Random(0), [])
    is_right_with(place)


@pytest.mark.reliability
def test_a_hundred_thousand_files(tmp_path, filled):
    place = tmp_path / "cache"
    shutil.copytree(filled, place)
    place.chmod(0o700)
    for number in range(100_000):
        (place / SUBFOLDER / f"{number:064x}.so").touch()
    for number in range(20_000):
        (place / SUBFOLDER / f".{number}-1.tmp").touch()
    is_right_with(place)
    value_of(sweep_now, str(place / SUBFOLDER))
    assert len(list((place / SUBFOLDER).glob("*.so"))) == cache.MAX_FILES
    assert is_right_with(place)["compiled"] == 0


def sweep_now(folder: str) -> None:
    long_ago = time.time() - 10**6
    for entry in os.scandir(folder):
        if os.stat(entry).st_size == 0:
            os.utime(entry, (long_ago, long_ago))
    cache.sweep(folder)
