"""Snapshots of the local provider: built inside a sandbox from indexes of the tests' own, and started from."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from outlast_sandbox.errors import ArgumentsInvalid, Conflict, SandboxUnavailable
from outlast_sandbox.interface import BuiltSnapshot, Command, Evaluation, SandboxSpec, SnapshotRecipe
from outlast_sandbox.providers.local import launch, provider
from outlast_sandbox.providers.local import snapshot_build as building
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox, State
from tests.sandbox.package_indexes import Registry, serving, tarball, write_wheel

pytestmark = pytest.mark.sandbox
RECIPE = SnapshotRecipe(
    "test-all",
    ("npm:greeter@1", "pypi:shouter==2.0"),
    ("echo set up > ~/made.txt; shouter-says", "greet=$(cat ~/made.txt); [ \"$greet\" = 'set up' ]"),
    {"notes/template.txt": b"from the template", "package.json": b'{"private": true, "license": "MIT"}'},
)
GREETER = "export default (name) => `hello ${name}`;\n"
SHOUTER = "def shout(text): return text.upper()\ndef say(): print(shout('shouter 2.0'))\n"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """The indexes that pip and npm of this machine are configured with, for the module."""
    wheels = tmp_path_factory.mktemp("wheels")
    wheels.chmod(0o755)  # a build has a user of its own
    write_wheel(wheels, "shouter", "2.0", SHOUTER)
    registry = Registry({("greeter", "1.4.0"): tarball("greeter", "1.4.0", {"index.js": GREETER})})
    with serving(registry) as served, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NPM_CONFIG_REGISTRY", served.address)
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(wheels))
        patch.setenv("PIP_CONFIG_FILE", os.devnull)
        yield served


class Told:
    """What a build said about itself."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.output: dict[str, str] = {}

    def __call__(self, step: str, output: str) -> None:
        if step not in self.output:
            self.steps.append(step)
        self.output[step] = output


@pytest.fixture(scope="module")
async def built(
    packages: Registry, tmp_path_factory: pytest.TempPathFactory, cache_dir: Path
) -> AsyncIterator[tuple[BuiltSnapshot, Told]]:
    """One snapshot for the tests that only start from it."""
    told = Told()
    provider = LocalProvider(tmp_path_factory.mktemp("state"), cache_dir)
    yield await provider.build_snapshot(RECIPE, told), told
    shutil.rmtree(cache_dir / "snapshots" / RECIPE.name)


@pytest.fixture
async def box(local: LocalProvider, spec: SandboxSpec, built: tuple[BuiltSnapshot, Told]) -> LocalSandbox:
    return await local.create(dataclasses.replace(spec, snapshot_ref=built[0].ref))


async def run(box: LocalSandbox, script: str) -> str:
    run.count += 1  # type: ignore[attr-defined]
    return (await box.run(Command(f"eff_{run.count}", 1, script, timeout_s=60))).output.strip()  # type: ignore[attr-defined]


run.count = 0  # type: ignore[attr-defined]


async def build(local: LocalProvider, *commands: str, name: str = "test-one") -> BuiltSnapshot:
    return await local.build_snapshot(SnapshotRecipe(name, commands=commands), Told())


async def test_a_build_tells_each_step_with_its_output(built: tuple[BuiltSnapshot, Told]) -> None:
    snapshot, told = built
    assert told.steps == [
        "prepare",
        "install npm packages",
        "install Python packages",
        "set up (1 of 2)",
        "set up (2 of 2)",
        "warm the caches",
    ]
    assert "SHOUTER 2.0" in told.output["set up (1 of 2)"]
    assert snapshot.size_bytes > 1000


async def test_typescript_imports_an_installed_package_without_a_network(box: LocalSandbox) -> None:
    code = 'import greet from "npm:greeter@1"; greet("you")'
    result = await box.evaluate(Evaluation("eff_ts", 1, "typescript", code))
    assert (result.result, result.error) == ("hello you", None)
    unversioned = "console.log((await import('npm:greeter')).default('me'))"
    assert await run(box, f'deno run -A - <<< "{unversioned}"') == "hello me"


