"""Failures that people report, as runs with an outcome that is known before."""
