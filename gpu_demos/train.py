"""Train the drafters: `text` lets the model write its training text, `mtp` and `block` train heads on it.

Every command can be stopped and started again; `--budget-minutes` stops it in time. Nothing is downloaded but the
model itself, once.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import torch

from gpu_demos.drafters.mtp import MtpHead, head_for, lm_head_weight
from gpu_demos.models import SMOLLM2, Loaded, load, show
from gpu_demos.models_fetch import ModelUnavailable, cache_folder
from gpu_demos.options import counted
from gpu_demos.train_block import add_block
from gpu_demos.training import artifact
from gpu_demos.training.compare import held_out_table
from gpu_demos.training.corpus import likely_tokens, read
from gpu_demos.training.described import described, print_line
from gpu_demos.training.initialise import copy_last_layer, fit_projection
from gpu_demos.training.loop import train
from gpu_demos.training.recipe import RECIPES, MtpConfig
from gpu_demos.training.text import TextConfig, write

TEXT_FOLDER = "text"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it is done, 1 when it could not be, 3 when its time was over before its work."""
    options = _parser().parse_args(arguments)
    command = shlex.join(["python", "-m", "gpu_demos.train", *(sys.argv[1:] if arguments is None else arguments)])
    try:
        loaded = load(options.model, dtype=options.dtype, device=options.device, progress=show)
        return options.run(options, loaded, command)
    except (ValueError, FloatingPointError, ModelUnavailable, artifact.WeightsUnusable) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from the last checkpoint.", file=sys.stderr)
        return 3
    except torch.OutOfMemoryError:
        print("Not enough memory: a smaller --batch needs less. Checkpoints are kept.", file=sys.stderr)
        return 1


def run_text(options: argparse.Namespace, loaded: Loaded, command: str) -> int:
    """`text`: shards until there are as many as wanted or the time is over."""
    config = TextConfig(
        loaded.sha256,
        loaded.dtype,
        options.seed,
        options.batch,
        options.held_out_batch,
        options.prompt_tokens,
        options.written_tokens,
    )
    lines = write(
        loaded.model, loaded.tokenizer, options.text, config, shards=options.shards, minutes=options.budget_minutes
    )
    for line in lines:
        print(json.dumps(line), flush=True)
    there = len(list(options.text.glob("shard-*.safetensors")))
    print(f"{there} of {options.shards} shards in {options.text}")
    return 0 if there >= options.shards else 3


def run_mtp(options: argparse.Namespace, loaded: Loaded, command: str) -> int:
    """`mtp`: one recipe, from the target's last layer or from a trained head; exports when all steps are done."""
    corpus = read(options.text, "train", limit=options.shards)
    start = artifact.load(options.start, loaded.model, base_sha256=loaded.sha256) if options.start else None
    config = MtpConfig(
        options.recipe, loaded.sha256, corpus.sha256, start.sha256 if start else "target", options.seed,
        options.steps, options.batch, options.depths, options.one_depth_steps, options.rate,
        vocabulary=options.vocabulary if start is None else start.head.shape.vocabulary,
        products=options.products,
    )  # fmt: skip
    head = start.head.requires_grad_(True) if start else new_head(loaded, corpus, options.vocabulary)
    done = train(head, corpus, config, options.out, minutes=options.budget_minutes, report=print_line)
    if not done:
        print(f"Time is over; the same command goes on. Nothing is exported before all {config.steps} steps are done.")
        return 3
    artifact.round_weights(head)
    held_out = read(options.text, "held_out", limit=options.shards)
    manifest = {
        **described(head, loaded, config, command, options.out, train=corpus, held_out=held_out),
        "held_out": held_out_table(head, lm_head_weight(loaded.model), held_out),
    }
    print(f"Exported {artifact.save(head, options.out, manifest)}")
    return 0


def new_head(loaded: Loaded, corpus: Any, vocabulary: int) -> MtpHead:
    """A head that starts near the target; says what share of the variance its linear part explains."""
    ids = likely_tokens(corpus, lm_head_weight(loaded.model), count=vocabulary)
    head = head_for(loaded.model, ids)
    copy_last_layer(head, loaded.model.model.layers[-1], loaded.model.model.norm)
    print(f"Projection fitted: {fit_projection(head, corpus):.3f} of the variance explained", flush=True)
    return head


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpu_demos.train", description=__doc__)
    commands = parser.add_subparsers(required=True)
    text = commands.add_parser("text", help="let the model write its training text")
    text.add_argument("--batch", type=counted, default=64, help="texts of one shard for training")
    text.add_argument("--held-out-batch", type=counted, default=32, help="texts of one held-out shard")
    text.add_argument("--prompt-tokens", type=counted, default=32)
    text.add_argument("--written-tokens", type=counted, default=160)
    text.set_defaults(run=run_text)
    mtp = commands.add_parser("mtp", help="train an MTP head")
    mtp.add_argument("--recipe", choices=sorted(RECIPES), default="base")
    mtp.add_argument("--start", type=Path, help="folder of a trained head, for all recipes but base")
    mtp.add_argument("--steps", type=counted, default=1000)
    mtp.add_argument("--one-depth-steps", type=int, default=0, help="first steps with depth 1 alone")
    mtp.add_argument("--batch", type=counted, default=8, help="texts of one step")
    mtp.add_argument("--depths", type=counted, default=3)
    mtp.add_argument("--rate", type=float, default=1e-3)
    mtp.add_argument("--vocabulary", type=counted, default=8192, help="tokens that the head can draft")
    mtp.add_argument("--products", choices=("fp32", "bf16"), default="fp32", help="bf16 pays where it is fast")
    mtp.add_argument("--out", type=Path, required=True, help="folder of checkpoint, log and exported weights")
    mtp.set_defaults(run=run_mtp)
    for command in (text, mtp, add_block(commands)):
        command.add_argument("--text", type=Path, default=cache_folder() / TEXT_FOLDER, help="folder of the shards")
        command.add_argument("--shards", type=counted, default=36, help="shards written, or used")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--budget-minutes", type=float, default=float("inf"))
        command.add_argument("--model", default=SMOLLM2)
        command.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32", help="bf16 pays where it is fast")
        command.add_argument("--device", default="cpu")
    return parser


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main())
