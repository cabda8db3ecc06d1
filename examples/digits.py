"""Learns to read handwritten digits, twice: with `uopc_array` in the functional style, then with `uopc_core.nn`.

The 1,797 images of 8 x 8 pixels come with scikit-learn; a fifth is held out. Before training, one gradient is checked
against central differences. At the end the C of a fused kernel is shown and the losses are drawn to digits.png.
"""

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import uopc_array as xp
from uopc_array import explain, grad, jit, value_and_grad
from uopc_core import nn
from uopc_core.tensor import Tensor

N_HIDDEN = 128
N_CLASSES = 10
BATCH = 128
LEARNING_RATE = 3e-3
BETA1, BETA2, EPSILON, WEIGHT_DECAY = 0.9, 0.999, 1e-8, 1e-2

Params = dict[str, Any]


class Split(NamedTuple):
    """Images (n, 64) with values 0 to 1, and their labels (n,)."""

    images: np.ndarray
    labels: np.ndarray


def load() -> tuple[Split, Split]:
    """The digits as (training, held-out)."""
    pixels: Any
    labels: Any
    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16).astype(np.float32)
    parts: Any = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)
    train_images, test_images, train_labels, test_labels = parts
    return Split(train_images, train_labels), Split(test_images, test_labels)


def batches(data: Split, rng: np.random.Generator) -> list[Split]:
    """The data in a new order, in batches of one size; what does not fill a batch waits for the next epoch."""
    order = rng.permutation(len(data.labels))
    rows = order[: len(order) // BATCH * BATCH].reshape(-1, BATCH)
    return [Split(data.images[batch], data.labels[batch]) for batch in rows]


# ---------------------------------------------------------------------------- uopc_array: functions on a dict of arrays


def initial_params(rng: np.random.Generator, dtype: Any) -> Params:
    """He initialisation: variance 2 / (inputs)."""
    sizes = (64, N_HIDDEN, N_CLASSES)
    params: Params = {}
    for layer, (n_in, n_out) in enumerate(pairwise(sizes)):
        weight = rng.standard_normal((n_in, n_out)) * np.sqrt(2 / n_in)
        params[f"weight{layer}"] = xp.asarray(weight.astype(dtype))
        params[f"bias{layer}"] = xp.zeros((n_out,), dtype=dtype)
    return params


def hidden_layer(params: Params, images: Any) -> Any:
    return xp.maximum(images @ params["weight0"] + params["bias0"], 0)


def scores(params: Params, images: Any) -> Any:
    return hidden_layer(params, images) @ params["weight1"] + params["bias1"]


def cross_entropy(params: Params, images: Any, labels: Any) -> Any:
    """Mean of -log(probability of the right digit)."""
    logits = scores(params, images)
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    log_total = xp.log(xp.sum(xp.exp(shifted), axis=-1))
    return xp.mean(log_total - shifted[xp.arange(labels.shape[0]), labels])


def adamw(params: Params, slopes: Params, moments: Any, step_size: float, decay: float) -> tuple[Params, Any]:
    """One update (Loshchilov & Hutter 2019). `step_size` has the bias correction in it."""
    means, squares = moments
    means = {name: BETA1 * means[name] + (1 - BETA1) * slope for name, slope in slopes.items()}
    squares = {name: BETA2 * squares[name] + (1 - BETA2) * slope**2 for name, slope in slopes.items()}
    params = {
        name: param * decay - step_size * means[name] / (xp.sqrt(squares[name]) + EPSILON)
        for name, param in params.items()
    }
    return params, (means, squares)


@jit
def train_step(params: Params, moments: Any, images: Any, labels: Any, step_size: float, decay: float) -> Any:
    loss, slopes = value_and_grad(cross_entropy)(params, images, labels)
    return loss, *adamw(params, slopes, moments, step_size, decay)


def train_arrays(data: Split, n_epochs: int) -> tuple[Params, list[float]]:
    """Train on `data`; returns the parameters and the mean loss of each epoch."""
    rng = np.random.default_rng(0)
    params = initial_params(rng, np.float32)
    moments = ({name: xp.zeros_like(param) for name, param in params.items()},) * 2
    decay = 1 - LEARNING_RATE * WEIGHT_DECAY
    losses, step = [], 0
    progress = tqdm(range(n_epochs), desc="uopc_array", unit="epoch")
    for _ in progress:
        epoch_losses = []
        for batch in batches(data, rng):
            step += 1
            step_size = LEARNING_RATE * (1 - BETA2**step) ** 0.5 / (1 - BETA1**step)
            images, labels = map(xp.asarray, batch)
            loss, params, moments = train_step(params, moments, images, labels, step_size, decay)
            epoch_losses.append(loss)
        losses.append(float(xp.mean(xp.stack(epoch_losses))))
        progress.set_postfix(loss=f"{losses[-1]:.4f}")
    return params, losses


def check_gradient(data: Split) -> tuple[float, float]:
    """One entry of the gradient in float64: (by grad, by central differences)."""
    images, labels = xp.asarray(data.images[:BATCH].astype(np.float64)), xp.asarray(data.labels[:BATCH])
    params = initial_params(np.random.default_rng(1), np.float64)
    place, step = (36, 5), 1e-5

    def shifted_loss(shift: float) -> float:
        weight = xp.asarray(params["weight0"], copy=True)
        weight[place] += shift
        return float(cross_entropy({**params, "weight0": weight}, images, labels))

    by_grad = float(grad(cross_entropy)(params, images, labels)["weight0"][place])
    return by_grad, (shifted_loss(step) - shifted_loss(-step)) / (2 * step)


# ---------------------------------------------------------------------------------- uopc_core: layers with an optimizer


class Network:
    """The same network out of layers."""

    def __init__(self) -> None:
        self.hidden = nn.Linear(64, N_HIDDEN)
        self.output = nn.Linear(N_HIDDEN, N_CLASSES)

    def __call__(self, images: Tensor) -> Tensor:
        return self.output(self.hidden(images).relu())


def train_tensors(data: Split, n_epochs: int) -> tuple[Network, list[float]]:
    """Train on `data`; returns the network and the mean loss of each epoch."""
    rng = np.random.default_rng(0)
    Tensor.manual_seed(0)
    network = Network()
    optimizer = nn.AdamW(nn.parameters(network), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    losses = []
    progress = tqdm(range(n_epochs), desc="uopc_core ", unit="epoch")
    for _ in progress:
        epoch_losses = []
        for batch in batches(data, rng):
            optimizer.zero_grad()
            loss = network(Tensor(batch.images)).cross_entropy(Tensor(batch.labels))
            loss.backward(optimizer.params)
            optimizer.step()
            epoch_losses.append(loss.item())
        losses.append(float(np.mean(epoch_losses)))
        progress.set_postfix(loss=f"{losses[-1]:.4f}")
    return network, losses


# ----------------------------------------------------------------------------------------------------------- the report


def accuracy(logits: Any, labels: np.ndarray) -> float:
    return float((np.asarray(logits).argmax(axis=-1) == labels).mean())


def draw(curves: dict[str, list[float]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, losses in curves.items():
        axes.semilogy(range(1, len(losses) + 1), losses, label=name)
    axes.set(xlabel="epoch", ylabel="training loss (cross entropy)", title="Handwritten digits, 64-128-10 network")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(n_epochs: int, plot: Path) -> tuple[float, float]:
    """Everything in turn; returns the accuracies on the held-out fifth."""
    train, test = load()
    by_grad, by_differences = check_gradient(train)
    print(f"one gradient: {by_grad:.10f} by grad, {by_differences:.10f} by central differences")
    params, array_losses = train_arrays(train, n_epochs)
    network, tensor_losses = train_tensors(train, n_epochs)
    results = (
        accuracy(scores(params, xp.asarray(test.images)), test.labels),
        accuracy(network(Tensor(test.images)).numpy(), test.labels),
    )
    print("\nWhat became of the first layer, maximum(images @ weight + bias, 0), from the graph to C:\n")
    print(explain(hidden_layer(params, xp.asarray(test.images))))
    draw({"uopc_array": array_losses, "uopc_core.nn": tensor_losses}, plot)
    print(f"right on the held-out fifth: {results[0]:.1%} with uopc_array, {results[1]:.1%} with uopc_core.nn")
    print(f"losses drawn to {plot}")
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--plot", type=Path, default=Path(__file__).with_name("digits.png"))
    arguments = parser.parse_args()
    main(arguments.epochs, arguments.plot)
