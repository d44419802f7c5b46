"""The section of docs/reference.md that says what each command and its options do.

./run python docs/command_options.py    writes it from the help of the commands
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from cdc_marts.cli import app

PAGE = Path(__file__).parent / "reference.md"
#: The page describes them once, as they are the same everywhere.
OF_EVERY_COMMAND = ("--project-dir", "--profiles-dir", "--target", "--help")

_BEGIN, _END = "<!-- options of commands -->", "<!-- end of options of commands -->"
_SECTION = re.compile(f"{_BEGIN}.*{_END}", re.DOTALL)


def with_options(page: str) -> str:
    """The text of the page with the section as the commands are now."""
    sections = "\n".join(_sections(typer.main.get_command(app)))
    return _SECTION.sub(lambda _: f"{_BEGIN}\n\n{sections}\n{_END}", page)


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The commands of a group and of the groups in it, with their whole names."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def own_options(command: Any) -> dict[str, Any]:
    """Name -> option, of those that not every command has."""
    options = {name: param for param in command.params for name in param.opts}
    return {
        name: option
        for name, option in options.items()
        if name.startswith("--") and name not in OF_EVERY_COMMAND
    }


def _sections(group: Any) -> Iterator[str]:
    for name, command in commands(group):
        yield f"### `cdc-marts {name}`\n\n{command.help}\n"
        if options := own_options(command):
            yield "| option | meaning | default |\n|---|---|---|"
            yield from (
                f"| `{name}` | {_meaning(o)} | {_default(o)} |" for name, o in options.items()
            )
            yield ""


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if option.default in (None, (), []):
        return "none"
    default = option.default
    if isinstance(default, Enum):
        default = default.value
    return f"`{str(default).lower() if option.is_flag else default}`"


def _meaning(option: Any) -> str:
    if not isinstance(option.default, Enum):
        return _cell(option.help)
    values = ", ".join(f"`{member.value}`" for member in type(option.default))
    return f"{_cell(option.help)} One of {values}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(with_options(PAGE.read_text("utf-8")), "utf-8")
