/** The entries with icons: a column, a rail of icons below 1100 px, a bar at the bottom below 640 px. */
import { useEffect, useState } from 'preact/hooks';
import { get } from '../api/call';
import { Icon } from '../kit/icons';
import { duration } from '../look/format';
import { useLive } from '../store/live';
import { href, route } from '../store/route';
import { useIsGateway } from '../store/fleet';
import { entries, fleetEntry } from './views';

export function SideBar({ chosen }: { readonly chosen: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const address = route.value;
  const isGateway = useIsGateway();
  useEffect(() => setOpen(false), [address]);
  return (
    <nav class={isOpen ? 'side open' : 'side'} aria-label="Views">
      {[...entries, ...(isGateway ? [fleetEntry] : [])].map(({ path, title, key, icon, badge: Badge }) => (
        <a
          key={path}
          href={href(path)}
          aria-current={path === chosen ? 'page' : undefined}
          title={`${title} (g ${key})`}
        >
          <Icon name={icon} />
          <span class="word">{title}</span>
          {Badge && <Badge />}
        </a>
      ))}
      <button type="button" class="quiet more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="more" />
        <span class="word">More</span>
      </button>
      <Build />
    </nav>
  );
}

/** Version, number of devices and tick at the foot of the column. */
function Build() {
  const { data } = useLive(get('server-info'), 'once');
  if (data === undefined) return null;
  return (
    <p class="foot">
      derbench {data.version}
      <br />
      {data.device_count} {data.device_count === 1 ? 'device' : 'devices'}, tick {duration(data.tick_interval_s)}
    </p>
  );
}
