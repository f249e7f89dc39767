import { useEffect, useState } from 'preact/hooks';
import { unreachableSinceMs } from '../api/perform';
import { link, staleSinceMs } from '../store/stream';

/** The time once per second while something is being counted down. */
function useNow(counts: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!counts) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [counts]);
  return now;
}

const clockOf = (ms: number) => `${new Date(ms).toISOString().slice(11, 19)} UTC`;

/** Says that what is shown is old: since when, and when the page tries again. */
export function LostBanner() {
  const state = link.value;
  const now = useNow(state.state === 'lost');
  const oldSince = staleSinceMs.value ?? unreachableSinceMs.value;
  if (state.state === 'lost') {
    const retryS = Math.max(0, Math.ceil((state.retryAtMs - now) / 1000));
    return (
      <p class="banner" role="alert">
        No connection to the daemon since {clockOf(state.sinceMs)}: what is shown is old. Next attempt in {retryS} s.
      </p>
    );
  }
  if (oldSince === null) return null;
  return (
    <p class="banner" role="alert">
      The daemon has sent nothing since {clockOf(oldSince)}: what is shown is old.
    </p>
  );
}
