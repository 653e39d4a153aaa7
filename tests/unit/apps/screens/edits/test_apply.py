"""Edits by hand: which bytes change, what is refused and why, many at once."""

import pytest

from outlast.apps.screens.edits import elements, syntax
from outlast.apps.screens.edits.apply import find
from outlast.apps.screens.edits.elements import read_elements
from outlast.apps.screens.edits.marks import parse_mark
from tests.unit.apps.screens.edits.sources import PATH, apply_edits, change, edit_of, marked, page


@pytest.mark.parametrize(
    ("element", "seen", "after"),
    [
        ('<div className="p-4">a</div>', "p-4", '<div className="m-2 bg-[#3b82f6]">a</div>'),
        ("<div className='p-4'>a</div>", "p-4", "<div className='m-2 bg-[#3b82f6]'>a</div>"),
        ("<div className={'p-4'} />", "p-4", "<div className={'m-2 bg-[#3b82f6]'} />"),
        ("<div className={`p-4`} />", "p-4", "<div className={`m-2 bg-[#3b82f6]`} />"),
        ('<div className={("p-4" as string)} />', "p-4", '<div className={("m-2 bg-[#3b82f6]" as string)} />'),
        (
            '<div className={cn("p-4", open && "x")} />',
            "p-4",
            '<div className={cn("m-2 bg-[#3b82f6]", open && "x")} />',
        ),
        (
            '<div className={cn(open && "x", "p-4")} />',
            "p-4",
            '<div className={cn(open && "x", "m-2 bg-[#3b82f6]")} />',
        ),
        ("<div className={twMerge('p-4')} />", "p-4", "<div className={twMerge('m-2 bg-[#3b82f6]')} />"),
        ("<div className={clsx(`p-4`)} />", "p-4", "<div className={clsx(`m-2 bg-[#3b82f6]`)} />"),
        ("<div>a</div>", None, '<div className="m-2 bg-[#3b82f6]">a</div>'),
        ("<br />", None, '<br className="m-2 bg-[#3b82f6]" />'),
        ("<br/>", None, '<br className="m-2 bg-[#3b82f6]"/>'),
        ("<List<string> of={a} />", None, '<List<string> className="m-2 bg-[#3b82f6]" of={a} />'),
        ('<Tabs.List className="p-4" />', "p-4", '<Tabs.List className="m-2 bg-[#3b82f6]" />'),
        ('<a className="p-4" {...props} />', "p-4", '<a className="m-2 bg-[#3b82f6]" {...props} />'),
        ('<a {...props} className="a&amp;b" />', "a&b", '<a {...props} className="m-2 bg-[#3b82f6]" />'),
        ('<a title="é😀" className="p-4" />', "p-4", '<a title="é😀" className="m-2 bg-[#3b82f6]" />'),
        ("<div>😀 é §<b>x</b></div>", None, '<div>😀 é <b className="m-2 bg-[#3b82f6]">x</b></div>'),
        ('<p className="[&_p]:mt-4 [&>a]:x">R&D</p>', "[&_p]:mt-4 [&>a]:x", '<p className="m-2 bg-[#3b82f6]">R&D</p>'),
        ('<div className="" />', None, '<div className="m-2 bg-[#3b82f6]" />'),
        ("<div className={`\n  p-4\n  x`} />", "p-4 x", "<div className={`m-2 bg-[#3b82f6]`} />"),
    ],
)
def test_only_the_class_string_changes(element: str, seen: str | None, after: str) -> None:
    applied, line = change(element, "m-2 bg-[#3b82f6]", seen)
    assert applied.results[0].status == "applied", applied.results[0]
    assert line == after


@pytest.mark.parametrize(
    ("element", "code", "reason"),
    [
        ('<div className={open ? "a" : "b"} />', "dynamic_class", "condition"),
        ("<div className={`a ${open}`} />", "dynamic_class", "template"),
        ('<div className={"a" + open} />', "dynamic_class", "combines them"),
        ("<div className={styles.box} />", "dynamic_class", "variable"),
        ("<div className={box} />", "dynamic_class", "variable"),
        ("<div className={cn(box, open)} />", "dynamic_class", "no plain string"),
        ("<div className={buttonVariants()} />", "dynamic_class", "buttonVariants"),
        ("<div className />", "dynamic_class", "no value"),
        ("<div {...props} />", "spread_class", r"\.\.\.props"),
    ],
)
def test_classes_made_by_code_are_refused_with_the_reason(element: str, code: str, reason: str) -> None:
    applied, line = change(element, "m-2", None)
    result = applied.results[0]
    assert (result.status, result.code) == ("refused", code)
    assert result.reason is not None
    assert reason.replace("\\", "") in result.reason
    assert result.hint
    assert applied.files == {}
    assert line == element


