"""`cdc-marts land files`, from files to landing tables."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark_session import run_lock
from dbt.adapters.spark_session.api import RunLock
from pyspark.sql import Row, SparkSession
from typer.testing import Result

from cdc_marts.landing import spool
from cdc_marts.landing.checks import mistake_in
from cdc_marts.landing.lines import lines_of
from cdc_marts.landing.tables import create_landing_table
from cdc_marts.project import locks
from cdc_marts.project.profile import ADAPTER
from cdc_marts.project.target import ProjectError, find_root
from cdc_marts.relations import OWN
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.commands import no_session, run_command
from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import finished, program

TABLE = "landing.canal_json"

Land = Callable[..., Result]


@pytest.fixture
def land(shared_session: SparkSession) -> Land:
    """Runs `cdc-marts land files --format canal_json …` in the shared session."""

    def run(*arguments: object, stdin: bytes = b"") -> Result:
        command = ["land", "files", "--format", "canal_json", *map(str, arguments)]
        return run_command(*command, given=stdin)

    return run


def envelope(offset: Any, value: str | None = "{}", **members: Any) -> str:
    coordinates = {"topic": "shop", "partition": 0, "offset": offset}
    return json.dumps({**coordinates, "value": value, **members}, ensure_ascii=False)


def written(path: Path, *lines: str | bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    as_bytes = (line.encode() if isinstance(line, str) else line for line in lines)
    path.write_bytes(b"".join(line + b"\n" for line in as_bytes))
    return path


def rows(session: SparkSession) -> list[Row]:
    return session.table(TABLE).orderBy("topic", "partition", "offset").collect()


def values(session: SparkSession) -> list[tuple[int, bytes]]:
    return [(row.offset, bytes(row.value)) for row in rows(session)]


def commits(session: SparkSession) -> int:
    return session.table(f"{TABLE}.snapshots").count()


def test_envelopes_land_byte_for_byte(land: Land, catalog: SparkSession, tmp_path: Path) -> None:
    before = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    path = written(
        tmp_path / "messages.jsonl",
        b"\xef\xbb\xbf" + envelope(0, '{"name":"\u2028 表"}', key="k", timestamp=1).encode(),
        "",
        '{"topic":"shop","partition":1,"offset":7,"value_base64":"AP8K"}\r',
        envelope(2**63 - 1, None, timestamp=None),
    )

    result = land(path)

    first, last, other = rows(catalog)
    landed_at = first.landed_at
    assert first == Row(
        topic="shop",
        partition=0,
        offset=0,
        timestamp=dt.datetime(1970, 1, 1, 0, 0, 0, 1000),
        key=bytearray(b"k"),
        value=bytearray('{"name":"\u2028 表"}'.encode()),
        landed_at=landed_at,
    )
    assert (last.offset, last.value, last.timestamp) == (2**63 - 1, None, None)
    assert (other.partition, other.offset, other.value) == (1, 7, bytearray(b"\0\xff\n"))
    assert before <= landed_at <= dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    assert commits(catalog) == 1
    assert result.exit_code == 0
    assert "Landed 3 messages in landing.canal_json" in result.stdout
    assert "shop, partition 1: 1 message, offsets 7 to 7" in result.stdout
    assert "./run dbt build --target local" in result.stdout


def test_wrong_lines_are_reported_and_the_others_land(
    land: Land, catalog: SparkSession, tmp_path: Path
) -> None:
    first = written(tmp_path / "a.jsonl", envelope(0), "", "{nope}", envelope("1"))
    second = written(tmp_path / "b.jsonl", b"\xff", envelope(2))

    result = land(first, second)

    assert [row.offset for row in rows(catalog)] == [0, 2]
    assert result.exit_code == 1
    assert f"{first}:3: not JSON" in result.stderr
    assert f"{first}:4: `offset` must be an integer" in result.stderr
    assert f"{second}:1: not UTF-8" in result.stderr
    assert "Skipped 3 invalid lines" in result.stdout


def test_a_flood_of_wrong_lines_is_counted(land: Land, tmp_path: Path) -> None:
    result = land(written(tmp_path / "a.jsonl", *["nope"] * 1_234))

    assert len(result.stderr.splitlines()) == 101
    assert "and 1,134 more invalid lines" in result.stderr
    assert "Landed 0 messages" in result.stdout


def test_bare_messages_take_the_offsets_after_those_of_the_topic(
    land: Land, catalog: SparkSession, tmp_path: Path
) -> None:
    land(
        written(
            tmp_path / "envelopes.jsonl",
            envelope(41, "landed"),
            envelope(99, partition=1),
            envelope(99, topic="other"),
        )
    )
    last = written(tmp_path / "z", "c")
    first = written(tmp_path / "a", b"a\xff\r", "", " b")

    result = land("--topic", "shop", last, first)

    shop = [row for row in rows(catalog) if (row.topic, row.partition) == ("shop", 0)]
    assert [(row.offset, bytes(row.value)) for row in shop] == [
        (41, b"landed"),
        (42, b"c"),
        (43, b"a\xff\r"),
        (44, b" b"),
    ]
    assert (shop[1].key, shop[1].timestamp) == (None, None)
    assert commits(catalog) == 2
    assert "shop, partition 0: 3 messages, offsets 42 to 44" in result.stdout


def test_compressed_files_and_stdin_are_read_like_others(
    land: Land, catalog: SparkSession, tmp_path: Path
) -> None:
    compressed = tmp_path / "messages.gz"
    # Files appended to one another are one file to gzip.
    compressed.write_bytes(gzip.compress(b"\xef\xbb\xbfa\nb") + gzip.compress(b"c\nd"))

    land("--topic", "shop", compressed, "-", stdin=b"e\n\nf")

    expected = [b"a", b"bc", b"d", b"e", b"f"]
    assert values(catalog) == list(enumerate(expected))


def test_more_than_a_chunk_is_still_one_commit(
    land: Land, catalog: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "CHUNK_SIZE", 1_000)
    path = written(tmp_path / "bare", *(f"message {number}" for number in range(25)))

    land("--topic", "shop", path)

    assert values(catalog) == [(number, b"message %d" % number) for number in range(25)]
    assert commits(catalog) == 1


def test_a_damaged_file_is_told_before_spark_starts(tmp_path: Path, without_spark: None) -> None:
    good = written(tmp_path / "good", "a")
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(gzip.compress(os.urandom(10_000))[:-2_000])

    command = ["land", "files", "--format", "canal_json", "--topic", "shop"]
    result = run_command(*command, good, damaged)

    assert result.exit_code == 1
    assert f"{damaged} can't be read after line" in result.stderr
    assert "Nothing was landed." in result.stderr


def test_files_without_messages_are_told_before_spark_starts(
    tmp_path: Path, without_spark: None
) -> None:
    def run(*lines: str) -> Result:
        path = written(tmp_path / "messages.jsonl", *lines)
        return run_command("land", "files", "--format", "canal_json", path)

    empty = run("", " ")
    assert empty.exit_code == 0
    assert "Landed 0 messages: the files contain none" in empty.stdout

    wrong = run("nope", envelope(-1))
    assert wrong.exit_code == 1
    assert "Skipped 2 invalid lines" in wrong.stdout


def test_messages_that_had_landed_before_are_counted(
    land: Land, catalog: SparkSession, tmp_path: Path
) -> None:
    path = written(tmp_path / "messages.jsonl", *(envelope(offset) for offset in range(3)))
    assert "landed before" not in land(path).stdout

    more = written(tmp_path / "more.jsonl", envelope(1), envelope(2), envelope(7))
    result = land(more)

    assert "Landed 3 messages" in result.stdout
    assert "2 messages had landed before, and count once." in result.stdout
    assert len(rows(catalog)) == 6


def test_a_file_of_bare_messages_lands_once_unless_again_is_given(
    land: Land, catalog: SparkSession, tmp_path: Path
) -> None:
    first, second = written(tmp_path / "first", "a", "b"), written(tmp_path / "second", "c")
    land("--topic", "shop", first)

    repeated = land("--topic", "shop", first)
    assert repeated.exit_code == 0
    assert f"{first} is left out: a file with this name and these messages" in repeated.stderr
    assert "Landed 0 messages: all files have landed before" in repeated.stdout
    assert commits(catalog) == 1

    others = [
        written(tmp_path / "changed" / "first", "a", "B"),
        written(tmp_path / "copy", "a", "b"),
    ]
    land("--topic", "shop", others[0], first, second, others[1])
    lines = [b"a", b"b", b"a", b"B", b"c", b"a", b"b"]
    assert values(catalog) == list(enumerate(lines))

    land("--topic", "other", first)
    assert len(rows(catalog)) == 9
    again = land("--topic", "shop", first, "--again")
    assert "left out" not in again.stderr
    assert values(catalog)[-2:] == [(7, b"a"), (8, b"b")]


def test_of_files_in_chunks_those_that_have_landed_are_left_out(
    land: Land, catalog: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "CHUNK_SIZE", 250)
    files = [written(tmp_path / name, *(f"{name}{i}" for i in range(4))) for name in "abc"]
    land("--topic", "shop", files[1])
    land("--topic", "shop", *files)
    lines = [f"{name}{i}".encode() for name in "bac" for i in range(4)]
    assert values(catalog) == list(enumerate(lines))


def test_a_topic_whose_offsets_are_used_up_takes_no_more(
    land: Land, catalog: SparkSession, tmp_path: Path
) -> None:
    land(written(tmp_path / "a", envelope(2**63 - 2)))

    result = land("--topic", "shop", written(tmp_path / "b", "fits", "does not"))

    assert len(rows(catalog)) == 1
    assert result.exit_code == 1
    assert "no offset left" in result.stderr


def test_bare_messages_wait_for_their_turn_on_a_shared_catalog(
    land: Land, catalog: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two landings at once would take the same offsets."""
    shared = SimpleNamespace(run_lock="landing.run_lock", lock_timeout=0.1)
    monkeypatch.setattr(locks, "credentials_of", lambda *_: shared)
    bare = written(tmp_path / "bare", "a")
    catalog.sql("create namespace landing")
    other = RunLock(catalog, shared.run_lock)
    other.take(timeout=0)

    refused = land("--topic", "shop", bare)
    enveloped = land(written(tmp_path / "enveloped", envelope(0)))
    other.release()
    landed = land("--topic", "shop", bare)

    assert refused.exit_code == 1
    assert "still uses the catalog" in refused.stderr
    assert (enveloped.exit_code, landed.exit_code) == (0, 0)
    assert [offset for offset, _ in values(catalog)] == [0, 1]


