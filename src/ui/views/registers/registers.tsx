import { Empty } from '../../kit/panel';

export function RegistersView() {
  return <Empty>Not built yet.</Empty>;
}
