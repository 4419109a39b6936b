"""Text in YAML to plain values, for every file that a user writes: what YAML allows and a reader would not expect is
refused (aliases, keys given twice); no file access."""

from __future__ import annotations

from typing import Any

import yaml

from simulator.errors import UsageError

MAX_CHARS = 100_000


def load_text(text: str, source: str, what: str = "scenario") -> tuple[yaml.Node | None, Any]:
    """The text's nodes, which know their lines, and its values. source: its name for messages; what: what such a text
    is. Raises UsageError."""
    if len(text) > MAX_CHARS:
        raise UsageError(f"{source}: {len(text):,} characters are no {what}; the largest taken is {MAX_CHARS:,}")
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise UsageError(f"{source}:{line}: `*{event.anchor}` is an alias; write the value out")
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        why = " ".join(str(getattr(error, "problem", None) or error).split())
        raise UsageError(f"{where}: not valid YAML: {why}") from None
    except (ValueError, KeyError, RecursionError) as error:
        raise UsageError(f"{source}: a value that YAML cannot read ({type(error).__name__}: {error!s:.80})") from None


def refuse_duplicates(root: yaml.Node | None, source: str) -> None:
    """YAML itself would take the last of two equal keys and say nothing. Raises UsageError."""
    found = _duplicate(root)
    if found:
        raise UsageError(f"{source}:{found[1]}: key `{found[0]}` is given twice; keep one")


def _duplicate(node: yaml.Node | None) -> tuple[str, int] | None:
    """The first key that its mapping has already, and its line from 1."""
    below = [value for _key, value in node.value] if isinstance(node, yaml.MappingNode) else []
    if isinstance(node, yaml.SequenceNode):
        below = node.value
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, _value in node.value:
            if key.value in seen:
                return str(key.value), key.start_mark.line + 1
            seen.add(key.value)
    return next(filter(None, map(_duplicate, below)), None)
