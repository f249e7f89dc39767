/** The functions and limits that set the reactive power of a device, and the sentence about it. */
import type { Device } from '../../contract/device.ts';
import { reactiveLimits } from '../../contract/limit-chain.ts';
import type { ReactiveChain, ReactiveLimit } from '../../contract/limit-chain.ts';
import type { Plant } from '../../contract/plant.ts';
import { powerText, varText } from '../../contract/power-text.ts';
import type { Provenance } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import { functionTable } from '../../sunspec/map/grid-support/functions.ts';
import type { ReactivePowerFunction } from '../../sunspec/map/grid-support/functions.ts';
import { reversionRemainingS } from '../../sunspec/map/grid-support/state.ts';
import { latestOf, pointWriter } from '../common/points.ts';
import type { ReactiveEntry, ReactiveWhy } from './model.ts';
import { byText, capitalized, shownWriter } from './words.ts';

const negligibleVar = 0.5;

const isFunction = (key: ReactiveLimit): key is ReactivePowerFunction => key in functionTable;

/** Points that set a function or a limit. */
const pointsBehind: Readonly<Partial<Record<ReactiveLimit, readonly [modelId: number, ...paths: string[]]>>> = {
  volt_var: [705, 'Ena', 'AdptCrvReq'],
  watt_var: [712, 'Ena', 'AdptCrvReq'],
  constant_var: [704, 'VarSetEna', 'VarSetMod', 'VarSetPri', 'VarSet', 'VarSetPct'],
  pf_inject: [704, 'PFWInjEna', 'PFWInj.PF', 'PFWInj.Ext'],
  pf_absorb: [704, 'PFWAbsEna', 'PFWAbs.PF', 'PFWAbs.Ext'],
  capability: [702, 'VarMaxInj', 'VarMaxAbs'],
  apparent_power: [702, 'VAMax'],
  out_of_service: [703, 'ES'],
};

function writerOf({ bank }: Device, key: ReactiveLimit): Provenance | null {
  const [modelId, ...paths] = pointsBehind[key] ?? [0];
  return shownWriter(latestOf(paths.map((path) => pointWriter(bank, modelId, path))));
}

function linkOf({ index }: Device, key: ReactiveLimit): string {
  if (isFunction(key)) return `grid-support?device=${index}`;
  const isRating = key === 'capability' || key === 'low_power' || key === 'apparent_power';
  return isRating ? `registers/702?device=${index}` : `controls?device=${index}`;
}

/** The name of an entry in a sentence. */
function labelOf(key: ReactiveLimit, { asked, priority }: ReactiveChain): string {
  switch (key) {
    case 'capability':
      return `the reactive capability (702.${asked.powerVar < 0 ? 'VarMaxAbs' : 'VarMaxInj'})`;
    case 'low_power':
      return 'the reactive capability at low active power';
    case 'apparent_power':
      return priority === 'both'
        ? 'the rating in kVA, which keeps the power factor'
        : `the rating in kVA with priority of ${priority} power`;
    case 'cessation':
      return 'momentary cessation';
    case 'out_of_service':
      return 'out of service';
    default:
      return functionTable[key].label;
  }
}

function inputText({ trace }: Device, key: ReactiveLimit): string {
  if (key === 'volt_var') return ` at ${trace.voltagePct.toFixed(1)} %`;
  return key === 'watt_var' ? ` at ${powerText(Math.abs(trace.step.activePowerW))}` : '';
}

function clauseOf(device: Device, plant: Plant, key: ReactiveLimit, chain: ReactiveChain): string {
  const verb = key === 'volt_var' || key === 'watt_var' ? 'curve written' : 'written';
  return `${labelOf(key, chain)}${inputText(device, key)}${byText(plant, verb, writerOf(device, key))}`;
}

function entryOf(device: Device, plant: Plant, key: ReactiveLimit, chain: ReactiveChain): ReactiveEntry {
  const limitVar = chain.limitsVar[key];
  const state = key === chain.winner ? 'wins' : limitVar === null ? 'off' : 'not_reached';
  const text = {
    off: `${labelOf(key, chain)} ${key === 'cessation' || key === 'out_of_service' ? 'does not apply' : 'is off'}.`,
    not_reached: `${clauseOf(device, plant, key, chain)} does not set the reactive power.`,
    wins: `${clauseOf(device, plant, key, chain)} sets the reactive power.`,
  }[state];
  const leftS = isFunction(key) ? reversionRemainingS(device.bank, functionTable[key]) : null;
  return {
    key,
    limitVar,
    state,
    by: writerOf(device, key),
    untilMs: leftS === null ? null : plant.dateMs(addSeconds(plant.now, leftS)),
    link: linkOf(device, key),
    text: capitalized(text),
  };
}

function askedText({ asked, function: name }: ReactiveChain): string {
  if (name !== null) return `what ${functionTable[name].label} asks for`;
  return asked.by === 'loads' ? 'what the loads behind the terminals take' : 'no function acts';
}

const flowText = (vars: number) => `${varText(Math.abs(vars))}${vars < 0 ? ' absorbed' : vars > 0 ? ' injected' : ''}`;

function sentenceOf(device: Device, plant: Plant, chain: ReactiveChain): string {
  const { asked, winner, function: name, converterRuns, targetVar, deliveredVar } = chain;
  if (winner === 'cessation' || winner === 'out_of_service') return `No reactive power: ${labelOf(winner, chain)}.`;
  if (name === null)
    return asked.by === 'loads' && Math.abs(deliveredVar) > negligibleVar
      ? `${flowText(deliveredVar)} by the loads behind the terminals: no function acts.`
      : `${flowText(deliveredVar)}: no function acts.`;
  const ofAsked = `${varText(Math.abs(deliveredVar))} of ${flowText(asked.powerVar)}, ${askedText(chain)}`;
  if (winner === null) return `${ofAsked}: ${converterRuns ? 'nothing limits' : 'the converter does not run'}.`;
  const clause = clauseOf(device, plant, winner, chain);
  if (!isFunction(winner)) return `${ofAsked}: ${clause}.`;
  const moves = Math.abs(deliveredVar - targetVar) > negligibleVar ? `, on the way to ${flowText(targetVar)}` : '';
  return `${flowText(deliveredVar)}${moves}: ${clause}.`;
}

/** Why a device has its reactive power, at its terminals. */
export function reactiveWhy(device: Device, plant: Plant): ReactiveWhy {
  const chain = device.reactiveChain;
  return {
    asked: { ...chain.asked, text: askedText(chain) },
    chain: reactiveLimits.map((key) => entryOf(device, plant, key, chain)),
    deliveredVar: chain.deliveredVar,
    sentence: sentenceOf(device, plant, chain),
  };
}
