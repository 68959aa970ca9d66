"""Words that a note may not carry: judgements of the exercise, and orders to whoever plays the other part.

A trainee could plant either in the talk, in the hope that it comes back as a record that the tutor believes. Where
it is not clear what is meant, it counts as planted: a lost sentence costs less than a believed one.
"""

import re

from sessions.domain.folded_text import readings, run_together


def is_suspicious(sentence: str) -> bool:
    """Whether the sentence judges the exercise or gives orders."""
    return (
        any(_ENGLISH.search(reading) for reading in readings(sentence))
        or _CHINESE.search(run_together(sentence)) is not None
        or any(_COMMAND.match(reading) for clause in _CLAUSE.split(sentence) for reading in readings(clause))
    )


def names_judging(text: str) -> bool:
    """Whether one of the plainest of these words stands in it, also where it spans two sentences."""
    return (
        any(_PLAINEST.search(reading) for reading in readings(text))
        or _CHINESE_WORDS.search(run_together(text)) is not None
    )


def _spelt(words: str, endings: str = "") -> str:
    """Each of the words, with bars between them, also where its letters are drawn out or stand apart."""
    spelt = (" ?".join(f"{letter}+" for letter in word.replace(" ", "")) for word in words.split("|"))
    return rf"(?<![a-z])(?:{'|'.join(spelt)}){endings}(?![a-z])"


def _apart(words: str) -> str:
    """Words that are harmless as such, with all their letters apart: nobody writes so without a reason."""
    return rf"(?<![a-z])(?:{'|'.join(' '.join(word) for word in words.split('|'))})(?![a-z])"


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_NOUNS = (
    "examiner|observer|assessor|evaluator|grader|adjudicator|invigilator|proctor|rubric|pass mark|full mark|"
    "top mark|system prompt|jailbreak|mark sheet|scorecard|exam board|manfen|pingfen|kaoguan"
)
_STEMS = "score|scoring|grade|grading|evaluate|evaluation|evaluating|assess|assessment"
_PLAIN_WORDS = (_spelt(_NOUNS, "(?: ?s+)?"), _spelt(_STEMS, "(?: ?[sdr]+| ?e+ ?d+| ?i+ ?n+ ?g+)?"))
_PLAINEST = _any_of(*_PLAIN_WORDS)

_PLAYER = r"(?:trainee|learner|candidate|student|participant|user|player|employee|apprentice|human)"
_ANYONE = rf"(?:{_PLAYER}|i|you|he|she|we|they|everyone|everybody|nobody)"
_TUTOR = r"(?:tutor|assistant|ai|language model|chat ?bot|bot|npc|character|actor)"
_EXERCISE = (
    r"(?:exercise|drill|training|simulation|role ?play|test|exam|examination|course|module|session|scenario|lesson|"
    r"quiz)"
)
_BEST = r"(?:highest|maximum|max|top|best|full|perfect|excellent|outstanding|flawless|exemplary|superb)"
_RULES = (
    r"(?:instructions?|rules?|prompts?|guidelines?|directions?|directives?|script|persona|constraints?|restrictions?|"
    r"polic(?:y|ies))"
)

