"""Run random programs from the command line; a process that dies or hangs is a failure as well.

python -m tests.fuzz --mode values --tier interpret --programs 1000 --seed 0
python -m tests.fuzz --programs 200 --workers 2               every mode and tier
python -m tests.fuzz --only einsum linalg --programs 500      programs of these subjects
python -m tests.fuzz --mode jit --tier compile --seed 17 --programs 1 --show
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.draw_program import MODES, SUBJECTS, draw_program
from tests.fuzz.workers import fuzz_in_workers

TIERS = ("interpret", "compile")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mode", nargs="+", choices=sorted(MODES), default=list(MODES))
    parser.add_argument("--tier", nargs="+", choices=TIERS, default=list(TIERS))
    parser.add_argument("--programs", type=int, default=100, help="of each mode and tier")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next have the next seeds")
    parser.add_argument(
        "--only", nargs="+", choices=SUBJECTS, default=[], help="subjects that programs are mostly made of"
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each mode and tier")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the programs instead of running them")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    failures = 0
    for mode in options.mode:
        for tier in options.tier if mode not in ("auto", "threads") else options.tier[-1:]:
            if options.show:
                for seed in range(options.seed, options.seed + options.programs):
                    print(f"# {mode}, seed {seed}\n{draw_program(seed, mode, tuple(options.only)).source}")
                continue
            start = time.monotonic()
            result = fuzz_in_workers(
                range(options.seed, options.seed + options.programs),
                mode,
                tier,
                tuple(options.only),
                options.seconds,
                not options.no_shrink,
                options.workers,
            )
            failures += result.failures
            for text in result.reports.values():
                print(text, flush=True)
            where = mode if mode == "auto" else f"{mode}, {tier}"
            refused, seconds = sum(result.refused.values()), time.monotonic() - start
            counts = f"{result.programs} programs, {refused} refused, {result.failures} failures"
            for reason, count in result.refused.most_common(5):
                print(f"  refused {count}: {reason}")
            print(f"{where}: {counts} in {seconds:.0f} s", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
