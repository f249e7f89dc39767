import { Empty } from '../../kit/panel';

export function CsipView() {
  return <Empty>Not built yet.</Empty>;
}
