"""The way out of real sandboxes: curl, Python, Deno and Node inside, stand-ins of hosts behind the proxy.

The proxy's world is `tests.hosts.World`: no address but the test's own servers can be reached, whatever fails.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import sqlalchemy as sa

from outlast.app import open_program
from outlast.base.clock import SystemClock
from outlast.base.connection_errors import ConnectionNeeded
from outlast.base.ids import new_id
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.store import add_user
from outlast.kernel.accounts.tables import users
from outlast.kernel.agents.agent import Agent
from outlast.kernel.connections import store as accounts
from outlast.kernel.connections.account_tokens import Account
from outlast.kernel.connections.oauth_client import OAuth
from outlast.kernel.connections.service_accounts import AccountSecrets
from outlast.kernel.connections.settings import ConnectionClient
from outlast.kernel.projects.store import add_project
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes import store as rows
from outlast.kernel.sandboxes.egress import store
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import reconcile
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.secrets import store as saved
from outlast.kernel.secrets.keyring import Keyring
from outlast.kernel.secrets.saved_secrets import SavedSecrets
from outlast.kernel.secrets.vault import Vault
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import ServerSettings
from outlast_sandbox.egress.authority_store import Authorities
from outlast_sandbox.egress.rules import names
from outlast_sandbox.interface import Command, Sandbox, SandboxProvider
from outlast_sandbox.providers.docker.provider import DockerProvider
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.factories import make_run, make_thread
from tests.hosts import Host, Trust, World, listening

pytestmark = pytest.mark.sandbox
VAULT = Vault(Keyring([b"k" * 32]))
SECRET = "lin_api_0123456789abcdefXYZ"
API, OTHER, PLAIN = "api.linear.example", "api.slack.example", "docs.example"
SETTINGS = SandboxSettings(
    memory_mb=1024,
    processes=128,
    disk_mb=64,
    allow_hosts=(PLAIN, "*.wild.example"),
    dependencies=(
        DependencySettings("npm:a", secret_env="LINEAR_API_KEY", hosts=(API,)),
        DependencySettings("npm:b", secret_env="SLACK_TOKEN", hosts=(OTHER,)),
    ),
)


def _fill(tx: Tx) -> tuple[str, str]:
    """A project and a workspace in it."""
    project_id, workspace_id = add_project(tx, add_user(tx, "Ada", "unlimited"), "Town"), new_id("workspace")
    values = {"id": workspace_id, "project_id": project_id, "created_at": tx.now, "last_used_at": tx.now}
    tx.execute(workspaces.insert().values(**values, owner_type="thread", owner_id="thr_1"))
    return project_id, workspace_id


class Town:
    """A database with one workspace, hosts that its sandbox may or may not reach, and servers over them."""

    def __init__(self, db: Database, local: LocalProvider, data_dir: Path) -> None:
        self.db, self.data_dir = db, data_dir
        self._folders = local.state_dir, local.cache_dir
        self.world, self.trust = World(), Trust()
        self.settings = SETTINGS
        self.hosts = {API: Host(), OTHER: Host(), PLAIN: Host()}
        self.project_id = self.workspace_id = ""
        self.effects = 0

    async def found(self) -> None:
        self.project_id, self.workspace_id = await self.db.write(_fill)

    @asynccontextmanager
    async def server(self, provider: SandboxProvider | None = None) -> AsyncIterator[Server]:
        """One life of the server: what it finds, it takes up."""
        provider = provider or LocalProvider(*self._folders)
        clock = SystemClock()

        async def lookup(user_id: str | None, project_id: str, name: str) -> str | None:
            assert project_id == self.project_id
            return {"LINEAR_API_KEY": SECRET, "SLACK_TOKEN": "xoxb-other-secret"}.get(name)

        policy = policy_of(self.settings)
        keeper = EgressKeeper(
            self.db,
            clock,
            policy,
            self.data_dir / "egress",
            lookup=SavedSecrets(self.db, VAULT, lookup, names(policy)),
            network=self.world,
            contexts=self.trust.contexts(),
        )
        machines = SandboxManager(self.db, provider, clock, self.settings, self.data_dir)
        machines.lives.way_out = keeper
        async with anyio.create_task_group() as tasks:
            await tasks.start(keeper.run)
            await reconcile(machines)
            yield Server(self, machines, keeper)
            tasks.cancel_scope.cancel()
        await machines.aclose()


@dataclass
class Server:
    town: Town
    machines: SandboxManager
    keeper: EgressKeeper

    async def sandbox(self) -> Sandbox:
        return await self.machines.ensure(self.town.workspace_id, self.town.project_id)

    async def run(self, script: str) -> str:
        self.town.effects += 1
        box = await self.sandbox()
        result = await box.run(Command(f"eff_{self.town.effects}", 1, script, timeout_s=120))
        return result.output


@pytest.fixture
async def town(sqlite_url: str, tmp_path: Path, local: LocalProvider) -> AsyncIterator[Town]:
    db = open_database(sqlite_url, tmp_path, SystemClock())
    town = Town(db, local, tmp_path / "data")
    await town.found()
    async with AsyncExitStack() as stack:
        for number, (name, host) in enumerate(town.hosts.items(), start=1):
            for port, tls in ((443, town.trust.server(name)), (80, None)):
                door = await stack.enter_async_context(listening(host.serve, tls))
                town.world.put(name, port, door, f"93.184.216.{number}")
        yield town
    await db.aclose()


CLIENTS = {
    "curl": 'curl -sS -H "X-Key: $LINEAR_API_KEY" {url}',
    "python": """python3 - <<'END'
