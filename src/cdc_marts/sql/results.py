"""The result of a query as a table, CSV, JSON, Markdown or Parquet.

Spark renders the values, so digits and times are the same in all formats. A VARIANT is its JSON
text. Only a table is collected. The other formats are written row by row, as partitions of the
result arrive.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import pyarrow.parquet as pq
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.conversion import LocalDataToArrowConversion
from pyspark.sql.pandas.types import to_arrow_schema
from rich.cells import cell_len

from cdc_marts.expressions import base64_text
from cdc_marts.printing import printable
from cdc_marts.sql import ResultFormat

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: A table shows at most so many rows of a result.
MOST_ROWS = 1_000

_NULL = "NULL"
_NARROWEST = 3
_NESTED = (T.ArrayType, T.MapType, T.StructType, T.VariantType)
_BATCH = 10_000
_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


class ResultError(Exception):
    """The result can't be written in this way; the message says why and what to do."""


def write_result(frame: DataFrame, result_format: ResultFormat, output: Path | None) -> None:
    """Run the query of `frame`, and write its rows to the file `output`, or to stdout.

    A file is written as a whole or not at all. On a terminal, unprintable characters are escaped.
    """
    if result_format is ResultFormat.parquet:
        if output is None:
            raise ResultError("Parquet is binary: name a file with --output.")
        with _whole(output) as partial:
            _write_parquet(frame, partial)
        return
    with _stream(output) as stream:
        write_lines(frame, result_format, stream)


def write_lines(frame: DataFrame, result_format: ResultFormat, stream: TextIO) -> None:
    """Run the query of `frame`, and write its rows to a stream, in a format that is text."""
    _WRITERS[result_format](frame, stream)


