import { Empty } from '../../kit/panel';

export function Dnp3View() {
  return <Empty>Not built yet.</Empty>;
}
