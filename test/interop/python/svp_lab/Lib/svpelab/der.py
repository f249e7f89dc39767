from .equipment import Base, equipment


class DERError(Exception):
    pass


class DER(Base):
    pass


params, der_init = equipment("der", "DER")
