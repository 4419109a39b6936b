"""Word lists of the recipes (see words.py): invented names, places and goods. Data, hardly any code."""

from __future__ import annotations

from collections.abc import Mapping


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
Waldron Wallin Webber Weir Westergaard Whitlock Winkler Wójcik Yardley Yilmaz Zander Zeller
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

#: sector -> (trade words of company names, "goods or services/unit")
SECTORS: Mapping[str, tuple[str, str]] = {
    "catering": (
        "Catering|Provisions|Foods|Kitchen Supply|Larder",
        "espresso beans/kg|oat milk cartons/case|rapeseed oil canister/pcs|sourdough loaves/crate|"
        "smoked trout fillets/kg|"
        "muesli sack/pcs|dishwasher tablets/pack|porcelain cups/set|napkin bundle/pack|lentil curry trays/tray|"
        "apple juice crates/crate|cheddar block/kg",
    ),
    "print": (
        "Print|Press|Graphics|Paper Mill|Bindery",
        "folded leaflets/thousand|perfect-bound reports/pcs|roll-up banners/pcs|"
        "letterhead paper/ream|window envelopes/box|"
        "shelf labels/roll|exhibition boards/pcs|wire-bound manuals/pcs|loyalty cards/thousand|carbonless pads/pack|"
        "die-cut stickers/roll|poster tubes/box",
    ),
    "electrical": (
        "Electric|Switchgear|Power Systems|Lighting|Controls",
        "residual-current breaker/pcs|cable tray section/m|LED panel/pcs|contactor/pcs|motor protection relay/pcs|"
        "junction box/pcs|emergency luminaire/pcs|busbar set/set|surge arrester/pcs|"
        "DIN rail meter/pcs|armoured cable/m|"
        "presence detector/pcs",
    ),
    "laboratory": (
        "Scientific|Diagnostics|Analytics|Reagents|Lab Supply",
        "nitrile gloves/box|pipette tips/rack|buffer solution/bottle|quartz cuvettes/set|syringe filters/pack|"
        "cryo vials/bag|agar plates/sleeve|reference thermometer/pcs|centrifuge tubes/rack|pH electrode/pcs|"
        "desiccant beads/kg|calibration weights/set",
    ),
    "logistics": (
        "Freight|Haulage|Forwarding|Cold Chain|Parcel Services",
        "groupage transport/pallet|customs clearance/entry|pallet storage/week|reefer surcharge/day|"
        "last-mile delivery/drop|tail-lift service/call|container drayage/km|express courier run/km|"
        "cross-docking/pallet|demurrage/day|fuel surcharge/shipment|returns handling/parcel",
    ),
    "building": (
        "Construction|Joinery|Roofing|Builders' Merchants|Facades",
        "oak battens/m|mineral wool boards/m2|breathable membrane/roll|joist hangers/box|"
        "lime plaster/bag|slate tiles/m2|"
        "acoustic glass unit/pcs|drainage channel/m|concrete lintel/pcs|cedar cladding/m2|expansion anchors/box|"
        "primer sealer/tin",
    ),
    "software": (
        "Software|Data Services|Cloud Hosting|Systems|Networks",
        "support retainer/month|managed database/month|penetration test/day|single sign-on/seat|backup storage/TB|"
        "code review/hour|incident response/hour|monitoring licence/host|migration workshop/day|log retention/TB|"
        "staging environment/month|API quota/kcalls",
    ),
    "facility": (
        "Facilities|Cleaning|Site Services|Grounds Care|Security",
        "window cleaning/visit|night patrol/hour|carpet extraction/m2|waste container exchange/call|"
        "hedge trimming/hour|"
        "reception cover/day|washroom consumables/month|filter replacement/unit|gritting/call|key holding/month|"
        "floor sealing/m2|lift inspection/visit",
    ),
    "machining": (
        "Engineering|Tooling|Precision|Castings|Hydraulics",
        "turned bushings/pcs|solid carbide end mill/pcs|hydraulic hose assembly/pcs|linear guide/m|shaft seal/pcs|"
        "gear blank/pcs|bearing unit/pcs|laser-cut bracket/pcs|spindle overhaul/hour|cutting fluid/l|"
        "clamping fixture/set|valve block/pcs",
    ),
    "textile": (
        "Workwear|Textiles|Linen Hire|Uniforms|Weavers",
        "high-visibility jackets/pcs|chef aprons/pcs|bath sheets/pcs|flame-retardant coveralls/pcs|knit beanies/pack|"
        "table runners/pcs|safety shoes/pair|rental overalls/week|embroidered polos/pcs|duvet covers/set|"
        "cut-resistant gloves/pair|rain trousers/pcs",
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
