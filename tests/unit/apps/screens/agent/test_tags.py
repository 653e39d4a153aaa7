"""What the screen agent ends with: written and read back, whatever else a text holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.apps.screens.agent.tags import (
    TITLE_CHARS,
    TITLE_WORDS,
    Outcome,
    files_in,
    generate_files_summary,
    merge_files,
    one_line,
    parse_files_summary,
    parse_outcome,
    parse_title,
)
from outlast.apps.screens.shapes import ScreenFile

ANSWER = """I looked around and built it.

<title>
Pricing Page
</title>

<task_summary>
**What I built**: three plans.

- yearly switch
</task_summary>

<files_summary>
- app/page.tsx: the page with its three plans
- components/plan-card.tsx: one plan
</files_summary>
"""

_names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..") and name.strip() == name
)
paths = st.lists(_names, min_size=1, max_size=4).map("/".join).filter(lambda path: not path.startswith("workspace/"))
descriptions = st.text(st.characters(codec="utf-8"), max_size=80)
tag_soup = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "<title>", "</title>", "<task_summary>", "</task_summary>", "<files_summary>", "</files_summary>",
                "\n", " ", "- app/page.tsx: x", "`", "**", "<", "</", ">", "title>",
            ]
        ),
        st.text(max_size=12),
    ),
    max_size=24,
).map("".join)  # fmt: skip


def test_an_answer_gives_its_title_summary_and_files() -> None:
    outcome = parse_outcome(ANSWER)
    assert outcome.title == "Pricing Page"
    assert outcome.task_summary == "**What I built**: three plans.\n\n- yearly switch"
    assert [(one.path, one.description) for one in outcome.files] == [
        ("app/page.tsx", "the page with its three plans"),
        ("components/plan-card.tsx", "one plan"),
    ]


def test_an_answer_without_tags_says_nothing_at_its_end() -> None:
    assert parse_outcome("Set `<title>Foo</title>` in the layout.") == Outcome()


def test_the_last_tag_of_its_name_counts_and_a_cut_one_ends_at_the_next() -> None:
    text = "<title>Old</title>\n<title>New\n<task_summary>Done\n<files_summary>\n- a.tsx: x"
    outcome = parse_outcome(text)
    assert (outcome.title, outcome.task_summary) == ("New", "Done")
    assert outcome.files == [ScreenFile(path="a.tsx", description="x")]


@pytest.mark.parametrize(
    ("line", "path", "description"),
    [
        ("- app/page.tsx: the page", "app/page.tsx", "the page"),
        ("* `app/page.tsx`: the page", "app/page.tsx", "the page"),
        ("1. **app/page.tsx**: the page", "app/page.tsx", "the page"),
        ("2) **`app/page.tsx`** - the page", "app/page.tsx", "the page"),
        ("app/page.tsx — the page", "app/page.tsx", "the page"),
        ("app/page.tsx (created): the page", "app/page.tsx", "the page"),
        ("- ./app/page.tsx", "app/page.tsx", ""),
        ("- /workspace/app/page.tsx: the page", "app/page.tsx", "the page"),
        ('- "my page.tsx": the page', "my page.tsx", "the page"),
        ("- app/(shop)/[id]/page.tsx: one product: its page", "app/(shop)/[id]/page.tsx", "one product: its page"),
    ],
)  # fmt: skip
def test_a_file_is_recognised_however_its_line_is_written(line: str, path: str, description: str) -> None:
    assert files_in(line) == [ScreenFile(path=path, description=description)]


@pytest.mark.parametrize(
    "line", ["", "Files:", "No files changed.", "- ../secret: x", "- /etc/passwd: x", '- "broken: x', "- : x"]
)
def test_a_line_that_names_no_file_of_the_project_is_passed_over(line: str) -> None:
    assert files_in(line) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Pricing page", "Pricing page"),
        ("\n  # **Pricing page**\n", "Pricing page"),
        ('"Sign-in form"', "Sign-in form"),
        ("A landing page for a very small bakery", "A landing page"),
        ("Dashboard.", "Dashboard"),
        ("", ""),
        ("***", ""),
        ("a\x00b\x1b[31m", "a b [31m"),
    ],
)
def test_a_title_is_a_few_plain_words(text: str, title: str) -> None:
    assert parse_title(text) == title


@settings(max_examples=200)
@given(st.text(max_size=300))
def test_a_title_of_any_text_is_bounded_and_stays_as_it_is(text: str) -> None:
    title = parse_title(text)
    assert len(title) <= TITLE_CHARS
    assert len(title.split()) <= TITLE_WORDS
    assert title.isprintable()
    assert parse_title(title) == title


@settings(max_examples=300)
@given(st.dictionaries(paths, descriptions, min_size=1, max_size=12))
def test_seed_000_property_4_a_summary_holds_every_path_within_its_tags(files: dict[str, str]) -> None:
    """Feature: screen chat history, Property 4: files summary generation (requirements 2.3, 6.1, 6.4)."""
    summary = generate_files_summary(files)
    assert summary.startswith("<files_summary>\n")
    assert summary.endswith("\n</files_summary>")
    lines = summary.split("\n")[1:-1]
    assert [one.path for line in lines for one in files_in(line)] == list(files)
    for path in files:
        if path.isascii() and path.isalnum():
            assert path in summary


@settings(max_examples=300)
@given(st.dictionaries(paths, descriptions, max_size=12))
def test_seed_000_a_summary_that_was_written_is_read_back_whole(files: dict[str, str]) -> None:
    """Testing strategy: "Files summary parsing: generate summaries, verify round-trip"."""
    read = parse_files_summary(f"Some words.\n\n{generate_files_summary(files)}\n")
    if not files:
        assert read is None
    else:
        assert read == [ScreenFile(path=path, description=one_line(said)) for path, said in files.items()]
        assert generate_files_summary({one.path: one.description for one in read}) == generate_files_summary(files)


@settings(max_examples=300)
@given(tag_soup)
def test_any_text_can_be_read(text: str) -> None:
    parse_outcome(text)
    parse_files_summary(text)


def test_no_files_make_no_summary() -> None:
    assert generate_files_summary({}) == ""
    assert parse_files_summary("nothing here") is None


def test_one_file_makes_one_line() -> None:
    assert generate_files_summary({"app/page.tsx": "the page"}) == (
        "<files_summary>\n- app/page.tsx: the page\n</files_summary>"
    )


def test_what_is_said_now_replaces_what_was_said_and_files_that_are_gone_are_dropped() -> None:
    before = [ScreenFile(path="a.tsx", description="old"), ScreenFile(path="gone.tsx", description="x")]
    said = [ScreenFile(path="b.tsx", description="new"), ScreenFile(path="a.tsx", description="newer")]
    kept = merge_files(before, said, {"gone.tsx"})
    assert [(one.path, one.description) for one in kept] == [("a.tsx", "newer"), ("b.tsx", "new")]
    assert len(merge_files(before, said, ())) == 3
