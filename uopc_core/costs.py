"""What things cost: the constants that decide what pays, in one place.

Each has its unit, where it comes from, and what is lost where a machine differs; ``python -m benchmarks.costs``
measures the quantities that they are made of. They were measured on x86-64 (AVX-512, libmvec, 2 cores, gcc 12), and
are orders of magnitude: a factor of two in one of them moves a bound by that, where both sides of it cost about the
same. None of them is measured while a program runs, since what decides must be the same in every process.

Those of `LIBRARY_WORK` and `LIBRARY_FACE` decide which bits a product has; all others decide about time and memory
alone. What is a limit of correctness, or part of the order in which sums are made, is where it is used.
"""

from __future__ import annotations

__all__ = [
    "AHEAD_BYTES",
    "AHEAD_ROWS",
    "ALONE_WORK",
    "ALWAYS_AT_ONCE",
    "AT_ONCE",
    "BACKGROUND_WORK",
    "BLOCKWISE_ELEMENTS",
    "BLOCK_ELEMENTS",
    "CACHED_BYTES",
    "CALLS_AT_ONCE",
    "CALL_WORK",
    "CHEAP_TO_REDO_AT_MANY_PLACES",
    "CHEAP_TO_REDO_IN_MANY_KERNELS",
    "COMPILE_WORK",
    "COST_OF_DIVISION",
    "COST_OF_ELEMENTWISE",
    "COST_OF_FUNCTION",
    "COST_OF_INDEX",
    "COST_OF_RANDOM",
    "CROSSED_ELEMENTS",
    "CROSSING_ELEMENTS",
    "DIRECT_WORK",
    "FAR_BYTES",
    "GRAIN",
    "JUMP_ELEMENTS",
    "LATER_BY",
    "LEAST_CROSSED",
    "LEAST_ROWS",
    "LIBRARY_FACE",
    "LIBRARY_WORK",
    "LINE_BYTES",
    "LOCKED_WORK",
    "LOOP_BLOCK",
    "MAP_BLOCK",
    "MAX_COPIES",
    "MAX_FOLDS",
    "MAX_GROUP",
    "MAX_INLINE_REDUCE",
    "MAX_KERNEL_OPS",
    "MAX_KERNEL_OUTPUTS",
    "MAX_LANE_STATEMENTS",
    "MAX_PARTS",
    "MAX_PIECES",
    "MAX_SEGMENTS",
    "MAX_STATEMENTS",
    "MAX_UNROLLED",
    "MOST_TWICE",
    "PART_ELEMENTS",
    "PRODUCT_WORK",
    "ROWS_ABREAST",
    "ROWS_AT_A_TIME",
    "SCRATCH_BYTES",
    "SHARED_CONTEXT_WORK",
    "SMALL_ROWS_WORK",
    "SOON_WRITTEN",
    "SPARED",
    "SPARED_BY_PART",
    "START_LINES",
    "STREAMED_BYTES",
    "THREADLESS_WORK",
    "TILE",
    "TILED_ROWS",
    "TILED_WORK",
    "TILES",
    "TILE_BYTES",
    "TILE_DEPTHS",
    "TILE_ROOMS",
    "TILE_ROWS",
    "TILE_SIDES",
    "TOO_SMALL",
    "TURNED_SIDES",
    "UNCHAINED",
    "WIDE_ROW_BYTES",
    "WORK_OF_A_THREAD",
]

# ------------------------------------------------------------------------------------------- NumPy, kernels, compilers
#
# Work is a number of element operations; NumPy makes about one in a nanosecond, arrays that are not in the cache
# included, and vector code one in a twentieth of that.

