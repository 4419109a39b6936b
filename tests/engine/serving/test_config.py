"""Configuration and ladder files: what is shipped, what extends what, and every mistake in one sentence."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest
from serving_cases import config_file

from simulator.engine.serving.arguments import telling, words
from simulator.engine.serving.config import SHIPPED, load_config
from simulator.engine.serving.ladder_file import load_ladder
from simulator.errors import UsageError

LADDER = ("baseline", "mtp3", "async", "flashinfer", "mtp1", "top")


def test_the_ladder_changes_one_thing_a_rung() -> None:
    rungs = load_ladder(SHIPPED / "ladder.yaml", {}).rungs
    assert tuple(rung.name for rung in rungs) == LADDER
    changed = []
    for lower, higher in itertools.pairwise(rungs):
        names = lower.args.keys() | higher.args.keys()
        changed.append({name for name in names if lower.args.get(name) != higher.args.get(name)})
        assert (lower.env != higher.env) == (higher.name == "mtp3")  # where OMP goes from all cores to one
    assert changed == [
        {"speculative-config"}, {"async-scheduling"}, {"mamba-backend"}, {"speculative-config"},
        {"mamba-ssm-cache-dtype", "enable-mamba-cache-stochastic-rounding", "mamba-cache-philox-rounds"},
    ]  # fmt: skip
    assert rungs[0].args["async-scheduling"] is False and rungs[-1].env["OMP_NUM_THREADS"] == "1"
    assert int(rungs[0].env["OMP_NUM_THREADS"]) >= 1 and all(rung.random_weights and rung.why for rung in rungs)
    assert len({rung.digest for rung in rungs}) == len({rung.why for rung in rungs}) == 6


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_what_is_shipped_loads_and_states_prefix_caching(path: Path) -> None:
    whole = load_ladder(path, {}).rungs if "rungs:" in path.read_text() else [load_config(path, {})]
    for config in whole:
        assert config.embedded or isinstance(config.args["enable-prefix-caching"], bool)
        assert config.why or path.stem == "base"


def test_a_file_says_what_it_changes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "extends: top.yaml\nmodel: {path: /models/nano}\nargs:\n  load_format: null\n  no-enable-prefix-caching: true\n"
        "  speculative-config: {rejection_sample_method: null, synthetic_acceptance_length: null}\n"
        "  cudagraph-capture-sizes: [1, 2]\nenv: {HF_HUB_OFFLINE: null, MINE: '${X:-a}${Y}'}\n"
    )
    mine, top = load_config(tmp_path / "mine.yaml", {"Y": "b"}), load_config("top", {})
    assert not mine.random_weights and top.random_weights and mine.digest != top.digest
    assert mine.args["speculative-config"] == {"method": "mtp", "num_speculative_tokens": 1}
    assert (mine.model.path, mine.model.shape, mine.model.served) == ("/models/nano", None, "nano")
    assert "HF_HUB_OFFLINE" not in mine.env and mine.env["MINE"] == "ab" and mine.why == ""
    said = shlex.join(mine.argv)
    assert "--no-enable-prefix-caching" in said and "--cudagraph-capture-sizes 1 2" in said
    assert """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'""" in said
    assert "load-format" not in said and said.startswith("vllm serve --max-model-len 131072")


def test_a_rung_extends_a_file_or_an_earlier_rung(tmp_path: Path) -> None:
    (tmp_path / "l.yaml").write_text(
        "rungs:\n- {name: a, extends: top.yaml, why: A., args: {max-num-seqs: 64}}\n"
        "- {name: b, extends: a, why: B., env: {OMP_NUM_THREADS: 4}}\n- {name: c, config: top.yaml}\n"
    )
    a, b, c = load_ladder(tmp_path / "l.yaml", {}).rungs
    assert (a.args["max-num-seqs"], b.args["max-num-seqs"], c.args["max-num-seqs"]) == (64, 64, 256)
    assert b.env["OMP_NUM_THREADS"] == "4" and a.env["OMP_NUM_THREADS"] == "1" and (b.why, c.name) == ("B.", "c")
    assert load_config(f"{tmp_path / 'l.yaml'}:b", {}) == b
    assert c.digest == load_config("top", {}).digest


def test_words() -> None:
    args = {"a": True, "b": False, "c": None, "d": 0.5, "e": {"x": [1]}, "f": [1, "z"], "g": "two words"}
    expected = ("--a", "--no-b", "--d", "0.5", "--e", '{"x":[1]}', "--f", "1", "z", "--g", "two words")
    assert words(args) == expected


