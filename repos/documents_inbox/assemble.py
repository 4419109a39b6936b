"""Puts world, brief, repository and story together into a task."""

from __future__ import annotations

from simulator.core.task import Style, Task
from simulator.tasks import words

from .._kit_documents.truth import check
from . import setting, trade
from .brief import make_spec
from .chapters import orders, supplier_chapter
from .findings import ending
from .ledgers import crosscheck_chapter, goods_chapter, payments_chapter
from .story import Story, leaflet, opening


def make(seed: int, size: str, style: Style) -> Task:
    facts = trade.build(seed, size)
    r = words.stream(seed, "documents", "brief", size)
    spec = make_spec(r, facts)
    request = setting.prompt(r, facts, spec, size)
    history = setting.history(r, facts, spec, size)
    story = Story(words.stream(seed, "documents", "story", size, style.documents), facts, spec, style, size)
    opening(story)
    lean = size != "long"
    circulars = sorted(p for c in history for p in c.files if any(f"/{t}_" in p for t in setting.TOPICS))
    circulars = story.r.sample(circulars, 3 if size == "long" else 0 if size == "small" and story.raw else 1)
    for supplier in facts.suppliers:
        supplier_chapter(story, supplier, lean=lean)
        if circulars and story.r.random() < 0.35:
            leaflet(story, circulars.pop())
    if lean:
        orders(story, facts.suppliers)
    if not story.papers_only:
        goods_chapter(story)
        payments_chapter(story)
    for path in circulars:
        leaflet(story, path)
    if not story.papers_only:
        crosscheck_chapter(story)
    ending(story)
    name = f"{words.plain(facts.buyer.short.split()[0])}-papers-{facts.start:%Y-%m}"
    return Task(
        "documents_inbox", "documents", size, seed, name, request, history, tuple(story.steps), check(story.asked(), ())
    )
