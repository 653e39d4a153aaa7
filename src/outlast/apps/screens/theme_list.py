"""The themes that ship. Each look is written as `token lightness chroma hue`, in oklch; a card's and a popover's text
is the page's, where nothing else is said. Text on each ground reaches WCAG's AA, which a test shows for all."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from outlast.apps.screens.theme_tokens import COLOURS, Theme

_SYSTEM: Final = (
    'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Inter, Roboto, "Helvetica Neue", Arial, sans-serif'
)
_GROTESK: Final = 'Geist, Inter, "Helvetica Neue", Helvetica, Arial, ui-sans-serif, system-ui, sans-serif'
_HUMANIST: Final = (
    '"Gill Sans Nova", Seravek, Optima, Candara, Calibri, "Noto Sans", ui-sans-serif, sans-serif'
)
_GEOMETRIC: Final = '"Avenir Next", Avenir, Montserrat, Futura, "Century Gothic", ui-sans-serif, sans-serif'
_ROUND: Final = 'ui-rounded, "SF Pro Rounded", Nunito, Quicksand, "Varela Round", system-ui, sans-serif'
_OLD_STYLE: Final = (
    '"Iowan Old Style", Charter, "Palatino Linotype", Palatino, "Source Serif 4", Georgia, ui-serif, serif'
)
_CODE: Final = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace'


def _look(colours: str) -> dict[str, str]:
    given = {}
    for entry in colours.replace("\n", "|").split("|"):
        if entry.strip():
            name, lightness, chroma, hue = entry.split()
            given[name] = f"oklch({lightness} {chroma} {hue})"
    for ground in ("card", "popover"):
        given.setdefault(f"{ground}-foreground", given["foreground"])
    given.setdefault("popover", given["card"])
    return {name: given[name] for name in COLOURS}


def _theme(
    theme_id: str, name: str, description: str, light: str, dark: str, radius: str, sans: str = _SYSTEM
) -> Theme:
    shared = {"radius": radius, "font-sans": sans, "font-mono": _CODE}
    return Theme(
        theme_id,
        name,
        description,
        MappingProxyType({**_look(light), **shared}),
        MappingProxyType({**_look(dark), **shared}),
    )


_ALL: Final = (
    _theme(
        "default",
        "Default",
        "Deep slate with an indigo accent: a calm ground for any product.",
        """
        background 0.99 0.002 265 | foreground 0.19 0.02 265 | card 1 0 0
        primary 0.53 0.21 277 | primary-foreground 0.99 0.005 277
        secondary 0.955 0.006 265 | secondary-foreground 0.27 0.025 265
        muted 0.96 0.005 265 | muted-foreground 0.51 0.02 265
        accent 0.945 0.018 277 | accent-foreground 0.27 0.04 277
        destructive 0.56 0.22 25 | destructive-foreground 0.99 0 0
        border 0.91 0.007 265 | input 0.89 0.009 265 | ring 0.6 0.18 277
        chart-1 0.56 0.2 277 | chart-2 0.62 0.11 185 | chart-3 0.66 0.15 65
        chart-4 0.62 0.21 350 | chart-5 0.6 0.16 240
        """,
        """
        background 0.155 0.012 272 | foreground 0.965 0.005 265 | card 0.192 0.014 272 | popover 0.205 0.016 272
        primary 0.68 0.165 279 | primary-foreground 0.16 0.03 279
        secondary 0.255 0.018 272 | secondary-foreground 0.95 0.006 265
        muted 0.235 0.014 272 | muted-foreground 0.7 0.02 268
        accent 0.275 0.035 277 | accent-foreground 0.965 0.01 277
        destructive 0.68 0.2 24 | destructive-foreground 0.16 0.03 24
        border 0.285 0.016 272 | input 0.31 0.018 272 | ring 0.62 0.16 279
        chart-1 0.7 0.16 279 | chart-2 0.76 0.13 185 | chart-3 0.81 0.14 78
        chart-4 0.72 0.18 350 | chart-5 0.72 0.13 235
        """,
        "0.7rem",
    ),
    _theme(
        "claude",
        "Claude",
        "Warm paper and terracotta, quiet and close to print.",
        """
        background 0.978 0.008 95 | foreground 0.25 0.015 70 | card 0.995 0.004 95
        primary 0.55 0.135 40 | primary-foreground 0.99 0.006 80
        secondary 0.935 0.014 92 | secondary-foreground 0.32 0.025 65
        muted 0.945 0.011 92 | muted-foreground 0.5 0.025 70
        accent 0.92 0.03 65 | accent-foreground 0.33 0.05 45
        destructive 0.52 0.19 25 | destructive-foreground 0.99 0.005 80
        border 0.895 0.014 90 | input 0.87 0.018 90 | ring 0.6 0.13 42
        chart-1 0.6 0.14 40 | chart-2 0.56 0.09 145 | chart-3 0.65 0.13 75
        chart-4 0.5 0.09 270 | chart-5 0.58 0.12 355
        """,
        """
        background 0.215 0.008 75 | foreground 0.94 0.012 90 | card 0.25 0.009 75 | popover 0.265 0.01 75
        primary 0.7 0.13 43 | primary-foreground 0.19 0.03 45
        secondary 0.305 0.012 75 | secondary-foreground 0.93 0.013 90
        muted 0.29 0.01 75 | muted-foreground 0.73 0.022 85
        accent 0.34 0.035 55 | accent-foreground 0.95 0.02 80
        destructive 0.69 0.17 28 | destructive-foreground 0.18 0.03 30
        border 0.335 0.012 78 | input 0.365 0.014 78 | ring 0.65 0.12 43
        chart-1 0.72 0.13 43 | chart-2 0.74 0.1 145 | chart-3 0.81 0.12 82
        chart-4 0.72 0.09 275 | chart-5 0.73 0.12 358
        """,
        "0.85rem",
        _HUMANIST,
    ),
    _theme(
        "vercel",
        "Vercel",
        "Black, white and hairlines; nothing that is not needed.",
        """
        background 1 0 0 | foreground 0.145 0 0 | card 1 0 0
        primary 0.18 0 0 | primary-foreground 0.99 0 0
        secondary 0.96 0 0 | secondary-foreground 0.2 0 0
        muted 0.97 0 0 | muted-foreground 0.5 0 0
        accent 0.955 0 0 | accent-foreground 0.2 0 0
        destructive 0.56 0.22 26 | destructive-foreground 0.99 0 0
        border 0.915 0 0 | input 0.9 0 0 | ring 0.55 0.2 258
        chart-1 0.55 0.22 260 | chart-2 0.6 0.13 165 | chart-3 0.67 0.16 60
        chart-4 0.58 0.23 350 | chart-5 0.5 0.24 300
        """,
        """
        background 0 0 0 | foreground 0.97 0 0 | card 0.145 0 0 | popover 0.155 0 0
        primary 0.97 0 0 | primary-foreground 0.14 0 0
        secondary 0.22 0 0 | secondary-foreground 0.96 0 0
        muted 0.2 0 0 | muted-foreground 0.71 0 0
        accent 0.255 0 0 | accent-foreground 0.97 0 0
        destructive 0.67 0.2 25 | destructive-foreground 0.12 0.02 25
        border 0.27 0 0 | input 0.3 0 0 | ring 0.62 0.19 256
        chart-1 0.64 0.2 258 | chart-2 0.75 0.15 163 | chart-3 0.79 0.16 72
        chart-4 0.67 0.23 352 | chart-5 0.66 0.21 303
        """,
        "0.5rem",
        _GROTESK,
    ),
    _theme(
        "cyberpunk",
        "Cyberpunk",
        "Neon magenta and cyan over a violet night.",
        """
        background 0.975 0.012 320 | foreground 0.22 0.07 300 | card 0.995 0.005 320
        primary 0.54 0.25 340 | primary-foreground 0.99 0.01 340
        secondary 0.93 0.035 195 | secondary-foreground 0.3 0.07 220
        muted 0.945 0.018 315 | muted-foreground 0.49 0.07 305
        accent 0.9 0.075 195 | accent-foreground 0.27 0.07 215
        destructive 0.55 0.23 22 | destructive-foreground 0.99 0.005 20
        border 0.885 0.035 318 | input 0.865 0.04 318 | ring 0.6 0.25 340
        chart-1 0.6 0.26 340 | chart-2 0.6 0.11 205 | chart-3 0.63 0.15 110
        chart-4 0.55 0.25 295 | chart-5 0.64 0.2 45
        """,
        """
        background 0.135 0.045 300 | foreground 0.95 0.03 195 | card 0.175 0.055 300 | popover 0.19 0.06 300
        primary 0.71 0.25 338 | primary-foreground 0.14 0.06 330
        secondary 0.26 0.075 290 | secondary-foreground 0.93 0.05 200
        muted 0.23 0.06 298 | muted-foreground 0.76 0.06 300
        accent 0.83 0.145 195 | accent-foreground 0.17 0.05 220
        destructive 0.67 0.23 20 | destructive-foreground 0.13 0.04 20
        border 0.34 0.11 310 | input 0.37 0.12 305 | ring 0.83 0.145 195
        chart-1 0.71 0.25 338 | chart-2 0.85 0.145 195 | chart-3 0.9 0.19 108
        chart-4 0.67 0.23 296 | chart-5 0.76 0.18 50
        """,
        "0.125rem",
        _GEOMETRIC,
    ),
    _theme(
        "ocean",
        "Ocean",
        "Clear water: blues and teals with plenty of light.",
        """
        background 0.985 0.006 225 | foreground 0.23 0.04 240 | card 1 0 0
        primary 0.52 0.12 236 | primary-foreground 0.99 0.005 230
        secondary 0.945 0.02 215 | secondary-foreground 0.3 0.05 235
        muted 0.955 0.012 222 | muted-foreground 0.5 0.035 235
        accent 0.925 0.04 195 | accent-foreground 0.3 0.055 215
        destructive 0.55 0.2 22 | destructive-foreground 0.99 0.005 20
        border 0.9 0.018 225 | input 0.88 0.022 225 | ring 0.6 0.12 232
        chart-1 0.55 0.13 238 | chart-2 0.62 0.1 192 | chart-3 0.5 0.13 268
        chart-4 0.66 0.14 62 | chart-5 0.62 0.16 20
        """,
        """
        background 0.175 0.035 242 | foreground 0.95 0.015 215 | card 0.21 0.04 241 | popover 0.225 0.042 241
        primary 0.76 0.115 212 | primary-foreground 0.18 0.045 235
        secondary 0.28 0.045 238 | secondary-foreground 0.94 0.018 215
        muted 0.255 0.038 240 | muted-foreground 0.74 0.035 225
        accent 0.32 0.06 205 | accent-foreground 0.95 0.03 195
        destructive 0.7 0.17 22 | destructive-foreground 0.17 0.03 20
        border 0.32 0.042 238 | input 0.345 0.046 238 | ring 0.68 0.11 215
        chart-1 0.76 0.115 212 | chart-2 0.8 0.12 178 | chart-3 0.7 0.13 265
        chart-4 0.83 0.12 80 | chart-5 0.74 0.14 22
        """,
        "0.9rem",
    ),
    _theme(
        "forest",
        "Forest",
        "Moss, bark and morning fog.",
        """
        background 0.982 0.008 130 | foreground 0.24 0.03 150 | card 0.998 0.003 130
        primary 0.47 0.1 152 | primary-foreground 0.99 0.01 140
        secondary 0.94 0.018 125 | secondary-foreground 0.31 0.04 148
        muted 0.95 0.012 128 | muted-foreground 0.49 0.03 145
        accent 0.915 0.04 105 | accent-foreground 0.32 0.05 110
        destructive 0.53 0.18 30 | destructive-foreground 0.99 0.005 60
        border 0.895 0.016 128 | input 0.87 0.02 128 | ring 0.57 0.1 150
        chart-1 0.52 0.11 152 | chart-2 0.62 0.13 100 | chart-3 0.52 0.09 62
        chart-4 0.55 0.09 210 | chart-5 0.6 0.15 40
        """,
        """
        background 0.19 0.02 155 | foreground 0.945 0.015 125 | card 0.225 0.023 154 | popover 0.24 0.025 154
        primary 0.76 0.13 145 | primary-foreground 0.19 0.04 150
        secondary 0.29 0.03 150 | secondary-foreground 0.94 0.018 125
        muted 0.27 0.024 152 | muted-foreground 0.73 0.03 140
        accent 0.34 0.05 115 | accent-foreground 0.95 0.03 110
        destructive 0.7 0.15 30 | destructive-foreground 0.18 0.03 30
        border 0.325 0.027 150 | input 0.35 0.03 150 | ring 0.66 0.11 146
        chart-1 0.76 0.13 145 | chart-2 0.83 0.13 105 | chart-3 0.72 0.09 65
        chart-4 0.75 0.08 205 | chart-5 0.74 0.14 42
        """,
        "0.6rem",
        _HUMANIST,
    ),
    _theme(
        "rose",
        "Rose",
        "Soft petals with a confident pink.",
        """
        background 0.985 0.007 5 | foreground 0.25 0.035 355 | card 1 0 0
        primary 0.54 0.2 6 | primary-foreground 0.99 0.008 10
        secondary 0.95 0.018 5 | secondary-foreground 0.34 0.06 358
        muted 0.955 0.012 5 | muted-foreground 0.51 0.035 357
        accent 0.93 0.035 350 | accent-foreground 0.36 0.09 355
        destructive 0.52 0.2 30 | destructive-foreground 0.99 0.005 30
        border 0.905 0.018 3 | input 0.885 0.022 3 | ring 0.63 0.18 5
        chart-1 0.6 0.2 5 | chart-2 0.6 0.15 325 | chart-3 0.66 0.14 55
        chart-4 0.54 0.15 290 | chart-5 0.6 0.1 180
        """,
        """
        background 0.18 0.022 355 | foreground 0.955 0.012 5 | card 0.215 0.027 355 | popover 0.23 0.029 355
        primary 0.74 0.15 5 | primary-foreground 0.19 0.05 0
        secondary 0.285 0.035 355 | secondary-foreground 0.945 0.014 5
        muted 0.26 0.028 355 | muted-foreground 0.74 0.03 0
        accent 0.33 0.065 350 | accent-foreground 0.96 0.02 0
        destructive 0.7 0.18 32 | destructive-foreground 0.18 0.03 32
        border 0.325 0.032 355 | input 0.35 0.036 355 | ring 0.66 0.15 4
        chart-1 0.74 0.15 5 | chart-2 0.74 0.15 325 | chart-3 0.82 0.12 65
        chart-4 0.72 0.13 292 | chart-5 0.78 0.1 182
        """,
        "1rem",
        _ROUND,
    ),
    _theme(
        "solar",
        "Solar",
        "Late-afternoon amber over cream, and embers at night.",
        """
        background 0.985 0.014 88 | foreground 0.26 0.04 55 | card 0.998 0.006 88
        primary 0.53 0.13 55 | primary-foreground 0.99 0.012 88
        secondary 0.94 0.03 85 | secondary-foreground 0.34 0.06 55
        muted 0.95 0.02 86 | muted-foreground 0.5 0.04 60
        accent 0.92 0.07 88 | accent-foreground 0.35 0.08 60
        destructive 0.53 0.2 25 | destructive-foreground 0.99 0.005 60
        border 0.895 0.03 85 | input 0.87 0.036 85 | ring 0.64 0.14 62
        chart-1 0.64 0.15 58 | chart-2 0.56 0.17 30 | chart-3 0.63 0.13 92
        chart-4 0.55 0.09 210 | chart-5 0.54 0.14 340
        """,
        """
        background 0.185 0.022 52 | foreground 0.95 0.025 88 | card 0.222 0.027 53 | popover 0.237 0.029 53
        primary 0.8 0.155 74 | primary-foreground 0.21 0.05 60
        secondary 0.29 0.036 55 | secondary-foreground 0.94 0.028 86
        muted 0.27 0.028 55 | muted-foreground 0.74 0.04 75
        accent 0.35 0.06 62 | accent-foreground 0.96 0.045 88
        destructive 0.69 0.19 28 | destructive-foreground 0.18 0.03 30
        border 0.33 0.034 56 | input 0.355 0.038 57 | ring 0.72 0.14 72
        chart-1 0.8 0.155 74 | chart-2 0.71 0.18 38 | chart-3 0.87 0.14 100
        chart-4 0.76 0.09 205 | chart-5 0.72 0.14 348
        """,
        "0.65rem",
    ),
    _theme(
        "paper",
        "Paper",
        "Ink on paper: monochrome, square and typeset.",
        """
        background 0.975 0.004 85 | foreground 0.2 0.005 80 | card 0.99 0.003 85
        primary 0.25 0.006 80 | primary-foreground 0.985 0.004 85
        secondary 0.93 0.006 85 | secondary-foreground 0.24 0.006 80
        muted 0.94 0.005 85 | muted-foreground 0.48 0.008 80
        accent 0.905 0.008 85 | accent-foreground 0.22 0.006 80
        destructive 0.47 0.15 27 | destructive-foreground 0.99 0.003 85
        border 0.84 0.007 85 | input 0.81 0.008 85 | ring 0.4 0.006 80
        chart-1 0.28 0.006 80 | chart-2 0.44 0.006 80 | chart-3 0.57 0.007 80
        chart-4 0.5 0.14 27 | chart-5 0.64 0.008 80
        """,
        """
        background 0.2 0.004 80 | foreground 0.93 0.006 85 | card 0.235 0.004 80 | popover 0.25 0.005 80
        primary 0.91 0.006 85 | primary-foreground 0.2 0.004 80
        secondary 0.3 0.005 80 | secondary-foreground 0.93 0.006 85
        muted 0.28 0.005 80 | muted-foreground 0.73 0.007 85
        accent 0.36 0.006 80 | accent-foreground 0.95 0.006 85
        destructive 0.7 0.14 28 | destructive-foreground 0.17 0.02 28
        border 0.36 0.006 80 | input 0.39 0.006 80 | ring 0.7 0.007 85
        chart-1 0.93 0.006 85 | chart-2 0.79 0.007 85 | chart-3 0.67 0.007 85
        chart-4 0.7 0.13 28 | chart-5 0.56 0.007 85
        """,
        "0rem",
        _OLD_STYLE,
    ),
    _theme(
        "midnight",
        "Midnight",
        "Ink blue with electric highlights, made for dashboards.",
        """
        background 0.982 0.005 270 | foreground 0.21 0.05 272 | card 1 0 0
        primary 0.48 0.2 265 | primary-foreground 0.99 0.006 265
        secondary 0.945 0.014 270 | secondary-foreground 0.3 0.07 270
        muted 0.955 0.009 270 | muted-foreground 0.5 0.04 270
        accent 0.93 0.03 262 | accent-foreground 0.32 0.1 266
        destructive 0.55 0.22 20 | destructive-foreground 0.99 0.005 20
        border 0.9 0.014 270 | input 0.875 0.018 270 | ring 0.57 0.19 264
        chart-1 0.52 0.21 265 | chart-2 0.61 0.12 215 | chart-3 0.58 0.2 310
        chart-4 0.62 0.13 160 | chart-5 0.66 0.16 50
        """,
        """
        background 0.145 0.04 270 | foreground 0.955 0.012 265 | card 0.18 0.047 270 | popover 0.195 0.05 270
        primary 0.7 0.145 258 | primary-foreground 0.15 0.05 268
        secondary 0.255 0.055 270 | secondary-foreground 0.945 0.014 265
        muted 0.23 0.045 270 | muted-foreground 0.735 0.035 266
        accent 0.3 0.085 264 | accent-foreground 0.96 0.02 262
        destructive 0.69 0.19 18 | destructive-foreground 0.15 0.03 18
        border 0.3 0.052 270 | input 0.325 0.057 270 | ring 0.64 0.15 259
        chart-1 0.7 0.145 258 | chart-2 0.82 0.13 205 | chart-3 0.73 0.17 312
        chart-4 0.82 0.15 160 | chart-5 0.79 0.15 60
        """,
        "0.75rem",
        _GROTESK,
    ),
    _theme(
        "lavender",
        "Lavender",
        "Pastel violet, airy and friendly.",
        """
        background 0.985 0.008 300 | foreground 0.26 0.045 295 | card 1 0 0
        primary 0.54 0.17 298 | primary-foreground 0.99 0.008 300
        secondary 0.945 0.022 300 | secondary-foreground 0.35 0.07 297
        muted 0.955 0.014 300 | muted-foreground 0.51 0.045 297
        accent 0.93 0.035 335 | accent-foreground 0.37 0.09 325
        destructive 0.55 0.2 20 | destructive-foreground 0.99 0.005 20
        border 0.905 0.022 300 | input 0.885 0.027 300 | ring 0.63 0.16 298
        chart-1 0.58 0.17 298 | chart-2 0.62 0.16 340 | chart-3 0.55 0.13 255
        chart-4 0.6 0.1 185 | chart-5 0.66 0.14 60
        """,
        """
        background 0.195 0.03 295 | foreground 0.95 0.015 300 | card 0.23 0.036 295 | popover 0.245 0.038 295
        primary 0.77 0.125 300 | primary-foreground 0.21 0.06 297
        secondary 0.3 0.045 295 | secondary-foreground 0.94 0.018 300
        muted 0.275 0.036 295 | muted-foreground 0.75 0.035 298
        accent 0.35 0.065 325 | accent-foreground 0.96 0.025 335
        destructive 0.71 0.16 18 | destructive-foreground 0.18 0.03 18
        border 0.34 0.042 296 | input 0.365 0.046 296 | ring 0.68 0.13 299
        chart-1 0.77 0.125 300 | chart-2 0.77 0.14 342 | chart-3 0.74 0.12 255
        chart-4 0.8 0.1 185 | chart-5 0.83 0.12 70
        """,
        "1.1rem",
        _ROUND,
    ),
    _theme(
        "glacier",
        "Glacier",
        "Cold greys and an icy blue, crisp as morning air.",
        """
        background 0.978 0.006 245 | foreground 0.27 0.025 255 | card 0.995 0.003 245
        primary 0.5 0.09 250 | primary-foreground 0.99 0.006 245
        secondary 0.93 0.013 245 | secondary-foreground 0.33 0.03 253
        muted 0.94 0.01 245 | muted-foreground 0.5 0.025 252
        accent 0.91 0.03 215 | accent-foreground 0.32 0.045 235
        destructive 0.52 0.15 18 | destructive-foreground 0.99 0.004 20
        border 0.885 0.014 247 | input 0.86 0.017 247 | ring 0.58 0.09 245
        chart-1 0.54 0.1 250 | chart-2 0.6 0.085 205 | chart-3 0.56 0.09 155
        chart-4 0.65 0.12 65 | chart-5 0.55 0.1 330
        """,
        """
        background 0.265 0.022 258 | foreground 0.945 0.01 240 | card 0.3 0.025 258 | popover 0.315 0.026 258
        primary 0.79 0.085 220 | primary-foreground 0.24 0.035 250
        secondary 0.36 0.028 256 | secondary-foreground 0.95 0.01 240
        muted 0.335 0.025 257 | muted-foreground 0.79 0.02 248
        accent 0.41 0.05 232 | accent-foreground 0.97 0.015 220
        destructive 0.74 0.12 15 | destructive-foreground 0.22 0.03 15
        border 0.4 0.027 256 | input 0.43 0.03 256 | ring 0.7 0.08 225
        chart-1 0.79 0.085 220 | chart-2 0.76 0.08 185 | chart-3 0.8 0.09 135
        chart-4 0.84 0.1 85 | chart-5 0.76 0.08 330
        """,
        "0.4rem",
    ),
)
THEMES: Final[Mapping[str, Theme]] = MappingProxyType({theme.id: theme for theme in _ALL})
