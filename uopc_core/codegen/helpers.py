"""Helper functions of kernels: those of the headers beside this file that a kernel calls, with its types.

A definition there ends at a blank line, and is known by the first name that is defined or declared in it. What
it uses comes before it. The capitals in it are replaced, see there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path

from uopc_core.codegen.c_types import C_TYPES, WIDE
from uopc_core.dtype import SHORT_NAMES, DType, dtypes, real_dtype
from uopc_core.records import record

__all__ = ["HEADERS", "Combine", "Need", "definitions", "helper"]

Need = Callable[[str, str], None]  # a name and the text that defines it
Combine = Callable[[str, str], str]

_FILES = ("kernels.h", "functions.h", "reductions.h", "products.h", "sorting.h")
HEADERS = tuple([Path(__file__).with_name(name) for name in _FILES])
_BEGIN = "- definitions */"
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)")
_NAME = re.compile(r"#define (\w+)|typedef .*?(\w+);|(\w+) ?[\[(]")
_WORD = re.compile(r"\b([A-Za-z_]\w*)([ \n]?)")
# a part of a name: a word of capitals, or the ending of a function of C's library
_PART = re.compile(r"(?<![A-Z])(?:[A-Z]+2|[A-Z]+(?![A-Z0-9]))|(?<=[a-z0-9])[FW](?![A-Za-z0-9])")
_CALL = re.compile(r"\b(OP|TIMES)\(")
_OPERANDS = re.compile(r", (?![^(]*\))")  # of which none has a comma


@lru_cache(maxsize=1)
def definitions() -> dict[str, str]:
    """The text of every definition by its name."""
    found: dict[str, str] = {}
    for header in HEADERS:
        for chunk in header.read_text(encoding="ascii").partition(_BEGIN)[2].split("\n\n"):
            match = _NAME.search(_ATTRIBUTE.sub("", _COMMENT.sub("", chunk)))
            if match is not None:
                found[match[match.lastindex or 0]] = chunk.strip("\n")
    return found


@cache
def _words_of(name: str) -> tuple[str, ...]:
    """The words in the definition `name`, each once, that may be names of definitions."""
    known = definitions()
    words = [word for word, _ in _WORD.findall(_COMMENT.sub("", known[name]))]
    return tuple([word for word in dict.fromkeys(words) if word in known or _PART.search(word)])


def helper(
    need: Need, name: str, combine: Combine | None = None, times: Combine | None = None, /, **meaning: DType | int | str
) -> str:
    """Have the definition `name` of the headers in the source, after those that it uses.

    Args:
        combine: the expression that ``OP(a, b)`` stands for.
        times: the same of ``TIMES(a, b)``.
        meaning: what the capitals stand for. FLOAT says what F is as well, and COMPLEX what F, PART, WIDE and W are;
            a name may have F and W in it.
    Returns:
        what it is called in the source.
    """
    words = {"VECTOR": "", "SIMD": ""}
    parts: dict[str, str] = {}
    names = {capitals: value for capitals, value in meaning.items() if isinstance(value, str)}
    for capitals, value in meaning.items():
        if isinstance(value, int | str):
            words[capitals] = parts[capitals] = str(value)
        else:
            words[capitals], parts[capitals] = C_TYPES[value], SHORT_NAMES[value]
            _add_parts(capitals, value, words, parts)
    for capitals, value in names.items():
        words[capitals] = parts[capitals] = _PART.sub(lambda part: parts.get(part[0], part[0]), value)
    return _Copy(need, words, parts, names, {"OP": combine, "TIMES": times}).add(name)


def _add_parts(capitals: str, dtype: DType, words: dict[str, str], parts: dict[str, str]) -> None:
    """What follows from the meaning of FLOAT or COMPLEX."""
    if capitals in ("FLOAT", "COMPLEX"):
        part = real_dtype(dtype)
        words["PART"], parts["F"] = C_TYPES[part], "f" if part is dtypes.float32 else ""
    if capitals == "COMPLEX":
        words["WIDE"], parts["W"] = WIDE[dtype]


@record
class _Copy:
    """How definitions are copied into one source."""

    need: Need
    words: dict[str, str]  # as they are in the source
    parts: Mapping[str, str]
    names: Mapping[str, str]  # among these, as they are written in the headers
    combine: Mapping[str, Combine | None]
    added: set[str] = field(default_factory=set[str])

    def add(self, name: str) -> str:
        name = self.definition(name) or name
        called = self.spelled(name)
        if name in self.added:
            return called
        self.added.add(name)
        for other in dict.fromkeys([self.definition(word) for word in _words_of(name)]):
            if other is not None and other != name:
                self.add(other)
        self.need(called, _WORD.sub(self.replaced, self.combined(definitions()[name])))
        return called

    def definition(self, word: str) -> str | None:
        """The definition that `word` is a name of: of what its capitals stand for if there is one, else of any."""
        known = definitions()
        written = _PART.sub(lambda part: self.names.get(part[0], part[0]), word)
        for name in (written, self.spelled(word), word.replace("LANES", self.parts.get("LANES", "")), word):
            if name in known:
                return name
        return None

    def spelled(self, word: str) -> str:
        """`word` as it is in the source."""
        found = self.words.get(word)
        if found is None:
            found = self.words[word] = _PART.sub(lambda part: self.parts.get(part[0], part[0]), word)
        return found

    def replaced(self, match: re.Match[str]) -> str:
        text = self.spelled(match[1])
        return text + match[2] if text else ""  # without the blank after it

    def combined(self, text: str) -> str:
        """`text` with an expression for every OP(a, b) and TIMES(a, b)."""
        start = _CALL.search(text)
        while start is not None:
            combine = self.combine[start[1]]
            assert combine is not None, text
            end = _closing(text, start.end())
            a, b = _OPERANDS.split(text[start.end() : end])
            text = f"{text[: start.start()]}{combine(a, b)}{text[end + 1 :]}"
            start = _CALL.search(text)
        return text


def _closing(text: str, begin: int) -> int:
    """Where the parenthesis closes that was opened before `begin`."""
    depth = 1
    for end in range(begin, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if not depth:
            return end
    raise AssertionError(text)
