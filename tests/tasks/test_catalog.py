"""Templates are found by their folder, and a wrong name or size says what would be right."""

from __future__ import annotations

import pytest

from simulator.core.task import CLASSIC_STYLE, KINDS
from simulator.errors import UsageError
from simulator.tasks import catalog


def test_every_folder_with_a_recipe_is_a_template_of_a_known_kind() -> None:
    names = catalog.templates()
    assert "coding_backoffice" in names and names == sorted(names)
    assert {catalog.kind_of(name) for name in names} <= set(KINDS)
    assert {name: catalog.load(name).KIND for name in names} == {name: catalog.kind_of(name) for name in names}


def test_a_template_is_loaded_once() -> None:
    assert catalog.load("coding_backoffice") is catalog.load("coding_backoffice")


def test_a_misspelt_template_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean `coding_backoffice`"):
        catalog.load("coding_backofice")


def test_a_template_unlike_any_other_gets_the_list() -> None:
    with pytest.raises(UsageError, match=r"there are: .*coding_backoffice"):
        catalog.load("x" * 30)


def test_an_unknown_size_names_the_sizes() -> None:
    with pytest.raises(UsageError, match="small, medium, long"):
        catalog.make("coding_backoffice", 1, "huge", CLASSIC_STYLE)
