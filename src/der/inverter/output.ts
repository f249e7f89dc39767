/**
 * The way from voltage and frequency to active and reactive power: curves, responses, limits and priority. Sub-steps of
 * an inverter and trials run the same functions.
 */
import type { ActiveDecider } from '../../contract/grid-trace.ts';
import type { PhaseLoads, DcSource } from '../source/source.ts';
import type { GridValues } from '../surroundings/environment.ts';
import type { FeederImpedance } from '../surroundings/grid/feeder.ts';
import { measurableHz, meanPu, nominalLnV } from './ac.ts';
import type { ActivePower } from './active-power.ts';
import { circleVa, withSupport } from './capability.ts';
import type { Capability } from './capability.ts';
import type { DcLink } from './dc-link.ts';
import { withoutVars } from './energy.ts';
import type { ProtectionRatings } from './protection.ts';
import type { ReactivePower } from './reactive-power.ts';
import { isEnergized } from './service.ts';
import type { ServicePhase } from './service.ts';
import type { Settings } from './settings.ts';
import type { TripKind } from './trip.ts';

/** Properties that stay constant while the device runs. */
export interface InverterRatings extends ProtectionRatings {
  readonly wMaxRtgW: number;
  readonly capability: Capability;
  /** null: the source counts its power at the AC terminals */
  readonly efficiencyNominal: number | null;
  /** DC ports of the source */
  readonly portCount: number;
  /** consumption from the grid while the source gives nothing, W */
  readonly nightW: number;
  /** true: runs at maximum power without a set-point; false: a storage then idles */
  readonly generator: boolean;
  /** rated apparent power, VA */
  readonly vaMaxRtgVa: number;
  /** the line to the grid; null: a stiff grid */
  readonly feeder: FeederImpedance | null;
}

const negligibleW = 1e-3;

/** Maximum power in either direction that service phase and cessation admit at the end of a sub-step. */
export interface ServiceCeiling {
  readonly ceilingW: number;
  readonly decider: ActiveDecider;
  /** share of the reactive power that may flow; absent: all of it */
  readonly varShare?: number;
}

/** Functions of an inverter, and their output at the terminals: of the device itself, or of a copy for a trial. */
export interface Output {
  readonly ratings: InverterRatings;
  readonly settings: Settings;
  readonly phase: ServicePhase;
  /** curve whose momentary cessation holds the output at zero, or null */
  readonly ceasedBy: TripKind | null;
  /** slope of active power on commands, W per second */
  readonly rampWS: number;
  readonly link: DcLink;
  readonly activePower: ActivePower;
  readonly reactivePower: ReactivePower;
  /** + into the grid */
  pW: number;
  qVar: number;
  clipped: boolean;
  apparentPowerLimited: boolean;
  circleVa: number;
  curvePct: number;
  phaseLoads: PhaseLoads | null;
}

/** The voltage of the curves under a grid: mean of the phases, percent of 702.VNom. */
export function voltagePct({ ratings: { wiring, vNomRtgV }, settings }: Output, grid: GridValues): number {
  return (meanPu(wiring, grid) * 100 * vNomRtgV) / settings.vNomV;
}

export function stopOutput(output: Output): void {
  output.pW = 0;
  output.qVar = 0;
  output.phaseLoads = null;
  output.clipped = false;
  output.apparentPowerLimited = false;
  output.reactivePower.clear();
  output.activePower.stop();
}

/**
 * Advances functions and output by `dtS`; with Infinity to the end of all responses. `takeUpLoads` follows once the
 * source runs at this power.
 */
