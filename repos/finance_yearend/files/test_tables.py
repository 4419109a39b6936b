import json
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from $pkg.$m_tab import $f_dump, $f_rows


class «Tables|RoundTrip|FileAccess»(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_rows_by_header(self):
        path = Path(self.folder.name) / "x.csv"
        path.write_text("id,$amount\nA,$tie_a\n", encoding="utf-8")
        self.assertEqual($f_rows(path), [{"id": "A", "$amount": "$tie_a"}])

    def test_amounts_stay_text(self):
        path = Path(self.folder.name) / "deep" / "y.json"
        $f_dump(path, {"total": Decimal("${tie_a}0")})
        self.assertEqual(json.loads(path.read_text(encoding="utf-8")), {"total": "${tie_a}0"})
