import { Empty } from '../../kit/panel';

export function FaultsView() {
  return <Empty>Not built yet.</Empty>;
}
