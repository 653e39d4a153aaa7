"""Creates sandboxes at Deno, and finds them again."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import anyio.lowlevel

from outlast_sandbox.errors import SandboxError, SandboxUnavailable
from outlast_sandbox.interface import Capabilities, ProbeReport, SandboxSpec
from outlast_sandbox.providers.hosted.startup import RUNNING, find_command, new_nonce, start_command
from outlast_sandbox.providers.local.connection import lost
from outlast_sandbox.providers.setup import ProviderSetup, read_options
from outlast_sandbox.providers.unsupported import ProviderDefaults

from .sandbox import DenoSandbox
from .service import Machine, Service

CLEAN_UP_TIMEOUT_S: Final = 60.0
MIN_MEMORY_MB: Final = 768
MAX_MEMORY_MB: Final = 4096
LABEL: Final = "outlast"
CAPABILITIES: Final = Capabilities(reattach=True, secrets=True)


@dataclass(frozen=True, slots=True)
class DenoOptions:
    """`root`: a volume or snapshot to boot from that has Python 3.9 or newer and bash ("" for Deno's own image);
    `token_env` names the variable that holds the token; `internet`: True if the sandbox may reach the internet."""

    root: str = ""
    token_env: str = "DENO_DEPLOY_TOKEN"
    internet: bool = False


def open_provider(setup: ProviderSetup) -> "DenoProvider":
    return DenoProvider(setup, read_options(DenoOptions, setup.options, "deno"))


class DenoProvider(ProviderDefaults):
    """See `SandboxProvider`. `state_dir` holds one small file per sandbox, its name the sandbox's id, with Deno's id in
    it: Deno's list does not name the owner of a sandbox. A sandbox without a file, created just before a server died,
    ends by itself after half an hour."""

    def __init__(self, setup: ProviderSetup, options: DenoOptions) -> None:
        self._setup = setup
        self._options = options
        self._nonce = new_nonce(setup.owner)
        self._records = setup.state_dir.absolute()
        self._opened: Service | None = None

    @property
    def name(self) -> str:
        return "deno"

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    async def probe(self) -> ProbeReport:
        """Sends a request to the service, but creates no sandbox: that would cost money every few minutes."""
        started = time.monotonic()
        try:
            await self._service().running()
        except SandboxError as error:
            return ProbeReport(False, "none", (error.message,), (error.hint,) if error.hint else ())
        milliseconds = (time.monotonic() - started) * 1000
        details = (
            f"Deno answered in {milliseconds:.0f} ms",
            "sandboxes run on the service's machines; files are copied there and back",
        )
        return ProbeReport(True, "hosted virtual machine", details)

    async def create(self, spec: SandboxSpec) -> DenoSandbox:
        service = self._service()
        with anyio.CancelScope(shield=True):  # an interrupted request may still be carried out
            machine = await service.create(**self._config(spec))
            self._remember(spec.sandbox_id, machine.ref)
        try:
            await anyio.lowlevel.checkpoint()
            await _start_agent(machine, spec, self._nonce)
        except BaseException:
            with anyio.move_on_after(CLEAN_UP_TIMEOUT_S, shield=True):
                await machine.aclose()
                await service.kill(machine.ref)
                self._record(spec.sandbox_id).unlink(missing_ok=True)
            raise
        return DenoSandbox(service, spec.sandbox_id, machine, self._nonce, self._record(spec.sandbox_id))

    async def connect(self, sandbox_id: str, ref: str) -> DenoSandbox:
        if self._remembered(sandbox_id) != ref:
            raise lost(sandbox_id)
        service = self._service()
        machine = await service.connect(ref)
        if await machine.shell(find_command(self._nonce)) != RUNNING:
            await machine.aclose()
            await service.kill(ref)
            self._record(sandbox_id).unlink(missing_ok=True)
            raise lost(sandbox_id)
        return DenoSandbox(service, sandbox_id, machine, self._nonce, self._record(sandbox_id))

    async def list_refs(self) -> list[tuple[str, str]]:
        names = sorted(path.name for path in self._records.iterdir()) if self._records.is_dir() else []
        if not names:
            return []
        running = await self._service().running()
        refs = []
        for name in names:
            ref = self._remembered(name)
            if ref in running:
                refs.append((name, ref))
            else:
                self._record(name).unlink(missing_ok=True)
        return refs

    def _config(self, spec: SandboxSpec) -> dict[str, object]:
        memory = spec.limits.memory_bytes // 1024**2
        config: dict[str, object] = {
            "memory_mb": min(max(memory, MIN_MEMORY_MB), MAX_MEMORY_MB),
            "labels": {LABEL: self._setup.owner},
        }
        if self._setup.region:
            config["region"] = self._setup.region
        if self._options.root:
            config["root"] = self._options.root
        if not self._options.internet:
            config["allow_net"] = list(spec.allow_hosts)
        if spec.secrets:
            config["secrets"] = {
                name: {"hosts": list(secret.hosts), "value": secret.value} for name, secret in spec.secrets.items()
            }
        return config

    def _service(self) -> Service:
        if self._opened is None:
            token = self._setup.secret(self._options.token_env)
            if not token:
                raise SandboxUnavailable(
                    f"{self._options.token_env} is not set: Deno requires a token.",
                    hint=f"export {self._options.token_env}=...",
                )
            self._opened = Service(token)
        return self._opened

    def _record(self, sandbox_id: str) -> Path:
        return self._records / sandbox_id

    def _remember(self, sandbox_id: str, ref: str) -> None:
        self._records.mkdir(parents=True, exist_ok=True)
        self._record(sandbox_id).write_text(ref)

    def _remembered(self, sandbox_id: str) -> str:
        try:
            return self._record(sandbox_id).read_text()
        except OSError:
            return ""


async def _start_agent(machine: Machine, spec: SandboxSpec, nonce: str) -> None:
    output = await machine.shell(start_command(spec, nonce))
    if output.split("\n")[-1] != RUNNING:
        raise SandboxUnavailable(
            f"Outlast's agent did not start in the sandbox: {output[-1000:] or 'no message'}",
            hint="The sandbox needs Python 3.9 or newer and bash; name a snapshot that has them in"
            " sandbox.options.root.",
            sandbox_id=spec.sandbox_id,
        )
