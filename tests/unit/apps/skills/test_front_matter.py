"""The front matter of SKILL.md, compared with PyYAML where that reads it too."""

from __future__ import annotations

import pytest
import yaml  # type: ignore[import-untyped]

from outlast.apps.skills.front_matter import read_fields, split_skill
from outlast.base.skill_errors import SkillInvalid

PLAIN = "name: pdf-forms\ndescription: Fill in PDF forms.\nlicense: MIT"
FOLDED = "name: a\ndescription: >-\n  Fill in forms.\n  Use it often.\n\n  And well.\nlicense: MIT"
LITERAL = "description: |\n  First line\n    deeper\n  last\n"
QUOTED = 'a: "one \\"two\\" \\u00e9"\nb: \'it\'\'s: fine\'\nc: "over\n  two lines"'
CONTINUED = "description: begins here\n  and goes on\n  to the end\nname: x"
BELOW = "description:\n  begins below\n  its key\nname: x"
COMMENTED = "# about\nname: x # the name\n\ndescription: C# and F#"


@pytest.mark.parametrize("text", [PLAIN, FOLDED, LITERAL, QUOTED, CONTINUED, BELOW, COMMENTED])
def test_texts_are_read_as_yaml_does(text: str) -> None:
    expected = {key: str(value).strip() for key, value in yaml.safe_load(text).items()}
    assert read_fields(text.splitlines()) == expected


@pytest.mark.parametrize(
    "text", ["allowed-tools: Read Bash", "allowed-tools: [Read, 'Bash']", "allowed-tools:\n  - Read\n  - Bash"]
)
def test_a_list_of_tools_is_read_as_words(text: str) -> None:
    assert read_fields(text.splitlines()) == {"allowed-tools": "Read Bash"}


def test_a_plain_text_may_contain_a_colon_which_yaml_refuses() -> None:
    text = "description: Use this when: a form is sent"
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(text)
    assert read_fields([text]) == {"description": "Use this when: a form is sent"}


def test_deeper_tables_do_not_disturb_what_follows() -> None:
    text = "metadata:\n  author: example\n  version: '1.0'\nname: x"
    assert read_fields(text.splitlines())["name"] == "x"


def test_the_body_follows_the_second_line_of_dashes() -> None:
    fields, body = split_skill("\ufeff---\r\nname: x\r\n---\r\n\r\n# Title\r\n---\r\nmore\r\n")
    assert fields == {"name": "x"}
    assert body == "# Title\n---\nmore"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Title", "does not begin"),
        ("", "does not begin"),
        ("---\nname: x\n", "no line of --- at its end"),
        ("---\nname\n---", "Line 2"),
        ("---\nname: x\n name2\n? y\n---", "Line 4"),
        ("---\nname: x\nname: y\n---", "Line 3 of SKILL.md repeats name"),
        ('---\nname: "x\n---', "quotes in line 2"),
        ("---\nname: 'x' y\n---", "quotes in line 2"),
    ],
)
def test_a_refusal_names_the_line(text: str, words: str) -> None:
    with pytest.raises(SkillInvalid, match=words):
        split_skill(text)
