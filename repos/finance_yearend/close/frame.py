"""What stands around the chapters: the request, the first look and the broken helper, the report and the end."""

from __future__ import annotations

from dataclasses import dataclass

from ..._kit_finance.arith import UP
from ..._kit_finance.journal import Journal, spin
from .house import policy_path, test_names
from .world import Chapter, World


@dataclass(slots=True)
class Frame:
    w: World
    chapters: list[Chapter]

    @property
    def report(self) -> str:
        return "out/" + self.w.part("report").choice(("report.md", "summary.md", "closing_report.md", "memo.md"))

    @property
    def repair(self) -> str:
        return self.w.part("repair").choice(
            ("Helper tests green", "Fault in the helpers fixed", "Helper library sound")
        )

    @property
    def summary(self) -> str:
        return self.w.part("summary").choice(
            ("Report written, everything rerun", "Report and last checks", "Summary for the board pack")
        )

    def checklist(self) -> list[str]:
        return [self.repair, *(c.label for c in self.chapters), self.summary]

    def prompt(self) -> str:
        w, n = self.w, self.w.names
        asks = "\n".join(f"{k}. {c.ask()}" for k, c in enumerate(self.chapters, 1))
        return (
            f"«We are closing|I am closing|This is about» the year to {w.year_end} for {w.group.name}. «The extracts "
            f"are in|All data lies in|You find the extracts in» `{n['data']}/`, the rules in `{policy_path(w)}`; «the "
            "rules win over habit|please follow the rules to the letter|where habit and policy differ, the policy "
            f"counts». What I need:\n\n{asks}\n\n«Scripts belong in|Put the scripts into» `{n['calc']}/` («we rerun "
            f"them next year|the auditors will rerun them»), on top of the helpers in `{n['pkg']}/`. One of the "
            "helper tests «has been red since last week|fails on my machine and I do not know why»; «repair the "
            "helper, not the test|the test is right, fix the code». «Do not touch the data.|The data stays as it "
            f"is.» At the end {self.report} with the headline figures: "
            + "; ".join(label for c in self.chapters for label, _ in c.headlines()[:4])
            + f". «All amounts|Amounts» in {w.currency} with thousands separators.\n\n{w.controller.name}"
        )


def _parts(n: int) -> str:
    return "one part" if n == 1 else f"{n} parts"


def _look(f: Frame, j: Journal) -> None:
    w, n = f.w, f.w.names
    j.list(
        ".",
        (
            f"«I start with the lie of the land|First an overview»: the request has {_parts(len(f.chapters))} and a "
            f"red test. A full listing shows which extracts were delivered under {n['data']}/ and whether anything in "
            f"{n['calc']}/ or out/ exists already."
        ),
        recursive=True,
    )
    j.read(
        policy_path(w),
        (
            f"The extracts of {w.group.short} are sorted by topic, nothing is calculated yet. «Before any data I read "
            f"the policy|The policy first», all {len(f.chapters) + 1} sections: rounding mode, day bases and cut-off "
            "decide about cents, and cents are what I will be measured by."
        ),
    )
    if j.optional():
        j.outline(
            n["pkg"],
            (
                f"«Noted|Good to know»: {w.mode} for money, {w.prev_end} to {w.year_end} as the year, results as text "
                f"with two decimals. Now the helpers I am to use; an outline of {n['pkg']}/ will do for a first "
                "impression of their signatures."
            ),
        )


def _repair(f: Frame, j: Journal) -> None:
    w, n, t = f.w, f.w.names, test_names(f.w)
    module = n["m_round"] if w.fault == "round" else n["m_days"]
    path = f"{n['pkg']}/{module}.py"
    j.run(
        "python3 -m unittest discover -s tests -t . -v",
        (
            f"Three small modules, {n['f_round']} and {n['f_frac']} among them. «Which test is red?|Let me see the "
            "red test.» I run them all, verbosely, to have the names and the assertion; whatever is wrong there "
            "would spoil every figure built on it."
        ),
    )
    j.read(
        path,
        (
            f"One failure, in the tests of {module}, and the assertion message tells which value came out instead. "
            f"«The message names the symptom; the cause is in|I open» {path}, since guessing at a sign or a mode from "
            "the outside would be careless."
        ),
    )
    if w.fault == "round":
        wrong = n["mode_used"]
        text = j.files[path]
        blocks = [(f"import {wrong}, Decimal", f"import {n['right_mode']}, Decimal")] + [
            (line, line.replace(wrong, n["right_mode"])) for line in text.splitlines() if f"rounding={wrong}" in line
        ]
        j.edit(
            path,
            (
                f"{t['tie_b']}5 should become {t['tie_right']}: "
                f"{'away from zero' if w.mode == UP else 'to the even cent'}. The helper uses {wrong} in both "
                f"functions, while section 1 of the policy says {w.mode}. So the import and both calls change to "
                f"{n['right_mode']}; the test stays."
            ),
            *blocks,
        )
    else:
        old = f"30 * months + {n['end']}.day - min({n['start']}.day, 30)"
        j.edit(
            path,
            (
                f"`_thirty` caps {n['start']} at 30 but not {n['end']}, so from the 15th of month {t['month_a']} to "
                f"the 31st of month {t['month_b']} it counts one day more than the {t['thirty']} expected. 30E/360 "
                f"treats both ends alike, as the policy states; the cap is needed on {n['end']} too."
            ),
            (old, old.replace(f"{n['end']}.day", f"min({n['end']}.day, 30)")),
            again=f"I look at `_thirty` as it stands now: both `{n['start']}.day` and `{n['end']}.day` capped, months "
            "untouched, nothing else moved.",
        )
    j.run(
        "python3 -m unittest discover -s tests -t .",
        (
            f"A change of {'a mode' if w.fault == 'round' else 'one term'}, small but it touches every "
            f"{'amount' if w.fault == 'round' else 'loan on 30E/360'}. All tests again, quietly this time; three "
            "modules, and the one failure must be gone without a new one elsewhere."
        ),
    )
    j.tick(f.repair)