import os, urllib.request
request = urllib.request.Request("{url}", headers={{"X-Key": os.environ["LINEAR_API_KEY"]}})
print(urllib.request.urlopen(request).read().decode())
END""",
    "deno": """cat > ask.ts <<'END'
const answer = await fetch("{url}", {{headers: {{"X-Key": Deno.env.get("LINEAR_API_KEY")!}}}});
console.log(await answer.text());
END
deno run -A ask.ts""",
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_secret_reaches_its_host_and_never_the_code_that_sends_it(town: Town, client: str) -> None:
    async with town.server() as server:
        output = await server.run(CLIENTS[client].format(url=f"https://{API}/graphql"))
        assert "GET /graphql" in output
        assert SECRET not in output
        assert f"X-Key: {SECRET}".lower().encode() in town.hosts[API].requests[0].lower()


async def test_containers_have_the_same_way_out(town: Town, docker: DockerProvider) -> None:
    async with town.server(docker) as server:
        for client in ("python", "deno"):
            output = await server.run(CLIENTS[client].format(url=f"https://{API}/graphql"))
            assert "GET /graphql" in output
            assert SECRET not in output
        refused = await server.run(CLIENTS["python"].format(url="http://169.254.169.254/"))
        assert "403: The sandbox is not allowed to reach 169.254.169.254" in refused
    assert [head.count(SECRET.encode()) for head in town.hosts[API].requests] == [1, 1]


async def test_what_is_inside_is_a_placeholder_wherever_one_looks(town: Town) -> None:
    async with town.server() as server:
        await server.run(CLIENTS["curl"].format(url=f"https://{API}/"))
        looks = f"""env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
            grep -rsl {SECRET[:12]} /workspace /home /tmp /etc /opt /run /var /dev/shm 2>/dev/null
            ls {town.data_dir} 2>&1"""
        output = await server.run(looks)
    assert output.count("LINEAR_API_KEY=SECRET_PLACEHOLDER_") > 1
    assert SECRET not in output
    assert "No such file" in output


async def test_the_secret_of_one_host_is_a_placeholder_to_another(town: Town) -> None:
    async with town.server() as server:
        await server.run(f'curl -sS -H "X-Key: $LINEAR_API_KEY" https://{OTHER}/ https://{PLAIN}/')
        await server.run(f'curl -sS -u "me:$SLACK_TOKEN" https://{OTHER}/')
    assert all(SECRET.encode() not in head for host in town.hosts.values() for head in host.requests)
    assert b"X-Key: SECRET_PLACEHOLDER_" in town.hosts[OTHER].requests[0]
    assert b"bWU6eG94Yi1vdGhlci1zZWNyZXQ=" in town.hosts[OTHER].requests[1]


PROBES = {
    "the metadata address": "curl -sS -m 20 http://169.254.169.254/latest/meta-data/",
    "its name in another spelling": "curl -sS -m 20 http://0xa9fea9fe/",
    "a private address": "curl -sS -m 20 http://10.0.0.1/",
    "the server itself": "curl -sS -m 20 --noproxy '' http://0.0.0.0:8400/healthz",
    "a host that nobody named": "curl -sS -m 20 http://evil.example/",
    "a name that leads home": "curl -sS -m 20 http://rebound.wild.example/",
    "another port": f"curl -sS -m 20 http://{API}:8080/",
    "another Host header": f"curl -sS -m 20 -H 'Host: evil.example' https://{API}/",
}


@pytest.mark.parametrize("what", PROBES)
async def test_what_was_not_allowed_is_refused_in_words(town: Town, what: str) -> None:
    town.world.names["rebound.wild.example"] = [["127.0.0.1"]]
    async with town.server() as server:
        told = json.loads(await server.run(PROBES[what]))
    assert told["from"] == "outlast egress"
    assert not town.world.connected or what == "another Host header"
    assert all(not host.requests for host in town.hosts.values())


async def test_there_is_no_way_past_the_proxy(town: Town) -> None:
    script = """python3 - <<'END'
