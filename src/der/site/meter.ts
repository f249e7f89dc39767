/** The meter of the connection point, with its own register map. */
import type { Kept } from '../../core/kept.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { SiteMeter, SiteMeterNow } from '../../contract/plant.ts';
import { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { CommitClock } from '../../sunspec/map/register-bank.ts';
import { createMapView } from '../../sunspec/map/view.ts';
import { phaseCount } from '../inverter/ac.ts';
import type { Wiring } from '../inverter/ac.ts';
import type { MeterTap } from '../inverter/site-share.ts';
import type { GridValues } from '../surroundings/environment.ts';
import { SiteFlows } from './flows.ts';
import type { FlowOptions, MeteredDevice } from './flows.ts';
import { MeterFace } from './meter-face.ts';
import { meterIdentity, meterLayout, meterModel, pointsOf } from './meter-registers.ts';
import type { MeterShape } from './meter-registers.ts';

export interface ConnectionMeterOptions extends FlowOptions {
  readonly float: boolean;
  /** as `SiteMeter.unitId`; absent: null */
  readonly unitId?: number | null;
  /** version of the simulator */
  readonly version: string;
  readonly clock: CommitClock;
}

const widest = (taps: readonly MeterTap[]): Wiring =>
  (['three', 'split'] as const).find((wiring) => taps.some((tap) => tap.wiring === wiring)) ?? 'single';

function shapeOf(
  devices: readonly MeteredDevice[],
  { float, surroundings, start }: ConnectionMeterOptions,
): MeterShape {
  const taps = devices.map((device) => device.siteShare.meterTap());
  const wiring = widest(taps);
  const widestTap = taps.find((tap) => tap.wiring === wiring);
  const loadsW = devices.reduce((sum, { index }) => sum + surroundings.loadW(index, start), 0);
  const ratedVa = taps.reduce((sum, tap) => sum + tap.ratedVa, 0);
  return { wiring, float, vNomV: widestTap?.vNomV ?? 0, ratedVa: Math.max(ratedVa, loadsW) };
}

function createBank(shape: MeterShape, { version, clock }: ConnectionMeterOptions) {
  const layout = meterLayout(shape);
  const image = layout.blank();
  const views = createMapView(layout, image);
  Object.assign(views.m1, meterIdentity('site', version));
  const { id } = meterModel(shape);
  const energySf = layout.slot(id, 'TotWhExp')?.sf ?? 0;
  return { bank: new RegisterBank(layout, image, clock), points: pointsOf(views, `${id}`), energySf };
}

export class ConnectionMeter implements SiteMeter {
  readonly unitId: number | null;
  readonly bank: RegisterBank;
  now: SiteMeterNow;
  readonly #face: MeterFace;
  readonly #flows: SiteFlows;
  readonly #phases: number;

  /**
   * Wiring, voltage and scale factors follow from the devices at the start.
   * @param flows shared with the meters in the maps of devices
   */
  constructor(devices: readonly MeteredDevice[], options: ConnectionMeterOptions, flows = new SiteFlows(options)) {
    const shape = shapeOf(devices, options);
    const { bank, points, energySf } = createBank(shape, options);
    this.unitId = options.unitId ?? null;
    this.bank = bank;
    this.#flows = flows;
    this.#phases = phaseCount(shape.wiring);
    this.#face = new MeterFace({ of: 'site', shape, points, energySf }, flows);
    this.now = this.publish(devices);
  }

  /** State that a restart keeps, besides that of the flows; `show` renews the registers. */
  kept(): Kept {
    return this.#face.kept();
  }

  /** As `SiteFlows.begin`. */
  begin(devices: readonly MeteredDevice[], from: SimTime, to: SimTime): SimTime {
    return this.#flows.begin(devices, from, to);
  }

  /** Counts the energies of the piece, to whose end all devices have advanced. */
  advance(to: SimTime): void {
    this.#flows.advance(to);
  }

  /** Measures, and shows powers, voltages and counters in the registers. @param devices devices of the last tick */
  publish(devices: readonly MeteredDevice[]): SiteMeterNow {
    return this.show(this.#flows.measure(devices));
  }

  /** Shows the measured values in the registers. @param grid the common grid */
  show(grid: GridValues): SiteMeterNow {
    const volts = this.#face.show(grid);
    return (this.now = this.#reading(volts.ln.slice(0, this.#phases), grid.hz));
  }

  #reading(volts: readonly number[], hz: number): SiteMeterNow {
    const { watts, vars } = this.#face.sums;
    const { importedWh, exportedWh, varh } = this.#face.energy.total;
    return {
      w: watts.reduce((sum, each) => sum + each, 0),
      var: vars.reduce((sum, each) => sum + each, 0),
      volts,
      hz,
      importedWh,
      exportedWh,
      importedVarh: varh[0] + varh[1],
      exportedVarh: varh[2] + varh[3],
    };
  }
}
