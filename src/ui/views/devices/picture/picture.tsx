/** The tab Picture: what the device does and why at the left, its controls at the right, the last minutes below. */
import type { ComponentType } from 'preact';
import { get } from '../../../api/call';
import { kindOf } from '../../../kit/kind-icons';
import { Chip, Panel } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import { wallTime } from '../../../look/format';
import { useLive } from '../../../store/live';
import { LastVerdict, useLastVerdict } from '../../events/captures/last-verdict';
import { chosenConnector, useStation } from '../connector';
import type { PageProps } from '../page';
import { useWhy, winnerOf } from '../waterfall/chain';
import { Waterfall } from '../waterfall/waterfall';
import { BatteryControls, BatteryPicture } from './battery';
import { useChangesOfOthers } from './change';
import { ChargerControls, ChargerPicture, ConnectorChoice, SessionPanel } from './charger';
import { FuelCellControls, FuelCellPicture } from './fuel-cell';
import { HybridControls, HybridPicture } from './hybrid';
import { LastMinutes } from './last-minutes';
import { PvControls, PvPicture } from './pv';
import { WindControls, WindPicture } from './wind';

interface Kind {
  readonly Drawing: ComponentType<PageProps>;
  readonly Controls: ComponentType<PageProps>;
}

const kinds: Readonly<Record<PageProps['device']['asset_type'], Kind>> = {
  pv: { Drawing: PvPicture, Controls: PvControls },
  battery: { Drawing: BatteryPicture, Controls: BatteryControls },
  wind: { Drawing: WindPicture, Controls: WindControls },
  fuelcell: { Drawing: FuelCellPicture, Controls: FuelCellControls },
  'hybrid-dc': { Drawing: HybridPicture, Controls: HybridControls },
  evse: { Drawing: ChargerPicture, Controls: ChargerControls },
};

const severityTones = { error: 'bad', warning: 'warn', info: 'muted' } as const;

/** Alarms of the device; nothing while there are none. */
function Alarms({ device }: PageProps) {
  const { data } = useLive(get('devices', { query: { device: device.device_index } }));
  const active = data?.devices[0]?.alarms.active ?? [];
  if (active.length === 0) return null;
  return (
    <ul class="alarms" aria-label="Alarms">
      {active.map(({ code, severity, since, message, latched, port }) => (
        <li key={`${code} ${port ?? ''}`} class="row">
          <Chip tone={severityTones[severity]}>{severity}</Chip>
          <span>{message}</span>
          <code>{code}</code>
          <span class="muted">
            since {wallTime(since)}
            {latched ? ', latched' : ''}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The last disturbance of the device; left out while it is out of service, since the sentence above says it. */
function Disturbance({ device, isOut }: { readonly device: number; readonly isOut: boolean }) {
  const last = useLastVerdict(device);
  return last === null || isOut ? null : (
    <p class="muted">
      <LastVerdict last={last} />
    </p>
  );
}

/** Height of the waterfall of a device with one limit, px. */
const waterfallPx = 230;

function WhyPanel({ device }: PageProps) {
  const { device_index: index, asset_type: assetType } = device;
  const station = useStation(device);
  const connectors = station?.connectors ?? [];
  const chosen = chosenConnector(station);
  const why = useWhy(index, chosen?.connector_id);
  if (why === undefined) return <Loading heights={[waterfallPx]} />;
  return (
    <Waterfall
      key={chosen?.connector_id}
      device={index}
      assetType={assetType}
      why={why}
      tools={connectors.length > 1 && <ConnectorChoice connectors={connectors} chosen={chosen} />}
    >
      <Disturbance device={index} isOut={winnerOf(why)?.key === 'out_of_service'} />
    </Waterfall>
  );
}

export function Picture({ device }: PageProps) {
  return (
    <>
      <PictureAndControls device={device} />
      <LastMinutes device={device} />
    </>
  );
}

/** The picture without its chart: the overview of one device has a chart of its own. */
export function PictureAndControls({ device }: PageProps) {
  useChangesOfOthers(device.device_index);
  const { Drawing, Controls } = kinds[device.asset_type];
  return (
    <>
      <Alarms device={device} />
      <div class="device-page">
        <div class="stack">
          <Panel title="Picture" bare>
            <div class={`device-picture ${kindOf(device.asset_type).look}`}>
              <Drawing device={device} />
            </div>
          </Panel>
          <WhyPanel device={device} />
        </div>
        <div class="stack">
          <Panel title="Controls" bare>
            <div class="controls">
              <Controls device={device} />
            </div>
          </Panel>
          <SessionPanel device={device} />
        </div>
      </div>
    </>
  );
}
