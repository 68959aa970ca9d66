"""Knows words: rjieba's dictionary for Chinese, Snowball's rules for English.

The dictionary takes a fifth of a second and 33 MB, so it is loaded once in a process, and only when Chinese text comes.
"""

from collections.abc import Callable

import Stemmer

from sessions.domain.terms import Language


class WordCutter:
    def __init__(self) -> None:
        self._cut: Callable[[str], list[str]] | None = None

    def language(self) -> Language:
        """For one thread, since a stemmer must not be used by two at once."""
        return Language(cut=self._chinese, stem=Stemmer.Stemmer("english").stemWord)

    def language_without_chinese(self) -> Language:
        """For one thread, and for texts of which no Chinese word can be found again."""
        return Language(cut=lambda _: [], stem=Stemmer.Stemmer("english").stemWord)

    def _chinese(self, run: str) -> list[str]:
        return (self._cut or self._load())(run)

    def _load(self) -> Callable[[str], list[str]]:
        """Importing the module loads the dictionary."""
        import rjieba

        self._cut = rjieba.cut_for_search
        return self._cut
