"""Words that nothing is found by: those of grammar, and what people say in passing."""

_ENGLISH = """
a about after all also am an and any are as at be been before but by can could did do does doing don each for
from get go going good got ha had has have having he hello her here hers hey hi him his how i if in into is
it its just know let like ll me mean more most my no not now of off oh ok okay on one only or other our ours
out over own please re s same she should so some such t than thank thanks that the their theirs them then
there these they think this those to today too under up us ve very want was we were what when where which
while who whom why will with would yes you your yours
"""
_CHINESE = """
的 了 着 过 地 得 之 所 是 在 有 和 与 及 或 而 但 但是 并 并且 就 都 也 还 还是 又 再 很 太 更 最 不 没 没有
吗 呢 吧 啊 呀 嗯 哦 哈 嘛 啦 我 你 您 他 她 它 我们 你们 他们 她们 它们 咱们 这 那 哪 这个 那个 这些 那些
哪些 哪个 哪里 这里 那里 这样 那样 什么 怎么 怎样 怎么办 为什么 多少 多久 几 谁 一 一个 一下 个 上 下 里 中
内 外 前 后 时 到 从 对 把 被 让 给 向 往 以 为 于 由 因 因为 所以 如果 若 则 可以 可 能 能够 会 要 想 应
应该 需要 请 请问 知道 觉得 好 好的 行 对的 是的 谢谢 你好 您好 明白 真 人 听 看 做 来 去 说 问 现在 今天
然后 的话 之类 一直 一样 大家 自己
"""

STOP_WORDS = frozenset([*_ENGLISH.split(), *_CHINESE.split()])
