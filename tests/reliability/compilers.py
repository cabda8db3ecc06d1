"""Compilers that do not work as they should: shell scripts around the machine's own."""

import shlex
from pathlib import Path

from uopc_core.runtime.toolchain import find_toolchain

__all__ = ["FAILURES", "QUESTIONS", "fake_compiler", "real_compiler"]

# What may become of a kernel. `$target` is the file that is asked for, `real` the true compiler.
FAILURES = {
    "is killed": "kill -9 $$",
    "breaks down": "echo 'internal compiler error: Segmentation fault' >&2; exit 4",
    "has no licence": "echo 'all licences are in use' >&2; exit 1",
    "was removed": "exec /nonexistent/cc1",
    "finds the disk full": "echo '<stdout>: No space left on device' >&2; exit 1",
    "writes rubbish": 'head -c 5000 /dev/urandom > "$target"',
    "writes nothing": ': > "$target"',
    "makes no file": "exit 0",
    "makes a folder": 'mkdir "$target"',
    "leaves the function out": "echo 'int other;' | real -shared -fPIC -x c - -o \"$target\"",
    "compiles for another machine": (
        'real "$@" && printf "\\367" | dd of="$target" bs=1 seek=18 conv=notrunc 2>/dev/null'
    ),
    "floods its log and fails": "head -c 20000000 /dev/zero | tr '\\0' 'x' >&2; exit 1",
    "writes a log in no known letters": "head -c 2000000 /dev/urandom >&2; exit 1",
    "closes its input": "exec 0<&-; exit 1",
}
# What it may answer to --version and -print-file-name.
QUESTIONS = {
    "says nothing": "exit 0",
    "fails": "exit 1",
    "is killed": "kill -9 $$",
    "answers rubbish": "head -c 3000 /dev/urandom",
    "answers many lines": "yes gcc | head -n 100000",
    "names files that are not there": "echo /nonexistent/file",
    "names a folder": "echo /",
}


def real_compiler() -> str:
    """The machine's compiler, as a shell reads it."""
    toolchain = find_toolchain()
    assert toolchain is not None
    return shlex.join(toolchain.command)


def fake_compiler(folder: Path, kernel: str = "", question: str = "", probe: str = "", runtime: str = "") -> str:
    """The path of a compiler that runs these lines of shell instead of making a kernel, answering a question about
    itself, making the probe of its examination, or the runtime. All else the true compiler does, their `real`.
    """
    script = folder / "cc"
    cases = {"*--version*|*-print-file-name*": question, "*.probe-*": probe, "*-pthread*": runtime, "*": kernel}
    real = 'real "$@"'
    answers = "\n".join(f"{words}) {line or real};;" for words, line in cases.items())
    script.write_text(f"""#!/bin/sh
real() {{ {real_compiler()} "$@"; }}
for word in "$@"; do
    if [ "$before" = -o ]; then target=$word; fi
    before=$word
done
case "$*" in
{answers}
esac
""")
    script.chmod(0o755)
    return str(script)
