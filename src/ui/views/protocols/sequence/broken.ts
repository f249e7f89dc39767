import { get } from '../../../api/call';
import { useLive } from '../../../store/live';
import type { Broken } from './arrows';

/** Findings change seldom, ms. */
const paceMs = 5000;

/** Messages that broke a rule of their protocol. @param key identity of a charge point, empty for other protocols */
export function useBroken(protocol: 'modbus' | 'csip' | 'ocpp' | 'dnp3', key = ''): Broken {
  const { data } = useLive(get('findings', { query: { protocol, limit: 1000 } }), paceMs);
  const channel = key === '' ? protocol : `${protocol}/${key}`;
  const cases = (data?.findings ?? []).flatMap(({ title, evidence }) =>
    evidence.map((one) => ({ ...one, words: one.text === '' ? title : `${title}: ${one.text}` })),
  );
  const here = cases.filter((one) => one.channel === channel && one.excuse === null);
  return new Map(here.flatMap(({ message_id: id, words }) => (id === null ? [] : [[id, words] as const])));
}
