import { get } from '../../api/call';
import { Empty } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { useLive } from '../../store/live';
import { useClock, useOverview } from '../../store/site';
import type { DeviceEntry, Overview as OverviewReply } from '../../store/site';
import { manyDevices } from '../../store/stream';
import { DeviceMap } from '../devices/map/device-map';
import { PictureAndControls } from '../devices/picture/picture';
import { AttentionCard } from './attention-card';
import type { Site } from './balance';
import { ControlCard } from './control-card';
import { useEntries } from './entries';
import { EventsCard } from './events-card';
import { Feeders } from './feeders';
import { SiteChart } from './site-chart';
import { SiteHead } from './site-picture';

const energyPaceMs = 5000;

function SitePicture({ overview, site }: { readonly overview: OverviewReply; readonly site: Site }) {
  const energy = useLive(get('energy'), energyPaceMs).data;
  const isPaused = useClock()?.mode === 'paused';
  const { devices } = overview;
  return (
    <section class={`card site-picture${isPaused ? ' stands' : ''}`} aria-label="Site">
      <h2 class="visually-hidden">Site</h2>
      <SiteHead overview={overview} site={site} energy={energy} />
      {devices.length > 1 && devices.length <= manyDevices && (
        <Feeders devices={devices} site={site} today={energy?.today} />
      )}
    </section>
  );
}

/** The devices at a gateway, which has no site, timeline and attention of all shards. */
function OfFleet({ devices, why }: { readonly devices: readonly DeviceEntry[]; readonly why: string }) {
  return (
    <div class="overview">
      <h1 class="visually-hidden">Overview</h1>
      <p class="muted">Devices of a fleet. {why}</p>
      <DeviceMap devices={devices} />
    </div>
  );
}

/** Where the power goes, what is wrong, who decides, and what happened. */
export default function Overview() {
  const overview = useOverview();
  const { data: site, problem } = useLive(get('site'));
  const entries = useEntries() ?? [];
  if (overview !== undefined && problem?.code === 'fleet-unsupported')
    return <OfFleet devices={overview.devices} why={problem.message} />;
  if (overview === undefined || site === undefined)
    return (
      <>
        <h1 class="visually-hidden">Overview</h1>
        <Loading heights={[380, 260, 200]} />
      </>
    );
  const { devices } = overview;
  const [first] = devices;
  if (first === undefined) return <Empty>No device: add one under "Simulator" in the menu of the name.</Empty>;
  return (
    <div class="overview">
      <h1 class="visually-hidden">Overview</h1>
      <div class="overview-main">
        <SitePicture overview={overview} site={site} />
        {devices.length === 1 && <PictureAndControls key={first.device_index} device={first} />}
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
