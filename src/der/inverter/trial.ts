/** P and Q under another grid without a sub-step: the functions of an inverter run on copies of their state. */
import type { ReactiveDecider } from '../../contract/grid-trace.ts';
import type { DcSource, PhaseLoads } from '../source/source.ts';
import type { GridValues } from '../surroundings/environment.ts';
import { meanPu, phaseVoltages } from './ac.ts';
import { DcLink } from './dc-link.ts';
import { advanceOutput, takeUpLoads } from './output.ts';
import type { Output, ServiceCeiling } from './output.ts';
import { isEnergized } from './service.ts';

export interface Trial {
  readonly pW: number;
  readonly qVar: number;
  readonly phaseLoads: PhaseLoads | null;
  /** false: the device gives this unless something else happens first */
  readonly exact: boolean;
}

/** Service of the device during the trial. */
interface TriedService {
  /** ceiling after so many seconds */
  readonly ceilingAt: (seconds: number) => ServiceCeiling;
  /** no service state, timer or ramp of it begins or ends */
  readonly lasts: boolean;
}

/** Difference of power that does not count, as a share of the rating. */
const tolerance = 2e-4;
/** Difference of a reference voltage that does not count, percent. */
const tolerancePct = 1e-3;
/** Time in which nothing moves by as much, s. */
const beginS = 1e-6;

/** The functions of an inverter with the same state, which advance by themselves. */
function copyOf(output: Output, source: DcSource): Output {
  const { ratings, settings, phase, ceasedBy, rampWS, pW, qVar, clipped, apparentPowerLimited } = output;
  return {
    ratings,
    settings,
    phase,
    ceasedBy,
    rampWS,
    link: new DcLink(ratings, source),
    activePower: output.activePower.copy(settings),
    reactivePower: output.reactivePower.copy(),
    pW,
    qVar,
    clipped,
    apparentPowerLimited,
    circleVa: output.circleVa,
    curvePct: output.curvePct,
    phaseLoads: output.phaseLoads,
  };
}

/**
 * Output after `dtS` under a grid, while everything else stays. Changes neither `output` nor `source`.
 * @param dtS Infinity: at the end of all responses; an autonomous reference voltage stays as it is
 */
export function trial(output: Output, grid: GridValues, source: DcSource, dtS: number, service: TriedService): Trial {
  const { wiring, vNomRtgV } = output.ratings;
  const phaseLnV: [number, number, number] = [0, 0, 0];
  phaseVoltages(wiring, vNomRtgV, grid, phaseLnV);
  const tried = source.triedAt?.(dtS, phaseLnV) ?? source;
  const end = copyOf(output, tried);
  const passTo = (seconds: number, passedS: number): void => {
    advanceOutput(end, grid, tried, service.ceilingAt(seconds), seconds - passedS);
    tried.planFor?.(end.link.dcW(end.pW));
    takeUpLoads(end, tried);
  };
  passTo(beginS, 0);
  const begin = aimOf(end);
  passTo(dtS, beginS);
  const { pW, qVar, phaseLoads } = end;
  const exact =
    service.lasts &&
    functionsHold(output, end) &&
    sourceHolds(end, tried, dtS, meanPu(wiring, grid)) &&
    (isAtEnd(end) || isDirect(begin, end));
  return { pW, qVar, phaseLoads, exact };
}

/** True if nothing moves any more, so that the way there did not matter. */
function isAtEnd({ activePower, reactivePower }: Output): boolean {
  return !activePower.moving && !reactivePower.moving;
}

const limits: readonly ReactiveDecider[] = ['apparent_power', 'low_power'];

/** The powers that the functions aim at. */
interface Aim {
  readonly requestedW: number;
  readonly targetVar: number;
  /** true: apparent power or capability limits the output */
  readonly isLimited: boolean;
}

const aimOf = ({ activePower: { requestedW }, reactivePower, apparentPowerLimited }: Output): Aim => ({
  requestedW,
  targetVar: reactivePower.targetVar,
  isLimited: apparentPowerLimited || limits.includes(reactivePower.decidedBy),
});

/**
 * True if reactive power moves towards a target that stands still, within limits that do: otherwise the end depends on
 * the way there.
 * @param begin under the same grid, before anything has moved
 */
function isDirect(begin: Aim, end: Output): boolean {
  const tolerated = tolerance * end.ratings.vaMaxRtgVa;
  const { requestedW, targetVar, isLimited } = aimOf(end);
  const limitMoves = (begin.isLimited || isLimited) && Math.abs(begin.requestedW - requestedW) > tolerated;
  return !limitMoves && Math.abs(begin.targetVar - targetVar) <= tolerated;
}

/** True if droop and reference voltage stay, and the connection point has no bounds, which answer the power. */
function functionsHold(before: Output, end: Output): boolean {
  const [from, to] = [before.activePower.droop, end.activePower.droop];
  if (from.moving || to.moving || from.side !== to.side || from.targetW !== to.targetW) return false;
  const { enabled, autoReference } = end.settings.voltVar;
  const referenceMoves =
    enabled && autoReference && Math.abs(end.reactivePower.vRefPct - before.reactivePower.vRefPct) > tolerancePct;
  return !referenceMoves && !end.activePower.site.inForce;
}

/** True if the source gives the power of the end all the time, without a ramp to it. */
function sourceHolds(end: Output, source: DcSource, dtS: number, terminalPu: number): boolean {
  if (!isEnergized(end.phase)) return true;
  const { activePower, reactivePower, link, settings, ratings, pW, qVar } = end;
  const tolerated = tolerance * ratings.wMaxRtgW;
  const isRamping = Math.abs(activePower.demandW(settings, link) - activePower.freeW) > tolerated;
  // a source with a ramp offers no more than it reaches from the power drawn, in the next sub-step alone
  const isHeldBack = source.outputRampDcWS !== undefined && Math.abs(activePower.requestedW - pW) > tolerated;
  if (isRamping || isHeldBack || !source.settled) return false;
  if (source.holds === undefined) return true;
  return source.holds({
    dcW: link.dcW(pW),
    isShare: settings.voltWatt.ofAvailable && activePower.voltWattPct < 100,
    decidedVar: reactivePower.isOfLoads ? null : qVar,
    dtS,
    terminalPu,
  });
}
