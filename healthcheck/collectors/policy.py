"""Which parts of this memory are declared unused? The health policy beside it."""

from cortex.layout import HEALTH_POLICY
from cortex.places import Layout
from healthcheck.collectors.folder import Document, read_document, shown
from healthcheck.evidence import Collected, NotEnabled, Observed, Unreadable
from policies.shapes import HealthPolicy, as_shape


def collect_policy(layout: Layout) -> Collected[NotEnabled]:
    """Read the health policy. Missing is the common case, and fine."""
    document = read_document(layout, layout.home, (HEALTH_POLICY,))
    if not isinstance(document, Document):
        return document
    path = shown(layout, layout.home / HEALTH_POLICY)
    policy = as_shape(document.value, HealthPolicy)
    if policy is None:
        return Unreadable(path, "has not exactly the known fields, or declares more than two parts not enabled")
    return Observed(NotEnabled(path, {str(part): reason for part, reason in sorted(policy.not_enabled.items())}))
