"""Run the public conformance suite of the array API standard against uopc_array (or, for comparison, another module).

    python array_api_tests_conf/run.py [--examples 100] [--seed N] [--tier TIER] [--module NAME] [-- pytest arguments]

The suite is the checkout that ARRAY_API_TESTS_DIR names, or else a clone made beside this file at the commit below.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SUITE = "https://github.com/data-apis/array-api-tests"
COMMIT = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
VERSION = "2025.12"


def suite_folder() -> Path:
    """The checkout to run, cloned with its submodule where none was named."""
    named = os.environ.get("ARRAY_API_TESTS_DIR")
    if named:
        folder = Path(named).resolve()
        if not (folder / "array_api_tests").is_dir():
            sys.exit(f"ARRAY_API_TESTS_DIR: {folder} holds no checkout of array-api-tests")
        return folder
    folder = HERE / "suite"
    if not (folder / "array_api_tests").is_dir():
        for command in (
            ["git", "clone", "--quiet", SUITE, str(folder)],
            ["git", "-C", str(folder), "checkout", "--quiet", COMMIT],
            ["git", "-C", str(folder), "submodule", "--quiet", "update", "--init"],
        ):
            if subprocess.run(command, check=False).returncode:
                sys.exit("the suite could not be cloned; name a checkout with ARRAY_API_TESTS_DIR")
    return folder


def environment(module: str, tier: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {
        **os.environ,
        "PYTHONPATH": path,
        "ARRAY_API_TESTS_MODULE": module,
        "ARRAY_API_TESTS_VERSION": VERSION,
        "UOPC_TIER": tier,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=100, help="hypothesis examples per test")
    parser.add_argument("--seed", type=int, default=None, help="hypothesis seed")
    parser.add_argument("--tier", choices=("auto", "compile", "interpret"), default="auto", help="who computes")
    parser.add_argument("--module", default="uopc_array", help="the namespace to test")
    parser.add_argument("rest", nargs="*", help="more arguments for pytest, after --")
    options = parser.parse_args()
    command = [
        *(sys.executable, "-m", "pytest", "array_api_tests", "-q", "-p", "no:cacheprovider", "--disable-deadline"),
        *("--max-examples", str(options.examples)),
        *("--skips-file", str(HERE / "skips.txt"), "--xfails-file", str(HERE / "xfails.txt")),
        *([] if options.seed is None else ["--hypothesis-seed", str(options.seed)]),
        *options.rest,
    ]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=suite_folder(), env=environment(options.module, options.tier), check=False)
    print(f"{options.module}: {options.examples} examples, {time.perf_counter() - start:.0f} s")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
