"""The recorded way through a finance task: a look round, unit after unit with what each brings to light, the report."""

from __future__ import annotations

from simulator.core.task import Style

from . import frames, house, notes, thoughts
from .case import Case, Twist, Unit
from .journal import Journal, spin
from .patch import blocks
from .proofs import Proofs

_TESTS = "python3 -m unittest discover -s tests -t ."


class Path:
    """Steps of one session. `on`: features that the script has at this moment."""

    def __init__(self, case: Case, style: Style, files: dict[str, str]) -> None:
        self.case, self.n, self.w = case, case.n, case.w
        self.first = frozenset(case.features - {u.twist for u in case.units if u.twist})
        self.on = self.first
        labels = [f"{case.noun} {u.name}" for u in case.units]
        self.j = Journal(self.w.part("path", style.documents), style, files, ["Rules and helpers", *labels, "Report"])
        self.j.say_chars = (560, 1_080)
        self.r = self.w.part("path choices", style.documents)
        self.brief = self.w.size == "small"
        self.script = f"{self.n['calc']}/{self.n['module']}.py"
        self.module = f"python3 -m {self.n['calc']}.{self.n['module']}"
        self.check = f"python3 -m {self.n['calc']}.{self.n['m_compare']}"
        self.rules = house.rules_path(case)
        self.results = f"out/{self.n['module']}.json"
        self.report = f"out/{self.w.part('report').choice(('report.md', 'summary.md', 'memo.md', 'figures.md'))}"
        self.notes = f"{self.n['docs']}/{self.w.part('notes').choice(('working_notes.md', 'log.md', 'notes.md'))}"
        self.proofs = Proofs(case)
        self.slip = self.r.randrange(3) if not self.brief else None
        self._decks: dict[str, list[str]] = {}
        self._thoughts = self.r.sample(thoughts.THOUGHTS, len(thoughts.THOUGHTS))
        self._values: dict[str, dict[str, str]] = {}
        self.remarks = {u.name: case.remarks(u) for u in case.units}

    def say(self, stage: str, unit: Unit | None = None, **more: str) -> str:
        """A sentence of the stage, none twice before all had their turn."""
        deck = self._decks.setdefault(stage, [])
        if not deck:
            deck += self.r.sample(frames.SAYS[stage], len(frames.SAYS[stage]))
        return self.filled(deck.pop(), unit, **more)

    def filled(self, text: str, unit: Unit | None, **more: str) -> str:
        c = self.case
        values = {
            "noun": c.noun, "nouns": c.nouns, "control": c.control,
            "control_cap": c.control[0].upper() + c.control[1:], "rules": self.rules, "script": self.script,
            "results": self.results, "count": str(len(c.units)), "day": str(self.w.day), "mode": self.w.mode,
            "pkg": self.n["pkg"], "data": self.n["data"], "report": self.report, "boss": self.w.boss.first,
            "notes": self.notes, "f_figures": self.n["f_figures"], "f_load": self.n["f_load"],
            "controls": c.controls_path,
        }  # fmt: skip
        if unit is not None:
            key = c.controls[0]
            values |= {
                "unit": unit.name, "file": next(iter(unit.files)), "figure": self.n[f"o_{key}"],
                "right": c.shown(key, c.right(unit)[key]),
            }  # fmt: skip
            if unit.name not in self._values:
                self._values[unit.name] = c.values(unit)
            values |= self._values[unit.name]
        return text.format_map(self.n | values | more)

    # ---- the parts of a session

    def opening(self) -> None:
        j, n = self.j, self.n
        j.list(".", self.say("look"), recursive=True)
        j.read("README.md", self.say("readme"))
        j.read(self.rules, self.say("rules"))
        j.remember([self.filled(text, None) for text in thoughts.RULES])
        if not self.brief:
            j.outline(n["pkg"], self.say("outline"))
            j.read(f"{n['pkg']}/{self.r.choice((n['m_money'], n['m_cal']))}.py", self.say("helper"))
        if not self.brief or self.r.random() < 0.5:
            j.run(_TESTS, self.say("helper_tests"))
        for path, text in self.case.shared_files().items():
            if path.endswith((".csv", ".md", ".txt", ".json")) and text:
                j.read(path, self.say("shared", path=path))
        j.tick("Rules and helpers")

    def unit(self, unit: Unit) -> None:
        c, j = self.case, self.j
        first = unit is c.units[0]
        for k, path in enumerate(unit.files):
            more = "more_words" if path.endswith(".md") else "more_rows"
            j.read(path, self.say(more if k else "data", unit, path=path))
        j.remember(self._on_my_mind(unit))
        if not self.brief and self.r.random() < 0.35:
            j.search(unit.name, self.say("search", unit), self.n["data"])
        if first:
            self._write_script(unit)
        self._first_run(unit)
        if first:
            j.read(c.controls_path, self.say("controls", unit))
            path = f"{self.n['calc']}/{self.n['m_compare']}.py"
            j.write(path, self.w.shared("compare.py", self.n), self.say("compare_write", unit))
        if unit.twist:
            self._discover(unit, c.twist(unit.twist))
        else:
            j.run(f"{self.check} {unit.name}", self.say("agrees", unit))
        if not self.brief:
            self._prove(unit)
        self._note(unit)
        j.tick(f"{c.noun} {unit.name}")

    def _on_my_mind(self, unit: Unit) -> list[str]:
        """What later replies take up once the unit's files were read: its rows, and thoughts that come but once."""
        texts = list(self.remarks[unit.name])
        for _ in range(7):
            if self._thoughts:
                texts.append(self._thoughts.pop())
        return [self.filled(text, unit) for text in texts]

    def closing(self) -> None:
        j, c = self.j, self.case
        last = c.units[-1]
        if not self.brief:
            j.run(f"{self.check} --{self.n['opt_gaps']}", self.say("all_agree", last))
        j.run(f"{self.module} --{self.n['opt_write']} {self.results}", self.say("write", last), effects=True)
        if self.w.size == "long":
            j.read(self.results, self.say("results_read", last))
        j.write(self.report, self._report(), self.say("report", last))
        if not self.brief:
            j.run(f"{_TESTS} -b", self.say("last_tests", last))
        j.run("git status --short", self.say("status", last))
        j.tick("Report")
        heads = "; ".join(f"{u.name} {c.shown(c.headline(), c.right(u)[c.headline()])}" for u in c.units[:6])
        j.finish(self.say("result", last, heads=heads), self.say("finish", last))

    # ---- pieces

    def _write_script(self, unit: Unit) -> None:
        text = self.case.script(self.first)
        if self.slip is None:
            self.j.write(self.script, text, self.say("script", unit))
            return
        wrong, note = self._slipped(text)
        self.j.write(self.script, wrong, self.say("script", unit))
        self.j.run(f"{self.module} {unit.name}", self.say("first_run", unit))
        self.j.edit(self.script, self.filled(note, unit), *blocks(wrong, text))

    def _slipped(self, text: str) -> tuple[str, str]:
        """The script with a mistake that stops it at once, and what is said when it is mended."""
        n = self.n
        imports = f"from {n['pkg']}.{n['m_tab']} import "
        line = next(x for x in text.splitlines(keepends=True) if x.startswith(imports))
        used = [x.strip() for x in line[len(imports) :].split(",")]
        if self.slip == 0 and len(used) > 1:
            return text.replace(line, f"{imports}{', '.join(used[:-1])}\n", 1), frames.SLIPS["import"].replace(
                "{lost}", used[-1]
            )
        if self.slip == 1:
            wrong = f"from {n['pkg']}.{n['m_tab']}s import "
            return text.replace(imports, wrong, 1), frames.SLIPS["module"]
        call = f"$f_figures({n['case']})".replace("$f_figures", n["f_figures"])
        return text.replace(f"= {call}", f"= {n['f_figures']}s({n['case']})", 1), frames.SLIPS["name"]

    def _first_run(self, unit: Unit) -> None:
        if self.brief and unit.twist:
            return
        detail = self.r.random() < 0.3 and unit.twist is None
        option = f" --{self.n['opt_detail']}" if detail else ""
        self.j.run(f"{self.module} {unit.name}{option}", self.say("run_detail" if detail else "run", unit))

    def _discover(self, unit: Unit, twist: Twist) -> None:
        """A gap, its cause, the change, and the proof that it is gone."""
        c, j = self.case, self.j
        gaps = c.gaps(unit)
        key, ours, stated = gaps[0]
        values = {
            "figure": self.n[f"o_{key}"], "ours": c.shown(key, ours), "stated": c.shown(key, stated),
            "gap": c.shown(key, ours - stated), "gaps": str(len(gaps)), "twist": twist.title,
        }  # fmt: skip
        j.run(f"{self.check} {unit.name}", self.say("compare", unit, **values))
        looks = ["detail"] if self.brief else ["detail", "section", "search"]
        for look in self.r.sample(looks, 1 if self.brief or self.r.random() < 0.55 else 2):
            self._look(look, unit, twist, values)
        new = self.on | {twist.key}
        before, after = c.script(self.on), c.script(new)
        cause = self.filled(twist.cause, unit, **values)
        fix = self.filled(twist.fix, unit, **values)
        if not self.brief and self.r.random() < 0.4:
            self._test(unit, twist, values, fails=True)
            j.edit(self.script, f"{cause} {fix}", *blocks(before, after), again=self.say("again", unit, **values))
            self.on = new
            j.run(self._one_test(twist), self.say("test_again", unit, **values))
        else:
            j.edit(self.script, f"{cause} {fix}", *blocks(before, after), again=self.say("again", unit, **values))
            self.on = new
            j.run(f"{self.check} {unit.name}", self.say("compare_again", unit, **values))
            if not self.brief:
                self._test(unit, twist, values, fails=False)

    def _look(self, how: str, unit: Unit, twist: Twist, values: dict[str, str]) -> None:
        j = self.j
        if how == "detail":
            command = f"{self.module} {unit.name} --{self.n['opt_detail']}"
            j.run(command, self.say("detail", unit, **values))
        elif how == "search":
            path, _, name = self.rules.rpartition("/")
            j.search(self.filled(twist.pattern, unit), self.say("search_rules", unit, **values), path, name)
        else:
            lines = j.files[self.rules].splitlines()
            heads = [k for k, line in enumerate(lines, 1) if line.startswith("## ")]
            at = next(k for k, line in enumerate(lines, 1) if f"**{twist.title}**" in line)
            start = max(h for h in heads if h <= at)
            end = min([h - 1 for h in heads if h > at] or [len(lines)])
            j.read(self.rules, self.say("section", unit, **values), start, end)

    def _test(self, unit: Unit, twist: Twist, values: dict[str, str], *, fails: bool) -> None:
        path, text = (
            self.proofs.path,
            self.proofs.added(unit, twist, self.filled(f"{twist.cause} {twist.fix}", unit, **values)),
        )
        stage = "test_first" if fails else "test"
        if path not in self.j.files:
            self.j.write(path, text, self.say(stage, unit, **values))
        else:
            self.j.edit(path, self.say(stage, unit, **values), *blocks(self.j.files[path], text))
        self.j.run(self._one_test(twist), self.say("test_fails" if fails else "test_run", unit, **values))

    def _one_test(self, twist: Twist) -> str:
        names = f"{self.proofs.module}.{self.proofs.cls}.{self.proofs.method(twist)}"
        return f"python3 -m unittest {names}"

    def _prove(self, unit: Unit) -> None:
        """Now and then: the figures by another road, or the trail behind them."""
        roll = self.r.random()
        code = self.case.probe(unit)
        if code and roll < 0.55:
            self.j.run(f"python3 - <<'END'\n{code.strip()}\nEND", self.say("probe", unit))
        elif roll < 0.8:
            command = f"{self.module} {unit.name} --{self.n['opt_detail']}"
            if not any(getattr(a, "command", "") == command for s in self.j.steps for a in s.actions):
                self.j.run(self.j.short(command, "| tail -n 12"), self.say("trail", unit))

    def _note(self, unit: Unit) -> None:
        """A page of the working notes."""
        before = self.j.files.get(self.notes)
        text = notes.page(self, unit)
        if before is None:
            head = f"# {self.case.title}: working notes\n\n"
            self.j.write(self.notes, head + text, self.say("note", unit))
        else:
            after = f"{before}\n{text}"
            self.j.edit(self.notes, self.say("note", unit), *blocks(before, after))

    def _report(self) -> str:
        c = self.case
        head = c.headline()
        rows = "".join(f"| {u.name} | {c.shown(head, c.right(u)[head])} |\n" for u in c.units)
        found = [c.twist(u.twist).title for u in c.units if u.twist]
        notes = "".join(f"- {title}\n" for title in found)
        text = (
            f"# {c.title} at {self.w.day}\n\n{self.w.firm.name}. «Amounts in|All amounts in» {self.n['currency']}, "
            f"{self.w.mode}. «Details in|Everything else is in» `{self.results}`.\n\n| {c.noun} | "
            f"{self.n[f'o_{head}']} "
            f"|\n|---|---:|\n{rows}\n«All figures agree with|No difference is left against» {c.control} "
            f"(`{c.controls_path}`).\n\n## «What needed care|Rules that made a difference»\n\n{notes}"
        )
        return spin(self.r, text)
