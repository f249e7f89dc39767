import { Empty } from '../../kit/panel';

export function InputsView() {
  return <Empty>Not built yet.</Empty>;
}
