"""The shape of traffic: folds against plain ones, distances by hand, and a scenario that sends what was described."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_files as made
import pytest
from fixtures_run import Shape as RunShape
from hypothesis import given, settings
from hypothesis import strategies as st
from test_import_agents import REAL, imported

from simulator.cli.arrivals import with_traces
from simulator.cli.outputs import Outputs
from simulator.cli.shape import Question, main, traffic_of
from simulator.cli.tracing import planned
from simulator.core.scenario_file import parse
from simulator.core.traffic.call import BLOCK_TOK, Sent, Traffic
from simulator.core.traffic.fold import Shape, fold
from simulator.core.traffic.reuse import limited, unlimited
from simulator.core.traffic.unlike import fixed_samples, unlike
from simulator.errors import UsageError
from simulator.tasks.mix import draw
from simulator.trace.format import Header, SessionLine, TurnLine
from simulator.trace.trace_file import Writer, sessions
from simulator.trace.traffic import read_traffic


def sent(session: str, turn: int, blocks: list[int], keep: int = 0, **more: Any) -> Sent:
    """A prompt of whole blocks; keep of them are the last prompt's."""
    given_: dict[str, Any] = {
        "branch": 0, "at_s": float(turn), "order": float(turn), "took_s": 1.0, "gap_s": None,
        "prompt_tok": (keep + len(blocks)) * BLOCK_TOK, "output_tok": 100, "cached_tok": None, "tools": (),
    }  # fmt: skip
    return Sent(session=session, turn=turn, keep=keep, fresh=blocks, **(given_ | more))


def traffic(calls: list[Sent], **more: Any) -> Traffic:
    return Traffic("t", "trace", tuple(calls), BLOCK_TOK, **({"shared_clock": True} | more))


def test_unlimited_reuse_is_what_was_there_before() -> None:
    calls = [sent("a", 0, [1, 2]), sent("a", 1, [3], keep=2), sent("b", 2, [1, 9, 2]), sent("a", 3, [7], keep=1)]
    found, distinct = unlimited(calls, BLOCK_TOK)
    assert found.share == (2 + 1 + 1) / (2 + 3 + 3 + 2) and distinct == 5 * BLOCK_TOK


def test_nothing_has_no_share() -> None:
    empty = fold(traffic([]))
    assert empty.reuse[0].share is None and empty.fixed is None and empty.spreads["prompt_tok"] is None
    assert empty.shrank is None and empty.measured is None and empty.at_once is None


@st.composite
def conversations(drawn: st.DrawFn) -> list[Sent]:
    """A few sessions over few blocks, each prompt named by its whole prefix as real ones are."""
    calls: list[Sent] = []
    held: dict[str, list[int]] = {}
    for n in range(drawn(st.integers(1, 25))):
        session = drawn(st.sampled_from("abc"))
        keep = drawn(st.integers(0, len(held.get(session, []))))
        names = held.get(session, [])[:keep]
        for _ in range(drawn(st.integers(0, 4))):
            names = [*names, hash((tuple(names), drawn(st.integers(0, 1)))) & 0xFFFF]
        calls.append(sent(session, n, names[keep:], keep=keep, prompt_tok=max(1, len(names) * BLOCK_TOK)))
        held[session] = names
    return calls


def plainly(calls: list[Sent], room: int | None) -> float:
    """The same by lists: least recently used first, of one prompt the end first."""
    cache: list[int] = []
    held: dict[str, list[int]] = {}
    hits = total = 0
    for call in calls:
        blocks = held[call.session] = [*held.get(call.session, [])[: call.keep], *call.fresh]
        leading = next((n for n, b in enumerate(blocks) if b not in cache), len(blocks))
        hits, total = hits + min(call.prompt_tok, leading * BLOCK_TOK), total + call.prompt_tok
        for block in reversed(blocks):
            if block in cache:
                cache.remove(block)
            cache.append(block)
        del cache[: max(0, len(cache) - (room if room is not None else len(cache)))]
    return hits / total


@settings(max_examples=60)
@given(conversations(), st.integers(1, 12))
def test_reuse_agrees_with_a_plain_simulation(calls: list[Sent], room: int) -> None:
    assert unlimited(calls, BLOCK_TOK)[0].share == pytest.approx(plainly(calls, None))
    small = limited(calls, BLOCK_TOK, room * BLOCK_TOK).share
    assert small == pytest.approx(plainly(calls, room)) and small <= plainly(calls, None) + 1e-9


