"""Reads metrics with the parser of prometheus_client: host and port as arguments, requests on standard input."""

import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from line_server import serve

HOST, PORT = sys.argv[1], int(sys.argv[2])


def scrape():
    """Content type and families of one answer."""
    with urllib.request.urlopen(f"http://{HOST}:{PORT}/api/sim/metrics", timeout=30) as answer:
        kind = answer.headers["Content-Type"]
        families = list(text_string_to_metric_families(answer.read().decode()))
    return {
        "type": kind,
        "families": [
            {
                "name": family.name,
                "type": family.type,
                "help": family.documentation,
                "samples": [{"name": s.name, "labels": s.labels, "value": s.value} for s in family.samples],
            }
            for family in families
        ],
    }


serve({"scrape": scrape})
