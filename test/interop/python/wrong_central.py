"""A central system of OCPP 1.6 that does its work wrongly, on the packages ocpp and websockets: wrong_central.py ADDRESS PORT.

It gives its local time as UTC, wants a heartbeat every 5 s, and does not know StatusNotification. To each station that it has
accepted it sends the calls of `mistakes`; `done` gives the actions that were answered.
"""

import asyncio
import sys
from datetime import datetime, timedelta, timezone
from threading import Event, Thread

# the packages log to the error output; answers go to the standard output
answers, sys.stdout = sys.stdout, sys.stderr

from line_server import serve  # noqa: E402
from ocpp.routing import after, on  # noqa: E402
from ocpp.v16 import ChargePoint, call, call_result  # noqa: E402
from ocpp.v16.enums import Action  # noqa: E402
from websockets.asyncio.server import serve as listen  # noqa: E402

address, port = sys.argv[1], int(sys.argv[2])


def local_time():
    return (datetime.now(timezone.utc) + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")


def profile(limit):
    return call.SetChargingProfile(
        connector_id=1,
        cs_charging_profiles={
            "charging_profile_id": 1,
            "stack_level": 0,
            "charging_profile_purpose": "TxDefaultProfile",
            "charging_profile_kind": "Relative",
            "charging_schedule": {
                "charging_rate_unit": "A",
                "charging_schedule_period": [{"start_period": 0, "limit": limit}],
            },
        },
    )


mistakes = [
    # four times, although the station does not know it
    *[call.GetConfiguration(key=["Nonsense"])] * 4,
    # shorter than any edition of the white paper allows
    call.ChangeConfiguration(key="AuthorizationKey", value="hunter2"),
    # watts
    profile(11000),
    # a limit cannot be negative
    profile(-1),
    *[call.TriggerMessage(requested_message="Heartbeat")] * 20,
]
answered = []
is_done = Event()


class Station(ChargePoint):
    @on(Action.boot_notification)
    def _boot(self, **_):
        return call_result.BootNotification(current_time=local_time(), interval=5, status="Accepted")

    @after(Action.boot_notification)
    async def _booted(self, **_):
        for mistake in mistakes:
            await self.call(mistake)
            answered.append(type(mistake).__name__)
        is_done.set()

    @on(Action.heartbeat)
    def _heartbeat(self):
        return call_result.Heartbeat(current_time=local_time())


async def meet(connection):
    await Station(connection.request.path.rsplit("/", 1)[-1], connection).start()


async def run():
    async with listen(meet, address, port, subprotocols=["ocpp1.6"]):
        is_listening.set()
        await asyncio.Future()


def done():
    if not is_done.wait(60):
        raise TimeoutError(f"not all calls are answered within 60 s: {answered}")
    return answered


is_listening = Event()
Thread(target=lambda: asyncio.run(run()), daemon=True).start()
serve({"ready": lambda: is_listening.wait(10), "done": done}, answers)
