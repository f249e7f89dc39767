"""The points of a model as pysunspec2 holds them."""


def walk(group, prefix=""):
    """Yields (path, point); groups of a list are counted from 0: Crv[1].Pt[0].V."""
    for name, point in group.points.items():
        yield prefix + name, point
    for name, member in group.groups.items():
        if isinstance(member, list):
            for index, item in enumerate(member):
                yield from walk(item, f"{prefix}{name}[{index}].")
        else:
            yield from walk(member, f"{prefix}{name}.")
