"""JSON without what it says: its structure and the protocol's words stay, all else becomes words or other digits."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from simulator.trace.anonymise import settings
from simulator.trace.anonymise.words import Words

#: keys of requests, of tool schemas and of the arguments of the agents' own tools, which tell nobody anything
_KEYS = """
model messages tools tool_choice parallel_tool_calls stream stream_options include_usage continuous_usage_stats
temperature top_p top_k min_p n seed stop max_tokens max_completion_tokens min_tokens ignore_eos presence_penalty
frequency_penalty repetition_penalty logprobs top_logprobs reasoning_effort reasoning thinking response_format user
metadata store service_tier verbosity modalities prompt_cache_key logit_bias chat_template_kwargs enable_thinking
type function name description parameters strict properties required items enum const default additionalProperties
anyOf oneOf allOf not minimum maximum minItems maxItems minLength maxLength pattern format title $schema $defs $ref
examples nullable role content text tool_calls tool_call_id id arguments index image_url url detail cache_control
path paths file_path filePath file_text old_str new_str old_string new_string new_text old_text insert_line diff
command commands args files start_line end_line view_range regex file_pattern recursive query queries pattern
result question options response requires_approval task_progress timeout input requests prompt systemPrompt task
thought message action limit offset cwd workdir language code
"""
KEYS = frozenset(_KEYS.split())
#: values of `type` and the like
_WORDS = """
function object string array boolean integer number null text auto none required image_url ephemeral json_object
json_schema json low medium high minimal xhigh default system developer user assistant tool
"""
WORDS = frozenset(_WORDS.split())
#: keys whose value is one of WORDS where it is any protocol's
WORDY = frozenset(("type", "tool_choice", "reasoning_effort", "role", "service_tier", "verbosity", "effort", "detail"))
DEEPEST = 200
#: characters of a function's name, for OpenAI-compatible servers
LONGEST_NAME = 64
Ranges = Mapping[str, tuple[float, float]]


class Values:
    """tools: names that are kept where a tool is named. Numbers become others of as many digits, but for settings."""

    def __init__(self, words: Words, tools: Collection[str]) -> None:
        self._words, self._tools = words, tools

    def setting(self, value: Any, name: str) -> Any:
        """What a request has under a name at its top."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._leaf(value, name, settings.REQUEST)
        return self.of(value, name, settings.below(name, settings.NONE, top=True))

    def of(self, value: Any, key: str = "", ranges: Ranges = settings.NONE, depth: int = 0) -> Any:
        """key: the one that it stands under. ranges: of numbers that stay."""
        if depth > DEEPEST:
            return None
        if isinstance(value, dict):
            named = self._named(value, key)
            made: dict[str, Any] = {}
            for name, each in value.items():
                if named and name == "name":
                    made[name] = self.tool(each)
                    continue
                inside = settings.below(name, ranges, top=False)
                # a property that is no schema: a value under somebody's own name
                inside = settings.NONE if key == "properties" and not isinstance(each, dict) else inside
                made[self.key(name)] = self.of(each, name, inside, depth + 1)
            return made
        if isinstance(value, list):
            return [self.of(each, key, ranges, depth + 1) for each in value]
        return self._leaf(value, key, ranges)

    def _named(self, value: dict[str, Any], key: str) -> bool:
        """An object that names a tool: a function's, or a choice of one."""
        return isinstance(value.get("name"), str) and (key == "function" or value["name"] in self._tools)

    def tool(self, name: str) -> str:
        """The name itself where it is told; else one that a server takes, too. "" stays."""
        if name in self._tools or not name:
            return name
        made = self._joined(name)
        return made if len(made) <= LONGEST_NAME else f"{made[:48]}_{self._words.name('tool', name)}"

    def key(self, name: str) -> str:
        return name if name in KEYS else self._joined(name)

    def _joined(self, name: str) -> str:
        """Words with a mark between them, which is a token too."""
        words = self._words.text(name).split()
        return "_".join(words[: (len(words) + 1) // 2]) or "key"

    def _leaf(self, value: Any, key: str, ranges: Ranges) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            if value in WORDS and key in WORDY:
                return value
            # names of parameters, in `required`: as the keys that they are
            return self.key(value) if key == "required" else self._words.text(value)
        if settings.stays(key, value, ranges):
            return value
        return number(self._words, value)


def number(words: Words, value: float) -> float:
    """Another of as many digits."""
    text = words.shaped(repr(value)) if "e" not in repr(value) and "n" not in repr(value) else "0"
    try:
        return int(text) if isinstance(value, int) else float(text)
    except ValueError:
        return 0


def arguments(text: str, change: Callable[[Any], Any], words: Words) -> str:
    """A call's arguments, in the form in which they were written; as a plain text where they are no JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return words.text(text)
    if not isinstance(value, dict | list):
        return words.text(text)
    tight = text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(change(value), ensure_ascii=False, separators=(",", ":") if tight else (", ", ": "))
