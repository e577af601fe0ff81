"""Batches against the ridge of a chosen device."""

from __future__ import annotations

from functools import lru_cache

from mechanisms.economics_ridge import batches, ridge_limits
from mechanisms.hardware import DEVICES, device
from mechanisms.speculation_economics import MOST_DRAFTS
from mechanisms.table import Table
from pages import _payload
from pages._economics_speed import lines
from pages._economics_state import TOPIC, choose, get, show, slide
from pages._parts import Block
from pages._words import t

LIMIT_ORDER = (
    "largest_batch", "largest_batch_w4", "positions_per_request", "ridge", "peak_flops", "bandwidth", "stored_bits"
)  # fmt: skip
BATCH_ORDER = (
    "speedup", "verification_cost", "verify_pass", "plain_pass", "tokens_per_round", "batch", "draft_length",
    "acceptance_rate", "draft_cost", "ridge",
)  # fmt: skip


@lru_cache(maxsize=8)
def _batches(id: str) -> tuple[Table, _payload.Printed]:
    found = [batches(device(id), gamma) for gamma in range(MOST_DRAFTS + 1)]
    return found[0], _payload.printed(found, BATCH_ORDER)


def device_choice(block: Block, words: str) -> None:
    choose(block, "device", [d.id for d in DEVICES], words, labels=[d.name for d in DEVICES])
    of = device(get("device"))
    checked = {f.checked_on for f in (of.flops, of.bandwidth)}
    block.prose(
        f'<p class="wiki-help">{t(f"{TOPIC}.checked_on", day=max(checked).isoformat())}</p>', key=f"{TOPIC}.checked_on"
    )


def limit_table(block: Block, words: str) -> None:
    show(block, ridge_limits(device(get("device"))), "ridge_limits", words, head="row_nodes", order=LIMIT_ORDER)


def drafts_range(block: Block, words: str) -> None:
    slide(block, "drafts", [str(g) for g in range(MOST_DRAFTS + 1)], words)


def batch_plot(block: Block, words: str) -> None:
    lines(block, "batch_plot", "batches", ("speedup",), words, level=1)


def batch_table(block: Block, words: str) -> None:
    first, frames = _batches(get("device"))
    show(
        block, first, "batches", words, head="row_batch", topic=f"{TOPIC}.drafts", frames=frames, order=BATCH_ORDER
    )  # fmt: skip