def table_of(frame: DataFrame, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table as Spark draws it, but with full and escaped values.

    If it is wider than `width`, each row is a record, with a line per column.
    """
    names = [printable(name) for name in frame.columns]
    found = _as_text(frame).limit(MOST_ROWS + 1).collect()
    rows = [[_NULL if cell is None else printable(cell) for cell in row] for row in found]
    is_cut = len(rows) > MOST_ROWS
    del rows[MOST_ROWS:]
    widths = [max(_NARROWEST, *map(cell_len, column)) for column in zip(names, *rows, strict=True)]
    if width is not None and rows and sum(widths) + len(widths) + 1 > width:
        yield from _records(names, rows)
    else:
        yield from _grid(names, rows, widths)
    if is_cut:
        yield f"The table shows the first {MOST_ROWS:,} rows; other formats have all of them."


def _grid(names: list[str], rows: list[list[str]], widths: list[int]) -> Iterator[str]:
    border = "+" + "".join("-" * width + "+" for width in widths)

    def line(cells: list[str]) -> str:
        padded = (
            cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)
        )
        return "|" + "".join(f"{cell}|" for cell in padded)

    yield from (border, line(names), border)
    yield from map(line, rows)
    yield border


def _records(names: list[str], rows: list[list[str]]) -> Iterator[str]:
    width = max(map(cell_len, names))
    for number, row in enumerate(rows, start=1):
        yield f"-- row {number} --"
        for name, cell in zip(names, row, strict=True):
            yield f"{name}{' ' * (width - cell_len(name))} | {cell}"


def _write_table(frame: DataFrame, stream: TextIO) -> None:
    width = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else None
    # Some terminals say that they have 0 columns, which means that the number is unknown.
    stream.writelines(f"{line}\n" for line in table_of(frame, width or None))


def _write_markdown(frame: DataFrame, stream: TextIO) -> None:
    def line(cells: Iterable[str | None]) -> str:
        texts = (_NULL if cell is None else printable(cell) for cell in cells)
        return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |\n"

    stream.write(line(frame.columns))
    stream.write("|" + "---|" * len(frame.columns) + "\n")
    stream.writelines(map(line, _as_text(frame).toLocalIterator()))


def _write_csv(frame: DataFrame, stream: TextIO) -> None:
    write = _lines_to(stream)
    write(",".join(map(_csv_field, frame.columns)))
    for row in _as_text(frame, is_exact=True).toLocalIterator():
        write(",".join(map(_csv_field, row)))


def _csv_field(text: str | None) -> str:
    """Return a field: NULL is empty, an empty text is quoted.

    Python's own writer writes both alike.
    """
    if text is None:
        return ""
    if not text or any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _write_json(frame: DataFrame, stream: TextIO) -> None:
    """Write an array of objects, one per line."""
    _check_names(frame)
    write = _lines_to(stream)
    objects = frame.select(F.to_json(F.struct(*map(_in_json, frame.schema)), _JSON))
    write("[")
    previous = None
    for (text,) in objects.toLocalIterator():
        if previous is not None:
            write(f"{previous},")
        previous = text
    if previous is not None:
        write(previous)
    write("]")


def _in_json(field: T.StructField) -> Column:
    column = F.col(_quoted(field.name))
    return base64_text(column).alias(field.name) if field.dataType == T.BinaryType() else column


def _write_parquet(frame: DataFrame, path: Path) -> None:
    """Write Parquet with VARIANT values as JSON text, since few readers know VARIANT."""
    _check_names(frame)
    frame = frame.select(
        *(
            F.to_json(F.col(_quoted(field.name))).alias(field.name)
            if _has_variant(field.dataType)
            else F.col(_quoted(field.name))
            for field in frame.schema
        )
    )
    rows = frame.toLocalIterator()
    with pq.ParquetWriter(path, to_arrow_schema(frame.schema)) as writer:
        while batch := list(islice(rows, _BATCH)):
            table = LocalDataToArrowConversion.convert(batch, frame.schema, False)
            writer.write_table(table.cast(writer.schema))


def _check_names(frame: DataFrame) -> None:
    repeated = [name for name, count in Counter(frame.columns).items() if count > 1]
    if repeated:
        raise ResultError(
            f"Several columns are named {', '.join(map(printable, repeated))}: give each a name of"
            " its own with `as`, or choose another format."
        )


def _as_text(frame: DataFrame, is_exact: bool = False) -> DataFrame:
    """Return each column as a text.

    `is_exact`: nested values are JSON and bytes are base64, so that programs can read them back.
    """
    # Several columns of a result may have one name.
    by_place = frame.toDF(*map(str, range(len(frame.columns))))
    return by_place.select(*(_text_of(field, is_exact) for field in by_place.schema))


def _text_of(field: T.StructField, is_exact: bool) -> Column:
    column = F.col(_quoted(field.name))
    if isinstance(field.dataType, _NESTED if is_exact else T.VariantType):
        return F.to_json(column, _JSON)
    if is_exact and isinstance(field.dataType, T.BinaryType):
        return base64_text(column)
    return column.cast("string")


def _has_variant(kind: T.DataType) -> bool:
    return "variant" in kind.simpleString()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _lines_to(stream: TextIO) -> Callable[[str], object]:
    """Return a function that writes lines, on a terminal escaped."""
    shown = printable if stream.isatty() else str
    return lambda line: stream.write(shown(line) + "\n")


@contextmanager
def _stream(output: Path | None) -> Iterator[TextIO]:
    """Yield a file, or stdout if there is none."""
    if output is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    with _whole(output) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        yield stream


@contextmanager
def _whole(output: Path) -> Iterator[Path]:
    """Yield a file beside `output`, and move it to `output` if the block succeeds."""
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(output)
    except OSError as error:
        raise ResultError(f"The file {output} can't be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)


_WRITERS: dict[ResultFormat, Callable[[DataFrame, TextIO], None]] = {
    ResultFormat.table: _write_table,
    ResultFormat.csv: _write_csv,
    ResultFormat.json: _write_json,
    ResultFormat.md: _write_markdown,
}
