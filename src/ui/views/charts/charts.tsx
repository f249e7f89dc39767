import { Empty } from '../../kit/panel';

export function ChartsView() {
  return <Empty>Not built yet.</Empty>;
}
