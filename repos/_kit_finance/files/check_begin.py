import json
import sys
from decimal import Decimal, InvalidOperation

truth = json.load(sys.stdin)
faults = []


def read(path):
    """Bytes of a result, b"" with a fault when there is none."""
    try:
        data = plain_file(path)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        faults.append(f"{path}: missing, {error.strerror}")
        return b""
    if not data:
        faults.append(f"{path}: missing")
    return data


def headlines():
    """Every headline figure stands in the report."""
    report = truth["report"]
    text = read(report).decode(errors="replace")
    for label, figure in truth["headlines"] if text else ():
        if figure not in text:
            faults.append(f"{report}: {label} {figure} not stated")