import socket
for family, address in ((2, ("93.184.216.1", 443)), (2, ("169.254.169.254", 80)), (10, ("fd00:ec2::254", 80))):
    try:
        socket.socket(family, socket.SOCK_STREAM).connect(address)
        print("connected")
    except OSError as error:
        print("no way")
try:
    socket.getaddrinfo("docs.example", 443)
    print("resolved")
except OSError:
    print("no way")
END"""
    async with town.server() as server:
        assert (await server.run(script)).split("\n")[:4] == ["no way"] * 4
        assert "refused" in await server.run(
            f"curl -sS -m 20 --connect-to {PLAIN}:443:{API}:443 https://{PLAIN}/ 2>&1 || echo refused"
        )
    assert all(not host.requests for host in town.hosts.values())


async def test_a_restarted_server_goes_on_with_the_same_placeholders_and_authority(town: Town) -> None:
    ask = CLIENTS["curl"].format(url=f"https://{API}/")
    async with town.server() as server:
        first = (await server.sandbox()).sandbox_id
        await server.run(ask)
        # A request made while no server is there waits for the next one.
        await server.run(f"(sleep 1; {ask} > late.txt; touch done) > /dev/null 2>&1 &")
    async with town.server() as server:
        assert (await server.sandbox()).sandbox_id == first
        assert SECRET not in await server.run("until [ -e done ]; do sleep 0.05; done; cat late.txt")
        await server.run(ask)
    assert [head.count(SECRET.encode()) for head in town.hosts[API].requests] == [1, 1, 1]


async def test_a_secret_that_a_project_saved_opens_its_hosts_and_goes_when_it_is_deleted(town: Town) -> None:
    """The operator's settings name neither the secret nor its host."""
    town.settings = SandboxSettings(memory_mb=1024, disk_mb=64)
    ask = f'curl -sS -H "X-Key: $STRIPE_KEY" https://{OTHER}/charges 2>&1'

    def save(tx: Tx) -> str:
        owner = store.user_of(tx, town.workspace_id) or add_user(tx, "Grace", "unlimited")
        secret_id = saved.add(tx, town.project_id, "STRIPE_KEY", [OTHER], owner)
        assert secret_id is not None
        saved.put_value(tx, VAULT, secret_id, SECRET)
        return secret_id

    async with town.server() as server:
        assert "GET" not in await server.run(ask)  # no network at all
        secret_id = await town.db.write(save)
        await server.machines.kill(town.workspace_id)
        output = await server.run(f"echo $STRIPE_KEY; {ask}")
        assert "SECRET_PLACEHOLDER_" in output
        assert "GET /charges" in output
        assert SECRET not in output
        assert town.hosts[OTHER].requests[0].count(SECRET.encode()) == 1
        await town.db.write(saved.remove, secret_id)
        assert "STRIPE_KEY" in await server.run(ask)
        assert len(town.hosts[OTHER].requests) == 1


class Ana:
    """The accounts of a person who is connected, and whose token is renewed meanwhile."""

    def __init__(self) -> None:
        client = ConnectionClient("outlast", kind="github", hosts=(OTHER,))
        self.oauth = OAuth(frozenset(), [client], lambda _name: None)
        self.access = SECRET

    async def use(self, account: Account, work: Callable[[str], Awaitable[str]]) -> str:
        if not self.access:
            raise ConnectionNeeded("not connected")
        return await work(self.access)


