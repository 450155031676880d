"""Tables as they come: encodings, separators, quoted line breaks, codes with leading zeros, broken files."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from certifit.files import Column, Schema, Table, TableError, read_table


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_latin_1_is_noticed_and_said(tmp_path):
    table = read_table(written(tmp_path, "t.csv", "stadt,n\nMünchen,1\nKöln,2\n".encode("latin-1")))
    assert table.column("stadt").to_pylist() == ["München", "Köln"]
    assert any("Latin-1" in note for note in table.notes)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_needs_no_remark(tmp_path, encoding):
    table = read_table(written(tmp_path, "t.csv", "stadt,n\nMünchen,1\n".encode(encoding)))
    assert table.columns == ("stadt", "n")
    assert table.column("stadt").to_pylist() == ["München"]
    assert table.notes == ()


def test_quoted_line_breaks_and_separators_stay_inside_their_cell(tmp_path):
    table = read_table(written(tmp_path, "t.csv", 'note,n\n"two\nlines, and ""quotes""",1\nplain,2\n'))
    assert table.rows == 2
    assert table.column("note").to_pylist() == ['two\nlines, and "quotes"', "plain"]


def test_zip_codes_keep_their_zeros(tmp_path):
    table = read_table(written(tmp_path, "t.csv", "zip,n\n01234,1\n98765,2\n"))
    assert table.column("zip").to_pylist() == ["01234", "98765"]


@pytest.mark.parametrize(("mark", "name"), [(";", "t.csv"), ("\t", "t.tsv"), ("|", "t.txt"), (",", "t.csv")])
def test_separators(tmp_path, mark, name):
    table = read_table(written(tmp_path, name, f"a{mark}b\n1{mark}x\n2{mark}y\n"))
    assert table.arrow.to_pydict() == {"a": ["1", "2"], "b": ["x", "y"]}


def test_decimal_commas(tmp_path):
    table = read_table(written(tmp_path, "t.csv", "a;b\n1,5;x\n-2,25;y\n"))
    assert Schema((Column("a", "number", comma=True),)).read(table).X.tolist() == [[1.5], [-2.25]]


def test_a_column_that_turns_to_text_late(tmp_path):
    rows = "".join(f"{i},{i % 3}\n" for i in range(70_000))
    table = read_table(written(tmp_path, "t.csv", f"a,b\n{rows}late,1\n"))
    assert table.rows == 70_001
    assert table.column("a")[70_000].as_py() == "late"


def frame():
    return pa.table({"x": [1.5, None, 3.0], "word": ["a", "b", None], "flag": [True, False, None]})


def test_parquet_arrow_feather_and_gzip_read_the_same(tmp_path):
    pyarrow.parquet.write_table(frame(), tmp_path / "t.parquet")
    pyarrow.feather.write_feather(frame(), tmp_path / "t.feather")
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), frame().schema) as sink:
        sink.write_table(frame())
    for name in ("t.parquet", "t.feather", "t.arrow"):
        assert read_table(tmp_path / name).arrow.to_pydict() == frame().to_pydict()
    written(tmp_path, "t.csv.gz", gzip.compress(b"a,b\n1,2\n"))
    assert read_table(tmp_path / "t.csv.gz").arrow.to_pydict() == {"a": ["1"], "b": ["2"]}


