/** Values of the DER controls of a charge point: a schema for each member of SetDERControl that carries values. */
import { derControlMembers } from '../../contract/ocpp-der.ts';
import type { DerControlMember } from '../../contract/ocpp-der.ts';
import { memo } from '../../core/lazy.ts';
import { z } from '../description/zod.ts';

const number = (description: string) => z.number().openapi({ description });

const customData = memo(() =>
  z
    .object({ vendorId: z.string().max(255).openapi({ description: 'Vendor of the data.' }) })
    .catchall(z.unknown())
    .openapi('OcppCustomData', { description: 'Data of a vendor, in members of its own.' }),
);

/** An object of the standard: closed but for the data of vendors. */
const standard = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ ...shape, customData: customData().optional() });

const priority = () => z.int().min(0).openapi({ description: 'The lower number wins.' });

/** Members of values that may be scheduled. */
const scheduled = () => ({
  startTime: z
    .string()
    .openapi({ format: 'date-time', description: 'Start by the clock of the central system; absent: at once.' })
    .optional(),
  duration: number('Duration, s; absent: no end.').optional(),
});

const unit = (description: string) =>
  z
    .enum(['Not_Applicable', 'PctMaxW', 'PctMaxVar', 'PctWAvail', 'PctVarAvail', 'PctEffectiveV'])
    .openapi({ description });

/** `Values of HFMustTrip, HFMayTrip.` */
function about(...members: readonly DerControlMember[]) {
  const types = Object.entries(derControlMembers).flatMap(([type, member]) => (members.includes(member) ? [type] : []));
  return { description: `Values of ${types.join(', ')}.` };
}

const curve = memo(() =>
  standard({
    priority: priority(),
    yUnit: unit('Unit of y; `Not_Applicable` for trip curves.'),
    curveData: z
      .array(standard({ x: number('First axis of the curve.'), y: number('Second axis of the curve.') }))
      .min(1)
      .max(10)
      .openapi({ description: 'Points of the curve.' }),
    hysteresis: standard({
      hysteresisHigh: number('High end, as x.').optional(),
      hysteresisLow: number('Low end, as x.').optional(),
      hysteresisDelay: number('Delay, s.').optional(),
      hysteresisGradient: number('Rate, percent of the rated power per second.').optional(),
    })
      .openapi({ description: 'Kept, without an effect.' })
      .optional(),
    reactivePowerParams: standard({
      vRef: number('Reference voltage, percent of nominal.').optional(),
      autonomousVRefEnable: z.boolean().openapi({ description: 'The reference follows the voltage.' }).optional(),
      autonomousVRefTimeConstant: number('Time constant of the reference, s.').optional(),
    })
      .openapi({ description: 'Of VoltVar.' })
      .optional(),
    voltageParams: standard({
      hv10MinMeanValue: number('Limit of the mean voltage over ten minutes, V.').optional(),
      hv10MinMeanTripDelay: number('Delay of its trip, s.').optional(),
      powerDuringCessation: z
        .enum(['Active', 'Reactive'])
        .openapi({ description: 'Power that is fed in during momentary cessation.' })
        .optional(),
    })
      .openapi({ description: 'Kept, without an effect.' })
      .optional(),
    responseTime: number('Open loop response time, s.').optional(),
    ...scheduled(),
  }).openapi('OcppDerCurve', about('curve')),
);

const fixedPf = memo(() =>
  standard({
    priority: priority(),
    displacement: number('Power factor, above 0 to 1.'),
    excitation: z.boolean().openapi({ description: 'True: under-excited.' }),
    ...scheduled(),
  }).openapi('OcppDerFixedPf', about('fixedPFAbsorb', 'fixedPFInject')),
);

/** By member of SetDERControl. */
export const derValueSchemas: Readonly<Record<DerControlMember, () => z.ZodType>> = {
  curve,
  enterService: memo(() =>
    standard({
      priority: priority(),
      highVoltage: number('Upper voltage, in the units of the voltages of DER controls.'),
      lowVoltage: number('Lower voltage, in the units of the voltages of DER controls.'),
      highFreq: number('Upper frequency, Hz.'),
      lowFreq: number('Lower frequency, Hz.'),
      delay: number('Delay, s.').optional(),
      randomDelay: number('Maximum of the random delay, s.').optional(),
      rampRate: number('Ramp time, s.').optional(),
    }).openapi('OcppDerEnterService', about('enterService')),
  ),
  fixedPFAbsorb: fixedPf,
  fixedPFInject: fixedPf,
  fixedVar: memo(() =>
    standard({
      priority: priority(),
      setpoint: number('Reactive power, -100 to 100 %; positive injects.'),
      unit: unit('Base of the percentage.'),
      ...scheduled(),
    }).openapi('OcppDerFixedVar', about('fixedVar')),
  ),
  freqDroop: memo(() =>
    standard({
      priority: priority(),
      overFreq: number('Upper end of the deadband, Hz.'),
      underFreq: number('Lower end of the deadband, Hz.'),
      overDroop: number('Droop above the deadband, per unit.'),
      underDroop: number('Droop below the deadband, per unit.'),
      responseTime: number('Open loop response time, s.'),
      ...scheduled(),
    }).openapi('OcppDerFreqDroop', about('freqDroop')),
  ),
  gradient: memo(() =>
    standard({
      priority: priority(),
      gradient: number('Time over the full range of active power, s; 0 sets nothing.'),
      softGradient: number('Ramp time of entering service, s; 0 sets nothing.'),
    }).openapi('OcppDerGradient', about('gradient')),
  ),
  limitMaxDischarge: memo(() =>
    standard({
      priority: priority(),
      pctMaxDischargePower: number('Limit, percent of 702.WMax.').optional(),
      powerMonitoringMustTrip: curve()
        .openapi({ description: 'A control with it is refused: the station has no trip of this kind.' })
        .optional(),
      ...scheduled(),
    }).openapi('OcppDerLimitMaxDischarge', about('limitMaxDischarge')),
  ),
};

/** Values as they were sent: controls are taken only if they fit the schema of SetDERControl. */
export const derValuesSchema = memo(() => {
  const distinct = new Set(Object.values(derValueSchemas));
  return z.union([...distinct].map((schema) => schema())) as unknown as z.ZodType<Record<string, unknown>>;
});
