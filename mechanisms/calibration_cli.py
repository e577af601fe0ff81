"""Convert a layer on the command line: `python -m mechanisms.calibration_cli --help`.

    demo --out FOLDER                         writes the built-in layer and its vectors as layer.npz
    compare FILE                              one line per method
    convert FILE --method gptq --out FOLDER   writes layer.safetensors and manifest.json
    check FILE FOLDER                         loads an artifact for its base, or says why not

FILE is a .npz or safetensors file with `weight` (out, in), `calibration` (n, in) and `held_out` (n, in). Exit status 0,
or 1 with a code and its detail on standard error. The only module of this topic that touches files; everything it
calls takes and gives bytes.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mechanisms.calibration import compare, comparison_table, recipe_of
from mechanisms.calibration_artifact import Artifact, ArtifactError, export, load
from mechanisms.calibration_container import MAX_BYTES, ContainerError
from mechanisms.calibration_convert import METHODS, Recipe, convert
from mechanisms.calibration_grid import Grid
from mechanisms.calibration_layer import Floats, Layer, baseline, synthetic_inputs, synthetic_layer
from mechanisms.calibration_load import CALIBRATION, HELD_OUT, WEIGHT, load_inputs, load_layer
from mechanisms.calibration_measure import measure
from mechanisms.calibration_statistics import calibrate

PAYLOAD, MANIFEST = "layer.safetensors", "manifest.json"
DEMO_VECTORS = 256
_SHOWN = ("effective_bits", "relative_error", "held_out_error", "activation_error")


def _bytes(path: Path) -> bytes:
    if path.stat().st_size > MAX_BYTES:
        raise ContainerError("too_large", f"{path.stat().st_size} bytes, at most {MAX_BYTES}")
    return path.read_bytes()


def _inputs(path: Path) -> tuple[Layer, Floats, Floats]:
    data = _bytes(path)
    layer = load_layer(data, name=path.stem)
    width = layer.shape[1]
    return layer, load_inputs(data, width=width), load_inputs(data, width=width, tensor=HELD_OUT)


def _base(options: argparse.Namespace) -> Recipe:
    grid = Grid(options.bits, not options.asymmetric, options.granularity, options.group, options.scale_bits)
    return Recipe(grid=grid, alpha=options.alpha, damping=options.damping, seed=options.seed)


def demo(options: argparse.Namespace) -> None:
    layer, buffer = synthetic_layer(), io.BytesIO()
    vectors = {
        CALIBRATION: synthetic_inputs("prose", DEMO_VECTORS), HELD_OUT: synthetic_inputs("prose", DEMO_VECTORS, part=1),
    }  # fmt: skip
    np.savez(buffer, **{WEIGHT: layer.weights}, **vectors)  # pyright: ignore[reportArgumentType] savez's flag
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "layer.npz").write_bytes(buffer.getvalue())


def compare_methods(options: argparse.Namespace) -> None:
    layer, calibration, held_out = _inputs(options.file)
    table = comparison_table(compare(layer, calibration=calibration, held_out=held_out, base=_base(options)))
    print("method", *_SHOWN)
    for row, method in enumerate(table.rows):
        print(method, *(f"{float(table.value(row, name) or 0):.6g}" for name in _SHOWN))


def convert_layer(options: argparse.Namespace) -> None:
    layer, calibration, held_out = _inputs(options.file)
    statistics = calibrate(calibration)
    made = convert(layer, statistics, recipe_of(options.method, _base(options)))
    found = measure(layer, made, calibration=calibration, held_out=held_out, statistics=statistics)
    artifact = export(made, layer, statistics)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / PAYLOAD).write_bytes(artifact.payload)
    (options.out / MANIFEST).write_bytes(artifact.manifest)
    known = baseline(layer, calibration)
    print(f"base {known.weights_sha256} inputs {known.inputs_sha256}")
    print(f"bits {float(made.effective_bits):.6g} trace {found.trace:.6g} measured {found.measured:.6g}", end=" ")
    print(f"held_out {found.held_out:.6g}")


def check(options: argparse.Namespace) -> None:
    layer = load_layer(_bytes(options.file), name=options.file.stem)
    artifact = Artifact(_bytes(options.folder / PAYLOAD), _bytes(options.folder / MANIFEST))
    made = load(artifact, layer)
    print(f"ok {made.recipe.transform} {made.recipe.rounding} bits {float(made.effective_bits):.6g}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mechanisms.calibration_cli", description=(__doc__ or "").split("\n")[0]
    )
    commands = parser.add_subparsers(required=True)
    choices = argparse.ArgumentParser(add_help=False)
    choices.add_argument("--bits", type=int, default=4)
    choices.add_argument("--asymmetric", action="store_true")
    choices.add_argument("--granularity", choices=("tensor", "channel", "group"), default="group")
    choices.add_argument("--group", type=int, default=16)
    choices.add_argument("--scale-bits", type=int, default=16)
    choices.add_argument("--alpha", type=float, default=0.5, help="exponent of SmoothQuant")
    choices.add_argument("--damping", type=float, default=0.01, help="share of the mean of diag H, for GPTQ")
    choices.add_argument("--seed", type=int, default=0, help="of the random signs")
    one = commands.add_parser("demo", help="write the built-in layer and its vectors")
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(run=demo)
    two = commands.add_parser("compare", parents=[choices], help="measure every method")
    two.add_argument("file", type=Path)
    two.set_defaults(run=compare_methods)
    three = commands.add_parser("convert", parents=[choices], help="convert and export")
    three.add_argument("file", type=Path)
    three.add_argument("--method", choices=tuple(METHODS), default="gptq")
    three.add_argument("--out", type=Path, required=True)
    three.set_defaults(run=convert_layer)
    four = commands.add_parser("check", help="load an artifact for its base")
    four.add_argument("file", type=Path)
    four.add_argument("folder", type=Path)
    four.set_defaults(run=check)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (ArtifactError, ContainerError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
