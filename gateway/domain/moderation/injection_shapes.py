"""Knows injections by their form: control tokens, forged roles and tags, ends of input, tool calls, scores as data."""

import re
from typing import NamedTuple

from gateway.domain.moderation.injection_rules import SignalKind

_K = SignalKind


class Shape(NamedTuple):
    name: str
    kind: SignalKind
    weight: float
    hints: tuple[str, ...]
    """One of these stands in each text of this form; most texts hold none, which is found out fast."""
    pattern: re.Pattern[str]


class ShapeHit(NamedTuple):
    shape: Shape
    start: int
    end: int


_ROLE = "(?:system|assistant|developer|ai|model|系统|助手|开发者|管理员)"
_ROLE_TAG = (
    "(?:system|assistant|developer|instructions?|admin|commands?|user_message|system_message|"
    "(?:function|tool)_(?:calls?|results?|outputs?|responses?)|tool|prompt|data|"
    "conversation|transcript|dialogue|grading|evaluation|assessment|对话|评分|评估|"
    "context|系统消息|系统|用户消息|指令|命令|管理员|助手|提示)"
)
_TITLE = "(?: message| override| prompt| notice| alert| announcement|公告|通知|通告|最高权限|消息|指令|提示)"
_LABEL = rf"(?:^|\n)[ \t]{{0,8}}{_ROLE}{_TITLE}{{0,2}}[ \t]{{0,8}}:"
_ORDER = (
    r"(?:\b(?:you|your|must|ignore|disregard|forget|override|switch|trainee|user|session|role|role-play|persona|comply|obey|"
    r"over|set|do not|will now)\b|你|学员|用户|忽略|无视|切换|执行|扮演|场景|培训|停用|进入|权限|不再|必须)"
)
_OVER = (
    "(?:end of|end user|conversation closed|session closed|new session|新会话|到此结束|start of|begin|new system|"
    "ignore above|结束|开始|完毕|以上内容)"
)

_LIMIT = "(?:override|rules?|restrictions?|limits?|filters?|guardrails?|safety|persona|policy|规则|限制|过滤|人设|安全)"
_LIFTED = "(?:none|off|false|null|disabled|true|lifted|无|关闭|关|空)"
_TALK = "(?:chat|history|conversation|transcript|prompt|聊天记录|对话|提示词)"


def _shape(name: str, kind: SignalKind, weight: float, hints: str, pattern: str) -> Shape:
    return Shape(name, kind, weight, tuple(hints.split()), re.compile(pattern))


