"""What a function finds in its context beside its steps: state, files, the sandbox of its run, and secrets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from outlast.base.records import dataclass

if TYPE_CHECKING:
    from outlast_sandbox.interface import CommandResult


class State(Protocol):
    """The state of the thread: a JSON object of at most 64 KiB that all runs and agents of the thread share, also the
    agents that they call.

        stage = await ctx.state.get("stage", "new")
        await ctx.state.set("stage", "paid")
        await ctx.state.update(lambda state: {**state, "paid": state.get("paid", 0) + 1})

    Each of these is a step: what was read is recorded, and what was written is written once, in the transaction that
    records it. People and programs read the state with the thread (`GET /v1/threads/{id}/state`), so keep no secrets in
    it. Raises `StepFailed` for a key that is not a text of 1 to 200 characters, for a value that is not JSON, and if
    the state would become too large.
    """

    async def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or `default` if there is none."""

    async def all(self) -> dict[str, Any]:
        """The whole state."""

    async def set(self, key: str, value: Any) -> None:
        """Set the value of a key, whatever it was."""

    async def update(self, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> dict[str, Any]:
        """Replace the state by what `change` makes of it, and return that. If another run was faster, `change` is
        called again with what that one wrote; so it is a plain, quick function without effects. Raises `StepFailed`
        also if it raises."""


class RunSandbox(Protocol):
    """The sandbox of the run, the same as that of the tools of its agent. It starts when it is first used.

        result = await ctx.sandbox.run("python3 count.py sales.csv", timeout_s=60)
        if result.exit_code == 0:
            report = await ctx.sandbox.read_text("report.md")

    Each of these is a step. A command goes on while the server restarts, and is found again by its step: it is not run
    twice in one sandbox. Paths are relative to the workspace, whose files are saved with the run's. Raises `StepFailed`
    if this server has no sandboxes (`[sandbox] provider = "none"`), if the sandbox was lost during a command (whether
    it took effect is then not known; the next call gets a new sandbox with the same files), and as the methods say. If
    no sandbox can be started, the run ends with the reason.
    """

    async def run(
        self, command: str, *, timeout_s: float | None = None, env: Mapping[str, str] | None = None
    ) -> "CommandResult":
        """Run a shell command in the workspace, and return its `output` (stdout and stderr), `exit_code`, `timed_out`
        and so on. At most `sandbox.command_timeout_s` seconds, and `sandbox.output_bytes` of output. An exit code other
        than 0 is no error."""

    async def read(self, path: str) -> bytes:
        """A file of the workspace, at most 500,000 bytes. Raises `StepFailed` if there is none, or if it is larger."""

    async def read_text(self, path: str) -> str:
        """As `read`, decoded from UTF-8; what is no UTF-8 is replaced."""

    async def write(self, path: str, content: str | bytes) -> None:
        """Write a file of the workspace, at most 16,000,000 bytes; missing folders are created."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of the thread's messages, or of the project."""

    name: str
    id: str
    media_type: str
    size_bytes: int
    place: Literal["thread", "project"]


class Files(Protocol):
    """The files that people attached in the thread, those of the project, and what a function gives to people. Reading
    needs no sandbox; files of the workspace are read with `ctx.sandbox`.

        for file in await ctx.files.list():
            if file.media_type == "text/csv":
                await ctx.files.show(f"sum of {file.name}.txt", total_of(await ctx.files.read_text(file.name)))

    Each of these is a step; what is shown is shown once. Raises `StepFailed` as the methods say.
    """

    async def list(self) -> Sequence[KnownFile]:
        """The thread's files by name, then the project's, newest first; at most 500 of each."""

    async def read(self, name: str) -> bytes:
        """A file by its name, or one of the project by its id (art_…); at most 500,000 bytes. Raises `StepFailed` if
        there is none, or if it is larger."""

    async def read_text(self, name: str) -> str:
        """As `read`, decoded from UTF-8; what is no UTF-8 is replaced."""

    async def show(self, name: str, content: str | bytes | None = None) -> None:
        """Give people a file with the answer: an image is shown, any other file can be downloaded, also when the
        sandbox is gone. Without `content`, `name` is the path of a file of the workspace. Raises `StepFailed` for an
        empty file, and for one of more than `limits.attachment_bytes`."""


class Secrets(Protocol):
    """The secrets that the run's sandbox has: those of the configuration (`secret_env` of [[sandbox.dependencies]]),
    those that the project, the server or the person who started the run saved, and their accounts on services. Never
    values.

        key = ctx.secrets["LINEAR_API_KEY"]
        await ctx.sandbox.run(f"curl -H 'Authorization: {key}' https://api.linear.app/graphql -d @query.json")

    `ctx.secrets[name]` is a text that stands for the secret. In commands, their `env` and texts that `ctx.sandbox`
    writes, it becomes the placeholder of the sandbox, which the server's proxy replaces by the value in requests to the
    secret's hosts. Programs in the sandbox also find the placeholder in the environment variable of that name.
    """

    def __getitem__(self, name: str) -> str:
        """Raises `UnknownSecret`, which lists the names that there are."""

    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...


class Resources(Protocol):
    """What `Context` gives access to; `kernel/runs/function_resources.py` implements it."""

    @property
    def state(self) -> State: ...
    @property
    def sandbox(self) -> RunSandbox: ...
    @property
    def files(self) -> Files: ...
    @property
    def secrets(self) -> Secrets: ...
    async def connect(self, name: str) -> str: ...
