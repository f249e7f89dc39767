/** The feeders of the site by kind of device, with up to three devices each. */
import { Icon } from '../../kit/icons';
import type { IconName } from '../../kit/icons';
import { kinds } from '../../kit/kind-icons';
import { Figure, Mark } from '../../kit/rows';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { duration, fixed, show } from '../../look/format';
import { useFigures } from '../../store/figures';
import { useLive } from '../../store/live';
import { deviceHref, href } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { figuresOf } from '../../store/stream';
import { conditionOf, stateLine, toneOf } from '../devices/condition';
import type { Condition } from '../devices/condition';
import { countsText } from '../devices/map/groups';
import { Cell } from '../devices/map/cell';
import type { Site } from './balance';
import { power } from './site-picture';

type Kind = DeviceEntry['asset_type'];
type EnergyOfKind = ReplyOf<'energy'>['today']['by_kind'];

export interface Feeder {
  readonly title: string;
  readonly icon: IconName;
  /** class that sets `--k` */
  readonly look: string;
  readonly devices: readonly DeviceEntry[];
  /** positive: into the site */
  readonly powerKw: number;
  readonly ratedKw: number;
  /** energies today, null: not known */
  readonly producedKwh: number | null;
  readonly absorbedKwh: number | null;
}

const maxFeeders = 6;

const sumOf = (values: readonly (number | undefined)[]) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

function feederOf(
  ofKinds: readonly Kind[],
  devices: readonly DeviceEntry[],
  site: Site,
  energy: EnergyOfKind | undefined,
): Feeder {
  const [first = 'pv'] = ofKinds;
  const { icon, look, title } = kinds[first];
  const members = devices.filter(({ asset_type }) => ofKinds.includes(asset_type));
  const energyOf = (member: 'produced_kwh' | 'absorbed_kwh') =>
    energy ? sumOf(ofKinds.map((kind) => energy[kind]?.[member])) : null;
  return {
    title: ofKinds.length === 1 ? title : 'Hybrid, cell',
    icon,
    look,
    devices: members,
    powerKw: sumOf(
      ofKinds.map((kind) => (site.by_kind[kind]?.delivered_kw ?? 0) - (site.by_kind[kind]?.absorbed_kw ?? 0)),
    ),
    ratedKw: sumOf(members.map(({ rated_kw }) => rated_kw)),
    producedKwh: energyOf('produced_kwh'),
    absorbedKwh: energyOf('absorbed_kwh'),
  };
}

/** Feeders in a fixed order; kinds without a device are left out. Hybrid and fuel cell share one when room is short. */
export function feedersOf(
  devices: readonly DeviceEntry[],
  site: Site,
  today: ReplyOf<'energy'>['today'] | undefined,
): readonly Feeder[] {
  const present = (Object.keys(kinds) as Kind[]).filter((kind) =>
    devices.some(({ asset_type }) => asset_type === kind),
  );
  const hasLoad = site.load_kw > 0 || (today?.load_kwh ?? 0) > 0;
  const shares = present.length + (hasLoad ? 1 : 0) > maxFeeders;
  const groups: readonly (readonly Kind[])[] = present
    .filter((kind) => !(shares && kind === 'fuelcell'))
    .map((kind) => (shares && kind === 'hybrid-dc' ? ['hybrid-dc', 'fuelcell'] : [kind]));
  const load: Feeder = {
    title: 'Load',
    icon: 'load',
    look: 'load',
    devices: [],
    powerKw: -site.load_kw,
    ratedKw: Math.max(site.load_kw, 1),
    producedKwh: 0,
    absorbedKwh: today?.load_kwh ?? null,
  };
  return [...groups.map((group) => feederOf(group, devices, site, today?.by_kind)), ...(hasLoad ? [load] : [])];
}

/** Share of the rating below which no marks run: they would flicker around zero. */
const deadBand = 0.005;

/** Speed of the marks on a wire; null: no flow. */
export function speedOf(powerKw: number, ratedKw: number): 'slow' | 'medium' | 'fast' | null {
  const share = ratedKw > 0 ? Math.abs(powerKw) / ratedKw : 0;
  if (share <= deadBand) return null;
  return share < 0.1 ? 'slow' : share < 0.5 ? 'medium' : 'fast';
}

/** A wire of the bus. @param powerKw positive: upwards */
export function Wire({
  powerKw,
  ratedKw,
  look,
}: {
  readonly powerKw: number;
  readonly ratedKw: number;
  readonly look: string;
}) {
  const speed = speedOf(powerKw, ratedKw);
  return (
    <div class={`site-wire ${look}`} aria-hidden="true">
      {speed !== null && <i class={`flow ${speed}${powerKw > 0 ? ' up' : ''}`} />}
    </div>
  );
}