export function advanceOutput(
  output: Output,
  grid: GridValues,
  source: DcSource,
  ceiling: ServiceCeiling,
  dtS: number,
): void {
  const { settings, activePower, ratings, link } = output;
  link.read(source);
  output.curvePct = voltagePct(output, grid);
  activePower.follow(settings, output.curvePct, dtS);
  if (!isEnergized(output.phase)) {
    stopOutput(output);
    return;
  }
  // the autonomous reference starts at its setting, and does not follow the voltage during a cessation
  if (output.ceasedBy === null) output.reactivePower.follow(settings, output.curvePct, Number.isFinite(dtS) ? dtS : 0);
  advanceActive(output, grid, ceiling, dtS);
  output.clipped = ratings.generator && link.exceeds(settings.wMaxW, negligibleW);
  advanceReactive(output, grid, source, ceiling.varShare ?? 1, dtS);
}

/** True if the source powers the converter; while shutting down reactive power goes to zero as well. */
export const converterRuns = ({ link, phase }: Pick<Output, 'link' | 'phase'>): boolean =>
  link.powered && phase !== 'shutting_down';

/** True if in service behind a source that neither gives nor absorbs. */
export function isAsleep(
  { phase, ceasedBy }: Pick<Output, 'phase' | 'ceasedBy'>,
  { starting, availableDcW, absorbableDcW }: DcSource,
): boolean {
  return phase === 'in_service' && !starting && availableDcW <= 0 && absorbableDcW <= 0 && ceasedBy === null;
}

/** Adds the consumption of a sleeping generator, and takes over loads of single phases and their reactive power. */
export function takeUpLoads(output: Output, source: DcSource): void {
  const { nightW } = output.ratings;
  if (nightW > 0 && isAsleep(output, source)) output.pW = -Math.min(nightW, output.circleVa);
  const { isOfLoads } = output.reactivePower;
  const loads = source.phaseLoads ?? null;
  output.phaseLoads = isOfLoads ? loads : withoutVars(loads);
  if (isOfLoads && source.ownVar !== undefined) output.qVar = source.ownVar;
}

function advanceActive(output: Output, grid: GridValues, { ceilingW, decider }: ServiceCeiling, dtS: number): void {
  const { ratings, settings, link, phase, ceasedBy, rampWS, pW } = output;
  output.activePower.step(
    {
      settings,
      nominalHz: ratings.nominalHz,
      hz: measurableHz(ratings.wiring, grid),
      link,
      serviceCeilingW: ceilingW,
      serviceDecider: decider,
      // consumption of a sleeping generator is not output
      outputW: ratings.generator ? Math.max(0, pW) : pW,
      free: phase === 'in_service' && ceasedBy === null,
      rampWS,
    },
    dtS,
  );
}

function advanceReactive(output: Output, grid: GridValues, source: DcSource, varShare: number, dtS: number): void {
  const { ratings, settings, activePower, reactivePower } = output;
  const volts = meanPu(ratings.wiring, grid) * nominalLnV(ratings.wiring, ratings.vNomRtgV);
  // beside an array the discharge is only a part of the power
  output.circleVa = circleVa(settings, volts, activePower.requestedW > 0 && source.array === undefined);
  reactivePower.step(
    {
      settings,
      capability: ratings.capability,
      requestedW: activePower.requestedW,
      sVa: output.circleVa,
      vPct: output.curvePct,
      running: converterRuns(output),
      ownVar: source.ownVar,
    },
    dtS,
  );
  if (output.ceasedBy !== null) {
    output.pW = 0;
    output.qVar = 0;
    output.apparentPowerLimited = false;
    return;
  }
  output.pW = reactivePower.pW;
  output.qVar = reactivePower.qVar * varShare;
  const { reactiveCurrentPu = 0 } = source;
  // a device that shuts down opens once nothing flows, also in a dip
  if (reactiveCurrentPu !== 0 && output.phase !== 'shutting_down') {
    const supportVar = ((reactiveCurrentPu * output.curvePct) / 100) * ratings.vaMaxRtgVa;
    [output.pW, output.qVar] = withSupport(output.pW, output.qVar + supportVar, output.circleVa);
  }
  output.apparentPowerLimited = Math.abs(activePower.requestedW) - Math.abs(output.pW) > negligibleW;
}
