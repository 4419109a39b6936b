"""What a template needs besides Python and git: found where commands find it, new enough, or told in a sentence."""

from __future__ import annotations

import re

from simulator.tasks import catalog, programs


def test_a_program_that_is_there_and_one_that_is_not():
    assert programs.why_not("git") == ""
    assert programs.why_not("no-such-program") == ("no-such-program, and there is none: install no-such-program")


def test_a_version_is_told_from_what_the_program_says(tmp_path):
    for said, version in (("v20.11.1", (20, 11)), ("git version 2.39.5", (2, 39)), ("hello", None)):
        script = tmp_path / "program"
        script.write_text(f"#!/bin/sh\necho '{said}'\n")
        script.chmod(0o755)
        assert programs._version(str(script)) == version
    assert programs._version(str(tmp_path / "none")) is None


def test_what_is_left_out_is_said_with_its_cure_and_never_drawn():
    found = catalog.unplayable(("coding",))
    assert found == ({"coding_schema_input": programs.why_not("node")} if programs.why_not("node") else {})
    for why in found.values():
        assert re.fullmatch(r"node 22\.6 or newer, and .*: install .*", why)
    drawn = {catalog.chosen("coding", seed) for seed in range(40)}
    assert ("coding_schema_input" in drawn) == (not found)
    assert catalog.unplayable(("finance",)) == catalog.unplayable(("coding",), None, ("coding_backoffice",)) == {}