@pytest.mark.parametrize(
    ("element", "seen", "value", "after"),
    [
        ("<p>Hello</p>", "Hello", "Good day", "<p>Good day</p>"),
        ("<p>\n      Hello\n    </p>", "Hello", "Good day", "<p>\n      Good day\n    </p>"),
        ("<p>\n      Two\n      lines\n    </p>", "Two lines", "One", "<p>\n      One\n    </p>"),
        ("<p>It&apos;s &copy; ours</p>", "It's © ours", "It's not", "<p>It's not</p>"),
        ('<p>{"Hello"}</p>', "Hello", 'Say "it"', "<p>{'Say \"it\"'}</p>"),
        ("<p>{`Hello`}</p>", "Hello", "${x}", "<p>{`\\${x}`}</p>"),
        ("<p></p>", "", "New", "<p>New</p>"),
        ("<p>Hello</p>", "Hello", "", "<p></p>"),
        ("<p>Hello</p>", "Hello", 'a < b > c {d} &amp; "e"', '<p>a &lt; b &gt; c &#123;d&#125; &amp;amp; "e"</p>'),
        ("<p>Hello</p>", "Hello", "Fish & chips", "<p>Fish & chips</p>"),
        ("<Button>Save</Button>", "Save", "Keep", "<Button>Keep</Button>"),
        ("<p>R&D &amp; Q&A && &;</p>", "R&D & Q&A && &;", "A&B", "<p>A&B</p>"),
    ],
)
def test_the_text_of_a_plain_element_is_replaced(element: str, seen: str, value: str, after: str) -> None:
    applied, line = change(element, value, seen, "text")
    assert applied.results[0].status == "applied", applied.results[0]
    assert line == after


@pytest.mark.parametrize(
    ("element", "code"),
    [
        ("<p>Hello {name}</p>", "dynamic_text"),
        ("<p>{name}</p>", "dynamic_text"),
        ("<p>Hello {/* why */}</p>", "dynamic_text"),
        ('<p>a{" "}b</p>', "dynamic_text"),
        ("<p>a <b>c</b></p>", "no_text"),
        ("<img />", "no_text"),
    ],
)
def test_text_made_by_code_or_of_several_elements_is_refused(element: str, code: str) -> None:
    applied, line = change(element, "x", "Hello", "text")
    assert (applied.results[0].status, applied.results[0].code) == ("refused", code)
    assert line == element


@pytest.mark.parametrize(
    ("element", "name", "seen", "value", "after"),
    [
        ('<img src="/a.png" />', "src", "/a.png", "/b.png?x=1&y=2", '<img src="/b.png?x=1&y=2" />'),
        ("<img src={'/a.png'} />", "src", "/a.png", "/b.png", "<img src={'/b.png'} />"),
        ('<Image src="/a.png" alt="" />', "alt", "", 'A "cat"', '<Image src="/a.png" alt=\'A "cat"\' />'),
        ('<img src="/a.png" />', "alt", None, 'it\'s "so"', '<img alt="it\'s &quot;so&quot;" src="/a.png" />'),
    ],
)
def test_a_pictures_address_and_words_are_replaced(
    element: str, name: str, seen: str | None, value: str, after: str
) -> None:
    applied, line = change(element, value, seen, "attribute", name)
    assert applied.results[0].status == "applied", applied.results[0]
    assert line == after


@pytest.mark.parametrize(
    ("element", "name", "code"),
    [
        ("<img src={cat} />", "src", "dynamic_attribute"),
        ("<img {...props} />", "alt", "dynamic_attribute"),
        ('<img onClick="x" />', "onClick", "attribute_unsupported"),
        ('<a href="x" />', "href", "attribute_unsupported"),
    ],
)
def test_attributes_set_by_code_or_of_other_kinds_are_refused(element: str, name: str, code: str) -> None:
    applied, _ = change(element, "y", None, "attribute", name)
    assert (applied.results[0].status, applied.results[0].code) == ("refused", code)


def test_an_edit_of_what_has_changed_since_is_stale_and_says_what_it_found() -> None:
    applied, line = change('<div className="p-8" />', "m-2", "p-4")
    assert (applied.results[0].status, applied.results[0].found) == ("stale", "p-8")
    assert "Save again" in (applied.results[0].hint or "")
    assert line == '<div className="p-8" />'
    other = change('<div className="p-8" />', "m-2", "p-8", tag="span")[0].results[0]
    assert (other.status, other.found) == ("stale", None)
    assert "Select" in (other.hint or "")


def test_an_edit_that_was_made_already_counts_as_made() -> None:
    applied, _ = change('<div className="m-2" />', "m-2", "p-4")
    assert applied.results[0].status == "applied"
    assert applied.files == {}


@pytest.mark.parametrize(
    ("loc", "code"),
    [
        (f"{PATH}:3:5", "no_element"),
        (f"{PATH}:300:5", "no_element"),
        (f"{PATH}:1:5000", "no_element"),
        ("app/other.tsx:3:4", "no_file"),
        ("../page.tsx:3:4", "not_source"),
        ("/etc/passwd:3:4", "not_source"),
        ("app/globals.css:3:4", "not_source"),
        ("node_modules/x/page.tsx:3:4", "not_source"),
        ("app/page.tsx", "not_source"),
        ("", "not_source"),
    ],
)
def test_a_place_with_no_element_is_refused(loc: str, code: str) -> None:
    source, _ = marked(page("<div />"))
    applied = apply_edits({PATH: source}, [edit_of(loc, "classes", None, "p-4")])
    assert (applied.results[0].status, applied.results[0].code) == ("refused", code)


