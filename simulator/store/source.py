"""What a summary was folded from, so that one of other records is not believed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

import xxhash

from simulator.core.run import KINDS
from simulator.errors import UsageError
from simulator.store.regular import open_regular

#: of a summary: {"records", "xxh3_128"}
FOLDED_FROM = "folded_from"
#: of a source
DIGEST = "xxh3_128"
_BLOCK_BYTES = 4 << 20


def source(path: Path) -> dict[str, Any]:
    """{"records": lines, "xxh3_128": digest} of a file of lines, as it is unpacked (path.gz where it is packed). A
    missing one has none. UsageError when it cannot be read."""
    state, lines = xxhash.xxh3_128(), 0
    packed = path.with_name(f"{path.name}.gz")
    found = packed if not path.exists() and packed.exists() else path
    try:
        with ExitStack() as opened:
            file: IO[bytes] = opened.enter_context(open_regular(found))
            if found is packed:
                file = cast(IO[bytes], opened.enter_context(gzip.GzipFile(fileobj=file)))
            while block := file.read(_BLOCK_BYTES):
                state.update(block)
                lines += block.count(b"\n")
    except FileNotFoundError:
        pass
    except (OSError, EOFError, zlib.error) as why:
        how = "unpacked" if found is packed else "read"
        raise UsageError(f"{found} cannot be {how}: {why}; restore it or remove it") from why
    return {"records": lines, DIGEST: state.hexdigest()}


def may_be_of(
    summary: Mapping[str, Any], records: Mapping[str, Any], windows: Mapping[str, tuple[float, float]]
) -> bool:
    """Whether a summary was folded from these records. One of a version that did not say so is believed where its
    windows are the run's, which no two runs share to the microsecond."""
    if FOLDED_FROM in summary:
        return bool(summary[FOLDED_FROM] == records)
    for kind in KINDS:
        part = summary.get(kind)
        told = part.get("window") if isinstance(part, Mapping) else None
        steady = kind in windows and isinstance(told, Mapping) and told.get("steady")
        if steady and told.get("start_s") != windows[kind][0]:
            return False
    return True
