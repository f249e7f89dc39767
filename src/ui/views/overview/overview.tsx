import { get } from '../../api/call';
import { Empty } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { useLive } from '../../store/live';
import { deviceHref } from '../../store/route';
import { useClock, useOverview } from '../../store/site';
import type { DeviceEntry, Overview as OverviewReply } from '../../store/site';
import { manyDevices } from '../../store/stream';
import { DeviceMap } from '../devices/map/device-map';
import { AttentionCard } from './attention-card';
import type { Site } from './balance';
import { ControlCard } from './control-card';
import { useEntries } from './entries';
import { EventsCard } from './events-card';
import { Feeders } from './feeders';
import { SiteChart } from './site-chart';
import { SiteHead } from './site-picture';

const energyPaceMs = 5000;

/** The only device has its picture and its controls on a page of its own. */
function OneDevice({ device }: { readonly device: DeviceEntry }) {
  return (
    <p class="one-device">
      <a class="button" href={deviceHref(device.device_index, 'picture')}>
        Picture and controls of {device.name}
      </a>
    </p>
  );
}

function SitePicture({ overview, site }: { readonly overview: OverviewReply; readonly site: Site }) {
  const energy = useLive(get('energy'), energyPaceMs).data;
  const isPaused = useClock()?.mode === 'paused';
  const { devices } = overview;
  const [first] = devices;
  return (
    <section class={`card site-picture${isPaused ? ' stands' : ''}`} aria-label="Site">
      <h2 class="visually-hidden">Site</h2>
      <SiteHead overview={overview} site={site} energy={energy} />
      {devices.length <= manyDevices && <Feeders devices={devices} site={site} today={energy?.today} />}
      {devices.length === 1 && first && <OneDevice device={first} />}
    </section>
  );
}

/** Where the power goes, what is wrong, who decides, and what happened. */
export default function Overview() {
  const overview = useOverview();
  const site = useLive(get('site')).data;
  const entries = useEntries() ?? [];
  if (overview === undefined || site === undefined)
    return (
      <>
        <h1 class="visually-hidden">Overview</h1>
        <Loading heights={[380, 260, 200]} />
      </>
    );
  const { devices } = overview;
  if (devices.length === 0) return <Empty>No device: add one under "Simulator" in the menu of the name.</Empty>;
  return (
    <div class="overview">
      <h1 class="visually-hidden">Overview</h1>
      <div class="overview-main">
        <SitePicture overview={overview} site={site} />
        {devices.length > manyDevices && <DeviceMap devices={devices} />}
      </div>
      <div class="overview-cards">
        <AttentionCard />
        <ControlCard devices={devices} site={site} />
        <EventsCard entries={entries} devices={devices} />
      </div>
      <SiteChart entries={entries} />
    </div>
  );
}
