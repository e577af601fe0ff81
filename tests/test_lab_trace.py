"""Stored decodings: what is read comes back, and a round that cannot have happened is refused by its number."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpu_demos import tracing
from gpu_demos.trace import Trace, check, dump, load
from tests.browser import ROOT
from tests.lab_measure import SHARED, tiny_loaded
from tests.lab_page import DRAFTERS, TRACES

FOLDER = ROOT / "gpu_demos/traces"
NAMES = ["_".join(x.values()) for x in TRACES]


def test_all_traces_are_there() -> None:
    """One for each combination, and no other file."""
    assert sorted(p.stem for p in FOLDER.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_stored_trace_comes_back(name: str, tmp_path: Path) -> None:
    """Read, checked and written again it is the same file; greedy texts equal plain decoding; all have one origin."""
    trace = load(FOLDER / f"{name}.json")
    dump(trace, tmp_path / "t.json")
    assert (tmp_path / "t.json").read_bytes() == (FOLDER / f"{name}.json").read_bytes()
    assert name == f"{trace.domain}_{trace.drafter}_{trace.temperature:g}"
    assert trace.parted is None and trace.dtype == "fp32" and "Q4_1" in trace.model
    first = load(FOLDER / f"{NAMES[0]}.json")
    assert (trace.commit, trace.command, trace.date) == (first.commit, first.command, first.date)


def test_greedy_texts_do_not_depend_on_the_drafter() -> None:
    """Four drafters, one text for each prompt."""
    for domain in ("code", "prose", "chat"):
        assert len({load(FOLDER / f"{domain}_{d}_0.json").tokens for d in DRAFTERS}) == 1


def changed(trace: Trace, index: int, **changes: Any) -> Trace:
    rounds = list(trace.rounds)
    rounds[index] = replace(rounds[index], **changes)
    return replace(trace, rounds=tuple(rounds))


def test_impossible_rounds_are_refused() -> None:
    """Each change of one number of a sound trace is named with its round."""
    trace = load(FOLDER / "prose_mtp_1.json")
    at = next(i for i, r in enumerate(trace.rounds) if 0 < r.accepted < len(r.drafts) - 1)
    r = trace.rounds[at]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"p": (1.5, *r.p[1:])}, "p must lie in"), ({"q": (0.0, *r.q[1:])}, "q in"), ({"p": r.p[1:]}, "as many p"),
        ({"uniforms": (1.0, *r.uniforms[1:])}, "uniforms must lie"), ({"uniforms": r.uniforms[1:]}, "uniforms"),
        ({"accepted": r.accepted + 1}, "cannot have|verdict"), ({"last": "bonus"}, "does not fit"),
        ({"emitted": r.emitted[1:]}, "emitted must be"), ({"cached": (0, *r.cached[1:])}, "does not follow"),
        ({"cached": (*r.cached[:2], r.cached[2] + 1)}, "must keep"),
        ({"q": (*r.q[: r.accepted], 1e-9, *r.q[r.accepted + 1 :])}, "verdict does not follow"),
    ]  # fmt: skip
    for changes, message in cases:
        with pytest.raises(ValueError, match=rf"round {at + 1}: .*({message})"):
            check(changed(trace, at, **changes))
    with pytest.raises(ValueError, match="no round"):
        check(replace(trace, rounds=()))


@pytest.mark.parametrize("text", ["", "[]", '{"domain": "code"}'])
def test_unfit_file_is_refused_with_its_name(text: str, tmp_path: Path) -> None:
    """Broken JSON, another kind of value, missing keys."""
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"t\.json: "):
        load(tmp_path / "t.json")


def test_command_writes_traces_of_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a tiny model, greedy and sampled: every file passes its checks and has all tokens."""
    monkeypatch.setattr(tracing, "load", lambda name, *, dtype, **more: tiny_loaded(dtype))
    monkeypatch.setattr(tracing, "provenance", lambda *a, **more: SHARED)
    monkeypatch.setattr(tracing, "PROMPTS", {"code": ("abcabcab", True)})
    monkeypatch.setattr(tracing, "encode", lambda loaded, text, raw: [3 + ord(c) % 50 for c in text])
    monkeypatch.setattr(tracing, "end_tokens", lambda loaded: frozenset())
    monkeypatch.setattr("tests.lab_training.Characters.decode", lambda self, ids: chr(97 + ids[0] % 26), raising=False)
    assert tracing.main(["--drafters", "lookup,exit", "--tokens", "12", "--out", str(tmp_path)]) == 0
    found = {p.stem: json.loads(p.read_text("utf-8")) for p in tmp_path.iterdir()}
    assert found.keys() == {"code_lookup_0", "code_lookup_1", "code_exit_0", "code_exit_1"}
    assert all(sum(len(r["emitted"]) for r in d["rounds"]) == 12 for d in found.values())
    assert [load(tmp_path / f"{n}.json").prompt_tokens for n in found] == [8] * 4
    assert capsys.readouterr().out.count("12 tokens") == 4
