import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../../api/call';
import { useLive } from '../../store/live';
import { route } from '../../store/route';

const storedAs = 'events-seen';

/** Id of the newest entry of the timeline when Events was last in view. */
const seenId = signal(Number(sessionStorage.getItem(storedAs) ?? 0));

function see(id: number): void {
  seenId.value = id;
  sessionStorage.setItem(storedAs, String(id));
}

/** Number of bad entries of the timeline since the last visit of Events; nothing without any. */
export function BadCount() {
  const isVisited = route.value.path[0] === 'events';
  const { data } = useLive(get('timeline', { query: { level: 'bad', after_id: seenId.value, limit: 100 } }), 'change');
  const lastId = data?.last_id ?? seenId.value;
  // ids begin anew with a daemon that keeps no state
  const isAnew = lastId < seenId.value;
  useEffect(() => {
    if (isVisited) see(lastId);
    else if (isAnew) see(0);
  }, [isVisited, lastId, isAnew]);
  const count = isVisited ? 0 : (data?.entries.length ?? 0);
  if (count === 0) return null;
  return (
    <span class="badge">
      {count === 100 ? '100+' : count}
      <span class="visually-hidden"> bad {count === 1 ? 'event' : 'events'} since the last visit</span>
    </span>
  );
}
