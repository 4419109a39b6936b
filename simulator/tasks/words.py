"""Seeded raw material for task recipes: people, companies, addresses, goods, dates, amounts and a small text grammar.

Every function draws from the `random.Random` it is given and from nothing else, so a recipe that starts from
`stream(seed, "part")` gives the same bytes everywhere. Names are invented; a resemblance to a real firm is chance.
Money is in integer cents. Bank and tax numbers carry right check digits, since real parsers verify them.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST = _split("""
Ada Agnes Aisha Alban Aldo Amelie Amir Anneke Anton Arjun Astrid Aurelio Beatriz Benedikt Birgit Bogdan Bram Branka
Camille Carys Cedric Chiara Clemens Corinne Dagmar Dalia Damian Daria Declan Denise Dilara Dominik Edda Eilidh Elif
Emeka Emil Enrico Esther Fabian Farah Felix Femke Fergus Fiona Florian Frida Gareth Georgia Gerrit Giulia Grace Greta
Hamza Hanna Harriet Hasan Helene Hendrik Hilde Hugo Ida Ilse Imran Ines Ingrid Irena Ismail Ivo Jana Jasper Jelena
Joao Jonas Josefine Judith Kamil Karin Katrin Keiko Kieran Klara Kofi Lars Laszlo Leila Lennart Leonie Liam Linnea
Lorenzo Lotte Luca Magda Maren Marta Mathis Matteo Maud Meera Mikkel Milan Mirjam Moira Nadia Naoki Nele Niamh Nikolai
Nora Oksana Olaf Olga Orla Oskar Paula Pavel Petra Philippa Pia Priya Quentin Rafael Ragna Rania Renate Robin Roisin
Rosa Ruben Sabine Samir Sanne Selma Sergio Silke Simone Sofia Soren Stefan Sunita Tamara Tariq Teresa Thijs Thora
Tilda Tobias Tomasz Ulrike Ursula Valentin Vera Viktor Violeta Wanda Wim Xenia Yara Yusuf Yvonne Zofia
""")

LAST = _split("""
Abernethy Adeyemi Albrecht Almeida Ambrose Anders Arroyo Ashdown Auer Bakker Balogh Barros Bassi Becker Bellamy
Berglund Bianchi Birkett Bjork Blaha Bonnet Bracken Brandt Brennan Brouwer Calder Callahan Cardoso Carver Castellan
Chandra Clarke Cordova Cosgrove Crane Dahl Danjuma Dekker Delacroix Demir Dietz Dobson Doyle Drummond Dufour Eberhart
Egan Ekstrom Ellery Engel Erdmann Fairley Falk Farkas Faulkner Ferreira Fischer Fleming Forsberg Fournier Frost Gallo
Garrick Geller Ghosh Gilmour Goossens Graf Greenlaw Grimaldi Gruber Haddad Hale Halloran Hartnell Haugen Hegarty
Heller Herrera Hofer Holmgren Horvat Hutton Ibsen Ivanov Jansen Jardine Jessop Juhasz Kaplan Karlsen Keane Keller
Kendrick Khalil Kilbride Kirchner Kovac Kramer Kuiper Lachlan Lambert Larkin Laurent Leclerc Lehner Lindqvist Loxley
Lund Macready Madsen Maguire Malik Marchetti Marlow Mazur Meier Mercer Merriman Molnar Moreau Morland Mukherjee Nagy
Navarro Nesbitt Nielsen Noble Nowak Nyberg Oakes Obi Ogilvie Okafor Oliveira Olsen Orsini Osterman Paget Palermo
Parrish Pavlov Pellegrin Penrose Petersen Pichler Pinto Popescu Prescott Quigley Radford Rahman Ramsay Raske Redmond
Reiter Renner Ribeiro Rossi Rowntree Ruiz Rutherford Sabo Salvesen Santoro Sawyer Schaefer Schouten Selby Severin Shah
Sheridan Silvestri Skov Sokolov Sorrell Stadler Steiner Sternberg Strand Sutcliffe Svensson Szabo Tanner Tavares
Thorne Tillman Toivonen Torres Tran Trevelyan Ulrich Underhill Vance Varga Veldman Verhoeven Vidal Vogel Wagner
Waldron Wallin Webber Weir Westergaard Whitlock Winkler Wójcik Yardley Yilmaz Zander Zeller Zorić
""")

ROOTS = _split("""
Alder Amber Anvil Arden Argent Ashlar Aster Atlas Aurora Avon Bastion Beacon Birch Blackthorn Boreal Bridge Brook
Canal Cedar Cinder Citadel Clover Cobalt Compass Copper Coral Crest Crown Delta Drift Eagle Eastgate Elm Ember Fairway
Falcon Fen Fern Flint Forge Foxglove Garnet Glen Granite Grove Harbour Hawthorn Hazel Helix Heron Hollow Ivory Juniper
Keel Kestrel Kiln Lantern Larch Lark Linden Lodestar Lowland Lumen Magpie Maple Marble Marten Meadow Meridian Mica
Millrace Mistral Moor Nimbus North Oak Obsidian Onyx Orchard Osprey Otter Overland Palisade Pebble Pennant Peregrine
Pilot Pine Plover Polar Prism Quarry Quay Quill Rampart Raven Redwood Reed Ridge River Rowan Rushmere Saffron Sable
Sand Sapphire Severn Signal Silver Slate Solstice Sorrel Spindle Spire Starling Steel Sterling Stone Summit Swift Tarn
Teal Thistle Tidal Timber Topaz Trellis Tern Umber Upland Valley Vantage Verdant Vesper Viola Walnut Weald Weir Willow
Wren Yarrow Zenith Zephyr
""")

#: country -> (cities, postcode pattern, street patterns, legal forms, VAT pattern, domestic account pattern, dial code)
PLACES: Mapping[str, tuple[str, str, str, str, str, str, str]] = {
    "GB": (
        "Leeds Norwich Hull Exeter Derby Stirling Preston Lincoln Swansea Paisley",
        "@@# #@@", "* Road|* Street|* Lane|* Way|* Court|* Hill",
        "Ltd|PLC|LLP", "GB#########", "@@@@##############", "+44 1##",
    ),
    "DE": (
        "Kassel Bremen Ulm Erfurt Mainz Rostock Bochum Jena Passau Celle",
        "#####", "*straße|*weg|*allee|*gasse|Am * Park|*ring",
        "GmbH|AG|GmbH & Co. KG|e.K.", "DE#########", "##################", "+49 3##",
    ),
    "NL": (
        "Utrecht Breda Zwolle Arnhem Delft Leiden Haarlem Venlo Deventer Almere",
        "#### @@", "*straat|*laan|*kade|*weg|*plein|*dijk",
        "B.V.|N.V.|V.O.F.", "NL#########B##", "@@@@##########", "+31 2#",
    ),
    "FR": (
        "Lille Nantes Dijon Reims Angers Rouen Limoges Amiens Metz Brest",
        "#####", "rue *|avenue *|quai *|allée des *|place *",
        "SARL|SAS|SA", "FR###########", "#######################", "+33 2",
    ),
    "IE": (
        "Cork Galway Limerick Waterford Sligo Athlone Kilkenny Tralee Ennis Dundalk",
        "@## @@##", "* Quay|* Street|* Terrace|* Square|* Park",
        "Ltd|DAC|plc", "IE#######@@", "@@@@##############", "+353 2#",
    ),
    "AT": (
        "Linz Graz Wels Steyr Villach Dornbirn Krems Bregenz Leoben Salzburg",
        "####", "*gasse|*straße|*platz|*weg",
        "GmbH|AG|OG", "ATU########", "################", "+43 7##",
    ),
    "DK": (
        "Odense Aarhus Esbjerg Randers Kolding Vejle Horsens Roskilde Viborg Holbæk",
        "####", "*vej|*gade|*allé|*stræde|*torv",
        "ApS|A/S|I/S", "DK########", "##############", "+45 7#",
    ),
}  # fmt: skip

#: sector -> (trade words of company names, goods or services, units)
SECTORS: Mapping[str, tuple[str, str, str]] = {
    "catering": (
        "Catering|Provisions|Foods|Kitchen Supply|Larder",
        "espresso beans|oat milk cartons|rapeseed oil canister|sourdough loaves|smoked trout fillets|"
        "muesli sack|dishwasher tablets|porcelain cups|napkin bundle|lentil curry trays|apple juice crates|"
        "cheddar block",
        "case|kg|crate|pack",
    ),
    "print": (
        "Print|Press|Graphics|Paper Mill|Bindery",
        "folded leaflets|perfect-bound reports|roll-up banners|letterhead paper|window envelopes|"
        "shelf labels|exhibition boards|wire-bound manuals|loyalty cards|carbonless pads|die-cut stickers|"
        "poster tubes",
        "1000 pcs|pcs|roll|box",
    ),
    "electrical": (
        "Electric|Switchgear|Power Systems|Lighting|Controls",
        "residual-current breaker|cable tray section|LED panel|contactor|motor protection relay|junction box|"
        "emergency luminaire|busbar set|surge arrester|DIN rail meter|armoured cable|presence detector",
        "pcs|m|set|drum",
    ),
    "laboratory": (
        "Scientific|Diagnostics|Analytics|Reagents|Lab Supply",
        "nitrile gloves|pipette tips|buffer solution|quartz cuvettes|syringe filters|cryo vials|agar plates|"
        "reference thermometer|centrifuge tubes|pH electrode|desiccant beads|calibration weights",
        "box|bottle|rack|pcs",
    ),
    "logistics": (
        "Freight|Haulage|Forwarding|Cold Chain|Parcel Services",
        "groupage transport|customs clearance|pallet storage|reefer surcharge|last-mile delivery|"
        "tail-lift service|container drayage|express courier run|cross-docking|demurrage|fuel surcharge|"
        "returns handling",
        "pallet|shipment|day|km",
    ),
    "building": (
        "Construction|Joinery|Roofing|Builders' Merchants|Facades",
        "oak battens|mineral wool boards|breathable membrane|galvanised joist hangers|lime plaster|"
        "slate tiles|acoustic glass unit|drainage channel|concrete lintel|cedar cladding|expansion anchors|"
        "primer sealer",
        "m2|pcs|bag|pallet",
    ),
    "software": (
        "Software|Data Services|Cloud Hosting|Systems|Networks",
        "support retainer|managed database|penetration test|single sign-on seats|backup storage|code review|"
        "incident response hours|monitoring licence|migration workshop|log retention|staging environment|"
        "API quota",
        "seat|hour|month|TB",
    ),
    "facility": (
        "Facilities|Cleaning|Site Services|Grounds Care|Security",
        "window cleaning|night patrol|carpet extraction|waste container exchange|hedge trimming|"
        "reception cover|washroom consumables|filter replacement|gritting call-out|key holding|floor sealing|"
        "lift inspection",
        "visit|hour|month|m2",
    ),
    "machining": (
        "Engineering|Tooling|Precision|Castings|Hydraulics",
        "turned bushings|solid carbide end mill|hydraulic hose assembly|linear guide|shaft seal|gear blank|"
        "bearing unit|laser-cut bracket|spindle overhaul|cutting fluid|clamping fixture|valve block",
        "pcs|set|l|hour",
    ),
    "textile": (
        "Workwear|Textiles|Linen Hire|Uniforms|Weavers",
        "high-visibility jackets|chef aprons|bath sheets|flame-retardant coveralls|knit beanies|"
        "table runners|safety shoes|rental overalls|embroidered polos|duvet covers|cut-resistant gloves|"
        "rain trousers",
        "pcs|pair|set|week",
    ),
}  # fmt: skip

#: for goods; services have their own, nobody buys galvanised key holding
QUALIFIERS = _split("""
compact heavy-duty standard premium recycled certified insulated galvanised matt unbleached reinforced modular sealed
coated narrow wide twin-pack organic seasonal calibrated pre-assembled white grey blue green black short long extended
food-grade weatherproof antistatic lightweight bulk
""")
SERVICES = frozenset({"logistics", "software", "facility"})
SERVICE_QUALIFIERS = _split("""
standard priority weekday weekend night-time seasonal fixed-price on-demand quarterly monthly basic extended regional
pre-booked shared dedicated urgent annual metered pooled managed second-tier
""")


@dataclass(frozen=True, slots=True)
class Person:
    first: str
    last: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    def email(self, domain: str) -> str:
        return f"{plain(self.first)}.{plain(self.last)}@{domain}"


@dataclass(frozen=True, slots=True)
class Address:
    street: str
    postcode: str
    city: str
    country: str

    @property
    def lines(self) -> tuple[str, str]:
        return self.street, f"{self.postcode} {self.city}"


@dataclass(frozen=True, slots=True)
class Company:
    """`name` with legal form, `short` without; `iban` without blanks, its check digits are right."""

    name: str
    short: str
    sector: str
    address: Address
    vat_id: str
    iban: str
    phone: str
    domain: str


@dataclass(frozen=True, slots=True)
class Product:
    sku: str
    name: str
    unit: str
    price_cents: int


def stream(seed: int, *labels: object) -> random.Random:
    """A generator of its own for each part of a recipe, so that one part's draws never shift another's."""
    digest = hashlib.sha256(repr((seed, *labels)).encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


def plain(text: str) -> str:
    """Lower-case ASCII letters, digits and single dashes, for domains and file names."""
    table = str.maketrans(dict(zip("ßæøéóćäöü", ("ss", "ae", "o", "e", "o", "c", "ae", "oe", "ue"), strict=True)))
    return re.sub(r"[^a-z0-9]+", "-", text.lower().translate(table)).strip("-")


def pattern(r: random.Random, shape: str) -> str:
    """'#' becomes a digit, '@' a capital letter."""
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    return "".join(str(r.randrange(10)) if c == "#" else r.choice(letters) if c == "@" else c for c in shape)


def iban(country: str, account: str) -> str:
    """ISO 13616 check digits in front of a domestic account number."""
    digits = "".join(str(int(c, 36)) for c in account + country + "00")
    return f"{country}{98 - int(digits) % 97:02d}{account}"


def person(r: random.Random) -> Person:
    return Person(r.choice(FIRST), r.choice(LAST))


def address(r: random.Random, country: str | None = None) -> Address:
    code = country or r.choice(sorted(PLACES))
    cities, postcode, streets, *_ = PLACES[code]
    base = r.choice(ROOTS if r.random() < 0.5 else LAST)
    street, number = r.choice(streets.split("|")).replace("*", base), r.randint(1, 240)
    text = f"{number} {street}" if code in ("GB", "IE", "FR") else f"{street} {number}"
    return Address(text, pattern(r, postcode), r.choice(cities.split()), code)


def company(r: random.Random, sector: str | None = None, country: str | None = None) -> Company:
    kind = sector or r.choice(sorted(SECTORS))
    where = address(r, country)
    trade = r.choice(SECTORS[kind][0].split("|"))
    head = r.choice((
        r.choice(ROOTS), r.choice(LAST), f"{r.choice(ROOTS)} {r.choice(ROOTS)}", f"{r.choice(LAST)} & {r.choice(LAST)}",
        f"{where.city} {r.choice(ROOTS)}",
    ))  # fmt: skip
    _, _, _, forms, vat, account, dial = PLACES[where.country]
    short = f"{head} {trade}"
    domain = plain(head.split(" & ")[0]) + r.choice(("", "-group", "-online")) + "." + r.choice(("example", "test"))
    phone = f"{pattern(r, dial)} {pattern(r, '### ####')}"
    return Company(f"{short} {r.choice(forms.split('|'))}", short, kind, where, pattern(r, vat),
                   iban(where.country, pattern(r, account)), phone, domain)  # fmt: skip


def companies(r: random.Random, n: int, sectors: Sequence[str] = ()) -> list[Company]:
    """n companies with pairwise distinct first words, so that a reader can tell them apart."""
    found: dict[str, Company] = {}
    while len(found) < n:
        c = company(r, r.choice(sectors) if sectors else None)
        found.setdefault(c.short.split()[0], c)
    return list(found.values())


def product(r: random.Random, sector: str) -> Product:
    _, goods, units = SECTORS[sector]
    service = sector in SERVICES
    name = f"{r.choice(goods.split('|'))}, {r.choice(SERVICE_QUALIFIERS if service else QUALIFIERS)}"
    if service and r.random() < 0.6:
        name += r.choice((f" zone {r.randint(1, 9)}", f" level {pattern(r, '@')}", f" site {pattern(r, '##')}"))
    elif not service and r.random() < 0.6:
        name += r.choice((f" {r.choice((6, 8, 12, 20, 25, 40, 60, 90))} mm", f" type {pattern(r, '@#')}",
                          f" {r.choice((0.5, 0.75, 1.5, 2, 2.5, 5, 10))} l", f" no. {r.randint(2, 48)}"))  # fmt: skip
    price = int(10 ** r.uniform(2.3, 5.1))
    sku = pattern(r, r.choice(("@@-####", "@@@##", "##-@-###", "@####.#")))
    return Product(sku, name, r.choice(units.split("|")), price)


def day(r: random.Random, first: date, last: date) -> date:
    return first + timedelta(days=r.randint(0, (last - first).days))


def cents(r: random.Random, low: int, high: int) -> int:
    """An amount between two amounts (all in cents), small ones more often than large, as in real books."""
    return int(low * (high / low) ** r.random())


def say(r: random.Random, text: str, rules: Mapping[str, str | Sequence[str]] | None = None, **values: object) -> str:
    """Expands a text grammar. `[a|b|c]` chooses (nested, an empty choice is allowed), `{name}` is a value or a rule;
    a rule is a text or a list to choose from. Values are put in as they are, never expanded again."""
    out = text
    while (found := re.search(r"\[([^\[\]]*)\]", out)) is not None:
        out = out[: found.start()] + r.choice(found.group(1).split("|")) + out[found.end() :]

    def fill(match: re.Match[str]) -> str:
        key = match.group(1)
        if key in values:
            return str(values[key])
        rule = (rules or {})[key]
        return say(r, rule if isinstance(rule, str) else r.choice(list(rule)), rules, **values)

    return re.sub(r"\{(\w+)\}", fill, out)
