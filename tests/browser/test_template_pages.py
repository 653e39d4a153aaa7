"""Pages of the real app templates in a real browser: marks that follow the source, changes without a reload, the script
that speaks with the page around it. Vite's always, those of Next.js with `make deep`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from outlast.kernel.sandboxes.template_files import KIT
from outlast_demo.screens.edits import add_section, tint
from outlast_demo.screens.sources import PAGE as PAGE_PATH
from outlast_demo.screens.sources import SCREENS, files_of
from tests.template_projects import Project

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.timeout(600)]
each = pytest.mark.parametrize("project", ["vite", pytest.param("next", marks=pytest.mark.deep)], indirect=True)
PATIENCE_MS = 90_000
PAGE = """import { Counter } from "@/components/counter";
import { Card, CardTitle } from "@/components/ui/card";

export default function Page() {
  return (
    <main className="p-8">
      <h1 id="title">First</h1>
      <Card id="card">
        <CardTitle>𝒳 in a card</CardTitle>
      </Card>
      <Counter />
    </main>
  );
}
"""
COUNTER = """"use client";

import { useState } from "react";

import { Button } from "@/components/ui/button";

export function Counter() {
  const [count, setCount] = useState(0);
  return <Button onClick={() => setCount(count + 1)}>count {count}</Button>;
}
"""
# A document of the agent's own: nothing of it loads our script.
REWRITTEN = {
    "next": {
        "app/layout.tsx": 'import "./globals.css";\n\n'
        "export default function RootLayout({ children }: { children: React.ReactNode }) {\n"
        '  return (\n    <html lang="en" className="dark">\n      <body id="mine">{children}</body>\n    </html>\n'
        "  );\n}\n"
    },
    "vite": {
        "main.tsx": 'import { createRoot } from "react-dom/client";\n\nimport Page from "@/app/page";\n'
        'import "@/app/globals.css";\n\ndocument.body.id = "mine";\n'
        'createRoot(document.getElementById("root")!).render(<Page />);\n'
    },
}
MARKS = """() => [...document.querySelectorAll("[data-loc], [data-use]")].map((element) =>
  [element.tagName.toLowerCase(), element.id, element.dataset.loc ?? "", element.dataset.use ?? ""])"""
BRIDGED = "() => Boolean(window[Symbol.for('outlast.bridge')])"


@dataclass
class Shown:
    """The app in a frame of another page, as on the canvas."""

    outer: Page
    frame: Frame
    errors: list[str] = field(default_factory=list)

    def wait(self, script: str, value: Any = None) -> None:
        self.frame.wait_for_function(script, arg=value, timeout=PATIENCE_MS)

    def marks(self) -> list[tuple[str, str, str, str]]:
        return [tuple(mark) for mark in self.frame.evaluate(MARKS)]


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    project = Project(tmp_path / "app", request.param)
    project.write({"app/page.tsx": PAGE, "components/counter.tsx": COUNTER})
    return project


@contextmanager
def shown(project: Project, browser: Browser) -> Iterator[Shown]:
    with project.serving() as address:
        outer = browser.new_context().new_page()
        outer.set_default_timeout(PATIENCE_MS)
        errors: list[str] = []
        outer.on("pageerror", lambda error: errors.append(str(error)))
        outer.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        reached = outer.request
        for _ in range(600):  # the server may still be starting
            try:
                reached.get(address, timeout=PATIENCE_MS)
            except Exception:
                outer.wait_for_timeout(100)
            else:
                break
        outer.set_content(f'<iframe name="app" width="1000" height="700" src="{address}"></iframe>')
        outer.frame_locator("iframe").locator("#title").wait_for()
        frame = outer.frame("app")
        assert frame is not None
        yield Shown(outer, frame, errors)
        outer.context.close()


def stands_in(project: Project, tag: str, mark: str) -> None:
    """The mark names a place of the source at which this tag begins."""
    path, line, column = mark.rsplit(":", 2)
    text = project.read(path).splitlines()[int(line) - 1].encode("utf-16-le")[2 * int(column) :]
    assert text.decode("utf-16-le").startswith(f"<{tag}"), mark


@each
def test_every_element_knows_its_place_and_follows_the_source_without_a_reload(
    project: Project, browser: Browser
) -> None:
    with shown(project, browser) as app:
        app.wait("() => document.querySelector('button')?.dataset.use")
        button = app.frame.get_by_role("button")
        expect(button).to_have_text("count 0")
        for count in (1, 2):
            button.click()
            expect(button).to_have_text(f"count {count}", timeout=PATIENCE_MS)
        marks = app.marks()
        assert len(marks) >= 5
        for tag, _, loc, _ in marks:
            if loc:
                stands_in(project, tag, loc)
        (card,) = [mark for mark in marks if mark[1] == "card"]
        assert card[2].startswith("components/ui/card.tsx:")
        assert card[3] == "app/page.tsx:8:6"
        stands_in(project, "Card", card[3])

        changed = (
            PAGE.replace("First", "Second").replace('"p-8"', '"p-[37px]"').replace("export", "// moved\n\nexport", 1)
        )
        project.write({"app/page.tsx": changed})
        app.wait("() => document.querySelector('#title')?.textContent === 'Second'")
        app.wait("() => document.querySelector('#card').dataset.use === 'app/page.tsx:10:6'")
        app.wait("() => getComputedStyle(document.querySelector('main')).paddingTop === '37px'")
        for tag, _, loc, _ in app.marks():
            if loc:
                stands_in(project, tag, loc)
        expect(button).to_have_text("count 2")
        assert app.errors == []


@each
def test_the_script_is_there_whatever_document_the_agent_writes(project: Project, browser: Browser) -> None:
    project.write(REWRITTEN[project.template.name])
    with shown(project, browser) as app:
        app.wait("() => document.querySelector('#mine')")
        app.wait(BRIDGED)
        app.wait("() => document.querySelector('main').dataset.loc === 'app/page.tsx:6:4'")


@each
def test_every_component_of_the_kit_renders_opens_and_says_nothing_in_the_console(
    project: Project, browser: Browser
) -> None:
    gallery = (Path(__file__).parent / "gallery" / "page.tsx").read_text()
    used = set(re.findall(r'"@/(components/ui/[\w-]+)"', gallery))
    assert used == {path.removesuffix(".tsx") for path in project.template.files if path.startswith(KIT)}
    project.write({"app/page.tsx": gallery})
    checked = project.run("tsc", "--noEmit")
    assert checked.stdout == ""
    with shown(project, browser) as app:
        frame = app.frame
        app.wait("() => document.querySelector('button')?.dataset.use")
        for name in ("Dialog", "Sheet", "Menu", "Popover"):
            frame.get_by_role("button", name=name, exact=True).click()
            opened = frame.locator('[role="dialog"], [role="menu"]')
            expect(opened).to_be_visible()
            opened.press("Escape")
            expect(opened).to_have_count(0)
        frame.get_by_role("combobox").click()
        frame.get_by_role("option", name="Second").click()
        expect(frame.get_by_role("combobox")).to_have_text("Second")
        frame.get_by_role("tab", name="Second").click()
        expect(frame.get_by_text("The second")).to_be_visible()
        frame.get_by_role("button", name="Toast").click()
        expect(frame.get_by_text("It is saved")).to_be_visible()
        assert app.errors == []


@pytest.mark.deep  # each recorded screen's types are checked in every run, and the journey renders one
@each
def test_every_recorded_screen_renders_without_a_word_in_the_console(project: Project, browser: Browser) -> None:
    """In Next.js that covers what the server drew and what the browser makes of it: both must be the same."""
    with shown(project, browser) as app:
        for name, recorded in SCREENS.items():
            page = add_section(files_of(name)[PAGE_PATH], "Faq", "components/faq") or ""
            page = (tint(page, "chart-3") or "").replace('className="', f'id="{name}" className="', 1)
            project.write({**files_of("more"), **files_of(name), PAGE_PATH: page})
            app.wait(f"() => document.querySelector('#{name}') && document.querySelector('#faq')")
            app.frame.goto(app.frame.url)
            app.wait(f"() => document.querySelector('#{name}') && document.querySelector('#faq')")
            app.wait("() => document.querySelector('#faq [data-state=open]')")
            app.frame.get_by_role("button", name="What happens to my data when I leave?").click()
            expect(app.frame.get_by_text("You take it with you")).to_be_visible(timeout=PATIENCE_MS)
            assert app.errors == [], recorded.title
