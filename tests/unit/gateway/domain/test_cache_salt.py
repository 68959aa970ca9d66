from uuid import UUID, uuid4

from gateway.domain.cache_salt import cache_salt


def test_each_tenant_has_its_own_and_keeps_it() -> None:
    one, other = uuid4(), uuid4()
    assert cache_salt(one) == cache_salt(UUID(str(one)))
    assert cache_salt(one) != cache_salt(other)
    assert str(one) not in cache_salt(one)
