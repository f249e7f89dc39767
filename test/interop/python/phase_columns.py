"""Columns of devices at the phases abc, b and ca for voltages of the grid. Prints them, and those of one phase alone."""

import json
import logging

from cosim.grid_values import GridValues, RareWarning

PLACES = ["abc", "b", "ca"]


def columns(**vectors):
    grid = GridValues(len(PLACES), 50, PLACES, RareWarning(logging.getLogger()))
    for quantity, vector in vectors.items():
        grid.put_vector(quantity, vector)
    return grid.columns()


print(
    json.dumps(
        {
            "all": columns(voltage_a=[1.01, 1.02, 1.03], voltage_b=[1.11, 1.12, 1.13], voltage_c=[1.21, 1.22, 1.23]),
            "one": columns(voltage_b=[0.98], frequency=[49.9], voltage_angle=[190.0, -190.0, 180.0]),
            "none": columns(),
        }
    )
)
