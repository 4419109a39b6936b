"""Why a server did not start, or died: what vLLM says in its log, in a sentence with a cure. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

#: (what the log says, cause and cure); the first that is found, the most telling first. {1}: of the pattern's groups
CAUSES: tuple[tuple[str, str], ...] = (
    (
        r"unrecognized arguments?: (.{1,200})",
        "this vLLM does not know {1}; leave it out, or serve with a version that has it",
    ),
    (
        r"error: argument (--[\w-]+)[^:]*: (.{1,300})",
        "{1} is refused: {2}; correct it in `args`",
    ),
    (
        r"Free memory on device \S* ?\(([\d.]+/[\d.]+ GiB)\).{0,80}less than (?:desired|the engine's budget)",
        "only {1} of the GPU's memory are free: another process holds the rest; end that, or lower "
        "gpu-memory-utilization",
    ),
    (
        r"\(([\d.]+ ?GiB) KV cache is needed, which is larger than the available KV cache memory \(([\d.-]+ ?GiB)\)",
        "one request of max-model-len needs {1} of KV cache and {2} are left; lower max-model-len, or raise "
        "gpu-memory-utilization",
    ),
    (
        r"No available memory for the cache blocks",
        "the weights leave no memory for the KV cache; raise gpu-memory-utilization, lower max-num-batched-tokens, or "
        "use a smaller model or a larger GPU",
    ),
    (
        r"OutOfMemoryError: (?:CUDA|HIP) out of memory|CUDA out of memory|CUDA error: out of memory",
        "the GPU's memory ran out; lower gpu-memory-utilization, max-num-seqs or max-num-batched-tokens, or use a "
        "larger GPU",
    ),
    (r"std::bad_alloc|MemoryError\b|Cannot allocate memory", "this machine's memory ran out; close what else runs"),
    (
        r"no kernel image is available for execution|(?:not supported|unsupported)[^\n]{0,80}compute capability|"
        r"compute capability[^\n]{0,120}(?:not supported|unsupported|is required|but)|"
        r"requires? (?:device )?(?:with )?(?:compute )?capability",
        "this GPU is not supported by what the configuration asks for; use another backend or type, or another GPU",
    ),
    (
        r"No CUDA GPUs are available|Failed to infer device type|Found no NVIDIA driver|"
        r"CUDA driver version is insufficient|no CUDA-capable device",
        "there is no GPU that this vLLM can use; check nvidia-smi and CUDA_VISIBLE_DEVICES",
    ),
    (
        r"Can't load tokenizer|Couldn't instantiate the backend tokenizer|[Nn]o tokenizer|"
        r"Can't load the configuration of tokenizer|Unable to load vocabulary|"
        r"(?:tokenizer\.json|tokenizer_config\.json)[^\n]{0,80}(?:not|No such)|TypeError: not a string",
        "the model has no tokenizer that can be loaded; put tokenizer.json beside it, or say `model.tokenizer`",
    ),
    (
        r"KeyError: 'added_tokens'|data did not match any variant of untagged enum|"
        r"Exception: (?:expected value|EOF while parsing|Model missing)[^\n]{0,60} at line",
        "the model's tokenizer.json is damaged; copy it again from the model",
    ),
    (
        r"does not appear to have a file named config\.json|is not a local folder and is not a valid model identifier|"
        r"Repo id must|HFValidationError|LocalEntryNotFoundError|OfflineModeIsEnabled|Cannot find any model weights|"
        r"Invalid repository ID|cannot find the requested files in the (?:disk|local) cache|"
        r"We couldn't connect to 'https?://|RepositoryNotFoundError|No model weights found",
        "the model is not where `model.path` says, or has no weights there; check the path (hub names need a network, "
        "and HF_HUB_OFFLINE unset)",
    ),
    (
        r"User-specified max_model_len \((\d+)\) is greater than the derived max_model_len \(\w*=?(\d+)",
        "max-model-len {1} is more than the model's {2}; lower it",
    ),
    (
        r"Model architectures? (\[[^\]]{1,100}\]) (?:are|is) not supported|"
        r"no vLLM implementation and the Transformers implementation is not compatible",
        "this vLLM cannot serve the model's architecture {1}; use a version that can",
    ),
    (r"address already in use|Errno 98\b|EADDRINUSE", "the port is in use; leave --port out for a free one"),
    (
        r"ModuleNotFoundError: No module named '([\w.]+)'",
        "the Python of this vLLM has no module {1}; install it there, or correct `command` or PYTHONPATH",
    ),
    (r"ImportError: (.{1,200})", "this vLLM's installation is broken: {1}"),
    (r"No space left on device", "the disk is full; free some space"),
    (r"Too many open files", "too few open files are allowed; raise `ulimit -n`"),
    (r"NCCL error[^\n]{0,200}|ncclUnhandled\w+", "the GPUs cannot talk to each other (NCCL); see the log"),
)
_FOUND = tuple((re.compile(pattern), told) for pattern, told in CAUSES)
#: the last error that Python names, where nothing above is found
_ERROR = re.compile(r"(?:^|[\s:])((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Refused)): (.{3,300})")
_VAGUE = ("Engine core initialization failed", "EngineCore encountered", "EngineDeadError", "failed to start")
#: the API server's word for it; what the core itself says, where it can, is the cause
_CORE_DIED = re.compile(r"\bEngineDeadError\b|[Ee]ngine ?[Cc]ore\b[^\n]{0,60}\b(?:died|exited) unexpectedly")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
#: lines that warn of what might happen, or repeat the arguments
_NO_FAULT = re.compile(r"^(?:INFO|DEBUG|WARNING) ")
#: when and where a line was written: the traceback of a dead engine comes once for each request
_WHEN = re.compile(r"^[A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]{1,80}\] ?")
_PREFIX = re.compile(r"^\((?:APIServer|EngineCore|Worker|ApiServer)\w*(?: pid=\d+)?\)\s*")


def clean(lines: Sequence[str]) -> list[str]:
    """Without colours and the processes' marks."""
    return [_PREFIX.sub("", _COLOUR.sub("", line)).rstrip() for line in lines]


