/** Constant reactive power and power factor: BO27, BO28. */
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { Origin } from '../../../core/origin.ts';
import type { DevicePort, PointWrite } from '../../device-port.ts';
import { registerOutput, success, writing } from '../bind.ts';
import type { OutputTarget, PartContext, PointBindings } from '../types.ts';
import { modePoints } from './mode.ts';
import { ramped, varPct } from './ramps.ts';
import type { Ramps } from './ramps.ts';

/**
 * Values of 704.VarSetMod with codes in the profile, from code 1: percent of WMax, VarMax, available reactive power.
 */
export const varReferences = ['W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT'] as const;
type VarReference = (typeof varReferences)[number];

/** The reference in force; null: it is none of the profile. */
export function varReference(port: DevicePort): VarReference | null {
  const present = port.value('704.VarSetMod');
  return varReferences.find((each) => each === present) ?? null;
}

/** The reference of a set-point that brings none along: the one in force, or VarMax. */
export function presentVarReference(port: DevicePort): VarReference {
  return varReference(port) ?? 'VAR_MAX_PCT';
}

/** The writes after which a set-point is percent of a reference of the profile. */
function varReferenceWrites(port: DevicePort): readonly PointWrite[] {
  return varReference(port) === null ? [{ point: '704.VarSetMod', value: presentVarReference(port) }] : [];
}

/** The set-point of 704.VarSetPct, var. */
function setPointVar(port: DevicePort): number {
  const pct = port.number('704.VarSetPct') ?? 0;
  const { injectVar, absorbVar } = port.device.available;
  const sideOf = (inject: number | null, absorb: number | null) => (pct < 0 ? absorb : inject) ?? 0;
  const bases = {
    W_MAX_PCT: port.number('702.WMax') ?? 0,
    VAR_MAX_PCT: sideOf(port.number('702.VarMaxInj'), port.number('702.VarMaxAbs')),
    VAR_AVAIL_PCT: sideOf(injectVar, absorbVar),
  };
  return (bases[presentVarReference(port)] * pct) / 100;
}

/** Constant reactive power, percent of the reference of AI42. */
export function constantVarPart(context: PartContext, ramps: Ramps): PointBindings {
  const { port } = context;
  const isEnabled = () => port.isEnabled('constant_var');
  const isIdle = () => !isEnabled();
  const ramp = (by: Origin) => {
    const way = { fromPct: varPct(port, port.number('701.Var') ?? 0), toPct: varPct(port, setPointVar(port)) };
    ramps.begin('AO201', 'varPctPerS', way, by);
  };
  const setPoint = registerOutput(port, {
    point: '704.VarSetPct',
    also: () => varReferenceWrites(port),
    isIdle,
    // in var, or percent of a reference that AI42 has no code for: no percent of the profile is in force
    elsewhere: () => (varReference(port) === null ? null : undefined),
  });
  return modePoints(context, {
    enable: 27,
    isSupported: port.supports('constant_var') && port.has('704.VarSetPct'),
    isEnabled,
    writes: (on) => [...port.switching('constant_var', on), ...(on ? varReferenceWrites(port) : [])],
    switched: (on, by) => {
      if (on) ramp(by);
      return success;
    },
    priority: 'AO199',
    window: 'AO200',
    bound: '704.VarSetEna',
    outputs: [
      ['AO201', ramps.output('AO201', 'varPctPerS', isIdle)],
      ['AO202', registerOutput(port, { point: '704.VarSetRvrtTms', isIdle })],
      ['AO203', ramped(setPoint, isEnabled, ramp)],
    ],
  });
}

/** Excitation: 1 absorbs reactive power, 0 injects it. */
function excitation({ port }: PartContext, point: PointPath, isIdle: () => boolean): OutputTarget | null {
  if (!port.has(point)) return null;
  return writing(port, {
    read: () => port.value(point) === 'UNDER_EXCITED',
    writes: (absorbs) => [{ point, value: absorbs === true ? 'UNDER_EXCITED' : 'OVER_EXCITED' }],
    isIdle,
    bound: point,
  });
}

/** The factor for both directions of power is one mode; a device that cannot absorb has one of them. */
export function powerFactorPart(context: PartContext): PointBindings {
  const { port } = context;
  const isEnabled = () => port.isEnabled('pf_inject') || port.isEnabled('pf_absorb');
  const isIdle = () => !isEnabled();
  const absorbing = port.supports('pf_absorb');
  const reversionOf = (value: number): readonly PointWrite[] =>
    absorbing && port.has('704.PFWAbsRvrtTms') ? [{ point: '704.PFWAbsRvrtTms', value }] : [];
  return modePoints(context, {
    enable: 28,
    isSupported: port.supports('pf_inject'),
    isEnabled,
    writes: (on) => {
      const inject = port.switching('pf_inject', on).filter(({ name }) => name !== 'pf_absorb');
      return absorbing ? [...inject, { name: 'pf_absorb', on }] : inject;
    },
    priority: 'AO206',
    window: 'AO207',
    bound: '704.PFWInjEna',
    outputs: [
      ['AO209', registerOutput(port, { point: '704.PFWInjRvrtTms', also: reversionOf, isIdle })],
      ['AO210', registerOutput(port, { point: '704.PFWInj.PF', isIdle })],
      ['AO211', absorbing ? registerOutput(port, { point: '704.PFWAbs.PF', isIdle }) : null],
      ['BO10', excitation(context, '704.PFWInj.Ext', isIdle)],
      ['BO11', absorbing ? excitation(context, '704.PFWAbs.Ext', isIdle) : null],
    ],
  });
}
