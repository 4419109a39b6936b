import json
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path

truth = json.load(sys.stdin)
faults = []
for name, expected in truth["results"].items():
    try:
        data = json.loads(Path(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
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
text = report.read_text(encoding="utf-8") if report.is_file() else ""
if not text:
    faults.append(f"{report}: missing")
for label, figure in truth["headlines"] if text else ():
    if figure not in text:
        faults.append(f"{report}: {label} {figure} not stated")
print("\n".join(faults) or "all figures agree")
sys.exit(bool(faults))
