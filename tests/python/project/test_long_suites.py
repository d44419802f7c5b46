"""The suites of `.ci/long`."""

from __future__ import annotations

import re

from tests.python.harness.manifest import ROOT


def test_every_folder_with_long_tests_is_a_suite() -> None:
    script = (ROOT / ".ci" / "long").read_text("utf-8")
    [listed] = re.findall(r"set -- ((?:[\w-]+|\\\n|\s)+?)\n\n", script)
    suites = set(listed.replace("\\", "").split())
    tests = [
        *(ROOT / "tests" / "python").glob("*/test_*.py"),
        *(ROOT / "packages").glob("*/tests/test_*.py"),
    ]
    folders = {
        test.parts[-2] if test.parts[-2] != "tests" else test.parts[-3]
        for test in tests
        if "mark.long" in test.read_text("utf-8")
    }
    assert folders - suites == set()