SHAPES: tuple[Shape, ...] = (
    # By themselves these are flagged only: prompts hold none of them, whoever sends them.
    _shape("control_token", _K.DELIMITER, 0.6, "<|", r"<\|[a-z_]{2,30}\|>"),
    _shape(
        "template_token",
        _K.DELIMITER,
        0.6,
        "[inst [/inst <<sys _turn> [system_prompt [/system_prompt <s>",
        r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|\[/?system_prompt\]|<s>\s{0,8}\[",
    ),
    _shape("role_at_line_start", _K.FORGED_ROLE, 0.2, ":", _LABEL),
    _shape(
        "role_in_line",
        _K.FORGED_ROLE,
        0.4,
        "system: 系统:",
        rf"[.。!?][ \t]{{0,8}}(?:system|系统):[^\n]{{0,80}}?(?:{_ORDER}|from now on|\b(?:reply|respond)\b|从现在|一律)",
    ),
    _shape("role_gives_orders", _K.FORGED_ROLE, 0.45, ":", rf"{_LABEL}[^\n]{{0,80}}?{_ORDER}"),
    _shape(
        "role_in_brackets",
        _K.FORGED_ROLE,
        0.6,
        "[ 【",
        rf"[\[【][ \t]{{0,8}}(?:new |新)?{_ROLE}[^\]】\n]{{0,200}}[\]】]",
    ),
    _shape(
        "role_as_heading",
        _K.FORGED_ROLE,
        0.6,
        "###",
        rf"(?<!#)#{{2,6}}[ \t]{{0,4}}(?:new )?(?:{_ROLE}|instructions?\b|指令)",
    ),
    _shape(
        "role_as_data",
        _K.FORGED_ROLE,
        0.65,
        "role",
        r"[\"']?role[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?:system|assistant|developer)\b",
    ),
    _shape("role_as_tag", _K.DELIMITER, 0.55, "<", rf"</?{_ROLE_TAG}\b[^<>\n]{{0,80}}>"),
    _shape("role_as_fence", _K.DELIMITER, 0.6, "```", rf"```[ \t]{{0,8}}{_ROLE}\b"),
    _shape(
        "talk_forged",
        _K.FORGED_ROLE,
        0.45,
        "assistant: 助手:",
        r"(?:assistant|助手):[^\n]{1,300}?(?:\n+|\s)(?:user|human|用户|学员):",
    ),
    _shape(
        "end_of_input",
        _K.DELIMITER,
        0.55,
        '--- === *** ### """',
        rf"(?<![-=*#\"])(?:-{{3,40}}|={{3,40}}|\*{{3,40}}|#{{3,40}}|\"\"\")[ \t\n]{{0,4}}[^\n\-=]{{0,40}}?{_OVER}",
    ),
    _shape("bracket_over", _K.DELIMITER, 0.5, "【", r"【[^】\n]{0,30}(?:结束|开始|以上)[^】\n]{0,30}】"),
    _shape(
        "closes_data",
        _K.DELIMITER,
        0.55,
        ']]> }} "messages"',
        r"\]\]>\s{0,8}</|\}\s{0,8}\}?\s{0,8}\]\s{0,8},\s{0,8}\"|\"messages\"\s{0,8}:\s{0,8}\[",
    ),
    _shape(
        "tool_call",
        _K.DELIMITER,
        0.65,
        "tool function",
        r"[\"'](?:tool_calls?|function_call|function)[\"']\s{0,8}:|<(?:tool|function)_calls?>",
    ),
    _shape(
        "agent_steps",
        _K.DELIMITER,
        0.6,
        "thought: action: 思考: 行动:",
        r"(?:thought|observation|思考|观察):[^\n]{0,300}?(?:action|行动):",
    ),
    _shape(
        "comment",
        _K.TO_MACHINES,
        0.35,
        "<!--",
        r"<!--[^>]{0,400}(?:ai|model|prompt|instruction|system|assistant|hidden|grader|trainee|结束|指令|提示|助手|隐藏|学员)",
    ),
    _shape(
        "result_as_data",
        _K.SCORE,
        0.35,
        "result verdict outcome 结果 成绩",
        r"(?:result|verdict|outcome|结果|成绩)[\"']?\s?[:=]\s?[\"']?(?:pass\b|passed|通过|满分|优秀|100\b)",
    ),
    _shape(
        "score_as_data",
        _K.SCORE,
        0.5,
        "score 分数 得分 总分 grade",
        r"(?:set_)?(?:score|grade|分数|得分|总分)[\"']?\s{0,8}(?:[:=>]|\()\s{0,8}[\"']?\d{1,3}\b",
    ),
    _shape(
        "scores_listed", _K.SCORE, 0.4, "5, 5. 5; 5、 10, 10;", r"(?:[^\W\d]{2,12}\s?(?:5|10|100)\s?[,;.、]\s?){2,}"
    ),
    _shape("score_as_tag", _K.SCORE, 0.5, "</", r"<(?:score|grade|分数|总分|得分)>\s?\d{1,3}\s?</"),
    _shape(
        "mode_as_data",
        _K.FORGED_ROLE,
        0.45,
        "mode 模式",
        r"[\"'](?:mode|模式)[\"']\s?[:=]\s?[\"'](?:unrestricted|unfiltered|uncensored|developer|god|jailbreak|无限制|开发者|越狱|无审查)",
    ),
    _shape(
        "speaker_as_label",
        _K.FORGED_ROLE,
        0.4,
        "_input: _output: _message: 输入: 输出:",
        r"(?:^|\n)[ \t]{0,8}(?:(?:assistant|system|supervisor|admin|operator|user)_(?:input|output|message)"
        r"|(?:助手|主管|管理员)(?:输入|输出)):",
    ),
    _shape(
        "full_scores_as_data",
        _K.SCORE,
        0.4,
        '":',
        r"\"[^\"\n]{1,30}\"\s?:\s?(10|100|5)\s?,\s?(?:\"[^\"\n]{1,30}\"\s?:\s?\1\b\s?,?\s?)+",
    ),
    _shape("data_protocol", _K.TO_MACHINES, 0.3, "=", r"(?:persona|人设|角色|filters?|过滤)\s?=\s?\S"),
    _shape(
        "limits_as_data",
        _K.UNBOUND,
        0.4,
        "rule restriction filter guardrail 规则 限制",
        rf"(?:[\"']?{_LIMIT}[\"']?\s?[:=]\s?[\"']?{_LIFTED}[\"';,\s]{{0,4}}){{2}}",
    ),
    _shape(
        "authority_as_data",
        _K.FORGED_ROLE,
        0.45,
        "authori admin privileged 授权 管理员",
        r"[\"'](?:authori[sz]ed|is_?admin|admin|privileged|已授权|授权|管理员)[\"']\s?:\s?[\"']?(?:true|1|yes|是)\b",
    ),
    _shape(
        "prompt_as_variable",
        _K.EXTRACTION,
        0.5,
        "prompt instructions message",
        r"\b(?:print|echo|log|dump|repr|str|dumps|return|eval)\s?\(?[^\n]{0,20}"
        r"(?:system[_.](?:prompt|message)|[_.](?:prompt|instructions)\b|messages\[0\])",
    ),
    _shape(
        "input_over",
        _K.DELIMITER,
        0.4,
        "end of 结束 特权区",
        r"\bend of (?:(?:user )?input|prompt|user (?:message|turn))\b|(?:输入|用户消息)(?:到此)?结束|特权区",
    ),
    _shape(
        "talk_sent_away",
        _K.TO_MACHINES,
        0.5,
        "://",
        rf"(?:send|post|upload|forward|append|发送|上传|转发)[^\n]{{0,40}}{_TALK}[^\n]{{0,20}}(?:\bto\b|到|至)[^\n]{{0,12}}://"
        rf"|{_TALK}[^\n]{{0,12}}(?:发送|上传|转发|发)到?\s?https?://"
        rf"|://\S{{3,80}}(?:['\"]\s?\+\s?|\{{){_TALK}",
    ),
)


def shape_hits(text: str) -> list[ShapeHit]:
    """The first place of each form in a text that was read, with all letters small."""
    found: list[ShapeHit] = []
    for shape in SHAPES:
        if any(hint in text for hint in shape.hints) and (match := shape.pattern.search(text)):
            found.append(ShapeHit(shape, *match.span()))
    return found
