"""Three drafters called DSpark, as their authors describe them: quoted, not recomputed.

Teaches: that figures of one must not be read into another. None means that the source does not say.
"""

from __future__ import annotations

from fractions import Fraction

from mechanisms.dspark import TOPIC
from mechanisms.quantity import Quantity
from mechanisms.table import Table, tabulate

# version -> where it is described, and layers, positions per pass, attention window of the drafter
VERSIONS: dict[str, tuple[str, tuple[int, int, int | None]]] = {
    "offline": ("dspark2026 §4.1", (5, 7, None)),
    "preview": ("dspark2026 §5.1", (3, 5, 128)),
    "flash": ("deepseek2026v41 §2.4.3", (3, 5, 128)),
}
NAMES = (("drafter_layers", "m"), ("block_length", r"\gamma"), ("attention_window", "W"))


def version_table(version: str) -> Table:
    """Layers, positions and window of one version's drafter.

    >>> str(version_table("offline").value(0, "block_length"))
    '7'

    Source: dspark2026, §4.1 and §5.1; deepseek2026v41, §2.4.3.
    """
    if version not in VERSIONS:
        raise ValueError(f"version={version!r}: must be one of {tuple(VERSIONS)}")
    source, facts = VERSIONS[version]
    columns = [Quantity(f"{TOPIC}.{name}", tex, source, kind="quoted", index="", counts=True) for name, tex in NAMES]
    given = {name: (None if x is None else Fraction(x),) for (name, _), x in zip(NAMES, facts, strict=True)}
    return tabulate(
        f"{TOPIC}.version_{version}", columns, ("",), given, function="mechanisms.dspark_versions.version_table"
    )
