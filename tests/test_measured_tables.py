"""Which record a measured table shows where: cells named here by hand, and the page against the files, cell by cell."""

from __future__ import annotations

import pytest

from lessons import store
from pages import _records
from pages._measured import TABLES
from tests.chapters import Opener, parts, sent, wanted
from tests.measured_tables import entry, measured, of_topic, printed

TOPICS = sorted({name.partition(".")[0] for name in TABLES})
# table, row, column: the record that has to stand there
SPOTS: list[tuple[str, int, str, str, str, dict[str, str]]] = [
    ("error_budget.real_formats", 1, "real_bits", "quantization", "effective_bits", {"variant": "q4_1_g32"}),
    ("error_budget.real_formats", 2, "real_kl", "quantization", "kl_mean",
     {"variant": "int8_channel", "domain": "all"}),
    ("error_budget.real_formats", 9, "real_lost", "quantization", "task_lost",
     {"variant": "rtn_int3_g64", "task": "all"}),
    ("calibration.real_methods", 1, "real_perplexity", "quantization", "perplexity",
     {"variant": "awq_int4_g32", "domain": "all"}),
    ("calibration.real_methods", 7, "real_flips", "quantization", "top1_flips",
     {"variant": "hadamard_gptq_int4_g64", "domain": "all"}),
    ("error_budget.real_cache", 1, "real_kl", "kv_cache", "kl_mean",
     {"keys": "channel", "key_bits": "8", "value_bits": "8"}),
    ("error_budget.real_cache", 17, "real_right", "kv_cache", "task_accuracy",
     {"window": "32", "sink": "4", "task": "all"}),
    ("speculation_economics.real_passes", 0, "real_bf16_torch_1", "verify_cost", "pass_time",
     {"width": "1", "batch": "1", "precision": "bf16", "linear": "torch"}),
    ("speculation_economics.real_passes", 10, "real_fp32_invariant_4", "verify_cost", "pass_time",
     {"width": "32", "batch": "4", "precision": "fp32", "linear": "invariant"}),
    ("speculation_economics.real_passes_newer", 5, "real_bf16_torch_1", "verify_cost_avx512", "pass_time",
     {"width": "6", "batch": "1", "precision": "bf16", "linear": "torch"}),
    ("speculation_economics.real_speeds", 0, "real_code", "speed", "speedup",
     {"way": "lookup", "domain": "code", "precision": "fp32", "linear": "invariant"}),
    ("speculation_economics.real_speeds", 15, "real_chat", "speed", "speedup",
     {"way": "transformers_lookup", "domain": "chat", "precision": "bf16", "linear": "invariant"}),
    ("speculation_economics.real_speeds", 16, "real_prose", "speed", "speedup",
     {"way": "plain", "domain": "prose", "precision": "fp32", "linear": "torch"}),
    ("speculation_economics.real_copies", 1, "real_prose", "speed_copying", "speedup",
     {"way": "long", "domain": "prose", "precision": "bf16", "linear": "invariant"}),
    ("draft_precision.real_formats", 4, "real_rate", "draft_precision", "acceptance_rate",
     {"format": "awq_int4_g64", "temperature": "1", "domain": "all"}),
    ("draft_precision.real_kernels", 2, "real_step", "draft_precision", "step_time", {"kernel": "int4"}),
    ("dspark.real_positions", 4, "real_block", "acceptance", "acceptance_rate",
     {"drafter": "block", "position": "5", "temperature": "1", "domain": "all"}),
    ("mtp_boosting.real_recipes", 4, "measured_third", "recipes", "acceptance_rate",
     {"recipe": "lk_mixing", "position": "3", "temperature": "1", "domain": "all"}),
    ("mtp_boosting.real_states", 3, "real_cosine_4", "hidden_states", "cosine",
     {"recipe": "lk_mixing", "reads": "drafting", "depth": "4"}),
    ("model_lab.real_lengths", 6, "real_prose", "acceptance", "tokens_per_round",
     {"drafter": "mtp", "temperature": "0.6", "domain": "prose"}),
    ("model_lab.real_distances", 3, "real_kl_code", "acceptance", "kl_draft_target",
     {"drafter": "block", "temperature": "1", "domain": "code"}),
    ("model_lab.real_parted", 1, "real_parted_bf16_torch", "greedy_texts", "parted",
     {"drafter": "exit", "precision": "bf16", "linear": "torch"}),
    ("model_lab.real_law", 1, "real_p", "sampled_law", "p_value", {"rule": "no_residual"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "row", "column", "file", "record", "at"), SPOTS)
def test_cell_is_the_record_named_here(
    name: str, row: int, column: str, file: str, record: str, at: dict[str, str]
) -> None:
    """Topic, row and column lead to this record and no other; its printed digits are the oracle's."""
    there = entry(file, record, **at)
    assert there
    found = wanted(measured(name))[row, column][0].replace("−", "-")
    assert float(found) == pytest.approx(float(printed(there)), rel=5e-3, abs=1e-6)  # six places, or three digits
    assert TABLES[name].file == file


def test_every_table_has_a_named_cell() -> None:
    """A table that is added gets a spot here."""
    assert {name for name, *_ in SPOTS} == TABLES.keys()


@pytest.mark.parametrize("lang", store.LANGUAGES)
@pytest.mark.parametrize("topic", TOPICS)
def test_page_shows_the_files(topic: str, lang: str) -> None:
    """Every cell that is sent is the record's, and none is left out."""
    found = parts(Opener(topic, lang)(), real=True)
    assert found.keys() == {f"{topic}.{name}" for name in of_topic(topic)}
    for name, data in found.items():
        assert {k: v[0] for k, v in sent(data).items()} == {k: v[0] for k, v in wanted(measured(name)).items()}
        assert not any(key.startswith("measured.") for key in (data["head"], *data["rows"]))


def test_rounding_follows_the_spread() -> None:
    """The second digit of the spread ends a value; counts stay counts; a sure value has four digits."""
    for value, spread, text in (
        (39.8123, 0.412, "39.81"), (1234.5, 56.0, "1234"), (0.123456, 0.0, "0.1235"), (20.0, 0.0, "20"),
        (1.28e-9, 0.0, "0.000000001280"), (0.0, 0.0, "0"), (17.97, 6.02, "18.0"),
    ):  # fmt: skip
        assert _records.rounded(value, spread) == text
        assert printed({"value": value, "spread": {"value": spread}}) == text