def workbook(rows):
    """A minimal .xlsx with one sheet, cell by cell."""

    def cell(value, place):
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    lines = "".join(
        f'<row r="{i}">' + "".join(cell(v, f"{'ABCDEF'[j]}{i}") for j, v in enumerate(row)) + "</row>"
        for i, row in enumerate(rows, start=1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z:
        z.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats'
            f'-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        )
        z.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{links}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        z.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{links}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        z.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{links}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
        )
        z.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>')
    return buffer.getvalue()


def test_excel(tmp_path):
    path = written(tmp_path, "t.xlsx", workbook([["x", "word"], [1.5, "a"], [2.5, "b"]]))
    assert read_table(path).arrow.to_pydict() == {"x": [1.5, 2.5], "word": ["a", "b"]}


def test_frames_of_every_kind_are_tables():
    columns = {"x": [1.0, 2.0], "word": ["a", "b"]}
    for data in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        table = Table.of(data)
        assert table.columns == ("x", "word")
        assert Schema((Column("x", "number"), Column("word", "category", ("a", "b")))).read(table).X.tolist() == [
            [1.0, 0.0],
            [2.0, 1.0],
        ]


def test_repeated_and_empty_names_get_names_of_their_own(tmp_path):
    table = read_table(written(tmp_path, "t.csv", "a,a,\n1,2,3\n"))
    assert table.columns == ("a", "a (2)", "column 3")
    assert "two columns" in table.notes[0]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("t.csv", b"", "empty"),
        ("t.csv", b"a,b\n", "no rows"),
        ("t.csv", b"a,b\n1,2,3\n", "Expected 2 columns, got 3"),
        ("t.csv", b"\x00\x01\x02,\x00\n1,2\n", "binary"),
        ("t.parquet", b"a,b\n1,2\n", "cannot be read"),
        ("t.xlsx", b"a,b\n1,2\n", "cannot be read"),
        ("t.csv.gz", b"a,b\n1,2\n", "gzip"),
        ("t.pdf", b"a,b\n1,2\n", "not known"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, name, data, words):
    with pytest.raises(TableError, match=words) as caught:
        read_table(written(tmp_path, name, data))
    assert "\n" not in str(caught.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)


def test_schema_states_what_it_does_with_unseen_missing_and_unreadable():
    schema = Schema(
        (Column("x", "number"), Column("c", "category", ("a", "b")), Column("d", "date", pattern="%Y-%m-%d"))
    )
    reading = schema.read(
        Table.of({"x": ["1", "?", "x"], "c": ["b", "z", ""], "d": ["1970-01-03", "", "no"], "more": [1, 2, 3]})
    )
    np.testing.assert_array_equal(reading.X, [[1.0, 1.0, 2.0], [np.nan, -1.0, np.nan], [np.nan, np.nan, np.nan]])
    assert reading.unseen == {"c": 1}
    assert reading.unreadable == {"x": 1, "d": 1}
    assert reading.ignored == ("more",)
    with pytest.raises(TableError, match=r"lacks 2 columns .*'c', 'd'"):
        schema.read(Table.of({"x": [1]}))
    assert Schema.from_dict(schema.to_dict()) == schema


def test_decimal_commas_do_not_pass_for_separators(tmp_path):
    table = read_table(written(tmp_path, "t.csv", "x;y\n" + "0,126;0,027\n" * 20))
    assert table.columns == ("x", "y")
    blanks = read_table(written(tmp_path, "t.txt", "a b y\n" + "1 2 3\n" * 20))
    assert blanks.columns == ("a", "b", "y")


def test_a_short_row_is_named_by_its_number(tmp_path):
    with pytest.raises(TableError, match=r"Row #18: Expected 3 columns, got 2"):
        read_table(written(tmp_path, "t.csv", "a,b,y\n" + "1,2,3\n" * 16 + "1,2\n" + "1,2,3\n"))


def test_units_signs_and_infinities(tmp_path):
    cells = ["$1,234.50", "-$2", "3 €", "50%", "−4", "inf", "-Infinity", "1e999"]
    values, bad = Column("c", "number").read(Table.of({"c": cells}).column("c"))
    np.testing.assert_array_equal(values, [1234.5, -2.0, 3.0, 50.0, -4.0, np.nan, np.nan, np.nan])
    assert not bad.any()
    values, bad = Column("c", "number", comma=True).read(Table.of({"c": ["1.234,5", "2,5", "3"]}).column("c"))
    np.testing.assert_array_equal(values, [1234.5, 2.5, 3.0])


def test_numbers_keep_every_digit(tmp_path):
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    text = "x\n" + "\n".join(repr(float(v)) for v in values) + "\n"
    path = written(tmp_path, "t.csv", text)
    assert np.array_equal(Schema((Column("x", "number"),)).read(read_table(path)).X[:, 0], values)
