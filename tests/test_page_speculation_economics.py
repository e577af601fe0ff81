"""The economics chapter through AppTest: every slot, every table against its mechanism or reference, every extreme."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lessons import store
from mechanisms import economics_lists, economics_tree
from mechanisms.economics_conventions import EXAMPLES, reconcile
from mechanisms.economics_decay import CHAINS, PLUGS, chain, chain_totals
from mechanisms.economics_markov import COUPLINGS, two_step_totals, two_steps
from mechanisms.economics_metrics import TRACES, metrics, positions
from mechanisms.economics_overlap import (
    PAIRS,
    SHAPES,
    TAILS,
    TEMPERATURES,
    heated,
    heated_rate,
    overlap,
    overlap_summary,
    shaped,
)
from mechanisms.economics_price import break_even, price
from mechanisms.economics_published import leviathan_table_1, leviathan_table_4
from mechanisms.economics_ridge import batches, ridge_limits
from mechanisms.economics_tree_tables import draw_tree, tree_levels, tree_root, tree_summary, tree_walk
from mechanisms.hardware import DEVICES, device
from mechanisms.quantity import exact_text, print_text
from mechanisms.rejection_presets import PRESETS
from mechanisms.speculation_economics import RATES, VERIFICATIONS, best, costs_of, speed_curve
from mechanisms.table import Table
from pages._economics_state import CONTROLS, COST_IDS, DRAFT_TIMES, SPEEDS, TREE_PAIRS, VERIFY_TIMES
from pages.speculation_economics import SLOTS
from tests.browser_ledger import rows_of

TOPIC = "speculation_economics"
PAGE = """
from pages import _frame
from pages._economics_state import CONTROLS, TOPIC
from pages.speculation_economics import REACH, SLOTS
_frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
"""
Open = Callable[..., AppTest]
Cells = dict[tuple[int, str], tuple[str, str]]


@pytest.fixture(scope="module", params=store.LANGUAGES)
def opened(request: pytest.FixtureRequest) -> Open:
    """`opened(gamma=2)` → the chapter in this language, in one session."""
    session = AppTest.from_string(PAGE, default_timeout=90)

    def show(**state: object) -> AppTest:
        session.session_state["lang"] = request.param
        session.query_params.clear()
        for key, value in {"lang": request.param, "v": "1", **state}.items():
            session.query_params[key] = str(value)
        session.run()
        assert not session.exception and not session.error
        return session

    show.lang = request.param  # type: ignore[attr-defined]
    return show


def parts(page: AppTest) -> dict[str, Any]:
    """Key of every part → its data, over all blocks."""
    found: dict[str, Any] = {}
    for element in page.get("bidi_component"):
        for part in json.loads(element.proto.json).get("parts", ()):
            assert part["key"] not in found, part["key"]
            found[part["key"]] = part["data"]
    return found


def shown(found: dict[str, Any], name: str, frame: int = 0) -> Cells:
    """`(row, quantity)` → `(decimal, exact)`; undefined cells are left out."""
    data = found[f"{TOPIC}.{name}"]
    columns = [c["name"] for c in data["columns"]]
    return {
        (r, column): (text.split("|")[0], text.split("|")[1])
        for r, row in enumerate(data["frames"][frame])
        for column, text in zip(columns, row, strict=True)
        if text is not None
    }


def wanted(table: Table) -> Cells:
    return {
        (row, q.name): (print_text(q, v), exact_text(v) if isinstance(v, Fraction) else "")
        for q, column in zip(table.columns, table.cells, strict=True)
        for row, v in enumerate(column)
        if v is not None
    }


def test_every_slot_sends_something(opened: Open) -> None:
    """Each slot adds at least one part; the editors of own input do once they are chosen."""
    found = set(parts(opened(curve="own", own_curve="1~1.1~1.2", tree_pair="own", own_pair="A,B~1/2,1/2~1/4,3/4")))
    renamed = {"guess_longer": "guess1", "guess_rivals": "guess2"}
    missing = {s for s in SLOTS if f"{TOPIC}.{renamed.get(s.split('.')[1], s.split('.')[1])}" not in found}
    assert missing == set()


def test_formulas_find_their_numbers(opened: Open) -> None:
    """Each slot of a formula names a column of its own table, or of the table that its sums run over."""
    found = parts(opened())
    tables = {k: d for k, d in found.items() if "columns" in d}
    assert len(tables) == 25
    for data in tables.values():
        own = {c["name"] for c in data["columns"]}
        over = {c["name"] for c in tables[data["over"]]["columns"]} if data["over"] else own
        for column in data["columns"]:
            for name, row in re.findall(r"⟦(\w+)(#\d+)?⟧", column["template"]):
                assert name == "row" or name in (over if row else own), (data["id"], column["name"], name)


ENDS: dict[str, tuple[object, ...]] = {
    "rate": (0, len(RATES) - 1), "gamma": (0, 12), "cost": COST_IDS, "curve": tuple(v.id for v in VERIFICATIONS),
    "example": tuple(e.id for e in EXAMPLES), "draft_ms": (0, 10), "verify_ms": (0, 10),
    "chain": tuple(c.id for c in CHAINS), "plug": PLUGS, "trace": tuple(TRACES), "tail": TAILS,
    "shape": (0, len(SHAPES) - 1), "pair": tuple(PAIRS), "heat": (0, len(TEMPERATURES) - 1),
    "device": tuple(d.id for d in DEVICES), "drafts": (0, 12), "tree_pair": TREE_PAIRS,
    "tree": tuple(economics_tree.SHAPES), "rule": economics_tree.RULES, "seed": (0, 9999),
    "coupling": (0, len(COUPLINGS) - 1), "guess1": (0, 30), "guess2": ("same", "other", "equal", "unknown"),
}  # fmt: skip
OWN = {
    "own_curve": ("1", "0.5~1e6", "~".join(["1"] * 13)), "own_chain": ("0~1~1/3", "1", "~".join(["1"] * 12)),
    "own_trace": ("0", "12", "~".join(["3"] * 60)),
    "own_pair": ("A,B~1,0~0,1", "A,B,C,D~1/4,1/4,1/4,1/4~0.1,0.2,0.3,0.4", "A,B~1/2,1/2~1/2,1/2"),
}  # fmt: skip
CHOSEN = {"curve": "own", "chain": "own", "trace": "own", "tree_pair": "own"}
WAVES = 12  # enough for every value above, and for every shape of a tree with every rule


def wave(i: int) -> dict[str, Any]:
    """The i-th value of every control; the rule of the tree turns once its shapes have."""
    state = {name: values[i % len(values)] for name, values in ENDS.items()}
    return state | {"rule": economics_tree.RULES[i // len(economics_tree.SHAPES)]}


def test_waves_reach_every_value() -> None:
    """Over all waves each control takes each of its values, and each shape meets each rule."""
    taken = [wave(i) for i in range(WAVES)]
    assert all({w[name] for w in taken} == set(values) for name, values in ENDS.items())
    assert len({(w["tree"], w["rule"]) for w in taken}) == len(economics_tree.SHAPES) * len(economics_tree.RULES)
    assert {*ENDS, *OWN} == {c.name for c in CONTROLS}


def check_speed(found: dict[str, Any], state: dict[str, Any]) -> None:
    for i in (0, 12, 16, 20):
        table = speed_curve(RATES[i], Fraction(state["cost"]), costs_of(state["curve"]))
        assert shown(found, "speed_curve", i) == wanted(table)
        assert shown(found, "best", i) == wanted(best(table))
        for gamma in (0, 4, 12):
            one = {(0, n): v for (r, n), v in wanted(table).items() if r == gamma}
            assert shown(found, "now", i * 13 + gamma) == one
    e = next(x for x in EXAMPLES if x.id == state["example"])
    assert shown(found, "reconcile") == wanted(reconcile(e.rate, e.gamma, e.cost))
    row = rows_of("recap_speedup_examples")[EXAMPLES.index(e)]
    split = shown(found, "bonus_split")
    assert Fraction(split[0, "tokens_per_round"][1]) == Fraction(row["tokens_exact"])
    assert Fraction(split[0, "with_bonus"][1]) == Fraction(row["speedup_exact"])
    for d, v in ((0, 0), (10, 0), (0, 10), (10, 10)):
        times = {"draft": Fraction(DRAFT_TIMES[d]), "verify": Fraction(VERIFY_TIMES[v])}
        assert shown(found, "price", d * len(VERIFY_TIMES) + v) == wanted(price(**times))
        assert shown(found, "break_even", d * len(VERIFY_TIMES) + v) == wanted(break_even(**times))
    assert shown(found, "leviathan_table_1") == wanted(leviathan_table_1())
    assert shown(found, "leviathan_table_4") == wanted(leviathan_table_4())


def check_rates(found: dict[str, Any], state: dict[str, Any]) -> None:
    rates = next(c.rates for c in CHAINS if c.id == state["chain"])
    assert shown(found, "chain_table") == wanted(chain(rates, state["plug"]))
    assert shown(found, "chain_totals") == wanted(chain_totals(chain(rates, state["plug"])))
    assert shown(found, "metrics") == wanted(metrics(TRACES[state["trace"]]))
    assert shown(found, "positions") == wanted(positions(TRACES[state["trace"]]))
    for i in (0, 3, len(SHAPES) - 1):
        table = overlap(shaped(SHAPES[i], state["tail"]))
        assert shown(found, "overlap", i) == wanted(table)
        assert shown(found, "overlap_summary", i) == wanted(overlap_summary(table))
    for i in (0, 9, len(TEMPERATURES) - 1):
        table = heated(PAIRS[state["pair"]], TEMPERATURES[i])
        assert shown(found, "heated", i) == wanted(table)
        assert shown(found, "heated_rate", i) == wanted(heated_rate(table))
    for i in (0, 7, len(COUPLINGS) - 1):
        assert shown(found, "two_steps", i) == wanted(two_steps(COUPLINGS[i]))
        assert shown(found, "two_step_totals", i) == wanted(two_step_totals(two_steps(COUPLINGS[i])))
    of = device(state["device"])
    assert shown(found, "ridge_limits") == wanted(ridge_limits(of))
    for gamma in (0, 4, 12):
        assert shown(found, "batches", gamma) == wanted(batches(of, gamma))


def check_tree(found: dict[str, Any], state: dict[str, Any]) -> None:
    widths, rule, seed = economics_tree.SHAPES[state["tree"]], state["rule"], state["seed"]
    text = economics_tree.turned(PRESETS[state["tree_pair"]])
    assert shown(found, "tree_summary") == wanted(tree_summary(text, widths, rule))
    assert shown(found, "tree_root") == wanted(tree_root(text, widths[0], rule))
    assert shown(found, "tree_levels") == wanted(tree_levels(text, widths, rule))
    rng = np.random.default_rng(seed)
    nodes = draw_tree(text, widths, rng)
    table, output = tree_walk(text, nodes, rng, "exact" if rule == "replacement" else rule)
    assert shown(found, "tree_walk") == wanted(table)
    assert f"<b>{output}</b>" in found[f"{TOPIC}.walk_output"]["html"]
    marks = found[f"{TOPIC}.mask"]["html"]
    assert marks.count("data-seen") == len(nodes) ** 2
    assert marks.count('data-seen="1"') == sum(map(sum, ancestors(nodes)))


def test_every_table_is_its_mechanism(opened: Open) -> None:
    """In every wave each table of the page, at both ends of its sliders, is the mechanism's or the reference's."""
    for i in range(WAVES if opened.lang == "en" else 3):  # type: ignore[attr-defined]
        state = wave(i)
        found = parts(opened(**state))
        assert not [k for k in found if k.startswith("notice-")], state
        check_speed(found, state)
        check_rates(found, state)
        check_tree(found, state)


def test_defaults_equal_the_references(opened: Open) -> None:
    """What a first visitor sees of price, falling acceptance and ridge is in the reference files."""
    found = parts(opened())
    frame = DRAFT_TIMES.index(3) * len(VERIFY_TIMES) + VERIFY_TIMES.index(12)
    for i, row in enumerate(rows_of("draft_economics")):
        assert Fraction(shown(found, "price", frame)[i, "ms_per_token"][1]) == Fraction(row["ms_per_token_exact"])
        assert Fraction(shown(found, "price", frame)[i, "price_speedup"][1]) == Fraction(row["speedup_exact"])
    falling, limits = shown(found, "chain_table"), shown(found, "ridge_limits")
    for i, row in enumerate(rows_of("recap_chain_decay")):
        assert Fraction(falling[i, "prefix_survival"][1]) == Fraction(row["survival_exact"])
        assert falling[i, "tokens_falling"][0] == row["tokens_decaying"]
        assert falling[i, "tokens_constant"][0] == row["tokens_constant"]
    for i, row in enumerate(rows_of("recap_ridge_limits")):
        assert limits[i, "ridge"][1] == row["ridge_exact"]
        assert limits[i, "largest_batch"][1] == row["largest_batch"]
        assert limits[i, "largest_batch_w4"][1] == row["largest_batch_w4"]


def test_own_input_is_shown_as_written(opened: Open) -> None:
    """Extreme lists and pairs of the reader's own render; three own costs leave three draft lengths."""
    for i in range(3):
        found = parts(opened(**{name: values[i] for name, values in OWN.items()}, **CHOSEN))
        assert not [k for k in found if k.startswith("notice-")]
    found = parts(opened(curve="own", own_curve="1~1.5~3", gamma=9, trace="own", own_trace="0~5~2"))
    costs = (Fraction(1), Fraction(3, 2), Fraction(3))
    assert shown(found, "speed_curve", 16) == wanted(speed_curve(RATES[16], Fraction("0.1"), costs))
    assert found[f"{TOPIC}.gamma"]["value"] == 2 and len(found[f"{TOPIC}.gamma"]["texts"]) == 3
    assert shown(found, "metrics") == wanted(metrics((0, 5, 2), 5))


