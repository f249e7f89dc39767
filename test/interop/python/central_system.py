"""A central system of OCPP 1.6 on the packages ocpp and websockets: central_system.py ADDRESS PORT [OPTIONS as JSON].

Options: cert, key (PEM files of the server: TLS), ca (clients need a certificate of this CA), any_client (they may do
without), user and password (hex) of basic authentication. `call` sends a request of the package's own class to a station,
`wait` gives the next request of a station after a number of requests already seen. Every message is checked against the
schemas of the package.
"""

import asyncio
import base64
import binascii
import http
import json
import ssl
import sys
import time
from concurrent.futures import Future
from datetime import datetime, timezone
from threading import Condition, Thread

# the packages log to the error output; answers go to the standard output
answers, sys.stdout = sys.stdout, sys.stderr

from line_server import serve  # noqa: E402
from ocpp.charge_point import (  # noqa: E402
    camel_to_snake_case,
    remove_nones,
    serialize_as_dict,
    snake_to_camel_case,
)
from ocpp.routing import on  # noqa: E402
from ocpp.v16 import ChargePoint, call, call_result  # noqa: E402
from ocpp.v16.enums import Action  # noqa: E402
from websockets.asyncio.server import serve as listen  # noqa: E402

address, port = sys.argv[1], int(sys.argv[2])
options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
seen = Condition()
requests = []
# actions whose request was answered, in either direction, and what the package has refused of the stations
exchanged = set()
refused = []
stations = {}
# what a test may set: idTagInfo by tag, that of StartTransaction alone, the answer to BootNotification, the password of
# basic authentication, whether stations may connect, and by action whether the next request or the answer to it is lost
# with the connection
rules = {
    "tags": {}, "start_tags": {}, "boot": "Accepted", "interval": 60, "password": options.get("password"), "open": True,
    "lose": {},
}
# transactions by id, with what the stations have told of them
books = {}


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tag_info(tag, *more):
    for table in (*more, "tags"):
        if tag in rules[table]:
            found = rules[table][tag]
            return {"status": found} if isinstance(found, str) else found
    return {"status": "Accepted"}


def note(station, action, payload):
    with seen:
        requests.append({"station": station, "action": action, "payload": payload, "at": time.time()})
        seen.notify_all()


class Station(ChargePoint):
    """Answers every request of a station and keeps it."""

    asked = lost = None

    async def route_message(self, raw_msg):
        message = json.loads(raw_msg)
        if message[0] == 2:
            self.asked = message[2]
            self.lost = rules["lose"].pop(self.asked, None)
            if self.lost == "request":
                cut(self.id)
                return
            note(self.id, message[2], message[3])
        await super().route_message(raw_msg)

    async def _send(self, message):
        number, *rest = json.loads(message)
        if number == 3 and self.lost == "answer":
            cut(self.id)
            return
        if number == 3:
            exchanged.add(self.asked)
        if number == 4:
            refused.append({"action": self.asked, "error": rest})
        await super()._send(message)

    @on(Action.boot_notification)
    def _boot(self, **_):
        return call_result.BootNotification(current_time=now(), interval=rules["interval"], status=rules["boot"])

    @on(Action.heartbeat)
    def _heartbeat(self):
        return call_result.Heartbeat(current_time=now())

    @on(Action.authorize)
    def _authorize(self, id_tag):
        return call_result.Authorize(id_tag_info=tag_info(id_tag))

    @on(Action.start_transaction)
    def _start(self, id_tag, **facts):
        # a request whose answer was lost comes again, and begins no second transaction
        start = {"station": self.id, "id_tag": id_tag, **facts}
        known = next((number for number, book in books.items() if book["start"] == start), None)
        number = known or len(books) + 1
        books.setdefault(number, {"start": start, "values": [], "stop": None})
        return call_result.StartTransaction(transaction_id=number, id_tag_info=tag_info(id_tag, "start_tags"))

    @on(Action.stop_transaction)
    def _stop(self, transaction_id, id_tag=None, **facts):
        books[transaction_id]["stop"] = facts
        return call_result.StopTransaction(id_tag_info=None if id_tag is None else tag_info(id_tag))

    @on(Action.meter_values)
    def _meter(self, meter_value, transaction_id=None, **_):
        if transaction_id is not None:
            books[transaction_id]["values"].extend(meter_value)
        return call_result.MeterValues()

    @on(Action.status_notification)
    def _status(self, **_):
        return call_result.StatusNotification()

    @on(Action.data_transfer)
    def _data(self, vendor_id, data=None, **_):
        known = vendor_id == "org.derbench.test"
        return call_result.DataTransfer(status="Accepted", data=data) if known else call_result.DataTransfer(status="UnknownVendorId")

    @on(Action.firmware_status_notification)
    def _firmware(self, **_):
        return call_result.FirmwareStatusNotification()

    @on(Action.diagnostics_status_notification)
    def _diagnostics(self, **_):
        return call_result.DiagnosticsStatusNotification()

    @on(Action.security_event_notification)
    def _event(self, **_):
        return call_result.SecurityEventNotification()

    @on(Action.sign_certificate)
    def _sign(self, **_):
        return call_result.SignCertificate(status="Accepted")

    @on(Action.log_status_notification)
    def _log(self, **_):
        return call_result.LogStatusNotification()

    @on(Action.signed_firmware_status_notification)
    def _signed(self, **_):
        return call_result.SignedFirmwareStatusNotification()