def test_what_is_open_at_once() -> None:
    calls = [
        sent("a", 0, [1], at_s=0.0, took_s=4.0), sent("b", 1, [2], at_s=2.0, took_s=2.0),
        sent("a", 2, [3], at_s=8.0, took_s=2.0),
    ]  # fmt: skip
    once = fold(traffic(calls)).at_once
    assert once is not None and (once.sessions_max, once.requests_max) == (2, 2)
    assert once.requests_mean == pytest.approx(0.8) and once.sessions_mean == pytest.approx(1.2)


def test_what_a_512_512_test_stands_for() -> None:
    sizes = [(512, 512), (300, 900), (5_000, 500), (400, 20)]
    calls = [sent("a", n, [n], prompt_tok=p, output_tok=o) for n, (p, o) in enumerate(sizes)]
    fixed = fold(traffic(calls)).fixed
    assert fixed is not None and (fixed.prompt, fixed.output, fixed.both) == (0.75, 0.75, 0.5)
    assert fixed.tok == pytest.approx((1_024 + 1_200) / (1_024 + 1_200 + 5_500 + 420))


def test_distance_is_in_factors_of_two() -> None:
    base = fold(traffic([sent("a", n, [n], prompt_tok=100 * (n + 1), gap_s=float(n)) for n in range(9)]))
    doubled = {name: [2 * v for v in values] for name, values in base.samples.items()}
    assert unlike(base, base.samples, "itself").distance == 0.0
    apart = {row.name: (row.distance, row.ratios[1]) for row in unlike(base, doubled, "double").each}
    assert apart["prompt_tok"] == (pytest.approx(1.0), pytest.approx(0.5))
    assert unlike(base, doubled, "x").distance == pytest.approx(unlike(base, doubled, "x").distance)
    far = unlike(base, fixed_samples(), "512/512")
    assert {row.name for row in far.each} == {"turns", "first_prompt_tok", "prompt_tok", "output_tok", "gap_s"}


def test_texts_share_as_far_as_they_are_equal(tmp_path: Path) -> None:
    """Two sessions with one long system prompt; each continues its own."""
    system = " ".join(f"rule{n}" for n in range(800))
    lines = []
    for n, name in enumerate("ab"):
        start = made.chat(system, f"task {name} " + "word " * 200)
        later = [*start, {"role": "assistant", "content": "ok " * 100}, {"role": "user", "content": "go on"}]
        lines += [made.log_line(10.0 * n, start), made.log_line(10.0 * n + 5, later)]
    for line in lines:
        del line["response"]["usage"]
    out = tmp_path / "trace.jsonl"
    imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    (a, a2, b, _b2) = read_traffic(out).calls
    assert a.keep == 0 and a2.keep * BLOCK_TOK >= a.prompt_tok - 2 * BLOCK_TOK
    shared = sum(x == y for x, y in zip(a.fresh, b.fresh, strict=False))
    assert 0.7 < shared * BLOCK_TOK / a.prompt_tok < 0.95, "the system prompt, and no more"
    again = fold(read_traffic(out)).reuse[0].share
    assert again is not None and 0.5 < again < 0.9


def test_blocks_are_stretched_to_the_sources_own_counts(tmp_path: Path) -> None:
    """A source that counts 1.5 times as many tokens has the same share of reuse."""
    shares = []
    for factor in (1.0, 1.5):
        folder = tmp_path / str(factor)
        lines = []
        for n in range(6):
            messages = made.chat("s " * 300, *[f"{k} " * 300 for k in range(2 * n + 1)])
            line = made.log_line(float(n), messages)
            line["response"]["usage"]["prompt_tokens"] = int(factor * 305 * len(messages))
            lines.append(line)
        (folder / "out").mkdir(parents=True)
        imported(made.rows(folder / "log.jsonl", lines), to=folder / "out")
        shares.append(fold(read_traffic(folder / "out" / "trace.jsonl")).reuse[0].share or 0.0)
    assert shares[0] == pytest.approx(shares[1], abs=0.02) and shares[0] > 0.5


