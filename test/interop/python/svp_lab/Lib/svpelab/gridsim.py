from .equipment import Base, equipment

REGEN_ON, REGEN_OFF = "on", "off"
RELAY_OPEN, RELAY_CLOSED = "open", "closed"


class GridSimError(Exception):
    pass


class GridSim(Base):
    pass


params, gridsim_init = equipment("gridsim", "GridSim")
