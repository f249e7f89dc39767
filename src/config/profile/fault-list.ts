/** Lists of faults in a configuration, the entry of a device and a device profile. */
import { z } from 'zod';
import { maxFaultsAtOnce, faultSchema } from '../../fault-kinds/request.ts';
import type { FlatFault } from '../../fault-kinds/request.ts';
import { bareName, bundledFaultProfileNames } from './bundled.ts';

export const pathText = z.string().min(1).max(4096);

const faultEntrySchema = z.union([pathText, faultSchema], {
  error: 'the name of a bundled set, a path, or a fault as a mapping',
});
/** Faults in a configuration: bundled sets by name, files by path, and faults in full. */
export const faultListSchema = z.array(faultEntrySchema).max(maxFaultsAtOnce);
export type FaultList = z.infer<typeof faultListSchema>;

const bundledSetSchema = z.preprocess(
  (value) => (typeof value === 'string' ? bareName(value) : value),
  z.enum(bundledFaultProfileNames as [string, ...string[]]),
);
/** Faults in a request, which cannot name files: bundled sets by name, and faults in full. */
export const bareFaultListSchema = z
  .array(
    z.union([bundledSetSchema, faultSchema], {
      error: 'must be the name of a bundled set of faults, or a fault; files can be named only in the configuration',
    }),
  )
  .max(maxFaultsAtOnce);

/** The faults of one set, or one fault in full. */
export interface FaultGroup {
  /** name of the set; null: faults written in the configuration itself */
  readonly profile: string | null;
  readonly faults: readonly FlatFault[];
  /** origin of each fault, for messages: `fleet.yaml: faults[2]` */
  readonly places: readonly string[];
}