async def test_the_token_of_an_account_is_put_into_requests_of_runs_of_agents_that_name_it(town: Town) -> None:
    """A placeholder inside; the value is looked up at each request, and the log of uses has a line."""
    ana: Any = Ana()
    town.settings = SandboxSettings(memory_mb=1024, disk_mb=64)
    ask = f'curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" https://{OTHER}/user 2>&1'
    agents = {"dev": Agent("dev", connections=["github"]), "chat": Agent("chat")}
    await town.db.write(accounts.put_services, ana.oauth.services.values())

    def work(tx: Tx, profile: str) -> None:
        owner = tx.execute(sa.select(users.c.id).limit(1)).scalar_one()
        if not tx.execute(sa.update(runs).values(profile=profile)).rowcount:
            actor = Actor(owner, "Ada", "token")
            make_run(
                tx, make_thread(tx, town.project_id, actor), actor, profile=profile, workspace_id=town.workspace_id
            )

    async with town.server() as server:
        server.keeper.more = AccountSecrets(town.db, ana, agents)
        await town.db.write(work, "dev")
        output = await server.run(f"echo $GITHUB_TOKEN; {ask}")
        assert "SECRET_PLACEHOLDER_" in output
        assert "GET /user" in output
        assert SECRET not in output
        ana.access = "gho_renewed0123456789"
        await server.run(ask)
        sent = [head.count(token) for head in town.hosts[OTHER].requests for token in (SECRET.encode(), b"gho_renewed")]
        assert sent == [1, 0, 0, 1]
        for access, profile in (("", "dev"), (SECRET, "chat")):
            ana.access = access
            await town.db.write(work, profile)
            assert "GITHUB_TOKEN" in await server.run(ask)
        assert len(town.hosts[OTHER].requests) == 2
        await server.keeper.uses.flush()
    uses = await town.db.read(store.uses_of, town.project_id, 10, None, None, "GITHUB_TOKEN", "")
    assert [(use.host, use.path) for use in uses][-2:] == [(OTHER, "/user")] * 2


async def test_a_sandbox_that_outlives_its_settings_is_told_what_no_longer_is_allowed(town: Town) -> None:
    async with town.server() as server:
        assert "GET /before" in await server.run(CLIENTS["curl"].format(url=f"https://{API}/before"))
    town.settings = SandboxSettings(memory_mb=1024, disk_mb=64)
    async with town.server() as server:
        assert "host_refused" in await server.run("curl -sS -m 20 http://docs.example/")
        assert "403" in await server.run(CLIENTS["curl"].format(url=f"https://{API}/after") + " 2>&1")
        await server.machines.kill(town.workspace_id)
        assert Authorities(town.data_dir / "egress").kept() == []


async def test_a_stopped_sandbox_comes_back_with_the_same_way_out(town: Town) -> None:
    async with town.server() as server:
        before = await server.run("echo $LINEAR_API_KEY; cat $SSL_CERT_FILE | tail -5")
        await server.machines.stop(town.workspace_id)
        assert server.keeper.statistics() == {}
        assert await server.run("echo $LINEAR_API_KEY; cat $SSL_CERT_FILE | tail -5") == before
        assert "GET /again" in await server.run(CLIENTS["curl"].format(url=f"https://{API}/again"))


async def test_a_request_under_way_outlasts_a_sleep(town: Town) -> None:
    gate, asked = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await gate.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nawake")
        await writer.drain()

    async with listening(serve, town.trust.server(API)) as door, town.server() as server:
        town.world.put(API, 443, door, "93.184.216.1")
        await server.run(f"(curl -sS https://{API}/ > answer.txt; touch done) > /dev/null 2>&1 &")
        with anyio.fail_after(60):
            await asked.wait()
        await server.machines.freeze(town.workspace_id)
        gate.set()
        output = await server.run("until [ -e done ]; do sleep 0.05; done; cat answer.txt")
        assert output == "awake"


async def test_when_a_sandbox_ends_its_authority_and_listener_are_gone(town: Town) -> None:
    async with town.server() as server:
        await server.run("true")
        sandbox_id = (await server.sandbox()).sandbox_id
        kept = town.data_dir / "egress" / f"{sandbox_id}.authority.pem"
        assert kept.stat().st_mode & 0o777 == 0o600
        assert kept.parent.stat().st_mode & 0o777 == 0o700
        assert list(server.keeper.statistics()) == [sandbox_id]
        await server.machines.kill(town.workspace_id)
        assert not kept.exists()
        with anyio.fail_after(30):
            while server.keeper.statistics():
                await anyio.lowlevel.checkpoint()


