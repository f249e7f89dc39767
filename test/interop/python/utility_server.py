"""gridappsd-2030-5, a utility server of other people's making: utility_server.py ADDRESS PORT DIRECTORY.

DIRECTORY has the certificates where the server looks for them. `control` asks its interface for operators, `stored` its
store. The server has no resource for responses: one is added here, with its own parser and models.
"""

import os
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from threading import Condition, Lock, Thread

address, port, directory = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
# The server fails in a zone without summer time, and keeps copies of its resources at home.
os.environ["TZ"] = "America/Los_Angeles"
os.environ["HOME"] = str(directory)
# The server prints as it likes.
answers, sys.stdout = sys.stdout, sys.stderr

from flask import Response, request  # noqa: E402
from ieee_2030_5 import adapters, flask_server, models  # noqa: E402
from ieee_2030_5.certs import TLSRepository  # noqa: E402
from ieee_2030_5.config import ServerConfiguration  # noqa: E402
from ieee_2030_5.server.server_constructs import initialize_2030_5  # noqa: E402
from ieee_2030_5.utils import dataclass_to_xml, xml_to_dataclass  # noqa: E402
from ieee_2030_5.utils.tls_wrapper import OpensslWrapper  # noqa: E402
from line_server import serve  # noqa: E402

config = ServerConfiguration(
    openssl_cnf=str(directory / "openssl.cnf"),
    tls_repository=str(directory / "tls"),
    server=address,
    port=port,
    storage_path=str(directory / "data_store"),
    mirror_usage_point_post_rate=3,
    devices=[{"id": "device", "pin": 111115, "post_rate": 5, "poll_rate": 2, "fsas": ["group"], "ders": ["pv"]}],
    default_program={
        "description": "program",
        "primacy": 10,
        "DefaultDERControl": {"DERControlBase": {"opModMaxLimW": 9000}},
    },
)
# The server starts openssl for each of its certificates with every request; here they do not change.
OpensslWrapper.tls_get_fingerprint_from_cert = staticmethod(cache(OpensslWrapper.tls_get_fingerprint_from_cert))
repository = TLSRepository(config.tls_repository, config.openssl_cnf, config.server_hostname)
initialize_2030_5(config, repository)
flask_server.server_config, flask_server.tls_repository = config, repository
server = flask_server.build_server(config, repository, threaded=True)
responses = []
answered = Condition()
handle = server.app.wsgi_app
in_turn = Lock()


def _one_at_a_time(environ, start_response):
    """The parser clears its index of classes and fills it again after an import, and the first request of the operator
    imports. A request that another thread parses meanwhile finds no class there and is answered with 500."""
    with in_turn:
        return handle(environ, start_response)


server.app.wsgi_app = _one_at_a_time


@server.app.post("/responses")
def _respond():
    responses.append(asdict(xml_to_dataclass(request.get_data(as_text=True), models.DERControlResponse)))
    return Response(status=201, headers={"Location": f"/responses/{len(responses) - 1}"})


@server.app.after_request
def _note(response):
    with answered:
        answered.notify_all()
    return response


# what an operator waits for: the DERCapability of the device, and response 3 to an event
FACTS = {
    "capability": lambda: getattr(adapters.ListAdapter.get_single("/der_0_dercap"), "type", None) is not None,
    "completed": lambda: any(int(one["status"] or 0) == 3 for one in responses),
}


def known(what, seconds=2):
    """Whether the server knows it, now or after one of the requests to come."""
    with answered:
        return answered.wait_for(FACTS[what], seconds)


def control(mrid, start, duration, limit):
    """The operator publishes a DERControl with opModMaxLimW in hundredths of a percent."""
    body = models.DERControl(
        mRID=mrid,
        description="limit",
        creationTime=start - 60,
        replyTo="/responses",
        responseRequired=b"\x03",
        interval=models.DateTimeInterval(start=start, duration=duration),
        DERControlBase=models.DERControlBase(opModMaxLimW=limit),
    )
    answer = server.app.test_client().post("/admin/derp/1/derc", data=dataclass_to_xml(body))
    if answer.status_code >= 300:
        raise RuntimeError(f"the server answers {answer.status_code} to the control: {answer.get_data(as_text=True)}")
    return {"status": answer.status_code, "href": answer.headers.get("Location")}


def plain(value):
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items() if one is not None}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def stored():
    lists = adapters.ListAdapter
    documents = {name: lists.get_single(f"/der_0_{name}") for name in ("dercap", "derg", "ders", "dera")}
    return plain({
        "responses": responses,
        "documents": {name: asdict(one) for name, one in documents.items() if one is not None},
        "lists": {uri: [asdict(one) for one in lists.get_list(uri)] for uri in tuple(lists._container_dict)},
    })


Thread(target=server.serve_forever, daemon=True).start()
serve({"control": control, "stored": stored, "known": known, "ready": lambda: True}, answers)
