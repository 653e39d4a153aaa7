"""The interface of sandbox providers, and the types that it uses.

Errors: `SandboxLost` (it is gone; create a new one over the same workspace), `SandboxUnavailable` (none can be created
now), `FenceLost` (a newer attempt owns the effect), `Conflict` (the effect was acknowledged), `NotFound`,
`PathRefused`, `DiskFull`.
"""

import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from outlast_sandbox.interactive import Files, Processes

OnOutput = Callable[[str], Awaitable[None] | None]
Language = Literal["typescript", "python"]
KilledReason = str
"""`memory`, `processes`, `disk`, `cancelled`, or the reason given to `kill_command`."""

DEFAULT_OUTPUT_LIMIT_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The optional features of a provider. Callers check them instead of guessing.

    `pause`: freeze and thaw; `snapshot`: start from a snapshot of `build_snapshot`; `volume`: the workspace is a folder
    on this machine; `preview`: `dial` reaches a port inside; `reattach`: commands survive the server; `interactive`:
    `processes` and `files`; `egress`: the network inside ends at `egress_listener`; `secrets`: the provider itself puts
    secrets into requests; `shared`: every server of a deployment reaches every sandbox, so that one continues what
    another began (never together with `volume`).
    """

    pause: bool = False
    snapshot: bool = False
    volume: bool = False
    preview: bool = False
    reattach: bool = False
    interactive: bool = False
    egress: bool = False
    secrets: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The result of a trial on this machine. `isolation` is `none` if sandboxes must be refused; then `fixes` lists the
    steps for the operator, each a sentence or a command; `details` are remarks, such as limits that are not
    enforced."""

    ok: bool
    isolation: str
    details: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one sandbox: memory of all its processes, CPU share, processes and threads, disk usage of the workspace
    and of each temporary folder, output kept per command."""

    memory_bytes: int = 2 * 1024**3
    cpu_count: float = 2.0
    processes: int = 512
    disk_bytes: int = 2 * 1024**3
    output_bytes: int = 1_000_000


@dataclass(frozen=True, slots=True)
class WireSecret:
    """A secret for a provider that injects it into requests itself, to these hosts only. Never printed."""

    hosts: tuple[str, ...]
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Orphan:
    """The policy for a sandbox whose server does not come back: frozen, then ended, each this many seconds after the
    server was last seen. Its files stay. A provider that cannot detect this keeps it."""

    freeze_after_s: float = 900.0
    end_after_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The sandbox to create. `id` is its permanent name. `workspace_dir` is mounted at /workspace (created if missing).
    `env` is added to the environment of all processes inside. `snapshot_ref` is a ref from `build_snapshot` ("" for the
    bare base). `authority_pem` is a certificate authority that everything inside trusts besides the usual ones.
    `egress`: True opens a listener for network access inside (otherwise there is no network). `home_is_workspace`: True
    makes the home folder the workspace too, visible under both names. For providers with the capability `secrets` only:
    `allow_hosts` are the only hosts that may be reached, `secrets` by the name of their variable. `layers` are folders
    of the workspace that come from the snapshot's project, if it has one, each under a writable layer that ends with
    the sandbox; for a provider without layers, they are ordinary folders. File lists omit the contents of layers.
    `fence` numbers the starts in the workspace, from 1; a provider with the capability `shared` keeps it with the
    sandbox. For a provider with hosts, `workspace_id` and `fence` are written on the sandbox, so that an older one of
    the same workspace can be recognized and ended (`kill_older`); `host_labels` are labels that its host must carry,
    and `host`, if given, is the only one it may be on."""

    sandbox_id: str
    workspace_dir: Path
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=dict)
    snapshot_ref: str = ""
    authority_pem: str = ""
    egress: bool = False
    home_is_workspace: bool = False
    allow_hosts: tuple[str, ...] = ()
    secrets: Mapping[str, WireSecret] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    orphan: Orphan = field(default_factory=Orphan)
    workspace_id: str = ""
    fence: int = 0
    host_labels: tuple[str, ...] = ()
    host: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """The project installed in the workspace's own folder. `commands` run with its `files` and `env`; afterwards,
    `layers` are kept. `template` is the name of its app template."""

    template: str
    files: Mapping[str, bytes]
    commands: tuple[str, ...]
    layers: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SnapshotRecipe:
    """The recipe of a snapshot. `name` is the hash of everything else; `dependencies` are sorted, each with its version
    (`npm:NAME@VERSION`, `pypi:NAME==VERSION`); `commands` run after they are installed; `files` are in the home folder,
    by relative path; `project` comes last."""

    name: str
    dependencies: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class BuiltSnapshot:
    """A snapshot ready to start from: `ref` identifies it for the provider, `size_bytes` is its size on disk."""

    ref: str
    size_bytes: int