async def test_python_imports_an_installed_package_and_finds_its_commands(box: LocalSandbox) -> None:
    result = await box.evaluate(Evaluation("eff_py", 1, "python", "import shouter; shouter.shout('loud')"))
    assert result.result == "LOUD"
    assert await run(box, "shouter-says") == "SHOUTER 2.0"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node on this machine")
async def test_node_imports_an_installed_package_from_the_workspace(box: LocalSandbox) -> None:
    await box.write_files([("a.mjs", b'import greet from "greeter"; console.log(greet("node"));')])
    assert await run(box, "node a.mjs") == "hello node"


async def test_the_home_folder_holds_the_template_and_what_the_set_up_made(box: LocalSandbox) -> None:
    assert await run(box, "cat ~/notes/template.txt; echo; cat ~/made.txt") == "from the template\nset up"


async def test_a_template_without_a_package_json_gets_one(local: LocalProvider, packages: Registry) -> None:
    recipe = SnapshotRecipe("test-plain", ("npm:greeter@1",), ("grep greeter ~/package.json",))
    told = Told()
    await local.build_snapshot(recipe, told)
    assert told.output["set up (1 of 1)"].strip() == '"greeter": "1"'
    await local.remove_snapshot(recipe.name)


async def test_other_users_of_the_machine_are_kept_out(built: tuple[BuiltSnapshot, Told], cache_dir: Path) -> None:
    assert (cache_dir / "snapshots").stat().st_mode & 0o777 == 0o700


async def test_each_sandbox_changes_only_its_own_layer(
    local: LocalProvider, spec: SandboxSpec, box: LocalSandbox, built: tuple[BuiltSnapshot, Told], cache_dir: Path
) -> None:
    changes = "echo changed > ~/made.txt && rm ~/notes/template.txt && echo new > ~/.cache/deno/new && echo done"
    if not launch.find_powers().own_user:
        pytest.skip("without root what lies in the home folder is read-only")
    assert await run(box, changes) == "done"
    other = await local.create(
        dataclasses.replace(spec, sandbox_id=f"{spec.sandbox_id}other", snapshot_ref=built[0].ref)
    )
    assert await run(other, "cat ~/made.txt ~/notes/template.txt; ls ~/.cache/deno/new") == (
        "set up\nfrom the templatels: cannot access '/home/user/.cache/deno/new': No such file or directory"
    )
    lower = cache_dir / "snapshots" / RECIPE.name / "home"
    assert (lower / "made.txt").read_text() == "set up\n"


