/** The member `chain` of a device profile: models and meters in the order of the map. */
import { z } from 'zod';
import { chainMeterModels, chainSizes, maxChainMeters, meteredFlows } from '../../contract/map-layout.ts';
import type { ChainEntry } from '../../contract/map-layout.ts';

const modelNumber = z.int().min(1).max(65_534);
/** Octets of a text of model 1. */
const maxTextOctets = 32;

const identityText = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= maxTextOctets, { error: `text of 1 to ${maxTextOctets} bytes` });

const entryWords = 'a model number, a mapping with model, or a mapping with meter';
const ofModels = ['curves', 'points'] as const;
const ofMeters = ['of', 'maker', 'model_name', 'serial'] as const;

const mappingEntry = z
  .strictObject({
    model: modelNumber.optional().meta({ description: 'Number of a model of the device.' }),
    curves: z.int().min(chainSizes.curves.min).max(chainSizes.curves.max).optional().meta({
      description:
        'Sets of a curve or control model, 705 to 712 (NCrv, NCrvSet, NCtl), with the one in force; default 3.',
    }),
    points: z.int().min(chainSizes.points.min).max(chainSizes.points.max).optional().meta({
      description: 'Points of each curve (NPt), at least those of the curve at start; default 10.',
    }),
    meter: z
      .literal(chainMeterModels)
      .optional()
      .meta({
        description:
          'Meter model: 201 to 203 with whole numbers, 211 to 213 with floating point, for one, two and three phases. A ' +
          'common block of its own (model 1) stands before it.',
      }),
    of: z
      .enum(meteredFlows)
      .optional()
      .meta({
        description:
          'Flow that the meter measures, positive when drawn: at the connection point of the site (default), of all ' +
          'devices without local loads, or of the local loads.',
      }),
    maker: identityText.optional().meta({ description: 'Mn of the common block of the meter; default derbench.' }),
    model_name: identityText.optional().meta({ description: 'Md of the common block of the meter; default by `of`.' }),
    serial: identityText.optional().meta({ description: 'SN of the common block of the meter; default by `of`.' }),
  })
  .superRefine((entry, context) => {
    const refuse = (path: readonly string[], message: string) => {
      context.addIssue({ code: 'custom', path: [...path], message });
    };
    if ((entry.model === undefined) === (entry.meter === undefined)) {
      refuse([], entryWords);
      return;
    }
    for (const name of entry.meter === undefined ? ofMeters : ofModels)
      if (entry[name] !== undefined) refuse([name], `beside ${entry.meter === undefined ? 'meter' : 'model'} alone`);
  });

type EntryInput = number | z.infer<typeof mappingEntry>;

const isMeter = (entry: EntryInput) => typeof entry === 'object' && entry.meter !== undefined;

export const chainSchema = z
  .array(z.union([modelNumber, mappingEntry], { error: entryWords }))
  .min(1)
  .max(60)
  .refine((entries) => entries.filter(isMeter).length <= maxChainMeters, {
    error: `a list with up to ${maxChainMeters} meters`,
  })
  .meta({
    description:
      'Models that the map shows, in its order behind model 1, in the place of layout, float and hidden_models: ' +
      'numbers, models with other sizes of their curves, and meters. Other models of the device are hidden.',
    examples: [
      [103, { meter: 203 }],
      [113, 123, { model: 705, curves: 2, points: 6 }],
    ],
  });

function entryOf(entry: EntryInput): ChainEntry {
  if (typeof entry === 'number') return { model: entry };
  const { model = 0, curves, points, meter, of = 'site', maker, model_name: modelName, serial } = entry;
  if (meter === undefined)
    return { model, ...(curves !== undefined && { curves }), ...(points !== undefined && { points }) };
  return {
    meter,
    of,
    ...(maker !== undefined && { maker }),
    ...(modelName !== undefined && { modelName }),
    ...(serial !== undefined && { serial }),
  };
}

/** The entries with every default filled in. */
export function chainOf(entries: z.infer<typeof chainSchema>): readonly ChainEntry[] {
  return entries.map(entryOf);
}