def refuse_strangers(connection, request):
    """HTTP 401 for wrong credentials, 503 while closed; None lets the handshake go on."""
    if not rules["open"]:
        return connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "closed\n")
    wanted = rules["password"]
    if wanted is None:
        return None
    given = request.headers.get("Authorization", "")
    try:
        user, _, secret = base64.b64decode(given.removeprefix("Basic "), validate=True).partition(b":")
    except binascii.Error:
        user, secret = b"", b""
    if user.decode() == options["user"] and secret == bytes.fromhex(wanted):
        return None
    note(request.path.rsplit("/", 1)[-1], "(refused)", {"user": user.decode(errors="replace")})
    return connection.respond(http.HTTPStatus.UNAUTHORIZED, "wrong credentials\n")


def client_of(connection):
    """Common name and serial number of the certificate that the client has shown; None without one."""
    inside = connection.transport.get_extra_info("peercert") or {}
    name = next((value for part in inside.get("subject", ()) for key, value in part if key == "commonName"), None)
    return {"client": name, "serial": inside.get("serialNumber")}


async def meet(connection):
    name = connection.request.path.rsplit("/", 1)[-1]
    station = stations[name] = Station(name, connection)
    tls_version = connection.transport.get_extra_info("ssl_object")
    note(name, "(connected)", {
        "subprotocol": connection.subprotocol,
        "tls": None if tls_version is None else tls_version.version(),
        **client_of(connection),
        "basic": "Authorization" in connection.request.headers,
    })
    await station.start()


def tls():
    if "cert" not in options:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options["cert"], options["key"])
    if "ca" in options:
        context.verify_mode = ssl.CERT_OPTIONAL if options.get("any_client") else ssl.CERT_REQUIRED
        context.load_verify_locations(options["ca"])
    return context


loop = asyncio.new_event_loop()


async def run(started):
    async with listen(
        meet, address, port, subprotocols=["ocpp1.6"], ssl=tls(), process_request=refuse_strangers
    ) as server:
        started.set_result(server.sockets[0].getsockname()[1])
        await asyncio.Future()


bound = Future()
Thread(target=lambda: loop.run_until_complete(run(bound)), daemon=True).start()


def send(station, action, payload, timeout=30):
    """The answer to a request of the package's own class. A CALLERROR is an error here."""
    request = getattr(call, action)(**camel_to_snake_case(payload))
    future = asyncio.run_coroutine_threadsafe(stations[station].call(request, suppress=False), loop)
    try:
        answer = future.result(timeout)
    except TimeoutError:
        future.cancel()
        raise TimeoutError(f"no answer to {action} within {timeout} s") from None
    exchanged.add(action)
    return snake_to_camel_case(remove_nones(serialize_as_dict(answer)))


def wait(station, action, after=0, timeout=30, where=None):
    """The first request of an action behind the first `after` requests, once it is there."""

    def found():
        return next((
            {**one, "number": number}
            for number, one in enumerate(requests[after:], after + 1)
            if one["station"] == station
            and one["action"] == action
            and all(one["payload"].get(name) == value for name, value in (where or {}).items())
        ), None)

    with seen:
        if not seen.wait_for(found, timeout):
            got = [(one["action"], one["payload"]) for one in requests[after:]]
            raise TimeoutError(f"no {action} {where or ''} of {station} within {timeout} s behind {after}; got {got[-20:]}")
        return found()


def rule(**changes):
    rules.update(changes)
    return rules


def cut(station):
    """Ends the connection of a station without a close frame."""
    loop.call_soon_threadsafe(stations[station]._connection.transport.abort)
    return True


serve(
    {
        "ready": lambda: bound.result(10),
        "call": send,
        "wait": wait,
        "requests": lambda: requests,
        # every message that the package has
        "actions": lambda: [action.value for action in Action],
        "books": lambda: [{"transactionId": number, **book} for number, book in books.items()],
        "exchanged": lambda: sorted(exchanged),
        "refused": lambda: refused,
        "rule": rule,
        "cut": cut,
    },
    answers,
)
