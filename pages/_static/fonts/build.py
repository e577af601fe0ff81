"""Rebuild the fonts of this folder and ../css/00-fonts.css from the npm packages named in README.md.

npm install --prefix WORK PACKAGE@VERSION …    then    python build.py WORK/node_modules
(needs fonttools and brotli)
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

HERE = Path(__file__).parent
CSS = HERE.parent / "css" / "00-fonts.css"
SANS, MONO = "@fontsource-variable/ibm-plex-sans", "@fontsource/ibm-plex-mono"
HAN, MATH = "@fontsource-variable/noto-sans-sc", "@fontsource/stix-two-math"
PACKAGES = (SANS, MONO, HAN, MATH)

# Quotation marks, dash and dots that Latin and Chinese text share as characters, but not as shapes.
MARKS = frozenset(map(ord, "·—‘’“”…"))

# What formulas use: Latin, Greek, general punctuation, letter-like forms, arrows, operators, brackets, alphabets.
MATH_RANGES = "20-7e a0-ff 131 237 2c6-2dd 302-338 370-3ff 2010-2064 20d0-20ef 2100-214f 2190-23ff 25a0-25ff 27c0-27ff "
MATH_RANGES += "2900-2aff 2b00-2b4f 1d400-1d7ff"


def face(family: str, style: str, weight: str, name: str, ranges: str | None) -> str:
    limit = f"unicode-range:{ranges};" if ranges else ""
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weight};font-display:swap;{limit}'
        f'src:url(/assets/fonts/{name}) format("woff2")}}'
    )


def faces(folder: Path, sheet: str, family: str, keep: Callable[[str], object]) -> Iterator[str]:
    """The wanted rules of one stylesheet of a package, shortened; copies the files they name."""
    for rule in re.findall(r"@font-face \{.*?\}", (folder / sheet).read_text("utf-8"), re.DOTALL):
        name = re.search(r"files/([\w.-]+\.woff2)", rule)[1]
        if keep(name):
            shutil.copy(folder / "files" / name, HERE / name)
            style, weight = re.search(r"font-style: (\w+)", rule)[1], re.search(r"font-weight: ([\d ]+)", rule)[1]
            ranges = re.search(r"unicode-range: ([^;]+);", rule)
            yield face(family, style, weight, name, ranges and ranges[1])


def marks(rules: list[str]) -> Iterator[str]:
    """A family of nothing but the Chinese shapes of MARKS; stands before the Latin font where the text is Chinese."""
    for rule in rules:
        name = re.search(r"fonts/([\w.-]+)\)", rule)[1]
        held = sorted(MARKS & set(TTFont(HERE / name).getBestCmap()))
        if held:
            yield face("Wiki Han Marks", "normal", "100 900", name, ",".join(f"U+{c:04X}" for c in held))


def math_font(source: Path) -> Iterator[str]:
    """STIX Two Math without hinting and scripts that no formula uses; the MATH table is what the browser needs."""
    options = subset.Options(flavor="woff2", hinting=False, layout_features=["*"], notdef_outline=True)
    font = subset.load_font(str(source), options)
    worker = subset.Subsetter(options)
    spans = (span.partition("-") for span in MATH_RANGES.split())
    worker.populate(unicodes=[c for lo, _, hi in spans for c in range(int(lo, 16), int(hi or lo, 16) + 1)])
    worker.subset(font)
    if "MATH" not in font:
        raise SystemExit(f"{source} has no MATH table")
    subset.save_font(font, str(HERE / "wiki-math.woff2"), options)
    yield face("Wiki Math", "normal", "400", "wiki-math.woff2", None)


def main(modules: Path) -> None:
    for old in HERE.glob("*.woff2"):
        old.unlink()
    han = list(faces(modules / HAN, "index.css", "Noto Sans SC", lambda name: re.search(r"-sc-\d+-", name)))
    rules = [
        *faces(modules / SANS, "wght.css", "IBM Plex Sans", lambda n: re.search(r"-(latin|latin-ext|greek)-wght", n)),
        *faces(modules / SANS, "wght-italic.css", "IBM Plex Sans", lambda n: "-sans-latin-wght" in n),
        *(r for weight in (400, 600) for r in faces(modules / MONO, f"latin-{weight}.css", "IBM Plex Mono", bool)),
        *math_font(modules / MATH / "files" / "stix-two-math-latin-400-normal.woff2"),
        *marks(han),
        *han,
    ]
    CSS.write_text(
        "/* Made by ../fonts/build.py */\n" + "\n".join(rules) + '\nmath{font-family:"Wiki Math",math}\n', "utf-8"
    )
    for package in PACKAGES:
        shutil.copy(modules / package / "LICENSE", HERE / f"LICENSE-{package.rpartition('/')[2]}.txt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
