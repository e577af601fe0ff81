"""`python -m gpu_demos.train block`: the block head from its start near the target to exported weights."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

from gpu_demos.drafters.block import BlockHead, block_head_for
from gpu_demos.drafters.mtp import lm_head_weight
from gpu_demos.models import Loaded
from gpu_demos.options import counted
from gpu_demos.training import artifact
from gpu_demos.training.block_calibration import calibration
from gpu_demos.training.block_initialise import copy_target, fit_bias, fit_start
from gpu_demos.training.block_loss import block_loss
from gpu_demos.training.block_recipe import BlockConfig
from gpu_demos.training.block_scores import block_scores
from gpu_demos.training.compare import tabulated
from gpu_demos.training.corpus import Corpus, likely_tokens, read
from gpu_demos.training.described import described, print_line
from gpu_demos.training.loop import train


def add_block(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand to `commands`; those arguments that all training shares are the caller's."""
    block = commands.add_parser("block", help="train a block head (DSpark)")
    block.add_argument("--steps", type=counted, default=600)
    block.add_argument("--batch", type=counted, default=4, help="texts of one step")
    block.add_argument("--anchors", type=counted, default=24, help="blocks of one text in a step")
    block.add_argument("--size", type=counted, default=5, help="drafts of a block")
    block.add_argument("--rank", type=counted, default=96, help="of the Markov head")
    block.add_argument("--rate", type=float, default=6e-4)
    block.add_argument("--vocabulary", type=counted, default=8192, help="tokens that the head can draft")
    block.add_argument("--rounds", type=counted, default=1200, help="sampled rounds for calibration, about")
    block.add_argument("--out", type=Path, required=True, help="folder of checkpoint, log and exported weights")
    block.set_defaults(run=run_block)
    return block


def run_block(options: argparse.Namespace, loaded: Loaded, command: str) -> int:
    """Train; when all steps are done score on held-out text, calibrate, export. 3 when the time was over before."""
    corpus = read(options.text, "train", limit=options.shards)
    config = BlockConfig(
        loaded.sha256, corpus.sha256, options.seed, options.steps, options.batch, options.anchors, options.size,
        options.rank, options.rate, vocabulary=options.vocabulary,
    )  # fmt: skip
    head = new_block_head(loaded, corpus, config)
    if not train(head, corpus, config, options.out, minutes=options.budget_minutes, loss=block_loss, report=print_line):
        print(f"Time is over; the same command goes on. Nothing is exported before all {config.steps} steps are done.")
        return 3
    artifact.round_weights(head)
    head.requires_grad_(False)
    held_out = read(options.text, "held_out", limit=options.shards)
    manifest = {
        **described(head, loaded, config, command, options.out, train=corpus, held_out=held_out),
        "held_out": tabulated(block_scores(head, lm_head_weight(loaded.model), held_out)),
        "calibration": calibration(head, loaded.model, held_out, rounds=options.rounds),
    }  # fmt: skip
    print(f"Exported {artifact.save(head, options.out, manifest)}")
    return 0


def new_block_head(loaded: Loaded, corpus: Corpus, config: BlockConfig) -> BlockHead:
    """A head that starts near the target; says what share of the variance its linear parts explain."""
    torch.manual_seed(config.seed)
    ids = likely_tokens(corpus, lm_head_weight(loaded.model), count=config.vocabulary)
    head = block_head_for(loaded.model, ids, size=config.size, rank=config.rank)
    copy_target(head, loaded.model.model.layers[-1], loaded.model.model.norm)
    shares = ", ".join(f"{x:.3f}" for x in fit_start(head, corpus))
    fit_bias(head, corpus)
    print(f"Start fitted: {shares} of the variance explained, row by row", flush=True)
    return head
