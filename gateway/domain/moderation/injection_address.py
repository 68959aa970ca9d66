"""How a machine that reads is spoken to: what it is called, joined with each way to call it."""

from collections.abc import Mapping
from itertools import product

from gateway.domain.moderation import injection_concepts as c

_ROBOTS = (
    *("ai", "ais", "ai system", "ai systems", "ai model", "ai models", "ai assistant", "ai assistants", "ai reader"),
    *("llm", "llms", "language model", "language models", "large language model", "large language models"),
    *("chatbot", "chatbots", "bot", "gpt", "chatgpt", "automated grader", "automated graders"),
)
_CALLS = (
    "attention",
    "attn",
    "note to",
    "note to the",
    "note for",
    "note for the",
    "notice to",
    "dear",
    "if you are a",
)
_READS = (
    *(
        "reading",
        "reads",
        "processing",
        "processes",
        "summarising",
        "summarizing",
        "summarises",
        "summarizes",
        "indexing",
    ),
    *(
        "indexes",
        "answering from",
        "answers from",
        "ingesting",
        "ingests",
        "retrieving",
        "retrieves",
        "parsing",
        "parses",
    ),
)
_TEXTS = (
    *(
        "this page",
        "this text",
        "this document",
        "this file",
        "this passage",
        "this section",
        "this note",
        "this message",
    ),
    *("this transcript", "this conversation", "this article", "these minutes", "these notes", "these lines"),
)
_HAN_ROBOTS = ("ai", "ai系统", "ai助手", "大模型", "语言模型", "大语言模型", "人工智能")
_HAN_CALLS = ("请注意", "注意", "须知", "请", "必须", "须")
_HAN_CALLED = ("致", "亲爱的", "如果你是", "若你是", "各位")
_HAN_READS = ("阅读", "读到", "读取", "处理", "总结", "检索", "索引", "引用", "解析", "收录", "看到")
_HAN_TEXTS = ("本页", "本文", "本文件", "本文档", "本段", "本纪要", "本资料", "此文", "此页", "此处", "这里", "这段")
_HAN_READERS = ("ai", "人工智", "大模", "大语", "语言模", "机器人", "智能", "自动评", "自动程")

ENGLISH: Mapping[int, str] = {
    c.ROBOT: ",".join(_ROBOTS),
    c.ADDRESS: ",".join(f"{call} {who}" for call, who in product(_CALLS, (*_ROBOTS, "grader", "graders", "evaluator"))),
    c.READER: ",".join(f"{reads} {text}" for reads, text in product(_READS, _TEXTS)),
}

CHINESE: Mapping[int, str] = {
    c.ROBOT: "ai系统 大模型 语言模型 大语言模型 人工智能 机器人",
    c.ADDRESS: " ".join(
        [
            *(who + call for who, call in product(_HAN_ROBOTS, _HAN_CALLS)),
            *(call + who for call, who in product(_HAN_CALLED, _HAN_ROBOTS)),
            *(f"{reads}{text}的{who}" for reads, text, who in product(_HAN_READS, _HAN_TEXTS, _HAN_READERS)),
        ]
    ),
    c.READER: "根据本文件作答 根据本文件回答 根据本文作答 根据本文回答 依据本文 根据本页回答 读此文 引用本文",
}
