import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../../api/call';
import { useIsGateway } from '../../store/fleet';
import { useLive } from '../../store/live';
import { route } from '../../store/route';

/** A number that a reload keeps. */
function keptNumber(name: string): readonly [Signal<number>, (value: number) => void] {
  const kept = signal(Number(sessionStorage.getItem(name) ?? 0));
  return [
    kept,
    (value) => {
      kept.value = value;
      sessionStorage.setItem(name, String(value));
    },
  ];
}

/** Id of the newest entry of the timeline when Events was last in view. */
const [seenId, seeId] = keptNumber('events-seen');
/** Wall time of the newest bad entry of a fleet when Events was last in view, ms. */
const [seenMs, seeMs] = keptNumber('events-seen-at');

const useIsVisited = () => route.value.path[0] === 'events';

/** Number of bad entries of the timeline since the last visit of Events; nothing without any. */
export function BadCount() {
  return useIsGateway() ? <CountOfFleet /> : <CountOfProcess />;
}

function CountOfProcess() {
  const isVisited = useIsVisited();
  const { data } = useLive(get('timeline', { query: { level: 'bad', after_id: seenId.value, limit: 100 } }), 'change');
  const lastId = data?.last_id ?? seenId.value;
  // ids begin anew with a daemon that keeps no state
  const isAnew = lastId < seenId.value;
  useEffect(() => {
    if (isVisited) seeId(lastId);
    else if (isAnew) seeId(0);
  }, [isVisited, lastId, isAnew]);
  return <Badge count={isVisited ? 0 : (data?.entries.length ?? 0)} />;
}

/** Ids count in each shard of a fleet, so that the entries are told apart by their times. */
function CountOfFleet() {
  const isVisited = useIsVisited();
  const { data } = useLive(get('timeline', { query: { level: 'bad', limit: 100 } }), 'change');
  const times = (data?.entries ?? []).map(({ wall_time: at }) => Date.parse(at));
  const latestMs = Math.max(seenMs.value, ...times);
  useEffect(() => {
    if (isVisited) seeMs(latestMs);
  }, [isVisited, latestMs]);
  return <Badge count={isVisited ? 0 : times.filter((atMs) => atMs > seenMs.value).length} />;
}

function Badge({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return (
    <span class="badge">
      {count === 100 ? '100+' : count}
      <span class="visually-hidden"> bad {count === 1 ? 'event' : 'events'} since the last visit</span>
    </span>
  );
}
