/** P and Q under another grid without a sub-step: the functions of an inverter run on copies of their state. */
import type { ReactiveDecider } from '../../contract/grid-trace.ts';
import type { DcSource, PhaseLoads } from '../source/source.ts';
import type { GridValues } from '../surroundings/environment.ts';
import { meanPu, phaseVoltages } from './ac.ts';
import { ActivePower } from './active-power.ts';
import { lowPowerShare } from './capability.ts';
import { DcLink } from './dc-link.ts';
import { advanceOutput, takeUpLoads } from './output.ts';
import type { InverterRatings, Output, ServiceCeiling } from './output.ts';
import { ReactivePower } from './reactive-power.ts';
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
export class TriedOutput implements Output {
  ratings: Output['ratings'];
  settings: Output['settings'];
  phase: Output['phase'] = 'in_service';
  ceasedBy: Output['ceasedBy'] = null;
  rampWS = 0;
  readonly link: DcLink;
  readonly activePower: ActivePower;
  readonly reactivePower = new ReactivePower();
  pW = 0;
  qVar = 0;
  clipped = false;
  apparentPowerLimited = false;
  circleVa = 0;
  curvePct = 100;
  phaseLoads: PhaseLoads | null = null;

  constructor({ ratings, settings }: Output, source: DcSource) {
    this.ratings = ratings;
    this.settings = settings;
    this.link = new DcLink(ratings, source);
    this.activePower = new ActivePower(settings, ratings.generator);
  }

  resume(output: Output, source: DcSource): void {
    this.ratings = output.ratings;
    this.settings = output.settings;
    this.phase = output.phase;
    this.ceasedBy = output.ceasedBy;
    this.rampWS = output.rampWS;
    this.link.resume(output.link, source);
    this.activePower.resume(output.activePower);
    this.reactivePower.resume(output.reactivePower);
    this.pW = output.pW;
    this.qVar = output.qVar;
    this.clipped = output.clipped;
    this.apparentPowerLimited = output.apparentPowerLimited;
    this.circleVa = output.circleVa;
    this.curvePct = output.curvePct;
    this.phaseLoads = output.phaseLoads;
  }
}

/** One for the trials of all devices: new functions for each would take longer than its trial. */
let shared: TriedOutput | null = null;

/** The way of a device to the end of a trial. */
export interface Way {
  readonly output: Output;
  readonly grid: GridValues;
  /** that of the trial */
  readonly source: DcSource;
  readonly service: TriedService;
  readonly dtS: number;
}

/** Takes functions from `fromS` to `toS` after the present. */
function pass(end: Output, { grid, source, service }: Way, fromS: number, toS: number): void {
  advanceOutput(end, grid, source, service.ceilingAt(toS), toS - fromS);
  source.planFor?.(end.link.dcW(end.pW));
  takeUpLoads(end, source);
}

/**
 * Output after `dtS` under a grid, while everything else stays. Changes neither `output` nor `source`.
 * @param dtS Infinity: at the end of all responses; an autonomous reference voltage stays as it is
 */
export function trial(output: Output, grid: GridValues, source: DcSource, dtS: number, service: TriedService): Trial {
  const tried = sourceAt(output, grid, source, dtS);
  const way = { output, grid, source: tried, service, dtS };
  const end = (shared ??= new TriedOutput(output, tried));
  const isCertain = passAtOnce(end, way) || passInTwo(end, way);
  const { pW, qVar, phaseLoads } = end;
  const exact =
    isCertain &&
    service.lasts &&
    functionsHold(output, end) &&
    !(Number.isFinite(dtS) && movesWithRamp(output, end, tried)) &&
    sourceHolds(output, end, tried, dtS, meanPu(output.ratings.wiring, grid));
  return { pW, qVar, phaseLoads, exact };
}

function sourceAt(
  { ratings: { wiring, vNomRtgV } }: Output,
  grid: GridValues,
  source: DcSource,
  dtS: number,
): DcSource {
  if (source.triedAt === undefined) return source;
  const phaseLnV: [number, number, number] = [0, 0, 0];
  phaseVoltages(wiring, vNomRtgV, grid, phaseLnV);
  return source.triedAt(dtS, phaseLnV);
}

/**
 * Goes to the end in one sub-step, for the many devices whose voltage moves reactive power alone.
 * @returns true if active power stays, and no limit is reached: reactive power then has one target all the way
 */
