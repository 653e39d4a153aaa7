"""Which elements and attributes pages may have, drawings (SVG) too. Constants only.

Left out is what runs, loads, embeds, posts or navigates: script, style, link, meta, base, iframe, object, embed, media,
template, noscript, MathML, foreignObject, SVG animation, password and file fields.
"""

from typing import Final

from outlast.base.data_files import read_names

VOID: Final = frozenset({"br", "hr", "img", "input", "col", "wbr"})
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SECTIONS: Final = read_names(__file__, "section_elements")
_WORDS: Final = read_names(__file__, "word_elements")
_FORMS: Final = read_names(__file__, "form_elements")
TABLE_PARTS: Final = frozenset({"caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"})
HTML: Final = (
    VOID | HEADINGS | _SECTIONS | _WORDS | _FORMS | TABLE_PARTS | {"table", "details", "summary", "dialog", "svg"}
)
TEXT_ONLY: Final = frozenset({"textarea", "option", "title", "desc"})
LEADING_BREAK_LOST: Final = frozenset({"pre", "textarea"})  # browsers drop one line break at their beginning

SVG: Final = read_names(__file__, "svg_elements")
SVG_ATTRIBUTES: Final = read_names(__file__, "svg_attributes")

# Removed with all that they hold; every other element that is not kept gives its content to its parent.
DROPPED: Final = read_names(__file__, "dropped_elements")

# Links lead to the web, or to one of the others. `safeLink` of the page's own script (web/src/page-runtime) agrees.
WEB_SCHEMES: Final = frozenset({"http", "https"})
OTHER_SCHEMES: Final = frozenset({"mailto"})

# --- attributes -------------------------------------------------------------------------------------------------------
GLOBAL: Final = frozenset({"id", "class", "title", "lang", "dir", "role", "hidden", "tabindex", "style", "popover"})
BOOLEAN: Final = frozenset(
    {"hidden", "disabled", "checked", "selected", "open", "multiple", "required", "readonly", "novalidate", "reversed"}
)
_FIELD: Final = frozenset({"name", "disabled", "form", "required"})
_TYPED: Final = _FIELD | {"value", "placeholder", "readonly", "minlength", "maxlength", "autocomplete"}
_CELL: Final = frozenset({"colspan", "rowspan", "headers"})
_OPENER: Final = frozenset({"popovertarget", "popovertargetaction", "commandfor", "command"})
OF_TAG: Final[dict[str, frozenset[str]]] = {
    "a": frozenset({"href"}),
    "img": frozenset({"src", "alt", "width", "height"}),
    "ol": frozenset({"start", "reversed", "type"}),
    "li": frozenset({"value"}),
    "data": frozenset({"value"}),
    "time": frozenset({"datetime"}),
    "ins": frozenset({"datetime"}),
    "del": frozenset({"datetime"}),
    "td": _CELL,
    "th": _CELL | {"scope", "abbr"},
    "col": frozenset({"span"}),
    "colgroup": frozenset({"span"}),
    "form": frozenset({"autocomplete", "novalidate"}),
    "fieldset": frozenset({"name", "disabled", "form"}),
    "label": frozenset({"for"}),
    "input": _TYPED
    | {"type", "checked", "min", "max", "step", "pattern", "multiple", "list", "size", "inputmode", "enterkeyhint"},
    "textarea": _TYPED - {"value"} | {"rows", "cols", "wrap", "inputmode", "enterkeyhint"},
    "select": _FIELD | {"multiple", "size", "autocomplete"},
    "optgroup": frozenset({"label", "disabled"}),
    "option": frozenset({"value", "label", "selected", "disabled"}),
    "button": _FIELD - {"required"} | _OPENER | {"type", "value"},
    "output": frozenset({"name", "for", "form"}),
    "progress": frozenset({"value", "max"}),
    "meter": frozenset({"value", "min", "max", "low", "high", "optimum"}),
    "details": frozenset({"open", "name"}),
    "dialog": frozenset({"open"}),
}
INPUT_TYPES: Final = read_names(__file__, "input_types")
WORDS_OF: Final[dict[tuple[str, str], frozenset[str]]] = {
    ("input", "type"): INPUT_TYPES,
    ("button", "type"): frozenset({"submit", "button", "reset"}),
    ("ol", "type"): frozenset({"1", "a", "A", "i", "I"}),
    ("th", "scope"): frozenset({"row", "col", "rowgroup", "colgroup"}),
    ("textarea", "wrap"): frozenset({"soft", "hard", "off"}),
    ("button", "popovertargetaction"): frozenset({"show", "hide", "toggle"}),
    ("button", "command"): frozenset(
        {"show-modal", "close", "request-close", "show-popover", "hide-popover", "toggle-popover"}
    ),
    ("*", "dir"): frozenset({"ltr", "rtl", "auto"}),
    ("*", "tabindex"): frozenset({"0", "-1"}),
    ("*", "popover"): frozenset({"", "auto", "manual"}),
}
