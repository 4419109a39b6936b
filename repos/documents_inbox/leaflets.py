"""What also lies in an inbox: circulars, travel rules, brochures. Nothing in them is asked for."""

from __future__ import annotations

import random

from simulator.tasks import words
from simulator.tasks.office import Heading, Paragraph

from .data import grammar
from .layouts import MONTHS
from .world import World


def leaflet(r: random.Random, world: World, topic: str, paragraphs: int) -> list[Heading | Paragraph]:
    """topic: a key of files/leaflets.yaml."""
    text, firm = grammar("leaflets")[topic], r.choice(world.strangers)
    title = f"{r.choice(text['titles'].split('|'))}, {r.choice(MONTHS)} {world.year}"
    out: list[Heading | Paragraph] = [Heading(1, title)]
    for _ in range(paragraphs):
        sentences = [words.say(r, s, **_values(r, world, firm)) for s in r.sample(text["sentences"], 3)]
        out.append(Paragraph(" ".join(sentences)))
    return out


def _values(r: random.Random, world: World, firm: words.Company) -> dict[str, object]:
    numbers = {"d": r.randint(2, 28), "n": r.randint(11, 90), "m": r.randint(2, 9), "q": r.randint(2, 6)}
    where = words.address(r)
    return {
        **numbers,
        "h": r.randint(6, 10),
        "city": where.city,
        "street": where.street,
        "month": r.choice(MONTHS),
        "who": words.person(r).name,
        "firm": r.choice((firm, r.choice(world.strangers))).short,
        "product": words.product(r, firm.sector).name,
    }
