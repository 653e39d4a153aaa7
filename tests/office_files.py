"""Small files of office programs for tests, written by hand."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping, Sequence

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-'
    'package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName='
    '"/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    "</Types>"
)


def zipped(files: Mapping[str, bytes | str]) -> bytes:
    """A ZIP archive of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(names: Sequence[str]) -> bytes:
    """A compressed tar archive of empty files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
    return out.getvalue()


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float]]]) -> bytes:
    """A workbook with these sheets, each a list of rows."""
    names = list(enumerate(sheets, start=1))
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in names)
    related = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n, _ in names
    )
    return zipped(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{related}</Relationships>',
            **{f"xl/worksheets/sheet{n}.xml": _sheet(sheets[name]) for n, name in names},
        }
    )


def docx(*paragraphs: str, before: str = "") -> bytes:
    """A document with these paragraphs of XML; `before` precedes its root element."""
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    document = f'{before}<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>'
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": document})


def _sheet(rows: Sequence[Sequence[str | float]]) -> str:
    lines = "".join(
        f'<row r="{n}">{"".join(_cell(chr(65 + at), n, value) for at, value in enumerate(row))}</row>'
        for n, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'


def _cell(column: str, row: int, value: str | float) -> str:
    if isinstance(value, str):
        return f'<c r="{column}{row}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{column}{row}"><v>{value}</v></c>'
