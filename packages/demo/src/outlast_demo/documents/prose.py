"""Simple rules for English prose: shorten, clean up, turn into a list. Pure and deterministic.

Markdown that is not prose (code, links, tables) is left unchanged.
"""

import re
from typing import Final

_WORDY: Final = (
    (r"it (?:is|should be) (?:important|worth) (?:to note|noting) that ", ""),
    (r"(?:please )?note that ", ""),
    (r"as a matter of fact,? ", ""),
    (r"needless to say,? ", ""),
    (r"in order to", "to"),
    (r"due to the fact that", "because"),
    (r"in spite of the fact that", "although"),
    (r"at this point in time", "now"),
    (r"at the present time", "now"),
    (r"in the event that", "if"),
    (r"for the purpose of", "for"),
    (r"with (?:regard|respect) to", "about"),
    (r"a (?:large|great|significant) number of", "many"),
    (r"the (?:vast )?majority of", "most"),
    (r"has the ability to|is able to|is capable of being able to", "can"),
    (r"have the ability to|are able to", "can"),
    (r"(?:make|making) use of", "use"),
    (r"utili[sz]e", "use"),
    (r"utili[sz]es", "uses"),
    (r"utili[sz]ing", "using"),
    (r"prior to", "before"),
    (r"subsequent to", "after"),
    (r"as well as", "and"),
    (r"each and every", "every"),
    (r"on a (regular|daily|weekly|monthly) basis", r"\1"),
    (r"in the near future", "soon"),
    (r"take into consideration", "consider"),
    (r"in addition to", "besides"),
    (r"whether or not", "whether"),
    (r"(one|two|three|four|five|some|many|most|all) of them", r"\1"),
    (r"(?:very|really|quite|basically|actually|simply|just|totally|literally|certainly|definitely) ", ""),
)
_MISTAKES: Final = (
    (r"teh", "the"),
    (r"recieve(\w*)", r"receive\1"),
    (r"seperate(\w*)", r"separate\1"),
    (r"occured", "occurred"),
    (r"definately", "definitely"),
    (r"accomodate(\w*)", r"accommodate\1"),
    (r"untill", "until"),
    (r"wich", "which"),
    (r"adress(\w*)", r"address\1"),
    (r"enviroment(\w*)", r"environment\1"),
    (r"succesful(\w*)", r"successful\1"),
    (r"alot", "a lot"),
    (r"(could|should|would|must) of", r"\1 have"),
    (r"(\w+) \1", r"\1"),
)
_SHORTENED: Final = (
    (r"do not", "don't"),
    (r"does not", "doesn't"),
    (r"is not", "isn't"),
    (r"are not", "aren't"),
    (r"can ?not", "can't"),
    (r"will not", "won't"),
    (r"it is", "it's"),
    (r"we are", "we're"),
    (r"that is", "that's"),
)
# The search after a bracket is bounded: otherwise a text of brackets alone would take minutes.
_KEPT: Final = re.compile(r"(`[^`]*`|!?\[[^\]]{0,200}\]\([^)]{0,300}\)|https?://\S+|<[^>\n]{1,300}>)")
_SENTENCE: Final = re.compile(r"(?<=[.!?])[\"”’)*_]*\s+(?=[\"“‘(*_]*[A-ZÀ-Þ0-9])")
_ASIDE: Final = re.compile(r"(?<!\s)\s*\([^()]{8,}\)")
_TAIL: Final = re.compile(r"(?:,\s+(?:which|who|where|and|but|so|because|while|as)\b|;|\s[—–]\s|,\s+\w+ing\b)[^,;—–]*$")
_CLAUSE: Final = re.compile(r"(?<=\w) (?:that|which|who) [^,.;:!?]{1,200}?(?=[.:!?]?$)")
_INDEFINITE: Final = re.compile(r"\b(?:[Ss]ome|[Nn]o)(?:body|one)\b")
_ITEM: Final = re.compile(r"^(\s*(?:[-*+]|\d+[.)])\s+)(.*)$")
LONG_SENTENCE: Final = 9  # words


def is_prose(kind: str) -> bool:
    return kind in ("paragraph", "list", "quote")


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    return [one.strip() for one in _SENTENCE.split(" ".join(text.split())) if one.strip()]


def cleaned(text: str) -> str:
    """Fixes common mistakes and shortens wordy phrases; keeps the layout."""
    text = _outside_code(text, _MISTAKES)
    text = _outside_code(text, _WORDY)
    text = re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", text)
    text = re.sub(r"(?<=\w) +([,.;:!?])(?=\s|$)", r"\1", text)
    return _upper_starts(text)


def tightened(text: str, kind: str) -> str:
    """The text in fewer words, or the text unchanged if nothing can be cut."""
    if kind == "list":
        return _tight_list(text)
    shorter = cleaned(text)
    said = sentences(shorter)
    if len(said) >= 3:
        return " ".join(_without_weakest(said))
    if len(shorter.split()) <= len(text.split()) * 0.85:
        return shorter
    tight = " ".join(_tight_sentence(sentence) for sentence in said)
    if len(said) == 2 and len(tight.split()) > len(text.split()) * 0.85 and not said[1].endswith(":"):
        tight = max(said, key=_weight)
    return tight if tight != " ".join(text.split()) else text


