"""Workspaces of app templates in real sandboxes: what comes from the snapshot, what is the workspace's own."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.kernel.sandboxes.snapshots.rules import project_of
from outlast.kernel.sandboxes.templates import dev_server
from outlast_sandbox.checkpoints.folder_walk import walk_folder
from outlast_sandbox.interface import Command, SandboxSpec
from outlast_sandbox.providers.docker.provider import DockerProvider
from outlast_sandbox.providers.local import launch, provider
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from outlast_sandbox.recipes import recipe_of
from tests.templates import small_template

pytestmark = pytest.mark.sandbox
LOCAL = "outlast_sandbox.providers.local"


def without_root() -> bool:
    return not launch.find_powers().own_user


@pytest.fixture(scope="module")
async def snapshot(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> AsyncIterator[str]:
    """Built once for the module."""
    project = project_of(small_template(), {"ADDED": "here"})
    recipe = recipe_of([], ["echo configured > ~/configured"], {}, "base", project)
    assert recipe is not None
    steps: list[str] = []
    maker = LocalProvider(tmp_path_factory.mktemp("state"), cache_dir)
    built = await maker.build_snapshot(recipe, lambda step, _output: steps.append(step))
    assert "prepare the app template (1 of 1)" in steps
    yield built.ref
    await maker.remove_snapshot(built.ref)


@pytest.fixture
def app(spec: SandboxSpec, snapshot: str) -> SandboxSpec:
    """A sandbox of the template."""
    return dataclasses.replace(spec, snapshot_ref=snapshot, layers=small_template().layers)


async def run(box: LocalSandbox, script: str) -> str:
    run.count += 1  # type: ignore[attr-defined]
    return (await box.run(Command(f"eff_{run.count}", 1, script, timeout_s=60))).output.strip()  # type: ignore[attr-defined]


run.count = 0  # type: ignore[attr-defined]


async def test_what_was_installed_lies_in_the_workspace(local: LocalProvider, app: SandboxSpec) -> None:
    box = await local.create(app)
    assert await run(box, "cat node_modules/kit/index.js .cache/state ~/configured") == "made\nwarm\nconfigured"
    assert await run(box, "cat node_modules/where") == "/workspace", "caches hold paths that are valid later"
    assert await run(box, "ls app 2>/dev/null | wc -l") == "0", "files are the checkpoint's affair"
    assert (await run(box, "echo $PATH")).startswith("/workspace/node_modules/.bin:")


async def test_each_sandbox_changes_a_layer_of_its_own(local: LocalProvider, app: SandboxSpec, tmp_path: Path) -> None:
    other = dataclasses.replace(app, sandbox_id=f"{app.sandbox_id}b", workspace_dir=tmp_path / "other")
    first, second = await local.create(app), await local.create(other)
    script = "echo changed > node_modules/kit/index.js; mv node_modules/kit node_modules/tool; rm -r .cache/state"
    assert await run(first, f"{script}; ls node_modules") == "tool\nwhere"
    assert await run(second, "cat node_modules/kit/index.js .cache/state") == "made\nwarm"


async def test_a_layer_begins_anew_from_the_snapshot_with_each_start(local: LocalProvider, app: SandboxSpec) -> None:
    box = await local.create(app)
    await run(box, "echo mine > node_modules/added; echo mine > kept")
    await box.kill()
    assert not list(local.state_dir.iterdir()), "what a layer took is gone with its sandbox"
    again = await local.create(dataclasses.replace(app, sandbox_id=f"{app.sandbox_id}b"))
    assert await run(again, "cat kept; ls node_modules") == "mine\nkit\nwhere"


async def test_programs_own_what_comes_from_the_snapshot(local: LocalProvider, app: SandboxSpec) -> None:
    """Turbopack sets the modes of the files in its cache anew, which only their owner may."""
    if without_root():
        pytest.skip("without root packages are shown read-only")
    box = await local.create(app)
    script = "chmod 600 .cache/state && touch -d 2020-01-01 node_modules/kit/index.js && echo more >> .cache/state"
    assert await run(box, f"{script} && stat -c %U .cache/state && cat .cache/state") == "user\nwarm\nmore"


@pytest.mark.parametrize(
    "missing", [("MOUNT_SETATTR, tree", "-1, tree"), ('target, "overlay",', 'target, "nosuchfs",')]
)
async def test_an_older_kernel_gets_by_with_copies(
    local: LocalProvider, app: SandboxSpec, missing: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if without_root():
        pytest.skip("without root no mounts are built first")
    shim = tmp_path / "shim" / "shim.py"
    shim.parent.mkdir()
    source = provider.SHIM.read_text()
    assert missing[0] in source
    shim.write_text(source.replace(*missing))
    monkeypatch.setattr(provider, "SHIM", shim)
    box = await local.create(app)
    script = "chmod 600 .cache/state && echo more >> .cache/state && echo x > node_modules/kit/x && ls node_modules/kit"
    assert await run(box, script) == "index.js\nx"
    assert await run(box, "cat .cache/state") == "warm\nmore"


async def test_without_root_packages_are_read_only_and_caches_begin_empty(
    local: LocalProvider, app: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    powers = dataclasses.replace(launch.find_powers(), own_user=False)
    for module in ("launch", "provider"):
        monkeypatch.setattr(f"{LOCAL}.{module}.find_powers", lambda: powers)
    box = await local.create(app)
    assert await run(box, "cat node_modules/kit/index.js; mkdir -p .cache && echo mine > .cache/x && ls .cache") == (
        "made\nx"
    )
    assert "Read-only" in await run(box, "touch node_modules/kit/x")
    assert await run(box, "mkdir node_modules/.tool && touch node_modules/.tool/x && echo fine") == "fine"
    assert [one.path for one in await box.list_files()] == []


async def test_lists_of_files_leave_layers_out_unless_one_is_asked_for(local: LocalProvider, app: SandboxSpec) -> None:
    box = await local.create(app)
    await box.write_files([("app/page.tsx", b"1"), ("app/node_modules/x", b"2")])
    assert [one.path for one in await box.list_files()] == [
        "app",
        "app/node_modules",
        "app/node_modules/x",
        "app/page.tsx",
    ]
    assert "node_modules/kit/index.js" in [one.path for one in await box.list_files("node_modules")]
    walked = walk_folder(app.workspace_dir, 1 << 20, app.layers)
    assert sorted(found.path for found in walked.found) == [
        "app",
        "app/node_modules",
        "app/node_modules/x",
        "app/page.tsx",
    ]


async def test_what_code_has_put_in_the_place_of_a_layer_is_no_obstacle(
    local: LocalProvider, app: SandboxSpec, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    app.workspace_dir.mkdir(parents=True)
    (app.workspace_dir / "node_modules").symlink_to(outside)
    (app.workspace_dir / ".cache").write_text("a file")
    box = await local.create(app)
    assert await run(box, "cat node_modules/kit/index.js .cache/state; touch node_modules/new") == "made\nwarm"
    assert not list(outside.iterdir())


async def test_what_a_layer_takes_counts_as_disk(local: LocalProvider, app: SandboxSpec) -> None:
    if without_root():
        pytest.skip("without root nothing can be written there")
    box = await local.create(app)
    fill = "for n in $(seq 40); do head -c 4M /dev/zero > node_modules/$n; sleep 0.2; done; sleep 60"
    result = await box.run(Command("eff_fill", 1, fill, timeout_s=90))
    assert result.killed_reason == "disk"


async def test_where_there_are_no_snapshots_layers_are_folders_that_no_list_has(
    docker: DockerProvider, spec: SandboxSpec
) -> None:
    box = await docker.create(dataclasses.replace(spec, layers=("node_modules", ".cache")))
    await box.run(
        Command("eff_1", 1, "mkdir -p node_modules/kit && echo made > node_modules/kit/index.js && echo 1 > a")
    )
    assert [one.path for one in await box.list_files()] == ["a"]
    assert (await box.read_file("node_modules/kit/index.js", 100)) == b"made\n"


async def test_where_there_are_no_snapshots_the_dev_server_says_what_it_lacks(
    docker: DockerProvider, spec: SandboxSpec
) -> None:
    template = small_template(package_json=b'{"name": "app", "dependencies": {"left-out": "1.0.0"}}')
    box = await docker.create(dataclasses.replace(spec, layers=template.layers))
    await box.write_files(list(template.files.items()))
    result = await box.run(Command("eff_dev", 1, dev_server(template).command, timeout_s=60))
    assert result.exit_code == 1
    if "no Node.js" not in result.output:  # the image is a bare one; the server's own Node may not run in it
        assert "Not installed: left-out." in result.output
        assert "sandbox.allow_hosts" in result.output
