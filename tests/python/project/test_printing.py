"""Texts of messages can't write to a terminal what they are not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cdc_marts.cli import console
from cdc_marts.printing import printable, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jorders", r"\x1b[2Jorders"),
        ("orders\r\nTarget demo", r"orders\r\nTarget demo"),
        ("\x9b31m", r"\x9b31m"),
        ("orders\u202edrowssap", r"orders\u202edrowssap"),
        ("\ud800", r"\ud800"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
        ("<script>", "<script>"),
        ("订单 é", "订单 é"),
    ],
)
def test_what_does_not_show_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_of_the_program_stay_lines() -> None:
    assert printable_lines("one\n\x1btwo") == "one\n\\x1btwo"


def test_whatever_a_command_says_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    console.tell("No table x\x1b[2J[bold]x[/bold]<script> was read:\nlook again")
    console.say("x\x1b[2J[red]")

    said = capsys.readouterr()
    assert said.out == "No table x\\x1b[2J[bold]x[/bold]<script> was read:\nlook again\n"
    assert said.err == "x\\x1b[2J[red]\n"


def test_a_terminal_that_lacks_a_character_gets_its_escape() -> None:
    program = (
        "from cdc_marts.cli import app\n"
        "from cdc_marts.cli.console import tell\n"
        "@app.command()\n"
        "def greet():\n"
        "    tell('naïve 店')\n"
        "app(['greet'])"
    )
    encoded = {**os.environ, "PYTHONIOENCODING": "gbk"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=encoded, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "na\\xefve 店\n".encode("gbk")), done.stderr
