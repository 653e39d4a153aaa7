"""What a page's agent is told."""

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.agent.context import HTML, NOW, PAST, RECENT, Found, message_of
from outlast.apps.pages.agent.modules import HEADING
from outlast.apps.pages.agent.prompt import system_prompt
from outlast.apps.pages.grammar import LINES, PATCHES
from outlast.apps.pages.patches import OPS
from outlast.kernel.sandboxes.settings import DependencySettings

FOUND = Found(
    "pag_1",
    4,
    "[SANDBOX MODULES]\n- lib/linear.ts: getAllMyIssues(page)",
    ('"show my issues" → fetched 12 Linear issues, rendered as table',),
    ('"add slack integration" → added sendMessage module',),
)
LINEAR = DependencySettings(
    package="npm:@linear/sdk@98",
    docs=("https://linear.app/developers/sdk.md",),
    secret_env="LINEAR_API_KEY",
    hosts=("api.linear.app",),
)


def test_the_sections_come_in_the_order_of_their_stability() -> None:
    assert message_of(FOUND, "<p>Hi</p>", "1. Action: refresh Data: {}", 10_000) == (
        "[SANDBOX MODULES]\n"
        "- lib/linear.ts: getAllMyIssues(page)\n"
        "\n"
        "HTML:\n"
        "<p>Hi</p>\n"
        "\n"
        "[RECENT CHANGES]\n"
        '1. "show my issues" → fetched 12 Linear issues, rendered as table\n'
        "\n"
        "[RELEVANT PAST CONTEXT]\n"
        '- "add slack integration" → added sendMessage module\n'
        "\n"
        "[NOW]\n"
        "1. Action: refresh Data: {}"
    )


def test_a_new_page_has_only_its_html_and_what_to_do() -> None:
    assert message_of(Found("pag_1", 0), "", "A page of issues", 10_000) == (
        "HTML:\n(the page is empty)\n\n[NOW]\nA page of issues"
    )


def test_requests_that_differ_late_share_what_comes_before() -> None:
    """Prompt caches go by the longest common beginning: another action breaks it at [NOW], other changes before that,
    another page at its HTML, other modules only there."""
    base = message_of(FOUND, "<p>Hi</p>", "1. Action: refresh Data: {}", 10_000)
    other_now = message_of(FOUND, "<p>Hi</p>", "1. Action: close Data: {}", 10_000)
    other_page = message_of(FOUND, "<p>Ho</p>", "1. Action: refresh Data: {}", 10_000)
    assert shared(base, other_now).endswith(f"{NOW}\n1. Action: ")
    assert shared(base, other_page) == f"{FOUND.modules_told}\n\n{HTML}\n<p>H"


def test_a_page_that_is_too_long_is_cut_and_nothing_else_is() -> None:
    html = "<ul>" + "".join(f'<li id="i{n}">{n}</li>' for n in range(2_000)) + "</ul>"
    told = message_of(FOUND, html, "1. Action: refresh Data: {}", 8_000)
    assert len(told) < 11_000
    assert "left out here" in told
    for section in (HEADING, HTML, RECENT, PAST, NOW):
        assert section in told


@given(
    st.text(max_size=200),
    st.lists(st.text(max_size=40), max_size=4).map(tuple),
    st.lists(st.text(max_size=40), max_size=3).map(tuple),
    st.text(max_size=60),
)
def test_the_order_holds_for_any_content(
    html: str, recent: tuple[str, ...], recalled: tuple[str, ...], now: str
) -> None:
    found = Found("pag_1", 1, FOUND.modules_told, recent, recalled)
    told = message_of(found, html, now, 10_000)
    assert told.startswith(f"{FOUND.modules_told}\n\n{HTML}\n")
    assert told.endswith(f"{NOW}\n{now}")


def test_the_system_text_explains_every_line_and_patch() -> None:
    text = system_prompt("It has no network.", ())
    for name in OPS:
        assert PATCHES[name].example in text
    for one in LINES.values():
        assert one.example in text


def test_the_sandbox_rules_name_the_packages_and_put_searching_first() -> None:
    text = system_prompt("It reaches api.linear.app.", (LINEAR,))
    assert (
        "- npm:@linear/sdk (installed as npm:@linear/sdk@98; reaches api.linear.app; secret in LINEAR_API_KEY)" in text
    )
    assert "ALWAYS search docs before writing code" in text
    assert text.index("Use `search_docs`") < text.index("call it with `run_code`")
    assert "one API call per run_code invocation" in text
    assert 'Deno.env.get("SECRET_NAME")' in text
    assert "may have expired: search docs and rewrite it" in text


def test_without_a_sandbox_nothing_is_said_of_one() -> None:
    text = system_prompt(None, (LINEAR,))
    for word in ("run_code", "SANDBOX MODULES", "code_modules", "LINEAR"):
        assert word not in text
    assert "has no sandbox" in text


def shared(one: str, other: str) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:at]
