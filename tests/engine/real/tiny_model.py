"""Makes a tiny NemotronH hybrid that vLLM serves with random weights (`--load-format dummy`): configuration, tokenizer
and chat template, from this repository's own text and without a network.

    .venv-engine/bin/python tests/engine/real/tiny_model.py FOLDER

Needs the `tokenizers` package, which the engine's environment has. Takes a second or two.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parents[3]
VOCABULARY = 8_192
MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
#: what the tool parser looks for: ordinary tokens, so that a reply's text keeps them
CALL_MARKS = ("<tool_call>", "</tool_call>")
PAD, END = MARKS.index("<|endoftext|>"), MARKS.index("<|im_end|>")
#: 4 Mamba-2 layers, 2 attention and 3 MLP layers; every kind of the full-size hybrids but the experts
SHAPE = {
    "architectures": ["NemotronHForCausalLM"],
    "model_type": "nemotron_h",
    "hybrid_override_pattern": "M-M*M-M*-",
    "hidden_size": 128,
    "intermediate_size": 256,
    "mlp_hidden_act": "relu2",
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "mamba_num_heads": 8,
    "mamba_head_dim": 32,
    "ssm_state_size": 32,
    "n_groups": 2,
    "conv_kernel": 4,
    "expand": 2,
    "chunk_size": 128,
    "use_conv_bias": True,
    "mamba_ssm_cache_dtype": "float32",
    # the reader of this configuration wants experts described also where the pattern has none
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
    "moe_shared_expert_intermediate_size": 64,
    "layer_norm_epsilon": 1e-5,
    "residual_in_fp32": False,
    "tie_word_embeddings": False,
    "max_position_embeddings": 131_072,
    "torch_dtype": "bfloat16",
    "bos_token_id": PAD,
    "eos_token_id": END,
    "pad_token_id": PAD,
}
#: chatml; tools as JSON lines in the system message, calls as JSON between the marks ("hermes")
TEMPLATE = """\
{%- macro text(content) -%}
{%- if content is string -%}{{ content }}{%- elif content -%}{%- for part in content if part.type == "text" -%}\
{{ part.text }}{%- endfor -%}{%- endif -%}
{%- endmacro -%}
{%- macro turn(role, said) -%}{{ "<|im_start|>" ~ role ~ "\\n" ~ said ~ "<|im_end|>\\n" }}{%- endmacro -%}
{%- set first = text(messages[0].content) if messages[0].role == "system" else "" -%}
{%- if tools -%}
{%- set offered = namespace(lines="") -%}
{%- for tool in tools -%}{%- set offered.lines = offered.lines ~ "\\n" ~ (tool | tojson) -%}{%- endfor -%}
{{- turn("system", first ~ "\\n\\nTools:" ~ offered.lines) -}}
{%- elif first -%}
{{- turn("system", first) -}}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == "tool" -%}
{{- turn("user", "<tool_response>\\n" ~ text(message.content) ~ "\\n</tool_response>") -}}
{%- elif message.role == "assistant" -%}
{%- set said = namespace(text=text(message.content)) -%}
{%- for call in message.tool_calls or [] -%}
{%- set given = call.function.arguments -%}
{%- set given = given if given is string else given | tojson -%}
{%- set made = "{\\"name\\": \\"" ~ call.function.name ~ "\\", \\"arguments\\": " ~ given ~ "}" -%}
{%- set said.text = said.text ~ "\\n<tool_call>\\n" ~ made ~ "\\n</tool_call>" -%}
{%- endfor -%}
{{- turn("assistant", said.text) -}}
{%- elif message.role == "user" or not loop.first -%}
{{- turn(message.role, text(message.content)) -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ "<|im_start|>assistant\\n" }}{%- endif -%}
"""


def texts() -> list[str]:
    """What agents' prompts are made of: this repository's own files, those that are committed."""
    told = subprocess.run(["git", "ls-files", "-z", "simulator", "repos"], cwd=ROOT, capture_output=True, check=True)
    names = sorted(n for n in told.stdout.decode().split("\0") if n.endswith((".py", ".md", ".yaml", ".txt")))
    return [(ROOT / name).read_text(encoding="utf-8", errors="ignore") for name in names]


def tokenizer(corpus: list[str]) -> Tokenizer:
    """Byte-level BPE: every text goes there and back, every id of the vocabulary is text."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    marks = [AddedToken(mark, special=True) for mark in MARKS]
    marks += [AddedToken(mark, special=False) for mark in CALL_MARKS]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=marks,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(corpus, trainer)
    if made.get_vocab_size() != VOCABULARY:
        raise SystemExit(f"the text gave {made.get_vocab_size()} tokens, {VOCABULARY} are needed")
    return made


def write(folder: Path) -> None:
    """config.json, tokenizer.json, tokenizer_config.json, generation_config.json: all that `vllm serve` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer(texts()).save(str(folder / "tokenizer.json"))
    about_tokens = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": MARKS[PAD],
        "eos_token": MARKS[END],
        "pad_token": MARKS[PAD],
        "model_max_length": SHAPE["max_position_embeddings"],
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
    ids = {key: SHAPE[key] for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    for name, content in (
        ("config.json", {**SHAPE, "vocab_size": VOCABULARY}),
        ("tokenizer_config.json", about_tokens),
        ("generation_config.json", ids),
    ):
        (folder / name).write_text(json.dumps(content, indent=1))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
