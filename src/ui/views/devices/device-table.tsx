/** Devices as a table, with the newest figures of the stream. */
import { Table } from '../../kit/table';
import type { Order } from '../../kit/table';
import { go, param, setParam } from '../../store/route';
import { isFleet } from '../../store/stream';
import type { Condition } from './condition';
import { shownColumns } from './device-columns';

/** The order in the address: the key of a column, with a minus for downwards. */
function useOrder(entries: ReturnType<typeof shownColumns>): readonly [Order, (order: Order) => void] {
  const [, minus, key] = /^(-?)(\w+)$/.exec(param('sort') ?? '') ?? [];
  const title = entries.find(([each]) => each === key)?.[1].title;
  const set = (order: Order) => {
    const next = order && entries.find(([, column]) => column.title === order.title)?.[0];
    setParam('sort', order && next ? `${order.down ? '-' : ''}${next}` : null);
  };
  return [title === undefined ? null : { title, down: minus === '-' }, set];
}

export function DeviceTable({
  conditions,
  heightPx,
  count,
}: {
  readonly conditions: readonly Condition[];
  readonly heightPx: number;
  /** devices of the site, those that the filter leaves out among them */
  readonly count: number;
}) {
  const entries = shownColumns(isFleet(count));
  const [order, setOrder] = useOrder(entries);
  return (
    <Table
      name="Devices"
      columns={entries.map(([, column]) => column)}
      rows={conditions}
      keyOf={({ device }) => device.device_index}
      height={heightPx}
      order={order}
      onOrder={setOrder}
      onSelect={({ device }) => go(`devices/${device.device_index}/picture`)}
      empty="No device matches the filter."
    />
  );
}
