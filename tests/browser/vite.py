"""A small Vite and React project, with the packages that the repository's own web app has installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

MODULES = Path(__file__).parents[2] / "web" / "node_modules"
PACKAGES = (
    "@oxc-project",
    "@rolldown",
    "@vitejs/plugin-react",
    "detect-libc",
    "fdir",
    "lightningcss",
    "nanoid",
    "picocolors",
    "picomatch",
    "postcss",
    "react",
    "react-dom",
    "rolldown",
    "scheduler",
    "source-map-js",
    "tinyglobby",
    "vite",
)
COMMAND = "node node_modules/vite/bin/vite.js --host 127.0.0.1 --port 5173 --strictPort"
PORT = 5173
PAGE = """import { useState } from "react";

export default function Page() {
  const [clicks, setClicks] = useState(0);
  return (
    <main>
      <h1>Hello from inside</h1>
      <button onClick={() => setClicks(clicks + 1)}>clicked {clicks}</button>
    </main>
  );
}
"""
FILES = {
    "package.json": '{"type": "module"}',
    # What is found only while the first page loads would be prepared then, and the page loaded anew.
    "vite.config.js": 'import react from "@vitejs/plugin-react";\n'
    'const include = ["react", "react-dom/client", "react/jsx-dev-runtime"];\n'
    "export default { plugins: [react()], optimizeDeps: { include } };\n",
    "index.html": '<!doctype html><title>Inside</title><div id="root"></div>'
    '<script type="module" src="/src/main.jsx"></script>',
    "src/main.jsx": 'import { createRoot } from "react-dom/client";\nimport Page from "./page.jsx";\n'
    'createRoot(document.getElementById("root")).render(<Page />);\n',
    "src/page.jsx": PAGE,
}


def place(folder: Path) -> None:
    """Lay the project into a workspace's folder, as if its sandbox had written it."""
    if not (MODULES / "vite").is_dir():
        pytest.skip("the web app's packages are not installed; `make setup` installs them")
    native = [path.name for path in MODULES.glob("lightningcss-*")]
    for name in (*PACKAGES, *native):
        shutil.copytree(MODULES / name, folder / "node_modules" / name, symlinks=True)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    owner = folder.stat()
    if os.geteuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.lchown(path, owner.st_uid, owner.st_gid)


def write_page(folder: Path) -> None:
    """The page as it is at first."""
    (folder / "src" / "page.jsx").write_text(PAGE)


def edit(folder: Path, old: str, new: str) -> None:
    """Change the page's source."""
    source = folder / "src" / "page.jsx"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