def test_a_manifest_s_environment_has_what_tells_and_no_secrets() -> None:
    environ = {
        "HF_TOKEN": "s3cret",
        "HOME": "/x",
        "VLLM_API_KEY": "s3cret",
        "CUDA_VISIBLE_DEVICES": "1",
        "MY_PASSWORD": "p",
    }
    found = telling(environ, {"OMP_NUM_THREADS": "4", "MY_PASSWORD": "s3cret", "TOKENIZERS_PARALLELISM": "false"})
    assert found == {
        "CUDA_VISIBLE_DEVICES": "1", "HF_TOKEN": "***", "MY_PASSWORD": "***", "OMP_NUM_THREADS": "4",
        "TOKENIZERS_PARALLELISM": "false", "VLLM_API_KEY": "***",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arg: {}", r"mine.yaml:2: unknown key 'arg', did you mean 'args'\?"),
        ("model: {shap: x}", r"unknown key 'model.shap', did you mean 'shape'\?"),
        ("engine: vlm", "'engine' is `vlm`; did you mean `vllm`"),
        ("args: {port: 8000}", "`port` is not for `args`: give it with --port"),
        ("args: {served_model_name: x}", "`served_model_name` is not for `args`: say `model: {served: ...}`"),
        ("args: {api-key: x}", "does not belong in a file or a command line"),
        ("args: {--max-num-seqs: 1}", "write its name without dashes"),
        ("args: {speculative-config.method: mtp}", r"write the parts of speculative-config as a mapping"),
        ("args: {max_num_seqs: 1, max-num-seqs: 2}", "says `max-num-seqs` a second time"),
        ("args: {no-async-scheduling: true, async-scheduling: true}", "says `async-scheduling` a second time"),
        ("vllm: 0.25", "'vllm': input should be a valid string"),
        ("vllm: newest", "`newest` is no range of versions; write it like '>=0.25,<0.34'"),
        (
            "model: {shape: lightning-30b}",
            "model.shape lightning-30b has no config.json; did you mean lightning-30b-a3b",
        ),
        ("model: {path: a, shape: b}", "give a path or a shape, not both"),
        ("args: {load-format: null}", "a shape has no weights; say `args: {load-format: dummy}`"),
        ("env: {A: '${NOT_SET}'}", "the environment variable NOT_SET is not set"),
        ("params: top", "`params` are settings of the embedded engine; say `engine: embedded`"),
        ("engine: embedded", "`args` is vLLM's"),
        ("extends: mine.yaml", "extends mine.yaml, which extends this file again; end the circle"),
        ("extends: topp.yaml", "topp.yaml: no such engine configuration; did you mean top"),
        ("command: 'vllm \"serve'", "`command` is no shell command"),
        ("command: vllm serve\ncommand: x", "key `command` is given twice"),
        ("[1]", "must be a mapping"),
        ("rungs: [{name: a, config: top.yaml}]", "mine.yaml is a ladder; name one of its rungs, such as .*mine.yaml:a"),
        ("rungs: 5", "'rungs' is `5`; it must be a list, see docs/serving.md"),
        ("rungs: [3]", r"'rungs.0' is `3`; it must be a mapping"),
        ("rungs: []", "'rungs' .* it must be a list with something in it"),
    ],
)
def test_a_mistake_in_a_configuration_is_told(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.yaml"
    bare = text.startswith(("extends", "[", "rungs"))
    path.write_text(text if bare else f"extends: top.yaml\n{text}\n")
    with pytest.raises(UsageError, match=words) as caught:
        load_config(path, {})
    assert ".yaml" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rungs: []", "'rungs' is .* a list with something in it"),
        ("rungs: 5", "'rungs' is `5`; it must be a list, see docs/serving.md"),
        ("why: x", "has no `rungs`, so it is no ladder"),
        ("rungs: [{name: a, config: top.yaml}, {name: a, config: top.yaml}]", "two rungs are called a"),
        ("rungs: [{name: a, config: top.yaml, args: {x: 1}}]", "to change args say `extends`"),
        ("rungs: [{name: a b, config: top.yaml}]", "'rungs.0.name'"),
        ("rungs: [{config: top.yaml}]", "key 'rungs.0.name' is missing"),
        ("rungs: [{name: a, extends: b}, {name: b, config: top.yaml}]", "b: no such engine configuration"),
        ("rungs: [{name: a, config: top.yaml}]\nscenari: x", "unknown key 'scenari', did you mean 'scenario'"),
    ],
)
def test_a_mistake_in_a_ladder_is_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "l.yaml").write_text(text)
    with pytest.raises(UsageError, match=words):
        load_ladder(tmp_path / "l.yaml", {})


def test_names_that_are_not_there() -> None:
    for named, told in [
        ("ladder", "is a ladder; name one of its rungs, such as .*ladder.yaml:baseline"),
        ("ladder:tpo", "has no rung tpo; did you mean top"),
        ("nowhere/top.yaml", "nowhere/top.yaml: no such engine configuration; did you mean top"),
        ("zzz", "zzz: no such engine configuration; serving/ has .*top"),
    ]:
        with pytest.raises(UsageError, match=told):
            load_config(named, {})


def test_the_command_comes_from_the_environment(tmp_path: Path) -> None:
    config = load_config("top", {"VLLM_SERVE": "python3 -m vllm.entrypoints.cli.main serve"})
    assert config.command == ("python3", "-m", "vllm.entrypoints.cli.main", "serve")
    assert config.digest == load_config("top", {}).digest  # how it is called decides nothing
    assert load_config(config_file(tmp_path), {}).model.served == "fake"
