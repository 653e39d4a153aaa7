"""Whatever the classes and whatever stands around them: only the wished bytes change, and undoing is exact."""

import re

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.edits.elements import read_elements
from tests.unit.apps.screens.edits.sources import PATH, apply_edits, edit_of, marked

TOKENS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=12
).filter(lambda text: not re.search(r"\s", text))
CLASSES = st.lists(
    st.sampled_from(["p-4", "bg-[#3b82f6]", "md:hover:text-[13px]", "[&>svg]:size-4", "w-1/2", "a&amp;b"]) | TOKENS,
    max_size=6,
).map(" ".join)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30)
FORMS = st.sampled_from(
    [
        '<i className="{}" />',
        '<i className="{}">Q&A</i>',
        "<i className='{}'>x</i>",
        '<i id="x" className={{"{}"}} {{...props}}></i>',
        "<i className={{cn('{}', open && 'p-2', `q ${{open}}`)}} />",
        "<i className={{`{}`}}>{{name}}</i>",
    ]
)
PLAIN = st.lists(st.sampled_from(["p-4", "m-2", "w-[3px]", "[&_svg]:x"]), min_size=1, max_size=4).map(" ".join)
LEAVES = st.sampled_from(
    [
        "<br/>",
        '<b className="p-4">é</b>',
        "{open ? <u>1</u> : null}",
        "<Foo<string> of={(a) => a > 1} />",
        "😀 text &amp; more",
        "{/* <p>no</p> */}",
        "<></>",
        '{`a ${open} "b"`}',
        "\n      ",
        "",
    ]
)
AROUND = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4).map(lambda all_: f"<div>{''.join(all_)}</div>"), max_leaves=12
)
HEADS = st.sampled_from(
    ["", "'use client'\n", "const é = '😀'; /* §§ */\r\n".replace("§", "$"), "type A<T> = T extends 1 ? 2 : 3\n"]
)


@given(AROUND, AROUND, HEADS, FORMS, PLAIN, CLASSES)
def test_every_byte_outside_the_class_string_stays_and_undoing_is_exact(
    before: str, after: str, head: str, form: str, old: str, new: str
) -> None:
    element = form.format(old)
    text = f"{head}export const page = <main>{before}§{element}{after}</main>\n"
    source, loc = marked(text)
    applied = apply_edits({PATH: source}, [edit_of(loc, "classes", old, new)])
    result = applied.results[0]
    assert result.status == "applied", result
    changed = applied.files.get(PATH, source)
    begins = element.index(old, element.index("className=")) - 1  # the opening quote
    ends = begins + len(old) + 2
    front = f"{head}export const page = <main>{before}{element[:begins]}".encode()
    back = f"{element[ends:]}{after}</main>\n".encode()
    assert changed.startswith(front)
    assert changed.endswith(back)
    read = read_elements({PATH: changed}, [result.loc])[0]
    assert read.classes is not None
    assert (read.classes.value or "").split() == new.split()
    undone = apply_edits({PATH: changed}, [edit_of(result.loc, "classes", new, old)])
    assert undone.results[0].status == "applied"
    if not set("\"'`") & set(new):  # quotes that were exchanged stay exchanged: the string means the same
        assert undone.files.get(PATH, changed) == source


@given(AROUND, WORDS, WORDS)
def test_text_is_read_back_as_it_was_meant(around: str, old: str, new: str) -> None:
    source, loc = marked(f"const page = <main>{around}§<p></p>{around}</main>")
    first = apply_edits({PATH: source}, [edit_of(loc, "text", "", old)])
    assert first.results[0].status == "applied", first.results[0]
    written = first.files.get(PATH, source)
    seen = read_elements({PATH: written}, [loc])[0].text
    assert seen is not None
    second = apply_edits({PATH: written}, [edit_of(loc, "text", seen.value, new)])
    assert second.results[0].status == "applied", second.results[0]
    again = apply_edits({PATH: second.files.get(PATH, written)}, [edit_of(loc, "text", new, "")])
    assert again.results[0].status == "applied"
    assert again.files.get(PATH, second.files.get(PATH, written)) == source


@given(st.lists(st.tuples(PLAIN, CLASSES), min_size=1, max_size=5))
def test_a_batch_is_the_same_as_one_edit_after_the_other(wishes: list[tuple[str, str]]) -> None:
    source = "".join(f'<p className="{old}">{n}</p>\n' for n, (old, _) in enumerate(wishes)).encode()
    source = b"const a = <main>\n" + source + b"</main>"
    edits = [edit_of(f"{PATH}:{n + 2}:0", "classes", old, new) for n, (old, new) in enumerate(wishes)]
    together = apply_edits({PATH: source}, edits)
    files = {PATH: source}
    for edit in edits:
        files |= apply_edits(files, [edit]).files
    assert {one.status for one in together.results} == {"applied"}
    assert together.files.get(PATH, source) == files[PATH]


@given(
    st.text(max_size=60), st.text(max_size=60), st.sampled_from(["classes", "text", "attribute"]), st.text(max_size=20)
)
def test_nothing_that_is_sent_makes_it_fall_over(source: str, loc: str, kind: str, value: str) -> None:
    files = {PATH: source.encode("utf-8", "surrogatepass")}
    for place in (loc, f"{PATH}:1:0", f"{PATH}:1:3"):
        applied = apply_edits(files, [edit_of(place, kind, value, value, value)])  # type: ignore[arg-type]
        assert len(applied.results) == 1
        read_elements(files, [place])
