import { resolveEvse } from '../../../../src/config/profile/blocks/evse.ts';
import type { EvseInput } from '../../../../src/config/profile/blocks/evse.ts';
import type { Issue } from '../../../../src/core/errors.ts';
import type { EvseConnectorDetail } from '../../../../src/contract/kinds/evse.ts';
import { createRandom } from '../../../../src/core/random.ts';
import { EvseSource } from '../../../../src/der/source/evse/evse-source.ts';

export const input = {
  irradianceWm2: 0,
  ambientTemperatureC: 20,
  cellTemperatureC: null,
  windSpeedMS: 0,
  terminalPu: 1,
  phaseLnV: [230, 230, 230] as [number, number, number],
  loadW: 0,
  frequencySupport: false,
  rate: 1,
};

/** A station from a profile block; the start delay is 5 s unless given. */
export function station(block: EvseInput = {}, ratedW = 22_000, seed = 1, central = false): EvseSource {
  const issues: Issue[] = [];
  const parameters = resolveEvse(
    { start_delay_min_s: 5, start_delay_max_s: 5, standby_w: 0, ...block },
    ratedW,
    'test',
    issues,
  );
  if (issues.length > 0) throw new Error(JSON.stringify(issues));
  return new EvseSource(parameters, createRandom(seed, 'evse'), central);
}

export interface Ask {
  readonly targetW?: number | null;
  readonly floorW?: number;
  readonly ceilingW?: number;
}

/** One sub-step as the inverter does it; returns the DC power. */
export function step(
  source: EvseSource,
  dtS: number,
  { targetW = null, floorW = -1e9, ceilingW = 1e9 }: Ask = {},
): number {
  source.prepare(dtS, input);
  const dcW = source.answer({ targetW, floorW, ceilingW });
  source.draw(dcW, true);
  return dcW;
}

/** Runs for `seconds` in sub-steps of at most `dtS`, shorter if `maxStepS` is; returns the energy drawn, Wh. */
export function run(source: EvseSource, seconds: number, dtS = 1, ask: Ask = {}): number {
  let energyWh = 0;
  for (let leftS = seconds; leftS > 1e-9; ) {
    const dt = Math.min(dtS, leftS, source.maxStepS);
    energyWh -= (step(source, dt, ask) * dt) / 3600;
    leftS -= dt;
  }
  return energyWh;
}

export function at(source: EvseSource, connectorId = 1): EvseConnectorDetail {
  const connector = source.detail().connectors[connectorId - 1];
  if (connector === undefined) throw new Error(`no connector ${connectorId}`);
  return connector;
}

export function plug(source: EvseSource, connectorId = 1): void {
  source.command({ kind: 'evse.plug', connectorId });
}

export const v2g: EvseInput = {
  connectors: [{ type: 'dc', bidirectional: true, max_power_w: 50_000, max_current_a: 150 }],
  ev: {
    battery_capacity_wh: 75_000,
    dc_max_charge_w: 50_000,
    max_discharge_w: 30_000,
    soc_pct: 50,
    reserve_soc_pct: 40,
  },
};