async def test_where_the_kernel_has_no_layers_each_sandbox_gets_a_copy(
    local: LocalProvider,
    spec: SandboxSpec,
    built: tuple[BuiltSnapshot, Told],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not launch.find_powers().own_user:
        pytest.skip("without root no mounts are built first")
    shim = tmp_path / "shim" / "shim.py"
    shim.parent.mkdir()
    shim.write_text(provider.SHIM.read_text().replace('target, "overlay",', 'target, "nosuchfs",'))
    monkeypatch.setattr(provider, "SHIM", shim)
    box = await local.create(dataclasses.replace(spec, snapshot_ref=built[0].ref))
    assert await run(box, "shouter-says; echo new > ~/made.txt && cat ~/made.txt") == "SHOUTER 2.0\nnew"
    assert "overlay on /home/user" not in await run(box, "mount")
    code = 'import greet from "npm:greeter@1"; greet("you")'
    assert (await box.evaluate(Evaluation("eff_ts", 1, "typescript", code))).result == "hello you"


async def test_without_root_what_was_installed_is_read_only_and_works(
    local: LocalProvider, spec: SandboxSpec, built: tuple[BuiltSnapshot, Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    powers = dataclasses.replace(launch.find_powers(), own_user=False)
    for module in ("launch", "provider"):
        monkeypatch.setattr(f"outlast_sandbox.providers.local.{module}.find_powers", lambda: powers)
    box = await local.create(dataclasses.replace(spec, snapshot_ref=built[0].ref))
    assert await run(box, "shouter-says; echo new > ~/new && cat ~/new") == "SHOUTER 2.0\nnew"
    assert "Read-only" in await run(box, "touch ~/notes/x")
    assert await run(box, "touch ~/.cache/x && echo fine") == "fine"
    code = 'import greet from "npm:greeter@1"; greet("you")'
    assert (await box.evaluate(Evaluation("eff_ts", 1, "typescript", code))).result == "hello you"


async def test_what_is_there_already_is_not_built_again(
    local: LocalProvider, built: tuple[BuiltSnapshot, Told]
) -> None:
    told = Told()
    assert await local.build_snapshot(RECIPE, told) == built[0]
    assert told.steps == []


async def test_a_failed_build_says_why_and_leaves_nothing(local: LocalProvider, cache_dir: Path) -> None:
    seen: list[State] = []
    recipe = SnapshotRecipe("test-failed", commands=("true", "echo this went wrong; exit 3"))
    with pytest.raises(SandboxUnavailable, match=r"set up \(2 of 2\) failed: this went wrong") as raised:
        await local.build_snapshot(recipe, lambda _step, _output: seen.extend(builds_in(cache_dir)))
    assert raised.value.fields["output"] == "this went wrong"
    assert not unfinished(cache_dir)
    assert_ended(seen)


async def test_a_build_that_fills_the_disk_is_ended(
    local: LocalProvider, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "LIMITS", dataclasses.replace(building.LIMITS, disk_bytes=32 * 1024**2))
    script = "head -c 20M /dev/zero > ~/a; cp ~/a ~/b; sleep 600"
    with pytest.raises(SandboxUnavailable, match=r"was ended because it needed more than \d+ MiB of disk"):
        await build(local, script, name="test-full")
    assert not unfinished(cache_dir)


async def test_a_package_that_no_index_has_fails_the_build_with_its_name(
    local: LocalProvider, packages: Registry
) -> None:
    for dependency in ("npm:missing-here@1", "pypi:missing-here==1"):
        with pytest.raises(SandboxUnavailable, match="missing-here"):
            await local.build_snapshot(SnapshotRecipe("test-missing", (dependency,)), Told())


async def test_a_build_reaches_the_indexes_and_nothing_else(local: LocalProvider, packages: Registry) -> None:
    port = int(packages.address.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", 0)) as other:
        forbidden = other.getsockname()[1]
        asked = len(packages.asked)
        script = (
            f"curl -s -o /dev/null -w '%{{http_code}} ' http://127.0.0.1:{port}/greeter;"
            f"curl -s -o /dev/null -w '%{{http_code}} ' http://127.0.0.1:{forbidden}/;"
            "curl -s -o /dev/null -w '%{http_code} ' http://169.254.169.254/latest;"
            f"curl -s --proxytunnel -w '%{{http_connect}}' http://127.0.0.1:{forbidden}/; exit 1"
        )
        with pytest.raises(SandboxUnavailable, match="200 403 403 403") as raised:
            await build(local, script, name="test-gate")
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
    assert len(packages.asked) == asked + 1
    assert "only the package indexes" in raised.value.hint


async def test_a_sandbox_from_a_snapshot_has_no_way_out(box: LocalSandbox, packages: Registry) -> None:
    assert await run(box, f"curl -s {packages.address}/greeter || echo refused") == "refused"
    assert await run(box, "env | grep -ic proxy") == "0"


async def test_a_file_of_the_recipe_outside_the_home_folder_is_refused(local: LocalProvider) -> None:
    for path in ("../x", "/etc/x", "a/../../x"):
        with pytest.raises(ArgumentsInvalid):
            await local.build_snapshot(SnapshotRecipe("test-path", files={path: b""}), Told())


async def test_links_that_a_build_plants_lead_nowhere_outside(
    local: LocalProvider, spec: SandboxSpec, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the host's")
    secret.chmod(0o600)
    planted = f"ln -s {secret} ~/link; ln -s {tmp_path} ~/folder; ln -s / ~/node_modules; ln -s {tmp_path} ~/.cache"
    ref = (await build(local, planted, name="test-links")).ref
    assert secret.stat().st_mode & 0o777 == 0o600
    box = await local.create(dataclasses.replace(spec, snapshot_ref=ref))
    assert "No such file" in await run(box, "cat ~/link ~/folder/secret")
    powers = dataclasses.replace(launch.find_powers(), own_user=False)
    for module in ("launch", "provider"):
        monkeypatch.setattr(f"outlast_sandbox.providers.local.{module}.find_powers", lambda: powers)
    bound = await local.create(dataclasses.replace(spec, sandbox_id=f"{spec.sandbox_id}bound", snapshot_ref=ref))
    assert "No such file" in await run(bound, "cat ~/link ~/folder/secret")


async def test_a_snapshot_in_use_is_not_removed_and_a_free_one_is(
    local: LocalProvider, spec: SandboxSpec, cache_dir: Path
) -> None:
    ref = (await build(local, "echo x > ~/x", name="test-removed")).ref
    box = await local.create(dataclasses.replace(spec, snapshot_ref=ref))
    with pytest.raises(Conflict, match="in use"):
        await local.remove_snapshot(ref)
    assert await run(box, "cat ~/x") == "x"
    await box.kill()
    await local.remove_snapshot(ref)
    await local.remove_snapshot(ref)
    assert not (cache_dir / "snapshots" / ref).exists()
    with pytest.raises(SandboxUnavailable, match="not on this machine"):
        await local.create(dataclasses.replace(spec, snapshot_ref=ref))


async def test_one_that_no_server_seems_to_have_any_more_is_removed_unless_it_is_in_use(
    local: LocalProvider, spec: SandboxSpec, cache_dir: Path
) -> None:
    ref = (await build(local, "true", name="test-forgotten")).ref
    mark = cache_dir / "snapshots" / ref / "in_use"
    os.utime(mark, (0, 0))
    box = await local.create(dataclasses.replace(spec, snapshot_ref=ref))
    assert mark.stat().st_mtime > 0
    os.utime(mark, (0, 0))
    await local.list_refs()
    assert mark.exists()
    await box.kill()
    await local.list_refs()
    assert not mark.exists()


async def test_a_cancelled_build_leaves_nothing(local: LocalProvider, cache_dir: Path) -> None:
    began = anyio.Event()
    seen: list[State] = []

    def told(_step: str, output: str) -> None:
        if "begun" in output:
            seen.extend(builds_in(cache_dir))
            began.set()

    async with anyio.create_task_group() as tasks:
        recipe = SnapshotRecipe("test-cancelled", commands=("echo begun; sleep 600",))
        tasks.start_soon(local.build_snapshot, recipe, told)
        await began.wait()
        tasks.cancel_scope.cancel()
    assert not unfinished(cache_dir)
    assert_ended(seen)


KILLED = """
import sys, anyio
from pathlib import Path
from outlast_sandbox.interface import SnapshotRecipe
from outlast_sandbox.providers.local.provider import LocalProvider
provider = LocalProvider(Path(sys.argv[1]), Path(sys.argv[2]))
recipe = SnapshotRecipe("test-killed", commands=("echo begun; sleep 600",))
anyio.run(provider.build_snapshot, recipe, lambda step, output: print(output, flush=True))
"""


def kill_once_begun(words: list[str]) -> None:
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "begun\n" in iter(process.stdout.readline, "")
        process.send_signal(signal.SIGKILL)


async def test_what_a_killed_server_was_building_is_ended_and_removed_by_the_next_build(
    local: LocalProvider, tmp_path: Path, cache_dir: Path
) -> None:
    words = [sys.executable, "-c", KILLED, str(tmp_path / "other"), str(cache_dir)]
    await anyio.to_thread.run_sync(kill_once_begun, words)
    left = builds_in(cache_dir)
    assert all(state.is_alive() for state in left)
    ref = (await build(local, name="test-after")).ref
    assert not unfinished(cache_dir)
    assert_ended(left)
    await local.remove_snapshot(ref)


def unfinished(cache_dir: Path) -> list[str]:
    """What is there beside finished snapshots."""
    return [path.name for path in (cache_dir / "snapshots").glob(".*")]


def builds_in(cache_dir: Path) -> list[State]:
    """The sandboxes of the builds under way."""
    folders = (cache_dir / "snapshots").glob(".building-*/state")
    return [state for state in map(State.read, folders) if state is not None]


def assert_ended(states: list[State]) -> None:
    assert states
    for state in states:
        assert not state.is_alive()
        assert not state.group.exists()
