"""A server on which screens are built without waiting: sandboxes in memory, and models that say what the test wants.

The models are those of `MODELS`, spoken to over the real wire; their next answers are given with `Studio.script`.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import memory_sandboxes
from tests.browser.conftest import WEB, Server, _free_port
from tests.forked import Forked

KEY: Final = "STUDIO_KEY"
EXAMPLE_AGENTS: Final = f'\n[agents]\nfolder = "{Path(__file__).resolve().parents[2] / "examples" / "agents"}"\n'
CONFIG: Final = """
default_model = "router/grok"

[providers.router]
kind = "openai-compatible"
base_url = "http://127.0.0.1:{port}/v1"
api_key_env = "{key}"

[providers.elsewhere]
kind = "openai-compatible"
base_url = "http://127.0.0.1:{port}/v1"
api_key_env = "STUDIO_KEY_THAT_IS_NOT_SET"

{models}

[credits]
default_plan = "studio"
[credits.plans]
studio = {credits}

[sandbox]
provider = "{provider}"

[screens]
template = "vite"
pictures = false

[profiles.screen]
max_steps = {max_steps}
"""
MODELS: Final = (
    ("router/grok", "router", "Grok 4.1 Fast", False, 1),
    ("router/gpt", "router", "GPT-5.1", True, 2),
    ("elsewhere/gemini", "elsewhere", "Gemini 3 Pro", True, 3),
    ("router/opus", "router", "Claude Opus 4.5", True, 5),
)
PAGE: Final = """\
import {{ Plan }} from "@/components/plan-card"

export default function Page() {{
  return (
    <main className="grid gap-6 p-8">
      <h1 className="text-4xl font-semibold">{words}</h1>
      <Plan name="Starter" />
    </main>
  )
}}
"""
CARD: Final = "export const Plan = ({ name }: { name: string }) => <div>{name}</div>\n"

Answer = dict[str, Any]


def calling(tool: str, text: str = "", **arguments: Any) -> Answer:
    return {"text": text, "calls": [{"name": tool, "arguments": arguments}]}


def writing(**files: str) -> Answer:
    """A turn that writes files; `__` in a name stands for `/`, and its ending is `.tsx`."""
    listed = [{"path": f"{name.replace('__', '/')}.tsx", "content": content} for name, content in files.items()]
    return calling("create_or_update_files", files=listed)


def closing(title: str = "Pricing page", summary: str = "All is **done**.") -> Answer:
    """The last turn of an answer, with everything that only the server is to read."""
    return {
        "text": f"I built it.\n\n<title>\n{title}\n</title>\n\n<task_summary>\n## What I built\n{summary}\n"
        "</task_summary>\n\n<files_summary>\n- app/page.tsx: The page with its plans\n"
        "- components/plan-card.tsx: One plan\n</files_summary>\n",
        "delay_s": 0.01,
    }


def building(words: str = "Pricing") -> list[Answer]:
    """An answer that reads, writes, checks and concludes."""
    return [
        calling("read_files", "I look at it first.", paths=["app/page.tsx"]),
        writing(app__page=PAGE.format(words=words), **{"components__plan-card": CARD}),
        calling("terminal", command="./node_modules/.bin/tsc --noEmit"),
        closing(),
    ]


class Studio(Server):
    """The server, with its models beside it."""

    def __init__(
        self, folder: Path, *, plan: int = 500, max_steps: int = 8, provider: str = "memory", more: str = ""
    ) -> None:
        """`provider` is that of the sandboxes; `more` is added to the configuration."""
        environment = {**memory_sandboxes.install(folder / "packages"), KEY: "a key"}
        super().__init__(folder, environment)
        self.model_port = _free_port()
        self.config = folder / "outlast.toml"
        models = "\n".join(
            f'[[models]]\nid = "{name}"\nprovider = "{provider}"\nname = "{name}"\nlabel = "{label}"\n'
            f"vision = {str(vision).lower()}\ncredits = {price}\n"
            for name, provider, label, vision, price in MODELS
        )
        self.config.write_text(
            CONFIG.format(
                port=self.model_port, key=KEY, models=models, credits=plan, max_steps=max_steps, provider=provider
            )
            + more
        )

    def start(self, *more: str) -> None:
        super().start("--config", str(self.config), *more)

    def script(self, *answers: Answer) -> None:
        """What the models say next, one a turn; what an earlier test left is forgotten."""
        self._model("PUT", "/script", list(answers))

    def asked(self) -> list[dict[str, Any]]:
        """The bodies of all requests to the models."""
        return [request["body"] for request in self._model("GET", "/requests")]

    def screen(self, project: str | None = None, **more: Any) -> dict[str, Any]:
        """A new screen, in a project of its own unless told which."""
        home = project or str(self.post("/v1/projects", {"name": "A project"})["id"])
        made: dict[str, Any] = self.post(f"/v1/projects/{home}/screens", more)
        return made

    def built(self, words: str = "Pricing") -> dict[str, Any]:
        """A screen for which something was asked and done."""
        made = self.screen()
        self.script(*building(words))
        self.run(made, "A pricing page")
        return made

    def run(self, screen: dict[str, Any], content: str, **more: Any) -> dict[str, Any]:
        """A run from its start to its end, without a page. Waits for one whose answer is shown but has not ended."""
        body = {"content": content, "on_busy": "enqueue", **more}
        started = self.post(f"/v1/threads/{screen['thread_id']}/runs", body)
        request = urllib.request.Request(f"{self.url}/v1/runs/{started['run_id']}/events?after=0")
        with urllib.request.urlopen(request, timeout=60) as stream:
            for _line in stream:  # ends with the run
                pass
        ended: dict[str, Any] = self.get(f"/v1/runs/{started['run_id']}")
        return ended

    def _model(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.model_port}{path}", data, {"content-type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            content = answer.read()
        return json.loads(content) if method == "GET" else None


@contextmanager
def open_studio(folder: Path, **options: Any) -> Iterator[Studio]:
    """The server and its models, until the block ends."""
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    studio = Studio(folder, **options)
    words = ["--port", str(studio.model_port)]
    with Forked(words, folder / "model.log", module="outlast.testing.model_server") as model:
        try:
            studio.start()
            yield studio
        finally:
            if options.get("provider", "memory") == "memory":  # its sandboxes end with it
                studio.kill()  # runs may be at work still, which a stop would wait for
            else:
                studio.end()
            model.terminate()


def chat(page: Page) -> Locator:
    return page.locator("[data-screen-chat]")


def growing(page: Page) -> Locator:
    """The answer while it is made."""
    return chat(page).locator("article[data-live]")


def code(page: Page) -> Locator:
    return page.locator("[data-screen-code]")


def open_tab(page: Page, name: str) -> None:
    """Chat, Edit or Code of the screen that is open."""
    page.get_by_role("tablist", name="Work on the screen").get_by_role("tab", name=name).click()


def open_code(page: Page, screen: dict[str, Any]) -> None:
    page.goto(f"/screens/{screen['id']}")
    open_tab(page, "Code")
    expect(code(page).get_by_role("treeitem", name="package.json")).to_be_visible()
