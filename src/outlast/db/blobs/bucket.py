"""A bucket of S3 or of a store that speaks its protocol (MinIO, Ceph, R2), through obstore. Calls block; they may run
concurrently."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from outlast.base.errors import InvalidSetting, StorageUnavailable, StoredFileMissing
from outlast.db.blobs.address import OPTIONS, BucketAddress

if TYPE_CHECKING:
    from obstore.store import S3Store

MULTIPART: Final = 16 * 1024 * 1024  # bytes of one part
PIECE: Final = 1024 * 1024
LISTED_AT_ONCE: Final = 1000
REQUEST_S: Final = 30
CONNECT_S: Final = 5
RETRY_S: Final = 20
"""Failed requests are repeated for this long, with growing pauses, before the caller gets the error."""
RETRIES: Final = 12
MAX_PAUSE_S: Final = 4


class Bucket:
    """Objects by key, below the address's prefix. Credentials that the address does not have come from the usual
    environment variables (`AWS_ACCESS_KEY_ID`, …), a web identity, or the machine's role.

    Errors: `StoredFileMissing` for an object that is not there, `StorageUnavailable` for everything else, after
    repeated tries."""

    def __init__(self, address: BucketAddress, retry_s: float = RETRY_S) -> None:
        self.shown = address.shown
        self._store = _open(address, retry_s)

    def get(self, key: str) -> Iterator[bytes]:
        """The content, in pieces."""
        with self._errors(key):
            for piece in self._store.get(key).stream(min_chunk_size=PIECE):
                yield bytes(piece)

    def get_range(self, key: str, offset: int, size: int) -> bytes:
        """`size` bytes from `offset`, which must be inside of the content; fewer if it ends before."""
        with self._errors(key):
            return bytes(self._store.get_range(key, start=offset, length=size))

    def put(self, key: str, content: bytes | Path) -> None:
        """Store an object durably, in several parts if it is large; an error leaves none."""
        with self._errors():
            large = isinstance(content, Path) and content.stat().st_size > MULTIPART
            self._store.put(key, content, use_multipart=large, chunk_size=MULTIPART, max_concurrency=4)

    def put_first(self, key: str, content: bytes) -> bool:
        """Store a small object unless there is one of this key; False if there is."""
        from obstore.exceptions import AlreadyExistsError

        with self._errors():
            try:
                self._store.put(key, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; those that are not there are no error."""
        from obstore.exceptions import NotFoundError

        with self._errors():
            try:
                self._store.delete(keys)
            except NotFoundError:
                return

    def listed(self, prefix: str | None = None) -> Iterator[list[str]]:
        """The keys of all objects, some at a time."""
        with self._errors():
            for page in self._store.list(prefix, chunk_size=LISTED_AT_ONCE):
                yield [str(item["path"]) for item in page]

    @contextmanager
    def _errors(self, reads: str = "") -> Iterator[None]:
        """Translate errors. `reads`: the key of the object that is read."""
        from obstore.exceptions import BaseError, NotFoundError

        try:
            yield
        except (BaseError, OSError) as error:
            if reads and isinstance(error, NotFoundError | FileNotFoundError):
                raise StoredFileMissing(
                    f"A stored file is missing from {self.shown}.",
                    hint="Restore the older version of the object, or the whole bucket.",
                    object=reads,
                ) from None
            raise StorageUnavailable(
                f"The bucket {self.shown} does not answer: {_reason(error)}.",
                hint="Nothing was lost; try again. The server's log has more.",
                retry_after_s=5,
            ) from error


def _open(address: BucketAddress, retry_s: float) -> "S3Store":
    from obstore.exceptions import BaseError
    from obstore.store import S3Store  # loads its library: only servers with a bucket do

    named: dict[str, Any] = {OPTIONS[name]: value for name, value in address.options.items()}
    named |= address.keys
    endpoint = named.get("endpoint", "")
    named.setdefault("region", "us-east-1" if endpoint else None)
    named = {name: value for name, value in named.items() if value is not None}
    if "virtual_hosted_style_request" in named:
        named["virtual_hosted_style_request"] = named["virtual_hosted_style_request"] not in ("", "0", "false")
    try:
        return S3Store(
            address.bucket,
            prefix=address.prefix or None,
            client_options={
                "timeout": timedelta(seconds=REQUEST_S),
                "connect_timeout": timedelta(seconds=CONNECT_S),
                "allow_http": endpoint.startswith("http://"),
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": timedelta(seconds=retry_s),
                "backoff": {"max_backoff": timedelta(seconds=MAX_PAUSE_S)},
            },
            **named,
        )
    except (BaseError, ValueError, TypeError) as error:
        raise InvalidSetting(
            f"blobs.url is not usable: {_reason(error)}.",
            hint="See docs/guides/several-servers.md.",
            setting="blobs.url",
        ) from None


def _reason(error: BaseException) -> str:
    """The first line of an error, without the debug text that follows."""
    kind, text = type(error).__name__.removesuffix("Error"), str(error).strip()
    first = text.splitlines()[0] if text else ""
    return f"{kind} ({first[:200]})" if first else kind
