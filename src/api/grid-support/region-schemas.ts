import { memo } from '../../core/memo.ts';
import { rideThroughModes } from '../../contract/grid-trace.ts';
import { z } from '../description/zod.ts';
import { deviceIndex } from '../common/schemas.ts';

const regions = [...rideThroughModes, 'may_ride_through_or_trip', 'shall_trip'] as const;
const abnormalCategories = ['cat_1', 'cat_2', 'cat_3'] as const;

const timeS = z.number().min(0);
const coordinates = {
  v_pct: z.number().openapi({ description: 'Percent of nominal voltage (702.VNom), as in 707 and 708.' }),
  hz: z.number().openapi({ description: 'Hz, as in 709 and 710.' }),
};
type CoordinateName = keyof typeof coordinates;

function areaSchema<N extends CoordinateName>(name: N, component: string) {
  return z
    .strictObject({
      region: z.enum(regions).openapi({
        description:
          'Mode of operation that the standard asks for; `may_ride_through_or_trip`: the manufacturer decides; ' +
          '`shall_trip`: beyond the default trip settings of the category.',
      }),
      clause: z.string().openapi({ description: 'Clause and table of the standard.' }),
      max_response_s: timeS.nullable().openapi({
        description: 'Seconds within which nothing may flow any more; null: the region does not ask for that.',
      }),
      corners: z
        .array(
          z.strictObject({
            [name]: coordinates[name],
            time_s: timeS.nullable().openapi({
              description: 'Seconds since voltage or frequency went beyond the edge; null: the area has no end.',
            }),
          } as Record<N, (typeof coordinates)[N]> & { time_s: z.ZodNullable<z.ZodNumber> }),
        )
        .openapi({ description: 'Corners of the area, around it in order.' }),
    })
    .openapi(component);
}

const range = (unit: string) =>
  z.strictObject({
    min: z.number().openapi({ description: `Minimum, ${unit}.` }),
    max: z.number().openapi({ description: `Maximum, ${unit}; equal to the minimum if the setting is fixed.` }),
  });

function elementSchema<N extends CoordinateName>(name: N, unit: string, component: string) {
  const point = { [name]: coordinates[name], time_s: timeS.openapi({ description: 'Clearing time, s.' }) };
  const adjustable = {
    [name]: range(unit).openapi({ description: 'Range of the threshold.' }),
    time_s: range('s').openapi({ description: 'Range of the clearing time.' }),
  };
  type Named<T, Time> = Record<N, T> & { time_s: Time };
  return z
    .strictObject({
      name: z
        .enum(['uv1', 'uv2', 'ov1', 'ov2', 'uf1', 'uf2', 'of1', 'of2'])
        .openapi({ description: 'Name of the trip element: 2 is the outer one.' }),
      default: z
        .strictObject(point as Named<(typeof coordinates)[N], typeof timeS>)
        .openapi({ description: 'Default setting of the category.' }),
      adjustable: z
        .strictObject(adjustable as Named<ReturnType<typeof range>, ReturnType<typeof range>>)
        .openapi({ description: 'Settings that the standard allows.' }),
    })
    .openapi(component);
}

function functionSchema<S extends z.ZodType>(element: S) {
  return z.strictObject({
    clause: z.string().openapi({ description: 'Clause and table of the standard.' }),
    elements: z.array(element).openapi({ description: 'Trip elements, the outer one first.' }),
  });
}

const voltageElement = memo(() => elementSchema('v_pct', 'percent of nominal', 'VoltageTripElement'));
const frequencyElement = elementSchema('hz', 'Hz', 'FrequencyTripElement');

export const regionsSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      standard: z.literal('IEEE 1547-2018').openapi({ description: 'Standard that the regions are from.' }),
      abnormal_category: z.enum(abnormalCategories).openapi({ description: '702.AbnOpCatRtg.' }),
      nominal_hz: z.number().openapi({
        description: 'Nominal frequency, Hz. The standard is written for 60; others shift by the difference.',
      }),
      voltage: z
        .array(areaSchema('v_pct', 'VoltageRegion'))
        .openapi({ description: 'Areas over voltage and time; together they cover 0 to 200 %.' }),
      frequency: z
        .array(areaSchema('hz', 'FrequencyRegion'))
        .openapi({ description: 'Areas over frequency and time; together they cover 40 to 70 Hz.' }),
      trips: z
        .strictObject({
          lv_trip: functionSchema(voltageElement()),
          hv_trip: functionSchema(voltageElement()),
          lf_trip: functionSchema(frequencyElement),
          hf_trip: functionSchema(frequencyElement),
        })
        .openapi({ description: 'Default and range of each trip setting, in the units of the curves.' }),
    })
    .openapi('Regions'),
);

export type RegionsReply = z.output<ReturnType<typeof regionsSchema>>;
