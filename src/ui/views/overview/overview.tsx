import { Empty } from '../../kit/panel';
import { useDevice } from '../../store/site';

export function OverviewView() {
  const device = useDevice();
  return device === undefined ? <Empty>No device yet.</Empty> : <h1>{device.name}</h1>;
}
