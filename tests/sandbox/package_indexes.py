"""Package indexes of the tests' own: an npm registry on loopback, and a folder of wheels for pip."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def tarball(name: str, version: str, files: Mapping[str, str]) -> bytes:
    """An npm package: `files` and a package.json that makes it an ES module."""
    manifest = {"name": name, "version": version, "type": "module", "main": "index.js"}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in {"package.json": json.dumps(manifest), **files}.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mode = len(text.encode()), 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Registry:
    """An npm registry with these packages: (name, version) → tarball. `asked` are the paths asked for."""

    def __init__(self, packages: Mapping[tuple[str, str], bytes]) -> None:
        self.packages = dict(packages)
        self.asked: list[str] = []
        self.address = ""

    def answer(self, path: str) -> bytes | None:
        self.asked.append(path)
        for (name, version), data in self.packages.items():
            if path == f"/{name}/-/{name}-{version}.tgz":
                return data
        found = {version: data for (name, version), data in self.packages.items() if path == f"/{name}"}
        return json.dumps(self._document(path[1:], found)).encode() if found else None

    def _document(self, name: str, found: Mapping[str, bytes]) -> dict[str, object]:
        versions = {
            version: {
                "name": name,
                "version": version,
                "type": "module",
                "main": "index.js",
                "dist": {
                    "tarball": f"{self.address}/{name}/-/{name}-{version}.tgz",
                    "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
                },
            }
            for version, data in found.items()
        }
        return {"name": name, "dist-tags": {"latest": max(versions)}, "versions": versions}


@contextmanager
def serving(registry: Registry) -> Iterator[Registry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = registry.answer(self.path.partition("?")[0])
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_words: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


def write_wheel(folder: Path, name: str, version: str, source: str) -> None:
    """A package with one module of that name and a command that prints its version."""
    facts = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": source,
        f"{facts}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{facts}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{facts}/entry_points.txt": f"[console_scripts]\n{name}-says = {name}:say\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{facts}/RECORD"])
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in {**files, f"{facts}/RECORD": record}.items():
            wheel.writestr(path, text)
