"""The calibration chapter as the server sends it: every slot, tables at all choices, own files, refusals."""

from __future__ import annotations

import io
import tomllib
from itertools import product
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from mechanisms.calibration import compare, comparison_table, outputs_table, sweep_table
from mechanisms.calibration_container import ContainerError, write
from mechanisms.calibration_convert import METHODS, Recipe
from mechanisms.calibration_corrupt import CORRUPTIONS
from mechanisms.calibration_grid import Grid
from mechanisms.calibration_layer import synthetic_inputs, synthetic_layer
from mechanisms.calibration_report import statistics_table
from mechanisms.calibration_statistics import calibrate
from mechanisms.values.calibration import VECTORS
from mechanisms.values.calibration import peaks as quoted_peaks
from pages._calibration_gptq import moments
from pages._calibration_measure import PEAKS_SHOWN
from pages._calibration_state import CONTROLS, DEMO_WIDTH, GUESSES, MAX_FILE, MAX_OWN_SIDE, read_file
from pages.calibration import SLOTS
from tests.browser import ROOT
from tests.chapters import LOCALES, own, sent, session, visit, wanted

TOPIC = "calibration"
TEXTS = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))[TOPIC]


@pytest.fixture(scope="module")
def sessions() -> dict[str, AppTest]:
    return {lang: session(lang) for lang in LOCALES}


@pytest.fixture(params=LOCALES)
def show(request: pytest.FixtureRequest, sessions: dict[str, AppTest]) -> Any:
    """`show(bits=2)` → the parts of the chapter in this language."""
    found = lambda **state: visit(sessions[request.param], TOPIC, request.param, **state)  # noqa: E731
    found.lang = request.param  # type: ignore[attr-defined]
    return found


def test_both_languages_have_the_same_parts(sessions: dict[str, AppTest]) -> None:
    """A language changes words and never which parts there are; every slot adds at least one."""
    english, chinese = (visit(sessions[lang], TOPIC, lang) for lang in LOCALES)
    assert list(english) == list(chinese)
    assert len([k for k in english if k.startswith(f"{TOPIC}.")]) >= len(own(SLOTS))


GRIDS = list(product(("2", "4", "8"), ("tensor", "channel", "group"), ("symmetric", "asymmetric")))


@pytest.mark.parametrize(("bits", "granularity", "grid"), [GRIDS[0], GRIDS[3], GRIDS[10], GRIDS[-1]], ids="".join)
def test_comparison_is_the_mechanisms(
    sessions: dict[str, AppTest], bits: str, granularity: Any, grid: str
) -> None:  # fmt: skip
    """All methods and all columns for a grid, sent as the mechanism computes them; the identity holds in each row."""
    chosen = Grid(int(bits), grid == "symmetric", granularity)
    found = compare(
        synthetic_layer(), calibration=synthetic_inputs("prose", VECTORS),
        held_out=synthetic_inputs("prose", VECTORS, part=1), base=Recipe(grid=chosen),
    )  # fmt: skip
    state = {"bits": bits, "granularity": granularity, "grid": grid, "guess1": "same", "method": "awq"}
    parts = visit(sessions["en"], TOPIC, "en", **state)
    cells = sent(parts[f"{TOPIC}.comparison"])
    assert cells == wanted(comparison_table(found)) and len(cells) == 16 * len(METHODS)
    for row in range(len(METHODS)):
        assert cells[row, "trace"] == cells[row, "measured"]
    awq = next(r for r in found if r.method == "awq")
    assert sent(parts[f"{TOPIC}.sweep"]) == wanted(sweep_table(awq.conversion.trials))
    assert sent(parts[f"{TOPIC}.outputs"]) == wanted(outputs_table(awq.measurement))


