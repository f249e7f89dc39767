import { Empty } from '../../kit/panel';

export function ModbusView() {
  return <Empty>Not built yet.</Empty>;
}