def test_bare_messages_do_not_land_after_their_turn_is_lost(
    land: Land, catalog: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process was suspended, and another landing took its place."""
    shared = SimpleNamespace(run_lock="landing.run_lock", lock_timeout=0.1)
    monkeypatch.setattr(locks, "credentials_of", lambda *_: shared)
    monkeypatch.setattr(run_lock, "GIVE_UP_AFTER", -1.0)
    catalog.sql("create namespace landing")

    lost = land("--topic", "shop", written(tmp_path / "bare", "a"))

    assert lost.exit_code == 1
    assert "no sign of life" in lost.stderr
    assert values(catalog) == []


@pytest.mark.parametrize("options", [("--topic", "avro"), ()])
def test_bare_binary_messages_are_warned_of(tmp_path: Path, options: tuple[str, ...]) -> None:
    topics = tmp_path / "topics.yml"
    topics.write_text("topics: {avro: dts_avro}\nfiles: {'*.bin': avro}\n")
    file = written(tmp_path / "empty.bin", "")
    with no_session():
        result = run_command("land", "files", "--map", topics, *options, file)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("a line break inside a message splits it") == 1


def test_messages_of_many_partitions_are_counted_as_landed_before(
    land: Land, tmp_path: Path
) -> None:
    lines = [envelope(0, partition=partition) for partition in range(5_000)]
    land(written(tmp_path / "shop.jsonl", *lines))
    again = land(tmp_path / "shop.jsonl")
    assert "5,000 messages had landed before" in again.stdout, again.output


def test_a_map_lands_several_formats_at_once(shared_session: SparkSession, tmp_path: Path) -> None:
    topics = tmp_path / "topics.yml"
    topics.write_text(
        "topics:\n  shop: canal_json\n  dts_*: dts_avro\n  old: skip\nfiles:\n  bare-*: shop\n"
    )
    mixed = written(
        tmp_path / "mixed.jsonl",
        envelope(4),
        envelope(0, topic="dts_a"),
        envelope(1, topic="dts_b"),
        envelope(0, topic="old"),
    )
    bare = written(tmp_path / "bare-1.txt", "a", "b")

    def run(*paths: Path) -> Result:
        command = ["land", "files", "--map", str(topics), *map(str, paths)]
        return run_command(*command)

    result = run(mixed, bare)

    assert result.exit_code == 0, result.output
    # Bare messages stand behind those that land beside them.
    assert [row.offset for row in rows(shared_session)] == [4, 5, 6]
    avro = shared_session.table("landing.dts_avro")
    assert sorted(row.topic for row in avro.collect()) == ["dts_a", "dts_b"]
    assert "Landed 3 messages in landing.canal_json" in result.stdout
    assert "Landed 2 messages in landing.dts_avro" in result.stdout
    assert "Left out 1 message of topics that" in result.stdout

    unknown = run(written(tmp_path / "unknown.jsonl", envelope(0), envelope(0, topic="new")))
    assert unknown.exit_code == 2
    assert "unknown.jsonl:2: " in unknown.stderr
    assert "names no format of the topic 'new'. Add the topic there" in unknown.stderr


def test_landing_tables_have_the_shape_of_kafkas_source(catalog: SparkSession) -> None:
    for _ in range(2):
        for source_format in SOURCE_FORMATS:
            create_landing_table(catalog, OWN.landed(source_format))

    tables = {row.tableName for row in catalog.sql("show tables in landing").collect()}
    assert tables == set(SOURCE_FORMATS)
    columns = [
        (column.name, column.dataType.simpleString(), column.nullable)
        for column in catalog.table("landing.dts_avro").schema.fields
    ]
    assert columns == [
        ("topic", "string", False),
        ("partition", "int", False),
        ("offset", "bigint", False),
        ("timestamp", "timestamp", True),
        ("key", "binary", True),
        ("value", "binary", True),
        ("landed_at", "timestamp", False),
    ]


def test_use_that_is_wrong_says_so_before_spark_starts(tmp_path: Path) -> None:
    path = written(tmp_path / "a", envelope(0))

    def fails(*arguments: object) -> str:
        result = run_command("land", "files", *arguments)
        assert result.exit_code == 2
        return " ".join(result.stderr.replace("│", "").split())

    unknown_format = fails("--format", "avro", path)
    assert all(name in unknown_format for name in SOURCE_FORMATS)
    assert all(name in fails(path) for name in SOURCE_FORMATS)
    assert "The file nope.jsonl does not exist" in fails("--format", "canal_json", "nope.jsonl")
    assert "is a folder" in fails("--format", "canal_json", "/")
    assert "--topic needs a name" in fails("--format", "canal_json", "--topic", " ", path)
    assert "it has local, demo" in fails("--format", "canal_json", "--target", "moon", path)
    both = fails("--format", "canal_json", "--map", "no/topics.yml", path)
    assert "with --format, or the formats of several topics with --map" in both
    assert "topics.yml does not exist" in fails("--map", "no/topics.yml", path)


COMPRESSED = [
    (gzip.compress(b"{}", mtime=0), "Give it a name that ends in .gz"),
    (b"PK\x03\x04", "is compressed with zip. Decompress it first."),
]


def refusal(path: Path, *options: str) -> str:
    """What `cdc-marts land files` says of a file of which it lands nothing."""
    command = ["land", "files", "--format", "canal_json", *options, str(path)]
    result = run_command(*command)
    assert result.exit_code == 2, result.output
    assert "Nothing was landed." in result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        *COMPRESSED,
        ("{}".encode("utf-16"), "is UTF-16"),
        (b'[{"topic": "shop"}]\n', "jq -c '.[]'"),
        (b'{\n "topic": "shop"\n}\n', "jq -c ."),
        (b'{"id": 1, "type": "INSERT"}\n', "with --topic of `cdc-marts land files`"),
        ((envelope(0, "李雷") + "\n").encode("gbk"), "iconv -f GBK -t UTF-8"),
    ],
)
def test_a_likely_mistake_is_named_before_spark_starts(
    tmp_path: Path, without_spark: None, content: bytes, hint: str
) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_bytes(content)

    assert hint in refusal(path)


def test_a_run_names_the_topic_of_bare_messages_in_the_map(
    tmp_path: Path, without_spark: None
) -> None:
    """It has no option --topic."""
    path = written(tmp_path / "bare.txt", '{"id": 1, "type": "INSERT"}')

    result = run_command("run", "--format", "canal_json", path)

    assert result.exit_code == 2
    assert "name their topic in `files` of a map (--map), or with" in result.stderr


MESSAGES = [{"id": 1, "data": [{"name": "李雷"}]}, {"id": 2, "data": []}]
IN_AN_ARRAY = ":1: a JSON array begins here, but each line must be one message. `jq -c '.[]'`"
OVER_LINES = ":1: a JSON object over several lines begins here, but each line must be one message."


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        *COMPRESSED,
        (json.dumps(MESSAGES).encode("utf-16"), "is UTF-16"),
        (json.dumps(MESSAGES).encode(), IN_AN_ARRAY),
        (b"%s\n" * 2 % (json.dumps(MESSAGES).encode(), b"[ {}]"), IN_AN_ARRAY),
        (json.dumps(MESSAGES, indent=2).encode(), IN_AN_ARRAY),
        (b"[\n" + b",\n".join(json.dumps(m).encode() for m in MESSAGES) + b"\n]\n", IN_AN_ARRAY),
        (b'[{"id":1},\n' + b'{"id":2},\n' * 20_000, IN_AN_ARRAY),
        (b"\n".join(json.dumps(m, indent=2).encode() for m in MESSAGES), OVER_LINES),
        (b'{"id":1,\n"data":[\n' + b'{"name":"x"},\n' * 20_000, OVER_LINES),
        (b"\xef\xbb\xbf{\r\n}\r\n", OVER_LINES),
        (b'{"id":1}\n{"name":"%s"}\n' % "李雷".encode("gbk"), ":2 is GBK, but messages must be"),
    ],
)
def test_a_likely_mistake_in_bare_messages_is_named_before_spark_starts(
    tmp_path: Path, without_spark: None, content: bytes, hint: str
) -> None:
    path, topics = tmp_path / "bare.txt", tmp_path / "topics.yml"
    path.write_bytes(content)
    topics.write_text("topics: {shop: canal_json}\nfiles: {bare.txt: shop}\n")

    said = refusal(path, "--topic", "shop")

    assert hint in said
    by_map = run_command("land", "files", "--map", topics, path)
    assert (by_map.exit_code, by_map.stderr) == (2, said)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (json.dumps(MESSAGES).encode("utf-16"), "is UTF-16"),
        (json.dumps(MESSAGES, indent=2).encode(), IN_AN_ARRAY),
    ],
)
def test_a_compressed_file_is_looked_into(
    tmp_path: Path, without_spark: None, content: bytes, hint: str
) -> None:
    path = tmp_path / "bare.gz"
    path.write_bytes(gzip.compress(content))

    assert hint in refusal(path, "--topic", "shop")


@pytest.mark.parametrize(
    "first",
    [
        *(b"[", b"[1, 2]", b'[{"id": 1}, {"id": 2}]', b"{", b'{"id": 0,', b'{"data": [', b"{}]"),
        *(b'{"name": "x', b'{"name": "\xff"}', b'{"name": "M\xfcller"}', b"[" * 10_000, b"text"),
        *("{'name': '李".encode()[:-1], b"\xff\xfd", b"9" * 5_000),
    ],
)
def test_a_wrong_message_among_others_is_no_mistake_of_the_file(
    tmp_path: Path, first: bytes
) -> None:
    others = (b'{"id": 1}', b'{"id": 2}')
    assert mistake_in(written(tmp_path / "bare", first, *others), is_bare=True) is None
    assert mistake_in(written(tmp_path / "bare", *others, first), is_bare=True) is None


def test_binary_messages_are_not_taken_for_texts(tmp_path: Path) -> None:
    messages = written(tmp_path / "bare", b"\x00\x02\xb0\xc8", "李雷".encode("gbk"))
    assert mistake_in(messages, is_bare=True, is_binary=True) is None
    assert "is GBK" in str(mistake_in(messages, is_bare=True))


def test_envelopes_are_not_landed_as_bare_messages(tmp_path: Path, without_spark: None) -> None:
    path = written(tmp_path / "messages.jsonl", envelope(0))

    assert "Leave out --topic" in refusal(path, "--topic", "shop")


def test_bare_messages_of_a_topic_that_the_map_skips_do_not_land(
    tmp_path: Path, without_spark: None
) -> None:
    topics = tmp_path / "topics.yml"
    topics.write_text("topics: {shop: canal_json, old_*: skip}\n")
    path = written(tmp_path / "bare", "a")

    result = run_command("land", "files", "--map", topics, "--topic", "old_shop", path)

    assert result.exit_code == 2
    said = " ".join(result.stderr.replace("│", " ").split())
    assert "skips the topic old_shop. Give the topic a format there" in said


def test_a_misspelt_format_is_told_what_was_meant(tmp_path: Path) -> None:
    path = written(tmp_path / "a", envelope(0))
    result = run_command("land", "files", "--format", "canal-json", path)
    assert result.exit_code == 2
    assert "Did you mean canal_json?" in " ".join(result.stderr.replace("│", " ").split())


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\u2028b\x0b\x0c\x85\rc\n\n  \n\ufeff\nd".encode())
    read: list[int] = []

    lines = list(lines_of(path, read.append))

    assert lines == [
        (1, "a\u2028b\x0b\x0c\x85\rc".encode()),
        (4, "\ufeff".encode()),
        (5, b"d"),
    ]
    assert sum(read) == path.stat().st_size


def test_stdin_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"a\nb\n"))
    monkeypatch.setattr(sys, "stdin", stdin)

    assert list(lines_of(Path("-"))) == [(1, b"a"), (2, b"b")]
    assert not stdin.buffer.closed


def test_the_project_is_found_from_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The last one is a dbt project of its own, in the project.
    for folder in (
        ROOT,
        ROOT / "tests",
        ROOT / "packages" / "dbt-spark-session" / "src" / "dbt" / "include" / ADAPTER,
    ):
        monkeypatch.chdir(folder)
        assert find_root() == ROOT
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError, match="not inside a dbt project"):
        find_root()


@pytest.mark.thorough
def test_the_command_lands_in_the_home_of_its_target(tmp_path: Path) -> None:
    path = written(tmp_path / "bare", "a", "b")
    environment = {"CDC_MARTS_HOME": str(tmp_path), "CDC_MARTS_DRIVER_MEMORY": "1g"}
    options = ("--format", "canal_json", "--topic", "shop")

    def run(*more: str) -> str:
        command = (program("cdc-marts"), "land", "files", *options, *more, path)
        return finished(*command, cwd=ROOT / "tests", **environment).stdout

    assert "offsets 0 to 1" in run()
    assert (tmp_path / "local" / "catalog.db").is_file()
    assert "all files have landed before" in run()
    assert "offsets 2 to 3" in run("--again")
