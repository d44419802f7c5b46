"""The formats and their traits, which are listed in `dbt_project.yml` and nowhere else."""

import difflib
from collections.abc import Sequence

import yaml

from cdc_marts.package_files import PACKAGE_ROOT

_PROJECT = PACKAGE_ROOT / "dbt_project.yml"
_TRAITS = yaml.safe_load(_PROJECT.read_text("utf-8"))["vars"]["source_formats"]

#: The names of the formats, as tables, models and options have them.
SOURCE_FORMATS = tuple(_TRAITS)


def has_trait(source_format: str, trait: str) -> bool:
    """Return whether a format has a trait of the var `source_formats`."""
    return bool(_TRAITS[source_format].get(trait))


def formats_that(trait: str) -> tuple[str, ...]:
    """Return the formats that have a trait of the var `source_formats`."""
    return tuple(name for name in SOURCE_FORMATS if has_trait(name, trait))


def type_systems_in(source_format: str) -> Sequence[str]:
    """Return the type systems whose names the messages of a format carry."""
    return _TRAITS[source_format].get("type_systems") or []


def no_such_format(name: str) -> str:
    """Return the message that a name is no format, with the closest format and all formats."""
    meant = difflib.get_close_matches(name.lower(), SOURCE_FORMATS, n=1, cutoff=0.4)
    hint = f" Did you mean {meant[0]}?" if meant else ""
    return f"There is no format {name!r}.{hint} The formats are {', '.join(SOURCE_FORMATS)}."


def with_format(name: str, source_format: str) -> str:
    """Return the name of a topic or table with its format. Several formats may have one name."""
    return f"{name} ({source_format})"
