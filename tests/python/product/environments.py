"""Environments of their own, outside of the clone, and what runs in them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: A process that takes longer hangs.
TIMEOUT = 1800


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder where its commands start."""

    folder: Path
    work: Path

    @classmethod
    def with_wheels(cls, folder: Path, *wheels: Path) -> Environment:
        """A new one of nothing but these wheels and what they require, as an index has it."""
        environment = cls(folder / "env", folder)
        run(uv(), "venv", "--quiet", str(environment.folder), cwd=folder)
        environment.install(*map(str, wheels))
        return environment

    def install(self, *requirements: str) -> None:
        python = ("--python", str(self.program("python")))
        run(uv(), "pip", "install", "--quiet", *python, *requirements, cwd=self.work)

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name

    def run(self, name: str, *arguments: str, cwd: Path | None = None, **variables: str) -> str:
        """What a program of the environment prints, which ends well."""
        return run(str(self.program(name)), *arguments, cwd=cwd or self.work, **variables)


def uv() -> str:
    # `uv run` says where it is.
    return os.environ.get("UV", "uv")


def run(*command: str, cwd: Path, **environment: str) -> str:
    """What a command that ends well prints, run as from a new terminal."""
    ours = ("CDC_MARTS_", "DBT_", "PYTEST_", "PYTHON", "SPARK_", "VIRTUAL_ENV")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**inherited, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout
