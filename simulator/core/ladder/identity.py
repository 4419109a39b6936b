"""Whether a ladder's folder may be gone on with: the same work on the same engines. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMA = 1
MADE_BY = "sim ladder"


def refusal(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Why the ladder.json that is there (then) is another ladder's than the one asked for (now), a clause; "" when it
    is not. More or fewer rungs, levels or pairs are no other ladder; a rung of the same name is the same engine."""
    if then.get("made_by") != MADE_BY:
        return f"its ladder.json was not written by `{MADE_BY}`"
    if then.get("schema") != SCHEMA:
        return f"its ladder.json has schema {then.get('schema')}, and this version writes {SCHEMA}"
    if then.get("scenario_hash") != now.get("scenario_hash"):
        return f"it holds a ladder of another scenario, seed or --set ({then.get('scenario')}, seed {then.get('seed')})"
    known = {rung.get("rung"): rung for rung in then.get("rungs") or ()}
    for rung in now.get("rungs") or ():
        before = known.get(rung["rung"])
        if before is not None and before.get("digest") != rung["digest"]:
            return f"its rung {rung['rung']} is another configuration: {_change(before, rung)}"
    return ""


def _change(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What differs of the two, as far as their command lines and environments tell."""
    before, after = (list(each.get("argv") or ()) for each in (then, now))
    gone, new = [part for part in before if part not in after], [part for part in after if part not in before]
    envs = [dict(each.get("env") or {}) for each in (then, now)]
    for name in sorted({*envs[0], *envs[1]}):
        if envs[0].get(name) != envs[1].get(name):
            gone += [f"{name}={envs[0][name]}"] if name in envs[0] else []
            new += [f"{name}={envs[1][name]}"] if name in envs[1] else []
    if not gone and not new:
        return "its settings differ"
    return f"`{' '.join(gone) or 'nothing'}` then, `{' '.join(new) or 'nothing'}` now"
