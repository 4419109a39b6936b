for name, expected in truth["results"].items():
    text = read(name)
    if not text:
        continue
    try:
        data = json.loads(text)
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
headlines()
print("\n".join(faults) or "all figures agree")
sys.exit(bool(faults))
