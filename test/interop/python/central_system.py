"""A central system of OCPP on the packages ocpp and websockets: central_system.py ADDRESS PORT [OPTIONS as JSON].

Options: version (1.6, 2.0.1 or 2.1; default 1.6), and (a further version, of which one is 1.6), cert, key (PEM files of the server: TLS), ca (clients need a certificate of this CA), any_client (they may do
without), user and password (hex) of basic authentication. `call` sends a request to a station (in 1.6 of the package's own class),
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
from threading import Condition, Thread

# the packages log to the error output; answers go to the standard output
answers, sys.stdout = sys.stdout, sys.stderr

from line_server import serve  # noqa: E402
from websockets.asyncio.server import serve as listen  # noqa: E402

address, port = sys.argv[1], int(sys.argv[2])
options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
version = options.get("version", "1.6")
versions = [version, *([options["and"]] if "and" in options else [])]


def module_of(version):
    if version == "1.6":
        import central_16

        return central_16
    import central_2

    central_2.speak(version)
    return central_2


modules = {f"ocpp{each}": module_of(each) for each in versions}
spoken = modules[f"ocpp{version}"]
seen = Condition()
requests = []
# actions whose request was answered, in either direction, and what the package has refused of the stations
exchanged = set()
refused = []
stations = {}
# what a test may set: idTagInfo or idTokenInfo by token, that of StartTransaction or TransactionEvent alone, the answer to BootNotification, the password of
# basic authentication, whether stations may connect, by action whether the next request or the answer to it is lost with
# the connection, by action how long the next answer to it takes, s, in 2.x whole answers by action, and the versions to choose from, best first
rules = {
    "tags": {}, "start_tags": {}, "boot": "Accepted", "interval": 60, "password": options.get("password"), "open": True,
    "lose": {}, "slow": {}, "answers": {}, "choose": versions,
}
# transactions by id, with what the stations have told of them
books = {}


def note(station, action, payload):
    with seen:
        requests.append({"station": station, "action": action, "payload": payload, "at": time.time()})
        seen.notify_all()


class Kept:
    """Keeps every request of a station, and loses what a test wants lost."""

    asked = lost = None

    async def route_message(self, raw_msg):
        message = json.loads(raw_msg)
        if message[0] in (2, 6):
            self.asked = message[2]
            self.lost = rules["lose"].pop(self.asked, None)
            if self.lost == "request":
                cut(self.id)
                return
            note(self.id, message[2], message[3])
        if message[0] == 6:
            return
        await super().route_message(raw_msg)

    async def _send(self, message):
        number, *rest = json.loads(message)
        if number == 3 and self.lost == "answer":
            cut(self.id)
            return
        if number == 3 and self.asked in rules["slow"]:
            await asyncio.sleep(rules["slow"].pop(self.asked))
        if number == 3:
            exchanged.add(self.asked)
        if number == 4:
            refused.append({"action": self.asked, "error": rest})
        await super()._send(message)


classes = {name: module.station_class(Kept, rules, books) for name, module in modules.items()}


def choose(connection, offered):
    """The subprotocol that a station is to speak; None: none of those that it offers."""
    note(connection.request.path.rsplit("/", 1)[-1], "(offered)", {"subprotocols": list(offered)})
    return next((f"ocpp{each}" for each in rules["choose"] if f"ocpp{each}" in offered), None)


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
    if connection.subprotocol is None:
        return
    station = stations[name] = classes[connection.subprotocol](name, connection)
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
        meet, address, port, select_subprotocol=choose, ssl=tls(), process_request=refuse_strangers
    ) as server:
        started.set_result(server.sockets[0].getsockname()[1])
        await asyncio.Future()


bound = Future()
Thread(target=lambda: loop.run_until_complete(run(bound)), daemon=True).start()


def send(station, action, payload, timeout=30):
    """The answer to a request, checked by the package as the request is. A CALLERROR is an error here."""
    future = asyncio.run_coroutine_threadsafe(stations[station].ask(action, payload), loop)
    try:
        answer = future.result(timeout)
    except TimeoutError:
        future.cancel()
        raise TimeoutError(f"no answer to {action} within {timeout} s") from None
    exchanged.add(action)
    return answer


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
        "actions": lambda: spoken.actions(),
        "books": lambda: [{"transactionId": number, **book} for number, book in books.items()],
        "exchanged": lambda: sorted(exchanged),
        "refused": lambda: refused,
        "rule": rule,
        "cut": cut,
    },
    answers,
)
