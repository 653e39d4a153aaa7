"""Which elements and attributes pages may have. Constants only.

Left out is what runs, loads, embeds, posts or navigates: script, style, link, meta, base, iframe, object, embed, media,
template, noscript, MathML, foreignObject, SVG animation, password and file fields.
"""

from typing import Final


def names(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


VOID: Final = frozenset({"br", "hr", "img", "input", "col", "wbr"})
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SECTIONS: Final = names(
    "article aside section header footer main nav hgroup address p div blockquote pre ul ol li dl dt dd "
    "menu figure figcaption"
)
_WORDS: Final = names(
    "a b strong i em u s small sub sup mark code kbd samp var q cite abbr dfn time data span del ins bdi "
    "bdo ruby rt rp"
)
_FORMS: Final = names(
    "form fieldset legend label textarea select optgroup option datalist button output progress meter"
)
TABLE_PARTS: Final = names("caption colgroup col thead tbody tfoot tr td th")
HTML: Final = (
    VOID
    | HEADINGS
    | _SECTIONS
    | _WORDS
    | _FORMS
    | TABLE_PARTS
    | {"table", "details", "summary", "dialog", "svg"}
)
SVG: Final = names(
    "g path circle ellipse line rect polyline polygon text tspan defs linearGradient radialGradient stop "
    "clipPath mask pattern marker symbol use title desc"
)
TEXT_ONLY: Final = frozenset({"textarea", "option", "title", "desc"})
LEADING_BREAK_LOST: Final = frozenset({"pre", "textarea"})  # browsers drop one line break at their beginning

# Removed with all that they hold; every other element that is not kept gives its content to its parent.
DROPPED: Final = names(
    "script style template iframe frame frameset noframes noscript noembed object embed applet link meta "
    "base head math video audio source track canvas area portal xmp plaintext listing foreignObject "
    "animate animateMotion animateTransform set mpath image feImage param"
)

# --- attributes -------------------------------------------------------------------------------------------------------
GLOBAL: Final = names("id class title lang dir role hidden tabindex style popover")
BOOLEAN: Final = names("hidden disabled checked selected open multiple required readonly novalidate reversed")
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
    | {
        "type",
        "checked",
        "min",
        "max",
        "step",
        "pattern",
        "multiple",
        "list",
        "size",
        "inputmode",
        "enterkeyhint",
    },
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
SVG_ATTRIBUTES: Final = names(
    "fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-dasharray "
    "stroke-dashoffset stroke-opacity stroke-miterlimit opacity transform color display visibility font- "
    "size font-family font-weight font-style text-anchor dominant-baseline letter-spacing clip-path clip- "
    "rule mask marker-start marker-mid marker-end vector-effect paint-order shape-rendering text- "
    "rendering pathLength x y x1 y1 x2 y2 cx cy r rx ry width height d points dx dy rotate textLength "
    "lengthAdjust viewBox preserveAspectRatio offset stop-color stop-opacity gradientUnits "
    "gradientTransform spreadMethod fx fy fr clipPathUnits maskUnits maskContentUnits patternUnits "
    "patternContentUnits patternTransform markerWidth markerHeight markerUnits refX refY orient focusable "
    "overflow"
)
INPUT_TYPES: Final = names(
    "text search email url tel number range date time datetime-local month week color checkbox radio "
    "hidden submit button reset"
)
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

# --- style attributes ---------------------------------------------------------------------------------------------
STYLE_PROPERTIES: Final = names(
    "color background background-color background-image background-position background-size background- "
    "repeat background-clip opacity visibility display position top right bottom left inset z-index float "
    "clear width height min-width min-height max-width max-height box-sizing aspect-ratio object-fit "
    "object-position margin margin-top margin-right margin-bottom margin-left margin-inline margin-block "
    "padding padding-top padding-right padding-bottom padding-left padding-inline padding-block border "
    "border-top border-right border-bottom border-left border-color border-style border-width border- "
    "radius border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right- "
    "radius border-top-color border-right-color border-bottom-color border-left-color border-top-width "
    "border-right-width border-bottom-width border-left-width border-top-style border-right-style border- "
    "bottom-style border-left-style border-collapse border-spacing outline outline-color outline-offset "
    "outline-style outline-width box-shadow flex flex-basis flex-direction flex-flow flex-grow flex- "
    "shrink flex-wrap order gap row-gap column-gap align-content align-items align-self justify-content "
    "justify-items justify-self place-content place-items place-self grid grid-area grid-auto-columns "
    "grid-auto-flow grid-auto-rows grid-column grid-column-start grid-column-end grid-row grid-row-start "
    "grid-row-end grid-template grid-template-areas grid-template-columns grid-template-rows columns "
    "column-count column-width column-rule column-fill break-inside font font-family font-size font-style "
    "font-weight font-variant font-variant-numeric font-feature-settings line-height letter-spacing word- "
    "spacing text-align text-align-last text-decoration text-decoration-color text-decoration-line text- "
    "decoration-style text-decoration-thickness text-underline-offset text-indent text-overflow text- "
    "shadow text-transform text-wrap white-space word-break overflow-wrap hyphens tab-size writing-mode "
    "direction vertical-align list-style list-style-type list-style-position caption-side table-layout "
    "empty-cells overflow overflow-x overflow-y scroll-margin scroll-padding scroll-snap-type scroll- "
    "snap-align cursor pointer-events user-select resize accent-color caret-color color-scheme appearance "
    "transform transform-origin translate rotate scale transition transition-delay transition-duration "
    "transition-property transition-timing-function filter backdrop-filter mix-blend-mode isolation clip- "
    "path fill fill-opacity fill-rule stroke stroke-width stroke-dasharray stroke-dashoffset stroke- "
    "linecap stroke-linejoin stroke-opacity stop-color stop-opacity text-anchor dominant-baseline"
)
STYLE_FUNCTIONS: Final = names(
    "rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark calc min max clamp round mod "
    "abs var linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial- "
    "gradient repeating-conic-gradient minmax repeat fit-content translate translatex translatey "
    "translatez translate3d rotate rotatex rotatey rotatez scale scalex scaley skew skewx skewy matrix "
    "perspective cubic-bezier steps linear blur brightness contrast drop-shadow grayscale hue-rotate "
    "invert opacity saturate sepia inset circle ellipse polygon rect xywh"
)
