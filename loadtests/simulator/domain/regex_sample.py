"""A text that a regular expression matches, chosen by dice; the expressions are those of JSON schemas.

Literals, `.`, classes, groups, alternatives, quantifiers and anchors; no look-around and no back references.
"""

import string

from loadtests.domain.dice import Dice

_DIGITS, _LETTERS = string.digits, string.ascii_letters
_ANY = _LETTERS + _DIGITS + " .,-_"
_CLASSES = {"d": _DIGITS, "w": _LETTERS + _DIGITS + "_", "s": " ", "D": _LETTERS, "W": " .,-", "S": _LETTERS + _DIGITS}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_MORE = 4  # times more than the least, where a quantifier has no end
_MOST_ATOMS = 10_000


class UnsupportedPattern(ValueError):
    """A regular expression beyond what is known here."""


def sample(pattern: str, dice: Dice) -> str:
    reader = _Reader(pattern, dice)
    text = reader.alternatives()
    if not reader.is_at_end:
        raise UnsupportedPattern(f"cannot read {pattern!r}")
    return text


class _Reader:
    """Reads the pattern once for every text it makes of it, and goes back for repetitions."""

    def __init__(self, pattern: str, dice: Dice) -> None:
        self._pattern = pattern
        self._dice = dice
        self._at = 0
        self._atoms = 0

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._pattern)

    def alternatives(self) -> str:
        texts = [self._sequence()]
        while self._take("|"):
            texts.append(self._sequence())
        return self._dice.one_of(texts)

    def _sequence(self) -> str:
        text = ""
        while not self.is_at_end and self._pattern[self._at] not in "|)":
            text += self._repeated()
        return text

    def _repeated(self) -> str:
        begin = self._at
        first = self._atom()
        end_of_atom = self._at
        least, most = self._quantifier()
        after = self._at
        times = self._dice.between(least, most)
        texts = [first] if times else []
        while len(texts) < times:
            self._at = begin
            texts.append(self._atom())
        self._at = max(after, end_of_atom)
        return "".join(texts)

    def _quantifier(self) -> tuple[int, int]:
        simple = {"?": (0, 1), "*": (0, _MORE), "+": (1, 1 + _MORE)}
        bounds = (1, 1)
        if not self.is_at_end and self._pattern[self._at] in simple:
            bounds = simple[self._pattern[self._at]]
            self._at += 1
        elif self._take("{"):
            bounds = self._counts()
        self._take("?")
        return bounds

    def _counts(self) -> tuple[int, int]:
        written, closed, _ = self._pattern[self._at :].partition("}")
        least, comma, most = written.partition(",")
        if not closed or not least.isdecimal() or not (most == "" or most.isdecimal()):
            raise UnsupportedPattern(f"no quantifier: {{{written}")
        self._at += len(written) + 1
        if not comma:
            return int(least), int(least)
        return int(least), int(most) if most else int(least) + _MORE

    def _atom(self) -> str:
        self._atoms += 1
        if self._atoms > _MOST_ATOMS:
            raise UnsupportedPattern("matches only what is too long")
        letter = self._next()
        match letter:
            case "^" | "$":
                return ""
            case ".":
                return self._dice.one_of(_ANY)
            case "[":
                return self._dice.one_of(self._class())
            case "(":
                return self._group()
            case "\\":
                return self._escaped()
            case "*" | "+" | "?" | "{":
                raise UnsupportedPattern("a quantifier with nothing before it")
            case _:
                return letter

    def _group(self) -> str:
        if self._take("?") and not self._take(":"):
            raise UnsupportedPattern("only plain groups are known")
        text = self.alternatives()
        if not self._take(")"):
            raise UnsupportedPattern("a group without an end")
        return text

    def _escaped(self) -> str:
        letter = self._next()
        if letter in "bB":
            return ""
        if letter.isdecimal():
            raise UnsupportedPattern("no back references")
        return self._dice.one_of(_CLASSES[letter]) if letter in _CLASSES else self._literal(letter)

    def _literal(self, letter: str) -> str:
        if letter != "u":
            return _ESCAPES.get(letter, letter)
        code = self._pattern[self._at : self._at + 4]
        self._at += 4
        return chr(int(code, 16))

    def _class(self) -> str:
        excluded = self._take("^")
        letters = ""
        while not self._take("]") or not letters:
            letter = self._next()
            if letter == "\\":
                name = self._next()
                if name in _CLASSES:
                    letters += _CLASSES[name]
                    continue
                letter = self._literal(name)
            letters += self._range(letter)
        if not excluded:
            return letters
        rest = "".join(each for each in _ANY if each not in letters)
        if not rest:
            raise UnsupportedPattern("a class that leaves nothing")
        return rest

    def _range(self, first: str) -> str:
        ahead = self._pattern[self._at : self._at + 2]
        if len(ahead) < len("-z") or ahead[0] != "-" or ahead[1] == "]":
            return first
        self._at += 1
        last = self._next()
        last = self._literal(self._next()) if last == "\\" else last
        # A wide range, all Chinese characters say, is thinned out.
        codes = range(ord(first), ord(last) + 1)
        return "".join(map(chr, codes[:: max(1, len(codes) // 256)]))

    def _take(self, letter: str) -> bool:
        if not self.is_at_end and self._pattern[self._at] == letter:
            self._at += 1
            return True
        return False

    def _next(self) -> str:
        if self.is_at_end:
            raise UnsupportedPattern("ends too early")
        self._at += 1
        return self._pattern[self._at - 1]