# Elements of a known value up to which operators may compute at once. To record, recognise and call costs 20 us a
# statement; NumPy passes over so many doubles in 60.
AT_ONCE = 1 << 18
# Elements up to which functions always are: NumPy passes over so many doubles in 10 us, so a kernel of a few
# operations saves less than it costs to get there.
ALWAYS_AT_ONCE = 1 << 15
# Elements that a kernel of several operations spares NumPy to pass over, from which it pays. To record, recognise and
# call costs 20 us where the result is asked for after each statement, as much as NumPy takes for so many doubles: level
# were two operations on 45,000 elements, three on 24,000, four on 16,000, and six on 13,000. A loop that asks for
# nothing until its end pays less for each statement (2 operations on 65,536 elements, 20 times: 141 us in place of
# 648), but no operator knows whether its result will be asked for.
SPARED = 3 << 14
# How many more for each operand that is a part of another array: to read a part, record and compare it takes 5 to 10
# us. Without it jacobi_2d of npbench at size S (five parts of 21,904 elements, 5 operators) took 103 us a statement
# recorded, and takes 54 at once.
SPARED_BY_PART = 3 << 13
# Elements up to which operators are computed at once, however many follow each other: to find the line costs 0.1 us,
# 2 % of what NumPy takes for so many doubles.
UNCHAINED = 1 << 14
# NumPy's calls in a function, up to which it is computed at once for more than ALWAYS_AT_ONCE elements.
CALLS_AT_ONCE = 3
# Work that a NumPy call counts for besides its elements: 0.3 us.
CALL_WORK = 300
# Work up to which NumPy is faster than any call of compiled code: packing, the foreign call and the handles take 2 us.
TOO_SMALL = 2000
# Work up to which a cold graph is evaluated node by node: 100 us, as much as it takes to plan some operations.
DIRECT_WORK = 100_000
# Work of a graph, over all runs, after which it is compiled: NumPy takes 4 to 40 ms for so many elements, a compiler
# 30 to 100 for a kernel. To rent until the rent has come near the price costs twice the best at most, whatever comes.
COMPILE_WORK = 4_000_000
# Work up to which the first run need not wait for the compiler: NumPy takes 0.2 s, a compiler of some kernels as well.
BACKGROUND_WORK = 200_000_000
# Lines of C that a compiler works through in the time that it takes to start: 40 ms.
START_LINES = 40
# By so much compiled code may be later than what is interpreted, and is compiled all the same, since it will be used.
LATER_BY = 1.5
# Operations of a plan whose C is written, in 50 ms, to see whether it has been compiled before.
SOON_WRITTEN = 1000
# Work that takes one thread less time than it takes to compile the C runtime: 30 ms.
THREADLESS_WORK = 1 << 25
# Elements computed up to which a call of a jitted function lets no other thread of Python run: 50 us at most. To let go
# of the interpreter's lock and take it again costs 0.1 us, as much as many a kernel.
LOCKED_WORK = 1 << 16
# Elements from which NumPy's operations go in blocks: arrays of 2 MB, which a second level of the cache does not hold.
BLOCKWISE_ELEMENTS = 1 << 18
# Elements of such a block: 1 MB of doubles, which stay in the cache from one operation to the next.
BLOCK_ELEMENTS = 1 << 17
# Multiplications up to which a small product is one call: 10 us, beside which the calls that are saved are little.
PRODUCT_WORK = 1 << 15
# Multiplications with a vector up to which one thread computes a product in memory at its line: 3 ms of doubles from
# memory, of which a second thread saves a third, as much as it takes to plan a product of a shape that is new.
ALONE_WORK = 1 << 22
# Multiplications during which other threads may have to make a context of their own for NumPy: 10 us.
SHARED_CONTEXT_WORK = 1 << 16

# ------------------------------------------------------------------------------------------------------ libraries
#
# Multiplications from which a product is BLAS's; below it generated code beats the call, which takes 1 us and packs.
LIBRARY_WORK = 16384
# Multiplications of the two shorter extents: a library has nothing to gain in what is thin.
LIBRARY_FACE = 64

# Multiplications up to which, and rows up to which of any length, such a product of real matrices is made of tiles of
# our own, in the program of the kernels. A library takes about as long for 64 x 64, but 8 us of Python are saved, 1.15
# times as long for 128 x 128, and twice as long for 8 rows; what is larger it packs, as is worth it there. The last
# tile overlaps the one before it: of tiles of so many rows and bytes of columns so much more may be computed than there
# are elements. Of a sum so many elements are added up before the next tile, and so many where the second matrix has so
# many bytes, that is comes from memory: the machine sees by itself so many rows that are read in turn.
TILED_WORK, TILED_ROWS = 1 << 21, 16
TILE_ROWS, TILE_BYTES = 8, 64
TILE_DEPTHS = 512, 16, 1 << 19
MOST_TWICE = 1.3

# ------------------------------------------------------------------------------- what is stored, and what is redone
#
# What an element costs, in additions of operands in registers: orders of magnitude, since only the comparison with the
# bounds below decides. Measured as vector code in the cache: an element read twice and written once takes 0.25 to 0.5
# ns, from memory 0.9; on top of that a division takes 0.1, a square root 0.3, sin, exp and log 0.5 to 0.8, a number of
# RANDOM 0.2, an element at an index 0.2 to 0.4 (from memory 20), tanh 1.6, floor division of integers 1.7, pow 3. An
# addition takes a few hundredths. So storing and reading again pays from about a division on.
COST_OF_ELEMENTWISE = 1.0
COST_OF_DIVISION = 4.0  # and square roots
COST_OF_FUNCTION = 10.0  # of the mathematical library
COST_OF_RANDOM = 10.0
COST_OF_INDEX = 2.0
# In these additions: from here on it costs more to redo than to store, where one kernel has it at several places, or
# several kernels have it, for which storing takes a kernel of its own.
CHEAP_TO_REDO_AT_MANY_PLACES = 4.0
CHEAP_TO_REDO_IN_MANY_KERNELS = 6.0
# Operations of a kernel. A C compiler takes longer than in proportion for long loop bodies, and values and pointers
# that find no register go to the stack. That is in the cache, though, and what a cut stores mostly is not: an equation
# of state of 300 operations, most of which are read again much later, takes a third of the time in one kernel, and half
# the time to compile.
MAX_KERNEL_OPS = 320
MAX_KERNEL_OUTPUTS = 8  # streams that are written at a time; a core has 10 to 16 lines under way
MAX_INLINE_REDUCE = 16  # operands of a sum written out: a loop of fewer costs more than its elements
# Writes of boxes, one after the other, that one kernel makes by a choice for each element; more are made one by one.
MAX_BOXES = 8
# Elements of a box that one thread writes alone, where the array is: as much work as is worth another thread.
MAX_BOX_ELEMENTS = 1 << 15
MAX_FOLDS = 6  # of axes that have been moved, in one place; each may double what its index is computed from

