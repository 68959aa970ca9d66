"""Knows letters of other scripts that look like Latin ones, and figures and signs that stand for letters.

A choice of Unicode's confusables (UTS #39): those that are met in text that wants to pass for Latin. Latin letters with
strokes, hooks and tails, turned or reversed, tell by their own names which letter they are.
"""

import re
import unicodedata
from collections.abc import Mapping

# Capitals are named where they look like another letter than their small forms do: Greek Ν is N, but ν is v.
_PAIRS = (
    ("авекмнорстухіѕјԁԍԛԝһӏүѵгпьєґҽꙇѡяишқҡҟҝӄғҳӽӿҫөѳұ", "abekmhopctyxisjdgqwhlyvrnbereiwrnwkkkkkfxxxcooy"),  # Cyrillic
    ("αβγεζηικμνορστυχωϳϝϻᴦϲϹΝΗΥΜΙΚ", "abyeznikuvopotuxwjfmrccnhymik"),  # Greek
    ("օոսհցզքյռգաՏԼՕՍ", "onuhgqpjnqwslou"),  # Armenian
    ("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃᎥᏏᏧᏳᏂᎱᏒᏕᏔᎩᎽ", "abcdeghjklmprstvwzibdghrrswyy"),  # Cherokee
    ("ꓮꓐꓚꓒꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "abcddefghijklmnoprstuvwxyz"),  # Lisu, which has no Q
    ("ⲁⲃⲥⲉⲏⲓⲕⳑⲙⲛⲟⲣⲅⲧⲭⲩⲱⲍ", "abcehiklmnoprtxywz"),  # Coptic
    ("𐐽𐑃𐐬𐑈", "clos"),  # Deseret
    ("ᗅᑲᖯᗷᑯᗞᗪᖴᕼᒍᒪᗰᑭᖇᑌᐯᕁᕽᑕᗩᘔᔕᗴᑎᑫᗯᗝᗱᓰ᙭", "abbbdddfhjlmpruvxxcazsenqwoeix"),  # Canadian syllables
    ("𐊠𐊡𐊢𐊥𐋏𐊰𐊫𐊱𐊴𐊲𐊂𐊆𐊇𐊊𐊒𐊕𐊖𐊗𐊐", "abcfhmotxybeflopstx"),  # Carian, Lycian
    ("𐌁𐌂𐌠𐌉𐌑𐌕𐌢𐌗𐔜𐔥𐔘𐔦𐔓𐔖𐔝𐔧", "bciimtxxcfklnovx"),  # Old Italic, Elbasan
    ("ⴹⵏⵔⵕⴸⵝᛕᛁᛖᚷᛒᚱ𐓪𐓶", "eloqvxkimxbrou"),  # Tifinagh, runes, Osage
    ("ıȷɑɡɩɪʟɴʀʙɢʜʏᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜰꜱ", "ijagiilnrbghyacdejkmoptuvwzfs"),  # small capitals, phonetic letters
    (
        "ǝəɔɟðþŋɣʉʊĸƨƽƅʒɷᵻᵾʃʄ",
        "eecfdpnyuukssbzwiusf",
    ),  # Latin letters whose names say nothing, or what they no longer look like
    ("℮⍺⍳⍴", "eaip"),  # signs
)

_RADICALS = (
    "⺁⺄⺆⺇⺊⺌⺎⺐⺒⺓⺕⺗⺛⺜⺝⺠⺣⺤⺦⺪⺫⺬⺮⺱⺶⺷⺹⺻⺼⺽⻁⻄⻅⻆⻉⻊⻋⻑⻓⻔⻗⻘⻙⻚⻛⻜⻝⻞⻢⻣⻤⻥⻦⻧⻨⻩⻪⻬⻮⻰⻲",
    "厂乙冂几卜小兀尢巳幺彐心旡日月民灬爪丬疋目示竹网羊羊老聿肉臼虎西见角贝足车长长门雨青韦页风飞食食马骨鬼鱼鸟卤麦黄黾齐齿龙龟",
)
"""Parts of characters that stand for the whole one, which Unicode does not call compatible."""

_SEPARATORS = "丶丨丿灬ˆˇˈˉˊˋˌˍˎˏːˑˮʹʺʾʿˬǀǁǂǃꞈꞏꟷꜗꜘꜙꜛꜜꜝꜞꜟـᐧᐨᐩᐟᐠꓸꓹꓺꓻꓼꓽㆍー〱〳〴〵〻ヽヾゝゞ"
"""Letters by their category that nobody reads: strokes between characters, accents, tones and clicks that stand alone,
what draws a word or a sound out, and marks that say the character before once more."""

_BLANKS = "\u115f\u1160\u3164\uffa0"
"""Fillers of Hangul: letters that look like white space."""

LOOKALIKES: Mapping[str, str] = {
    **{strange: plain for strangers, plains in _PAIRS for strange, plain in zip(strangers, plains, strict=True)},
    **dict(zip(*_RADICALS, strict=True)),
    **{"æ": "ae", "œ": "oe", "ӕ": "ae"},
    # White letters on black.
    **{chr(first + place): chr(ord("a") + place) for first in (0x1F150, 0x1F170) for place in range(26)},
    **{"™": " ", "℠": " "},  # they end a word, and are no letters of it
    **dict.fromkeys("ʼʻʽ", "'"),
    **dict.fromkeys(_SEPARATORS + _BLANKS, "·"),
}

_LATIN_NAME = re.compile(
    r"LATIN (?:SMALL |CAPITAL )?LETTER (?:(?:SMALL CAPITAL|TURNED|REVERSED|SIDEWAYS|INVERTED|OPEN|CLOSED|BARRED|BROKEN"
    r"|STRETCHED|DOTLESS|LONG|INSULAR|BLACKLETTER|AFRICAN|(?:TOP|BOTTOM) HALF) )*([A-Z])(?: BAR| WITH .*)?"
)


def latin_letter(char: str) -> str | None:
    """Which plain letter it is by its name, whatever is done to it."""
    named = _LATIN_NAME.fullmatch(unicodedata.name(char, ""))
    return None if named is None else named[1].lower()


STAND_INS: Mapping[str, str] = {
    **dict(zip("0134578@$€", "oieastbase", strict=True)),
    "l": "i",  # 1 stands for both, so that they are read as one
}
"""How letters are read where figures and signs may stand for them."""

INNER_STAND_INS: Mapping[str, str] = {"!": "i", "|": "i"}
"""These end words far more often than they stand in them: letters only between letters."""
