"""Environments of their own, outside of the clone, and what runs in them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.python.harness.processes import finished


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder where its commands start."""

    folder: Path
    work: Path

    @classmethod
    def with_wheels(cls, folder: Path, *wheels: Path) -> Environment:
        """A new one of nothing but these wheels and what they require, as an index has it."""
        environment = cls(folder / "env", folder)
        finished(uv(), "venv", "--quiet", environment.folder, cwd=folder)
        environment.install(*map(str, wheels))
        return environment

    def install(self, *requirements: str) -> None:
        python = ("--python", self.program("python"))
        finished(uv(), "pip", "install", "--quiet", *python, *requirements, cwd=self.work)

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name

    def run(self, name: str, *arguments: str, cwd: Path | None = None, **variables: str) -> str:
        """What a program of the environment prints, which ends well."""
        return finished(self.program(name), *arguments, cwd=cwd or self.work, **variables).stdout


def uv() -> str:
    # `uv run` says where it is.
    return os.environ.get("UV", "uv")
