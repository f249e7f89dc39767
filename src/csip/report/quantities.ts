/** Readings of the metering mirror: active and reactive power, voltages, frequency (CSIP), stored energy (CSIP-AUS). */
import { createHash } from 'node:crypto';
import type { ReadingType } from '../xml/documents.ts';
import type { Period } from './averages.ts';
import { phaseCodes } from './model.ts';
import type { MeterNow, PhaseCode } from './model.ts';

/** Conventions for the direction of power in readings. */
export interface ReadingConventions {
  /** `net`: one signed reading per quantity; `split`: one for each direction, never negative */
  readonly flow: 'net' | 'split';
  /** direction in which values of a net reading are positive */
  readonly positive: 'import' | 'export';
}

/** One MirrorMeterReading. */
export interface Quantity {
  /** part of the mRID: never changes */
  readonly key: string;
  /** at most 32 characters */
  readonly description: string;
  readonly type: ReadingType;
  /** value x 10^-multiplier of the type; null: the meter does not measure it */
  readonly value: (period: Period) => number | null;
}

/** FlowDirectionType. */
const forward = 1;
const reverse = 19;

/** members of all readings: electricity, mean over the period */
const averaged = { accumulationBehaviour: 12, commodity: 1, dataQualifier: 2 } as const;
const powerKind = 37;

const phaseNames: Readonly<Record<PhaseCode, string>> = { 129: 'L1', 65: 'L2', 33: 'L3' };

/** Rounded to units of 10^multiplier, without -0. */
function counted(value: number | null, multiplier: number): number | null {
  return value === null || !Number.isFinite(value) ? null : Math.round(value * 10 ** -multiplier) + 0;
}

interface PowerName {
  readonly key: string;
  readonly description: string;
  readonly uom: number;
  readonly injected: (period: Period) => number;
  readonly absorbed: (period: Period) => number;
}

const powers: readonly PowerName[] = [
  { key: 'W', description: 'Active power', uom: 38, injected: (p) => p.injectedW, absorbed: (p) => p.absorbedW },
  {
    key: 'var',
    description: 'Reactive power',
    uom: 63,
    injected: (p) => p.injectedVar,
    absorbed: (p) => p.absorbedVar,
  },
];

function powerQuantities({ flow, positive }: ReadingConventions): readonly Quantity[] {
  return powers.flatMap(({ key, description, uom, injected, absorbed }): Quantity[] => {
    const type = (flowDirection: number): ReadingType => ({
      ...averaged,
      flowDirection,
      kind: powerKind,
      powerOfTenMultiplier: 0,
      uom,
    });
    if (flow === 'net') {
      const sign = positive === 'export' ? 1 : -1;
      return [
        {
          key: `${key}/${positive}`,
          description: `${description}, ${positive} positive`,
          type: type(positive === 'export' ? reverse : forward),
          value: (period) => counted(sign * (injected(period) - absorbed(period)), 0),
        },
      ];
    }
    return [
      {
        key: `${key}/imported`,
        description: `${description}, imported`,
        type: type(forward),
        value: (period) => counted(absorbed(period), 0),
      },
      {
        key: `${key}/exported`,
        description: `${description}, exported`,
        type: type(reverse),
        value: (period) => counted(injected(period), 0),
      },
    ];
  });
}

/** Stored energy at the end of the period (CSIP-AUS 1.3). */
const storedEnergy: Quantity = {
  key: 'Wh/stored',
  description: 'Stored energy',
  type: {
    accumulationBehaviour: 12,
    commodity: 1,
    dataQualifier: 0,
    flowDirection: 0,
    kind: 12,
    powerOfTenMultiplier: 0,
    uom: 72,
  },
  value: ({ storedWh }) => counted(storedWh, 0),
};

/** @param meter shows which quantities there are */
export function quantitiesOf(
  conventions: ReadingConventions,
  { volts, storedWh }: Pick<MeterNow, 'volts' | 'storedWh'>,
): readonly Quantity[] {
  const voltages = phaseCodes
    .filter((phase) => volts.has(phase))
    .map(
      (phase): Quantity => ({
        key: `V/${phase}`,
        description: `Voltage ${phaseNames[phase]}`,
        type: { ...averaged, flowDirection: 0, kind: 0, phase, powerOfTenMultiplier: -1, uom: 29 },
        value: ({ volts }) => counted(volts.get(phase) ?? null, -1),
      }),
    );
  return [
    ...powerQuantities(conventions),
    ...voltages,
    {
      key: 'Hz',
      description: 'Frequency',
      type: { ...averaged, flowDirection: 0, kind: 0, powerOfTenMultiplier: -3, uom: 33 },
      value: ({ hz }) => counted(hz, -3),
    },
    ...(storedWh === null ? [] : [storedEnergy]),
  ];
}

/** An mRID that survives restarts: 96 bits of a digest of its parts, then the 32 bits of the enterprise number. */
export function mridOf(penDigits: string, ...parts: readonly (string | number)[]): string {
  const digest = createHash('sha256').update(parts.join('|')).digest('hex').slice(0, 24);
  return `${digest}${penDigits}`.toUpperCase();
}
