"""The standard-library lab: five values, groups, an outlier, ties, a counterexample, and where floats fail."""

from __future__ import annotations

import html
from functools import lru_cache
from urllib.parse import quote

from mechanisms.error_budget import Scheme, quantize
from mechanisms.quant_floats import CASES, float_map
from mechanisms.quant_lab import grouping, nested, ties
from mechanisms.quant_nodes import RULES
from mechanisms.quant_presets import LAB, LAB_BITS, LAB_GROUPS, OUTLIER
from mechanisms.quant_script import script
from mechanisms.quant_stack import stacked
from mechanisms.quant_summary import summary
from mechanisms.table import Table
from pages._budget_state import CHAPTER, TOPIC, choose, get, note, show
from pages._budget_state import LAB_GROUPS as GROUP_IDS
from pages._parts import Block
from pages._words import t

COMPARED = ["groups", "mean_squared_error", "root_mean_squared_error", "effective_bits", "ratio_with_metadata"]
_ROLES = {"value": "target", "restored": "rejected"}
FLOAT_BITS = 4


def bits_choice(block: Block, words: str) -> None:
    choose(block, "lab_bits", ("4", "8"), words)


def group_choice(block: Block, words: str) -> None:
    choose(block, "lab_group", tuple(GROUP_IDS), words)


def outlier_choice(block: Block, words: str) -> None:
    choose(block, "lab_outlier", ("no", "yes"), words)


@lru_cache(maxsize=32)
def _lab(bits: int, group: str, outlier: bool) -> Table:
    used = Scheme(bits=bits, group=LAB_GROUPS[group])
    return summary(quantize((OUTLIER, *LAB[1:]) if outlier else LAB, used), used)


def _now() -> Table:
    return _lab(int(get("lab_bits")), GROUP_IDS[get("lab_group")], get("lab_outlier") == "yes")


def lab_table(block: Block, words: str) -> None:
    over = _now().over
    assert over is not None
    show(block, over, "lab", words, roles=_ROLES)


def lab_strip(block: Block, words: str) -> None:
    show(block, _now(), "lab_summary", words, layout="strip", over=f"{TOPIC}.lab")


def group_table(block: Block, words: str) -> None:
    """Withheld until the guess about groups is made: it holds the answer."""
    if not CHAPTER.opened("guess2"):
        note(block, t(f"{TOPIC}.grouping_locked"), "grouping_locked")
        return
    outlier = get("lab_outlier") == "yes"
    found = [grouping(int(get("lab_bits")), g, with_outlier=outlier) for g in GROUP_IDS.values()]
    names = [t(f"{TOPIC}.lab_group_{g}") for g in GROUP_IDS]
    show(block, stacked(found, names, COMPARED), "grouping", words, head="row_groups")


def nested_table(block: Block, words: str) -> None:
    names = [t(f"{TOPIC}.lab_bits_{b}") for b in LAB_BITS]
    columns = ["mean_squared_error", "root_mean_squared_error", "largest_error"]
    show(block, stacked(nested(), names, columns), "nested", words, head="row_width")


def tie_choice(block: Block, words: str) -> None:
    choose(block, "tie", RULES, words)


def tie_table(block: Block, words: str) -> None:
    show(block, ties(get("tie"))[0], "ties", words, roles=_ROLES)


def tie_strip(block: Block, words: str) -> None:
    found = ties(get("tie"))[1]
    columns = ["values", "mean_error", "mean_squared_error", "largest_error"]
    show(block, stacked([found], [""], columns), "tie_errors", words, layout="strip")


def floats(block: Block, words: str) -> None:
    """Each failing input with what Python really says, as a transcript."""
    note(block, words, "floats_head")
    parts = []
    for name, values in CASES:
        found = float_map(values, FLOAT_BITS)
        codes = ", ".join(dict.fromkeys(p.code for p in found.problems)) or "-"
        call = f">>> float_map({list(values)!r}, {FLOAT_BITS})\n"
        answer = f"scale = {found.scale!r}\ncodes = {list(found.codes)}\nrmse = {found.rmse!r}\nproblems: {codes}"
        parts.append(f"<p><b>{t(f'{TOPIC}.float_{name}')}</b></p>"
                     f'<pre class="wiki-code" tabindex="0">{html.escape(call + answer)}</pre>')  # fmt: skip
    body = f"<summary>{t(f'{TOPIC}.floats_title')}</summary>{''.join(parts)}"
    block.prose(f'<details class="wiki-fold">{body}</details>', key=f"{TOPIC}.floats")


def download(block: Block, words: str) -> None:
    """Our own script as a file: the browser makes it from the page, no server is asked."""
    text = script(LAB, LAB_BITS)
    link = f"data:text/x-python;charset=utf-8,{quote(text)}"
    name = "quant_table.py"
    block.prose(
        f'<p>{words}</p><p><a download="{name}" href="{link}">{t(f"{TOPIC}.download", file=name)}</a></p>'
        f'<details class="wiki-fold"><summary>{t(f"{TOPIC}.read_script")}</summary>'
        f'<pre class="wiki-code" tabindex="0">{html.escape(text)}</pre></details>',
        key=f"{TOPIC}.script",
    )
