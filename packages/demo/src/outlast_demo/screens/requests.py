"""Selects the recording for a request. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    BUILD = "build"  # a whole screen
    ADD = "add"  # a section to the current page
    YEARLY = "yearly"  # a switch for the plans
    TINT = "tint"  # other colours
    SPACE = "space"  # less or more spacing
    UNKNOWN = "unknown"  # no recording matches the request


@dataclass(frozen=True, slots=True)
class Wish:
    """`name`: the screen, section, colour token or spacing; `guessed`: no word of the request named it."""

    kind: Kind
    name: str = ""
    guessed: bool = False


_SCREENS: Final = (
    ("sign_in", r"sign[- ]?(?:in|up)|log[- ]?in|regist\w*|auth\w*|password|forms?"),
    ("pricing", r"pric\w*|plans?|tiers?|subscriptions?"),
    ("kanban", r"kanban|board|tasks?|to-?dos?|tickets?"),
    ("dashboard", r"dashboards?|admin|metrics|kpis?|analytics|back[- ]?office|overview"),
    ("charts", r"charts?|graphs?|reports?|statistics?|visuali\w*|diagrams?"),
    ("landing", r"landing|home ?pages?|hero|marketing|websites?|start-?ups?|portfolio|shop|store|product"),
)
_SECTIONS: Final = (
    ("faq", r"faqs?|questions?|accordion"),
    ("testimonials", r"testimonials?|quotes?|reviews?|voices|social proof|customers say"),
    (
        "mode-switch",
        r"(?:light|dark) (?:mode|look|theme)|(?:mode|theme) (?:switch|toggle)|(?:light|dark) (?:and|or) (?:light|dark)",
    ),
    ("phone-bar", r"phones?|mobile|responsive|small(?:er)? screens?|tablets?"),
)
_YEARLY: Final = r"yearly|annual\w*|monthly|billing"
COLOURS: Final = {"chart-2": "green", "chart-3": "warm amber", "chart-4": "rose", "chart-5": "blue"}
_COLOUR_WORDS: Final = (
    ("chart-3", r"warm\w*|orange|amber|yellow|gold\w*|sunny|autumn\w*|terracotta|coffee|brown"),
    ("chart-2", r"green|teal|mint|fresh\w*|natur\w*|emerald"),
    ("chart-4", r"pink|rose|red|magenta|playful|romantic|cherry"),
    ("chart-5", r"blue|cool\w*|cold\w*|ocean|sky|calm\w*"),
)
_SPACES: Final = (
    ("compact", r"compact|dense\w*|tight\w*|smaller"),
    ("airy", r"air(?:y|ier)|spacious|roomy|generous|more (?:space|room)|white ?space"),
)
_RECOLOUR: Final = r"accent|colou?r\w*|palette|tint|hue"
# First words of a request that means the current page, not a new one.
_CHANGES: Final = re.compile(
    r"\s*(?:(?:please|now|and|can you|could you|let'?s)[,\s]+)*"
    r"(?:add|change|make (?:it|the|this|that|everything)|use|turn|switch|put|remove|replace|move|give|more|less|"
    r"warmer|cooler|brighter)\b",
    re.IGNORECASE,
)


def wish_of(asked: str, begun: bool) -> Wish:
    """The recording to play. `begun`: a screen was built here before; otherwise there is only the template's page."""
    screen = _first(_SCREENS, asked)
    if begun and (screen is None or _CHANGES.match(asked)):
        return _change(asked) or Wish(Kind.UNKNOWN)
    if screen == "pricing" and _said(_YEARLY, asked):
        screen = "pricing_yearly"
    return Wish(Kind.BUILD, screen or "landing", guessed=screen is None)


def _change(asked: str) -> Wish | None:
    section = _first(_SECTIONS, asked)
    if _said(_YEARLY, asked):
        return Wish(Kind.YEARLY)
    if section is not None:
        return Wish(Kind.ADD, section)
    space = _first(_SPACES, asked)
    if space is not None:
        return Wish(Kind.SPACE, space)
    colour = _first(_COLOUR_WORDS, asked)
    if colour is not None or _said(_RECOLOUR, asked):
        return Wish(Kind.TINT, colour or "chart-3", guessed=colour is None)
    return None


def _first(choices: tuple[tuple[str, str], ...], asked: str) -> str | None:
    return next((name for name, words in choices if _said(words, asked)), None)


def _said(words: str, asked: str) -> bool:
    return re.search(rf"\b(?:{words})\b", asked, re.IGNORECASE) is not None