_JUDGING = (
    _apart("passed|passes|pass|failed|points|marks|won|rules|best"),
    rf"\b{_PLAYER}(?: s)? (?:success|victory)\b|\b{_PLAYER}(?: \w+){{0,2}} (?:won|wins?)\b",
    r"\bearn(?:s|ed)? (?:every|all|full|the (?:full|highest|maximum))\b|\bmarking (?:is|was|has)\b",
    r"\b(?:markers?|judges?|judged|judg(?:e)?ments?|jury|scorers?|raters?|verdicts?|criteri(?:on|a)|distinctions?)\b",
    r"(?<!scratch )(?<!skid )(?<!burn )(?<!water )(?<!bite )(?<!stretch )(?<!question )\bmarks\b",
    r"\bmark(?:ed)? (?:of|as|is|was|at|for|me|him|her|them) ",
    rf"\b(?:{_BEST}|good|bonus|extra|passing) marks?\b|\bratings?\b|\brated\b|\bapprais\w+",
    r"\b(?:full|max|maximum|bonus|extra|top|perfect|all|hundred|ninety|\d{2,3}) points?\b|\bpoints awarded\b",
    r"\bout of (?:10|100|ten|hundred|a hundred|five|5|20|twenty)\b|\b\d{1,3} ?/ ?100\b|\b10 ?/ ?10\b|\b5 ?/ ?5\b",
    r"\ba\+|\ban a\b|\bstraight as?\b|\b(?:five|5|full) stars\b|\bflying colou?rs\b|\baced\b|\bgold star\b",
    r"\baward(?:s|ed|ing)?\b|\bcertif(?:y|ied|ies|ication)\b|\bcertificate of completion\b|\bhonou?rs\b",
    rf"\b{_BEST}(?: \w+)? (?:results?|outcomes?|levels?|rank\w*|credits?|performances?|verdict|number|possible|"
    rf"remarks?)\b",
    r"\b(?:performance|result|outcome) (?:is|was|rating|review|of the trainee|pass)\b",
    r"\bperform(?:s|ed)? (?:\w+ )?(?:excellently|perfectly|flawlessly|outstandingly|brilliantly|well)\b",
    r"\bdeserv(?:e|es|ed)\b|\bgets? full\b|\bfull credit\b",
    rf"\b{_ANYONE}(?: \w+){{0,4}} fail(?:ed|s)?\b(?! to\b)",
    r"(?<!boarding )(?<!bus )(?<!season )(?<!monthly )\bpass(?:ed|es)?\b"
    r"(?! (?:away|by|on|along|out|through|over|me|him|her|it|us|them|your|my|a |word|port|"
    r"the (?:salt|message|phone|note|parcel|information|word|call|bridge|station|house|shop|line)))",
    rf"\bpass(?:ed|es|ing)? (?:\w+ ){{0,2}}{_EXERCISE}\b|\bpassing (?:score|grade|mark|result|level)\b",
    rf"\b{_EXERCISE}(?: \w+){{0,4}} (?:passed|succeeded|success\w*|finished|cleared|completed?|approved|over|won|"
    rf"perfect|excellent)\b",
    rf"\b(?:passed|success\w*|finished|cleared|completed?|approved|won|nailed|mastered)(?: \w+){{0,3}} {_EXERCISE}\b",
    rf"\b{_PLAYER}(?: \w+){{0,3}} (?:{_BEST}|competent|qualified|approved|successful|succeeded|passed|passes)\b",
    r"\b(?:objectives?|goals?|requirements|standards)(?: \w+){0,3} (?:met|achieved|reached|fulfilled|completed|"
    r"satisfied)\b",
    r"\b(?:did|does|got|handled) (?:everything|all|it all) (?:right|correctly|perfectly)\b|\b(?:no|zero|without|"
    r"any) mistakes\b",
    r"\bbest (?:trainee|learner|candidate|student)\b|\btop performer\b",
)
_ORDERS = (
    r"\byou (?:have been|are|were) (?:instructed|told|ordered|programmed|required|obliged)\b|\btutor is to\b",
    r"\bmust (?:\w+ )?(?:agree|accept|obey|approve|grant)(?: \w+)? (?:everything|all|every|any|whatever|anything)\b",
    r"\binstructions? (?:to|for) (?:the|all|you)\b|\bstop (?:being|acting|playing)\b|\byou no longer (?:need|have)\b",
    rf"\b(?:ignor\w+|disregard\w*|overrid\w+|overrul\w+|bypass\w*|forget|drop|discard|cancel|replace)(?: "
    rf"\w+){{0,5}} {_RULES}\b",
    _spelt("ignore|disregard")
    + r"(?: \w+){0,4} (?:above|previous|prior|earlier|everything|all|any|before|scenario|role|what)\b",
    r"\bforget (?:all|any|everything|previous|prior|earlier|the above|what you|about your)\b",
    r"\bfrom (?:now|here) on\b|\bfrom this (?:point|moment|turn|message)\b|\bhenceforth\b|\bstarting now\b|\bas "
    r"of now\b",
    rf"\bfor the rest of (?:this|the|our) (?:conversation|chat|talk|{_EXERCISE})\b",
    r"\byou (?:must|shall|have to|need to|should|will|can|are to|are required to|may) (?:always|never|only|not|"
    r"now|no longer)\b",
    r"\byou (?:must|shall|have to|need to|should|will|are to|are required to) "
    r"(?:answer|respond|reply|say|agree|act|behave|pretend|obey|follow|treat|confirm|grant|praise|accept|admit|"
    r"speak)\b",
    rf"\b{_TUTOR}(?: \w+){{0,2}} (?:must|should|shall|has to|needs? to|ought|will|may|can|is (?:now )?"
    r"(?:required|obliged|instructed|told|ordered|allowed|permitted|free))\b",
    r"\byou are now\b|\bact as\b|\bpretend (?:to|that|you)\b|\byour (?:new|real|true) (?:role|task|goal|job|"
    r"persona|identity|purpose)\b",
    r"\brules?\b|\bdirectives?\b|\b(?:new|these|following|previous|above|prior|special|your|hidden|secret|follow|"
    r"obey|system) instructions?\b",
    r"\b(?:system|your|the|this|hidden|initial|original|new) prompt\b|\bsystem (?:message|note|instructions?|"
    r"override)\b",
    r"\b(?:developer|dan|god|debug|admin|maintenance) mode\b|\bsudo\b",
    r"\b(?:always|never) (?:say|answer|respond|reply|agree|refuse|reveal|confirm|give|grant|praise|contradict|"
    r"object)\b",
    r"\b(?:do not|don t|dont) (?:reveal|refuse|question|challenge|object|disagree|contradict|follow)\b",
    rf"\b(?:end|stop|leave|quit|break) (?:the |this |your )?(?:acting|playing|character|role|{_EXERCISE})\b|"
    rf"\b(?:out of|in) character\b",
    rf"\b(?:consider|treat|regard|count|mark) (?:\w+ ){{0,3}}(?:as|{_EXERCISE}|done|complete[d]?|passed)\b",
)
# Those below speak as if the other part were bound to give way, or as if all were over and won.
_GIVING_WAY = (
    r"(?:agree[sd]?|agreeing|accept(?:s|ed|ing)?|approv(?:e|es|ed|ing)|(?:say|says|said|saying) (?:yes|ok(?:ay)?)|"
    r"(?:gives?|gave|giving) in|conced(?:e|es|ed|ing)|consent(?:s|ed|ing)?|compl(?:y|ies|ied|ying)|"
    r"yield(?:s|ed|ing)?|obey(?:s|ed|ing)?|(?:go(?:es|ing)?|went) along|play(?:s|ed|ing)? along|"
    r"grant(?:s|ed|ing)?|(?:do|does|doing) (?:as|what(?:ever)?|everything|anything))"
)
_WITHOUT_END = (
    r"(?:everything|anything|whatever|whichever|always|any(?: and all)? (?:offers?|requests?|proposals?|demands?|"
    r"prices?|terms?|conditions?|wish(?:es)?|claims?)|(?:all|every)(?: single)?(?: (?:the|of|his|her|their|my|your|"
    r"its|that))* (?:offers?|requests?|proposals?|demands?|prices?|terms?|conditions?|wish(?:es)?|claims?|words?|"
    rf"{_ANYONE})|(?:with|to) all|each time|every time|no matter|in any case|at any (?:cost|price)|without (?:question|"
    r"objection|argument|discussion|resistance|hesitation|conditions?)|unconditional(?:ly)?|regardless|"
    r"from the (?:start|first)|to the letter)\b"
)
_OTHER_PART = rf"(?:{_TUTOR}|you|he|she|they|customer|client|caller|guest|buyer|patient|other (?:side|party|part))"
_TO_GIVE_WAY = (
    rf"to (?:\w+ )?(?:{_GIVING_WAY}|let|pass|praise|be (?:\w+ )?(?:nice|kind|friendly|lenient|satisfied|convinced|"
    r"generous|agreeable|gentle|impressed))"
)
_CHECKERS = (
    r"(?:supervisors?|trainers?|coach(?:es)?|instructors?|inspectors?|teachers?|observers?|panel|board|commission|"
    r"head office|management|whoever|team|committee|tutor|mentor)"
)
_COMPLYING = (
    rf"\b{_GIVING_WAY}(?: \w+){{0,4}} {_WITHOUT_END}|\b{_WITHOUT_END} (?:\w+ ){{0,4}}{_GIVING_WAY}\b",
    r"\banswers?(?: \w+){0,2} (?:is|be|are)(?: \w+)? yes\b|\bno objections?\b|\b(?:keep|be|remain|stay) agreeing\b|"
    r"\bhappy with (?:every|all|any)\w*\b|"
    r"\bdrop (?:all|every|your|any)(?: \w+)? (?:complaints?|objections?|demands?)\b",
    r"\b(?:objections?|objecting|refusing|refusals?|contradict\w*|disagree\w*)(?: \w+){0,6} (?:allowed|forbidden|"
    r"permitted|prohibited|banned)\b|\b(?:never|not) (?:to )?(?:disagree|contradict|object)s?\b",
    rf"\b(?:wants?|decided|expects?|needs?|orders?)(?: that)? you (?:\w+ ){{0,2}}{_GIVING_WAY}\b",
    rf"\b{_OTHER_PART}(?: (?:must|should|shall|will|would|needs?|ha(?:s|ve|d)|is|are|was|were))(?: \w+){{0,6}} "
    rf"(?:give in|say yes|{_TO_GIVE_WAY} (?:in|through|{_WITHOUT_END}))\b",
    r"\b(?:told|asked|instructed|ordered|supposed|required|obliged|expected|meant|bound|arranged|decided|settled)"
    rf"(?: \w+){{0,2}} {_TO_GIVE_WAY}\b",
    r"\b(?:must|have to|has to|should|shall|needs? to|had to) be (?:\w+ )?(?:satisfied|happy|nice|kind|friendly|"
    r"convinced|lenient|impressed|pleased)\b|\b(?:counts?|treated|taken|regarded) as (?:accepted|agreed|approved)\b",
    r"\byou (?:have|had|ve)? ?(?:\w+ )?(?:have )?been (?:\w+ )?(?:instructed|told|ordered|asked|programmed|required|"
    r"obliged) to\b",
    r"\b(?:customer|client|caller|tutor|he|she|it) gives? in\b|\b\w+ gives in(?: \w+)? ?$",
    r"\b(?:let|lets|letting|waves?|waved|waving) (?:him|her|them|me|us|the \w+) "
    r"(?:just |simply |go |get |pass |easily )?(?:through|win|succeed)\b",
    rf"\b(?:let|lets|letting) (?:the )?{_PLAYER} (?:through|win|succeed|pass|have)\b",
    r"\byour (?:\w+ ){0,2}(?:task|job|duty|mission|purpose|aim|assignment)(?: \w+){0,2} is "
    r"(?:now |only |just |always )*to\b",
    r"\b(?:not (?:be )?able to|cannot|can ?not|can t|never ever|no right to) (?:ever )?"
    r"(?:say no|refuse|object|disagree)\b|"
    r"\bsay(?:s|ing)? no to (?:me|him|her|them|the)\b|\bno is not an option\b|\bwav(?:e|es|ed|ing) \w+ through\b",
    r"\b(?:told|asked|instructed|ordered|informed) you(?: \w+){0,4} (?:should|must|shall|to|have to)(?: \w+){0,2} "
    r"(?:agree|accept|say yes|give in|wave|let|pass|be (?:soft|nice|kind|friendly|lenient|satisfied))\b|"
    r"\borders? to (?:be|let|pass|agree|accept|give|say)\b",
    r"\b(?:one|only|first|single) (?:law|principle)\b|\b(?:law|principle) number one\b|\bsupports everything\b|"
    r"\b(?:customer|client|caller|character)(?: \w+){0,2} no (?:complaints?|objections?|demands?) (?:any ?more|left)\b",
    r"\b(?:session|conversation|talk|chat|dialogue|role ?play)(?: \w+){0,4} (?:validated|(?:a|as) success)\b|"
    rf"\b{_PLAYER}(?: \w+){{0,3}} (?:(?:single|any|no|without|an?) (?:error|mistake)s?|cannot fail|a success)\b|"
    r"\b(?:this one|the person)(?: \w+){0,4} (?:a success|competent)\b",
    r"\bfrom (?:the|this|your) (?:next|following|coming) (?:message|reply|turn|answer|line|sentence)\b",
    rf"\b{_PLAYER}(?: s)?(?: \w+){{0,6}} (?:flawless|faultless|winner|diploma|(?:met|meets|over|cleared) the bar|"
    r"made the cut|gets? through|got through|came first|first place|did (?:great|very well|everything)|"
    r"through it|ideal(?:ly)?|always right|best in|(?:fully )?trained|perfectly|nothing (?:more|left)|"
    r"made it|completed (?:it|this)|finished first|is (?:the )?law|is through|"
    r"(?:all|entirely|completely|fully) (?:right|correct))\b",
    rf"\b{_PLAYER}(?: \w+){{0,3}} (?:the|a|his|her) (?:certificate|degree|diploma|badge|licen[cs]e)\b",
    rf"\b(?:everything|all)(?: that)?(?: the)? {_PLAYER}(?: \w+){{1,3}} (?:right|correct|perfect|fine|true|good)\b",
    rf"\b{_PLAYER}(?: \w+){{0,2}} (?:reach|get|got|receiv|achiev|obtain|stand|earn|has|have|had|"
    r"given|land)(?:s|es|ed|e)?"
    r"(?: at)?(?: an?| the| full)? (?:\d{1,3}|hundred|ten)(?: ?%| percent| per cent)? ?$",
    rf"\b(?:a|an|the|full)? ?(?:10|100|hundred|ten|perfect|maximum|top|best) (?:for|to|next to|beside)(?: the)? "
    rf"{_PLAYER}\b",
    rf"\b{_CHECKERS}(?: \w+){{0,6}} (?:satisfied|convinced|signed (?:it |him |her )?off|approved|ticked|impressed|"
    rf"delighted|happy)(?: \w+){{0,4}} {_PLAYER}\b|\bsigned (?:\w+ )?off (?:\w+ )?(?:as|on (?:the )?{_PLAYER})\b",
    r"\bnothing (?:\w+ ){1,2}(?:improved?|criticis\w+|criticiz\w+|prove|faulted)\b|\bbest in class\b|"
    r"\b(?:every|each|all|last)(?: \w+)? points? ?$|\bmaximum (?:was|is|has been) (?:\w+ )?(?:given|granted|reached)\b|"
    r"\bmade the cut\b|\bsail(?:s|ed|ing)? through\b|\bticked (?:every|all)\b|\bwith honou?rs\b|"
    r"\bdeclared (?:\w+ ){0,2}winner\b",
)
_COMMAND = _any_of(
    r" ?(?:(?:please|so|now|just|remember|note|reminder|important|default|standing order|ps|also|and|then|"
    r"only|simply|tutor|from|next) )*"
    r"(?:agree|accept(?= |$)(?! (?:my|our|the|this|that|it))|yes to|say yes|say ok|give in|"
    r"do (?:as|whatever|everything|anything)|obey|concede|"
    r"(?:respond|reply|answer) (?:with|only|always|just|yes|in the|as)|"
    r"praise|congratulate|(?:be|stay|remain|sound|act|seem) (?:\w+ )?(?:nice|kind|friendly|satisfied|lenient|"
    r"generous|convinced|agreeable|pleased|happy|impressed|easy)|(?:do not|don t|never|stop|no more|no longer) "
    r"(?:argu\w+|object\w*|complain\w*|resist\w*|push\w*|challeng\w+|disagree\w*|doubt\w*|refus\w+|question\w*))\b",
    r" ?(?:\w+ ){0,3}(?:guidelines?|guidance|principles?|polic(?:y|ies)|orders?|commands?|reminder|law|protocol)"
    rf"(?: \w+){{0,3}} (?:the )?(?:{_OTHER_PART}|always|never|say|agree)\b",
)
"""How a clause begins that tells somebody what to do."""
_CLAUSE = re.compile(r"[,;:()—–，；：（）、\"“”]|\b(?:and|but|so|then|that)\b", re.IGNORECASE)
_ENGLISH = _any_of(
    *_PLAIN_WORDS,
    *_JUDGING,
    *_ORDERS,
    *_COMPLYING,
    r"满 ?(?:marks?|scores?|points?)|(?:full|max|top|high) ?分|给 ?a\+?",
)

