from .equipment import Base, equipment


class PVSimError(Exception):
    pass


class PVSim(Base):
    pass


params, pvsim_init = equipment("pvsim", "PVSim")
