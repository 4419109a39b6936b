"""The volumes of a minute book as a scanner read them: page headings, divided words, letters for digits."""

from __future__ import annotations

import random
from pathlib import Path

from simulator.tasks import words

from .._kit_documents import paper
from .._kit_documents.code import grammar
from .._kit_documents.house import long_date
from .._kit_documents.paper import Paper
from .world import Meeting, Move, World

_TEXT = Path(__file__).parent / "files" / "items.yaml"


def volume_path(world: World, number: int) -> str:
    return world.house.inbox(f"minutes_volume_{number + 1:02d}.txt")


def all_papers(seed: int, world: World) -> list[Paper]:
    return [_volume(words.stream(seed, "minutes", k), world, k) for k in range(len(world.volumes))]


def _volume(r: random.Random, world: World, number: int) -> Paper:
    name = world.company.short
    paragraphs = [f"VOLUME {number + 1} of the minute book of {world.company.name}, {world.company.address.city}."]
    if number == 0:
        held = "; ".join(f"{who}, {_scanned(r, n)}" for who, n in world.founders.items())
        paragraphs.append(f"At foundation the shares were held as follows: {held}.")
    for meeting in world.volumes[number]:
        paragraphs += _meeting(r, world, meeting)
    text = paper.scan(
        r, paragraphs, f"MINUTE BOOK {name.upper()}", width=r.choice((72, 76, 80)), rows=r.randint(40, 54)
    )
    return paper.text(volume_path(world, number), text)


def _scanned(r: random.Random, n: int) -> str:
    """A number as the scanner may have read it."""
    text = str(n)
    return text.replace("0", "O").replace("1", "l") if r.random() < 0.3 else text


def _meeting(r: random.Random, world: World, m: Meeting) -> list[str]:
    out = [
        f"MINUTES of meeting no. {m.number} held on {long_date(m.day)} in {world.company.address.city}.",
        f"Present: {', '.join(m.present)}. In the chair: {m.chair}.",
    ]
    moves = {place: _move(r, move) for place, move in zip(m.places, m.moves, strict=True)}
    others = iter(r.sample(grammar(_TEXT)["others"], m.items - len(moves) - bool(m.corrects)))
    if m.corrects:
        moves[1] = _correction(r, world, *m.corrects)
    merged = [moves[k] if k in moves else _other(r, world, next(others)) for k in range(1, m.items + 1)]
    out += [f"{m.number}.{k} {text}" for k, text in enumerate(merged, 1)]
    return [
        *out,
        words.say(
            r,
            "[The meeting closed|There was no other business and the meeting ended] at {h} o'clock. Signed: {chair}.",
            h=r.randint(10, 19),
            chair=m.chair,
        ),
    ]


def _correction(r: random.Random, world: World, earlier: int, place: int, shares: int) -> str:
    number = world.meetings[earlier - 1].places[place]
    return (
        f"The minutes of meeting no. {earlier} were read and corrected: in item {earlier}.{number} the number "
        f"of shares is {_scanned(r, shares)}. So corrected, they were approved."
    )


def _move(r: random.Random, move: Move) -> str:
    text = words.say(
        r,
        r.choice(grammar(_TEXT)[move.kind]),
        who=move.who,
        other=move.other,
        office=move.office,
        n=_scanned(r, move.shares),
    )
    if move.refused:
        return words.say(
            r,
            "{said} {talk}The motion was [not carried|lost|put to the vote and not carried].",
            said=text,
            talk=words.say(r, "[After some debate a vote was taken. |]"),
        )
    return text + words.say(r, "[ Carried unanimously.| Carried with one abstention.|]")


def _other(r: random.Random, world: World, line: str) -> str:
    firm = r.choice(world.house.strangers)
    return words.say(
        r,
        line,
        n=r.randint(2, 29),
        m=r.randint(30, 95),
        k=r.randrange(200, 9_000, 50),
        who=words.person(r).name,
        firm=firm.short,
        city=firm.address.city,
        product=words.product(r, firm.sector).name,
    )
