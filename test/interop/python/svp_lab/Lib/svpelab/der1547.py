from .equipment import Base, equipment


class DER1547Error(Exception):
    pass


class DER1547(Base):
    pass


params, der1547_init = equipment("der1547", "DER1547")
