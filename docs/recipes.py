"""The outputs of docs/scheduling.md, from recipes that run.

    ./run python docs/recipes.py            runs all, and writes what they print into the page
    ./run python docs/recipes.py Dagster    runs one of them

A recipe is the code of the page below its heading, and the block ```text below it is its output.
The recipes run as they stand there, but for the folder of the project, and for messages of a file
in place of those of Kafka, of which few models are built.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "scheduling.md"
_SAMPLES = ROOT / "seeds" / "samples" / "sample_canal_json.csv"

AIRFLOW, DAGSTER = "apache-airflow==3.3.2", "dagster==1.13.29"
COSMOS = "astronomer-cosmos==1.15.1"

_FOLDER = "/srv/my_project"
_MODELS = "+stg_canal_json"
#: What stands in the page -> what runs.
_REPLACED = {
    "land kafka --map topics.yml --bootstrap-servers broker:9092": (
        "land files --map topics.yml messages.jsonl"
    ),
    "--bootstrap-servers broker:9092": f"--select {_MODELS} --no-tests messages.jsonl",
    '"--bootstrap-servers",\n    "broker:9092",': (
        f'"--select",\n    "{_MODELS}",\n    "--no-tests",\n    "messages.jsonl",'
    ),
}
_ROUND = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC  round .*")
#: When a task of Airflow began, and when it ended.
_TASK_LINES = tuple(
    re.compile(rf"^(\S+Z) .*\[DAG TEST\] {what} task_id=(\S+)", re.MULTILINE)
    for what in ("starting", "end task")
)
#: A line of Airflow's log: its time, level and text, before where it comes from.
_AIRFLOW_LINE = re.compile(r"^\S+Z \[info +\] (.*?) *\[(?:airflow|task)", re.MULTILINE)


@dataclass(frozen=True)
class Workplace:
    """A new project with the samples' messages of one format, and folders of its own."""

    project: Path
    folder: Path

    def code(self, text: str) -> str:
        """The code of the page as it runs here."""
        for shown, run in _REPLACED.items():
            text = text.replace(shown, run)
        return text.replace(_FOLDER, str(self.project))

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
        """What a command prints; one that fails ends the program."""
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if ended.returncode:
            sys.exit(f"{ended.stdout}\n{' '.join(command)} ended with {ended.returncode}")
        return ended.stdout

    def with_packages(self, packages: Sequence[str], *command: str) -> list[str]:
        """A command in an environment of these packages alone."""
        uv = os.environ["UV"]
        listed = ",".join(packages)
        return [uv, "run", "--quiet", "--isolated", "--no-project", "--with", listed, *command]


