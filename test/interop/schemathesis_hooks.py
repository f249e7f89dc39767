"""Requests of schemathesis that would end the simulator under test; see schemathesis.test.ts."""

import schemathesis


@schemathesis.hook
def before_call(_context, case, **_options):
    """Labs are checked and not begun: during a restart other operations get no answer."""
    body = case.body
    if case.operation.label == "POST /api/sim/config" and isinstance(body, dict):
        if body.get("dry_run", False) is False:
            case.body = {**body, "dry_run": True}
