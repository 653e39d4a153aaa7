"""Hostile HTML in a real browser: of what the sanitiser keeps nothing runs, nothing is asked for and nothing leaves the
page, also where no other guard stands beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Request, Route

from outlast.apps.pages.apply import apply_patches
from outlast.apps.pages.embeds.shell import embed_headers
from outlast.apps.pages.shapes import Patch
from outlast.apps.pages.tree import Tree
from tests.hostile_html import HOSTILE
from tests.page_sequences import sanitised_html

pytestmark = pytest.mark.browser
ORIGIN = "http://page.test"
COUNTED = "<script>window.fired = []; window.alert = (what) => fired.push(String(what))</script>"

# Does what a reader might: goes over everything, clicks it, opens it, sends it.
PROD = """async () => {
  const EVENTS = 'pointerover mouseover pointerenter mouseenter mousedown mouseup focus input change toggle'.split(' ')
  const sent = []
  // As the page's own script does: what a form would send, and where to, is looked at instead.
  addEventListener('submit', (event) => {
    event.preventDefault()
    const action = (of) => Element.prototype.getAttribute.call(of, 'action')
    sent.push(action(event.target) ?? event.submitter?.getAttribute('formaction') ?? '')
  }, true)
  const all = [...document.querySelectorAll('main *')]
  for (const one of all) {
    for (const name of EVENTS)
      one.dispatchEvent(new Event(name, { bubbles: true }))
    if (one instanceof HTMLElement) HTMLElement.prototype.focus.call(one)
    if (one instanceof SVGElement) one.focus()
    // Links that lead out open apart from the page; they are looked at by themselves.
    if (Element.prototype.closest.call(one, 'a[target=_blank]') === null)
      one.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))
  }
  for (const form of document.querySelectorAll('main form')) HTMLFormElement.prototype.requestSubmit.call(form)
  await new Promise((done) => setTimeout(done, 300))
  return { fired, sent, address: location.href }
}"""


@dataclass
class Seen:
    """What a document did beyond being shown."""

    fired: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)
    address: str = ""


def show(browser: Browser, html: str, *, policy: str | None = None, prod: bool = True) -> Seen:
    seen, page = Seen(), browser.new_page()
    headers = {"content-type": "text/html; charset=utf-8"} | ({"content-security-policy": policy} if policy else {})
    document = f"<!doctype html><html><head>{COUNTED}</head><body><main>{html}</main></body></html>"

    def answer(route: Route, request: Request) -> None:
        if request.url == f"{ORIGIN}/":
            route.fulfill(body=document, headers=headers)
        else:
            seen.requests.append(request.url)
            route.abort()

    page.route("**/*", answer)
    page.on("dialog", lambda dialog: dialog.dismiss())
    try:
        page.goto(f"{ORIGIN}/")
        if prod:
            found = page.evaluate(PROD)
            seen.fired, seen.sent = found["fired"], set(found["sent"])
            seen.address = found["address"].partition("#")[0]
    finally:
        page.close()
    return seen


def cleaned() -> str:
    return "".join(f"<div>{sanitised_html(html)}</div>" for html in HOSTILE)


def quiet(seen: Seen) -> None:
    assert (seen.fired, seen.requests, seen.address) == ([], [], f"{ORIGIN}/")
    assert seen.sent <= {""}


def test_without_the_sanitiser_the_same_html_does_harm(browser: Browser) -> None:
    harm = show(
        browser, "<script>alert(1)</script><img src=//evil.test/1><p style='background:url(//evil.test/2)'>x</p>"
    )
    assert harm.fired == ["1"]
    assert sorted(harm.requests) == ["http://evil.test/1", "http://evil.test/2"]


def test_of_hostile_html_nothing_runs_and_nothing_is_asked_for(browser: Browser) -> None:
    quiet(show(browser, cleaned()))


def test_nothing_does_either_where_the_page_is_served_as_it_is_to_other_sites(browser: Browser) -> None:
    policy = dict(embed_headers(ORIGIN))[b"content-security-policy"].decode()
    seen = show(browser, cleaned(), policy=policy, prod=False)
    assert seen.requests == []


def test_hostile_values_of_patches_do_nothing_in_any_place(browser: Browser) -> None:
    """Also where HTML is read in another way: in rows, drawings, lists of choices, fields; and as attributes."""
    tree = Tree(
        '<div id="box"></div><table><tbody id="rows"><tr id="row"></tr></tbody></table><svg id="art"></svg>'
        '<select id="choice"></select><textarea id="field"></textarea><pre id="pre"></pre>'
        '<a id="link">x</a><img id="picture"><form id="form"><button id="send">x</button></form>'
        '<svg><use id="use"></use></svg>'
    )
    boxes = ("box", "rows", "row", "art", "choice", "field", "pre")
    values = ("javascript:alert(1)", "//evil.test/1", "data:text/html,<script>alert(1)</script>", "url(//evil.test/2)")
    names = ("href", "src", "action", "formaction", "style", "onclick", "srcdoc", "xlink:href", "fill", "ping")
    patches = [Patch(op="append", at=f"#{box}", html=html) for box in boxes for html in HOSTILE]
    patches += [Patch(op="text", at=f"#{box}", text=html) for box in ("box", "field", "pre") for html in HOSTILE[::9]]
    patches += [
        Patch(op="attributes", at=f"#{at}", set={name: value})
        for at in ("link", "picture", "form", "send", "use", "art")
        for name in names
        for value in values
    ]
    apply_patches(tree, patches)
    quiet(show(browser, tree.html()))
