import { Empty } from '../../kit/panel';

export function DevicesView() {
  return <Empty>Not built yet.</Empty>;
}
