/** Finds a device of a fleet by index or name. */
import { useState } from 'preact/hooks';
import { get, perform, Problem } from '../../api/call';
import { submitting } from '../../kit/form';
import { deviceHref, go } from '../../store/route';
import type { MapShard } from './looks';

const maxHits = 10;

interface SearchResult {
  readonly text: string;
  readonly hits: readonly { readonly device_index: number; readonly name: string }[];
  readonly more: number;
}

/** @param ranges shards with their devices */
export function DeviceSearch({ ranges }: { readonly ranges: readonly Pick<MapShard, 'first' | 'count' | 'index'>[] }) {
  const [text, setText] = useState('');
  const [result, setResult] = useState<SearchResult | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const find = async () => {
    const wanted = text.trim();
    setResult(null);
    setReason(null);
    if (wanted === '') return;
    const index = /^\d+$/.test(wanted) ? Number(wanted) : null;
    if (index !== null) {
      const has = ranges.some(({ first, count, index: all }) =>
        all.length > 0 ? all.includes(index) : index >= first && index < first + count,
      );
      if (has) {
        go(`devices/${index}/picture`);
        return;
      }
    }
    try {
      const { devices, total = 0 } = await perform(get('devices', { query: { name: wanted, limit: maxHits } }));
      const [first] = devices;
      if (first !== undefined && total === 1) go(`devices/${first.device_index}/picture`);
      else setResult({ text: wanted, hits: devices, more: total - devices.length });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setReason(error.message);
    }
  };
  return (
    <form class="fleet-search" role="search" onSubmit={submitting(find)}>
      <input
        type="search"
        name="fleet-find"
        class="device-filter"
        aria-label="Find a device by index or name"
        placeholder="Index or name"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button class="small">Find</button>
      {result !== null && (
        <ul class="search-hits" aria-label="Devices found">
          {result.hits.map(({ device_index: index, name }) => (
            <li key={index}>
              <a href={deviceHref(index, 'picture')}>
                {index} {name}
              </a>
            </li>
          ))}
          {result.more > 0 && <li class="muted">and {result.more} more</li>}
          {result.hits.length === 0 && <li role="status">No device has the name "{result.text}".</li>}
        </ul>
      )}
      {reason !== null && (
        <p class="problem" role="alert">
          {reason}
        </p>
      )}
    </form>
  );
}
