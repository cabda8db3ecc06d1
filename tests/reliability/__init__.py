"""What the world does to a program that uses the package: threads, forks, signals, disks, compilers, memory, exits.

Every trial runs in a child process with a time limit and a kernel cache of its own (``trial.py``), so that it may hang,
crash or fill a disk. ``make test`` runs a short selection; ``make test-reliability`` runs all, and writes the table of
docs/reliability.md from what came out: a test's name is a row, so it is a sentence that says what survives.

Rules:

- A fault that comes by chance is tried again and again, with the fixture ``tries``:
  ``for number in tries(short, full)``. `short` takes a second. `full` is 500 where a try is cheap: a fault of one
  try in a hundred is then missed by 7 runs of 1000. `number` is the seed of what is drawn. A fault that is certain is
  tried once.
- What a child repeats by itself, it returns the number of, and the test hands it on: ``tries.add(number)``.
- A test of more than two seconds is marked ``reliability``, which leaves it to ``make test-reliability``.
- No test asserts a time; a limit only ends what would never end.
- Tests run as anyone: whoever needs a full disk takes ``limits={"FSIZE": ...}``, or a folder that cannot be written to.
"""
