"""The tokens of a prompt in the bytes of an event."""

import pytest

from router.domain.prompt_ids import cut_prompt_ids


@pytest.mark.parametrize(
    ("block", "ids", "rest"),
    [
        (b'{"prompt_token_ids":[7,8],"a":[1]}', b"[7,8]", b'{"prompt_token_ids":null,"a":[1]}'),
        (b'{"prompt_token_ids": []}', b"[]", b'{"prompt_token_ids": null}'),
        (b'{"prompt_token_ids":null}', b"", b'{"prompt_token_ids":null}'),
        (b'{"a":"said \\"prompt_token_ids\\":[1]"}', b"", b'{"a":"said \\"prompt_token_ids\\":[1]"}'),
        (b'{"prompt_token_ids":[7,8', b"", b'{"prompt_token_ids":[7,8'),
    ],
)
def test_the_list_is_cut_out_as_it_is_written(block: bytes, ids: bytes, rest: bytes) -> None:
    assert cut_prompt_ids(block) == (ids, rest)
