"""A database's own command-line client, kept open: statements in, lines out."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_END = "-- end of statements --"


class SqlClient:
    """A client that ends at the first statement that fails."""

    def __init__(
        self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str]
    ) -> None:
        """`log`: where the client's errors go."""
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=dict(environment),
            )

    def execute(self, *statements: str) -> list[str]:
        """Run statements; the lines of all their results, without what divides columns.

        An error of the database is an `AssertionError` with its words.
        """
        script = "".join(f"{statement};\n" for statement in (*statements, f"select '{_END}'"))
        lines: list[str] = []
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(script.encode())
            self._process.stdin.flush()
        # A value may hold other ends of lines than \n.
        for line in iter(self._process.stdout.readline, b""):
            text = line.removesuffix(b"\n").decode()
            if text == _END:
                return lines
            lines.append(text)
        raise AssertionError(f"{self._log.read_text()}\nin\n{script}")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> SqlClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
