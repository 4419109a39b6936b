"""How suppliers print: label language, number and date style, column order, header style."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

LANGUAGE = {"GB": "en", "IE": "en", "DE": "de", "AT": "de", "NL": "nl", "FR": "fr", "DK": "da"}
VAT_PERCENT = {"GB": 20, "DE": 19, "NL": 21, "FR": 20, "IE": 23, "AT": 20, "DK": 25}
CURRENCY = {"GB": "GBP", "DK": "DKK"}

#: language -> label key -> synonyms, one of which a supplier uses throughout
LABELS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "INVOICE|TAX INVOICE|SALES INVOICE", "number": "Invoice no|Invoice number|Document no|Our reference",
        "date": "Invoice date|Date of issue|Tax point", "due": "Due date|Payable by|Payment due",
        "order": "Your order|Purchase order|PO number|Order ref", "customer": "Customer no|Account no|Account code",
        "vat_id": "VAT reg no|VAT no|VAT registration", "pos": "#|Line|Item", "sku": "Code|Part no|Article",
        "description": "Description|Details|Goods and services", "quantity": "Qty|Quantity", "unit": "Unit|UoM",
        "unit_price": "Price|Unit price|Rate", "amount": "Amount|Line total|Value",
        "carried": "Carried forward|Sub-total carried over|Balance c/f", "net": "Net total|Total excl. VAT|Net amount",
        "tax": "VAT|Value added tax", "gross": "Total due|Invoice total|Amount payable", "page": "Page|Sheet",
        "charges": "Carriage|Packing|Small order surcharge|Pallet deposit|Energy surcharge|Loyalty rebate",
        "lot": "Lot|Batch|Delivered under note",
    },
    "de": {
        "title": "RECHNUNG|Rechnung|AUSGANGSRECHNUNG", "number": "Rechnungsnummer|Rechnungs-Nr.|Beleg-Nr.",
        "date": "Rechnungsdatum|Belegdatum|Ausgestellt am", "due": "Fällig am|Zahlbar bis|Zahlungsziel",
        "order": "Ihre Bestellung|Bestellnummer|Bestell-Nr.", "customer": "Kundennummer|Kunden-Nr.|Debitor",
        "vat_id": "USt-IdNr.|UID-Nr.|USt-ID", "pos": "Pos|Pos.", "sku": "Artikel|Art.-Nr.|Artikelnummer",
        "description": "Bezeichnung|Beschreibung|Leistung", "quantity": "Menge|Anzahl", "unit": "Einheit|ME",
        "unit_price": "Einzelpreis|Preis|E-Preis", "amount": "Betrag|Gesamt|G-Preis",
        "carried": "Übertrag|Zwischensumme Übertrag", "net": "Nettobetrag|Summe netto|Warenwert netto",
        "tax": "MwSt|USt|Umsatzsteuer", "gross": "Rechnungsbetrag|Gesamtbetrag|Zahlbetrag", "page": "Seite|Blatt",
        "charges": "Fracht|Verpackung|Mindermengenzuschlag|Palettentausch|Energiezuschlag|Treuerabatt",
        "lot": "Charge|Los|Lieferschein",
    },
    "nl": {
        "title": "FACTUUR|Factuur|VERKOOPFACTUUR", "number": "Factuurnummer|Factuurnr.|Documentnummer",
        "date": "Factuurdatum|Datum|Opgemaakt op", "due": "Vervaldatum|Te betalen voor|Uiterste betaaldatum",
        "order": "Uw bestelling|Inkooporder|Ordernummer klant", "customer": "Klantnummer|Debiteurnummer|Relatienummer",
        "vat_id": "Btw-nummer|Btw-id|BTW-nr.", "pos": "Nr|Regel", "sku": "Artikel|Artikelcode|Code",
        "description": "Omschrijving|Beschrijving|Product", "quantity": "Aantal|Hoeveelheid", "unit": "Eenheid|Per",
        "unit_price": "Prijs|Stukprijs|Tarief", "amount": "Bedrag|Totaal|Regeltotaal",
        "carried": "Transport|Subtotaal over te brengen", "net": "Totaal excl. btw|Nettobedrag|Subtotaal",
        "tax": "Btw|BTW", "gross": "Totaal te betalen|Factuurbedrag|Te voldoen", "page": "Pagina|Blad",
        "charges": "Vracht|Verpakking|Kleine-ordertoeslag|Statiegeld pallets|Energietoeslag|Klantkorting",
        "lot": "Partij|Lot|Pakbon",
    },
    "fr": {
        "title": "FACTURE|Facture|FACTURE DE VENTE", "number": "Facture no|Numéro de facture|Pièce no",
        "date": "Date de facture|Émise le|Date", "due": "Échéance|À régler avant le|Date limite de paiement",
        "order": "Votre commande|Bon de commande|Réf. commande", "customer": "Code client|Client no|Compte client",
        "vat_id": "No TVA|TVA intracom.|Identifiant TVA", "pos": "No|Lig.", "sku": "Référence|Réf.|Article",
        "description": "Désignation|Libellé|Description", "quantity": "Qté|Quantité", "unit": "Unité|UV",
        "unit_price": "P.U. HT|Prix unitaire|Prix HT", "amount": "Montant HT|Total HT ligne|Montant",
        "carried": "Report|À reporter", "net": "Total HT|Montant net HT|Net commercial",
        "tax": "TVA|T.V.A.", "gross": "Net à payer|Total TTC|Montant TTC", "page": "Page|Feuillet",
        "charges": "Port|Emballage|Frais de petite commande|Consigne palettes|Surcharge énergie|Remise fidélité",
        "lot": "Lot|Série|Bon de livraison",
    },
    "da": {
        "title": "FAKTURA|Faktura|SALGSFAKTURA", "number": "Fakturanr.|Fakturanummer|Bilagsnr.",
        "date": "Fakturadato|Udstedt|Dato", "due": "Forfaldsdato|Betales senest|Sidste betalingsdag",
        "order": "Deres ordre|Rekvisitionsnr.|Indkøbsordre", "customer": "Kundenr.|Debitornr.|Kontonr.",
        "vat_id": "CVR-nr.|SE-nr.|Momsnr.", "pos": "Linje|Nr.", "sku": "Varenr.|Vare|Kode",
        "description": "Beskrivelse|Tekst|Varebetegnelse", "quantity": "Antal|Mængde", "unit": "Enhed|Enh.",
        "unit_price": "Pris|Stk. pris|Enhedspris", "amount": "Beløb|I alt linje|Linjebeløb",
        "carried": "Transport|Overført", "net": "Netto|I alt ekskl. moms|Subtotal",
        "tax": "Moms", "gross": "I alt at betale|Fakturatotal|Total inkl. moms", "page": "Side|Ark",
        "charges": "Fragt|Emballage|Småordregebyr|Pallebytte|Energitillæg|Kunderabat",
        "lot": "Parti|Batch|Følgeseddel",
    },
}  # fmt: skip

COLUMNS = (
    ("pos", "sku", "description", "quantity", "unit", "unit_price", "amount"),
    ("sku", "description", "unit_price", "quantity", "unit", "amount"),
    ("pos", "description", "sku", "quantity", "unit", "unit_price", "amount"),
    ("pos", "quantity", "unit", "sku", "description", "unit_price", "amount"),
    ("sku", "quantity", "unit", "description", "unit_price", "amount"),
)
HEADERS = ("colon", "plain", "row")
DATES = {
    "en": ("words", "slash", "iso", "short"), "de": ("dot",), "nl": ("dash",), "fr": ("slash",), "da": ("dot", "iso"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """labels: key -> the word this supplier prints ("charges" stays a |-list). header: "colon" (label: value), "plain"
    (label value), "row" (a line of labels above a line of values). columns: order of the item table."""

    language: str
    labels: Mapping[str, str]
    header: str
    columns: tuple[str, ...]
    dates: str
    currency: str
    vat_percent: int
    font: str
    rows_per_page: int
    lots: bool
    bank_first: bool

    def date(self, d: date) -> str:
        match self.dates:
            case "words":
                return f"{d.day} {MONTHS[d.month - 1]} {d.year}"
            case "short":
                return f"{d.day:02d} {MONTHS[d.month - 1][:3]} {d.year}"
            case "slash":
                return d.strftime("%d/%m/%Y")
            case "dot":
                return d.strftime("%d.%m.%Y")
            case "dash":
                return d.strftime("%d-%m-%Y")
        return d.isoformat()

    def money(self, cents: int) -> str:
        text = f"{cents / 100:,.2f}"
        if self.language == "en":
            return text
        swapped = text.translate(str.maketrans(",.", ".,"))
        return swapped.replace(".", "") if self.language == "fr" else swapped


def layout(r: random.Random, country: str) -> Layout:
    language = LANGUAGE[country]
    labels = {k: v if k == "charges" else r.choice(v.split("|")) for k, v in LABELS[language].items()}
    header, dates = r.choice(HEADERS), r.choice(DATES[language])
    if header == "row" and dates == "words":
        dates = "short"
    return Layout(
        language, labels, header, r.choice(COLUMNS), dates, CURRENCY.get(country, "EUR"), VAT_PERCENT[country],
        r.choice(("Helvetica", "Helvetica", "Times", "Courier")), r.choice((11, 13, 15, 17)), r.random() < 0.5,
        r.random() < 0.5,
    )  # fmt: skip
