"""What a central system of OCPP 2.0.1 or 2.1 answers; each message of either side is checked by the package ocpp."""

import importlib
import uuid
from datetime import datetime, timezone

from ocpp.messages import Call, CallError, validate_payload
from ocpp.routing import on

package = {}


def speak(version):
    """Takes the classes of a version, 2.0.1 or 2.1."""
    name = {"2.0.1": "ocpp.v201", "2.1": "ocpp.v21"}[version]
    package["version"] = version
    package["v"] = importlib.import_module(name)
    package["enums"] = importlib.import_module(name + ".enums")


def actions():
    """Every message that the package has."""
    return [action.value for action in package["enums"].Action]


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def station_class(kept, rules, books):
    """The class of stations. `kept` is what the central system does with every message."""
    replies = package["v"].call_result

    def token_info(token, *more):
        for table in (*more, "tags"):
            if token in rules[table]:
                found = rules[table][token]
                return {"status": found} if isinstance(found, str) else found
        return {"status": "Accepted"}

    def boot(**_):
        return {"current_time": now(), "interval": rules["interval"], "status": rules["boot"]}

    def authorize(id_token, **_):
        return {"id_token_info": token_info(id_token["id_token"])}

    def transaction_event(**facts):
        number = facts["transaction_info"]["transaction_id"]
        book = books.setdefault(number, {"events": []})
        # a repeat of a message whose answer was lost is the same event
        if all(known["seq_no"] != facts["seq_no"] for known in book["events"]):
            book["events"].append(facts)
        if "id_token" not in facts:
            return {}
        return {"id_token_info": token_info(facts["id_token"]["id_token"], "start_tags")}

    answers = {
        "BootNotification": boot,
        "Authorize": authorize,
        "TransactionEvent": transaction_event,
        "Heartbeat": lambda: {"current_time": now()},
        "DataTransfer": lambda **_: {"status": "Accepted"},
        "SignCertificate": lambda **_: {"status": "Accepted"},
        "NotifyEVChargingNeeds": lambda **_: {"status": "Accepted"},
        "NotifyEVChargingSchedule": lambda **_: {"status": "Accepted"},
        "OpenPeriodicEventStream": lambda **_: {"status": "Accepted"},
        "PullDynamicScheduleUpdate": lambda **_: {"status": "Rejected"},
    }

    def handler_of(action):
        def answer(self, **payload):
            given = rules["answers"].get(action)
            known = given if given is not None else answers.get(action, lambda **_: {})(**payload)
            return getattr(replies, action)(**known)

        # the package finds handlers by their names
        answer.__name__ = f"_on_{action}"
        return on(action)(answer)

    class Station(kept, package["v"].ChargePoint):
        async def ask(self, action, payload):
            """Sends a request with the names as they are on the wire; the package checks it and its answer."""
            request = Call(unique_id=str(uuid.uuid4()), action=action, payload=payload)
            await validate_payload(request, package["version"])
            async with self._call_lock:
                await self._send(request.to_json())
                answer = await self._get_specific_response(request.unique_id, self._response_timeout)
            if isinstance(answer, CallError):
                raise answer.to_exception()
            answer.action = action
            await validate_payload(answer, package["version"])
            return answer.payload

    for action in actions():
        setattr(Station, f"_on_{action}", handler_of(action))
    return Station