/** Direction and energy of a feeder in words. */
function directionText({ powerKw, ratedKw, devices, producedKwh, absorbedKwh }: Feeder): readonly string[] {
  const flows = speedOf(powerKw, ratedKw) !== null;
  const takes = powerKw < 0 || (powerKw === 0 && (absorbedKwh ?? 0) > (producedKwh ?? 0));
  const socs = devices.flatMap(({ device_index, asset_type, state_of_charge_pct }) =>
    asset_type === 'battery' ? (figuresOf(device_index)?.socPct ?? state_of_charge_pct ?? []) : [],
  );
  const soc = socs.length === 0 ? '' : `, ${show(sumOf(socs) / socs.length, 'soc')}`;
  const isStorage = devices[0]?.asset_type === 'battery';
  const word = isStorage ? (takes ? 'charging' : 'discharging') : takes ? 'takes' : 'gives';
  const kwh = takes ? absorbedKwh : producedKwh;
  return [
    flows ? `${takes ? '▼' : '▲'} ${word}${soc}` : isStorage ? `at rest${soc}` : 'no power',
    kwh === null ? '' : `${show(kwh, 'energy')} today`,
  ];
}

/** Facts for the line of a device that only the resource of its kind has. */
function useDetail({ device: { device_index: device, asset_type: kind }, state }: Condition): string | null {
  const query = { device };
  const isTripped = state === 'tripped';
  const trace = useLive(isTripped ? get('grid-support/trace', { query: { device, limit: 0 } }) : null, 'state').data;
  const cell = useLive(kind === 'fuelcell' ? get('fuelcell', { query }) : null, 'state').data;
  const isForced = kind === 'battery' && state.endsWith(', forced');
  const bank = useLive(isForced ? get('controls/battery', { query }) : null, 'state').data;
  const hybrid = useLive(kind === 'hybrid-dc' ? get('hybrid-dc', { query }) : null, 'state').data;
  if (isTripped) {
    const waitS = trace?.now.time_to_enter_service_s ?? null;
    return waitS === null ? null : `back in ${duration(Math.round(waitS))}`;
  }
  if (isForced) return bank?.remaining_s == null ? null : `${duration(Math.round(bank.remaining_s))} left`;
  if (cell !== undefined && state === 'changes direction')
    return `${duration(Math.round(cell.dwell_remaining_s))} left`;
  if (cell !== undefined && cell.fuel !== 'continuous') return `tank ${show(cell.tank_level_pct, 'percent')}`;
  if (hybrid !== undefined) return `PV ${fixed(hybrid.pv.power_kw, 2)}, battery ${show(hybrid.battery.soc_pct, 'soc')}`;
  return null;
}

function DeviceLine({ device }: { readonly device: DeviceEntry }) {
  const condition = conditionOf(device, figuresOf(device.device_index));
  const detail = useDetail(condition);
  return (
    <li>
      <Mark level={toneOf(condition)} />
      <a href={deviceHref(device.device_index, 'picture')} title={device.name}>
        {device.name}
      </a>
      <small>{stateLine(condition, detail)}</small>
    </li>
  );
}

const maxLines = 3;

function FeederDevices({ devices }: { readonly devices: readonly DeviceEntry[] }) {
  if (devices.length <= maxLines)
    return (
      <ul>
        {devices.map((device) => (
          <DeviceLine key={device.device_index} device={device} />
        ))}
      </ul>
    );
  const conditions = devices.map((device) => conditionOf(device, figuresOf(device.device_index)));
  return (
    <div class="strip-of-cells">
      <div class="cells small-cells">
        {conditions.map((condition) => (
          <Cell
            key={condition.device.device_index}
            condition={condition}
            colour="power"
            onPress={() => (location.hash = deviceHref(condition.device.device_index, 'picture'))}
          />
        ))}
      </div>
      <small>{countsText(conditions)}</small>
    </div>
  );
}

function FeederBox({ feeder }: { readonly feeder: Feeder }) {
  const { title, icon, look, devices, powerKw, ratedKw } = feeder;
  return (
    <div class={`feeder ${look}`} data-test={`feeder-${title}`}>
      <Wire powerKw={powerKw} ratedKw={ratedKw} look={look} />
      <div class="feeder-box">
        <h3>
          <Icon name={icon} />
          {title}
          {devices.length > 0 && <small>{devices.length}</small>}
        </h3>
        <div class="value">
          <Figure text={power(Math.abs(powerKw))} />
        </div>
        <div class="note">
          {directionText(feeder).map((text) => (
            <span key={text}>{text}</span>
          ))}
        </div>
        {devices.length > 0 ? (
          <FeederDevices devices={devices} />
        ) : (
          <ul>
            <li>
              <Mark level="off" />
              <a href={href('inputs/weather')}>Local loads</a>
              <small>beside the devices</small>
            </li>
          </ul>
        )}
      </div>
    </div>
  );
}

/** Bus and feeders below the head of the site. */
export function Feeders({
  devices,
  site,
  today,
}: {
  readonly devices: readonly DeviceEntry[];
  readonly site: Site;
  readonly today: ReplyOf<'energy'>['today'] | undefined;
}) {
  useFigures();
  const feeders = feedersOf(devices, site, today);
  const ratedKw = sumOf(devices.map(({ rated_kw }) => rated_kw));
  return (
    <div class="feeders-part" style={{ '--feeders': Math.max(feeders.length, 1) }}>
      <div class="bus">
        <Wire powerKw={site.net_power_kw} ratedKw={ratedKw} look="of-grid" />
      </div>
      <div class="feeders">
        {feeders.map((feeder) => (
          <FeederBox key={feeder.title} feeder={feeder} />
        ))}
      </div>
    </div>
  );
}
