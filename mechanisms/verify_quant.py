"""The error-budget tables in the shape of their reference files: the small experiment here, the rest from
`quant_reference`, which also says what is compared where a column repeats a printed number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.quant_bytes import SEVEN_BILLION, weight_bytes
from mechanisms.quant_floats import float_map
from mechanisms.quant_lab import grouping, lab, lab_summary, outlier, scale_of, tie_distance, ties
from mechanisms.quant_nodes import Rounding
from mechanisms.quant_presets import LAB, LAB_BITS, LAB_GROUPS, LAST_VALUES, ORDINARY, SLIDER_BITS, widget
from mechanisms.quant_reference import RECAP, exact, get, places
from mechanisms.quant_summary import errors, summary
from mechanisms.table import Table

Row = Mapping[str, str]
PRINTED_X = ("-1.0", "-0.37", "0.04", "0.29", "0.83")
RULE_NAMES: dict[Rounding, str] = {
    "half_even": "half to even (Python round)",
    "half_up": "half up (JavaScript Math.round)",
    "half_away": "half away from zero (C round)",
}


def _codes(table: Table) -> str:
    return "|".join(map(exact, table.column("code")))


def _lab() -> Iterator[Row]:
    for bits in LAB_BITS:
        table, listing = lab(bits), float_map([float(x) for x in LAB], bits)
        for i, x in enumerate(LAB):
            error = -get(table, "error", i)  # this one table takes original minus restored
            yield {
                "bits": str(bits), "index": str(i), "x": PRINTED_X[i], "q": exact(table.value(i, "code")),
                "restored_listing": repr(round(listing.restored[i], 4)),
                "restored_exact": exact(table.value(i, "restored")),
                "error_exact": exact(error), "error_12dp": places(error, 12),
                "tie_distance_exact": exact(tie_distance(x, scale_of(LAB, Scheme(bits=bits)))),
            }  # fmt: skip


def _lab_summary() -> Iterator[Row]:
    for bits in LAB_BITS:
        table, rmse = lab_summary(bits), float_map([float(x) for x in LAB], bits).rmse
        size = ranges(LAB, Scheme(bits=bits))[0]
        assert rmse is not None
        gigabytes = get(weight_bytes(SEVEN_BILLION, Fraction(bits)), "weight_gigabytes")
        yield {
            "bits": str(bits), "limit": exact(size.value(0, "largest_code")),
            "scale_exact": exact(size.value(0, "scale")),
            "mse_exact": exact(table.value(0, "mean_squared_error")), "rmse_listing": repr(round(rmse, 6)),
            "rmse_12dp": places(table.value(0, "root_mean_squared_error"), 12),
            "gb_listing": repr(float(gigabytes)), "gb_exact": exact(gigabytes),
        }  # fmt: skip


def _lab_outlier() -> Iterator[Row]:
    for bits in LAB_BITS:
        for place in range(len(LAB)):
            table, whole, others = outlier(bits, place)
            yield {
                "bits": str(bits), "replaced_index": str(place), "scale_exact": exact(table.value(0, "scale")),
                "codes": _codes(table), "zeroed_others": exact(others.value(0, "rounded_to_zero")),
                "mse_exact": exact(whole.value(0, "mean_squared_error")),
                "rmse_12dp": places(whole.value(0, "root_mean_squared_error"), 12),
                "rmse_others_12dp": places(others.value(0, "root_mean_squared_error"), 12),
            }  # fmt: skip


def _lab_grouping() -> Iterator[Row]:
    for vector, changed in (("printed vector", False), ("first value set to 100", True)):
        for groups in LAB_GROUPS:
            for bits in LAB_BITS:
                table = grouping(bits, groups, with_outlier=changed)
                effective = table.value(0, "effective_bits")
                yield {
                    "vector": vector, "grouping": groups, "bits": str(bits), "groups": exact(table.value(0, "groups")),
                    "mse_exact": exact(table.value(0, "mean_squared_error")),
                    "rmse_12dp": places(table.value(0, "root_mean_squared_error"), 12),
                    "effective_bits_exact": exact(effective), "effective_bits": places(effective),
                }  # fmt: skip


def _ties() -> Iterator[Row]:
    for rule, name in RULE_NAMES.items():
        table, row = ties(rule)
        yield {"rounding": name, "codes": _codes(table), "mse_exact": exact(row.value(0, "mean_squared_error")),
               "mean_error_exact": exact(row.value(0, "mean_error"))}  # fmt: skip


def _widget() -> Iterator[Row]:
    shown = ("-0.61", "-0.33", "-0.14", "0.02", "0.20", "0.44", "0.59")
    for last in LAST_VALUES:
        for bits in SLIDER_BITS:
            table = quantize(widget(last), Scheme(bits=bits))
            for i, x in enumerate((*shown, last)):
                row = {"last_value": last, "bits": str(bits), "index": str(i), "x": x}
                row |= {"q": exact(table.value(i, "code"))}
                for name in ("restored", "error"):
                    row |= {name: places(table.value(i, name)), f"{name}_exact": exact(table.value(i, name))}
                yield row


def _widget_summary() -> Iterator[Row]:
    for last in LAST_VALUES:
        for bits in SLIDER_BITS:
            scheme = Scheme(bits=bits)
            table = quantize(widget(last), scheme)
            whole, ordinary = summary(table, scheme), errors(table, rows=range(len(ORDINARY)))
            scale, mse = table.value(0, "scale"), whole.value(0, "mean_squared_error")
            yield {
                "last_value": last, "bits": str(bits), "scale": places(scale), "scale_exact": exact(scale),
                "mse": places(mse), "mse_exact": exact(mse), "mse_12dp": places(mse, 12),
                "mse_ordinary_12dp": places(ordinary.value(0, "mean_squared_error"), 12),
                "distinct_codes": exact(ordinary.value(0, "codes_used")),
                "zeroed": exact(ordinary.value(0, "rounded_to_zero")),
                "raw_ratio_exact": exact(whole.value(0, "raw_ratio")),
                "ratio_with_scale_exact": exact(whole.value(0, "ratio_with_metadata")),
            }  # fmt: skip


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "quant_lab": _lab,
    "quant_lab_summary": _lab_summary,
    "quant_lab_outlier": _lab_outlier,
    "quant_lab_grouping": _lab_grouping,
    "quant_rounding_ties": _ties,
    "quant_widget_preset": _widget,
    "quant_widget_summary": _widget_summary,
    **RECAP,
}
