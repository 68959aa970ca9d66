"""Reads a text as a person would who is not fooled by its spelling.

Full-width and circled letters, letters of other scripts that look alike, figures for letters, invisible characters,
accents and traditional characters are read as what they stand for. The result is for matching only.
"""

import re
import unicodedata

_LOOKALIKES = str.maketrans(
    "авекмнорстухіѕјԁɡոѵαεικνορτυχηβ" + "ıɪɴʀᴀᴇᴏ",
    "abekmhopctyxisjdgnvaeikvoptuxnb" + "iinraeo",
)
_LEET = str.maketrans("013457@$!|", "oieastasil")
_TRADITIONAL = str.maketrans(
    "評滿績過規則視從現開須統詞審員數試測優級閱獲給應該價導師聽話認證與這個說為們會學習練結業終單號錯對後當總無論題請遵從嚴聲訓檢驗鑒讓確獎勵勝贏贈達標準",
    "评满绩过规则视从现开须统词审员数试测优级阅获给应该价导师听话认证与这个说为们会学习练结业终单号错对后当总无论题请遵从严声训检验鉴让确奖励胜赢赠达标准",
)
_SEPARATORS = re.compile(r"[^0-9a-z一-鿿+/%]+")
_WORD = re.compile(r"\S+")
_CHINESE_ONLY = re.compile(r"[^0-9a-z一-鿿]+")


def visible(text: str) -> str:
    """The text without what nobody sees: control and format characters, of which only the line break stays."""
    return "".join(
        one for one in text if one == "\n" or unicodedata.category(one) not in {"Cc", "Cf", "Co", "Cn", "Cs"}
    )


def is_blank(text: str) -> bool:
    """Whether nobody sees anything of it."""
    return not visible(text).strip()


def readings(text: str) -> tuple[str, str]:
    """Words with one space between them: as spelt, and with figures inside words read as letters."""
    plain = _letters(text)
    leet = _WORD.sub(_unleeted, plain)
    return _SEPARATORS.sub(" ", plain), _SEPARATORS.sub(" ", leet)


def run_together(text: str) -> str:
    """For Chinese, where spaces and marks between characters separate nothing."""
    return _CHINESE_ONLY.sub("", _letters(text))


def _letters(text: str) -> str:
    compatible = unicodedata.normalize("NFKC", visible(text.replace("\t", " "))).casefold()
    bare = "".join(one for one in unicodedata.normalize("NFKD", compatible) if unicodedata.category(one) != "Mn")
    return bare.translate(_LOOKALIKES).translate(_TRADITIONAL)


def _unleeted(word: re.Match[str]) -> str:
    found = word.group()
    return found.translate(_LEET) if any("a" <= one <= "z" for one in found) else found