def bared(text: str) -> str:
    """The text shorter still: with contractions, and without the last clause of each line."""
    lines = [_outside_code(line, _SHORTENED) for line in text.split("\n")]
    return "\n".join(line if _KEPT.search(line) or "|" in line else _CLAUSE.sub("", line) for line in lines)


def corrected(text: str) -> str:
    """Fixes common mistakes, and nothing else."""
    text = _outside_code(text, _MISTAKES)
    return re.sub(r"(?<=\w) +([,.;:!?])(?=\s|$)", r"\1", text)


def nominated(text: str, name: str) -> str:
    """Replaces the first indefinite pronoun with a name."""
    return _INDEFINITE.sub(name, text, count=1)


def polished(text: str) -> str:
    """Fixes mistakes, wordy phrases and a missing full stop."""
    mended = cleaned(text)
    if "\n" not in mended and re.search(r"[\w)]$", mended) and len(mended.split()) > LONG_SENTENCE:
        mended += "."
    return mended


def as_list(text: str, *, numbered: bool = False) -> str:
    """A paragraph as a list of its enumerated items, otherwise of its sentences. Unchanged if it has only one."""
    lead, items = _enumerated(text)
    if len(items) < 2:
        lead, items = "", sentences(text)
    if len(items) < 2 or items[-1].endswith(":"):
        return text
    marks = [f"{number}." if numbered else "-" for number in range(1, len(items) + 1)]
    listed = "\n".join(f"{mark} {item}" for mark, item in zip(marks, items, strict=True))
    return f"{lead}\n\n{listed}" if lead else listed


def as_prose(text: str) -> str:
    """A list as a paragraph."""
    items = [_ITEM.sub(r"\2", line).strip() for line in text.splitlines() if line.strip()]
    return " ".join(item if re.search(r"[.!?:]$", item) else f"{item}." for item in items)


def _enumerated(text: str) -> tuple[str, list[str]]:
    """The words before a colon, and the items listed after it."""
    plain = " ".join(text.split())
    lead, colon, rest = plain.partition(": ")
    if not colon or len(lead) > 200:
        return "", []
    items = re.split(r";\s+(?:and\s+)?|,\s+(?:and\s+|or\s+)?|\s+and\s+", rest.rstrip("."))
    found = [item.strip() for item in items if item.strip()]
    if len(found) < 3 or any(len(item.split()) > 14 for item in found):
        return "", []
    return f"{lead}:", [item[0].upper() + item[1:] for item in found]


def _tight_list(text: str) -> str:
    lines = []
    for line in text.splitlines():
        item = _ITEM.match(line)
        lines.append(f"{item[1]}{_tight_sentence(cleaned(item[2]))}" if item else line)
    return "\n".join(dict.fromkeys(lines))


def _tight_sentence(sentence: str) -> str:
    end = sentence[-1] if sentence[-1:] in ".!?" else ""
    body = _ASIDE.sub("", sentence[: len(sentence) - len(end)])
    lists = ":" in body or body.count(",") > 1
    if len(body.split()) > LONG_SENTENCE and not lists and not _KEPT.search(body):
        cut = _TAIL.sub("", body)
        if len(cut.split()) >= 5:
            body = cut
    return body + end


def _without_weakest(said: list[str]) -> list[str]:
    """Drops the sentence with the lowest weight, but never the first one."""
    droppable = [at for at, one in enumerate(said) if at and not one.endswith(":")]
    weakest = min(droppable, key=lambda at: (_weight(said[at]), -at), default=None)
    return [one for at, one in enumerate(said) if at != weakest]


def _weight(sentence: str) -> int:
    """The weight of a sentence: the number of its distinct long words and numbers."""
    return len({word.lower() for word in re.findall(r"\w{6,}|\d+", sentence)})


def _outside_code(text: str, rules: tuple[tuple[str, str], ...]) -> str:
    pieces = _KEPT.split(text)
    for at in range(0, len(pieces), 2):
        for pattern, better in rules:
            end = "" if pattern.endswith(" ") else r"\b"
            pieces[at] = re.sub(
                rf"\b(?:{pattern}){end}", lambda found, b=better: _cased(found, b), pieces[at], flags=re.IGNORECASE
            )
    return "".join(pieces)


def _cased(found: re.Match[str], better: str) -> str:
    new = found.expand(better)
    return new[:1].upper() + new[1:] if found[0][:1].isupper() and new else new


def _upper_starts(text: str) -> str:
    """Restores the capital at the start of the text and after a full stop, where a phrase before it was removed."""

    def raised(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2].upper()}"

    return re.sub(r"(^|[.!?]\s+)([a-zà-þ])(?=[a-zà-þ]*[ ,])", raised, text)
