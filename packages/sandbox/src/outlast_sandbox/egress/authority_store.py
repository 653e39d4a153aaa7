"""Stores the authorities of living sandboxes. The certificate library is loaded with the first of them: 8 MB."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from outlast_sandbox.egress.certificate_authority import Authority

_SUFFIX: Final = ".authority.pem"


class Authorities:
    """The authorities of living sandboxes, one file each in a folder that only the server reads. Blocking: files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, sandbox_id: str) -> "Authority":
        """The sandbox's stored authority, or a new one."""
        from outlast_sandbox.egress.certificate_authority import Authority

        path = self._path(sandbox_id)
        try:
            return Authority.from_pem(path.read_bytes())
        except (FileNotFoundError, ValueError):
            authority = Authority.fresh(sandbox_id)
            write_private(path, authority.to_pem())
            return authority

    def remove(self, sandbox_id: str) -> None:
        """Remove the authority; a missing one is ignored."""
        self._path(sandbox_id).unlink(missing_ok=True)

    def kept(self) -> list[str]:
        """Ids of the sandboxes that have one."""
        if not self._folder.is_dir():
            return []
        return [path.name.removesuffix(_SUFFIX) for path in self._folder.glob(f"*{_SUFFIX}")]

    def _path(self, sandbox_id: str) -> Path:
        return self._folder / f"{sandbox_id}{_SUFFIX}"


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only this user can read, atomically."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(data)
    fresh.replace(path)
