"""The official SDK, with its errors converted to ours and its gaps filled."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, TypeVar

import anyio
import httpx
from deno_sandbox import AsyncDenoDeploy
from deno_sandbox.errors import AuthenticationError, HTTPStatusError
from websockets.exceptions import InvalidStatus, WebSocketException

from outlast_sandbox.errors import SandboxError, SandboxLost, SandboxUnavailable
from outlast_sandbox.providers.local.connection import lost

T = TypeVar("T")
LIFE_S: Final = 30 * 60  # the longest lifetime that Deno grants at once
ANSWER_TIMEOUT_S: Final = 60.0
CLOSE_TIMEOUT_S: Final = 5.0
_REFUSED_HINT: Final = "Put a valid token of your organization into the variable DENO_DEPLOY_TOKEN."
_GONE: Final = (404, 410)


class Service:
    """All calls to Deno, with one token."""

    def __init__(self, token: str) -> None:
        self._deploy = AsyncDenoDeploy({"token": token})

    async def create(self, **config: Any) -> "Machine":
        """The sandbox ends by itself after `LIFE_S`, unless it is extended."""
        timeout = f"{LIFE_S}s"  # not "session": it must outlive this server
        return await self._open("", self._deploy.sandbox.create(timeout=timeout, **config))

    async def connect(self, ref: str) -> "Machine":
        """Raises `SandboxLost`."""
        return await self._open(ref, self._deploy.sandbox.connect(ref))

    async def running(self) -> set[str]:
        """The ids of all running sandboxes of the organization."""
        page: Any = await call_sdk("", self._deploy.sandbox.list)
        ids: set[str] = set()
        while page is not None:
            ids |= {item["id"] for item in page.items if item["status"] == "running"}
            page = await call_sdk("", page.get_next_page)
        return ids

    async def kill(self, ref: str) -> None:
        """A sandbox that is gone is ignored."""
        client = self._deploy.sandbox._client
        try:
            await call_sdk(ref, lambda: client.delete(f"/api/v3/sandboxes/{ref}"))
        except SandboxLost:
            return

    async def _open(self, ref: str, context: AbstractAsyncContextManager[Any]) -> "Machine":
        sandbox = await call_sdk(ref, context.__aenter__)
        return Machine(sandbox, context)


class Machine:
    """One connection to a sandbox at Deno; the sandbox outlives it."""

    def __init__(self, sandbox: Any, context: AbstractAsyncContextManager[Any]) -> None:
        self._sandbox = sandbox
        self._context = context
        self._rpc = sandbox._rpc
        self._rpc._pending_processes = _Streams()
        connection = self._rpc._transport._ws
        # The SDK leaves calls and streams waiting for ever after the connection ends; this ends them.
        closing = asyncio.ensure_future(connection.wait_closed())  # noqa: TID251
        closing.add_done_callback(lambda _: self._cut())

    @property
    def ref(self) -> str:
        return str(self._sandbox.id)

    async def spawn(self, words: list[str], stdin: list[bytes]) -> Any:
        """Start a process whose standard input is `stdin`; returns the SDK's process."""
        process = await call_sdk(
            self.ref,
            lambda: self._sandbox.spawn(words[0], args=words[1:], stdin_data=stdin, stdout="piped", stderr="piped"),
        )
        process._wait_task.add_done_callback(_look_at)  # no other code retrieves its exception, which does not matter
        return process

    async def shell(self, script: str) -> str:
        """Run a short command; return its output."""
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            process = await self.spawn(["sh", "-c", script], [])
            output = await process.stdout.read() + await process.stderr.read()
        return str(output, "utf-8", "replace").strip()

    async def extend(self) -> None:
        await call_sdk(self.ref, lambda: self._sandbox.extend_timeout(LIFE_S))

    async def aclose(self) -> None:
        """Disconnect and leave the sandbox running."""
        with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True), suppress(Exception):
            await self._context.__aexit__(None, None, None)

    def _cut(self) -> None:
        for future in self._rpc._pending_requests.values():
            if not future.done():
                future.set_exception(ConnectionResetError("the connection to the sandbox ended"))
                future.exception()
        for reader in list(self._rpc._pending_processes.values()):
            reader.feed_eof()


class _Streams(dict[int, asyncio.StreamReader]):
    """The SDK's source for the output of processes. The SDK drops output that arrives before it has created its reader,
    as is common for short processes; this class keeps it."""

    def __init__(self) -> None:
        super().__init__()
        self._early: dict[int, asyncio.StreamReader] = {}

    def get(self, key: int, default: Any = None) -> Any:
        if key in self:
            return self[key]
        return self._early.setdefault(key, asyncio.StreamReader())

    def __setitem__(self, key: int, reader: asyncio.StreamReader) -> None:
        early = self._early.pop(key, None)
        if early is not None:
            reader.feed_data(bytes(early._buffer))  # type: ignore[attr-defined]
            if early.at_eof() or early._eof:  # type: ignore[attr-defined]
                reader.feed_eof()
                return
        super().__setitem__(key, reader)

    def __delitem__(self, key: int) -> None:
        self.pop(key, None)  # one that ended early is kept for its reader


def _look_at(ending: "asyncio.Task[Any]") -> None:
    if not ending.cancelled():
        ending.exception()


async def call_sdk(ref: str, call: Callable[[], Awaitable[T]]) -> T:
    """Run the call; the SDK's refusals become ours."""
    try:
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            return await call()
    except AuthenticationError as error:
        raise SandboxUnavailable("Deno does not accept the token.", hint=_REFUSED_HINT) from error
    except HTTPStatusError as error:
        raise _by_status(ref, error.status_code, error.message) from error
    except InvalidStatus as error:
        raise _by_status(ref, error.response.status_code, "the connection was refused") from error
    except (ConnectionError, WebSocketException) as error:
        if ref:
            raise lost(ref) from error
        raise _unreachable(error) from error
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        raise _unreachable(error) from error
    except SandboxError:
        raise
    except Exception as error:  # the SDK raises refusals of the sandbox itself as a plain Exception
        raise SandboxUnavailable(f"Deno's sandbox refused: {str(error)[:500]}") from error


def _by_status(ref: str, status: int, message: str) -> Exception:
    if ref and status in _GONE:
        return lost(ref)
    if status in (401, 403):
        return SandboxUnavailable("Deno does not accept the token.", hint=_REFUSED_HINT)
    return SandboxUnavailable(f"Deno refused ({status}): {message}")


def _unreachable(error: Exception) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"Deno cannot be reached: {type(error).__name__}", hint="Check the server's network connection."
    )