def test_statistics_and_rotation_are_the_mechanisms(show: Any) -> None:
    """The channels of either domain, and both cases of the rotation; the first is the one that the lesson quotes."""
    for domain in ("prose", "code"):
        found = show(domain=domain)
        table = statistics_table(calibrate(synthetic_inputs(domain, VECTORS)))  # type: ignore[arg-type]
        assert sent(found[f"{TOPIC}.statistics"]) == wanted(table)
    assert sent(show()[f"{TOPIC}.hadamard"]) == wanted(quoted_peaks(), PEAKS_SHOWN)
    assert sent(show()[f"{TOPIC}.hadamard"], 1)[0, "peak_of_ones"][1] == "5095/64"


def test_wrong_domain_hurts(show: Any) -> None:
    """After calibration on code every method that looks at activations is worse on prose; nearest is not."""
    cells = sent(show()[f"{TOPIC}.domains"])
    assert cells[0, "domain_damage"][0] == "1.000000"
    assert all(float(cells[row, "domain_damage"][0]) > 2 for row in (1, 2, 3))
    good, bad = (sent(show(domain=d)[f"{TOPIC}.comparison"]) for d in ("prose", "code"))
    assert bad[0, "held_out_error"] == good[0, "held_out_error"]
    assert float(bad[4, "held_out_error"][0]) > 5 * float(good[4, "held_out_error"][0])


@pytest.mark.parametrize("order", ["natural", "act_order"])
def test_stepper_shows_the_steps(show: Any, order: str) -> None:
    """For each step, table and player agree: settled columns have codes, the others the sign of what they receive."""
    found = show(order=order, output=3, bits=3)
    steps = moments(3, order == "act_order")
    first = DEMO_WIDTH if order == "act_order" else 0
    for k, (event, before, codes, values) in enumerate(steps):
        cells = sent(found[f"{TOPIC}.column"], first + k)
        picture = found[f"{TOPIC}.player"]["variants"][int(order == "act_order")][k]
        above, below = (lane["cells"] for lane in picture["lanes"])
        for j in range(DEMO_WIDTH):
            free = j in event.free
            assert (cells[j, "code"][0] == "") == free == (above[j]["state"] == "col-free")
            assert (cells[j, "push"][0] == "") == (not free)
            if free:
                moved = values[2, j] - before[2, j]
                assert below[j]["text"] == ("+" if moved > 0 else "−" if moved < 0 else "0")
                assert float(cells[j, "push"][0].replace("−", "-")) == pytest.approx(moved, abs=1e-6)
            else:
                assert above[j]["text"] == cells[j, "code"][0] == f"{int(codes[2, j])}".replace("-", "−")


def test_answer_is_only_sent_after_the_guess(show: Any) -> None:
    """Without a guess there is neither feedback nor the column of the weights' error; each guess has its own words."""
    found = show()
    assert found[f"{TOPIC}.guess1"]["feedback"] is None
    assert "weight_error" not in [c["name"] for c in found[f"{TOPIC}.comparison"]["columns"]]
    texts = set()
    for guess in GUESSES:
        found = show(guess1=guess)
        texts.add(found[f"{TOPIC}.guess1"]["feedback"])
        cells = sent(found[f"{TOPIC}.comparison"])
        assert float(cells[4, "weight_error"][0]) > 4 * float(cells[0, "weight_error"][0])
    assert len(texts) == len(GUESSES) and show(unlock=1)[f"{TOPIC}.guess1"]["feedback"] in texts


@pytest.mark.parametrize("method", ["rtn", "smoothquant", "gptq", "hadamard_gptq"])
def test_reload_changes_nothing(show: Any, method: str) -> None:
    """The artifact of a method loads to the same codes, weights and error, and both files are links with bytes."""
    found = show(method=method, grid="asymmetric")
    cells = sent(found[f"{TOPIC}.reload"])
    assert cells[0, "codes_changed"][1] == "0" and cells[0, "largest_change"][0] == "0.000000"
    assert cells[0, "trace"] == cells[0, "trace_reloaded"]
    html = found[f"{TOPIC}.download"]["html"]
    assert html.count("base64,") == 2 and 'download="layer.safetensors"' in html and 'download="manifest.json"' in html


