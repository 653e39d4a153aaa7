"""The front matter of SKILL.md: the part of YAML that skills are written in. Pure.

Top-level keys with texts: plain, quoted, in blocks (`|` and `>`), in lists; deeper tables (`metadata`) are not read. As
many skills are written by hand, a plain text may contain `: `, which YAML refuses.
"""

import json
import re
from collections.abc import Sequence
from typing import Final

from outlast.base.skill_errors import SkillInvalid

MAIN: Final = "SKILL.md"

_KEY: Final = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_BLOCK: Final = re.compile(r"([|>])[+-]?[1-9]?[+-]?(?:[ \t]+#.*)?$")
_ITEM: Final = re.compile(r"-(?:[ \t]+|$)")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#.*$")


def split_skill(text: str) -> tuple[dict[str, str], str]:
    """The fields of the front matter, and the Markdown below it. Raises `SkillInvalid`."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise SkillInvalid("SKILL.md does not begin with a line of ---.", path="SKILL.md")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise SkillInvalid("The front matter of SKILL.md has no line of --- at its end.", path="SKILL.md")
    return read_fields(lines[1:end]), "\n".join(lines[end + 1 :]).strip()


def read_fields(lines: Sequence[str]) -> dict[str, str]:
    """The texts by key. Raises `SkillInvalid`, naming the line of SKILL.md."""
    fields: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at].rstrip()
        number, at = at + 2, at + 1
        if not line or line.startswith("#"):
            continue
        found = _KEY.match(line)
        if found is None:
            raise SkillInvalid(f"Line {number} of SKILL.md is not `key: value`.", path="SKILL.md", line=number)
        if found[1] in fields:
            raise SkillInvalid(f"Line {number} of SKILL.md repeats {found[1]}.", path="SKILL.md", line=number)
        begin = at
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t" or _ITEM.match(lines[at])):
            at += 1
        fields[found[1]] = _value((found[2] or "").strip(), lines[begin:at], number)
    return fields


def _value(beside: str, below: Sequence[str], number: int) -> str:
    block = _BLOCK.match(beside)
    if block is not None:
        return _block(block[1], below)
    if beside[:1] in ("'", '"'):
        return _quoted(_folded([beside, *below]), number)
    if beside[:1] == "[":
        items = _folded([beside, *below]).strip("[]").split(",")
        return " ".join(item.strip().strip("'\"") for item in items)
    plain = [_COMMENT.sub("", line).strip() for line in (beside, *below)]
    if not plain[0] and any(map(_ITEM.match, plain)):
        return " ".join(_ITEM.sub("", item).strip("'\"") for item in plain if item)
    return _folded(plain)


def _block(style: str, lines: Sequence[str]) -> str:
    filled = [line for line in lines if line.strip()]
    depth = len(filled[0]) - len(filled[0].lstrip()) if filled else 0
    cut = [line[depth:].rstrip() for line in lines]
    return "\n".join(cut).strip() if style == "|" else _folded(cut)


def _folded(lines: Sequence[str]) -> str:
    """Lines joined by spaces; an empty line ends a paragraph."""
    paragraphs = "\n".join(line.strip() for line in lines).strip()
    return re.sub(r"(?<!\n)\n(?!\n)", " ", paragraphs).replace("\n\n", "\n")


def _quoted(text: str, number: int) -> str:
    quote = text[0]
    pattern = r"'((?:[^']|'')*)'" if quote == "'" else r'("(?:[^"\\]|\\.)*")'
    found = re.match(pattern + r"\s*(?:#.*)?$", text, re.DOTALL)
    try:
        if found is not None:
            return found[1].replace("''", "'") if quote == "'" else str(json.loads(found[1], strict=False))
    except ValueError:
        pass
    raise SkillInvalid(f"The quotes in line {number} of SKILL.md do not match.", path="SKILL.md", line=number)