def _cron(place: Workplace, code: str) -> str:
    command = place.code(code.splitlines()[0].split(maxsplit=5)[5])
    # As cron has it.
    environment = {"HOME": os.environ["HOME"], "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}
    settings = [f"{name}={value}" for name, value in environment.items()]
    place.run(["env", "-i", *settings, "/bin/sh", "-c", command])
    return _round((place.project / "run.log").read_text("utf-8"))


def _airflow(place: Workplace, code: str) -> str:
    log = _run_dag(place, "cdc_marts", code)
    lines = (found[1].strip() for found in _AIRFLOW_LINE.finditer(log))
    shown = [
        line for line in lines if line.startswith(("Running", "Command")) or _ROUND.match(line)
    ]
    return "\n".join(shown).replace(str(place.project), _FOLDER)


def _cosmos(place: Workplace, code: str) -> str:
    folders = [f"--{kind}-dir={place.project}" for kind in ("project", "profiles")]
    place.run([str(place.project / ".venv/bin/dbt"), "parse", "--target", "local", *folders])
    log = _run_dag(place, "cdc_marts_by_model", code, COSMOS)
    begun, ended = (
        {found[2]: dt.datetime.fromisoformat(found[1]) for found in line.finditer(log)}
        for line in _TASK_LINES
    )
    return "\n".join(
        f"{task:<30}{(ended[task] - begun[task]).total_seconds():>5.0f} s" for task in begun
    )


def _dagster(place: Workplace, code: str) -> str:
    file = place.folder / "definitions.py"
    file.write_text(place.code(code), "utf-8")
    command = ("dagster", "job", "execute", "-f", str(file), "-j", "cdc_marts")
    log = place.run(place.with_packages([DAGSTER], *command), {"DAGSTER_HOME": str(place.folder)})
    [success] = re.findall(r"RUN_SUCCESS - (.*)", log)
    return f"{_round(log)}\n{success}"


def _run_dag(place: Workplace, name: str, code: str, *packages: str) -> str:
    """The log of a run of Airflow's DAG, in an environment of Airflow and these packages."""
    dags = place.folder / "dags"
    dags.mkdir()
    (dags / f"{name}.py").write_text(place.code(code), "utf-8")
    environment = {
        "AIRFLOW_HOME": str(place.folder / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }
    for command in (("db", "migrate"), ("dags", "reserialize"), ("dags", "test", name)):
        log = place.run(place.with_packages([AIRFLOW, *packages], "airflow", *command), environment)
    return log


def _round(log: str) -> str:
    """The line of the last round."""
    return _ROUND.findall(log)[-1].rstrip()


#: Heading -> what runs the code below it, and gives what the page shows of the output.
RECIPES: dict[str, Callable[[Workplace, str], str]] = {
    "cron": _cron,
    "Airflow": _airflow,
    "Cosmos": _cosmos,
    "Dagster": _dagster,
}


def with_output(page: str, heading: str, run: Callable[[str], str]) -> str:
    """The text of the page with the output that a recipe has now."""
    below = re.compile(
        rf"^(?P<before>##+ {heading}\n.*?```(?:sh|python)\n(?P<code>.*?)```.*?```text\n).*?(?=```)",
        re.DOTALL | re.MULTILINE,
    )
    found = below.search(page)
    if found is None:
        sys.exit(f"{PAGE.name} has no recipe with an output below {heading}")
    output = run(found["code"])
    return f"{page[: found.start()]}{found['before']}{output}\n{page[found.end() :]}"


def _workplace(folder: Path) -> Workplace:
    """A project that `cdc-marts init` writes, with the wheels of this clone in its `.venv`."""
    place = Workplace(folder / "my_project", folder)
    uv, environment = os.environ["UV"], folder / "environment"
    place.run([uv, "build", "--quiet", "--all-packages", "--wheel", "--out-dir", ".", str(ROOT)])
    place.run([uv, "venv", "--quiet", str(environment)])
    wheels = [
        str(wheel)
        for name in ("dbt_spark_session", "cdc_marts")
        for wheel in folder.glob(f"{name}-*.whl")
    ]
    python = environment / "bin" / "python"
    place.run([uv, "pip", "install", "--quiet", "--python", str(python), *wheels])
    place.run([str(environment / "bin" / "cdc-marts"), "init", place.project.name])
    (place.project / ".venv").symlink_to(environment)
    (place.project / "topics.yml").write_text('topics:\n  "*": canal_json\n', "utf-8")
    (place.project / "messages.jsonl").write_text("\n".join(_messages()), "utf-8")
    return place


def _messages() -> Iterator[str]:
    """The sample messages of Canal, as lines that `land files` reads."""
    with _SAMPLES.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            envelope = {"topic": row["topic"], "value": row["value"] or None}
            if row["value_base64"]:
                envelope = {"topic": row["topic"], "value_base64": row["value_base64"]}
            numbers = {name: int(row[name]) for name in ("partition", "offset")}
            yield json.dumps({**envelope, **numbers}, ensure_ascii=False)


def main() -> None:
    chosen = sys.argv[1:] or [*RECIPES]
    for heading in chosen:
        with tempfile.TemporaryDirectory() as folder:
            place = _workplace(Path(folder))
            run = partial(RECIPES[heading], place)
            page = with_output(PAGE.read_text("utf-8"), heading, run)
        PAGE.write_text(page, "utf-8")
        print(f"{heading}: written")


if __name__ == "__main__":
    main()