def shaped(path: Path, n: int = 7) -> Path:
    """Sessions of several lengths with a shared start, gaps and a sub-agent."""
    with Writer(path, Header()) as writer:
        for s in range(n):
            line = SessionLine(
                session=f"s{s}", format="x", clock="unix", start_s=100.0 + 20 * s, block_tok=64, block_scope="trace"
            )
            turns, held, clock, keep = [], list(range(10)), 0.0, 0
            for t in range(3 + s):
                held = [*held, *range(10_000 * (s + 1) + 100 * t, 10_000 * (s + 1) + 100 * t + 3 + (s * t) % 9)]
                turns.append(TurnLine(
                    session=f"s{s}", turn=t, t_s=clock, took_s=1.5, prompt_tok=64 * len(held) + 7,
                    output_tok=40 + 13 * t, keep_blocks=keep, add_blocks=tuple(held[keep:]),
                    spawns=(1,) if t == 1 and s == 2 else (),
                ))  # fmt: skip
                keep, clock = len(held), clock + 1.5 + 2 + (t * 7 + s) % 11
            if s == 2:
                turns.append(TurnLine(session="s2", branch=1, turn=0, purpose="subagent", t_s=6.0, took_s=1.0,
                                      prompt_tok=200, output_tok=9, add_blocks=(5_000, 5_001)))  # fmt: skip
            writer.session(line, turns)
    return path


def asked(source: Path, **more: Any) -> Question:
    return Question(
        **({"source": source, "against": (), "kv_tok": (), "scenario_out": None, "outputs": Outputs()} | more)
    )