def test_junk_is_answered_by_notices(opened: Open) -> None:
    """Text that a control does not know is replaced and named, one notice for each."""
    junk = {"own_chain": "2", "own_trace": "13", "own_curve": "0", "own_pair": "A~1~1"}
    for text in ("nonsense", "nan", "-7"):
        found = parts(opened(**{name: junk.get(name, text) for name in (*ENDS, *OWN)}))
        notices = {k for k in found if k.startswith("notice-")}
        assert notices == {f"notice-{TOPIC}-{name}" for name in (*ENDS, *OWN)}, text


def ancestors(nodes: Any) -> list[list[int]]:
    """Who sees whom, by walking up to the root."""
    seen = [[0] * len(nodes) for _ in nodes]
    for i in range(len(nodes)):
        at: int | None = i
        while at is not None:
            seen[i][at] = 1
            at = nodes[at].parent
    return seen


def test_every_problem_has_words() -> None:
    """What a list may be refused for is said in both languages, and not in the same words."""
    for code in get_args(economics_lists.Code):
        said = {store.ui(f"{TOPIC}.fault_{code}", lang, detail="d", limit=9) for lang in store.LANGUAGES}
        assert len(said) == len(store.LANGUAGES)


def test_own_input_comes_back_from_its_link() -> None:
    """What the link says is the very same list or pair."""
    by_name = {c.name: c for c in CONTROLS}
    values = (Fraction(1, 3), Fraction(1), Fraction(0))
    assert by_name["own_chain"].read(by_name["own_chain"].write(values)) == (values, False)
    pair = PRESETS["zero_in_draft"]
    assert by_name["own_pair"].read(by_name["own_pair"].write(pair)) == (pair, False)


def test_guesses_have_their_own_feedback(opened: Open) -> None:
    """Nothing of the answer is sent before a guess; each kind of guess has words of its own."""
    before = parts(opened())
    assert before[f"{TOPIC}.guess1"]["feedback"] is None and before[f"{TOPIC}.guess2"]["feedback"] is None
    assert all("verdict" not in o for o in before[f"{TOPIC}.guess2"]["options"])
    kinds = {"right": "1", "as_one": "1.3", "no_cost": "2.5", "low": "0.2", "faster": "2"}
    said = {
        k: parts(opened(guess1=SPEEDS.index(Fraction(g))))[f"{TOPIC}.guess1"]["feedback"].split("</p>")[1]
        for k, g in kinds.items()
    }
    assert len(set(said.values())) == len(kinds)
    chosen = {parts(opened(guess2=g))[f"{TOPIC}.guess2"]["feedback"] for g in ("same", "other", "equal", "unknown")}
    assert len(chosen) == 4
