"""The whole program over a real socket: start, work, stop, and every way it refuses to start."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import aiohttp
import anyio
import pytest
from yarl import URL

from outlast.app import run_program
from outlast.base.errors import DataDirectoryInUse, InvalidSetting, OutlastError, StartRefused, UnsafeBind
from outlast.base.settings.fields import SecretUrl
from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.shapes import NewTokenAnswer
from outlast.kernel.cli.admin import create_user, find_user, in_transaction
from outlast.kernel.cli.client import Client
from outlast.kernel.http import http_resolver
from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.models.providers import is_installed
from outlast.kernel.models.settings import ModelSettings, ProviderKind, ProviderSettings
from outlast.kernel.settings import Settings
from outlast.kernel.settings.load import load_settings

CONFIGURATIONS = Path(__file__).resolve().parents[2] / "unit" / "kernel" / "settings" / "configurations"
GROQ_AND_DENO = CONFIGURATIONS / "groq_deno_linear_slack.toml"
DEMO = """
[providers.demo]
kind = "demo"
delta_delay_s = {delay}
[[models]]
id = "demo"
provider = "demo"
name = "demo"
[sandbox]
provider = "none"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Settings]:
    def make(delay: float = 0.0, database: str | None = None, **server: Any) -> Settings:
        file = tmp_path / "outlast.toml"
        file.write_text(DEMO.format(delay=delay))
        flags: dict[str, Any] = {"server.port": 0, "server.data_dir": str(tmp_path / "data")}
        flags |= {"server.stop_grace_s": 5, "database.url": database, "streams.recheck_s": 0.1}
        return load_settings(file, environ={}, flags=flags | {f"server.{k}": v for k, v in server.items()})

    return make


class Running:
    """A started program: its address, and `stop`, which returns when it has ended."""

    def __init__(self) -> None:
        self.address = ""
        self.ready = anyio.Event()
        self.wished = anyio.Event()
        self.ended = anyio.Event()

    def announce(self, address: str) -> None:
        self.address = address
        self.ready.set()

    async def wish(self) -> None:
        await self.wished.wait()
        self.wished = anyio.Event()

    async def stop(self) -> None:
        self.wished.set()
        await self.ended.wait()

    async def run(self, settings: Settings, http: bool) -> None:
        await run_program(settings, self.announce, http=http, asked_to_stop=self.wish)
        self.ended.set()


@asynccontextmanager
async def running(settings: Settings, *, http: bool = True) -> AsyncIterator[Running]:
    program = Running()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(program.run, settings, http)
            await program.ready.wait()
            yield program
            if not program.ended.is_set():
                await program.stop()


async def refused(settings: Settings, kind: type[OutlastError]) -> OutlastError:
    with pytest.raises((kind, BaseExceptionGroup)) as caught, anyio.fail_after(30):
        await run_program(settings, lambda _: None, http=True, asked_to_stop=anyio.sleep_forever)
    error: BaseException = caught.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, kind)
    return error


async def events_of(client: Client, run_id: str, after: str = "0") -> list[tuple[str, dict[str, Any]]]:
    return [pair async for pair in client.follow(f"/v1/runs/{run_id}/events", after)]


async def test_a_run_is_started_followed_and_found_again(settings, database_url: str):
    async with running(settings(database=database_url)) as program, Client(program.address, None) as client:
        assert (await client.get("/healthz"))["status"] == "ok"
        assert (await client.get("/readyz"))["database"] == "ok"
        started = await client.post("/v1/runs", {"content": "Hello"})
        seen = await events_of(client, started["run_id"], str(started["cursor"]))
        assert [cursor for cursor, _ in seen] == [str(event["sequenceNumber"]) for _, event in seen]
        assert seen[-1][1]["event"] == "stream.ended"
        run = await client.get(f"/v1/runs/{started['run_id']}")
        assert run["status"] == "completed"
        assert await events_of(client, started["run_id"], seen[-1][0]) == []


