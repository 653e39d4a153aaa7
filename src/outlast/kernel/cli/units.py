"""Formats numbers with their units for people."""


def count(number: int, noun: str) -> str:
    """ "1 file", "12 files", "1,200 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_bytes(size_bytes: int | None) -> str | None:
    """ "1.5 GiB", "12 MiB", "3 KiB", "40 B"; None stays None."""
    if size_bytes is None:
        return None
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes >= size:
            return f"{size_bytes / size:.1f} {unit}" if unit == "GiB" else f"{size_bytes // size} {unit}"
    return f"{size_bytes} B"


def format_duration(seconds: float) -> str:
    """ "40 s", "12 min", "3 h", "5 d"; never negative."""
    seconds = max(0.0, seconds)
    for unit, size, below in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172_800)):
        if seconds < below:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.0f} d"
