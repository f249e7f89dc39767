"""What a central system of OCPP 1.6 answers, on the classes of the package ocpp."""

from datetime import datetime, timezone

from ocpp.charge_point import camel_to_snake_case, remove_nones, serialize_as_dict, snake_to_camel_case
from ocpp.routing import on
from ocpp.v16 import ChargePoint, call, call_result
from ocpp.v16.enums import Action


def actions():
    """Every message that the package has."""
    return [action.value for action in Action]


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def station_class(kept, rules, books):
    """The class of stations. `kept` is what the central system does with every message."""

    def tag_info(tag, *more):
        for table in (*more, "tags"):
            if tag in rules[table]:
                found = rules[table][tag]
                return {"status": found} if isinstance(found, str) else found
        return {"status": "Accepted"}

    class Station(kept, ChargePoint):
        async def ask(self, action, payload):
            """Sends a request of the package's own class."""
            request = getattr(call, action)(**camel_to_snake_case(payload))
            answer = await self.call(request, suppress=False)
            return snake_to_camel_case(remove_nones(serialize_as_dict(answer)))

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

    return Station
