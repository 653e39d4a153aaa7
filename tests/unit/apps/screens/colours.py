"""Colours as WCAG sees them."""

import math
import re

_OKLCH = re.compile(r"oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)")


def linear_rgb(colour: str) -> tuple[float, float, float]:
    """Linear sRGB of an `oklch(L C H)`, each from 0 to 1, cut where the colour lies outside what a screen shows."""
    found = _OKLCH.fullmatch(colour)
    assert found is not None, colour
    lightness, chroma, hue = (float(part) for part in found.groups())
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return _cut(red), _cut(green), _cut(blue)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = linear_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))
