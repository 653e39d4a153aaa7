"""The real app templates and the demo model's screens, with their own compiler, marks and builds.

Those of Vite run always; those of Next.js, whose packages are three times as large, with `make deep`. Marks and changes
in a running page: `tests/browser/test_template_pages.py`.
"""

from __future__ import annotations

import functools
import http.client
import json
import re
import threading
import urllib.request

import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from outlast_demo.screens.edits import add_section, tint
from outlast_demo.screens.sources import PAGE, SCREENS, files_of
from tests.template_projects import STEP_S, Project

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
each = pytest.mark.parametrize(
    "project", ["vite", pytest.param("next", marks=pytest.mark.deep)], indirect=True, scope="module"
)
SECTIONS = {"Faq": "faq", "Testimonials": "testimonials", "PhoneBar": "phone-bar", "ModeSwitch": "mode-switch"}
CHANGED = 'export default function Page() {\n  return <main className="p-4">%s</main>\n}\n'
TOLD_S = 20
MARK = """
const { marked } = require("./outlast/marks.cjs");
const { join } = require("node:path");
const told = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const all = told.map(({ path, source }) => marked(source, join(process.cwd(), path), process.cwd())?.code ?? null);
console.log(JSON.stringify(all));
"""


@pytest.fixture(scope="module")
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp(request.param) / "app", request.param)


def every_screen() -> dict[str, str]:
    """All recorded screens beside each other, each page also with every recorded change made to it."""
    files = dict(files_of("more"))
    for name in SCREENS.keys() - {"pricing_yearly"}:  # the same page; its plans are below
        page = files_of(name)[PAGE]
        files |= {path: text for path, text in files_of(name).items() if path != PAGE}
        files[f"app/{name}/page.tsx"] = page
        for component, path in SECTIONS.items():
            page = add_section(page, component, f"components/{path}") or ""
        files[f"app/{name}-changed/page.tsx"] = tint(page, "chart-3") or ""
    files["components/yearly-plans.tsx"] = files_of("yearly")["components/pricing-plans.tsx"]
    return files


def marks_of(project: Project, *sources: str, path: str = "app/page.tsx") -> list[str | None]:
    told = json.dumps([{"path": path, "source": source} for source in sources])
    done = project.run("node", "-e", MARK, told=told)
    assert done.returncode == 0, done.stderr
    found: list[str | None] = json.loads(done.stdout)
    return found


@each
def test_types_hold_in_the_template_in_each_recorded_screen_and_in_its_changes(project: Project) -> None:
    project.write(every_screen())
    done = project.run("tsc", "--noEmit")
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


@each
def test_a_type_error_is_found(project: Project) -> None:
    project.write({"app/wrong/page.tsx": 'export const wrong: number = "one";\n'})
    done = project.run("tsc", "--noEmit")
    (project.folder / "app/wrong/page.tsx").unlink()
    assert done.returncode != 0
    assert "app/wrong/page.tsx(1,14): error TS2322" in done.stdout


