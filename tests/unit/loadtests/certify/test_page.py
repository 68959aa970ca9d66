import re
from html.parser import HTMLParser

from typing_extensions import override

from loadtests.certify.page import certificate_page
from tests.support.certified import CERTIFICATE, NOT_GIVEN


class Text(HTMLParser):
    """The words of a page; raises for anything that would need the network."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "img", "iframe"}
        assert not any(name in {"src", "href"} for name, _ in attrs)

    @override
    def handle_data(self, data: str) -> None:
        self.words.append(data)


def text(page: str) -> str:
    reader = Text()
    reader.feed(page)
    return re.sub(r"\s+", " ", " ".join(reader.words))


def test_the_page_says_all_of_it_and_needs_no_network() -> None:
    said = text(certificate_page(CERTIFICATE))
    for words in (
        CERTIFICATE.title,
        "With reservation: failure_share: too few",
        "298 completed, 2 lost",
        "Cold turns by cause",
        "kill replica-1 after 81 s",
        "redis-flush redis not before the end",
        "Not tried: a replica frozen: why.",
        "450 no answer did not hold",
        "300 612 ms held",
        "Modelled: the replicas",
        "Digest of all that was measured: abc",
        CERTIFICATE.digest,
    ):
        assert words in said, said
    assert said.index("300 612 ms held") < said.index("450 no answer")


def test_one_that_was_not_given_says_why_and_escapes_it() -> None:
    page = certificate_page(NOT_GIVEN)
    assert "<replicas>" not in page
    said = text(page)
    assert "too few <replicas> were up" in said
    assert "Nothing was broken." in said
    assert "Cold turns by cause" not in said
    assert "How many seats" not in said
    assert re.search(r'class="verdict bad"[^>]*><strong>Not certified</strong>', page)
