import { Empty } from '../../kit/panel';

export function SunspecClientView() {
  return <Empty>Not built yet.</Empty>;
}