def opening(f: Frame, j: Journal) -> None:
    _look(f, j)
    _repair(f, j)


def report_text(f: Frame, j: Journal) -> str:
    w, n = f.w, f.w.names
    rows = "".join(f"| {label} | {value} |\n" for c in f.chapters for label, value in c.headlines())
    files = "".join(
        f"- `{name}`: {c.title().lower()}, {len(t)} «figures|values»\n"
        for c in f.chapters
        for name, t in c.truth().items()
    )
    return spin(
        j.r,
        (
            f"# {w.group.name}: «year-end figures|results of the close|summary of the close» at "
            f"{w.year_end}\n\n«Amounts in|All amounts are in» {w.currency}, rounded {w.mode} as section 1 of the "
            f"policy demands. «The year runs|Period:» from the day after {w.prev_end} to {w.year_end}.\n\n| "
            f"«Item|Figure|What» | «Amount|Value» |\n|---|---:|\n{rows}\n## «Files|Where the details "
            f"are»\n\n{files}\n## «What was reconciled|Agreed with»\n\n"
            + "".join(
                f"- {c.title()}: «agreed without difference|no difference left|agrees to the cent»\n"
                for c in f.chapters
            )
            + "\n## «Changes to helpers|Helper "
            f"fixed»\n\n`{n['pkg']}/{n['m_round'] if w.fault == 'round' else n['m_days']}.py` «was wrong and is "
            "repaired|had a fault, now fixed»: "
            + (
                f"money is rounded {w.mode}, it was not before."
                if w.fault == "round"
                else "30E/360 now caps the end date at 30 as well."
            )
            + " «Its test was right and is unchanged.|The test is as it was.»\n"
        ),
    )


def closing(f: Frame, j: Journal) -> None:
    w, n = f.w, f.w.names
    rows = [row for c in f.chapters for row in c.headlines()]
    if j.optional():
        j.list(
            "out",
            (
                f"All {len(f.chapters)} parts have their figures. «Are the files in place? In out/|Now out/:» I "
                f"expect {', '.join(name for c in f.chapters for name in c.truth())}, and nothing left over from "
                "trials."
            ),
        )
    j.write(
        f.report,
        report_text(f, j),
        (
            f"Now {f.report}, short enough to be read: {len(rows)} headline figures in one table, where details are, "
            f"what was agreed with whom, and the helper fix. {rows[0][0]} is {rows[0][1]}, {rows[-1][0]} "
            f"{rows[-1][1]}; both are taken from the runs above."
        ),
    )
    j.run(
        "git status --short && git diff --stat",
        (
            "The report is in place. «What have I touched?|Before I finish I check what changed»: only the helper "
            f"under {n['pkg']}/ may show as modified, {n['data']}/ must not appear, and everything else has to be new "
            f"files in {n['calc']}/ and out/."
        ),
    )
    if w.size == "long":
        j.run(
            "python3 -m unittest discover -s tests -t . -b",
            (
                f"{n['data']}/ is untouched. One last run of all tests, helpers and mine together, buffered: the "
                f"figures rest on {n['f_round']} and {n['f_frac']}, so I want them green with the tree as it will be "
                "handed over."
            ),
        )
    j.tick(f.summary)
    j.finish(
        f"«The close for|All figures for» {w.year_end} «is calculated|are in»: "
        + "; ".join(f"{a} {b}" for a, b in rows[:6])
        + f". Results are in out/, summary in {f.report}. Repaired: "
        f"`{n['pkg']}/{n['m_round'] if w.fault == 'round' else n['m_days']}.py`.",
        "Tests are green, the tree holds what was asked for, and each part agrees with its outside source. "
        f"{rows[0][0]}: {rows[0][1]}; that is the first line {w.controller.first} will look for.",
    )
