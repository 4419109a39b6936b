def number(place, found):
    try:
        got = Decimal(str(found))
    except InvalidOperation:
        got = Decimal("NaN")
    if not got.is_finite():
        faults.append(f"{place} is no number: {found!r}")
        return None
    return got


def results():
    path = truth["results"]
    text = read(path)
    if not text:
        return {}
    try:
        data = json.loads(text)
    except ValueError as error:
        faults.append(f"{path}: not JSON ({error})")
        return {}
    if not isinstance(data, dict):
        faults.append(f"{path}: not an object")
        return {}
    for extra in sorted(set(data) - set(truth["wanted"])):
        faults.append(f"{path}: {extra} was not asked for")
    figures = {}
    for name, wanted in truth["wanted"].items():
        entry = data.get(name)
        if not isinstance(entry, dict):
            faults.append(f"{path}: {name}: missing")
            continue
        figures[name] = {}
        for key, (value, tolerance) in wanted.items():
            place = f"{path}: {name} / {key}"
            if key not in entry:
                faults.append(f"{place}: missing")
                continue
            got = number(place, entry[key])
            if got is None:
                continue
            figures[name][key] = got
            if abs(got - Decimal(value)) > Decimal(tolerance):
                faults.append(f"{place} is {entry[key]}, expected {value}")
    return figures


found = results()
for name, given in truth["given"].items():
    entry = found.get(name, {})
    if len(entry) == len(truth["wanted"][name]):
        for fault in identities(given, entry):
            faults.append(f"{name}: {fault}")
headlines()
for name, digest in truth["untouched"].items():
    import hashlib

    try:
        same = hashlib.sha256(plain_file(name, own=False)).hexdigest() == digest
    except OSError:
        same = False
    if not same:
        faults.append(f"{name}: changed or missing, it was to be left as delivered")
print("\n".join(faults) or "all figures agree")
sys.exit(bool(faults))
