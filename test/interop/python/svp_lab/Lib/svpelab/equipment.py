"""Base classes as the drivers need them, where SVP itself is missing: no logic beyond what a driver calls."""

import importlib


def equipment(group, class_name):
    """`params` and `init` of a kind of equipment, with our driver alone."""

    def driver():
        return importlib.import_module(f"svpelab.{group}_derbench")

    def params(info):
        info.param_group(group, label=group, glob=True)
        info.param(f"{group}.mode", label="Mode", default="Disabled", values=["Disabled"])
        info.param(f"{group}.auto_config", label="Configure", default="Disabled", values=["Enabled", "Disabled"])
        driver().params(info, group_name=group)

    def init(ts, **more):
        return getattr(driver(), class_name)(ts, group, **more)

    return params, init


class Base:
    def __init__(self, ts, group_name, params=None, support_interfaces=None):
        self.ts, self.group_name, self.params = ts, group_name, params
        self.auto_config = ts.param_value(f"{group_name}.auto_config")
        if support_interfaces is not None:
            support_interfaces.get("hil")
