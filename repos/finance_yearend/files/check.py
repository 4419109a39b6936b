import json
import os
import stat
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path

truth = json.load(sys.stdin)
faults = []
def regular(path):
    """Bytes of a file that is itself what it is named, no link to something else."""
    if os.path.realpath(path) != os.path.join(os.path.realpath("."), os.path.normpath(path)):
        raise FileNotFoundError(2, "a link", str(path))
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(2, "no file", str(path))
        return file.read(50_000_000)


for name, expected in truth["results"].items():
    try:
        data = json.loads(regular(name))
    except OSError:
        faults.append(f"{name}: missing")
        continue
    except ValueError as error:
        faults.append(f"{name}: not JSON ({error})")
        continue
    for keys, want, tolerance in expected:
        place, found = f"{name}: {' / '.join(keys)}", data
        try:
            for key in keys:
                found = found[key]
            got = Decimal(str(found))
            if got.is_nan() or abs(got - Decimal(want)) > Decimal(tolerance):
                faults.append(f"{place} is {found}, expected {want}")
        except (KeyError, TypeError, IndexError):
            faults.append(f"{place}: missing")
        except InvalidOperation:
            faults.append(f"{place} is no number: {found!r}")
report = Path(truth["report"])
try:
    text = regular(report).decode(errors="replace")
except OSError:
    text = ""
if not text:
    faults.append(f"{report}: missing")
for label, figure in truth["headlines"] if text else ():
    if figure not in text:
        faults.append(f"{report}: {label} {figure} not stated")
print("\n".join(faults) or "all figures agree")
sys.exit(bool(faults))
