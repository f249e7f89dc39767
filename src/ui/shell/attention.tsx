/** The list of things to look at, worst first: the pill of the top bar counts them, and the key `x` opens the first. */
import { get } from '../api/call';
import { useLive } from '../store/live';
import { deviceHref, href } from '../store/route';
import { useOverview } from '../store/site';
import type { Overview } from '../store/site';

interface Item {
  readonly id: string;
  readonly level: 'bad' | 'warn';
  readonly title: string;
  /** address of the cause */
  readonly to: string;
}

const faultsCall = get('faults', { query: { limit: 1 } });
const faultsPaceMs = 5000;

const several = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;

function alarmsOf({ devices }: Overview): readonly Item[] {
  return devices
    .filter(({ alarm_count }) => alarm_count > 0)
    .map(({ device_index, name, alarm_count }) => ({
      id: `alarms ${device_index}`,
      level: 'bad',
      title: `${name}: ${several(alarm_count, 'alarm')}`,
      to: deviceHref(device_index, 'picture'),
    }));
}

/** Alarms of the devices and injected faults. */
function useAttention(): readonly Item[] {
  const overview = useOverview();
  const faults = useLive(faultsCall, faultsPaceMs).data?.count ?? 0;
  const injected: readonly Item[] =
    faults === 0
      ? []
      : [{ id: 'faults', level: 'warn', title: `${several(faults, 'fault')} injected`, to: href('inputs/faults') }];
  return [...(overview === undefined ? [] : alarmsOf(overview)), ...injected];
}

/** The number of items, with a link to the worst one. Absent without any. */
export function AttentionPill() {
  const items = useAttention();
  const [worst] = items;
  if (worst === undefined) return null;
  return (
    <a class={`pill ${worst.level}`} href={worst.to} title={items.map(({ title }) => title).join('\n')}>
      <i class="mark" />
      <strong>{items.length}</strong> <span class="wide-only">to look at</span>
    </a>
  );
}
