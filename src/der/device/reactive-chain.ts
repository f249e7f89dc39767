/** The functions and limits of reactive power as a chain, derived from the last sub-step of an inverter. */
import type { ReactiveChain, ReactiveLimit } from '../../contract/limit-chain.ts';
import { lowPowerShare } from '../inverter/capability.ts';
import type { Inverter } from '../inverter/inverter.ts';
import { converterRuns } from '../inverter/output.ts';
import { priorityOf, reactiveFunctions } from '../inverter/reactive-power.ts';
import type { ReactiveFunction } from '../inverter/reactive-power.ts';
import { isEnergized } from '../inverter/service.ts';
import { reactiveDecider, reactiveStep } from './trace.ts';

type Limits = Readonly<Record<ReactiveLimit, number | null>>;

/** Reactive power that each function asks for, before any limit; null: off, or no function acts. */
function requestsOf(inverter: Inverter): Readonly<Record<ReactiveFunction, number | null>> {
  const acts = isEnergized(inverter.phase);
  return Object.fromEntries(
    reactiveFunctions.map((name) => [name, acts ? reactiveStep(inverter, name).target : null]),
  ) as Record<ReactiveFunction, number | null>;
}

/** @param side 1: bounds of injected reactive power; -1: of absorbed */
function limitsOf({ settings, ratings, activePower, circleVa }: Inverter, side: 1 | -1) {
  const capabilityVar = side > 0 ? settings.varMaxInjVar : settings.varMaxAbsVar;
  const share = lowPowerShare(ratings.capability, activePower.requestedW);
  return {
    capability: side * capabilityVar,
    low_power: share < 1 ? side * share * capabilityVar : null,
    apparent_power: side * circleVa,
  };
}

/** Limits that are no reactive power: their value is what they leave. */
const withoutPower: ReadonlySet<ReactiveLimit> = new Set(['apparent_power', 'cessation', 'out_of_service']);

function askedOf(inverter: Inverter, requests: Readonly<Record<ReactiveFunction, number | null>>) {
  const { activeFunction, isOfLoads } = inverter.reactivePower;
  if (activeFunction !== null) return { by: 'function', powerVar: requests[activeFunction] ?? 0 } as const;
  const fromLoads = isEnergized(inverter.phase) && isOfLoads;
  return fromLoads ? ({ by: 'loads', powerVar: inverter.qVar } as const) : ({ by: 'none', powerVar: 0 } as const);
}

export function reactiveChain(inverter: Inverter): ReactiveChain {
  const { reactivePower, settings, qVar } = inverter;
  const runs = converterRuns(inverter);
  const requests = requestsOf(inverter);
  const asked = askedOf(inverter, requests);
  const decider = reactiveDecider(inverter);
  const isFunction = decider === reactivePower.activeFunction;
  const winner = decider === 'none' || (isFunction && !runs) ? null : decider;
  const limits: Limits = {
    ...requests,
    ...limitsOf(inverter, (asked.powerVar || qVar) < 0 ? -1 : 1),
    cessation: null,
    out_of_service: null,
  };
  return {
    asked,
    function: reactivePower.activeFunction,
    winner,
    limitsVar: winner !== null && withoutPower.has(winner) ? { ...limits, [winner]: qVar } : limits,
    priority: priorityOf(settings, reactivePower.activeFunction),
    converterRuns: runs,
    targetVar: reactivePower.targetVar,
    deliveredVar: qVar,
  };
}
