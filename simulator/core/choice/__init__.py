"""Which configuration wins for which traffic, and what choosing by the wrong one costs."""
