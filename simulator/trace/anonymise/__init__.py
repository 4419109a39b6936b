"""A trace without what was said in it: the same sizes, the same sharing, the same times, other words."""