def test_each_corruption_is_refused_in_its_own_words(show: Any) -> None:
    """Six spoilt artifacts, six different messages; the untouched one is accepted."""
    messages = {}
    for code in CORRUPTIONS:
        html = show(corruption=code)[f"{TOPIC}.verdict"]["html"]
        assert f'data-refusal="{code}"' in html
        messages[code] = TEXTS[f"refused_{code}"][show.lang].split("{")[0].strip()
        assert messages[code] in html
    assert len(set(messages.values())) == 6
    assert TEXTS["accepted"][show.lang] in show()[f"{TOPIC}.verdict"]["html"]


JUNK = {
    "domain": "verse", "bits": "5", "granularity": "row", "grid": "x", "order": "", "output": "5", "step": "16",
    "peaks": "1023", "method": "magic", "corruption": "x", "guess1": "x",
}  # fmt: skip


def test_impossible_links_are_named_and_replaced(show: Any) -> None:
    """Every control whose value in the link cannot be taken is named in a notice."""
    assert JUNK.keys() == {c.name for c in CONTROLS}
    notices = " ".join(d["html"] for k, d in show(**JUNK).items() if k.startswith("notice-"))
    assert {name for name in JUNK if f"{name} = " not in notices} == set()


def archive(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def layer(out: int = 6, width: int = 12, n: int = 20) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "weight": rng.standard_normal((out, width)).astype(np.float32), "calibration": rng.standard_normal((n, width)),
        "held_out": rng.standard_normal((n, width)),
    }  # fmt: skip


def test_own_file_is_read_from_both_formats() -> None:
    """The same layer comes out of .npz and .safetensors, with its hash as a key; no rotation where none is possible."""
    one, two = read_file("a", archive(**layer())), read_file("a", write(layer()))
    assert one.layer.sha256 == two.layer.sha256 and one.own and one.key != two.key
    assert "hadamard" not in one.methods and "gptq" in one.methods
    assert "hadamard" in read_file("b", archive(**layer(width=16))).methods


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "empty"), (b"hello world", "not_a_container"), (b"PK\x03\x04junk", "npz_malformed"),
     (b"x" * (MAX_FILE + 1), "too_large"), (archive(weight=np.ones((2, 2), np.float32)), "tensor_missing"),
     (archive(**{**layer(), "weight": np.full((6, 12), np.nan, np.float32)}), "not_a_layer"),
     (archive(**{**layer(), "calibration": np.ones((3, 11))}), "not_a_layer"),
     (archive(**layer(width=MAX_OWN_SIDE + 1)), "too_large")],
    ids=["empty", "text", "half-zip", "large", "no-vectors", "nan", "width", "wide"],
)  # fmt: skip
def test_bad_files_are_refused_with_a_code_that_has_words(data: bytes, code: str) -> None:
    """Each kind of unusable file has its own code, and a text in both languages."""
    with pytest.raises(ContainerError) as caught:
        read_file("x", data)
    assert caught.value.code == code
    assert all(TEXTS[f"file_{code}"][lang] for lang in LOCALES)


def test_layer_that_no_scale_fits_is_said_so(sessions: dict[str, AppTest]) -> None:
    """Weights whose scales vanish in half precision give one reason and short notices, and no exception."""
    app = session("en")
    visit(app, TOPIC, "en")
    app.session_state["calibration._own"] = read_file(
        "tiny", archive(**{**layer(width=16), "weight": np.full((6, 16), 1e-30, np.float32)})
    )
    found = visit(app, TOPIC, "en")
    assert "scale_bits" in found[f"{TOPIC}.comparison_cannot"]["html"]
    assert found[f"{TOPIC}.verdict_cannot"]["html"].count(TEXTS["cannot_above"]["en"]) == 1
    assert f"{TOPIC}.comparison" not in found and f"{TOPIC}.domains" in found
