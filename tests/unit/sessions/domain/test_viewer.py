"""Whose sessions a viewer may see."""

from uuid import UUID

from sessions.domain.viewer import AccountId, TenantId, Viewer


def test_a_viewer_is_limited_to_the_own_sessions_unless_it_sees_all() -> None:
    tenant, account = TenantId(UUID(int=1)), AccountId(UUID(int=2))
    assert Viewer(tenant, account, sees_all=False).only_of == account
    assert Viewer(tenant, account, sees_all=True).only_of is None
