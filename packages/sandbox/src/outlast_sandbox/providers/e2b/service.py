"""The official SDK, called with our options, its errors converted to ours."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio.lowlevel
import httpx
from e2b import AsyncSandbox, CommandExitException, SandboxQuery
from e2b.exceptions import (
    AuthenticationException,
    NotFoundException,
    RateLimitException,
    SandboxException,
    SandboxNotRunningException,
)

from outlast_sandbox.errors import SandboxError, SandboxUnavailable
from outlast_sandbox.providers.local.connection import lost

T = TypeVar("T")
SHORT_COMMAND_S: Final = 60.0
_GONE: Final = (NotFoundException, SandboxNotRunningException)


class Service:
    """All calls to E2B. `address`: api_key, domain, api_url, sandbox_url, as the SDK names them."""

    def __init__(self, address: Mapping[str, Any], timeout_s: int) -> None:
        self._address = dict(address)
        self.timeout_s = timeout_s

    async def create(self, template: str, metadata: dict[str, str], internet: bool) -> AsyncSandbox:
        return await call_sdk(
            "",
            lambda: AsyncSandbox.create(
                template or None,
                timeout=self.timeout_s,
                metadata=metadata,
                allow_internet_access=internet,
                lifecycle={"on_timeout": "pause"},  # an idle sandbox is paused, never lost
                **self._address,
            ),
        )

    async def connect(self, ref: str) -> AsyncSandbox:
        """Wake it if it sleeps. Raises `SandboxLost`."""
        return await call_sdk(ref, lambda: AsyncSandbox.connect(ref, timeout=self.timeout_s, **self._address))

    async def look(self, ref: str) -> tuple[bool, dict[str, str]]:
        """(whether it is paused, its metadata). Raises `SandboxLost`."""
        info = await call_sdk(ref, lambda: AsyncSandbox.get_info(ref, **self._address))
        return str(info.state) == "paused", dict(info.metadata)

    async def kill(self, ref: str) -> None:
        """A sandbox that is gone is ignored."""
        await call_sdk(ref, lambda: AsyncSandbox.kill(ref, **self._address))

    async def pause(self, ref: str) -> None:
        await call_sdk(ref, lambda: AsyncSandbox.pause(ref, **self._address))

    async def extend(self, ref: str) -> None:
        """Restart its time-out from now."""
        await call_sdk(ref, lambda: AsyncSandbox.set_timeout(ref, self.timeout_s, **self._address))

    async def list(self, metadata: dict[str, str]) -> list[tuple[str, dict[str, str]]]:
        """(ref, metadata) of all sandboxes with that metadata, running and paused."""
        pages = AsyncSandbox.list(query=SandboxQuery(metadata=metadata), **self._address)
        sandboxes: list[tuple[str, dict[str, str]]] = []
        while pages.has_next:
            page = await call_sdk("", pages.next_items)
            sandboxes += [(info.sandbox_id, dict(info.metadata)) for info in page]
        return sandboxes


async def shell(sandbox: AsyncSandbox, script: str) -> str:
    """Run a short command; return its output, whatever its exit code."""
    words: list[str] = []
    with suppress(CommandExitException):
        await call_sdk(
            sandbox.sandbox_id,
            lambda: sandbox.commands.run(
                script, timeout=SHORT_COMMAND_S, on_stdout=words.append, on_stderr=words.append
            ),
        )
    return "".join(words).strip()


async def call_sdk(ref: str, call: Callable[[], Awaitable[T]]) -> T:
    """Run the call; the SDK's refusals become ours."""
    try:
        return await _unless_cancelled(call)
    except _GONE as error:
        raise lost(ref) from error
    except AuthenticationException as error:
        raise SandboxUnavailable(
            "E2B does not accept the key.", hint="Put a valid key into the variable E2B_API_KEY."
        ) from error
    except RateLimitException as error:
        raise SandboxUnavailable(f"E2B limits the rate of requests: {error}", retry_after_s=10) from error
    except (CommandExitException, SandboxError):
        raise
    except SandboxException as error:
        raise SandboxUnavailable(f"E2B refused: {error}") from error
    except (httpx.HTTPError, OSError) as error:
        raise SandboxUnavailable(
            f"E2B cannot be reached: {type(error).__name__}",
            hint="Check the server's network connection and the domain.",
        ) from error
    except Exception as error:  # the SDK raises arbitrary exceptions for responses that it cannot parse
        raise SandboxUnavailable(f"E2B sent an unexpected response: {type(error).__name__}") from error


async def _unless_cancelled(call: Callable[[], Awaitable[T]]) -> T:
    """Run the call; a cancellation stays one, also if the SDK has converted it to its own error."""
    try:
        return await call()
    except Exception:
        await anyio.lowlevel.checkpoint_if_cancelled()
        raise
