"""Providers and sandboxes for the behaviour suite: `sandbox` and `provider` are each provider in turn.

A test marked `needs("pause")` is skipped, with that as its reason, for a provider that declares the capability
missing; `test_capabilities.py` checks that such a provider refuses clearly.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from outlast_sandbox.interface import Limits, Sandbox, SandboxProvider, SandboxSpec
from outlast_sandbox.providers.deno.provider import DenoProvider
from outlast_sandbox.providers.deno.provider import open_provider as open_deno
from outlast_sandbox.providers.docker.provider import DockerProvider
from outlast_sandbox.providers.docker.provider import open_provider as open_docker
from outlast_sandbox.providers.e2b.provider import E2bProvider
from outlast_sandbox.providers.e2b.provider import open_provider as open_e2b
from outlast_sandbox.providers.hosts.provider import HostsProvider
from outlast_sandbox.providers.local.cgroups import find_layout
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox, State
from outlast_sandbox.providers.memory import MemoryProvider
from outlast_sandbox.providers.setup import ProviderSetup
from tests.sandbox.deno_service import TOKEN, DenoService, serving_deno
from tests.sandbox.e2b_service import E2bService, serving_e2b
from tests.sandbox.engine_gate import Certificates, EngineGate, make_certificates
from tests.sandbox.podman import IMAGE, Podman, running_podman

LIMITS = Limits(memory_bytes=512 * 1024**2, processes=128, disk_bytes=64 * 1024**2)
MINE = f"sbx_test{os.getpid()}n"  # other test runs on this machine have theirs
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the base layer is made, once for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def local(tmp_path: Path, cache_dir: Path) -> AsyncIterator[LocalProvider]:
    """The real provider; whatever a test leaves alive is killed."""
    provider = LocalProvider(tmp_path / "state", cache_dir)
    yield provider
    for sandbox_id, ref in await provider.list_refs():
        await (await provider.connect(sandbox_id, ref)).kill()


@pytest.fixture
async def memory() -> AsyncIterator[MemoryProvider]:
    async with MemoryProvider() as provider:
        yield provider


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """The container engine, with an image; started for the first test that needs it. Its folder has a short name:
    Podman takes no path above 50 characters."""
    with tempfile.TemporaryDirectory(prefix="pod") as folder, running_podman(Path(folder)) as podman:
        yield podman


@pytest.fixture
async def docker(tmp_path: Path, cache_dir: Path, podman: Podman) -> AsyncIterator[DockerProvider]:
    """Containers in a real Podman, through Docker's API; whatever a test leaves alive is killed."""
    options = {"image": IMAGE, "socket": str(podman.socket)}
    owner = f"node_{os.getpid()}_{next(_numbers)}"
    setup = ProviderSetup(state_dir=tmp_path / "containers", cache_dir=cache_dir, owner=owner, options=options)
    provider = open_docker(setup)
    assert isinstance(provider, DockerProvider)
    yield provider
    for sandbox_id, ref in await provider.list_refs():
        await (await provider.connect(sandbox_id, ref)).kill()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def gate(podman: Podman, certificates: Certificates) -> Iterator[EngineGate]:
    """The engine as a host elsewhere has it: on a port, over TLS, for those with a certificate."""
    with EngineGate(podman.socket, certificates) as gate:
        yield gate


@pytest.fixture
async def hosts(tmp_path: Path, cache_dir: Path, gate: EngineGate) -> AsyncIterator[HostsProvider]:
    """Containers on one host, over TLS; whatever a test leaves alive is killed."""
    owner = f"cluster_{os.getpid()}_{next(_numbers)}"
    setup = ProviderSetup(
        state_dir=tmp_path / "hosts",
        cache_dir=cache_dir,
        owner=owner,
        options={"image": IMAGE},
        hosts=[gate.host("one")],
    )
    provider = open_docker(setup)
    assert isinstance(provider, HostsProvider)
    yield provider
    gate.open()
    for sandbox_id, ref in await provider.list_refs():
        await (await provider.connect(sandbox_id, ref)).kill()


@pytest.fixture(scope="session")
def e2b_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[E2bService]:
    """Started for the first test that needs it."""
    with serving_e2b(tmp_path_factory.mktemp("e2b")) as service:
        yield service


@pytest.fixture
async def e2b(tmp_path: Path, e2b_service: E2bService) -> AsyncIterator[E2bProvider]:
    """The official SDK against our own server; whatever a test leaves alive is killed."""
    owner = f"node_{os.getpid()}_{next(_numbers)}"
    setup = ProviderSetup(
        state_dir=tmp_path / "e2b",
        cache_dir=tmp_path,
        owner=owner,
        options=e2b_service.options,
        secret={"E2B_API_KEY": e2b_service.key}.get,
    )
    provider = open_e2b(setup)
    yield provider
    for sandbox_id, ref in await provider.list_refs():
        await (await provider.connect(sandbox_id, ref)).kill()


@pytest.fixture
async def deno_service(tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DenoService]:
    """A server of ours that speaks Deno's wire protocol, where the SDK looks for Deno's."""
    machines = LocalProvider(tmp_path / "machines", cache_dir)
    async with serving_deno(machines, tmp_path / "remote", f"{MINE}{next(_numbers)}") as service:
        monkeypatch.setenv("DENO_SANDBOX_ENDPOINT", service.url)
        monkeypatch.setenv("DENO_DEPLOY_ENDPOINT", service.url)
        yield service


@pytest.fixture
async def deno(tmp_path: Path, deno_service: DenoService) -> DenoProvider:
    """The official SDK against a server of ours; whatever a test leaves alive is killed with that."""
    assert deno_service.url
    setup = ProviderSetup(
        state_dir=tmp_path / "deno", cache_dir=tmp_path, owner="node_1", secret={"DENO_DEPLOY_TOKEN": TOKEN}.get
    )
    return open_deno(setup)


REAL = ("local", "docker", "hosts", "e2b", "deno")


@pytest.fixture(params=["memory", *(pytest.param(name, marks=pytest.mark.sandbox) for name in REAL)])
def provider(request: pytest.FixtureRequest) -> SandboxProvider:
    """Each provider in turn."""
    made: SandboxProvider = request.getfixturevalue(request.param)
    for marker in request.node.iter_markers("needs"):
        for capability in marker.args:
            if not getattr(made.capabilities, capability):
                pytest.skip(f"{request.param} declares the capability {capability} missing")
    return made


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    """What to make in this test; one workspace, a new id for each test."""
    return SandboxSpec(f"{MINE}{next(_numbers)}", tmp_path / "workspace", LIMITS, {"GREETING": "hello"})


@pytest.fixture
async def sandbox(provider: SandboxProvider, spec: SandboxSpec) -> Sandbox:
    return await provider.create(spec)


@pytest.fixture
async def box(local: LocalProvider, spec: SandboxSpec) -> LocalSandbox:
    """A real sandbox, for what only a real one can show."""
    return await local.create(spec)


def state_of(provider: LocalProvider, sandbox_id: str) -> State:
    """What the shim of a real sandbox wrote about itself."""
    state = State.read(provider.state_dir / sandbox_id)
    assert state is not None
    return state


def group_folders() -> set[Path]:
    """The control groups of this test run's sandboxes that exist now."""
    return {path for hierarchy in find_layout().hierarchies for path in hierarchy.parent.glob(f"outlast-{MINE}*")}
