"""A drafter by the name that a command line or a page uses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpu_demos import batch_invariant
from gpu_demos.decoding_types import Drafter
from gpu_demos.drafters.early_exit import EarlyExit
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.models import Loaded
from gpu_demos.models_fetch import ModelUnavailable

NAMES = ("lookup", "exit", "mtp", "block")
WEIGHTS = Path(__file__).parents[1] / "weights"


def choose(
    name: str, loaded: Loaded, *, layers: int | None = None, weights: Path | None = None, floor: float = 0.0
) -> Drafter:
    """The drafter `name`. layers: where an early exit leaves, by default after two thirds; weights: folder of a trained
    head, by default the shipped one; floor: of `MtpDrafter`.

    Raises ValueError for an unknown name and ModelUnavailable, with the command that makes them, for missing weights.
    """
    if name == "lookup":
        return Lookup()
    if name == "exit":
        return EarlyExit(layers or max(1, loaded.model.config.num_hidden_layers * 2 // 3))
    if name == "mtp":
        return _mtp(loaded, weights or WEIGHTS / name, floor)
    if name == "block":
        return _block(loaded, weights or WEIGHTS / name)
    raise ValueError(f"drafter={name!r} must be one of {', '.join(NAMES)}")


def _mtp(loaded: Loaded, folder: Path, floor: float) -> Drafter:
    from gpu_demos.drafters.mtp import MtpDrafter  # only here: the other drafters work without trained parts
    from gpu_demos.training.artifact import load

    return MtpDrafter(_trained("mtp", load, loaded, folder).head, floor)


def _block(loaded: Loaded, folder: Path) -> Drafter:
    """Whole blocks, no stop; the temperatures of its confidences are those of the manifest."""
    from gpu_demos.drafters.block_drafter import BlockDrafter
    from gpu_demos.training.artifact import load_block
    from gpu_demos.training.text import taps

    found = _trained("block", load_block, loaded, folder)
    temperatures = found.manifest["calibration"]["temperatures"]
    return BlockDrafter(found.head, taps(loaded.model.config.num_hidden_layers), temperatures=temperatures)


def _trained(name: str, load: Callable[..., Any], loaded: Loaded, folder: Path) -> Any:
    """What `load` finds in a folder, computing its products as the target does, or ModelUnavailable with what to do."""
    from gpu_demos.training.artifact import WeightsUnusable

    if not (folder / "manifest.json").is_file():
        raise ModelUnavailable(
            f"The drafter {name} needs trained weights, and {folder} has none. "
            f"Train them: python -m gpu_demos.train text, then python -m gpu_demos.train {name} --help"
        )
    try:
        found = load(folder, loaded.model, base_sha256=loaded.sha256)
    except WeightsUnusable as error:
        raise ModelUnavailable(str(error)) from error
    if loaded.linear == "invariant":
        batch_invariant.use(found.head)
    return found
