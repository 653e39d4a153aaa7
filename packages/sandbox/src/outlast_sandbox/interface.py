"""What every sandbox provider offers, and the shapes that cross the line.

Errors: `SandboxLost` (it is gone; a new one over the same workspace is needed), `SandboxUnavailable` (none can be
made now), `FenceLost` (a newer attempt owns the effect), `Conflict` (the effect was acknowledged), `NotFound`,
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
    """What a provider can do beyond running commands; the rest of the system asks instead of guessing.

    `pause`: freeze and thaw; `snapshot`: start from what `build_snapshot` made; `volume`: the workspace is a folder on
    this machine; `preview`: `dial` reaches a port inside; `reattach`: commands survive the server; `interactive`:
    `processes` and `files`; `egress`: the network inside ends at `egress_listener`; `secrets`: the provider itself
    puts secrets into requests.
    """

    pause: bool = False
    snapshot: bool = False
    volume: bool = False
    preview: bool = False
    reattach: bool = False
    interactive: bool = False
    egress: bool = False
    secrets: bool = False


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What a real trial on this machine showed. `isolation` is `none` when sandboxes must be refused; then `fixes`
    holds what the operator has to do, each a sentence or a command; `details` are remarks, such as limits not
    enforced."""

    ok: bool
    isolation: str
    details: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one sandbox: memory of all its processes, CPU share, processes and threads, what the workspace and
    each temporary folder may hold, output kept per command."""

    memory_bytes: int = 2 * 1024**3
    cpu_count: float = 2.0
    processes: int = 512
    disk_bytes: int = 2 * 1024**3
    output_bytes: int = 1_000_000


@dataclass(frozen=True, slots=True)
class WireSecret:
    """A secret for a provider that puts it into requests itself, to these hosts only. Never printed."""

    hosts: tuple[str, ...]
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Orphan:
    """What becomes of a sandbox whose server does not come back: frozen, then ended, each so many seconds after the
    server was last seen. Its files stay. A provider that cannot tell keeps it."""

    freeze_after_s: float = 900.0
    end_after_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What to make: the id names it for ever, `workspace_dir` is seen inside as /workspace (made if missing), `env`
    is added to the environment of everything that runs inside, `snapshot_ref` is what `build_snapshot` answered
    (empty: the bare base), `authority_pem` the certificate authority that everything inside trusts besides the
    usual ones, `egress` whether a listener towards the network is opened inside (else there is no network at all),
    `home_is_workspace` whether the home folder is the workspace too, seen under both names. For providers with the
    capability `secrets` only: `allow_hosts` are all that may be reached, `secrets` by the name of their variable.
    `layers` are folders of the workspace that come from the snapshot's project, where there is one, each under a layer
    of the sandbox's own that ends with it; where a provider cannot do that, they are folders like any other. Lists of
    files leave out what is in them."""

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


@dataclass(frozen=True, slots=True)
class Project:
    """What is installed in the workspace's own folder: `files` lie there when `commands` run, with `env`; of what is
    there afterwards, `layers` are kept. `template` is the name of the app template that this is."""

    template: str
    files: Mapping[str, bytes]
    commands: tuple[str, ...]
    layers: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SnapshotRecipe:
    """What a snapshot is built from: `name` is the hash of all the rest; `dependencies` are sorted, each with its
    version (`npm:NAME@VERSION`, `pypi:NAME==VERSION`); `commands` run after they are installed; `files` lie in the
    home folder, by relative path; `project` comes last."""

    name: str
    dependencies: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class BuiltSnapshot:
    """A snapshot ready to start from: `ref` is how the provider finds it, `size_bytes` what it takes on disk."""

    ref: str
    size_bytes: int


Progress = Callable[[str, str], None]
"""Called with (step, output so far of it) while something long is under way."""


@dataclass(frozen=True, slots=True)
class Command:
    """A shell script to run. `cwd` is relative to the workspace; `timeout_s` counts from its start, without frozen
    time; `attach_only` refuses (`NotFound`) to start it when the sandbox does not know the effect."""

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
    """How a command ended. `output` is stdout and stderr as they came, cut in the middle with a notice when longer
    than the limit, equal to all that `on_output` got. A signal counts as exit code 128 + its number."""

    exit_code: int
    output: str
    timed_out: bool
    truncated: bool
    duration_s: float
    killed_reason: KilledReason | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Code for the language's session, which keeps its variables from call to call."""

    effect_id: str
    attempt: int
    language: Language
    code: str
    timeout_s: float = 60.0
    output_limit_bytes: int = DEFAULT_OUTPUT_LIMIT_BYTES
    attach_only: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """`result` is the last expression's value as JSON, or its text where it is not JSON; `result_text` always the
    text as the language shows it (empty for no value). On failure `error` says why and `result` is None."""

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
    """What a sandbox uses now: resident memory, processes and threads, CPU seconds since its start."""

    memory_bytes: int
    processes: int
    cpu_s: float


