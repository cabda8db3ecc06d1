"""Small programs as people write them for NumPy: functions of the module that is imported as `np`, which give what the
program prints or plots. Loops, masks, in-place updates, random numbers, linear algebra, text made of results.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["PROGRAMS"]


def life(np: Any) -> Any:
    board = np.zeros((12, 12), dtype=int)
    board[1:4, 1:4] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
    for _ in range(8):
        n = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        board = ((n == 3) | ((board == 1) & (n == 2))).astype(int)
    return board


def mandelbrot(np: Any) -> Any:
    y, x = np.mgrid[-1.2:1.2:13j, -2.0:0.6:17j]
    c = x + 1j * y
    z, steps = np.zeros_like(c), np.zeros(c.shape, dtype=int)
    for i in range(20):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        steps[inside] = i
    return steps


def sieve(np: Any) -> Any:
    is_prime = np.ones(100, dtype=bool)
    is_prime[:2] = False
    for k in range(2, 10):
        if is_prime[k]:
            is_prime[k * k :: k] = False
    return np.flatnonzero(is_prime)


def k_means(np: Any) -> Any:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(m, 0.1, (20, 2)) for m in (0.0, 1.0, 3.0)])
    centers = points[[0, 20, 40]].copy()
    for _ in range(5):
        nearest = np.linalg.norm(points[:, None] - centers[None], axis=-1).argmin(axis=1)
        for k in range(3):
            centers[k] = points[nearest == k].mean(axis=0)
    return centers, np.bincount(nearest)


def jacobi(np: Any) -> Any:
    a = np.array([[10.0, -1.0, 2.0], [-1.0, 11.0, -1.0], [2.0, -1.0, 10.0]])
    b, x = np.array([6.0, 25.0, -11.0]), np.zeros(3)
    d = np.diag(a)
    while not np.allclose(a @ x, b, atol=1e-12):
        x = (b - (a - np.diagflat(d)) @ x) / d
    return x


def gauss(np: Any) -> Any:
    a = np.array([[2.0, 1.0, -1.0, 8.0], [-3.0, -1.0, 2.0, -11.0], [-2.0, 1.0, 2.0, -3.0]])
    for i in range(3):
        pivot = i + np.argmax(np.abs(a[i:, i]))
        a[[i, pivot]] = a[[pivot, i]]
        a[i] /= a[i, i]
        for j in range(3):
            if j != i:
                a[j] -= a[j, i] * a[i]
    return a[:, -1]


def floyd_warshall(np: Any) -> Any:
    d = np.full((5, 5), np.inf)
    np.fill_diagonal(d, 0)
    d[[0, 1, 2, 3, 0], [1, 2, 3, 4, 4]] = [3.0, 1.0, 2.0, 4.0, 20.0]
    for k in range(5):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


def edit_distance(np: Any) -> Any:
    a, b = "kitten", "sitting"
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0], d[0, :] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return d[-1, -1], d


def knapsack(np: Any) -> Any:
    best = np.zeros(51)
    for weight, value in ((10, 60.0), (20, 100.0), (30, 120.0)):
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
    return best[-1], best


def monte_carlo(np: Any) -> Any:
    np.random.seed(3)
    x, y = np.random.rand(2, 1000)
    return 4 * np.mean(x**2 + y**2 < 1)


def random_walk(np: Any) -> Any:
    steps = np.random.default_rng(5).choice([-1, 1], size=(4, 50))
    paths = steps.cumsum(axis=1)
    return paths[:, -1], (np.abs(paths) >= 5).argmax(axis=1), paths.max(), paths.min()


def pca(np: Any) -> Any:
    x = np.random.default_rng(1).normal(size=(30, 3)) * [3.0, 1.0, 0.2]
    x -= x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(x, rowvar=False))
    order = np.argsort(values)[::-1]
    return values[order], np.abs(vectors[:, order])


def least_squares(np: Any) -> Any:
    x = np.linspace(0, 5, 20)
    y = 2.5 * x - 1 + 0.1 * np.sin(7 * x)
    design = np.vstack([x, np.ones(len(x))]).T
    slope, offset = np.linalg.lstsq(design, y, rcond=None)[0]
    return slope, offset, np.polyfit(x, y, 2), np.corrcoef(x, y)[0, 1]


def perceptron(np: Any) -> Any:
    x = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=float)
    y, w = np.array([0, 0, 0, 1]), np.zeros(3)
    for _ in range(10):
        for xi, target in zip(x, y, strict=True):
            w += 0.5 * (target - int(xi @ w > 0)) * xi
    return w, (x @ w > 0).astype(int)


def network(np: Any) -> Any:
    np.random.seed(1)
    x, y = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]]), np.array([[0, 1, 1, 0]]).T
    first, second = 2 * np.random.random((3, 4)) - 1, 2 * np.random.random((4, 1)) - 1
    for _ in range(20):
        hidden = 1 / (1 + np.exp(-(x @ first)))
        out = 1 / (1 + np.exp(-(hidden @ second)))
        delta = (y - out) * out * (1 - out)
        back = delta @ second.T * hidden * (1 - hidden)
        second += hidden.T @ delta
        first += x.T @ back
    return out, np.mean(np.abs(y - out))


def runge_kutta(np: Any) -> Any:
    def f(y: Any) -> Any:
        return np.array([y[1], -np.sin(y[0])])

    y, h, path = np.array([1.0, 0.0]), 0.1, []
    for _ in range(20):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return np.array(path)


def heat(np: Any) -> Any:
    u = np.zeros((10, 10))
    u[0] = 100.0
    for _ in range(30):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def n_body(np: Any) -> Any:
    x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    v, m = np.zeros((3, 2)), np.array([3.0, 1.0, 0.5])
    for _ in range(10):
        d = x[None] - x[:, None]
        r = np.sqrt((d**2).sum(-1) + 0.01)
        v += 0.01 * (m[None, :, None] * d / r[..., None] ** 3).sum(axis=1)
        x += 0.01 * v
    return x, 0.5 * np.sum(m * np.einsum("ij,ij->i", v, v))


def power_iteration(np: Any) -> Any:
    links = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 1, 0]], dtype=float)
    p = (links / links.sum(axis=1, keepdims=True)).T
    rank = np.ones(4) / 4
    for _ in range(50):
        rank = 0.15 / 4 + 0.85 * p @ rank
    return rank, np.argsort(-rank)


def markov(np: Any) -> Any:
    p = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.5, 0.5]])
    values, vectors = np.linalg.eig(p.T)
    stationary = np.real(vectors[:, np.isclose(values, 1)])[:, 0]
    return stationary / stationary.sum(), np.linalg.matrix_power(p, 60)[0]


def low_pass(np: Any) -> Any:
    t = np.arange(64) / 64
    signal = np.sin(2 * np.pi * 3 * t) + 0.5 * np.sin(2 * np.pi * 20 * t)
    spectrum = np.fft.rfft(signal)
    spectrum[np.abs(np.fft.rfftfreq(64, 1 / 64)) > 10] = 0
    return np.fft.irfft(spectrum), np.abs(spectrum).argmax()


def convolution(np: Any) -> Any:
    image = np.arange(49.0).reshape(7, 7)
    kernel = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
    padded, out = np.pad(image, 1, mode="edge"), np.zeros_like(image)
    for (i, j), weight in np.ndenumerate(kernel):
        out += weight * padded[i : i + 7, j : j + 7]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return out, np.einsum("ijkl,kl->ij", windows, kernel)


def equalized(np: Any) -> Any:
    image = (np.random.default_rng(2).normal(100, 20, (16, 16))).clip(0, 255).astype(np.uint8)
    counts, bins = np.histogram(image.ravel(), 256, (0, 256))
    cdf = counts.cumsum()
    return np.interp(image.ravel(), bins[:-1], cdf * 255 / cdf[-1]).reshape(image.shape)


def moving_statistics(np: Any) -> Any:
    prices = 100 + np.random.default_rng(4).normal(size=40).cumsum()
    mean = np.convolve(prices, np.ones(5) / 5, mode="valid")
    returns = np.diff(np.log(prices))
    return mean, returns.std(ddof=1) * np.sqrt(252), np.percentile(returns, [5, 50, 95]), np.ptp(prices)


def draw_down(np: Any) -> Any:
    values = np.array([100.0, 120.0, 90.0, 110.0, 80.0, 130.0])
    peak = np.maximum.accumulate(values)
    return (values / peak - 1).min(), np.argmin(values / peak)


def group_by(np: Any) -> Any:
    keys, values = np.array([2, 0, 1, 2, 0, 2]), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    names, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sums = np.zeros(len(names))
    np.add.at(sums, inverse, values)
    order = np.lexsort((values, keys))
    return names, sums / counts, values[order], np.bincount(inverse, weights=values)


def one_hot(np: Any) -> Any:
    labels = np.array([2, 0, 1, 1])
    hot = np.eye(3)[labels]
    scores = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 0.0], [0.0, 5.0, 1.0], [1.0, 1.0, 1.0]])
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    loss = -np.log(p[np.arange(4), labels]).mean()
    return hot, loss, (p.argmax(1) == labels).mean()


def confusion(np: Any) -> Any:
    truth, guess = np.array([0, 1, 2, 2, 1, 0]), np.array([0, 2, 2, 2, 1, 1])
    matrix = np.zeros((3, 3), dtype=int)
    np.add.at(matrix, (truth, guess), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.nan_to_num(np.diag(matrix) / matrix.sum(axis=0))
    return matrix, precision, np.trace(matrix) / matrix.sum()


def distances(np: Any) -> Any:
    a, b = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(4, 2)[::-1]
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    d = np.sqrt(np.maximum(squares, 0))
    i, j = np.unravel_index(d.argmin(), d.shape)
    return d, i, j, np.partition(d, 1, axis=1)[:, :2]


def rotations(np: Any) -> Any:
    t = np.deg2rad(30)
    r = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    square = np.array([[0, 1, 1, 0], [0, 0, 1, 1]])
    return r @ square, np.linalg.det(r), np.allclose(r @ r.T, np.eye(2)), np.rot90(square)


def bisection(np: Any) -> Any:
    def f(x: Any) -> Any:
        return np.polyval([1.0, 0.0, -1.0, -2.0], x)

    a, b = np.float64(1), np.float64(2)
    while b - a > 1e-12:
        c = (a + b) / 2
        a, b = (a, c) if f(a) * f(c) <= 0 else (c, b)
    return a, np.sort(np.abs(np.roots([1.0, 0.0, -1.0, -2.0])))


def simpson(np: Any) -> Any:
    x = np.linspace(0, np.pi, 101)
    y = np.sin(x)
    return (y[:-1:2] + 4 * y[1::2] + y[2::2]).sum() * (x[1] - x[0]) / 3, np.trapezoid(y, x), np.gradient(y, x)[:3]


def fibonacci(np: Any) -> Any:
    q = np.array([[1, 1], [1, 0]], dtype=np.int64)
    return np.linalg.matrix_power(q, 40)[0, 1], np.fromiter((k * k for k in range(5)), dtype=int)


def magic_square(np: Any) -> Any:
    n = 5
    square, i, j = np.zeros((n, n), int), 0, n // 2
    for k in range(1, n * n + 1):
        square[i, j] = k
        up, right = (i - 1) % n, (j + 1) % n
        i, j = ((i + 1) % n, j) if square[up, right] else (up, right)
    sums = {*square.sum(0).tolist(), *square.sum(1).tolist(), int(np.trace(square)), int(np.trace(square[::-1]))}
    return square, len(sums)


def caesar(np: Any) -> Any:
    codes = np.frombuffer(b"HELLO", dtype=np.uint8).astype(int)
    return "".join(chr(c) for c in (codes - 65 + 3) % 26 + 65)


def bits(np: Any) -> Any:
    x = np.array([5, 9, 255], dtype=np.uint8)
    unpacked = np.unpackbits(x[:, None], axis=1)
    return unpacked, np.packbits(unpacked), np.bitwise_xor.reduce(x), (x >> 2) & 1


def table(np: Any) -> Any:
    a = np.arange(1, 4)
    return "\n".join(" ".join(f"{v:3d}" for v in row) for row in np.outer(a, a)), f"{np.pi:.4f} {np.mean(a):.1f}"


def saved(np: Any) -> Any:
    import io  # noqa: PLC0415 (a program's own line)

    file, text = io.BytesIO(), io.StringIO()
    np.save(file, np.arange(6).reshape(2, 3))
    file.seek(0)
    loaded = np.load(file)
    np.savetxt(text, loaded, fmt="%d", delimiter=",")
    text.seek(0)
    return loaded, np.loadtxt(text, delimiter=",")


def masked_means(np: Any) -> Any:
    x = np.array([[1.0, np.nan, 3.0], [np.nan, 5.0, 6.0]])
    filled = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    return filled, np.nanmax(x, axis=1), np.isnan(x).sum(), np.nanstd(x)


def queens(np: Any) -> Any:
    found = 0

    def place(row: int, taken: Any, left: Any, right: Any) -> None:
        nonlocal found
        if row == 5:
            found += 1
            return
        free = ~(taken | left[row + np.arange(5)] | right[row - np.arange(5) + 4])
        for column in np.nonzero(free)[0]:
            t, a, b = taken.copy(), left.copy(), right.copy()
            t[column] = a[row + column] = b[row - column + 4] = True
            place(row + 1, t, a, b)

    place(0, np.zeros(5, bool), np.zeros(9, bool), np.zeros(9, bool))
    return found


def gram_schmidt(np: Any) -> Any:
    a = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    q = np.empty_like(a)
    for k in range(3):
        v = a[:, k] - q[:, :k] @ (q[:, :k].T @ a[:, k])
        q[:, k] = v / np.linalg.norm(v)
    return q, np.linalg.qr(a)[1].shape, np.linalg.matrix_rank(a)


def conjugate_gradient(np: Any) -> Any:
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    b, x = np.array([1.0, 2.0]), np.zeros(2)
    r = b - a @ x
    p = r.copy()
    for _ in range(2):
        alpha = r @ r / (p @ a @ p)
        x += alpha * p
        new = r - alpha * (a @ p)
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x, np.linalg.solve(a, b)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    f.__name__: f
    for f in (
        *(life, mandelbrot, sieve, k_means, jacobi, gauss, floyd_warshall, edit_distance, knapsack, monte_carlo),
        *(random_walk, pca, least_squares, perceptron, network, runge_kutta, heat, n_body, power_iteration, markov),
        *(low_pass, convolution, equalized, moving_statistics, draw_down, group_by, one_hot, confusion, distances),
        *(rotations, bisection, simpson, fibonacci, magic_square, caesar, bits, table, saved, masked_means, queens),
        *(gram_schmidt, conjugate_gradient),
    )
}
