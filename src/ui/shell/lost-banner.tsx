import { useEffect, useState } from 'preact/hooks';
import { unreachableSinceMs } from '../api/perform';
import { NotRead } from '../kit/panel';
import { unreadElsewhere } from '../store/live';
import { href, param } from '../store/route';
import { useOverview } from '../store/site';
import { link, staleSinceMs } from '../store/stream';

/** The time, updated during a countdown. */
function useNow(counts: boolean): number {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    if (!counts) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [counts]);
  return nowMs;
}

const clockOf = (ms: number) => `${new Date(ms).toISOString().slice(11, 19)} UTC`;

/** Announces outdated content: since when, and when the page retries. */
export function LostBanner() {
  const state = link.value;
  const nowMs = useNow(state.state === 'lost');
  // while the stream works, the daemon runs, and each panel reports its own failures
  const oldSince = staleSinceMs.value ?? (state.state === 'open' ? null : unreachableSinceMs.value);
  if (state.state === 'lost') {
    const retryS = Math.max(0, Math.ceil((state.retryAtMs - nowMs) / 1000));
    return (
      <p class="banner" role="alert">
        No connection to the daemon since {clockOf(state.sinceMs)}: what is shown is old. Next attempt in {retryS} s.
      </p>
    );
  }
  if (oldSince === null) return <NotRead unread={unreadElsewhere.value} named />;
  return (
    <p class="banner" role="alert">
      The daemon has sent nothing since {clockOf(oldSince)}: what is shown is old.
    </p>
  );
}

/** Announces that the device of the address was removed, or never existed. */
export function MissingDevice() {
  const devices = useOverview()?.devices;
  const wanted = param('device');
  if (devices === undefined || wanted === null) return null;
  if (devices.some(({ device_index }) => String(device_index) === wanted)) return null;
  return (
    <p class="banner" role="alert">
      There is no device {wanted}. <a href={href('overview', { device: null })}>All devices</a>
    </p>
  );
}
