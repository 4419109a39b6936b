"""Why a server did not start: what vLLM's log says, most lines as vLLM 0.32 wrote them on a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from serving_cases import config_file

from simulator.engine.serving.causes import cause, ended, outlived, tail
from simulator.engine.serving.config import load_config
from simulator.engine.serving.life import started
from simulator.errors import EngineError

#: in every log of vLLM, and no fault
USUAL = """\
(APIServer pid=1) WARNING 11-30 07:12:59 [system_utils.py:255] Found ulimit of 20000 and failed to automatically \
increase. This can cause fd limit errors like `OSError: [Errno 24] Too many open files`.
(APIServer pid=1) INFO 11-30 07:12:59 [api_server.py:1] non-default args: {'port': 8000}
"""
LAST = (
    "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n"
)
#: what the API server says for each request once its engine core is gone
DEAD = "\n".join(
    f"(APIServer pid=1) ERROR 11-30 16:00:{n % 60:02} [serving.py:500] {line}"
    for n in range(300)
    for line in (
        "Error in completion stream generator.",
        "Traceback (most recent call last):",
        *(f'  File "module_{at}.py", line {at}, in step' for at in range(20)),
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the "
        "root cause.",
    )
)


@pytest.mark.parametrize(
    ("log", "returncode", "words"),
    [
        ("vllm: error: unrecognized arguments: --no-such-flag 3", 2, "does not know --no-such-flag 3; leave it out"),
        (
            "vllm: error: argument --mamba-cache-mode: invalid choice: 'all' (choose from 'align', 'none')", 2,
            "--mamba-cache-mode is refused: invalid choice: 'all'",
        ),
        (
            "(EngineCore pid=2) ERROR 11-30 07:15:48 [core.py:1510] ValueError: No available memory for the cache "
            "blocks. Try increasing `gpu_memory_utilization`", 1, "the weights leave no memory for the KV cache",
        ),
        (
            "ValueError: To serve at least one request with the model's max seq len (131072), (3.5 GiB KV cache is "
            "needed, which is larger than the available KV cache memory (1.25 GiB). Try increasing", 1,
            "one request of max-model-len needs 3.5 GiB of KV cache and 1.25 GiB are left",
        ),
        (
            "ValueError: Free memory on device cuda:0 (20.1/139.8 GiB) on startup is less than desired GPU memory "
            "utilization (0.92, 128.6 GiB). Decrease GPU memory utilization", 1,
            "only 20.1/139.8 GiB of the GPU's memory are free: another process holds the rest",
        ),
        (
            "(EngineCore pid=2) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", 1,
            "the GPU's memory ran out; lower gpu-memory-utilization",
        ),
        (
            "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU "
            "has compute capability 7.5.", 1, "Bfloat16 is only supported on GPUs with compute capability",
        ),
        (
            "ValueError: Stochastic rounding for Mamba cache with triton backend requires compute capability 10.0", 1,
            "this GPU is not supported by what the configuration asks for",
        ),
        ("RuntimeError: Failed to infer device type, please set", 1, "there is no GPU that this vLLM can use"),
        (
            "ValueError: Couldn't instantiate the backend tokenizer from one of: \n(1) a `tokenizers` library", 1,
            "the model has no tokenizer that can be loaded",
        ),
        (
            "  File \"tokenization_utils.py\", line 1\nKeyError: 'added_tokens'", 1,
            "the model's tokenizer.json is damaged",
        ),
        ("Exception: EOF while parsing a value at line 1 column 0", 1, "the model's tokenizer.json is damaged"),
        (
            "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder", 1,
            "the model is not where `model.path` says",
        ),
        ("RuntimeError: Cannot find any model weights with `tiny`", 1, "or has no weights there"),
        (
            "  Value error, User-specified max_model_len (99999999) is greater than the derived max_model_len "
            "(max_position_embeddings=131072.0 or model_max_length=None in model's config.json).", 1,
            "max-model-len 99999999 is more than the model's 131072; lower it",
        ),
        ("    sock.bind(addr)\nOSError: [Errno 98] Address already in use", 1, "the port is in use"),
        ("ModuleNotFoundError: No module named 'flashinfer'", 1, "has no module flashinfer; install it there"),
        ("OSError: [Errno 28] No space left on device", 1, "the disk is full"),
        ("", -9, "something killed it, most often the kernel as memory ran out"),
        ("", -11, "it crashed (SIGSEGV)"),
        ("ValueError: a new kind of fault", 1, "ValueError: a new kind of fault"),
        (DEAD, 0, "its engine core died (EngineDeadError), killed or crashed without a word: see `dmesg`"),
        (f"RuntimeError: odd kernel\n{DEAD}", 0, "its engine core died (EngineDeadError), RuntimeError: odd kernel"),
        (f"torch.OutOfMemoryError: CUDA out of memory.\n{DEAD}", 0, "the GPU's memory ran out"),
        ("", 1, ""),
        ("", None, ""),
    ],
)  # fmt: skip
def test_a_cause_is_named_with_its_cure(log: str, returncode: int | None, words: str) -> None:
    found = cause((USUAL + log + "\n" + LAST).splitlines(), returncode)
    assert words in found and (words or not found), found


def test_how_it_ended() -> None:
    assert [ended(code) for code in (None, 0, 1, -9, -15)] == [
        "still runs", "ended with exit code 0", "ended with exit code 1", "was ended by SIGKILL",
        "was ended by SIGTERM",
    ]  # fmt: skip
    assert tail(["a\n", "\x1b[31mb\x1b[0m\n", "\n", "(EngineCore pid=7) c\n"], 2) == "b | c"


def test_what_nothing_could_end_is_named() -> None:
    one = outlived([(7, "python -m ray")])
    assert one == "process 7 (python -m ray), which the engine started, could not be ended; end it by hand"
    assert outlived([(1, "a" * 200), (2, ""), (3, "c"), (4, "d")]) == (
        f"processes 1 ({'a' * 80}), 2, 3 (c) and 1 more, which the engine started, could not be ended; end them by hand"
    )


async def test_a_server_that_dies_at_its_start_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "said").write_text(USUAL + "torch.OutOfMemoryError: CUDA out of memory.\n" + LAST)
    config, log = load_config(config_file(tmp_path, f"env: {{FAKE_CASE: 'log:{tmp_path}/said'}}")), tmp_path / "log"
    with pytest.raises(
        EngineError, match=r"fake did not start: the engine ended with exit code 1: the GPU's mem"
    ) as caught:
        async with started(config, log=log):
            pass
    assert "\n" not in str(caught.value) and f"its log ({log}) ends with" in str(caught.value)


async def test_a_server_that_the_kernel_kills_is_told(tmp_path: Path) -> None:
    config = load_config(config_file(tmp_path, "env: {FAKE_CASE: killed}"))
    with pytest.raises(EngineError, match="fake did not start: the engine was ended by SIGKILL: something killed it"):
        async with started(config, log=tmp_path / "log"):
            pass