def generated(scenario_file: Path, number: int) -> Shape:
    """The shape of the traffic that a scenario plans, of so many sessions."""
    scenario = with_traces(parse(scenario_file.read_text(), str(scenario_file)), scenario_file)
    calls = []
    for n in range(number):
        spec = draw(scenario, n % scenario.sessions, n // scenario.sessions)
        made_plan = planned(spec, scenario, "m")
        for turn in made_plan.turns:
            gap = (
                turn.think_s + sum(c.recorded_s for c in made_plan.turns[turn.index - 1].calls) if turn.index else None
            )
            calls.append(sent(spec.session, turn.index, [], prompt_tok=turn.prompt_tok, output_tok=turn.output_tok,
                              gap_s=gap))  # fmt: skip
    return fold(traffic(calls, shared_clock=False))


def test_a_written_scenario_sends_traffic_of_the_shape_that_was_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, out = shaped(tmp_path / "t.jsonl"), tmp_path / "like.yaml"
    assert main(asked(trace, scenario_out=out)) == 0
    assert "within" in capsys.readouterr().out
    described, sends = fold(read_traffic(trace)), generated(out, 14)
    for name in ("turns", "first_prompt_tok", "growth_tok", "gap_s"):
        a, b = described.spreads[name], sends.spreads[name]
        assert a is not None and b is not None
        assert b.p50 == pytest.approx(a.p50, rel=0.1) and b.p90 == pytest.approx(a.p90, rel=0.1), name
    written = list(sessions(tmp_path / "like.shape.jsonl"))
    assert sum(s.branches for s in written) == 1 and "s2" not in (tmp_path / "like.shape.jsonl").read_text()
    shares = [fold(read_traffic(p)).reuse[0].share for p in (trace, tmp_path / "like.shape.jsonl")]
    assert shares[0] == pytest.approx(shares[1])


def untimed(path: Path, n: int = 6, *, timed: Path | None = None) -> Path:
    """Sessions that do not say when anything was, behind those of another trace."""
    with Writer(path, Header()) as writer:
        for each in sessions(timed) if timed is not None else ():
            writer.session(each.line, each.turns)
        for s in range(n):
            line = SessionLine(session=f"u{s}", format="x", block_tok=64, block_scope="session")
            turns = [TurnLine(session=f"u{s}", turn=t, prompt_tok=640 + 64 * t, output_tok=40, keep_blocks=10 * (t > 0),
                              add_blocks=tuple(range(10)) if not t else ()) for t in range(4)]  # fmt: skip
            writer.session(line, turns)
    return path


def test_gaps_that_nobody_told_are_as_the_told_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = untimed(tmp_path / "t.jsonl", timed=shaped(tmp_path / "timed.jsonl"))
    assert main(asked(trace, scenario_out=tmp_path / "like.yaml")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "18 of 53 gaps are not in the source and were given the others' values" in said and "% off" not in said
    a, b = fold(read_traffic(trace)).spreads["gap_s"], generated(tmp_path / "like.yaml", 13).spreads["gap_s"]
    assert a is not None and b is not None and b.p50 == pytest.approx(a.p50, rel=0.1)
    assert b.n > a.n and b.p90 == pytest.approx(a.p90, rel=0.1)


def test_a_source_without_times_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(untimed(tmp_path / "t.jsonl"), scenario_out=tmp_path / "like.yaml")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "has no times" in said and "give `think`" in said and "a run meets all 6 sessions" in said
    assert "start: beginning" in (tmp_path / "like.yaml").read_text()


def test_a_service_is_met_at_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sessions beside one another are played from their middle, those after one another from their beginning."""
    assert main(asked(shaped(tmp_path / "t.jsonl"), scenario_out=tmp_path / "like.yaml")) == 0
    once = fold(read_traffic(tmp_path / "t.jsonl")).at_once
    assert once is not None and once.sessions_mean > 1.5
    scenario = parse((tmp_path / "like.yaml").read_text(), "like.yaml")
    assert (scenario.start, scenario.sessions) == ("stationary", round(once.sessions_mean))
    assert f"{scenario.sessions} of the source's 7 sessions are met at the start" in capsys.readouterr().out
    assert main(asked(shaped(tmp_path / "one.jsonl", 1), scenario_out=tmp_path / "one.yaml")) == 0
    assert parse((tmp_path / "one.yaml").read_text(), "one.yaml").start == "beginning"


def test_the_answer_in_all_its_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, other = shaped(tmp_path / "t.jsonl"), shaped(tmp_path / "other.jsonl", 3)
    outputs = Outputs(tmp_path / "a.md", tmp_path / "a.html", tmp_path / "a.json")
    assert main(asked(trace, against=(other,), kv_tok=(1_000, 64_000), outputs=outputs)) == 0
    said = capsys.readouterr().out
    for words in ("Prefix reuse", "Open at once", "How unlike other.jsonl", "How unlike 512/512", "64,000"):
        assert words in said and words in (tmp_path / "a.html").read_text() and words in (tmp_path / "a.md").read_text()
    value = json.loads((tmp_path / "a.json").read_text())
    assert [r["kv_tok"] for r in value["reuse"]] == [None, 1_000, 64_000] and value["sessions"] == 7
    assert value["reuse"][0]["share"] >= value["reuse"][2]["share"] >= value["reuse"][1]["share"]
    assert [c["against"] for c in value["unlike"]] == ["other.jsonl", "512/512"]


def test_a_run_folder_has_a_shape(make_run: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(slots=4, window_s=10)
    assert RunShape().kind == "emulated" and main(asked(folder)) == 0
    said = capsys.readouterr().out
    assert "EMULATED" in said and "as the engine said, where it did" in said and "read_file" in said
    shape = fold(traffic_of(folder))
    assert shape.sessions >= 4 and shape.at_once is not None and shape.at_once.sessions_max <= 4
    assert shape.reuse[0].share is not None and 0.5 < shape.reuse[0].share < 1.0


@pytest.mark.parametrize(
    ("name", "said"),
    [("nowhere.jsonl", "No such file"), ("text.jsonl", "no trace of ours"), ("folder", "no run folder")],
)
def test_what_has_no_shape_is_told(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "text.jsonl").write_text("hello\n")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=said):
        main(asked(tmp_path / name))


@pytest.mark.skipif(Path() == REAL, reason="real traces are not on this machine")
def test_the_reuse_of_a_real_trace_is_what_its_rows_say(tmp_path: Path) -> None:
    imported(REAL / "mooncake", to=tmp_path)
    rows = [json.loads(line) for line in (REAL / "mooncake" / "conversation_2000.jsonl").read_text().splitlines()]
    seen: set[int] = set()
    hits = 0
    for row in sorted(rows, key=lambda r: r["timestamp"]):
        leading = next((n for n, b in enumerate(row["hash_ids"]) if b not in seen), len(row["hash_ids"]))
        hits += min(leading * 512, row["input_length"])
        seen.update(row["hash_ids"])
    share = fold(read_traffic(tmp_path / "trace.jsonl"), (1,)).reuse[0].share
    assert share == pytest.approx(hits / sum(r["input_length"] for r in rows), abs=0.003)
