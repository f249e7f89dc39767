"""The SunSpec connector of py20305, an IEEE 2030.5 client, as it writes controls to a device: der_connector.py HOST PORT."""

import asyncio
import sys

from py20305.connectors.sunspec import ConnectorSunSpec

from line_server import serve

connector = ConnectorSunSpec(host=sys.argv[1], port=int(sys.argv[2]), scan_retries=1)


def call(name, params=None):
    """Awaits a method of the connector; writes take the parameters of a control."""
    method = getattr(connector, name)
    answer = asyncio.run(method() if params is None else method(params))
    return answer if isinstance(answer, dict) else None


serve({"call": call})
