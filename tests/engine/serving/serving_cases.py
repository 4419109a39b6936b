"""Configurations for the tests: a fake vLLM as a real process, in a folder of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

FAKE = Path(__file__).with_name("fake_vllm.py")
BASE = f"""\
engine: vllm
command: {sys.executable} {FAKE} serve
model: {{path: MODEL, served: fake}}
why: A server without an engine.
args: {{max-model-len: 4096, max-num-seqs: 8, enable-prefix-caching: true}}
ready_limit_s: 20
"""
TINY = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
    "torch_dtype": "bfloat16", "max_position_embeddings": 8192,
}  # fmt: skip


def config_file(folder: Path, text: str = "", name: str = "fake.yaml") -> Path:
    """A configuration of the fake vLLM, with `text` in a file that extends it."""
    model = folder / "model"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps(TINY))
    (model / "tokenizer.json").write_text("{}")
    (folder / "fake_base.yaml").write_text(BASE.replace("MODEL", str(model)))
    path = folder / name
    path.write_text(f"extends: fake_base.yaml\n{text}")
    return path
