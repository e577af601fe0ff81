"""A drafter by the name that a command line or a page uses."""

from __future__ import annotations

from pathlib import Path

from gpu_demos.decoding_types import Drafter
from gpu_demos.drafters.early_exit import EarlyExit
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.models import Loaded
from gpu_demos.models_fetch import ModelUnavailable

NAMES = ("lookup", "exit", "mtp")
WEIGHTS = Path(__file__).parents[1] / "weights"


def choose(name: str, loaded: Loaded, *, layers: int | None = None, weights: Path | None = None) -> Drafter:
    """The drafter `name`. layers: where an early exit leaves, by default after two thirds; weights: folder of a trained
    head, by default the shipped one.

    Raises ValueError for an unknown name and ModelUnavailable, with the command that makes them, for missing weights.
    """
    if name == "lookup":
        return Lookup()
    if name == "exit":
        return EarlyExit(layers or max(1, loaded.model.config.num_hidden_layers * 2 // 3))
    if name == "mtp":
        return _mtp(loaded, weights or WEIGHTS / name)
    raise ValueError(f"drafter={name!r} must be one of {', '.join(NAMES)}")


def _mtp(loaded: Loaded, folder: Path) -> Drafter:
    if not (folder / "manifest.json").is_file():
        raise ModelUnavailable(
            f"The drafter mtp needs trained weights, and {folder} has none. "
            "Train them: python -m gpu_demos.train text, then python -m gpu_demos.train mtp --help"
        )
    from gpu_demos.drafters.mtp import MtpDrafter  # only here: the other drafters work without trained parts
    from gpu_demos.training.artifact import WeightsUnusable, load

    try:
        return MtpDrafter(load(folder, loaded.model, base_sha256=loaded.sha256).head)
    except WeightsUnusable as error:
        raise ModelUnavailable(str(error)) from error
