from .equipment import Base, equipment

WFM_STATUS_INACTIVE = "inactive"


class DASError(Exception):
    pass


class DAS(Base):
    def __init__(self, ts, group_name, points=None, sc_points=None, support_interfaces=None):
        Base.__init__(self, ts, group_name, support_interfaces=support_interfaces)

    def _init_sc_points(self):
        pass

    def data_read(self):
        values = self.device.data_read()
        assert len(values) == len(self.data_points)
        return dict(zip(self.data_points, values))


params, das_init = equipment("das", "DAS")