@pytest.mark.parametrize(
    ("kind", "attribute", "value"),
    [
        ("classes", None, "p-4\0"),
        ("classes", None, "p-4 " * 2000),
        ("text", None, "\x1b[0m"),
        ("text", None, "\ud800"),
        ("attribute", "src", " java\tscript:alert(1)"),
        ("attribute", "src", "JavaScript:alert(1)"),
    ],
)
def test_values_that_cannot_be_written_are_refused(kind: str, attribute: str | None, value: str) -> None:
    applied, _ = change("<img>a</img>", value, None, kind, attribute)  # type: ignore[arg-type]
    assert (applied.results[0].status, applied.results[0].code) == ("refused", "value_invalid")


def test_many_edits_of_several_files_are_made_at_once_each_on_its_own() -> None:
    first = b'<main className="a"><p>One</p><p className={x}>Two</p></main>\n'
    second = b"<section>\n  <img />\n</section>\n"
    wishes = [
        edit_of("app/a.tsx:1:0", "classes", "a", "longer classes"),
        edit_of("app/a.tsx:1:20", "text", "One", "First words"),
        edit_of("app/a.tsx:1:30", "classes", None, "p-4"),
        edit_of("app/a.tsx:1:30", "text", "Two", "Second"),
        edit_of("app/b.tsx:2:2", "attribute", None, "/c.png", "src"),
        edit_of("app/b.tsx:2:2", "classes", None, "w-4"),
        edit_of("app/b.tsx:1:0", "classes", "seen", "w-4"),
    ]
    applied = apply_edits({"app/a.tsx": first, "app/b.tsx": second}, wishes)
    assert [one.status for one in applied.results] == [
        "applied",
        "applied",
        "refused",
        "applied",
        "applied",
        "refused",
        "stale",
    ]
    assert applied.results[5].code == "duplicate"
    assert applied.files == {
        "app/a.tsx": b'<main className="longer classes"><p>First words</p><p className={x}>Second</p></main>\n',
        "app/b.tsx": b'<section>\n  <img src="/c.png" />\n</section>\n',
    }
    assert [one.loc for one in applied.results[:4]] == [
        "app/a.tsx:1:0",
        "app/a.tsx:1:33",
        "app/a.tsx:1:51",
        "app/a.tsx:1:51",
    ]


def test_lines_are_counted_as_compilers_count_them() -> None:
    source = "// a\r\n// b\rconst c = '\u2028';\n<p>x</p>".encode()
    applied = apply_edits({PATH: source}, [edit_of(f"{PATH}:5:0", "classes", None, "p-4")])
    assert applied.results[0].status == "applied"
    assert applied.files[PATH].endswith(b'<p className="p-4">x</p>')


def test_a_file_that_is_broken_elsewhere_can_be_edited_where_it_is_whole() -> None:
    source, loc = marked(page('§<p className="a">x</p>') + "\nfunction (\n")
    applied = apply_edits({PATH: source}, [edit_of(loc, "classes", "a", "b")])
    assert applied.results[0].status == "applied"
    broken = apply_edits({PATH: b'<p className="a'}, [edit_of(f"{PATH}:1:0", "classes", "a", "b")])
    assert broken.results[0].code == "no_element"
    binary = apply_edits({PATH: b"\xff\xfe"}, [edit_of(f"{PATH}:1:0", "classes", "a", "b")])
    assert binary.results[0].code == "broken_source"


def test_a_file_that_the_grammar_reads_for_ever_is_refused() -> None:
    """32 characters in no order kept a thread busy without end."""
    source = b'<p>x</p>;\n`${const =[b""/>async}${<div>${#'
    (result,) = apply_edits({PATH: source}, [edit_of(f"{PATH}:1:0", "text", "x", "y")]).results
    assert (result.status, result.code) == ("refused", "source_too_large")
    (read,) = read_elements({PATH: source}, [f"{PATH}:1:0"])
    assert read.refusal is not None
    assert read.refusal.code == "source_too_large"


def test_a_request_about_many_costly_files_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound was one for each file: twenty costly files took ten seconds."""
    monkeypatch.setattr(elements, "MAX_CPU_S", 0.0)
    (answer,) = read_elements({PATH: b"<a/>"}, [f"{PATH}:1:0"])
    assert answer.refusal is not None
    assert (answer.refusal.code, answer.tag) == ("source_too_large", None)


def test_edits_at_the_end_of_a_file_of_line_ends_read_its_lines_once() -> None:
    """Each edit looked for its line from the beginning of the file."""
    parsed = syntax.parse(b"\n" * 20_000 + b"<a/>")
    find(parsed, parse_mark(f"{PATH}:20001:0"))
    assert parsed.line_starts is parsed.line_starts
    assert parsed.line_starts[-1] == 20_000
