import { useEffect, useState } from 'preact/hooks';
import { unreachableSinceMs } from '../api/perform';
import { NotRead } from '../kit/panel';
import { unreadElsewhere } from '../store/live';
import { href, param } from '../store/route';
import { useOverview } from '../store/site';
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
  // while the stream goes on, the daemon is there, and each panel says what it cannot read
  const oldSince = staleSinceMs.value ?? (state.state === 'open' ? null : unreachableSinceMs.value);
  if (state.state === 'lost') {
    const retryS = Math.max(0, Math.ceil((state.retryAtMs - now) / 1000));
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

/** Says that the device of the address was removed, or never was there. */
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