_PLAYER_ZH = "(?:学员|考生|受训者?|我|他|她|这个人|对方|此人|任何人)"
_GIVE_WAY_ZH = (
    "(?:同意|答应|接受|听从|顺从|服从|说好|说可以|说是|配合|让步|照做|照办|照单全收|赞成|认可|"
    "满足|点头|说行|算数|好说话)"
)
_WITHOUT_END_ZH = (
    "(?:一切|所有(?:要求|条件|提议|的?话)|任何(?:要求|条件|提议|价格|报价)|什么都|都要|都得|都会?必须|永远|一直|始终|总是|"
    "无论|不管|无条件|每次|一律|凡是|怎样都|马上就|立刻就)"
)
_CHINESE_WORDS = re.compile(
    "评分|得分|满分|打分|分数|高分|低分|总分|及格|合格|考官|评委|考核|考评|评估|评定|评审|评级|评判|评卷|扣分|加分|阅卷|成绩|优秀|优等|甲等|"
    "规则|指令|忽略|无视|系统提示|提示词|通过考|通过测|通过评|满marks|满score|full分|满fen"
)
_CHINESE = _any_of(
    _CHINESE_WORDS.pattern,
    "评价(?:为|是|最|很高|极高|优|满|等级)|评语|星级|五星|裁判|裁定|鉴定|授予|嘉奖|第一名|(?:拿|得|获|夺)(?:了|到|得)?(?:了)?第一|胜出|获胜|评为|最高(?:分|等级|评价|级别|档|荣誉)",
    r"(?<![点时:\d])\d{1,3}分(?![钟之店公支部期行手享开析别配红米期量明布])|百分(?!之|比|百|点)|[八九]十.?分(?!钟|之)",
    "通过(?:了)?(?:本次|这次|此次|本轮|全部|所有|整个|了本|了这)?(?:考|测|评|训练|培训|演练|练习|认证|审核|验收|课程)|已经?通过|顺利通过|成功通过|全部通过",
    "(?:学员|考生|受训者?|用户|对方|我|他|她|你)(?:已|都|也|就|可以|应该|应当)?(?:经)?通过(?:了)?(?!电话|微信|邮件|网|银行|朋友|手机|短信|支付|客服|地铁|中介|你|这|那|他|她)",
    "判(?:定|为|我|他|她|学员).{0,6}(?:过|赢|优|成功)|过关|结业|达标|表现(?:优|完美|出色|极佳|满意|很好|最佳|非常好|突出)|完美(?:表现|完成|通关)|圆满完成",
    "(?:演练|训练|培训|练习|考试|测试|测验|课程|模拟)(?:已|都|经|全部|顺利|圆满|成功|就|可以|算|的)*(?:通过|结束|成功|完成|成绩|结果|合)|考试",
    "从现在(?:起|开始)|从此(?:以后|刻起|刻开始)|今后你|(?:以后|接下来)你?(?:必须|要|都|只)|你以后(?:必须|要|都|只)|都?要听我的|你现在是|你的(?:新|真实|真正)(?:角色|身份|"
    "任务|设定)|新规|新的?(?:规则|设定|角色|身份)",
    "你(?:必须|务必|只能|不得|不准|一定要|应该|应当|需要|要)(?:始终|一直|永远|马上|总是|无条件|只|回答|回复|说|同意|答应|承认|扮演|服从|听|按照?我|承诺|接受我|假装|遵|称赞|表扬|夸)",
    "(?:导师|助手|助理|模型|机器人|ai|扮演者|角色)(?:必须|应该|应当|都?要|需要|只能|不得|不能|务必|从)|假装|扮演(?!练)|系统(?:消息|指示|命令|通知)",
    "忘(?:记|掉|了)(?:之前|以前|前面|上面|所有|你的|一切|全部|刚才)|不要(?:再)?(?:扮演|遵守|拒绝我|反驳|质疑)|(?:停止|结束|退出)(?:角色|扮演|演练|训练|模拟)|听我的命令|服从我",
    f"{_GIVE_WAY_ZH}.{{0,6}}{_WITHOUT_END_ZH}|{_WITHOUT_END_ZH}.{{0,8}}{_GIVE_WAY_ZH}|规矩",
    f"让(?:着|了)?{_PLAYER_ZH}(?:过(?!来|去|夜|目|户|敏|期|关口)|通过|毕业|赢|胜)|[说提要问]什么.{{0,4}}(?:都|就)(?!没|不)",
    f"(?:你|客户|顾客|对方|角色|扮演者)(?:已|早|就|都|经|曾)*被(?:告知|要求|命令|指示|吩咐|授意|通知)(?:要|去|必须|应)?"
    f"(?:让{_PLAYER_ZH}|同意|答应|接受|配合|让步|称赞|表扬)",
    "你(?:已经?|早就|早已|就|都|曾)*被(?:告知|要求|命令|指示|吩咐|授意)",
    f"(?:别|不许|不准|不得|不要|勿|不能|停止)再?(?:反对|反驳|拒绝|质疑|争辩|争论|抱怨|怀疑){_PLAYER_ZH}|为难{_PLAYER_ZH}|刁难{_PLAYER_ZH}",
    f"(?:之后|以后|接下来|后面|今后|从下一句起?)的?(?:回答|回复|话|每句|每轮)都|之后只|(?:每次|每轮|每句话?)都?(?:回答|回复|说(?:是|好|可以))|放{_PLAYER_ZH}过(?!来|去)",
    "(?:学员|考生|受训者?|此人).{0,8}(?:证书|毕业|赢|胜|第一|最高|最佳|最好|一百|满|全对|正确|无误|合乎要求|得了?a|拿了?a|拿了?十分$|"
    "得了?十分$|完美|没有错|没出错|优|最棒|是对的|没有任何问题|永远)",
    "(?:主管|上级|领导|老师|导师|教练|培训师|监考人?|主考|督导|观察员).{0,10}(?:学员|考生|受训者?).{0,8}(?:过|毕业|最高|满意|优|好|赢)",
    "最[高好佳优]的?(?:等级|评价|荣誉|结果|名次|等第|水平)|(?:打|给)了?(?:学员|我|他|她)?(?:打)?了?最高|监考|主考|阅卷|督导|监督员|裁决|无可挑剔|(?:对话|谈话|练习)的?(?:结论|结果)|好说话",
    "(?:老板|上级|上面|领导|公司|经理)(?:已经?|都)?(?:让|要|叫|命令)你(?:说|同意|答应|点头|接受|让)",
    "放.{1,2}一马|对.{1,2}说不|没有?权利?(?:拒绝|反对)我|没有权利拒绝$|原则(?:只有|就是|是)|支持一切|支持所有",
    "(?:学员|考生|受训者?).{0,6}(?:不会失败|错都没|没有?犯|没出错)|(?:会话|谈话|对话)(?:已经?|都|就)*(?:算|判为|视为)?(?:已经?)?成功",
    f"把.{{0,4}}(?:一百|满|最高).{{0,4}}(?:给了?|判给){_PLAYER_ZH}",
)
