"""The pages of the wiki in the order of the menu; a page's name is its file, its address and its lesson."""

PAGES = ("home", "error_budget", "integer_matmul", "calibration", "rejection_ledger", "sources")
