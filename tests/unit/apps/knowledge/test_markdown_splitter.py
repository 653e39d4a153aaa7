"""Markdown becomes passages: at headings, with their way, their fragments, and code in one piece."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from outlast.apps.knowledge.markdown_parser import slug
from outlast.apps.knowledge.markdown_splitter import cut_markdown
from outlast.apps.knowledge.passages import Cut
from outlast.kernel.web.html_to_markdown import read_web_page
from tests.unit.kernel.web.test_html_to_markdown import PAGE

URL = "https://docs.example/guide.md"

GUIDE = """\
# Tracker SDK

Talks to the tracker.

## Issues

### Creating {#new-issue}

Give it a title:

```ts
// # not a heading
const issue = await tracker.create({ title: "Broken" });
```

### Listing

All of them.

## Issues

Again the same heading.

Old style
---------

A heading with a line below.
"""


def cut(text: str, most: int = 1600, title: str = "") -> list[Cut]:
    return cut_markdown(text, URL, most, title)


def test_each_section_is_a_passage_with_the_way_to_it() -> None:
    assert [one.heading for one in cut(GUIDE)] == [
        "Tracker SDK",
        "Tracker SDK › Issues › Creating",
        "Tracker SDK › Issues › Listing",
        "Tracker SDK › Issues",
        "Tracker SDK › Old style",
    ]


def test_addresses_lead_to_the_heading_also_where_one_appears_twice() -> None:
    assert [one.url for one in cut(GUIDE)] == [
        URL,
        f"{URL}#new-issue",
        f"{URL}#listing",
        f"{URL}#issues-1",
        f"{URL}#old-style",
    ]


def test_a_hash_sign_in_code_is_no_heading() -> None:
    passage = cut(GUIDE)[1]
    assert "// # not a heading" in passage.body
    assert passage.body.count("```") == 2


def test_a_title_stands_first_where_the_text_has_none() -> None:
    assert cut("## Install\n\nnpm install", title="README")[0].heading == "README › Install"
    assert cut("# Mine\n\ntext", title="README")[0].heading == "Mine"


def test_front_matter_gives_the_title_and_is_no_text() -> None:
    (passage,) = cut('---\ntitle: "Web API"\ntags: [a]\n---\n\nCall it.\n')
    assert (passage.heading, passage.body) == ("Web API", "Call it.")


def test_headings_lose_their_markup() -> None:
    text = '## <a name="create"></a>The `create` [method](./x.md) **now** ##\n\nText\n'
    (passage,) = cut(text)
    assert passage.heading == "The create method now"
    assert passage.url == f"{URL}#create"


def test_comments_hold_neither_headings_nor_text() -> None:
    assert [one.body for one in cut("# A\n\n<!--\n# B\n-->\n\ntext\n")] == ["text"]


def test_a_long_section_is_cut_between_paragraphs() -> None:
    text = "# A\n\n" + "\n\n".join(f"Paragraph {n}. " + "word " * 40 for n in range(20))
    passages = cut(text, most=600)
    assert len(passages) > 5
    assert all(len(one.body) <= 720 for one in passages)
    assert {one.heading for one in passages} == {"A"}


def test_code_longer_than_a_passage_stays_in_one_piece_with_its_introduction() -> None:
    code = "```py\n" + "\n".join(f"line_{n} = {n}" for n in range(200)) + "\n```"
    passages = cut(f"# A\n\n{'Long before. ' * 60}\n\nLike this:\n\n{code}\n\nAfter.", most=400)
    (with_code,) = [one for one in passages if "```" in one.body]
    assert with_code.body.startswith("Like this:\n\n```py")
    assert with_code.body.count("```") == 2
    assert "line_199" in with_code.body


def test_a_paragraph_too_long_is_cut_between_sentences() -> None:
    passages = cut("# A\n\n" + "This is a sentence. " * 100, most=300)
    assert all(one.body.endswith("sentence.") for one in passages)
    assert all(len(one.body) <= 300 for one in passages)


def test_a_table_that_is_cut_repeats_its_head() -> None:
    rows = "\n".join(f"| method{n} | does {n} |" for n in range(60))
    passages = cut(f"# A\n\n| name | use |\n|---|---|\n{rows}\n", most=400)
    assert len(passages) > 2
    assert all(one.body.startswith("| name | use |\n|---|---|\n") for one in passages)


def test_code_without_an_end_goes_on_to_the_end() -> None:
    (passage,) = cut("# A\n\n```\ncode\n# still code\n")
    assert "# still code" in passage.body


def test_a_line_under_a_list_or_a_table_makes_no_heading() -> None:
    assert len(cut("# A\n\n- item\n---\n\ntext\n\na | b\n---|---\n1 | 2\n")) == 1


def test_slugs_are_those_of_github() -> None:
    assert slug("What's new in 2.0?") == "whats-new-in-20"
    assert slug("tracker.create()") == "trackercreate"
    assert slug("Größe & Form") == "größe--form"


def test_a_heading_with_a_line_below_may_begin_with_a_number() -> None:
    text = "1.0.2 / 2015-10-07\n==================\n\nFixed.\n\n1. One\n---\n\nMore."
    assert [one.heading for one in cut(text)] == ["1.0.2 / 2015-10-07"]


def test_the_hash_changes_with_heading_and_text_but_not_with_the_address() -> None:
    assert Cut("A", "b", "x").hash == Cut("A", "b", "y").hash
    assert Cut("A", "b", "x").hash != Cut("B", "b", "x").hash


words = some.text(alphabet="abc .#`|-\n*1", max_size=60)
fences = some.builds(
    lambda inner, mark: f"{mark}\n{inner.replace('`', '').replace('~', '')}\n{mark}",
    some.text(alphabet="xyz #|-\n", max_size=300),
    some.sampled_from(["```", "~~~", "`````"]),
)


@given(
    some.lists(some.one_of(some.builds("para {}".format, some.integers()), fences), max_size=12), some.integers(40, 400)
)
def test_no_code_is_ever_cut_or_lost(blocks: list[str], most: int) -> None:
    passages = cut_markdown("# T\n\n" + "\n\n".join(blocks), URL, most)
    for block in blocks:
        assert any(block in one.body for one in passages)


@given(words, some.integers(40, 400))
def test_any_text_is_cut_without_failing_and_no_word_is_lost(text: str, most: int) -> None:
    kept = "".join(f"{one.heading} {one.body}" for one in cut_markdown(text, URL, most))
    for letter in "abc":
        assert (letter in text) <= (letter in kept) or "#" in text or "-" in text


def test_passages_of_a_web_page_lead_to_the_fragments_that_it_has() -> None:
    _, text = read_web_page(PAGE, URL)
    assert [one.url for one in cut_markdown(text, URL, 1600)] == [URL, f"{URL}#create", f"{URL}#list"]
