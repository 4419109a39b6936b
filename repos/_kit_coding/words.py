"""Vocabulary that makes one seed's repository unlike another's: trades, people, places, project names."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Trade:
    """Whose work the library does. Each role lists nouns (singular, lower case, no Python builtins)."""

    name: str
    about: str
    items: tuple[str, ...]
    places: tuple[str, ...]
    parties: tuple[str, ...]
    orders: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _trade(name: str, about: str, items: str, places: str, parties: str, orders: str) -> Trade:
    return Trade(name, about, _words(items), _words(places), _words(parties), _words(orders))


# fmt: off
TRADES = (
    _trade("harbour", "a small fishing and cargo harbour", "pallet crate drum buoy anchor hawser fender tarpaulin",
           "quay jetty slipway wharf basin shed pontoon", "skipper agent pilot chandler carrier deckhand",
           "consignment manifest docket passage charter"),
    _trade("library", "a county library service with travelling vans", "volume atlas folio score reel pamphlet globe",
           "branch alcove annex kiosk depot gallery", "reader patron curator scholar binder steward",
           "loan recall transfer reservation enquiry"),
    _trade("clinic", "a group of veterinary clinics", "vial bandage splint syringe collar ampoule dressing",
           "ward surgery kennel pharmacy paddock lab", "vet nurse keeper courier farmer locum",
           "visit referral prescription admission treatment"),
    _trade("nursery", "a wholesale plant nursery", "sapling seedling bulb tray planter cutting shrub",
           "greenhouse polytunnel bed orchard yard terrace", "grower florist buyer gardener haulier grafter",
           "order delivery contract batch sowing"),
    _trade("workshop", "a shared machine workshop", "lathe drill vise router sander jig chisel",
           "bench bay cellar hall loft foundry", "member tutor fitter joiner smith apprentice",
           "job session lease repair induction"),
    _trade("observatory", "a public observatory", "telescope mirror lens camera mount eyepiece spectrograph",
           "dome terrace vault annex platform darkroom", "observer astronomer guide student engineer visitor",
           "observation programme proposal viewing survey"),
    _trade("theatre", "a touring theatre company", "costume prop lantern flat wig curtain spotlight",
           "stage foyer balcony wardrobe pit studio", "actor dresser director stagehand producer understudy",
           "rehearsal performance booking tour production"),
    _trade("brewery", "a regional brewery and its taprooms", "keg cask barrel growler firkin carboy bottle",
           "taproom cellar brewhouse coldroom tavern dock", "brewer publican drayman cooper maltster taster",
           "brew shipment tasting pickup allotment"),
    _trade("bikes", "a municipal bicycle hire scheme", "bicycle trailer helmet battery lock basket tandem",
           "station rack hub corral plaza terminal", "rider mechanic warden subscriber tourist dispatcher",
           "ride rental rebalance inspection errand"),
    _trade("apiary", "a beekeepers' cooperative", "hive frame super smoker jar feeder swarm",
           "apiary meadow heath stand barn clearing", "beekeeper breeder packer inspector forager apprentice",
           "harvest inspection relocation pollination extraction"),
    _trade("foodbank", "a network of community food banks", "parcel hamper tin sack carton voucher punnet",
           "pantry warehouse kitchen chapel larder hallway", "donor volunteer household driver sorter sponsor",
           "donation collection handout appeal dropoff"),
    _trade("museum", "a local history museum", "artefact canvas medal plinth vitrine ledgerbook tapestry",
           "gallery vault rotunda archive storeroom courtyard", "curator restorer lender registrar courier docent",
           "exhibition accession condition loanout valuation"),
    _trade("airfield", "a grass airfield with a gliding club", "glider tug parachute winch tyre beacon headset",
           "hangar apron runway tower clubhouse blister", "pilot instructor towmaster marshal cadet rigger",
           "sortie flight launch checkout ferrying"),
    _trade("quarry", "a stone quarry and its masons", "slab block kerb lintel cobble flagstone ashlar",
           "face crusher stockpile weighbridge sawshed ramp", "mason driver blaster surveyor builder foreman",
           "load quotation delivery extraction tender"),
    _trade("railway", "a heritage railway", "wagon tender coach signal sleeper boiler lamp",
           "depot siding platform roundhouse halt yard", "fireman guard fitter signaller passenger trustee",
           "excursion diagram overhaul charter roster"),
    _trade("bakery", "a bakery supplying cafes", "loaf bagel sack tin crate pastry mixer",
           "oven counter storeroom stall cafe proofer", "baker grocer courier miller waiter caterer",
           "bake delivery standing invoice preorder"),
)
# fmt: on

FIRST = _words(
    "Orla Tomas Ines Bram Freya Idris Maeve Piotr Saskia Hugo Leila Anders Noor Viktor Celia Rasmus Amara Felix Greta "
    "Imran Juno Kasper Lotte Mirek Nadia Otto Petra Quentin Rosa Stellan Tamsin Ugo Vera Wilma Yusuf Zofia Alba Benno "
    "Carys Dmitri Elin Farid Gwen Henrik Isla Jonas Keira Ludo Marta Nils Ottilie Pavel Runa Silas Thea Ulrik Vesna "
    "Wendel Ysolde Zeno Agnes Basil Corin Dagny Emrys Fenna"
)
LAST = _words(
    "Finch Okafor Lindqvist Marlow Varga Penhallow Ibsen Castell Drummond Achterberg Nowak Sorensen Whitlock Pereira "
    "Hallam Kowal Thorne Abadi Brandt Cullen Dufour Eklund Farrow Gauthier Hollis Ivanov Janssen Kessler Lomax Moreau "
    "Nakano Oyelaran Prescott Quist Rafferty Sandoval Tranter Ullman Verhoef Wyatt Yilmaz Zabel Ashdown "
    "Birkett Corrigan "
    "Delacroix Esposito Fairley Grimaldi Hargreave Inglis Jorgensen Kilbride Langton Mistry Norbury Ormond "
    "Petrov Renwick "
    "Salter Tindall Umber Vance Westlake Yarrow"
)
SPOTS = _words(
    "Alder Ash Birch Cedar Dover Elm Fern Gorse Hazel Ivy Juniper Kestrel Linden Maple Nettle Osier Pine Quince Rowan "
    "Sorrel Thorn Willow Yew Brook Clover Heron Larch Myrtle Plover Raven Swift Teal Wren Stone Mill Badger Otter Fox"
)
ENDS = _words("gate hill side end croft field lea mere bank wood holm ridge dale cote stead bury ford well")
STEMS = _words(
    "tally ledger stow berth docket rota crate gable quill harrow anvil lantern mortar thimble spindle tiller wicket "
    "brindle cobble dapple ember fathom gantry hopper kindle lattice mallet nimble otter parcel quarry rudder sickle "
    "tandem umber velvet willow yonder bobbin cinder dovetail ferrule girder hamper isobar jasper"
)
TAILS = _words(
    "keeper board works desk hand book line mark path stack wise yard craft fold gate lane loom mill peg post rack "
    "ring room sheet shelf side span stand way well"
)
SUFFIXES = _words("core kit py lib ops tools base service")


def plural(noun: str) -> str:
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("f") and noun != "roof":
        return noun[:-1] + "ves" if noun in ("loaf", "shelf") else noun + "s"
    return "firemen" if noun == "fireman" else "draymen" if noun == "drayman" else noun + "s"


def project(seed: int) -> tuple[str, str]:
    """(repository name, package name); the repository name differs between any two seeds."""
    total = len(STEMS) * len(TAILS) * len(SUFFIXES)
    lap, rest = divmod(seed, total)
    rest = rest * 7_919 % total  # 7,919 is prime and larger than any factor of total, so this permutes
    rest, suffix = divmod(rest, len(SUFFIXES))
    stem, tail = divmod(rest, len(TAILS))
    package = STEMS[stem % len(STEMS)] + TAILS[tail]
    lap_mark = f"-{lap + 1}" if lap else ""
    return f"{package}-{SUFFIXES[suffix]}{lap_mark}", package


def person(rng: Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def people(rng: Random, n: int) -> list[str]:
    """n different full names, sorted."""
    firsts, lasts = rng.sample(FIRST, n), rng.sample(LAST, n)
    return sorted(f"{a} {b}" for a, b in zip(firsts, lasts, strict=True))


def codes(rng: Random, n: int, stem: str) -> list[str]:
    """n different stock codes such as "PA-204", sorted as text."""
    letters = (stem[0] + rng.choice(stem[1:])).upper()
    return [f"{letters}-{k}" for k in sorted(rng.sample(range(100, 1000), n))]


def spots(rng: Random, n: int) -> list[str]:
    """n different place names such as "Rowanmere", sorted."""
    return sorted(f"{spot}{rng.choice(ENDS)}" for spot in rng.sample(SPOTS, n))
