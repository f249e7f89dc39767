import { Empty } from '../../kit/panel';

export function OcppView() {
  return <Empty>Not built yet.</Empty>;
}
