/** The side of the grid in the picture of a device: inverter, grid, local load. */
import { get } from '../../../api/call';
import { show } from '../../../look/format';
import { useFigures } from '../../../store/figures';
import { useLive } from '../../../store/live';
import type { DeviceEntry } from '../../../store/site';
import { snapshotOf } from '../../../store/stream';
import type { Snapshot } from '../../../store/stream';
import { ratingOf, useWhy, winnerOf } from '../waterfall/chain';
import type { Limit } from '../waterfall/chain';
import { Box, Power, Wire } from './wires';

/** The newest telemetry of a device. undefined: none yet. */
export function useMetrics({ device_index: index }: DeviceEntry): Snapshot['metrics'] | undefined {
  useFigures();
  return snapshotOf(index)?.metrics;
}

/** Rating of the device in its direction of flow, kW. */
export function useRating({ device_index: index }: DeviceEntry): number {
  return ratingOf(useWhy(index));
}

const minFlowKw = 0.005;

/** The direction of power in words. @param words for power into the grid, and out of it */
function directionWords(kw: number | null | undefined, words: readonly [string, string]): string {
  if (kw === null || kw === undefined || Math.abs(kw) < minFlowKw) return 'no power';
  return kw > 0 ? `▲ ${words[0]}` : `▼ ${words[1]}`;
}

interface GridBoxProps {
  readonly device: DeviceEntry;
  /** power into the grid, kW */
  readonly kw: number;
}

/** Voltage and frequency at the terminals, and the direction of the power. */
export function GridBox({ device, kw }: GridBoxProps) {
  const metrics = useMetrics(device);
  return (
    <Box title="Grid">
      <span>{show(metrics?.voltage_ln_v, 'voltage')}</span>
      <small>{show(metrics?.frequency_hz, 'frequency')}</small>
      <small>{directionWords(kw, ['to grid', 'from grid'])}</small>
    </Box>
  );
}

/** Says that a limit sets the power. */
export function Held({ by, kind }: { readonly by: Limit | undefined; readonly kind: DeviceEntry['asset_type'] }) {
  if (by === undefined) return null;
  // as in `kind_state`: the set-point of a fuel cell is what it runs at
  if (kind === 'fuelcell' && by.key === 'active_power') return <span class="muted">at set-point</span>;
  if (by.key === 'out_of_service') return <strong class="bad">out of service</strong>;
  return <strong class="warn">limited</strong>;
}

interface AcSideProps {
  readonly device: DeviceEntry;
  readonly title?: string;
  /** several wires end at the inverter */
  readonly tall?: boolean;
}

/** Inverter, wire, grid; a local load hangs between them. */
export function AcSide({ device, title = 'Inverter', tall = false }: AcSideProps) {
  const { device_index: index } = device;
  const query = { device: index };
  const metrics = useMetrics(device);
  const why = useWhy(index);
  const load = useLive(get('controls/environment', { query })).data?.load_kw ?? 0;
  const isClosed = useLive(get('controls', { query })).data?.service.switch_closed ?? true;
  const kw = metrics?.power_kw ?? device.power_kw;
  const rating = ratingOf(why);
  const state = (snapshotOf(index)?.status ?? device.status).inverter_state;
  const grid = (
    <>
      <Wire name="inverter to grid" kw={kw - load} ratingKw={rating} open={!isClosed} />
      <GridBox device={device} kw={kw - load} />
    </>
  );
  return (
    <>
      <Box title={title} off={state === 'off'} tall={tall || load > 0}>
        <Power kw={kw} test="device-power" />
        <small>{directionWords(kw, ['delivers', 'absorbs'])}</small>
        <small>{show(metrics?.reactive_power_kvar, 'reactivePower')}</small>
        <Held by={winnerOf(why)} kind={device.asset_type} />
      </Box>
      {load > 0 ? (
        <div class="branches to">
          <div class="branch">{grid}</div>
          <div class="branch">
            <Wire name="inverter to load" kw={load} ratingKw={rating} />
            <Box title="Load">
              <span>{show(load, 'activePower')}</span>
            </Box>
          </div>
        </div>
      ) : (
        grid
      )}
    </>
  );
}
