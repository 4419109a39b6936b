"""Text in YAML to plain values, for every file that a user writes: what YAML allows and a reader would not expect is
refused (aliases, keys given twice); no file access."""

from __future__ import annotations

from typing import Any

import yaml

from simulator.errors import UsageError

MAX_CHARS = 100_000


class _Alias(Exception):
    def __init__(self, event: yaml.AliasEvent) -> None:
        super().__init__()
        self.name, self.line = event.anchor, event.start_mark.line + 1 if event.start_mark else 1


class _Loader(yaml.SafeLoader):
    """Reads a text once, which is what takes the time, for its nodes and for its values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise _Alias(self.get_event())  # type: ignore[no-untyped-call]
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Of a copy: merged keys (`<<`) would change the node, which is to show what was written."""
        copied = yaml.MappingNode(node.tag, list(node.value), node.start_mark, node.end_mark)
        return super().construct_mapping(copied, deep=deep)


def load_text(text: str, source: str, what: str = "scenario") -> tuple[yaml.Node | None, Any]:
    """The text's nodes, which know their lines, and its values. source: its name for messages; what: what such a text
    is. Raises UsageError."""
    if len(text) > MAX_CHARS:
        raise UsageError(f"{source}: {len(text):,} characters are no {what}; the largest taken is {MAX_CHARS:,}")
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    except _Alias as alias:
        raise UsageError(f"{source}:{alias.line}: `*{alias.name}` is an alias; write the value out") from None
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