def cause(lines: Sequence[str], returncode: int | None) -> str:
    """A clause that names the cause and the cure, "" when none is known. returncode: below 0 a signal; None: it runs
    still."""
    said = clean(lines)
    text = "\n".join(dict.fromkeys(_WHEN.sub("", line) for line in said if not _NO_FAULT.match(line)))
    for pattern, told in _FOUND:
        if found := pattern.search(text):
            groups = (found[0], *(part or "" for part in found.groups()))
            return told.format(*(group.strip() for group in groups))
    if returncode == -signal.SIGKILL:
        return "something killed it, most often the kernel as memory ran out: see `dmesg`"
    if returncode in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGILL, -signal.SIGBUS):
        return f"it crashed ({signal.Signals(-returncode).name}); a kernel or library does not suit this machine"
    errors = [found for found in _ERROR.findall(text) if not any(word in found[1] for word in _VAGUE)]
    last = f"{errors[-1][0].rpartition('.')[2]}: {errors[-1][1].strip()}" if errors else ""
    if any(_CORE_DIED.search(line) for line in said):
        return f"its engine core died (EngineDeadError), {last or 'killed or crashed without a word: see `dmesg`'}"
    return last


def ended(returncode: int | None) -> str:
    """How it ended, for people."""
    if returncode is None:
        return "still runs"
    if returncode < 0:
        try:
            return f"was ended by {signal.Signals(-returncode).name}"
        except ValueError:
            return f"was ended by signal {-returncode}"
    return f"ended with exit code {returncode}"


def without_guard(pid: int, returncode: int) -> str:
    """How an engine ended whose guard had died, for people."""
    how = ended(returncode)
    return (
        f"was stopped because its guard (process {pid}) {how}, without which nothing ends it when sim goes; start it "
        "again, and leave guard.py alone"
    )


def outlived(left: Sequence[tuple[int, str]]) -> str:
    """What a server started and nothing could end, for people. left: (pid, command); the first three are named."""
    named = ", ".join(f"{pid} ({command[:80]})" if command else str(pid) for pid, command in left[:3])
    more = f" and {len(left) - 3} more" if len(left) > 3 else ""
    several = len(left) > 1
    return (
        f"process{'es' if several else ''} {named}{more}, which the engine started, could not be ended; "
        f"end {'them' if several else 'it'} by hand"
    )


def tail(lines: Sequence[str], n: int = 3) -> str:
    """The last lines that say something, on one."""
    told = [line.strip()[:200] for line in clean(lines) if line.strip()]
    return " | ".join(told[-n:])