# ------------------------------------------------------------------------------------------------------------- threads
#
# To wake a worker takes 5 us when it sleeps, and 0.2 us while it spins, for some 10 us after its last work.
WORK_OF_A_THREAD = 32768  # work that is worth another thread: some 2 to 5 us of vector code for each of the two
# Elements of a reduction to one number that are worth a part of their own: the pages of 2 to 4 of the machine's reads
# ahead, 3 us or more. A power of two of the blocks of 512 that the order of a sum has, see `codegen/c_reduce.py`.
PART_ELEMENTS = 1 << 15
MAX_PARTS = 64  # into which one is cut: their results are kept side by side, and combined by one thread
GRAIN = 16384  # work of the pieces that the outer loop is cut into, so that the parts of threads are about equal

# ------------------------------------------------------------------------------------- rows that run as one function
#
MAX_GROUP = 8  # kernels in one function: all ends are tried, so time grows with the square; softmax and norms take 3
SCRATCH_BYTES = 64 * 1024  # of rows that are read again: a quarter of a small second level of the cache
LEAST_ROWS = 16  # fewer are not worth losing the threads of the elementwise parts for,
SMALL_ROWS_WORK = 1 << 18  # unless all work is that little: 20 us

# -------------------------------------------------------------------------------------------- memory, caches and tiles
#
LINE_BYTES = 64  # of the cache, that come and go together
AHEAD_ROWS = 16  # that are asked for before their turn, where the machine does not see by itself that they will be read
# Memory of which rows are fetched before their turn, and how long before, where a vector is read beside each row that
# is more than a third of a first level of the cache. On an EPYC of 2025 the product of a matrix of 160 MB and a vector
# of 40 KB took 8.0 ms by itself and 5.8 so; beside a vector of 8 KB, or none, all takes a quarter longer with it.
FAR_BYTES = 8 << 20
WIDE_ROW_BYTES = 16 << 10
AHEAD_BYTES = 16 << 10
# From so many columns on, a reduction over leading axes works on so many at a time: many, since the machine reads runs
# of some KB at full speed, but few enough that there is work for several threads, unless all are hardly a tile more.
# In memory a tile has one of two widths, so that kernels for many shapes have one text.
TILE = 256
TILES = (4096, 1024), (1024, 512), (512, TILE), (TILE + 1, 512), (0, TILE)
TILE_ROOMS = 512, 1024
CROSSED_ELEMENTS = 8192  # of a column that is put in order before it is added up; several fit into the cache
LEAST_CROSSED = 16  # along either loop, below which there is no block of a sum to be put in order
JUMP_ELEMENTS = 16  # from one access to the next: of doubles two lines, so each line is read for one element
CROSSING_ELEMENTS = 32  # along either loop, fewer of which stay in the cache until the other loop comes back
TILE_SIDES = 16, 64  # rows and columns of tiles of loops that walk through memory in different directions
TURNED_SIDES = 64, 16  # the same of a tile that is read along its columns: lines that are written at a time
# From so many bytes on, lines that are written far from each other go to memory past the caches, into which each would
# be read first: a transposed copy of 16 MB takes half of the time, and two thirds with a reading of it afterwards. At 8
# MB the two take the same time, and what is read afterwards is better in a cache.
STREAMED_BYTES = 12 << 20
MAP_BLOCK = 256  # elements that an elementwise loop with calls works on at a time: a few rows of them stay in 32 KB
LOOP_BLOCK = 256  # the same of the interpreter's loops of one operation
ROWS_ABREAST = 6  # rows from which reducing them side by side takes less time than one after the other

# ------------------------------------------------------------------------------------------------------- written code
#
# What is cut is written out for each piece: the text a compiler is given grows, and its time more than in proportion. A
# test inside the loop costs a few cycles an element instead.
MAX_SEGMENTS = 16  # of one loop
MAX_PIECES = 9  # of an innermost loop: three in each of two directions, as padding a picture makes them
MAX_COPIES = 16  # of a body, in all segments of all its loops
MAX_STATEMENTS = 240  # in all segments or pieces together
MAX_LANE_STATEMENTS = 48  # in all vectors of accumulators; those of more take longer than an addition in memory waits
MAX_UNROLLED = 12  # statements that are worth repeating for each row of a tile
# Rows of a tile that are summed at a time, of 16, where a last level of the cache holds the matrix: every 32nd of rows
# of 16 columns, or a multiple, are a multiple of 4,096 bytes apart, and a first level has room for 8 to 12 such lines.
# On an EPYC of 2025 the sums of columns of 1024x1024 doubles took 187 us with 16 and 147 with 8, of 4096x4096 up to a
# tenth more with 8: there all streams of memory are wanted.
CACHED_BYTES = 32 << 20
ROWS_AT_A_TIME = 8
