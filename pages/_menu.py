"""The pages of the wiki in the order of the menu; a page's name is its file, its address and its lesson."""

PAGES = (
    "home", "error_budget", "integer_matmul", "calibration", "rejection_ledger", "speculation_economics",
    "mtp_boosting", "dspark", "dspark_drafter", "draft_precision", "sources",
)  # fmt: skip