@each
def test_a_finished_build_has_no_marks_and_no_script_of_ours(project: Project) -> None:
    project.write(every_screen())
    program, made = ("next", ".next/static") if project.template.name == "next" else ("vite", "dist")
    done = project.run(program, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    files = [path for path in (project.folder / made).rglob("*") if path.is_file()]
    assert len(files) >= 3
    for path in files:
        content = path.read_bytes()
        assert b"data-loc" not in content, path
        assert b"outlast.bridge" not in content, path


@each
def test_tags_are_marked_with_their_place_and_nothing_else_changes(project: Project) -> None:
    source = 'export default function Page() {\n  return <main className="p-4"><Card x={1} /></main>;\n}\n'
    (marked,) = marks_of(project, source)
    assert marked == source.replace("<main", '<main data-loc="app/page.tsx:2:9"').replace(
        "<Card", '<Card data-use="app/page.tsx:2:31"'
    )


@each
def test_marks_bear_with_everything_that_is_written(project: Project) -> None:
    fragments = "export const a = <><Suspense><Theme.Provider value={1}><p /></Theme.Provider></Suspense></>;\n"
    generic = 'export const b = <Table<Row> rows={[]} render={() => <td>é𝒳</td>} {...{ id: "x" }} />;\n'
    wide = "export const c = [<b>𝒳</b>, <i />];\n"
    broken = "export default function Page() { return <main>; }\n"
    scene = 'import { Canvas } from "@react-three/fiber";\nexport const d = <Canvas><mesh /></Canvas>;\n'
    plain = "export const e = 1 < 2;\n"
    got = marks_of(project, fragments, generic, wide, broken, scene, plain)
    assert got[0] is not None
    assert got[0].count("data-") == 1
    assert '<p data-loc="app/page.tsx:1:55" />' in got[0]
    assert got[1] is not None
    assert '<Table<Row> data-use="app/page.tsx:1:17" rows' in got[1]
    assert got[2] is not None
    assert '<i data-loc="app/page.tsx:1:29" />' in got[2]  # columns are UTF-16 units: 𝒳 is two of them
    assert got[3:] == [None, None, None]


@each
def test_packages_and_files_outside_of_the_project_are_not_marked(project: Project) -> None:
    source = "export const a = <p />;\n"
    assert marks_of(project, source, path="node_modules/kit/index.tsx") == [None]
    assert marks_of(project, source, path="../elsewhere/page.tsx") == [None]


@each
def test_the_dev_server_answers_under_the_domain_of_previews_and_no_other(project: Project) -> None:
    """Next.js answers everybody with the page, but only pages it knows with what a live one needs."""
    project.env["OUTLAST_PREVIEW_DOMAIN"] = "apps.example.org:8443"
    live = "/__nextjs_original-stack-frames" if project.template.name == "next" else "/"
    with project.serving() as address:
        status = functools.partial(answered, address, live)
        assert status("3000-sbx-a.preview.localhost:8400") != 403
        assert status("3000-sbx-a.apps.example.org:8443") != 403
        assert status("elsewhere.example.com") == 403


@pytest.mark.parametrize("project", ["vite"], indirect=True, scope="module")
@pytest.mark.parametrize("later", ["after the page was told", "before the page was told"])
def test_the_dev_server_tells_the_page_of_a_change_that_follows_another_at_once(project: Project, later: str) -> None:
    """Vite's watcher tells of one change to a file in 50 ms; of a file replaced in 5 ms after a change, never again."""
    with project.serving() as address:
        answered(address, "/", "localhost")
        for path in ("/main.tsx", "/app/page.tsx"):
            fetched(address, path)
        token = re.search(r'wsToken = "([^"]+)"', fetched(address, "/@vite/client"))
        assert token is not None
        url = f"{address.replace('http', 'ws')}/?token={token[1]}"
        with connect(url, subprotocols=[Subprotocol("vite-hmr")], proxy=None) as page:
            for number in range(5):
                first, last = (f"Change {number} {word}" for word in ("begun", "done"))
                if later == "after the page was told":
                    project.write({"app/page.tsx": CHANGED % first})
                    shows(page, address, first)
                else:
                    (project.folder / "app/page.tsx").write_text(CHANGED % first)
                project.write({"app/page.tsx": CHANGED % last})
                shows(page, address, last)


def shows(page: ClientConnection, address: str, words: str) -> None:
    """Wait until the page, which loads a module when it is told to, has these words."""
    module = ""
    while words not in module:
        told = json.loads(page.recv(TOLD_S))
        if told["type"] == "update":
            module = fetched(address, f"/app/page.tsx?t={told['updates'][0]['timestamp']}")


def fetched(address: str, path: str) -> str:
    with urllib.request.urlopen(address + path, timeout=STEP_S) as answer:
        return str(answer.read().decode())


def answered(address: str, path: str, host: str) -> int:
    """The status of an answer, as soon as the server answers at all."""
    for _ in range(600):
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)
        try:
            connection.request("GET", path, headers={"Host": host, "Origin": f"http://{host}"})
            return connection.getresponse().status
        except ConnectionRefusedError:
            threading.Event().wait(0.1)
        finally:
            connection.close()
    raise AssertionError("the dev server does not answer")
