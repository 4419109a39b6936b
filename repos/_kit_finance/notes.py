"""The working notes: a page a unit, with its figures, what was seen in its data, and the rule that was missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .case import Unit
from .journal import spin

if TYPE_CHECKING:
    from .path import Path


def page(path: Path, unit: Unit) -> str:
    c, n, r, right = path.case, path.n, path.r, path.case.right(unit)
    rows = "".join(
        f"| {n[f'o_{k}']} | {c.shown(k, right[k])} | {'agrees' if k in c.controls else 'not stated'} |\n"
        for k in c.wanted
    )
    remarks = path.remarks[unit.name]
    few, many = (6, 9) if path.brief else (18, 25)
    seen = r.sample(remarks, min(len(remarks), r.randint(few, many)))
    text = f"## {unit.name}\n\n| figure | value | {c.control} |\n|---|---:|---|\n{rows}\nWhat was looked at:\n\n"
    text += "".join(f"- {spin(r, path.filled(x, unit))}\n" for x in seen)
    if unit.twist:
        text += _missed(path, unit)
    command = f"{path.module} {unit.name} --{n['opt_detail']}"
    return f"{text}\nTo repeat: `{command}` and `{path.check} {unit.name}`.\n"


def _missed(path: Path, unit: Unit) -> str:
    """The rule that a first script missed, its cause and what it is worth in this unit."""
    c, n = path.case, path.n
    twist = c.twist(unit.twist or "")
    gaps = c.gaps(unit)
    key, ours, stated = gaps[0]
    values = {
        "figure": n[f"o_{key}"],
        "ours": c.shown(key, ours),
        "stated": c.shown(key, stated),
        "gap": c.shown(key, ours - stated),
    }
    told = spin(path.r, path.filled(f"{twist.cause} {twist.fix}", unit, **values))
    text = f"\nA rule that was missed at first, {twist.title}. {told}\n\n"
    for key, ours, stated in gaps:
        text += f"- {n[f'o_{key}']} without it {c.shown(key, ours)}, with it {c.shown(key, stated)}, "
        text += f"{c.shown(key, ours - stated)} apart\n"
    return text
