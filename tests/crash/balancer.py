"""nginx in front of servers, with the file that operators get: `deploy/nginx.conf`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio

from tests.crash.server import free_port

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
SHIPPED = Path(__file__).resolve().parents[2] / "deploy" / "nginx.conf"
AROUND = """
{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 10000; }}
http {{
access_log {folder}/access.log;
client_body_temp_path {folder}/body;
proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi;
uwsgi_temp_path {folder}/uwsgi;
scgi_temp_path {folder}/scgi;
{sites}
}}
"""


def for_test(text: str, port: int, servers: Sequence[int]) -> str:
    """The shipped file for these servers, on a loopback port and without certificates."""
    upstream, _, sites = text.partition("\nserver {")
    options = re.search(r"server 10\.0\.0\.11:8400(.*);", upstream)
    assert options is not None
    upstream = re.sub(r"    server 10\.0\.0.*\n", "", upstream)
    listed = "".join(f"    server 127.0.0.1:{one}{options[1]};\n" for one in servers)
    upstream = upstream.replace("upstream outlast {\n", "upstream outlast {\n" + listed)
    sites = re.sub(r"    ssl_certificate.*\n", "", "\nserver {" + sites)
    return upstream + sites.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")


@contextmanager
def balancing(folder: Path, port: int, servers: Sequence[int]) -> Iterator[None]:
    """nginx on `port`, until this context ends."""
    assert NGINX is not None
    folder.mkdir()
    config = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    config.write_text(AROUND.format(user=user, folder=folder, sites=for_test(SHIPPED.read_text(), port, servers)))
    with subprocess.Popen([NGINX, "-p", str(folder), "-c", str(config)], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield
        finally:
            process.terminate()
            _, said = process.communicate(timeout=30)
            assert process.returncode == 0, said


async def until_it_listens(port: int) -> None:
    with anyio.fail_after(30):
        while True:
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                return
            except OSError:
                await anyio.sleep(0.02)


__all__ = ["NGINX", "balancing", "for_test", "free_port", "until_it_listens"]