Progress = Callable[[str, str], None]
"""Called with (step, output of the step so far) during a long operation."""


@dataclass(frozen=True, slots=True)
class Command:
    """A shell script to run. `cwd` is relative to the workspace; `timeout_s` counts from its start, without frozen
    time; with `attach_only` it is not started (`NotFound`) if the sandbox does not know the effect."""

    effect_id: str
    attempt: int
    script: str
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = 120.0
    output_limit_bytes: int = DEFAULT_OUTPUT_LIMIT_BYTES
    attach_only: bool = False


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command. `output` is stdout and stderr in the order received, cut in the middle with a notice if
    it exceeds the limit, equal to the text that `on_output` received. A signal counts as exit code 128 + its number."""

    exit_code: int
    output: str
    timed_out: bool
    truncated: bool
    duration_s: float
    killed_reason: KilledReason | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Code for the language's session, whose variables persist between calls."""

    effect_id: str
    attempt: int
    language: Language
    code: str
    timeout_s: float = 60.0
    output_limit_bytes: int = DEFAULT_OUTPUT_LIMIT_BYTES
    attach_only: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """`result` is the last expression's value as JSON, or its text if it is not JSON; `result_text` is always its
    representation in the language ("" for no value). On failure `error` is the reason and `result` is None."""

    success: bool
    result: Any
    error: str | None
    stdout: str
    result_text: str = ""
    truncated: bool = False
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file or folder: path relative to the workspace, size in bytes (0 for folders), `mtime` in seconds since
    1970."""

    path: str
    size: int
    is_dir: bool
    mtime: float


@dataclass(frozen=True, slots=True)
class SandboxStatistics:
    """The current usage of a sandbox: resident memory, processes and threads, CPU seconds since its start."""

    memory_bytes: int
    processes: int
    cpu_s: float


class Sandbox(Protocol):
    """A handle on one living sandbox. Calls may run concurrently. Calls to a frozen sandbox wait until it is thawed.

    A cancelled call leaves its process running: cancelling `run` or `evaluate` only detaches; call `kill_command` to
    end the command. Every call raises `SandboxLost` if the sandbox is gone.
    """

    @property
    def sandbox_id(self) -> str: ...
    @property
    def ref(self) -> str:
        """The provider's reference to it, for `connect`."""

    @property
    def fence(self) -> int:
        """The number that it was started with (`SandboxSpec.fence`); 0 if the provider does not keep it."""

    @property
    def host(self) -> str:
        """The name of the machine or service that it runs on; "" for this machine."""

    async def run(self, command: Command, on_output: OnOutput | None = None) -> CommandResult:
        """Run a command to its end; `on_output` receives the text as it comes.

        A call with the same effect id and the same or a newer attempt attaches to the running command or returns the
        stored result; all output so far is delivered again from the start. An older attempt raises `FenceLost`, also a
        waiting call that is superseded. Idempotent until `acknowledge`, then `Conflict`.
        """

    async def evaluate(self, evaluation: Evaluation, on_output: OnOutput | None = None) -> EvaluationResult:
        """Run code in the language's session, one evaluation at a time per language; attaches as `run` does.

        At the time limit the session is ended and its variables are lost, `error` says so, and the next call starts a
        new one.
        """

    async def acknowledge(self, effect_id: str) -> None:
        """Confirm that the result is recorded: the sandbox may forget it. Unknown ids are ignored; a running effect is
        left unchanged."""

    async def kill_command(self, effect_id: str, reason: str = "cancelled") -> None:
        """End a command with all its descendants, or an evaluation with its session. Its `run` returns as usual, with
        `killed_reason`. Unknown and ended ids are ignored."""

    async def end_sessions(self) -> int:
        """End the idle sessions of the languages with their variables; return how many. Processes of commands and
        services stay. The next `evaluate` starts a new session. Idempotent."""

    async def write_files(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Write files by relative path, each atomically; parent folders are created. All paths are checked before the
        first write. Raises `PathRefused`, `DiskFull`. Idempotent."""

    async def read_file(self, path: str, max_bytes: int) -> bytes:
        """The first `max_bytes` of a file, at most 64 MiB. Raises `NotFound`, `PathRefused`."""

    async def list_files(self, prefix: str = "", limit: int = 1000) -> list[FileEntry]:
        """Files and folders below `prefix`, folders before their contents, by name, at most `limit`."""

    async def freeze(self) -> None:
        """Freeze all processes, in under 3 ms; memory stays. Idempotent."""

    async def thaw(self) -> None:
        """Resume all processes; frozen time does not count against time limits. Idempotent."""

    async def kill(self) -> None:
        """End the sandbox with all its processes; the workspace folder stays. Idempotent; returns when no process is
        left."""

    async def statistics(self) -> SandboxStatistics | None:
        """Its current usage. Never waits for a thaw: None if it sleeps and cannot be measured asleep."""

    async def ping(self) -> None:
        """Return once the sandbox has answered. Raises `SandboxLost` if it does not within 15 s; it cannot recover
        then. Do not call it while the sandbox is frozen."""

    async def log(self) -> str:
        """The end of the provider's log about it since its start, at most 64 KiB; "" if there were no problems."""

    def disk_folders(self) -> Sequence[Path]:
        """Folders on this machine, besides the workspace, that only this sandbox fills; empty if it runs elsewhere."""

    def process_ids(self) -> list[int]:
        """Its process ids on this machine; empty if they are not visible here."""

    def ends_with(self, error: Exception) -> None:
        """Announce that it is about to be ended: calls in progress raise `error` instead of a plain `SandboxLost`."""

    async def dial(self, port: int) -> socket.socket:
        """A connected stream socket to 127.0.0.1:`port` inside, non-blocking. Raises `NotFound` (code `not_found`) if
        nothing listens there, `SandboxUnavailable` without the capability `preview`."""

    async def egress_listener(self) -> socket.socket:
        """The listening socket that is the sandbox's only network access (the proxy of everything inside),
        non-blocking. Later calls, also from another server process, return the same listener. Raises
        `SandboxUnavailable` if the spec has no egress or the provider lacks the capability `egress`."""

    @property
    def processes(self) -> Processes:
        """Interactive processes. Raises `SandboxUnavailable` without the capability `interactive`."""

    @property
    def files(self) -> Files:
        """Files anywhere in the sandbox. Raises `SandboxUnavailable` without the capability `interactive`."""

    async def aclose(self) -> None:
        """Close the connections; the sandbox lives on."""


class SandboxProvider(Protocol):
    """Creates sandboxes and finds them again."""

    @property
    def name(self) -> str: ...
    @property
    def capabilities(self) -> Capabilities: ...

    async def probe(self) -> ProbeReport:
        """Start and end a sandbox as a trial, and report the result."""

    async def create(self, spec: SandboxSpec) -> Sandbox:
        """Start a sandbox and return once it answers. Raises `SandboxUnavailable`, or `SandboxIsolationMissing` if this
        machine cannot isolate. A cancelled call leaves nothing behind."""

    async def connect(self, sandbox_id: str, ref: str) -> Sandbox:
        """A handle on a living sandbox, also one created by an earlier server process. Raises `SandboxLost`, and
        `SandboxUnavailable` if it cannot be reached now; with the field `host` if that is because the one machine that
        it runs on does not answer, of several on which the provider could start another."""

    async def base_identity(self) -> str:
        """Changes with the base of snapshots (processor, languages, image), so that a snapshot is not used on another
        base."""

    async def build_snapshot(self, recipe: SnapshotRecipe, progress: Progress) -> BuiltSnapshot:
        """Build it in a separate sandbox that may reach the package indexes; pass the returned ref to `create`. Returns
        an existing snapshot at once. Raises `SandboxUnavailable` with the end of the output if a step fails; nothing is
        left then. Without the capability `snapshot`: `SandboxUnavailable`."""

    async def has_snapshot(self, ref: str) -> bool:
        """True if it still exists; called before each start from it, so it must be fast."""

    async def remove_snapshot(self, ref: str) -> None:
        """Remove it from disk. Raises `Conflict` while a sandbox started from it lives. A missing snapshot is
        ignored."""

    async def list_refs(self) -> list[tuple[str, str]]:
        """(sandbox id, ref) of every living sandbox of this provider on this machine; remains of dead ones are
        removed."""
