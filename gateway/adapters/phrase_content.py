"""How what a list says is stored: JSON, a phrase in five words and a number, whose order stays for good."""

import json

from gateway.domain.moderation.phrases import Action, Phrase, PhraseList, Severity, Spelling


def written(phrases: PhraseList) -> str:
    rows = [
        [each.id, each.text, each.category, int(each.severity), each.action, each.spelling] for each in phrases.phrases
    ]
    return json.dumps({"phrases": rows, "allowed": phrases.allowed}, ensure_ascii=False)


def read(content: str, *, name: str, version: int) -> PhraseList:
    said = json.loads(content)
    phrases = (
        Phrase(
            id=key,
            text=text,
            category=category,
            severity=_SEVERITIES[severity],
            action=_ACTIONS[action],
            spelling=_SPELLINGS[spelling],
        )
        for key, text, category, severity, action, spelling in said["phrases"]
    )
    return PhraseList(name, version, tuple(phrases), tuple(said["allowed"]))


# An enumeration is some twenty times as slow as a dictionary, and these are asked for each phrase.
_SEVERITIES = {int(each): each for each in Severity}
_ACTIONS = {str(each): each for each in Action}
_SPELLINGS = {str(each): each for each in Spelling}