async def test_authorities_of_sandboxes_that_ended_without_a_server_are_forgotten_at_the_next_start(
    town: Town, local: LocalProvider
) -> None:
    async with town.server() as server:
        box = await server.sandbox()
    await (await local.connect(box.sandbox_id, box.ref)).kill()
    row = await town.db.read(rows.newest, town.workspace_id)
    assert row is not None
    await town.db.write(rows.change, row.id, State.LOST)
    async with town.server():
        assert not list((town.data_dir / "egress").glob("*.authority.pem"))


async def test_each_use_of_a_secret_is_logged_and_its_value_is_nowhere(town: Town) -> None:
    async with town.server() as server:
        await server.run(f'curl -sS -H "X-Key: $LINEAR_API_KEY" "https://{API}/graphql?q=private"')
        await server.run(f"curl -sS https://{API}/without")
        sandbox_id = (await server.sandbox()).sandbox_id
    (use,) = await town.db.read(store.uses_of, town.project_id, 10, None, None, None, "")
    assert (use.secret, use.host, use.method, use.path, use.status) == ("LINEAR_API_KEY", API, "GET", "/graphql", 200)
    assert (use.sandbox_id, use.project_id) == (sandbox_id, town.project_id)
    kept = [path for path in [*town.data_dir.rglob("*"), *town.data_dir.parent.glob("*.db*")] if path.is_file()]
    assert kept
    assert all(SECRET.encode() not in path.read_bytes() for path in kept)


async def test_the_servers_own_loopback_is_reached_where_an_exception_names_it(town: Town) -> None:
    """`127.0.0.1` inside means the sandbox's own, but for the port that the operator excepted."""
    host = Host()
    async with listening(host.serve) as door:
        dependency = DependencySettings(
            "npm:a", secret_env="LINEAR_API_KEY", hosts=("127.0.0.1",), allow_private=(f"127.0.0.1:{door}",)
        )
        town.settings = SandboxSettings(memory_mb=1024, disk_mb=64, dependencies=(dependency,))
        town.world.doors["127.0.0.1", door] = door
        async with town.server() as server:
            for client in CLIENTS.values():
                assert SECRET not in await server.run(client.format(url=f"http://127.0.0.1:{door}/"))
            assert [head.count(SECRET.encode()) for head in host.requests] == [1, 1, 1]
            script = """python3 -m http.server 3000 > /dev/null 2>&1 &
                echo mine > mine.txt
                for name in localhost 127.0.0.1; do
                    curl -sS --retry 50 --retry-all-errors --retry-delay 0 -f http://$name:3000/mine.txt
                done; kill $!"""
            assert (await server.run(script)).split().count("mine") == 2


async def test_without_anything_to_reach_there_is_no_way_out_at_all(town: Town) -> None:
    town.settings = SandboxSettings(memory_mb=512, disk_mb=64)
    async with town.server() as server:
        tried = "(exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null && echo open || echo closed"
        output = await server.run(f"env | grep -ci -e proxy -e cert; {tried}")
        assert output.split() == ["0", "closed"]


async def test_a_server_started_with_a_secret_in_its_environment_gives_it_to_the_host_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole server as an operator configures it, its own resolver and sockets, a host on its own machine."""
    monkeypatch.setenv("KEY_OF_THE_OPERATOR", SECRET)
    host = Host()
    async with listening(host.serve) as door:
        dependency = DependencySettings(secret_env="KEY_OF_THE_OPERATOR", allow_private=(f"127.0.0.1:{door}",))
        settings = Settings(
            server=ServerSettings(data_dir=str(tmp_path / "data")),
            sandbox=SandboxSettings(memory_mb=512, disk_mb=64, dependencies=(dependency,)),
        )
        async with open_program(settings) as program, anyio.create_task_group() as tasks:
            assert program.services.sandboxes.egress is not None
            assert program.services.sandboxes.manager is not None
            await tasks.start(program.services.sandboxes.egress.run)
            project_id, workspace_id = await program.services.db.write(_fill)
            box = await program.services.sandboxes.manager.ensure(workspace_id, project_id)
            script = f'curl -sS -H "X-Key: $KEY_OF_THE_OPERATOR" http://127.0.0.1:{door}/; env'
            output = (await box.run(Command("eff_1", 1, script))).output
            await program.services.sandboxes.manager.kill(workspace_id)
            tasks.cancel_scope.cancel()
    assert SECRET.encode() in host.requests[0]
    assert "SECRET_PLACEHOLDER_" in output
    assert SECRET not in output
