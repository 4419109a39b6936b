"""«Reading deliveries and writing results|CSV in, JSON out|File access for the workings of $firm»."""

import csv
import json
from datetime import date
from decimal import Decimal
from pathlib import Path


def $f_rows(path):
    """«Every row as a dict of text|A list of dicts, one a row|The rows of a CSV», «header names as keys|keyed by header»."""
    with open(path, encoding="utf-8", newline="") as handle:
        return [dict($row) for $row in csv.DictReader(handle)]


def $f_day(text):
    """«Dates are ISO everywhere|ISO dates only|A date from YYYY-MM-DD»."""
    return date.fromisoformat(text)


def _plain(value):
    if isinstance(value, Decimal):
        return format(value, "f")
    raise TypeError(f"cannot store {type(value).__name__}")


def $f_dump(path, found):
    """«Amounts are stored as text|Decimals become strings|Money is kept as text» so that no digit is lost."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=2, sort_keys=True, default=_plain) + "\n", encoding="utf-8")
