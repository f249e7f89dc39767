/** The state of a device in the words of its kind. */
import { Chip } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import type { DeviceEntry } from '../../store/site';
import { snapshotOf } from '../../store/stream';
import { chosenConnector, useStation } from './connector';
import { useWhy, winnerOf } from './waterfall/chain';

interface State {
  readonly word: string;
  readonly tone: Tone;
}

const working = (word: string): State => ({ word, tone: 'good' });
const idle = (word: string): State => ({ word, tone: 'muted' });

/** Least power that counts as flow, kW. */
const negligibleKw = 0.0005;

type Kind = DeviceEntry['asset_type'];

const idleWords: Readonly<Record<Kind, string>> = {
  pv: 'night',
  wind: 'too little wind',
  battery: 'resting',
  fuelcell: 'idle',
  'hybrid-dc': 'resting',
  evse: 'no vehicle',
};

function flowState(kind: Kind, powerKw: number): State {
  // a station without a vehicle takes a few watts for itself
  const isIdle = Math.abs(powerKw) < (kind === 'evse' ? 0.05 : negligibleKw);
  if (isIdle) return idle(idleWords[kind]);
  const stores = kind === 'battery' || kind === 'evse' || kind === 'hybrid-dc';
  if (powerKw < 0) return working(kind === 'fuelcell' ? 'electrolysis' : 'charging');
  return working(stores && kind !== 'hybrid-dc' ? 'discharging' : 'producing');
}

/**
 * @param powerKw positive: into the grid
 * @param isLimited a limit sets the power
 */
export function stateOf(
  kind: Kind,
  inverterState: DeviceEntry['status']['inverter_state'],
  powerKw: number,
  isLimited: boolean,
): State {
  const flow = flowState(kind, powerKw);
  switch (inverterState) {
    case 'fault':
      return { word: 'tripped', tone: 'bad' };
    case 'off':
      return { word: 'out of service', tone: 'off' };
    case 'starting':
      return { word: 'starts', tone: 'warn' };
    case 'shutting_down':
      return { word: 'stops', tone: 'warn' };
    default:
      return isLimited ? { word: `${flow.word}, limited`, tone: 'warn' } : flow;
  }
}

export function KindState({ device }: { readonly device: DeviceEntry }) {
  const snapshot = snapshotOf(device.device_index);
  const connector = chosenConnector(useStation(device))?.connector_id;
  const isLimited = winnerOf(useWhy(device.device_index, connector)) !== undefined;
  const { word, tone } = stateOf(
    device.asset_type,
    (snapshot?.status ?? device.status).inverter_state,
    snapshot?.metrics.power_kw ?? device.power_kw,
    isLimited,
  );
  return (
    <Chip tone={tone}>
      <span data-test="device-state">{word}</span>
    </Chip>
  );
}
