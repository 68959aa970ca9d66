"""A device maker's knowledge in Chinese and English, and questions with the one passage that answers each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    key: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    answered_by: str


PASSAGES = (
    Passage(
        "zh-warranty",
        "售后政策 > 保修",
        "整机保修期为自签收之日起二十四个月,电池与滤芯属于消耗品,保修六个月。人为损坏、进水和私自拆机不在保修范围内。",
    ),
    Passage(
        "zh-return",
        "售后政策 > 退货",
        "签收后三十天内可以无理由退货。退货的设备须保持原包装完整,附件齐全;运费由客户承担,质量问题除外。",
    ),
    Passage(
        "zh-refund",
        "售后政策 > 退款",
        "仓库验收退回的设备后,三个工作日内原路退款。使用信用卡分期支付的订单,手续费不予退还。",
    ),
    Passage(
        "zh-discount",
        "销售政策 > 折扣权限",
        "销售代表可自行给予不超过百分之五的折扣;区域经理最高百分之十二。超过百分之十二的折扣须由销售总监书面批准。",
    ),
    Passage(
        "zh-renewal",
        "销售政策 > 续约",
        "合同到期前六十天开始与客户谈续约。提前续约两年以上的客户,可获赠一次免费的现场培训。",
    ),
    Passage(
        "zh-competitor",
        "销售话术 > 竞品比较",
        "与远峰公司的产品相比,我们的净水机噪音低八分贝,滤芯更换周期长一倍。不要贬低对手,只陈述检测报告中的事实。",
    ),
    Passage(
        "zh-objection",
        "销售话术 > 价格异议",
        "客户说太贵时,先认同其顾虑,再问清预算范围,然后把总拥有成本拆成每月费用来比较,最后才谈分期付款。",
    ),
    Passage(
        "zh-e42",
        "故障代码 > E-42",
        "屏幕显示 E-42 表示进水压力不足。请检查进水阀是否完全打开,再清洗前置滤网;仍未消除时预约工程师上门。",
    ),
    Passage(
        "zh-e17",
        "故障代码 > E-17",
        "E-17 表示水箱温度传感器断路。先断开电源五分钟再启动;若代码再次出现,须更换传感器,配件号 AX-4471。",
    ),
    Passage(
        "zh-filter",
        "使用说明 > 更换滤芯",
        "指示灯变红时应更换滤芯。关闭进水阀,逆时针旋下旧滤芯,装上新滤芯后冲洗十分钟,再长按复位键三秒。",
    ),
    Passage(
        "zh-install",
        "使用说明 > 安装条件",
        "安装位置须有冷水接口、排水口和三孔插座,距离墙面至少十厘米。水压应在 0.1 到 0.4 兆帕之间。",
    ),
    Passage(
        "zh-invoice",
        "财务 > 开票",
        "客户可以申请增值税专用发票,须提供公司名称、税号、开户行和账号。发票在付款后五个工作日内寄出。",
    ),
    Passage(
        "zh-privacy",
        "合规 > 个人信息",
        "通话录音保存一百八十天,仅用于质检。客户要求删除个人信息时,十五天内处理完毕并书面答复。",
    ),
    Passage(
        "zh-complaint",
        "服务规范 > 投诉",
        "接到投诉后先道歉并复述问题,两小时内给出处理方案。涉及人身安全的投诉立即上报值班主管,不得自行承诺赔偿。",
    ),
    Passage(
        "zh-hours",
        "服务规范 > 服务时间",
        "客服热线工作时间为每天八点到二十二点,法定节假日照常。上门维修只安排在周一到周六,须提前一天预约。",
    ),
    Passage(
        "en-cancel",
        "Subscriptions > Cancellation",
        "A subscription can be cancelled at any time from the account page. It stays active until the end of the paid "
        "month; the current month is not refunded.",
    ),
    Passage(
        "en-upgrade",
        "Subscriptions > Changing the plan",
        "Upgrading from Basic to Plus takes effect at once and is charged by the day. A downgrade takes effect with "
        "the next invoice.",
    ),
    Passage(
        "en-seats",
        "Subscriptions > Seats",
        "Each Plus plan includes ten seats. Further seats cost nine euros a month each and can be shared between "
        "departments.",
    ),
    Passage(
        "en-password",
        "Account > Password",
        "Whoever has forgotten the password requests a reset link by e-mail. The link works for one hour. After five "
        "wrong attempts the account is locked for thirty minutes.",
    ),
    Passage(
        "en-sso",
        "Account > Single sign-on",
        "Single sign-on works with SAML 2.0 and OpenID Connect. The customer's administrator uploads the metadata "
        "file; certificates must be renewed every year.",
    ),
    Passage(
        "en-export",
        "Data > Export",
        "All records can be exported as CSV or JSON Lines. Exports over one million rows are prepared overnight, and a "
        "download address is sent by e-mail.",
    ),
    Passage(
        "en-retention",
        "Data > Retention",
        "Deleted projects are kept in the recycle bin for fourteen days and then erased for good. Backups are "
        "overwritten after ninety days.",
    ),
    Passage(
        "en-shipping",
        "Orders > Shipping",
        "Parcels within the country arrive in two working days, abroad in seven to ten. Customs duties are paid by the "
        "recipient.",
    ),
    Passage(
        "en-damaged",
        "Orders > Damaged parcels",
        "Report a parcel that arrived damaged within forty-eight hours and send photographs of the box and the label. "
        "We ship a replacement without waiting for the carrier's inspection.",
    ),
    Passage(
        "en-payment",
        "Orders > Ways to pay",
        "We accept credit cards, bank transfer and purchase orders above 500 euros. Purchase orders are due within "
        "thirty days of the invoice.",
    ),
    Passage(
        "en-sla",
        "Support > Service levels",
        "Critical incidents are answered within fifteen minutes around the clock. When availability falls under 99.9 % "
        "in a month the customer is credited ten percent of the fee.",
    ),
    Passage(
        "en-r200",
        "Devices > R-200 router",
        "A blinking amber light on the R-200 means that the firmware update is still running; never unplug it then. A "
        "steady red light calls for a factory reset: hold the button for twelve seconds.",
    ),
    Passage(
        "en-battery",
        "Devices > Battery",
        "The handset's battery lasts eleven hours of calls. It must not be charged below freezing. Swollen batteries "
        "are to be returned to a collection point and never posted.",
    ),
    Passage(
        "en-objection",
        "Selling > Objections",
        "When a buyer says the rival is cheaper, ask what the quote includes before you answer. Compare support hours, "
        "migration and training, and offer a pilot rather than a lower price.",
    ),
    Passage(
        "en-gifts",
        "Compliance > Gifts",
        "Gifts worth more than fifty euros must be declined politely and reported to the compliance officer. Meals "
        "during negotiations with public buyers are not permitted at all.",
    ),
)

QUESTIONS = (
    Asked("这台机器保修多久?电池也一样吗?", "zh-warranty"),
    Asked("如果机器进水了,还能保修吗", "zh-warranty"),
    Asked("我不喜欢,买了两个星期了可以退货吗?", "zh-return"),
    Asked("东西寄回去的快递费谁出?包装我还留着", "zh-return"),
    Asked("退款什么时候到账?我是信用卡分期的。", "zh-refund"),
    Asked("你能给我打个折吗,百分之十行不行?", "zh-discount"),
    Asked("打八折,总监签字就行吗", "zh-discount"),
    Asked("我们的合同快到期了,续约有什么优惠或者赠送?", "zh-renewal"),
    Asked("续约的话能安排现场培训吗", "zh-renewal"),
    Asked("远峰的净水机比你们便宜,你们好在哪里?", "zh-competitor"),
    Asked("晚上用会不会很吵,噪音多少分贝", "zh-competitor"),
    Asked("客户嫌贵,说超出预算了,我该怎么回答?", "zh-objection"),
    Asked("屏幕上一直显示E42,怎么办?", "zh-e42"),
    Asked("出现 e-17 这个代码是什么意思", "zh-e17"),
    Asked("AX4471 是什么配件?", "zh-e17"),
    Asked("灯变红了,滤芯要怎么换", "zh-filter"),
    Asked("厨房没有三孔插座,能装吗?水压够不够", "zh-install"),
    Asked("公司报销要专票,你们能开吗", "zh-invoice"),
    Asked("你们的通话录音会保存多长时间?", "zh-privacy"),
    Asked("我要投诉!你们主管在哪里?", "zh-complaint"),
    Asked("星期天师傅能上门修吗", "zh-hours"),
    Asked("I want to cancel my subscription. Do I get this month back?", "en-cancel"),
    Asked("What happens if we downgrade from Plus to Basic?", "en-upgrade"),
    Asked("We have twelve people but only ten seats", "en-seats"),
    Asked("I forgot my password and now my account is locked", "en-password"),
    Asked("Do you support OpenID or SAML logins?", "en-sso"),
    Asked("The certificate has expired, who renews it?", "en-sso"),
    Asked("Can I export everything into a CSV file?", "en-export"),
    Asked("We deleted a project by mistake last week. Is it gone?", "en-retention"),
    Asked("How long does shipping abroad take, and who pays the customs duty?", "en-shipping"),
    Asked("The box arrived broken and damaged, I took photos.", "en-damaged"),
    Asked("Is a wire transfer fine, or do you need our card?", "en-payment"),
    Asked("What do we get when availability drops below 99.9%?", "en-sla"),
    Asked("Our system is down. How many minutes until somebody answers?", "en-sla"),
    Asked("My R200 is blinking amber. Should I unplug it?", "en-r200"),
    Asked("the router shows red all the time, can I reset it", "en-r200"),
    Asked("Is it OK to charge the handset outside in freezing weather?", "en-battery"),
    Asked("Honestly, the others quoted me a lower price than you.", "en-objection"),
    Asked("May I invite a public buyer to a meal?", "en-gifts"),
    Asked("The customer wants to give me a bottle of wine as a gift, worth 80 euros", "en-gifts"),
)

BESIDE_THE_POINT = (
    "今天天气真好,你吃饭了吗?",
    "嗯,好的,我明白了,谢谢你。",
    "Good morning! How are you doing today?",
    "Ha, that is a good one.",
    "你是哪里人?",
    "Let's talk about football instead.",
)
