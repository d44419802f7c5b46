"""The section of docs/reference.md that describes each command, its arguments and its options.

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
#: A row of the table of all commands, which is written by hand.
_ROW = re.compile(r"^\| `cdc-marts ([a-z]+(?: [a-z]+)*)", re.MULTILINE)


def with_options(page: str) -> str:
    """The text of the page with the section as the commands are now.

    The section has the commands in the order of the page's table, and then those that it lacks.
    """
    places = {name: place for place, name in enumerate(_ROW.findall(page))}
    listed = sorted(
        commands(typer.main.get_command(app)),
        key=lambda named: places.get(named[0], len(places)),
    )
    sections = "\n".join(line for name, command in listed for line in _section(name, command))
    return _SECTION.sub(lambda _: f"{_BEGIN}\n\n{sections}\n{_END}", page)


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The commands of a group and of the groups in it, with their whole names."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def own_options(command: Any) -> dict[str, Any]:
    """Name -> option, of those that not every command has.

    An option may have two names: one that turns it on, and one that turns it off.
    """
    options = {
        name: param
        for param in command.params
        for name in (*param.opts, *param.secondary_opts)
        if name.startswith("--")
    }
    return {name: option for name, option in options.items() if name not in OF_EVERY_COMMAND}


def _section(name: str, command: Any) -> Iterator[str]:
    arguments = {_in_usage(param): param for param in command.params if _is_argument(param)}
    names_of: dict[Any, list[str]] = {}
    for option_name, option in own_options(command).items():
        names_of.setdefault(option, []).append(option_name)
    options = {"` / `".join(names): option for option, names in names_of.items()}
    yield f"### `cdc-marts {name}`\n\n{command.help}\n"
    if arguments:
        usage = " ".join([f"cdc-marts {name}", *(["[OPTIONS]"] if options else []), *arguments])
        yield f"Usage: `{usage}`\n"
    if described := arguments | options:
        kind = "argument or option" if arguments and options else "argument"
        yield f"| {kind if arguments else 'option'} | meaning | default |\n|---|---|---|"
        yield from (f"| `{n}` | {_meaning(p)} | {_default(p)} |" for n, p in described.items())
        yield ""


def _is_argument(param: Any) -> bool:
    return param.param_type_name == "argument"


def _in_usage(argument: Any) -> str:
    """The name of an argument, in brackets if it may be left out."""
    name = argument.metavar.strip("[]") + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _default(param: Any) -> str:
    if param.required:
        return "required"
    if param.default in (None, (), []):
        return "none"
    default = param.default
    if isinstance(default, Enum):
        default = default.value
    is_flag = getattr(param, "is_flag", False)
    return f"`{str(default).lower() if is_flag else default}`"


def _meaning(param: Any) -> str:
    if not isinstance(param.default, Enum):
        return _cell(param.help)
    values = ", ".join(f"`{member.value}`" for member in type(param.default))
    return f"{_cell(param.help)} One of {values}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(with_options(PAGE.read_text("utf-8")), "utf-8")
