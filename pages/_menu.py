"""The pages of the wiki in the order of the menu; a page's name is its file, its address and its lesson."""

GROUPS = {
    "": ("home",),
    "quantization": ("error_budget", "integer_matmul", "calibration"),
    "speculation": (
        "rejection_ledger", "speculation_economics", "mtp_boosting", "dspark", "dspark_drafter", "draft_precision",
    ),
    "measurement": ("model_lab",),
    "reference": ("sources",),
}  # fmt: skip
PAGES = tuple(name for names in GROUPS.values() for name in names)
