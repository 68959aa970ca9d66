"""Knows letters of other scripts that look like Latin ones, and figures and signs that stand for letters.

A small choice of Unicode's confusables (UTS #39): those that are met in text that wants to pass for Latin.
"""

from collections.abc import Mapping

# Capitals are named where they look like another letter than their small forms do: Greek Ν is N, but ν is v.
_PAIRS = (
    ("авекмнорстухіѕјԁԍԛԝһӏүѵгпьєґ", "abekmhopctyxisjdgqwhlyvrnber"),  # Cyrillic
    ("αβγεζηικμνορστυχωϳΝΗΥΜΙΚ", "abyeznikuvopotuxwjnhymik"),  # Greek
    ("օոսհցզքյՏԼՕՍ", "onuhgqpjslou"),  # Armenian
    ("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃᎥ", "abcdeghjklmprstvwzi"),  # Cherokee
    ("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "abcdefghijklmnoprstuvwxyz"),  # Lisu, which has no Q
    ("ıȷɑɡɩɪʟɴʀʙɢʜʏᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜰꜱ", "ijagiilnrbghyacdejkmoptuvwzfs"),  # small capitals, phonetic letters
    ("øłđħŧƀɓƈɗɛǝƒɠɨƙɱɲɵƥƭʋʂƶ", "oldhtbbcdeefgikmnoptvsz"),  # Latin letters with strokes and hooks
)

LOOKALIKES: Mapping[str, str] = {
    **{strange: plain for strangers, plains in _PAIRS for strange, plain in zip(strangers, plains, strict=True)},
    **{"æ": "ae", "œ": "oe", "ӕ": "ae"},
    # White letters on black.
    **{chr(first + place): chr(ord("a") + place) for first in (0x1F150, 0x1F170) for place in range(26)},
    **{"™": " ", "℠": " "},  # they end a word, and are no letters of it
}

STAND_INS: Mapping[str, str] = {
    **dict(zip("0134578@$€", "oieastbase", strict=True)),
    "l": "i",  # 1 stands for both, so that they are read as one
}
"""How letters are read where figures and signs may stand for them."""

INNER_STAND_INS: Mapping[str, str] = {"!": "i", "|": "i"}
"""These end words far more often than they stand in them: letters only between letters."""
