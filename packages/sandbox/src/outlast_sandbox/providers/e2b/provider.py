"""Creates sandboxes at E2B, and finds them again."""

import time
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.lowlevel
from e2b import AsyncSandbox

from outlast_sandbox.errors import SandboxError, SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import Capabilities, ProbeReport, SandboxSpec
from outlast_sandbox.providers.hosted.startup import RUNNING, new_nonce, start_command
from outlast_sandbox.providers.local.connection import lost
from outlast_sandbox.providers.setup import ProviderSetup, read_options
from outlast_sandbox.providers.unsupported import ProviderDefaults

from .sandbox import E2bSandbox, find_agent
from .service import Service, shell

OWNER: Final = "outlast_server"
SANDBOX: Final = "outlast_sandbox"
FENCE: Final = "outlast_fence"
CLEAN_UP_TIMEOUT_S: Final = 60.0
CAPABILITIES: Final = Capabilities(pause=True, preview=True, reattach=True, interactive=True, shared=True)


@dataclass(frozen=True, slots=True)
class E2bOptions:
    """`template`: has Python 3.9 or newer and bash, as E2B's own templates do ("" for the default one); `api_key_env`
    names the variable that holds the key; `domain`, `api_url`, `sandbox_url` select another service; `timeout_s`: idle
    time after which the service pauses it; `internet`: True if the sandbox may reach the internet."""

    template: str = ""
    api_key_env: str = "E2B_API_KEY"
    domain: str = ""
    api_url: str = ""
    sandbox_url: str = ""
    timeout_s: int = 3600
    internet: bool = False


def open_provider(setup: ProviderSetup) -> "E2bProvider":
    return E2bProvider(setup, read_options(E2bOptions, setup.options, "e2b"))


class E2bProvider(ProviderDefaults):
    """See `SandboxProvider`. Nothing is stored here: the service finds our sandboxes by their metadata. They belong to
    the deployment, so that each of its servers finds those of the others; older versions named the server."""

    def __init__(self, setup: ProviderSetup, options: E2bOptions) -> None:
        self._setup = setup
        self._options = options
        self._nonce = new_nonce(setup.owner)
        self._owners = tuple(dict.fromkeys(filter(None, (setup.deployment, setup.owner))))
        self._host = options.domain or options.api_url or "e2b"

    @property
    def name(self) -> str:
        return "e2b"

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    async def probe(self) -> ProbeReport:
        """Sends a request to the service, but creates no sandbox: that would cost money every few minutes."""
        started = time.monotonic()
        try:
            sandboxes = await self.list_refs()
        except SandboxError as error:
            return ProbeReport(False, "none", (error.message,), (error.hint,) if error.hint else ())
        milliseconds = (time.monotonic() - started) * 1000
        details = (
            f"E2B answered in {milliseconds:.0f} ms and has {len(sandboxes)} sandboxes of this deployment",
            "sandboxes run on the service's machines; files are copied there and back",
        )
        return ProbeReport(True, "hosted virtual machine", details)

    async def create(self, spec: SandboxSpec) -> E2bSandbox:
        service, options = self._service(), self._options
        metadata = {OWNER: self._owners[0], SANDBOX: spec.sandbox_id, FENCE: str(spec.fence)}
        with anyio.CancelScope(shield=True):  # an interrupted request may still be carried out
            sandbox = await service.create(options.template, metadata, options.internet)
        try:
            await anyio.lowlevel.checkpoint()
            await _start_agent(sandbox, spec, self._nonce)
        except BaseException:
            with anyio.move_on_after(CLEAN_UP_TIMEOUT_S, shield=True):
                await service.kill(sandbox.sandbox_id)
            raise
        made = E2bSandbox(service, spec.sandbox_id, sandbox.sandbox_id, self._nonce, sandbox)
        return self._placed(made, spec.fence)

    async def connect(self, sandbox_id: str, ref: str) -> E2bSandbox:
        service = self._service()
        asleep, metadata = await service.look(ref)
        if metadata.get(SANDBOX) != sandbox_id or metadata.get(OWNER) not in self._owners:
            raise lost(sandbox_id)
        sandbox = None if asleep else await find_agent(service, sandbox_id, ref, self._nonce)
        return self._placed(
            E2bSandbox(service, sandbox_id, ref, self._nonce, sandbox), _number(metadata.get(FENCE, ""))
        )

    async def list_refs(self) -> list[tuple[str, str]]:
        service = self._service()
        found = [one for owner in self._owners for one in await service.list({OWNER: owner})]
        return sorted((metadata.get(SANDBOX, ""), ref) for ref, metadata in found)

    def _placed(self, sandbox: E2bSandbox, fence: int) -> E2bSandbox:
        sandbox.placed = fence, self._host
        return sandbox

    def _service(self) -> Service:
        options = self._options
        key = self._setup.secret(options.api_key_env)
        if not key:
            raise SandboxUnavailable(
                f"{options.api_key_env} is not set: E2B requires a key.", hint=f"export {options.api_key_env}=..."
            )
        elsewhere = {"domain": options.domain, "api_url": options.api_url, "sandbox_url": options.sandbox_url}
        address = {name: value for name, value in elsewhere.items() if value}
        return Service({"api_key": key, **address}, options.timeout_s)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


async def _start_agent(sandbox: AsyncSandbox, spec: SandboxSpec, nonce: str) -> None:
    try:
        output = await shell(sandbox, start_command(spec, nonce))
    except SandboxLost as error:
        raise SandboxUnavailable("The sandbox ended during its start.", sandbox_id=spec.sandbox_id) from error
    if output.split("\n")[-1] != RUNNING:
        raise SandboxUnavailable(
            f"Outlast's agent did not start in the sandbox: {output[-1000:] or 'no message'}",
            hint="The template needs Python 3.9 or newer and bash; name one in sandbox.options.template.",
            sandbox_id=spec.sandbox_id,
        )