export function passAtOnce(end: TriedOutput, way: Way): boolean {
  const { output, source, dtS } = way;
  const { voltVar, voltWatt } = output.settings;
  if (voltWatt.enabled || voltVar.autoReference || source.planFor !== undefined) return false;
  end.resume(output, source);
  pass(end, way, 0, dtS);
  const { ratings, activePower, circleVa } = end;
  const { requestedW } = activePower;
  return (
    requestedW === output.activePower.requestedW &&
    lowPowerShare(ratings.capability, requestedW) === 1 &&
    Math.hypot(requestedW, output.reactivePower.qVar) <= circleVa &&
    !isLimited(end)
  );
}

/**
 * Goes to the end by a first moment, in which limits take effect that the rest begins with.
 * @returns true if powers then move to ends that stand still
 */
function passInTwo(end: TriedOutput, way: Way): boolean {
  end.resume(way.output, way.source);
  pass(end, way, 0, beginS);
  const begin = aimOf(end);
  const beginVar = end.qVar;
  pass(end, way, beginS, way.dtS);
  if (isShrunkOnTheWay(begin, beginVar, end)) return false;
  if (Number.isFinite(way.dtS) && isCutBeforeRamp(way.output, begin, end)) return false;
  return isAtEnd(end) || isDirect(begin, end);
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

const isLimited = ({ apparentPowerLimited, reactivePower }: Output): boolean =>
  apparentPowerLimited || limits.includes(reactivePower.decidedBy);

function aimOf(output: Output): Aim {
  const { activePower, reactivePower } = output;
  return { requestedW: activePower.requestedW, targetVar: reactivePower.targetVar, isLimited: isLimited(output) };
}

/**
 * True if a limit shrinks both powers while reactive power moves: it then starts each sub-step from less than the one
 * before has aimed at, and its end depends on their number.
 */
function isShrunkOnTheWay(begin: Aim, beginVar: number, end: Output): boolean {
  const moves = Math.abs(end.qVar - beginVar) > tolerance * end.ratings.vaMaxRtgVa;
  if (!moves || !end.reactivePower.shrinksBoth) return false;
  // towards less it is quicker than the trial, and there by then
  const isThere = isAtEnd(end) && Math.abs(end.qVar) <= Math.abs(beginVar);
  return isLimited(end) || (begin.isLimited && !isThere);
}

/**
 * True if a limit cuts active power at once, and power goes on from there: it does so a sub-step later, whose length a
 * trial does not know.
 */
function isCutBeforeRamp(before: Output, begin: Aim, end: Output): boolean {
  const tolerated = tolerance * end.ratings.wMaxRtgW;
  const [beforeW, endW] = [before.activePower.requestedW, end.activePower.requestedW];
  return Math.abs(begin.requestedW - beforeW) > tolerated && Math.abs(endW - begin.requestedW) > tolerated;
}

/**
 * True if reactive power moves towards a target that stands still, within limits that do: otherwise the end depends on
 * the way there.
 * @param begin under the same grid, before anything has moved
 */
function isDirect(begin: Aim, end: Output): boolean {
  const tolerated = tolerance * end.ratings.vaMaxRtgVa;
  const { requestedW, targetVar, isLimited: isEndLimited } = aimOf(end);
  const limitMoves = (begin.isLimited || isEndLimited) && Math.abs(begin.requestedW - requestedW) > tolerated;
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

/** True if a source ramps to its power beside a function of reactive power: its target may move on the way and back. */
export function movesWithRamp(
  before: Pick<Output, 'pW'>,
  end: Pick<Output, 'pW'> & {
    readonly ratings: Pick<InverterRatings, 'vaMaxRtgVa'>;
    readonly reactivePower: Pick<ReactivePower, 'activeFunction'>;
  },
  source: Pick<DcSource, 'outputRampDcWS'>,
): boolean {
  const isRamping = source.outputRampDcWS !== undefined && end.reactivePower.activeFunction !== null;
  return isRamping && Math.abs(end.pW - before.pW) > tolerance * end.ratings.vaMaxRtgVa;
}

/** True if the source gives the power of the end all the time, without a ramp to it. */
function sourceHolds(before: Output, end: Output, source: DcSource, dtS: number, terminalPu: number): boolean {
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
    fromDcW: link.dcOf(before.pW),
    setPointRampWS: activePower.isCommanded ? end.rampWS : null,
    isShare: settings.voltWatt.ofAvailable && activePower.voltWattPct < 100,
    decidedVar: reactivePower.isOfLoads ? null : qVar,
    dtS,
    terminalPu,
  });
}