class Sandbox(Protocol):
    """A handle on one living sandbox. Many calls may run at once. Calls to a frozen sandbox wait for the thaw.

    A cancelled call leaves what it started running: cancelling `run` or `evaluate` detaches only, the caller ends the
    command with `kill_command`. Every call raises `SandboxLost` when the sandbox is gone.
    """

    @property
    def sandbox_id(self) -> str: ...
    @property
    def ref(self) -> str:
        """How the provider finds it again, for `connect`."""

    async def run(self, command: Command, on_output: OnOutput | None = None) -> CommandResult:
        """Run a command to its end; `on_output` gets the text as it comes.

        Asked again with the same effect id and the same or a newer attempt, attaches to the command still running or
        collects the kept result; all output so far is delivered again from its start. An older attempt: `FenceLost`,
        also for a waiting call that is overtaken. Repeating is safe until `acknowledge`, then `Conflict`.
        """

    async def evaluate(self, evaluation: Evaluation, on_output: OnOutput | None = None) -> EvaluationResult:
        """Run code in the language's session, one evaluation at a time per language; attaching as in `run`.

        At the time limit the session is ended with its variables, `error` says so, and the next call starts anew.
        """

    async def acknowledge(self, effect_id: str) -> None:
        """The result is recorded: the sandbox may forget it. Unknown ids are fine; a running effect is left alone."""

    async def kill_command(self, effect_id: str, reason: str = "cancelled") -> None:
        """End a command with everything it started, or an evaluation with its session. Its `run` returns as usual,
        with `killed_reason`. Unknown and ended ids are fine."""

    async def end_sessions(self) -> int:
        """End the languages' sessions with their variables, those at work excepted: how many. What commands and
        services run stays. The next `evaluate` starts a new one. Repeatable."""

    async def write_files(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Write files by relative path, each at once or not at all; parents are made. All paths are checked before
        the first write. Raises `PathRefused`, `DiskFull`. Repeatable."""

    async def read_file(self, path: str, max_bytes: int) -> bytes:
        """The first `max_bytes` of a file, at most 64 MiB. Raises `NotFound`, `PathRefused`."""

    async def list_files(self, prefix: str = "", limit: int = 1000) -> list[FileEntry]:
        """Files and folders below `prefix`, folders before what is in them, by name, at most `limit`."""

    async def freeze(self) -> None:
        """Stop every process where it is, in under 3 ms; memory stays. Repeatable."""

    async def thaw(self) -> None:
        """Let them go on; frozen time does not count against time limits. Repeatable."""

    async def kill(self) -> None:
        """End the sandbox with all its processes; the workspace folder stays. Repeatable; returns when nothing is
        left."""

    async def statistics(self) -> SandboxStatistics | None:
        """What it uses now. Never waits for a thaw: None when it sleeps and cannot be measured asleep."""

    async def ping(self) -> None:
        """Return once what answers calls inside has answered. Raises `SandboxLost` when it does not within 15 s: then
        it never will. Not to be asked while the sandbox is frozen."""

    async def log(self) -> str:
        """The end of what the provider noted about it since its start, at most 64 KiB; empty when all went well."""

    def disk_folders(self) -> Sequence[Path]:
        """Folders of this machine, beside the workspace, that it alone fills; none where it runs elsewhere."""

    def process_ids(self) -> list[int]:
        """Its processes as this machine numbers them; empty where that cannot be seen."""

    def ends_with(self, error: Exception) -> None:
        """It is about to be ended for this reason: calls under way raise `error` instead of a plain `SandboxLost`."""

    async def dial(self, port: int) -> socket.socket:
        """A connected stream socket to 127.0.0.1:`port` inside, non-blocking. Raises `NotFound` (code `not_found`)
        when nothing listens there, `SandboxUnavailable` without the capability `preview`."""

    async def egress_listener(self) -> socket.socket:
        """The listening socket that is the sandbox's only way out (the proxy of everything inside), non-blocking.
        Asked again, also by another server process, it is the same listener. Raises `SandboxUnavailable` when the
        spec had no egress or the provider has not the capability `egress`."""

    @property
    def processes(self) -> Processes:
        """Interactive processes. Raises `SandboxUnavailable` without the capability `interactive`."""

    @property
    def files(self) -> Files:
        """Files anywhere in the sandbox. Raises `SandboxUnavailable` without the capability `interactive`."""

    async def aclose(self) -> None:
        """Drop the connections; the sandbox lives on."""


class SandboxProvider(Protocol):
    """Makes sandboxes and finds them again."""

    @property
    def name(self) -> str: ...
    @property
    def capabilities(self) -> Capabilities: ...

    async def probe(self) -> ProbeReport:
        """Really start and end a sandbox, and report."""

    async def create(self, spec: SandboxSpec) -> Sandbox:
        """Start a sandbox and return once it answers. Raises `SandboxUnavailable`, or `SandboxIsolationMissing`
        where this machine cannot isolate. A cancelled call leaves nothing behind."""

    async def connect(self, sandbox_id: str, ref: str) -> Sandbox:
        """A handle on a living sandbox, also one made by an earlier server process. Raises `SandboxLost`."""

    async def base_identity(self) -> str:
        """Changes with what a snapshot lies upon (processor, languages, image), so that one built upon another base is
        not taken for it."""

    async def build_snapshot(self, recipe: SnapshotRecipe, progress: Progress) -> BuiltSnapshot:
        """Build it inside a sandbox of its own, which may reach the package indexes; the answer's ref is then used by
        `create`. Asked again for what is there, answers at once. Raises `SandboxUnavailable` with the end of the
        output when a step fails; nothing is left then. Without the capability `snapshot`: `SandboxUnavailable`."""

    async def has_snapshot(self, ref: str) -> bool:
        """Whether it is still there; asked before each start from it, so it must be quick."""

    async def remove_snapshot(self, ref: str) -> None:
        """Remove it from disk. Raises `Conflict` while a living sandbox was started from it. Fine when it is gone."""

    async def list_refs(self) -> list[tuple[str, str]]:
        """(sandbox id, ref) of every living sandbox of this provider here; remains of dead ones are removed."""
