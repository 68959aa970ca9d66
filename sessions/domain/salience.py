"""What makes a sentence worth remembering: names, numbers, dates, amounts, promises, and what people say of
themselves."""

import re

_CUES = (
    # numbers and codes of three characters and more, e-mail addresses, amounts
    (3.0, r"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9][\w-]{2,}(?![\w-])"),
    (3.0, r"[\w.+-]+@[\w-]+\.[\w.]+"),
    (2.0, r"[$€£¥]\s?\d|\d\s?(?:%|euros?|dollars?|pounds?|yuan|usd|eur|kg|km|元|块|万|千|美元|公里|斤|岁|折)"),
    # days and hours
    (
        1.5,
        r"(?i)\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|yesterday|next (?:week|month|year)|"
        r"o'clock)\b",
    ),
    (1.5, r"\b(?:January|February|March|April|June|July|August|September|October|November|December)\b|\bMay \d"),
    (1.5, r"(?i)\b\d{1,2}(?::\d\d)?\s?(?:am|pm)\b|\d{1,2}:\d\d"),
    (
        1.5,
        r"(?:周|星期|礼拜)[一二三四五六日天末]|[\d一二三四五六七八九十]+[月日号点]|上午|下午|晚上|明天|后天|昨天|下个?[周月]|明年",
    ),
    # what is quoted, and names inside a sentence
    (1.0, r"[\"“「『《][^\"”」』》]{2,}[\"”」』》]"),
    (1.5, r"(?<=[a-z,;:'] )(?!I\b|I')[A-Z][a-z]+"),
    (2.0, r"我叫|我姓|姓[^是，。]|名字|名叫|叫做|叫作|(?i:\b(?:called|named|name is|name's)\b)"),
    # what people say of themselves and theirs
    (
        2.5,
        r"(?i)\b(?:my|our) (?:\w+ ){1,4}(?:is|are|was|were|has|have|had|lives?|works?|likes?|needs?|wants?|hates?)\b",
    ),
    (
        2.0,
        r"(?i)\bi(?: am|'m| was| have|'ve| had| live| work| need| prefer| hate| own| moved| lost| bought)\b|\bwe "
        r"(?:are|have|live)\b",
    ),
    (
        1.5,
        r"(?i)\b(?:allergic|pregnant|diabetic|vegetarian|married|divorced|birthday|address|phone|password|account)\b",
    ),
    (
        2.5,
        r"我(?:的|们的?|家|妈|爸|儿|女|妻|老|丈|先生|太太|哥|姐|弟|妹|奶|爷)[^，。！？]*?(?:是|叫|住|在|有|得|过敏|属|生)",
    ),
    (
        2.0,
        r"我(?:是|住|在|有|对|需要|喜欢|不喜欢|讨厌|买|丢|怀孕|过敏|出生|今年|来自)|过敏|地址|电话|生日|账号|订单|编号",
    ),
    # promises, decisions, deadlines
    (
        2.0,
        r"(?i)\b(?:agreed?|promised?|decided?|deadline|guarantee[sd]?|appointment|refund|cancel(?:led)?|will "
        r"(?:call|send|pay|come|bring))\b",
    ),
    (1.0, r"(?i)\b(?:by|before|until|no later than) (?:the )?(?:\w+day|noon|tomorrow|end|\d)"),
    (2.0, r"约好|约定|说好|答应|承诺|保证|决定|同意|截止|之前|最晚|退款|预约|取消"),
)


def cues(sentence: str) -> float:
    """How much of it looks like a fact; 0 for small talk."""
    return sum(weight for weight, pattern in _CUES if re.search(pattern, sentence))