async def test_any_cursor_gives_the_rest_and_nothing_else(settings):
    async with running(settings()) as program, Client(program.address, None) as client:
        started = await client.post("/v1/runs", {"content": "Hello"})
        whole = await events_of(client, started["run_id"])
        middle = whole[len(whole) // 2][0]
        assert await events_of(client, started["run_id"], middle) == whole[len(whole) // 2 + 1 :]


async def test_a_repeated_start_under_one_key_is_one_run(settings):
    async with running(settings()) as program, Client(program.address, None) as client:
        first = await client.post("/v1/runs", {"content": "Hello"}, idempotency_key="once")
        assert await client.post("/v1/runs", {"content": "Hello"}, idempotency_key="once") == first


async def test_a_run_survives_a_stop_and_its_follower_goes_on(settings):
    """The program is stopped in the middle of an answer and started again on the same port and folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    seen: list[tuple[str, dict[str, Any]]] = []
    enough, whole = anyio.Event(), anyio.Event()

    async def follow(client: Client, run_id: str) -> None:
        async for pair in client.follow(f"/v1/runs/{run_id}/events", "0"):
            seen.append(pair)
            if len(seen) > 20:
                enough.set()
        whole.set()

    async with Client(f"http://127.0.0.1:{port}", None) as client, anyio.create_task_group() as tasks:
        async with running(settings(delay=0.01, port=port)) as program:
            run_id = (await client.post("/v1/runs", {"content": "Write an essay"}))["run_id"]
            tasks.start_soon(follow, client, run_id)
            await enough.wait()
            await program.stop()
        async with running(settings(port=port)):
            await whole.wait()
            assert (await client.get(f"/v1/runs/{run_id}"))["status"] == "completed"
    numbers = [event["sequenceNumber"] for _, event in seen]
    assert numbers == sorted(set(numbers))


async def test_what_a_first_answer_would_wait_for_is_loaded_at_the_start(settings, monkeypatch):
    loaded = anyio.Event()

    async def load(_catalog: ModelCatalog) -> None:
        loaded.set()
        raise ImportError("a package that is broken ends nothing")

    monkeypatch.setattr(ModelCatalog, "warm_up", load)
    async with running(settings()) as program, Client(program.address, None) as client:
        await loaded.wait()
        assert (await client.get("/healthz"))["status"] == "ok"


async def test_a_model_whose_key_is_not_set_is_named_at_the_start(settings, monkeypatch, caplog):
    loaded = anyio.Event()

    async def load(_catalog: ModelCatalog) -> None:
        loaded.set()

    monkeypatch.setattr(ModelCatalog, "warm_up", load)
    paid = ProviderSettings(kind="openai", api_key_env="OUTLAST_TEST_NO_SUCH_KEY")
    model = ModelSettings(id="paid/gpt", provider="paid", name="gpt")
    async with running(replace(settings(), providers={"paid": paid}, models=(model,)), http=False):
        await loaded.wait()
    told = [record for record in caplog.records if "key is not set" in record.message]
    assert [(record.model, record.variable) for record in told] == [("paid/gpt", "OUTLAST_TEST_NO_SUCH_KEY")]


async def test_redis_beside_sqlite_which_has_no_use_for_it_is_refused(settings):
    chosen = settings()
    unused = replace(chosen, live=replace(chosen.live, redis_url=SecretUrl("redis://127.0.0.1/0")))
    error = await refused(unused, InvalidSetting)
    assert "has no effect on SQLite" in error.message


async def test_a_worker_alone_takes_up_what_is_queued(settings):
    async with running(settings(), http=False) as program:
        assert program.address == ""


async def test_a_second_program_on_the_folder_is_refused_and_told_who_owns_it(settings):
    async with running(settings()):
        error = await refused(settings(), DataDirectoryInUse)
    assert error.fields["pid"].isdigit()


async def test_the_folder_is_free_again_after_a_stop(settings):
    for _ in range(2):
        async with running(settings()) as program:
            assert program.address.startswith("http://127.0.0.1:")


async def test_a_taken_port_is_refused_with_another_to_try(settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        error = await refused(settings(port=port), StartRefused)
    assert f"--port {port + 1}" in error.hint


async def test_an_open_address_needs_a_token_first(settings):
    error = await refused(settings(host="0.0.0.0"), UnsafeBind)
    assert "outlast tokens create" in error.hint


def create_token(settings: Settings, name: str, new_user: str | None = None, *, create: bool = False) -> NewTokenAnswer:
    def run(tx: Tx) -> NewTokenAnswer:
        user_id = create_user(tx, settings, new_user, None) if new_user else find_user(tx, settings, None)
        return accounts.add_token(tx, user_id, name, None)

    return in_transaction(settings, run, create=create)


def revoke_token(settings: Settings, token_id: str, user: str) -> None:
    in_transaction(settings, lambda tx: accounts.revoke_token(tx, find_user(tx, settings, user), token_id))


async def test_with_a_token_the_server_opens_and_asks_everybody_for_it(settings):
    opened = settings(host="0.0.0.0")
    token = await anyio.to_thread.run_sync(lambda: create_token(opened, "first", create=True).token)
    async with running(opened) as program:
        address = program.address.replace("0.0.0.0", "127.0.0.1")
        async with Client(address, None) as nobody, Client(address, token) as owner:
            with pytest.raises(OutlastError, match="signed in"):
                await nobody.get("/v1/me")
            assert (await owner.get("/v1/me"))["local_mode"] is False


async def test_tokens_are_made_and_revoked_beside_a_running_server(settings):
    chosen = settings()
    in_thread: Callable[[Callable[[], Any]], Awaitable[Any]] = anyio.to_thread.run_sync
    async with running(chosen) as program:
        made = await in_thread(lambda: create_token(chosen, "laptop", "Ada"))
        async with Client(program.address, made.token) as ada:
            assert (await ada.get("/v1/me"))["user"]["name"] == "Ada"
            await in_thread(lambda: revoke_token(chosen, made.id, "Ada"))
            with pytest.raises(OutlastError, match="revoked"):
                await ada.get("/v1/me")


def test_a_provider_that_nobody_knows_is_refused_with_its_line(tmp_path: Path):
    (tmp_path / "outlast.toml").write_text('[providers.x]\nkind = "telepathy"\n')
    with pytest.raises(InvalidSetting, match=r"outlast\.toml:2"):
        load_settings(tmp_path / "outlast.toml", environ={}, flags={})


def test_every_kind_of_provider_that_can_be_configured_can_be_opened():
    assert all(is_installed(kind) for kind in get_args(ProviderKind))


async def test_a_follower_whose_token_ends_is_closed(settings):
    chosen = settings()
    async with running(chosen) as program:
        made = await anyio.to_thread.run_sync(lambda: create_token(chosen, "laptop", "Ada"))
        async with Client(program.address, made.token) as ada:
            project_id = (await ada.get("/v1/me"))["default_project_id"]
            await ada.post(f"/v1/projects/{project_id}/threads", {"title": "One"})
            followed = ada.follow(f"/v1/projects/{project_id}/events", "0")
            assert (await anext(followed))[1]["event"] == "thread.updated"
            await ada.delete(f"/v1/tokens/{made.id}")
            with pytest.raises(OutlastError, match="revoked"):
                async for _ in followed:  # other news of the project may come before its end
                    pass


ODD = ["\x00", "a\x00b", "\ud800", "\uffff", "' or 1=1 --", "%", "😀" * 50]


async def test_odd_characters_are_stored_or_refused_but_never_a_fault(settings, database_url: str):
    """PostgreSQL stores no NUL and UTF-8 no lone surrogate; both arrive through JSON and through addresses."""
    async with running(settings(database=database_url)) as program, aiohttp.ClientSession() as session:

        async def status(method: str, path: str, content: bytes | None = None) -> int:
            headers = {"content-type": "application/json"} if content is not None else {}
            url = URL(program.address + path, encoded=True)
            async with session.request(method, url, data=content, headers=headers) as answer:
                return answer.status

        for text in ODD:
            for path, names in (
                ("/v1/runs", ("content", "model")),
                ("/v1/runs", ("content", "title")),
                ("/v1/projects", ("name",)),
                ("/v1/tokens", ("name",)),
                ("/v1/session", ("token",)),
                ("/v1/invitations/accept", ("token", "name")),
            ):
                body = json.dumps(dict.fromkeys(names, text)).encode()
                assert await status("POST", path, body) < 500, (path, names, text)
            quoted = quote(text, errors="surrogatepass")
            for path in ("/v1/threads/", "/v1/runs?before=", "/v1/runs?q=", "/v1/runs/x/events?after="):
                assert await status("GET", path + quoted) < 500, (path, text)


async def test_a_configuration_without_kinds_and_models_starts_a_server_with_the_one_model_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A provider's table named by its kind, a model named by its provider, Deno's sandboxes, bare package names."""

    async def without_network(*_: object) -> None:
        raise OSError("There is no network.")

    monkeypatch.setattr(http_resolver, "resolved", without_network)
    for name in ("GROQ_API_KEY", "LINEAR_API_KEY", "SLACK_TOKEN", "DENO_DEPLOY_TOKEN"):
        monkeypatch.setenv(name, "not-a-key")
    flags = {"server.port": 0, "server.data_dir": str(tmp_path / "data"), "server.stop_grace_s": 5}
    async with (
        running(load_settings(GROQ_AND_DENO, environ={}, flags=flags)) as program,
        Client(program.address, None) as client,
    ):
        ready = await client.get("/readyz")
        assert (ready["status"], ready["database"], ready["down"]) == ("ok", "ok", [])
        (model,) = (await client.get("/v1/models"))["items"]
        assert (model["id"], model["provider"]) == ("moonshotai/kimi-k2-instruct-0905", "groq")
        assert (model["default"], model["available"]) == (True, True)
        sources = (await client.get("/v1/knowledge/sources"))["items"]
        assert {
            ("npm:@linear/sdk", "https://linear.app/developers/sdk.md"),
            ("npm:@slack/web-api", "https://api.slack.com/methods"),
        } <= {(source["package"], source["location"]) for source in sources}
