"""Modules over HTTP: those of a page, a person's library, publishing and forgetting."""

from __future__ import annotations

from pathlib import Path

from outlast.apps.knowledge.module_store import Modules, of_user, save
from outlast.db.database import Tx
from outlast.kernel.library.modules import USABLE_MODULES, ModuleOrigin, NewModule
from tests.factories import Team, join, make_user
from tests.flow.http.conftest import Site
from tests.flow.pages.conftest import make_page

CODE = "export const issues = async () => [1, 2];\n"


async def saved(site: Site, team: Team, folder: Path, code: str = CODE, path: str = "lib/issues.ts") -> tuple[str, str]:
    """A page with a module whose file lies in its newest checkpoint: (page id, module id)."""
    services = site.services
    page = await make_page(await site.signed_in(team.editor), team.project_id)
    keeper = services.sandboxes.checkpoints
    assert keeper is not None
    workspace = page["workspace_id"]
    file = folder / "workspaces" / workspace / path
    file.parent.mkdir(parents=True)
    file.write_text(code)
    await keeper.take(workspace, "person")

    def add(tx: Tx) -> str:
        said = NewModule(path, "Fetches issues.", ("issues",), f"import {{ issues }} from './{path}'", None, True)
        origin = ModuleOrigin(team.project_id, page["id"], team.editor.user_id, None)
        (module,) = save(tx, [said], origin, workspace, "d1")
        return module.id

    return page["id"], await services.db.write(add)


def shelf(site: Site) -> Modules:
    """A shelf over the site's checkpoints."""
    found = site.services.implementation(USABLE_MODULES)
    assert isinstance(found, Modules)
    return found


async def test_a_pages_modules_are_listed_while_their_files_live(site: Site, team: Team, folder: Path):
    page_id, module_id = await saved(site, team, folder)
    viewer = await site.signed_in(team.viewer)
    (module,) = (await viewer.get(f"/v1/pages/{page_id}/modules")).json()["items"]
    assert (module["id"], module["path"], module["scope"]) == (module_id, "lib/issues.ts", "session")
    assert module["verified"] is (shelf(site).dependencies == "d1")


async def test_a_module_is_published_to_whoever_asks_and_found_by_nobody_else(site: Site, team: Team, folder: Path):
    _, module_id = await saved(site, team, folder)
    editor, owner = await site.signed_in(team.editor), await site.signed_in(team.owner)
    first = await editor.post(f"/v1/modules/{module_id}/publish")
    answer = await editor.post(f"/v1/modules/{module_id}/publish")  # repeating is harmless
    assert (first.status, answer.status) == (200, 200), answer.body
    published = answer.json()
    assert published["id"] == first.json()["id"]
    assert (published["scope"], published["published_by"]) == ("user", team.editor.user_id)
    assert (published["workspace_id"], published["verified"]) == (None, False)  # no sandbox has tried its import
    assert [one["id"] for one in (await editor.get("/v1/modules")).json()["items"]] == [published["id"]]
    assert (await owner.get("/v1/modules")).json()["items"] == []
    row = (await site.services.db.read(of_user, team.editor.user_id))[0]
    assert row.blob is not None
    assert site.services.blobs.get(row.blob) == CODE.encode()
    again = await editor.post(f"/v1/modules/{published['id']}/publish")
    assert again.json()["id"] == published["id"]


async def test_a_library_is_its_owners_alone_also_for_owners_of_the_project(site: Site, team: Team, folder: Path):
    _, module_id = await saved(site, team, folder)
    editor, owner = await site.signed_in(team.editor), await site.signed_in(team.owner)
    mine = (await editor.post(f"/v1/modules/{module_id}/publish")).json()["id"]
    assert (await owner.call("DELETE", f"/v1/modules/{mine}")).status == 404
    assert (await editor.call("DELETE", f"/v1/modules/{mine}")).status == 204
    assert (await editor.get("/v1/modules")).json()["items"] == []


async def test_a_module_that_leans_on_others_or_has_no_file_is_not_published(site: Site, team: Team, folder: Path):
    editor = await site.signed_in(team.editor)
    _, leaning = await saved(site, team, folder, "import { a } from './other.ts'\nexport const issues = a\n")
    refused = await editor.post(f"/v1/modules/{leaning}/publish")
    assert (refused.status, refused.code) == (400, "malformed_input")
    page_id, gone = await saved(site, team, folder)
    keeper = site.services.sandboxes.checkpoints
    assert keeper is not None
    workspace = (await editor.get(f"/v1/pages/{page_id}")).json()["workspace_id"]
    (folder / "workspaces" / workspace / "lib/issues.ts").unlink()
    await keeper.take(workspace, "person")
    missing = await editor.post(f"/v1/modules/{gone}/publish")
    assert (missing.status, missing.code) == (404, "not_found")


async def test_an_editor_forgets_a_module_of_the_project_and_its_file_stays(site: Site, team: Team, folder: Path):
    page_id, module_id = await saved(site, team, folder)
    other = await site.services.db.write(make_user, "Cora")
    await site.services.db.write(join, team.project_id, other, "editor")
    colleague = await site.signed_in(other)
    assert (await colleague.call("DELETE", f"/v1/modules/{module_id}")).status == 204
    assert (await colleague.get(f"/v1/pages/{page_id}/modules")).json()["items"] == []
    assert (await colleague.call("DELETE", f"/v1/modules/{module_id}")).status == 404


async def test_a_copy_of_a_page_knows_its_modules(site: Site, team: Team, folder: Path):
    page_id, _ = await saved(site, team, folder)
    editor = await site.signed_in(team.editor)
    copy = (await editor.post(f"/v1/pages/{page_id}/duplicate")).json()["id"]
    (module,) = (await editor.get(f"/v1/pages/{copy}/modules")).json()["items"]
    assert (module["path"], module["page_id"]) == ("lib/issues.ts", copy)
