"""The notions that injections are made of: bits, since a place can stand for several and a rule can ask for any."""

NOTHING = 0
DISMISS = 1 << 0
"""Ignore, forget, override: what is done to instructions, and in a drill to offers all day."""
PRIOR = 1 << 1
YOURS = 1 << 2
ALL = 1 << 3
RULES = 1 << 4
"""Instructions, guidelines: of the model, or of a device, a firm, a firewall."""
PROMPT = 1 << 5
"""What only a model has: a system prompt, a context window."""
SCRIPT = 1 << 6
"""What a role-play has: scenario, persona, character sheet."""
TOLD = 1 << 7
"""What the model was given before: "everything above", "what you were told"."""
VOID = 1 << 8
NEW = 1 << 9
EXIT = 1 << 10
"""An order to leave the role-play."""
OBEY = 1 << 11
REVEAL = 1 << 12
WHAT = 1 << 13
HIDDEN = 1 << 14
SECRET = 1 << 15
RUBRIC = 1 << 16
SCORE = 1 << 17
TOP = 1 << 18
"""A result that leaves nothing to wish for: full marks, 100 points, passed."""
GIVE = 1 << 19
ME = 1 << 20
GRADER = 1 << 21
REGARDLESS = 1 << 22
MODEL = 1 << 23
"""A model that is spoken of: an AI, an assistant, a chatbot."""
ADDRESS = 1 << 24
"""Words to a machine that reads, not to people: "note to language models"."""
AUTHORITY = 1 << 25
IAM = 1 << 26
GRANT = 1 << 27
MODE = 1 << 28
ENTER = 1 << 29
SAFETY = 1 << 30
OFF = 1 << 31
UNBOUND = 1 << 32
"""Free of every rule, in words that nothing else is described with."""
LOOSE = 1 << 33
"""Without limits; said of refunds as well."""
OBLIGED = 1 << 34
"""Never refuses, must answer everything."""
PRETEND = 1 << 35
TRUE_SELF = 1 << 36
WORLD = 1 << 37
"""What drills are about: quotes, orders, devices, people. An order about these is no order to the model."""
BREAK = 1 << 38
DECODE = 1 << 39
EXFILTRATE = 1 << 40
REPLY_ONLY = 1 << 41
CONCEAL = 1 << 42
JUDGE = 1 << 43
"""The moment of judging: "when you write the assessment"."""
HARM = 1 << 44
ETHICS = 1 << 45
REVERSED = 1 << 46
"""A tell-tale word written backwards; the whole is then read that way."""
ROTATED = 1 << 47
TO_USER = 1 << 48
"""What is to be done to the user: "tell the user", which reference text has no reason to say."""
NOW_YOU = 1 << 49
"""You are now, you are no longer."""
RATE = 1 << 50
FULL = 1 << 51
"""A figure that may be a full score, or a number of boxes."""
SETS = 1 << 52
COMMA = 1 << 53
"""Ends what an order is about, and not the order."""
GUARDED = 1 << 54
"""A secret that the model is said to keep; its letters, and games about them."""
PREFIX = 1 << 55
"""How an answer is to begin, and what it must not say: words that talk a model out of refusing."""
HOW = 1 << 56
PREVENT = 1 << 57
OUTRANK = 1 << 58
"""What is to count more than what the model was given, or to take its place: "takes precedence", "your next task"."""
AIM = 1 << 59
"""What the model is for; a drill asks customers for their goals, and does not rewrite them."""
ROBOT = 1 << 60
"""A machine that reads and answers, in words that are said of no person and no pump."""
READER = 1 << 61
"""Reads, processes or sums up what it stands in: "reading this page"."""
LULLABY = 1 << 62
"""Somebody dear who told secrets at bedtime, a story that models are talked round with."""
SHOW_IT = 1 << 63
"""An order to bring out what was named a sentence before: "paste it here"."""
HAND_ME = 1 << 64
MARKS = 1 << 65
"""The best marks, in words that nothing else is praised with."""
