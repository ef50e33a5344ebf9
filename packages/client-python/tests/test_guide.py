"""The code of docs/guides/python.md, against a running service. See test_service.py."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List
from unittest.mock import patch

URL = os.environ.get("TRY_ON_TEST_URL")
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "python.md"
SECTIONS = (
    "First picture",
    "Upload images",
    "Submit without waiting",
    "List jobs",
    "Account and workspaces",
    "Webhook endpoints and usage",
    "asyncio",
    "Errors",
)


def code_of(heading: str) -> List[str]:
    """The code blocks of a section."""
    sections = re.split(r"^#{2,3} ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = [text for text in sections if text.startswith(f"{heading}\n")]
    return re.findall(r"^```python\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)


@unittest.skipUnless(URL, "TRY_ON_TEST_URL is not set")
class GuideTest(unittest.TestCase):
    def test_the_code_of_the_guide_runs(self) -> None:
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(os.chdir, os.getcwd())
        for name in ("model.jpg", "shirt.png"):
            shutil.copy(os.environ["TRY_ON_TEST_IMAGE"], f"{folder}/{name}")
        os.chdir(folder)
        environment = {"TRY_ON_BASE_URL": f"{URL}", "TRY_ON_API_KEY": os.environ["TRY_ON_TEST_KEY"]}
        names: Dict[str, Any] = {
            "model_url": "https://test.invalid/fail/person_not_found",
            "garment_url": "https://shop.example/shirt.png",
        }
        printed = io.StringIO()
        with patch.dict("os.environ", environment), contextlib.redirect_stdout(printed):
            for heading in SECTIONS:
                blocks = code_of(heading)
                self.assertTrue(blocks, heading)
                for code in blocks:
                    # Nothing listens on port 9 of the loopback interface.
                    local = code.replace("https://shop.example/webhooks", "http://127.0.0.1:9")
                    exec(compile(local, f"{heading} of {GUIDE.name}", "exec"), names)
        self.assertEqual(Path("result.png").read_bytes()[:4], b"\x89PNG")
        self.assertIn("No picture: person_not_found", printed.getvalue())
