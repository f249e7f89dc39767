import { Empty } from '../../kit/panel';

export function GridSupportView() {
  return <Empty>Not built yet.</Empty>;
}
