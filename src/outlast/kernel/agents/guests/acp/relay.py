"""Runs in the sandbox, between an agent and the server, and imports only the standard library.

It numbers the lines that the agent writes and keeps each until the server has recorded it: a server that is killed
gets them again, and the agent works on meanwhile. A line for the agent has a key, and is passed on once. Files that the
agent reads and writes by way of its client are those of the sandbox, so that it gets them here.
"""

import json
import os
import subprocess
import sys
import threading
from typing import IO, Any

KEPT_BYTES = 64_000_000
LINE_BYTES = 10_000_000  # longer ones fall into pieces that are no messages
MOST_BYTES = 4_000_000  # of a line that the server gets: it reads one in a piece
STDERR_CHARS = 2_000


class Relay:
    """One agent and its lines. `kept` are those after number `first`; `coming` is the number of the next one that the
    server gets, None until it asks."""

    def __init__(self, argv: "list[str]") -> None:
        self.changed = threading.Condition()
        self.telling = threading.Lock()
        self.kept: list[dict[str, Any]] = []
        self.first = 0
        self.size = 0
        self.coming: int | None = None
        self.greeting = ""
        self.keys: set[str] = set()
        self.stderr = ""
        self.child: subprocess.Popen[bytes] | None = None
        pipe = subprocess.PIPE
        try:
            self.child = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            self.keep({"exit": 127, "stderr": f"{argv[0]}: {error.strerror}"})

    def run(self) -> None:
        readers = () if self.child is None else (self.read_lines, self.read_stderr)
        for one in (*readers, self.write_lines):
            threading.Thread(target=one, daemon=True).start()
        for line in sys.stdin.buffer:
            try:
                self.obey(json.loads(line))
            except ValueError:  # the end of a server cut it
                continue
        if self.child is not None:
            self.child.kill()

    def obey(self, order: "dict[str, Any]") -> None:
        if "key" in order:
            if order["key"] not in self.keys:
                self.keys.add(order["key"])
                self.tell(order["line"])
            return
        with self.changed:
            done = max(0, min(order["done"] - self.first, len(self.kept)))
            self.size -= sum(len(one.get("line", "")) for one in self.kept[:done])
            del self.kept[:done]
            self.first += done
            if "greeting" in order:
                self.greeting, self.coming = order["greeting"], self.first + 1
            self.changed.notify_all()

    def tell(self, line: str) -> None:
        if self.child is None or self.child.stdin is None:
            return
        try:
            with self.telling:
                self.child.stdin.write(line.encode() + b"\n")
                self.child.stdin.flush()
        except OSError:  # it has ended, which its last line says
            pass

    def read_lines(self) -> None:
        assert self.child is not None
        assert self.child.stdout is not None
        while line := self.child.stdout.readline(LINE_BYTES):
            text = line.decode("utf-8", "replace").strip()
            is_long = len(line) > MOST_BYTES
            told = answer(text, is_long) if is_long or '"fs/' in text else None
            if told is not None:
                self.tell(told)
            elif text.startswith("{") and not is_long:  # programs print other things, too
                self.keep({"line": text})
        code = self.child.wait()
        self.keep({"exit": code, "stderr": self.stderr})

    def keep(self, item: "dict[str, Any]") -> None:
        with self.changed:
            while self.size > KEPT_BYTES:
                self.changed.wait()
            self.kept.append({"n": self.first + len(self.kept) + 1, **item})
            self.size += len(item.get("line", ""))
            self.changed.notify_all()

    def read_stderr(self) -> None:
        assert self.child is not None
        stream: IO[bytes] | None = self.child.stderr
        assert stream is not None
        while piece := os.read(stream.fileno(), 65_536):
            self.stderr = (self.stderr + piece.decode("utf-8", "replace"))[-STDERR_CHARS:]

    def write_lines(self) -> None:
        while True:
            with self.changed:
                while not self.greeting and (self.coming is None or self.coming > self.first + len(self.kept)):
                    self.changed.wait()
                item: dict[str, Any]
                if self.greeting:
                    item, self.greeting = {"greeting": self.greeting}, ""
                else:
                    assert self.coming is not None
                    self.coming = max(self.coming, self.first + 1)
                    item = self.kept[self.coming - self.first - 1]
                    self.coming += 1
            # The first line break ends what an earlier server has read in part.
            text = ("\n" if "greeting" in item else "") + json.dumps(item, ensure_ascii=False) + "\n"
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()


def answer(line: str, is_long: bool) -> "str | None":
    """The response to a request for a file, and to one that is too long for the server; None for any other line."""
    try:
        message = json.loads(line)
        request_id, method, params = message["id"], message["method"], message["params"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if method not in ("fs/read_text_file", "fs/write_text_file"):
        refused = {"code": -32600, "message": f"Requests have at most {MOST_BYTES} bytes here."}
        return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": refused}) if is_long else None
    try:
        told: dict[str, Any] = {"result": use_file(params, is_read=method == "fs/read_text_file")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        told = {"error": {"code": -32603, "message": f"{type(error).__name__}: {error}"}}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, **told})


def use_file(params: "dict[str, Any]", is_read: bool) -> "dict[str, str]":
    path = str(params["path"])
    if is_read:
        with open(path, errors="replace") as file:
            lines = file.readlines()
        start, limit = max(0, (params.get("line") or 1) - 1), params.get("limit")
        return {"content": "".join(lines[start : None if limit is None else start + limit])}
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(params["content"])
    return {}


def main() -> None:
    os.makedirs(os.environ["HOME"], exist_ok=True)
    Relay(sys.argv[1:]).run()


if __name__ == "__main__":
    main()
