import { Empty } from '../../kit/panel';

export function LogsView() {
  return <Empty>Not built yet.</Empty>;
}
