"""Numbers that stay: settings at a request's top and bounds in a tool's schema, where they are such as people set."""

from __future__ import annotations

from collections.abc import Mapping

_COUNT, _BOUND, _SIZE = (0, 10_000_000), (-1_000_000, 1_000_000), (0, 1_000_000)
#: what a request's own number may be, the least and the most
REQUEST: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 2), "top_p": (0, 1), "min_p": (0, 1), "top_k": (-1, 1000), "n": (1, 128),
    "max_tokens": _COUNT, "max_completion_tokens": _COUNT, "min_tokens": _COUNT, "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2), "repetition_penalty": (0, 10), "top_logprobs": (0, 100),
}  # fmt: skip
#: of a schema's bounds
SCHEMA: Mapping[str, tuple[float, float]] = {
    "minimum": _BOUND, "maximum": _BOUND, "minItems": _SIZE, "maxItems": _SIZE, "minLength": _SIZE, "maxLength": _SIZE
}  # fmt: skip
NONE: Mapping[str, tuple[float, float]] = {}
#: keys of a request below which there are schemas, and keys of schemas below which there are values again
SCHEMAS = frozenset(("tools", "functions", "response_format"))
EXAMPLES = frozenset(("default", "const", "enum", "examples"))
_DECIMALS = 4


def below(name: str, ranges: Mapping[str, tuple[float, float]], *, top: bool) -> Mapping[str, tuple[float, float]]:
    """What stays below a key, when so much stays beside it."""
    if top:
        return SCHEMA if name in SCHEMAS else NONE
    return NONE if name in EXAMPLES else ranges


def stays(name: str, value: float, ranges: Mapping[str, tuple[float, float]]) -> bool:
    """Whether a number is plausible for its key: within bounds, and with no more decimals than people write."""
    least, most = ranges.get(name, (1.0, 0.0))
    return least <= value <= most and (isinstance(value, int) or round(value, _DECIMALS) == value)
